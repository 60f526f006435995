"""The numbers of force elements and devices: structs of the engine have the fields of the registries' rows, in their order, and the
enums of devices their rows."""
import re
from pathlib import Path

import mbros_core
import pytest
from mbros_core.plant.actuators import registry as actuators
from mbros_core.plant.channels import registry as channels
from mbros_core.forces import registry as forces
from mbros_core.plant.faults import registry as injected
from mbros_core.plant.sensors import registry as sensors

CORE = Path(mbros_core.__file__).parent
WIDEST = int(re.search(r"WIDEST = (\d+)", (CORE / "plant/channels/channel.pxd").read_text(encoding="utf-8"))[1])
NO_FIELDS = {"frozen", "sign_flip", "not_a_number", "lost", "free", "stuck"}     # faults without numbers
ROOMS = {"forces": forces.ROWS, "plant/sensors": sensors.ROWS, "plant/channels": channels.ROWS,
         "plant/faults": [row for row in injected.ROWS if not row.stage and row.name not in NO_FIELDS]}
KINDS = [(room, row) for room, rows in ROOMS.items() for row in rows]


def structs(room):
    """{name: [(type, field, how many)]} of the .pxd files of a room, by their text."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted((CORE / room).glob("*.pxd")))
    return {name: [(kind, field, int(count.replace("WIDEST", str(WIDEST)) or 1) if count else 0)
                   for kind, field, count in re.findall(r"^    (\w+) (\w+)(?:\[(\w+)\])?", body, re.MULTILINE)]
            for name, body in re.findall(r"^cdef struct (\w+):[^\n]*\n((?:    .*\n)+)", text, re.MULTILINE)}


def flat(all_structs, name, prefix=""):
    """Names of the numbers of a struct, one by one; those of a NoiseNumbers x are x_noise_density, and so on, but of the field `noise`."""
    out = []
    for kind, field, count in all_structs[name]:
        if kind in all_structs:
            inner = "" if field == "noise" else f"{field}_"
            out += [label for k in range(count or 1) for label in flat(all_structs, kind, prefix + inner)]
        elif kind == "Vec3":
            out += [f"{prefix}{field}[{k}]" for k in range(3)]
        else:
            assert kind in ("real", "double"), f"{name}.{field} is a {kind}"
            out += [f"{prefix}{field}[{k}]" for k in range(count)] if count else [prefix + field]
    return out


def named(room, row, what):
    """The struct of a kind: DoorHingeNumbers of door_hinge. The bushings have one between them."""
    kind = "bushing" if room == "forces" and row.name.startswith("bushing") else row.name
    return "".join(word.capitalize() for word in kind.split("_")) + what


def row_numbers(room, row):
    if room == "forces":
        return list(row.parameters)
    names = [f"{number.name}[{k}]" if number.size > 1 else number.name for number in row.numbers for k in range(number.size)]
    more = {"drift": ["dt"], "load": ["on_body[0]", "on_body[1]", "on_body[2]"]} if room == "plant/faults" else {}
    return names + more.get(row.name, [])


@pytest.mark.parametrize("room, row", KINDS, ids=[f"{room}-{row.name}" for room, row in KINDS])
def test_a_struct_has_the_numbers_of_its_row_in_their_order(room, row):
    assert flat(structs(room), named(room, row, "Numbers")) == row_numbers(room, row)


@pytest.mark.parametrize("room, row", [(room, row) for room, row in KINDS if room in ("plant/sensors", "plant/channels")],
                         ids=lambda x: getattr(x, "name", x))
def test_a_memory_is_as_long_as_its_row_says(room, row):
    found, name = structs(room), named(room, row, "Memory")
    if name not in found:
        assert room == "plant/channels" and row.name in ("quantize", "saturate")          # they remember their draws, which are none
        return
    size = len(flat(found, name))
    if room == "plant/channels":
        numbers = {number.name: 0.0 for number in row.numbers} | {"dt": 1.0}
        slots = 2 * (WIDEST + 2) if row.name == "delay" else 0                      # of a delay of 0
        assert size + slots == channels.memory(row, numbers, WIDEST, 1.0)
    else:
        assert size == row.memory


@pytest.mark.parametrize("room", ROOMS)
def test_no_number_is_read_by_its_place(room):
    """par[3] says nothing, and is another number when a row changes."""
    for path in sorted((CORE / room).glob("*.pxd")):
        text = re.sub(r'"""(?:.|\n)*?"""|#.*', "", path.read_text(encoding="utf-8"))
        assert not re.search(r"\b(par|mem)\[(\w+ \+ )?\d|\bpar \+ \d", text), path.name


def members(path, first):
    """{name: number} of the enum in a .pxd file that has a member `first`."""
    text = re.sub(r"#.*", "", (CORE / path).read_text(encoding="utf-8"))
    body = next(body for body in re.findall(r"^cdef enum[^\n]*\n((?:    .*\n|\n)+)", text, re.MULTILINE)
                if re.search(rf"\b{first}\b", body))
    out, number = {}, 0
    for name, given in re.findall(r"^    (\w+)(?: = (\d+))?", body, re.MULTILINE):
        number = int(given) if given else number
        out[name], number = number, number + 1
    return out


@pytest.mark.parametrize("path, rows, said", [
    ("plant/actuators/dispatch.pxd", actuators.ROWS, {"effort": "EFFORT_ACTUATOR"}), ("plant/sensors/dispatch.pxd", sensors.ROWS, {}),
    ("plant/channels/dispatch.pxd", channels.ROWS, {}),
    ("plant/faults/on_signal.pxd", injected.SIGNAL_ROWS, {"noise": "NOISE_BURST", "lost": "LOST_MESSAGES"}),
    ("plant/faults/on_joint.pxd", injected.JOINT_ROWS, {})], ids=lambda x: x if isinstance(x, str) else "")
def test_the_kinds_of_an_enum_are_the_rows(path, rows, said):
    names = {said.get(row.name, row.name.upper()): row.number for row in rows}
    assert members(path, next(iter(names))) == names


def test_commands_and_triggers_are_where_their_tables_say():
    assert members("plant/actuators/actuator.pxd", "COMMANDS")["COMMANDS"] == len(actuators.COMMANDS)
    at = members("plant/faults/fault.pxd", "TRIGGER_NUMBERS")
    assert (at["TRIGGER_NUMBERS"], at["TRIGGER_MEMORY"]) == (len(injected.TRIGGER_NUMBERS), len(injected.TRIGGER_MEMORY))
    assert at["THRESHOLD"] == injected.TRIGGER_NUMBERS.index("threshold")
    assert at["BEGUN"] == injected.TRIGGER_MEMORY.index("begun") and at["ASKED"] == injected.TRIGGER_MEMORY.index("asked")
