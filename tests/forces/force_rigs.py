"""Robots with force elements of every kind, with ugly numbers everywhere; and how their energy is followed."""
from __future__ import annotations

import numpy as np
import zoo
from mbros_core.forces.registry import ROWS

import mbros
from mbros.spatial.placement import Placement
from mbros.spatial.vectors import Pose

KINDS = [row.name for row in ROWS if row.name != "user"]
PAIRS = [row.name for row in ROWS if row.acts_on == "pair" and row.name != "user"]
POTENTIAL = [kind for kind in KINDS if kind != "bushing"]     # the seed law has one only for equal force stiffnesses


class UserBushing(mbros.ForceElement):
    """A force element in Python: damped springs on the position and on the rotation vector's first order."""

    def __init__(self, frame_A, frame_C, k=30.0, d=2.0, name=None):
        super().__init__(frame_A, frame_C, name=name)
        self.k, self.d = k, d

    def wrench(self, pose, velocity):
        axial = 0.5 * np.array([pose.R[2, 1] - pose.R[1, 2], pose.R[0, 2] - pose.R[2, 0], pose.R[1, 0] - pose.R[0, 1]])
        return -self.k * axial - self.d * velocity.angular, -self.k * pose.p - self.d * velocity.linear

    def energy(self, pose):
        return 0.5 * self.k * pose.p @ pose.p + 0.5 * self.k * (3.0 - np.trace(pose.R))


def body(b, name, rng, mass=None):
    """A body with a random physical inertia."""
    m, *rest = zoo.inertia(rng, mass)
    com = np.array(rest[:3]) / m
    xx, yy, zz, xy, xz, yz = rest[3:]
    about_origin = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    inertia = about_origin - m * ((com @ com) * np.eye(3) - np.outer(com, com))
    return b.add_body(name, mass=m, com=com, inertia=0.5 * (inertia + inertia.T))


def moved_world(rng):
    """A random rigid motion."""
    return Pose(zoo.rotation(rng), rng.uniform(-2, 2, 3))


def element(kind, b, A, C, joint, rng, world=None, **options):
    """An element of a kind with random numbers between frames A and C or on a joint; world: motion of the world's axes."""
    R = np.eye(3) if world is None else world.R
    some = lambda lo, hi, n=None: rng.uniform(lo, hi, n)                                         # noqa: E731
    if kind.startswith("bushing"):
        law = kind.removeprefix("bushing").removeprefix("_") or "drake"
        constants = [some(5, 50, 3), some(0.1, 2, 3), some(20, 200, 3), some(1, 10, 3)]
        return mbros.Bushing(A, C, *constants, law=law, **options)
    if kind == "spring_damper":
        return mbros.LinearSpringDamper(A, C, some(0.1, 0.4), some(20, 90), some(0.5, 3), **options)
    if kind == "joint_spring":
        return mbros.JointSpring(joint, some(-0.5, 0.5), some(5, 20), some(0.1, 1), **options)
    if kind == "door_hinge":
        return mbros.DoorHinge(joint, spring_position=some(-1, 1), spring_stiffness=some(1, 5), catch_torque=some(0.5, 2),
                               catch_width=some(0.2, 0.5), dynamic_friction=some(0.1, 0.4), static_friction=some(0.1, 0.5),
                               viscous_friction=some(0.1, 0.3), motion_threshold=some(0.2, 0.4), **options)
    if kind == "stribeck":
        return mbros.StribeckFriction(joint, some(0.2, 0.5), some(0.6, 0.9), stribeck_speed=some(0.1, 0.3),
                                      smoothing_speed=some(0.05, 0.1), viscous=some(0.01, 0.1), **options)
    if kind == "body_wrench":
        return mbros.BodyWrench(C, R @ np.zeros(3), R @ some(-3, 3, 3), **options)
    if kind == "body_gravity":
        return mbros.BodyGravity(C, R @ some(-4, 4, 3), **options)
    if kind == "user":
        return UserBushing(A, C, **options)
    raise AssertionError(f"no example of force element kind {kind!r}: add one here")


def rig(kind, seed, world=None, where="bodies", merge_welds=True, damping=0.0, **options):
    """A floating trunk with an arm of a hinge, a welded flange and a slider; one element of `kind` between the trunk and the tip
    ("bodies") or the world and the tip ("world"). world: the whole scene, gravity too, moved by that pose."""
    rng = np.random.default_rng(seed)
    X = Placement() if world is None else Placement(world.R, world.p)
    b = mbros.ModelBuilder(f"rig_{kind}", gravity=X.R @ np.array(zoo.GRAVITY))
    scene = b.add_frame("scene", b.world, pose=X)
    trunk, upper, flange, tip = (body(b, name, rng) for name in ("trunk", "upper", "flange", "tip"))
    b.add_joint(mbros.FloatingJoint("base", scene, trunk, damping=damping))
    hinge = b.add_joint(mbros.RevoluteJoint("hinge", trunk, upper, axis=(0, 0.6, 0.8), p=(0.1, 0.2, 0.3), rpy=(0.3, -0.2, 0.5),
                                            damping=damping))
    b.add_joint(mbros.WeldJoint("glue", upper, flange, p=(0.2, 0.0, 0.1), rpy=(0.1, 0.2, 0.3)))
    b.add_joint(mbros.PrismaticJoint("slider", flange, tip, axis=(1, 0, 0), p=(0, 0.1, 0), damping=damping))
    A = b.add_frame("A", scene if where == "world" else trunk, pose=_random_pose(rng))
    C = b.add_frame("C", flange if where == "flange" else tip, pose=_random_pose(rng))
    b.add_force_element(element(kind, b, A, C, hinge, rng, world, name="it", **options))
    return b.build(merge_welds=merge_welds)


def _random_pose(rng):
    """Near the identity, so that a bushing's pitch stays away from gimbal lock."""
    w = rng.uniform(-0.3, 0.3, 3)
    from mbros.spatial.placement import rotation_from_rpy

    return Pose(rotation_from_rpy(w), rng.uniform(-0.2, 0.2, 3))


def state_of(model, rng, angle=0.5, speed=1.0):
    """A random state not far from the default one: base orientation anything, joints within `angle`."""
    state = model.default_state()
    q = state.q.copy()
    q[:3] = rng.uniform(-0.3, 0.3, 3)
    q[3:7] = zoo.quaternion(rng) if angle > 0.4 else q[3:7]
    q[7:] = rng.uniform(-angle, angle, model.nq - 7)
    state.set_q(q)
    state.v[:] = rng.uniform(-speed, speed, model.nv)
    return state


def away_from_lock(model, rng, **options):
    """state_of, drawn again until no bushing is within 25 degrees of gimbal lock."""
    from mbros_core.forces.diagnosis import BUSHINGS, cos_pitch

    while True:
        state = state_of(model, rng, **options)
        if all(cos_pitch(model, state, k)[1] > 0.4 for k, kind in enumerate(model.spec.force_kind) if kind in BUSHINGS):
            return state


def energy_balance(model, state, duration, dt):
    """max |E(t) - E(0) - work of what is not conservative| of an RK4 simulation, and the largest energy met.

    The work is Simpson's integral of the non-conservative powers over pairs of steps: fourth order, as the integrator.
    """
    sim = mbros.Simulator(model, dt=dt, integrator="rk4", state=state)
    total = lambda: model.kinetic_energy(sim.state) + model.potential_energy(sim.state)          # noqa: E731

    def power():
        own = sum(f.nonconservative_power(sim.state) for f in model.force_elements)
        return own - float(sim.state.damping @ sim.state.v**2)

    E, P, out, work = total(), power(), [], 0.0
    E0, largest = E, abs(E)
    for _ in range(round(duration / dt / 2)):
        sim.step()
        middle = power()
        sim.step()
        end = power()
        work += dt / 3.0 * (P + 4.0 * middle + end)
        P = end
        E = total()
        largest = max(largest, abs(E), model.kinetic_energy(sim.state))
        out.append(abs(E - E0 - work))
    return max(out), largest
