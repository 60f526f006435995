"""Mesh files to triangles: STL, OBJ, DAE and GLB, through trimesh, and MSH, MuJoCo's own.

A mesh is a file from elsewhere. What it says of its own size is compared with the bytes there are before any parser sees it, nothing
but the file itself is read (no textures, no material libraries, no buffers elsewhere), and whatever a parser throws is a MbrosError.
"""
from __future__ import annotations

import errno
import io
import json
import struct
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn
from xml.etree import ElementTree

import numpy as np
from mbros_core.support.files import read_regular
from mbros_core.support.numbers import short

from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.packages import resolve
from mbros.errors import MbrosError, optional

if TYPE_CHECKING:
    from os import PathLike

MAX_BYTES = 64 << 20            # of a file
MAX_TRIANGLES = 1_000_000       # of a file, each as often as the file places it
MAX_ELEMENTS = 1_000_000        # of XML, each some 500 bytes when it is read
MAX_JSON = 8 << 20              # bytes of a GLB's JSON part, which grow some fifty times when they are read
MAX_PARTS = 2000                # nodes of a file, and pieces: each costs time of its own, however small it is
MAX_VERTICES = 3 * MAX_TRIANGLES            # of a file, each as often as the file places it, or pieces share it
MAX_LOOKS = 1_000_000_000       # vertices of an OBJ times its pieces: each piece looks at all
MAX_DEPTH = 100                 # nodes inside nodes: each is turned by all above it
TIMES = 4                       # views and numbers of a GLB are together at most so many times the file: its reader copies each
BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}             # of a number of a GLB
NUMBERS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
KINDS = (".stl", ".obj", ".dae", ".glb", ".msh")


class Triangles(NamedTuple):
    """vertices (n, 3), faces (m, 3), and a colour where the file gives one, 0 to 1."""

    vertices: np.ndarray
    faces: np.ndarray
    rgba: tuple[float, ...] | None = None


def read_mesh(uri: str, model_file: str | None = None, package_dirs: Iterable[str | PathLike[str]] = (),
              extra: str = "viewer") -> list[Triangles]:
    """The triangles of the file that `uri` names, in metres as the file has them, one part per colour. extra: the extra of mbros
    that is named where trimesh is missing.

    Raises MbrosError, which names the file, for a file that is not there or not allowed (mbros.describe.urdf.packages), too large,
    broken, or of another kind.
    """
    return triangles(uri, *mesh_file(uri, model_file, package_dirs), extra)


def mesh_file(uri: str, model_file: str | None = None, package_dirs: Iterable[str | PathLike[str]] = ()) -> tuple[str, bytes]:
    """(kind, bytes) of a mesh's file. Raises MbrosError as read_mesh does, for what is seen without a look inside."""
    file = resolve(uri, model_file, package_dirs)
    kind = file.suffix.lower()
    if kind not in KINDS:
        _refuse(uri, f"{file.suffix or 'no ending'} is no mesh that can be read", f"Convert it to one of {', '.join(KINDS)}.")
    return kind, _bytes(uri, file)


def triangles(uri: str, kind: str, data: bytes, extra: str = "viewer") -> list[Triangles]:
    """read_mesh() of the bytes of its file."""
    try:
        data = _CHECKS[kind](uri, data)
        with np.errstate(all="ignore"):                             # what is not finite is refused
            return _parts(uri, data, kind[1:], extra)
    except MbrosError:
        raise
    except (Exception, RecursionError, MemoryError) as error:       # parsers of files throw whatever their numbers lead to
        # what Python says of a value that is no number, or not there, says nothing of the file
        reason = "its parts do not fit together" if isinstance(error, (TypeError, LookupError, AttributeError)) else (
            str(error).strip().splitlines() or [type(error).__name__])[0]
        _refuse(uri, f"it cannot be read as {kind[1:].upper()}: {shorten(reason, 120)}", "Is the file complete?", error)


def _bytes(uri: str, file: Path) -> bytes:
    try:
        return read_regular(file, MAX_BYTES)
    except OSError as error:
        if error.errno == errno.EFBIG:
            _refuse(uri, f"it has more than the {MAX_BYTES >> 20} MiB allowed", "Simplify the mesh.")
        _refuse(uri, f"it cannot be read: {(error.strerror or str(error)).lower()}", "Check the file.", error)


# ------------------------------------------------------------------------------ what a file says of itself, before it is parsed


def _check_stl(uri: str, data: bytes) -> bytes:
    text = data[:5].lower() == b"solid" and b"facet" in data[:4096]
    if not text:
        if len(data) < 84:
            _refuse(uri, f"it ends after {len(data)} bytes, inside its header", "Is the file complete?")
        count, room = struct.unpack_from("<I", data, 80)[0], (len(data) - 84) // 50
        if count > room:
            _refuse(uri, f"its header announces {count} triangles, the file has room for {room}", "Is the file complete?")
        _check_count(uri, count)
    if text or len(data) != 84 + 50 * count:            # trimesh reads as text what is no binary file to the byte
        words = data.lower()
        _check_count(uri, max(words.count(b"endfacet"), words.count(b"vertex") // 3))
        _check_parts(uri, words.count(b"endsolid"))
    return data


def _check_obj(uri: str, data: bytes) -> bytes:
    if b"\x00" in data:
        _refuse(uri, "it is no text, as an OBJ file is", "Convert it again.")
    lines = data.replace(b"\r\n", b"\n").replace(b"\\\n", b"").split(b"\n")            # as trimesh has them
    _check_count(uri, sum(len(line.split()) - 3 if line.startswith(b"f ") else 1 for line in lines if line.startswith(b"f")))
    # what trimesh may make a part of its own: of 5,000 groups that is 9 s; "usemtl " ends one wherever it stands
    parts = max(sum(line.lstrip()[:2].rstrip() in (b"g", b"o", b"us") for line in lines), data.count(b"usemtl"))
    _check_parts(uri, parts)
    if parts * (vertices := sum(line.lstrip()[:2].rstrip() == b"v" for line in lines)) > MAX_LOOKS:
        _refuse(uri, f"it has {parts} parts of {vertices} vertices in one list", "Make it several files, or join the parts.")
    return data


def _check_dae(uri: str, data: bytes) -> bytes:
    """No entities (they multiply), no archive (pycollada would unpack it), no parts that repeat parts; not too much placed too often."""
    if b"\x00" in data or b"<COLLADA" not in data[:4096]:
        _refuse(uri, "it is no COLLADA text in UTF-8", "Convert it again.")
    for mark, what in ((b"<!DOCTYPE", "a document type"), (b"<!ENTITY", "entities"), (b"PK\x05\x06", "an archive")):
        if mark in data:
            _refuse(uri, f"it holds {what}, which is not read", "Export it plainly, or as STL or GLB.")
    if data.count(b"<") > 2 * MAX_ELEMENTS:         # a beginning and an end
        _refuse(uri, f"it has more than {MAX_ELEMENTS} elements", "Simplify the mesh, or export it as STL or GLB.")
    sizes: Counter[str] = Counter()
    placed: Counter[str] = Counter()
    nodes = 0
    for element in ElementTree.fromstring(data).iter():         # of the texts that expat reads, also those with other prefixes
        kind = _kind(element)
        if kind == "geometry":
            sizes["#" + element.get("id", "")] += sum(_dae_triangles(uri, each) for each in element.iter())
        elif kind == "instance_geometry":
            placed[element.get("url", "")] += 1
        elif kind == "instance_node":
            _refuse(uri, "it holds <instance_node>, by which parts repeat parts, which is not read", "Export it plainly, or as STL or GLB.")
        nodes += kind in ("node", "p")
    _check_parts(uri, max(nodes, sum(placed.values())))
    _check_count(uri, sum(count * sizes[url] for url, count in placed.items()))
    return data


def _kind(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _dae_triangles(uri: str, element: Any) -> int:
    """At most so many are in a <triangles>, <polylist>, ... of COLLADA; 0 of other elements."""
    numbers = sum(len((child.text or "").split()) for child in element if _kind(child) == "p")
    if not numbers:
        return 0
    corners = numbers // (1 + max((int(child.get("offset", 0)) for child in element if _kind(child) == "input"), default=0))
    polygons = [int(n) for child in element if _kind(child) == "vcount" for n in (child.text or "").split()]
    if sum(polygons) > corners or min(polygons, default=0) < 0:
        _refuse(uri, f"its polygons have {sum(polygons)} corners, and {corners} are given", "Is the file complete?")
    return max(corners - 2 * len(polygons), corners // 3) if polygons else corners // 3


def _check_glb(uri: str, data: bytes) -> bytes:
    """The file without its pictures, once the numbers of things in its JSON part are bounded, which its reader would make room for; nothing
    outside the file."""
    if len(data) < 20 or data[:4] != b"glTF":
        _refuse(uri, "it does not begin as a GLB file", "Is the file complete?")
    total, length = struct.unpack_from("<II", data, 8)
    if total > len(data) or length > len(data) - 20:
        _refuse(uri, f"its header announces {max(total, length + 20)} bytes, the file has {len(data)}", "Is the file complete?")
    if length > MAX_JSON:
        _refuse(uri, f"its JSON part has {length} bytes, more than the {MAX_JSON >> 20} MiB allowed", "Export it plainly.")
    tree = json.loads(data[20:20 + length])
    for buffer in [*tree.get("buffers", ()), *tree.get("images", ())]:
        if "uri" in buffer:
            _refuse(uri, f"it refers to {shorten(str(buffer['uri']), 60)} beside it", "Export it as one file, without textures.")
    accessors, nodes, meshes = tree.get("accessors", ()), tree.get("nodes", ()), tree.get("meshes", ())
    for accessor in accessors:
        if "bufferView" not in accessor or "sparse" in accessor:
            _refuse(uri, "it has numbers that stand nowhere (an accessor without a view)", "Export it plainly.")
        _check_count(uri, _whole(uri, accessor["count"]) // 3)
    pieces = [piece for mesh in meshes for piece in mesh.get("primitives", ())]
    _check_parts(uri, max(len(nodes), len(meshes), len(pieces)))
    _check_nodes(uri, nodes)
    # pieces may share their numbers, each reads them anew
    _check_count(uri, sum(int(accessors[piece.get("indices", piece["attributes"]["POSITION"])]["count"]) for piece in pieces) // 3)
    _check_vertices(uri, sum(max(int(accessors[k]["count"]) for k in piece["attributes"].values()) for piece in pieces))
    for what, size in (("views", sum(_whole(uri, view["byteLength"]) for view in tree.get("bufferViews", ()))),
                       ("numbers", sum(each["count"] * NUMBERS[each["type"]] * BYTES[each["componentType"]] for each in accessors))):
        if size > TIMES * len(data) + MAX_JSON:
            _refuse(uri, f"its {what} take {size} bytes, the file has {len(data)}", "Export it plainly.")
    return _without_pictures(tree, data[:8], data[20 + length:])


def _whole(uri: str, x: Any) -> int:
    if type(x) is not int or x < 0:
        _refuse(uri, f"it counts {short(x)} things", "Export it again.")
    return x


def _check_nodes(uri: str, nodes: Any) -> None:
    parents = {child: k for k, node in enumerate(nodes) for child in node.get("children", ())}
    if len(parents) != sum(len(node.get("children", ())) for node in nodes):
        _refuse(uri, "a node of it has two parents", "Export it plainly.")
    for at in parents:
        depth = 0
        while at in parents:
            at, depth = parents[at], depth + 1
            if depth > MAX_DEPTH:
                _refuse(uri, f"its nodes stand more than {MAX_DEPTH} deep in each other", "Export it plainly.")


def _without_pictures(tree: dict[str, Any], head: bytes, rest: bytes) -> bytes:
    """Nothing here looks at a texture, and a small file may hold a large one."""
    for name in ("images", "textures"):
        tree.pop(name, None)
    for material in tree.get("materials", ()):
        for of in (material, *(value for value in material.values() if type(value) is dict),
                   *(value for value in material.get("extensions", {}).values() if type(value) is dict)):
            for word in [word for word in of if word.endswith("Texture")]:
                del of[word]
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    return head + struct.pack("<II4s", 20 + len(text) + len(rest), len(text), b"JSON") + text + rest


def _check_msh(uri: str, data: bytes) -> bytes:
    """MuJoCo's own: numbers of vertices, normals, texture coordinates and triangles, then all of them."""
    if len(data) < 16:
        _refuse(uri, f"it ends after {len(data)} bytes, inside its header", "Is the file complete?")
    vertices, normals, coordinates, faces = struct.unpack_from("<4i", data)
    if min(vertices, normals, coordinates, faces) < 0 or len(data) != 16 + 4 * (3 * vertices + 3 * normals + 2 * coordinates + 3 * faces):
        _refuse(uri, f"its header announces {vertices} vertices and {faces} triangles, the file has {len(data)} bytes",
                "Is the file complete?")
    _check_count(uri, faces)
    return data


_CHECKS = {".stl": _check_stl, ".obj": _check_obj, ".dae": _check_dae, ".glb": _check_glb, ".msh": _check_msh}


def _check_count(uri: str, count: int) -> None:
    if count > MAX_TRIANGLES:
        _refuse(uri, f"it has {count} triangles, more than the {MAX_TRIANGLES} allowed", "Simplify the mesh.")


def _check_vertices(uri: str, count: int) -> None:
    if count > MAX_VERTICES:
        _refuse(uri, f"it has {count} vertices as often as it places them, more than the {MAX_VERTICES} allowed", "Simplify the mesh.")


def _check_parts(uri: str, count: int) -> None:
    if count > MAX_PARTS:
        _refuse(uri, f"it has {count} parts, more than the {MAX_PARTS} allowed", "Join the parts of the mesh.")


# ---------------------------------------------------------------------------------------------------------------- parsing


def _parts(uri: str, data: bytes, kind: str, extra: str) -> list[Triangles]:
    if kind == "msh":
        return [_msh(uri, data)]
    trimesh = load_trimesh(extra)
    scene = trimesh.load_scene(io.BytesIO(data), file_type=kind, resolver=None, process=False)
    placed = list(scene.graph.nodes_geometry)
    _check_count(uri, sum(len(getattr(scene.geometry[scene.graph[name][1]], "faces", ())) for name in placed))
    _check_vertices(uri, sum(len(getattr(scene.geometry[scene.graph[name][1]], "vertices", ())) for name in placed))
    unit, parts = _unit(data) if kind == "dae" else 1.0, []
    for name in placed:
        X, which = scene.graph[name]
        part = scene.geometry[which]
        if not len(getattr(part, "faces", ())):
            continue
        vertices = np.asarray(part.vertices, float) @ X[:3, :3].T + X[:3, 3]
        if not np.isfinite(vertices).all():
            _refuse(uri, "a vertex of it is not finite", "Export it again.")
        faces = np.asarray(part.faces)
        if faces.min() < 0 or faces.max() >= len(vertices):
            _refuse(uri, f"a triangle of it has corner {faces.max()}, it has {len(vertices)} vertices", "Is the file complete?")
        parts.append(Triangles(unit * vertices, faces, _colour(part)))
    if not parts:
        _refuse(uri, "it has no triangles", "Is the file complete?")
    return parts


def _msh(uri: str, data: bytes) -> Triangles:
    """Triangles of a file whose sizes fit."""
    n, normals, coordinates, m = struct.unpack_from("<4i", data)
    vertices = np.frombuffer(data, "<f4", 3 * n, 16).astype(float).reshape(-1, 3)
    faces = np.frombuffer(data, "<i4", 3 * m, 16 + 4 * (3 * n + 3 * normals + 2 * coordinates)).astype(int).reshape(-1, 3)
    if not np.isfinite(vertices).all():
        _refuse(uri, "a vertex of it is not finite", "Export it again.")
    if not m:
        _refuse(uri, "it has no triangles", "Export it with them.")
    if faces.min() < 0 or faces.max() >= n:
        _refuse(uri, f"a triangle of it has corner {faces.max()}, it has {n} vertices", "Is the file complete?")
    return Triangles(vertices, faces)


def _unit(data: bytes) -> float:
    """Metres per unit of a COLLADA file. Its up axis is not looked at: meshes of URDF files are meant as they are, as in RViz."""
    for _, element in ElementTree.iterparse(io.BytesIO(data), ("start",)):
        if _kind(element) == "unit":
            unit = float(element.get("meter", "1"))
            return unit if 0.0 < unit < 1e6 else 1.0
    return 1.0


def _colour(part: Any) -> tuple[float, ...] | None:
    """The part's one colour; None where the file says nothing."""
    visual = part.visual
    material = getattr(visual, "material", None)
    factor = getattr(material, "baseColorFactor", None)
    if factor is None:
        factor = getattr(material, "diffuse", None)
    if factor is None and visual.kind in ("face", "vertex"):
        factor = visual.main_color
    if factor is None or len(factor) < 3:
        return None
    rgba = np.asarray(factor, float) / (255.0 if np.asarray(factor).dtype.kind in "iu" else 1.0)
    return tuple(np.clip(np.append(rgba, 1.0)[:4], 0.0, 1.0).tolist())


def load_trimesh(extra: str = "viewer") -> Any:
    """The module trimesh, with what it needs for COLLADA."""
    optional("collada", "meshes of COLLADA files", extra)           # trimesh would only say "dae not supported"
    return optional("trimesh", "meshes", extra)


def _refuse(uri: str, reason: str, remedy: str, cause: BaseException | None = None) -> NoReturn:
    raise MbrosError(f"mesh {shorten(uri, 200)}: {reason}. {remedy}") from cause
