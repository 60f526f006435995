"""xacro files, through the `xacro` package from PyPI or ROS, and only when a path ends in `.xacro`.

Expanding a xacro file evaluates Python expressions from it and can read other files: load only those you trust. `$(find package)` is
answered as `package://` is (mbros.describe.urdf.packages), so that no ROS needs to be sourced, and every element of the expanded text
knows the file and the line that it was written in.
"""
from __future__ import annotations

import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any
from xml.parsers import expat

from mbros_core.support.numbers import short

from mbros.describe.urdf.packages import no_package, package_roots
from mbros.describe.urdf.xml import declaration_first, read_file
from mbros.errors import MbrosError, MissingPackageError, Problem, SourceLine, UrdfError
from mbros.names import hint

if TYPE_CHECKING:
    from os import PathLike

PLACE = "mbros: where it was written"
# functions of xacro that are given an element first; what fails inside one fails there
_STEPS = ("eval_all", "handle_macro_call", "process_include", "grab_property", "grab_macro")
_one_at_a_time = RLock()            # xacro keeps where it is in globals


def expand(path: str | PathLike[str], arguments: Mapping[str, object] | None = None,
           package_dirs: Iterable[str | PathLike[str]] = ()) -> tuple[str, list[SourceLine | None]]:
    """The URDF text of the xacro file at `path`, and where each of its elements was written; `arguments` are its xacro:arg values by
    name."""
    try:
        import xacro
        from xacro import substitution_args
    except ImportError as error:
        raise MissingPackageError(f"{path}: xacro files need the package 'xacro', which cannot be imported ({error}). "
                                  "Install it: pip install 'mbros[xacro]', or expand the file first: "
                                  "xacro robot.urdf.xacro > robot.urdf.") from error
    if not isinstance(arguments, (dict, type(None))):
        raise MbrosError(f"xacro_args: expected a dict of names and values, got {short(arguments)}")
    mappings = {str(name): _text(value) for name, value in (arguments or {}).items()}
    dirs = tuple(package_dirs)
    places: dict[int, tuple[Exception, SourceLine | None]] = {}         # of what failed; xacro may go on after it
    texts: list[bytes] = []                                             # of the files

    def find(package: str) -> str:
        roots = package_roots(package, path, dirs)
        if not roots:
            raise UrdfError(Problem(f"$(find {package})", *no_package(package)))
        return str(roots[0])

    def parse(text: Any, filename: str | None = None) -> Any:
        if text is not None or not os.path.isfile(name := os.path.join(xacro.root_dir, filename or "")):
            return parse_theirs(text, filename)
        return _read(name, parse_theirs, texts)

    def step(theirs: Callable[..., Any]) -> Callable[..., Any]:
        def do(node: Any, *others: Any, **named: Any) -> Any:
            try:
                return theirs(node, *others, **named)
            except Exception as error:
                places.setdefault(id(error), (error, node.getUserData(PLACE)))         # the innermost comes first
                raise
        return do

    with _one_at_a_time:
        parse_theirs = xacro.parse
        changed = {"parse": parse, **{name: step(getattr(xacro, name)) for name in _STEPS if hasattr(xacro, name)}}
        try:
            with _in_place_of(xacro.__dict__, changed), _in_place_of(substitution_args.__dict__, {"_eval_find": find}), \
                    _in_place_of(getattr(substitution_args, "_eval_dict", {}), {"find": find}):
                document = xacro.process_file(str(path), mappings=mappings)
        except (Exception, SystemExit) as error:
            stack = [file for file in (getattr(xacro, "filestack", None) or ()) if file]
            line = next((places[id(each)][1] for each in _wrapped(error)[::-1] if id(each) in places), None)
            raise UrdfError(_why(error, line, stack[-1] if stack else os.fspath(path))) from error
    _refuse_unknown(path, mappings, b"\n".join(texts))
    return document.toxml(), _places(document.documentElement)


def _refuse_unknown(path: str | PathLike[str], mappings: Mapping[str, str], text: bytes) -> None:
    """UrdfError for an argument that the files neither declare, name="x", nor use, $(arg x) or arg('x'), so that it does nothing."""
    for name in mappings if b"\0" not in text else ():                  # UTF-16 is not searched
        word = re.escape(name.encode("utf-8", "surrogatepass"))
        if not re.search(rb"\bname\s*=\s*[\"']" + word + rb"[\"']|\barg[\s('\"]+" + word + rb"(?![\w-])", text):
            known = [each.decode(errors="replace") for each in re.findall(rb"<xacro:arg\s[^>]*?\bname\s*=\s*[\"']([^\"']+)", text)]
            raise UrdfError(Problem("xacro_args", f"it has no argument {short(name)}{hint(name, known)}",
                                    "Give xacro:arg of this file, or leave it out.", os.fspath(path), 1))


def _read(name: str, parse: Callable[..., Any], texts: list[bytes]) -> Any:
    """The document of a file, whose elements know their lines; its text goes to texts."""
    data, lines = declaration_first(read_file(Path(name), "a xacro file")), []
    texts.append(data)
    parser = expat.ParserCreate()
    parser.StartElementHandler = lambda tag, attributes: lines.append(SourceLine(parser.CurrentLineNumber, name))
    try:
        parser.Parse(data, True)
        document = parse(io.BytesIO(data))
    except expat.ExpatError as error:
        raise UrdfError(Problem("xacro", f"not well-formed XML: {expat.ErrorString(error.code)}",
                                "Look at this line for a missing quote, '<', '>' or '='.", name, error.lineno)) from error
    for element, line in zip(document.getElementsByTagName("*"), lines):
        element.setUserData(PLACE, line, _Copied)
    return document


class _Copied:
    """What the DOM tells of copies, such as macros are expanded from."""

    @staticmethod
    def handle(operation: int, key: str, data: Any, of: Any, copy: Any) -> None:
        if copy is not None:
            copy.setUserData(key, data, _Copied)


def _places(element: Any) -> list[SourceLine | None]:
    """Of all elements, in the order of the text; what xacro made by itself was written where its parent was."""
    found, stack = [], [(element, None)]
    while stack:
        node, around = stack.pop()
        place = node.getUserData(PLACE) or around
        found.append(place)
        stack += [(child, place) for child in reversed(node.childNodes) if child.nodeType == child.ELEMENT_NODE]
    return found


@contextmanager
def _in_place_of(names: Any, others: Mapping[str, Any]) -> Iterator[None]:
    """The values of `others` under names that are there, until the end."""
    kept = {name: names[name] for name in others if name in names}
    names.update({name: others[name] for name in kept})
    try:
        yield
    finally:
        names.update(kept)


def _wrapped(error: BaseException) -> list[Any]:
    """An exception, the one that it wraps, and so on."""
    found: list[Any] = [error]
    while (inner := getattr(found[-1], "exc", None)) is not None:
        found.append(inner)
    return found


def _why(error: BaseException, line: SourceLine | None, file: str) -> Problem:
    """What xacro says, at the element where it happened."""
    own = next((each for each in _wrapped(error) if isinstance(each, UrdfError)), None)
    if own is not None:                         # of `find`, or of a file that cannot be read
        first = own.problems[0]
        return first if first.file is not None else Problem(first.element, first.reason, first.remedy, file, line)
    reason = " ".join(_said(error).split()) or type(error).__name__
    return Problem("xacro", f"it cannot be expanded: {reason}", "Correct the file; `xacro` has the same words for it.", file, line)


def _said(error: Any) -> str:
    """The text of an exception of xacro, with what it wraps once."""
    inner = getattr(error, "exc", None)
    own = Exception.__str__(error) if isinstance(error, Exception) else str(error)
    if inner is None or isinstance(inner, OSError) and own not in ("", "None"):
        return f"{own} {getattr(error, 'suffix', None) or ''}"
    if own.startswith("<class") or own in ("", "None"):
        own = ""
    return f"{own} {_said(inner)} {getattr(error, 'suffix', None) or ''}"


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
