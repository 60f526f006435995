"""Fit masses and friction: Gauss-Newton on measured torques, with exact derivatives by the parameters.

    python examples/05_fit_masses_and_friction.py
"""
import numpy as np

import mbros

NAMES = ("mass.forearm", "mass.wrist3", "friction.joint2", "friction.joint3", "damping.joint2", "damping.joint3")
rng = np.random.default_rng(0)
model = mbros.load("arm6")

# The "real" robot: the same model with parameters that we do not know (a state holds them), and with noise on its torque sensors.
real = model.default_state()
truth = dict(zip(NAMES, (2.9, 1.4, 4.0, 2.5, 1.5, 0.8)))
for name, value in truth.items():
    model.set_parameter(real, name, value)

# 200 samples of position, velocity, acceleration and torque along an exciting motion: two sines in every joint.
time = np.linspace(0.0, 10.0, 200)
waves = [(rng.uniform(0.3, 0.8, 6), rng.uniform(0.5, 3.0, 6), rng.uniform(0, 2 * np.pi, 6)) for _ in range(2)]
q = np.sum([a * np.sin(w * time[:, None] + p) for a, w, p in waves], axis=0)
v = np.sum([a * w * np.cos(w * time[:, None] + p) for a, w, p in waves], axis=0)
vdot = np.sum([-a * w**2 * np.sin(w * time[:, None] + p) for a, w, p in waves], axis=0)
measured = np.empty_like(q)
for k in range(len(time)):
    real.q[:], real.v[:] = q[k], v[k]
    measured[k] = model.inverse_dynamics(real, vdot[k]) + rng.normal(scale=0.2, size=6)


def residual(state):
    """Predicted minus measured torques (200 * 6,), and their derivatives by the parameters (200 * 6, 6)."""
    r, J = [], []
    for k in range(len(time)):
        state.q[:], state.v[:] = q[k], v[k]
        d = mbros.diff.derivatives(model, "inverse_dynamics", state, vdot[k], wrt=NAMES)
        r.append(d.value - measured[k])
        J.append(np.hstack([d[name] for name in NAMES]))
    return np.concatenate(r), np.vstack(J)


# Torques are linear in these parameters, so that one Gauss-Newton step arrives; the second shows it.
guess = model.default_state()
for step in range(3):
    r, J = residual(guess)
    print(f"step {step}: torques are {np.sqrt(np.mean(r**2)):.3f} N m off (rms)")
    correction = np.linalg.lstsq(J, r, rcond=None)[0]
    for name, c in zip(NAMES, correction):
        model.set_parameter(guess, name, float(np.squeeze(model.parameter(guess, name))) - c)

deviation = 0.2 * np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
print(f"{'':16s}{'model':>8s}{'fitted':>9s}{'':11s}{'true':>7s}")
for name, sigma in zip(NAMES, deviation):
    before, after = (float(np.squeeze(model.parameter(s, name))) for s in (model.default_state(), guess))
    print(f"{name:16s}{before:8.3f}{after:9.3f} +- {sigma:5.3f}  {truth[name]:7.3f}")

# Output:
# step 0: torques are 3.234 N m off (rms)
# step 1: torques are 0.197 N m off (rms)
# step 2: torques are 0.197 N m off (rms)
#                    model   fitted              true
# mass.forearm       3.200    2.894 +- 0.009    2.900
# mass.wrist3        0.350    1.398 +- 0.004    1.400
# friction.joint2    0.000    4.017 +- 0.026    4.000
# friction.joint3    0.000    2.500 +- 0.026    2.500
# damping.joint2     2.000    1.465 +- 0.028    1.500
# damping.joint3     1.000    0.793 +- 0.032    0.800
