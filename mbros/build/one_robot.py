"""One robot by its name, its path or its text: where it is, and its checked description. mbros.build.load makes models of these."""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbros_core.support.numbers import short

from mbros.arguments import folders
from mbros.build.readers import ALL_ENDINGS, read
from mbros.describe.robot import RobotDescription
from mbros.errors import MbrosError, ModelError, UnknownNameError
from mbros.names import hint, sentences

if TYPE_CHECKING:
    from mbros import Model
    from mbros.describe.devices.bench import BenchLike
    from mbros_core.typing import ArrayLike
    from os import PathLike

PREFIX = "example-robot-data/"

# The names under which example_robot_data.load() knows its robots, where they are not the file's own name.
ALIASES = {
    "allegro": "allegro_left_hand", "allegro_left": "allegro_left_hand", "allegro_right": "allegro_right_hand",
    "anymal": "anymal_b_simple_description/robots/anymal", "anymal_b": "anymal_b_simple_description/robots/anymal",
    "anymal_c": "anymal_c_simple_description/urdf/anymal", "anymal_kinova": "anymal-kinova", "asr_twodof": "TwoDofs",
    "alex": "alex_nub_hands", "alexander": "alexander_v1.lowerBodyOnly", "b1_z1": "b1-z1", "borinot": "borinot_flying_arm_2",
    "g1": "g1_29dof_rev_1_0", "g1_hands": "g1_29dof_with_hand_rev_1_0", "hector": "quadrotor_base",
    "hextilt": "hextilt_flying_arm_5", "hyq": "hyq_no_sensors", "romeo": "romeo_description/urdf/romeo", "solo8": "solo",
    "talos": "talos_reduced", "talos_arm": "talos_left_arm", "talos_box": "talos_reduced_box", "talos_full": "talos_full_v2",
    "talos_full_box": "talos_full_v2_box", "ur3": "ur3_robot", "ur3_limited": "ur3_joint_limited_robot", "ur5": "ur5_robot",
    "ur5_limited": "ur5_joint_limited_robot", "ur10": "ur10_robot", "ur10_limited": "ur10_joint_limited_robot",
}


def describe_robot(source: str | PathLike[str], base: str | None = None, package_dirs: Any = (),
                   xacro_args: Mapping[str, object] | None = None, inertia: str = "check", limits: str = "check",
                   srdf: str | PathLike[str] | None = None, bench: BenchLike = True, gravity: ArrayLike | None = None) -> RobotDescription:
    """The checked description, base attached; arguments as of mbros.load. With `members` where the file is a world of SDF."""
    dirs = folders("load", "package_dirs", package_dirs)
    found, own_base = find(source, dirs)
    description = read(found, own_base if base is None else base, inertia, xacro_args, limits, dirs, gravity)
    if srdf is not None and description.members:
        raise MbrosError(f"load: srdf is given with the world {os.fspath(source)!r:.200}, and is of one robot; leave it out")
    if srdf is not None:
        from mbros.describe.urdf.srdf import read_srdf      # start-up time: who does not use it does not pay

        read_srdf(srdf, description)
    if bench is not True:
        set_bench(description, bench)
    return description


def describe_data(source: str | PathLike[str], base: str | None = None) -> RobotDescription:
    """The checked description, without a bench, of what somebody asks for whom this machine's user does not know: URDF text, the path of a
    URDF file, which the caller has looked for where such files may be, or a name of known_robots(). Nothing is run: a xacro file is
    refused, whatever it is called by. Nothing else is read: SDF, which may include files, is refused."""
    from mbros.describe.urdf import is_text, parse      # start-up time: who does not use it does not pay

    found: str | Path | PathLike[str] = source
    if isinstance(source, str) and not is_text(source):
        if source not in known_robots():
            raise UnknownNameError(f"no robot {short(source)}; expected URDF text, or a name of `mbros list`")
        found, own_base = find(source)
        base = own_base if base is None else base
    if not isinstance(found, str) and Path(os.path.realpath(found)).suffix == ".xacro":
        raise MbrosError(f"{os.fspath(found)} is a xacro file, which is only expanded for this machine's user; give its URDF")
    description = parse(found, base)
    description.bench = None
    return description


def named_by_data(by: str, source: Any) -> Any:
    """The robot that a file of data (a scene, a script, a sweep) names, or an MbrosError: expanding xacro runs code, which only a file that
    this machine's user named may ask for, or one of a package that is installed here."""
    if isinstance(source, (str, os.PathLike)) and os.fspath(source).lower().endswith(".xacro") and "://" not in os.fspath(source):
        raise MbrosError(f"{by} names the xacro file {os.fspath(source)!r}, and expanding it would run code from it. Give its URDF (xacro "
                         "IN > OUT.urdf), put it into a package and write package://..., or name it yourself, on the command line or in "
                         "Python")
    if isinstance(source, str) and source.startswith("package://") and source.lower().endswith(".xacro"):
        from mbros.describe.urdf.packages import resolve      # start-up time: who does not use it does not pay

        return str(resolve(source))         # of what is installed: folders may be named to us for a stranger's meshes
    return source


def _built(description: RobotDescription) -> Model:
    """The model of it, for a bench that is chosen by what the joints move."""
    from mbros.build.compile.tree import compile_robot      # start-up time: who does not use it does not pay
    from mbros.model.model import Model as Built      # start-up time: who does not use it does not pay

    return Built(description, compile_robot(description))


def set_bench(description: RobotDescription, bench: BenchLike) -> None:
    """Another bench for a description; refused where the robot has not its joints and frames."""
    from mbros.build.benches import bench_of      # start-up time: who does not use it does not pay
    from mbros.describe.devices.carried import check_bench      # start-up time: who does not use it does not pay

    description.bench = bench_of("load", bench, None, _built(description) if bench == "servo" else None)
    problems = check_bench(description)
    if problems:
        raise ModelError(problems)


def find(source: object, package_dirs: Sequence[str | PathLike[str]] = ()) -> tuple[str | Path, str | None]:
    """(path or URDF text, the robot's own base or None) of what a user calls a robot. package_dirs: where packages are looked for."""
    from mbros.describe.urdf import is_text      # start-up time: who does not use it does not pay

    if isinstance(source, os.PathLike):
        return Path(source), None
    if not isinstance(source, str) or not source.strip():
        raise MbrosError(f"a robot cannot be loaded from {short(source)}. Give a name, a path, or URDF text.")
    if is_text(source):
        return source, None
    if "\x00" in source or len(source) > 4096:
        raise UnknownNameError(f"{source[:60]!r}... is not a robot: expected a name, a path, or URDF text that starts with '<'")
    if source.startswith(PREFIX):
        return _example(source[len(PREFIX):]), None
    from mbros.build.robots import BUILT_IN, path      # start-up time: who does not use it does not pay

    if source in BUILT_IN:
        return path(source), BUILT_IN[source].base
    if source.startswith("package://"):
        from mbros.describe.urdf.packages import resolve      # start-up time: who does not use it does not pay

        return resolve(source, None, package_dirs), None
    if source.endswith(ALL_ENDINGS) or os.sep in source:
        return Path(source), None
    examples = _examples()
    if ALIASES.get(source, source) not in examples and os.path.isfile(source):
        return Path(source), None
    return _example(source), None


def known_robots() -> list[str]:
    """Every name that `load` accepts here: the robots of mbros, then those of example-robot-data when it is installed."""
    from mbros.build.robots import BUILT_IN      # start-up time: who does not use it does not pay

    examples = _examples()
    aliases = [alias for alias, stem in ALIASES.items() if stem in examples]
    return list(BUILT_IN) + sorted({*aliases, *(name for name in examples if "/" not in name)} - set(BUILT_IN))


def _examples() -> dict[str, Path]:
    """example-robot-data: file name without .urdf (where only one file has it) and path below robots/, to path."""
    from mbros.describe.urdf.packages import example_robot_data      # start-up time: who does not use it does not pay

    found: dict[str, Path] = {}
    twice = set()
    for root in example_robot_data()[:1]:
        for file in sorted((root / "robots").glob("*/*/*.urdf")):
            stem = file.name[:-len(".urdf")]
            if stem in found:
                twice.add(stem)
            found[stem] = file
            found[file.relative_to(root / "robots").as_posix()[:-len(".urdf")]] = file
    return {name: file for name, file in found.items() if name not in twice}


def _example(name: str) -> Path:
    examples = _examples()
    file = examples.get(ALIASES.get(name, name)) or examples.get(name)
    if file is not None:
        return file
    known = known_robots()
    if not examples and name in (*ALIASES, "panda", "solo12", "tiago", "icub", "kinova", "pr2", "baxter", "z1", "so100"):
        raise UnknownNameError(f"robot {name!r} comes with the package example-robot-data, which is not installed. "
                               "Install it: pip install 'mbros[robots]'.")
    more = "" if examples else " More robots come with: pip install 'mbros[robots]'"
    near = hint(name, known) or "; known are " + ", ".join(known[:9]) + (" and more" if len(known) > 9 else "")
    raise UnknownNameError(sentences(f"no robot {short(name)}, and no such file{near}") + more)
