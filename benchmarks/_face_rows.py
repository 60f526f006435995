"""The rows of `python -m benchmarks.face`: calls as users write them, what the same costs inside, and what a peer takes for it.

A statement runs with the names of a Rig. `{k}` in it is 0 and 1 in turn, so that nothing that is kept of the last call fits the next.
"""
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """call: what is timed. core: what the engine does for it, parts that add up: ":name" runs in C (Model._time_kernel), others are calls
    of the engine, whose own cost is taken off; () where the call is all face. peer: Pinocchio's whole call; "" where it has none. on:
    whose rig has it. share: of the microsecond, that it may cost above its core."""

    section: str
    name: str
    call: str
    core: tuple[str, ...] = ()
    peer: str = ""
    on: tuple[str, ...] = ("ur5", "quadruped")
    share: float = 1.0


DYNAMICS = "set and compute"
ROWS = (
    Row("states", "state.set_q", "s.set_q(q{k})", share=0.25),
    Row("states", "state.set_v", "s.set_v(v{k})", share=0.25),
    Row("states", "state.set", "s.set(q{k}, v{k})", share=0.5),

    Row(DYNAMICS, "forward dynamics, q=, v=", "m.forward_dynamics(s, x{k}, q=q{k}, v=v{k})",
        (":forward_dynamics",), "pin.aba(pm, pd, pq{k}, pv{k}, px{k})"),
    Row(DYNAMICS, "inverse dynamics, q=, v=", "m.inverse_dynamics(s, x{k}, q=q{k}, v=v{k})",
        (":inverse_dynamics",), "pin.rnea(pm, pd, pq{k}, pv{k}, px{k})"),
    Row(DYNAMICS, "mass matrix, q=", "m.mass_matrix(s, q=q{k})", (":mass_matrix",), "pin.crba(pm, pd, pq{k})"),
    Row(DYNAMICS, "jacobian, q=", "m.jacobian(s, tip, q=q{k})", (":positions", "m._frame_jacobian(s{k}, at, False, J)"),
        "pin.computeFrameJacobian(pm, pd, pq{k}, pf, LWA)"),
    Row(DYNAMICS, "forward dynamics", "s.set_q(q{k}); s.set_v(v{k}); m.forward_dynamics(s, x{k})",
        (":forward_dynamics",), "pin.aba(pm, pd, pq{k}, pv{k}, px{k})"),
    Row(DYNAMICS, "inverse dynamics", "s.set_q(q{k}); s.set_v(v{k}); m.inverse_dynamics(s, x{k})",
        (":inverse_dynamics",), "pin.rnea(pm, pd, pq{k}, pv{k}, px{k})"),
    Row(DYNAMICS, "mass matrix", "s.set_q(q{k}); m.mass_matrix(s)", (":mass_matrix",), "pin.crba(pm, pd, pq{k})"),
    Row(DYNAMICS, "jacobian", "s.set_q(q{k}); m.jacobian(s, tip)", (":positions", "m._frame_jacobian(s{k}, at, False, J)"),
        "pin.computeFrameJacobian(pm, pd, pq{k}, pf, LWA)"),
    Row(DYNAMICS, "pose", "s.set_q(q{k}); m.pose(s, tip)", (":positions", "m._frame_pose(s{k}, at, -1, row)"),
        "pin.framesForwardKinematics(pm, pd, pq{k}); pd.oMf[pf]"),
    Row(DYNAMICS, "velocity", "s.set_q(q{k}); s.set_v(v{k}); m.velocity(s, tip)", (":velocities", "m._frame_velocity(s{k}, at, six)"),
        "pin.forwardKinematics(pm, pd, pq{k}, pv{k}); pin.getFrameVelocity(pm, pd, pf, LWA)"),
    Row(DYNAMICS, "acceleration", "s.set_q(q{k}); s.set_v(v{k}); m.acceleration(s, tip, x{k})",
        (":velocities", "m._frame_acceleration(s{k}, at, x{k}, six)"),
        "pin.forwardKinematics(pm, pd, pq{k}, pv{k}, px{k}); pin.getFrameClassicalAcceleration(pm, pd, pf, LWA)"),
    Row(DYNAMICS, "jacobian_rate", "s.set_q(q{k}); s.set_v(v{k}); diff.jacobian_rate(m, s, tip)", (":velocities",),
        "pin.computeJointJacobiansTimeVariation(pm, pd, pq{k}, pv{k}); pin.getFrameJacobianTimeVariation(pm, pd, pf, LWA)"),
    Row(DYNAMICS, "centroidal_map", "s.set_q(q{k}); s.set_v(v{k}); diff.centroidal_map(m, s)",
        (":velocities", "m._centroidal_map(s{k})"),
        "pin.computeCentroidalMapTimeVariation(pm, pd, pq{k}, pv{k})"),
    Row(DYNAMICS, "operational_space", "s.set_q(q{k}); diff.operational_space(m, s, tip)",
        (":positions", "m._frame_jacobian(s{k}, at, False, J)", "m._task_space(s{k}, J{k}, 0.0)")),
    Row(DYNAMICS, "regressor of a point", "diff.regressor(m, q{k}, v{k}, x{k})", (),
        "pin.computeJointTorqueRegressor(pm, pd, pq{k}, pv{k}, px{k})"),

    Row("simulation", "sim.step({one: x})", "sim.step(one)", ("sim.step(tau)",)),
    Row("simulation", "sim.step of all joints", "sim.step(every)", ("sim.step(tau)",)),
    Row("simulation", "sim.command of one", "driven.command(position=one)", on=("arm7",)),
    Row("simulation", "sim.command of seven", "driven.command(position=every)", on=("arm7",)),
    Row("simulation", "sim.signals[name].value", "driven.signals['joint4.position'].value", on=("arm7",)),
    Row("simulation", "signal.value, held", "signal.value", on=("arm7",)),
    Row("simulation", "contacts", "m.contacts(stood)", ("m._contact_rows(stood)",), on=("quadruped",),
        share=3.0),         # four tuples with five arrays each
    Row("simulation", "reaction", "leg.reaction(stood)", ("m._reaction(stood, bone, at)",), on=("quadruped",)),
    Row("simulation", "sim.reset", "sim.reset()", ("sim.plant.reset()",)),
    Row("simulation", "random_state", "m.random_state(rng)", ("m.default_state()",)),
    Row("simulation", "set_parameter(mass)", "m.set_parameter(s, mass, kg)"),
    Row("simulation", "apply_wrench", "m.apply_wrench(s, tip, force=push)", ("m._frame_pose(s, at, -1, row)",)),
    Row("simulation", "rollout of 1 x 1", "mbros.rollout(free, rest, tau, tau11, dt=1e-3, threads=1)",
        ("lanes.rollout(rest1, tau1, tau11, 1e-3, 0, q11, v11, fault, 1, None, limit, None, end)",)),
    Row("simulation", "batch(8)", "m.batch(q8, threads=1)", ("m.default_state()",)),
    Row("simulation", "sim.save", "sim.save()", ("sha256(b''.join(saved)).digest()",)),     # of its words and its two states

    Row("poses", "X.quat_wxyz", "X.quat_wxyz", (), "pin.Quaternion(pX.rotation)", ("ur5",)),
    Row("poses", "X @ X.inverse()", "X @ X.inverse()", (), "pX * pX.inverse()", ("ur5",)),
    Row("poses", "Pose.make(quat_wxyz)", "mbros.Pose.make(p, quat_wxyz=quat)", (), "pin.XYZQUATToSE3(seven)", ("ur5",)),
    Row("poses", "V.moved_to", "V.moved_to(s, tip)", ("m._frame_pose(s, at, -1, row)",), "pX.act(pV)", ("ur5",)),
    Row("poses", "joint.transform", "last.transform(s)", ("m._frame_pose(s, at, -1, row)",), "pX.actInv(pX)", ("ur5",)),

    Row("conventions", "from_convention", "m.from_convention('pinocchio', pq{k}, pv{k})", ("m.default_state()",)),
    Row("conventions", "to_convention", "m.to_convention(s{k}, 'pinocchio')"),
    Row("conventions", "to_efforts", "convention.to_efforts(m, q{k}, x{k})"),
    Row("conventions", "to_jacobian", "convention.to_jacobian(m, q{k}, J)"),

    Row("spaces", "distance", "m.distance(q0, q1)",
        ("core.difference(m, q0, q1, dv)",), "pin.distance(pm, pq0, pq1)"),
    Row("spaces", "is_same", "m.is_same_configuration(q0, q1)", ("core.difference(m, q0, q1, dv)",),
        "pin.isSameConfiguration(pm, pq0, pq1, 1e-12)"),
    Row("spaces", "space.integrate", "space.integrate(q{k}, v{k})", ("core.integrate(m, q{k}, v{k}, dq)",),
        "pin.integrate(pm, pq{k}, pv{k})"),
    Row("spaces", "space.difference", "space.difference(q0, q1)", ("core.difference(m, q0, q1, dv)",), "pin.difference(pm, pq0, pq1)"),
    Row("spaces", "d_integrate", "space.d_integrate(q{k}, v{k})", (), "pin.dIntegrate(pm, pq{k}, pv{k})"),
    Row("spaces", "d_difference", "space.d_difference(q0, q1)", (), "pin.dDifference(pm, pq0, pq1)"),
    Row("spaces", "random_configuration", "m.random_configuration(rng)", (), "pin.randomConfiguration(pm, low, high)"),
)
