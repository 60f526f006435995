"""Plain forward kinematics over the user's description: the oracle of the compiler. Scalars, one joint at a time."""
import math

import numpy as np


def rotation_about(axis, angle):
    """Rodrigues' formula."""
    x, y, z = axis
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + math.sin(angle) * K + (1 - math.cos(angle)) * (K @ K)


def homogeneous(R=np.eye(3), p=(0, 0, 0)):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def joint_transform(joint, q):
    """X_FM(q) of a user joint."""
    if joint.kind == "weld":
        return np.eye(4)
    if joint.kind in ("revolute", "continuous"):
        return homogeneous(rotation_about(joint.axis, q[0]))
    if joint.kind == "prismatic":
        return homogeneous(p=joint.axis * q[0])
    if joint.kind == "planar":
        return homogeneous(rotation_about((0, 0, 1), q[2]), (q[0], q[1], 0))
    w, x, y, z = q[3:]
    angle = 2 * math.atan2(math.sqrt(x * x + y * y + z * z), w)
    axis = np.array([x, y, z]) / math.sqrt(x * x + y * y + z * z)
    return homogeneous(rotation_about(axis, angle), q[:3])


def body_poses(description, q_of_joint):
    """name -> X_WB, from the joints' own coordinates by name."""
    X_W = {description.world.name: np.eye(4)}
    pending = list(description.joints)
    while pending:
        later = []
        for joint in pending:
            if joint.parent.name not in X_W:
                later.append(joint)
                continue
            X_WM = X_W[joint.parent.name] @ joint.X_PF.matrix() @ joint_transform(joint, q_of_joint[joint.name])
            X_W[joint.child.name] = X_WM @ np.linalg.inv(joint.X_BM.matrix())
        assert len(later) < len(pending)
        pending = later
    return X_W


def spec_poses(spec, q):
    """X_WC of every compiled body, from the engine's tables alone. Followers read their leader's coordinates."""
    sizes = {"weld": 0, "revolute": 1, "prismatic": 1, "planar": 3, "floating": 7}
    start, at = {}, 0
    for i, kind in enumerate(spec.joint_kind):
        if spec.leader[i] < 0:
            start[i] = at
            at += sizes[kind]
    X = [np.eye(4)]
    for i in range(1, len(spec.parent)):
        kind, k = spec.joint_kind[i], start[i if spec.leader[i] < 0 else spec.leader[i]]
        mine = q[k:k + sizes[kind]]
        if spec.leader[i] >= 0:
            mine = spec.ratio[i] * mine + spec.offset[i]
        X_PF = homogeneous(spec.X_PF[i, :9].reshape(3, 3), spec.X_PF[i, 9:])

        class Row:
            axis = np.array([0.0, 0.0, 1.0])
        Row.kind = kind
        X.append(X[spec.parent[i]] @ X_PF @ joint_transform(Row, mine))
    assert at == len(q)
    return X


def frame_poses(spec, q):
    """X_WF of every row of the frame table."""
    X = spec_poses(spec, q)
    return [X[body] @ homogeneous(row[:9].reshape(3, 3), row[9:]) for body, row in zip(spec.frame_body, spec.X_BF)]


def joint_coordinates(compiled, q):
    """name -> the joint's own coordinates, mimic resolved."""
    out = {}
    for joint in compiled.joints:
        mine = q[joint.q_start:joint.q_start + joint.nq]
        out[joint.name] = mine if joint.mimic is None else joint.mimic[1] * mine + joint.mimic[2]
    return out


def random_q(compiled, rng):
    spec = compiled.spec
    q = rng.uniform(-2, 2, len(spec.q_default))
    for joint in compiled.joints:
        if joint.kind == "floating":
            k = joint.q_start + 3
            q[k:k + 4] /= np.linalg.norm(q[k:k + 4])
    return q
