"""Random mechanisms whose parts differ by up to 1e12 in inertia, and their accelerations by the equations of motion in 60 digits."""
import mbros
import mpmath
import numpy as np

mpmath.mp.dps = 60
KINDS = {"ball": mbros.BallConstraint, "weld": mbros.WeldConstraint, "hinge": mbros.HingeConstraint}


def random_inertia(rng, size):
    """(m, com, I) of a rigid body of about this mass, some 10 cm large."""
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    a, b = rng.uniform(0.5, 1.0, 2)
    c = abs(a - b) + rng.uniform(0.1, 0.9) * (a + b - abs(a - b))               # the triangle inequality of principal moments
    return size, rng.normal(scale=0.05, size=3), size * 0.01 * A @ np.diag([a, b, c]) @ A.T


def random_pose(rng):
    return mbros.Pose.make(rng.normal(scale=0.3, size=3), rpy=rng.uniform(-1, 1, 3))


def random_joint(rng, name, on, body, pose):
    kind = rng.choice(["floating", "revolute", "prismatic", "ball"], p=[0.4, 0.3, 0.2, 0.1])
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    if kind == "floating":
        return mbros.FloatingJoint(name, on, body, pose=pose)
    if kind == "ball":
        return mbros.BallJoint(name, on, body, pose=pose)
    return {"revolute": mbros.RevoluteJoint, "prismatic": mbros.PrismaticJoint}[kind](name, on, body, axis=axis, pose=pose)


def mechanism(rng_seed, light):
    """Two to six bodies on the world and on each other, and constraints that are closed as it stands. light: masses from 1e-12 kg to 1 kg,
    or all 1 kg, everything else alike. None where rows depend on each other."""
    rng = np.random.default_rng(rng_seed)
    b = mbros.ModelBuilder("light")
    bodies = [b.world]
    sizes = 10.0 ** rng.choice([0.0, -3.0, -6.0, -9.0, -12.0], size=7) if rng.random() < 0.7 else 10.0 ** rng.uniform(-12, 0, size=7)
    sizes[rng.integers(2)] = 1.0
    for k in range(rng.integers(2, 7)):
        m, com, I = random_inertia(rng, 1.0)
        at = rng.integers(len(bodies)) if rng.random() < 0.4 else 0
        if at and sizes[at - 1] < 1e-3:     # what joints carry is added up in the mass matrix: light parts carry none
            at = 0
        if at:
            sizes[k] = min(sizes[k], sizes[at - 1])
        on = bodies[at]
        scale = sizes[k] if light else 1.0
        body = b.add_body(f"body{k}", mass=scale * m, com=com, inertia=scale * I)
        b.add_joint(random_joint(rng, f"joint{k}", on, body, random_pose(rng)))
        bodies.append(body)
    still = b.build()
    state = still.default_state()
    for k in range(rng.integers(1, 4)):
        one, two = rng.choice(len(bodies), size=2, replace=False)
        at = random_pose(rng)
        ends = []
        for side, body in enumerate((bodies[one], bodies[two])):
            name = f"end{k}{side}"
            X = at if body is b.world else still.pose(state, body.name).inverse() @ at
            ends.append(b.add_frame(name, body, pose=X))
        kind = rng.choice(["ball", "weld", "hinge", "distance"])
        if kind == "distance":
            far = b.add_frame(f"far{k}", ends[1], p=rng.normal(size=3))
            there = b.build()
            s = there.default_state()
            length = np.linalg.norm(there.pose(s, far.name).p - there.pose(s, ends[0].name).p)
            b.add_constraint(mbros.DistanceConstraint(f"held{k}", ends[0], far, length))
        else:
            b.add_constraint(KINDS[kind](f"held{k}", *ends))
    model = b.build()
    J = jacobian(model, model.default_state())
    values = np.linalg.svd(J, compute_uv=False)
    return model if len(J) < model.nv and values[-1] > 0.02 * values[0] else None


def jacobian(model, state):
    return np.concatenate([c.jacobian(state) for c in model.constraints])


def solve(M, J, force, bias):
    """(vdot, efforts) of  M vdot - J^T f = force,  J vdot = bias."""
    n, m = len(M), len(J)
    A, x = mpmath.zeros(n + m), mpmath.zeros(n + m, 1)
    for i in range(n):
        x[i] = mpmath.mpf(force[i])
        for j in range(n):
            A[i, j] = mpmath.mpf(M[i, j])
        for j in range(m):
            A[i, n + j] = -mpmath.mpf(J[j, i])
            A[n + j, i] = mpmath.mpf(J[j, i])
    for j in range(m):
        x[n + j] = mpmath.mpf(bias[j])
    found = mpmath.lu_solve(A, x)
    return np.array([float(found[k]) for k in range(n)]), np.array([float(found[n + k]) for k in range(m)])


def blurred(rng, x, eps):
    """x, each number wrong by up to eps of itself."""
    return x * (1.0 + eps * rng.uniform(-1, 1, size=np.shape(x)))


def exact(model, state, tau, bias, rng, eps):
    """(vdot, how far it moves where M, J and forces are rounded)."""
    M, J = model.mass_matrix(state), jacobian(model, state)
    force = tau - model.inverse_dynamics(state, np.zeros(model.nv))
    size = np.abs(tau) + np.abs(force - tau)
    vdot, _ = solve(M, J, force, bias)
    moved = np.zeros(model.nv)
    for _ in range(3):
        E = rng.uniform(-1, 1, size=M.shape)
        other, _ = solve(M * (1.0 + eps * np.tril(E) + eps * np.tril(E, -1).T), blurred(rng, J, eps),
                         force + eps * size * rng.uniform(-1, 1, size=len(force)), blurred(rng, bias, eps))
        moved = np.maximum(moved, np.abs(other - vdot))
    return vdot, moved
