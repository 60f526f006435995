"""A joint written in Python: a cart on a cycloid, the curve on which the period does not depend on the amplitude.

The position s is the arc length from the lowest point, so that the potential energy is exactly m g s^2 / (8 a).
"""
import numpy as np

import mbros


class Cycloid(mbros.JointLaw):
    """Mo runs along  x = a (u + sin u), z = a (1 - cos u),  s = 4 a sin(u / 2); M does not turn. a: m, |s| < 4 a."""

    nq = nv = 1
    position_names, velocity_names = ("s",), ("sdot",)

    def __init__(self, a):
        self.a = a

    def slope(self, s):
        """sin and cos of the curve's angle u / 2 above the horizontal."""
        sine = s / (4 * self.a)
        return sine, np.sqrt(1 - sine * sine)

    def pose(self, q):
        sine, cosine = self.slope(q[0])
        return np.eye(3), self.a * np.array([2 * np.arcsin(sine) + 2 * sine * cosine, 0, 2 * sine * sine])

    def subspace(self, q):
        sine, cosine = self.slope(q[0])
        return np.array([[0, 0, 0, cosine, 0, sine]]).T

    def bias(self, q, v):
        sine, cosine = self.slope(q[0])
        turning = v[0] / (4 * self.a * cosine)          # rate of u / 2
        return v[0] * turning * np.array([0, 0, 0, -sine, 0, cosine])


def cart(a=0.5, law=None, gravity=9.81):
    """The model: a cart of 2 kg on the curve."""
    b = mbros.ModelBuilder("cycloid", (0, 0, -gravity))
    b.add_joint(mbros.CustomJoint("track", b.world, b.add_body("cart", 2.0), Cycloid(a) if law is None else law))
    return b.build()


if __name__ == "__main__":
    model = cart()
    for s in (0.1, 1.9):
        state = model.default_state()
        state.set_q([s])
        sim = mbros.Simulator(model, dt=1e-3, integrator="rk4", state=state)
        sim.advance_to(2 * np.pi * np.sqrt(4 * 0.5 / 9.81))
        print(f"started at {s} m, after one period at {state.q[0]:.6f} m")
