"""Identify an arm from torques: what can be known, how well, and a robot that can be; then simulate it.

    python examples/12_identify_an_arm.py
"""
import numpy as np

import mbros

rng = np.random.default_rng(0)
arm = mbros.load("arm7")

# The "real" arm: it carries a tool, and its joints have friction.
real = arm.default_state()
arm.set_parameter(real, "mass.link7", 2.0).set_parameter(real, "com.link7", [0.01, 0.02, 0.06])
for k in range(1, 8):
    arm.set_parameter(real, f"friction.joint{k}", 0.5)

# 1000 samples of an exciting motion, three sines in every joint, and torques with noise.
time = np.linspace(0.0, 40.0, 1000)[:, None]
q, v, vdot = np.zeros((3, 1000, 7))
for _ in range(3):
    a, w, p = rng.uniform(0.2, 0.6, 7), rng.uniform(0.5, 4.0, 7), rng.uniform(0, 2 * np.pi, 7)
    q += a * np.sin(w * time + p)
    v += a * w * np.cos(w * time + p)
    vdot -= a * w**2 * np.sin(w * time + p)
tau = arm.batch(q, v, state=real).inverse_dynamics(vdot) + rng.normal(scale=0.1, size=(1000, 7))

found = mbros.identify({"q": q, "v": v, "vdot": vdot, "tau": tau}, arm)
print(f"{len(found.base)} base parameters of {len(found.base.columns)}, condition {found.condition:.0f}; "
      f"{len(found.unseen)} parameters are seen in no motion")
error = found.base_values - found.base.factors @ mbros.diff.regressor_parameters(arm, real)
print(f"within two standard deviations: {np.sum(np.abs(error) < 2 * found.base_deviations)} of {len(error)}")
for name in ("friction.joint2", "damping.joint2", "rotor_inertia.joint3"):
    print(f"{name:22s}{found.values[name]:7.3f} +- {2 * found.deviations[name]:5.3f}   true {arm.parameter(real, name):6.3f}")

# What was found, in a simulation; found.write("arm.yaml") is for `mbros run --parameters` and for the node.
twin = found.apply(arm)
q, v, vdot = rng.uniform(-1, 1, (3, 200, 7))
for name, state in (("model", arm.default_state()), ("identified", twin)):
    left = arm.batch(q, v, state=state).inverse_dynamics(vdot) - arm.batch(q, v, state=real).inverse_dynamics(vdot)
    print(f"torques of the {name} in other motions: {np.sqrt(np.mean(left**2)):.3f} N m off (rms)")

# Output:
# 62 base parameters of 91, condition 17; 11 parameters are seen in no motion
# within two standard deviations: 57 of 62
# friction.joint2         0.496 +- 0.012   true  0.500
# damping.joint2          1.007 +- 0.009   true  1.000
# rotor_inertia.joint3    0.298 +- 0.002   true  0.300
# torques of the model in other motions: 3.493 N m off (rms)
# torques of the identified in other motions: 0.014 N m off (rms)
