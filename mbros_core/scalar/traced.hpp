// Traced numbers: every operation of an algorithm is written down, and what comes out is its expression graph.
//
// A real is a plain double where its value is known while tracing (the robot's constants: they fold), and else the number of a
// node of the tape, kept in the payload of a NaN: so it is as large as a double, zeroed memory is zero, and structs of it are
// copied and filled like structs of double. Equal nodes are one node. Identities are those of real numbers, of finite ones:
// x * 0 = 0, x + 0 = x, x - x = 0. Branches on values become selections; `any` of a mask that is not known is true, so that
// what may happen is written down. Whoever asks for the value of a node asks for what the robot does not decide: it is counted
// in Tape::refused, and the trace is of no use.
#pragma once

#include <unordered_map>
#include <vector>

namespace mbros {

enum Operation { INPUT, ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, SQRT, SINE, COSINE, EXP, TANH, ATAN2, LESS, NONZERO, SELECT };

static const uint64_t NODE = 0x7FFDull << 48;          // no arithmetic makes a NaN of these bits

// A trivial type, so that plain C structs of it may be made, copied and returned like structs of double.
struct real {
    double x;
    real() = default;
    real(double a) : x(a) {}
};
struct mask {
    real x;                                             // 0, 1 or a node
};

struct Node {
    uint64_t operation;
    uint64_t a, b, c;                                   // the bits of reals
    bool operator==(const Node& o) const { return operation == o.operation && a == o.a && b == o.b && c == o.c; }
};
struct HashOfNode {
    size_t operator()(const Node& n) const {
        uint64_t h = n.operation;
        for (uint64_t w : {n.a, n.b, n.c}) h = (h ^ w) * 0x9E3779B97F4A7C15ull, h ^= h >> 29;
        return h;
    }
};
struct Tape {
    std::vector<Node> nodes;
    std::unordered_map<Node, uint64_t, HashOfNode> known;
    int64_t refused = 0;
    bool through_M = false;                             // forward dynamics by the mass matrix (algorithms/own_axes_dynamics.pxd)
};
static thread_local Tape tape;

MBROS_FN uint64_t bits_of(real a) { uint64_t b; std::memcpy(&b, &a.x, 8); return b; }
MBROS_FN real of_bits(uint64_t b) { real a; std::memcpy(&a.x, &b, 8); return a; }
MBROS_FN bool is_node(real a) { return (bits_of(a) >> 48) == (NODE >> 48); }
MBROS_FN bool is(real a, double x) { return !is_node(a) && a.x == x; }
MBROS_FN bool same(real a, real b) { return bits_of(a) == bits_of(b); }
MBROS_FN const Node& node(real a) { return tape.nodes[bits_of(a) & 0xFFFFFFFFull]; }
MBROS_FN bool made_by(real a, Operation op) { return is_node(a) && node(a).operation == op; }

static real record(Operation op, real a, real b, real c) {
    const Node n = {uint64_t(op), bits_of(a), bits_of(b), bits_of(c)};
    const auto found = tape.known.find(n);
    if (found != tape.known.end()) return of_bits(NODE | found->second);
    tape.known.emplace(n, tape.nodes.size());
    tape.nodes.push_back(n);
    return of_bits(NODE | (tape.nodes.size() - 1));
}
static real record(Operation op, real a, real b) { return record(op, a, b, real(0.0)); }
static real record(Operation op, real a) { return record(op, a, real(0.0), real(0.0)); }
static real in_order(Operation op, real a, real b) { return bits_of(a) > bits_of(b) ? record(op, b, a) : record(op, a, b); }

MBROS_FN void begin_tape(bool through_M) { tape.nodes.clear(); tape.known.clear(); tape.refused = 0; tape.through_M = through_M; }
MBROS_FN bool through_M() { return tape.through_M; }
MBROS_FN bool known(const real& a) { return !is_node(a); }
MBROS_FN real new_input(int64_t k) { return record(INPUT, real(double(k))); }
MBROS_FN int64_t refusals() { return tape.refused; }
MBROS_FN int64_t nodes() { return tape.nodes.size(); }
MBROS_FN void write_tape(void* to) { if (!tape.nodes.empty()) std::memcpy(to, tape.nodes.data(), tape.nodes.size() * sizeof(Node)); }

static real operator-(real a) {
    if (!is_node(a)) return real(-a.x);
    if (made_by(a, NEGATE)) return of_bits(node(a).a);
    if (made_by(a, SUBTRACT)) return record(SUBTRACT, of_bits(node(a).b), of_bits(node(a).a));
    return record(NEGATE, a);
}
static real operator-(real a, real b) {
    if (!is_node(a) && !is_node(b)) return real(a.x - b.x);
    if (is(b, 0.0)) return a;
    if (is(a, 0.0)) return -b;
    if (same(a, b)) return real(0.0);
    if (made_by(b, NEGATE)) return in_order(ADD, a, of_bits(node(b).a));
    if (made_by(a, NEGATE)) return -in_order(ADD, of_bits(node(a).a), b);
    return record(SUBTRACT, a, b);
}
static real operator+(real a, real b) {
    if (!is_node(a) && !is_node(b)) return real(a.x + b.x);
    if (is(a, 0.0)) return b;
    if (is(b, 0.0)) return a;
    if (made_by(b, NEGATE)) return a - of_bits(node(b).a);
    if (made_by(a, NEGATE)) return b - of_bits(node(a).a);
    return in_order(ADD, a, b);
}
static real operator*(real a, real b) {
    if (!is_node(a) && !is_node(b)) return real(a.x * b.x);
    if (is_node(a) && !is_node(b)) { const real t = a; a = b; b = t; }         // a constant stands first
    if (is(a, 0.0)) return real(0.0);
    if (is(a, 1.0)) return b;
    if (is(a, -1.0)) return -b;
    if (made_by(b, NEGATE)) return -(a * of_bits(node(b).a));
    if (made_by(a, NEGATE)) return -(of_bits(node(a).a) * b);
    if (!is_node(a)) {
        if (a.x < 0.0) return -(real(-a.x) * b);
        if (made_by(b, MULTIPLY) && !is_node(of_bits(node(b).a))) return real(a.x * of_bits(node(b).a).x) * of_bits(node(b).b);
        return record(MULTIPLY, a, b);
    }
    return in_order(MULTIPLY, a, b);
}
static real operator/(real a, real b) {
    if (!is_node(a) && !is_node(b)) return real(a.x / b.x);
    if (is(a, 0.0)) return real(0.0);
    if (is(b, 1.0)) return a;
    if (is(b, -1.0)) return -a;
    if (same(a, b)) return real(1.0);
    if (made_by(a, NEGATE)) return -(of_bits(node(a).a) / b);
    if (made_by(b, NEGATE)) return -(a / of_bits(node(b).a));
    return record(DIVIDE, a, b);
}
MBROS_FN real operator+(double a, real b) { return real(a) + b; }
MBROS_FN real operator-(double a, real b) { return real(a) - b; }
MBROS_FN real operator*(double a, real b) { return real(a) * b; }
MBROS_FN real operator/(double a, real b) { return real(a) / b; }
MBROS_FN real& operator+=(real& a, real b) { return a = a + b; }
MBROS_FN real& operator-=(real& a, real b) { return a = a - b; }
MBROS_FN real& operator*=(real& a, real b) { return a = a * b; }

// What a branch would need: known of a constant alone.
MBROS_FN double lane(const real& a, int) {
    if (!is_node(a)) return a.x;
    ++tape.refused;
    return 0.0;
}
MBROS_FN void set_lane(real& a, int, double x) { a = real(x); }

static mask less(real a, real b) {
    if (!is_node(a) && !is_node(b)) return mask{real(a.x < b.x ? 1.0 : 0.0)};
    if (same(a, b) || is(a, __builtin_inf()) || is(b, -__builtin_inf())) return mask{real(0.0)};
    if (is(b, __builtin_inf()) || is(a, -__builtin_inf())) return mask{real(1.0)};
    return mask{record(LESS, a, b)};
}
static mask nonzero(real a) { return mask{is_node(a) ? record(NONZERO, a) : real(a.x != 0.0 ? 1.0 : 0.0)}; }
MBROS_FN bool any(mask m) { return !is(m.x, 0.0); }
static real select(mask m, real a, real b) {
    if (!is_node(m.x)) return m.x.x != 0.0 ? a : b;
    if (same(a, b)) return a;
    return record(SELECT, m.x, a, b);
}

#define MBROS_TRACE_ONE(name, operation, known) \
    static real name(real a) { return is_node(a) ? record(operation, a) : real(known(a.x)); }
MBROS_TRACE_ONE(sqrt, SQRT, ::std::sqrt)
MBROS_TRACE_ONE(exp, EXP, ::std::exp)
MBROS_TRACE_ONE(tanh, TANH, ::std::tanh)
#undef MBROS_TRACE_ONE

static real atan2(real y, real x) {
    return is_node(y) || is_node(x) ? record(ATAN2, y, x) : real(::std::atan2(y.x, x.x));
}
static void sincos(real a, real& s, real& c) {
    if (!is_node(a)) {
        sincos(a.x, s.x, c.x);
    } else if (made_by(a, NEGATE)) {
        s = -record(SINE, of_bits(node(a).a));
        c = record(COSINE, of_bits(node(a).a));
    } else {
        s = record(SINE, a);
        c = record(COSINE, a);
    }
}

}  // namespace mbros
