"""A whole-body controller: a humanoid on flat feet sways its centre of mass from side to side; one QP for every decision.

    pip install ".[qp]" && python examples/whole_body_qp.py
"""
import sys

import numpy as np
import quadprog

import mbros
from mbros import diff

DT, HOLD, MU = 1e-3, 4, 0.5                                     # s, steps between two decisions, friction coefficient
SOLES = ("left_sole", "right_sole")
b = mbros.ModelBuilder(mbros.load("humanoid", base="floating"), ground=0.0, collisions=True)
for sole, foot in zip(SOLES, ("left_foot", "right_foot")):
    b.add_frame(sole, b.body(foot), p=(0.04, 0, -0.07))         # the middle of the sole, 0.22 m by 0.1 m
model = b.build()
nv, nf, mask = model.nv, 12, diff.actuated(model)
effort = model.limits.effort.upper[mask]
start = model.default_state()
model.joint("base").set_position(start, [*start.q[:2], start.q[2] - model.pose(start, SOLES[0]).p[2] - 1e-4, *start.q[3:7]])
COM, POSTURE = model.center_of_mass(start), start.q.copy()


def cone():
    """C (11, 6), C f >= 0 for [torque; force] about the middle of a sole: friction's pyramid, pressure inside the sole, little torsion."""
    signs, mu = (1, -1), MU / np.sqrt(2)
    rows = [[0, 0, 0, s, 0, mu] for s in signs] + [[0, 0, 0, 0, s, mu] for s in signs] + [[0, 0, 0, 0, 0, 1]]
    rows += [[s, 0, 0, 0, 0, 0.04] for s in signs] + [[0, s, 0, 0, 0, 0.09] for s in signs] + [[0, 0, s, 0, 0, 0.03] for s in signs]
    return np.array(rows, dtype=float)


CONES = np.kron(np.eye(2), cone())


def wanted(t):
    """Position, velocity and acceleration of the centre of mass: 3 cm to each side, once in 2 s, from rest."""
    a, w, ramp = 0.03, np.pi, min(t, 1.0)
    left = np.array([0, a * ramp, 0])
    return COM + left * np.sin(w * t), left * w * np.cos(w * t), -left * w * w * np.sin(w * t)


def decide(state, t):
    """Efforts (nv,): of accelerations and foot wrenches x = [vdot, f] those that fit best, with soles at rest, friction, effort limits,
    and M vdot + b = J^T f wherever no motor drives."""
    M, bias = model.mass_matrix(state), model.inverse_dynamics(state, np.zeros(nv))
    J = np.vstack([model.jacobian(state, sole) for sole in SOLES])
    drift = np.concatenate([diff.jacobian_rate(model, state, sole) @ state.v for sole in SOLES])
    A, A_rate = (X[3:] / model.total_mass(state) for X in diff.centroidal_map(model, state))
    p, v, a = wanted(t)
    a = a + 60.0 * (p - model.center_of_mass(state)) + 15.0 * (v - A @ state.v) - A_rate @ state.v
    rest = 50.0 * model.difference(state.q, POSTURE) - 14.0 * state.v           # posture, and the trunk upright
    H = np.zeros((nv + nf, nv + nf))
    weight = np.where(mask, 0.1, [10.0] * 3 + [0.1] * (nv - 3))
    H[:nv, :nv] = 100.0 * A.T @ A + np.diag(weight)
    H[nv:, nv:] = 1e-5 * np.eye(nf)
    g = np.concatenate([100.0 * A.T @ a + weight * rest, np.zeros(nf)])
    motion = np.hstack([M, -J.T])                                               # tau = motion x + bias
    equal = np.vstack([motion[~mask], np.hstack([J, np.zeros((nf, nf))])])
    above = np.vstack([np.hstack([np.zeros((len(CONES), nv)), CONES]), motion[mask], -motion[mask]])
    least = np.concatenate([np.zeros(len(CONES)), -effort - bias[mask], bias[mask] - effort])
    to = np.concatenate([-bias[~mask], -drift - 20.0 * (J @ state.v)])
    x = quadprog.solve_qp(H, g, np.vstack([equal, above]).T, np.concatenate([to, least]), len(equal))[0]
    return np.where(mask, motion @ x + bias, 0.0)


def stand(duration, say=print):
    """The furthest from what was wanted (m), and the most that a sole moved (m)."""
    sim = mbros.Simulator(model, dt=DT, state=start)
    off, slip, where = 0.0, 0.0, [model.pose(start, sole).p for sole in SOLES]
    for step in range(round(duration / DT)):
        if step % HOLD == 0:
            tau = decide(sim.state, sim.time)
        sim.step(tau)
        off = max(off, float(np.linalg.norm(model.center_of_mass(sim.state) - wanted(sim.time)[0])))
        slip = max(slip, *(float(np.linalg.norm(model.pose(sim.state, sole).p - p)) for sole, p in zip(SOLES, where)))
        if (step + 1) % 500 == 0:
            y = 1e3 * (model.center_of_mass(sim.state) - COM)[1]
            say(f"{sim.time:.1f} s: centre of mass {y:.0f} mm to the left")
    return off, slip


if __name__ == "__main__":
    off, slip = stand(float(sys.argv[1]) if len(sys.argv) > 1 else 2.0)
    print(f"within {1e3 * off:.0f} mm of what was wanted, soles within {1e3 * slip:.0f} mm")

# Output:
# 0.5 s: centre of mass 8 mm to the left
# 1.0 s: centre of mass -2 mm to the left
# 1.5 s: centre of mass -30 mm to the left
# 2.0 s: centre of mass 0 mm to the left
# within 7 mm of what was wanted, soles within 0 mm
