"""Standalone C99 of a robot's algorithms: a source, a header, a test with numbers, a CMake file. No allocation; no library but libm."""
from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import mbros_core
import numpy as np
from mbros_core.algorithms import kernels
from mbros_core.algorithms.kernels import Kernel
from mbros_core.engine.fields import FIELDS
from mbros_core.support.files import replace_file

from mbros.build.specialize.emit import Emitter, literal
from mbros.build.specialize.graph import is_given, trace
from mbros.build.specialize.robot import check_written, is_possible, kernel_of, live_places, snapped, start, why_not
from mbros.errors import MbrosError, UnknownNameError

if TYPE_CHECKING:
    from mbros import Model

CASES = 3
LONGEST_STEM = 60               # of the names of files and functions
TOLERANCE = 1e-10               # of the test, relative to the largest number of a result
OF_CMAKE = ("all", "clean", "depend", "edit_cache", "help", "install", "list_install_components", "package", "package_source",
            "rebuild_cache", "test")                                                    # its own targets

HEAD = """\
#include <math.h>
#include "{stem}.h"

typedef double R;
#define NOINLINE
#define CONSTANT(c) (c)
#define SELECT(m, a, b) ((m) ? (a) : (b))
#define ROOT(x) sqrt(x)
#define EXP(x) exp(x)
#define TANH(x) tanh(x)
#define ATAN2(y, x) atan2(y, x)
#define SINE(x) sin(x)
#define COSINE(x) cos(x)
#define SINCOS(x, s, c) ((s) = sin(x), (c) = cos(x))

"""
WORDS = {"q": "positions, m or rad", "v": "velocities, m/s or rad/s", "a_prev": "(v+ - v) / h of the last step; zeros at first",
         "tau": "generalized forces, N m or N", "vdot": "accelerations", "M": "the mass matrix, row by row", "h": "the step, s",
         "X_WF": "a frame's pose in the world: R_WF row by row, then p_WF, m", "p_WC": "the centre of mass in the world, m",
         "J": "velocities in the world by v, row by row: of a frame [w; v] of its origin, of the centre of mass v",
         "derivatives": "the result, then its derivatives by q, v and what is given, matrices row by row",
         "parameters": "the live parameters, in the order of the names above"}


class Argument(NamedTuple):
    name: str
    size: int                   # 0: a number
    written: bool
    read: bool = True


def standalone(model: Model, functions: Sequence[str], live: Sequence[str] = (), snap: float = 1e-15) -> dict[str, str]:
    """{file name: text}: C99 of functions of mbros_core.algorithms.kernels, of the whole robot `model`."""
    if not functions:
        raise UnknownNameError(f"codegen: no function was named; there are {', '.join(kernels.NAMES)}")
    check_written(model)
    rows = [kernel_of("codegen", model, name)[0] for name in functions]
    same = [row.full_name for row in rows if [other.identifier for other in rows].count(row.identifier) > 1]
    if same:
        raise MbrosError(f"codegen: {' and '.join(same)} would be one name in C; write them into two folders")
    for name in [row.name for row in rows]:
        if not is_possible(model, name):
            raise MbrosError(f"codegen: {name} of model {model.name!r} is not straight-line code: {why_not(name)}. Load it without them, "
                             "or leave this function out")
    if model.nv == 0:
        raise MbrosError(f"codegen: model {model.name!r} has no coordinates: nothing of it moves")
    writer = Writer(model, live, snap)
    return writer.files(functions)


class Writer:
    """The text of one robot."""

    def __init__(self, model: Model, live: Sequence[str], snap: float) -> None:
        self.model, self.live = model, tuple(live)
        self.spec = snapped(model.spec, snap)
        self.engine: Any = mbros_core.Model(self.spec)
        self.stem = re.sub(r"\W", "_", model.name, flags=re.ASCII)[:LONGEST_STEM].strip("_").lower() or "robot"
        if self.stem[0].isdigit() or self.stem in OF_CMAKE:
            self.stem = f"robot_{self.stem}"
        self.places = live_places(model, live)
        state = self.engine.default_state()
        self.fields = {name: start(state, name) for name in ("q", "v", "a_prev")}

    def files(self, functions: Sequence[str]) -> dict[str, str]:
        stem = self.stem
        rows = [kernel_of("codegen", self.model, name)[0] for name in functions]
        code = HEAD.format(stem=stem) + "\n".join(self.function(row) for row in rows)
        return {f"{stem}.c": f"{_comment(self.about())}\n{code}", f"{stem}.h": self.header(rows), f"test_{stem}.c": self.test(rows),
                "CMakeLists.txt": CMAKE.format(stem=stem)}

    def about(self) -> str:
        return f"Robot {self.model.name}: nq = {self.model.nq}, nv = {self.model.nv}. Made by mbros codegen; SI units."

    def arguments(self, row: Kernel) -> list[Argument]:
        sizes = {"q": self.model.nq, "v": self.model.nv, "a_prev": self.model.nv}
        found = [Argument(name, sizes[name], name in row.fields) for name in row.inputs]
        if row.given:
            found.append(Argument(row.given, self.model.nv, False))
        if self.places:
            found.append(Argument("parameters", len(self.places), False))
        if "a_prev" in row.fields:
            found.append(Argument("h", 0, False))
        if row.numbers:
            name = ("vdot" if row.given == "tau" else "tau", "M", "derivatives", "X_WF", "J", "p_WC", "J")[row.numbers - 1]
            found.append(Argument(name, row.size(self.model.nv), True, False))
        state = self.engine.default_state()
        return found + [Argument(name, state.field(name).size, True, False) for name in row.fields if name not in row.inputs]

    def declaration(self, row: Kernel) -> str:
        words = []
        for x in self.arguments(row):
            kind = "double " if x.written else "const double "
            words.append(f"double {x.name}" if not x.size else f"{kind}{x.name}[{x.size}]")
        return ", ".join(words)

    def function(self, row: Kernel) -> str:
        graph = trace(self.spec, row.name, self.places, self.frame(row))
        number = {place: i for i, place in enumerate(self.places)}
        result = self.arguments(row)[-1].name

        def read(place: float) -> str:
            at = int(place)
            if place >= kernels.STEP:
                return "h"
            if is_given(place):
                return f"{row.given}[{at - kernels.GIVEN}]"
            if at in number:
                return f"parameters[{number[at]}]"
            name = max((name for name in row.inputs if self.fields[name] <= at), key=self.fields.__getitem__)
            return f"{name}[{at - self.fields[name]}]"

        def write(where: str, i: int) -> str:
            return f"{result if where == 'y' else where}[{i}]"

        emitter = Emitter(graph, read, write, late=True, gather=False)
        names = ", ".join(x.name for x in self.arguments(row))
        return emitter.text(f"{self.stem}_{row.identifier}", self.declaration(row), names, "")

    def frame(self, row: Kernel) -> int:
        """Of whose pose or Jacobian it is: its row in the frame table."""
        return self.model._frame_index(row.frame) if row.frame else 0

    def header(self, rows: Sequence[Kernel]) -> str:
        guard = f"{self.stem.upper()}_H"
        live = f"\n   parameters: {', '.join(self.live)}." if self.live else ""
        names = {x.name: None for row in rows for x in self.arguments(row)}
        docs = {row.name: row.doc for row in FIELDS}
        words = "".join(f"\n   {name}: {WORDS.get(name) or docs[name]}." for name in names)
        about = _comment(f"{self.about()}{live}\n   Joints: {', '.join(self.model.velocity_names)}.{words}")
        lines = [about, f"#ifndef {guard}", f"#define {guard}", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        for row in rows:
            lines += [f"/* {row.doc[0].upper()}{row.doc[1:]}. */", f"void {self.stem}_{row.identifier}({self.declaration(row)});", ""]
        return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])

    # ------------------------------------------------------------------------------------------------ its test

    def test(self, rows: Sequence[Kernel]) -> str:
        rng = np.random.default_rng(1)
        calls, tables = [], []
        for row in rows:
            for k in range(CASES):
                given, expected = self.case(row, rng)
                body = "".join(f"        double {name}[{len(x)}] = {{{', '.join(map(literal, x))}}};\n" for name, x in given.items())
                body += "".join(f"        static const double {name}_expected[{len(x)}] = {{{', '.join(map(literal, x))}}};\n"
                                for name, x in expected.items())
                body += "".join(f"        double {name}[{len(x)}];\n" for name, x in expected.items() if name not in given)
                words = ", ".join("1e-3" if x.name == "h" else x.name for x in self.arguments(row))
                body += f"        {self.stem}_{row.identifier}({words});\n"
                body += "".join(f'        wrong += differs("{row.identifier}: {name}", {name}, {name}_expected, {len(x)});\n'
                                for name, x in expected.items())
                tables.append(f"static int {row.identifier}_{k}(void)\n{{\n        int wrong = 0;\n{body}        return wrong;\n}}\n")
                calls.append(f"    wrong += {row.identifier}_{k}();")
        return TEST.format(stem=self.stem, tolerance=TOLERANCE, functions="\n".join(tables), calls="\n".join(calls))

    def case(self, row: Kernel, rng: np.random.Generator) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
        """What a function is given, and what the general engine makes of it."""
        model, state, x = self.engine, self.engine.default_state(), rng.normal(size=self.model.nv)
        state.q[:], state.v[:] = self.model.random_configuration(rng), rng.normal(size=self.model.nv)
        plant = mbros_core.Plant(model, state, 1e-3, row.name) if row.name in mbros_core.INTEGRATORS else None
        if plant is not None:
            plant.step(x)                       # so that there is a step before
            state = plant.state
        given = {name: state.field(name).reshape(-1).tolist() for name in row.inputs}
        if row.given:
            given[row.given] = x.tolist()
        if self.places:
            given["parameters"] = state._inputs[list(self.places)].tolist()
        if row.name in ("forward_dynamics", "inverse_dynamics"):
            return given, {self.arguments(row)[-1].name: getattr(model, row.name)(state, x).tolist()}
        if row.derivatives:
            slopes = model._forward_dynamics_slopes if row.given == "tau" else model._inverse_dynamics_slopes
            return given, {"derivatives": slopes(state, x).reshape(-1).tolist()}
        if row.name == "mass_matrix" or row in kernels.OF_PLACES or row.frame:
            result = (model._frame_pose(state, self.frame(row)) if row.name == "pose" else
                      model._frame_jacobian(state, self.frame(row)) if row.name == "jacobian" else getattr(model, row.name)(state))
            return given, {self.arguments(row)[-1].name: result.reshape(-1).tolist()}
        if row.name == "kinematics":
            model.kinetic_energy(state)
        elif plant is not None:
            plant.step(x)
        return given, {name: state.field(name).reshape(-1).tolist() for name in row.fields}


def _comment(text: str) -> str:
    """A comment of C; no user's name in it ends it, or begins another."""
    return f"/* {text.replace('*/', '* /').replace('/*', '/ *')} */"


def write(model: Model, functions: Sequence[str], folder: Path, live: Sequence[str] = (), snap: float = 1e-15) -> list[Path]:
    """The files of `standalone` in a folder, which is made where there is none."""
    texts = standalone(model, functions, live, snap)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MbrosError(f"codegen: {folder} cannot be written: {error.strerror}") from None
    return [replace_file("codegen", folder / name, text.encode()) for name, text in texts.items()]


CMAKE = """\
cmake_minimum_required(VERSION 3.10)
project({stem} C)
set(CMAKE_C_STANDARD 99)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
add_library({stem} STATIC {stem}.c)
target_include_directories({stem} PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_link_libraries({stem} PUBLIC m)
enable_testing()
add_executable(test_{stem} test_{stem}.c)
target_link_libraries(test_{stem} {stem})
add_test(NAME {stem} COMMAND test_{stem})
"""

TEST = """\
/* Compares the functions with numbers of the engine they were made from. Exit code 0: all are equal. */
#include <math.h>
#include <stdio.h>
#include "{stem}.h"

static int differs(const char* what, const double* x, const double* expected, int n)
{{
    double largest = 1.0;
    int i;
    for (i = 0; i < n; ++i) largest = fmax(largest, fabs(expected[i]));
    for (i = 0; i < n; ++i) {{
        if (!(fabs(x[i] - expected[i]) <= {tolerance} * largest)) {{
            printf("%s[%d] is %.17g, expected %.17g\\n", what, i, x[i], expected[i]);
            return 1;
        }}
    }}
    return 0;
}}

{functions}
int main(void)
{{
    int wrong = 0;
{calls}
    printf(wrong ? "%d results are wrong\\n" : "all results are right\\n", wrong);
    return wrong != 0;
}}
"""
