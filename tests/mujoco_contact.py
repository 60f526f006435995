"""MuJoCo's model of a mbros.Model with its shapes: the same bodies, masses, shapes and pairs that never touch, for contact.

MuJoCo's contact is another law: a reference acceleration -b v - k r of the gap r instead of a force, mixed with the unconstrained one by
an impedance d. With direct solref (-k, -b) and d near one, a body of mass m that meets a wall where nothing else pulls feels m (k r + b v).
"""
import numpy as np
from mujoco_mirror import all_bodies, mujoco, quat_wxyz, words

ALMOST_ONE = 0.9999                  # the largest impedance that MuJoCo takes
KINDS = {"sphere": lambda s: ("sphere", s), "box": lambda s: ("box", np.asarray(s) / 2), "capsule": lambda s: ("capsule", (s[0], s[1] / 2)),
         "cylinder": lambda s: ("cylinder", (s[0], s[1] / 2)), "half_space": lambda s: ("plane", (0, 0, 1))}


def geom(spec, k, extra=""):
    """One shape as a <geom>, with its coefficient of sliding friction."""
    shape, X = spec.shape_geometry[k], np.asarray(spec.shape_X[k])
    kind, size = KINDS[shape.kind](shape.sizes)
    quat, mu = quat_wxyz(X[:9].reshape(3, 3)), spec.shape_parameters[k][2]
    return (f'<geom name="g{k}" type="{kind}" size="{words(np.ravel(size))}" pos="{words(X[9:])}" quat="{words(quat)}" '
            f'friction="{mu:.17g} 0 0" {extra}/>')


def excluded_bodies(spec):
    """Pairs of bodies none of whose shapes touch each other."""
    body = np.asarray(spec.shape_body)
    never = {tuple(sorted(map(int, pair))) for pair in spec.shape_excluded}
    solid = {tuple(sorted((int(body[a]), int(body[b])))) for a in range(len(body)) for b in range(a) if body[a] != body[b]}
    touching = {tuple(sorted((int(body[a]), int(body[b])))) for a in range(len(body)) for b in range(a) if (b, a) not in never}
    return sorted(solid - touching)


def compiled_with_contact(spec, dt=1e-3, option="", geoms=""):
    """The model; option: more attributes of <option>, geoms: of every <geom>."""
    by_body = {}
    for k, body in enumerate(spec.shape_body):
        by_body.setdefault(int(body), []).append(geom(spec, k, geoms))
    excluded = "".join(f'<exclude body1="{name(a)}" body2="{name(b)}"/>' for a, b in excluded_bodies(spec))
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option timestep="{dt}" gravity="{words(spec.gravity)}" {option}/>'
        f'<worldbody>{all_bodies(spec, by_body)}</worldbody><contact>{excluded}</contact></mujoco>')


def name(body):
    return f"b{body}" if body else "world"
