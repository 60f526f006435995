"""Robots whose equations of motion cannot be solved are refused when they are built, by the joint that is the cause; robots that are only
light, thin or far off are not (trial B5)."""
import numpy as np
import pytest
import zoo

import mbros

NOTHING = np.zeros((3, 3))
WHOLE = np.diag([0.02, 0.03, 0.025])
CAUSE = "whose mass and inertia leave the joint without inertia of its own: any torque would accelerate it without bound"
REMEDY = "Give the body a mass and an inertia, give the joint a rotor_inertia, or make the joint fixed"


def robot(*links, **options):
    """A chain: (joint class, mass, com, inertia, options of the joint)."""
    b = mbros.ModelBuilder("robot")
    parent = b.world
    for k, (joint, mass, com, inertia, *more) in enumerate(links):
        body = b.add_body(f"b{k}", mass, com, inertia)
        b.add_joint(joint(f"j{k}", parent, body, **(more[0] if more else {})))
        parent = body
    return b.build(**options)


def refused(name, *links, words=CAUSE, **options):
    with pytest.raises(mbros.ModelError, match=rf"joint '{name}': it moves .*{words}.*{REMEDY}"):
        robot(*links, **options)


def test_trial_B5_a_point_mass_on_a_ball_joint():
    """Nothing resists a turn about the line from the joint to the point."""
    refused("j0", (mbros.BallJoint, 1.0, (0, 0, -1), NOTHING))


@pytest.mark.parametrize("seed", range(40))
def test_point_masses_and_thin_rods_anywhere(seed):
    """At a generic place the rounding of what should be zero is of either sign, and of the size of the other numbers' rounding."""
    rng = np.random.default_rng(seed)
    mass, com = 10.0 ** rng.uniform(-3, 3), rng.normal(size=3) * 10.0 ** rng.uniform(-2, 2)
    along = com / np.linalg.norm(com)
    rod = mass * 10.0 ** rng.uniform(-4, 0) * (np.eye(3) - np.outer(along, along))          # about its own middle
    before = (mbros.RevoluteJoint, 1.0, (0.1, 0.2, 0.3), WHOLE)
    for joint in (mbros.BallJoint, mbros.FloatingJoint):
        options = {"p": tuple(rng.normal(size=3)), "rpy": tuple(rng.uniform(-3, 3, 3))}
        for links in ([(joint, mass, com, NOTHING, options)], [(joint, mass, com, rod, options)],
                      [before, (joint, mass, com, NOTHING, options)]):
            refused(f"j{len(links) - 1}", *links)
    assert robot((mbros.BallJoint, mass, com, rod + 1e-9 * mass * (com @ com) * np.eye(3))).nv == 3


def test_trial_B5_a_massless_body_between_too_many_joints():
    """What is behind it is massive, and moves freely: seven velocities for the six of a body."""
    behind = "no mass, and what is behind it gives the joint no inertia"
    refused("j0", (mbros.RevoluteJoint, 0.0, (0, 0, 0), NOTHING), (mbros.FloatingJoint, 1.0, (0.1, 0.2, 0.3), WHOLE), words=behind)
    refused("j0", (mbros.BallJoint, 0.0, (0, 0, 0), NOTHING, {"p": (0.3, 0.1, 0.2)}), (mbros.BallJoint, 1.0, (0.1, 0.2, 0.3), WHOLE),
            words=behind)
    for merge in (True, False):
        refused("j0", (mbros.RevoluteJoint, 0.0, (0, 0, 0), NOTHING), (mbros.WeldJoint, 0.0, (0, 0, 0), NOTHING, {"p": (1, 2, 3)}),
                (mbros.FloatingJoint, 1.0, (0.1, 0.2, 0.3), WHOLE), words=behind, merge_welds=merge)
    refused("j1", (mbros.RevoluteJoint, 1.0, (0.1, 0, 0), WHOLE), (mbros.RevoluteJoint, 0.0, (0, 0, 0), NOTHING),
            words="no mass, and nothing massive behind it")


def test_what_is_regular_is_built():
    point = 1.0, (0.5, 0.1, 0.0), NOTHING
    regular = [
        [(mbros.RevoluteJoint, *point)], [(mbros.UniversalJoint, 1.0, (0, 0, 0.5), NOTHING)], [(mbros.PrismaticJoint, *point)],
        [(mbros.TranslationJoint, *point, {"dim": 3})],
        [(mbros.RevoluteJoint, 0.0, (0, 0, 0), NOTHING), (mbros.RevoluteJoint, *point, {"axis": (1, 0, 0), "p": (0.2, 0, 0.1)})],
        [(mbros.RevoluteJoint, 0.0, (0, 0, 0), NOTHING), (mbros.BallJoint, 1.0, (0.1, 0.2, 0.3), WHOLE, {"p": (0.4, 0, 0)})],
        [(mbros.RevoluteJoint, 1e-12, (0, 0, 0), 1e-16 * WHOLE), (mbros.RevoluteJoint, 1e6, (1, 0, 0), 1e5 * WHOLE, {"axis": (1, 0, 0)})],
        [(mbros.FloatingJoint, 1.0, (1000.0, 0, 0), 1e-3 * np.eye(3))],                     # a link drawn in the assembly's frame
        [(mbros.BallJoint, 1.0, (0, 0, -1), 1e-9 * np.eye(3))],                             # a wire
        [(mbros.BallJoint, 1.0, (0, 0, -1), NOTHING, {"rotor_inertia": 1e-3})],
        [(mbros.RevoluteJoint, 0.0, (0, 0, 0), NOTHING, {"rotor_inertia": 1e-6})],
    ]
    for links in regular:
        model = robot(*links)
        state = model.random_state(3)
        assert np.isfinite(model.forward_dynamics(state, np.ones(model.nv))).all(), links


def test_trial_B5_followers():
    """The same, of the mass matrix that a follower's leader feels; the joint that is told is the outermost."""
    def gripper(finger, wrist=WHOLE):
        b = mbros.ModelBuilder("gripper")
        arm, left, right, tool = (b.add_body(name, *numbers) for name, numbers in (
            ("arm", (1.0, (0.1, 0, 0), WHOLE)), ("left", finger), ("right", (0.0, (0, 0, 0), NOTHING)),
            ("tool", (1.0, (0, 0, 0.3), wrist))))
        b.add_joint(mbros.RevoluteJoint("elbow", b.world, arm))
        b.add_joint(mbros.PrismaticJoint("left", arm, left))
        b.add_joint(mbros.PrismaticJoint("right", arm, right, mimic=("left", -1.0, 0.0)))
        b.add_joint(mbros.BallJoint("wrist", arm, tool, p=(0.1, 0.2, 0.3)))
        return b.build()

    assert gripper((0.1, (0, 0, 0.1), NOTHING)).nv == 5                        # the follower may be as light as it likes
    with pytest.raises(mbros.ModelError, match="joint 'wrist': it moves body 'tool', " + CAUSE):
        gripper((0.1, (0, 0, 0.1), NOTHING), NOTHING)
    with pytest.raises(mbros.ModelError, match="joint 'left': it moves body 'left', which has no mass, and nothing massive behind it"):
        gripper((0.0, (0, 0, 0), NOTHING))


def test_trial_B5_long_robots_are_looked_at_too():
    """A thousand velocities: no dense matrix is formed to find the one joint."""
    b = mbros.ModelBuilder("long")
    parent = b.world
    for k in range(1000):
        body = b.add_body(f"b{k}", 1.0, (0, 0, -1), NOTHING if k == 700 else WHOLE)
        b.add_joint((mbros.BallJoint if k == 700 else mbros.RevoluteJoint)(f"j{k}", parent, body, p=(0, 0, -1), rpy=(0.1 * k, 0.2, 0.3)))
        parent = body if k != 700 else parent
    with pytest.raises(mbros.ModelError, match="joint 'j700': it moves body 'b700', " + CAUSE):
        b.build()


@pytest.mark.parametrize("name", [name for name in zoo.NAMES if name not in ("mimic", "follower_first")])
def test_trial_B5_the_zoo_is_regular_by_far(name):
    """The test is of the articulated inertia in each joint, against what went into it: no robot of the tests is near the bound."""
    from mbros.build.compile import regularity

    spec = zoo.spec(name)
    rng = np.random.default_rng(1)
    model, state = regularity._at(spec, zoo.random_q(spec, rng))
    model.forward_dynamics(state, np.zeros(model.nv))
    P, sizes, S, column = regularity._articulated(state.field("P")), regularity._sizes(spec, state), state.field("S"), 0
    for i in range(1, len(model.spec.parent)):
        nv = regularity.row_of_spec(spec, i).nv
        H, rotors = S[column:column + nv].T, state.field("D0")[column:column + nv]
        column += nv
        if nv:
            size = regularity._felt(H, *sizes[i]) + rotors
            N = (H.T @ P[i] @ H + np.diag(rotors)) / np.sqrt(np.outer(size, size))
            assert np.linalg.eigvalsh(N)[0] > 1e9 * nv * regularity.ENTRY, spec.joint_names[i]


def test_a_law_that_raises_is_told_by_its_own_words():
    class Broken(mbros.JointLaw):
        nq = nv = 1

        def pose(self, q):
            if q[0]:
                raise ArithmeticError("out of wool")
            return np.eye(3), np.zeros(3)

        def subspace(self, q):
            return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]).T

        def bias(self, q, v):
            return np.zeros(6)

    b = mbros.ModelBuilder("robot")
    body = b.add_body("body", 1.0, (0.1, 0, 0), NOTHING)
    b.add_joint(mbros.CustomJoint("mine", b.world, body, Broken()))
    with pytest.raises(mbros.MbrosError, match="out of wool"):
        b.build()
