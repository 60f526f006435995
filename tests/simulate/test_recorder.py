"""The CSV recorder: whole rows whatever happens, numbers to the last bit, names that need quotes."""
import csv
import errno
import math

import numpy as np
import pytest

import mbros
from mbros.record.recorder import CsvFile, Recorder, RecorderError


class Disk:
    """Stands in for the raw file: takes so many bytes, then is full, as a real one (a write may be cut short)."""

    def __init__(self, file, room):
        self.file, self.room = file, room

    def write(self, data):
        if self.room == 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        n = self.file.write(data[:self.room])
        self.room -= n
        return n

    def truncate(self, size):
        self.file.truncate(size)

    def close(self):
        self.file.close()


def full_after(csv_file, room):
    csv_file._file = Disk(csv_file._file, room)
    return csv_file


@pytest.mark.parametrize("room", [0, 3, 8, 9, 20, 1000, 65536, 100_001])
def test_a_full_disk_leaves_whole_rows_and_says_how_many(tmp_path, room):
    path = tmp_path / "x.csv"
    recorder = full_after(CsvFile(path, ["time", "a"]), room)
    with pytest.raises(RecorderError, match="no space left on device.*The file holds the [0-9]+ rows") as caught:
        for k in range(20_000):
            recorder.write([[k * 1e-3, k / 3]])
        recorder.close()
    text = path.read_text()
    assert len(text) <= room and (text == "" or text.endswith("\n"))
    rows = max(text.count("\n") - 1, 0)
    assert recorder.rows == rows and f"the {rows} rows" in str(caught.value)
    for k, line in enumerate(text.splitlines()[1:]):
        assert [float(x) for x in line.split(",")] == [k * 1e-3, k / 3]
    recorder.close()
    with pytest.raises(RecorderError, match="closed"):
        recorder.write([[1.0, 2.0]] * 100_000)


def test_numbers_come_back_bit_for_bit(tmp_path, rng):
    values = np.concatenate([rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500), [0.0, -0.0, 5e-324, 1.7976931348623157e308]])
    with CsvFile(tmp_path / "x.csv", ["v"]) as file:
        file.write(values[:, None])
    with open(tmp_path / "x.csv") as lines:
        back = np.array([float(line) for line in list(lines)[1:]])
    assert back.tobytes() == values.tobytes()


def test_odd_names_are_quoted(tmp_path):
    names = ["time", 'a,"b"', "c d", "e\nf"]
    with CsvFile(tmp_path / "x.csv", names) as file:
        file.write([[1, 2, 3, 4]])
    with open(tmp_path / "x.csv", newline="") as lines:
        header, row = csv.reader(lines)
    assert header == names and row == ["1.0", "2.0", "3.0", "4.0"]


def test_a_row_of_the_wrong_length_is_refused(tmp_path):
    with CsvFile(tmp_path / "x.csv", ["time", "a"]) as file, pytest.raises(RecorderError, match="rows of 2 numbers, got 3"):
        file.write([[1.0, 2.0, 3.0]])


def test_flush_makes_what_was_written_readable(tmp_path):
    sim = mbros.Simulator(mbros.load("double_pendulum"))
    with Recorder(tmp_path / "x.csv", sim.plant) as recorder:
        for _ in range(5):
            sim.step([1.0, 0.0])
            recorder.row()
        recorder.flush()
        lines = (tmp_path / "x.csv").read_text().splitlines()
        assert len(lines) == 6 and math.isclose(float(lines[-1].split(",")[0]), 5e-3)
    assert recorder.columns[:4] == ["time", "shoulder/position", "shoulder/velocity", "shoulder/effort"]


def test_an_exception_in_the_block_still_leaves_a_whole_file(tmp_path):
    with pytest.raises(ZeroDivisionError), CsvFile(tmp_path / "x.csv", ["time"]) as file:
        file.write([[1.0]])
        raise ZeroDivisionError
    assert (tmp_path / "x.csv").read_text() == "time\n1.0\n"
