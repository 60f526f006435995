"""Motion with given contacts as the engine computes it, against the same put together in NumPy from the derivatives of forward dynamics."""
import loop_rigs
import numpy as np
import pytest
import robots
import zoo
from custom_laws import Slide

import mbros
from mbros import diff
from mbros.diff import RigidContact
from mbros.spatial import lie
from mbros.spatial.placement import Placement

EPS = np.finfo(float).eps
SOFT = 1e-7             # of what is found beside loops: the M^-1 within them is symmetric to 1e-8, as the engine's solver is exact


def held_rows(full, rows):
    return np.concatenate([x[6 - n:] for x, n in zip(full, rows)]) if len(rows) else np.zeros((0, *full.shape[2:]))


class Oracle:
    """J, D = J M^-1 J^T + mu and what the rows do without forces, of frames (indices) at a state."""

    def __init__(self, model, state, frames, rows, mu=0.0):
        self.model, self.state, self.rows, self.mu = model, state, rows, mu
        acceleration, slopes, _ = model._frame_slopes(state, np.zeros(model.nv), frames)
        self.J = held_rows(slopes.reshape(len(frames), 4, 6, model.nv)[:, 0], rows)
        self.drift = held_rows(acceleration, rows)
        block = model._forward_dynamics_slopes(state, np.zeros(model.nv))
        self.M_inv = block[1 + 2 * model.nv:]
        self.D = self.J @ self.M_inv @ self.J.T + mu * np.eye(len(self.J))
        self.D = 0.5 * (self.D + self.D.T)

    def inverse(self):
        values, U = np.linalg.eigh(self.D)
        moves = values > (0.0 if self.mu else 1e-12 * max(values.max(initial=0.0), 1e-300))
        return (U[:, moves] / values[moves]) @ U[:, moves].T

    def motion(self, tau, pull=0.0):
        free = self.model._forward_dynamics_slopes(self.state, tau)[0]
        f = -self.inverse() @ (self.J @ free + self.drift + pull)
        return free + self.M_inv @ self.J.T @ f, f

    def impact(self, bounce):
        f = -(1.0 + bounce) * self.inverse() @ (self.J @ self.state.v)
        return self.state.v + self.M_inv @ self.J.T @ f, f

    def is_well_posed(self):
        return not len(self.D) or np.linalg.cond(self.D) < 1e6


def close(ours, theirs, within=1e-12):
    return np.abs(ours - theirs).max(initial=0.0) <= within * np.abs(theirs).max(initial=0.0) + 1e-300


def check(ours, oracle, x, f):
    """Within 1e-12, or within what D's condition makes of rounding; rounding is of gravity and of what the rows do, where these cancel."""
    within = max(1e-12, 100.0 * EPS * np.linalg.cond(oracle.D)) if len(oracle.D) else 1e-12
    rounding = 100.0 * EPS * np.abs(oracle.inverse()).max(initial=0.0) * (10.0 + np.abs(oracle.drift).max(initial=0.0))
    largest = np.abs(oracle.M_inv @ oracle.J.T).max(initial=0.0) * (np.abs(f).max(initial=0.0) + rounding / within)
    assert close(ours[2], oracle.J, 1e-13) and np.abs(ours[1] - f).max(initial=0.0) <= within * np.abs(f).max(initial=0.0) + rounding
    assert np.abs(ours[0] - x).max(initial=0.0) <= within * max(np.abs(x).max(initial=0.0), largest)


def some_contacts(model, rng, count):
    """On any bodies, the world and one body twice among them."""
    frames = [int(k) for k in rng.integers(0, model.spec.X_BF.shape[0], count)]
    return frames, [int(n) for n in rng.choice([3, 6], count)]


def lock_some(case, rng):
    for number, (_, _, v) in enumerate(zoo.slices(case.spec)[::2]):
        case.state.field("lock")[v] = 1 + number % 2
        case.state.field("a_given")[v] = rng.normal(size=v.stop - v.start) * (number % 2)


@pytest.mark.parametrize("locks", [False, True])
@pytest.mark.parametrize("name", zoo.NAMES)
def test_every_tree_of_the_zoo(name, locks, rng):
    """Of poisoned states; with and without compliance, by which any rows are well posed."""
    case = robots.Case(name, rng, wrenches=True)
    model, state = case.model, case.state
    if locks:
        lock_some(case, rng)
    singular = 0
    for count in (0, 1, 1, 2, 3, 7):
        frames, rows = some_contacts(model, rng, count)
        contacts = [(frame, n, 0.0, 0.0, None) for frame, n in zip(frames, rows)]
        for mu in (0.0, 0.3):
            oracle = Oracle(model, state, frames, rows, mu)
            ours = model._contact_motion(state, case.tau, contacts, mu)
            if not oracle.is_well_posed():
                singular += 1
                rounding = 1e-13 * np.abs(oracle.J).max() ** 2 * np.abs(oracle.M_inv).max()
                assert ours[0] is None and ours[1] is None and np.abs(ours[3] - oracle.D).max() <= 1e-11 * np.abs(oracle.D).max() + rounding
                ours = model._contact_motion(state, case.tau, contacts, mu, S=oracle.inverse())
                f = oracle.motion(case.tau)[1]
                assert close(ours[1], f, 1e-11 + 1e-13 * np.abs(oracle.inverse()).max() * np.abs(oracle.D).max())
                continue
            state._poison()
            ours = model._contact_motion(state, case.tau, contacts, mu)
            check(ours, oracle, *oracle.motion(case.tau))
            assert np.array_equal(ours[3], ours[3].T) and close(ours[3] @ oracle.D, np.eye(len(oracle.D)), 1e-8)
            state._poison()
            check(model._contact_motion(state, None, contacts, mu, bounce=0.4), oracle, *oracle.impact(0.4))
    assert singular or model.nv > 40


def test_rows_without_end(rng):
    """Forty frames: the room that is computed in grows with them."""
    case = robots.Case("floating_tree", rng)
    frames, rows = some_contacts(case.model, rng, 40)
    contacts = [(frame, n, 0.0, 0.0, None) for frame, n in zip(frames, rows)]
    oracle = Oracle(case.model, case.state, frames, rows, 0.5)
    check(case.model._contact_motion(case.state, case.tau, contacts, 0.5), oracle, *oracle.motion(case.tau))


def loaded(name, base, rng, speed=1.0):
    model = mbros.load(name, base=base)
    state = model.random_state(rng)
    state.v *= speed
    state._poison()
    return model, state, rng.normal(size=model.nv)


def oracle_of(model, state, contacts, mu=0.0):
    return Oracle(model, state, [model._frame_index(c.frame) for c in contacts], [c.rows for c in contacts], mu)


ROBOTS = [("arm7", "fixed", [("flange", 6)]), ("arm7", "fixed", [("flange", 3)]),
          ("quadruped", "floating", [(f"{leg}_foot", 3) for leg in ("FL", "FR", "RL", "RR")]),
          ("humanoid", "floating", [("left_foot", 6), ("right_foot", 6)]),
          ("humanoid", "floating", [("right_hand", 3), ("left_foot", 6), ("right_foot", 3), ("left_hand", 6)]),
          ("mobile_arm", "planar", [("tool", 3)])]


@pytest.mark.parametrize("speed", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("name, base, given", ROBOTS)
def test_robots(name, base, given, speed, rng):
    model, state, tau = loaded(name, base, rng, speed)
    contacts = [RigidContact(frame, n) for frame, n in given]
    oracle = oracle_of(model, state, contacts)
    assert oracle.is_well_posed()
    check(diff.contact_dynamics(model, state, tau, contacts), oracle, *oracle.motion(tau))
    state._poison()
    check(diff.contact_impulse(model, state, contacts, 0.25), oracle, *oracle.impact(0.25))


@pytest.mark.parametrize("turn", [1e-9, 0.3, 3.1])
def test_gains(turn, rng):
    """kd of the velocities, kp of how far frames are from where they are held: turned by up to nearly half a turn."""
    model, state, tau = loaded("humanoid", "floating", rng)
    contacts, pull = [], []
    for name, n in (("left_foot", 6), ("right_foot", 3)):
        X = model.pose(state, name)
        w, d = turn * np.array([2.0, -1.0, 2.0]) / 3.0, turn * rng.normal(size=3)
        there = mbros.spatial.vectors.Pose.make(X.p - d, R=lie.matrix(lie.exp(-w)) @ X.R)
        contacts.append(RigidContact(name, n, 150.0, 20.0, there))
        pull.append(150.0 * np.concatenate([w, d])[6 - n:] + 20.0 * (model.jacobian(state, name) @ state.v)[6 - n:])
    oracle = oracle_of(model, state, contacts, 1e-4)
    x, f = oracle.motion(tau, np.concatenate(pull))
    check(diff.contact_dynamics(model, state, tau, contacts, 1e-4), oracle, x, f)
    as_matrices = [c._replace(pose=np.vstack([np.column_stack([c.pose.R, c.pose.p]), [0, 0, 0, 1]])) for c in contacts]
    check(diff.contact_dynamics(model, state, tau, as_matrices, 1e-4), oracle, x, f)


@pytest.mark.parametrize("given", [
    [("left_foot", 6), ("left_foot", 6)], [("left_foot", 6), ("left_foot", 3), ("right_foot", 3)], [("world", 6)],
    [("left_foot", 3), ("world", 3)], [("pelvis", 6), ("left_foot", 6), ("world", 6), ("pelvis", 3)]])
def test_redundant_contacts(given, rng):
    """On one branch, on the base, on the world, whose rows nothing moves: the least forces."""
    model, state, tau = loaded("humanoid", "floating", rng)
    if "pelvis" not in model.frames.names:
        given = [(model.bodies[1].name if name == "pelvis" else name, n) for name, n in given]
    contacts = [RigidContact(*one) for one in given]
    oracle = oracle_of(model, state, contacts)
    assert not oracle.is_well_posed()
    for ours, theirs in ((diff.contact_dynamics(model, state, tau, contacts), oracle.motion(tau)),
                         (diff.contact_impulse(model, state, contacts), oracle.impact(0.0))):
        assert all(close(a, b, 1e-9) for a, b in zip(ours, theirs))
        assert np.isfinite(ours.force).all() and (ours.force[:3] == 0.0).all() == (given[0][0] == "world")


@pytest.mark.parametrize("locks", [False, True])
def test_followers_locks_and_force_elements(locks, rng):
    """A gripper whose fingers follow one another, a locked joint, a prescribed one, springs on coordinates and on bodies."""
    b = mbros.ModelBuilder("rig")
    parent, joints = b.world, []
    for k in range(5):
        body = b.add_body(f"b{k}", 1.0 + k, (0.1, 0.02 * k, 0.1), (0.1, 0.12, 0.15))
        joints.append(b.add_joint(mbros.RevoluteJoint(f"j{k}", parent, body, axis=np.roll((0, 0, 1), k), p=(0.2, 0.1, 0.3))))
        parent = body
    finger = b.add_body("finger", 0.3, (0, 0.1, 0), (0.01, 0.01, 0.01))
    b.add_joint(mbros.RevoluteJoint("follower", parent, finger, axis=(1, 0, 0), p=(0, 0, 0.1), mimic=("j4", -0.7, 0.1)))
    b.add_force_element(mbros.RevoluteSpring(joints[1], stiffness=30.0, name="spring"))
    b.add_force_element(mbros.LinearSpringDamper(b.world.frame, finger.frame, 0.2, 50.0, 3.0, name="damper"))
    b.add_frame("tip", finger, p=(0.1, 0.2, 0.1))
    model = b.build()
    state, tau = model.random_state(rng), rng.normal(size=model.nv)
    if locks:
        model.joint("j1").lock(state)
        model.joint("j2").prescribe(state, 0.3, 0.4, 0.5)
    contacts = [RigidContact("tip", 3)]
    oracle = oracle_of(model, state, contacts)
    check(diff.contact_dynamics(model, state, tau, contacts), oracle, *oracle.motion(tau))
    check(diff.contact_impulse(model, state, contacts, 1.0), oracle, *oracle.impact(1.0))


def test_loops_ask_the_derivatives_for_what_is_within_them(rng):
    """The engine has the algebra, mbros.diff M^-1."""
    rig = loop_rigs.FourBar(base="floating")
    model, state = rig.model, rig.model.default_state()
    state.q[-3:] = rig.q(0.8)
    tau, contacts = rng.normal(size=model.nv), [RigidContact("ground", 6, kd=2.0)]
    J = model.jacobian(state, "ground")
    free = diff.forward_dynamics(model, state, tau)
    A = model.acceleration(state, "ground", np.zeros(model.nv))
    f = -np.linalg.solve(J @ free["tau"] @ J.T, J @ free.value + np.concatenate([A.angular, A.linear]))
    found = diff.contact_dynamics(model, state, tau, contacts)
    assert close(found.force, f, SOFT) and close(found.motion, free.value + free["tau"] @ J.T @ f, SOFT)


def test_values_of_joints_that_users_write(rng):
    """Of which no derivative is known: the forces need none."""
    b = mbros.ModelBuilder("users")
    arm, slide = b.add_body("arm", 1.0, (0.3, 0.1, 0), (0.1, 0.2, 0.3)), b.add_body("slide", 0.5, (0, 0.2, 0.1), (0.1, 0.1, 0.1))
    b.add_joint(mbros.BallJoint("a", b.world, arm))
    b.add_joint(mbros.CustomJoint("b", arm, slide, Slide(), p=(0.5, 0.1, 0)))
    b.add_frame("tip", slide, p=(0.1, 0.2, 0.3))
    model = b.build()
    state, tau, held = model.random_state(rng), rng.normal(size=model.nv), [RigidContact("tip", 3)]
    x, f, J = diff.contact_dynamics(model, state, tau, held)
    assert close(model.forward_dynamics(state, tau + J.T @ f), x, 1e-10)
    A = model.acceleration(state, held[0].frame, x)
    assert np.abs(A.linear).max() < 1e-9
    with pytest.raises(mbros.MbrosError, match="no derivative"):
        diff.contact_dynamics_derivatives(model, state, tau, held)


def test_nothing_is_changed_and_nothing_stale_is_read(rng):
    model, state, tau = loaded("humanoid", "floating", rng)
    contacts = [RigidContact("left_foot", 6), RigidContact("right_foot", 6)]
    before, fresh = state._inputs.copy(), state.copy()
    first = diff.contact_dynamics(model, state, tau, contacts)
    diff.contact_impulse(model, state, contacts[:1])
    kept = [x.copy() for x in first]
    assert np.array_equal(state._inputs, before)
    for ask in (lambda s: model.forward_dynamics(s, tau), lambda s: model.inverse_dynamics(s, tau), model.mass_matrix,
                model.center_of_mass, lambda s: model.jacobian(s, "left_hand"), lambda s: diff.forward_dynamics(model, s, tau)["q"]):
        assert np.array_equal(ask(state), ask(fresh))
    assert all(np.array_equal(a, b) for a, b in zip(first, kept))
    assert all(np.array_equal(a, b) for a, b in zip(diff.contact_dynamics(model, state, tau, contacts), kept))
    state.v[:] *= 2.0
    assert not np.allclose(diff.contact_dynamics(model, state, tau, contacts).motion, kept[0])


@pytest.mark.parametrize("change", [list.clear, lambda contacts: contacts.extend(contacts * 50)], ids=["fewer", "more"])
def test_contacts_that_change_while_they_are_read_are_those_of_the_call(change):
    """A pose may be an object with properties of its own."""
    model = mbros.load("quadruped")
    state = model.default_state()
    feet = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]

    class Odd:
        p = np.zeros(3)
        changes = True

        @property
        def R(self):
            if self.changes:
                self.changes = False
                change(contacts)
            return np.eye(3)

    contacts = [RigidContact(feet[0], 3, 10.0, 1.0, Odd()), *(RigidContact(foot, 3) for foot in feet[1:])]
    still = [contacts[0]._replace(pose=Placement()), *contacts[1:]]
    ours = diff.contact_dynamics(model, state, np.zeros(model.nv), contacts)
    theirs = diff.contact_dynamics(model, state, np.zeros(model.nv), still)
    assert len(contacts) != len(still)
    assert all(np.array_equal(a, b) for a, b in zip(ours, theirs))
