"""Every error case the catalogue names for HPP's joints and spaces, bushings, their design, and conventions: as test_error_cases.py."""
import numpy as np
import pytest
from error_rig import Rig, build, check, table

import mbros
from mbros import bushing_design as design

NAN, INF = np.nan, np.inf
Error, Model, Frozen, Index, State, NotFinite, Unknown, Lock = (
    mbros.MbrosError, mbros.ModelError, mbros.FrozenModelError, mbros.CoordinateIndexError, mbros.StateError, mbros.NonFiniteError,
    mbros.UnknownNameError, mbros.GimbalLockError)


@pytest.fixture(scope="module")
def rig():
    return Rig()


def bushing(r, **constants):
    return mbros.Bushing(r.world, r.body(), **constants)


def negative(group, k):
    """A bushing with one negative constant, described and in a state."""
    value = [1.0, 1.0, 1.0]
    value[k] = -0.5
    words = ["bushing", f"{group}[{k}] is -0.5", "zero or more", "N"]
    return [("BU-18", lambda r: bushing(r, **{group: value}), Error, words),
            ("BU-21", lambda r: r.mount.set(r.s, group, value), Error, ["force element 'mount'", *words])]


def step(r):
    state = r.locked.copy()
    mbros.Simulator(r.m, state=state).step()


def mated(r):
    """The bushing on a body of another model."""
    b = build()
    b.add_force_element(mbros.Bushing(b.world, r.body(), name="other"))
    return b.build()


LOCK = ["force element 'mount'", "frame A 'world'", "frame C 'fl_body'", "90.0000 degrees", "within 0.4584 degrees", "Turn both frames"]
ROWS = [
    # ---------------------------------------------------------------------------------------------------- joints of HPP
    ("HJ-02", lambda r: mbros.TranslationJoint("new", r.world, r.body(), 4), Model, ["joint 'new'", "dim is 4", "1, 2 or 3"]),
    ("HJ-12", lambda r: r.j("r").topology.pose_from_parent([NAN], np.eye(4)), NotFinite, ["joint 'r'", "q[0] is nan", "finite"]),
    ("HJ-21", lambda r: mbros.RevoluteJoint("p", None, r.body()).add_child(r.d("r")), Model,
     ["joint 'p'", "'r'", "no model", "b.add_joint"]),
    ("HJ-21", lambda r: r.b.add_joint(mbros.RevoluteJoint("p", None, r.body())), Model, ["joint 'p'", "no parent", "add_child"]),
    ("HJ-21", lambda r: r.d("r").add_child(r.d("pl")), Model, ["joint 'pl'", "'rig' already", "Make another"]),
    ("HJ-23", lambda r: setattr(r.d("r"), "placement", None), Model, ["joint 'r'", "pose is None", "(4, 4)"]),
    ("HJ-24", lambda r: r.d("pl").set_bounds(3, 0, 1), Model, ["joint 'pl'", "component 3", "There are 3"]),
    ("HJ-24", lambda r: r.d("pl").set_bounds(1, 2, 1), Model, ["joint 'pl'", "limit 2 of coordinate 1", "Swap"]),
    ("HJ-28", lambda r: r.m.jacobian(r.s, "rr"), Unknown, ["'rr'", "'rig'"]),
    ("HJ-28", lambda r: r.m.jacobian(r.s, "r", rows=3), Error, ["'rig'", "rows is 3", "'linear_angular'"]),
    ("HJ-34", lambda r: mbros.spaces.SO3().normalize(np.zeros(4)), NotFinite, ["SO(3)", "zeros"]),
    ("HJ-35", lambda r: mbros.spaces.SO2().integrate([1, 0], [INF]), NotFinite, ["SO(2)", "v[0]", "inf", "finite"]),
    ("HJ-36", lambda r: mbros.spaces.Rn(2, (0, 3), (1, 1)), Error, ["R^2", "component 1", "3", "above upper 1"]),
    ("HJ-37", lambda r: r.m.space("hpp").sample(0), Error, ["'pl.0'", "[-inf, inf]", "finite bounds"]),
    ("HJ-39", lambda r: r.m.integrate(r.s.q, np.zeros(3)), ValueError, ["'rig'", "v", "17 numbers", "(3,)"]),
    ("HJ-39", lambda r: r.m.space().difference(np.zeros((2, r.m.nq)), np.zeros((3, r.m.nq))), Error,
     ["'rig'", "(2, 20)", "(3, 20)", "fit"]),
    ("HJ-39", lambda r: r.m.space("hop"), Error, ["'hop'", "did you mean 'hpp'"]),
    ("HJ-42", lambda r: r.m.joint("plr"), Unknown, ["'plr'", "'rig'", "did you mean 'pl'"]),
    ("HJ-42", lambda r: r.m.body("r_bdy"), Unknown, ["'r_bdy'", "'rig'", "did you mean 'r_body'"]),
    ("HJ-42", lambda r: r.b.joint(np.zeros(2)), Unknown, ["[0., 0.]", "'rig'"]),
    ("HJ-42", lambda r: r.m.tree.at_q(20), Index, ["'rig'", "coordinate 20", "there are 20"]),
    ("HJ-42", lambda r: r.m.tree.at_v(-1), Index, ["'rig'", "coordinate -1", "there are 17"]),
    ("HJ-44", lambda r: r.m.space().add_extra_variables(-1), Error, ["-1", "zero or more"]),
    ("HJ-44", lambda r: r.m.space().add_extra_variables(2, 1, 0), Error, ["component 0", "lower 1.0", "upper 0.0"]),
    ("HJ-46", lambda r: mbros.CollisionPairs(None), Error, ["CollisionPairs", "built model", "None", "mbros.load"]),
    ("HJ-04", lambda r: mbros.ContinuousJoint("new", r.world, r.body(), representation=np.zeros(2)), Model, ["joint 'new'", "'cos_sin'"]),
    ("HJ-50", lambda r: r.m.com_of(r.s, []), Error, ["'rig'", "no joints", "mass"]),
    ("HJ-50", lambda r: r.m.com_of(r.foreign, ["r"]), State, ["'rig'", "another model of that name"]),
    # ----------------------------------------------------------------------------------------------------------- bushing
    ("BU-15", lambda r: r.mount.potential_energy(r.locked), Lock, LOCK),
    ("BU-15", lambda r: r.mount.spatial_force_on_frame_A(r.locked), Lock, LOCK),
    ("BU-15", lambda r: r.m.forward_dynamics(r.locked, r.forces), Lock, ["'rig'", *LOCK]),
    ("BU-15", step, mbros.FaultError, ["last good state is held", *LOCK]),
    *(row for group in ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping") for k in range(3)
      for row in negative(group, k)),
    ("BU-18", lambda r: bushing(r, torque_stiffness=(1, 2)), Error, ["bushing", "torque_stiffness", "3 numbers", "N m/rad", "(2,)"]),
    ("BU-18", lambda r: bushing(r, force_damping=NAN), NotFinite, ["bushing", "force_damping[0] is nan", "finite"]),
    ("BU-18", lambda r: mbros.Bushing(r.world, "r_body"), Error, ["bushing", "frame_C", "'r_body'", "b.add_body"]),
    ("BU-18", mated, Model, ["force element 'other'", "'r_body'", "another model"]),
    ("BU-20", lambda r: setattr(r.mount, "torque_stiffness", 1.0), Frozen,
     ["force element 'mount'", "torque_stiffness", "ModelBuilder(model)"]),
    ("BU-21", lambda r: r.mount.set_torque_damping(r.foreign, 1.0), State, ["force element 'mount'", "another model of that name"]),
    ("BU-21", lambda r: r.mount.set(r.s, "torque_stifness", 1), Unknown,
     ["'torque_stifness'", "'mount'", "did you mean 'torque_stiffness'"]),
    ("BU-21", lambda r: r.mount.set(r.s, ["torque_stiffness"], 1), Unknown, ["['torque_stiffness']", "'mount'"]),
    ("BU-21", lambda r: r.mount.update(r.s, {"torque_stiffness": 2, "force_damping": -1}), Error, ["'mount'", "force_damping[0] is -1"]),
    ("BU-21", lambda r: r.mount.update(r.s, None), Error, ["'mount'", "values", "torque_stiffness", "None"]),
    ("BU-22", lambda r: r.mount.add_forces(r.s, r.forces), Error, ["'mount'", "Forces(model)", "'rig'"]),
    ("BU-24", lambda r: r.mount.check(r.foreign), State, ["'mount'", "another model of that name"]),
    ("BU-25", lambda r: mbros.Bushing.revolute_z(r.world, r.body(), 1, 1, 1, 1, free_damping="x"), Error,
     ["free_damping", "1 number", "'x'"]),
    ("BU-40", lambda r: bushing(r, law="sead"), Error, ["law is 'sead'", "energy_consistent"]),
    # ------------------------------------------------------------------------------------------------- design of bushings
    ("BU-27", lambda r: design.stiffness_from_test(1.0, 0.0), Error, ["deflection is 0"]),
    ("BU-27", lambda r: design.stiffness_from_test(1.0, -1.0), Error, ["load / deflection is -1", "above zero"]),
    ("BU-29", lambda r: design.stiffness_from_limit(100.0, 0.0), Error, ["max_deflection is 0", "above zero"]),
    ("BU-30", lambda r: design.stiffness_from_frequency(-1.0, 1.0), Error, ["inertia is -1", "above zero"]),
    ("BU-31", lambda r: design.damping_from_settling(1.0, 0.5, 0.0), Error, ["settling_time is 0", "above zero"]),
    ("BU-32", lambda r: design.damping_from_inertia(1.0, 1.0, NAN), Error, ["damping_ratio is nan", "finite"]),
    ("BU-34", lambda r: design.settling_frequency(0.5, 1.0, 1.5), Error, ["settling_ratio is 1.5", "between 0 and 1"]),
    ("BU-34", lambda r: design.settling_frequency(0.5, 1.0, method="exat"), Error, ["'exat'", "did you mean 'exact'"]),
    ("BU-36", lambda r: design.settling_frequency(0.5, 1.0, method="dominant_pole"), Error, ["damping_ratio is 0.5", "'exact' is for all"]),
    ("BU-38", lambda r: design.damping_ratio_from_decay(1.2), Error, ["decay_ratio is 1.2", "between 0 and 1"]),
    ("BU-39", lambda r: design.advise(1.0, 1.0, 0.0), Error, ["inertia is 0", "above zero"]),
    # ------------------------------------------------------------------------------------------- conventions (section 6)
    ("QF-N1", lambda r: mbros.convention("pinochio"), Error, ["'pinochio'", "did you mean 'pinocchio'"]),
    ("QF-N1", lambda r: mbros.convention("ros").to(None, r.s.q, r.s.v), Error, ["built model", "None", "mbros.load"]),
    ("QF-N1", lambda r: r.m.from_convention("drake", np.zeros(3), r.s.v), Error, ["'rig'", "q", "18 numbers", "(3,)"]),
    ("QF-N1", lambda r: mbros.convention("mujoco").back(r.m, np.zeros(19), r.s.v), Error, ["joint 'ball'", "all zeros", "no rotation"]),
    ("QF-N1", lambda r: mbros.convention("hpp").to(r.m, np.zeros((2, 20)), np.zeros((3, 17))), Error, ["'rig'", "q (2, 20)", "v (3, 17)"]),
    ("QF-N1", lambda r: r.m.to_convention(r.foreign, "drake"), State, ["'rig'", "another model of that name"]),
    ("QF-N1", lambda r: mbros.convention("ros").to_twist(np.zeros(6), "nowhere"), Error, ["'nowhere'", "'local'", "'world'"]),
    ("QF-N1", lambda r: mbros.convention("ros").to_jacobian(r.m, r.s.q, np.zeros((6, 17)), "local", 3.0), Error, ["X_WF", "(..., 4, 4)"]),
    ("QF-N1", lambda r: mbros.SpatialForce(np.zeros((2, 3)), "r_body"), Error, ["SpatialForce", "(6,)", "(2, 3)"]),
    ("QF-N1", lambda r: mbros.Pose("x", (0, 0, 0)), Error, ["Pose", "R", "'x'"]),
]


@table(ROWS)
def test_refused_in_words_and_nothing_has_changed(rig, row):
    check(rig, row)


@pytest.mark.seed("BU-34")
def test_settling_of_what_hardly_decays_is_told_in_no_time():
    """(This one went on for ever.)"""
    assert design.settling_time(1e-150, 1.0) == pytest.approx(-np.log(0.01) / 1e-150, rel=1e-12)


@pytest.mark.parametrize("dt, integrator, words",
                         [(0.0, "rk4", "dt is 0; expected"), (np.nan, "rk4", "dt.* is nan"), ("x", "rk4", "dt: expected 1"),
                                                   (1e-3, "euler", "integrator is 'euler'; expected"), (1e-3, None, "integrator is None")])
def test_steps_are_refused_alike_by_simulators_rollouts_and_derivatives(rig, dt, integrator, words):
    m, s = rig.m, rig.s
    for call in (lambda: mbros.Simulator(m, dt, integrator), lambda: mbros.rollout(m, s.q, s.v, np.zeros((1, 1, m.nv)), dt, integrator),
                 lambda: mbros.diff.linearize_step(m, s, np.zeros(m.nv), dt, integrator)):
        with pytest.raises(mbros.MbrosError, match=words):
            call()
