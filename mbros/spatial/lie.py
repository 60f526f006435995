"""Quaternions w x y z, rotation vectors and twists in NumPy: every function works on the last axis, for any batch.

The exponential's coefficients are Stumpff's functions c_k(a^2) = sum_j (-a^2)^j / (2j + k)!, whose recursion
c_k = 1/k! - a^2 c_{k+2} has no division: below a = 1 they come from the series of c4 and c5, above from sine and cosine.
"""
from __future__ import annotations

from collections.abc import Sequence
from math import factorial
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from mbros_core.typing import Array

_C4 = [(-1) ** j / factorial(2 * j + 4) for j in range(9)]
_C5 = [(-1) ** j / factorial(2 * j + 5) for j in range(9)]
# |B_2k| / (2k)!: (1 - a/2 cot a/2) / a^2 is the sum of these times a^(2k - 2)
_COT = [1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160, 691 / 1307674368000, 1 / 74724249600,
        3617 / 10670622842880000]


def _horner(coefficients: Sequence[float], x: Array) -> Array:
    out = np.full_like(x, coefficients[-1])
    for c in reversed(coefficients[:-1]):
        out = out * x + c
    return out


def stumpff(a2: Array) -> tuple[Array, Array, Array, Array]:
    """(c2, c3, c4, c5) of a^2 (...,)."""
    small = a2 < 1.0
    x = np.where(small, a2, 0.0)
    c4, c5 = _horner(_C4, x), _horner(_C5, x)
    c2, c3 = 0.5 - x * c4, 1 / 6 - x * c5
    if not small.all():
        y = np.where(small, 1.0, a2)
        a = np.sqrt(y)
        with np.errstate(over="ignore"):
            b2, b3 = 2.0 * np.sin(0.5 * a) ** 2 / y, np.where(a < 1e50, (a - np.sin(a)) / (a * y), 1.0 / y)     # a^3 must not overflow
        c2, c3 = np.where(small, c2, b2), np.where(small, c3, b3)
        c4, c5 = np.where(small, c4, (0.5 - b2) / y), np.where(small, c5, (1 / 6 - b3) / y)
    return c2, c3, c4, c5


def half_cotangent(a2: Array) -> Array:
    """(1 - a/2 cot a/2) / a^2 (...,), 1/12 at zero; infinite at a = 2 pi."""
    small = a2 < 0.25
    out = _horner(_COT, np.where(small, a2, 0.0))
    if not small.all():
        y = np.where(small, 1.0, a2)
        half = 0.5 * np.sqrt(y)
        out = np.where(small, out, (1.0 - half / np.tan(half)) / y)
    return out


def norm2(x: Array) -> Array:
    """Squared length (...,)."""
    return (x * x).sum(-1)


def length(x: Array) -> Array:
    """|x| (...,), also where its square is beyond the largest double; infinite only where it is itself."""
    with np.errstate(over="ignore", invalid="ignore"):
        n = np.sqrt(norm2(x))
        if np.isfinite(n).all():
            return n
        scale = np.maximum(np.abs(x).max(-1), 1.0)
        return np.where(np.isinf(n), scale * np.sqrt(norm2(x / scale[..., None])), n)


def cross(a: Array, b: Array) -> Array:
    """a x b (..., 3)."""
    return np.stack([a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1], a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2],
                     a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]], -1)


def skew(w: Array) -> Array:
    """[w] (..., 3, 3) with [w] x = w x x."""
    out = np.zeros(w.shape + (3,))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -w[..., 2], w[..., 1], -w[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = w[..., 2], -w[..., 1], w[..., 0]
    return out


def apply(matrix: Array, x: Array) -> Array:
    """matrix @ x on the last axes, summed in the same order for one vector and for batches."""
    return (matrix * x[..., None, :]).sum(-1)


# ------------------------------------------------------------------------------------------------- quaternions

def product(a: Array, b: Array) -> Array:
    """The quaternion product a b (..., 4)."""
    aw, ax, ay, az = (a[..., k] for k in range(4))
    bw, bx, by, bz = (b[..., k] for k in range(4))
    return np.stack([aw * bw - ax * bx - ay * by - az * bz, aw * bx + ax * bw + ay * bz - az * by,
                     aw * by + ay * bw + az * bx - ax * bz, aw * bz + az * bw + ax * by - ay * bx], -1)


def conjugate(q: Array) -> Array:
    return q * np.array([1.0, -1.0, -1.0, -1.0])


def unit(x: Array) -> Array:
    """x / |x| on the last axis; twice, because one division leaves the norm a few units in the last place away from 1."""
    for _ in range(2):
        x = x * (1.0 / np.sqrt(norm2(x)))[..., None]
    return x


def exp(w: Array) -> Array:
    """The unit quaternion of the rotation vector w (..., 3)."""
    half = length(0.5 * w)                  # finite for every finite w
    s = np.where(half > 0.0, 0.5 * np.sin(half) / np.where(half > 0.0, half, 1.0), 0.5)
    return np.concatenate([np.cos(half)[..., None], s[..., None] * w], -1)


def log(r: Array) -> Array:
    """The rotation vector (..., 3), |w| <= pi, of a quaternion of any non-zero length; r and -r are one rotation."""
    r = 0.5 * r                             # so that the length of its vector is finite
    sign = np.where(r[..., 0] < 0.0, -1.0, 1.0)
    n = length(r[..., 1:])
    small = n < 1e-150
    c = sign * r[..., 0]
    k = np.where(small, 2.0 / np.where(small, c, 1.0), 2.0 * np.arctan2(n, c) / np.where(small, 1.0, n))
    return (sign * k)[..., None] * r[..., 1:]


def _squared(quat: Array) -> tuple[Array, Array]:
    """(a quaternion of the same rotation, its squared length), which is finite."""
    with np.errstate(over="ignore"):
        n2 = norm2(quat)
    if np.isfinite(n2).all():
        return quat, n2
    quat = quat / np.maximum(np.abs(quat).max(-1, keepdims=True), 1.0)
    return quat, norm2(quat)


def rotate(quat: Array, x: Array, back: bool = False) -> Array:
    """R(quat) x, or with `back` R(quat)^T x; any non-zero length stands for the rotation of quat / |quat|."""
    quat, n2 = _squared(quat)
    w, u = quat[..., 0:1], -quat[..., 1:] if back else quat[..., 1:]
    t = cross(u, x) * (2.0 / n2)[..., None]
    return x + w * t + cross(u, t)


def matrix(quat: Array) -> Array:
    """R(quat) (..., 3, 3)."""
    quat, n2 = _squared(quat)
    s = 2.0 / n2
    w, x, y, z = (quat[..., k] for k in range(4))
    rows = [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y),
            s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x),
            s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)]
    return np.stack(rows, -1).reshape(quat.shape[:-1] + (3, 3))


def from_matrix(R: Array) -> Array:
    """The unit quaternion (..., 4) with w >= 0 of a rotation matrix (..., 3, 3), from its largest component (Shepperd 1978)."""
    t = np.stack([1 + R[..., 0, 0] + R[..., 1, 1] + R[..., 2, 2], 1 + R[..., 0, 0] - R[..., 1, 1] - R[..., 2, 2],
                  1 - R[..., 0, 0] + R[..., 1, 1] - R[..., 2, 2], 1 - R[..., 0, 0] - R[..., 1, 1] + R[..., 2, 2]], -1)
    a, b, c = R[..., 2, 1] - R[..., 1, 2], R[..., 0, 2] - R[..., 2, 0], R[..., 1, 0] - R[..., 0, 1]
    d, e, f = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    rows = np.stack([t[..., 0], a, b, c, a, t[..., 1], d, e, b, d, t[..., 2], f, c, e, f, t[..., 3]], -1).reshape(t.shape + (4,))
    k = t.argmax(-1)[..., None]
    q = np.take_along_axis(rows, k[..., None], -2)[..., 0, :] * (0.5 / np.sqrt(np.take_along_axis(t, k, -1)))
    return np.where(q[..., :1] < 0, -q, q)


def shoemake(u: Array) -> Array:
    """Uniformly distributed unit quaternions from u (..., 3), each uniform in [0, 1) (Shoemake 1992, as hpp-model orders them)."""
    a, b = np.sqrt(1.0 - u[..., 0]), np.sqrt(u[..., 0])
    t, s = 2.0 * np.pi * u[..., 1], 2.0 * np.pi * u[..., 2]
    return np.stack([a * np.sin(t), a * np.cos(t), b * np.sin(s), b * np.cos(s)], -1)


# ------------------------------------------------------------------------------- derivatives of exp and log, SO(3), SE(3)

def so3_right(w: Array) -> Array:
    """J_r(w) (..., 3, 3): exp(w + d) = exp(w) exp(J_r d) for small d. J_l(w) = J_r(-w)."""
    W = skew(w)
    c2, c3, _, _ = stumpff(norm2(w))
    return np.eye(3) - c2[..., None, None] * W + c3[..., None, None] * (W @ W)


def so3_right_inverse(w: Array) -> Array:
    """J_r(w)^-1 (..., 3, 3)."""
    W = skew(w)
    return np.eye(3) + 0.5 * W + half_cotangent(norm2(w))[..., None, None] * (W @ W)


def _coupling(w: Array, v: Array) -> Array:
    """The lower left block of the left Jacobian of SE(3) (Barfoot 2017, 7.86b)."""
    W, V = skew(w), skew(v)
    c3, c4, c5 = (c[..., None, None] for c in stumpff(norm2(w))[1:])
    WV, VW, WW = W @ V, V @ W, W @ W
    WVW = WV @ W
    return (0.5 * V + c3 * (WV + VW + WVW) + c4 * (WW @ V + VW @ W - 3.0 * WVW)
            + 0.5 * (c4 - 3.0 * c5) * (WVW @ W + W @ WVW))


def _lower(a: Array, b: Array) -> Array:
    """[[a, 0], [b, a]] (..., 6, 6)."""
    out = np.zeros(a.shape[:-2] + (6, 6))
    out[..., :3, :3] = out[..., 3:, 3:] = a
    out[..., 3:, :3] = b
    return out


def se3_right(x: Array) -> Array:
    """J_r (..., 6, 6) of the twist x = [w; v]: Exp(x + d) = Exp(x) Exp(J_r d) for small d."""
    return _lower(so3_right(x[..., :3]), _coupling(-x[..., :3], -x[..., 3:]))


def se3_right_inverse(x: Array) -> Array:
    """J_r(x)^-1 (..., 6, 6)."""
    inverse = so3_right_inverse(x[..., :3])
    return _lower(inverse, -inverse @ _coupling(-x[..., :3], -x[..., 3:]) @ inverse)


def se3_translation(w: Array, v: Array) -> Array:
    """V(w) v (..., 3): the translation of Exp([w; v])."""
    with np.errstate(over="ignore", invalid="ignore"):
        c2, c3, _, _ = stumpff(norm2(w))
        wv = cross(w, v)
        p = v + c2[..., None] * wv + c3[..., None] * cross(w, wv)
        return p if np.isfinite(p).all() else np.where(np.isfinite(p).all(-1, keepdims=True), p, _far_translation(w, v))


def _far_translation(w: Array, v: Array) -> Array:
    """The same along w / |w|, with v in sixteenths: where products of w and v are beyond the largest double."""
    half = length(0.5 * w)[..., None]
    n, u = 0.5 * w / np.where(half > 0.0, half, 1.0), v / 16.0
    s, c = np.sin(half) / np.where(half > 0.0, half, 1.0), np.cos(half)
    nu = cross(n, u)
    return 16.0 * (u + s * np.sin(half) * nu + np.where(half > 0.0, 1.0 - s * c, 0.0) * cross(n, nu))


def se3_translation_inverse(w: Array, u: Array) -> Array:
    """V(w)^-1 u (..., 3)."""
    def of(u: Array) -> Array:
        wu = cross(w, u)
        return u - 0.5 * wu + half_cotangent(norm2(w))[..., None] * cross(w, wu)
    with np.errstate(over="ignore", invalid="ignore"):
        v = of(u)
        return v if np.isfinite(v).all() else np.where(np.isfinite(v).all(-1, keepdims=True), v, 64.0 * of(u / 64.0))


def adjoint_inverse(x: Array) -> Array:
    """Ad(Exp(x))^-1 (..., 6, 6), for twists [w; v]: a twist in the fixed frame as seen from the moved one."""
    w, v = x[..., :3], x[..., 3:]
    Rt = np.swapaxes(matrix(exp(w)), -1, -2)
    return _lower(Rt, -Rt @ skew(se3_translation(w, v)))
