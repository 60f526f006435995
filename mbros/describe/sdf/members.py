"""Reading what a model or a world names, with what it nests and includes, into its scope."""
from __future__ import annotations

from typing import TYPE_CHECKING

from mbros.describe.sdf.files import Library, included
from mbros.describe.sdf.frames import link_of, pose_in
from mbros.describe.sdf.scopes import MODEL, WORLD, Entry, Scope
from mbros.describe.sdf.values import flag, flag_of, pose, text
from mbros.describe.urdf.numbers import shorten

if TYPE_CHECKING:
    from mbros.describe.urdf.context import Context
    from mbros.describe.urdf.xml import XmlElement
    from mbros.spatial.placement import Placement

DEEPEST = 32                # models inside models


def read_world(library: Library, element: XmlElement, version: tuple[int, int]) -> Scope:
    """A <world> and all that is in it."""
    scope = Scope(element.attributes.get("name", "") or "world", WORLD, version, element)
    read_members(library, scope, element, WORLD, 0)
    return scope


def around(library: Library, element: XmlElement, version: tuple[int, int]) -> Scope:
    """A world with nothing in it but the <model> of a file."""
    scope = Scope("", WORLD, version, element)
    read_model(library, scope, element, WORLD, 0)
    return scope


def read_members(library: Library, scope: Scope, element: XmlElement, origin: str, depth: int) -> None:
    """What an element of a model or a world names, into its scope. origin: the frame that its "__model__" is."""
    context = library.context
    scope.elements.append((element, origin))
    for child in element.children:
        if child.tag == "link" and scope.root == MODEL:
            name = name_of(context, child, scope.version)
            _add(context, scope, child, name, "link", *pose(context, child, f"link {shorten(name)}"), "", origin)
        elif child.tag == "joint":
            name = name_of(context, child, scope.version)
            on = text(context, child, "child", f"joint {shorten(name)}") or ""
            _add(context, scope, child, name, "joint", *pose(context, child, f"joint {shorten(name)}"), on, origin)
        elif child.tag == "frame":
            name, on = name_of(context, child, scope.version), child.attributes.get("attached_to", "")
            _add(context, scope, child, name, "frame", *pose(context, child, f"frame {shorten(name)}"), on, origin)
        elif child.tag == "model":
            read_model(library, scope, child, origin, depth)
        elif child.tag == "include":
            _include(library, scope, child, origin, depth)


def name_of(context: Context, element: XmlElement, version: tuple[int, int] = (1, 12)) -> str:
    """Its name, checked; "" where it is none. Before version 1.8 "::" may be in it, as what flattens nested models writes it."""
    name = context.name(element, f"<{element.tag}>") or ""
    split = "::" in name and version >= (1, 8)
    if name and (name == WORLD or name.startswith("__") and name.endswith("__") or split):
        reason = "has '::' in it" if split else "is reserved"
        context.problem(element.line, f"<{element.tag}>", f"the name {shorten(name)} {reason}", "Give another name.")
        return ""
    return name


def _add(context: Context, scope: Scope, element: XmlElement, name: str, kind: str, X: Placement, relative_to: str, on: str, origin: str,
         inner: Scope | None = None) -> None:
    """A name that a scope has not yet. Without relative_to, a pose is of a joint on its child, of a frame on what it is attached to."""
    if not name:
        return
    def local(given: str) -> str:
        return origin if given == MODEL else given

    default = on if kind in ("joint", "frame") and on else origin
    entry = Entry(kind, name, element, X, local(relative_to or default), local(on), origin, inner)
    first = scope.entries.get(name)
    if first is None:
        scope.entries[name] = entry
    elif {first.kind, kind} == {"joint", "link"}:
        context.notes.add("same name", element.line, f"{kind} {shorten(name)}", f"it has the name of a {first.kind}; as a frame, the name "
                          "is the link's", "warning")
        scope.entries[name], other = (entry, first) if kind == "link" else (first, entry)
        scope.entries[f"{name}__joint__"] = other
    else:
        context.problem(element.line, f"{kind} {shorten(name)}", f"this name is already taken by a {first.kind} (line "
                        f"{first.element.line})", f"Give everything in a {'world' if scope.root == WORLD else 'model'} a name of its own.")


def read_model(library: Library, outer: Scope, element: XmlElement, origin: str, depth: int) -> None:
    """A <model> in a model, a world or a file, into the scope of that."""
    context, name = library.context, name_of(library.context, element, outer.version)
    X, relative_to = pose(context, element, f"model {shorten(name)}")
    inner = _scope(library, element, name, outer.version, depth)
    if inner is not None:
        _add(context, outer, element, name, "model", X, relative_to, "", origin, inner)


def _scope(library: Library, element: XmlElement, name: str, version: tuple[int, int], depth: int) -> Scope | None:
    """The inside of a <model>."""
    context, label = library.context, f"model {shorten(name)}"
    if depth >= DEEPEST:
        context.problem(element.line, label, f"models are nested more than {DEEPEST} deep", "Does a model include itself?")
        return None
    scope = Scope(name, MODEL, version, element, placement=element.attributes.get("placement_frame", ""),
                  canonical=element.attributes.get("canonical_link", ""), static=flag(context, element, "static", label))
    read_members(library, scope, element, MODEL, depth + 1)
    if scope.canonical and link_of(context, scope, scope.canonical, element) is None:
        scope.canonical = ""
    return scope


def _include(library: Library, outer: Scope, element: XmlElement, origin: str, depth: int) -> None:
    """An <include>: the model of a file under a name, a pose and a placement frame that may be others."""
    context = library.context
    found = included(library, element)
    if found is None:
        return
    model, version = found
    given = text(context, element, "name", "<include>")
    name = given or name_of(context, model)
    if given and ("::" in given or given == WORLD or given.startswith("__")):
        context.problem(element.line, "<include>", f"the name {shorten(given)} is reserved, or has '::' in it", "Give another name.")
        return
    label = f"<include> of model {shorten(name)}"
    inner = _scope(library, model, name, version, depth)
    if inner is None or not name:
        return
    frame = text(context, element, "placement_frame", label)
    if element.all("pose"):
        X, relative_to = pose(context, element, label)
    else:
        X, relative_to = pose(context, model, label)
        relative_to = ""
        if frame:
            context.problem(element.line, label, "it has a placement_frame and no <pose>", "Write the <pose> of that frame.")
    inner.placement = inner.placement if frame is None else frame
    inner.static = flag(context, element, "static", label, inner.static)
    inner.elements += [(child, MODEL) for child in element.all("plugin")]
    if flag_of(context, element, "merge", label):
        _merge(context, outer, element, inner, X, relative_to, origin)
    else:
        _add(context, outer, element, name, "model", X, relative_to, "", origin, inner)


def _merge(context: Context, outer: Scope, element: XmlElement, inner: Scope, X: Placement, relative_to: str, origin: str) -> None:
    """Of merge="true": what a model has becomes the outer model's own, and its "__model__" a frame there."""
    if outer.root == WORLD and any(entry.kind == "link" for entry in inner.entries.values()):
        context.problem(element.line, f"<include> of model {shorten(inner.name)}", "a model with links cannot be merged into a world",
                        "Leave merge out.")
        return
    proxy = f"_merged__{inner.name}__model__"
    inner_frame = inner.placement
    if inner_frame:
        X = X @ pose_in(context, inner, inner_frame, element).inverse()
    canonical = inner.canonical or next((entry.name for entry in inner.entries.values() if entry.kind in ("link", "model")), "")
    outer.entries[proxy] = Entry("frame", proxy, element, X, origin if relative_to in ("", MODEL) else relative_to, canonical, origin)
    def moved(name: str) -> str:
        return proxy if name == MODEL else name

    for key, entry in inner.entries.items():
        if key in outer.entries:
            context.problem(element.line, f"{entry.kind} {shorten(entry.name)}", f"this name is already taken in {outer.label}, into which "
                            f"model {shorten(inner.name)} is merged", "Rename one of them, or leave merge out.")
            continue
        outer.entries[key] = Entry(entry.kind, entry.name, entry.element, entry.X, moved(entry.relative_to), moved(entry.on),
                                   moved(entry.origin), entry.inner)
    outer.elements += [(each, moved(at)) for each, at in inner.elements]
