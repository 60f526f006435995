"""Constraints of a model: gaps, Jacobians, accelerations, what they carry; many and redundant ones; copies; lanes; words of refusals."""
import copy
import pickle

import mbros
import mbros_core
import numpy as np
import pytest
from loop_rigs import EVERY_KIND, FourBar, branches, bricard, closed, follow, held, rod
from tolerance import assert_close

from mbros.model.constraints.ends import constraint_ends


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_jacobian_is_the_rate_of_the_gap(kind):
    """By differences, at a state where it is closed; of a rope, where it is too long by a hair."""
    model = branches([kind])
    state, step = closed(model, 3), 1e-6
    if kind == "rope":
        model = branches(["distance"])
        state, rope = closed(model, 3), branches(["rope"])
        other = rope.default_state()
        other.q = state.q
        state, model = other, rope
        J = model.constraints[0].jacobian(state)
        out = model.integrate(state.q, J[0] * 1e-3)
        state.q = out
        assert model.constraints[0].gap(state) > 0.0
    J, moved = model.constraints[0].jacobian(state), state.copy()
    found = np.empty_like(J)
    for k in range(model.nv):
        sides = []
        for sign in (1.0, -1.0):
            moved.q[:] = model.integrate(state.q, sign * step * np.eye(model.nv)[k])
            sides.append(model.constraints[0].gap(moved))
        found[:, k] = (sides[0] - sides[1]) / (2 * step)
    assert_close(found, J, 1e-8)


@pytest.mark.parametrize("kind", [kind for kind in EVERY_KIND if kind != "rope"])
def test_accelerations_keep_what_is_closed(kind):
    """J vdot + dJ/dt v = 0, with dJ/dt by differences of J along the motion; and the forces are those of J^T."""
    model = branches([kind])
    state = closed(model, 5)
    tau = np.random.default_rng(1).normal(size=model.nv)
    vdot, step, c = model.forward_dynamics(state, tau), 1e-6, model.constraints[0]
    sides = []
    for sign in (1.0, -1.0):
        there = state.copy()
        there.q[:] = model.integrate(state.q, sign * step * state.v)
        sides.append(c.jacobian(there))
    bias = (sides[0] - sides[1]) @ state.v / (2 * step)
    J = c.jacobian(state)
    assert_close(J @ vdot, -bias, 1e-6, scale=1.0)
    missing = model.inverse_dynamics(state, vdot) - tau                                  # what the constraint does, J^T f
    f = np.linalg.lstsq(J.T, missing, rcond=None)[0]
    assert_close(J.T @ f, missing, 1e-8)
    assert_close(model.forward_dynamics(state, model.inverse_dynamics(state, vdot)), vdot, 1e-8)


@pytest.mark.parametrize("kind", [kind for kind in EVERY_KIND if kind != "rope"])
@pytest.mark.parametrize("integrator, gap, error", [("midpoint", 5e-6, 2e-4), ("rk4", 1e-12, 1e-7)])
def test_every_kind_keeps_closed_and_keeps_its_energy(kind, integrator, gap, error):
    model = branches([kind])
    state = closed(model, 7)
    state.v[:] *= 2.0 / np.abs(state.v).max()
    state = model.assemble(state)
    found, opened, _ = follow(model, state, 2.0, integrator=integrator)
    assert opened < gap and found < error


def test_a_thousand_redundant_sets_do_what_one_of_each_does():
    """Kinds drawn at random, each up to three times, are the accelerations and the step of the kinds drawn once."""
    rng = np.random.default_rng(4)
    once = {}
    for k in range(1000):
        kinds = sorted({*rng.choice(["ball", "weld", "hinge"], size=rng.integers(1, 4))})
        key = tuple(kinds)
        if key not in once:
            strongest = "weld" if "weld" in kinds else "hinge" if "hinge" in kinds else "ball"
            once[key] = branches([strongest]), [branches([kind for kind in kinds for _ in range(n)]) for n in (2, 3)]
        one, many = once[key][0], once[key][1][k % 2]
        state = closed(one, k % 50)
        other = many.default_state()
        other.q, other.v = state.q, state.v
        tau = rng.normal(size=one.nv)
        vdot = one.forward_dynamics(state, tau)
        assert_close(many.forward_dynamics(other, tau), vdot, 1e-9, scale=1.0)
        for model, s in ((one, state), (many, other)):
            mbros.Simulator(model, state=s).step(tau)
        assert_close(other.v, state.v, 1e-3, scale=1.0)
        assert other.field("contact_memory")[0, 3] == 0.0                                # every problem was solved


def test_reactions_hold_up_what_hangs():
    """Two bodies at rest that a constraint ties to the world: it carries their weight, at its own point."""
    for kind in ("ball", "weld", "hinge"):
        b = mbros.ModelBuilder("hanging")
        body = b.add_body("body", mass=3.0, com=(0.0, 0.0, -0.2), inertia=(0.1, 0.1, 0.1))
        at = b.add_frame("eye", body, p=(0.0, 0.0, 0.3))
        b.add_constraint(held(kind, "hook", b, b.add_frame("hook", b.world, p=(0, 0, 0.3)), at))
        model = b.build()
        for integrator in ("midpoint", "semi_implicit_euler", "rk4"):
            sim = mbros.Simulator(model, integrator=integrator)
            sim.advance_to(0.5)
            F = model.constraints["hook"].reaction(sim.state)
            assert F.frame == "eye" and F.expressed_in == "world"
            assert_close(F.force, [0.0, 0.0, 3.0 * 9.81], 1e-6)
            assert np.abs(F.torque).max() < 1e-6
            effort = model.constraints["hook"].effort(sim.state)
            assert_close(model.constraints["hook"].jacobian(sim.state).T @ effort, model.gravity_torques(sim.state), 1e-6)


def test_what_is_not_written_is_not_read():
    """The same step, to the bit, whatever the workspace held."""
    model = branches(["hinge", "ball"])
    state = closed(model, 2)
    sims = [mbros.Simulator(model, state=state.copy()) for _ in range(2)]
    for k in range(20):
        sims[1].state._poison()
        for sim in sims:
            sim.step()
        assert np.array_equal(sims[0].state._inputs, sims[1].state._inputs)
    tau = np.ones(model.nv)
    first = model.forward_dynamics(state, tau)
    state._poison()
    assert np.array_equal(model.forward_dynamics(state, tau), first)


@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_lanes_move_as_one_robot_does(integrator):
    bar = FourBar()
    model, starts = bar.model, [bar.state(t, 3.0) for t in np.linspace(0.3, 1.2, 11)]
    run = mbros.rollout(model, [s.q for s in starts], [s.v for s in starts], np.zeros((11, 300, 3)), integrator=integrator)
    vdot = model.batch([s.q for s in starts], [s.v for s in starts]).forward_dynamics(np.zeros(3))
    for k, s in enumerate(starts):
        assert_close(vdot[k], model.forward_dynamics(s, np.zeros(3)), 1e-9)
        sim = mbros.Simulator(model, state=s, integrator=integrator)
        sim.advance_to(0.3)
        assert_close(run.q[k, -1], sim.state.q, 1e-9)
        assert_close(run.v[k, -1], sim.state.v, 1e-8)


def test_copies_keep_constraints():
    bar = FourBar(kind="hinge")
    model, again = bar.model, copy.deepcopy(bar.model)
    for other in (again, pickle.loads(pickle.dumps(model)), mbros.ModelBuilder(model).build(), copy.deepcopy(bar.builder).build()):
        assert [(c.name, c.kind, c.where()) for c in other.constraints] == [("loop", "hinge", "'coupler end' and 'rocker end'")]
        assert np.array_equal(other.spec.constraint_X, model.spec.constraint_X)
        assert other.constraints["loop"].model is other
    b = mbros.ModelBuilder("pair")
    for name, x in (("left", 0.0), ("right", 2.0)):
        b.add_robot(model, name, p=(x, 0, 0))
    both = b.build()
    assert both.constraints.names == ("left/loop", "right/loop") and both.constraints[1].frame_a.name == "right/coupler end"
    branch = mbros.ModelBuilder.subtree(branches(["ball"]).joint("left joint0"))
    assert branch.build().constraints.names == ()
    assert any("ball0" in note.element and "left out" in note.reason for note in branch.description.notes)
    whole = mbros.ModelBuilder.subtree(branches(["ball"]).joint("base")).build()
    assert whole.constraints.names == ("ball0",)


def test_locked_joints_and_a_locked_loop():
    bar = FourBar()
    state = bar.state(0.7)
    for name in ("crank", "coupler", "rocker"):
        bar.model.joint(name).lock(state)
    sim = mbros.Simulator(bar.model, state=state)
    q = np.array(state.q)
    sim.advance_to(0.1)
    assert np.array_equal(sim.state.q, q) and not bar.model.constraints["loop"].jacobian(sim.state).any()
    state = bar.state(0.7)
    bar.model.joint("crank").lock(state)
    sim = mbros.Simulator(bar.model, state=state)
    sim.advance_to(0.5)
    assert_close(sim.state.q, q, 1e-7)                              # the loop holds the others
    assert np.abs(bar.model.forward_dynamics(sim.state, np.zeros(3))).max() < 1e-6


def test_words_of_refusals():
    bar = FourBar()
    model, state = bar.model, bar.model.default_state()
    loop = model.constraints["loop"]
    state.q = [0.5, 0.0, 1.2]
    with pytest.raises(mbros.MbrosError, match=r"the start violates constraint 'loop' by 0\.0575 m; 1e-05 m and rad are allowed.*assemble"):
        mbros.Simulator(model, state=state).step()
    with pytest.raises(mbros.MbrosError, match="the start violates constraint 'loop'"):
        mbros_core.Plant(model, state).steps(np.zeros(3), 10)
    with pytest.raises(mbros.MbrosError, match="the start violates constraint 'loop'"):
        mbros_core.Plant(model, bar.state(0.5)).reset([0.5, 0.0, 1.2])
    with pytest.raises(mbros.MbrosError, match="the start violates constraint 'loop'"):
        mbros.rollout(model, [bar.q(0.5), state.q], np.zeros(3), np.zeros((2, 5, 3)))
    with pytest.raises(mbros.StateError, match="no step of a simulation led to this state"):
        loop.reaction(bar.state(0.5))
    with pytest.raises(mbros.MbrosError, match="rk4 has no ropes"):
        mbros.Simulator(branches(["rope"]), integrator="rk4")
    with pytest.raises(mbros.FrozenModelError, match="constraint 'loop' .*cannot change once model"):
        loop.name = "other"
    with pytest.raises(mbros.UnknownNameError, match="no constraint 'lop' in model 'four-bar'; did you mean 'loop'"):
        model.constraints["lop"]
    coupler = branches(["coupler"]).constraints[0]
    sim = mbros.Simulator(coupler.model, state=closed(coupler.model))
    sim.step()
    with pytest.raises(mbros.MbrosError, match="acts on coordinates and has no force on a body"):
        coupler.reaction(sim.state)
    assert coupler.effort(sim.state).shape == (1,)


def test_words_of_descriptions():
    b = mbros.ModelBuilder("words")
    one, two = rod(b, "one", 1.0), rod(b, "two", 1.0)
    hinge = b.add_joint(mbros.RevoluteJoint("hinge", b.world, one, axis=(0, 0, 1)))
    ball = b.add_joint(mbros.BallJoint("ball", b.world, two))
    for make, words in (
            (lambda: mbros.BallConstraint("x", one, "two"), "constraint 'x' .ball.: frame_b is 'two'"),
            (lambda: mbros.BallConstraint("x", one, one), "are both on body 'one'"),
            (lambda: mbros.DistanceConstraint("x", one, two, 0.0), "length is 0 m. Give a length above zero"),
            (lambda: mbros.DistanceConstraint("x", one, two, 1.0, rope=1), "rope is 1. Give True or False"),
            (lambda: mbros.HingeConstraint("x", one, two, axis=(0, 0, 2)), "has length 2, expected 1"),
            (lambda: mbros.CouplerConstraint("x", hinge, ball), "joint_b 'ball' is a ball joint with 4 positions and 3 velocities"),
            (lambda: mbros.CouplerConstraint("x", hinge, hinge), "joint_a and joint_b are both 'hinge'"),
            (lambda: b.add_constraint("x"), "add_constraint.. was given 'x'")):
        with pytest.raises(mbros.MbrosError, match=words):
            make()
    b.add_constraint(mbros.BallConstraint("x", one, two))
    b.add_constraint(mbros.BallConstraint("x", one, mbros.ModelBuilder("other").add_body("far")))
    with pytest.raises(mbros.ModelError) as refused:
        b.build()
    reasons = " ".join(problem.reason for problem in refused.value.problems)
    assert "already taken by another constraint" in reasons and "'far' belongs to another model" in reasons
    b = mbros.ModelBuilder("welded")
    one, two = rod(b, "one", 1.0), rod(b, "two", 1.0)
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, one, axis=(0, 0, 1)))
    b.add_joint(mbros.WeldJoint("weld", one, two))
    b.add_constraint(mbros.BallConstraint("x", one, two))
    with pytest.raises(mbros.ModelError, match="bodies that fixed joints weld together"):
        b.build()


def test_assembly_closes_moves_little_and_says_what():
    bar = FourBar()
    state, moved = bar.model.default_state(), {}
    state.q, state.v = [0.5, 0.0, 1.2], [2.0, 0.0, 0.0]
    out = bar.model.assemble(state, keep=["crank"], moved=moved)
    assert out is not state and state.q[1] == 0.0
    assert np.abs(bar.model.constraints["loop"].gap(out)).max() < 1e-12
    assert_close(out.q, bar.q(0.5), 1e-10)
    assert set(moved) == {"coupler", "rocker"} and moved["rocker"] == pytest.approx(1.2 - out.q[2])
    assert out.v[0] == 2.0 and np.abs(bar.model.constraints["loop"].jacobian(out) @ out.v).max() < 1e-12
    again = bar.model.assemble(out, moved=moved)
    assert np.array_equal(again.q, out.q) and moved == {}
    with pytest.raises(mbros.MbrosError, match=r"no position .* closes constraint 'loop' by .* m \(with 'crank', 'coupler' kept or locked"):
        bar.model.assemble(state, keep=["crank", "coupler"])


def test_assembly_leaves_a_stretched_start_and_keeps_within_limits():
    b = mbros.ModelBuilder("reach")
    upper, lower = rod(b, "upper", 1.0), rod(b, "lower", 1.0)
    b.add_joint(mbros.RevoluteJoint("shoulder", b.world, upper, axis=(0, 0, 1), lower=-3.0, upper=3.0))
    b.add_joint(mbros.RevoluteJoint("elbow", upper, lower, p=(1, 0, 0), axis=(0, 0, 1), lower=-0.1, upper=2.5))
    hand = b.add_frame("hand", lower, p=(1, 0, 0))
    b.add_constraint(mbros.BallConstraint("grip", b.add_frame("bar", b.world, p=(1.0, 0.0, 0.0)), hand))
    model = b.build()
    state = model.default_state()
    state.q = [0.0, 0.0]                                            # stretched: the gap lies along the arm, where nothing moves
    out = model.assemble(state)
    assert np.abs(model.constraints["grip"].gap(out)).max() < 1e-12
    assert_close(out.q, [-np.pi / 3, 2 * np.pi / 3], 1e-9)          # the elbow's limits leave one of the two


def test_bricard_is_assembled_from_a_bent_start():
    model = bricard()
    state = model.default_state()
    state.q[:] += np.random.default_rng(2).normal(scale=0.05, size=5)
    out = model.assemble(state)
    assert np.abs(model.constraints["loop"].gap(out)).max() < 1e-12


def five_bar():
    """Two arms of two links that share their hand: what two motors at the shoulders move in a plane."""
    b = mbros.ModelBuilder("five-bar")
    hands = []
    for side, x in (("left", 0.0), ("right", 0.4)):
        upper, lower = rod(b, f"{side} upper", 0.4), rod(b, f"{side} lower", 0.5)
        b.add_joint(mbros.RevoluteJoint(f"{side} shoulder", b.world, upper, p=(x, 0, 0), axis=(0, -1, 0)))
        b.add_joint(mbros.RevoluteJoint(f"{side} elbow", upper, lower, p=(0.4, 0, 0), axis=(0, -1, 0)))
        hands.append(b.add_frame(f"{side} hand", lower, p=(0.5, 0, 0)))
    b.add_constraint(mbros.HingeConstraint("hand", *hands, axis=(0, 1, 0)))
    model = b.build()
    state = model.default_state()
    state.q = [2.0, -1.0, 1.1, 1.0]
    return model, model.assemble(state)


def test_closed_loops_reach_targets():
    model, state = five_bar()
    out = model.assemble(state, reach={"left hand": (0.25, 0.0, 0.6)})
    for hand in ("left hand", "right hand"):
        assert np.abs(model.pose(out, hand).p - [0.25, 0.0, 0.6]).max() < 1e-11
    again = model.assemble(state, reach={"right lower": model.pose(out, "right lower")})
    assert_close(again.q, out.q, 1e-9)
    with pytest.raises(mbros.MbrosError, match=r"assemble: no position .* closes .*the target of 'left hand' by .* m and 0 rad"):
        model.assemble(state, reach={"left hand": (0.25, 0.0, 1.6)})
    with pytest.raises(mbros.MbrosError, match=r"it does not know constraints, and the model has 'hand': use model.assemble"):
        model.inverse_kinematics({"left hand": (0.25, 0.0, 0.6)}, state)
    with pytest.raises(mbros.UnknownNameError, match="no frame 'hand'"):
        model.assemble(state, reach={"hand": (0.25, 0.0, 0.6)})


def test_ends_and_colours_for_those_who_look():
    """Green where it is closed, red where it is open; a rope's line is as long as its points are apart."""
    bar = FourBar()
    state = bar.state(0.5)
    [loop] = constraint_ends(bar.model, state)
    assert loop.name == "loop" and np.abs(loop.start - loop.end).max() < 1e-12 and loop.gap < 1e-12 and loop.rgb[1] > 2 * loop.rgb[0]
    state.q[0] += 0.1
    [loop] = constraint_ends(bar.model, state)
    assert np.linalg.norm(loop.end - loop.start) == pytest.approx(loop.gap, rel=0.5) and loop.rgb[0] > 2 * loop.rgb[1]
    model = branches(["coupler", "rope"])
    ends = constraint_ends(model, closed(model))
    assert [e.name for e in ends] == ["coupler0", "rope1"] and np.linalg.norm(ends[1].end - ends[1].start) < 0.4 + 1e-9


def test_a_simulator_says_at_once_that_its_start_is_open():
    bar = FourBar()
    state = bar.model.default_state()
    for make in (lambda: mbros.Simulator(bar.model, state=state), lambda: mbros.Simulator(bar.model, state=bar.state(0.5)).reset(state)):
        with pytest.raises(mbros.MbrosError, match=r"the start violates constraint 'loop' by [0-9.]+ m; .*assemble"):
            make()
    sim = mbros.Simulator(bar.model, state=bar.state(0.5, 3.0))
    sim.advance_to(0.1)
    later = sim.state.copy()                                # a step led there: it is no start, however far it is open
    mbros.Simulator(bar.model, state=later).step()


def test_numbers_of_constraints_are_parameters():
    """A winch: a rope that is wound up lifts its bob; numbers that cannot be are refused."""
    b = mbros.ModelBuilder("winch")
    ball = b.add_body("ball", mass=0.7, inertia=(1e-3, 1e-3, 1e-3))
    b.add_joint(mbros.PrismaticJoint("lift", b.world, ball, axis=(0, 0, 1)))
    b.add_constraint(mbros.DistanceConstraint("rope", b.world, ball, 1.0, rope=True))
    model = b.build()
    state = model.default_state()
    state.q[0] = -1.0
    sim = mbros.Simulator(model, state=state)
    for k in range(500):
        model.set_parameter(sim.state, "constraint.rope.length", 1.0 - 1e-3 * k)
        sim.step()
    assert sim.state.q[0] == pytest.approx(-0.501, abs=1e-3) and sim.state.v[0] == pytest.approx(1.0, abs=1e-3)
    assert model.constraints["rope"].effort(sim.state)[0] == pytest.approx(-0.7 * 9.81, rel=1e-3)
    assert model.parameter(model.default_state(), "constraint.rope.length") == 1.0
    for bad in (0.0, -1.0, float("nan"), [1.0, 2.0]):
        with pytest.raises(mbros.MbrosError, match="constraint.rope.length"):
            model.set_parameter(sim.state, "constraint.rope.length", bad)


def test_words_for_axes_and_ratios_that_cannot_be():
    bar = mbros.ModelBuilder(mbros.load("four_bar"))
    with pytest.raises(mbros.ModelError, match=r"has length 2, .* Give a unit vector\.$"):
        mbros.HingeConstraint("second", bar.world, bar.body("coupler_link"), axis=(0, 2, 0))
    for ratio in (1e300, 1e-300, -1e7):
        with pytest.raises(mbros.ModelError, match=r"ratio is .* Its size must be 1e-06 to 1e\+06"):
            mbros.CouplerConstraint("gear", bar.joint("crank"), bar.joint("rocker"), ratio)
    with pytest.raises(mbros.MbrosError, match=r"subtree: expected a joint of a model, such as model.joint\(name\), got 'crank'"):
        mbros.ModelBuilder.subtree("crank")
