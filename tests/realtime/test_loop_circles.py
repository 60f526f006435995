"""Loops that the garbage collector frees."""
import ctypes
import gc
import weakref

import rig as rigs

from mbros_core.realtime import Loop

POINTER = ctypes.c_void_p
OPEN = ctypes.CFUNCTYPE(ctypes.c_int, POINTER, POINTER, ctypes.c_int64, POINTER)
GIVE_BELL = ctypes.CFUNCTYPE(None, POINTER, POINTER)
FREED = ctypes.CFUNCTYPE(None, POINTER)


class Port(ctypes.Structure):           # mbros_gate of ports.hpp
    _fields_ = [("own", POINTER), ("open", OPEN), ("give_bell", GIVE_BELL)]


class Gate:
    """Says when it is given a bell, and when nobody keeps its capsule any more."""

    def __init__(self):
        self.seen = []
        self.freed = FREED(lambda capsule: self.seen.append("freed"))
        self.port = Port(None, OPEN(lambda *_: 1), GIVE_BELL(lambda own, bell: self.seen.append("a bell" if bell else "no bell")))

    @property
    def capsule(self):
        return rigs._capsule(ctypes.addressof(self.port), b"mbros_core.gate", ctypes.cast(self.freed, POINTER))


def test_a_loop_in_a_circle_hangs_up_before_its_plugs_go(rig):
    gate = Gate()
    loop = Loop(rig, gate=gate, rt="off", watchdog_timeout=None)
    loop.itself, gone = loop, weakref.ref(loop)
    gc.collect()
    assert gate.seen == ["a bell"]
    del loop
    gc.collect()
    assert gone() is None and gate.seen == ["a bell", "no bell", "freed"]
