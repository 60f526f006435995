"""Shapes, poses, and a second way to everything: support functions, membership and depths in NumPy."""
import numpy as np

from mbros_core import geometry

SOLIDS = ("sphere", "capsule", "box", "cylinder", "convex")
PAIRS = [(a, b) for k, a in enumerate(SOLIDS) for b in SOLIDS[k:]]


def rotations(rng, n):
    """n random rotations (n, 3, 3)."""
    q = rng.normal(size=(n, 4))
    w, x, y, z = (q / np.linalg.norm(q, axis=1)[:, None]).T
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]]).transpose(2, 0, 1)


def pose(R=None, p=(0.0, 0.0, 0.0)):
    X = np.eye(4)
    X[:3, :3] = np.eye(3) if R is None else R
    X[:3, 3] = p
    return X


def about(axis, angle):
    """The rotation by an angle about a vector."""
    x, y, z = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K


def poses(rng, n, spread):
    X = np.tile(np.eye(4), (n, 1, 1))
    X[:, :3, :3] = rotations(rng, n)
    X[:, :3, 3] = rng.normal(size=(n, 3)) * spread
    return X


def shape(kind, rng, low=0.2, high=1.0, corners=14):
    """One of a kind, with random sizes."""
    a, b, c = rng.uniform(low, high, 3)
    if kind == "convex":
        return geometry.convex(rng.normal(size=(corners, 3)) * (a, b, c) * 0.6)
    sizes = {"sphere": (a,), "capsule": (a, b), "cylinder": (a, b), "box": ((a, b, c),)}[kind]
    return getattr(geometry, kind)(*sizes)


def reach(s):
    """The size of a shape: of a ball around its origin."""
    if s.kind == "convex":
        return float(np.linalg.norm(s.points, axis=1).max())
    return float(np.linalg.norm(s.sizes) if s.kind == "box" else sum(s.sizes))


def support(s, d):
    """How far a shape reaches along unit directions d (..., 3) of its frame."""
    if s.kind == "sphere":
        return np.full(d.shape[:-1], s.sizes[0])
    if s.kind == "box":
        return np.abs(d) @ (0.5 * np.array(s.sizes))
    if s.kind == "convex":
        return (d @ s.points.T).max(axis=-1)
    r, half = s.sizes[0], 0.5 * s.sizes[1]
    return half * np.abs(d[..., 2]) + (r if s.kind == "capsule" else r * np.hypot(d[..., 0], d[..., 1]))


def overlap(a, A, b, B, n):
    """How far b must move along the unit vectors n (world) to leave a; A, B, n: (..., 4, 4), (..., 3)."""
    na = np.einsum("...ji,...j->...i", A[..., :3, :3], n)
    nb = -np.einsum("...ji,...j->...i", B[..., :3, :3], n)
    return support(a, na) + support(b, nb) - np.einsum("...i,...i->...", B[..., :3, 3] - A[..., :3, 3], n)


def outside(s, p):
    """About how far points p (..., 3) are outside a shape (its frame): zero or less inside; a lower bound far away."""
    if s.kind == "sphere":
        return np.linalg.norm(p, axis=-1) - s.sizes[0]
    if s.kind == "box":
        return (np.abs(p) - 0.5 * np.array(s.sizes)).max(axis=-1)
    if s.kind == "convex":
        from scipy.spatial import ConvexHull

        planes = ConvexHull(s.points).equations
        return (p @ planes[:, :3].T + planes[:, 3]).max(axis=-1)
    r, half = s.sizes[0], 0.5 * s.sizes[1]
    if s.kind == "cylinder":
        return np.maximum(np.hypot(p[..., 0], p[..., 1]) - r, np.abs(p[..., 2]) - half)
    over = np.maximum(np.abs(p[..., 2]) - half, 0.0)
    return np.sqrt(p[..., 0] ** 2 + p[..., 1] ** 2 + over**2) - r


def into(X, p):
    """World points p (..., 3) in the frame X (..., 4, 4)."""
    return np.einsum("...ji,...j->...i", X[..., :3, :3], p - X[..., :3, 3])


def deepest(found):
    """(depth (n,), normal (n, 3), point (n, 3)) of the deepest point of each row of ManyContacts that has one; depth -inf where none."""
    d = np.where(np.arange(4) < found.counts[:, None], found.depths, -np.inf)
    k = d.argmax(axis=1)
    rows = np.arange(len(k))
    return d[rows, k], found.normals[rows, k], found.points[rows, k]


def coal_shape(s):
    import coal

    if s.kind == "convex":
        points = coal.StdVec_Vec3s()
        for vertex in s.points:
            points.append(vertex)
        return coal.Convex.convexHull(points, False, "")
    return getattr(coal, s.kind.capitalize())(*s.sizes)


def coal_distance(ca, A, cb, B):
    """(signed distance, normal) of coal's shapes."""
    import coal

    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.enable_signed_distance = True
    request.gjk_tolerance, request.gjk_max_iterations = 1e-10, 256
    coal.distance(ca, coal.Transform3s(A[:3, :3].copy(), A[:3, 3].copy()),
                  cb, coal.Transform3s(B[:3, :3].copy(), B[:3, 3].copy()), request, result)
    return float(result.min_distance), np.array(result.normal).ravel()
