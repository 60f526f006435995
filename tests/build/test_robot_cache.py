"""The folders of compiled code: what others could have put there, and what is damaged, is not run; what killed processes left is swept."""
import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings

import mbros
import numpy as np
import pytest
from mbros.build import own_folder
from mbros.build.own_folder import sweep, why_shared, working_folder
from mbros.build.specialize import compiler
from mbros.build.sealed import seal, why_unfit
from mbros.build.specialize.standalone import write

ARM = "double_pendulum"
NOBODY = 65534
root = pytest.mark.skipif(os.geteuid() != 0, reason="plays another user: needs root")


def aside(work, seconds=60):
    """How a process of its own ends that does `work`: 0, or minus the signal."""
    child = os.fork()
    if child == 0:
        signal.alarm(seconds)
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def specialised(folder):
    return mbros.specialize(mbros.load(ARM), ["mass_matrix"], cache=folder)


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A folder with a compiled robot."""
    folder = tmp_path_factory.mktemp("robots")
    specialised(folder)
    return folder


@pytest.fixture
def folder(filled, tmp_path):
    """A copy of it, without links."""
    for file in filled.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
        (tmp_path / file.name).chmod(0o700)
    return tmp_path


def taken_as_they_are(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        specialised(folder)


def test_trial_X7_a_cut_library_is_compiled_again(folder):
    files = sorted(folder.iterdir())
    assert len(files) == 2 and all(why_unfit(file) == "" for file in files)
    files[0].write_bytes(files[0].read_bytes()[:5000])              # SIGBUS or SIGSEGV in the loader
    files[1].write_bytes(files[1].read_bytes()[:-1])

    def work():
        with pytest.warns(mbros.MbrosWarning, match=r"is damaged: its digest does not fit; it is compiled again"):
            fast = specialised(folder)
        assert np.isfinite(fast.mass_matrix(fast.default_state())).all() and fast._code.functions == ("mass_matrix",)

    assert aside(work) == 0
    assert sorted(folder.iterdir()) == files and all(why_unfit(file) == "" for file in files)
    taken_as_they_are(folder)


def test_trial_X7_no_cut_and_no_changed_byte_passes(folder, tmp_path):
    made, path = tmp_path / "made", tmp_path / "path.so"
    made.write_bytes(bytes(range(200)))
    seal(made, path)
    whole, draw = path.read_bytes(), np.random.default_rng(1)
    assert why_unfit(path) == "" and why_unfit(made) is None
    for k in range(len(whole)):
        path.write_bytes(whole[:k])
        assert why_unfit(path), k
        path.write_bytes(whole[:k] + bytes([whole[k] ^ int(draw.integers(1, 256))]) + whole[k + 1:])
        assert why_unfit(path), k
    path.write_bytes(whole + b"x")
    assert why_unfit(path)


@pytest.mark.parametrize("words", ["can be written by others", "is a link", "has 2 names", "is no file",
                                   pytest.param(f"belongs to user {NOBODY}", marks=root)])
def test_trial_X7_what_others_could_have_made_is_not_run(tmp_path, words):
    made, path = tmp_path / "made", tmp_path / "path.so"
    made.write_bytes(b"code")
    seal(made, path)
    if words.startswith("can"):
        path.chmod(0o722)
    elif words == "is a link":
        path.rename(made)
        path.symlink_to(made)
    elif words == "has 2 names":
        os.link(path, made)
    elif words == "is no file":
        path.unlink()
        path.mkdir()
        assert why_unfit(path) == words
        path.rmdir()
        os.mkfifo(path)
    else:
        os.chown(path, NOBODY, NOBODY)
    assert why_unfit(path).startswith(words)


@root
def test_trial_X7_another_users_library_is_replaced(folder):
    for file in folder.iterdir():
        os.chown(file, NOBODY, NOBODY)
    with pytest.warns(mbros.MbrosWarning, match=f"belongs to user {NOBODY}; it is compiled again"):
        specialised(folder)
    assert {file.stat().st_uid for file in folder.iterdir()} == {os.geteuid()}


def test_trial_X7_a_folder_to_which_others_can_write_is_none(filled, tmp_path, monkeypatch):
    shared, inside = tmp_path / "shared", tmp_path / "shared" / "mbros" / "robots"
    inside.mkdir(parents=True)
    inside.chmod(0o700)
    shared.chmod(0o777)
    with pytest.raises(mbros.MbrosError, match=r"cache: others can write to .*shared \(mode 0777; chmod go-w\); give a folder of your own"):
        specialised(inside)
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared))
    with pytest.warns(mbros.MbrosWarning, match="others can write to .*shared .*compiled for this process alone"):
        temporary = compiler.folder(None)
    assert temporary.stat().st_mode & 0o777 == 0o700 and shared not in temporary.parents and not list(inside.iterdir())
    shared.chmod(0o1777)                                            # as /tmp
    assert why_shared(inside) == "" and compiler.folder(None) == inside
    link = tmp_path / "link"
    link.symlink_to(inside)
    assert compiler.folder(link) == inside                          # what was checked is what is used
    shared.chmod(0o770)
    os.chown(shared, -1, os.getgid())
    assert why_shared(inside) == "" or os.getgid() not in (0, os.getuid())


@root
def test_trial_X7_a_folder_of_another_user_is_none(tmp_path):
    (tmp_path / "his").mkdir()
    os.chown(tmp_path / "his", NOBODY, NOBODY)
    with pytest.raises(mbros.MbrosError, match=f"his belongs to user {NOBODY}; give a folder of your own"):
        compiler.folder(tmp_path / "his" / "robots")


def test_trial_X7_what_is_no_folder_is_named(tmp_path):
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    (tmp_path / "file").write_text("")
    for wrong, words in (("a\0b", "is no path of a folder"), (tmp_path / "circle", "cache: .*circle"),
                         (tmp_path / "file", "cannot be made a folder"), ("/proc/robots", "cannot be made a folder")):
        with pytest.raises(mbros.MbrosError, match=words):
            compiler.folder(wrong)


def test_folders_that_are_made_are_this_users_alone_whatever_the_umask(tmp_path, monkeypatch):
    """Else the cache that was just made would be refused, and all of ~/.cache be anybody's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home" / "cache"))
    before = os.umask(0)
    try:
        made = compiler.folder(None)
    finally:
        os.umask(before)
    assert made == tmp_path / "home" / "cache" / "mbros" / "robots"
    assert {place.stat().st_mode & 0o777 for place in (made, *made.parents) if tmp_path in place.parents} == {0o700}


def test_a_folder_to_which_others_can_add_is_told_from_one_in_which_they_can_replace(tmp_path):
    tmp_path.chmod(0o1777)
    assert why_shared(tmp_path) == "" and "others can write to" in why_shared(tmp_path, adding=True)
    (tmp_path / "mine").mkdir(mode=0o700)
    assert why_shared(tmp_path / "mine", adding=True) == ""


def test_a_temporary_folder_in_which_others_can_replace_ours_is_none(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nothing")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o777)
    with pytest.warns(mbros.MbrosWarning) as warned:
        model = specialised(None)
    assert "the temporary folder is not safe: others can write to" in str(warned[-1].message) and not list(tmp_path.iterdir())
    assert np.isfinite(model.mass_matrix(model.default_state())).all()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(compiler.NoCompiler, match="there is no temporary folder: No such file"):
        compiler._temporary()


@root
def test_trial_X7_a_user_without_a_home(monkeypatch):
    monkeypatch.delenv("HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/folder")         # none, by its specification

    def work():
        os.setuid(54321)
        with pytest.warns(mbros.MbrosWarning, match="^specialize: this user has no home folder.*set XDG_CACHE_HOME"):
            assert compiler.folder(None).is_dir()

    assert aside(work) == 0


def test_trial_X7_what_is_compiled_for_one_process_goes_with_it(tmp_path):
    program = ("import os, pathlib; from mbros.build.specialize import compiler; made = compiler._temporary(); print(made)\n"
               "if os.fork() == 0: raise SystemExit\n"
               "os.wait(); assert made.is_dir()")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.returncode == 0 and done.stdout.startswith(str(tmp_path)), done.stderr
    assert not list(tmp_path.iterdir())


def test_trial_X7_leftovers_are_swept_and_work_is_not(tmp_path):
    old = time.time() - own_folder.ABANDONED - 60
    for name in (".compiling-dead", ".compiling-young", ".compiling-locked"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "robot.cpp").write_text("")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".compiling-link").symlink_to(tmp_path / "elsewhere")
    with working_folder(".compiling-", tmp_path) as work:
        for folder in (tmp_path / ".compiling-dead", tmp_path / ".compiling-locked", tmp_path / "elsewhere", work):
            os.utime(folder, (old, old))
        lock = os.open(tmp_path / ".compiling-locked", os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        sweep(".compiling-", tmp_path)
        os.close(lock)
        assert {path.name for path in tmp_path.iterdir()} == {".compiling-young", ".compiling-locked", ".compiling-link", "elsewhere",
                                                              work.name}
    assert not work.exists()


def test_trial_X7_a_killed_compilation_is_swept_by_the_next(folder):
    left = folder / ".compiling-left"
    left.mkdir()
    old = time.time() - own_folder.ABANDONED - 60
    os.utime(left, (old, old))
    taken_as_they_are(folder)
    next(folder.glob("*.so")).unlink()
    specialised(folder)
    assert not list(folder.glob(".compiling-*")) and len(list(folder.iterdir())) == 2


HOSTILE = """<robot name='{name}'><link name='base'/><link name='arm'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0'
    ixz='0' iyz='0'/></inertial></link><joint name='{joint}' type='continuous'><parent link='base'/><child link='arm'/></joint></robot>"""


@pytest.mark.parametrize("name", ["*/ int evil(void); /*", "*//*/", "x??/", "\\", "%s%n{stem}", "../../evil", "a" * 900, '`id`$(id);"'],
                         ids=range(8))
def test_trial_X7_names_are_no_code(tmp_path, name):
    """In comments, file names, CMake and what is compiled for a robot."""
    text = HOSTILE.format(name=name.replace('"', "&quot;"), joint="j" + name.replace('"', "&quot;"))
    try:
        model = mbros.load(text)
    except mbros.MbrosError:
        pytest.skip("no name of a robot")
    files = write(model, ["mass_matrix"], tmp_path)
    assert {file.parent for file in files} == {tmp_path} and all(len(file.name) < 100 for file in files)
    sources = [str(file) for file in files if file.suffix == ".c"]
    assert "evil(" not in subprocess.run(["cc", "-std=c99", "-E", "-P", *sources[:1]], capture_output=True, text=True, check=True).stdout
    subprocess.run(["cc", "-std=c99", "-trigraphs", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", *sources, "-lm", "-o",
                    str(tmp_path / "test")], check=True)
    subprocess.run([str(tmp_path / "test")], check=True, capture_output=True)
    cmake = (tmp_path / "CMakeLists.txt").read_text()
    assert "evil" not in cmake or "project(" in cmake and not set("`$(;") & set(cmake.partition("project(")[2].partition(" ")[0])
