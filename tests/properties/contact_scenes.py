"""Random scenes of bodies that touch: free bodies and trees, shapes of every kind, ground and height field."""
from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

import mbros

SOLIDS = ("sphere", "capsule", "box", "cylinder", "convex")
JOINTS = (mbros.RevoluteJoint, mbros.PrismaticJoint, mbros.UniversalJoint, mbros.BallJoint)
GROUNDS = ("none", "plane", "field")


@dataclass
class Drawn:
    """Short enough to be read in a failure report: parents of the bodies (-1: a free body; -2: a joint on the world), their kinds of
    joints and shapes, the ground, and the seed of all numbers."""

    parents: list
    joints: list
    solids: list
    ground: str
    gravity: bool
    seed: int

    def model(self, order=None):
        """The model; its bodies added in another order where one is given (parents first)."""
        rng = np.random.default_rng(self.seed)
        plans = [Body(self, k, rng) for k in range(len(self.parents))]
        b = mbros.ModelBuilder("scene", gravity=(0, 0, -9.81 if self.gravity else 0))
        numbers = contact_numbers(rng)
        if self.ground == "plane":
            b.add_ground(0.0, **numbers)
        elif self.ground == "field":
            b.add_ground(heights=0.1 * rng.normal(size=(9, 9)), size=(8.0, 8.0), **numbers)
        made = {}
        for k in order or range(len(plans)):
            plans[k].add(b, made)
        return b.build()

    def start(self, model):
        """Bodies near each other and in motion towards the middle; few of them in each other."""
        rng = np.random.default_rng(self.seed + 1)
        state = model.default_state()
        for k, parent in enumerate(self.parents):
            joint = model.joint(f"joint{k}")
            state.v[joint.v_slice] = rng.normal(size=joint.nv)
            if parent == -1:
                p = cell(k) + rng.uniform(-0.1, 0.1, 3)
                joint.set_pose(state, p=p, quat_wxyz=random_quaternion(rng))
                R = model.pose(state, f"body{k}").R
                state.v[joint.v_slice.start + 3:joint.v_slice.stop] -= R.T @ (2.0 * p)
        return state

    def simulator(self, dt=1e-3, order=None):
        model = self.model(order)
        return mbros.Simulator(model, dt, state=self.start(model))


class Body:
    """Number k of a scene: what is random about it is drawn when it is made, whenever it is added."""

    def __init__(self, scene, k, rng):
        self.k, self.parent, self.kind, self.solid = k, scene.parents[k], scene.joints[k], scene.solids[k]
        self.mass, self.com = 10 ** rng.uniform(-1, 1), 0.05 * rng.normal(size=3)
        self.axis, self.place = rng.normal(size=3), 0.3 * rng.normal(size=3)
        self.geometry, self.X = solid(self.solid, rng), np.eye(4)
        self.X[:3, :3], self.X[:3, 3] = np.linalg.qr(rng.normal(size=(3, 3)))[0], self.com
        self.X[:3, 0] *= np.linalg.det(self.X[:3, :3])
        self.numbers = contact_numbers(rng)
        self.inertia = self.mass * rng.uniform(0.01, 0.015, 3)

    def add(self, b, made):
        body = made[self.k] = b.add_body(f"body{self.k}", self.mass, self.com, self.inertia)
        name = f"joint{self.k}"
        if self.parent == -1:
            b.add_joint(mbros.FloatingJoint(name, b.world, body))
        else:
            on = b.world if self.parent == -2 else made[self.parent]
            place = self.place + (cell(self.k) + (0, 0, 0.3) if self.parent == -2 else 0.0)
            frame, kind = b.add_frame(f"at{self.k}", on, place), JOINTS[self.kind]
            options = {"axis": self.axis, "normalize_axis": True} if self.kind < 2 else {}
            b.add_joint(kind(name, frame, body, **options))
        b.add_collision(body, self.geometry, self.X, **self.numbers)


def cell(k):
    """Where body k starts, about: two rows of three, every other one higher."""
    return np.array([0.55 * (k % 3 - 1), 0.55 * (k // 3 - 0.5), 0.6 + 0.3 * (k % 2)])


def random_quaternion(rng):
    x = rng.normal(size=4)
    return x / np.linalg.norm(x)


def solid(kind, rng):
    a, b, c = rng.uniform(0.05, 0.25, 3)
    if kind == "box":
        return mbros.shapes.box((2 * a, 2 * b, 2 * c))
    if kind == "convex":
        return mbros.shapes.convex(rng.normal(size=(12, 3)) * (a, b, c))
    return mbros.shapes.sphere(a) if kind == "sphere" else getattr(mbros.shapes, kind)(a, 2 * b)


def contact_numbers(rng):
    return dict(stiffness=10 ** rng.uniform(4, 8), relaxation_time=rng.choice([0.0, rng.uniform(0, 0.02)]), friction=rng.uniform(0, 1.2),
                static_friction=rng.choice([0.0, 1.5]), torsional_radius=rng.choice([0.0, 0.02]), rolling_radius=rng.choice([0.0, 0.005]))


@st.composite
def scenes(draw, grounds=GROUNDS, gravity=None, free=False, most=6):
    n = draw(st.integers(1 if grounds != ("none",) else 2, most))
    parents = [-1 if free else draw(st.integers(-2, k - 1)) for k in range(n)]
    return Drawn(parents, [draw(st.integers(0, len(JOINTS) - 1)) for _ in range(n)], [draw(st.sampled_from(SOLIDS)) for _ in range(n)],
                 draw(st.sampled_from(grounds)), draw(st.booleans()) if gravity is None else gravity, draw(st.integers(0, 2**32 - 2)))
