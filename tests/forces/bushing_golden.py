"""The stored bushing cases (Drake 1.51.1 and a re-derivation), as models of mbros."""
import json
from pathlib import Path

import numpy as np

import mbros
from mbros.spatial.vectors import Pose

DATA = json.loads((Path(__file__).parent.parent / "golden" / "bushing.json").read_text())
CASES = DATA["cases"]


def pose(x):
    return Pose(np.array(x["R"]), np.array(x["p"]))


def built(X_L0A, X_L1C, constants, law="drake"):
    """Two free bodies L0, L1 with a bushing between frames A and C."""
    b = mbros.ModelBuilder("two", gravity=(0, 0, 0))
    links = [b.add_body(name, 1.5, (0, 0, 0), (0.1, 0.2, 0.25)) for name in ("L0", "L1")]
    for link in links:
        b.add_joint(mbros.FloatingJoint(f"free_{link.name}", b.world, link))
    A, C = b.add_frame("A", links[0], pose=X_L0A), b.add_frame("C", links[1], pose=X_L1C)
    b.add_force_element(mbros.LinearBushingRollPitchYaw(A, C, *constants, law=law, name="bushing"))
    return b.build()


def at(model, poses, velocities):
    """The state in which L0 and L1 have these poses in the world and (w, v) in world axes."""
    state = model.default_state()
    for i, (X, (w, v)) in enumerate(zip(poses, velocities)):
        state.q[7 * i:7 * i + 7] = [*X.p, *X.quat_wxyz]
        state.v[6 * i:6 * i + 6] = [*(X.R.T @ w), *(X.R.T @ v)]
    return state


def case_state(case, law="drake"):
    """(model, its bushing, state) of a stored case."""
    constants = [case[k] for k in ("k012", "d012", "kxyz", "dxyz")]
    model = built(pose(case["X_L0A"]), pose(case["X_L1C"]), constants, law)
    V = [(np.array(case[k]["rot"]), np.array(case[k]["lin"])) for k in ("V_WL0_W", "V_WL1_W")]
    return model, model.force_elements["bushing"], at(model, [pose(case["X_WL0"]), pose(case["X_WL1"])], V)


def straight(angles, constants, law="drake", p=(0.0, 0.0, 0.0), rates=(0.0, 0.0, 0.0), v=(0.0, 0.0, 0.0)):
    """A at rest in the world, C at the given roll, pitch, yaw and p_AoCo, turning with w_AC = rates and moving with v."""
    from mbros.spatial.placement import rotation_from_rpy

    model = built(Pose(np.eye(3), np.zeros(3)), Pose(np.eye(3), np.zeros(3)), constants, law)
    poses = [Pose(np.eye(3), np.zeros(3)), Pose(rotation_from_rpy(angles), np.array(p, float))]
    state = at(model, poses, [(np.zeros(3), np.zeros(3)), (np.array(rates, float), np.array(v, float))])
    return model, model.force_elements["bushing"], state
