"""One-joint models from the golden files, and the numbers Drake has for them."""
import json
from pathlib import Path

import numpy as np

import mbros
from mbros.spatial.vectors import Pose

GOLDEN = Path(__file__).parent / "golden"


def load(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


def pose(x):
    return Pose(np.array(x["R"]), np.array(x["p"]))


def spatial(x):
    """(6,) [rotational; translational]."""
    return np.array([*x["rot"], *x["lin"]])


def central_inertia(body):
    """About the centre of mass, from Drake's about Bo."""
    m, c = body["mass"], np.array(body["com_B"])
    return np.array(body["rotational_inertia_about_Bo_B"]) - m * ((c @ c) * np.eye(3) - np.outer(c, c))


def one_joint(case, joint_class, *args, gravity=(0, 0, -9.81), **options):
    """The model of a golden case: world, one joint "j", one body "B"."""
    b = mbros.ModelBuilder("one", gravity)
    data = case["body_B"]
    body = b.add_body("B", data["mass"], data["com_B"], central_inertia(data))
    F = b.add_frame("F", b.world, pose=pose(case["X_PF"]))
    M = b.add_frame("M", body, pose=pose(case["X_BM"]))
    b.add_joint(joint_class("j", F, M, *args, **options))
    return b.build()


def box(b, name, mass=1.3):
    """A body without symmetry."""
    I = np.array([[0.3, 0.02, -0.03], [0.02, 0.4, 0.01], [-0.03, 0.01, 0.5]])
    return b.add_body(name, mass, (0.1, -0.2, 0.05), I)


def every_kind(rng, limits=False):
    """A chain of every kind of joint people can write, with ugly placements, on a tree of two branches."""
    b = mbros.ModelBuilder("every kind", (0.3, -0.7, -9.4))
    axis = rng.normal(size=3)
    makers = [
        ("revolute", lambda n, p, c: mbros.RevoluteJoint(n, p, c, axis, normalize_axis=True)),
        ("planar", lambda n, p, c: mbros.PlanarJoint(n, p, c)),
        ("screw", lambda n, p, c: mbros.ScrewJoint(n, p, c, (0, 0.6, 0.8), pitch_m_per_rad=-0.07)),
        ("cylindrical", lambda n, p, c: mbros.CylindricalJoint(n, p, c, (0.6, 0, -0.8))),
        ("circular", lambda n, p, c: mbros.ContinuousJoint(n, p, c, (-0.8, 0.6, 0), representation="cos_sin")),
        ("universal", lambda n, p, c: mbros.UniversalJoint(n, p, c)),
        ("ball", lambda n, p, c: mbros.BallJoint(n, p, c)),
        ("weld", lambda n, p, c: mbros.WeldJoint(n, p, c)),
        ("ball_rpy", lambda n, p, c: mbros.BallRpyJoint(n, p, c)),
        ("floating", lambda n, p, c: mbros.FloatingJoint(n, p, c)),
        ("prismatic", lambda n, p, c: mbros.PrismaticJoint(n, p, c, axis, normalize_axis=True)),
        ("translation1", lambda n, p, c: mbros.TranslationJoint(n, p, c, 1)),
        ("translation2", lambda n, p, c: mbros.TranslationJoint(n, p, c, 2)),
        ("translation3", lambda n, p, c: mbros.TranslationJoint(n, p, c, 3)),
        ("continuous", lambda n, p, c: mbros.ContinuousJoint(n, p, c, axis, normalize_axis=True)),
        ("floating_rpy", lambda n, p, c: mbros.FloatingRpyJoint(n, p, c)),
        ("bounded", lambda n, p, c: mbros.BoundedRotation(n, p, c)),
    ]
    bodies = [b.world]
    for k, (name, make) in enumerate(makers):
        parent = bodies[max(0, k - 1 - k % 2)]
        body = box(b, f"{name}_body", rng.uniform(0.5, 3))
        F = b.add_frame(f"F{k}", parent, rng.uniform(-0.4, 0.4, 3), rng.uniform(-3, 3, 3))
        M = b.add_frame(f"M{k}", body, rng.uniform(-0.4, 0.4, 3), rng.uniform(-3, 3, 3))
        b.add_joint(make(name, F, M))
        bodies.append(body)
    return b


def pitch_ok(model, q):
    """q with the pitch of roll-pitch-yaw joints kept away from 90 degrees."""
    q = q.copy()
    for joint in model.joints:
        if joint.kind.endswith("rpy"):
            q[joint.q_slice.start + 1] *= 0.4
    return q
