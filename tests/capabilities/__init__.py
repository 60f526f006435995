"""Which capability of the five seed documents is served by what.

Each module of this package has ROWS = [(id, public name, what differs on purpose), ...]; the ids are those of the seed
catalogue: PJ (planar joint), RM (revolute mobilizer), HJ (HPP joint and its family), BU (bushing), QF (quaternion floating
joint), with N for the numeric checks of a whole element. `docs/seeds.md` is made from them and from the tests' markers.
"""
from __future__ import annotations

import importlib
import pkgutil

COUNTS = {"PJ": 43, "RM": 25, "HJ": 50, "BU": 40, "QF": 18}
NUMERIC = {"PJ": 5, "RM": 2, "QF": 2}
TITLES = {"PJ": "Drake PlanarJoint with all it inherits", "RM": "Drake RevoluteMobilizer, MobilizerImpl and Mobilizer",
          "HJ": "hpp::model::Joint and its family", "BU": "Drake LinearBushingRollPitchYaw",
          "QF": "Drake QuaternionFloatingJoint"}


def expected_ids() -> list[str]:
    """Every id of the catalogue, in order."""
    out = []
    for seed, count in COUNTS.items():
        out += [f"{seed}-{i:02d}" for i in range(1, count + 1)]
        out += [f"{seed}-N{i}" for i in range(1, NUMERIC.get(seed, 0) + 1)]
    return out


def rows() -> dict[str, tuple[str, str]]:
    """id -> (public name, note) of every module here. An id that two modules claim is an error."""
    table = {}
    for module in pkgutil.iter_modules(__path__):
        for ident, name, note in importlib.import_module(f"{__name__}.{module.name}").ROWS:
            if ident in table and table[ident] != (name, note):
                raise ValueError(f"{ident} is claimed twice: {table[ident][0]!r} and {name!r} (capabilities.{module.name})")
            table[ident] = (name, note)
    return table


def markdown(shown_by: dict[str, list[str]]) -> str:
    """docs/seeds.md. shown_by: id -> names of the tests that carry its marker."""
    table, out = rows(), [HEADER]
    for seed, title in TITLES.items():
        out += [f"## {seed}: {title}", "", "| id | served by | shown by | differs on purpose |", "| --- | --- | --- | --- |"]
        for ident in expected_ids():
            if ident.startswith(seed):
                name, note = table.get(ident, ("", ""))
                tests = shown_by.get(ident, [])
                shown = "<br>".join(f"`{test}`" for test in tests[:2]) + (f" and {len(tests) - 2} more" if len(tests) > 2 else "")
                out.append(f"| {ident} | {_code(name)} | {shown} | {_cell(note)} |")
        out.append("")
    return "\n".join(out)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _code(name: str) -> str:
    return f"`{_cell(name)}`" if name and "`" not in name else _cell(name)


HEADER = """# What the seed documents ask for, and what serves it

Made by `python tests/seeds/seed_table.py` from `tests/capabilities` and from the tests' `seed` markers; a test fails where an id has
no row, no test, or where this page is not current. Ids are those of the seed catalogue.
"""
