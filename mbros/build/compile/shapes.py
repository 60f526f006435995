"""From described collision shapes to the engine's: names, geometry, places on compiled bodies, numbers, and pairs that never touch.

Names: the one given, where no other shape has it too; else "<body>", "<body>.2", ... Meshes are the convex hulls of their vertices, read
through trimesh; their files are opened inside package folders only (mbros.describe.urdf.packages).
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from mbros_core import geometry as engine
from mbros_core.constraints.registry import CONTACT_NUMBERS, MOST_CONTACT_NUMBER
from mbros_core.support.numbers import short

from mbros.build.compile.mesh_hulls import mesh_hull
from mbros.build.compile.scale import heaviest
from mbros.build.compile.shape_pairs import excluded_pairs, shape_poses, too_many
from mbros.build.compile.standing import stand
from mbros.describe.contacts import NUMBERS, contact_numbers
from mbros.describe.problems import error_class, note
from mbros.describe.shapes import GROUNDS, hull_points
from mbros.errors import NOWHERE, MbrosError, MissingPackageError, ModelError, Problem
from mbros.model.frozen import frozen_placement
from mbros.model.tables import CompiledShape
from mbros.names import hint

if TYPE_CHECKING:
    from mbros.describe.robot import BodyDescription, Geometry, RobotDescription, Shape
    from mbros.model.tables import CompiledRobot

KINDS = ("half_space", "height_field", "sphere", "capsule", "box", "cylinder", "convex", "mesh")
MOST_SHAPES = 20_000    # of a model


def compile_shapes(description: RobotDescription, tree: Any, compiled: CompiledRobot) -> None:
    """Fills the shape_* tables of compiled.spec and compiled.shapes, and lets a floating robot stand on its ground. tree: of
    mbros.build.compile.tree. Raises ModelError with every shape that cannot be."""
    placed = [(body, shape) for body in tree.bodies for shape in body.collisions]
    if len(placed) > MOST_SHAPES:
        raise too_many(description, f"there are {len(placed)} of them, more than the {MOST_SHAPES} allowed in one model")
    names = _names(description, placed)
    rows = _rows(description, placed, names)
    fit_stiffness(description, compiled, rows, [shape for _, shape in placed])
    spec = compiled.spec
    at = np.array([tree.index[id(body)] for body, _ in placed], dtype=int)
    R = np.array([row.X_BG.R for row in rows]).reshape(-1, 3, 3)
    p = np.array([row.X_BG.p for row in rows]).reshape(-1, 3)
    pairs = excluded_pairs(description, tree, compiled, rows, [shape for _, shape in placed])
    spec.shape_names, spec.shape_geometry = names, [row.geometry for row in rows]
    spec.shape_body = tree.compiled[at].astype(np.int32)
    spec.shape_X = np.column_stack([(tree.R_CB[at] @ R).reshape(-1, 9), tree.p_CB[at] + np.einsum("nij,nj->ni", tree.R_CB[at], p)]) + 0.0
    spec.shape_parameters = np.array([[row.numbers[name] for name in NUMBERS] for row in rows]).reshape(-1, len(NUMBERS))
    spec.shape_excluded = np.array(sorted(pairs), dtype=np.int32).reshape(-1, 2)
    for (a, b), why in sorted(pairs.items()):
        rows[a].excluded[b] = rows[b].excluded[a] = why
    compiled.shapes = rows
    if rows and all(row.geometry.kind in GROUNDS for row in rows):
        note(description, Problem("ground", f"nothing but {rows[0].name!r} has a collision shape: whatever moves falls through it",
                                  "Give the links <collision> elements, or shapes with add_collision().", description.file,
                                  severity="note"))
    stand(description, tree, compiled)


def _names(description: RobotDescription, placed: Iterable[tuple[BodyDescription, Shape]]) -> list[str]:
    """A name of its own for every shape. Elements of a file often have the same one (name="collision"), which is noted."""
    given = [(body, getattr(shape, "name", "") or "") for body, shape in placed]
    count = Counter(name for _, name in given)
    taken = {name for name, times in count.items() if times == 1} - {""}
    names: list[str] = []
    at: dict[str, int] = {}             # of a body: the number of its next name
    for body, name in given:
        if count[name] != 1 or not name:
            name = body.name if body.name not in at else f"{body.name}.{at[body.name]}"
            at.setdefault(body.name, 2)
            while name in taken:
                name, at[body.name] = f"{body.name}.{at[body.name]}", at[body.name] + 1
            taken.add(name)
        names.append(name)
    twice = [name for name, times in count.items() if name and times > 1]
    if twice:
        shown = ", ".join(map(repr, twice[:3])) + (" and others" if len(twice) > 3 else "")
        note(description, Problem("collision shapes", f"several are called {shown}; they are called after their bodies instead",
                                  file=description.file, severity="note"))
    return names


def _rows(description: RobotDescription, placed: list[tuple[BodyDescription, Shape]], names: list[str]) -> list[CompiledShape]:
    """The shapes as the engine has them. Raises ModelError with all that cannot be."""
    rows, problems, hulls = [], [], dict[Any, Any]()
    for k, ((body, shape), name) in enumerate(zip(placed, names)):
        source = getattr(shape, "source", NOWHERE)
        label = f"collision shape {name!r} of {'link' if description.text else 'body'} {body.name!r}"
        try:
            made = _geometry(label, shape.geometry, source.file or description.file, description.package_dirs, hulls)
            given = contact_numbers(label, {number: getattr(shape, number, None) for number in NUMBERS})
            rows.append(CompiledShape(
                name, body.name, k, made, frozen_placement(shape.X_BG),
                {number.name: given.get(number.name, number.default) for number in CONTACT_NUMBERS}, getattr(shape, "group", ""),
                getattr(shape, "robot", "") or body.robot, source.file, source.line))
        except MissingPackageError:
            raise
        except ModelError as error:
            problems += [Problem(label, found.reason, found.remedy, source.file, source.line) for found in error.problems]
        except MbrosError as error:
            problems.append(Problem(label, str(error), "", source.file, source.line))
    if problems:
        raise error_class(description)(problems)
    return rows


def fit_stiffness(description: RobotDescription, compiled: CompiledRobot, rows: list[CompiledShape], shapes: list[Shape]) -> None:
    """The default stiffness is that of scale.py, where nobody gave one."""
    open_ = [row for row, shape in zip(rows, shapes) if getattr(shape, "stiffness", None) is None]
    if not open_:
        return
    usual = open_[0].numbers["stiffness"]
    k, name, mass, size = heaviest(compiled, rows, shape_poses(compiled, rows), usual)
    k = min(k, MOST_CONTACT_NUMBER)
    for row in open_:
        row.numbers["stiffness"] = k
    if k != usual:
        note(description, Problem("collision shapes", f"stiffness, where none is given, is {k:.3g} N/m instead of {usual:g}, for {name!r} "
                                  f"and what moves with it: {mass:.4g} kg, {size:.3g} m across", "Give shapes stiffness for another.",
                                  description.file, severity="note"))


def _geometry(label: str, geometry: Geometry, file: Any, package_dirs: Any, hulls: dict[Any, Any]) -> engine.Shape:
    """A `Geometry` as the engine has it. hulls: of the meshes read so far, by file and scale."""
    kind = getattr(geometry, "kind", None)
    if kind not in KINDS:
        raise MbrosError(f"its shape is {short(geometry)}{hint(kind, KINDS) if isinstance(kind, str) else ''}; give one of mbros.shapes")
    if kind == "mesh":
        key = geometry.filename, tuple(geometry.scale), file
        if key not in hulls:
            hulls[key] = mesh_hull(label, geometry, file, package_dirs)
        return hulls[key]
    points: Any = geometry
    if kind == "convex":
        return engine.convex(hull_points(label, points.vertices))
    if kind == "height_field":
        return engine.height_field(points.heights, geometry.size)
    if kind == "half_space":
        return engine.half_space()
    if kind == "box":
        return engine.box(geometry.size)
    if kind == "sphere":
        return engine.sphere(geometry.radius)
    return (engine.cylinder if kind == "cylinder" else engine.capsule)(geometry.radius, geometry.length)
