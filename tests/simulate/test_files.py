"""Files are replaced as a whole, where they are files; who reads waits for nobody."""
import os
import stat

import pytest

import mbros
from mbros_core.files import NoRegularFile, check_target, open_regular, read_regular, replace_file


def test_a_link_stays_a_link_and_permissions_stay(tmp_path):
    there, link = tmp_path / "there.mbros", tmp_path / "link.mbros"
    there.write_bytes(b"old")
    there.chmod(0o640)
    link.symlink_to(there)
    assert replace_file("save", link, b"new") == link
    assert link.is_symlink() and there.read_bytes() == b"new" and stat.S_IMODE(there.stat().st_mode) == 0o640
    assert sorted(tmp_path.iterdir()) == [link, there]


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
