// Vectors and frames of the narrow phase: plain doubles whatever `real` is in the module that includes them.
//
// Which features of two shapes touch is decided by comparisons, so geometry is computed for one robot at a time, also where the
// dynamics run in lanes or in dual numbers (real.hpp): those take the values out, and put points, normals and depths back.
#pragma once

#include <cmath>

#include "../scalar/vector.hpp"

#define MBROS_VEC static inline __attribute__((always_inline, unused))

namespace mbros_geometry {

typedef mbros::Vector3<double> Vec;

// The rotation R_AB by its columns: the axes of B in A.
struct Rotation {
    Vec x, y, z;
};

// The pose X_AB: p_AoQ_A = R p_BoQ_B + p.
struct Frame {
    Rotation R;
    Vec p;
};

MBROS_VEC double square(const Vec& a) { return dot(a, a); }
MBROS_VEC double norm(const Vec& a) { return std::sqrt(dot(a, a)); }
MBROS_VEC double axis(const Vec& a, int i) { return i == 0 ? a.x : i == 1 ? a.y : a.z; }
MBROS_VEC Vec read(const double* a) { return Vec{a[0], a[1], a[2]}; }
MBROS_VEC void write(double* to, const Vec& a) { to[0] = a.x, to[1] = a.y, to[2] = a.z; }

MBROS_VEC Vec rotate(const Rotation& R, const Vec& a) { return a.x * R.x + a.y * R.y + a.z * R.z; }
MBROS_VEC Vec unrotate(const Rotation& R, const Vec& a) { return Vec{dot(R.x, a), dot(R.y, a), dot(R.z, a)}; }
MBROS_VEC Vec column(const Rotation& R, int i) { return i == 0 ? R.x : i == 1 ? R.y : R.z; }
MBROS_VEC Vec place(const Frame& X, const Vec& a) { return rotate(X.R, a) + X.p; }

// X_AB = X_WA^-1 X_WB.
MBROS_VEC Frame between(const Frame& A, const Frame& B) {
    return Frame{{unrotate(A.R, B.R.x), unrotate(A.R, B.R.y), unrotate(A.R, B.R.z)}, unrotate(A.R, B.p - A.p)};
}

// A unit vector perpendicular to the unit vector n (Duff and others 2017: continuous but at n.z = 0).
MBROS_VEC Vec perpendicular(const Vec& n) {
    const double s = n.z >= 0.0 ? 1.0 : -1.0;
    const double a = -1.0 / (s + n.z);
    return Vec{1.0 + s * n.x * n.x * a, s * n.x * n.y * a, -s * n.x};
}

}  // namespace mbros_geometry
