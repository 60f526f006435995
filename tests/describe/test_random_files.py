"""Bench files and fault scripts with random edits, and random YAML: a bench, a script, or words with a line.
MBROS_CASES=100000 for a long run."""
import os
import random
import re

import pytest

import mbros
from mbros.describe.devices.script import read_script
from mbros.bench.bench import layout

pytest.importorskip("yaml", reason="needs PyYAML")

CASES = int(os.environ.get("MBROS_CASES", "100"))       # of each kind of file and change
SEED = int(os.environ.get("MBROS_SEED", "1"))
BENCH = """\
seed: 7
actuators:
  joint[1-3]: {type: position_servo, kp: 4e2, kd: 20}
  joint7: {type: motor, resistance: 1, torque_constant: 0.05, voltage_limit: 24, current_limit: 3}
sensors:
  joint*: {type: encoder, counts: 4096}
  imu: {type: imu, frame: flange, rate: 200, latency: 0.002, accel_matrix: [1, 0, 0, 0, 1, 0, 0, 0, 1]}
channels:
  - {signal: "joint*.command.*", delay: 0.002, jitter: 5e-4, loss: 0.01, burst: 2, reordering: true}
  - {name: second, signal: imu.*, delay: 1e-3, distribution: normal, jitter: 1e-4, hold_rate: 100, lower: -1, upper: 1}
faults:
  - {name: hung, kind: frozen, signal: joint2.encoder.position, at: 1.0, duration: 0.5}
  - {name: when, kind: lost, signal: imu.*, when: "joint2.position > 0.3", held: 0.01}
sources:
  joint[45]: {timeout: 0.02, safe: hold, blend: 0.05}
"""
SCRIPT = """\
robot: arm7
bench: bench.yaml
dt: 1e-3
duration: 2.0
controller: {python: "hold.py:Hold", rate: 100, timeout: 5}
command: {position: {joint1: 0.1, joint2: -2e-1}}
limits:
  position: true
  velocity: {joint*: 2.0, joint2: [-1, 1]}
  signals: {imu.linear_acceleration: 30, "joint*.encoder.position": [-3, .inf]}
settled: {position: 1e-2}
cases:
  - {each: joint*, kind: frozen, signal: "*.encoder.*", at: 1.0}
  - {name: bus down, kind: lost, signal: "joint*.command.*", at: 0.5, duration: 0.1}
"""
FILES = {"bench": BENCH, "script": SCRIPT}
WORD = re.compile(r"[^\s:,{}\[\]]+")
STRANGE = ["nan", ".nan", ".inf", "-.inf", "inf", "1e999", "-1", "0", "-0.0", "1e-320", "1e308", "0x10", "1_000", "~", "null", "true",
           "False", "''", '"x"', "[]", "{}", "[[1, 2], [3]]", "{a: 1}", "&a", "*a", "&a [*a]", "&a {a: *a}", "<<: *a",
           "!!python/object:os.system x", "!!binary x", "!!float x", "!x", "!<%FF> x", "?", "-", "|", ">", "%YAML 1.1",
           "%YAML " + "9" * 5000, "---", "...", "#", "@", "`", "\t", "\u00e4\u4e16", "\u2028", "\x85", '"\\UFFFFFFFF"', '"\\U00110000"',
           "9" * 400, "9" * 5000, "1e5000", "joint2", "joint[", "*", "joint*.position", "2024-01-01", "12:30:45", "=", "a" * 2000,
           "joint2.position > ", "1.0.0", "+.5e+1", "\u00e9" * 50]
BOMB = "a: &a [1, 1, 1, 1, 1, 1, 1, 1]\n" + "".join(f"{b}: &{b} [{', '.join(['*' + a] * 8)}]\n" for a, b in zip("abcdefghij", "bcdefghijk"))
ENDLESS = {"aliases": BOMB, "aliases of numbers": BOMB + "seed: *k\nduration: *k\n", "list in itself": "seed: &a [*a]\nduration: *a\n",
           "file in itself": "&a {seed: *a, duration: *a, limits: *a}",
           "entry in itself": "actuators: &a {joint1: *a}\nlimits: *a\ncases: [*a]\n",
           "brackets": "[" * 1000, "braces": "{a: " * 1000, "dashes": "- " * 1000}


def edited(rng, text):
    """The text after a few changes of its words, lines or characters."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 6))):
        lines, words = text.split("\n"), list(WORD.finditer(text))
        at = rng.randrange(len(lines))
        match rng.randrange(8):
            case 0 | 1 | 2 if words:
                word = rng.choice(words)
                other = rng.choice(STRANGE) if rng.random() < 0.6 else rng.choice(words).group()
                text = text[:word.start()] + other + text[word.end():]
            case 3:
                text = "\n".join(lines[:at] + lines[at + 1:])
            case 4:
                text = "\n".join(lines[:at] + [rng.choice(lines)] + lines[at:])
            case 5:
                text = "\n".join(lines[:at] + [" " * rng.randrange(6) + lines[at].lstrip()] + lines[at + 1:])
            case 6:
                k = rng.randrange(len(text) + 1)
                text = text[:k] + rng.choice("{}[]:,-&*!|>'\"%@`#?~ \t\n\x00\x07\ufeff") + text[k:]
            case _:
                k = rng.randrange(len(text) + 1)
                text = text[:k] + text[k + rng.randrange(1, 20):]
    return text


def grown(rng, kept, depth=0):
    """A random value in YAML's flow style, of the words of valid files and strange ones."""
    kind = rng.randrange(10) if depth < 4 else 9
    if kind < 3:
        return "[" + ", ".join(grown(rng, kept, depth + 1) for _ in range(rng.randrange(4))) + "]"
    if kind < 6:
        return "{" + ", ".join(f"{rng.choice(kept)}: {grown(rng, kept, depth + 1)}" for _ in range(rng.randrange(4))) + "}"
    return rng.choice(kept) if kind < 9 else rng.choice(STRANGE)


def random_yaml(rng, text):
    kept = WORD.findall(text)
    parts = re.findall(r"^\w+", text, re.MULTILINE)
    return "\n".join(f"{rng.choice(parts)}: {grown(rng, kept)}" for _ in range(rng.randrange(1, 5)))


def understood(kind, path, model):
    """What a file gives, put on a robot."""
    if kind == "script":
        return read_script(path)
    bench = mbros.Bench.load(path)
    return layout(model, bench, 1e-3).tables()


def attempt(kind, path, text, model):
    """"" where something was made of the text, or the words with which it was refused."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        assert understood(kind, path, model) is not None
    except mbros.ModelError as error:
        lines = len(re.split("\r\n|[\r\n\x85\u2028\u2029]", text))
        for problem in error.problems:
            assert str(problem) and (problem.file in (str(path), None)) and (problem.line is None or 1 <= problem.line <= lines), problem
        assert any(problem.line is not None for problem in error.problems) or "no YAML" in str(error), str(error)
        return str(error)
    except mbros.MbrosError as error:
        assert str(error).startswith(("bench file", "fault script")), str(error)
        return str(error)
    return ""


@pytest.mark.parametrize("change", [edited, random_yaml])
@pytest.mark.parametrize("kind", FILES)
def test_whatever_stands_in_a_file_there_are_words_for_it(tmp_path, kind, change):
    rng, path, model = random.Random(f"{SEED} {kind} {change.__name__}"), tmp_path / f"{kind}.yaml", mbros.load("arm7")
    assert attempt(kind, path, FILES[kind], model) == ""
    refused = 0
    for _ in range(CASES):
        text = change(rng, FILES[kind])
        try:
            refused += attempt(kind, path, text, model) != ""
        except Exception as error:
            raise AssertionError(f"{type(error).__name__}: {error}\nof this file:\n{text}") from error
    assert refused > CASES / 3


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_files_that_would_never_end_are_refused(tmp_path, kind, text):
    assert attempt(kind, tmp_path / "x.yaml", text, mbros.load("arm7"))
