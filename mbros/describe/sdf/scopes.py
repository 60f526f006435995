"""What is called something in a model or a world: links, joints, frames, nested models and worlds, by name, each with its pose as written.

A name of a nested model's part is "model::part". members.py reads them; names are looked up, and poses made of them, in frames.py.
"""
from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from mbros_core.support.records import record

from mbros.describe.urdf.numbers import shorten
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.urdf.xml import XmlElement

MODEL, WORLD = "__model__", "world"


@record(eq=False)
class Entry:
    """kind: link, joint, frame or model. X: as its <pose> has it, relative to the frame `relative_to` of the same scope. on: what it moves
    with: of a joint its child, of a frame what it is attached to. origin: what "__model__" means in its element. inner: of a nested
    model."""

    kind: str
    name: str
    element: XmlElement
    X: Placement
    relative_to: str
    on: str = ""
    origin: str = MODEL
    inner: Scope | None = None


@record(eq=False)
class Scope:
    """A model or a world. root: how it calls its own frame. placement: the frame that its pose is of, "" for its own. canonical: its
    canonical link, "" for the first. elements: what was written of it, several where models were merged into it, each with its origin."""

    name: str
    root: str
    version: tuple[int, int]
    element: XmlElement
    entries: dict[str, Entry] = field(default_factory=dict)
    elements: list[tuple[XmlElement, str]] = field(default_factory=list)
    placement: str = ""
    canonical: str = ""
    static: bool = False
    poses: dict[str, Placement] = field(default_factory=dict)
    links: dict[str, str | None] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How messages name it."""
        return f"{'world' if self.root == WORLD else 'model'} {shorten(self.name)}"
