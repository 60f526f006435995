"""Figures as mbros draws them, with matplotlib: quiet axes, colours that colour-blind readers can distinguish, PNG in notebooks."""
from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

from mbros_core.support.files import stranger

from mbros.arguments import file_path
from mbros.errors import MbrosError, MbrosWarning, optional, warn

INK, FAINT, GRID = "#27313d", "#7b8794", "#e3e7ec"
# Wong, Points of view: color blindness (Nature Methods 2011), without its yellow, which is too light for lines.
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#5b5bd6", "#8c564b")


def color(k: int) -> str:
    """The k-th colour; they repeat."""
    return COLORS[k % len(COLORS)]


def dashes(k: int) -> Any:
    """The line style of the k-th curve: those of one colour differ."""
    return ("-", (0, (1.2, 1.0)), (0, (4.0, 1.2, 1.0, 1.2)))[k // len(COLORS) % 3]


def matplotlib() -> Any:
    """The package, or MissingPackageError with what to install. It reads a matplotlibrc in the working folder, which may have LaTeX run
    on any text: what another user put there is not in force."""
    optional("matplotlib.figure", "plots", "plot")          # it takes a second: only who draws pays
    package = optional("matplotlib", "plots", "plot")
    if (owner := stranger("matplotlibrc")) is not None:
        package.rcdefaults()
        warn(f"matplotlibrc in the working folder belongs to user {owner}, and is not in force", MbrosWarning)
    return package


def new_figure(rows: int, title: str, width: float, height: float, sharex: bool = False) -> tuple[Any, list[Any]]:
    """(figure, axes one below another), in inches. No window and no pyplot: it works on a server and leaks nothing."""
    package = matplotlib()

    class Picture(package.figure.Figure):       # type: ignore[name-defined, misc]   # of an optional package
        """A Figure that a notebook shows. Names are drawn as they are: matplotlib would typeset what is between
        two $, or fail at it."""

        def draw(self, renderer: Any) -> None:
            for text in self.findobj(package.text.Text):
                text.set_parse_math(False)
            super().draw(renderer)

        def _repr_png_(self) -> bytes:
            out = io.BytesIO()
            self.savefig(out, format="png", dpi=100)
            return out.getvalue()

    figure = Picture(figsize=(width, height), layout="constrained", facecolor="white")
    axes = figure.subplots(rows, 1, sharex=sharex, squeeze=False)[:, 0]
    figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", color=INK)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
        ax.spines[["left", "bottom"]].set_color(FAINT)
        ax.tick_params(colors=INK, labelsize=8, color=FAINT)
        ax.yaxis.label.set_size(9)
        ax.xaxis.label.set_size(9)
    return figure, list(axes)


def check_path(path: Any) -> None:
    """MbrosError unless a picture can be written there: a known ending, in a folder that is there."""
    known = matplotlib().figure.FigureCanvasBase.get_supported_filetypes()
    path = file_path("plot", path)
    folder, ending = Path(path).absolute().parent, Path(path).suffix.lstrip(".").lower()
    if ending not in known:
        raise MbrosError(f"plot: {path}: expected a file that ends in .png, .svg or .pdf, got {'.' + ending if ending else 'no ending'}")
    if not os.path.isdir(folder):
        raise MbrosError(f"plot: {path}: there is no folder {folder}")


def save(figure: Any, path: Any) -> Any:
    """The figure, written to `path` where there is one: its ending says how (.png, .svg, .pdf)."""
    if path is None:
        return figure
    check_path(path)
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise MbrosError(f"plot: {path}: it cannot be written: {(error.strerror or str(error)).lower()}") from error
    return figure
