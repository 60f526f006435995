"""python -m benchmarks.inverse_kinematics: random reachable targets, mbros beside Pinocchio's usual damped loop, from the same start.

A target is the pose of a frame at a uniformly random configuration within the limits, the start the default configuration, and solved
means 1e-6 m and 1e-6 rad within the limits, measured afterwards by one and the same function. The loop is that of Pinocchio's example
inverse-kinematics.py (log6, Jlog6, J^T (J J^T + damping)^-1) with whole steps in place of its DT = 0.1, which make it ten times as
fast, and damping 1e-6 in place of 1e-12: "one start" as it is there, without limits; "limits, restarts" clipped to them after every step,
and with the same random starts as mbros.
"""
import argparse
import time

import numpy as np

import mbros
from benchmarks._timing import quiet, table

ROBOTS = [("arm6", "fixed", "tool"), ("arm7", "fixed", "flange"), ("panda", "fixed", "panda_hand"), ("humanoid", "fixed", "left_hand"),
          ("humanoid", "fixed", "right_hand")]
TOLERANCE, STEPS, RESTARTS = 1e-6, 100, 50


class Case:
    """A robot, targets of one of its frames, and the Pinocchio model of the same file."""

    def __init__(self, name, base, frame, number):
        self.model, self.frame, self.label = mbros.load(name, base=base, mimic=False), frame, f"{name} {frame}"
        self.state = self.model.default_state()
        self.targets = [self.pose(q) for q in self.model.random_configuration(np.random.default_rng(0), number)]
        self.starts = self.model.random_configuration(np.random.default_rng(1), RESTARTS)
        self.pin = self.pinocchio()

    def pose(self, q):
        state = self.model.default_state()
        state.q[:] = q
        return self.model.pose(state, self.frame)

    def pinocchio(self):
        """(pinocchio, model, data, frame, damping), or None where it is not installed."""
        try:
            import pinocchio as pin
        except ImportError:
            return None
        model = pin.buildModelFromXML(self.model.description.text)
        self.order = np.array([self.model.joint(name).q_slice.start
                               for name in list(model.names)[1:]])      # Pinocchio sorts children by name
        assert model.nq == self.model.nq == len(self.order)
        return pin, model, model.createData(), model.getFrameId(self.frame)

    def solved(self, found):
        """How many of q (n, nq) are within the limits and at their targets."""
        spec, count = self.model.spec, 0
        for q, X in zip(found, self.targets):
            x = self.pose(q)
            angle = 2.0 * np.arcsin(min(1.0, np.linalg.norm(x.R - X.R) / np.sqrt(8.0)))
            count += (np.linalg.norm(x.p - X.p) <= TOLERANCE and angle <= TOLERANCE
                      and (q >= spec.q_lower - 1e-12).all() and (q <= spec.q_upper + 1e-12).all())
        return count


def ours(case, restarts, together):
    frame, state = case.frame, case.state
    if together:
        return case.model.inverse_kinematics([{frame: X} for X in case.targets], state, restarts=restarts, threads=1).q
    return np.array([case.model.inverse_kinematics({frame: X}, state, restarts=restarts).q for X in case.targets])


def damped_loop(case, restarts, damping=1e-6):
    """Pinocchio's example `inverse-kinematics.py` for every target; restarts > 0: within the limits, from more than one start."""
    pin, model, data, frame = case.pin
    eye, found = damping * np.eye(6), []
    low, high = model.lowerPositionLimit, model.upperPositionLimit
    for X in case.targets:
        goal = pin.SE3(X.R, X.p)
        for start in (case.state.q, *case.starts[:restarts]):
            q, done = start[case.order], False
            for _ in range(STEPS):
                pin.framesForwardKinematics(model, data, q)
                iMd = data.oMf[frame].actInv(goal)
                error = pin.log6(iMd).vector
                done = np.linalg.norm(error[:3]) <= TOLERANCE and np.linalg.norm(error[3:]) <= TOLERANCE
                if done:
                    break
                J = -pin.Jlog6(iMd.inverse()) @ pin.computeFrameJacobian(model, data, q, frame, pin.LOCAL)
                q = pin.integrate(model, q, -J.T @ np.linalg.solve(J @ J.T + eye, error))
                if restarts:
                    q = np.clip(q, low, high)
            if done:
                break
        found.append(np.empty_like(q))
        found[-1][case.order] = q
    return np.array(found)


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.inverse_kinematics", description=__doc__.partition(":")[2])
    parser.add_argument("--targets", type=int, default=1000, help="of each frame (default 1000)")
    number = parser.parse_args().targets
    rows = []
    with quiet():
        for name, base, frame in ROBOTS:
            try:
                case = Case(name, base, frame, number)
            except mbros.MbrosError as error:
                print(f"  {name}: {error}")
                continue
            ways = [("mbros, batch, 1 thread", lambda c=case: ours(c, RESTARTS, True)),
                    ("mbros, one by one", lambda c=case: ours(c, RESTARTS, False)),
                    ("mbros, one start", lambda c=case: ours(c, 0, True))]
            if case.pin:
                ways += [("Pinocchio loop, one start", lambda c=case: damped_loop(c, 0)),
                         ("Pinocchio loop, limits, restarts", lambda c=case: damped_loop(c, RESTARTS))]
            for label, way in ways:
                start = time.perf_counter()
                found = way()
                span = time.perf_counter() - start
                rows.append([case.label, label, f"{100 * case.solved(found) / number:.1f} %", f"{1e6 * span / number:.1f}"])
    table(f"Inverse kinematics of {number} random reachable targets: share solved to {TOLERANCE:g} m and rad within the limits, us each",
          ["frame", "solver", "solved", "us"], rows)


if __name__ == "__main__":
    main()
