"""The rig of the error tables: a model, a state that is not at rest, builder and description; and what must be unchanged after a
refusal."""
from functools import cached_property
from operator import attrgetter

import numpy as np
import pytest
import seed_models

import mbros

PARTS = ("ball", "ci", "fl", "pl", "r", "tr")
DESCRIBED = ("defaults.damping", "defaults.positions", "lower", "upper", "velocity_lower", "velocity_upper", "acceleration_lower",
             "acceleration_upper", "axis", "name", "locked", "random", "mimic")


def build(name="rig"):
    b = mbros.ModelBuilder(name)
    body = {n: seed_models.box(b, f"{n}_body") for n in PARTS}
    b.add_joint(mbros.RevoluteJoint("r", b.world, body["r"], lower=-1.0, upper=1.0))
    b.add_joint(mbros.PlanarJoint("pl", b.world, body["pl"], damping=(0.1, 0.2, 0.3)))
    b.add_joint(mbros.FloatingJoint("fl", b.world, body["fl"]))
    b.add_joint(mbros.BallJoint("ball", body["r"], body["ball"]))
    b.add_joint(mbros.TranslationJoint("tr", b.world, body["tr"], 3))
    b.add_joint(mbros.ContinuousJoint("ci", body["tr"], body["ci"], representation="cos_sin"))
    b.add_force_element(mbros.Bushing(b.world, body["fl"], 10.0, 1.0, 100.0, 1.0, name="mount"))
    b.add_force_element(mbros.JointSpring(b.joint("r"), stiffness=1.0, name="spring"))
    return b


class Rig:
    """b, m, s: builder, model, state. d(name), j(name): a joint's description, and the model's joint. mount: the bushing."""

    def __init__(self):
        self.b = build()
        self.m = self.b.build()
        self.s = self.m.random_state(5)
        self.s.v[:] = np.linspace(-1.0, 1.0, self.m.nv)
        self.mount = self.m.force_elements["mount"]
        self.forces = np.zeros(self.m.nv)

    def d(self, name):
        return self.b.joint(name)

    def j(self, name):
        return self.m.joint(name)

    @property
    def world(self):
        return self.b.world

    def body(self, name="r_body"):
        return self.b.body(name)

    @cached_property
    def foreign(self):
        """A state of a model of the same name and sizes."""
        return build().build().default_state()

    @cached_property
    def locked(self):
        """A state in which the bushing is at gimbal lock."""
        state = self.m.default_state()
        self.j("fl").set_rotation(state, rpy=(0.0, np.pi / 2, 0.0))
        return state

    def everything(self) -> list[str]:
        """All that a refused call must leave alone."""
        described = [(j.name, what, repr(attrgetter(what)(j))) for j in self.b.description.joints for what in DESCRIBED]
        counts = [len(getattr(self.b.description, what)) for what in ("bodies", "joints", "frames", "force_elements")]
        return [np.array(self.s._inputs).tobytes(), self.forces.tobytes(), self.foreign._inputs.tobytes(), self.locked._inputs.tobytes(),
                [self.m.force_elements[0].default(n).tolist() for n in self.mount.parameter_names], described, counts]


def table(rows):
    """One test per row (seed id, call, exception, words), marked with its id."""
    return pytest.mark.parametrize("row", [pytest.param(row, marks=pytest.mark.seed(row[0]), id=f"{row[0]}-{k}")
                                           for k, row in enumerate(rows)])


def check(rig, row):
    """The call is refused with that exception and those words, leaves everything as it was, and the model goes on."""
    _, call, kind, words = row
    before = rig.everything()
    with pytest.raises(kind) as caught:
        call(rig)
    assert [word for word in words if word not in str(caught.value)] == []
    assert isinstance(caught.value, (ValueError, TypeError))
    assert rig.everything() == before
    assert np.isfinite(rig.m.forward_dynamics(rig.s, rig.forces)).all()
