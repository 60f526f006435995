"""The C++ of a robot's kernels: for a double, and for lanes, over the engine's own numbers (mbros_core/scalar/real.hpp)."""
from __future__ import annotations

from typing import Any

from mbros.build.specialize.emit import Emitter
from mbros.build.specialize.graph import Graph, is_given
from mbros_core.algorithms import kernels
from mbros_core.engine.fields import FIELDS

# MBROS_LANES is the width of this CPU's vectors in both; with MBROS_ONE, R is one double, and vectors are for sines.
HEAD = """\
#include "quick_sincos.hpp"

#define NOINLINE __attribute__((noinline))
#define SELECT(m, a, b) ((m) ? (a) : (b))
#ifdef MBROS_ONE
typedef double R;
#define CONSTANT(c) (c)
#define ROOT(x) __builtin_sqrt(x)
#define SINCOS(x, s, c) mbros::sincos(double(x), s, c)
#define EXP(x) ::std::exp(x)
#define TANH(x) ::std::tanh(x)
#define ATAN2(y, x) ::std::atan2(y, x)
#else
typedef mbros::vreal R;
#define CONSTANT(c) (R{} + (c))
#define ROOT(a) mbros::sqrt(mbros::real(a)).x
#define EXP(a) mbros::exp(mbros::real(a)).x
#define TANH(a) mbros::tanh(mbros::real(a)).x
#define ATAN2(b, a) mbros::atan2(mbros::real(b), mbros::real(a)).x
#define SINCOS(x, s, c) mbros::robot_sincos(x, s, c)
#endif
// Of n angles; where R is one double, as many at once as a vector has.
template <int n> static inline void SINES(const R (&angles)[n], R (&s)[n], R (&c)[n]) {
#ifdef MBROS_ONE
    double all[(n + MBROS_LANES - 1) / MBROS_LANES * MBROS_LANES] = {}, sines[sizeof(all) / 8], cosines[sizeof(all) / 8];
    std::memcpy(all, angles, sizeof(angles));
    for (int i = 0; i < n; i += MBROS_LANES) {
        mbros::vreal x, sine, cosine;
        std::memcpy(&x, all + i, sizeof(x));
        mbros::robot_sincos(x, sine, cosine);
        std::memcpy(sines + i, &sine, sizeof(x));
        std::memcpy(cosines + i, &cosine, sizeof(x));
    }
    std::memcpy(s, sines, sizeof(s));
    std::memcpy(c, cosines, sizeof(c));
#else
    for (int i = 0; i < n; ++i) SINCOS(angles[i], s[i], c[i]);
#endif
}
static inline R SINE(R x) { R s, c; SINCOS(x, s, c); return s; }
static inline R COSINE(R x) { R s, c; SINCOS(x, s, c); return c; }

"""
PARAMETERS = "R* const* w, const R* __restrict x, R* __restrict y, double h"


class Places:
    """Where the places of State._inputs are in the fields of a State."""

    def __init__(self, state: Any) -> None:
        self.at: dict[int, tuple[int, int]] = {}
        begin = _address(state._inputs)
        for k, row in enumerate(FIELDS):
            if row.stage in ("input", "parameter"):
                view = state.field(row.name)
                at = (_address(view) - begin) // 8
                for i in range(view.size):
                    self.at[at + i] = (k, i)


def _address(view: Any) -> int:
    return view.__array_interface__["data"][0]


def kernel(graph: Graph, what: str, places: Places) -> str:
    """A function of the slot `what`."""
    def read(place: float) -> str:
        if place >= kernels.STEP:
            return "CONSTANT(h)"
        if is_given(place):
            return f"x[{int(place) - kernels.GIVEN}]"
        field, i = places.at[int(place)]
        return f"w{field}[{i}]"

    def write(where: str, i: int) -> str:
        return f"y[{i}]" if where == "y" else f"w{NUMBER[where]}[{i}]"

    row = kernels.BY_NAME[what]
    read_from = [graph.operands[k][0] for k in graph.order if graph.operations[k] == "input"]
    fields = {*row.fields, *(FIELDS[places.at[int(place)][0]].name for place in read_from if place < kernels.GIVEN)}
    head = "".join(f"    R* const w{NUMBER[name]} = w[{NUMBER[name]}];\n" for name in sorted(fields))
    emitter = Emitter(graph, read, write, late=bool(set(row.fields) & set(row.inputs)))
    return f'extern "C" {{\n{emitter.text(what, PARAMETERS, "w, x, y, h", head)}}}\n\n'


NUMBER = {row.name: k for k, row in enumerate(FIELDS)}
