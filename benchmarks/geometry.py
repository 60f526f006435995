"""python -m benchmarks.geometry: contact points of pairs of shapes, in a loop without the interpreter; beside them a call of coal and of
MuJoCo
from Python (about 0.3 and 0.6 us of which are the call) on the same poses.

Half-spaces and height fields: a solid of about 0.5 m at random orientations within a few centimetres of the ground. Solids with each
other: random
orientations, pushed together until they are 5 mm deep. Times are the best of many batches, of this thread's CPU.
"""
import argparse

import numpy as np

from benchmarks._timing import interleave, quiet, table
from mbros.spatial import lie
from mbros_core import geometry
from mbros_core.geometry._geometry import nanoseconds

POSES = 128
DEPTH = 5e-3


def ball_of(rng, n):
    v = rng.normal(size=(n, 3))
    return geometry.convex(0.25 * v / np.linalg.norm(v, axis=1)[:, None])


def shapes(rng):
    return {"sphere": geometry.sphere(0.25), "capsule": geometry.capsule(0.1, 0.3), "box": geometry.box((0.4, 0.3, 0.25)),
            "cylinder": geometry.cylinder(0.2, 0.3), "convex 8": ball_of(rng, 8), "convex 64": ball_of(rng, 64)}


def random_poses(rng, n):
    X = np.tile(np.eye(4), (n, 1, 1))
    X[:, :3, :3] = lie.matrix(rng.normal(size=(n, 4)))
    return X


def near(a, b, rng):
    """Random orientations, b along a random direction from a, DEPTH deep."""
    A, B = random_poses(rng, POSES), random_poses(rng, POSES)
    way = rng.normal(size=(POSES, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    low, high = np.zeros(POSES), np.full(POSES, 2.0)
    for _ in range(30):
        B[:, :3, 3] = (0.5 * (low + high))[:, None] * way
        deep = geometry.contacts_of_many(a, A, b, B).depths.max(axis=1) > DEPTH
        low, high = np.where(deep, 0.5 * (low + high), low), np.where(deep, high, 0.5 * (low + high))
    return A, B


def best(a, A, b, B, batches):
    rounds = max(1, int(2e5 / (POSES * max(5.0, nanoseconds(a, A, b, B)[0]))))
    return min(nanoseconds(a, A, b, B, 0.0, rounds)[0] for _ in range(batches)), nanoseconds(a, A, b, B)[1]


def coal_call(a, A, b, B):
    """A function that makes n calls of coal.collide, over the poses in turn; None without coal."""
    try:
        import coal
    except ImportError:
        return None

    def made(s):
        if s.kind != "convex":
            return getattr(coal, s.kind.capitalize())(*s.sizes)
        points = coal.StdVec_Vec3s()
        for vertex in s.points:
            points.append(vertex)
        return coal.Convex.convexHull(points, False, "")

    def placed(X):
        return [coal.Transform3s(x[:3, :3].copy(), x[:3, 3].copy()) for x in X]

    ca, cb, FA, FB, request, result = made(a), made(b), placed(A), placed(B), coal.CollisionRequest(), coal.CollisionResult()
    request.num_max_contacts = 4

    def run(n):
        for k in range(n):
            result.clear()
            coal.collide(ca, FA[k % POSES], cb, FB[k % POSES], request, result)
    return run


def mujoco_call(a, A, b, B):
    """The same of mujoco.mj_collision, the bodies placed before, POSES models in turn; None without MuJoCo."""
    try:
        import mujoco
    except ImportError:
        return None

    def geom(s):
        if s.kind == "convex":
            return 'type="mesh" mesh="m"', f'<mesh name="m" vertex="{" ".join(f"{x:.17g}" for x in s.points.ravel())}"/>'
        numbers = {"sphere": s.sizes, "box": [0.5 * x for x in s.sizes]}.get(s.kind, (s.sizes[0], 0.5 * s.sizes[-1]))
        return f'type="{s.kind}" size="{" ".join(map(str, numbers))}"', ""

    (ga, ma), (gb, mb) = geom(a), geom(b)
    mb, gb = mb.replace('"m"', '"o"'), gb.replace('"m"', '"o"')
    model = mujoco.MjModel.from_xml_string(f"<mujoco><asset>{ma}{mb}</asset><worldbody><body mocap='true'><geom {ga}/></body>"
                                           f"<body><freejoint/><geom {gb} mass='1'/></body></worldbody></mujoco>")
    datas = []
    for k in range(16):
        data = mujoco.MjData(model)
        quats = np.zeros((2, 4))
        for quat, X in zip(quats, (A[k], B[k])):
            mujoco.mju_mat2Quat(quat, X[:3, :3].ravel())
        data.mocap_pos[0], data.mocap_quat[0] = A[k, :3, 3], quats[0]
        data.qpos[:3], data.qpos[3:] = B[k, :3, 3], quats[1]
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        datas.append(data)

    def run(n):
        for k in range(n):
            mujoco.mj_collision(model, datas[k % 16])
    return run


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.geometry", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer batches")
    batches = 5 if parser.parse_args().quick else 40
    rng = np.random.default_rng(0)
    solids = shapes(rng)
    rows = []
    with quiet():
        for name, ground in (("half_space", geometry.half_space()),
                             ("height_field", geometry.height_field(rng.normal(size=(40, 40)) * 0.02, (8, 8)))):
            for kind, s in solids.items():
                B = random_poses(rng, POSES)
                B[:, 2, 3] = rng.uniform(0.15, 0.25, POSES)
                ns, points = best(ground, np.eye(4), s, B, batches)
                rows.append((name, kind, f"{ns:.0f}", f"{points:.1f}", "", ""))
        names = list(solids)
        for k, one in enumerate(names):
            for other in names[k:]:
                a, b = solids[one], solids[other]
                A, B = near(a, b, rng)
                ns, points = best(a, A, b, B, batches)
                peers = {name: run for name, run in (("coal", coal_call(a, A, b, B)), ("mujoco", mujoco_call(a, A, b, B))) if run}
                times = interleave(peers, batches=max(5, batches // 4), batch_seconds=1e-3) if peers else {}
                rows.append((one, other, f"{ns:.0f}", f"{points:.1f}",
                             *(f"{times[name].best:.0f}" if name in times else "" for name in ("coal", "mujoco"))))
    table("contact points of one pair, ns", ("a", "b", "ns", "points", "coal from Python", "mj_collision from Python"), rows)


if __name__ == "__main__":
    main()
