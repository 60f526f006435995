"""Build of mbros: what setup.cfg cannot say, which is the version and the extension modules.

The metadata is in setup.cfg, the version in package.xml. colcon, pip and setuptools all execute this file, often only
to ask for the name, so it prints nothing and works without NumPy and Cython; it asks for them when something is compiled.

Environment (for developers; a plain build needs none):
    MBROS_CPUS=all           every build of the engine, as wheels have them; else this CPU's and the one that runs everywhere
    MBROS_ONLY=double,loop   build only these modules (a module's last name without underscore): "demo" those that `make demo`
                             needs until the arm moves, "none" none
    MBROS_BUILD_CACHE=0      compile what was compiled before from the same sources, too (it is in ~/.cache/mbros/modules)
    MBROS_DEBUG=1            bounds checks, -Og and debug symbols
    MBROS_SANITIZE=address   (with undefined behaviour), or =thread: modules for `make sanitize`
    MBROS_JOBS=N             modules compiled at a time (default: as many as this process has CPUs)
Debugged and sanitized modules have build folders of their own (colcon chooses its own: take another --build-base, or it
finds the modules of the other kind and keeps them).
"""
import hashlib
import importlib
import importlib.util
import multiprocessing
import multiprocessing.connection
import os
import platform
import re
import sys
import time
import types
from glob import glob

from setuptools import Extension, find_packages, setup

X86 = platform.machine().lower() in ("x86_64", "amd64")
DEBUG = os.environ.get("MBROS_DEBUG", "0") not in ("", "0")
SANITIZERS = {"address": ["-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"], "thread": ["-fsanitize=thread"]}
SANITIZE = os.environ.get("MBROS_SANITIZE", "")
if SANITIZE and SANITIZE not in SANITIZERS:
    raise SystemExit(f"MBROS_SANITIZE is {SANITIZE!r}; expected one of {', '.join(SANITIZERS)}")
PLAIN = not DEBUG and not SANITIZE

# Nothing here changes a result: sums are not reordered, NaN and infinity mean what they mean (no -ffast-math, and no
# -fno-signed-zeros, with which gcc 12 folds x * 0 to 0 for vectors even where x is NaN). Kernels of small structs are faster
# without the vectorisation of straight-line code.
COMMON = ["-std=c++17", "-O2", "-fno-tree-slp-vectorize", "-fno-math-errno", "-fno-trapping-math", "-fvisibility=hidden", "-g0", "-w"]
if DEBUG:
    COMMON = ["-std=c++17", "-Og", "-fvisibility=hidden", "-g", "-DMBROS_DEBUG=1"]
if SANITIZE:
    COMMON = ["-std=c++17", "-O1", "-fvisibility=hidden", "-g", "-fno-omit-frame-pointer", *SANITIZERS[SANITIZE]]
# What a .pyx says in its own first line goes before these.
DIRECTIVES = {"language_level": 3, "boundscheck": DEBUG, "wraparound": False, "cdivision": True, "initializedcheck": DEBUG,
              "auto_pickle": False}
AVX2 = ["-mavx2", "-mfma", "-mbmi2"]
AVX512 = ["-march=x86-64-v4", "-mprefer-vector-width=512"]

# The convex problem of contact is many short loops: 4 to 6 % of a quadruped's step, the same bits (docs/decisions/003-compiler.md).
SHORT_LOOPS = ["-O3", "-ftree-slp-vectorize"] if PLAIN else []

# Without symbols, and bound to no library that it does not call: `_ending` is to be there before C++'s own is read from the disk.
STRIPPED = ["-Wl,-s", "-Wl,--as-needed"] if sys.platform == "linux" else ["-Wl,-s"]

# What x86-64 falls back to where there is no AVX2, that is before 2013; elsewhere it is the engine.
SMALL = ["-Os", "-DMBROS_SMALL=1"] if X86 and PLAIN else []

# Wrappers around a few sums, of which Python is most: half the size, as fast; every sum in the order and the rounding of NumPy.
BRIEF = ["-Os", "-ffp-contract=off"] if PLAIN else []

# name, MBROS_LANES (None: not an engine), the CPUs it is for (as mbros_core/support/cpu.py calls them; "": all), flags of its own. One
# engine, several meanings of `real`; which of them a process uses is chosen from the CPU when mbros_core is imported.
MODULES = [
    ("mbros_core.engine._double",        1,    "",       []),
    ("mbros_core.engine._double_v3",     1,    "AVX2",   AVX2 + ["-mtune=haswell"]),
    ("mbros_core.engine._double_v4",     1,    "AVX512", AVX512),
    ("mbros_core.engine._lanes2",        2,    "",       SMALL),
    ("mbros_core.engine._lanes4",        4,    "AVX2",   AVX2 + ["-mtune=haswell"]),
    ("mbros_core.engine._lanes8",        8,    "AVX512", AVX512),
    ("mbros_core.engine._dual2",         2,    "",       ["-DMBROS_DUAL=1", *SMALL]),
    ("mbros_core.engine._dual4",         4,    "AVX2",   ["-DMBROS_DUAL=1", *AVX2, "-mtune=haswell"]),
    ("mbros_core.engine._dual8",         8,    "AVX512", ["-DMBROS_DUAL=1", *AVX512]),
    ("mbros_core.engine._traced",        1,    "",       ["-DMBROS_TRACED=1", "-Os"]),
    ("mbros_core.engine._callbacks",     None, "",       []),
    ("mbros_core.engine._small",         None, "",       BRIEF),
    ("mbros_core.geometry._geometry",    None, "",       []),
    ("mbros_core.constraints._scene",    None, "",       SHORT_LOOPS),
    ("mbros_core.constraints._solver",   None, "",       []),
    ("mbros_core.plant._devices",        None, "",       []),
    ("mbros_core.plant._commanded",      None, "",       []),
    ("mbros_core.plant._pushes",         None, "",       []),
    ("mbros_core.realtime._loop",        None, "",       []),
    ("mbros_core.realtime._jitter",      None, "",       []),
    ("mbros_core.realtime._shared",      None, "",       []),
    ("mbros.ros.wire._dataplane",        None, "",       []),
    ("mbros.ros.process._ending",        None, "",       []),
]
# Traces are made once for a robot: this one is to be small, nothing of it is marked to be inlined.
TRACED = "mbros_core.engine._traced"
# What `make demo` needs until the arm moves; which double is this CPU's.
DEMO = ("double", "small", "loop", "pushes", "dataplane", "ending")
# What only tests and benchmarks of this tree import: compiled in place, and in no wheel.
IN_PLACE_ONLY = {"mbros_core.constraints._solver"}
# Where compiled modules are kept, and how much of them: one build of all has some 10 MB.
KIND, MOST_BYTES = "modules", 256 << 20


def version():
    """The version, from package.xml: the only place that says it."""
    with open("package.xml", encoding="utf-8") as f:
        return re.search(r"<version>\s*(\d+\.\d+\.\d+)\s*</version>", f.read()).group(1)


def readme():
    """README.md, which colcon's build folder for --symlink-install does not hold."""
    if not os.path.exists("README.md"):
        return ""
    with open("README.md", encoding="utf-8") as f:
        return f.read()


def selected():
    """The rows of MODULES to build here: those that this CPU uses (docs/decisions/043-what-is-built-where.md), those of every CPU of its
    kind, or those MBROS_ONLY names."""
    rows, only = [row for row in MODULES if X86 or not row[2]], os.environ.get("MBROS_ONLY", "").replace(",", " ").split()
    cpus, own = os.environ.get("MBROS_CPUS", "this"), own_cpu()
    if cpus not in ("this", "all"):
        raise SystemExit(f"MBROS_CPUS is {cpus!r}; expected this or all")
    if not only:
        return [row for row in rows if cpus == "all" or own is None or row[2] in ("", own)]
    names = {row[0].rpartition("._")[2]: row for row in rows}
    unknown = [name for name in only if name not in names and name not in ("demo", "none")]
    if unknown:
        raise SystemExit(f"MBROS_ONLY names no module of this machine: {', '.join(unknown)}. It has: {', '.join(names)}, demo, none.")
    if "demo" in only:
        only += [{"AVX512": "double_v4", "AVX2": "double_v3"}.get(own, "double"), *DEMO[1:]]
    return [row for name, row in names.items() if name in only]


def own_cpu():
    """What this CPU is called in MODULES; None of an x86-64 whose kernel does not say what it can."""
    spec = importlib.util.spec_from_file_location("mbros_cpu", "mbros_core/support/cpu.py")
    cpu = importlib.util.module_from_spec(spec)
    exec(compile(spec.loader.get_data(spec.origin), spec.origin, "exec"), cpu.__dict__)         # leaving no bytecode behind
    has = cpu.all_flags()
    return "AVX512" if has >= cpu.AVX512 else "AVX2" if has >= cpu.AVX2 else "" if has or not X86 else None


def check_tools():
    """Say in one sentence what a build lacks, before the compiler says it in a thousand."""
    building = {"build", "build_ext", "bdist_wheel", "editable_wheel", "install", "develop", "bdist_egg"}
    missing = [name for name in ("Cython", "numpy") if importlib.util.find_spec(name) is None]
    asking_help = any(word.startswith(("--help", "-h")) for word in sys.argv[1:])
    if missing and building.intersection(sys.argv[1:]) and not asking_help:
        raise SystemExit(f"building mbros needs {' and '.join(missing)}, not found by {sys.executable}: install with "
                         "`pip install 'cython>=3.0' numpy`, or on a ROS machine `rosdep install --from-paths .`")
    if building.intersection(sys.argv[1:]) and not asking_help:
        from Cython import __version__ as found

        if int(found.partition(".")[0]) < 3:
            raise SystemExit(f"building mbros needs Cython 3.0 or newer, and {sys.executable} has {found}: `pip install 'cython>=3.0'`")


def numpy_include():
    if importlib.util.find_spec("numpy") is None:
        return []
    import numpy

    return [numpy.get_include()]


def sources(*suffixes):
    """Paths in both packages with one of these suffixes, relative to this file."""
    return sorted(path for package in ("mbros_core", "mbros") for suffix in suffixes
                  for path in glob(f"{package}/**/*{suffix}", recursive=True))


def extensions():
    rows = selected()
    if not rows:
        return []
    check_tools()
    includes = [".", "mbros_core", *numpy_include()]
    depends = ["setup.py", *sources(".pxd", ".pxi", ".hpp", ".h")]
    return [extension(name, lanes, flags, includes, depends) for name, lanes, _, flags in rows]


def extension(name, lanes, flags, includes, depends):
    macros = [("NPY_NO_DEPRECATED_API", "NPY_1_7_API_VERSION")]
    if lanes is not None:
        # As they stand in the C++: compressed, module names could not be found in them (Translation.rename).
        macros += [("MBROS_LANES", str(lanes)), ("CYTHON_COMPRESS_STRINGS", "0")]
    links = STRIPPED if PLAIN else SANITIZERS.get(SANITIZE, [])
    ext = Extension(name, [name.replace(".", "/") + ".pyx"], language="c++", define_macros=macros, include_dirs=includes,
                    extra_compile_args=COMMON + flags, extra_link_args=links, depends=depends)
    # A .pxd has these of who includes it, not of that module's first lines: a division in it is C's everywhere.
    ext.cython_directives = DIRECTIVES if lanes is not None else {"language_level": 3, "auto_pickle": False, "cdivision": True}
    return ext


def translations(modules):
    """The modules in lists of one translation each.

    Cython's C++ of two modules of one text differs in nothing but the modules' names; where these are equally long, one
    can be put for the other (strings stand in the C++ one after another, with a table of their lengths).
    """
    groups = {}
    for ext in modules:
        with open(ext.sources[0], encoding="utf-8") as f:
            groups.setdefault((f.read(), len(ext.name)), []).append(ext)
    return list(groups.values())


def translate(group, folder):
    """The C++ of modules of one text, each in its translated(ext, folder); engines' equations are marked to be inlined.

    The equations are small functions of small structs: left to itself gcc calls some of them and passes structs of vectors
    through memory. What _engine.pxi names stays a function (docs/decisions/003-compiler.md).
    """
    from Cython.Build import cythonize

    first = group[0]
    if all(up_to_date(translated(ext, folder), [ext.sources[0], *ext.depends]) for ext in group):
        return
    if os.path.exists(translated(first, folder)):
        os.remove(translated(first, folder))        # as marked below: not what Cython would write over
    kept = Extension(first.name, first.sources, language="c++", include_dirs=first.include_dirs)
    cythonize([kept], build_dir=folder, force=True, quiet=True, include_path=first.include_dirs,
              compiler_directives=first.cython_directives)
    with open(translated(first, folder), encoding="utf-8") as f:
        text = f.read()
    if PLAIN and first.name != TRACED:
        text = mark_wrappers(mark_equations(text) if is_engine(first.name) else text, first.name)
    for ext in group:
        with open(translated(ext, folder), "w", encoding="utf-8") as f:
            f.write(text.replace(first.name.rpartition(".")[2], ext.name.rpartition(".")[2]))


def up_to_date(made, of):
    return os.path.exists(made) and os.path.getmtime(made) >= max(os.path.getmtime(path) for path in of)


def translated(ext, folder):
    return os.path.join(folder, ext.sources[0].replace(".pyx", ".cpp"))


def mark_equations(text):
    """CYTHON_INLINE of every function of the physics' .pxd files becomes MBROS_EQUATION (vector.hpp), but for what _engine.pxi names."""
    with open("mbros_core/engine/_engine.pxi", encoding="utf-8") as f:
        imports = re.findall(r"^from mbros_core\.\w+\.(\w+) cimport (\([^)]*\)|.*)$", f.read(), re.MULTILINE)
    functions = {f"{len(module)}{module}_{name}" for module, names in imports for name in re.findall(r"\w+", names)}

    def mark(found):
        return found[0] if found["name"] in functions else f"static MBROS_EQUATION{found['rest']}"

    text, count = re.subn(r"^static CYTHON_INLINE(?P<rest> [^\n(]*__pyx_f_10mbros_core_(?:7spatial|\d+(?:groups|joints|forces|algorithms"
                          r"|integrators)_(?P<name>\w+))\w*)(?=\()", mark, text, flags=re.MULTILINE)
    if not count and "7spatial" in text:
        raise SystemExit("Cython writes its functions in another way than this setup.py knows: the equations would not be inlined")
    return text


def mark_wrappers(text, name):
    """-Os for what comes after the functions of other files in module `name`, but for functions without a Python object, which run in
    every step, and for what `full_speed` finds: of an engine the calls of one robot's algorithms and steps, of which every nanosecond
    is looked at, and functions with an equation in them, whose last bits depend on what gcc contracts to one instruction (elsewhere it
    contracts nothing); of other modules functions that call a kernel.

    What is left speaks to Python: most of a module's code, none of its time (docs/decisions/003-compiler.md). Compilers that do
    not know the pragmas ignore them.
    """
    own = "".join(f"{len(part)}{part}_" for part in name.split("."))
    kernel = rf"__pyx_f_(?!{own}|10mbros_core_6engine_6arrays_)10mbros_core_\d+[a-z]+_"
    algorithms = "7Checked|10Kinematics|8Momentum|5Loads|19AnalyticDerivatives|8Dynamics"      # arguments.pxi to dynamics.pxi
    calls = rf"_(?:{algorithms})_|_5Plant_(?:\d+step|step_under|refuse_\w+)\(|__Pyx_CyFunction_Vectorcall_"
    full_speed = rf"{calls}|__pyx_f_10mbros_core_7spatial_|mbros::(?:Vector3|Motion|Force)\b" if is_engine(name) else kernel
    # A method that Python calls has its arguments on several lines, and a prototype right before it, whose options are the function's.
    function = rf"^static [^\n;]*(?:__pyx_p?[fw]_{own}|__Pyx_CyFunction_Vectorcall_)\w+\([^;{{}}]*(?:\{{|; /\*proto\*/)\n.*?^\}}\n"
    others = list(re.finditer(rf"^static [^\n;]*{kernel}\w+\([^\n;]*\{{\n.*?^\}}\n", text, re.MULTILINE | re.DOTALL))
    start = others[-1].end() if others else text.find("/* #### Code section: module_code ### */\n")
    if start < 0:
        return text
    less = '#pragma GCC optimize ("Os", "fp-contract=off")\n'

    def mark(found):
        slow = "PyObject" in found[0] and not re.search(full_speed, found[0])
        return found[0] if slow else f"#pragma GCC reset_options\n{found[0]}{less}"

    return text[:start] + less + re.sub(function, mark, text[start:], flags=re.MULTILINE | re.DOTALL)


def cache():
    """mbros/build/kept.py; None where nothing is to be kept."""
    if not PLAIN or os.environ.get("MBROS_BUILD_CACHE") == "0":
        return None
    if "mbros_build" not in sys.modules:
        package, writes = types.ModuleType("mbros_build"), sys.dont_write_bytecode
        package.__path__ = [os.path.abspath("mbros/build")]         # mbros itself cannot be imported yet
        sys.modules["mbros_build"], sys.dont_write_bytecode = package, True
        importlib.import_module("mbros_build.kept")
        sys.dont_write_bytecode = writes
    return sys.modules["mbros_build.kept"]


def kept_as(ext, compiler):
    """The name of this module in the cache: of the module, and a digest of all that it is made of, which are the sources, this file, the
    tools with their versions, and what is asked of them."""
    import Cython
    import numpy

    tools = cache().toolchain([getattr(compiler, name) or [] for name in sorted(compiler.executables)])
    asked = [ext.name, ext.define_macros, ext.extra_compile_args, ext.extra_link_args, sorted(ext.cython_directives.items())]
    digest = hashlib.sha256(repr((asked, tools, Cython.__version__, numpy.__version__)).encode())
    for path in (ext.sources[0], *ext.depends):
        with open(path, "rb") as f:
            digest.update(repr((path, hashlib.sha256(f.read()).digest())).encode())
    return f"{ext.name}-{digest.hexdigest()}.so"


def is_engine(name):
    return any(row[0] == name and row[1] is not None for row in MODULES)


def jobs():
    return int(os.environ.get("MBROS_JOBS") or len(os.sched_getaffinity(0)))


def say_what_is_done(modules, taken):
    """On the standard error output, which pip shows with -v, as each module's line later: the only words of a build that takes minutes."""
    if taken:
        say(f"{taken} modules were compiled before from the same sources, and are taken from {cache().folder(KIND)}")
    if modules:
        seconds = 10 + 15 * modules / min(jobs(), modules)
        say(f"compiling {modules} modules, {jobs()} at a time: about {max(1, round(seconds / 60))} min")


def say(words):
    print("mbros:", words, file=sys.stderr, flush=True)


def side_by_side(tasks):
    """The names of those that failed of {name: (do, name of the task that must have been done before, or None)}, in forked processes,
    jobs() at a time, in their order; tells of each that another was not waiting for."""
    fork = multiprocessing.get_context("fork")
    waiting, running, done, failed = dict(tasks), {}, set(), set()
    told = [name for name, (_, after) in tasks.items() if after is not None]
    while waiting or running:
        for name in [name for name, (_, after) in waiting.items() if after in failed]:
            failed.add(name)
            del waiting[name]
        ready = next((name for name, (_, after) in waiting.items() if after is None or after in done), None)
        if ready is not None and len(running) < jobs():
            worker = fork.Process(target=waiting.pop(ready)[0])
            worker.start()
            running[worker.sentinel] = ready, worker, time.monotonic()
            continue
        for sentinel in multiprocessing.connection.wait(list(running)) if running else ():
            name, worker, began = running.pop(sentinel)
            worker.join()
            (failed if worker.exitcode else done).add(name)
            if name in told:
                left = len([each for each in told if each not in done and each not in failed])
                say(f"{name}{' FAILED' if name in failed else ''}, {time.monotonic() - began:.0f} s; {left or 'none'} left")
    return failed


def commands():
    """build_ext that translates modules of one text once, and compiles modules side by side; install_lib without IN_PLACE_ONLY, which
    stays in the build folder."""
    from setuptools.command.build_ext import build_ext
    from setuptools.command.install_lib import install_lib

    class InstallLib(install_lib):
        def get_exclusions(self):
            here = [path for name in IN_PLACE_ONLY for path in glob(os.path.join(self.build_dir, *name.split(".")) + ".*")]
            return {*super().get_exclusions(), *(os.path.join(self.install_dir, os.path.relpath(path, self.build_dir)) for path in here)}

    class BuildExt(build_ext):
        def finalize_options(self):
            super().finalize_options()
            self.extensions = [ext for ext in self.extensions or [] if self.inplace or ext.name not in IN_PLACE_ONLY]

        def build_extensions(self):
            self.check_extensions_list(self.extensions)
            old = [ext for ext in self.extensions if self.force
                   or not up_to_date(self.get_ext_fullpath(ext.name), [ext.sources[0], *ext.depends])]
            names = {ext.name: kept_as(ext, self.compiler) for ext in old} if cache() else {}
            todo = [ext for ext in old if not (ext.name in names and self.take(ext, names[ext.name]))]
            say_what_is_done(len(todo), len(old) - len(todo))
            groups = translations(todo)
            first = {ext.name: group[0].name for group in groups for ext in group}
            failed = side_by_side({
                **{ext.name: (lambda ext=ext: self.compile(ext, names.get(ext.name)), f"C++ of {first[ext.name]}") for ext in todo},
                **{f"C++ of {group[0].name}": (lambda group=group: translate(group, self.build_temp), None) for group in groups}})
            if failed:
                names = ", ".join(ext.name for ext in todo if ext.name in failed)
                raise SystemExit(f"not built: {names}; the compiler's own words are above")

        def take(self, ext, name):
            """Whether it is kept; then it is in its place."""
            data = cache().take(KIND, name)
            if data is not None:
                path = self.get_ext_fullpath(ext.name)
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    f.write(data)
            return data is not None

        def compile(self, ext, name):
            ext.sources = [translated(ext, self.build_temp)]
            self.build_extension(ext)
            if name is not None:
                with open(self.get_ext_fullpath(ext.name), "rb") as f:
                    cache().put(KIND, name, f.read(), MOST_BYTES)

    return {"build_ext": BuildExt, "install_lib": InstallLib}


def package_data(package):
    """Robots, configuration, stubs, and what other Cython and C++ code imports; relative to the package. Not the text that only this
    package's own .pyx include."""
    kept = sources(".pxd", ".hpp", ".h", ".urdf", ".xacro", ".yaml", ".rviz", ".srv", ".msg", ".action", ".pyi", ".typed",
                   "mbros_msgs/package.xml", "ros/process/fastdds.xml", "simulation_interfaces/NOTICE.md", "CMakeLists.txt")
    left_out = tuple(name.replace(".", "/") + "." for name in IN_PLACE_ONLY)
    return [os.path.relpath(path, package) for path in kept if path.startswith(package + "/") and not path.startswith(left_out)]


def data_files():
    """What ROS looks for under an install prefix. `lib/mbros` is where `ros2 run` and `ros2 launch` find executables;
    setup.cfg puts the console scripts there under colcon, this puts one there under pip."""
    rows = [("share/ament_index/resource_index/packages", ["resource/mbros"]),
            ("share/mbros", ["package.xml"]),
            ("lib/mbros", ["scripts/sim_node"])]
    for folder, _, names in sorted(os.walk("launch")):
        files = [f"{folder}/{name}" for name in sorted(names) if name.endswith((".py", ".yaml", ".rviz", ".xml", ".json"))]
        rows.append((f"share/mbros/{folder}", files))
    return [(folder, files) for folder, files in rows if files]


def build_messages():
    """mbros_msgs, where colcon builds: it has said where by sys.prefix (its sitecustomize), and finds no package below this one. What
    cannot be built there is said, and the node does without."""
    if not hasattr(sys, "real_prefix") or not {"install", "develop"}.intersection(sys.argv) or "--uninstall" in sys.argv:
        return
    import subprocess

    colcons = ("prefix_override", "colcon_distutils_commands")
    paths = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and os.path.basename(path) not in colcons]
    build = next((sys.argv[k + 1] for k, word in enumerate(sys.argv[:-1]) if word in ("--build-base", "--build-directory")), "build")
    command = [sys.executable, "-B", "mbros/ros/interfaces/colcon.py", sys.prefix, os.path.join(build, "mbros_msgs")]
    if subprocess.run(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)}).returncode:
        raise SystemExit("mbros is built, its messages (mbros_msgs) are not: the reason is above")


setup(
    version=version(),
    python_requires=">=3.10",  # here, not in setup.cfg: colcon cannot read what setuptools makes of it there
    long_description=readme(),
    long_description_content_type="text/markdown",
    packages=find_packages(include=["mbros", "mbros.*", "mbros_core", "mbros_core.*"]),
    package_data={package: package_data(package) for package in ("mbros", "mbros_core")},
    data_files=data_files(),
    ext_modules=extensions(),
    cmdclass=commands(),
    options={} if PLAIN else {"build": {"build_base": f"build/{SANITIZE or 'debug'}"}},
)
build_messages()
