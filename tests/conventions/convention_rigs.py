"""One body on one joint, in mbros and in each library: what the conventions have to carry over to give the same physics.

Every library's class has: q', v', vdot' in, and efforts (inverse dynamics with gravity), Jacobian and twist of the body out.
"""
from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import zoo

import mbros_core
from mbros.spatial.vectors import Pose
from mbros_core.joints.registry import BY_NAME


class Rig:
    """The engine's model of one body on a joint of that kind at the world's origin, and what `mbros.convention` asks of a model."""

    def __init__(self, kind):
        engine_kind = "revolute" if kind == "continuous" else kind
        row = BY_NAME[engine_kind]
        spec = zoo.build(f"one {kind}", [zoo.Body(engine_kind, 0)], damped=False, rotors=False)
        spec.X_PF[1] = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
        self.kind, self.spec, self.engine = kind, spec, mbros_core.Model(spec)
        self.name, self.nq, self.nv = spec.name, row.nq, row.nv
        self.joints = [SimpleNamespace(name="joint1", kind=kind, nq=row.nq, nv=row.nv, q_slice=slice(0, row.nq), follows=False,
                                       v_slice=slice(0, row.nv), parent=SimpleNamespace(name="world"), child=SimpleNamespace(name="body1"))]
        self.mass, h, i = spec.inertia[1][0], spec.inertia[1][1:4], spec.inertia[1][4:]
        self.com = h / self.mass
        self.I_Bo = np.array([[i[0], i[3], i[4]], [i[3], i[1], i[5]], [i[4], i[5], i[2]]])
        self.I_com = self.I_Bo - self.mass * (self.com @ self.com * np.eye(3) - np.outer(self.com, self.com))

    def random(self, rng):
        """q, v, vdot and a state there."""
        q, v, vdot = zoo.random_q(self.spec, rng), rng.normal(size=self.nv), rng.normal(size=self.nv)
        state = self.engine.default_state()
        state.q[:], state.v[:] = q, v
        return q, v, vdot, state

    def pose(self, state) -> Pose:
        return Pose.from_row(self.engine._frame_pose(state, 1))


class Pinocchio:
    kinds = ("revolute", "continuous", "prismatic", "planar", "floating", "ball", "universal", "screw", "translation3", "circular",
             "ball_rpy", "floating_rpy")

    def __init__(self, pin, rig):
        free = pin.JointModelComposite()
        free.addJoint(pin.JointModelTranslation())
        free.addJoint(pin.JointModelSphericalZYX())
        x, y, z = np.eye(3)
        joint = {"revolute": pin.JointModelRZ, "continuous": pin.JointModelRUBZ, "prismatic": pin.JointModelPZ,
                 "planar": pin.JointModelPlanar, "floating": pin.JointModelFreeFlyer, "ball": pin.JointModelSpherical,
                 "universal": lambda: pin.JointModelUniversal(x, y), "translation3": pin.JointModelTranslation,
                 "screw": lambda: pin.JointModelHelicalUnaligned(z, float(rig.spec.joint_parameters[1, 0])),
                 "circular": pin.JointModelRUBZ, "ball_rpy": pin.JointModelSphericalZYX, "floating_rpy": lambda: free}[rig.kind]()
        self.pin, self.model = pin, pin.Model()
        self.model.gravity = pin.Motion(np.array(rig.spec.gravity), np.zeros(3))
        self.model.addJoint(0, joint, pin.SE3.Identity(), "joint1")
        self.model.appendBodyToJoint(1, pin.Inertia(float(rig.mass), rig.com, rig.I_com), pin.SE3.Identity())
        self.data = self.model.createData()
        self.references = {"local_world_aligned": pin.LOCAL_WORLD_ALIGNED, "local": pin.LOCAL, "world": pin.WORLD}

    def efforts(self, q, v, vdot):
        return self.pin.rnea(self.model, self.data, q, v, vdot)

    def jacobian(self, q, v, reference):
        self.pin.computeJointJacobians(self.model, self.data, q)
        return self.pin.getJointJacobian(self.model, self.data, 1, self.references[reference]).reshape(6, self.model.nv)

    def twist(self, q, v, reference):
        self.pin.forwardKinematics(self.model, self.data, q, v)
        return self.pin.getVelocity(self.model, self.data, 1, self.references[reference]).vector


class Mujoco:
    kinds = ("revolute", "continuous", "prismatic", "planar", "floating", "ball", "universal", "translation2", "translation3",
             "circular", "ball_rpy", "floating_rpy", "cylindrical")
    _Z, _XYZ, _ZYX = [("hinge", 2)], [("slide", 0), ("slide", 1), ("slide", 2)], [("hinge", 2), ("hinge", 1), ("hinge", 0)]
    JOINTS = {"revolute": _Z, "continuous": _Z, "circular": _Z, "prismatic": [("slide", 2)], "ball": [("ball", 0)],
              "planar": [("slide", 0), ("slide", 1), ("hinge", 2)], "universal": [("hinge", 0), ("hinge", 1)],
              "translation2": _XYZ[:2], "translation3": _XYZ, "ball_rpy": _ZYX, "floating_rpy": _XYZ + _ZYX,
              "cylindrical": [("hinge", 2), ("slide", 2)]}

    def __init__(self, mujoco, rig):
        def words(x):
            return " ".join(f"{float(a):.17g}" for a in x)

        axes = ["1 0 0", "0 1 0", "0 0 1"]
        joints = "<freejoint/>" if rig.kind == "floating" else "".join(
            f'<joint type="{kind}"' + ("" if kind == "ball" else f' axis="{axes[k]}"') + "/>" for kind, k in self.JOINTS[rig.kind])
        I = rig.I_com
        full = words([I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]])
        self.mujoco = mujoco
        self.model = mujoco.MjModel.from_xml_string(
            f'<mujoco><compiler angle="radian" inertiafromgeom="false"/><option gravity="{words(rig.spec.gravity)}">'
            f'<flag contact="disable" constraint="disable"/></option><worldbody><body name="b">{joints}'
            f'<inertial mass="{rig.mass:.17g}" pos="{words(rig.com)}" fullinertia="{full}"/></body></worldbody></mujoco>')
        self.data, self.body = mujoco.MjData(self.model), self.model.body("b").id
        self.references = {"local_world_aligned": 0, "local": 1}

    def efforts(self, q, v, vdot):
        self.data.qpos[:], self.data.qvel[:] = q, v
        self.mujoco.mj_forward(self.model, self.data)
        self.data.qacc[:] = vdot
        self.mujoco.mj_inverse(self.model, self.data)
        return self.data.qfrc_inverse.copy()

    def jacobian(self, q, v, reference):
        if reference != "local_world_aligned":
            return None
        self.efforts(q, v, 0 * v)
        jacp, jacr = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        self.mujoco.mj_jacBody(self.model, self.data, jacp, jacr, self.body)
        return np.vstack([jacp, jacr])

    def twist(self, q, v, reference):
        self.efforts(q, v, 0 * v)
        out = np.zeros(6)
        self.mujoco.mj_objectVelocity(self.model, self.data, self.mujoco.mjtObj.mjOBJ_XBODY, self.body, out, self.references[reference])
        return out

    def wrench_efforts(self, q, wrench):
        """Generalized forces of the body's xfrc_applied, which acts at its centre of mass."""
        self.data.qpos[:], self.data.qvel[:] = q, 0.0
        forces = []
        for applied in (wrench, 0.0):
            self.data.xfrc_applied[self.body] = applied
            self.mujoco.mj_forward(self.model, self.data)
            forces.append(self.data.qfrc_smooth.copy())
        return forces[0] - forces[1]


class Drake:
    kinds = ("revolute", "continuous", "prismatic", "planar", "floating", "ball", "universal", "screw", "circular", "ball_rpy",
             "floating_rpy")

    def __init__(self, drake, rig):
        tree = drake
        plant = self.plant = tree.MultibodyPlant(0.0)
        unit = rig.I_Bo / rig.mass
        inertia = tree.SpatialInertia(rig.mass, rig.com, tree.UnitInertia(unit[0, 0], unit[1, 1], unit[2, 2], unit[0, 1], unit[0, 2],
                                                                          unit[1, 2]))
        self.body = plant.AddRigidBody("body1", inertia)
        ends = ("joint1", plant.world_frame(), self.body.body_frame())
        z = np.array([0.0, 0.0, 1.0])
        plant.AddJoint({"revolute": lambda: tree.RevoluteJoint(*ends, z), "continuous": lambda: tree.RevoluteJoint(*ends, z),
                        "circular": lambda: tree.RevoluteJoint(*ends, z), "prismatic": lambda: tree.PrismaticJoint(*ends, z),
                        "planar": lambda: tree.PlanarJoint(*ends), "floating": lambda: tree.QuaternionFloatingJoint(*ends),
                        "ball": lambda: tree.BallRpyJoint(*ends), "ball_rpy": lambda: tree.BallRpyJoint(*ends),
                        "floating_rpy": lambda: tree.RpyFloatingJoint(*ends), "universal": lambda: tree.UniversalJoint(*ends),
                        "screw": lambda: tree.ScrewJoint(*ends, z, 2 * np.pi * float(rig.spec.joint_parameters[1, 0]), 0.0),
                        }[rig.kind]())
        plant.mutable_gravity_field().set_gravity_vector(np.array(rig.spec.gravity))
        plant.Finalize()
        self.tree, self.context = tree, plant.CreateDefaultContext()

    def efforts(self, q, v, vdot):
        self.plant.SetPositions(self.context, q)
        self.plant.SetVelocities(self.context, v)
        forces = self.tree.MultibodyForces(self.plant)
        self.plant.CalcForceElementsContribution(self.context, forces)
        return self.plant.CalcInverseDynamics(self.context, vdot, forces)

    def jacobian(self, q, v, reference):
        if reference == "world":
            return None
        self.efforts(q, v, 0 * v)
        world, frame = self.plant.world_frame(), self.body.body_frame()
        return self.plant.CalcJacobianSpatialVelocity(self.context, self.tree.JacobianWrtVariable.kV, frame, np.zeros(3), world,
                                                      frame if reference == "local" else world)

    def twist(self, q, v, reference):
        if reference == "world":
            return None
        self.efforts(q, v, 0 * v)
        world, frame = self.plant.world_frame(), self.body.body_frame()
        return frame.CalcSpatialVelocity(self.context, world, frame if reference == "local" else world).get_coeffs()


def library(name, pytest):
    """(class, module) of the library, or the test is skipped."""
    if name == "pinocchio":
        return Pinocchio, pytest.importorskip("pinocchio", reason="needs Pinocchio (pip install pin)")
    if name == "mujoco":
        return Mujoco, pytest.importorskip("mujoco", reason="needs MuJoCo (pip install mujoco)")
    pytest.importorskip("pydrake", reason="needs Drake (pip install drake)")
    import pydrake.multibody.plant
    import pydrake.multibody.tree
    both = {**vars(pydrake.multibody.tree), **vars(pydrake.multibody.plant)}
    return Drake, SimpleNamespace(**{k: x for k, x in both.items() if not k.startswith("__")})


PAIRS = [(name, kind) for name, rig in (("pinocchio", Pinocchio), ("mujoco", Mujoco), ("drake", Drake)) for kind in rig.kinds]
