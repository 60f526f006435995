"""The same SDF text read by mbros and by Drake: poses, mass matrices and gravity at random states, to 1e-9 (they agree to 1e-13)."""
import numpy as np
import pytest

import mbros
from sdf_texts import joint, link, model, sdf, world

pytest.importorskip("pydrake.multibody.parsing")

BOUND = 1e-12
DAMPED = "<axis><xyz>0.6 0 0.8</xyz><dynamics><damping>0.3</damping></dynamics></axis>"


def drake_plant(text):
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(text, "sdf")
    plant.Finalize()
    return plant, plant.CreateDefaultContext()


def drake_names(plant, element):
    """How mbros calls a body or joint of Drake: of a file with one model, or of a world."""
    top, *inner = plant.GetModelInstanceName(element.model_instance()).split("::")
    name = "::".join([*inner, element.name()])
    return name, f"{top}/{name}", top, element.name()       # a joint is of its child's model there


def compare(text):
    from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
    from pydrake.multibody.tree import BodyIndex

    robot, (plant, context) = mbros.load(text), drake_plant(text)
    assert robot.nv == plant.num_velocities()
    bodies = {name: plant.get_body(BodyIndex(k)) for k in range(1, plant.num_bodies())
              for name in drake_names(plant, plant.get_body(BodyIndex(k)))}
    joints = {name: plant.get_joint(k) for k in plant.GetJointIndices() for name in drake_names(plant, plant.get_joint(k))}
    rng, worst = np.random.default_rng(5), 0.0
    for _ in range(10):
        state = robot.default_state()
        q = rng.uniform(-1.0, 1.0, robot.nq)
        for each in robot.joints:
            if each.kind in ("floating", "ball"):
                quat = q[each.q_slice][-4:]
                q[each.q_slice][-4:] = quat / np.linalg.norm(quat)
        state.set(q=q, v=rng.normal(size=robot.nv))
        T = np.zeros((robot.nv, robot.nv))              # v of Drake = T v
        for each in robot.joints:
            if not each.nv:
                continue
            if each.kind == "floating":                 # Drake's are along the world's axes
                body, X = bodies[each.child.name], robot.pose(state, each.child)
                plant.SetFreeBodyPose(context, body, RigidTransform(RotationMatrix(X.R), X.p))
                row = body.floating_velocities_start_in_v()
                T[row:row + 3, each.v_slice][:, :3] = T[row + 3:row + 6, each.v_slice][:, 3:] = X.R
                continue
            theirs = joints[each.name]
            row = slice(theirs.velocity_start(), theirs.velocity_start() + each.nv)
            if each.kind == "ball":                     # roll, pitch, yaw; angular velocity in F
                R = np.array(each.transform(state).R)
                theirs.set_angles(context, RollPitchYaw(RotationMatrix(R)).vector())
                T[row, each.v_slice] = R
            else:
                positions = plant.GetPositions(context)
                positions[theirs.position_start():theirs.position_start() + each.nq] = q[each.q_slice]
                plant.SetPositions(context, positions)
                T[row, each.v_slice] = np.eye(each.nv)
        for each in robot.bodies[1:]:
            X, Y = plant.EvalBodyPoseInWorld(context, bodies[each.name]), robot.pose(state, each)
            worst = max(worst, np.abs(X.rotation().matrix() - Y.R).max(), np.abs(X.translation() - Y.p).max())
        M = T.T @ plant.CalcMassMatrix(context) @ T
        g = T.T @ plant.CalcGravityGeneralizedForces(context)
        worst = max(worst, np.abs(M - robot.mass_matrix(state)).max() / np.abs(M).max(),
                    np.abs(g + robot.gravity_torques(state)).max() / (1.0 + np.abs(g).max()))
    assert worst < BOUND, worst


PARTS = (
    link("base", mass=3.0), link("a", pose="<pose relative_to='j1'>0.1 0 0 0 0.3 0</pose>"),
    link("b", pose="<pose>0.5 0.1 0.7 0.1 0.2 0.3</pose>"),
    link("c", pose="<pose relative_to='b'>0 0 0.5 0 0 1</pose>"), link("d"), link("e", pose="<pose degrees='true'>0 1 0 0 0 45</pose>"),
    "<frame name='hip' attached_to='base'><pose>0 0.3 0 0.5 0 0</pose></frame>",
    joint("j1", "base", "a", inside=DAMPED, pose="<pose relative_to='hip'>0.2 0 0.1 0 0 0.4</pose>"),
    joint("j2", "hip", "b", "prismatic", "<axis><xyz expressed_in='__model__'>1 2 2</xyz></axis>"),
    joint("j3", "b", "c", "ball", "", "<pose>0 0 -0.2 0.1 0 0</pose>"),
    joint("j4", "a", "d", "universal", "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>", "<pose>0.1 0 0 0 0 0</pose>"),
    joint("j5", "d", "e", "screw", "<screw_thread_pitch>0.2</screw_thread_pitch><axis><xyz>0 1 0</xyz></axis>"),
)


def test_a_model_with_frames_and_every_kind_of_joint_is_drakes():
    compare(sdf(model("<pose>1 2 3 0.1 0.2 0.3</pose>", *PARTS)))


def test_a_model_on_the_world_is_drakes():
    compare(sdf(model(*PARTS, joint("w", "world", "base", "revolute", "<axis><xyz>0 1 0</xyz></axis>", "<pose>0 0 0.5 0 0 0</pose>"))))


def test_nested_models_with_placement_frames_are_drakes():
    inner = model("<pose>0.3 0 0 0 0.5 0</pose>", link("x"), link("y", pose="<pose>0 0.4 0 0 0 0</pose>"), joint("xy", "x", "y"),
                  "<frame name='grip' attached_to='y'><pose>0 0 0.1 0.2 0 0</pose></frame>", name="hand", more="placement_frame='grip'")
    about = "<axis><xyz expressed_in='hand::grip'>0 0 1</xyz></axis>"
    compare(sdf(model(link("base"), inner, joint("mount", "base", "hand::x", "revolute", about))))


def test_a_world_of_models_is_drakes():
    cell = world("<frame name='table'><pose>1 0 0.7 0 0 0.5</pose></frame>",
                 model("<pose relative_to='table'>0 0.2 0 0 0 0</pose>", *PARTS, name="one"),
                 model("<pose>3 0 0 0 0 0</pose>", link("only"), link("next"), joint("k", "only", "next"), name="two"))
    compare(sdf(cell))


def test_inertia_of_solids_is_drakes_own_of_the_same_shapes():
    """auto="true" against the inertias that Drake computes for its own shapes."""
    from pydrake.geometry import Box, Capsule, Cylinder, Ellipsoid, Sphere
    from pydrake.multibody.tree import CalcSpatialInertia

    from sdf_texts import collision

    for shape, theirs in (("<box><size>0.1 0.2 0.3</size></box>", Box(0.1, 0.2, 0.3)),
                          ("<sphere><radius>0.2</radius></sphere>", Sphere(0.2)),
                          ("<cylinder><radius>0.1</radius><length>0.4</length></cylinder>", Cylinder(0.1, 0.4)),
                          ("<capsule><radius>0.1</radius><length>0.4</length></capsule>", Capsule(0.1, 0.4)),
                          ("<ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid>", Ellipsoid(0.1, 0.2, 0.3))):
        inertial = "<inertial auto='true'><density>700</density></inertial>"
        body = mbros.load(sdf(model(f"<link name='a'>{inertial}{collision(shape)}</link>"))).body("a")
        wanted = CalcSpatialInertia(theirs, 700.0)
        assert body.mass == pytest.approx(wanted.get_mass(), rel=1e-13)
        np.testing.assert_allclose(body.inertia, wanted.CalcRotationalInertia().CopyToFullMatrix3(), rtol=1e-12, atol=1e-15)
