"""A joint and a force of your own: a bead on a wire bent to a parabola, drawn by a magnet.

    python examples/10_a_joint_and_a_force_of_your_own.py

Both run in every algorithm and in mbros.Simulator. For the real-time loop, which never enters Python, the same is written in
Cython: examples/joint_in_cython and examples/force_in_cython.
"""
import numpy as np

import mbros


class Parabola(mbros.JointLaw):
    """z = curve x^2 / 2 in the plane of x and z; the bead does not turn. Its coordinate is x."""

    nq = nv = 1
    position_names, velocity_names = ("x",), ("xdot",)

    def __init__(self, curve):
        self.curve = curve

    def pose(self, q):
        """R_FM and p_FoMo_F: where the bead is."""
        return np.eye(3), np.array([q[0], 0.0, 0.5 * self.curve * q[0]**2])

    def subspace(self, q):
        """H (6, 1), [angular; linear]: its velocity for xdot = 1."""
        return np.array([[0, 0, 0, 1.0, 0, self.curve * q[0]]]).T

    def bias(self, q, v):
        """Hdot v (6,): its acceleration for xddot = 0."""
        return np.array([0, 0, 0, 0, 0, self.curve * v[0]**2])


class Magnet(mbros.ForceElement):
    """C is drawn towards A with the force strength / (distance^2 + size^2)."""

    def __init__(self, frame_A, frame_C, strength, size, name=None):
        super().__init__(frame_A, frame_C, name=name)
        self.strength, self.size = strength, size

    def wrench(self, pose, velocity):
        """Torque and force on C about Co, in A's axes; pose and velocity are those of C in A."""
        distance = np.linalg.norm(pose.p)
        return np.zeros(3), -self.strength / (distance**2 + self.size**2) * pose.p / max(distance, 1e-12)

    def energy(self, pose):
        """What is stored: the integral of the force."""
        return self.strength / self.size * np.arctan(np.linalg.norm(pose.p) / self.size)


b = mbros.ModelBuilder("bead")
bead = b.add_body("bead", mass=0.1)
b.add_joint(mbros.CustomJoint("wire", b.world, bead, Parabola(curve=2.0)))
above = b.add_frame("above", b.world, p=(0, 0, 1.0))
b.add_force_element(Magnet(above, bead, strength=0.2, size=0.1, name="magnet"))
model = b.build()

# Where the two laws do not fit each other, check() says so: a force that is not the gradient of its energy, a wrong subspace, ...
state = model.default_state()
state.q[:], state.v[:] = 0.8, 0.3
print("the magnet:", model.force_elements["magnet"].check(state) or "the force is the gradient of the energy")

sim = mbros.Simulator(model, dt=1e-3, integrator="rk4", state=state)
log = sim.run(3.0, every=10)
x = log["wire"].position
print(f"the bead swings between {x.min():.3f} and {x.max():.3f} m")
print(f"its energy is {log.energy[0]:.6f} J at first and {log.energy[-1]:.6f} J at last")

# Output:
# the magnet: the force is the gradient of the energy
# the bead swings between -0.810 and 0.810 m
# its energy is 3.558452 J at first and 3.558452 J at last
