"""Mechanisms with closed loops, most of them in the x-z plane, where joints turn from x towards z, and what their geometry says of them."""
import mbros
import numpy as np

TOWARDS_Z = (0.0, -1.0, 0.0)            # a joint's axis


def rod(b, name, length, mass=1.0):
    """A thin rod along x from its origin."""
    return b.add_body(name, mass=mass, com=(length / 2, 0, 0), inertia=(1e-6, mass * length**2 / 12, mass * length**2 / 12))


def closing(kind, name, a, b):
    """A constraint that keeps the origins of two frames of a planar mechanism together."""
    return mbros.HingeConstraint(name, a, b, axis=(0, 1, 0)) if kind == "hinge" else mbros.BallConstraint(name, a, b)


class FourBar:
    """Crank, coupler and rocker on a ground; the angle of the crank says the rest."""

    def __init__(self, crank=0.3, coupler=0.8, rocker=0.6, ground=0.7, kind="ball", base=None, gravity=(0, 0, -9.81)):
        self.lengths = crank, coupler, rocker, ground
        b = mbros.ModelBuilder("four-bar", gravity=gravity)
        on = b.world
        if base == "floating":
            on = b.add_body("ground", mass=2.0, com=(ground / 2, 0, 0), inertia=(0.05, 0.1, 0.1))
            b.add_joint(mbros.FloatingJoint("base", b.world, on))
        links = [rod(b, name, length) for name, length in zip(("crank link", "coupler link", "rocker link"), self.lengths)]
        b.add_joint(mbros.RevoluteJoint("crank", on, links[0], axis=TOWARDS_Z))
        b.add_joint(mbros.RevoluteJoint("coupler", links[0], links[1], p=(crank, 0, 0), axis=TOWARDS_Z))
        b.add_joint(mbros.RevoluteJoint("rocker", on, links[2], p=(ground, 0, 0), axis=TOWARDS_Z))
        ends = b.add_frame("coupler end", links[1], p=(coupler, 0, 0)), b.add_frame("rocker end", links[2], p=(rocker, 0, 0))
        b.add_constraint(closing(kind, "loop", *ends))
        self.builder, self.model = b, b.build()

    def angles(self, t):
        """Absolute angles of coupler and rocker at the crank's angle t, the loop above the ground; t may be complex."""
        a, c, r, d = self.lengths
        ax, az = a * np.cos(t), a * np.sin(t)
        ux, uz = d - ax, -az
        s2 = ux * ux + uz * uz                                  # the diagonal's square
        along = (c * c - r * r + s2) / 2
        across = np.sqrt(c * c * s2 - along * along)
        bx, bz = ax + (along * ux - across * uz) / s2, az + (along * uz + across * ux) / s2
        return arctan2(bz - az, bx - ax), arctan2(bz, bx - d)

    def q(self, t):
        coupler, rocker = self.angles(t)
        return np.array([t, coupler - t, rocker])

    def inertia_and_height(self, t, step=1e-30):
        """(I, V) of  1/2 I(t) (dt/ds)^2 + V(t), the energy of the rods: rates by complex steps."""
        a, c, r, d = self.lengths
        coupler, rocker = self.angles(t + 1j * step)
        k = np.imag(coupler) / step, np.imag(rocker) / step
        coupler, rocker = np.real(coupler), np.real(rocker)
        vx, vz = -a * np.sin(t) - c / 2 * np.sin(coupler) * k[0], a * np.cos(t) + c / 2 * np.cos(coupler) * k[0]
        I = a * a / 3 + (vx * vx + vz * vz) + c * c / 12 * k[0]**2 + r * r / 3 * k[1]**2
        return I, 9.81 * (a / 2 * np.sin(t) + a * np.sin(t) + c / 2 * np.sin(coupler) + r / 2 * np.sin(rocker))

    def time_between(self, start, end, speed, intervals=4000):
        """How long the crank takes from angle `start`, at that speed, to angle `end`: the integral of dt / speed(t), by Gauss's rule."""
        x, w = np.polynomial.legendre.leggauss(5)
        edges = np.linspace(start, end, intervals + 1)
        half = np.diff(edges)[:, None] / 2
        t = edges[:-1, None] + half * (1 + x)
        I0, V0 = self.inertia_and_height(np.array(start))
        I, V = self.inertia_and_height(t)
        energy = 0.5 * I0 * speed**2 + V0
        return float((half * w / np.sqrt(2 * (energy - V) / I)).sum())

    def state(self, t, speed=0.0):
        """Closed, with the crank at that angle and speed."""
        state = self.model.default_state()
        q, v = self.q(t), np.imag(self.q(t + 1e-30j)) / 1e-30 * speed
        if self.model.nv == 3:
            state.q, state.v = q, v
        else:
            state.q[-3:], state.v[-3:] = q, v
        return state


def arctan2(y, x):
    """Of complex numbers with tiny imaginary parts."""
    real = np.arctan2(np.real(y), np.real(x))
    return real + 1j * (np.real(x) * np.imag(y) - np.real(y) * np.imag(x)) / (np.real(x)**2 + np.real(y)**2) if np.iscomplexobj(y) else real


def slider_crank(crank=0.2, rod_length=0.5, kind="ball"):
    """A crank about y at the origin, a rod, and a slider along x, where x = crank cos t + sqrt(rod^2 - crank^2 sin^2 t)."""
    b = mbros.ModelBuilder("slider-crank", gravity=(0, 0, 0))
    a, c = rod(b, "crank link", crank), rod(b, "rod link", rod_length)
    s = b.add_body("slider", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    b.add_joint(mbros.RevoluteJoint("crank", b.world, a, axis=TOWARDS_Z))
    b.add_joint(mbros.RevoluteJoint("rod", a, c, p=(crank, 0, 0), axis=TOWARDS_Z))
    b.add_joint(mbros.PrismaticJoint("slide", b.world, s, axis=(1, 0, 0)))
    b.add_constraint(closing(kind, "pin", b.add_frame("rod end", c, p=(rod_length, 0, 0)), s))
    return b.build()


def bricard(gravity=(0.0, -9.81, 0.0)):
    """Six rods along edges of a cube, one of them fixed, each hinged to the next about the direction at right angles to both: it moves,
    though a count of joints says that it does not."""
    b = mbros.ModelBuilder("six-bar", gravity=gravity)
    directions = [np.array(d, float) for d in ((0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1))]      # after the fixed one, +x
    on, before = b.add_frame("tip", b.world, p=(1, 0, 0)), np.array([1.0, 0.0, 0.0])
    for k, d in enumerate(directions):
        inertia = (np.eye(3) - np.outer(d, d)) / 12 + 1e-6 * np.outer(d, d)
        link = b.add_body(f"link{k}", mass=1.0, com=d / 2, inertia=inertia)
        b.add_joint(mbros.RevoluteJoint(f"joint{k}", on, link, axis=np.cross(before, d)))
        on, before = b.add_frame(f"tip{k}", link, p=d), d
    b.add_constraint(mbros.HingeConstraint("loop", on, b.world, axis=np.cross(before, (1, 0, 0))))
    return b.build()


def parallel_four_bars(bars=3):
    """A platform on parallel cranks of equal length: two would do."""
    b = mbros.ModelBuilder("parallel", gravity=(0, 0, -9.81))
    platform = rod(b, "platform", 1.0)
    for k in range(bars):
        link = rod(b, f"link{k}", 0.4)
        b.add_joint(mbros.RevoluteJoint(f"crank{k}", b.world, link, p=(k / (bars - 1), 0, 0), axis=TOWARDS_Z))
        if k == 0:
            b.add_joint(mbros.RevoluteJoint("knee", link, platform, p=(0.4, 0, 0), axis=TOWARDS_Z))
        else:
            b.add_constraint(mbros.HingeConstraint(f"loop{k}", b.add_frame(f"end{k}", link, p=(0.4, 0, 0)),
                                                   b.add_frame(f"hole{k}", platform, p=(k / (bars - 1), 0, 0)), axis=(0, 1, 0)))
    return b.build()


def energy(model, state):
    return model.kinetic_energy(state) + model.potential_energy(state)


def follow(model, state, seconds, dt=1e-3, integrator="midpoint", every=10):
    """(largest energy error over the largest kinetic energy, largest gap, the simulator) of a free motion."""
    sim = mbros.Simulator(model, dt=dt, integrator=integrator, state=state.copy())
    start, kinetic, error, gap = energy(model, state), model.kinetic_energy(state), 0.0, 0.0
    for _ in range(round(seconds / dt / every)):
        sim.plant.steps(np.zeros(model.nv), every)
        kinetic = max(kinetic, model.kinetic_energy(sim.state))
        error = max(error, abs(energy(model, sim.state) - start))
        gap = max([gap, *(np.abs(constraint.gap(sim.state)).max() for constraint in model.constraints)])
    return error / kinetic, gap, sim


EVERY_KIND = ("ball", "weld", "hinge", "distance", "rope", "coupler", "universal", "prismatic", "cylindrical", "planar")


def held(kind, name, b, a, c):
    """A constraint of that kind between two frames, or the first two joints."""
    if kind == "coupler":
        joints = [joint for joint in b.description.joints if joint.nv == 1]
        return mbros.CouplerConstraint(name, joints[0], joints[1], ratio=1.7, offset=0.2)
    if kind in ("distance", "rope"):
        return mbros.DistanceConstraint(name, a, c, 0.4, rope=kind == "rope")
    if kind == "universal":
        return mbros.UniversalConstraint(name, a, c, axis_a=(0.0, 0.6, 0.8), axis_b=(1.0, 0.0, 0.0))
    along = {"hinge": mbros.HingeConstraint, "prismatic": mbros.PrismaticConstraint, "cylindrical": mbros.CylindricalConstraint,
             "planar": mbros.PlanarConstraint}
    if kind in along:
        return along[kind](name, a, c, axis=(0.0, 0.6, 0.8))
    return {"ball": mbros.BallConstraint, "weld": mbros.WeldConstraint}[kind](name, a, c)


BENT = np.array([0.5, -0.6, 0.4, 0.3, -0.4, 0.7, 0.2, -0.5])


def branches(kinds, ground=None):
    """Two arms of four joints on a base that flies, and constraints between their ends, which meet where the joints are BENT. ground: and
    a ball on every third link."""
    b = mbros.ModelBuilder("branches", ground=ground)
    trunk = b.add_body("trunk", mass=2.0, inertia=(0.1, 0.1, 0.1))
    b.add_joint(mbros.FloatingJoint("base", b.world, trunk))
    hands = []
    for side, y in (("left", 0.2), ("right", -0.2)):
        on, at = trunk, (0.0, y, 0.0)
        for k, axis in enumerate(((0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0))):
            link = b.add_body(f"{side}{k}", mass=0.5, com=(0.15, 0, 0), inertia=(4e-3, 6e-3, 6e-3))
            b.add_joint(mbros.RevoluteJoint(f"{side} joint{k}", on, link, p=at, axis=axis))
            on, at = link, (0.3, 0.0, 0.0)
            if ground is not None and k % 2:
                b.add_collision(link, mbros.shapes.sphere(0.05), mbros.Pose.make((0.15, 0, 0)), friction=0.5)
        hands.append(on)
    one = b.add_frame("left end", hands[0], p=(0.3, 0.05, 0.0), rpy=(0.3, 0.2, 0.1))
    open_model = b.build()
    state = open_model.default_state()
    state.q[-8:] = BENT
    other = b.add_frame("right end", hands[1], pose=open_model.pose(state, "left end", relative_to="right3"))
    aside = b.add_frame("right side", other, p=(0.4, 0.0, 0.0))
    for k, kind in enumerate(kinds):
        b.add_constraint(held(kind, f"{kind}{k}", b, one, aside if kind in ("distance", "rope") else other))
    return b.build()


def closed(model, seed=0):
    """Somewhere near BENT, in motion."""
    rng, state = np.random.default_rng(seed), model.default_state()
    state.q[-8:], state.v[:] = BENT + rng.normal(scale=0.1, size=8), rng.normal(size=model.nv)
    model.joint("base").set_pose(state, p=rng.normal(size=3), rpy=rng.normal(size=3))
    return model.assemble(state)
