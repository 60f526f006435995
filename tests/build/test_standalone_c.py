"""C99 of a robot for controllers without mbros: it compiles without a warning, and passes the test that is written with it."""
import subprocess
import sys

import mbros
import pytest
from mbros.build.specialize.standalone import write
from mbros_core.algorithms import kernels

ARM = "double_pendulum"


def test_standalone_c_passes_its_own_test(tmp_path):
    functions = list(kernels.BY_NAME)
    write(mbros.load(ARM), functions, tmp_path, live=["gravity"])
    made = sorted(path.name for path in tmp_path.iterdir())
    assert made == ["CMakeLists.txt", f"{ARM}.c", f"{ARM}.h", f"test_{ARM}.c"]
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover", f"{ARM}.c", f"test_{ARM}.c",
                    "-lm", "-o", "t"], cwd=tmp_path, check=True)
    subprocess.run(["./t"], cwd=tmp_path, check=True, capture_output=True)
    text = (tmp_path / f"test_{ARM}.c").read_text()
    (tmp_path / f"test_{ARM}.c").write_text(text.replace("_expected[2] = {", "_expected[2] = {7.0 + ", 1))
    subprocess.run(["cc", f"{ARM}.c", f"test_{ARM}.c", "-lm", "-o", "t"], cwd=tmp_path, check=True)
    assert subprocess.run(["./t"], cwd=tmp_path, check=False, capture_output=True).returncode == 1


@pytest.mark.parametrize("name, joint, stem", [("a*/b", "j/*k", "a__b"), ("test", "j", "robot_test"), ("über arm", "*/", "ber_arm")])
def test_standalone_c_of_any_name(name, joint, stem, tmp_path):
    """Names end no comment, and are those of files and of CMake's targets."""
    text = f"""<robot name="{name}"><link name="a"/><link name="b"><inertial><mass value="1"/><origin xyz="0 0.1 0.3"/>
        <inertia ixx="1" iyy="2" izz="2" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="{joint}" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    made = write(mbros.load(text), ["mass_matrix"], tmp_path)
    assert {path.name for path in made} == {"CMakeLists.txt", f"{stem}.c", f"{stem}.h", f"test_{stem}.c"}
    assert f"add_library({stem} " in (tmp_path / "CMakeLists.txt").read_text()
    subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", f"{stem}.c", f"test_{stem}.c", "-lm", "-o", "t"], cwd=tmp_path, check=True)
    subprocess.run(["./t"], cwd=tmp_path, check=True, capture_output=True)


FULL = """
import pathlib, resource, sys, mbros
from mbros.build.specialize.standalone import write
resource.setrlimit(resource.RLIMIT_FSIZE, (600, resource.RLIM_INFINITY))
try:
    write(mbros.load("pendulum"), ["forward_dynamics"], pathlib.Path(sys.argv[1]))
except mbros.MbrosError as error:
    print(error)
"""


def test_a_full_disk_leaves_what_was_there(tmp_path):
    source = tmp_path / "pendulum.c"
    source.write_text("before")
    # -B: what is compiled under that limit would be cut short, for everybody after.
    done = subprocess.run([sys.executable, "-B", "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"codegen: {source} cannot be written: file too large\n", done.stderr
    assert list(tmp_path.iterdir()) == [source] and source.read_text() == "before"


def test_trial_L12_poses_jacobians_and_the_centre_of_mass_as_c(tmp_path):
    """Against the engine's numbers, by the test that is written with them; of a robot with a follower and a floating base."""
    body = """<link name="{}"><inertial><mass value="{}"/><origin xyz="0.1 0.1 0.2"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    text = f"""<robot name="two">{body.format("a", 2)}{body.format("b", 1)}{body.format("e", 1)}<link name="c-d"/>
        <joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0.6 0 0.8"/></joint>
        <joint name="k" type="fixed"><parent link="b"/><child link="c-d"/><origin xyz="0.1 0.2 0.3" rpy="1 2 3"/></joint>
        <joint name="l" type="continuous"><parent link="b"/><child link="e"/><origin xyz="0.5 0 0"/>
        <mimic joint="j" multiplier="2"/></joint></robot>"""
    write(mbros.load(text, base="floating"), ["pose.c-d", "jacobian.c-d", "jacobian.e", "center_of_mass", "com_jacobian"], tmp_path)
    assert "void two_jacobian_c_d(const double q[8], double J[42]);" in (tmp_path / "two.h").read_text()
    subprocess.run(["cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "two.c", "test_two.c", "-lm", "-o", "t"], cwd=tmp_path, check=True)
    subprocess.run(["./t"], cwd=tmp_path, check=True, capture_output=True)


@pytest.mark.parametrize("name, words", [
    ("pose", "no function 'pose'; there are .*pose.<frame>"), ("pose.", "no function 'pose.'"), ("pose.hand", "frame.*'hand'"),
    ("center_of_mass.link1", "no function"), ("mass_matrix.link1", "no function")])
def test_trial_L12_functions_that_are_not_there(name, words, tmp_path):
    with pytest.raises(mbros.MbrosError, match=words):
        write(mbros.load(ARM), [name], tmp_path)
