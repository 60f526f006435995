"""mbros, MuJoCo and Drake behind one interface, for benchmarks.contact_peers: each builds a scene of benchmarks._contact_scenes.

step(n)              makes so many steps in the engine's own loop
motion(name)         is (R, p, angular, linear velocity in world axes) of a free part, at its centre of mass
contacts()           has a row (normal force, friction, slip speed, mu) for each point that pushes, of the last step
drive(name, force)   puts an effort on a joint for all steps that follow; speed(name) is its velocity
"""
import logging
import re

import numpy as np

import mbros
from benchmarks._contact_scenes import Scene

ENGINES = ("mbros", "MuJoCo", "MuJoCo tuned", "Drake lagged", "Drake SAP", "Drake TAMSI")
CONTINUOUS = "Drake continuous"
DAMPED_SPEED = 0.1      # m/s: what comes faster than this is not given back by TAMSI's dissipation
TUNED = 'cone="elliptic" impratio="100" tolerance="1e-12" iterations="200" noslip_iterations="10"'


def installed():
    """The engines that are here, in the order of ENGINES."""
    found = ["mbros"]
    for module, names in (("mujoco", ENGINES[1:3]), ("pydrake", ENGINES[3:])):
        try:
            __import__(module)
        except ImportError:
            continue
        found += names
    return found


def build(engine, scene, dt):
    kind, _, settings = engine.partition(" ")
    return {"mbros": Mbros, "MuJoCo": MuJoCo, "Drake": Drake}[kind](scene, dt, settings)


def quaternion(R):
    """(w, x, y, z)."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_matrix(R).as_quat(scalar_first=True)


class Mbros:
    """The default integrator, midpoint, and all other settings as they are by default."""

    def __init__(self, scene, dt, _=""):
        numbers = dict(friction=scene.mu, stiffness=2 * scene.stiffness, relaxation_time=scene.relaxation_time / 2)
        b, bodies = mbros.ModelBuilder("scene", gravity=scene.gravity, ground=mbros.Ground(**numbers)), {None: None}
        bodies[None] = b.world
        for part in scene.parts:
            com = np.zeros(3) if part.joint is None else -np.array(part.joint[3], float)
            body = bodies[part.name] = b.add_body(part.name, part.mass, com, part.inertia)
            if part.joint is None:
                b.add_joint(mbros.FloatingJoint(part.name, b.world, body))
            else:
                kind = {"slide": mbros.PrismaticJoint, "hinge": mbros.RevoluteJoint}[part.joint[0]]
                b.add_joint(kind(part.name, bodies[part.parent], body, p=part.joint[2], axis=part.joint[1]))
            for shape in part.shapes:
                make = getattr(mbros.shapes, shape.kind)
                geometry = make(shape.size) if shape.kind == "box" else make(*shape.size)
                b.add_collision(body, geometry, tuple(com + shape.p), **numbers)
        self.model, self.mu = b.build(), scene.mu
        self.sim = mbros.Simulator(self.model, dt)
        for part in scene.parts:
            joint = self.model.joint(part.name)
            if part.joint is None:
                joint.set_pose(self.sim.state, p=part.p, quat_wxyz=quaternion(part.R))
                joint.set_velocity(self.sim.state, np.concatenate([part.R.T @ part.V[0], part.R.T @ part.V[1]]))
            else:
                self.sim.state.q[joint.q_slice], self.sim.state.v[joint.v_slice] = part.q, part.v
        self.tau = np.zeros(self.model.nv)

    def step(self, n=1):
        if n == 1:
            self.sim.step(self.tau)
        else:
            self.sim.plant.steps(self.tau, n)

    def motion(self, name):
        X, V = self.model.pose(self.sim.state, name), self.model.velocity(self.sim.state, name)
        return X.R, X.p, V.angular, V.linear

    def contacts(self):
        return np.array([(c.normal_force, np.linalg.norm(c.friction_force), np.linalg.norm(c.slip_velocity), self.mu)
                         for c in self.model.contacts(self.sim.state) if c.normal_force > 0]).reshape(-1, 4)

    def drive(self, name, force):
        self.tau[self.model.joint(name).v_slice] = force

    def speed(self, name):
        return float(self.sim.state.v[self.model.joint(name).v_slice][0])


def words(x):
    return " ".join(f"{float(a):.17g}" for a in np.ravel(x))


class MuJoCo:
    """By default everything is as MuJoCo has it. "tuned" has elliptic cones, impratio 100, ten iterations against slip, Newton's method to
    1e-12, a time constant of four steps and an impedance of 0.99: of what was tried it did best over all scenes. "RK4" is tuned, with that
    integrator."""

    def __init__(self, scene, dt, settings):
        import mujoco

        self.mujoco, self.mu, children = mujoco, scene.mu, {}
        for part in scene.parts:
            children.setdefault(part.parent, []).append(part)
        option, numbers = self.settings(settings, dt)
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option timestep="{dt}" gravity="{words(scene.gravity)}" '
            f'{option}/><default><geom friction="{scene.mu:.17g} 0 0" {numbers}/></default><worldbody><geom type="plane" size="0 0 1"/>'
            f'{"".join(map(lambda part: self.body(part, children), children[None]))}</worldbody></mujoco>')
        self.data = mujoco.MjData(self.model)
        for part in scene.parts:
            q, v = self.address(part.name)
            if part.joint is None:
                self.data.qpos[q:q + 7] = *part.p, *quaternion(part.R)
                self.data.qvel[v:v + 6] = *part.V[1], *(part.R.T @ part.V[0])
            else:
                self.data.qpos[q], self.data.qvel[v] = part.q, part.v

    @staticmethod
    def settings(name, dt):
        """Attributes of <option> and of every <geom>."""
        option = {"": "", "tuned": TUNED, "RK4": f'{TUNED} integrator="RK4"'}[name]
        return option, f'solref="{4 * dt} 1" solimp="0.99 0.99 0.001 0.5 2"' if name else ""

    def body(self, part, children):
        place, com = (part.p, (0, 0, 0)) if part.joint is None else (part.joint[2], -np.array(part.joint[3], float))
        lines = [f'<body name="{part.name}" pos="{words(place)}">'
                 f'<inertial pos="{words(com)}" mass="{part.mass}" diaginertia="{words(part.inertia)}"/>']
        lines.append(f'<freejoint name="{part.name}"/>' if part.joint is None else
                     f'<joint name="{part.name}" type="{part.joint[0]}" axis="{words(part.joint[1])}"/>')
        for shape in part.shapes:
            size = np.array(shape.size, float)
            size = size / 2 if shape.kind == "box" else size * (1, 0.5) if shape.kind == "cylinder" else size
            lines.append(f'<geom type="{shape.kind}" size="{words(size)}" pos="{words(np.add(com, shape.p))}"/>')
        return "".join([*lines, *(self.body(child, children) for child in children.get(part.name, ())), "</body>"])

    def address(self, name):
        joint = self.model.joint(name)
        return int(joint.qposadr[0]), int(joint.dofadr[0])

    def step(self, n=1):
        self.mujoco.mj_step(self.model, self.data, n)

    def motion(self, name):
        """Of a free body."""
        q, v = self.address(name)
        R = np.empty(9)
        self.mujoco.mju_quat2Mat(R, self.data.qpos[q + 3:q + 7])
        R = R.reshape(3, 3)
        return R, self.data.qpos[q:q + 3].copy(), R @ self.data.qvel[v + 3:v + 6], self.data.qvel[v:v + 3].copy()

    def contacts(self):
        """Slip is that of the velocity after the step."""
        rows, force, J = [], np.empty(6), np.empty((2, 3, self.model.nv))
        for k in range(self.data.ncon):
            contact = self.data.contact[k]
            self.mujoco.mj_contactForce(self.model, self.data, k, force)
            if force[0] <= 0:
                continue
            for side, geom in enumerate(contact.geom):
                self.mujoco.mj_jac(self.model, self.data, J[side], None, contact.pos, int(self.model.geom_bodyid[geom]))
            slip = contact.frame.reshape(3, 3)[1:] @ (J[1] - J[0]) @ self.data.qvel
            rows.append((force[0], np.hypot(force[1], force[2]), np.hypot(*slip), self.mu))
        return np.array(rows).reshape(-1, 4)

    def drive(self, name, force):
        self.data.qfrc_applied[self.address(name)[1]] = force

    def speed(self, name):
        return float(self.data.qvel[self.address(name)[1]])


class Drake:
    """The discrete plant with point contact, the scene's stiffness and relaxation time, and no near-rigid threshold, which would soften the
    stiffness. All other settings are as by default. TAMSI has a dissipation of Hunt and Crossley instead of a relaxation time.
    "continuous" is the plant without steps, by Drake's default integrator at an accuracy of 1e-6, with a stiction tolerance of 0.1 mm/s.
    """

    def __init__(self, scene, dt, settings):
        from pydrake.geometry import Box, Cylinder, Sphere
        from pydrake.math import RigidTransform, RotationMatrix
        from pydrake.multibody.math import SpatialVelocity
        from pydrake.multibody.tree import FixedOffsetFrame, PrismaticJoint, RevoluteJoint, SpatialInertia, UnitInertia

        plant, shape_of = self.begin(scene, dt, settings), {"sphere": Sphere, "cylinder": Cylinder, "box": Box}
        plant.mutable_gravity_field().set_gravity_vector(scene.gravity)
        for part in scene.parts:
            unit = UnitInertia(*(np.array(part.inertia) / part.mass))
            body = plant.AddRigidBody(part.name, SpatialInertia(part.mass, np.zeros(3), unit))
            if part.joint is not None:
                kind, axis, *places = part.joint
                parents = plant.world_body() if part.parent is None else plant.GetBodyByName(part.parent), body
                frames = [plant.AddFrame(FixedOffsetFrame(f"{part.name}{k}", of.body_frame(), RigidTransform(place)))
                          for k, (of, place) in enumerate(zip(parents, places))]
                plant.AddJoint({"slide": PrismaticJoint, "hinge": RevoluteJoint}[kind](part.name, *frames, np.array(axis, float)))
            for k, shape in enumerate(part.shapes):
                geometry = shape_of[shape.kind](*shape.size)
                plant.RegisterCollisionGeometry(body, RigidTransform(shape.p), geometry, f"{part.name}{k}", self.props)
        self.finish()
        q, v = np.zeros(plant.num_positions()), np.zeros(plant.num_velocities())
        for part in scene.parts:
            if part.joint is not None:
                joint = plant.GetJointByName(part.name)
                q[joint.position_start()], v[joint.velocity_start()] = part.q, part.v
        if any(part.joint is not None for part in scene.parts):
            plant.SetPositionsAndVelocities(self.context, np.concatenate([q, v]))
        for part in scene.parts:
            if part.joint is None:
                body = plant.GetBodyByName(part.name)
                plant.SetFreeBodyPose(self.context, body, RigidTransform(RotationMatrix(part.R), part.p))
                plant.SetFreeBodySpatialVelocity(self.context, body, SpatialVelocity(*part.V))

    def begin(self, scene, dt, settings):
        """The plant over a half-space."""
        from pydrake.geometry import AddContactMaterial, HalfSpace, ProximityProperties
        from pydrake.math import RigidTransform
        from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, ContactModel, CoulombFriction, DiscreteContactApproximation
        from pydrake.systems.framework import DiagramBuilder

        logging.getLogger("drake").setLevel(logging.ERROR)
        self.mu, self.dt, self.steps, self.props = scene.mu, dt, 0, ProximityProperties()
        hunt_crossley, continuous = settings in ("TAMSI", "continuous"), settings == "continuous"
        dissipation, friction = 1 / DAMPED_SPEED if hunt_crossley else None, CoulombFriction(scene.mu, scene.mu)
        AddContactMaterial(dissipation, 2 * scene.stiffness, friction, self.props)
        self.props.AddProperty("material", "relaxation_time", scene.relaxation_time / 2)
        self.builder = DiagramBuilder()
        self.accuracy = 1e-6 if continuous else None
        self.plant, _ = AddMultibodyPlantSceneGraph(self.builder, 0.0 if continuous else dt)
        self.plant.set_contact_model(ContactModel.kPoint)
        if not continuous:
            self.plant.set_discrete_contact_approximation(getattr(DiscreteContactApproximation, f"k{settings.capitalize()}"))
            self.plant.set_sap_near_rigid_threshold(0.0)
        self.plant.RegisterCollisionGeometry(self.plant.world_body(), RigidTransform(), HalfSpace(), "ground", self.props)
        return self.plant

    def finish(self):
        from pydrake.systems.analysis import Simulator

        self.plant.Finalize()
        if self.accuracy:
            self.plant.set_stiction_tolerance(1e-4)
        self.simulator = Simulator(self.builder.Build())
        if self.accuracy:
            self.simulator.get_mutable_integrator().set_target_accuracy(self.accuracy)
        self.context = self.plant.GetMyMutableContextFromRoot(self.simulator.get_mutable_context())
        self.tau, self.port = np.zeros(self.plant.num_velocities()), self.plant.get_applied_generalized_force_input_port()

    def step(self, n=1):
        self.steps += n
        self.simulator.AdvanceTo(self.steps * self.dt)

    def motion(self, name):
        body = self.plant.GetBodyByName(name)
        X, V = self.plant.EvalBodyPoseInWorld(self.context, body), self.plant.EvalBodySpatialVelocityInWorld(self.context, body)
        return X.rotation().matrix(), X.translation().copy(), V.rotational().copy(), V.translational().copy()

    def contacts(self):
        results, rows = self.plant.get_contact_results_output_port().Eval(self.context), []
        for k in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(k)
            n, f = info.point_pair().nhat_BA_W, info.contact_force()
            normal = abs(n @ f)
            if normal > 0:
                rows.append((normal, np.linalg.norm(f - (n @ f) * n), abs(info.slip_speed()), self.mu))
        return np.array(rows).reshape(-1, 4)

    def drive(self, name, force):
        self.tau[self.plant.GetJointByName(name).velocity_start()] = force
        self.port.FixValue(self.context, self.tau)

    def speed(self, name):
        return float(self.plant.GetVelocities(self.context)[self.plant.GetJointByName(name).velocity_start()])


class Legs:
    """The built-in quadruped, every joint of which a PD controller swings about its place; bent legs, no friction or damping in joints."""

    KP, KD, SWING, STANCE, HEIGHT = 400.0, 10.0, 0.15, (0.0, 0.72, -1.44), 0.3315

    def __init__(self, engine, mu, dt):
        numbers = dict(stiffness=2 * Scene.stiffness, relaxation_time=Scene.relaxation_time / 2, friction=mu)
        model = mbros.load("quadruped", ground=mbros.Ground(**numbers))
        state = model.default_state()
        for shape in model.shapes:
            for name, value in numbers.items():
                model.set_parameter(state, f"contact.{shape.name}.{name}", value)
        for name in ("friction", "damping"):
            state.field(name)[:] = 0.0
        q = np.array(state.q)
        q[2], q[7:] = self.HEIGHT, np.tile(self.STANCE, 4)
        state.set_q(q)
        self.home, self.rates, self.time, self.dt = q[7:].copy(), 5.0 * np.arange(1, 13) % 60.0, 0.0, dt
        kind, _, settings = engine.partition(" ")
        self.engine = {"mbros": self.in_mbros, "MuJoCo": self.in_mujoco, "Drake": self.in_drake}[kind](model, state, mu, settings)
        self.contacts = self.engine.contacts

    def in_mbros(self, model, state, mu, _):
        engine = object.__new__(Mbros)
        engine.model, engine.mu, engine.sim, engine.tau = model, mu, mbros.Simulator(model, self.dt, state=state), np.zeros(model.nv)
        self.joints = lambda: (engine.sim.state.q[7:], engine.sim.state.v[6:])
        self.effort = engine.tau[6:]
        return engine

    def in_mujoco(self, model, state, mu, settings):
        """With tests/mujoco_contact.py, which has all shapes of the robot."""
        from benchmarks.contact import contact_peer

        peer, engine = contact_peer(), object.__new__(MuJoCo)
        option, numbers = MuJoCo.settings(settings, self.dt)
        engine.mujoco, engine.mu = peer.mujoco, mu
        engine.model = peer.compiled_with_contact(model.spec, self.dt, option, numbers)
        engine.model.geom_friction[:, 0] = mu
        engine.data = peer.mujoco.MjData(engine.model)
        engine.data.qpos[:], engine.data.qvel[:] = model.to_convention(state, "mujoco")
        self.joints = lambda: (engine.data.qpos[7:], engine.data.qvel[6:])
        self.effort = engine.data.qfrc_applied[6:]
        return engine

    def in_drake(self, model, state, mu, settings):
        """By its URDF, with balls for feet and no other shapes: nothing else touches the ground."""
        from pydrake.geometry import Sphere
        from pydrake.math import RigidTransform
        from pydrake.multibody.parsing import Parser

        engine = object.__new__(Drake)
        plant = engine.begin(Scene((), mu), self.dt, settings)
        text = re.sub(r"<(collision|visual)\b.*?</\1>|<dynamics .*?/>", "", model.description.text, flags=re.S)
        Parser(plant).AddModelsFromString(text, "urdf")
        joints = [joint for joint in model.joints if joint.nv == 1]
        for joint in joints:
            actuator = plant.AddJointActuator(joint.name, plant.GetJointByName(joint.name))
            actuator.set_default_rotor_inertia(float(model.spec.rotor_inertia[joint.v_slice.start]))
        for shape in model.shapes:
            if shape.name.endswith("foot"):
                ball = Sphere(float(shape.geometry.sizes[0]))
                plant.RegisterCollisionGeometry(plant.GetBodyByName(shape.body.name), RigidTransform(), ball, shape.name, engine.props)
        engine.finish()
        plant.SetFreeBodyPose(engine.context, plant.GetBodyByName("trunk"), RigidTransform(np.array(model.pose(state, "trunk").p)))
        there = [plant.GetJointByName(joint.name) for joint in joints]
        for joint, peer in zip(joints, there):
            peer.set_angle(engine.context, joint.position(state).item())
        at_q, self.at_v = (np.array([getattr(peer, f"{which}_start")() for peer in there]) for which in ("position", "velocity"))
        self.joints = lambda: (plant.GetPositions(engine.context)[at_q], plant.GetVelocities(engine.context)[self.at_v])
        self.effort = None
        return engine

    def control(self):
        q, v = self.joints()
        effort = self.KP * (self.home + self.SWING * np.sin(self.rates * self.time) - q) - self.KD * v
        if self.effort is None:
            self.engine.tau[self.at_v] = effort
            self.engine.port.FixValue(self.engine.context, self.engine.tau)
        else:
            self.effort[:] = effort

    def step(self, n=1):
        """One step, under efforts that control() has set."""
        self.engine.step(n)
        self.time += n * self.dt
