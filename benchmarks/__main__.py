"""python -m benchmarks [--quick]: every table, and the project's goals beside what was measured. What needs more than this process
has commands of its own: python -m benchmarks.realtime, .ros_rates, and .elements, which compiles the engine twice. Contact has .contact,
.coulomb, .rest and .contact_peers, beside MuJoCo and Drake; closed loops have .mechanisms."""
import argparse
import platform

import mbros_core
from benchmarks import batches as many, call_overhead, derivatives, dynamics, forces, imports, lanes, steps
from benchmarks._robots import all_robots
from benchmarks._timing import quiet


def goals(forward, overhead, per_lane, per_bushing, against_pin, in_batches, import_ms):
    """(goal, measured, met) rows. Nothing fails here: a busy machine is no reason for red."""
    # the difference of two long times is mostly noise, so only kernels under a microsecond are asked
    worst_call = max(call.best - kernel.best for kernel, call, _ in overhead.values() if kernel.best < 1000)
    per_dof = {name: kernel.best / nv for name, (kernel, _, nv) in overhead.items()}
    slowest = max(per_dof, key=per_dof.get)
    rows = [("a call from Python costs < 60 ns above the kernel", f"{worst_call:.0f} ns", worst_call < 60),
            ("forward dynamics <= 110 ns per dof in double", f"{per_dof[slowest]:.0f} ns ({slowest})", per_dof[slowest] <= 110)]
    ur5 = forward.get(("forward_dynamics", "ur5"), {})
    if "pin.aba" in ur5:
        ratio = ur5["mbros"].best / ur5["pin.aba"].best
        rows.append(("UR5 from Python in <= half of pin.aba's time", f"{ratio:.2f} of it", ratio <= 0.5))
    if "mj_forward" in ur5:
        ratio = ur5["mbros"].best / ur5["mj_forward"].best
        rows.append(("UR5 from Python under mj_forward", f"{ratio:.2f} of it", ratio < 1))
    width = mbros_core.lanes().Batch.lanes
    worst = max(per_lane, key=per_lane.get)
    rows.append((f"{width} lanes: <= 30 ns per dof and robot" + ("" if width == 8 else " (goal for 8 lanes)"),
                 f"{per_lane[worst]:.1f} ns ({worst})", per_lane[worst] <= 30))
    rows.append(("an explicit bushing adds <= 150 ns to a step", f"{max(per_bushing.values()):.0f} ns", max(per_bushing.values()) <= 150))
    for k, (what, most) in enumerate((("forward dynamics", 0.5), ("inverse dynamics", 0.5), ("a step, assembled", 0.8)), 1):
        if against_pin:
            worst = max(row[k] for row in against_pin)
            rows.append((f"derivatives of {what} in <= {most} of pin", f"{worst:.2f}", worst <= most))
    ur5_ns, own_over_equal, linear_us = in_batches
    if ur5_ns is not None:
        rows.append(("4096 UR5 in <= 100 ns each from Python" + ("" if width == 8 else " (8 lanes)"), f"{ur5_ns:.0f} ns", ur5_ns <= 100))
    rows.append(("rollouts with own masses in <= 1.2 of equal ones", f"{own_over_equal:.2f}", own_over_equal <= 1.2))
    rows.append(("linear dynamics of arm7 at 100 states <= 17 us each", f"{linear_us:.1f} us", linear_us <= 17))
    rows.append(("import mbros < 60 ms above NumPy", f"{import_ms:.0f} ms", import_ms < 60))
    return rows


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer batches: a minute becomes a few seconds")
    parser.add_argument("--batches", type=int, default=None, help="batches per candidate (default 25)")
    options = parser.parse_args()
    batches = options.batches or (5 if options.quick else 25)
    engine = mbros_core.Model.__module__.rpartition(".")[2]
    print(f"{cpu()}; Python {platform.python_version()}; engine {engine}, {mbros_core.lanes().Batch.lanes} lanes; one core")
    with quiet():
        robots = all_robots()
        for peer in ("pin", "mujoco"):
            if not any(getattr(robot, peer) for robot in robots):
                print(f"  {peer} is not installed: pip install 'mbros[bench]'")
        forward = dynamics.main(robots, batches)
        overhead = call_overhead.main(robots, batches)
        per_lane = lanes.main(robots, batches)
        steps.main(robots, batches)
        per_bushing = forces.main(batches)
        against_pin = derivatives.main(robots, batches)
        in_batches = many.main(batches, robots)
    import_ms = imports.main()
    print("\nGoals")
    for goal, measured, met in goals(forward, overhead, per_lane, per_bushing, against_pin, in_batches, import_ms):
        print(f"  {'met   ' if met else 'missed'}  {goal:52s} {measured}")


def cpu():
    """The processor's name, as Linux tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.partition(":")[2].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


if __name__ == "__main__":
    main()
