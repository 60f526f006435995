"""Changed MJCF files: read, or refused in words, in a time and memory that go with their length; nothing outside the folder is opened."""
import os
import random
import resource
import tempfile
import time
import warnings
from pathlib import Path

import mbros
from tests.fuzz.files import LONGEST, MOST_MB, MOST_S, PER_BYTE_S, changed
from tests.fuzz.findings import CORPUS, Journal, attempt, journal_of

WORDS = ["<!--", "-->", "<!DOCTYPE a [<!ENTITY b 'c'>]>", "&amp;", "/>", "</body>", "<body>", "<body name='hip'>", "<geom size='1'/>", "'",
         '"',
         "1e999", "nan", "-1", "0", "0 0 0", "1 2 3 4 5 6 7 8", "1" * 999, "<include file='m.xml'/>", "<include file='../secret.xml'/>",
         "<replicate count='9999'>", "</replicate>", "<default class='leg'>", "</default>", "<freejoint/>", "<joint type='ball'/>",
         "class='leg' ",
         "type='mesh' ", "mesh='tetra' ", "file='/etc/passwd' ", "name='trunk' ", "hinge", "toe_0", "<frame>", "</frame>", " x='1' "]
SECRET = "<mujoco><worldbody><body name='secret'><joint/><geom size='1'/></body></worldbody></mujoco>"


def repeat(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as outside, warnings.catch_warnings():
        warnings.simplefilter("ignore", mbros.MbrosWarning)
        (Path(outside) / "secret.xml").write_text(SECRET)
        folder = Path(outside) / "model"
        os.mkdir(folder)
        (folder / "m.xml").write_bytes(data)
        begun = time.process_time()
        try:
            model = mbros.load(folder / "m.xml")
            assert "secret" not in model.bodies
        except mbros.MbrosError as error:
            assert str(error) and "Errno" not in str(error) and "Traceback" not in str(error), error
        took, largest = time.process_time() - begun, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    assert took < MOST_S + PER_BYTE_S * len(data), f"{took:.1f} s for {len(data)} bytes"
    assert largest < MOST_MB, f"{largest} MB after {len(data)} bytes"


def run(seconds: float, seed: int, count: int | None = None) -> int:
    good = [path.read_text() for path in sorted((CORPUS / "mjcf").glob("*.xml"))]
    rng, journal, end, tried = random.Random(seed), Journal(journal_of("mjcf")), time.monotonic() + seconds, 0
    while tried < count if count else time.monotonic() < end:
        data = changed(rng.choice(good), WORDS, rng).encode("utf-8", "replace")[:LONGEST]
        journal.write(data)
        attempt("mjcf", data, repeat)
        tried += 1
    return tried
