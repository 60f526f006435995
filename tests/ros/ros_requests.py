"""Calls of the services of mbros_msgs, for the tests."""
from __future__ import annotations


def lock(sim, joints, yes):
    from mbros_msgs.srv import SetJointLock
    return sim.call(SetJointLock, "set_joint_lock", SetJointLock.Request(joints=joints, lock=yes))


def put(sim, names=(), position=(), velocity=(), poses=None, twists=None, effort=()):
    """Call ~/set_state. poses: joint -> (p, quat_wxyz); twists: joint -> (angular, linear)."""
    from geometry_msgs.msg import Transform, Twist
    from mbros_msgs.srv import SetState
    request = SetState.Request()
    request.joint_state.name, request.joint_state.effort = list(names), [float(x) for x in effort]
    request.joint_state.position, request.joint_state.velocity = [float(x) for x in position], [float(x) for x in velocity]
    multi = request.multi_dof_joint_state
    multi.joint_names = list((poses or twists or {}).keys())
    for p, (w, x, y, z) in (poses or {}).values():
        t = Transform()
        (t.translation.x, t.translation.y, t.translation.z), (t.rotation.w, t.rotation.x, t.rotation.y, t.rotation.z) = p, (w, x, y, z)
        multi.transforms.append(t)
    for w, v in (twists or {}).values():
        t = Twist()
        (t.angular.x, t.angular.y, t.angular.z), (t.linear.x, t.linear.y, t.linear.z) = w, v
        multi.twist.append(t)
    return sim.call(SetState, "set_state", request)
