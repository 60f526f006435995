"""Every public method of the engine's classes and of Simulator, with right arguments for it.

`of` fails when a class has a public method that has no row here.
"""
from dataclasses import dataclass
from functools import cache

import numpy as np

import mbros
import mbros_core
from mbros_core.algorithms.registry import OF_DUALS


@dataclass(frozen=True)
class Call:
    """function(subject, *arguments); arguments(subject, rng) makes right ones. bounded: which of them may not be large: they are times
    or numbers of steps. fixed: how many at the beginning are never exchanged. may_refuse: also what is right for most."""

    function: object
    arguments: object
    bounded: tuple[int, ...] = ()
    fixed: int = 0
    may_refuse: bool = False


def nothing(s, rng):
    return ()


def vector(*sizes):
    """Random vectors of sizes that are attributes of the model."""
    return lambda s, rng: tuple(rng.normal(size=getattr(s.model, size)) for size in sizes)


def with_state(more=nothing):
    return lambda s, rng: (s.state, *more(s, rng))


def with_out(more, *shape):
    """`more`, and half of the time a buffer for the result; shape: numbers, or attributes of the model."""
    def make(s, rng):
        size = tuple(n if isinstance(n, int) else getattr(s.model, n) for n in shape)
        return (*more(s, rng), rng.normal(size=size) if rng.random() < 0.5 else None)
    return make


def frame(s, rng):
    return s.frame(rng),


def both(*makers):
    return lambda s, rng: tuple(x for make in makers for x in make(s, rng))


def configuration(s, rng):
    return s.random_state(rng).q.copy(),


def part(table):
    return lambda s, rng: (s.part(rng, table),)


def word(*choices):
    return lambda s, rng: (choices[rng.integers(len(choices))],)


MODEL = {
    "_reactions": with_state(), "_jacobian_rate": with_state(both(frame, word(True, False))),
    "_d_integrate": both(configuration, vector("nv")), "_d_difference": both(configuration, configuration),
    "_distance": both(configuration, configuration), "_is_same": both(configuration, configuration, word(1e-12, 0.1)),
    "_task_space": with_state(lambda s, rng: (rng.normal(size=(3, s.model.nv)), float(rng.integers(2)))),
    "forward_dynamics": with_out(with_state(vector("nv")), "nv"), "inverse_dynamics": with_out(with_state(vector("nv")), "nv"),
    "inverse_mass_matrix": with_out(with_state(), "nv", "nv"), "coriolis_matrix": with_out(with_state(), "nv", "nv"),
    "mass_matrix": with_out(with_state(), "nv", "nv"), "gravity_torques": with_out(with_state(), "nv"),
    "bias_torques": with_out(with_state(), "nv"), "coriolis_torques": with_out(with_state(), "nv"),
    "passive_torques": with_out(with_state(), "nv"), "_frame_velocity": with_out(with_state(frame), 6),
    "_frame_pose": with_out(with_state(both(frame, frame)), 12),
    "_frame_acceleration": with_out(with_state(both(frame, vector("nv"))), 6),
    "_frame_jacobian": with_out(with_state(both(frame, word(True, False))), 6, "nv"), "total_mass": with_state(),
    "center_of_mass": with_out(with_state(), 3), "com_jacobian": with_out(with_state(), 3, "nv"),
    "_centroidal_map": with_state(), "_inverse_dynamics_second_slopes": with_state(vector("nv")),
    "centroidal_momentum": with_out(with_state(), 6), "kinetic_energy": with_state(), "potential_energy": with_state(),
    "_force_element": with_state(lambda s, rng: (int(rng.integers(max(len(s.spec.force_kind), 1))),)),
    "integrate": with_out(both(configuration, vector("nv")), "nq"), "difference": with_out(both(configuration, configuration), "nv"),
    "normalize": with_out(vector("nq"), "nq"), "velocity_to_qdot": with_out(with_state(vector("nv")), "nq"),
    "qdot_to_velocity": with_out(with_state(vector("nq")), "nv"), "default_state": nothing,
    "_time_kernel": lambda s, rng: (("forward_dynamics", "inverse_dynamics", "mass_matrix")[rng.integers(3)], s.state,
                                   rng.normal(size=s.model.nv), 3),
}
LIBRARY = {
    "acceleration": with_state(both(part("frames"), vector("nv"))), "apply_wrench": with_state(both(part("bodies"), lambda s, rng: (
        rng.normal(size=3), rng.normal(size=3)))),
    "body": part("bodies"), "frame": part("frames"), "joint": part("joints"), "clear_wrenches": with_state(), "contacts": with_state(),
    "assemble": with_state(), "from_state": with_state(),
    "com_of": with_state(part("joints")),
    "distance": both(configuration, configuration),
    "effort_vector": vector("nv"),
    "from_convention": lambda s, rng: (
        "drake", *mbros.convention("drake").to(s.model, *configuration(s, rng), rng.normal(size=s.model.nv))),
    "interpolate": both(configuration, configuration, lambda s, rng: (float(rng.random()),)),
    "jacobian": with_out(with_state(both(part("frames"), word("world", "local"))), 6, "nv"),
    "batch": lambda s, rng: tuple(rows(s, rng, "nq", "nv")), "linearize": with_state(vector("nv")), "neutral_configuration": nothing,
    "parameter": with_state(lambda s, rng: (s.model.parameter_names[rng.integers(len(s.model.parameter_names))],)),
    "pose": with_state(both(part("frames"), part("frames"))), "random_configuration": word(1, 2, None),
    "random_state": word(1, 2, None), "set_parameter": with_state(lambda s, rng: ("gravity", rng.normal(size=3))),
    "space": word("local", "hpp"), "is_same_configuration": both(configuration, configuration),
    "to_convention": with_state(word("drake", "ros", "pinocchio")), "velocity": with_state(part("frames")),
    "inverse_kinematics": lambda s, rng: ({s.model.frames[rng.integers(len(s.model.frames))].name: np.eye(4)}, s.state),
}
TREE = {
    "at_q": lambda s, rng: (int(rng.integers(max(s.model.nq, 1))),), "at_v": lambda s, rng: (int(rng.integers(max(s.model.nv, 1))),),
    "parent": part("joints"), "children": part("joints"), "roots": nothing, "level": part("joints"), "subtree": part("joints"),
    "dot": lambda s, rng: (s.state,), "subtree_mass": with_state(part("joints")),
}
SPACE = {
    "integrate": both(configuration, vector("nv")), "difference": both(configuration, configuration),
    "interpolate": both(configuration, configuration, lambda s, rng: (float(rng.random()),)), "normalize": configuration,
    "distance": both(configuration, configuration), "squared_distance": both(configuration, configuration),
    "is_same": both(configuration, configuration), "d_integrate": both(configuration, vector("nv")),
    "d_difference": both(configuration, configuration), "sample": word(1, 2, None), "element": configuration,
    "add_extra_variables": word(1, 2),
}
STATE = {
    "set": both(configuration, vector("nv")), "set_q": configuration, "set_v": vector("nv"),
    "field": word("q", "v", "X_WB", "inertia", "lock"), "copy": nothing,
    "assign": lambda s, rng: (s.other,),
}
PLANT = {
    "still_state": nothing,
    "check_friction": nothing,
    "step": vector("nv"), "steps": both(vector("nv"), lambda s, rng: (int(rng.integers(1, 4)),)), "observe": nothing,
    "under": lambda s, rng: (lambda time, state: np.zeros(s.model.nv),),
    "reset": both(configuration, vector("nv")), "parameter_block": lambda s, rng: (s.state,),
    "check_parameters": lambda s, rng: (s.plant.parameter_block(s.start),), "check_state": both(configuration, vector("nv")),
    "at": lambda s, rng: (s.plant.state.time,),
    "fault_text": lambda s, rng: (int(rng.integers(2)), int(rng.integers(-1, max(s.model.nv, 1)))),
}
def prescribed_motion(s, rng):
    """A joint of the model, and a motion for it from where it is; or none."""
    free = [joint for joint in s.model.joints if joint.nv and not joint.follows]
    if not free:
        return "none", None
    joint = free[rng.integers(len(free))]
    q, zero = joint.position(s.simulator.state), np.zeros(joint.nv)
    return joint.name, (lambda t: (q, zero, zero)) if rng.random() < 0.5 else None


def a_joint(s, rng):
    return s.model.joints[rng.integers(len(s.model.joints))].name if len(s.model.joints) else "none"


def a_fault(s, rng):
    """Few names: most of them are taken after a while."""
    kind = ("stuck", "free", "friction", "lost_effort")[rng.integers(4)]
    numbers = {"friction": {"coulomb": 0.1}, "lost_effort": {"fraction": 0.5}}.get(kind, {})
    return (mbros.Fault(f"{kind}{rng.integers(2)}", kind, joint=a_joint(s, rng), at=float(s.simulator.time), **numbers),)


SIMULATOR = {
    "step": vector("nv"), "advance_to": both(lambda s, rng: (s.simulator.time + 0.002,), vector("nv")),
    "run": both(lambda s, rng: (0.002,), vector("nv")), "reset": word(None), "save": nothing,
    "restore": lambda s, rng: (s.simulator.save(),), "at": lambda s, rng: (s.simulator.time,),
    "command": word({}), "feed": word({}), "prescribe": prescribed_motion,
    "rebuilt": lambda s, rng: (s.simulator.model, False), "inject": a_fault,
    "set_source": lambda s, rng: (a_joint(s, rng), ("sim", "real", "prescribed", "locked")[rng.integers(4)]),
    "apply_wrench": both(part("bodies"), lambda s, rng: (rng.normal(size=3), rng.normal(size=3))),
}
# A robot may have no force element, no mass, no joint.
MAY_REFUSE = {"_force_element", "_centroidal_map", "center_of_mass", "com_jacobian", "centroidal_momentum", "coriolis_matrix",
              "sweep", "compute", "com_of", "joint", "at_q", "at_v", "parent", "children", "level", "subtree", "subtree_mass",
              "inverse_kinematics", "space", "linearize", "command", "feed", "prescribe", "save", "at", "rebuilt", "inject", "set_source",
              "Simulator.apply_wrench"}
# Views of memory that is the caller's own, and what is not guarded against a state that was spoiled through one.
UNGUARDED = ("State.field", "mbros.Model.parameter", "Plant.observe")
BOUNDED = {"steps": (1,), "advance_to": (0,), "run": (0, 2), "_time_kernel": (3,), "random_configuration": (0,), "random_state": (0,)}


def rows(s, rng, *sizes):
    n = int(rng.integers(0, 20))
    return [rng.normal(size=(n, getattr(s.model, size))) for size in sizes]


def batch(name):
    def call(s, rng):
        q, v, x, out = rows(s, rng, "nq", "nv", "nv", "nv")
        return q, v, x, out
    return call


def rollout(s, rng):
    n, steps = int(rng.integers(0, 11)), int(rng.integers(0, 4))
    nq, nv = s.model.nq, s.model.nv
    return (np.tile(s.start.q, (n, 1)), rng.normal(size=(n, nv)), rng.normal(size=(n, steps, nv)), 1e-3, int(rng.integers(2)),
            np.empty((n, steps, nq)), np.empty((n, steps, nv)), np.empty(n, np.longlong))


def any_batch(s, rng):
    """One of the algorithms, on a few robots."""
    what = ("mass_matrix", "bias_torques", "frame_jacobian", "frame_pose", "kinetic_energy", "forward_dynamics")[rng.integers(6)]
    if s.model._has_slopes(False) and rng.integers(4) == 0:
        what = "inverse_dynamics_derivatives"
    q, v, x, _ = batch("")(s, rng)
    width = {"mass_matrix": s.model.nv**2, "frame_jacobian": 6 * s.model.nv, "frame_pose": 12, "kinetic_energy": 1,
             "inverse_dynamics_derivatives": (1 + 3 * s.model.nv) * s.model.nv}.get(what, s.model.nv)
    return what, q, v, x, np.empty((len(q), width)), s.frame(rng), -1, bool(rng.integers(2))


def vary(s, rng):
    n = int(rng.integers(0, 5))
    return rng.integers(0, s.state._inputs.size, n), rng.normal(size=(3, n)), int(rng.integers(3)), int(rng.integers(1, 3))


def linearize(s, rng):
    n, nv = int(rng.integers(0, 4)), s.model.nv
    return (("forward_dynamics", "step")[rng.integers(2)], np.tile(s.start._inputs, (n, 1)), rng.normal(size=(n, nv)),
            np.empty((n, 2 * nv, 2 * nv)), np.empty((n, 2 * nv, nv)))


def second_slopes(s, rng):
    nv = s.model.nv
    return s.start._inputs.copy(), rng.normal(size=nv), np.empty((4 * nv * nv, nv))


BATCH = {"forward_dynamics": batch("tau"), "inverse_dynamics": batch("vdot"), "rollout": rollout, "compute": any_batch,
         "finite": lambda s, rng: (rng.normal(size=rng.integers(0, 40)),)}
WHATS = tuple(OF_DUALS)


def sweep(s, rng):
    duals, count = s.duals, int(rng.integers(0, 9))
    q = duals.state.q
    return (WHATS[rng.integers(len(WHATS))], [(q, rng.normal(size=(count, len(q))))], count, 0)


def body_directions(s, rng):
    """Some bodies' masses, centres and inertias."""
    n, nb = int(rng.integers(0, 5)), len(s.spec.body_names)
    plan = np.stack([np.arange(n), rng.integers(0, nb, n), rng.integers(0, 3, n)], axis=1)
    return np.abs(rng.normal(size=(nb, 10))) + 0.1, plan, rng.normal(size=(n, 6)), np.zeros((n, 10 * nb))


DUALS = {"body_directions": body_directions, "compute": lambda s, rng: (WHATS[rng.integers(len(WHATS))], 0), "sweep": sweep}


def build(s, spec):
    """A model of a spec, a state of it, and a step."""
    model = mbros_core.Model(spec)
    mbros_core.Plant(model).step()
    return model.forward_dynamics(model.default_state(), np.zeros(model.nv))


class Lifecycle:
    """What an enemy does to objects: making them of nothing, making them twice, bending their views."""

    def new(s, kind, *arguments):
        kind.__new__(kind, *arguments)

    def twice(s, kind, *arguments):
        {"Model": s.model, "State": s.state, "Plant": s.plant, "Batch": s.batches[0]}[kind].__init__(*arguments)

    def bend(s, name, how):
        before = s.state.field(name).copy()
        view = s.state.field(name)
        try:
            bend = {"shape": lambda: setattr(view, "shape", (-1, 1)), "dtype": lambda: setattr(view, "dtype", np.int8),
                    "strides": lambda: setattr(view, "strides", (0,) * view.ndim), "resize": lambda: view.resize(1000),
                    "flags": lambda: view.setflags(write=False), "swap": lambda: view.byteswap(True).byteswap(True)}[how]
            bend()
        except (ValueError, AttributeError) as error:
            raise TypeError(str(error)) from None          # NumPy's own refusal
        assert np.array_equal(s.state.field(name), before, equal_nan=True) and s.state.field(name).flags.writeable


def lifecycle():
    classes = (mbros_core.Model, mbros_core.State, mbros_core.Plant, mbros_core.Batch, mbros.Model, mbros_core.lanes().Batch)
    return {
        "new": Call(Lifecycle.new, lambda s, rng: (classes[rng.integers(len(classes))], s.model), fixed=1, may_refuse=True),
        "init again": Call(Lifecycle.twice, lambda s, rng: (("Model", "State", "Plant", "Batch")[rng.integers(4)], s.spec, s.model),
                           fixed=1, may_refuse=True),
        "bend a view": Call(Lifecycle.bend, lambda s, rng: (("q", "v", "damping", "X_WB")[rng.integers(4)],
                                                            ("shape", "dtype", "strides", "resize", "flags", "swap")[rng.integers(6)]),
                            fixed=2, may_refuse=True),
        "State(model)": Call(lambda s, model: mbros_core.State(model), lambda s, rng: (s.model,)),
        "Batch.vary": Call(lambda s, *x: mbros_core.lanes().Batch(s.batches[1].model).vary(*x), vary),
        "Batch.take": Call(lambda s, x: mbros_core.lanes().Batch(s.batches[1].model).take(x),
                           lambda s, rng: (rng.normal(size=s.state._inputs.size),)),
        "Batch(model, gravity)": Call(lambda s, *x: mbros_core.Batch(*x), lambda s, rng: (s.model, rng.normal(size=3))),
        "time =": Call(lambda s, t: setattr(s.state, "time", t), lambda s, rng: (float(rng.random()),)),
    }


def method(target, name):
    return lambda s, *arguments: getattr(target(s), name)(*arguments)


def table(target, names, rows, prefix):
    """A Call for each public method of a class; KeyError for one that has no row."""
    return {f"{prefix}.{name}": Call(method(target, name), rows[name], BOUNDED.get(name, ()),
                                     may_refuse=bool(MAY_REFUSE & {name, f"{prefix}.{name}"})) for name in names}


# Not called here: what opens a page in the browser, draws a picture or writes a recording, and what changes a Batch for good (take and
# vary have rows of their own).
ELSEWHERE = ("show", "plot", "end", "take", "vary", "record")


def methods(kind, beyond=object):
    """Names of the public methods that a class has and another has not."""
    return [name for name in dir(kind) if not name.startswith("_") and name not in ELSEWHERE and callable(getattr(kind, name))
            and not hasattr(beyond, name)]


# What mbros calls of an engine's model: rows instead of names.
FOR_THE_LIBRARY = tuple(name for name in MODEL if name.startswith("_"))


@cache
def of_engine() -> dict[str, Call]:
    batches = {f"{what}.{name}": call for k, what in ((0, "Batch"), (1, "lanes.Batch")) for name, call in
               ((n, Call(method(lambda s, k=k: s.batches[k], n), BATCH[n])) for n in methods(mbros_core.Batch))}
    return (table(lambda s: s.model, [*methods(mbros_core.Model), *FOR_THE_LIBRARY], MODEL, "Model")
            | table(lambda s: s.state, methods(mbros_core.State), STATE, "State")
            | table(lambda s: s.plant, methods(mbros_core.Plant), PLANT, "Plant") | batches | lifecycle())


@cache
def of_library() -> dict[str, Call]:
    return (of_engine() | table(lambda s: s.model, methods(mbros.Model, mbros_core.Model), LIBRARY, "mbros.Model")
            | table(lambda s: s.model.tree, methods(type(mbros.load("pendulum").tree)), TREE, "JointTree")
            | table(lambda s: s.model.space(), methods(mbros.spaces.Space), SPACE, "Space")
            | table(lambda s: s.simulator, methods(mbros.Simulator), SIMULATOR, "Simulator"))


@cache
def of_duals() -> dict[str, Call]:
    return (table(lambda s: s.duals, methods(mbros_core.dual().Duals), DUALS, "Duals")
            | {"Linearizer.linearize": Call(lambda s, *x: mbros_core.dual().Linearizer(s.duals.model).linearize(*x), linearize),
               "SecondSlopes.find": Call(lambda s, *x: mbros_core.dual().SecondSlopes(s.duals.model).find(*x), second_slopes)})


def of(subject) -> dict[str, Call]:
    """All that can be done with a subject."""
    return (of_library() if subject.library else of_engine()) | (of_duals() if subject.duals is not None else {})
