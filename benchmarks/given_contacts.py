"""Dynamics with given contacts from Python: mbros.diff beside Pinocchio's constraintDynamics, impulseDynamics and their derivatives.

    python -m benchmarks.given_contacts [--batches N]

In two states of each robot whose contacts stand: both must find the same accelerations before any clock starts. Pinocchio takes one
proximal step (mu = 1e-8) and does not look whether contacts say the same twice.
"""
import argparse
import os

import numpy as np

import mbros
from benchmarks._robots import of_tests
from benchmarks._timing import interleave, quiet, table, us
from benchmarks.derivatives import PASSIVE, twice
from mbros import diff

HELD = [("arm7", "fixed", ["flange"], 6), ("panda", "fixed", ["panda_link8"], 6),
        ("quadruped", "floating", ["FL_foot", "FR_foot", "RL_foot", "RR_foot"], 3),
        ("humanoid", "floating", ["left_foot", "right_foot"], 6), ("talos", "floating", ["left_sole_link", "right_sole_link"], 6)]
CALLS = ("dynamics", "impulse", "derivatives")
MU = 1e-8


class Side:
    """A robot, two of its states and its contacts, here and in Pinocchio."""

    def __init__(self, name, base, frames, rows):
        rng = np.random.default_rng(1)
        self.model = mbros.load(name, base=base, mimic=False)
        self.contacts = [diff.RigidContact(frame, rows) for frame in frames]
        self.states = [self.model.default_state() for _ in range(2)]
        self.tau = rng.normal(size=(2, self.model.nv))
        for state in self.states:
            state.q[:], state.v[:] = self.model.random_configuration(rng), rng.normal(size=self.model.nv)
            for field in PASSIVE:
                state.field(field)[:] = 0.0
            state.v[:] = diff.contact_impulse(self.model, state, self.contacts).motion
        self.peer = of_tests("pinocchio_peer").from_urdf(of_tests("robots").loaded(name, base, mimic=False), mimic=False)

    def ours(self):
        model, states, tau, held = self.model, self.states, self.tau, self.contacts
        return {"dynamics": twice(lambda k: diff.contact_dynamics(model, states[k], tau[k], held)),
                "impulse": twice(lambda k: diff.contact_impulse(model, states[k], held)),
                "derivatives": twice(lambda k: diff.contact_dynamics_derivatives(model, states[k], tau[k], held))}

    def theirs(self):
        pin, model, data = of_tests("pinocchio_peer").pin, self.peer.model, self.peer.data
        T = [self.peer.T(state.q) for state in self.states]
        q, v = [self.peer.q(state.q) for state in self.states], [t @ state.v for t, state in zip(T, self.states)]
        tau = [np.linalg.solve(t.T, x) for t, x in zip(T, self.tau)]
        kind = {6: pin.ContactType.CONTACT_6D, 3: pin.ContactType.CONTACT_3D}
        frames = [model.frames[model.getFrameId(contact.frame)] for contact in self.contacts]
        held = pin.StdVec_RigidConstraintModel([pin.RigidConstraintModel(kind[c.rows], model, f.parentJoint, f.placement, pin.LOCAL)
                                                for c, f in zip(self.contacts, frames)])
        rooms, settings = pin.StdVec_RigidConstraintData([one.createData() for one in held]), pin.ProximalSettings(1e-12, MU, 1)
        pin.initConstraintDynamics(model, data, held, rooms)

        def dynamics(k):
            return pin.constraintDynamics(model, data, q[k], v[k], tau[k], held, rooms, settings)

        def derivatives(k):
            dynamics(k)
            pin.computeConstraintDynamicsDerivatives(model, data, held, rooms, settings)

        for k, state in enumerate(self.states):
            theirs = np.linalg.solve(T[k], dynamics(k))
            error = np.abs(diff.contact_dynamics(self.model, state, self.tau[k], self.contacts, MU).motion - theirs).max()
            if not error < 1e-6 * np.abs(theirs).max():
                raise RuntimeError(f"{self.model.name}: mbros and Pinocchio disagree by {error:.1e}: nothing was timed")
        return {"pin dynamics": twice(dynamics), "pin derivatives": twice(derivatives),
                "pin impulse": twice(lambda k: pin.impulseDynamics(model, data, q[k], v[k], held, rooms, 0.0, settings))}


def main(batches=25):
    """The table."""
    rows = []
    for name, base, frames, n in HELD:
        try:
            side = Side(name, base, frames, n)
        except mbros.UnknownNameError as error:
            print(f"  left out: {error}")
            continue
        t = interleave(side.ours() | side.theirs(), batches)
        rows.append([name, side.model.nv, f"{len(frames)} of {n}", *(us(t[key]) for call in CALLS for key in (call, f"pin {call}"))])
    table("Given contacts, from Python: best / median in microseconds",
          ["robot", "nv", "contacts, rows", *(head for call in CALLS for head in (call, "pin"))], rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.given_contacts", description=__doc__.partition("\n\n")[0])
    parser.add_argument("--batches", type=int, default=25, help="batches per candidate (default 25)")
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        print("  OPENBLAS_NUM_THREADS is not 1: threads of BLAS, which wait busily, disturb what is timed beside the derivatives")
    with quiet():
        main(parser.parse_args().batches)
