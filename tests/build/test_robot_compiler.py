"""What compiles robots when the compiler is broken, or the folder of compiled robots cannot be written."""
import mbros
import numpy as np
import pytest
from mbros.build import own_folder
from mbros.build.specialize import compiler

ARM = "double_pendulum"


@pytest.mark.parametrize("script, words", [("exit 0", "wrote nothing"), ("echo wrong words >&2; exit 1", "wrong words"),
                                           ("kill -9 $$", "ended with -9"), (None, "cannot be run")])
def test_a_compiler_that_is_broken_is_none(tmp_path, monkeypatch, script, words):
    program = tmp_path / "cxx"
    program.write_bytes(b"\x7fELF" if script is None else f"#!/bin/sh\n{script}\n".encode())
    program.chmod(0o755)
    monkeypatch.setenv("CXX", f"{program} -O1")
    compiler.compiler.cache_clear()
    try:
        with pytest.warns(mbros.MbrosWarning, match=words):
            same = mbros.specialize(mbros.load(ARM), ["mass_matrix"], cache=tmp_path)
    finally:
        compiler.compiler.cache_clear()
    model = mbros.load(ARM)
    assert np.array_equal(same.mass_matrix(same.default_state()), model.mass_matrix(model.default_state()))


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    folder = tmp_path / "mbros" / "robots"
    folder.mkdir(parents=True)
    real = own_folder.tempfile.mkdtemp

    def refused(prefix, dir=None):
        if dir == folder:
            raise PermissionError(13, "Permission denied")
        return real(prefix=prefix, dir=dir or tmp_path)

    monkeypatch.setattr(own_folder.tempfile, "mkdtemp", refused)
    with pytest.raises(mbros.MbrosError, match="cache: .*robots cannot be written: Permission denied"):
        mbros.specialize(mbros.load(ARM), ["mass_matrix"], cache=folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(compiler.os, "access", lambda path, mode: path != folder)
    fast = mbros.specialize(mbros.load(ARM), ["mass_matrix"])
    assert fast._code.functions == ("mass_matrix",) and not list(folder.iterdir())
    with pytest.raises(mbros.MbrosError, match="cache: expected the path"):
        mbros.specialize(mbros.load(ARM), cache=3)
