"""Neutral and random configurations, from the joint kinds' registry rows."""
from __future__ import annotations

import numpy as np
from mbros_core.joints.registry import BY_NAME


def own_joints(spec):
    """(index, registry row, start in q, start in v) of every compiled joint with coordinates of its own."""
    iq = iv = 0
    for i, (kind, leader) in enumerate(zip(spec.joint_kind, spec.leader)):
        row = BY_NAME[kind]
        if leader < 0:
            if row.nq:
                yield i, row, iq, iv
            iq, iv = iq + row.nq, iv + row.nv


def neutral(model) -> np.ndarray:
    """Every joint at its kind's neutral configuration."""
    q = np.zeros(model.nq)
    for _, row, iq, _ in own_joints(model.spec):
        q[iq:iq + row.nq] = row.neutral
    return q


def random(model, rng) -> np.ndarray:
    """Uniform within the limits; see Model.random_configuration."""
    spec = model.spec
    q = np.empty(model.nq)
    for _, row, iq, _ in own_joints(spec):
        reach = np.array([np.pi if unit == "rad" else 1.0 for unit in row.position_units])
        s = slice(iq, iq + row.nq)
        lower = np.where(np.isfinite(spec.q_lower[s]), spec.q_lower[s], -reach)
        upper = np.where(np.isfinite(spec.q_upper[s]), spec.q_upper[s], reach)
        q[s] = rng.uniform(np.minimum(lower, upper), np.maximum(lower, upper))
        if row.group == "SE(3)":
            quat = rng.normal(size=4)
            q[iq + 3:iq + 7] = quat / np.linalg.norm(quat)
    return q
