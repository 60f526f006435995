// Sine and cosine for code compiled for one robot: half the operations of real.hpp's, good to 1.6 units in the last place, or to 1e-26 where
// they are smaller than that asks for.
//
// x = n pi/2 + r with |r| <= pi/4. Where a product is added in one rounding (FMA), x - n p1 is exact for p1, the double next to pi/2: n has
// less than 20 bits, x and p1 are whole multiples of 2^-53. So pi/2 in two parts is enough, and r needs no second word. The polynomials are
// fdlibm's (Sun Microsystems, kernel_sin and kernel_cos). n's last bits, which stand in the last bits of x 2/pi + 1.5 2^52, swap and
// negate. Angles above 2^19 rad, and CPUs without FMA, take real.hpp's.
#pragma once

#include "real.hpp"

namespace mbros {

// V is a double or a vector of doubles, M an int64_t or a vector of as many: gcc's vector extension reads as numbers do.
template <class V, class M> MBROS_FN void quick_sincos(V x, V& s, V& c) {
    const V shifted = x * 0.63661977236758134308 + 6755399441055744.0;
    const V n = shifted - 6755399441055744.0;
    M bits;
    std::memcpy(&bits, &shifted, sizeof(bits));
    V r = x - n * 1.57079632679489655800;
    r = r - n * 6.12323399573676603587e-17;
    const V z = r * r;
    const V ps = -1.66666666666666324348e-01 + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04
                 + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))));
    const V pc = 4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05
                 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))));
    const V sine = r + (z * r) * ps, cosine = (1.0 - 0.5 * z) + (z * z) * pc;
    const V a = (bits & 1) != 0 ? cosine : sine, b = (bits & 1) != 0 ? sine : cosine;
    M as, bs;
    std::memcpy(&as, &a, sizeof(as));
    std::memcpy(&bs, &b, sizeof(bs));
    as ^= (bits & 2) << 62;                     // the second bit becomes the sign
    bs ^= ((bits + 1) & 2) << 62;
    std::memcpy(&s, &as, sizeof(s));
    std::memcpy(&c, &bs, sizeof(c));
}

#if MBROS_LANES > 1 && (defined(__FMA__) || defined(__ARM_FEATURE_FMA))
MBROS_FN void robot_sincos(vreal x, vreal& s, vreal& c) {
    quick_sincos<vreal, vmask>(x, s, c);
    if (__builtin_expect(any(less(real(524288.0), fabs(real(x)))), 0)) {
        real sines, cosines;
        sincos(real(x), sines, cosines);
        s = sines.x, c = cosines.x;
    }
}
#elif MBROS_LANES > 1
MBROS_FN void robot_sincos(vreal x, vreal& s, vreal& c) {
    real sines, cosines;
    sincos(real(x), sines, cosines);
    s = sines.x, c = cosines.x;
}
#endif

}  // namespace mbros
