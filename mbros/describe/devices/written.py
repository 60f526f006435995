"""A bench as the text of a bench file, which Bench.load reads as the same bench."""
from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mbros.describe.devices.bench import Bench
    from mbros.describe.devices.fault import Fault


def bench_text(bench: Bench) -> str:
    """YAML, one entry a line. Functions and objects that a subclass may have been given are not in it."""
    lines = [f"seed: {bench.seed}"]
    for part, devices in (("actuators", bench.actuators), ("sensors", bench.sensors)):
        lines += _mapping(part, ((_named(device), {"type": device.type, **device._given}) for device in devices))
    lines += _mapping("sources", ((source.name, {"joint": source.joint, "safe": source.safe, **source.values})
                                  for source in bench.sources))
    lines += _list("channels", ({"name": channel.name, "signal": channel.signal, "seed": channel.seed, **channel._words}
                                for channel in bench.channels))
    lines += _list("faults", map(_of_fault, bench.faults))
    return "\n".join(lines) + "\n"


def _named(device: Any) -> str:
    """Its name; of one joint the joint's instead of a star, so that no two are called alike."""
    joint = device._given.get("joint")
    plain = isinstance(joint, str) and not any(sign in joint for sign in "*?[")
    return str(device.name.replace("*", joint) if plain else device.name)


def _of_fault(fault: Fault) -> dict[str, Any]:
    words: dict[str, Any] = {"name": fault.name, "kind": fault.row.name, fault.row.target: fault.target, **fault.values}
    if fault.when is not None:
        when = fault.when
        signal = f"{when.signal}[{when.index}]" if when.index else when.signal
        words["when"] = f"{f'abs({signal})' if when.absolute else signal} {when.comparison} {when.threshold!r}"
    if fault.when is not None or not fault.by_hand:
        words["at"] = fault.times["at"]
    words.update((word, fault.times[word]) for word in ("until", "duration") if math.isfinite(fault.times[word]))
    return words | ({"held": fault.times["held"]} if fault.times["held"] else {})


def _mapping(part: str, entries: Iterable[tuple[str, dict[str, Any]]]) -> list[str]:
    lines = [f"  {json.dumps(name)}: {_flow(words)}" for name, words in entries]
    return [f"{part}:", *lines] if lines else []


def _list(part: str, entries: Iterable[dict[str, Any]]) -> list[str]:
    lines = [f"  - {_flow(words)}" for words in entries]
    return [f"{part}:", *lines] if lines else []


def _flow(words: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{name}: {_value(value)}" for name, value in words.items() if value is not None) + "}"


def _value(x: Any) -> str:
    """A word, True or False, a number to the last bit, or a list of these."""
    if isinstance(x, (bool, np.bool_)):
        return "true" if x else "false"
    if isinstance(x, str):
        return json.dumps(x)
    array = np.asarray(x)
    if array.ndim:
        items = array.tolist() if array.size != 1 else [array.item()]
        return _value(items[0]) if array.size == 1 else f"[{', '.join(map(_value, items))}]"
    number = array.item()
    if isinstance(number, float) and not math.isfinite(number):
        return ".nan" if math.isnan(number) else ".inf" if number > 0 else "-.inf"
    return repr(number)
