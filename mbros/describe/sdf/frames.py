"""The frame graph: where a name of a scope is, and which link it moves with, while every joint is at zero.

A pose is relative to a frame, which has a pose of its own, and so on to the frame of the model ("__model__") or the world. A frame is
attached to a link, a joint (then to its child), another frame or a model (then to its canonical link). Circles are refused.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.sdf.scopes import MODEL, WORLD, Scope
from mbros.describe.urdf.numbers import shorten
from mbros.names import hint
from mbros.spatial.placement import Placement

if TYPE_CHECKING:
    from mbros.describe.sdf.scopes import Entry
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement


def pose_in(context: Context, scope: Scope, name: str, element: XmlElement) -> Placement:
    """X_SF of a frame of a scope S: a link, joint, frame or nested model, "__model__", or "model::part". element: which asks."""
    path: list[tuple[str, Placement]] = []          # names, and their poses on what comes next
    seen: set[str] = set()
    at = name
    while at not in (scope.root, MODEL) and at not in scope.poses:
        entry, rest = _find(context, scope, at, element)
        if entry is None or at in seen:
            if entry is not None:
                _circle(context, scope, entry, [*seen], "relative_to")
            scope.poses.update(dict.fromkeys((*seen, at), Placement()))
            return Placement()
        seen.add(at)
        element = entry.element
        if rest and entry.inner is not None:
            path.append((at, pose_in(context, entry.inner, rest, element)))
            at = entry.name
            continue
        X = entry.X
        if entry.inner is not None and entry.inner.placement:
            X = X @ pose_in(context, entry.inner, entry.inner.placement, element).inverse()
        path.append((at, X))
        at = entry.relative_to
    X = scope.poses.get(at, Placement())
    for passed, step in reversed(path):
        X = X @ step
        scope.poses[passed] = X
    return X


def link_of(context: Context, scope: Scope, name: str, element: XmlElement) -> str | None:
    """The name, in this scope, of the link that a frame moves with; "world" of what is on the world. None, with a problem, where there is
    none."""
    seen: dict[str, None] = {}
    at = name
    while True:
        if at in scope.links:
            found = scope.links[at]
            break
        if at in seen:
            entry, _ = _find(context, scope, at, element)
            if entry is not None:
                _circle(context, scope, entry, [*seen], "attached_to")
            found = None
            break
        seen[at] = None
        if at in (scope.root, MODEL):
            if scope.root == WORLD:
                found = WORLD
                break
            canonical = scope.canonical or first_link(scope)
            if canonical is None:
                context.problem(element.line, scope.label, "it has no link that its frame could move with", "Give the model a <link>.")
                found = None
                break
            element, at = scope.element, canonical
            continue
        entry, rest = _find(context, scope, at, element)
        if entry is None:
            found = None
            break
        element = entry.element
        if entry.kind == "link":
            found = at
            break
        if entry.inner is not None:
            inner = link_of(context, entry.inner, rest or MODEL, element)
            found = None if inner is None else f"{entry.name}::{inner}"
            break
        at = entry.on or scope.root
    scope.links.update(dict.fromkeys(seen, found))
    return found


def first_link(scope: Scope) -> str | None:
    """The canonical link of a model that names none: its first, or that of its first nested model that has one."""
    for entry in scope.entries.values():
        if entry.kind == "link":
            return entry.name
    for entry in scope.entries.values():
        inner = None if entry.inner is None else entry.inner.canonical or first_link(entry.inner)
        if inner is not None:
            return f"{entry.name}::{inner}"
    return None


def _find(context: Context, scope: Scope, name: str, element: XmlElement) -> tuple[Entry | None, str]:
    """(what the first part of a name is, the rest); None, with a problem, where there is no such name."""
    head, colons, rest = (name, "", "") if name in scope.entries else name.partition("::")
    entry = scope.entries.get(head)
    if entry is None or (colons and entry.inner is None):
        label = f"<{element.tag}> {shorten(element.attributes['name'])}" if "name" in element.attributes else f"<{element.tag}>"
        why = hint(head, scope.entries) if entry is None else f"; {head!r} is a {entry.kind}, and nothing is inside it"
        context.problem(element.line, label, f"there is no {shorten(name)} in {scope.label}{why}",
                        "Name a link, joint, frame or nested model of it, or what is inside one as model::part.")
        return None, ""
    return entry, rest


def _circle(context: Context, scope: Scope, entry: Entry, names: list[str], word: str) -> None:
    shown = ", ".join(map(shorten, sorted(names)[:8])) + (", ..." if len(names) > 8 else "")
    context.problem(entry.element.line, f"{entry.kind} {shorten(entry.name)}", f"{word} leads in a circle in {scope.label}, among {shown}",
                    "Begin one of these poses at the model or the world.")


__all__ = ["first_link", "link_of", "pose_in"]
