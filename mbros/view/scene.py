"""A model drawn in a viser server, and moved by poses. The live simulation, a log, a robot on ROS and the HTML export all use it."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mbros.describe.robot import WORLD, BodyDescription
from mbros.spatial.placement import rotation_from_quat_wxyz
from mbros.view.poses import Kinematics
from mbros.view.shapes import Drawn, Looks

STILL = 1e-7            # poses that differ less are the same: nothing is sent


class Scene:
    """The robot: one node per body, its shapes below it. `problems`: what could not be drawn, in sentences.

    `update(poses)` moves the bodies to (bodies, 7) poses (mbros.view.poses). Names of nodes: /robot/<number of the body>/...
    """

    def __init__(self, server: Any, model: Any, q: np.ndarray | None = None):
        self.server, self.model = server, model
        description = model.description
        described = {body.name: body for body in (description.world, *description.bodies)}
        self.looks = Looks(description.file, description.package_dirs)
        self.described = [described[body.name] for body in model.bodies]
        self.problems: list[str] = []
        self.bodies: list[Any] = []             # handles, in the model's order
        self.pieces: list[list[Any]] = []       # handles of the meshes of each
        kinematics = Kinematics(model)
        kinematics.put(model.default_state().q if q is None else q)
        poses = kinematics.bodies()
        self._at = np.full((len(self.described), 7), np.nan)
        corners = [np.zeros((1, 3))]
        with server.atomic():
            for k, body in enumerate(self.described):
                self.bodies.append(server.scene.add_frame(f"/robot/{k}", show_axes=False, axes_length=0.1, axes_radius=0.004))
                look = self.looks.of(body, k)
                self.problems += [f"body {body.name!r}: {problem}" for problem in look.problems]
                self.pieces.append([self.add(f"/robot/{k}/look/{i}", piece) for i, piece in enumerate(look.pieces)])
                corners += [_in_world(poses[k], _corners(piece.vertices)) for piece in look.pieces]
                if body.name != "world":
                    corners.append(poses[k:k + 1, 4:])
            self.update(poses)
            self._stage(np.vstack(corners))

    def add(self, name: str, piece: Drawn, opacity: float | None = None, visible: bool = True) -> Any:
        """A mesh node."""
        rgba = piece.rgba
        opacity = rgba[3] if opacity is None else opacity
        return self.server.scene.add_mesh_simple(name, piece.vertices.astype(np.float32), piece.faces.astype(np.uint32),
                                                 color=tuple(float(x) for x in rgba[:3]), opacity=None if opacity >= 1.0 else opacity,
                                                 side="double", receive_shadow=False, visible=visible)

    def update(self, poses: np.ndarray) -> int:
        """Move the bodies; returns how many moved. Bodies that stand still cost nothing."""
        moved = np.flatnonzero(~(np.abs(poses - self._at).max(axis=1) < STILL))
        with self.server.atomic():
            for k in moved:
                handle = self.bodies[k]
                handle.wxyz, handle.position = poses[k, :4], poses[k, 4:]
        self._at[moved] = poses[moved]
        return len(moved)

    def on_bodies(self, act: Callable[[int, Any], None]) -> None:
        """act(number of the body, handle) for every mesh of every body."""
        for k, pieces in enumerate(self.pieces):
            for piece in pieces:
                act(k, piece)

    def shadows(self, visible: bool) -> None:
        """Whether the sun throws shadows, which cost most of the time where no graphics card draws."""
        self._sun.cast_shadow = visible

    # ------------------------------------------------------------------------------------------------------------- the stage

    def _light(self) -> None:
        """A sun behind the camera, and a sky. No environment map: software needs ten seconds to prepare one, and
        pages are also looked at without a graphics card."""
        scene = self.server.scene
        scene.configure_environment_map(None)
        scene.configure_default_lights(False)
        self._sun = scene.add_light_directional("/sun", intensity=2.4, position=(0.2, -0.7, 1.0), cast_shadow=True)
        scene.add_light_hemisphere("/sky", sky_color=(255, 255, 255), ground_color=(170, 172, 178), intensity=1.7)

    def _stage(self, points: np.ndarray) -> None:
        """Ground, light and camera, by the size of the robot."""
        low, high = points.min(axis=0), points.max(axis=0)
        self.centre = 0.5 * (low + high)
        self.size = max(float(np.linalg.norm(high - low)), 0.05)
        scene, cell = self.server.scene, _round(self.size / 10.0)
        floor = _floor(self.described)
        if floor is None:
            floor = 0.0 if low[2] > -0.02 * self.size else float(low[2])
        scene.set_up_direction("+z")
        scene.add_grid("/ground", width=40 * cell, height=40 * cell, cell_size=cell, section_size=5 * cell, position=(0, 0, floor),
                       cell_color=(222, 226, 231), section_color=(186, 194, 204), cell_thickness=0.6, section_thickness=1.0,
                       plane_color=(247, 248, 250), plane_opacity=0.9, shadow_opacity=0.25, fade_distance=28 * cell)
        self._light()
        scene.add_frame("/origin", axes_length=1.5 * cell, axes_radius=0.03 * cell, position=(0, 0, floor))
        camera = self.server.initial_camera
        camera.fov = np.radians(40.0)
        away = np.array([1.0, -1.15, 0.62])
        distance = 0.5 * self.size / np.sin(0.5 * np.radians(40.0)) * 1.18
        camera.look_at = tuple(self.centre)
        camera.position = tuple(self.centre + distance * away / np.linalg.norm(away))
        camera.up = (0.0, 0.0, 1.0)
        camera.near, camera.far = 0.005 * self.size, 200.0 * self.size


def _floor(described: list[BodyDescription]) -> float | None:
    """The height of the highest half-space of the world that is level, m: there the grid is; None where there is none."""
    heights = [shape.X_BG.p[2] for body in described if body.name == WORLD for shape in body.collisions
               if shape.geometry.kind == "half_space" and shape.X_BG.R[2, 2] > 1.0 - 1e-9]
    return float(max(heights)) if heights else None


def _corners(vertices: np.ndarray) -> np.ndarray:
    """The eight corners of the box around points."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    return np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def _in_world(pose: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ rotation_from_quat_wxyz(pose[:4]).T + pose[4:]


def _round(x: float) -> float:
    """1, 2 or 5 times a power of ten, near x."""
    power = 10.0 ** np.floor(np.log10(x))
    return float(power * min((1.0, 2.0, 5.0, 10.0), key=lambda step: abs(step - x / power)))
