"""MJCF text with its includes to one tree of elements. Each element knows its file and line.

<include file="..."/> stands for the elements of another file, which lies in the folder of the including file or below it, inside the
model's own folder (or the package that holds it). A file is included once at most, so there are no circles; the number of files, bytes
and elements is bounded.
"""
from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.packages import resolve
from mbros.describe.urdf.xml import MAX_BYTES, MAX_ELEMENTS, parse_xml, read_file
from mbros.errors import MbrosError, ModelError, Problem, SourceLine, UrdfError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from os import PathLike

    from mbros.describe.urdf.xml import XmlElement

ROOT = "mujoco"
ROOTS = (ROOT, "mujocoinclude")
TEXT = "<text>"             # the file of what was given as text
MOST_FILES = 200
MOST_DEPTH = 200            # elements inside elements, includes and all


class _Document:
    """What has been read so far: files by their real paths, bytes, elements."""

    def __init__(self, file: str, package_dirs: Sequence[str | PathLike[str]]) -> None:
        self.file, self.package_dirs = file, package_dirs
        self.files: set[str] = set() if file == TEXT else {os.path.realpath(file)}
        self.bytes = self.elements = 0


def read_document(data: bytes, file: str, package_dirs: Sequence[str | PathLike[str]] = (),
                  declared_encoding_counts: bool = True) -> XmlElement:
    """The <mujoco> element of a text, includes replaced by what they stand for. file: of messages, and where includes begin; TEXT where
    there is none. Raises ModelError."""
    document = _Document(file, package_dirs)
    root = _parsed(document, data, file, declared_encoding_counts)
    if root.tag != ROOT:
        refuse(file, root.line, f"<{shorten(root.tag)[1:-1]}>", "the root element is not <mujoco>", "An MJCF file starts with <mujoco>.")
    _include(document, root, file, 0)
    return root


def refuse(file: str, line: int | None, element: str, reason: str, remedy: str) -> NoReturn:
    raise ModelError(Problem(element, reason, remedy, file, line))


def _parsed(document: _Document, data: bytes, file: str, declared_encoding_counts: bool = True) -> XmlElement:
    document.bytes += len(data)
    if document.bytes > MAX_BYTES:
        refuse(file, None, "file", f"the model and what it includes have more than the {MAX_BYTES >> 20} MiB allowed",
               "Put meshes into files.")
    try:
        return parse_xml(data, file, declared_encoding_counts)
    except UrdfError as error:
        raise ModelError(error.problems) from None


def _include(document: _Document, parent: XmlElement, file: str, depth: int) -> None:
    """Replaces the includes below an element of `file`; marks what stands in another file than the model's own."""
    elsewhere = file != document.file
    document.elements += len(parent.children)
    if document.elements > MAX_ELEMENTS:
        refuse(file, parent.line, f"<{parent.tag}>", f"the model and what it includes have more than {MAX_ELEMENTS} elements", "Split it.")
    if depth > MOST_DEPTH:
        refuse(file, parent.line, f"<{parent.tag}>", f"elements are nested more than {MOST_DEPTH} deep", "A robot needs fewer.")
    children: list[XmlElement] = []
    for child in parent.children:
        if elsewhere:
            child.line = SourceLine(child.line, file)
        if child.tag == "include":
            children += _included(document, child, file, depth)
        else:
            _include(document, child, file, depth + 1)
            children.append(child)
    parent.children = children


def _included(document: _Document, element: XmlElement, file: str, depth: int) -> list[XmlElement]:
    """The elements that an <include> stands for."""
    name = element.attributes.get("file", "")
    if not name or element.children or len(element.attributes) > 1:
        refuse(file, element.line, "<include>", f"it has {', '.join(element.attributes) or 'no attributes'}"
               f"{' and elements inside' if element.children else ''}", 'Write <include file="..."/>.')
    if document.file == TEXT:
        refuse(file, element.line, "<include>", f"the model was given as text, which has no folder to find {shorten(name)} in",
               "Load the file.")
    start = os.path.relpath(os.path.dirname(os.path.abspath(file)), os.path.dirname(os.path.abspath(document.file)))
    try:
        path = resolve(os.path.normpath(os.path.join(start, name)) if not os.path.isabs(name) else name, document.file,
                       document.package_dirs)
    except MbrosError as error:
        refuse(file, element.line, "<include>", str(error), "")
    real = os.path.realpath(path)
    if real in document.files:
        refuse(file, element.line, "<include>", f"{shorten(name)} is included already", "A file is included once at most.")
    document.files.add(real)
    if len(document.files) > MOST_FILES:
        refuse(file, element.line, "<include>", f"there are more than {MOST_FILES} files", "Join some.")
    try:
        data = read_file(Path(path), "an MJCF file")
    except UrdfError as error:
        raise ModelError(error.problems) from None
    inside = _parsed(document, data, os.fspath(path))
    if inside.tag not in ROOTS:
        refuse(os.fspath(path), inside.line, f"<{shorten(inside.tag)[1:-1]}>", "the root element is not <mujoco> or <mujocoinclude>",
               "That is what an included file starts with.")
    _include(document, inside, os.fspath(path), depth + 1)
    return inside.children
