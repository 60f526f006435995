"""LinearBushingRollPitchYaw: every capability of the seed document (catalogue 4.1, 4.2), on the stored numbers."""
import pickle

import bushing_golden as golden
import numpy as np
import pytest
from tolerance import assert_close

import mbros
import mbros_core
from mbros.spatial.placement import rotation_from_rpy
from mbros.spatial.vectors import Pose

seed = pytest.mark.seed
cases = pytest.mark.parametrize("case", golden.CASES, ids=range(len(golden.CASES)))
GROUPS = ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")
CONSTANTS = [(10.0, 20.0, 30.0), (1.0, 2.0, 3.0), (100.0, 200.0, 300.0), (4.0, 5.0, 6.0)]


@seed("BU-01", "BU-02", "BU-03", "BU-04", "BU-05", "BU-06", "BU-07", "BU-08", "BU-09")
@cases
def test_what_it_measures(case):
    model, bushing, state = golden.case_state(case)
    got, want = bushing.measure(state), case["rederived"]
    for name, key in (("angles", "rpy"), ("angle_rates", "rpydt"), ("gimbal_torques", "tau_gimbal"), ("torque", "t_A"),
                      ("displacement", "xyz_B"), ("displacement_rate", "xyzdt_B"), ("force", "f_B")):
        assert_close(getattr(got, name), want[key], 1e-12, what=name)
    assert_close(got.X_AB.R, want["R_AB"], 1e-12)
    assert_close(got.X_AB.R @ got.X_AB.R, case["X_AC"]["R"], 1e-12)
    assert_close(got.X_AB.p, 0.5 * np.array(case["X_AC"]["p"]), 1e-12)
    w = np.array(case["V_AC_A"]["rot"])
    assert float(got.torque @ w) == pytest.approx(float(got.gimbal_torques @ got.angle_rates), rel=1e-13)


@seed("BU-10", "BU-13", "BU-14", "BU-18", "BU-22")
@cases
def test_spatial_forces_and_generalized_forces_are_drakes(case):
    model, bushing, state = golden.case_state(case)
    A, C = bushing.spatial_force_on_frame_A(state), bushing.spatial_force_on_frame_C(state)
    for got, key in ((A, "F_Ao_A"), (C, "F_Co_C")):
        size = max(np.abs(case["drake"][key]["rot"]).max(), np.abs(case["drake"][key]["lin"]).max())
        assert_close(got.torque, case["drake"][key]["rot"], 1e-12, size)
        assert_close(got.force, case["drake"][key]["lin"], 1e-12, size)
    forces = mbros.Forces(model)
    assert bushing.add_forces(state, forces) is bushing
    links = [forces.bodies[model.body(name)._frame_index] for name in ("L0", "L1")]
    assert_close(np.concatenate(links), case["drake"]["generalized_forces"], 1e-12)
    R = golden.pose(case["X_AC"]).R
    p = np.array(case["X_AC"]["p"])
    sum_of_moments = A.torque + R @ C.torque + np.cross(p, R @ C.force)
    assert np.abs(sum_of_moments).max() < 1e-14 * size and np.abs(A.force + R @ C.force).max() < 1e-14 * size


@seed("BU-11")
@cases
def test_moments_of_the_force_about_both_origins_are_equal(case):
    """Without torque constants only f is left, and its moment on A about Ao is that on C about Co."""
    case = {**case, "k012": [0.0] * 3, "d012": [0.0] * 3}
    model, bushing, state = golden.case_state(case)
    R = golden.pose(case["X_AC"]).R
    on_A, on_C = bushing.spatial_force_on_frame_A(state).torque, R @ bushing.spatial_force_on_frame_C(state).torque
    assert_close(on_A, on_C, 1e-15, scale=np.abs(bushing.spatial_force_on_frame_A(state).force).max())


@seed("BU-24", "BU-40")
@cases
def test_energy_and_powers(case):
    want = case["rederived"]
    model, bushing, state = golden.case_state(case)
    assert bushing.potential_energy(state) == pytest.approx(want["potential_energy"], rel=1e-12)
    assert model.potential_energy(state) == pytest.approx(want["potential_energy"], rel=1e-12)
    assert bushing.conservative_power(state) == pytest.approx(want["conservative_power"], rel=1e-12)
    assert bushing.nonconservative_power(state) == pytest.approx(want["nonconservative_power"], rel=1e-12)
    exact = want["energy_consistent"]
    model, bushing, state = golden.case_state(case, "energy_consistent")
    assert bushing.law == "energy_consistent"
    assert bushing.potential_energy(state) == pytest.approx(want["potential_energy"], rel=1e-12)
    assert bushing.conservative_power(state) == pytest.approx(exact["conservative_power"], rel=1e-12)
    measured = bushing.measure(state)
    assert_close(measured.displacement_rate, exact["xyzdt_exact_B"], 1e-12)
    assert_close(measured.force, exact["f_B"], 1e-12)
    F = bushing.wrench(state)
    assert_close(F.torque, exact["moment_on_C_about_Co_A"], 1e-12)
    assert_close(F.force, exact["force_on_C_A"], 1e-12, scale=1e-3)
    assert_close(bushing.spatial_force_on_frame_A(state).torque, exact["moment_on_A_about_Ao_A"], 1e-12)


@seed("BU-12")
def test_swapping_the_frames_is_not_a_mirror_except_about_one_axis():
    still, here = [(np.zeros(3), np.zeros(3))] * 2, Pose(np.eye(3), np.zeros(3))

    def asymmetry(angles):
        """How far the torque on a body changes when the bushing's ends are swapped."""
        turned = Pose(rotation_from_rpy(angles), np.zeros(3))
        model = golden.built(here, here, CONSTANTS)
        bushing = model.force_elements[0]
        on_C = bushing.wrench(golden.at(model, [here, turned], still)).torque
        on_A = bushing.spatial_force_on_frame_A(golden.at(model, [turned, here], still)).torque
        return np.abs(on_C - turned.R @ on_A).max()

    assert asymmetry((0.4, -0.5, 0.6)) > 0.5
    for axis in range(3):
        assert asymmetry(0.7 * np.eye(3)[axis]) < 1e-13


@seed("BU-15")
@pytest.mark.parametrize("row", golden.DATA["meta"]["gimbal_lock_sweep"], ids=lambda row: str(row["cos_pitch"]))
@pytest.mark.parametrize("constants", [CONSTANTS, [CONSTANTS[0], (0, 0, 0), CONSTANTS[2], (0, 0, 0)]], ids=["damped", "undamped"])
@pytest.mark.parametrize("law", ["drake", "energy_consistent"])
def test_gimbal_lock_where_drake_has_it_and_right_about_its_unit(row, constants, law):
    pitch = row["pitch"] + 1e-12          # one row stands on the bound itself, where rounding would decide
    model, bushing, state = golden.straight((0.0, pitch, 0.0), constants, law)
    calls = [lambda: bushing.spatial_force_on_frame_A(state), lambda: bushing.spatial_force_on_frame_C(state),
             lambda: bushing.potential_energy(state), lambda: bushing.conservative_power(state),
             lambda: bushing.nonconservative_power(state), lambda: bushing.generalized_force(state), lambda: bushing.measure(state),
             lambda: model.forward_dynamics(state, np.zeros(model.nv)), lambda: model.inverse_dynamics(state, np.zeros(model.nv)),
             lambda: model.potential_energy(state)]
    if row["raises"] is None:
        assert all(np.isfinite(np.asarray(call() if k != 6 else call().force, float)).all() for k, call in enumerate(calls))
        return
    before = state.q.copy()
    for call in calls:
        with pytest.raises(mbros.GimbalLockError) as caught:
            call()
        text = str(caught.value)
        assert caught.value.elements == [0]
        assert "'bushing' between frame A 'A' and frame C 'C'" in text
        assert f"{np.degrees(row['pitch']):.4f} degrees" in text and "0.4584 degrees of +-90" in text
        assert "torque_stiffness[1]" in text
    assert (state.q == before).all()


@seed("BU-16")
def test_torques_jump_where_angles_do():
    for axis in (0, 2):
        angles, jump = np.zeros(3), []
        for side in (-1.0, 1.0):
            angles[axis] = side * (np.pi - 1e-9)
            _, bushing, state = golden.straight(angles, CONSTANTS)
            jump.append(bushing.wrench(state).torque[axis])
        assert jump[0] == pytest.approx(CONSTANTS[0][axis] * np.pi, rel=1e-8)
        assert jump[1] == pytest.approx(-CONSTANTS[0][axis] * np.pi, rel=1e-8)
    # next to the singularity the roll rate, and with d0 the torque, grows without bound
    grown = [golden.straight((0.0, np.arccos(c), 0.0), [(0, 0, 0), (1, 0, 0), (0, 0, 0), (0, 0, 0)], rates=(1.0, 0, 0))
             for c in (0.1, 0.01)]
    first, second = (bushing.measure(state) for _, bushing, state in grown)
    assert second.angle_rates[0] == pytest.approx(10 * first.angle_rates[0], rel=1e-6)
    assert np.abs(second.torque).max() > 50 * np.abs(first.torque).max()


@seed("BU-17", "BU-23")
@cases
def test_it_is_linear_in_every_constant_and_in_displacement_and_rate(case, rng):
    model, bushing, state = golden.case_state(case)
    once = bushing.spatial_force_on_frame_A(state).values.copy()
    other = state.copy()
    for name in GROUPS:
        bushing.set(other, name, 2.0 * bushing.default(name))
    assert_close(bushing.spatial_force_on_frame_A(other).values, 2.0 * once, 1e-14)
    # the derivative by each constant, exact since it is linear, adds up to the whole
    total = np.zeros(6)
    for name in GROUPS:
        for i in range(3):
            alone = state.copy()
            for other_name in GROUPS:
                bushing.set(alone, other_name, 0.0)
            bushing.set(alone, name, np.eye(3)[i])
            total += bushing.default(name)[i] * bushing.spatial_force_on_frame_A(alone).values
    assert_close(total, once, 1e-13)
    measured = bushing.measure(state)
    q, x = measured.angles, measured.displacement
    assert_close(measured.gimbal_torques, -bushing.torque_stiffness * q - bushing.torque_damping * measured.angle_rates, 1e-14)
    assert_close(measured.force, -bushing.force_stiffness * x - bushing.force_damping * measured.displacement_rate, 1e-14)


@seed("BU-18")
@pytest.mark.parametrize("group", range(4))
@pytest.mark.parametrize("i", range(3))
def test_twelve_negative_constants_are_refused_by_name(group, i):
    constants = [list(c) for c in CONSTANTS]
    constants[group][i] = -0.5
    b = mbros.ModelBuilder("rig")
    with pytest.raises(mbros.MbrosError, match=rf"bushing.*{GROUPS[group]}\[{i}\] is -0.5; expected a finite number, zero or more"):
        mbros.LinearBushingRollPitchYaw(b.world, b.world, *constants)
    model, bushing, state = golden.straight((0.1, 0.2, 0.3), CONSTANTS)
    before = state.field("force_parameters").copy()
    with pytest.raises(mbros.MbrosError, match=rf"'bushing' .*{GROUPS[group]}\[{i}\] is -0.5"):
        getattr(bushing, "set_" + GROUPS[group])(state, constants[group])
    assert (state.field("force_parameters") == before).all()
    for bad in (np.nan, np.inf):
        constants[group][i] = bad
        with pytest.raises(mbros.MbrosError, match="finite"):
            bushing.set(state, GROUPS[group], constants[group])


@seed("BU-19", "BU-20", "BU-21", "BU-22")
def test_accessors():
    model, bushing, state = golden.straight((0.1, 0.2, 0.3), CONSTANTS)
    assert (bushing.link_a.name, bushing.link_c.name, bushing.frame_a.name, bushing.frame_c.name) == ("L0", "L1", "A", "C")
    assert bushing.index == 0 and bushing.name == "bushing" and model.force_elements["bushing"] is bushing
    assert bushing.parameter_names == GROUPS
    other = model.default_state()
    for name, value in zip(GROUPS, CONSTANTS):
        assert (getattr(bushing, name) == value).all()
        assert (getattr(bushing, "get_" + name)(state) == value).all()
        assert getattr(bushing, "set_" + name)(state, (7.0, 8.0, 9.0)) is bushing
        assert (getattr(bushing, "get_" + name)(state) == (7, 8, 9)).all()
        assert (getattr(bushing, name) == value).all() and (getattr(bushing, "get_" + name)(other) == value).all()
    for wrong in ((1, 2), "three", [[1, 2, 3]]):
        with pytest.raises(mbros.MbrosError, match="torque_stiffness: expected 3 numbers"):
            bushing.set_torque_stiffness(state, wrong)
    stranger = golden.straight((0, 0, 0), CONSTANTS)[2]
    with pytest.raises(mbros.StateError, match="'bushing'.*a state of another model of that name .* where a state of model 'two'"):
        bushing.get_torque_stiffness(stranger)
    assert repr(bushing) == "<force element 'bushing': bushing, frame A 'A' to frame C 'C'>"


@seed("BU-23")
def test_copies(rng):
    """A clone computes the same: a pickled model, a copied state; and lanes, the other scalar."""
    case = golden.CASES[0]
    model, bushing, state = golden.case_state(case)
    twin = pickle.loads(pickle.dumps(model))
    there = twin.default_state()
    there.q[:], there.v[:] = state.q, state.v
    assert (twin.force_elements[0].wrench(there).values == bushing.wrench(state).values).all()
    assert (bushing.wrench(state.copy()).values == bushing.wrench(state).values).all()
    lanes = mbros_core.lanes()
    out = np.empty((1, model.nv))
    lanes.Batch(lanes.Model(model.spec)).forward_dynamics(state.q[None].copy(), state.v[None].copy(), np.zeros((1, model.nv)), out)
    assert_close(out[0], model.forward_dynamics(state, np.zeros(model.nv)), 1e-12)


@seed("BU-25")
def test_joint_patterns():
    b = mbros.ModelBuilder("rig")
    body = b.add_body("body", 1.0, (0, 0, 0), (1, 1, 1))
    B = mbros.Bushing
    z = B.revolute_z(b.world, body, (1, 2), (3, 4), (5, 6, 7), (8, 9, 10), free_damping=0.5)
    assert [list(getattr(z, name)) for name in GROUPS] == [[1, 2, 0], [3, 4, 0.5], [5, 6, 7], [8, 9, 10]]
    x = B.prismatic_x(b.world, body, 1.0, 2.0, (3, 4), (5, 6), law="energy_consistent", name="rail")
    assert [list(getattr(x, name)) for name in GROUPS] == [[1, 1, 1], [2, 2, 2], [0, 3, 4], [0, 5, 6]]
    assert x.law == "energy_consistent" and x.name == "rail"
    ball = B.ball(b.world, body, 1e3, 5.0, free_damping=(1, 2, 3))
    assert [list(getattr(ball, name)) for name in GROUPS] == [[0, 0, 0], [1, 2, 3], [1e3] * 3, [5] * 3]
    weld = B.weld(b.world, body, 1.0, 2.0, 3.0, 4.0)
    assert [list(getattr(weld, name)) for name in GROUPS] == [[1] * 3, [2] * 3, [3] * 3, [4] * 3]
    assert B is mbros.LinearBushingRollPitchYaw


@seed("BU-26")
def test_a_spring_of_ones_own_equals_the_built_in(rng):
    class MySpring(mbros.ForceElement):
        def __init__(self, frame_A, frame_C, stiffness, free_length):
            super().__init__(frame_A, frame_C, name="mine")
            self.stiffness, self.free_length = stiffness, free_length

        def wrench(self, pose, velocity):
            length = np.linalg.norm(pose.p)
            return np.zeros(3), -self.stiffness * (length - self.free_length) * pose.p / length

        def energy(self, pose):
            return 0.5 * self.stiffness * (np.linalg.norm(pose.p) - self.free_length) ** 2

    def model_with(element):
        b = mbros.ModelBuilder("rig")
        body = b.add_body("body", 1.3, (0.01, 0.02, 0.03), (0.1, 0.2, 0.25))
        b.add_joint(mbros.FloatingJoint("free", b.world, body))
        A, C = b.add_frame("A", b.world, p=(0, 0, 1)), b.add_frame("C", body, p=(0.1, 0.2, 0), rpy=(0.1, 0.2, 0.3))
        b.add_force_element(element(A, C))
        return b.build()

    mine, built_in = model_with(lambda A, C: MySpring(A, C, 40.0, 0.3)), model_with(
        lambda A, C: mbros.LinearSpringDamper(A, C, 0.3, 40.0, name="mine"))
    for _ in range(20):
        states = [model.default_state() for model in (mine, built_in)]
        q = mine.normalize(rng.uniform(-1, 1, 7))
        v = rng.uniform(-1, 1, 6)
        for state in states:
            state.q[:], state.v[:] = q, v
        a, b = (model.forward_dynamics(state, np.zeros(6)) for model, state in zip((mine, built_in), states))
        assert_close(a, b, 1e-12)
        f, g = mine.force_elements[0], built_in.force_elements[0]
        for what in ("potential_energy", "conservative_power"):
            assert getattr(f, what)(states[0]) == pytest.approx(getattr(g, what)(states[1]), rel=1e-12)
        assert abs(f.nonconservative_power(states[0])) < 1e-12


@seed("BU-40")
@cases
def test_laws_coincide_for_a_fixed_axis_and_without_displacement(case):
    """About one axis, and as r goes to 0, both laws give the same wrench."""
    for angles, p in (((0.0, 0.7, 0.0), (0.1, 0.2, 0.3)), ((0.3, -0.4, 0.5), (0.0, 0.0, 0.0))):
        rates = (0.0, 1.1, 0.0) if p[0] else (0.5, 1.0, -0.4)
        v = (0.3, -0.2, 0.1)
        constants = [case[k] for k in ("k012", "d012", "kxyz", "dxyz")]
        one, two = (golden.straight(angles, constants, law, p, rates, v) for law in ("drake", "energy_consistent"))
        a, b = (bushing.wrench(state).values for _, bushing, state in (one, two))
        force = np.abs(a[3:]).max()
        assert_close(b[3:], a[3:], 1e-12, scale=force)
        if p[0]:      # the moment of a force across the axis differs, but does no work about it
            assert b[1] == pytest.approx(a[1], rel=1e-11)
        else:
            assert_close(b[:3], a[:3], 1e-12, scale=force)
