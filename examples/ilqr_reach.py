"""Iterative LQR: an arm of seven joints reaches a point in half a second, with exact derivatives of its dynamics.

    python examples/ilqr_reach.py
    python examples/ilqr_reach.py --compare      # iterations per second, beside the same solver on the peers' derivatives
"""
import sys
import time

import numpy as np

import mbros

H, STEPS, TARGET = 0.01, 50, np.array([0.45, 0.35, 0.75])        # s, steps, m
EFFORT, SPEED, FINAL_SPEED, MISS = 1e-4, 1e-2, 20.0, 2e4        # weights
model = mbros.load("arm7")
nv, state = model.nv, model.default_state()
state.damping[:], state.friction[:] = 0.0, 0.0                  # which the peers' dynamics below do not have
START = np.array([0.3, 0.5, 0.0, -1.0, 0.2, 0.6, 0.0])


class Ours:
    """Accelerations, and all derivatives along a trajectory, in one call."""

    def acceleration(self, q, v, u):
        state.q[:], state.v[:] = q, v
        return model.forward_dynamics(state, u)

    def derivatives(self, q, v, u):
        """Those of the acceleration by q, v, u: (n, nv, nv) each."""
        A, B = np.empty((len(u), nv, 2 * nv)), np.empty((len(u), nv, nv))
        for k in range(len(u)):
            state.q[:], state.v[:] = q[k], v[k]
            self.room = d = mbros.diff.forward_dynamics(model, state, u[k], out=getattr(self, "room", None))
            A[k, :, :nv], A[k, :, nv:], B[k] = d["q"], d["v"], d["tau"]
        return A[:, :, :nv], A[:, :, nv:], B

    def tip(self, q):
        """Where the flange is, and its Jacobian (3, nv)."""
        state.q[:] = q
        return model.pose(state, "flange").p, model.jacobian(state, "flange")[3:]


class Pinocchio(Ours):
    """The same from Pinocchio."""

    def __init__(self):
        import pinocchio as pin
        self.pin, self.model = pin, pin.buildModelFromXML(model.description.text)
        self.data = self.model.createData()
        self.model.armature = np.array(state.rotor_inertia)

    def acceleration(self, q, v, u):
        return self.pin.aba(self.model, self.data, q, v, u).copy()

    def derivatives(self, q, v, u):
        found = []
        for at in zip(q, v, u):
            self.pin.computeABADerivatives(self.model, self.data, *at)
            upper = np.triu(self.data.Minv)
            found.append((self.data.ddq_dq.copy(), self.data.ddq_dv.copy(), upper + np.triu(upper, 1).T))
        by_q, by_v, by_u = (np.array(part) for part in zip(*found))
        return by_q, by_v, by_u


class MuJoCo(Ours):
    """The same from MuJoCo, whose derivatives are differences of its step, semi-implicit Euler as in `roll`."""

    def __init__(self):
        import mujoco
        self.mj, self.model = mujoco, mujoco.MjModel.from_xml_string(model.description.text)
        self.model.opt.timestep, self.model.opt.integrator = H, mujoco.mjtIntegrator.mjINT_EULER
        self.model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.model.dof_armature[:], self.model.dof_damping[:] = state.rotor_inertia, 0.0
        self.data = mujoco.MjData(self.model)

    def acceleration(self, q, v, u):
        self.data.qpos[:], self.data.qvel[:], self.data.qfrc_applied[:] = q, v, u
        self.mj.mj_forward(self.model, self.data)
        return self.data.qacc.copy()

    def derivatives(self, q, v, u):
        A, B, one = np.empty((len(u), 2 * nv, 2 * nv)), np.empty((len(u), nv, nv)), np.eye(nv)
        for k in range(len(u)):
            self.acceleration(q[k], v[k], u[k])
            self.mj.mj_solveM(self.model, self.data, B[k], one)
            self.mj.mjd_transitionFD(self.model, self.data, 1e-6, False, A[k], None, None, None)
        return A[:, nv:, :nv] / H, (A[:, nv:, nv:] - one) / H, B


def roll(dynamics, u, improved=None, scale=1.0):
    """A trajectory from START, semi-implicit Euler; improved: gains k and K, and the q and v that they are about."""
    q, v, used = np.empty((STEPS + 1, nv)), np.empty((STEPS + 1, nv)), np.array(u)
    q[0], v[0] = START, 0.0
    for t in range(STEPS):
        if improved is not None:
            k, K, old_q, old_v = improved
            used[t] += scale * k[t] + K[t] @ np.concatenate([q[t] - old_q[t], v[t] - old_v[t]])
        v[t + 1] = v[t] + H * dynamics.acceleration(q[t], v[t], used[t])
        q[t + 1] = q[t] + H * v[t + 1]
    miss = dynamics.tip(q[-1])[0] - TARGET
    cost = 0.5 * (EFFORT * (used**2).sum() + SPEED * (v[:-1]**2).sum() + FINAL_SPEED * (v[-1] @ v[-1]) + MISS * (miss @ miss))
    return q, v, used, cost


def backward(dynamics, q, v, u):
    """Gains k (STEPS, nv), K (STEPS, nv, 2 nv): Riccati's recursion over the linearised motion (Gauss-Newton)."""
    by_q, by_v, by_u = dynamics.derivatives(q[:-1], v[:-1], u)
    p, J = dynamics.tip(q[-1])
    V = np.zeros((2 * nv, 2 * nv))
    V[:nv, :nv], V[nv:, nv:] = MISS * J.T @ J, FINAL_SPEED * np.eye(nv)
    g = np.concatenate([MISS * J.T @ (p - TARGET), FINAL_SPEED * v[-1]])
    k, K, one = np.empty((STEPS, nv)), np.empty((STEPS, nv, 2 * nv)), np.eye(nv)
    for t in reversed(range(STEPS)):
        v_by = np.hstack([H * by_q[t], one + H * by_v[t]])
        A = np.vstack([np.hstack([one, 0.0 * one]) + H * v_by, v_by])
        B = np.vstack([H * H * by_u[t], H * by_u[t]])
        Quu, Qux = EFFORT * one + B.T @ V @ B, B.T @ V @ A
        gain = -np.linalg.solve(Quu, np.column_stack([B.T @ g + EFFORT * u[t], Qux]))
        k[t], K[t] = gain[:, 0], gain[:, 1:]
        g = A.T @ g + Qux.T @ k[t]
        g[nv:] += SPEED * v[t]
        V = A.T @ V @ A + Qux.T @ K[t]
        V[nv:, nv:] += SPEED * one
        V = 0.5 * (V + V.T)
    return k, K


def solve(dynamics, iterations, tell=lambda *_: None):
    """(q, v, efforts (STEPS, nv), cost, iterations), beginning with the efforts that hold the start."""
    state.q[:], state.v[:] = START, 0.0
    q, v, u, cost = roll(dynamics, np.tile(model.gravity_torques(state), (STEPS, 1)))
    for i in range(iterations):
        tell(i, cost)
        before = cost
        k, K = backward(dynamics, q, v, u)
        for scale in 0.5 ** np.arange(8):
            new = roll(dynamics, u, (k, K, q, v), scale)
            if new[-1] < cost:
                q, v, u, cost = new
                break
        if before - cost <= 1e-9 * cost:
            break
    return q, v, u, cost, i + 1


def compare(iterations=4):
    """Iterations per second, the best of seven interleaved runs, and the parts of one: derivatives along the trajectory."""
    ways = {"mbros": Ours(), "Pinocchio": Pinocchio(), "MuJoCo": MuJoCo()}
    best, slopes = dict.fromkeys(ways, np.inf), dict.fromkeys(ways, np.inf)
    for _ in range(7):
        for name, dynamics in ways.items():
            begin = time.perf_counter()
            q, v, u, _, done = solve(dynamics, iterations)
            best[name] = min(best[name], (time.perf_counter() - begin) / done)
            begin = time.perf_counter()
            dynamics.derivatives(q[:-1], v[:-1], u)
            slopes[name] = min(slopes[name], time.perf_counter() - begin)
    for name in ways:
        print(f"{name}: {1 / best[name]:.0f} iterations/s, derivatives along {STEPS} steps {1e6 * slopes[name]:.0f} us")


if __name__ == "__main__":
    if "--compare" in sys.argv:
        compare()
    else:
        q, v, u, cost, done = solve(Ours(), 12, lambda i, cost: print(f"iteration {i}: cost {cost:.2f}"))
        miss = np.linalg.norm(Ours().tip(q[-1])[0] - TARGET)
        print(f"cost {cost:.2f} after {done}: {1e3 * miss:.1f} mm from the target after {H * STEPS} s")

# Output:
# iteration 0: cost 713.03
# iteration 1: cost 37.34
# iteration 2: cost 3.80
# iteration 3: cost 3.67
# iteration 4: cost 3.67
# iteration 5: cost 3.67
# iteration 6: cost 3.67
# cost 3.67 after 7: 0.2 mm from the target after 0.5 s
