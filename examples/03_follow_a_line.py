"""Computed torque along a straight line: inverse kinematics gives the path of the joints, inverse dynamics the torques.

    python examples/03_follow_a_line.py
"""
import numpy as np

import mbros

DT, DURATION = 1e-3, 2.0
model = mbros.load("arm7")
state = model.default_state()
state.q[:] = [0.0, 0.4, 0.0, -1.6, 0.0, 1.1, 0.0]

# The line: 0.5 m sideways, pointing the same way all along, as smooth as a polynomial of degree 5 (at rest at both ends).
start = model.pose(state, "flange")
time = np.arange(0.0, DURATION + DT / 2, DT)
s = time / DURATION
along = 0.5 * (10 * s**3 - 15 * s**4 + 6 * s**5)
line = [mbros.Pose(start.R, start.p + [0.0, y, 0.0]) for y in along]

# Joint positions: each from the one before, so that the arm never jumps to another solution. restarts=0: no other start.
path = [state.q.copy()]
for pose in line[1:]:
    found = model.inverse_kinematics({"flange": pose}, q0=path[-1], tolerance=1e-9, restarts=0)
    assert found.solved, found
    path.append(found.q)
q = np.array(path)
v, vdot = np.gradient(q, DT, axis=0), np.gradient(np.gradient(q, DT, axis=0), DT, axis=0)


def controller(time, state):
    """tau = ID(q, v, vdot_d + Kp (q_d - q) + Kd (v_d - v)): the arm becomes 7 damped oscillators of 10 rad/s."""
    k = min(round(time / DT), len(q) - 1)
    return model.inverse_dynamics(state, vdot[k] + 100.0 * model.difference(state.q, q[k]) + 20.0 * (v[k] - state.v))


sim = mbros.Simulator(model, dt=DT, state=state)
log = sim.run(DURATION, effort=controller)

look = model.default_state()
deviation = []
for row, pose in zip(log.q, line):
    look.q[:] = row
    deviation.append(np.linalg.norm(model.pose(look, "flange").p - pose.p))
print(f"{len(q)} configurations by inverse kinematics, joint speeds up to {np.abs(v).max():.2f} rad/s")
print(f"moved {model.pose(sim.state, 'flange').p[1] - start.p[1]:.4f} m sideways")
print(f"never more than {1e3 * max(deviation):.2f} mm from the line's moving point; torques up to {np.abs(log.effort).max():.0f} N m")

# Output:
# 2001 configurations by inverse kinematics, joint speeds up to 1.03 rad/s
# moved 0.5000 m sideways
# never more than 0.02 mm from the line's moving point; torques up to 48 N m
