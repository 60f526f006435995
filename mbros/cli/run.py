"""mbros run: simulate a robot for some seconds, sum up what happened, record it."""
from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from mbros_core import BY_ERROR, DEFAULT_INTEGRATOR, INTEGRATORS
from mbros_core.integrators.registry import TOLERANCES

from mbros.cli import values
from mbros.cli.constraint_report import constraint_lines
from mbros.cli.contact_report import contact_lines
from mbros.cli.interrupt import Interrupt
from mbros.cli.terminal import Progress, paint, span, table
from mbros.names import plural

if TYPE_CHECKING:
    import argparse
    from mbros import Model, Simulator
    from mbros_core.engine._engine import State
    from mbros_core.realtime import Loop

EPILOG = """examples:
  mbros run arm6                                                five seconds under gravity
  mbros run panda --effort panda_joint4=2.0 --csv out.csv       a constant torque, recorded
  mbros run arm7 --duration 3 --plot out.png                    a picture of everything
  mbros run quadruped --q base=0,0,1,1,0,0,0 --gravity 0,0,-1.62
  mbros run quadruped --ground                                  on a ground, from where it stands
  mbros run arm7 --bench arm7_servo --position joint2=0.3 --signals "joint2.*" --plot out.png     with servos and sensors
  mbros run cell.yaml --effort left/joint2=5                    several robots and objects in one world: a scene file
  mbros run arm6 --realtime                                     in step with the clock, with a timing report
  mbros run arm7 --record run.mcap; mbros replay run.mcap --verify      every step, for PlotJuggler and Foxglove
  mbros run arm6 --save arm6.mbros; mbros run arm6 --from arm6.mbros    in two parts, to the bit as in one

Efforts beyond a joint's limit are clamped and counted. The CSV file has a column `time` and <joint>/position,
<joint>/velocity, <joint>/effort; PlotJuggler opens it as it is. `--csv -` writes it to standard output."""


def configure(parser: argparse.ArgumentParser) -> None:
    parser.epilog = EPILOG
    parser.add_argument("robot", help="a name of `mbros list`, a .urdf, .xacro, .sdf or MJCF file, or a scene file, .yaml")
    parser.add_argument("--duration", "-d", metavar="S", type=values.positive, default=5.0, help="simulated seconds (default: 5)")
    parser.add_argument("--effort", metavar="JOINT=N", type=values.assignment, nargs="+", action="append", default=[],
                        help="constant effort, N m or N")
    parser.add_argument("--q", metavar="JOINT=X", type=values.assignment, nargs="+", action="append", default=[],
                        help="position at the start, rad or m; floating: x,y,z,qw,qx,qy,qz")
    parser.add_argument("--v", metavar="JOINT=X", type=values.assignment, nargs="+", action="append", default=[],
                        help="velocity at the start, rad/s or m/s")
    parser.add_argument("--position", metavar="JOINT=X", type=values.assignment, nargs="+", action="append", default=[],
                        help="command for an actuator of the bench (--bench), rad or m")
    parser.add_argument("--velocity", metavar="JOINT=X", type=values.assignment, nargs="+", action="append", default=[],
                        help="command for an actuator of the bench, rad/s or m/s")
    parser.add_argument("--signals", metavar="NAME", nargs="+", default=[],
                        help="of the bench, names or patterns: recorded and drawn beside the robot (--csv, --plot)")
    parser.add_argument("--parameters", metavar="FILE", type=values.path,
                        help="a parameter file, such as `mbros replay --fit` writes: masses, friction, damping, ... of the robot")
    parser.add_argument("--csv", metavar="FILE", type=values.path, help="record to this file; - is standard output")
    parser.add_argument("--plot", metavar="FILE", type=values.path,
                        help="draw positions, velocities, efforts and energy into this file: .png, .svg, .pdf")
    parser.add_argument("--every", metavar="N", type=values.count, default=1, help="record and plot every N-th step (default: 1)")
    parser.add_argument("--record", metavar="FILE", type=values.path,
                        help="record every step, with all signals, as ROS 2 messages: run.mcap, or a folder for a bag")
    parser.add_argument("--save", metavar="FILE", type=values.path, help="save the simulation at its end, for --from")
    parser.add_argument("--from", metavar="FILE", type=values.path, dest="saved",
                        help="go on from where --save or Simulator.save() left off")
    parser.add_argument("--dt", metavar="S", type=values.positive, help="length of a step, s (default: 0.001)")
    parser.add_argument("--integrator", choices=(*INTEGRATORS, BY_ERROR),
                        help=f"how a step is taken (default: {DEFAULT_INTEGRATOR}); {BY_ERROR}: by the error, for offline truth")
    parser.add_argument("--rtol", metavar="E", type=values.positive, help=f"relative tolerance of {BY_ERROR} (default: {TOLERANCES[0]:g})")
    parser.add_argument("--atol", metavar="E", type=values.positive,
                        help=f"absolute tolerance of {BY_ERROR}, rad, m and their rates (default: {TOLERANCES[1]:g})")
    parser.add_argument("--gravity", metavar="X,Y,Z", type=values.gravity, help="m/s^2 (default: 0,0,-9.81)")
    parser.add_argument("--realtime", action="store_true", help="in step with the wall clock, in the real-time loop")
    values.add_robot_options(parser)


def run(arguments: argparse.Namespace) -> int:
    from mbros_core.support.files import check_target
    from mbros.describe.robot import GRAVITY
    from mbros.cli.recording import recorders
    from mbros.errors import MbrosError
    from mbros.bench.devices import signal_columns
    from mbros.simulate.saved import read
    from mbros.simulate.simulator import Simulator, whole_steps

    if arguments.save:
        check_target("save", arguments.save)                # before anything is simulated
    model = values.load_robot(arguments.robot, arguments, gravity=arguments.gravity or GRAVITY)
    before = read(arguments.saved) if arguments.saved else None
    saved: dict[str, Any] = before.header if before else {"dt": 1e-3, "integrator": DEFAULT_INTEGRATOR}
    given: dict[str, Any] = {name: x for name, x in (("rtol", arguments.rtol), ("atol", arguments.atol)) if x is not None}
    sim = Simulator(model, arguments.dt or saved["dt"], arguments.integrator or saved["integrator"],
                    **{**(before.tolerances() if before else {}), **given})
    if arguments.saved:
        sim.restore(arguments.saved)
    if arguments.parameters:
        from mbros.study.identify.parameter_file import put

        put(arguments.parameters, model, sim.state)
    set_start(sim.state, model, arguments)
    tau = model.effort_vector(values.unpack(arguments.effort))
    steps = whole_steps("--duration", arguments.duration, sim.dt)
    if steps < 1:
        raise MbrosError(f"--duration {arguments.duration:g} s is shorter than half a step of {sim.dt:g} s")
    if sim._bench is None and (arguments.position or arguments.velocity or arguments.signals):
        raise MbrosError("--position, --velocity and --signals are for the actuators and sensors of a bench, and there is none. Give one, "
                         "for example --bench servo, or command --effort")
    if arguments.position or arguments.velocity:
        sim.command(position=values.unpack(arguments.position), velocity=values.unpack(arguments.velocity))
    signals = signal_columns("--signals", sim._bench, arguments.signals)
    if signals is not None and arguments.realtime:
        raise MbrosError("--signals: the real-time loop records the robot alone; leave --realtime or --signals out")
    if arguments.record and arguments.realtime:
        raise MbrosError("--record and --realtime: one or the other; `mbros node --record` records in step with the clock")
    recorder = recorders(arguments.csv, arguments.plot, sim.plant, signals)
    tape = sim.record(arguments.record) if arguments.record else None
    try:
        with Interrupt() as interrupt:
            job = (Paced if arguments.realtime else Free)(sim, tau, steps, arguments.every, recorder, interrupt)
            job.run()
    finally:
        if recorder is not None:
            recorder.close()
        if tape is not None:
            tape.close()
            job.extra += (tape.summary(),)
    job.progress.clear()
    if arguments.save:
        sim.save(arguments.save)
    for line in report(job, arguments):
        print(line, file=sys.stderr if arguments.csv == "-" else sys.stdout)
    return 130 if interrupt.asked else 1 if job.fault else 0


def set_start(state: State, model: Model, arguments: argparse.Namespace) -> None:
    """Positions and velocities of --q and --v. A start beyond a stop is a PositionLimitWarning and not refused."""
    for name, value in values.unpack(arguments.q).items():
        model.joint(name).set_position(state, value)
    for name, value in values.unpack(arguments.v).items():
        model.joint(name).set_velocity(state, value)


class Asked(Exception):
    """Ctrl-C was pressed while steps were taken."""


class Free:
    """As fast as possible; Ctrl-C and the progress line get their turn between two steps, some 50 times a second."""

    extra: tuple[str, ...] = ()

    def __init__(self, sim: Simulator, tau: Any, steps: int, every: int, recorder: Any, interrupt: Interrupt) -> None:
        self.sim, self.tau, self.steps, self.every, self.recorder = sim, tau, steps, every, recorder
        self.interrupt = interrupt
        self.progress, self.fault, self.done, self.wall = Progress(), "", 0, 0.0
        self.begun, self.first = time.monotonic(), sim.state.time
        self.initial_energy = self.energies()

    def energies(self) -> tuple[float, float]:
        """Kinetic and potential energy now, J."""
        at, _ = self.sim.plant.layout["energy"]
        x = self.sim.plant.observe()
        return float(x[at]), float(x[at + 1])

    @property
    def time(self) -> float:
        return self.done * self.sim.dt

    def run(self) -> None:
        from mbros_core import FaultError

        self.begun = time.monotonic()
        block = self.every if self.recorder else self.steps
        try:
            if self.recorder:
                self.recorder.row()
            while self.done < self.steps and not self.interrupt.asked:
                self.sim._steps(self.tau, min(block, self.steps - self.done), self.between)
                self.count()
                if self.recorder and self.done % self.every == 0:
                    self.recorder.row()
        except FaultError as fault:
            self.fault = str(fault)
        except Asked:
            pass
        self.count()

    def count(self) -> None:
        """How far the simulation is, in steps and in seconds of the clock."""
        self.done, self.wall = round((self.sim.state.time - self.first) / self.sim.dt), time.monotonic() - self.begun

    def between(self, now: float) -> None:
        """Between two steps: show how far it is, and end it when Ctrl-C was pressed."""
        if self.interrupt.asked:
            raise Asked
        if self.progress.due:
            self.count()
            self.show()

    def show(self) -> None:
        rate = self.done / max(self.wall, 1e-9)
        self.progress.show(f"{self.time:.2f} of {self.steps * self.sim.dt:g} s, {100 * self.done / self.steps:.0f} %, "
                           f"{steps_per_second(rate)}, {rate * self.sim.dt:.3g} x real time")
        if self.recorder:
            self.recorder.flush()


class Paced(Free):
    """In step with the wall clock: the real-time loop steps, this thread looks on and writes what the loop recorded."""

    def run(self) -> None:
        from mbros_core.realtime import Loop

        room = round(2.0 / (self.sim.dt * self.every)) + 100
        # "stretch": after a late step the grid moves on, so that every slot is a step and their number is exact.
        loop = Loop(self.sim.plant, overrun="stretch", watchdog_timeout=None, record=room if self.recorder else 0,
                    record_every=self.every, count_allocations=True)
        loop.command(self.tau)
        loop.start(slots=self.steps + 1)
        try:
            while not (loop.wait(0.02) or loop.fault_code or self.interrupt.asked):
                self.look(loop)
        finally:
            loop.stop()
            self.look(loop, last=True)
            statistics = loop.statistics()
            late = statistics.overruns + statistics.missed
            self.extra = (statistics.lateness.text("lateness"), f"{late} slots of {self.steps} began too late; they delayed the "
                          f"simulation by {span(statistics.stretched)}" if late else "every step began within its slot",
                          statistics.memory(), *loop.privileges.sentences,
                          *([f"{plural(statistics.records_dropped, 'row')} not recorded: writing could not keep up. Record fewer (--every)"]
                            if statistics.records_dropped else []))
            self.fault = loop.fault.text if loop.fault else ""

    def look(self, loop: Loop, last: bool = False) -> None:
        header, _ = loop.snapshot()
        if self.done == 0:
            self.first_ns = header.wall_ns - round(header.time * 1e9)
        self.done, self.wall = header.step, (header.wall_ns - self.first_ns) * 1e-9
        if self.recorder:
            headers, x, _ = loop.drain()
            self.recorder.snapshots(headers["time"] + self.first, x)
        if self.progress.due and not last:
            self.show()


def steps_per_second(rate: float) -> str:
    return f"{rate / 1e3:.3g} k steps/s" if rate < 1e6 else f"{rate / 1e6:.3g} M steps/s"


def report(job: Free, arguments: argparse.Namespace) -> Iterator[str]:
    """The summary, line by line."""
    sim, rate = job.sim, job.done / max(job.wall, 1e-9)
    cut = f" of {job.steps * sim.dt:g}" if job.done < job.steps else ""
    yield (f"{paint(sim.model.name, 'bold')}: {job.time:g}{cut} s simulated in {span(job.wall)} "
           f"({steps_per_second(rate)}, {rate * sim.dt:.3g} x real time), {sim.integrator}, dt {span(sim.dt)}")
    yield ""
    yield from joint_lines(sim)
    yield ""
    (k0, p0), (k1, p1) = job.initial_energy, job.energies()
    yield f"energy   {k1 + p1:.6g} J (kinetic {k1:.4g}, potential {p1:.4g}), {k1 + p1 - k0 - p0:+.4g} J since the start"
    if sim.clamped:
        yield paint(f"clamped  {sim.clamped} efforts were beyond their joint's limit, one count per joint and step", "yellow")
    else:
        yield "clamped  no effort was beyond its limit"
    yield paint(f"fault    {job.fault}", "red") if job.fault else "fault    none"
    yield from constraint_lines(sim)
    yield from contact_lines(sim)
    yield from job.extra
    if job.recorder is not None:
        yield from job.recorder.summary()


def joint_lines(sim: Simulator) -> list[str]:
    """Position, velocity and effort at the end, of every coordinate."""
    model, state = sim.model, sim.state
    limit = model.spec.effort_limit
    rows = []
    for joint in model.joints:
        if joint.nv == 1:
            q, v = joint.position(state)[0], joint.velocity(state)[0]
            low, high = joint.limits.position[0]
            where = "at its lower limit" if q <= low else "at its upper limit" if q >= high else ""
            unit = "m" if joint.kind == "prismatic" else "rad"
            effort = 0.0 if joint.follows else sim.plant.effort[joint.v_slice.start]
            fast, most = abs(v), max(abs(float(x)) for x in joint.limits.velocity[0])
            clamped = not joint.follows and effort and abs(effort) >= limit[joint.v_slice.start]
            rows.append([joint.name, f"{q:.4f} {unit}", f"{v:.4f} {unit}/s",
                         "" if joint.follows else f"{effort:g} " + ("N" if unit == "m" else "N m"),
                         ", ".join(filter(None, [f"follows {joint.mimic[0]}" if joint.mimic is not None else "", where,
                                                 "effort at its limit" if clamped else "",
                                                 "" if fast <= most else f"velocity beyond its limit {most:g}"]))])
        elif joint.nv:
            names = [name.rpartition(".")[2] for name in model.position_names[joint.q_slice]]
            values = "  ".join(f"{name} {x:.4f}" for name, x in zip(names, joint.position(state)))
            rows.append([joint.name, "", "", "", values])
    return table(["joint", "position", "velocity", "effort", ""], rows, left=(0, 4)) if rows else ["  nothing moves"]
