"""Mesh files of kilobytes or megabytes, whose reader would make gigabytes or hours of them: each is refused, or read without that."""
import io
import json
import re
import struct

import pytest

import mbros
from mbros.describe.meshes import read_mesh

from bounded import bounded

pytest.importorskip("trimesh")
pytest.importorskip("collada")

MB = 1 << 20
TRIANGLE = struct.pack("<9f4H", 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 2, 0)
POINTS = "v 0 0 0\nv 1 0 0\nv 0 1 0\n"
FACET = "facet normal 0 0 1\nouter loop\n" + "vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\n" + "endloop\nendfacet\n"
PIECE = {"attributes": {"POSITION": 0}, "indices": 1}


def glb(more=b"", views=(), accessors=(), pieces=(PIECE,), nodes=({"mesh": 0},), roots=(0,), **tree):
    binary = TRIANGLE + more + bytes(-len(TRIANGLE + more) % 4)
    tree = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": list(roots)}], "nodes": nodes, "meshes": [{"primitives": pieces}],
            "buffers": [{"byteLength": len(binary)}],
            "bufferViews": [{"buffer": 0, "byteLength": 36}, {"buffer": 0, "byteOffset": 36, "byteLength": 6}, *views],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
                          {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"}, *accessors], **tree}
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    return b"glTF" + struct.pack("<II", 2, 28 + len(text) + len(binary)) + struct.pack("<I4s", len(text), b"JSON") + text + struct.pack(
        "<I4s", len(binary), b"BIN\0") + binary


def dae(counts):
    return f"""<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><library_geometries><geometry id="g"><mesh>
      <source id="s"><float_array id="f" count="9">0 0 0 1 0 0 0 1 0</float_array><technique_common>
      <accessor source="#f" count="3" stride="3">
      <param name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
      <vertices id="v"><input semantic="POSITION" source="#s"/></vertices><polylist count="1">
      <input semantic="VERTEX" source="#v" offset="0"/>
      <vcount>{counts}</vcount><p>{"0 1 2 " * 40}</p></polylist></mesh></geometry></library_geometries><library_visual_scenes>
      <visual_scene id="w"><node><instance_geometry url="#g"/></node></visual_scene></library_visual_scenes><scene>
      <instance_visual_scene url="#w"/></scene></COLLADA>"""


LARGE = {"bufferView": 2, "componentType": 5126, "count": 699_050, "type": "VEC3"}
WHOLE = {"buffer": 0, "byteLength": 8 * MB}
HOSTILE = {
    "views.glb": (lambda: glb(bytes(8 * MB), [{**WHOLE, "byteOffset": 1}] * 400), "views take"),
    "strides.glb": (lambda: glb(bytes(4 * MB), [{"buffer": 0, "byteLength": 4 * MB, "byteStride": 1}], [
        {**LARGE, "count": 2_999_999, "type": "MAT4"}] * 10), "numbers take"),
    "negative.glb": (lambda: glb(bytes(8 * MB), [WHOLE], [{**LARGE, "count": -1}]), "counts -1"),
    "half.glb": (lambda: glb(accessors=[{**LARGE, "count": 2.5}]), "counts 2.5"),
    "pieces.glb": (lambda: glb(bytes(8 * MB), [WHOLE], [LARGE], [{**PIECE, "attributes": {"POSITION": 2}}] * 200), "vertices"),
    "colours.glb": (lambda: glb(bytes(8 * MB), [WHOLE], [LARGE], [{**PIECE, "attributes": {"POSITION": 0, "_X": 2}}] * 200), "vertices"),
    "placed.glb": (lambda: glb(bytes(8 * MB), [WHOLE], [LARGE], [{**PIECE, "attributes": {"POSITION": 2}}], [{"mesh": 0}] * 99, range(99)),
                   "vertices"),
    "chain.glb": (lambda: glb(nodes=[*({"mesh": 0, "children": [k + 1]} for k in range(1999)), {"mesh": 0}]),
                  "more than 100 deep"),
    "ring.glb": (lambda: glb(nodes=[{"mesh": 0, "children": [1]}, {"mesh": 0, "children": [0]}]), "more than 100 deep"),
    "words.obj": (lambda: POINTS + "f 1 2 3\n" + "".join(f"#usemtl {k}\nf 1 2 3\n" for k in range(20_000)), "20000 parts"),
    "looks.obj": (lambda: POINTS + "v 0 0 0\n" * 4 * MB + "".join(f"usemtl {k}\nf 1 2 3\n" for k in range(2000)), "2000 parts of"),
    "solids.stl": (lambda: f"solid a\n{FACET}endsolid a\n" * 20_000, "20000 parts"),
    "no-solid.stl": (lambda: " " * 80 + "\0\0\0\0" + f"solid a\n{FACET}endsolid a\n" * 20_000, "20000 parts"),
    "polygons.dae": (lambda: dae("100000000"), "100000000 corners, and 120 are given")}


def read(tmp_path, name, data):
    (tmp_path / name).write_bytes(data.encode() if isinstance(data, str) else data)
    return read_mesh(name, str(tmp_path / "r.urdf"))


@pytest.mark.parametrize("name", HOSTILE)
def test_meshes_are_refused_before_their_reader_makes_much_of_them(tmp_path, name):
    make, said = HOSTILE[name]
    data = make()
    found, largest = bounded(lambda: read(tmp_path, name, data))
    assert found.startswith("refused") and re.search(said, found) and largest < 800, (found[:300], largest)


def test_pictures_in_a_mesh_are_not_unpacked(tmp_path):
    """A small one of 100 million pixels would take gigabytes; the colour beside it is read."""
    image = pytest.importorskip("PIL.Image")
    packed = io.BytesIO()
    image.new("RGBA", (10_000, 10_000)).save(packed, "PNG")
    picture, words = packed.getvalue(), "KHR_materials_pbrSpecularGlossiness"
    data = glb(picture, [{"buffer": 0, "byteOffset": len(TRIANGLE), "byteLength": len(picture)}], pieces=[{**PIECE, "material": 0}],
               images=[{"bufferView": 2, "mimeType": "image/png"}], textures=[{"source": 0}], materials=[
                   {"pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1], "baseColorTexture": {"index": 0}}, "extensions": {words: {
                       "diffuseTexture": {"index": 0}, "specularGlossinessTexture": {"index": 0}, "glossinessFactor": 0.5}}}])
    del packed, image
    found, largest = bounded(lambda: [(part.faces.tolist(), part.rgba) for part in read(tmp_path, "p.glb", data)])
    assert found.startswith("[([[0, 1, 2]]") and largest < 800, (found, largest)


def test_a_mesh_as_programs_write_them_is_still_read(tmp_path):
    """Pieces that share their numbers, nodes in nodes, a polygon in several lines."""
    parts = read(tmp_path, "a.glb", glb(pieces=[PIECE] * 20, nodes=[*({"mesh": 0, "children": [k + 1]} for k in range(20)), {"mesh": 0}]))
    assert len(parts) == 20 * 21
    part, = read(tmp_path, "a.obj", POINTS + "v 0 0 1\nusemtl a\nf 1 2 \\\n3\nf 1 2 4\n")
    assert part.faces.tolist() == [[0, 1, 2], [0, 1, 3]]
    assert len(read(tmp_path, "a.stl", f"solid a\n{FACET}endsolid a\n" * 3)) == 3
    with pytest.raises(mbros.MbrosError, match="corners"):
        read(tmp_path, "a.dae", dae("60 61"))
    part, = read(tmp_path, "a.dae", dae("60 60"))
    assert len(part.faces) == 2 * 58
