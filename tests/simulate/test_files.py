"""Files are replaced as a whole, where they are files; who reads waits for nobody."""
import os
import stat
import subprocess
import sys

import pytest

import mbros
from mbros.record.mcap_file import Disk
from mbros.record.recorder import CsvFile
from mbros_core.support.files import NoRegularFile, check_target, open_regular, read_regular, replace_file


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    there, link = tmp_path / "there.mbros", tmp_path / "link.mbros"
    there.write_bytes(b"old")
    there.chmod(0o640)
    link.symlink_to(there)
    assert replace_file("save", link, b"new") == link
    assert link.is_symlink() and there.read_bytes() == b"new" and stat.S_IMODE(there.stat().st_mode) == 0o640
    assert sorted(tmp_path.iterdir()) == [link, there]


@pytest.mark.skipif(os.geteuid() != 0, reason="plays another user: needs root")
def test_a_link_that_another_user_planted_is_not_followed(tmp_path):
    """As in /tmp, where the kernel follows none: what realpath finds behind it is any file of ours."""
    precious, planted, ours = tmp_path / "precious", tmp_path / "planted", tmp_path / "ours"
    precious.write_bytes(b"precious")
    planted.symlink_to(precious)
    ours.symlink_to(planted)
    os.chown(planted, 65534, 65534, follow_symlinks=False)
    for path in (planted, ours):
        for call in (lambda: replace_file("save", path, b"x"), lambda: check_target("save", path)):
            with pytest.raises(mbros.MbrosError, match="save: .* cannot be written: it is a link, and one of user 65534"):
                call()
        for call in (lambda: CsvFile(path, ["a"]), lambda: Disk(path)):
            with pytest.raises(mbros.MbrosError, match="it cannot be written: it is a link, and one of user 65534"):
                call()
    assert precious.read_bytes() == b"precious" and len(list(tmp_path.iterdir())) == 3


def test_a_path_too_long_is_refused_in_words(tmp_path):
    path = tmp_path / ("x" * 5000)
    for call in (lambda: CsvFile(path, ["a"]), lambda: Disk(path)):
        with pytest.raises(mbros.MbrosError, match="it cannot be written: file name too long"):
            call()


def test_ctrl_c_at_any_moment_leaves_one_whole_file_and_is_not_lost(tmp_path, monkeypatch):
    """Also when the file is in its place already: that was said to be "no such file"."""
    path, replace = tmp_path / "x.mbros", os.replace

    def interrupted(*names):
        replace(*names)
        raise KeyboardInterrupt

    replace_file("save", path, b"old")
    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file("save", path, b"new")
    assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


def test_a_new_file_has_the_permissions_that_the_user_wants(tmp_path):
    before = os.umask(0o077)
    try:
        path = replace_file("save", tmp_path / "new.mbros", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_no_file_is_not_replaced(tmp_path):
    """As root a device was: `mbros run --save /dev/null` put a save in its place."""
    pipe = tmp_path / "pipe.mbros"
    os.mkfifo(pipe)
    for target, why in ((pipe, "not a regular file"), (tmp_path, "a folder"), (tmp_path / "no" / "x.mbros", "there is no folder")):
        for call in (lambda: replace_file("save", target, b"x"), lambda: check_target("save", target)):
            with pytest.raises(mbros.MbrosError, match=f"save: .* cannot be written: .*{why}"):
                call()
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


def test_reading_is_of_files_and_bounded(tmp_path):
    pipe, file = tmp_path / "pipe", tmp_path / "file"
    os.mkfifo(pipe)
    file.write_bytes(b"12345")
    for path in (pipe, tmp_path, "/dev/zero"):
        with pytest.raises(NoRegularFile):
            open_regular(path)
    assert read_regular(file, 5) == b"12345"
    with pytest.raises(OSError, match="More than 4 bytes"):
        read_regular(file, 4)


def test_where_nobody_may_look_or_write_is_said(tmp_path):
    """To a user who may not look into a folder, whose working folder is gone, or who gives a path too long for the system."""
    code = """
import os, secrets, sys
from mbros_core.errors import MbrosError
from mbros_core.support.files import check_target, replace_file
def said(path):
    for call in (check_target, lambda who, path: replace_file(who, path, b"x")):
        try:
            print("written", call("save", path))
        except MbrosError as error:
            print(error)
os.chdir(sys.argv[1])
os.makedirs("closed/in"), os.mkdir("gone")
os.chmod("closed", 0)
os.chdir("gone"), os.rmdir("../gone")
said("x")
os.chdir(sys.argv[1])
if os.getuid() == 0:
    os.setgid(65534), os.setuid(65534)
for path in ("closed/x", "closed/in/x", "/".join(["\u00e9" * 100] * 40)):
    said(path)
"""
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, timeout=60)
    lines = done.stdout.splitlines()
    assert len(lines) == 8 and not done.stderr, done.stderr
    for line, why in zip(lines, [why for why in ("no such file", "permission denied", "permission denied", "too long") for _ in "ab"]):
        assert line.startswith("save: ") and f"cannot be written: {why}" in line.replace("file name too", "too")
