"""<asset>: meshes, height fields and the colours of materials. Files are opened only where their numbers are needed: a mesh whose geom
has mass, a height field.

A mesh geom stands where its file says: MuJoCo moves a mesh into its own inertial frame, and puts its geoms where they make up for it.
"""
from __future__ import annotations

import os
import posixpath
import struct
from typing import TYPE_CHECKING

import numpy as np
from mbros_core.support.files import read_regular
from mbros_core.support.records import record

from mbros.describe.mjcf.png import grey_picture
from mbros.describe.mjcf.values import numbers, several, vector, word
from mbros.describe.meshes import mesh_file, triangles
from mbros.describe.robot import Geometry
from mbros.describe.shapes import Convex, HeightField
from mbros.describe.solids import hull, mesh
from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.packages import resolve
from mbros.errors import MbrosError
from mbros.names import hint
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz

if TYPE_CHECKING:
    from mbros.describe.mjcf.reading import MjcfReading
    from mbros.describe.solids import Solid
    from mbros.describe.urdf.xml import XmlElement

MOST_BYTES = 64 << 20           # of a file of heights
INERTIAS = ("convex", "exact", "legacy", "shell")


@record(eq=False)
class MeshAsset:
    """filename: as it is looked for, beside the model. vertices, faces: of what stands in the model itself, else None until they are read.
    Of a vertex x of the file, scale * R^T (x - p) is where it is. solid: of density 1, when it was computed."""

    element: XmlElement
    filename: str
    scale: tuple[float, ...]
    R: np.ndarray
    p: np.ndarray
    inertia: str
    vertices: np.ndarray | None = None
    faces: np.ndarray | None = None
    solid: Solid | None = None

    @property
    def is_plain(self) -> bool:
        """Whether a placement and a scale say where its vertices are."""
        return self.scale[0] == self.scale[1] == self.scale[2] or bool((self.R == np.eye(3)).all())


def read_assets(reading: MjcfReading) -> None:
    """The assets by name, into reading.meshes, .heights, .colours."""
    for section in reading.root.all("asset"):
        for element in section.children:
            if element.tag == "mesh":
                _mesh(reading, reading.defaults.filled(element))
            elif element.tag == "hfield":
                reading.heights.setdefault(_name(element), element)
            elif element.tag == "material":
                filled = reading.defaults.filled(element)
                if "rgba" in filled.attributes:
                    with reading.context.looks():
                        reading.colours[_name(element)] = several(reading.context, filled, "rgba", "material", (1.0,) * 4)
            elif element.tag == "model":
                reading.context.problem(element.line, "<model> in <asset>", "models inside models are not read",
                                        "Write the model as one, with mj_saveLastXML or MjSpec.to_xml() of MuJoCo.")


def _name(element: XmlElement) -> str:
    """What is given, or the name of the file."""
    return element.attributes.get("name") or posixpath.splitext(posixpath.basename(element.attributes.get("file", "")))[0]


def _mesh(reading: MjcfReading, element: XmlElement) -> None:
    context, name = reading.context, _name(element)
    label = f"mesh {shorten(name)}"
    if "builtin" in element.attributes:
        context.problem(element.line, label, "builtin meshes are not read", "Save it as a file.")
        return
    file = element.attributes.get("file", "")
    vertices = _points(reading, element, "vertex", label, 4)
    faces = _points(reading, element, "face", label, 1)
    if bool(file) == (vertices is not None):
        context.problem(element.line, label, "it has a file and vertices" if file else "it has neither a file nor vertices",
                        "Give one of them.")
        return
    if vertices is not None:
        vertices = vertices.astype(np.float32).astype(float)
        if faces is not None and not (0 <= faces.min() and faces.max() < len(vertices) and (faces == np.floor(faces)).all()):
            context.problem(element.line, label, f"a face of it has a corner that is none of its {len(vertices)} vertices",
                            "They count from 0.")
            return
    if any(reading.settings.strippath and mark in file for mark in "/\\"):
        file = file.replace("\\", "/").rpartition("/")[2]
    scale = vector(context, element, "scale", label, (1.0, 1.0, 1.0))
    quat = np.array(vector(context, element, "refquat", label, (1.0, 0.0, 0.0, 0.0)))
    if 0.0 in scale or not np.linalg.norm(quat) > 0.0:
        context.problem(element.line, label, "its scale or refquat has a 0 that leaves nothing of it", "Give others.")
        return
    found = MeshAsset(element, beside(reading.settings.meshdir, file), scale, rotation_from_quat_wxyz(quat),
                      np.array(vector(context, element, "refpos", label, (0.0, 0.0, 0.0))),
                      word(context, element, "inertia", label, INERTIAS, "legacy"), vertices, None if faces is None else faces.astype(int))
    if name in reading.meshes:
        context.problem(element.line, label, "there is another mesh of this name above", "Give every mesh a name of its own.")
    reading.meshes.setdefault(name, found)


def beside(folder: str, file: str) -> str:
    """A file in a folder of assets."""
    return file if posixpath.isabs(file) else posixpath.normpath(posixpath.join(folder.replace("\\", "/"), file))


def _points(reading: MjcfReading, element: XmlElement, attribute: str, label: str, least: int) -> np.ndarray | None:
    """Rows of three; None for what is not given."""
    if attribute not in element.attributes:
        return None
    found = np.array(numbers(reading.context, element, attribute, label))
    if len(found) % 3 or len(found) < 3 * least:
        reading.context.problem(element.line, label, f"{attribute} has {len(found)} numbers", f"Give {least} times three, or more.")
        return None
    return found.reshape(-1, 3)


def mesh_of(reading: MjcfReading, element: XmlElement, label: str) -> MeshAsset | None:
    """The mesh that a geom names."""
    name = element.attributes.get("mesh", "")
    if name not in reading.meshes:
        reading.context.problem(element.line, label, f"there is no mesh {shorten(name)}{hint(name, reading.meshes)}" if name
                                else "it is a mesh and names none", 'Write mesh="...", the name of one in <asset>.')
        return None
    return reading.meshes[name]


def mesh_geometry(reading: MjcfReading, asset: MeshAsset) -> tuple[Geometry, Placement]:
    """What a viewer and the engine take, and where it is in the frame of the geom."""
    if asset.vertices is None and asset.is_plain:
        scale = np.array(asset.scale)
        return (Geometry("mesh", filename=asset.filename, scale=asset.scale),           # type: ignore[arg-type]      # three of them
                Placement(asset.R.T, -(scale * (asset.R.T @ asset.p))))
    return Convex("convex", vertices=_placed(reading, asset)[0]), Placement()


def mesh_solid(reading: MjcfReading, asset: MeshAsset) -> Solid:
    """Mass, centre of mass and inertia at density 1. Raises MbrosError."""
    if asset.solid is None:
        vertices, faces = _placed(reading, asset)
        if asset.inertia == "convex":
            vertices, faces = hull(vertices)
        asset.solid = mesh(vertices, faces, 1.0, "exact" if asset.inertia == "convex" else asset.inertia)
    return asset.solid


def _placed(reading: MjcfReading, asset: MeshAsset) -> tuple[np.ndarray, np.ndarray]:
    """Vertices where they are in the frame of the geom, and triangles."""
    if asset.vertices is None:
        kind, data = mesh_file(asset.filename, reading.file_or_none, reading.package_dirs)
        parts = triangles(asset.filename, kind, data, "collision")
        starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
        # as MuJoCo has them: single precision
        asset.vertices = np.vstack([part.vertices for part in parts]).astype(np.float32).astype(float)
        asset.faces = np.vstack([part.faces + start for part, start in zip(parts, starts)])
    vertices = ((asset.vertices - asset.p) @ asset.R) * asset.scale
    if asset.faces is None:
        return hull(vertices)
    return vertices, asset.faces[:, ::-1] if np.prod(asset.scale) < 0.0 else asset.faces


# ------------------------------------------------------------------------------------------------------- height fields


def height_field(reading: MjcfReading, element: XmlElement, label: str) -> tuple[HeightField, tuple[float, ...]] | None:
    """The height field that a geom names, and its size (half x, half y, height, base); None, with a problem or a note."""
    name = element.attributes.get("hfield", "")
    asset = reading.heights.get(name)
    if asset is None:
        reading.context.problem(element.line, label, f"there is no height field {shorten(name)}{hint(name, reading.heights)}",
                                'Write hfield="...", the name of one in <asset>.')
        return None
    context, part = reading.context, f"hfield {shorten(name)}"
    size = vector(context, asset, "size", part, (1.0, 1.0, 1.0, 1.0))
    if not min(size) > 0.0:
        context.problem(asset.line, part, f"its size is {asset.attributes.get('size', '')[:80]!r}", "Give four positive numbers.")
        return None
    try:
        grid = _heights(reading, asset, part)
    except (MbrosError, OSError) as error:
        context.problem(asset.line, part, str(error), "Write elevation, or a file as MuJoCo's own: nrow and ncol, int32, then heights, "
                                                      "float32.")
        return None
    low, high = float(grid.min()), float(grid.max())
    grid = (grid - low) * (size[2] / (high - low)) if high > low else np.zeros_like(grid)
    grid = np.ascontiguousarray(grid.T)             # rows are along x here, along y there
    grid.setflags(write=False)
    return HeightField("height_field", size=(2.0 * size[0], 2.0 * size[1]), heights=grid), size


def _heights(reading: MjcfReading, asset: XmlElement, label: str) -> np.ndarray:
    """(nrow, ncol), rows from the lowest y on."""
    context, file = reading.context, asset.attributes.get("file", "")
    rows, columns = (int(several(context, asset, word_, label, (0.0,))[0]) for word_ in ("nrow", "ncol"))
    if file:
        data = read_regular(resolve(beside(reading.settings.meshdir, file), reading.file_or_none, reading.package_dirs), MOST_BYTES)
        if file.lower().endswith(".png"):
            return grey_picture(data)[::-1]
        rows, columns = struct.unpack_from("<ii", data) if len(data) >= 8 else (0, 0)
        if min(rows, columns) < 2 or len(data) != 8 + 4 * rows * columns:
            raise MbrosError(f"{os.path.basename(file)} has {len(data)} bytes, and is no file of {rows} times {columns} heights")
        grid = np.frombuffer(data, "<f4", offset=8).astype(float).reshape(rows, columns)
    else:
        given = numbers(context, asset, "elevation", label)
        if min(rows, columns) < 2 or given and len(given) != rows * columns:
            raise MbrosError(f"it has {len(given)} heights, nrow {rows} and ncol {columns}")
        grid = np.array(given).reshape(rows, columns)[::-1] if given else np.zeros((rows, columns))
    if not np.isfinite(grid).all():
        raise MbrosError("a height of it is not finite")
    return grid
