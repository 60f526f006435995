// The vector algebra, written once: over `real` for dynamics (spatial.hpp), over doubles for shapes (geometry/vec.hpp), over packs for
// the columns of derivatives (pack3.pxd).
#pragma once

// An equation is inlined where it stands, but in modules that are to be small (docs/decisions/003-compiler.md).
#if defined(MBROS_SMALL) || defined(MBROS_TRACED)
#define MBROS_EQUATION inline __attribute__((unused))
#else
#define MBROS_EQUATION inline __attribute__((always_inline, unused))
#endif

namespace mbros {

template <class R> struct Vector3;
template <class R> MBROS_EQUATION Vector3<R> vector3(R x, R y, R z);

template <class R> struct Vector3 {
    R x, y, z;

    friend MBROS_EQUATION Vector3 operator+(const Vector3& a, const Vector3& b) { return vector3(a.x + b.x, a.y + b.y, a.z + b.z); }
    friend MBROS_EQUATION Vector3 operator-(const Vector3& a, const Vector3& b) { return vector3(a.x - b.x, a.y - b.y, a.z - b.z); }
    friend MBROS_EQUATION Vector3 operator-(const Vector3& a) { return vector3(-a.x, -a.y, -a.z); }
    friend MBROS_EQUATION Vector3 operator*(R s, const Vector3& a) { return vector3(s * a.x, s * a.y, s * a.z); }
};

template <class R> MBROS_EQUATION Vector3<R> vector3(R x, R y, R z) { return {x, y, z}; }

template <class R> MBROS_EQUATION R dot(const Vector3<R>& a, const Vector3<R>& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

template <class R> MBROS_EQUATION Vector3<R> cross(const Vector3<R>& a, const Vector3<R>& b) {
    return vector3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

}  // namespace mbros
