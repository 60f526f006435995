"""Plants and ports for the tests: rig.c, compiled with the C compiler and put into capsules with ctypes."""
from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sysconfig

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
PAUSED, FAULT, STEPPED, WATCHDOG, RESET = 1, 2, 4, 8, 16

_capsule = ctypes.pythonapi.PyCapsule_New
_capsule.restype = ctypes.py_object
_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


def compiler(*candidates):
    """A C or C++ compiler on this machine, or None."""
    configured = (sysconfig.get_config_var("CXX" if "c++" in candidates else "CC") or "").split()[:1]
    return next((found for found in map(shutil.which, [*configured, *candidates]) if found), None)


def compile_library(folder, source="rig.c"):
    """Shared library of one C file of this folder."""
    library = os.path.join(str(folder), source.replace(".c", ".so"))
    subprocess.run([compiler("cc", "gcc", "clang"), "-O1", "-fPIC", "-shared", "-o", library, os.path.join(HERE, source),
                    "-lm", "-ldl"], check=True)
    return library


def load(library):
    c = ctypes.CDLL(library)
    doubles, whole = ctypes.POINTER(ctypes.c_double), ctypes.c_int64
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("bytes_needed", whole, []), ("rig_new", pointer, [pointer, ctypes.c_int, doubles, doubles]),
            ("rig_hanging", whole, [pointer]), ("rig_tune", None, [pointer, ctypes.c_double, whole, whole, whole]),
            ("script_new", pointer, [pointer, ctypes.c_int, whole, ctypes.POINTER(whole), doubles]),
            ("log_new", pointer, [pointer, whole, whole, doubles]),
            ("log_rows", whole, [pointer]), ("log_idle", whole, [pointer]), ("log_slow", None, [pointer, whole])):
        function = getattr(c, name)
        function.restype, function.argtypes = result, arguments
    return c


def _doubles(array):
    return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


class Rig:
    """Unit masses on springs. Behaves like mbros_core.Plant as far as a Loop is concerned."""

    def __init__(self, c, n=2, q=None, v=None, library=None):
        self.c, self.n, self.library = c, n, library
        q = np.zeros(n) if q is None else np.array(q, float)
        v = np.zeros(n) if v is None else np.array(v, float)
        self.memory = ctypes.create_string_buffer(c.bytes_needed())
        self.pointer = c.rig_new(self.memory, n, _doubles(q), _doubles(v))
        self.capsule = _capsule(self.pointer, b"mbros_core.plant", None)
        self.layout = {"q": (0, n), "v": (n, n), "effort": (2 * n, n), "calls": (3 * n, 1), "allocations": (3 * n + 1, 1),
                       "mixed": (3 * n + 2, 1), "fault": (3 * n + 3, 2)}
        self.parameters = {"stiffness": (0, n), "damping": (n, n)}

    def parameter_block(self):
        return np.zeros(2 * self.n)

    def fault_text(self, code, index):
        return f"mass {index} is too fast (code {code})"

    def tune(self, largest_speed=1e6, allocate_each=0, not_finite_at=0, hang=0):
        self.c.rig_tune(self.pointer, largest_speed, allocate_each, not_finite_at, hang)

    @property
    def hanging(self):
        """A step hangs right now, as tune(hang=1) asked for."""
        return bool(self.c.rig_hanging(self.pointer))

    def watch_holding_the_lock(self, steps, seconds):
        """Wait in C, interpreter lock held, until the plant has taken `steps` more steps; returns how many it took."""
        watch = ctypes.PyDLL(self.library).rig_watch
        watch.restype, watch.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_int64, ctypes.c_double]
        return watch(self.pointer, steps, seconds)

    def part(self, x, name):
        start, size = self.layout[name]
        return x[..., start:start + size]


class Script:
    """An input that delivers commands[k] at poll at[k]; the loop polls once in every slot, the first one included."""

    def __init__(self, c, at, commands):
        self.c = c
        self.at = np.array(at, np.int64)
        self.commands = np.ascontiguousarray(commands, float)
        self.memory = ctypes.create_string_buffer(c.bytes_needed())
        self.pointer = c.script_new(self.memory, self.commands.shape[1], len(self.at),
                                    self.at.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), _doubles(self.commands))
        self.capsule = _capsule(self.pointer, b"mbros_core.input", None)


class Log:
    """An output that keeps every snapshot, except those of a pause that neither step nor reset made: they are `idle`."""

    def __init__(self, c, rig, room=5000):
        self.c, self.rig = c, rig
        self.table = np.zeros((room, 5 + 3 * rig.n + 5))
        self.memory = ctypes.create_string_buffer(c.bytes_needed())
        self.pointer = c.log_new(self.memory, room, self.table.shape[1], _doubles(self.table))
        self.capsule = _capsule(self.pointer, b"mbros_core.output", None)

    def slow(self, ns):
        self.c.log_slow(self.pointer, ns)

    @property
    def idle(self):
        return self.c.log_idle(self.pointer)

    @property
    def rows(self):
        return self.table[:self.c.log_rows(self.pointer)]

    @property
    def step(self):
        return self.rows[:, 0].astype(int)

    @property
    def time(self):
        return self.rows[:, 1]

    @property
    def wall_ns(self):
        return self.rows[:, 2]

    @property
    def age_ns(self):
        return self.rows[:, 3]

    @property
    def flags(self):
        return self.rows[:, 4].astype(int)

    def __getitem__(self, name):
        return self.rig.part(self.rows[:, 5:], name)


def expected(n_steps, tau, dt=1e-3, q=0.0, v=0.0, stiffness=0.0, damping=0.0):
    """The rig's arithmetic in Python, one mass: (q, v) after every step, bit for bit. tau: number or one per step."""
    out = np.empty((n_steps, 2))
    tau = np.broadcast_to(np.asarray(tau, float), (n_steps,))
    for k in range(n_steps):
        v = v + dt * (tau[k] - stiffness * q - damping * v)
        q = q + dt * v
        out[k] = q, v
    return out
