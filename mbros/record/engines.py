"""Which engine made a recording, a save or the results of a sweep, and whether it is the one that runs here: another one rounds
otherwise, and the same numbers come out up to their last digits."""
from __future__ import annotations

from typing import Any

from mbros_core.support.cpu import engine

from mbros.names import printable

KINDS = {"build": str, "machine": str, "contracted": bool, "asked": str, "compiled": bool}


def this_engine(model: Any = None) -> dict[str, Any]:
    """What runs here, as files have it: that of mbros_core.support.cpu.engine(), and compiled: whether a model has code of its own
    (mbros.specialize), which adds in another order."""
    return {**engine(), "compiled": "_code" in getattr(model, "__dict__", ())}


def check_engine(given: Any) -> None:
    """ValueError for what is no engine; a file from before they were named has None."""
    if given is not None and not (type(given) is dict and {name: type(x) for name, x in given.items()} == KINDS):
        raise ValueError("its engine is none")


def words(made: dict[str, Any], version: str) -> str:
    """An engine, to be read: `_double_v4 of mbros 0.1.0 on x86_64, with contracted multiply-add`."""
    asked = f", asked for by MBROS_ENGINE={printable(made['asked'], 40)}" if made["asked"] else ""
    compiled = ", and the robot compiled to code of its own" if made["compiled"] else ""
    return (f"{printable(made['build'], 40)} of mbros {printable(version, 40)} on {printable(made['machine'], 40)}, "
            f"with{'' if made['contracted'] else 'out'} contracted multiply-add{asked}{compiled}")


def another_engine(made: dict[str, Any] | None, version: str, model: Any = None) -> str:
    """`made with engine X, and this machine runs Y`, where this is not the engine, or not the version of mbros, that made it; "" where it
    is, and where made, from a file of before engines were named, is None."""
    from mbros import __version__

    here = this_engine(model)
    if made is None or (version == __version__ and all(made[name] == here[name] for name in KINDS if name != "asked")):
        return ""
    return f"made with engine {words(made, version)}, and this machine runs {words(here, __version__)}"
