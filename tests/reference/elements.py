"""Force elements, from their equations (docs/forces.md): what they do to the coordinates, and the energy they store.

A pair between frames A and C sees X_AC and V_AC = [w_AC; v_ACo] in A axes, which is linear in v: V_AC = J v. Its wrench F = [torque
about Co; force] on C, in A axes, has the power F . V_AC, so that the generalized force is J^T F: action and reaction at once. A body
element is a pair with the world as A. A coordinate element is a generalized force by itself.

The bushing's half-way rotation is taken from Cayley's formula and its exact rate from the definition, (1 + R_AB) w_AB = w_AC: other
ways than the engine's, which goes through quaternions.
"""
import numpy as np

from mbros.errors import MbrosError

from .kinematics import body_jacobians, poses
from .scalars import atan2, exp, sqrt, tanh, vector, zeros
from .spatial import compose, motion_transform, skew, unskew

IDENTITY = np.eye(3, dtype=int)


def element_forces(tree, q, v, parameters=None):
    """Generalized forces (nv,) of all force elements, N m or N. parameters (ne, 16): the spec's own by default."""
    tau = zeros(tree.nv)
    for k, par in enumerate(_parameters(tree, parameters)):
        iq, iv = tree.spec.force_coordinate[k]
        if iv >= 0:
            effort, _ = _law(tree, k)(par, q[iq], v[iv])
            tau = tau + effort * np.eye(tree.nv, dtype=int)[iv]
        else:
            F, _, J = _at(tree, q, v, k, par)
            tau = tau + J.T @ F
    return tau


def element_wrench(tree, q, v, k, parameters=None):
    """[torque about Co; force] (6,) of pair or body element k on C, in A axes (world axes for a body)."""
    return _at(tree, q, v, k, _parameters(tree, parameters)[k])[0]


def element_energy(tree, q, k, parameters=None):
    """What element k stores, J."""
    par, v = _parameters(tree, parameters)[k], zeros(tree.nv)
    iq, iv = tree.spec.force_coordinate[k]
    return _law(tree, k)(par, q[iq], 0)[1] if iv >= 0 else _at(tree, q, v, k, par)[1]


def _parameters(tree, parameters):
    return np.asarray(tree.spec.force_parameters if parameters is None else parameters)


def _law(tree, k):
    kind = tree.spec.force_kind[k]
    if kind not in LAWS:
        raise MbrosError(f"force element {tree.spec.force_names[k]!r}: the reference has no law of kind {kind!r}")
    return LAWS[kind]


def _at(tree, q, v, k, par):
    """(wrench, energy, J) of a pair or body element."""
    X, J = relative_motion(tree, q, k)
    F, energy = _law(tree, k)(par, X, J @ v)
    return F, energy, J


def relative_motion(tree, q, k):
    """X_AC and J (6, nv) of element k, with V_AC = J v in A axes about Co."""
    X_WB, J_B = poses(tree, q), body_jacobians(tree, q)
    frames = []
    for body, x in zip(tree.spec.force_body[k], np.asarray(tree.spec.force_X[k], dtype=float)):
        X_BF = (x[:9].reshape(3, 3), x[9:]) if body >= 0 else (IDENTITY, zeros(3))
        body = max(int(body), 0)
        frames.append((compose(X_WB[body], X_BF), motion_transform(X_BF) @ J_B[body]))
    ((R_A, p_A), J_A), ((R_C, p_C), J_C) = frames
    R, p = R_A.T @ R_C, R_A.T @ (p_C - p_A)
    # the motion of A's points at Co taken from that of C
    angular = R @ J_C[:3] - J_A[:3]
    linear = R @ J_C[3:] - (J_A[3:] - skew(p) @ J_A[:3])
    return (R, p), np.concatenate([angular, linear])


# ------------------------------------------------------------------------- pairs and bodies: (wrench, energy)


def rpy_of(R):
    """Roll, pitch, yaw with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    return vector([atan2(R[2, 1], R[2, 2]), atan2(-R[2, 0], sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])), atan2(R[1, 0], R[0, 0])])


def rates_matrix(R):
    """N with d/dt (roll, pitch, yaw) = N w, w in A."""
    c1 = sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0])
    c2, s2, t1 = R[0, 0] / c1, R[1, 0] / c1, -R[2, 0] / c1
    return np.array([[c2 / c1, s2 / c1, 0], [-s2, c2, 0], [c2 * t1, s2 * t1, 1]])


def half_way(R):
    """The rotation about the axis of R by half its angle, for angles below 180 degrees: R_AB R_AB = R."""
    t = 2 * unskew(R) / (1 + R[0, 0] + R[1, 1] + R[2, 2])         # tan(angle / 2) along the axis
    u = t / (1 + sqrt(1 + t @ t))                                 # tan(angle / 4)
    U = skew(u)
    return IDENTITY + 2 / (1 + u @ u) * (U + U @ U)


def inverse3(A):
    """A^-1 (3, 3) by Cramer's rule."""
    a, b, c = A
    return np.array([np.cross(b, c), np.cross(c, a), np.cross(a, b)]).T / (a @ np.cross(b, c))


def quaternion_of(R):
    """(eta, eps) for rotations below 180 degrees."""
    eta = sqrt(1 + R[0, 0] + R[1, 1] + R[2, 2]) / 2
    return eta, unskew(R) / (2 * eta)


def _bushing(par, X, V, consistent, quaternion=False):
    (R, p), w, v = X, V[:3], V[3:]
    k, d, kx, dx = par[0:3], par[3:6], par[6:9], par[9:12]
    R_AB = half_way(R)
    if quaternion:
        eta, eps = quaternion_of(R)
        N, q = eta * IDENTITY - skew(eps), 2 * eps
    else:
        N, q = rates_matrix(R), rpy_of(R)
    G = inverse3(IDENTITY + R_AB) if consistent else IDENTITY / 2
    w_AB = G @ w
    x, xdot = R_AB.T @ p, R_AB.T @ (v - np.cross(w_AB, p))
    t = N.T @ -(k * q + d * (N @ w))
    f = R_AB @ -(kx * x + dx * xdot)
    return np.concatenate([t - G.T @ np.cross(p, f), f]), (k @ (q * q) + kx @ (x * x)) / 2


def bushing(par, X, V):
    return _bushing(par, X, V, consistent=False)


def bushing_energy_consistent(par, X, V):
    return _bushing(par, X, V, consistent=True)


def bushing_quaternion(par, X, V):
    return _bushing(par, X, V, consistent=True, quaternion=True)


def spring_damper(par, X, V):
    length0, k, c = par[:3]
    _, p = X
    length = sqrt(p @ p)
    n = p / length
    f = -(k * (length - length0) + c * (n @ V[3:])) * n
    return np.concatenate([zeros(3), f]), k * (length - length0) * (length - length0) / 2


def body_wrench(par, X, V):
    R, p = X
    t, f = par[0:3], par[3:6]
    if par[6]:
        return np.concatenate([R @ t, R @ f]), 0
    return np.concatenate([t, f]), -(f @ p)


def body_gravity(par, X, V):
    R, p = X
    c, weight = R @ par[1:4], par[0] * par[4:7]
    return np.concatenate([np.cross(c, weight), weight]), -(weight @ (p + c))


# -------------------------------------------------------------------------------- coordinates: (effort, energy)


def joint_spring(par, q, v):
    rest, k, c = par[:3]
    return -k * (q - rest) - c * v, k * (q - rest) * (q - rest) / 2


def door_hinge(par, q, v):
    rest, k, catch, width, dynamic, static, viscous, threshold = par[:8]

    def doublet(s):
        return 2 * s * (1 - s * s)

    s, u = tanh((q - width / 2) / (width / 2)), tanh(v / threshold)
    effort = -k * (q - rest) + catch * doublet(s) - dynamic * u - static * doublet(u) - viscous * v
    return effort, k * (q - rest) * (q - rest) / 2 + catch * width / 2 * (1 - s * s)


def stribeck(par, q, v):
    sliding, breakaway, stribeck_speed, smoothing_speed, viscous = par[:5]
    falling = exp(-(v / stribeck_speed) * (v / stribeck_speed))
    sign = v / sqrt(v * v + smoothing_speed * smoothing_speed)
    return -(sliding + (breakaway - sliding) * falling) * sign - viscous * v, 0


LAWS = {law.__name__: law for law in (bushing, bushing_energy_consistent, bushing_quaternion, spring_damper, joint_spring, door_hinge,
                                      stribeck, body_wrench,
                                      body_gravity)}
