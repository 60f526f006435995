"""Joints and force elements written in Python: what they raised while the engine called them.

No exception may pass through C. Whoever writes such a plug keeps it as `failure` and gives NaN, which the engine notices.
"""
from __future__ import annotations


def raised(model) -> tuple[str, Exception] | None:
    """(a sentence, the exception) of the first joint or force element whose last evaluation raised; it is told once.

    Ctrl-C and sys.exit() are no failures of anybody: they go on from here.
    """
    for name, plug in named(model):
        error = getattr(plug, "failure", None)
        if error is None:
            continue
        plug.failure = None
        if not isinstance(error, Exception):
            raise error
        return f"{name} raised {type(error).__name__}: {error}", error
    return None


def named(model) -> list[tuple]:
    """(how messages name it, it) for every joint and force element of a model that a user wrote."""
    from .forces.diagnosis import describe

    spec = model.spec
    return ([(f"joint {spec.joint_names[k]!r}", plug) for k, plug in spec.user_joints.items()]
            + [(describe(model, k), plug) for k, plug in spec.user_forces.items()])
