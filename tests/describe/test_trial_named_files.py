"""Files that somebody names, and what is in them: every one is read or refused in words. trial-2, X8 and X10."""
import json
import os
import struct

import pytest
from bounded import bounded

import mbros
from mbros.describe.devices.script import read_script
from mbros.describe.meshes import read_mesh
from mbros.describe.urdf.packages import resolve
from mbros.study.identify.parameter_file import put, read, write
from mbros.study.sweep.study import read_study
from mbros_core.support.files import read_named, text_named

NAMES = ["a" * 300, "/a" * 5000, "x\0y", "\ud800", "loop/x", "folder/none/x", "folder", "pipe", "/dev/zero", "", 3, None, b"x"]
READERS = {"robot": mbros.load, "scene": mbros.Scene.load, "bench": mbros.Bench.load, "script": read_script, "study": read_study,
           "parameters": read, "srdf": lambda path: mbros.load("pendulum", srdf=path or "x"),
           "robot of a scene": lambda path: mbros.Scene().add_robot(path, "r"), "file": lambda path: read_named("file", path, 10)}


@pytest.fixture
def there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


@pytest.mark.parametrize("what", READERS)
def test_trial_X10_any_name_is_read_or_refused_in_words(there, what):
    def do():
        for name in NAMES:
            try:
                READERS[what](name)
            except mbros.MbrosError as error:
                assert "Errno" not in str(error) and "argument" not in str(error).replace("package_dirs", ""), error
            else:
                return f"{name!r} was read"

    said, _ = bounded(do)
    assert said == "None"


@pytest.mark.parametrize("uri", ["package://" + "a" * 300 + "/b", "package://a/" + "b" * 300, "package://a/\ud800", "\ud800"])
def test_trial_X10_names_of_meshes_that_no_file_can_have(tmp_path, uri):
    from mbros.ros.wire.published import published

    with pytest.raises(mbros.MbrosError, match="no package|no such file"):
        resolve(uri, None, [tmp_path])
    text = f"<robot name='r'><link name='a'><visual><geometry><mesh filename='{uri}'/></geometry></visual></link></robot>"
    assert uri in published(text)


def test_trial_X10_pictures_and_parameter_files_that_cannot_be_written(there):
    log = mbros.Simulator(mbros.load("pendulum")).run(0.002)
    for name in (3, b"x", "a" * 300 + ".png", "x\0y.png"):
        for do in (lambda: log.plot(path=name), lambda: write(name, {"mass.link7": 1.0})):      # noqa: B023
            with pytest.raises(mbros.MbrosError, match="expected the path of a file"):
                do()


def laughs(first, again):
    """YAML whose every line says nine times what the line before says."""
    return f"a0: &a0 {first}\n" + "".join(f"a{k}: &a{k} {again(k)}\n" for k in range(1, 30))


MAPS = laughs("{x: 1}", lambda k: "{" + ", ".join(f"k{i}: *a{k - 1}" for i in range(9)) + "}")
PARAMETERS = [("mass: &a [*a]", "alias"), ("mass: &a {b: *a}", "mappings more than"), ("mass.l: " + "9" * 5000, "expected a number"),
              ("mass.l: " + "9" * 400, None), ("mass.l: 0x" + "f" * 399, "expected a number"), ("mass.l: 1\nmass.l: 2", "there already"),
              ("mass.l: 2001-01-01", "expected a number"), ("mass.l: !!python/object/apply:os.getpid []", "expected a number|parameter"),
              ("mass.l: " + "[" * 1500, "no YAML"), (MAPS, "aliases"), ("a: \x01", "no YAML"), ("", "expected lines"),
              ("mass: &m\n" + "".join(f"  l{k}: 1\n" for k in range(2000)) + "".join(f"m{k}: *m\n" for k in range(2000)), "aliases"),
              ("mass.l: " + "1:" * 20_000 + "1", "expected a number")]


@pytest.mark.parametrize(("text", "said"), PARAMETERS, ids=[said or "infinite" for _, said in PARAMETERS])
def test_trial_X10_parameter_files_are_refused_in_words(tmp_path, text, said):
    import re

    path, arm = tmp_path / "p.yaml", mbros.load("arm7")
    path.write_text(text)
    found, largest = bounded(lambda: put(path, arm, arm.default_state()))
    assert found.startswith("refused") and re.search(said or "mass.l", found) and largest < 400


def test_trial_X10_aliases_of_benches_do_not_multiply(tmp_path):
    path = tmp_path / "b.yaml"
    once, often = ", ".join(f"k{k}: 1" for k in range(3000)), "".join(f"  s{k}: *x\n" for k in range(3000))
    path.write_text(f"sensors:\n  a: &x {{{once}}}\n{often}")
    found, largest = bounded(lambda: mbros.Bench.load(path))
    assert found.startswith("refused") and "aliases" in found and largest < 400, found[:300]


def test_text_named_says_where_it_is_no_text(tmp_path):
    (tmp_path / "f").write_bytes(b"ab\xff")
    with pytest.raises(mbros.MbrosError, match="byte 2 is not UTF-8"):
        text_named("file", tmp_path / "f", 10)
    with pytest.raises(mbros.MbrosError, match="more than 2 bytes"):
        text_named("file", tmp_path / "f", 2)


POINTS = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n"


def glb(tree):
    text = tree if isinstance(tree, bytes) else json.dumps(tree).encode()
    return b"glTF" + struct.pack("<II", 2, 20 + len(text)) + struct.pack("<I4s", len(text), b"JSON") + text


MESHES = [("groups.obj", POINTS + "".join(f"usemtl g{k}\nf 1 2 3\n" for k in range(8000)), "more than the 2000 allowed"),
          ("objects.obj", POINTS + "".join(f"o\tg{k}\n  g g\nf 1 2 3\n" for k in range(8000)), "more than the 2000 allowed"),
          ("null.glb", glb({"accessors": [{"bufferView": 0, "count": None}]}), "counts None things"),
          ("lists.glb", glb(b"[" + b"[]," * 3_000_000 + b"[]]"), "JSON part"),
          ("deep.glb", glb(b"[" * 1_000_000), "cannot be read"),
          ("elements.dae", b"<COLLADA>" + b"<a/>" * 2_500_000 + b"</COLLADA>", "more than 1000000 elements"),
          ("unit.dae", b"<COLLADA><!-- " + b"<unit " * 11_000 + b"--></COLLADA>", "cannot be read|no triangles")]


@pytest.mark.parametrize(("name", "data", "said"), MESHES, ids=[name for name, _, _ in MESHES])
def test_trial_X10_meshes_cost_what_their_size_is(tmp_path, name, data, said):
    import re
    pytest.importorskip("trimesh")
    pytest.importorskip("collada")
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    found, largest = bounded(lambda: read_mesh(name, str(tmp_path / "r.urdf")))
    assert found.startswith("refused") and re.search(said, found) and largest < 500, (found[:300], largest)


def test_trial_X8_a_mesh_that_became_a_pipe_is_refused(tmp_path, monkeypatch):
    from mbros.describe import meshes

    os.mkfifo(tmp_path / "a.stl")
    monkeypatch.setattr(meshes, "resolve", lambda *_: tmp_path / "a.stl")
    found, _ = bounded(lambda: read_mesh("a.stl"))
    assert "not a regular file" in found
