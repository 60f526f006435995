"""A robot on the ROS 2 graph, simulated or real: what it is from robot_description, where it is from joint_states and tf."""
from __future__ import annotations

import sys
import threading
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from mbros.build.load import load
from mbros.describe.urdf.packages import example_robot_data, listed_shares
from mbros.errors import MbrosError
from mbros.names import LONGEST
from mbros.ros.process import middleware
from mbros.ros import require_rclpy
from mbros.ros.interfaces import prepare
from mbros.ros.process.strangers import bare_node, rclpy_executor
from mbros.spatial.placement import Placement, rotation_from_quat_wxyz
from mbros.view.motion import Connection, Motion, Sample
from mbros.view.ros_services import Remote

PATIENCE = 20.0         # s to wait for a robot
QUIET = 3.0             # s without a message after which the page says so
LAG = 0.3               # s to wait for a change to be published
MOST = 10_000           # frames, and joints, that are kept of what comes: any node may publish
PERIOD = 1.0 / 60.0     # s between two looks at what has come: of a topic with 1000 messages a second the newest one is enough


def follow(namespace: str = "", base: str | None = None, package_dirs: Sequence[str] = ()) -> GraphMotion:
    """The robot whose robot_description is on the graph, in a namespace. Waits for it for some seconds.

    Mesh files are read from packages that ament knows, from example-robot-data, and from package_dirs: a robot_description comes
    from any node, and file:// names lead nowhere else.
    """
    rclpy = require_rclpy()
    prepare(log=lambda text: print("mbros:", text, file=sys.stderr, flush=True))
    if not rclpy.ok():
        middleware.init([])
    graph = Graph(rclpy, namespace)
    try:
        end, topic = time.monotonic() + PATIENCE, graph.node.resolve_topic_name("robot_description")
        print(f"mbros: waiting for {topic}, {PATIENCE:g} s at most", file=sys.stderr, flush=True)
        while graph.description is None:
            if time.monotonic() > end:
                raise MbrosError(f"no node has published {topic} for {PATIENCE:g} s. Does the robot run, with the same ROS_DOMAIN_ID, and "
                                 "is its namespace this one (--namespace)?")
            time.sleep(0.05)
        return GraphMotion(graph, _load(graph.description, base, package_dirs))
    except BaseException:
        graph.close()
        raise


def _load(text: str, base: str | None, package_dirs: Sequence[str]) -> Any:
    """The model of a robot_description. Where the root stands is in tf: its base is free unless given, or called world."""
    folders = [*package_dirs, *example_robot_data(), *listed_shares()]
    try:
        return load(text, base=base or "floating", inertia="as_given", package_dirs=folders)
    except MbrosError:
        if base is not None:
            raise
        return load(text, inertia="as_given", package_dirs=folders)


class Graph:
    """The topics, listened to in a thread of its own."""

    def __init__(self, rclpy: Any, namespace: str):
        from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState
        from std_msgs.msg import String
        from tf2_msgs.msg import TFMessage

        self.node = bare_node("mbros_view", namespace=namespace)
        self.description: str | None = None
        self.joints: dict[str, tuple[float, float, float]] = {}         # position, velocity, effort; NaN where not said
        self.links: dict[str, tuple[str, Placement]] = {}               # child: (parent, pose)
        self.stamp, self.moved, self.heard, self.states = 0.0, 0.0, 0, 0            # states: messages of joint_states so far
        self.last = time.monotonic()                                                # when the last of them came
        newest = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        several = QoSProfile(depth=100, reliability=ReliabilityPolicy.BEST_EFFORT)
        kept = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        self.node.create_subscription(String, "robot_description", lambda m: setattr(self, "description", m.data), kept)
        self.node.create_subscription(JointState, "joint_states", self._on_joints, newest)
        self.node.create_subscription(TFMessage, "/tf", self._on_transforms, several)
        self.node.create_subscription(TFMessage, "/tf_static", self._on_transforms, kept)
        self._executor = rclpy_executor()
        self._executor.add_node(self.node)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="mbros-graph", daemon=True)
        self._thread.start()

    def _listen(self) -> None:
        while not self._ending.wait(PERIOD):
            end = time.monotonic() + PERIOD
            while time.monotonic() < end:
                before = self.heard
                self._executor.spin_once(timeout_sec=0.0)
                if self.heard == before:
                    break

    def _on_joints(self, message: Any) -> None:
        self.heard, self.states, self.last = self.heard + 1, self.states + 1, time.monotonic()
        nan = float("nan")
        for k, name in enumerate(message.name):
            position, velocity, effort = (float(part[k]) if k < len(part) else nan
                                          for part in (message.position, message.velocity, message.effort))
            if is_kept(name, self.joints):
                self.joints[name] = position, velocity, effort
        stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
        if stamp != self.stamp:
            self.stamp, self.moved = stamp, time.monotonic()

    def _on_transforms(self, message: Any) -> None:
        self.heard += 1
        for t in message.transforms:
            p, r = t.transform.translation, t.transform.rotation
            quat = np.array([r.w, r.x, r.y, r.z])
            if np.isfinite([p.x, p.y, p.z, *quat]).all() and quat.any() and is_kept(t.child_frame_id, self.links):
                self.links[t.child_frame_id] = t.header.frame_id, Placement(rotation_from_quat_wxyz(quat), np.array([p.x, p.y, p.z]))

    def pose(self, child: str, parent: str | None) -> Placement | None:
        """Where `child` is in `parent`, or for None in the last frame above it; None where tf does not say."""
        X, frame = Placement(), child
        for _ in range(len(self.links) + 1):
            if frame == parent:
                return X
            if frame not in self.links:
                return X if parent is None and frame != child else None
            frame, step = self.links[frame]
            X = step @ X
        return None

    def close(self) -> None:
        self._ending.set()
        self._thread.join(2.0)
        self._executor.shutdown()
        self.node.destroy_node()


def is_kept(name: str, there: dict[str, Any]) -> bool:
    """Whether what comes under a name is kept, beside what is there."""
    return name in there or (len(there) < MOST and len(name) <= LONGEST)


def ends_of(frame: str) -> list[int]:
    """Where what may be the name of a link begins, behind each /."""
    return [k + 1 for k, sign in enumerate(frame) if sign == "/"]


class GraphMotion(Motion):
    """Follows a Graph. can: what the services of the robot's node can, where it has some."""

    def __init__(self, graph: Graph, model: Any):
        self.graph, self.model = graph, model
        self.remote = Remote(graph.node, model)
        self.can = self.remote.can
        self._state = model.default_state()
        self._first: float | None = None
        self._own = graph.node.get_namespace().rpartition("/")[2] + "/"
        self._prefix = self._find_prefix()
        self._lock = threading.Lock()

    def _find_prefix(self) -> str:
        """What stands before the names of links in tf. Of a scene, whose robots may have links of the same names, that of the namespace."""
        names = {body.name for body in self.model.bodies[1:]}
        found = [frame[:k] for frame in list(self.graph.links) for k in ends_of(frame) if frame[k:] in names]
        return self._own if self._own in found else found[0] if found else ""

    def sample(self) -> Sample:
        with self._lock:
            state, efforts = self._state, np.zeros(self.model.nv)
            for joint in self.model.joints:
                if joint.follows or not joint.nv:
                    continue
                seen = self.graph.joints.get(joint.name)
                if seen is not None and joint.nq == 1 and np.isfinite(seen[0]):
                    state.q[joint.q_slice.start], efforts[joint.v_slice.start] = seen[0], np.nan_to_num(seen[2])
                    state.v[joint.v_slice.start] = np.nan_to_num(seen[1])
                else:
                    self._from_tf(state, joint)
            first = self._first = self.graph.stamp if self._first is None or self.graph.stamp < self._first else self._first
            # stamps that count from zero are simulated time
            now = self.graph.stamp if self.graph.stamp < 1e8 else self.graph.stamp - first
            quiet = time.monotonic() - self.graph.last
            return Sample(now, np.array(state.q), np.array(state.v), efforts, playing=time.monotonic() - self.graph.moved < 0.5,
                          fault=f"no joint_states for {quiet:.0f} s: has the robot's node ended?" if quiet > QUIET else "")

    def connection(self) -> Connection:
        node, quiet = self.remote.name or "a robot without services of mbros", time.monotonic() - self.graph.last
        if quiet > QUIET:
            return Connection(f"ROS 2: {node}: nothing for {quiet:.0f} s, what is shown is old", False)
        return Connection(f"ROS 2: {node}")

    def _from_tf(self, state: Any, joint: Any) -> None:
        """A joint's position from the pose of the body it carries."""
        if self._prefix != self._own:
            self._prefix = self._find_prefix()
        parent = None if joint.parent.name == "world" else self._prefix + joint.parent.name
        X_PB = self.graph.pose(self._prefix + joint.child.name, parent)
        if X_PB is not None:
            row = joint._row
            joint.set_pose(state, (row.X_PF.inverse() @ X_PB @ row.X_BM).matrix())

    # ------------------------------------------------------------------------------------------------------ the node's services

    def play(self) -> None:
        self.remote.pause(False)

    def pause(self) -> None:
        self.remote.pause(True)

    def step(self, n: int = 1) -> None:
        self.remote.step(n)

    def reset(self) -> None:
        self.remote.trigger("reset")

    def place(self, q: np.ndarray) -> None:
        """Returns when samples show it: the message after next was sent after the answer."""
        self.remote.set_state(q)
        seen, end = self.graph.states, time.monotonic() + LAG
        while self.graph.states < seen + 2 and time.monotonic() < end:
            time.sleep(0.005)

    def parameter_names(self) -> list[str]:
        return self.remote.parameter_names()

    def parameter(self, name: str) -> Any:
        return self.remote.parameter(name)

    def set_parameter(self, name: str, value: Any) -> None:
        self.remote.set_parameter(name, value)

    def close(self) -> None:
        self.graph.close()
