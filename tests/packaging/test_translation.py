"""How setup.py makes the C++ of the engines: one translation for those of one text, equations marked to be inlined."""
import importlib
import os
import re
import runpy
from types import SimpleNamespace

import pytest
import setuptools
from workshop import MODULES, ROOT

from mbros_core.support import cpu

ENGINES = [name for name in MODULES if re.search(r"\._(double|lanes|dual)", name)]
CPP = """
static CYTHON_INLINE struct Vec3 __pyx_f_10mbros_core_7spatial_cross(struct Vec3, struct Vec3); /*proto*/
static CYTHON_INLINE void __pyx_f_10mbros_core_10algorithms_16forward_dynamics_forward_dynamics(ModelC const *, real *); /*proto*/
static CYTHON_INLINE void __pyx_f_10mbros_core_10algorithms_16forward_dynamics_outward(ModelC const *, real *); /*proto*/
static CYTHON_INLINE void __pyx_f_10mbros_core_6engine_7_double_pack(double const *, real *); /*proto*/
static CYTHON_INLINE PyObject *__Pyx_PyObject_GetItem(PyObject *, PyObject *); /*proto*/
static CYTHON_INLINE void __pyx_f_10mbros_core_6joints_8dispatch_place_other(Joint const *) {
  __pyx_f_10mbros_core_7spatial_cross(a, b);
"""


@pytest.fixture(scope="module")
def made():
    """What setup.py defines."""
    run, setuptools.setup = setuptools.setup, lambda **words: None
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.chdir(ROOT)
            yield SimpleNamespace(**runpy.run_path("setup.py", run_name="__main__"))
    finally:
        setuptools.setup = run


def test_equations_are_marked_and_nothing_else(made):
    """Not whole algorithms, not the engine's own functions, not Cython's helpers."""
    text = made.mark_equations(CPP)
    marked = re.findall(r"static MBROS_EQUATION \S+ .*?__pyx_f_\w*?_(\w+)\(", text.replace("struct ", ""))
    assert [name.rpartition("_")[2] for name in marked] == ["cross", "outward"]
    assert text.replace("MBROS_EQUATION", "CYTHON_INLINE") == CPP


def test_a_cython_that_writes_otherwise_is_noticed(made):
    with pytest.raises(SystemExit, match="the equations would not be inlined"):
        made.mark_equations(CPP.replace("static CYTHON_INLINE", "static inline"))


PHYSICS = """static CYTHON_INLINE void __pyx_f_10mbros_core_7spatial_add(Vec3 *a) {
  *a = {};
}
"""
WRAPPER = """static PyObject *__pyx_pf_10mbros_core_6engine_7_double_2name(PyObject *self) {
  return self;
}
"""
LOOP = """static void __pyx_f_10mbros_core_6engine_7_double_tick(Plant *p) {
  p->t += 1;
}
"""
EQUATION = """static PyObject *__pyx_pf_10mbros_core_6engine_7_double_4pose(PyObject *self) {
  __pyx_f_10mbros_core_7spatial_add(&a);
}
"""

CALL = """static PyObject *__pyx_pw_10mbros_core_6engine_7_double_8Dynamics_6energy(PyObject *self,
#if CYTHON_VECTORCALL
PyObject *const *args
#endif
); /*proto*/
PyDoc_STRVAR(doc, "Energy, J; {of all}");
static PyObject *__pyx_pw_10mbros_core_6engine_7_double_8Dynamics_6energy(PyObject *self,
#if CYTHON_VECTORCALL
PyObject *const *args
#endif
) {
  return self;
}
"""


def test_only_what_speaks_to_python_and_computes_nothing_is_compiled_with_less_effort(made):
    """Loops keep their speed, equations their last bit."""
    less, full = '#pragma GCC optimize ("Os", "fp-contract=off")\n', "#pragma GCC reset_options\n"
    marked = made.mark_wrappers(PHYSICS + WRAPPER + LOOP + EQUATION + "static int last;\n", "mbros_core.engine._double")
    assert marked == PHYSICS + less + WRAPPER + full + LOOP + less + full + EQUATION + less + "static int last;\n"


def test_a_call_of_one_robot_is_compiled_with_its_prototype(made):
    """gcc takes the first declaration's options: of a wrapper, too, whose arguments stand on several lines."""
    less, full = '#pragma GCC optimize ("Os", "fp-contract=off")\n', "#pragma GCC reset_options\n"
    plain = CALL.replace("8Dynamics", "5State")
    assert made.mark_wrappers(PHYSICS + CALL + plain, "mbros_core.engine._double") == PHYSICS + less + full + CALL + less + plain


MODULE = """/* #### Code section: module_code ### */
static PyObject *__pyx_pw_5mbros_3ros_4wire_10_dataplane_1start(PyObject *self) {
  return self;
}
static void __pyx_f_5mbros_3ros_4wire_10_dataplane__publish(Output *p) {
  p->n += 1;
}
"""
SOLVE = """static CYTHON_INLINE int __pyx_f_10mbros_core_11constraints_6newton_solve(Problem *p) {
  return p->n;
}
static PyObject *__pyx_pw_10mbros_core_11constraints_6_scene_1solve(PyObject *self) {
  return __pyx_f_10mbros_core_11constraints_6newton_solve(&p);
}
"""


def test_in_a_module_that_is_no_engine_kernels_and_what_calls_them_keep_their_speed(made):
    less, full = '#pragma GCC optimize ("Os", "fp-contract=off")\n', "#pragma GCC reset_options\n"
    head, start, publish = re.split("(?=^static)", MODULE, flags=re.MULTILINE)
    assert made.mark_wrappers(MODULE, "mbros.ros.wire._dataplane") == less + head + start + full + publish + less
    kernel, call = re.split("\n(?=static PyObject)", SOLVE)
    assert made.mark_wrappers(SOLVE, "mbros_core.constraints._scene") == f"{kernel}\n{less}{full}{call}{less}"


def test_a_translation_can_be_made_again(made, tmp_path):
    """Cython overwrites only what begins with its own words; with an engine's sources newer, a second build must not stop there."""
    from setuptools import Extension

    (tmp_path / "small.pyx").write_text("cdef int answer():\n    return 42\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        for _ in range(2):
            ext = Extension("small", ["small.pyx"], language="c++", depends=[])
            ext.cython_directives = {"language_level": 3}
            (tmp_path / "small.pyx").touch()
            made.translate([ext], "build")
            os.utime("build/small.cpp", (0, 0))
    assert (tmp_path / "build/small.cpp").read_text().startswith("/* Generated by Cython")


def test_engines_of_one_text_and_equally_long_names_share_a_translation(made):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        engines = [SimpleNamespace(name=name, sources=[name.replace(".", "/") + ".pyx"]) for name in ENGINES]
        groups = [[ext.name.rpartition(".")[2] for ext in group] for group in made.translations(engines)]
    assert sorted(groups) == [["_double"], ["_double_v3", "_double_v4"], ["_dual2", "_dual4", "_dual8"], ["_lanes2", "_lanes4", "_lanes8"]]


@pytest.mark.parametrize("name", ENGINES)
def test_a_module_of_a_shared_translation_has_its_own_name(name):
    """In itself and in its classes, which pickles and `mbros doctor` read."""
    needed = cpu.AVX512 if re.search("v4|8", name) else cpu.AVX2 if re.search("v3|4$", name) else frozenset()
    if not cpu.flags() >= needed:
        pytest.skip("this CPU does not run it")
    module = importlib.import_module(name)
    assert (module.__name__, module.State.__module__, module.Model.__module__) == (name, name, name)
    assert module.State.set_q.__module__ in (name, None)
