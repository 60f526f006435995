"""What is drawn over a robot on request: frames, joint axes, centres of mass, inertia, collision shapes, names; and marks of trouble."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbros.describe.robot import Geometry
from mbros.errors import MbrosError
from mbros.spatial.placement import Placement
from mbros.view.motion import Sample
from mbros.view.poses import Kinematics, wxyz
from mbros.view.scene import Scene
from mbros.view.shading import creased
from mbros.view.shapes import Drawn, arrow, inertia_ellipsoid, primitive

RED, AMBER, VIOLET, GREEN = (0.84, 0.16, 0.16), (0.95, 0.62, 0.10), (0.55, 0.30, 0.80), (0.20, 0.65, 0.32)


class Overlays:
    """Layers over a Scene: `show("joint axes", True)`. A layer is made when it is first shown. Nodes hang on the bodies, and move
    with them."""

    def __init__(self, scene: Scene):
        self.scene, self.model = scene, scene.model
        self._made: dict[str, list[Any]] = {}
        self._layers: dict[str, Callable[[], list[Any]]] = {
            "frames": self._frames, "joint axes": self._axes, "names": self._names, "centre of mass": self._masses,
            "inertia ellipsoids": self._ellipsoids, "collision shapes": self._collisions}
        self._pointed: Any = None           # the label of the body that was clicked
        self._whole: Any = None             # the robot's own centre of mass, which no body carries

    @property
    def layers(self) -> tuple[str, ...]:
        return tuple(self._layers)

    def show(self, layer: str, visible: bool) -> None:
        if layer not in self._made:
            if not visible:
                return
            with self.scene.server.atomic():
                self._made[layer] = self._layers[layer]()
        for handle in self._made[layer]:
            handle.visible = visible
        if layer in ("collision shapes", "inertia ellipsoids", "centre of mass"):
            self._see_through()

    def point_out(self, k: int | None) -> None:
        """The name of body k beside it, and no longer the one before; None: no name."""
        if self._pointed is not None:
            self._pointed.remove()
        self._pointed = None if k is None else self._name(k, "pointed")

    def update(self, kinematics: Kinematics) -> None:
        """Move what belongs to the whole robot."""
        if self._whole is not None and self._whole.visible:
            self._whole.position = tuple(self.model.center_of_mass(kinematics.state))

    def _see_through(self) -> None:
        """What lies inside the bodies can be seen only through them."""
        inside = any(handle.visible for layer in ("inertia ellipsoids", "centre of mass", "collision shapes")
                     for handle in self._made.get(layer, ()))
        for pieces in self.scene.pieces:
            for piece in pieces:
                piece.opacity = 0.35 if inside else None

    # ------------------------------------------------------------------------------------------------------------- the layers

    def _frames(self) -> list[Any]:
        size, add = 0.05 * self.scene.size, self.scene.server.scene.add_frame
        return [add(f"/robot/{k}/frame", axes_length=size, axes_radius=0.03 * size) for k in range(len(self.scene.bodies))]

    def _axes(self) -> list[Any]:
        """An arrow along each joint's axis, on the parent, where the joint is."""
        length, found = 0.1 * self.scene.size, []
        for joint in self.model.joints:
            if joint.axis is None or joint.nv == 0:
                continue
            part, X = arrow(np.asarray(joint.axis, float), length), joint._row.X_PF
            name = f"/robot/{self._number(joint.parent.name)}/axis/{joint.index}"
            found.append(self.scene.add(name, Drawn(*creased(part.vertices @ X.R.T + X.p, part.faces), (*VIOLET, 1.0), joint.name)))
        return found

    def _names(self) -> list[Any]:
        return [self._name(k, "name") for k, body in enumerate(self.scene.described) if body.name != "world"]

    def _name(self, k: int, node: str) -> Any:
        return self.scene.server.scene.add_label(f"/robot/{k}/{node}", self.scene.described[k].name, font_screen_scale=0.8,
                                                 anchor="center-center", position=tuple(self._middle(k)))

    def _middle(self, k: int) -> np.ndarray:
        """Where a body's name stands."""
        body = self.scene.described[k]
        return np.asarray(body.com, float) if body.mass > 0.0 else np.zeros(3)

    def _masses(self) -> list[Any]:
        """A ball for each body, of a volume in proportion to its mass, and one for the robot."""
        total = sum(body.mass for body in self._heavy())
        found = []
        for k, body in enumerate(self.scene.described):
            if body.mass > 0.0:
                found.append(self._ball(f"/robot/{k}/com", 0.035 * self.scene.size * (body.mass / total) ** (1 / 3), AMBER, body.com))
        if found and self._has_centre():
            self._whole = self._ball("/com", 0.022 * self.scene.size, RED, np.zeros(3))
            found.append(self._whole)
        return found

    def _has_centre(self) -> bool:
        """Whether the robot has a centre of mass: something that can move has a mass."""
        try:
            self.model.center_of_mass(self.model.default_state())
        except MbrosError:
            return False
        return True

    def _heavy(self) -> list[Any]:
        return [body for body in self.scene.described if body.mass > 0.0]

    def _ball(self, name: str, radius: float, rgb: tuple[float, float, float], at: np.ndarray) -> Any:
        ball = primitive(Geometry("sphere", radius=radius))
        handle = self.scene.add(name, Drawn(ball.vertices, ball.faces, (*rgb, 1.0), name))
        handle.position = tuple(np.asarray(at, float))
        return handle

    def _ellipsoids(self) -> list[Any]:
        found = []
        for k, body in enumerate(self.scene.described):
            if body.mass > 0.0:
                part, X = inertia_ellipsoid(body.mass, body.com, body.inertia)
                found.append(self._part(f"/robot/{k}/inertia", part, X, AMBER, 0.55))
        return found

    def _collisions(self) -> list[Any]:
        found = []
        for k, body in enumerate(self.scene.described):
            look = self.scene.looks.shapes([shape for shape in body.collisions], GREEN)
            found += [self.scene.add(f"/robot/{k}/collision/{i}", piece._replace(rgba=(*GREEN, 1.0)), opacity=0.5)
                      for i, piece in enumerate(look.pieces)]
        return found

    def _part(self, name: str, part: Any, X: Placement, rgb: tuple[float, float, float], opacity: float) -> Any:
        handle = self.scene.add(name, Drawn(part.vertices, part.faces, (*rgb, 1.0), name), opacity=opacity)
        handle.wxyz, handle.position = wxyz(X.R), tuple(X.p)
        return handle

    def _number(self, body: str) -> int:
        return int(self.model.bodies.names.index(body))


class Marks:
    """Trouble, where it is: labels at joints that press on a limit, whose effort is cut, or that a fault names."""

    def __init__(self, scene: Scene):
        self.scene, self.model = scene, scene.model
        self._limit = np.asarray(scene.model.spec.effort_limit, float)
        self._shown: dict[str, tuple[str, Any]] = {}
        self._clamped = 0

    def update(self, sample: Sample) -> list[str]:
        """Sentences, one per joint in trouble."""
        found = self.trouble(sample)
        for name in [name for name, (text, _) in self._shown.items() if found.get(name) != text]:
            self._shown.pop(name)[1].remove()
        for name, text in found.items():
            if name not in self._shown:
                k = self.model.bodies.names.index(self.model.joint(name).child.name)
                self._shown[name] = text, self.scene.server.scene.add_label(
                    f"/robot/{k}/trouble", f"\u26a0 {name}: {text}", anchor="bottom-left", font_screen_scale=0.9)
        return [f"{name}: {text}" for name, text in found.items()]

    def trouble(self, sample: Sample) -> dict[str, str]:
        """{joint: what is the matter}."""
        cut = sample.clamped > self._clamped
        self._clamped = sample.clamped
        found: dict[str, list[str]] = {}
        for joint in self.model.joints:
            if joint.follows or joint.nv != 1 or joint.nq != 1:
                continue
            q, limits = float(sample.q[joint.q_slice.start]), joint.limits.position
            low, high = float(limits.lower[0]), float(limits.upper[0])
            give = 1e-4 * max(1.0, high - low if np.isfinite(high - low) else 1.0)
            if low < high and not low - give <= q <= high + give:           # a gripper that rests on its stop is no trouble
                found.setdefault(joint.name, []).append(f"beyond its {'lower' if q < low else 'upper'} limit")
            effort, most = abs(float(sample.effort[joint.v_slice.start])), self._limit[joint.v_slice.start]
            if cut and np.isfinite(most) and effort >= most:
                found.setdefault(joint.name, []).append(f"effort clamped to {most:g}")
            if sample.fault and f"'{joint.name}'" in sample.fault:
                found.setdefault(joint.name, []).append("fault")
        return {name: ", ".join(texts) for name, texts in found.items()}
