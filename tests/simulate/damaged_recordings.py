"""Recordings that are damaged in every part: bits and bytes of the file, of messages and notes rewritten as whole as before, cuts."""
import base64
import io
import json

import numpy as np
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from mbros.record.ros_layouts import string, string_in

NUMBERS = [float("nan"), float("inf"), -float("inf"), 1e300, 1e11, -1.0, 0.5, 0, -1, 10**400, 2**31, 2**63, True, None, "x", [], {}, [[1]]]


def rewritten(blob, rng, of_part):
    """The same recording, with notes, attachments and messages as of_part(kind, bytes) makes them; chunks sometimes compressed."""
    out, reader = io.BytesIO(), make_reader(io.BytesIO(blob))
    how = [CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD][int(rng.integers(3))]
    writer = Writer(out, chunk_size=1 << 14, compression=how)
    writer.start("ros2", "test")
    for note in reader.iter_metadata():
        words = {key: of_part("note", text.encode()).decode(errors="replace") for key, text in note.metadata.items()}
        writer.add_metadata(note.name, words)
    for piece in reader.iter_attachments():
        writer.add_attachment(0, 0, piece.name, piece.media_type, of_part(piece.name, piece.data))
    schemas, channels = {}, {}
    for schema, channel, message in reader.iter_messages(log_time_order=False):
        if channel.topic not in channels:
            schemas[channel.topic] = writer.register_schema(schema.name, schema.encoding, schema.data)
            channels[channel.topic] = writer.register_channel(channel.topic, "cdr", schemas[channel.topic], {})
        writer.add_message(channels[channel.topic], message.log_time, of_part(channel.topic, message.data), message.publish_time)
    writer.finish()
    return out.getvalue()


def flipped(data, rng):
    """One to three bits, or bytes, elsewhere; or an end cut off."""
    other = bytearray(data)
    if rng.integers(6) == 0:
        return bytes(other[:rng.integers(len(other) + 1)])
    for _ in range(int(rng.integers(1, 4)) if other else 0):
        at = int(rng.integers(len(other)))
        other[at] = other[at] ^ 1 << int(rng.integers(8)) if rng.integers(2) else int(rng.integers(256))
    return bytes(other)


def edited(what, rng):
    """JSON in which one value is another one."""
    if isinstance(what, (dict, list)) and what and rng.integers(8):
        keys = list(what) if isinstance(what, dict) else range(len(what))
        key = keys[int(rng.integers(len(keys)))]
        copy = dict(what) if isinstance(what, dict) else list(what)
        copy[key] = edited(what[key], rng)
        return copy
    return NUMBERS[int(rng.integers(len(NUMBERS)))]


def damaged(blob, rng, parts):
    """A damaged copy of a recording, which has these parts."""
    kind = int(rng.integers(4))
    if kind == 0:
        return flipped(blob, rng)
    if kind == 1:                       # its head, or its summary
        at = int(rng.choice([0, len(blob) - 600]))
        return blob[:at] + flipped(blob[at:at + 600], rng) + blob[at + 600:]
    part, nth, seen = parts[int(rng.integers(len(parts)))], int(rng.integers(20)), 0

    def of_part(name, data):
        nonlocal seen
        seen += name == part
        if name != part or seen != 1 + nth % (3 if part == "/mbros/events" else 20 if part.startswith("/") else 1):
            return data
        if kind == 2 or part not in ("note", "/mbros/events"):
            return flipped(data, rng)
        words = json.loads(data if part == "note" else string_in(data))
        text = json.dumps(edited(words, rng))
        return text.encode() if part == "note" else string(text)

    return rewritten(blob, rng, of_part)


def with_event_of_a_node(blob, rng, sim):
    """The same recording, whose events are one of a node."""
    nv, table = sim.model.nv, np.zeros((32, 16))
    table[0, :3] = 1.0, 1.0, 5.0
    kinds = [{"kind": "parameters", "block": sim.plant.parameter_block().tolist()}, {"kind": "disturbances", "table": table.tolist()},
             {"kind": "set_state", "q": [0.1] * nv, "v": [float("nan")] * nv}, {"kind": "reset", "q": [0.1] * nv, "v": [0.0] * nv},
             {"kind": "start", "data": base64.b64encode(sim.save()).decode()}]
    event = string(json.dumps(kinds[int(rng.integers(len(kinds)))]))
    return rewritten(blob, rng, lambda name, data: event if name == "/mbros/events" else data)


def finite(plant):
    return bool(np.isfinite(plant.state._inputs).all())
