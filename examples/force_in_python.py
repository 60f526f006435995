"""A force element written in Python: a spring that hardens with the cube of its stretch, holding a plate.

    python examples/force_in_python.py

It runs in mbros.Simulator and in every call of the model. The real-time loop refuses it: examples/force_in_cython has the
same spring for that.
"""
import numpy as np

import mbros


class HardeningSpring(mbros.ForceElement):
    """f = -(k + k3 |p|^2) p - c pdot on C, with p = p_AoCo; energy k |p|^2 / 2 + k3 |p|^4 / 4."""

    def __init__(self, frame_A, frame_C, k, k3, c=0.0, name=None):
        super().__init__(frame_A, frame_C, name=name)
        self.k, self.k3, self.c = k, k3, c

    def wrench(self, pose, velocity):
        p = pose.p
        force = -(self.k + self.k3 * (p @ p)) * p - self.c * velocity.linear
        return np.zeros(3), force

    def energy(self, pose):
        r2 = pose.p @ pose.p
        return float(0.5 * self.k * r2 + 0.25 * self.k3 * r2 * r2)


def rig(spring):
    """A plate of 2 kg that slides in the vertical plane, held by spring(world, plate)."""
    b = mbros.ModelBuilder("rig")
    plate = b.add_body("plate", mass=2.0, inertia=np.diag([0.02, 0.02, 0.04]))
    b.add_joint(mbros.PlanarJoint("slide", b.world, plate, rpy=(np.pi / 2, 0, 0)))
    b.add_force_element(spring(b.world, plate))
    return b.build()


def main():
    model = rig(lambda world, plate: HardeningSpring(world, plate, k=500.0, k3=2e4, c=20.0, name="spring"))
    for text in model.force_elements["spring"].check(model.random_state(np.random.default_rng(1))):
        print(text)                                     # where wrench() and energy() do not fit each other; here nothing
    log = mbros.Simulator(model, dt=1e-3).run(3.0, every=100)
    spring, state = model.force_elements["spring"], model.default_state()
    state.q[:] = log.q[-1]
    print(f"the plate hangs {-1e3 * log.q[-1][1]:.3f} mm low; the spring carries {spring.wrench(state).force[2]:.4f} N "
          f"(weight {2.0 * 9.81:.4f} N) and stores {spring.potential_energy(state):.4f} J")


if __name__ == "__main__":
    main()
