"""What a simulator saves: everything that decides its future, in bytes that another process can go on from.

    b"mbros save" and the version of the layout (2 bytes)
    length of the header, 8 bytes; the header, JSON in UTF-8
    the numbers, float64
    SHA-256 of all that, 32 bytes

All numbers are little-endian. The header says of which model it is (fingerprint), how it is stepped, by which engine, and which
fields the numbers are; nothing in it is code. Not in it: functions of time that the caller gives, and what joints and force
elements written in Python keep to themselves.
"""
from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection
from dataclasses import dataclass
from math import isfinite
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from mbros_core.engine.checks import MOST_STEPS, check_locks, check_state
from mbros_core.engine.fields import FIELDS
from mbros_core.support.files import read_regular
from mbros_core.support.fingerprint import differing, fingerprint
from mbros_core.support.numbers import short

from mbros.arguments import file_path
from mbros.errors import MbrosError, SaveError
from mbros.record.engines import another_engine, check_engine, this_engine

if TYPE_CHECKING:

    from mbros.bench.layout import Layout
    from mbros_core.engine._engine import Dynamics as Model, Plant, State
    from mbros_core.typing import Array

MAGIC, VERSION = b"mbros save", 1
BEGINNING = MAGIC + VERSION.to_bytes(2, "little")
NOTHING, EMPTY = np.empty(0), '""'
BIG_ENDIAN = sys.byteorder == "big"
MOST_BYTES = 1 << 28        # of a file
MOST_HEADER = 1 << 24       # of its JSON: what is made of it takes many times as much
DIGEST = hashlib.sha256().digest_size
ENCODER = json.JSONEncoder(allow_nan=False)
PARTS = ("state", "start", "effort", "devices", "disturbances")
INPUTS = tuple(row.name for row in FIELDS if row.stage in ("input", "parameter"))


@dataclass(frozen=True)
class Saved:
    """A saved simulation, read and whole. numbers: by part."""

    who: str
    header: dict[str, Any]
    numbers: dict[str, Array]

    def check(self, model: Model, dt: float, integrator: str) -> None:
        """SaveError where a simulator of this model cannot go on from it to the bit."""
        self.check_model(model)
        for what, here in (("dt", dt), ("integrator", integrator)):
            if self.header[what] != here:
                then = short(self.header[what])
                raise SaveError(f"{self.who} was simulated with {what} {then}, this simulator has {here!r}; make one with {what}={then}")
        code, index = self.header["fault"]
        if not (code in (0, 1) and -1 <= index < model.nv) or self.numbers["effort"].size != model.nv:
            raise no_save(self.who, f"fault {code} of coordinate {index} of {model.nv}")
        if self.header["layout"] != _constants(model).layout:
            raise SaveError(f"{self.who} was saved by mbros {short(self.header['mbros'])}, whose states hold other fields; save it with "
                            "this version")
        self._check_numbers(model)

    def another_engine(self, model: Model) -> str:
        """Which engine made it and which one runs this model, where those are two: last digits may differ from now on. "" otherwise."""
        return another_engine(self.header.get("engine"), self.header["mbros"], model)

    def check_model(self, model: Model) -> None:
        """SaveError where it is of another model than this."""
        mine, theirs = fingerprint(model.spec), self.header["fingerprint"]
        other = differing(mine, theirs)
        if other:
            named = ", ".join(name[:40] if name.isidentifier() else short(name) for name in other[:5])
            raise SaveError(f"{self.who} is of another model: {short(self.header['model'])}, which differs from {model.name!r} here in "
                            f"{named}{' and more' if len(other) > 5 else ''}; load the robot as it was loaded then")

    def _check_numbers(self, model: Model) -> None:
        """SaveError for states that no simulation can be put at, and for what pushes a body that there is none of. What a fault was about
        may be in the state that it held."""
        for part in ("state", "start"):
            there = model.default_state()
            if self.numbers[part].size != there._inputs.size:
                raise no_save(self.who, f"its {part} has {self.numbers[part].size} numbers, expected {there._inputs.size}")
            there._inputs[...] = self.numbers[part]
            try:
                check_inputs(model, there, held=part == "state" and self.header["fault"][0] != 0)
            except MbrosError as e:
                raise SaveError(f"{self.who} cannot be gone on from: in its {part} {e}; it was edited after it was saved") from e
        if self.disturbances().any():
            from mbros_core import Plant
            from mbros_core.plant._pushes import Pushes      # few saves have some

            try:
                Pushes(Plant(model)).check(self.disturbances())
            except MbrosError as e:
                raise no_save(self.who, str(e)) from e

    def check_company(self, bench: str, layout: Layout | None, motions: Collection[str]) -> None:
        """SaveError where what is beside the model is not what it was then: the bench, by its digest, and the joints' motions. layout: of
        the bench, whose memory has to be one."""
        if self.header["bench"] != bench:
            then, now = ("without a bench" if not of else "with a bench" for of in (self.header["bench"], bench))
            raise SaveError(f"{self.who} was simulated {then}, this simulator is {now}{' that is another one' if then == now else ''}; "
                            "make one with the same")
        if self.header["bench"] and not self.numbers["devices"].size:
            raise no_save(self.who, "the memory of its bench is not in it")
        if layout is not None and self.header["bench"]:
            from mbros.bench.memory import wrong_in    # few saves have some

            wrong = wrong_in(layout, self.numbers["devices"])
            if wrong:
                raise no_save(self.who, f"in the memory of its bench {wrong}")
        missing = [name for name in self.header["motions"] if name not in motions]
        if missing:
            raise SaveError(f"{self.who} was simulated with a motion of joint {short(missing[0])}, a function of time that no file holds; "
                            "prescribe() it first, then restore")

    def disturbances(self) -> Array:
        """The table of mbros.bench.disturbances, (32, 16)."""
        x = self.numbers["disturbances"]
        return x.reshape(32, 16) if x.size else np.zeros((32, 16))

    def tolerances(self) -> dict[str, Any]:
        """rtol and atol for a Simulator, where the integrator has any."""
        given = self.header.get("tolerances", [0.0, 0.0])
        return dict(zip(("rtol", "atol"), given, strict=True)) if any(given) else {}

    def put_into(self, plant: Plant, start: State) -> None:
        """A plant, and the state a reset goes back to, as they were; after check() and check_company()."""
        if list(plant.tolerances) != self.header.get("tolerances", [0.0, 0.0]):
            raise SaveError(f"{self.who} was simulated with (rtol, atol) {tuple(self.header.get('tolerances', ()))}, this simulator has "
                            f"{plant.tolerances}; make one with the same")
        if self.numbers["devices"].size:
            if not self.header["bench"]:
                raise no_save(self.who, "it has the memory of a bench, and no bench")
            plant.devices._take_over(self.numbers["devices"])
        plant._take_over(self.numbers["effort"], self.header["clamped"], *self.header["fault"])
        plant.max_contact_iterations = self.header["max_contact_iterations"]
        plant.state._inputs[...] = self.numbers["state"]
        start._inputs[...] = self.numbers["start"]


def check_inputs(model: Model, state: State, held: bool) -> None:
    """MbrosError where a running plant cannot be at these inputs, as where it is put there. held: by a fault, which q and v may be beyond
    the bound of."""
    if not held:
        check_state(model, state.q, state.v)
    steps, lock = float(state.field("clock")[1]), state.field("lock")
    if not (0.0 <= steps <= MOST_STEPS and steps == int(steps)):
        raise MbrosError(f"the count of steps, clock[1], is {steps:g}; expected a whole number, 0 to 2^53")
    check_locks(model.velocity_names, lock)


def layout(state: State) -> list[list[Any]]:
    """[[field, numbers]] of what a state's inputs and parameters are."""
    return [[name, int(state.field(name).size)] for name in INPUTS]


def blob_of(model: Model, plant: Plant, start: State, started: bool, bench: str, motions: list[str], devices: Array | None = None,
            disturbances: Array | None = None, **more: Any) -> bytes:
    """The bytes of a save of a plant that nothing moves just now. start: what a reset goes back to. bench, devices: its digest and its
    memory. more: words of the header for others that go on from it, as JSON has them."""
    state = plant.state
    state._check_free()
    constants = _constants(model)
    devices = NOTHING if devices is None else np.ascontiguousarray(devices, float)
    disturbances = NOTHING if disturbances is None else np.ascontiguousarray(disturbances, float)
    code, index = plant.fault
    if any(plant.tolerances):
        more = {"tolerances": list(plant.tolerances), **more}
    text = (f'{constants.until_dt}{plant.dt!r}, "integrator": "{plant.integrator}", {constants.until_clamped}{plant.clamped}, '
            f'"fault": [{code}, {index}], "max_contact_iterations": {plant.max_contact_iterations}, '
            f'"started": {"true" if started else "false"}, "time": {_json(state.time)}, "bench": {_json(bench) if bench else EMPTY}, '
            f'"motions": {_json(motions) if motions else "[]"}, {_json(more)[1:-1] + ", " if more else ""}{constants.until_devices}'
            f'{devices.size}], ["disturbances", {disturbances.size}]]}}').encode()
    numbers: list[Any] = [state._inputs, start._inputs, plant.effort, devices, disturbances]
    if BIG_ENDIAN:
        numbers = [x.astype("<f8") for x in numbers]
    body = b"".join((BEGINNING, len(text).to_bytes(8, "little"), text, *numbers))
    return body + hashlib.sha256(body).digest()


def _json(x: Any) -> str:
    return repr(x) if type(x) is float and isfinite(x) else ENCODER.encode(x)          # the same in less time


class Constants(NamedTuple):
    """What is the same in all headers of a model: the pieces of their JSON, and the layout."""

    until_dt: str
    until_clamped: str
    until_devices: str
    layout: list[list[Any]]


def _constants(model: Any) -> Constants:
    """Kept with the model."""
    found: Constants | None = model.__dict__.get("_save_constants")
    if found is None:
        from mbros import __version__

        state = model.default_state()
        head = {"mbros": __version__, "engine": this_engine(model), "model": model.name, "fingerprint": fingerprint(model.spec)}
        parts = [["state", state._inputs.size], ["start", state._inputs.size], ["effort", model.nv]]
        found = model.__dict__["_save_constants"] = Constants(
            f'{_json(head)[:-1]}, "dt": ', f'"layout": {_json(layout(state))}, "clamped": ', f'"parts": {_json(parts)[:-1]}, ["devices", ',
            layout(state))
    return found


def read(given: bytes | str | PathLike[str]) -> Saved:
    """A save from bytes, or from a file. SaveError where it is none, is damaged, or is of another version's layout."""
    if isinstance(given, (bytes, bytearray, memoryview)):
        return unpacked("the saved simulation", bytes(given))
    if not isinstance(given, (str, PathLike)):
        raise SaveError(f"restore: expected what save() returned, or the name of a file, got {short(given)}")
    path = file_path("restore", given)
    try:
        return unpacked(f"{path}", read_regular(path, MOST_BYTES))
    except OSError as e:
        raise SaveError(f"{path} cannot be read: {e.strerror or e}") from e


def unpacked(who: str, blob: bytes) -> Saved:
    at = len(MAGIC) + 10
    if not blob.startswith(MAGIC) or len(blob) < at + DIGEST:
        raise SaveError(f"{who} is no saved simulation of mbros; Simulator.save() and `mbros run --save` write such files")
    version, size = int.from_bytes(blob[at - 10:at - 8], "little"), int.from_bytes(blob[at - 8:at], "little")
    if version != VERSION:
        raise SaveError(f"{who} has layout {version} of saved simulations, this mbros reads {VERSION}; restore it with the version of "
                        "mbros that saved it")
    if size > MOST_HEADER:
        raise no_save(who, f"its header has {size} bytes, more than the {MOST_HEADER} that mbros reads")
    if hashlib.sha256(blob[:-DIGEST]).digest() != blob[-DIGEST:]:
        raise SaveError(f"{who} is damaged: it was cut off or changed after it was saved")
    try:
        return understood(who, blob[at:at + size], np.frombuffer(blob[at + size:-DIGEST], "<f8"))
    except SaveError:
        raise
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError) as e:        # JSON of other shapes, of any depth
        raise no_save(who, str(e)) from e


def no_save(who: str, why: str) -> SaveError:
    return SaveError(f"{who} was not written by mbros: {why}")


def understood(who: str, text: bytes, numbers: Array) -> Saved:
    """What a whole file says; the first error where it is not as packed() writes it."""
    header = json.loads(text)
    if type(header) is not dict:
        raise no_save(who, f"its header is {short(header)}")
    for name, kind in (("mbros", str), ("model", str), ("fingerprint", dict), ("dt", float), ("integrator", str), ("layout", list),
                       ("clamped", int), ("fault", list), ("max_contact_iterations", int), ("started", bool), ("bench", str),
                       ("motions", list), ("time", float)):
        if type(header[name]) is not kind:
            raise no_save(who, f"{name} is {short(header[name])}")
    check_engine(header.get("engine"))
    sizes = {str(name): int(n) for name, n in header["parts"]}
    sizes.setdefault("disturbances", 0)                 # of saves from before there were any
    if set(sizes) != set(PARTS) or min(sizes.values()) < 0 or sum(sizes.values()) != numbers.size:
        raise no_save(who, f"{numbers.size} numbers for {short(sizes)}")
    counts = header["clamped"] in range(2**63) and 1 <= header["max_contact_iterations"] <= 1000
    if [type(x) for x in header["fault"]] != [int, int] or not counts:
        raise no_save(who, "its counts are none")
    if not isfinite(header["time"]) or any(type(name) is not str for name in header["motions"]):
        raise no_save(who, f"its time is {header['time']!r}, its motions are {short(header['motions'])}")
    given = header.get("tolerances", [0.0, 0.0])
    if not (isinstance(given, list) and [type(x) for x in given] == [float, float]):
        raise no_save(who, f"tolerances is {short(given)}")
    if sizes["disturbances"] not in (0, 32 * 16):
        raise no_save(who, f"{sizes['disturbances']} numbers of disturbances")
    ends = np.cumsum(list(sizes.values()))
    parts = dict(zip(sizes, np.split(numbers, ends[:-1]), strict=True))
    if not all(np.isfinite(parts[name]).all() for name in PARTS if name != "devices"):
        raise no_save(who, "a number in it is not finite")
    return Saved(who, header, parts)
