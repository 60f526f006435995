"""Robots for tests: every kind of joint, every shape of tree, ugly numbers everywhere.

All are built straight as `ModelSpec`, so that the engine is tested without the builder or a file format. Placements,
axes, centres of mass and inertias are generic on purpose: a wrong sign or a forgotten term cannot hide behind a zero.
Everything is drawn from a generator seeded by the model's name, so a model is the same in every run.
"""
from __future__ import annotations

import zlib
from dataclasses import dataclass

import numpy as np

from mbros_core.joints.registry import BY_NAME, ROWS
from mbros_core.spec import ModelSpec

GRAVITY = (0.31, -0.72, -9.4)


@dataclass
class Body:
    """One row of a tree to be: the joint kind that carries it, its parent's index (0 is the world), whom it follows."""

    kind: str
    parent: int
    leader: int = -1
    ratio: float = 1.0
    offset: float = 0.0


def rotation(rng):
    """A random rotation matrix, uniformly distributed."""
    w, x, y, z = quaternion(rng)
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def quaternion(rng):
    """A random unit quaternion wxyz."""
    q = rng.normal(size=4)
    return q / np.sqrt(q @ q)


def placement(rng, reach=0.4):
    """A random pose as the 12 numbers of a spec: R row-major, then p with components up to `reach` m."""
    return np.concatenate([rotation(rng).ravel(), rng.uniform(-reach, reach, 3)])


def inertia(rng, mass=None):
    """m, h, I about Bo of a rigid body: six point masses at random places, so that it is always physical."""
    points = rng.uniform(-0.25, 0.25, (6, 3)) + rng.uniform(-0.1, 0.1, 3)
    masses = rng.uniform(0.05, 1.0, 6)
    if mass is not None:
        masses *= mass / masses.sum()
    I = sum(m * ((p @ p) * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points))
    h = masses @ points
    return np.array([masses.sum(), *h, I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])


def build(name, bodies, gravity=GRAVITY, rng=None, damped=True, friction=False, stops=False, rotors=True,
          extra_frames=3):
    """The ModelSpec of a list of `Body`. Passive terms are off unless asked for, except viscous damping."""
    rng = np.random.default_rng(zlib.crc32(name.encode())) if rng is None else rng
    nb = len(bodies) + 1
    own = [b for b in bodies if b.leader < 0]
    rows = [BY_NAME[b.kind] for b in own]
    nv = sum(row.nv for row in rows)
    single = np.array([row.nv == 1 for row in rows for _ in range(row.nv)], bool)
    limit = np.array([0.6 if stops and row.nq == 1 else np.inf for row in rows for _ in range(row.nq)], float)
    body_names = ["world"] + [f"body{i}" for i in range(1, nb)]
    frame_names = body_names + [f"frame{i}" for i in range(extra_frames)]
    identity = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    return ModelSpec(
        name=name, gravity=np.array(gravity, float), body_names=body_names,
        joint_names=["world"] + [f"joint{i}" for i in range(1, nb)],
        joint_kind=["weld"] + [b.kind for b in bodies],
        parent=np.array([-1] + [b.parent for b in bodies], np.int32),
        X_PF=np.array([identity] + [placement(rng) for _ in bodies]),
        joint_parameters=np.array([np.zeros(4)] + [parameters(b.kind, rng) for b in bodies]),
        leader=np.array([-1] + [b.leader for b in bodies], np.int32),
        ratio=np.array([1.0] + [b.ratio for b in bodies]),
        offset=np.array([0.0] + [b.offset for b in bodies]),
        inertia=np.array([np.zeros(10)] + [inertia(rng) for _ in bodies]),
        q_default=np.array([x for row in rows for x in row.neutral], float), q_lower=-limit, q_upper=limit,
        velocity_limit=np.full(nv, np.inf), effort_limit=np.full(nv, np.inf),
        damping=rng.uniform(0.05, 0.5, nv) * damped,
        friction=rng.uniform(0.05, 0.3, nv) * friction,
        rotor_inertia=rng.uniform(0.01, 0.2, nv) * rotors * single,
        stop_stiffness=np.where(single, 300.0, 0.0) * stops, stop_damping=np.where(single, 5.0, 0.0) * stops,
        frame_names=frame_names,
        frame_body=np.array(list(range(nb)) + [int(rng.integers(0, nb)) for _ in range(extra_frames)], np.int32),
        X_BF=np.array([identity] * nb + [placement(rng) for _ in range(extra_frames)]))


def parameters(kind, rng):
    """Four numbers, of which the kind uses as many as its registry row names: pitches of a few centimetres per radian."""
    used = len(BY_NAME[kind].parameters)
    return np.concatenate([rng.uniform(0.02, 0.1, used), np.zeros(4 - used)])


def chain(kinds):
    """A serial chain of the given kinds."""
    return [Body(kind, i) for i, kind in enumerate(kinds)]


def _pendulum():
    return build("pendulum", chain(["revolute"]))


def _slider():
    return build("slider", chain(["prismatic"]))


def _plate():
    return build("plate", chain(["planar"]))


def _free_body():
    return build("free_body", chain(["floating"]))


def _mixed():
    """The kinds that robot files know in one chain, also in the middle and after each other."""
    return build("mixed", chain(["revolute", "planar", "weld", "prismatic", "floating", "revolute", "revolute",
                                 "planar", "prismatic"]))


def _all_kinds():
    """Every registered kind in a tree: on each side of every joint stands another kind."""
    kinds = [row.name for row in ROWS]
    return build("all_kinds", [Body(kind, max(0, i - 1 - i % 2)) for i, kind in enumerate(kinds + kinds[::-1])])


def _branched():
    """Two limbs on a trunk, one of them forked, a slider on the side; a second tree on the world."""
    r, p = "revolute", "prismatic"
    return build("branched", [Body(r, 0), Body(r, 1), Body(p, 2), Body(r, 3), Body(r, 2), Body(r, 5), Body(p, 5),
                              Body(r, 1), Body(r, 0), Body(p, 9)])


def _floating_tree():
    """A floating trunk with four legs of three joints."""
    legs = [Body("revolute", parent) for leg in range(4) for parent in (1, 2 + 3 * leg, 3 + 3 * leg)]
    return build("floating_tree", [Body("floating", 0)] + legs)


def _planar_root():
    """A vehicle with an arm."""
    return build("planar_root", chain(["planar", "revolute", "revolute", "prismatic", "revolute"]))


def _mimic():
    """A gripper on an arm: a slider follows a slider, a hinge follows a hinge backwards, and follows a slider."""
    r, p = "revolute", "prismatic"
    return build("mimic", [Body(r, 0), Body(r, 1), Body(p, 2), Body(p, 2, leader=3, ratio=-1.0, offset=0.02),
                           Body(r, 4), Body(r, 5, leader=2, ratio=0.7, offset=-0.3), Body(r, 2),
                           Body(r, 7, leader=3, ratio=2.5, offset=0.1)])


def _follower_first():
    """A follower that stands before its leader in the order of bodies."""
    return build("follower_first", [Body("revolute", 0, leader=2, ratio=-1.3, offset=0.2), Body("revolute", 1),
                                    Body("prismatic", 1)])


def _welds():
    """Welds at the root, between joints and at the tip."""
    return build("welds", chain(["weld", "revolute", "weld", "weld", "prismatic", "revolute", "weld"]))


def _rotors_only():
    """No damping, large rotors."""
    spec = build("rotors_only", chain(["revolute"] * 4), damped=False)
    spec.rotor_inertia[:] *= 20
    return spec


def _long_chain():
    return build("long_chain", chain(["revolute"] * 30))


def _many_floating():
    """Floating joints below floating joints."""
    return build("many_floating", [Body("floating", 0), Body("floating", 1), Body("revolute", 2), Body("floating", 1)])


def _rough():
    """Friction and stops on single-axis joints, friction on the others."""
    return build("rough", [Body("revolute", 0), Body("prismatic", 1), Body("revolute", 2), Body("planar", 1),
                           Body("revolute", 4)], friction=True, stops=True)


def _two_of(kind):
    """One kind twice, a hinge between."""
    return lambda: build(f"two_{kind}", chain([kind, "revolute", kind]))


BUILDERS = {f.__name__.strip("_"): f for f in (
    _pendulum, _slider, _plate, _free_body, _mixed, _all_kinds, _branched, _floating_tree, _planar_root, _mimic,
    _follower_first, _welds, _rotors_only, _long_chain, _many_floating, _rough)}
BUILDERS.update({f"two_{row.name}": _two_of(row.name) for row in ROWS
                 if row.name not in ("weld", "revolute", "prismatic", "planar", "floating")})
NAMES = sorted(BUILDERS)


def spec(name):
    """The zoo's model of that name."""
    return BUILDERS[name]()


def slices(spec):
    """(registry row, slice in q, slice in v) of each joint with coordinates of its own, in order."""
    out, q, v = [], 0, 0
    for kind, leader in list(zip(spec.joint_kind, spec.leader))[1:]:
        row = BY_NAME[kind]
        if leader < 0:
            out.append((row, slice(q, q + row.nq), slice(v, v + row.nv)))
            q, v = q + row.nq, v + row.nv
    return out


def rated(spec):
    """Those of `slices` whose velocities are the rates of their positions."""
    return [x for x in slices(spec) if x[0].velocities_are_rates]


def unit_parts(spec):
    """Slices of q that must have length one: quaternions and (cos, sin) pairs."""
    skip = {"SE(3)": 3, "SO(3)": 0, "SO(2)": 0}
    return [slice(q.start + skip[row.group], q.stop) for row, q, _ in slices(spec) if row.group in skip]


def random_q(spec, rng, reach=1.0):
    """A configuration: angles within pi, positions within `reach` m, unit quaternions, pitch angles within 1.2 rad."""
    q = rng.uniform(-1, 1, len(spec.q_default))
    for row, q_slice, _ in slices(spec):
        q[q_slice] *= [np.pi if unit == "rad" else reach for unit in row.position_units]
        if row.group.endswith("as rpy"):
            q[q_slice.start + 1] *= 1.2 / np.pi
    for part in unit_parts(spec):
        direction = rng.normal(size=part.stop - part.start)
        q[part] = direction / np.sqrt(direction @ direction)
    return q
