"""One substep of dormand_prince.pxd: the tableau over the joints' charts, its error, and its continuous extension."""
from libc.math cimport fabs as magnitude, fmax as larger, sqrt as root

from mbros_core.scalar.real cimport real, value
from mbros_core.algorithms.equation_of_motion cimport join_passive
from mbros_core.constraints.hold cimport AN_ACCELERATION
from mbros_core.groups.configuration cimport stays
from mbros_core.integrators.laws cimport Laws
from mbros_core.integrators.pieces cimport Stop, smooth_torques
from mbros_core.integrators.prescribed cimport follow
from mbros_core.joints.chart cimport chart_place, chart_rate, chart_size, place_of_sum
from mbros_core.joints.joint cimport Joint
from mbros_core.engine.state cimport ModelC, Work

cdef enum:
    STAGES = 7

cdef extern from *:
    """
    static const double MBROS_DP_C[7] = {0.0, 1.0 / 5, 3.0 / 10, 4.0 / 5, 8.0 / 9, 1.0, 1.0};
    static const double MBROS_DP_A[7][6] = {
        {},
        {1.0 / 5},
        {3.0 / 40, 9.0 / 40},
        {44.0 / 45, -56.0 / 15, 32.0 / 9},
        {19372.0 / 6561, -25360.0 / 2187, 64448.0 / 6561, -212.0 / 729},
        {9017.0 / 3168, -355.0 / 33, 46732.0 / 5247, 49.0 / 176, -5103.0 / 18656},
        {35.0 / 384, 0.0, 500.0 / 1113, 125.0 / 192, -2187.0 / 6784, 11.0 / 84}};
    static const double MBROS_DP_E[7] = {71.0 / 57600, 0.0, -71.0 / 16695, 71.0 / 1920, -17253.0 / 339200, 22.0 / 525, -1.0 / 40};
    static const double MBROS_DP_D[7] = {-12715105075.0 / 11282082432.0, 0.0, 87487479700.0 / 32700410799.0,
        -10690763975.0 / 1880347072.0, 701980252875.0 / 199316789632.0, -1453857185.0 / 822651844.0, 69997945.0 / 29380423.0};
    """
    const double C "MBROS_DP_C"[7]
    const double A "MBROS_DP_A"[7][6]
    const double E "MBROS_DP_E"[7]
    const double D "MBROS_DP_D"[7]

cdef struct Adaptive:
    double rtol
    double atol
    real* q0                    # (nq) where the substep begins
    real* v0                    # (nv)
    real* x                     # (nq) of the charts: a joint's from its iq on
    real* kx                    # (7, nq) their rates, by stage
    real* kv                    # (7, nv)
    real* carried_q             # (nq) what sums have lost so far
    real* carried_v             # (nv)
    Stop* stop                  # (nv)
    double taken                # since the plant was made: substeps, those given up, evaluations of the dynamics
    double refused
    double evaluations
    int outcome
    Laws* laws                  # of prescribed joints, asked at every stage; NULL: those of the state


cdef inline Py_ssize_t adaptive_doubles(const ModelC* m) noexcept nogil:
    return 10 * <Py_ssize_t>m.nq + 10 * <Py_ssize_t>m.nv


cdef inline void place_adaptive(const ModelC* m, Adaptive* a, double* room) noexcept nogil:
    """The arrays, in adaptive_doubles() of memory."""
    cdef real* at = <real*>room
    a.q0, a.x, a.carried_q, a.kx = at, at + m.nq, at + 2 * m.nq, at + 3 * m.nq
    at += 10 * m.nq
    a.v0, a.carried_v, a.kv = at, at + m.nv, at + 2 * m.nv
    a.stop = <Stop*>(at + 9 * m.nv)


cdef inline void chart_rates(const ModelC* m, const Work* s, const Adaptive* a, real* rate) noexcept nogil:
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not stays(j, s.lock):
            chart_rate(j, a.x + j.iq, s.q + j.iq, s.v + j.iv, rate + j.iq)


cdef inline void follow_laws(const ModelC* m, Work* s, const Adaptive* a, real t) noexcept nogil:
    """Prescribed joints are where their laws put them at t."""
    if a.laws != NULL:
        a.laws.at(a.laws.self, value(t), <double*>s.motion_q, <double*>s.motion)
    follow(m, s, t)


cdef inline void rates_at(const ModelC* m, Work* s, const real* tau, Adaptive* a, int stage, real t, bint given) noexcept nogil:
    """x' and v' at the state in s, into row `stage`. given: some joints are prescribed; t: the time of the stage."""
    if given:
        follow_laws(m, s, a, t)
    smooth_torques(m, s, a.stop)
    join_passive(m, tau, a.kv + stage * m.nv, s)
    if m.scene != NULL and m.nk:
        m.hold(m, s, a.kv + stage * m.nv, AN_ACCELERATION, True)
    chart_rates(m, s, a, a.kx + stage * m.nq)
    a.evaluations += 1.0


cdef inline real weighed(const real* k, int stride, const double* weights, int stages) noexcept nogil:
    cdef real sum_of = real(0.0)
    cdef int i
    for i in range(stages):
        sum_of = sum_of + weights[i] * k[i * stride]
    return sum_of


cdef inline void place_all(const ModelC* m, Work* s, const Adaptive* a) noexcept nogil:
    """s.q = q0 (+) x."""
    cdef const Joint* j
    cdef int i
    for i in range(1, m.nb):
        j = &m.joints[i]
        if not stays(j, s.lock):
            chart_place(j, a.q0 + j.iq, a.x + j.iq, s.q + j.iq)


cdef inline void take(const ModelC* m, Work* s, const real* tau, Adaptive* a, real h, real t, bint given) noexcept nogil:
    """The substep h from q0, v0 and the slopes in row 0 to time t + h, with all stages; x, s.q and s.v are of its end."""
    cdef int i, stage
    for stage in range(1, STAGES):
        for i in range(m.nq):
            a.x[i] = h * weighed(a.kx + i, m.nq, A[stage], stage)
        for i in range(m.nv):
            s.v[i] = a.v0[i] + h * weighed(a.kv + i, m.nv, A[stage], stage)
        place_all(m, s, a)
        rates_at(m, s, tau, a, stage, t + C[stage] * h, given)


cdef inline double squared_share(const Adaptive* a, double e, double y) noexcept nogil:
    cdef double share = e / (a.atol + a.rtol * y)
    return share * share


cdef inline double size_of(const Joint* j, const Work* s, const Adaptive* a, int k) noexcept nogil:
    """|y| of x[k] there."""
    cdef int at = place_of_sum(j, k)
    return 1.0 if at < 0 else larger(magnitude(value(a.q0[j.iq + at])), magnitude(value(s.q[j.iq + at])))


cdef inline double error_of(const ModelC* m, const Work* s, const Adaptive* a, double h) noexcept nogil:
    """err of dormand_prince.pxd, (1)."""
    cdef const Joint* j
    cdef double sum_of = 0.0
    cdef int i, k, n = 0
    for i in range(1, m.nb):
        j = &m.joints[i]
        if stays(j, s.lock):
            continue
        for k in range(chart_size(j)):
            sum_of += squared_share(a, h * value(weighed(a.kx + j.iq + k, m.nq, E, STAGES)), size_of(j, s, a, k))
        for k in range(j.iv, j.iv + j.nv):
            sum_of += squared_share(a, h * value(weighed(a.kv + k, m.nv, E, STAGES)),
                                    larger(magnitude(value(a.v0[k])), magnitude(value(s.v[k]))))
        n += chart_size(j) + j.nv
    return root(sum_of / n) if n else 0.0


cdef inline double dense(double start, double step, const real* k, int stride, double h, double at) noexcept nogil:
    """One coordinate of the continuous extension, at `at` in [0, 1] of a substep over which it changes by `step`."""
    cdef double third = h * value(k[0]) - step
    cdef double fourth = step - h * value(k[6 * stride]) - third
    cdef double fifth = h * value(weighed(k, stride, D, STAGES))
    return start + at * (step + (1.0 - at) * (third + at * (fourth + (1.0 - at) * fifth)))


cdef inline void place_between(const ModelC* m, Work* s, Adaptive* a, double h, double at) noexcept nogil:
    """s.q and s.v within the substep that was taken."""
    cdef int i
    for i in range(m.nq):
        a.x[i] = real(dense(0.0, value(a.x[i]), a.kx + i, m.nq, h, at))
    for i in range(m.nv):
        s.v[i] = real(dense(value(a.v0[i]), value(s.v[i]) - value(a.v0[i]), a.kv + i, m.nv, h, at))
    place_all(m, s, a)
