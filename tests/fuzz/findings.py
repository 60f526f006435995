"""What the fuzzers share: where a finding is written, and the journal that survives the death of the process."""
import hashlib
import mmap
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).parent / "corpus"
FINDINGS = ROOT / "build" / "fuzz" / "findings"
ROOM = 1 << 16                                   # of the journal, bytes: longer inputs are not made


class Journal:
    """The input that is being tried, in a file mapped to memory: still there when the process has died of it."""

    def __init__(self, path: Path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(ROOM))
        with path.open("r+b") as file:
            self.memory = mmap.mmap(file.fileno(), ROOM)

    def write(self, data: bytes) -> None:
        self.memory[8:8 + len(data)] = data
        self.memory[:8] = len(data).to_bytes(8, "little")

    @staticmethod
    def read(path: Path) -> bytes:
        data = path.read_bytes()
        return data[8:8 + int.from_bytes(data[:8], "little")]


def journal_of(target: str) -> Path:
    return FINDINGS.parent / f"{target}.journal"


def keep(target: str, data: bytes, why: str) -> str:
    """Write the input and why it is a finding; returns the sentence that says how to repeat it."""
    FINDINGS.mkdir(parents=True, exist_ok=True)
    path = FINDINGS / f"{target}-{hashlib.sha256(data).hexdigest()[:12]}"
    path.write_bytes(data)
    again = f"{sys.executable} -m tests.fuzz {target} --repeat {path.relative_to(ROOT)}"
    path.with_suffix(".txt").write_text(f"{again}\n\n{why}\n", encoding="utf-8")
    return f"{target}: a finding, kept in {path.relative_to(ROOT)}; repeat it with\n    {again}\n{why}"


def attempt(target: str, data: bytes, do) -> None:
    """do(data), whatever it raises being a finding: said, kept, and the end of this process (exit code 1)."""
    try:
        do(data)
    except Exception:
        print(keep(target, data, traceback.format_exc()), flush=True)
        raise SystemExit(1) from None
