"""How many public names a user meets on a state, and which: a name for each thing, and no second one.

docs/decisions/021-names.md has the rule, the groups, and the old names beside the new ones.
"""
import mbros
import pytest

STATE = """assign copy damping external_force field friction gravity is_held model q rotor_inertia set set_q set_v time v"""


def public(thing) -> set[str]:
    """The names that `dir` shows and that do not begin with an underscore."""
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.fixture(scope="module")
def dog():
    return mbros.load("quadruped")


def test_a_state_has_sixteen_names(dog):
    assert public(dog.default_state()) == set(STATE.split()) and len(STATE.split()) == 16


def test_a_model_has_at_most_sixty_nine(dog):
    names = public(dog)
    assert len(names) <= 69, sorted(names)
    assert public(dog.tree) == {"at_q", "at_v", "children", "dot", "level", "model", "parent", "plot", "robots", "roots", "subtree",
                                 "subtree_mass"}
    assert public(dog.limits) == {"acceleration", "effort", "position", "velocity"}
    again = names & {"check_state", "compiled", "frame_index", "frame_pose", "joint_at_q", "joint_jacobian", "new_state", "time_kernel"}
    assert not again, "second names, and what is not for users"


JOINT = """name model index kind robot parent child parent_frame child_frame placement link_frame axis mimic follows gear_ratio
nq nv q_slice v_slice of is_floating can_rotate can_translate
limits defaults names topology mobilizer space
position velocity transform project_force set_position set_velocity set_pose set_zero spatial_velocity spatial_acceleration lock prescribe
release is_locked reaction damping set_damping friction set_friction friction_torque add_damping add_force"""
GROUPS = {
    "limits": "position velocity acceleration effort",
    "defaults": "positions pose pose_pair angle translation rotation damping random neutral",
    "names": "positions velocities position_suffixes velocity_suffixes parameters",
    "topology": "parent children subtree level neutral_pose pose_from_parent max_distance_to_parent",
    "mobilizer": "subspace subspace_bias subspace_gradient subspace_bias_gradient body_twist origin_acceleration "
                 "qdot_from_velocity_matrix velocity_from_qdot_matrix qdot_from_velocity_gradient velocity_from_qdot_gradient "
                 "velocity_to_qdot qdot_to_velocity linear_velocity_bound angular_velocity_bound source effort impulse",
}


def every_kind():
    """A joint of each class that models have."""
    b = mbros.ModelBuilder("every kind")
    make = [mbros.RevoluteJoint, mbros.PrismaticJoint, mbros.CylindricalJoint, mbros.PlanarJoint, mbros.UniversalJoint, mbros.BallJoint,
            mbros.BallRpyJoint, mbros.FloatingJoint, mbros.FloatingRpyJoint, mbros.TranslationJoint, mbros.WeldJoint]
    for kind in make:
        b.add_joint(kind(kind.__name__, b.world, b.add_body(f"on {kind.__name__}", 1.0, (0, 0, 0), (1, 1, 1))))
    screw, turn = (b.add_body(name, 1.0, (0, 0, 0), (1, 1, 1)) for name in ("on screw", "on circle"))
    b.add_joint(mbros.ScrewJoint("screw", b.world, screw, pitch_m_per_rad=0.1))
    b.add_joint(mbros.ContinuousJoint("circle", b.world, turn, representation="cos_sin"))
    return b.build().joints


@pytest.mark.parametrize("joint", every_kind(), ids=lambda joint: joint.kind)
def test_a_joint_has_51_names_and_few_of_its_kind(joint):
    names, common = public(joint), set(JOINT.split())
    assert len(common) == 51 and common <= names and len(names) <= 60, sorted(names - common)
    for group, members in GROUPS.items():
        assert public(getattr(joint, group)) == set(members.split()), group
        assert getattr(joint, group) is getattr(joint, group)           # made once: a question costs a look-up
        assert getattr(type(joint), group).__doc__


def test_one_class_for_a_name():
    """What is written in a builder and what a model hands back: no class of either has the name of one of the other, or of the engine."""
    import importlib
    import inspect
    import pkgutil

    homes = {}
    for room in ("describe", "build", "model", "spatial", "spaces", "simulate", "conventions", "diff"):
        package = importlib.import_module(f"mbros.{room}")
        for module in [package.__name__, *(m.name for m in pkgutil.walk_packages(package.__path__, package.__name__ + "."))]:
            for name, value in vars(importlib.import_module(module)).items():
                if inspect.isclass(value) and value.__module__ == module and not name.startswith("_"):
                    homes.setdefault(value.__name__, set()).add(module)
    assert not {name: where for name, where in homes.items() if len(where) > 1}
    model = mbros.load("quadruped")
    public_classes = {name for name in mbros.__all__ if isinstance(getattr(mbros, name), type)}
    for part in (*model.joints, *model.bodies, *model.frames, *model.force_elements):
        name = type(part).__name__
        assert name not in public_classes or isinstance(part, getattr(mbros, name))
