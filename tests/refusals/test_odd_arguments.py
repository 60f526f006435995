"""What nobody means to give: objects that cannot be shown, numbers of thousands of digits, a hundred thousand letters, ragged and empty
lists, read-only arrays. All of it is refused as an MbrosError in a few words, by everything that takes descriptions or the like."""
import inspect

import numpy as np
import pytest

import mbros
from mbros import bushing_design


class Mute:
    """An object whose every answer raises."""

    def __repr__(self):
        raise OverflowError("no words")

    __str__ = __repr__


ODD = {"mute": Mute(), "5000 digits": 10**5000, "letters": "a" * 100_000, "an array": np.zeros(3), "ragged": [[1, 2], [3]], "empty": [],
       "a list of an array": [np.zeros(2)], "no shape": np.array(None)}
LONGEST = 1200          # letters of a message


def builder():
    b = mbros.ModelBuilder("rig")
    for name in ("plate", "lid"):
        b.add_body(name, 1.0, (0, 0, 0), (1, 1, 1))
    b.add_joint(mbros.RevoluteJoint("turn", b.world, b.body("plate")))
    return b


def pair(b):
    return {"frame_A": b.world, "frame_C": b.body("plate")}


def joint(b):
    return {"name": "new", "parent": b.world, "child": b.body("lid")}


def ends(b):
    return {"name": "loop", "frame_a": b.world, "frame_b": b.body("plate")}


DEVICE = {"name": "device", "joint": "turn"}
MADE = {            # what is made of: arguments that are right, made with a builder
    mbros.RevoluteJoint: joint, mbros.ContinuousJoint: joint, mbros.TranslationJoint: joint, mbros.FloatingJoint: joint,
    mbros.PlanarJoint: joint,
    mbros.LinearBushingRollPitchYaw: pair, mbros.LinearSpringDamper: lambda b: {**pair(b), "free_length": 0.1, "stiffness": 1.0},
    mbros.JointSpring: lambda b: {"joint": b.joint("turn"), "stiffness": 1.0}, mbros.DoorHinge: lambda b: {"joint": b.joint("turn")},
    mbros.BodyWrench: lambda b: {"body": b.body("plate")}, mbros.CompiledForceElement: lambda b: {**pair(b), "law": None},
    mbros.BallConstraint: ends, mbros.DistanceConstraint: lambda b: {**ends(b), "length": 1.0},
    mbros.CouplerConstraint: lambda b: {"name": "gear", "joint_a": b.joint("turn"), "joint_b": b.joint("turn")},
    mbros.Channel: lambda b: {"signal": "turn.position"}, mbros.PositionServo: lambda b: dict(DEVICE, kp=1.0),
    mbros.Fault: lambda b: {"name": "ice", "kind": "freeze", "signal": "turn.position", "at": 1.0},
    mbros.Encoder: lambda b: DEVICE, mbros.JointSource: lambda b: DEVICE, mbros.Uniform: lambda b: {}, mbros.Ground: lambda b: {},
    mbros.shapes.box: lambda b: {"size": (1, 1, 1)}, mbros.shapes.mesh: lambda b: {"filename": "a.stl"},
    mbros.spaces.Rn: lambda b: {"n": 2}, mbros.spaces.SO3: lambda b: {},
}
MORE = {mbros.RevoluteJoint: ("limits", "mimic", "axis", "placement"), mbros.TranslationJoint: ("dim",),
        mbros.ContinuousJoint: ("representation",)}


def arguments(what):
    return [name for name, p in inspect.signature(what).parameters.items() if p.kind != p.VAR_KEYWORD]


def add(b, thing):
    """Into the builder, where that is where it goes."""
    for base, method in ((mbros.describe.joints.joint.JointDescription, b.add_joint),
                         (mbros.describe.forces.element.Described, b.add_force_element),
                         (mbros.describe.constraints.constraint.Constraint, b.add_constraint)):
        if isinstance(thing, base):
            method(thing)


@pytest.mark.parametrize("what", MADE, ids=lambda what: what.__name__)
def test_it_is_refused_in_few_words(what):
    for argument in arguments(what) + list(MORE.get(what, ())):
        for odd, thing in ODD.items():
            b = builder()
            try:
                add(b, what(**{**MADE[what](b), argument: thing}))
            except mbros.MbrosError as error:
                assert 0 < len(str(error)) < LONGEST, (argument, odd)


METHODS = [name for name, method in inspect.getmembers(mbros.ModelBuilder, inspect.isfunction) if not name.startswith("_")]
PENDULUM = mbros.load("pendulum")


@pytest.mark.parametrize("method", METHODS)
def test_builders_refuse_it(method):
    signature = inspect.signature(getattr(builder(), method))
    for argument in arguments(getattr(builder(), method)):
        for odd, thing in ODD.items():
            b = builder()
            right = {"name": "new", "parent": b.world, "body": b.body("plate"), "geometry": mbros.shapes.sphere(0.1), "a": "plate",
                     "b": "lid", "source": PENDULUM, "joint": mbros.RevoluteJoint("new", b.world, b.body("lid")), "model": PENDULUM}
            needed = [p.name for p in signature.parameters.values() if p.default is p.empty and p.kind != p.VAR_KEYWORD]
            try:
                getattr(b, method)(**{**{name: right.get(name) for name in needed}, argument: thing})
            except mbros.MbrosError as error:
                assert 0 < len(str(error)) < LONGEST, (argument, odd)


def test_what_is_wrong_is_not_accepted():
    b = builder()
    for call in (lambda: b.add_frame("at", b.world, tags=True), lambda: mbros.shapes.mesh(5),
                 lambda: b.add_collision(b.world, mbros.shapes.sphere(0.1), [[1, 2], [3]]), lambda: mbros.spaces.Rn(1, neutral="x"),
                 lambda: mbros.spaces.Rn(1, neutral=np.nan), lambda: mbros.spaces.Rn(2, angles=[[1, 2], [3]]),
                 lambda: mbros.spaces.Rn(2, angles="no"), lambda: mbros.spaces.Rn(2, names=None), lambda: mbros.spaces.Rn(2, names=["x"])):
        with pytest.raises(mbros.MbrosError, match="tags is|filename is|pose is|neutral|angles|names"):
            call()
    assert b.add_collision(b.world, mbros.shapes.sphere(0.1), [0, 0, 0.1]).X_BG.p[2] == 0.1


def test_numbers_of_bushings_that_have_no_square_are_refused():
    for call in (lambda: bushing_design.stiffness_from_frequency(1.0, 1e300), lambda: bushing_design.dominant_pole_error(1e300),
                 lambda: bushing_design.natural_frequency(1e-300, 1e300), lambda: bushing_design.damping_ratio(1e-300, 1e-300, 1.0)):
        with np.errstate(all="ignore"), pytest.raises(mbros.MbrosError, match="the result is (inf|nan): .*; expected numbers whose"):
            call()
    for call in (lambda: bushing_design.advise([], 1.0, 1.0), lambda: bushing_design.advise(1.0, 1.0, 1.0, settling_ratio=[]),
                 lambda: bushing_design.advise(1.0, 1.0, 1.0, steps_per_limit=[1.0, 2.0]),
                 lambda: bushing_design.advise([[1.0, 2.0]], 1.0, 1.0), lambda: bushing_design.settling_time([], 1.0)):
        with pytest.raises(mbros.MbrosError, match="expected"):
            call()


def test_forces_that_cannot_be_added_to_are_refused():
    model = mbros.load("pendulum")
    state, forces = model.default_state(), np.zeros(model.nv)
    forces.setflags(write=False)
    moving = model.tree.at_v(0)
    for call in (lambda: moving.add_damping(state, forces), lambda: moving.add_force(state, 0, 1.0, forces)):
        with pytest.raises(mbros.MbrosError, match="writable"):
            call()
    for name, dof in ODD.items():
        with pytest.raises(mbros.MbrosError) as caught:
            moving.add_force(state, dof, 1.0, np.zeros(model.nv))
        assert len(str(caught.value)) < LONGEST, name


PATHS = {**ODD, "half a surrogate": "\ud800", "a zero": "a\0b", "bytes": b"run.mcap", "None": None, "a long part": "a" * 256 + "/b", "": ""}


@pytest.mark.parametrize("odd", PATHS)
def test_what_is_no_path_is_refused(odd):
    pytest.importorskip("mcap", reason="needs mcap")
    arm, path = mbros.load("arm7"), PATHS[odd]
    sim = mbros.Simulator(arm)
    calls = {"restore": sim.restore, "record": sim.record, "replay": mbros.replay, "identify": lambda path: mbros.identify(arm, path)}
    if path is not None:                    # which is right: no file is written
        calls["save"] = sim.save
    for name, call in calls.items():
        with pytest.raises(mbros.MbrosError) as caught:
            call(path)
        assert len(str(caught.value)) < LONGEST, name


def test_disturbances_connections_and_lists_refuse_it():
    arm = mbros.load("arm7")
    disturbances = mbros.Simulator(arm).disturbances
    state = arm.default_state()
    for odd, thing in ODD.items():
        assert thing not in arm.joints and thing not in arm.frames
        for call in (lambda: disturbances.attach_payload("flange", 1.0, inertia=[thing]), lambda: disturbances.drop_payload(thing),
                     lambda: mbros.connect(thing), lambda: mbros.load(thing), lambda: mbros.diff.transmission(thing),
                     lambda: mbros.rollout(arm, state.q, state.v, np.zeros((1, 1, 7)), outputs=[thing]),
                     lambda: mbros.diff.derivatives(arm, "forward_dynamics", state, np.zeros(7), of=thing)):
            with pytest.raises(mbros.MbrosError) as caught:
                call()
            assert len(str(caught.value)) < LONGEST, odd
    with pytest.raises(mbros.MbrosError, match="outputs: expected a list of names"):
        mbros.rollout(arm, state.q, state.v, np.zeros((1, 1, 7)), outputs=np.array("energy"))
    assert disturbances.clear(10**400) == 0 and disturbances.clear(-1) == 0 and len(disturbances) == 0
    with pytest.raises(mbros.MbrosError, match="expected the name of a frame"):
        disturbances.clear(np.zeros(3))


def test_axes_and_references_are_words():
    model = mbros.load("arm7")
    batch = model.batch(model.default_state().q[None])
    for odd, thing in ODD.items():
        for call in (lambda: batch.jacobian("flange", thing), lambda: mbros.convention("ros").to_twist(np.zeros(6), thing)):
            with pytest.raises(mbros.MbrosError) as caught:
                call()
            assert len(str(caught.value)) < LONGEST, odd
