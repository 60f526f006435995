"""Models whose own numbers are the parameters of a state."""
import mbros
import numpy as np
import pytest
from mbros.build.from_state import FIELDS
from mbros.build.robots import BUILT_IN

NAMES = [name for name in BUILT_IN if name != "chain"]


def changed(model, seed=0):
    """A state with every parameter another one."""
    rng, state = np.random.default_rng(seed), model.default_state()
    for name in model.parameter_names:
        value = model.parameter(state, name)
        if name.startswith(("locked.", "com.")):
            continue
        model.set_parameter(state, name, np.asarray(value) * rng.uniform(0.9, 1.1) + 0.01 * name.startswith("damping"))
    return state


@pytest.mark.parametrize("name", NAMES)
def test_trial_L6_parameters_become_a_model(name):
    model = mbros.load(name, ground=True)
    state = changed(model)
    made = mbros.Model.from_state(state)
    fresh = made.default_state()
    for field in FIELDS:
        np.testing.assert_allclose(fresh.field(field), state.field(field), 1e-9, 1e-12, err_msg=field)
    q, v = model.random_state(np.random.default_rng(1)), np.random.default_rng(2).normal(size=model.nv)
    state.q[:], state.v[:], fresh.q[:], fresh.v[:] = q.q, v, q.q, v
    np.testing.assert_allclose(made.inverse_dynamics(fresh, v), model.inverse_dynamics(state, v), 1e-9, 1e-9)
    assert made.joint_state_names == model.joint_state_names and made.frames.names == model.frames.names
    again = mbros.Model.from_state(fresh).default_state()
    for field in FIELDS:
        np.testing.assert_allclose(again.field(field), fresh.field(field), 1e-12, 1e-13, err_msg=field)


def test_trial_L6_of_elements_constraints_followers_and_welds():
    b = mbros.ModelBuilder("rig")
    arm, tip = b.add_body("arm", 1.0, (0, 0, 0.1), (0.1, 0.2, 0.3)), b.add_body("tip", 0.2)
    hand = b.add_body("hand", 0.5, inertia=(0.1,) * 3)
    one = b.add_joint(mbros.RevoluteJoint("one", b.world, arm, axis=(1, 0, 0), damping=0.1, rotor_inertia=1e-4, gear_ratio=50.0))
    two = b.add_joint(mbros.RevoluteJoint("two", arm, hand, axis=(0, 1, 0), p=(0, 0, 0.3), friction=0.2))
    b.add_joint(mbros.FixedJoint("weld", hand, tip, p=(0, 0, 0.1)))
    b.add_force_element(mbros.JointSpring(one, stiffness=3.0, name="spring"))
    b.add_constraint(mbros.CouplerConstraint("gear", one, two, ratio=2.0, offset=0.1))
    model = b.build()
    state = changed(model)
    model.set_parameter(state, "com.hand", (0.01, 0.02, 0.03))
    model.joint("two").lock(state)
    made = mbros.Model.from_state(state)
    fresh = made.default_state()
    for field in FIELDS:
        np.testing.assert_allclose(fresh.field(field), state.field(field), 1e-12, 1e-14, err_msg=field)
    assert made.joint("two").is_locked(fresh) and made.constraints["gear"].name == "gear"
    mass = mbros.ModelBuilder(made).describe().bodies
    assert sum(body.mass for body in mass) == pytest.approx(sum(model.parameter(state, f"mass.{name}") for name in ("arm", "hand")))


def test_trial_L6_what_is_reduced_has_what_was_found():
    arm = mbros.load("double_pendulum")
    state = changed(arm)
    made = mbros.Model.from_state(state)
    q = np.array([0.3, -0.4])
    state.q[:] = q
    fresh = made.default_state()
    fresh.q[:] = q
    np.testing.assert_allclose(made.gravity_torques(fresh), arm.gravity_torques(state), 1e-12)
    assert mbros.ModelBuilder.reduced(made, [made.joints[-1]]).build().nv == arm.nv - 1


def test_trial_L6_numbers_of_no_robot_and_other_things_are_refused():
    arm = mbros.load("arm7")
    state = arm.default_state()
    state.field("inertia")[3] = np.nan
    with pytest.raises(mbros.MbrosError):
        mbros.Model.from_state(state)
    with pytest.raises(mbros.MbrosError, match="Model.from_state"):
        mbros.Model.from_state(arm)
    for wants in (mbros.specialize, lambda of: mbros.symbolic(of, "mass_matrix"), lambda of: mbros.ModelBuilder.reduced(of, [])):
        with pytest.raises(mbros.MbrosError, match=r"expected a built model, got .*; mbros.Model.from_state\(state\) makes one of a state"):
            wants(arm.default_state())


def test_trial_L3_a_reduced_model_has_the_parameters_of_its_state():
    """Masses of 3 kg became 0.35."""
    arm = mbros.load("arm7")
    state = changed(arm)
    for name in arm.parameter_names:
        if name.startswith("mass."):
            arm.set_parameter(state, name, 3.0)
    state.q[:] = np.linspace(0.1, 0.7, arm.nq)
    small = mbros.ModelBuilder.reduced(arm, ["joint6", "joint7"], state).build()
    own = small.default_state()
    own.q[:] = state.q[:small.nq]
    n = small.nv
    np.testing.assert_allclose(small.mass_matrix(own), arm.mass_matrix(state)[:n, :n], 1e-9)
    np.testing.assert_allclose(small.gravity_torques(own), arm.gravity_torques(state)[:n], 1e-9)
    np.testing.assert_allclose(own.damping, state.damping[:n])
