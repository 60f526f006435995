"""PJ-37: a joint with a law of its own has the whole mobilizer interface: every built-in kind written once more as a user's joint,
and every public member of a joint compared with the built-in one's."""
from operator import attrgetter

import numpy as np
import pytest
import seed_models
from custom_laws import BUILT_IN, KINDS, Exact, again
from tolerance import EPS, assert_close

import mbros
from mbros import spaces
from mbros.describe.joints.kinds import UserKind, row_of, unit_parts
from mbros.describe.joints.kinematics import kinematics
from mbros.diff import joints as gradients
from mbros.model.joints.defaults import EDITS as EDITS_OF_DEFAULTS
from mbros.model.joints.joint import EDITS, Joint
from mbros.model.joints.sampling import random_positions
from mbros.spatial.placement import Placement

seed = pytest.mark.seed
def robot(make, kind, rng):
    """The joint "mine" of that kind between a revolute and a prismatic one, with every option set."""
    b = mbros.ModelBuilder("pair", (1, 2, -9.81))
    first, second, third = (seed_models.box(b, name) for name in ("first", "second", "third"))
    b.add_joint(mbros.RevoluteJoint("j1", b.world, first, (0, 1, 0)))
    F, M = b.add_frame("F", first, (0.1, 0.2, 0.3), (1, 2, 3)), b.add_frame("M", second, (0.2, -0.1, 0.1), (-1, 0.5, 2))
    row = row_of(kind)
    default = kinematics(kind, (0.07,) * len(row.parameters)).model.normalize(rng.uniform(0.1, 0.9, row.nq))
    joint = make("mine", F, M, damping=0.3, friction=0.2, velocity=4.0, lower=-1.5, upper=1.25, default=default)
    b.add_joint(joint.set_acceleration_limits(-7, 8))
    b.add_joint(mbros.PrismaticJoint("j3", second, third, (1, 0, 0), p=(0.2, 0, 0)))
    return b.build()


@pytest.fixture
def pair(kind, rng):
    """(joint, state) of ours and of the built-in kind, in the same state."""
    numbers = rng.integers(2**32)
    ours, theirs = (robot(make, kind, np.random.default_rng(numbers)) for make in (
        lambda *a, **o: mbros.CustomJoint(*a, again(kind), **o), BUILT_IN[kind]))
    q = np.concatenate([rng.normal(size=1), kinematics(kind, (0.07,)[:len(row_of(kind).parameters)]).model.normalize(
        rng.uniform(-1.2, 1.2, row_of(kind).nq)), rng.normal(size=1)])
    v = rng.normal(size=ours.nv)
    return [(model.joint("mine"), model.default_state().set_q(q).set_v(v)) for model in (ours, theirs)]


# What takes the joint and a state, or the joint alone, and must be the same; `x`: six numbers of the test.
OF_STATE = {
    name: lambda j, s, x, name=name: attrgetter(name)(j)(s) for name in (
        "position", "velocity", "transform", "spatial_velocity", "mobilizer.body_twist", "mobilizer.subspace", "mobilizer.subspace_bias",
        "mobilizer.qdot_from_velocity_matrix", "mobilizer.velocity_from_qdot_matrix", "mobilizer.velocity_to_qdot", "damping", "friction",
        "friction_torque", "is_locked")}
OF_STATE |= {
    "spatial_acceleration": lambda j, s, x: j.spatial_acceleration(s, x[:j.nv]),
    "mobilizer.origin_acceleration": lambda j, s, x: [j.mobilizer.origin_acceleration(s, x[:j.nv], frame) for frame in "FM"],
    "mobilizer.subspace in M": lambda j, s, x: j.mobilizer.subspace(s, "M"),
    "mobilizer.subspace_bias in M": lambda j, s, x: j.mobilizer.subspace_bias(s, x[:j.nv], "M"),
    "project_force": lambda j, s, x: j.project_force(s, x),
    "mobilizer.qdot_to_velocity": lambda j, s, x: [
        j.mobilizer.qdot_to_velocity(s, j.mobilizer.velocity_to_qdot(s), how) for how in ("physical", "drake")],
    "add_damping": lambda j, s, x: j.add_damping(s, np.ones(j.model.nv)),
    "add_force": lambda j, s, x: j.add_force(s, j.nv - 1, 2.5, np.ones(j.model.nv)),
    "topology.pose_from_parent": lambda j, s, x: j.topology.pose_from_parent(j.position(s), j.model.pose(s, j.topology.parent)),
    "of": lambda j, s, x: j.of(np.arange(3.0 * j.model.nv).reshape(3, -1)),
    "set_position": lambda j, s, x: j.set_position(s, j._kinematics.model.normalize(x[:1] + np.arange(j.nq))).position(s),
    "set_velocity": lambda j, s, x: j.set_velocity(s, x[:j.nv]).velocity(s), "set_zero": lambda j, s, x: [*j.set_zero(s).position(s), *s.v],
    "set_damping": lambda j, s, x: j.set_damping(s, x[:j.nv]**2).damping(s),
    "set_friction": lambda j, s, x: j.set_friction(s, x[:j.nv]**2).friction(s),
    "lock": lambda j, s, x: [*j.lock(s).model.forward_dynamics(s, np.ones(j.model.nv)), *s.v, j.is_locked(s)],
    "unlock": lambda j, s, x: j.lock(s).unlock(s).is_locked(s)}
GRADIENTS = {
    "mobilizer.subspace_gradient": lambda j, s: [j.mobilizer.subspace_gradient(s, frame) for frame in "FM"],
    "mobilizer.subspace_bias_gradient": lambda j, s: np.concatenate(
        [x for frame in "FM" for x in j.mobilizer.subspace_bias_gradient(s, None, frame)], axis=1),
    "mobilizer.qdot_from_velocity_gradient": lambda j, s: j.mobilizer.qdot_from_velocity_gradient(s),
    "mobilizer.velocity_from_qdot_gradient": lambda j, s: [
        j.mobilizer.velocity_from_qdot_gradient(s, how) for how in ("physical", "drake")]}
NUMBERS = ("limits.position.bounded", "defaults.damping", "defaults.pose", "defaults.positions", "defaults.neutral", "link_frame",
           "topology.neutral_pose", "placement", "can_rotate", "can_translate", "is_floating", "follows", "topology.level",
           "mobilizer.angular_velocity_bound", "mobilizer.linear_velocity_bound", "topology.max_distance_to_parent")
WORDS = ("names.positions", "names.position_suffixes", "names.velocities", "names.velocity_suffixes", "names.parameters", "defaults.random")
NAMED = ("child", "parent", "child_frame", "parent_frame", "topology.parent")
ELSEWHERE = {"limits", "set_pose", "space", "topology.children", "topology.subtree", "defaults.pose_pair", "prescribe", "release",
             "reaction", "mobilizer.effort", "mobilizer.source", "mobilizer.impulse"}                                     # in tests below
OF_KINDS = {"defaults.angle", "defaults.translation", "defaults.rotation"}      # of some kinds only
GROUPS = ("defaults", "names", "topology", "mobilizer")


def numbers(x):
    if hasattr(x, "R"):
        return np.column_stack([x.R, x.p])
    return np.asarray(0.0 if x is None else x, float)


def test_every_member_is_asked(rng):
    joint = robot(lambda *a, **o: mbros.CustomJoint(*a, again("revolute"), **o), "revolute", rng).joint("mine")
    public = {name for name in dir(Joint) if not name.startswith("_")} - set(GROUPS)
    public |= {f"{group}.{name}" for group in GROUPS for name in dir(getattr(joint, group)) if not name.startswith("_")}
    asked = {name.split()[0] for name in (*OF_STATE, *GRADIENTS)} | {*NUMBERS, *WORDS, *NAMED} | ELSEWHERE | OF_KINDS
    assert public == {name for name in asked if not name.startswith("limits.") and name != "follows"}


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
def test_in_a_state(pair, rng):
    x = rng.normal(size=6)
    for what, ask in OF_STATE.items():
        ours, theirs = (numbers(ask(joint, state.copy(), x)) for joint, state in pair)
        assert_close(ours, theirs, 256 * EPS, scale=1.0, what=what)


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::mbros.PositionLimitWarning")
def test_reactions_and_prescribed_motion(pair):
    """To second order in the step: bodies of the library's own kinds that spin keep their momenta in it (docs/integrators.md)."""
    carried = []
    for joint, state in pair:
        sim = mbros.Simulator(joint.model, state=state.copy())
        free = joint.mobilizer.source(sim.state)
        sim.step()
        carried.append(joint.reaction(sim.state))
        joint.prescribe(sim.state, velocity=np.zeros(joint.nv))
        assert joint.mobilizer.source(sim.state) != free
        sim.step()
        sim.step()
        carried += [joint.reaction(sim.state), joint.mobilizer.effort(sim.state), joint.velocity(sim.state)]
        joint.set_velocity(joint.release(sim.state) and sim.state, np.full(joint.nv, 0.3))
        assert joint.mobilizer.source(sim.state) == free
        carried.append(joint.lock(sim.state).mobilizer.impulse(sim.state))
    for ours, theirs in zip(carried[:5], carried[5:]):
        assert_close(numbers(ours), numbers(theirs), 1e-4, scale=1.0, what="carried")


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
def test_gradients(pair, kind, rng):
    """By differences about 1e-10, from the law's own functions to rounding."""
    (mine, state), (joint, other) = pair
    for what, ask in GRADIENTS.items():
        assert_close(np.array(ask(mine, state)), np.array(ask(joint, other)), 1e-10, scale=1.0, what=what)
    law, q, v = Exact(kind), joint.position(other), joint.velocity(other)
    m = kinematics(UserKind(law))
    for f in (gradients.subspace, gradients.qdot_matrix, gradients.velocity_matrix):
        assert np.array_equal(f(m, q), f(law.m, q))
    for in_M in (False, True):
        assert_close(gradients.subspace(m, q, in_M), gradients.subspace(law.m, q, in_M), 64 * EPS, 1.0)
        for ours, theirs in zip(gradients.bias(m, q, v, in_M), gradients.bias(law.m, q, v, in_M)):
            assert_close(ours, theirs, 64 * EPS, 1.0)


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
def test_facts(pair):
    (mine, _), (joint, _) = pair
    for what in NUMBERS:
        assert np.allclose(numbers(attrgetter(what)(mine)), numbers(attrgetter(what)(joint)), rtol=0, atol=16 * EPS), what
    for what in WORDS:
        assert attrgetter(what)(mine) == attrgetter(what)(joint), what
    for what in NAMED:
        assert attrgetter(what)(mine).name == attrgetter(what)(joint).name, what
    for what in ("children", "subtree"):
        a, b = (getattr(j.topology, what) for j in (mine, joint))
        assert [j.name for j in (a() if callable(a) else a)] == [j.name for j in (b() if callable(b) else b)]
    for what in ("position", "velocity", "acceleration"):
        a, b = getattr(mine.limits, what), getattr(joint.limits, what)
        assert a.lower.tolist() == b.lower.tolist() and a.upper.tolist() == b.upper.tolist()
    assert mine.limits.position[mine.nq - 1] == joint.limits.position[joint.nq - 1] == (-1.5, 1.25)
    for a, b in zip(mine.defaults.pose_pair, joint.defaults.pose_pair):
        assert_close(a, b, 8 * EPS, 1.0)
    for ours, theirs in ((mine.names.positions, joint.names.positions), (mine.names.velocity_suffixes, joint.names.velocity_suffixes)):
        assert [ours[i] for i in range(len(ours))] == [theirs[i] for i in range(len(theirs))]
        for i in (len(ours), -1):
            with pytest.raises(IndexError, match="does not exist"):
                ours[i]
    assert mine.kind == "user"
    law = next(iter(mine.model.spec.user_joints.values()))
    assert mine.space.name == (joint.space.name if joint.space.name.startswith("R^") else type(law).__name__)
    assert mbros.ModelBuilder.subtree(mine).build().joint("mine").defaults.positions.tolist() == joint.defaults.positions.tolist()


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
def test_best_match(pair, kind):
    """A pose of the joint's own is found again, and one that it cannot take is matched as well as the built-in kind does."""
    (mine, state), (joint, other) = pair
    own = joint.transform(other)
    assert_close(mine.set_pose(state.copy(), own).transform(state).matrix, own.matrix, 1e-7, 1.0)
    beyond = Placement(own.R @ kinematics("ball_rpy").pose([0.1, -0.2, 0.15])[0], own.p + [0.1, 0.05, -0.08])
    found = [j.set_pose(s, beyond).transform(s) for j, s in pair]
    distances = [0.5 * ((X.R - beyond.R) ** 2).sum() + 0.5 * ((X.p - beyond.p) ** 2).sum() for X in found]
    assert distances[0] == pytest.approx(distances[1], abs=1e-12)
    described = mbros.CustomJoint("mine", None, mbros.ModelBuilder("b").add_body("body", 1.0), again(kind))
    assert_close(described.defaults.set_pose(own).defaults.pose.matrix, own.matrix, 1e-7, 1.0)
    assert_close(described.defaults.set_pose_pair(own.quat_wxyz, own.p).defaults.pose.matrix, own.matrix, 1e-7, 1.0)


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
def test_random_positions_and_edits(pair, kind):
    (mine, _), (joint, _) = pair
    for sample in range(5):
        assert_close(random_positions(mine, sample), random_positions(joint, sample), 0.0)
    for what in EDITS:
        with pytest.raises(mbros.FrozenModelError):
            getattr(mine, what)()
    for what in EDITS_OF_DEFAULTS:
        with pytest.raises(mbros.FrozenModelError):
            getattr(mine.defaults, what)()
    free = [name for k, name in enumerate(joint.names.position_suffixes)
            if not any(p.start <= k < p.stop for p in unit_parts(joint._exact_kind))]
    names = {name: mbros.Uniform(0.1, 0.2) if k else mbros.Normal(0.3, 0.01) for k, name in enumerate(free)}
    names |= {"rotation": mbros.UniformRotation()} if unit_parts(joint._exact_kind) and joint.nv > 1 else {}
    drawn = []
    for make in (BUILT_IN[kind], lambda *a, **o: mbros.CustomJoint(*a, again(kind), **o)):
        b = mbros.ModelBuilder("random")
        b.add_joint(make("mine", b.world, seed_models.box(b, "B")).defaults.set_random(**names))
        drawn.append(b.build().random_state(7, others="default").q)
    assert_close(drawn[1], drawn[0], 0.0)


@seed("PJ-37", "HJ-17")
@pytest.mark.parametrize("kind", KINDS)
def test_space(pair, kind, rng):
    """joint.space of a user's joint does what the built-in kind's does; with `law.space` it is that one."""
    (mine, state), (joint, other) = pair
    ours, theirs = mine.space, joint.space
    q, q1 = joint.position(other), kinematics(kind, joint._row.parameters).model.normalize(rng.uniform(-1, 1, joint.nq))
    v = rng.uniform(-0.5, 0.5, joint.nv)
    assert (ours.nq, ours.nv, ours.neutral.tolist()) == (theirs.nq, theirs.nv, theirs.neutral.tolist())
    for what, arguments in (("integrate", (q, v)), ("difference", (q, q1)), ("interpolate", (q, q1, 0.3)), ("distance", (q, q1)),
                            ("squared_distance", (q, q1)), ("normalize", (q,)), ("is_same", (q, q1)), ("is_same", (q, q))):
        assert_close(numbers(getattr(ours, what)(*arguments)), numbers(getattr(theirs, what)(*arguments)), 64 * EPS, 1.0, what)
    assert_close(mine.model.space().integrate(state.q, state.v), joint.model.space().integrate(other.q, other.v), 64 * EPS, 1.0)
    if row_of(kind).velocities_are_rates:
        assert isinstance(ours, spaces.Rn) and all(np.array_equal(*J) for J in zip(ours.d_integrate(q, v), theirs.d_integrate(q, v)))
        return
    with pytest.raises(ValueError, match="give the object that has its capsule an attribute `space`"):
        ours.d_integrate(q, v)
    law = again(kind)
    law.space = theirs
    b = mbros.ModelBuilder("told")
    b.add_joint(mbros.CustomJoint("mine", b.world, seed_models.box(b, "B"), law))
    model = b.build()
    assert model.joint("mine").space is theirs
    assert theirs.is_same(model.random_configuration(3), model.normalize(model.random_configuration(3)))
    for J, expected in zip(model.space().d_integrate(q, v), theirs.d_integrate(q, v)):
        assert_close(J, expected, 0.0)


@seed("PJ-37")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("integrator", ["midpoint", "semi_implicit_euler", "rk4"])
def test_locked_it_stays_to_the_bit(pair, integrator):
    mine, state = pair[0]
    q = mine.lock(state).position(state)
    mbros.Simulator(mine.model, dt=1e-3, state=state, integrator=integrator).advance_to(0.01)
    assert np.array_equal(mine.position(state), q) and not mine.velocity(state).any() and state.v.any()
