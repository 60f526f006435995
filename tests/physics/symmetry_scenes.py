"""Random scenes as data, from which models are built, and what of their motion does not hang on coordinates.

A Scene has every number of a model and its state, in SI units, so that symmetries.py can transform it. `simulator` builds and starts it;
`seen` observes the bodies' motion, contacts and constraints in world axes.
"""
import itertools
from dataclasses import dataclass, field, replace

import mbros
import numpy as np
import zoo
from mbros_core.joints.registry import BY_NAME

JOINTS = {"revolute": mbros.RevoluteJoint, "prismatic": mbros.PrismaticJoint, "cylindrical": mbros.CylindricalJoint,
          "screw": mbros.ScrewJoint, "universal": mbros.UniversalJoint, "ball": mbros.BallJoint, "floating": mbros.FloatingJoint,
          "floating_rpy": mbros.FloatingRpyJoint, "translation3": mbros.TranslationJoint}
OF_CHILDREN = ("revolute", "revolute", "prismatic", "cylindrical", "screw", "universal", "ball")
WITH_AXIS = ("revolute", "prismatic", "cylindrical", "screw")
LOOPS = {"ball": mbros.BallConstraint, "weld": mbros.WeldConstraint, "hinge": mbros.HingeConstraint, "universal": mbros.UniversalConstraint,
         "prismatic": mbros.PrismaticConstraint, "cylindrical": mbros.CylindricalConstraint, "planar": mbros.PlanarConstraint,
         "distance": mbros.DistanceConstraint, "rope": mbros.DistanceConstraint}
ROWS = {"ball": (3, 0), "weld": (6, 3), "hinge": (5, 2), "universal": (4, 1), "prismatic": (5, 3), "cylindrical": (4, 2), "planar": (3, 2),
        "distance": (1, 0), "rope": (1, 0)}             # all of a constraint, and those that are angles
SOLIDS = ("sphere", "box", "capsule", "cylinder")
INEXACT = {("box", "cylinder"), ("capsule", "cylinder"), ("cylinder", "cylinder")}     # contact points are known to 1e-7
WORLD = "world"


@dataclass
class Part:
    """A body and the joint that carries it, X_PB = F X_FM(q) M^-1. inertia: about com, in body axes."""

    name: str
    parent: str
    kind: str
    F: np.ndarray
    M: np.ndarray
    mass: float
    com: np.ndarray
    inertia: np.ndarray
    q: np.ndarray
    v: np.ndarray
    axis: np.ndarray = None
    pitch: float = 0.0
    options: dict = field(default_factory=dict)         # of the joint's coordinates
    drive: tuple = ()                                   # (amplitude, rad/s) of a prescribed swing about q
    spring: tuple = ()                                  # (position, stiffness, damping) on its one coordinate
    brake: tuple = ()                                   # (coulomb, breakaway, Stribeck speed, smoothing speed, viscous) there
    steady: bool = False                                # v is prescribed

    @property
    def free(self):
        return self.kind.startswith("floating")


@dataclass
class Solid:
    """A collision shape at X on a part or the world."""

    name: str
    on: str
    kind: str
    sizes: np.ndarray
    X: np.ndarray
    numbers: dict


@dataclass
class Loop:
    """A constraint between frames at A on part a and at B on part b, or between the joints of both."""

    name: str
    kind: str
    a: str
    b: str
    A: np.ndarray
    B: np.ndarray
    axes: tuple = ()
    length: float = 0.0
    ratio: float = 0.0
    offset: float = 0.0


@dataclass
class Tie:
    """A spring and damper between points of two parts."""

    name: str
    a: str
    b: str
    A: np.ndarray
    B: np.ndarray
    numbers: tuple                                      # free length, stiffness, damping


@dataclass
class Scene:
    gravity: np.ndarray
    parts: list
    solids: list
    loops: list
    ties: list
    apart: list                                         # pairs of solids that never touch
    dt: float = 1e-3
    integrator: str = "midpoint"


# ----------------------------------------------------------------------------------------------------------------- random numbers

def matrix(q):
    """R of a unit quaternion wxyz."""
    w, x, y, z = q
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def pose(R, p):
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = R, p
    return X


def random_pose(rng, reach, p=(0, 0, 0)):
    return pose(zoo.rotation(rng), rng.uniform(-reach, reach, 3) + p)


def random_mass(rng):
    """(mass, com, inertia about it) of six point masses."""
    points, masses = rng.uniform(-0.12, 0.12, (6, 3)) + rng.uniform(-0.03, 0.03, 3), rng.uniform(0.5, 1.0, 6) * 10 ** rng.uniform(-1.3, 0)
    com = masses @ points / masses.sum()
    return masses.sum(), com, sum(m * ((p @ p) * np.eye(3) - np.outer(p, p)) for m, p in zip(masses, points - com))


def random_solid(name, on, rng, kind=None, X=None, size=1.0):
    kind, sizes = kind or str(rng.choice(SOLIDS)), size * rng.uniform(0.06, 0.13, 3)
    sizes = {"sphere": sizes[:1], "box": 2 * sizes, "capsule": sizes[:2] * (1, 2), "cylinder": sizes[:2] * (1, 2)}.get(kind, sizes[:0])
    return Solid(name, on, kind, sizes, random_pose(rng, 0.03) if X is None else X, dict(
        stiffness=10 ** rng.uniform(4.0, 6.5), relaxation_time=rng.uniform(0.001, 0.02), friction=rng.uniform(0.1, 1.1),
        static_friction=rng.choice([0.0, 1.3]), torsional_radius=rng.choice([0.0, 0.02]), rolling_radius=rng.choice([0.0, 0.004])))


def random_joint(name, parent, rng, kind=None):
    """A part 0.28 m beyond its parent, with damping, and on one coordinate a rotor, stops, a spring and friction."""
    kind = kind or str(rng.choice(OF_CHILDREN))
    row = BY_NAME[kind]
    q = zoo.quaternion(rng) if kind == "ball" else rng.uniform(-0.1, 0.1, row.nq)
    part = Part(name, parent, kind, random_pose(rng, 0.05, (0.0, 0.0, 0.28)), random_pose(rng, 0.05), *random_mass(rng), q,
                0.5 * rng.normal(size=row.nv), options={"damping": rng.uniform(0.02, 0.2, row.nv)})
    if kind in WITH_AXIS:
        part.axis = zoo.rotation(rng)[0]
    if row.nv == 1:
        part.pitch = rng.uniform(0.02, 0.1) if kind == "screw" else 0.0
        part.options |= dict(rotor_inertia=rng.uniform(0.002, 0.01, 1), lower=np.array([-0.12]), upper=np.array([0.13]),
                             stop_stiffness=rng.uniform(200, 900, 1), stop_damping=rng.uniform(0.5, 2.0, 1))
        part.spring = rng.uniform(-0.1, 0.1), rng.uniform(2.0, 20.0), rng.uniform(0.0, 0.1)
        part.brake = rng.uniform(0.1, 0.4), rng.uniform(0.4, 0.6), 0.1, 0.02, 0.01
    return part


def random_free(name, rng, p, v):
    q = zoo.quaternion(rng)
    return Part(name, WORLD, "floating", np.eye(4), np.eye(4), *random_mass(rng), np.r_[p, q],
                np.r_[2.0 * rng.normal(size=3), matrix(q).T @ np.asarray(v)])


def random_loop(name, kind, a, b, X, rng):
    """Closed where parts a and b are at X[a] and X[b] (4, 4). A hinge and its like: frame B lies and looks as frame A."""
    A = random_pose(rng, 0.1)
    B = np.linalg.solve(X[b], X[a] @ A)
    loop = Loop(name, kind, a, b, A, B)
    if kind in ("distance", "rope"):
        B[:3, 3] += rng.uniform(0.05, 0.15, 3)
        loop.length = np.linalg.norm((X[a] @ A - X[b] @ B)[:3, 3])
    elif kind == "universal":
        loop.axes = tuple(zoo.rotation(rng)[:2])
    elif kind not in ("ball", "weld"):
        loop.axes = (zoo.rotation(rng)[0],)
    return loop


def random_scene(seed, free_only=False, integrator=None):
    """A plane and a box; a driven crane; a flying robot whose arms a constraint joins; free bodies that fall on them and each other.
    free_only: the free bodies alone, two of them joined by a constraint, without gravity and without ground."""
    rng = np.random.default_rng(seed)
    scene = Scene(np.zeros(3) if free_only else zoo.rotation(rng)[0] * 1.5 + (0, 0, -9.81), [], [], [], [], [])
    scene.integrator = integrator or ("midpoint", "semi_implicit_euler")[seed % 2]
    for k, (x, y) in enumerate(itertools.product((-0.17, 0.17), (-0.16, 0.16))):
        p = np.array([x, y, 0.24 + 0.05 * (k % 2)]) + rng.uniform(-0.02, 0.02, 3)
        scene.parts.append(random_free(f"free{k}", rng, p, 0.5 * rng.normal(size=3) - (4 * x, 4 * y, 0.0 if free_only else 2.5)))
    if not free_only:
        add_robot(scene, rng)
        add_crane(scene, rng)
    scene.solids += [random_solid(f"{part.name} solid", part.name, rng) for part in scene.parts]
    X = poses(scene)
    scene.loops.append(random_loop("loop", str(rng.choice(list(LOOPS))), "free0", "free1", X, rng))
    scene.ties.append(Tie("tie", "free2", "free3", random_pose(rng, 0.1), random_pose(rng, 0.1), (0.3, 40.0, 0.5)))
    if not free_only:
        add_ground(scene, rng)
        scene.loops += [random_loop("arms", str(rng.choice(closing_arms(scene))), "left1", "right1", X, rng),
                        random_loop("rail", str(rng.choice(["rope", "planar"])), WORLD, "free3", X, rng)]
    keep_apart(scene, INEXACT)
    return scene


def add_robot(scene, rng):
    scene.parts.append(random_free("trunk", rng, (0.75, 0.05, 0.4), (-1.0, 0.1, -2.0)))
    for side in ("left", "right"):
        scene.parts += [random_joint(f"{side}0", "trunk", rng), random_joint(f"{side}1", f"{side}0", rng)]
    turning = [part for part in scene.parts if part.kind in ("revolute", "screw")]
    if len(turning) > 1:
        a, b = turning[:2]
        scene.loops.append(Loop("gear", "coupler", a.name, b.name, np.eye(4), np.eye(4), ratio=1.3, offset=float(a.q[0] - 1.3 * b.q[0])))


def closing_arms(scene):
    """Kinds of constraints between the arms whose rows the joints leave independent."""
    units = [unit for part in scene.parts if part.name[:-1] in ("left", "right") for unit in BY_NAME[part.kind].velocity_units]
    taken = sum(loop.kind == "coupler" for loop in scene.loops)
    return [kind for kind, (rows, angles) in ROWS.items() if rows + taken <= len(units) and angles + taken <= units.count("rad/s")]


def add_crane(scene, rng):
    """A swinging base on the world, and a part that it carries into the free bodies. It does not touch the ground."""
    base = random_joint("crane", WORLD, rng, str(rng.choice(["revolute", "prismatic"])))
    base.F = random_pose(rng, 0.02, (-0.45, 0.0, 0.3))
    base.options, base.spring, base.brake, base.drive = {}, (), (), (0.15, 9.0)
    scene.parts += [base, random_joint("hook", "crane", rng)]
    scene.apart += [(f"{name} solid", ground) for name in ("crane", "hook") for ground in ("plane", "step")]


def add_ground(scene, rng):
    tilt = np.r_[1.0, 0.05 * rng.normal(size=3)]
    scene.solids += [random_solid("plane", WORLD, rng, "half_space", pose(matrix(tilt / np.linalg.norm(tilt)), np.zeros(3))),
                     random_solid("step", WORLD, rng, "box", random_pose(rng, 0.0, (0.1, 0.05, -0.05)), 1.3)]


def keep_apart(scene, kinds):
    """Solids of these pairs of kinds never touch."""
    for a, b in itertools.combinations(scene.solids, 2):
        if tuple(sorted((a.kind, b.kind))) in kinds:
            scene.apart.append((a.name, b.name))


# ----------------------------------------------------------------------------------------------------------------- building it

def built(scene):
    """The model. Default positions are those of the scene."""
    b = mbros.ModelBuilder("scene", gravity=scene.gravity)
    bodies, joints = {WORLD: b.world}, {}
    for part in scene.parts:
        bodies[part.name] = b.add_body(part.name, part.mass, part.com, part.inertia)
        F = b.add_frame(f"{part.name} F", bodies[part.parent], pose=part.F)
        M = b.add_frame(f"{part.name} M", bodies[part.name], pose=part.M)
        options = dict(part.options, default=part.q)
        if part.axis is not None:
            options |= {"axis": part.axis, "normalize_axis": True}
        if part.kind == "screw":
            options["pitch_m_per_rad"] = part.pitch
        joint = joints[part.name] = b.add_joint(JOINTS[part.kind](part.name, F, M, **options))
        if part.spring:
            b.add_force_element(mbros.JointSpring(joint, *part.spring))
        if part.brake:
            coulomb, breakaway, stribeck, smoothing, viscous = part.brake
            b.add_force_element(mbros.StribeckFriction(joint, coulomb, breakaway, stribeck_speed=stribeck, smoothing_speed=smoothing,
                                                       viscous=viscous))
    for x in scene.solids:
        b.add_collision(bodies[x.on], shape(x), x.X, name=x.name, **x.numbers)
    for pair in scene.apart:
        b.exclude_contact(*pair)
    for x in scene.ties:
        b.add_force_element(mbros.LinearSpringDamper(b.add_frame(f"{x.name} A", bodies[x.a], pose=x.A),
                                                     b.add_frame(f"{x.name} B", bodies[x.b], pose=x.B), *x.numbers, name=x.name))
    for x in scene.loops:
        if x.kind == "coupler":
            b.add_constraint(mbros.CouplerConstraint(x.name, joints[x.a], joints[x.b], x.ratio, x.offset))
            continue
        options = {"length": x.length, "rope": x.kind == "rope"} if x.kind in ("distance", "rope") else {}
        options |= dict(zip(("axis",) if len(x.axes) == 1 else ("axis_a", "axis_b"), x.axes))
        b.add_constraint(LOOPS[x.kind](x.name, b.add_frame(f"{x.name} A", bodies[x.a], pose=x.A),
                                       b.add_frame(f"{x.name} B", bodies[x.b], pose=x.B), **options))
    return b.build()


def shape(x):
    if x.kind == "half_space":
        return mbros.shapes.half_space()
    return mbros.shapes.box(x.sizes) if x.kind == "box" else getattr(mbros.shapes, x.kind)(*x.sizes)


def simulator(scene, model=None):
    model = model or built(scene)
    state = model.default_state()
    for part in scene.parts:
        joint = model.joint(part.name)
        state.q[joint.q_slice], state.v[joint.v_slice] = part.q, part.v
    sim = mbros.Simulator(model, scene.dt, scene.integrator, state=state)
    for part in scene.parts:
        if part.drive:
            sim.prescribe(part.name, swing(part))
        if part.steady:
            model.joint(part.name).prescribe(sim.state, velocity=part.v)
    return sim


def swing(part):
    a, rate = part.drive
    return lambda t: (part.q[0] + a * np.sin(rate * t), a * rate * np.cos(rate * t), -a * rate**2 * np.sin(rate * t))


def poses(scene):
    """X_WB of each part where the scene starts."""
    model = built(replace(scene, loops=[], ties=[], apart=[], solids=[]))
    return {WORLD: np.eye(4), **{part.name: model.pose(model.default_state(), part.name).matrix for part in scene.parts}}


# ----------------------------------------------------------------------------------------------------------------- what is seen of it

@dataclass
class Seen:
    """By name of part, pair of parts or loop. moment: about the world's origin; torque: about the loop's frame B."""

    p: dict                                             # of the centre of mass
    R: dict
    v: dict
    w: dict
    force: dict                                         # of all contacts of a pair of parts
    moment: dict
    loop_force: dict
    loop_torque: dict


def seen(scene, sim):
    out = Seen({}, {}, {}, {}, {}, {}, {}, {})
    model, state = sim.model, sim.state
    for part in scene.parts:
        X, V = model.pose(state, part.name), model.velocity(state, part.name)
        arm = X.R @ part.com
        out.p[part.name], out.R[part.name], out.w[part.name] = X.p + arm, X.R, V.angular
        out.v[part.name] = V.linear + np.cross(V.angular, arm)
    for c in model.contacts(state):
        pair, sign = ((c.body_a, c.body_b), 1.0) if c.body_a < c.body_b else ((c.body_b, c.body_a), -1.0)
        out.force[pair] = out.force.get(pair, 0.0) + sign * c.force
        out.moment[pair] = out.moment.get(pair, 0.0) + sign * (np.cross(c.point, c.force) + c.torque)
    for loop in scene.loops:
        if loop.kind == "coupler":
            out.loop_force[loop.name] = np.r_[model.constraints[loop.name].effort(state), 0.0, 0.0]
        else:
            F = model.constraints[loop.name].reaction(state)
            out.loop_force[loop.name], out.loop_torque[loop.name] = F.force, F.torque
    return out
