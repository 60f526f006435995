"""Files that are data: descriptions (as files, and as text that a service gets), SRDF, OBJ, parameter files, benches, scenes, scripts
and sweeps. Parts of good ones are repeated, put elsewhere, and mixed with what readers dislike. Each is read or refused in words, in a time
and memory that go with its length."""
import random
import resource
import tempfile
import time
import warnings
from pathlib import Path

import mbros
from tests.fuzz.findings import CORPUS, Journal, attempt, journal_of

LONGEST = 40_000                    # of a file, bytes
MOST_S, PER_BYTE_S = 2.0, 2e-4      # of processor time; hints, and shapes that are tried, cost a second however short the file is
MOST_MB = 1500                      # of the process

PARAMETERS = "/**:\n  ros__parameters:\n    mass.link7: 1.25\n    com.link7: [0.0, 0.01, 0.2]\n    damping: {joint2: 0.5}\n"
BENCH = ("seed: 7\nactuators:\n  joint*: {type: position_servo, kp: 400, kd: 20}\nsensors:\n  imu: {type: imu, frame: flange}\n"
         "channels:\n  - {signal: \"joint*.command.*\", delay: 0.002}\nfaults:\n  - {name: hung, kind: frozen, "
         "signal: joint2.encoder.position, when: \"abs(joint2.velocity) >= 1\", duration: 0.5}\n")
SCENE = ("name: cell\nground: {friction: 0.8}\nrobots:\n  left: {robot: double_pendulum, p: [0, 0.4, 0]}\nobjects:\n"
         "  parcel: {shape: box, size: [0.1, 0.1, 0.1], mass: 0.5, p: [0.5, 0, 0.05]}\nexclusions:\n  - [left, parcel]\n")
SCRIPT = ("robot: arm7\nbench: arm7_servo\nduration: 2.0\ncontroller: none\nlimits:\n  velocity: {joint*: 2.0}\ncases:\n"
          "  - {each: joint*, kind: frozen, signal: \"*.encoder.*\", at: 1.0}\n")
STUDY = "robot: double_pendulum\nduration: 0.01\nstart: {}\ncases:\n  damping.joint1: [0.0, 0.1]\n"
OBJ = "o a\ng a\nusemtl m\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvn 0 0 1\nf 1 2 3\nf 1//1 2//1 4//1\ns 1\n"
SRDF = "<robot name='everything'><disable_collisions link1='base' link2='upper' reason='Never'/><group name='g'/></robot>"
YAML_WORDS = ["&a ", "*a", "<<: *a", "[", "]", "{", "}", "\n", "  ", "- ", ": ", "? ", "!!binary ", "2001-01-01", "9" * 400, "1e999",
              ".inf", ".nan", "~", "|\n", "'", '"', "#", "0x" + "f" * 99, "1:2:3", "\x01", "\ufeff", "abs(", "a[", "joint*", "***a",
              "null", "link7"]
XML_WORDS = ["<!--", "-->", "<![CDATA[", "]]>", "&amp;", "&lol;", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "<?a b?>", "<link name='", "<joint ",
             "/>", "</link>", "'", '"', " xmlns:a='b'", "1" * 999, "1e999", "nan", " ", "base", "bsae", "uppre", "shoulder", "<mesh ",
             "<a>"]
OBJ_WORDS = ["g b\n", "usemtl n\n", "o b\n", "f -1 -2 -3\n", "f 9 9 9\n", "v 1e999 0 0\n", "\\\n", "f 1/1/1 2 3\n", "nan",
             "mtllib a.mtl\n", " "]


def kinds() -> dict:
    """Of a file: its ending, good ones, words to mix in, its reader."""
    from mbros.build.one_robot import describe_data
    from mbros.describe.devices.script import read_script
    from mbros.describe.meshes import read_mesh
    from mbros.study.identify.parameter_file import put
    from mbros.study.sweep.study import read_study

    arm, everything = mbros.load("arm7"), CORPUS / "urdf" / "everything.urdf"
    robots = [path.read_text() for path in sorted((CORPUS / "urdf").glob("*.urdf"))]
    return {"urdf": (robots, XML_WORDS, lambda path: mbros.load(path, ground=True)),
            "service": (robots, XML_WORDS, lambda path: describe_data(path.read_text(errors="replace"))),
            "srdf": ([SRDF], XML_WORDS, lambda path: mbros.load(everything, srdf=path)),
            "obj": ([OBJ], OBJ_WORDS, lambda path: read_mesh(path.name, path)),
            "params": ([PARAMETERS], YAML_WORDS, lambda path: put(path, arm, arm.default_state())),
            "bench": ([BENCH], YAML_WORDS, mbros.Bench.load), "scene": ([SCENE], YAML_WORDS, mbros.Scene.load),
            "script": ([SCRIPT], YAML_WORDS, read_script), "study": ([STUDY], YAML_WORDS, read_study)}


KINDS: dict = {}


def repeat(data: bytes) -> None:
    """data: the kind, a line's end, the file."""
    KINDS.update({} if KINDS else kinds())
    kind, _, text = data.partition(b"\n")
    *_, read = KINDS[kind.decode()]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", mbros.MbrosWarning)
        path = Path(folder) / f"x.{'yaml' if kind in (b'bench', b'scene', b'script', b'study') else kind.decode()}"
        path.write_bytes(text)
        begun = time.process_time()
        try:
            read(path)
        except mbros.MbrosError as error:
            assert str(error) and "Errno" not in str(error) and "Traceback" not in str(error), error
        took, largest = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert took < MOST_S + PER_BYTE_S * len(text), f"{took:.1f} s for {len(text)} bytes"
    assert largest < MOST_MB, f"{largest} MB after {len(text)} bytes"


def changed(text: str, words: list, rng: random.Random) -> str:
    for _ in range(rng.randrange(1, 6)):
        a, b = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        piece = text[a:b] if rng.randrange(2) else rng.choice(words)
        if rng.randrange(4) == 0 and "\n" in text:          # whole lines
            lines = text.splitlines(keepends=True)
            piece, a = rng.choice(lines), sum(map(len, lines[:rng.randrange(len(lines) + 1)]))
        times = rng.choice((1, 1, 2, 10, 200, 5000))
        text = text[:a] + piece * min(times, max(1, LONGEST // max(1, len(piece)))) + text[a if rng.randrange(2) else b:]
        text = text[:LONGEST]
    return text


def run(seconds: float, seed: int, count: int | None = None) -> int:
    KINDS.update(kinds())
    rng, journal, end, tried = random.Random(seed), Journal(journal_of("files")), time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        kind = rng.choice(list(KINDS))
        good, words, _ = KINDS[kind]
        data = f"{kind}\n{changed(rng.choice(good), words, rng)}".encode("utf-8", "replace")[:LONGEST]
        journal.write(data)
        attempt("files", data, repeat)
        tried += 1
    return tried
