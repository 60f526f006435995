"""LQR: linearize one step of the simulation, solve the Riccati equation, balance the pole.

    python examples/04_balance_a_cartpole.py
"""
import numpy as np

import mbros

DT = 0.005
model = mbros.load("cartpole")                  # the pole stands upright at hinge = 0
upright = model.default_state()

# Exact derivatives of a step at the upright pose: x+ = A x + B tau, x = (q, v) - upright. Only the slider has a motor: column 0.
A, B = model.linearize(upright, np.zeros(model.nv), dt=DT)
B = B[:, :1]
print("eigenvalues without control:", *np.sort(np.abs(np.linalg.eigvals(A))).round(4))

# The cost is the sum of x' Q x + tau' R tau. Iterating Bellman's equation backwards in time converges to the best gain K.
Q, R = np.diag([10.0, 20.0, 1.0, 1.0]), np.diag([0.1])
P = Q
for _ in range(2000):
    K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
    P = Q + A.T @ P @ (A - B @ K)
print("gain:", *K[0].round(2))
print("eigenvalues with it:        ", *np.sort(np.abs(np.linalg.eigvals(A - B @ K))).round(4))


def controller(time, state):
    """tau = -K x on the slider, nothing on the hinge. The simulator clamps it to the motor's 50 N."""
    x = np.concatenate([model.difference(upright.q, state.q), state.v])
    return [-K[0] @ x, 0.0]


# The linear controller on the nonlinear robot, from 20 degrees.
start = model.default_state()
start.q[1] = np.radians(20)
sim = mbros.Simulator(model, dt=DT, state=start)
log = sim.run(4.0, effort=controller)
slider, hinge = log["slider"], log["hinge"]
print(f"from {np.degrees(hinge.position[0]):.0f} degrees to {np.degrees(hinge.position[-1]):.3f} degrees in {log.time[-1]:.0f} s")
print(f"the cart went {np.abs(slider.position).max():.2f} m aside, the motor gave {np.abs(slider.effort).max():.1f} N")

# Output:
# eigenvalues without control: 0.9772 0.9996 1.0 1.0231
# gain: -9.61 -62.98 -10.54 -14.12
# eigenvalues with it:         0.9622 0.9779 0.9907 0.9907
# from 20 degrees to -0.016 degrees in 4 s
# the cart went 0.50 m aside, the motor gave 22.0 N
