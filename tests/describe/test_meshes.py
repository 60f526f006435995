"""Mesh files: what is read, and what is refused in a sentence. Nothing outside the package is opened, nothing is fetched."""
import json
import socket
import struct

import numpy as np
import pytest
import trimesh

from mbros.errors import MbrosError
from mbros.describe import meshes
from mbros.describe.meshes import read_mesh

CUBE = trimesh.creation.box((1.0, 2.0, 3.0))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A package folder. A name that would have to be looked up in the network is an error of its own."""
    def refused(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", refused)
    monkeypatch.setattr(socket.socket, "connect", refused)
    (tmp_path / "robot" / "meshes").mkdir(parents=True)
    return tmp_path / "robot"


def read(folder, name, data=None):
    if data is not None:
        (folder / "meshes" / name).write_bytes(data)
    return read_mesh(f"package://robot/meshes/{name}", package_dirs=[str(folder)])


def refusal(folder, name, data=None):
    with pytest.raises(MbrosError) as caught:
        read(folder, name, data)
    text = str(caught.value)
    assert text.startswith("mesh ") or "package://" in text
    assert "\n" not in text and len(text) < 500
    return text


@pytest.mark.parametrize("kind", ["stl", "stl_ascii", "obj", "dae", "glb"])
def test_every_kind_gives_the_same_triangles(folder, kind):
    data = CUBE.export(file_type=kind)
    parts = read(folder, f"cube.{kind[:3]}", data.encode() if isinstance(data, str) else data)
    corners = np.vstack([part.vertices[part.faces].reshape(-1, 3) for part in parts])
    assert len(corners) == 36
    assert np.allclose(np.ptp(corners, axis=0), (1.0, 2.0, 3.0)) and np.allclose(np.abs(corners), (0.5, 1.0, 1.5))


def test_the_unit_of_a_collada_file_counts(folder):
    text = CUBE.export(file_type="dae").decode()
    text = text.replace("<created>", '<unit name="millimeter" meter="0.001"/><created>', 1)
    part, = read(folder, "mm.dae", text.encode())
    assert np.allclose(np.ptp(part.vertices, axis=0), (0.001, 0.002, 0.003))


def test_the_colour_of_a_file(folder):
    cube = CUBE.copy()
    cube.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(baseColorFactor=[255, 0, 0, 255]))
    part, = read(folder, "red.glb", cube.export(file_type="glb"))
    assert part.rgba == pytest.approx((1.0, 0.0, 0.0, 1.0))


def test_a_header_with_four_billion_triangles(folder):
    text = refusal(folder, "liar.stl", bytes(80) + struct.pack("<I", 2**32 - 1) + bytes(50))
    assert "announces 4294967295 triangles, the file has room for 1" in text


@pytest.mark.parametrize("kind", ["stl", "obj", "dae", "glb"])
def test_every_truncation_is_a_mesh_or_a_sentence(folder, kind):
    data = CUBE.export(file_type=kind)
    data = data.encode() if isinstance(data, str) else data
    refused = 0
    for n in sorted({0, 1, 5, 20, 79, 83, 84, *range(0, len(data), max(1, len(data) // 60))}):
        try:
            assert read(folder, f"cut.{kind}", data[:n])
        except MbrosError as error:
            refused += 1
            assert "cut." in str(error)
    assert refused >= 5


@pytest.mark.parametrize("uri, why", [
    ("http://example.com/hand.stl", "'http':// is not supported"), ("https://example.com/hand.stl", "'https':// is not supported"),
    ("file:///etc/passwd", "outside its package"), ("package://robot/../../etc/passwd", "outside its package"),
    ("package://robot/meshes/../../../x.stl", "outside its package"), ("package://robot/meshes/none.stl", "no such file"),
    ("file:///etc/%70asswd", "outside its package"), ("package://nobody/x.stl", "no package 'nobody'"), ("meshes/\x00.stl", "NUL")])
def test_where_a_mesh_may_be(folder, uri, why):
    with pytest.raises(MbrosError, match=why):
        read_mesh(uri, package_dirs=[str(folder)])


def test_a_link_out_of_the_package_is_refused(folder, tmp_path):
    (tmp_path / "secret.stl").write_bytes(CUBE.export(file_type="stl"))
    (folder / "meshes" / "link.stl").symlink_to(tmp_path / "secret.stl")
    assert "outside its package" in refusal(folder, "link.stl")


def test_a_file_that_is_too_large_is_not_read(folder, monkeypatch):
    monkeypatch.setattr(meshes, "MAX_BYTES", 1000)
    assert "more than the" in refusal(folder, "large.stl", CUBE.subdivide().export(file_type="stl"))


def test_too_many_triangles(folder, monkeypatch):
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 10)
    for kind in ("stl", "stl_ascii", "obj", "dae", "glb"):
        data = CUBE.subdivide().export(file_type=kind)
        assert "triangles, more than the 10 allowed" in refusal(folder, f"many.{kind[:3]}",
                                                                data.encode() if isinstance(data, str) else data)


@pytest.mark.parametrize("text, why", [
    ('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><COLLADA>&b;</COLLADA>', "document type"),
    ("<COLLADA><instance_node url='#a'/></COLLADA>", "parts repeat parts"), ("<COLLADA>PK\x05\x06</COLLADA>", "archive"),
    ("<html/>", "no COLLADA"), ("<COLLADA><not closed", "cannot be read"), ("<COLLADA/>", "cannot be read|no triangles")])
def test_collada_that_is_not_read(folder, text, why):
    import re
    assert re.search(why, refusal(folder, "odd.dae", text.encode()))


def test_what_is_placed_very_often_is_counted_before_it_is_made(folder, monkeypatch):
    """Ten kilobytes of COLLADA that place one part a thousand times would become gigabytes."""
    import re

    text = CUBE.subdivide().export(file_type="dae").decode()
    once = re.search(r"<instance_geometry.*?</instance_geometry>", text, re.S)[0]
    assert len(read(folder, "three.dae", text.replace(once, 3 * once).encode())) == 3
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 1000)
    monkeypatch.setattr(meshes.load_trimesh(), "load_scene", None)
    assert "it has 2400 triangles, more than the 1000 allowed" in refusal(folder, "often.dae", text.replace(once, 50 * once).encode())
    monkeypatch.setattr(meshes, "MAX_TRIANGLES", 10**9)
    assert "parts, more than the 2000 allowed" in refusal(folder, "parts.dae", text.replace(once, 2001 * once).encode())
    other = text.replace("<COLLADA ", '<COLLADA xmlns:c="http://www.collada.org/2005/11/COLLADASchema" ', 1)
    assert "parts repeat parts" in refusal(folder, "prefix.dae", other.replace(once, "<c:instance_node url='#a'/>").encode())


def glb(tree, binary=b""):
    body = json.dumps(tree).encode()
    body += b" " * (-len(body) % 4)
    chunks = struct.pack("<II", len(body), 0x4E4F534A) + body + (struct.pack("<II", len(binary), 0x004E4942) + binary if binary else b"")
    return b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks


@pytest.mark.parametrize("tree, why", [
    ({"asset": {"version": "2.0"}, "buffers": [{"uri": "http://example.com/x.bin", "byteLength": 9}]}, "refers to 'http"),
    ({"asset": {"version": "2.0"}, "accessors": [{"count": 2**31, "componentType": 5126, "type": "VEC3"}]}, "without a view"),
    ({"asset": {"version": "2.0"}, "accessors": [{"bufferView": 0, "count": 2**40, "componentType": 5126, "type": "VEC3"}]}, "allowed"),
    ({"asset": {"version": "2.0"}, "nodes": [{"children": [2]}, {"children": [2]}, {}]}, "two parents"),
    ({"asset": {"version": "2.0"}, "nodes": [{"children": [k + 1]} for k in range(3000)]}, "3000 parts, more than the 2000 allowed"),
    ({"asset": {"version": "2.0"}, "accessors": [{"bufferView": 0, "count": 2 * 10**6, "componentType": 5126, "type": "VEC3"}],
      "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}] * 3}, "2000000 triangles, more than"),
    ({"asset": {"version": "2.0"}}, "cannot be read|no triangles")])
def test_glb_that_is_not_read(folder, tree, why):
    import re
    assert re.search(why, refusal(folder, "odd.glb", glb(tree)))


def test_what_is_no_file_is_not_waited_for(folder):
    import os
    os.mkfifo(folder / "meshes" / "pipe.stl")
    assert "no such file" in refusal(folder, "pipe.stl")


def test_what_other_formats_name_beside_them_is_not_opened(folder, monkeypatch):
    """Material libraries, images, included XML: names of files are only names."""
    import builtins
    import io

    opened = []
    monkeypatch.setattr(builtins, "open", lambda file, *a, real=open, **k: opened.append(str(file)) or real(file, *a, **k))
    monkeypatch.setattr(io, "open", builtins.open)
    text = CUBE.export(file_type="obj")
    parts = read(folder, "named.obj", f"mtllib ../secret.mtl\nmtllib /etc/passwd\nmtllib http://x/y.mtl\nusemtl a\n{text}".encode())
    assert sum(len(part.faces) for part in parts) == 12
    text = CUBE.export(file_type="dae").decode().replace("<library_geometries>", """<library_images><image id="e"><init_from>http://x/y.png
        </init_from></image><image id="f"><init_from>/etc/passwd</init_from></image></library_images>
        <xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="/etc/passwd" parse="text"/><library_geometries>""", 1)
    assert sum(len(part.faces) for part in read(folder, "named.dae", text.encode())) == 12
    assert not [name for name in opened if "passwd" in name or "secret" in name or "x/y" in name]


def test_random_bytes_are_sentences(folder, rng):
    for kind in ("stl", "obj", "dae", "glb"):
        good = CUBE.export(file_type=kind)
        good = good.encode() if isinstance(good, str) else good
        for _ in range(40):
            data = bytearray(good)
            for k in rng.integers(0, len(data), 8):
                data[k] = rng.integers(0, 256)
            try:
                for part in read(folder, f"noise.{kind}", bytes(data)):
                    assert np.isfinite(part.vertices).all() and part.faces.max() < len(part.vertices)
            except MbrosError:
                pass
