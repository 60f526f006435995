"""Derivatives of what force elements do: by every parameter, by the state, by the bushing's constants."""
import numpy as np
import pytest
from force_rigs import KINDS, away_from_lock, rig
from tolerance import assert_close

from mbros import diff

LINEAR = ("torque_stiffness", "torque_damping", "force_stiffness", "force_damping")


def near(f, x0, h=1e-3):
    """Derivative of f (a function of a number) at x0: central differences, extrapolated once."""
    d = [(f(x0 + e) - f(x0 - e)) / (2 * e) for e in (h, h / 2)]
    return (4 * d[1] - d[0]) / 3


@pytest.mark.seed("BU-23", "PJ-40")
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "user"])
def test_forward_dynamics_by_every_parameter(kind, rng):
    """The column of each parameter's numbers against differences in the parameter itself."""
    model = rig(kind, 3, damping=0.2)
    state = away_from_lock(model, rng)
    names = [name for name in model.parameter_names if not name.startswith(("locked.", "stop_", "friction."))]
    d = diff.derivatives(model, "forward_dynamics", state, np.ones(model.nv), names)
    vdot = model.forward_dynamics(state, np.ones(model.nv))
    # dual numbers multiply lanes, whose products and sums gcc contracts elsewhere; analytic derivatives come with the engine's own vdot
    assert_close(d.value, vdot, 1e-14)
    if model._has_slopes(True):
        assert np.array_equal(diff.forward_dynamics(model, state, np.ones(model.nv)).value, vdot)
    for name in names:
        before = np.atleast_1d(model.parameter(state, name)).astype(float)
        assert d[name].shape == (model.nv, len(before))
        if name == "force.it.in_body":                       # a switch
            continue
        for k in range(len(before)):
            def at(x, name=name, k=k, before=before):
                other, values = state.copy(), before.copy()
                values[k] = x
                model.set_parameter(other, name, values if len(values) > 1 else float(values[0]))
                return model.forward_dynamics(other, np.ones(model.nv))
            h = 1e-3 * max(abs(before[k]), 0.1)
            x0 = max(before[k], 2 * h)                           # most may not be negative
            if x0 == before[k] or name == "gravity":
                assert np.abs(d[name][:, k] - near(at, before[k], h)).max() <= 1e-8 * max(1.0, np.abs(d[name]).max()), (name, k)


@pytest.mark.seed("BU-23", "BU-40", "BU-24")
@pytest.mark.parametrize("kind", ["bushing_energy_consistent", "bushing_quaternion", "spring_damper", "joint_spring", "body_gravity"])
def test_the_gradient_of_the_energy_is_the_force(kind, rng):
    """At rest, to rounding: no step, no tolerance of differences."""
    model = rig(kind, 5)
    state = away_from_lock(model, rng)
    state.v[:] = 0.0
    dE = diff.derivatives(model, "potential_energy", state, wrt="q")["q"][0]
    force = model.force_elements["it"].generalized_force(state)
    gravity = model.gravity_torques(state)
    assert np.abs(dE - (gravity - force)).max() <= 1e-12 * max(1.0, np.abs(dE).max())


@pytest.mark.seed("BU-23", "BU-17")
@pytest.mark.parametrize("kind", ["bushing", "bushing_energy_consistent", "bushing_quaternion"])
def test_a_bushings_wrench_is_linear_in_its_constants(kind, rng):
    """Its derivatives by the twelve constants rebuild it."""
    model = rig(kind, 7)
    state = away_from_lock(model, rng)
    names = [f"force.it.{group}" for group in LINEAR]
    d = diff.derivatives(model, "force_element", state, wrt=names, of="it")
    rebuilt = sum(d[name] @ model.parameter(state, name) for name in names)
    assert np.abs(rebuilt - d.value).max() <= 1e-13 * np.abs(d.value).max()
    wrench = model.force_elements["it"].wrench(state)
    assert np.abs(d.value[:6] - wrench.values).max() <= 1e-13 * np.abs(wrench.values).max()
