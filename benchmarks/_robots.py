"""The robots that are timed, and the peers' models of them.

The peers are those that the tests compare with, so that what is timed is known to be equal; equality is checked here
once more before any clock starts.
"""
import dataclasses
import sys
from pathlib import Path

import numpy as np

import mbros
import mbros_core

TESTS = Path(__file__).resolve().parent.parent / "tests"
ROBOTS = [("ur5", "fixed"), ("panda", "fixed"), ("solo12", "floating"), ("talos", "floating"), ("arm7", "fixed"),
          ("humanoid", "floating")]


class Robot:
    """A robot, two of its states, and the same two states for Pinocchio and MuJoCo (None where not installed)."""

    def __init__(self, name, base, rng):
        self.name = name
        loaded = mbros.load(name, base=base, mimic=False)
        self.nv, self.random_configuration = loaded.nv, loaded.random_configuration
        self.model = mbros_core.Model(without_passive_terms(loaded.spec))
        self.q = [self.random_configuration(rng) for _ in range(2)]
        self.v, self.x = rng.normal(size=(2, 2, self.nv))
        self.states = [self._state(k) for k in range(2)]
        self.pin = self._pinocchio(base)
        self.mujoco = self._mujoco()

    def _state(self, k):
        state = self.model.default_state()
        state.q[:], state.v[:] = self.q[k], self.v[k]
        return state

    def _pinocchio(self, base):
        try:
            peer_module = of_tests("pinocchio_peer")
        except ImportError:
            return None
        robots = of_tests("robots")
        loaded = robots.loaded(self.name, base, mimic=False)
        return PinocchioSide(peer_module, peer_module.from_urdf(loaded, mimic=False), self)

    def _mujoco(self):
        try:
            peer_module = of_tests("mujoco_peer")
        except ImportError:
            return None
        return MujocoSide(peer_module, peer_module.Peer(self.model.spec), self)


def without_passive_terms(spec):
    """The peers' smooth dynamics have neither damping nor friction nor stops."""
    return dataclasses.replace(spec, **{name: np.zeros(len(spec.damping)) for name in ("damping", "friction", "stop_stiffness",
                                                                                      "stop_damping")})


class PinocchioSide:
    """Pinocchio's q, v, and its acceleration or effort, for the two states."""

    def __init__(self, module, peer, robot):
        self.pin, self.model, self.data = module.pin, peer.model, peer.data
        self.q = [peer.q(q) for q in robot.q]
        self.v = [peer.T(q) @ v for q, v in zip(robot.q, robot.v)]
        self.x = [np.linalg.solve(peer.T(q).T, x) for q, x in zip(robot.q, robot.x)]
        _check("Pinocchio", robot, [peer.forward_dynamics(q, v, x) for q, v, x in zip(robot.q, robot.v, robot.x)])


class MujocoSide:
    """MuJoCo's qpos, qvel and qfrc for the two states."""

    def __init__(self, module, peer, robot):
        self.mujoco, self.model, self.data = module.mujoco, peer.model, peer.data
        self.q, self.v, self.x, answers = [], [], [], []
        for q, v, x in zip(robot.q, robot.v, robot.x):
            answers.append(peer.forward_dynamics(q, v, x))
            for kept, array in ((self.q, peer.data.qpos), (self.v, peer.data.qvel), (self.x, peer.data.qfrc_applied)):
                kept.append(array.copy())
        _check("MuJoCo", robot, answers)


def _check(peer, robot, answers):
    for state, x, answer in zip(robot.states, robot.x, answers):
        ours = robot.model.forward_dynamics(state, x)
        error = np.abs(ours - answer).max() / np.abs(answer).max()
        if not error < 1e-9:
            raise RuntimeError(f"{robot.name}: mbros and {peer} disagree by {error:.1e}: nothing was timed")


def of_tests(name):
    """A module of the tests; ImportError where its peer is missing (pytest's skip is no ImportError)."""
    import importlib
    for folder in (TESTS, TESTS / "peers"):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    if name.endswith("_peer"):
        importlib.import_module(name.removesuffix("_peer"))
    return importlib.import_module(name)


def all_robots(seed=1):
    """Those that can be had here."""
    found = []
    for name, base in ROBOTS:
        try:
            found.append(Robot(name, base, np.random.default_rng(seed)))
        except mbros.UnknownNameError as error:
            print(f"  left out: {error}")
    return found
