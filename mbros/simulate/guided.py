"""A step of a Simulator in which motions, functions of time, say how joints move."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros_core.integrators.registry import BY_ERROR

from mbros.errors import MbrosError

if TYPE_CHECKING:
    from mbros import Simulator
    from mbros_core.typing import Array, ArrayLike, Progress

LAWS = ("lock", "motion", "motion_q", "a_prev", "a_given")     # fields of a state in which motions write before a step


def guided_step(sim: Simulator, tau: ArrayLike | None, progress: Progress | None) -> None:
    """One step with motions. Where none is taken, the laws of joints are as they were."""
    state, motions = sim.plant.state, sim.motions
    state._check_free()
    if sim._tape is not None:
        refuse_laws_in_files(sim)
    time, laws = state.time, {name: state.field(name).copy() for name in LAWS}
    try:
        motions.before_step(state, sim.dt)
        (sim._tape or sim.plant).step(tau, progress)
    except BaseException:
        if state.time == time:
            for name, law in laws.items():
                field: Array = state.field(name)
                field[...] = law
        raise


def refuse_laws_in_files(sim: Simulator) -> None:
    """A recording has the polynomials of steps, which are not what dormand_prince follows."""
    if sim._guided and sim.integrator == BY_ERROR:
        raise MbrosError(f"record: {sim.integrator} asks for the motion of joint {next(iter(sim.motions))!r} within its steps, and "
                         "no file holds a function: such a simulation could not be replayed. Record it with another integrator")
