"""What a batch does not take, and what cannot be computed: each refused in a sentence that names the robot; Ctrl-C; joints and force
elements written in Python."""
import re

import numpy as np
import pytest
import robots
from interrupting import SOON, interrupt_after

import mbros
import mbros_core


@pytest.fixture(scope="module")
def model():
    return mbros.load("arm7")


Q, V = np.zeros((5, 7)), np.zeros((5, 7))


@pytest.mark.parametrize("q, v, words", [
    (np.zeros(7), np.zeros(7), "expected q (n, 7) and v (n, 7), one of them for all where it is a single row, got q (7,) and v (7,)"),
    (np.zeros((5, 6)), V, "q: expected shape (n, 7), or (7,) for all, got (5, 6)"), (Q, np.zeros((4, 7)), "got q (5, 7) and v (4, 7)"),
    (Q, np.zeros((5, 7, 1)), "v: expected shape (n, 7), or (7,) for all, got (5, 7, 1)"), ("here", V, "q: expected numbers, got 'here'"),
    (None, V, "q: expected numbers, got None"), (Q, True, "v: expected numbers, got True")])
def test_what_is_no_batch(model, q, v, words):
    with pytest.raises(mbros.MbrosError, match=re.escape(f"batch of model 'arm7': {words}").replace("arm7':\\ got", "arm7': .*got")):
        model.batch(q, v)


@pytest.mark.parametrize("parameters, words", [
    ({"mass.link7": np.ones(4)}, "parameter 'mass.link7': expected one value for each of 5 robots, shape (5,), got shape (4,)"),
    ({"mass.link7": 1.0}, "shape (5,), got shape ()"), ({"gravity": np.ones(5)}, "expected 3 numbers for each of 5 robots, shape (5, 3)"),
    ({"damping.joint1": [0, 0, 0, -1, 0]}, "parameter 'damping.joint1': value[3] is -1; expected a finite number, zero or more"),
    ({"mass.link7": [1, 2, np.nan, 1, 1]}, "parameter 'mass.link7': value[2] is nan; expected a finite number"),
    ({"mass.lnik7": np.ones(5)}, "did you mean 'mass.link7'?"), ([("mass.link7", np.ones(5))], "parameters: expected {parameter name:"),
    ({"locked.joint1": np.ones(5, bool)}, "a joint is locked for all robots of a batch or for none; lock it in the state")])
def test_what_is_no_parameter(model, parameters, words):
    for make in (lambda: model.batch(Q, V, parameters=parameters),
                 lambda: mbros.rollout(model, np.zeros(7), np.zeros(7), np.zeros((5, 2, 7)), parameters=parameters)):
        with pytest.raises(mbros.MbrosError, match=re.escape(words)):
            make()


def test_what_numbers_of_an_element_must_be_together():
    model = robots.sprung(mbros.PrismaticJoint)
    with pytest.raises(mbros.MbrosError, match="stiffness"):
        model.batch(np.zeros((3, 1)), parameters={"force.spring.stiffness": [1.0, -5.0, 1.0]})


@pytest.mark.parametrize("call, words", [
    (lambda b: b.forward_dynamics(np.zeros((4, 7))), "tau: expected shape (5, 7), or (7,) for all, got (4, 7)"),
    (lambda b: b.inverse_dynamics("x"), "vdot: expected numbers, got 'x'"), (lambda b: b.pose("flnage"), "did you mean 'flange'?"),
    (lambda b: b.jacobian("flange", "link1"), "expressed_in: expected 'world' or 'local', got 'link1'"),
    (lambda b: b.acceleration("flange", np.zeros(6)), "vdot: expected shape (5, 7), or (7,) for all, got (6,)"),
    *((lambda b, out=out: b.mass_matrix(out), "out: expected a writable C-contiguous float64 array of shape (5, 7, 7), got")
      for out in (np.zeros((5, 7)), np.zeros((5, 7, 7), np.float32), np.zeros((7, 7, 5)).T, [1.0]))])
def test_what_a_call_does_not_take(model, call, words):
    with pytest.raises(mbros.MbrosError, match=re.escape(words)):
        call(model.batch(Q, V))


@pytest.mark.parametrize("name, arguments", [("pose", ()), ("velocity", ()), ("acceleration", (np.zeros(7),)), ("jacobian", ())])
def test_errors_of_frames_have_the_names_of_the_methods(model, name, arguments):
    batch, state = model.batch(Q, V), model.default_state()
    batch.q[2, 1], state.q[1] = np.nan, np.inf
    with pytest.raises(mbros.NonFiniteError, match=rf"^robot 2 of 5: {name} of model 'arm7': q\[1\]"):
        getattr(batch, name)("flange", *arguments)
    with pytest.raises(mbros.NonFiniteError, match=rf"^{name} of model 'arm7': q\[1\]"):
        getattr(model, name)(state, "flange", *arguments)
    if arguments:
        with pytest.raises(mbros.MbrosError, match="^acceleration of a batch of model 'arm7': vdot: expected shape"):
            batch.acceleration("flange", np.zeros(3))


@pytest.mark.parametrize("name", ["q", "v"])
def test_rows_that_are_put_into_a_batch_are_those_of_its_robots(model, name):
    """Not an array of another length in its place, of which the rest of the results would never be written."""
    batch = model.batch(Q, V)
    rows = getattr(batch, name)
    for wrong in (np.zeros((9, 7)), np.zeros((2, 7)), np.zeros((5, 6)), "here", None):
        with pytest.raises(mbros.MbrosError, match=f"batch of model 'arm7': {name}: expected"):
            setattr(batch, name, wrong)
    given = np.arange(35, dtype=np.int32).reshape(5, 7)
    setattr(batch, name, given)
    assert getattr(batch, name) is rows and (rows == given).all() and batch.gravity_torques().shape == (5, 7)
    setattr(batch, name, range(7))
    assert (rows == np.arange(7)).all()


@pytest.mark.parametrize("k", [5, -6, 1.5, True, "one", None])
def test_a_robot_that_is_not_there_is_refused(model, k):
    with pytest.raises(mbros.MbrosError, match="batch of model 'arm7': robot: expected a number from 0 to 4, got"):
        model.batch(Q, V).state(k)


def test_threads_are_counted(model):
    for threads in (0, -1, 1.5, "two", True):
        with pytest.raises(mbros.MbrosError, match="threads: expected 1 or more, got"):
            model.batch(Q, V, threads=threads)


@pytest.mark.parametrize("what", ["q", "v", "tau"])
def test_a_number_that_is_not_finite_is_refused_as_in_a_single_call_and_nothing_written(model, what, rng):
    q, v, tau = rng.normal(size=(3, 19, 7))
    {"q": q, "v": v, "tau": tau}[what][13, 2] = np.nan
    batch, out = model.batch(q, v), np.full((19, 7), 7.0)
    with pytest.raises(mbros.NonFiniteError, match=rf"robot 13 of 19: forward_dynamics of .*: {what}\[2\] \(joint 'joint3'\) is nan"):
        batch.forward_dynamics(tau, out=out)
    assert (out == 7.0).all()
    if what != "q":
        assert np.isfinite(batch.mass_matrix()).all(), "it does not depend on these"


def test_what_has_no_result_names_its_robot(rng):
    """A robot with neither mass nor rotor inertia behind its joint; two beside it have some."""
    model = mbros.load("pendulum")
    masses = np.ones(10)
    masses[6] = 0.0
    batch = model.batch(np.ones((10, 1)), parameters={"mass.rod": masses, "rotor_inertia.hinge": np.zeros(10)})
    out = np.zeros((10, 1))
    with pytest.raises(mbros.NonFiniteError, match="robot 6 of 10: forward_dynamics of model 'pendulum': the result is not finite"):
        batch.forward_dynamics(np.ones(1), out=out)
    assert (out[[0, 9]] != 0.0).all() and out[6] == 0.0, "the others' rows are there"
    with pytest.raises(mbros.MbrosError, match="robot 6 of 10: model 'pendulum' has no mass that can move"):
        batch.center_of_mass()


def test_a_bushing_at_lock_is_the_error_it_is():
    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_force_element(mbros.LinearBushingRollPitchYaw(b.world.frame, body.frame, *[(1, 1, 1)] * 4, name="mount"))
    model = b.build()
    q = np.tile(model.neutral_configuration(), (9, 1))
    q[4, model.joint("free").q_slice][3:] = np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0
    with pytest.raises(mbros.GimbalLockError, match="robot 4 of 9") as told:
        model.batch(q).forward_dynamics(np.zeros(6))
    assert told.value.elements == [0]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_long_batch_sees_the_interrupt_and_the_next_call_works(threads):
    model = mbros.load("humanoid")
    n = 300_000
    batch = model.batch(np.tile(model.neutral_configuration(), (n, 1)), threads=threads)
    out = np.empty((n, model.nv))
    with interrupt_after(0.05) as since, pytest.raises(KeyboardInterrupt):
        while True:
            batch.forward_dynamics(np.zeros(model.nv), out)
    assert since() < SOON
    few = model.batch(batch.q[:9], threads=threads)
    assert np.isfinite(few.forward_dynamics(np.zeros(model.nv))).all()
    assert np.isfinite(batch.forward_dynamics(np.zeros(model.nv), out)).all()


def test_two_threads_do_not_compute_with_one_batch(model):
    batch = model.batch(Q, V)
    with batch._alone, pytest.raises(mbros_core.errors.BusyError, match="another thread computes with this batch now; give each"):
        batch.mass_matrix()
    assert batch.mass_matrix().shape == (5, 7, 7)


def test_results_over_what_other_threads_read(rng):
    """A result that lies over the positions and velocities, of more numbers than these have."""
    model = mbros.load("pendulum")
    memory = rng.normal(size=8000)
    batch = model.batch(np.zeros((4000, 1)), threads=3)
    batch.q, batch.v = memory[:4000, None], memory[4000:, None]
    expected = model.batch(batch.q.copy(), batch.v.copy()).bias_torques()
    assert np.array_equal(batch.bias_torques(out=memory[1000:5000, None]), expected)


# ------------------------------------------------------------------------------------ written by users


class Slide(mbros.JointLaw):
    """A slide along a parabola."""

    nq = nv = 1

    def pose(self, q):
        return np.eye(3), np.array([q[0], 0.0, q[0]**2])

    def subspace(self, q):
        return np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 2.0 * q[0]]]).T

    def bias(self, q, v):
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0 * v[0]**2])


class Pull(mbros.ForceElement):
    """-k p, until it is told to fail."""

    fails = False

    def wrench(self, pose, velocity):
        if self.fails:
            raise RuntimeError("the rope is torn")
        return np.zeros(3), -10.0 * pose.p

    def energy(self, pose):
        return 5.0 * pose.p @ pose.p


def of_python():
    b = mbros.ModelBuilder("mine")
    body = b.add_body("body", 1.0, (0.1, 0.0, 0.0), np.diag([1.0, 1.0, 1.0]))
    b.add_joint(mbros.CustomJoint("slide", b.world, body, Slide()))
    element = Pull(b.world.frame, body.frame, name="pull")
    b.add_force_element(element)
    return b.build()


@pytest.mark.parametrize("threads", [1, 2])
def test_joints_and_force_elements_in_python_run_in_batches(threads, rng):
    model = of_python()
    q, v, tau = rng.normal(size=(3, 19, 1))
    batch = model.batch(q, v, threads=threads)
    forward, energy, X = batch.forward_dynamics(tau), batch.potential_energy(), batch.pose("body")
    for b in range(19):
        state = batch.state(b)
        assert np.abs(forward[b] - model.forward_dynamics(state, tau[b])).max() < 1e-13 * max(1.0, np.abs(forward[b]).max())
        assert abs(energy[b] - model.potential_energy(state)) < 1e-13 * max(1.0, abs(energy[b]))
        assert np.array_equal(X.p[b], model.pose(state, "body").p)


def test_what_they_raise_is_told(monkeypatch):
    model = of_python()
    batch = model.batch(np.ones((9, 1)))
    monkeypatch.setattr(Pull, "fails", True)
    with pytest.raises(mbros.NonFiniteError, match="robot 0 of 9, or one beside it: .*'pull'.* raised Runt.*: the rope is torn") as told:
        batch.forward_dynamics(np.zeros(1))
    assert isinstance(told.value.__cause__, RuntimeError)
    monkeypatch.setattr(Pull, "fails", False)
    assert np.isfinite(batch.forward_dynamics(np.zeros(1))).all()


def test_they_have_no_linear_dynamics(model):
    with pytest.raises(mbros.MbrosError, match="written by a user, of which no derivative is known; take finite differences"):
        of_python().linearize((np.zeros((4, 1)), np.zeros((4, 1))), np.zeros(1))


# --------------------------------------------------------------------------------------------- the engine


def test_the_engine_refuses_what_does_not_fit(model):
    engine, x = mbros_core.lanes().Batch(mbros_core.lanes().Model(model.spec)), np.zeros((5, 7))
    for call, error in ((lambda: engine.compute("mass", x, x, None, x), mbros.UnknownNameError),
                        (lambda: engine.compute("frame_pose", x, None, None, np.zeros((5, 12)), 99), mbros.CoordinateIndexError),
                        (lambda: engine.compute("frame_pose", x, None, None, np.zeros((5, 12)), 1, -2), mbros.CoordinateIndexError),
                        (lambda: engine.compute("mass_matrix", x, None, None, x), mbros.MbrosError),
                        (lambda: engine.take(np.zeros(3)), mbros.MbrosError), (lambda: engine.take("abc"), TypeError),
                        (lambda: engine.vary(np.array([10**6]), np.zeros((5, 1))), mbros.MbrosError),
                        (lambda: engine.vary(np.array([0]), np.zeros((5, 2))), mbros.MbrosError),
                        (lambda: engine.vary(np.array([0]), np.full((5, 1), np.nan)), mbros.NonFiniteError),
                        (lambda: engine.vary(np.array([0]), np.zeros((5, 1)), 2**63 - 1, 2**63 - 1), mbros.MbrosError)):
        with pytest.raises(error):
            call()
    engine.vary(np.array([0]), np.zeros((4, 1)))
    with pytest.raises(mbros.MbrosError, match="5 robots from number 0 on, and 4 rows of values of their own, for 1 robots each"):
        engine.forward_dynamics(x, x, x, np.zeros((5, 7)))
    engine.vary(np.array([0]), np.zeros((4, 1)), 0, 2**62)
    assert engine.forward_dynamics(x, x, x, np.zeros((5, 7))) == -1, "all of them have the first row"
    engine.vary(np.array([0]), np.zeros((4, 1)))
    engine.take(model.default_state()._inputs)
    assert engine.forward_dynamics(x, x, x, np.zeros((5, 7))) == -1, "none has a number of its own any more"


@pytest.mark.parametrize("every", [2**62, 2**63 - 1])
def test_the_engine_keeps_the_last_step_however_rarely_it_is_asked_to(model, every):
    """Its sums do not overflow, so that nothing is written beside the results."""
    engine, tau, fault = mbros_core.lanes().Batch(mbros_core.lanes().Model(model.spec)), np.zeros((20, 3, 7)), np.zeros(20, np.int64)
    memory = np.full((3, 20, 1, 7), 7.0)
    engine.rollout(np.zeros((20, 7)), np.zeros((20, 7)), tau, 1e-3, 0, memory[1], np.zeros((20, 1, 7)), fault, every)
    expected = mbros.rollout(model, np.zeros(7), np.zeros(7), tau, every=3).q
    assert (memory[1] == expected).all() and (memory[[0, 2]] == 7.0).all()
