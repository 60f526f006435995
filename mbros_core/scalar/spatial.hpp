// Spatial vectors: pairs of vectors, added and scaled as such. What else is done to them is in spatial.pxd.
#pragma once

#include "real.hpp"
#include "vector.hpp"

namespace mbros {

typedef Vector3<real> Vec3;

struct Motion {
    Vec3 w, v;
};

struct Force {
    Vec3 t, f;
};

static MBROS_EQUATION Motion motion(const Vec3& w, const Vec3& v) { return {w, v}; }
static MBROS_EQUATION Motion operator+(const Motion& A, const Motion& B) { return motion(A.w + B.w, A.v + B.v); }
static MBROS_EQUATION Motion operator-(const Motion& A, const Motion& B) { return motion(A.w - B.w, A.v - B.v); }
static MBROS_EQUATION Motion operator*(real s, const Motion& A) { return motion(s * A.w, s * A.v); }

static MBROS_EQUATION Force force(const Vec3& t, const Vec3& f) { return {t, f}; }
static MBROS_EQUATION Force operator+(const Force& A, const Force& B) { return force(A.t + B.t, A.f + B.f); }
static MBROS_EQUATION Force operator-(const Force& A, const Force& B) { return force(A.t - B.t, A.f - B.f); }
static MBROS_EQUATION Force operator*(real s, const Force& A) { return force(s * A.t, s * A.f); }

}  // namespace mbros
