"""Where `mbros run` puts what happens: a CSV file, a picture, both, or nothing."""
from __future__ import annotations

from typing import Any

import numpy as np

from mbros.names import plural, printable


class PlotRecorder:
    """Keeps every row in a Log, as simulate.Recorder writes it to a file, and draws it in the end."""

    def __init__(self, path: str, plant: Any, signals: Any = None) -> None:
        from mbros.model.figure import check_path       # start-up time; refused here, before anything is simulated
        from mbros.simulate.log import Log

        check_path(path)
        self.path, self.plant, self.log = path, plant, Log(plant.model, 1024, signals)

    def row(self) -> None:
        """Add the plant's present state."""
        self.log.append(self.plant.state.time, self.plant)

    def snapshots(self, times: np.ndarray, x: np.ndarray) -> None:
        """Add rows from times (n,) and snapshots (n, size)."""
        for time, snapshot in zip(times, x):
            self.log.add_snapshot(time, snapshot, self.plant.layout)

    def flush(self) -> None:
        """Nothing waits to be written."""

    def close(self) -> None:
        """Draw what there is; two rows are needed for a line."""
        if len(self.log) > 1:
            self.log.plot(path=self.path)

    def summary(self) -> str:
        """What became of it, for the summary."""
        path = printable(self.path)
        return f"plotted  {plural(len(self.log), 'row')} in {path}" if len(self.log) > 1 else f"plotted  nothing in {path}: a single row"


class Recorders:
    """Several at once."""

    def __init__(self, recorders: list[Any]) -> None:
        self.recorders = recorders

    def row(self) -> None:
        """Add the plant's present state to each."""
        for recorder in self.recorders:
            recorder.row()

    def snapshots(self, times: np.ndarray, x: np.ndarray) -> None:
        """Add rows to each."""
        for recorder in self.recorders:
            recorder.snapshots(times, x)

    def flush(self) -> None:
        """Hand over what each has collected."""
        for recorder in self.recorders:
            recorder.flush()

    def close(self) -> None:
        """Each is closed, whatever happens to the others; the first error is raised in the end."""
        errors = []
        for recorder in self.recorders:
            try:
                recorder.close()
            except Exception as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def summary(self) -> list[str]:
        """What became of each."""
        return [recorder.summary() if isinstance(recorder, PlotRecorder)
                else f"recorded {plural(recorder.rows, 'row')} of {plural(len(recorder.columns), 'column')} in {printable(recorder.path)}"
                for recorder in self.recorders]


def recorders(csv: str | None, plot: str | None, plant: Any, signals: Any = None) -> Recorders | None:
    """What --csv and --plot ask for, None for nothing; signals: of a bench, beside the robot.
    The picture first: without matplotlib no file is begun."""
    from mbros.record.recorder import Recorder       # start-up time

    made: list[Any] = [PlotRecorder(plot, plant, signals)] if plot else []
    made += [Recorder(csv, plant, signals)] if csv else []
    return Recorders(made[::-1]) if made else None
