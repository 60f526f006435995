"""What of a Simulator is about joints whose motion is given, by functions of time."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbros_core.integrators.registry import BY_ERROR

from mbros.errors import MbrosError
from mbros.simulate.on_bench import OnBench

if TYPE_CHECKING:
    from mbros import Model, Simulator
    from mbros.describe.devices.bench import BenchLike
    from mbros.names import JointLike
    from mbros.simulate.motion import Motion, Motions
    from mbros_core.engine._engine import State
    from mbros_core.typing import ArrayLike, Progress

LAWS = ("lock", "motion", "motion_q", "a_prev", "a_given")     # fields of a state in which motions write before a step


class Guided(OnBench):
    """The part of a Simulator that asks, before each step, how joints will move in it."""

    dt: Any
    _motions: Motions | None

    @property
    def _guided(self) -> bool:
        """Whether motions are asked before each step."""
        return self._motions is not None and bool(self._motions._by_name)

    def prescribe(self, joint: JointLike, motion: Motion | None) -> None:
        """From now on the joint moves as given, and its mobilizer.effort(state) is what that takes; the others are moved by their forces.

        motion: a function of time, s, that returns positions (nq,), velocities (nv,) and accelerations (nv,); an mbros.Spline or an
        mbros.Table; None lets the joint go. It is asked once for every step, by dormand_prince at each of its stages, and its numbers are
        the state's at the end of the step, to the bit. A motion given at the start puts the joint where it begins; a later one has to
        begin where the joint is. The state says whether a joint is prescribed: `sim.model.joint(name).release(sim.state)` ends it, a reset
        brings back what the start had.
        """
        name = self.model.joint(joint).name
        if motion is not None:
            self.motions[name] = motion
        elif self._motions is not None and name in self._motions:
            del self._motions[name]
        else:
            self.model.joint(name).release(self.plant.state)

    def rebuilt(self: Any, model: Model, bench: BenchLike = True) -> Simulator:
        """A simulator of another model that goes on from here: what both models have, by name, is where it is here, with its parameters,
        its contacts and the memory of its devices, faults and sources, to the bit; what only the other has is at its start. Time goes on.

            scene = mbros.Scene.of(sim.model)
            scene.add_object("ball", mbros.shapes.sphere(0.05), mass=0.2, p=(1.0, 0.0, 2.0))
            sim = sim.rebuilt(scene.build())

        bench: as of Simulator, by default the one that the model carries. A joint that a source held and that has none there is free.
        MbrosError in a fault, while it records, and with motions or disturbances. Cost: that of a new simulator.
        """
        from mbros.bench.carried import rebuilt      # start-up time: who does not use it does not pay

        return rebuilt(self, model, bench)

    @property
    def motions(self: Any) -> Motions:
        """The motions that are given to joints, by name: sim.motions["elbow"] = motion is sim.prescribe("elbow", motion)."""
        if self._motions is None:
            from mbros.simulate.motion import Motions      # start-up time: who does not use it does not pay

            self._motions = Motions(self)
        motions: Motions = self._motions
        return motions

    def _step(self, tau: ArrayLike | None, progress: Progress | None = None) -> None:
        """One step, with what stands before and behind it; a recording steps the plant, and writes a row."""
        if self._sources is not None:
            self._sources.heed()
        if self._guided:
            self._guided_step(tau, progress)
        else:
            (self._tape or self.plant).step(tau, progress)
        if self._sources is not None:
            self._sources.say()

    def _guided_step(self, tau: ArrayLike | None, progress: Progress | None) -> None:
        """One step with motions. Where none is taken, the laws of joints are as they were."""
        state, motions = self.plant.state, self.motions
        state._check_free()
        if self._tape is not None:
            self._refuse_laws_in_files()
        time, laws = state.time, _laws(state)
        try:
            motions.before_step(state, self.dt)
            (self._tape or self.plant).step(tau, progress)
        except BaseException:
            if state.time == time:
                for name, law in laws.items():
                    state.field(name)[...] = law
            raise


    def _refuse_laws_in_files(self: Any) -> None:
        """A recording has the polynomials of steps, which are not what dormand_prince follows."""
        if self._guided and self.integrator == BY_ERROR:
            raise MbrosError(f"record: {self.integrator} asks for the motion of joint {next(iter(self.motions))!r} within its steps, and "
                             "no file holds a function: such a simulation could not be replayed. Record it with another integrator")


def _laws(state: State) -> dict[str, Any]:
    return {name: state.field(name).copy() for name in LAWS}
