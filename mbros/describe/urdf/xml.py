"""XML to a tree of elements with line numbers, over expat, with everything refused that a robot never needs.

No DOCTYPE (and so no entities), no other encoding than UTF-8 (ASCII, Latin-1 when declared), no NUL bytes, and nothing beyond the
bounds below. Prefixes such as `drake:` are kept as part of the name and need not be declared.
"""
from __future__ import annotations

import errno
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from xml.parsers import expat

from mbros_core.support.files import NoRegularFile, open_regular

from mbros.describe.urdf.numbers import shorten
from mbros.errors import Problem, UrdfError

MAX_BYTES = 32 * 2**20
MAX_DEPTH = 256
MAX_ELEMENTS = 500_000
MAX_ATTRIBUTES = 1_000_000
MAX_OF_ONE = 256            # attributes of one element
MAX_TAG = 2**20             # bytes from one '<' to the next: expat holds a whole tag, and all its attributes, before it reports it
# elements whose text is kept: to be refused (theirs is all in attributes), or read
KEPT_TEXT = ("mbros:", "mu1", "mu2", "kp", "kd", "param")
_BLANK = re.compile(rb"(?:[ \t\r\n]|\xef\xbb\xbf)*")         # and byte order marks
_ENCODINGS = ("utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin-1", "latin1")


class XmlElement:
    """tag, attributes (dict of str), children, and the line the element starts at. text: kept for tags that begin as in KEPT_TEXT."""

    __slots__ = ("tag", "attributes", "children", "line", "text")

    def __init__(self, tag: str, attributes: dict[str, str], line: int) -> None:
        self.tag, self.attributes, self.line = tag, attributes, line
        self.children: list[XmlElement] = []
        self.text = ""

    def all(self, tag: str) -> list["XmlElement"]:
        return [child for child in self.children if child.tag == tag]

    def __repr__(self) -> str:
        return f"<{self.tag}> at line {self.line}"


def refuse(file: str, line: int | None, element: str, reason: str, remedy: str) -> NoReturn:
    raise UrdfError(Problem(element, reason, remedy, file, line))


def read_file(path: Path, what: str = "a URDF file") -> bytes:
    """The bytes of a regular file of at most 32 MiB, which should be `what`. Nothing here can block: pipes, devices and what the
    kernel makes up as it is read (/proc, whose files all say that they have no bytes) are not read at all. Raises UrdfError."""
    def wrong(reason: str, remedy: str) -> NoReturn:
        refuse(os.fspath(path), None, "file", reason, remedy)

    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size == 0:
                wrong("it is empty, or no file on a disk", f"Give the path of {what}.")
            data = b"" if size > MAX_BYTES else file.read(MAX_BYTES + 1)
            if max(len(data), size) > MAX_BYTES:
                wrong(f"it has {max(len(data), size)} bytes, more than the {MAX_BYTES} (32 MiB) allowed for a model",
                       "Meshes belong in files of their own.")
            return data
    except UrdfError:
        raise
    except NoRegularFile as error:
        wrong("it is a folder" if error.errno == errno.EISDIR else "it is not a regular file", f"Give the path of {what}.")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        wrong(f"it cannot be read: {reason[:1].lower()}{reason[1:]}", "Check the path " + shorten(os.fspath(path), 300) + ".")


def parse_xml(data: bytes, file: str, declared_encoding_counts: bool = True, places: Sequence[int | None] = (),
              kept: tuple[str, ...] = KEPT_TEXT) -> XmlElement:
    """The root element. `file` is only for messages. places: of the elements of a text that was expanded, their lines. kept: how tags
    begin whose text is kept. Raises UrdfError."""
    _check_bytes(data, file)
    data = without_double_hyphens(declaration_first(data))
    builder = _Builder(file, places, kept)
    parser = expat.ParserCreate(None if declared_encoding_counts else "UTF-8")
    builder.attach(parser, declared_encoding_counts)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        refuse(file, error.lineno, builder.here(), f"not well-formed XML: {expat.ErrorString(error.code)}",
               _remedy(error.code, builder))
    assert builder.root is not None         # what expat takes as a document has one
    return builder.root


def declaration_first(data: bytes) -> bytes:
    """The same text, with <?xml ...?> where XML wants it: before the blank lines and comments that stand there. Every line keeps its
    number."""
    at = start = _BLANK.match(data).end()           # type: ignore[union-attr]      # it matches nothing, too
    while data.startswith(b"<!--", at) and (end := data.find(b"-->", at + 4)) >= 0:
        at = _BLANK.match(data, end + 3).end()      # type: ignore[union-attr]
    if data.startswith(b"<?xml", at) and data[at + 5:at + 6].isspace():
        return b"<?xml" + b"\n" * data.count(b"\n", 0, at) + data[at + 5:]
    return b"\n" * data.count(b"\n", 0, start) + data[start:]


def without_double_hyphens(data: bytes) -> bytes:
    """The same text with blanks for the "--" in its comments, which XML forbids and other readers of robots let pass (a command line with
    its options, often). Every line keeps its number."""
    if data.count(b"--") == data.count(b"<!--") + data.count(b"-->"):
        return data
    parts, at = [], 0
    while (start := data.find(b"<!--", at)) >= 0 and (end := data.find(b"-->", start + 4)) >= 0:
        inside = data[start + 4:end].replace(b"--", b"  ")
        parts += [data[at:start + 4], inside[:-1] + b" " if inside.endswith(b"-") else inside]
        at = end
    return b"".join([*parts, data[at:]])


def _check_bytes(data: bytes, file: str) -> None:
    if len(data) > MAX_BYTES:
        refuse(file, None, "file", f"it has {len(data)} bytes, more than the {MAX_BYTES} (32 MiB) allowed for a model",
               "Meshes belong in files of their own.")
    if data[:2] in (b"\xff\xfe", b"\xfe\xff") or data[:4] in (b"\x00<\x00?", b"<\x00?\x00", b"\x00<\x00r", b"<\x00r\x00"):
        refuse(file, 1, "file", "it is encoded as UTF-16 or UTF-32", "Save it as UTF-8.")
    nul = data.find(b"\x00")
    if nul >= 0:
        refuse(file, data.count(b"\n", 0, nul) + 1, "file", f"it has a NUL byte at position {nul}",
               "This is not a text file, or it is damaged.")
    if not data.strip(b" \t\r\n\xef\xbb\xbf"):
        refuse(file, 1, "file", "it is empty", "It starts with <robot name=\"...\">.")
    _check_tags(data, file)


def _check_tags(data: bytes, file: str) -> None:
    """No tag (or comment, or text) is endless. A stretch of MAX_TAG bytes without '<', which no tag may hold,
    covers one of these windows."""
    for at in range(0, len(data), MAX_TAG // 2):
        if data.find(b"<", at, at + MAX_TAG // 2) >= 0:
            continue
        start, end = max(data.rfind(b"<", 0, at), 0), data.find(b"<", at)
        length = (len(data) if end < 0 else end) - start
        if length > MAX_TAG:
            refuse(file, data.count(b"\n", 0, start) + 1, "file", f"it has {length} bytes without a new element, more than the {MAX_TAG} "
                   "(1 MiB) allowed for one tag", "A robot is numbers and names; data belongs in files of its own.")


class _Builder:
    """Expat's handlers."""

    def __init__(self, file: str, places: Sequence[int | None] = (), kept: tuple[str, ...] = KEPT_TEXT) -> None:
        self.file, self.places, self.kept = file, places, kept
        self.root: XmlElement | None = None
        self.stack: list[XmlElement] = []
        self.elements = self.attributes = 0

    parser: expat.XMLParserType

    def attach(self, parser: expat.XMLParserType, check_encoding: bool) -> None:
        self.parser = parser
        parser.StartElementHandler, parser.EndElementHandler = self.start, self.end
        parser.StartDoctypeDeclHandler = self.doctype
        parser.EntityDeclHandler = self.entity
        if check_encoding:
            parser.XmlDeclHandler = self.declaration

    def here(self) -> str:
        return f"<{shorten(self.stack[-1].tag, 40)[1:-1]}>" if self.stack else "file"

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        place = self.places[self.elements] if self.elements < len(self.places) else None
        element = XmlElement(tag, attributes, self.parser.CurrentLineNumber if place is None else place)
        self.elements += 1
        self.attributes += len(attributes)
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)
        self.listen()
        if len(self.stack) > MAX_DEPTH:
            self.refuse(element, f"elements are nested more than {MAX_DEPTH} deep", "A robot needs six levels, an SDF world ten.")
        if len(attributes) > MAX_OF_ONE:
            self.refuse(element, f"it has {len(attributes)} attributes, more than the {MAX_OF_ONE} allowed",
                        "An element of a robot needs six.")
        if self.elements > MAX_ELEMENTS or self.attributes > MAX_ATTRIBUTES:
            self.refuse(element, f"the file has more than {MAX_ELEMENTS} elements or {MAX_ATTRIBUTES} attributes",
                        "Split the robot, or build it with mbros.ModelBuilder.")

    def refuse(self, element: XmlElement, reason: str, remedy: str) -> NoReturn:
        refuse(self.file, element.line, f"<{shorten(element.tag, 40)[1:-1]}>", reason, remedy)

    def end(self, tag: str) -> None:
        self.stack.pop()
        self.listen()

    def listen(self) -> None:
        """To text, where it is kept."""
        kept = self.stack and self.stack[-1].tag.startswith(self.kept)
        self.parser.CharacterDataHandler = self.characters if kept else None

    def characters(self, text: str) -> None:
        element = self.stack[-1]
        if len(element.text) < 1000:
            element.text = (element.text + text).lstrip()

    def doctype(self, name: str, system_id: str | None, public_id: str | None, has_internal_subset: bool) -> None:
        refuse(self.file, self.parser.CurrentLineNumber, "<!DOCTYPE>",
               "a document type declaration is refused, because entities can hide other files and huge texts",
               "Remove the <!DOCTYPE ...> part; a robot needs none.")

    def entity(self, *_: object) -> None:
        refuse(self.file, self.parser.CurrentLineNumber, "<!ENTITY>", "entity declarations are refused",
               "Write the text itself.")

    def declaration(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            refuse(self.file, 1, "<?xml?>", f"its encoding is {shorten(encoding)}", "Save the file as UTF-8.")


def _remedy(code: int, builder: _Builder) -> str:
    errors = expat.errors
    name = expat.ErrorString(code)
    opened = f"<{shorten(builder.stack[-1].tag, 40)[1:-1]}> opened at line {builder.stack[-1].line}" if builder.stack else ""
    if name == errors.XML_ERROR_TAG_MISMATCH:
        return f"Close {opened} before its parent." if opened else "Close every element that was opened."
    if name in (errors.XML_ERROR_NO_ELEMENTS, errors.XML_ERROR_UNCLOSED_TOKEN, errors.XML_ERROR_PARTIAL_CHAR):
        return f"The file ends too early: close {opened}." if opened else "The file ends before an element is complete."
    if name == errors.XML_ERROR_DUPLICATE_ATTRIBUTE:
        return "Give each attribute once."
    if name == errors.XML_ERROR_UNDEFINED_ENTITY:
        return "Only &lt; &gt; &amp; &quot; and &apos; exist here."
    if name == errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
        return "A file has one root element, <robot>; remove what follows </robot>."
    if name == errors.XML_ERROR_MISPLACED_XML_PI:
        return "<?xml ...?> comes once, before <robot>."
    return "Look at this line for a missing quote, '<', '>' or '=', or a character that is not valid UTF-8."
