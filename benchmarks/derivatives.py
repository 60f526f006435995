"""Derivatives of forward dynamics by q, v and tau from Python: mbros.diff, Pinocchio's analytic ones, Drake's AutoDiffXd."""
import numpy as np

import mbros
from benchmarks._timing import interleave, table, us
from mbros import diff

ROBOTS = ("double_pendulum", "arm7", "humanoid")


def ours(name):
    model = mbros.load(name)
    state, tau = model.random_state(np.random.default_rng(3)), np.zeros(model.nv)

    def run(n):
        for _ in range(n):
            diff.forward_dynamics(model, state, tau)
    return model, run


def pinocchio(model):
    """Analytic derivatives of the same robot, or None."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    moving = any(joint.kind == "floating" for joint in model.joints)
    peer = pin.buildModelFromXML(model.description.text, *((pin.JointModelFreeFlyer(),) if moving else ()))
    data, q, tau = peer.createData(), pin.randomConfiguration(peer), np.zeros(peer.nv)

    def run(n):
        for _ in range(n):
            pin.computeABADerivatives(peer, data, q, tau, tau)
    return run


def drake(model):
    """Drake's multibody plant over AutoDiffXd, or None where it does not read the robot."""
    try:
        from pydrake.autodiffutils import InitializeAutoDiff
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import MultibodyPlant
    except ImportError:
        return None
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(model.description.text, "urdf")
    if model.joints[0].kind != "floating":
        plant.WeldFrames(plant.world_frame(),
                         plant.get_body(plant.GetBodyIndices(plant.GetModelInstanceByName(model.name))[0]).body_frame())
    plant.Finalize()
    auto = plant.ToAutoDiffXd()
    context, x = auto.CreateDefaultContext(), plant.GetPositionsAndVelocities(plant.CreateDefaultContext())

    def run(n):
        for _ in range(n):
            auto.SetPositionsAndVelocities(context, InitializeAutoDiff(x).ravel())
            M = auto.CalcMassMatrix(context)
            np.linalg.inv(np.array([[e.value() for e in row] for row in M]))    # what is left to do by hand, without its derivatives
            auto.CalcBiasTerm(context)
    return run


def main(batches):
    rows = []
    for name in ROBOTS:
        model, run = ours(name)
        candidates = {"mbros": run}
        for label, make in (("pin", pinocchio), ("drake", drake)):
            peer = make(model)
            if peer:
                candidates[label] = peer
        t = interleave(candidates, batches)
        rows.append([name, model.nv, *(us(t[k]) if k in t else "-" for k in ("mbros", "pin", "drake")),
                     *(f"{t[k].best / t['mbros'].best:.2f}x" if k in t else "-" for k in ("pin", "drake"))])
    table("Derivatives of forward dynamics by q, v, tau, from Python: best / median in microseconds, and how many times faster mbros is",
          ["robot", "nv", "mbros.diff", "pin.computeABADerivatives", "Drake M, bias", "pin", "Drake"], rows,
          ["mbros by dual numbers, Pinocchio by its analytic algorithm; Drake's column is only the mass matrix and bias over AutoDiffXd."])
