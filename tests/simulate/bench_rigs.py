"""Robots of which everything is known, for tests of benches."""
import mbros


def disc(inertia=0.5, gravity=(0.0, 0.0, 0.0), limit=None):
    """A disc on a hinge along z."""
    b = mbros.ModelBuilder("disc", gravity=gravity)
    body = b.add_body("disc", 1.0, (0, 0, 0), (inertia, inertia, inertia))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, axis=(0, 0, 1), effort=float("inf") if limit is None else limit))
    return b.build()


def rotating_arm(arm=0.7, gravity=(0.0, 0.0, -9.81)):
    """A body on a hinge along z, with a frame "tip" at (arm, 0, 0.1), turned by 30 degrees about z."""
    b = mbros.ModelBuilder("arm", gravity=gravity)
    body = b.add_body("link", 2.0, (0.2, 0, 0), (0.1, 0.1, 0.1))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, body, axis=(0, 0, 1)))
    b.add_frame("tip", body, (arm, 0, 0.1), rpy=(0, 0, 0.5235987755982988))
    return b.build()


def bench(*devices, seed=0):
    out = mbros.Bench(seed=seed)
    for device in devices:
        out.add(device)
    return out
