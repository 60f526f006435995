"""Files of SDF: where a uri may lead, what a model's folder holds, and how much may be included.

    model://name/path       a folder `name` of package_dirs, GZ_SIM_RESOURCE_PATH or SDF_PATH, of the folders above the file or of models
                            beside these (with a model.config); else a package of that name
    package://, file://, plain paths    as in a URDF: inside the folder or the package of the file that names them

Nothing is fetched: a network address is refused. Files that include themselves, or each other too often, are refused.
"""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from mbros.describe.urdf.context import Context
from mbros.describe.urdf.numbers import shorten
from mbros.describe.urdf.packages import NAME_IT, package_roots, resolve
from mbros.describe.urdf.xml import XmlElement, parse_xml, read_file
from mbros.errors import MbrosError, ModelError, Problem, SourceLine, UrdfError
from mbros.names import sentences

if TYPE_CHECKING:
    from os import PathLike

OLDEST, NEWEST = (1, 4), (1, 12)        # versions that are read
MOST_FILES = 1000                       # that are included, each as often as it is
MOST_ELEMENTS = 500_000                 # of a file and all that it includes
VARIABLES = ("GZ_SIM_RESOURCE_PATH", "SDF_PATH")
CONFIG = "model.config"
ENDS = (".sdf", ".world", ".xml")       # of files that hold SDF
WELL_KNOWN = {"sun": "it is a light", "ground_plane": "a ground at z = 0 takes its place"}       # Gazebo's own, which few have at hand


class Library:
    """The reading of one file and what it includes. context: problems and notes of all of them. found: folders of what was included."""

    def __init__(self, context: Context, package_dirs: Sequence[str | PathLike[str]] = ()) -> None:
        self.context, self.package_dirs = context, tuple(package_dirs)
        self.files, self.elements, self.hulls = 0, 0, 0
        self.folders: dict[str, None] = {}
        self.grounds: list[XmlElement] = []             # includes of Gazebo's ground plane, where nobody has it
        self._known: dict[Path, bytes] = {}

    def load(self, path: Path) -> XmlElement:
        """The root element of another file; its lines say which."""
        data = self._known.get(path)
        if data is None:
            data = self._known[path] = read_file(path, "an SDF file")
        root = parse_sdf(data, os.fspath(path))
        self.count(root)
        stack = [root]
        while stack:
            element = stack.pop()
            element.line = SourceLine(element.line, os.fspath(path))
            stack.extend(element.children)
        self.folders[str(path.parent)] = None
        return root

    def count(self, root: XmlElement) -> None:
        """ModelError where all elements together are too many."""
        stack = [root]
        while stack:
            self.elements += 1
            stack.extend(stack.pop().children)
        if self.elements > MOST_ELEMENTS:
            raise ModelError(Problem("<include>", f"all files together have more than {MOST_ELEMENTS} elements", "Split the world.",
                                     self.context.file))


def parse_sdf(data: bytes, file: str) -> XmlElement:
    """The root element of SDF; texts are kept. Raises ModelError."""
    try:
        return parse_xml(data, file, kept=("",))
    except UrdfError as error:
        raise ModelError(error.problems) from None


def version_of(context: Context, root: XmlElement) -> tuple[int, int] | None:
    """(major, minor) of an <sdf>; None, with a problem, where it is none that is read."""
    if root.tag != "sdf":
        remedy = "It is a URDF: mbros.load reads it by itself." if root.tag == "robot" else 'SDF begins with <sdf version="1.9">.'
        context.problem(root.line, f"<{shorten(root.tag, 40)[1:-1]}>", "the root element is not <sdf>", remedy)
        return None
    found = version(root.attributes.get("version", ""))
    if found is None or not OLDEST <= found <= NEWEST:
        given = root.attributes.get("version")
        context.problem(root.line, "<sdf>", "it has no version" if given is None else f"version={shorten(given)} is not read",
                        f"Versions {OLDEST[0]}.{OLDEST[1]} to {NEWEST[0]}.{NEWEST[1]} are; gz sdf -p converts older files.")
        return None
    return found


def version(text: str) -> tuple[int, int] | None:
    """Of "1.9", (1, 9)."""
    major, _, minor = text.strip().partition(".")
    if not (major.isascii() and major.isdecimal() and minor.isascii() and minor.isdecimal() and len(major) + len(minor) < 9):
        return None
    return int(major), int(minor)


def file_of(context: Context, element: XmlElement) -> str | None:
    """The file in which an element stands; None for a text."""
    file = getattr(element.line, "file", context.file)
    return None if file == "<text>" else file


def included(library: Library, element: XmlElement) -> tuple[XmlElement, tuple[int, int]] | None:
    """(the <model>, version of its file) that an <include> names; None, with a problem or a note, where there is none."""
    context = library.context
    holder = context.one(element, "uri", "<include>", required=True)
    uri = "" if holder is None else holder.text.strip()
    if holder is None or not uri:
        if holder is not None:
            context.problem(holder.line, "<include>, <uri>", "it is empty", "Write model://name, or the path of an .sdf file.")
        return None
    library.files += 1
    if library.files > MOST_FILES:
        if library.files == MOST_FILES + 1:
            context.problem(element.line, "<include>", f"more than {MOST_FILES} files are included", "Does a file include itself?")
        return None
    try:
        path = find_model(uri, file_of(context, element), library.package_dirs)
        root = library.load(path)
    except ModelError as error:
        for problem in error.problems:
            context.problem(element.line, f"<include> of {shorten(uri, 200)}", f"{problem.place}: {problem.reason}", problem.remedy)
        return None
    except MbrosError as error:
        _missing(library, element, uri, str(error))
        return None
    found = version_of(context, root)
    if found is None:
        return None
    models = root.all("model")
    others = [child.tag for child in root.children if child.tag in ("light", "actor")]
    if len(models) != 1:
        if others and not models:
            context.notes.add(("include", others[0]), element.line, "<include>", f"not used: it is of a <{others[0]}>")
        else:
            context.problem(element.line, f"<include> of {shorten(uri, 200)}", f"that file has {len(models)} <model> elements",
                            "It must have one.")
        return None
    return models[0], found


def _missing(library: Library, element: XmlElement, uri: str, reason: str) -> None:
    """Of an <include> whose file is not there."""
    context, name = library.context, uri.removeprefix("model://")
    if uri.startswith("model://") and name in WELL_KNOWN:
        context.notes.add(("include", name), element.line, f"<include> of {uri}", f"no such model was found; {WELL_KNOWN[name]}", "warning")
        if name == "ground_plane":
            library.grounds.append(element)
        return
    context.problem(element.line, "<include>", reason, "")


def find_model(uri: str, file: str | None, package_dirs: Sequence[str | PathLike[str]]) -> Path:
    """The SDF file of a model that an <include> names: itself, or that of its folder. MbrosError where there is none."""
    wrong = None
    for name in ("", CONFIG, "model.sdf"):
        try:
            path = find(f"{uri.rstrip('/')}/{name}" if name else uri, file, package_dirs)
        except MbrosError as error:
            wrong = wrong or error
            continue
        if name == CONFIG:
            return find(f"{uri.rstrip('/')}/{_best(path)}", file, package_dirs)
        if path.suffix.lower() not in ENDS:
            raise MbrosError(f"{shorten(uri, 200)}: {path.suffix or 'no ending'} is no SDF file. Expected one of {', '.join(ENDS)}.")
        return path
    assert wrong is not None            # nothing was found, which was said
    raise wrong


def _best(config: Path) -> str:
    """The file of the newest version that is read, of those that a model.config lists."""
    try:
        root = parse_sdf(read_file(config, "a model.config"), os.fspath(config))
    except ModelError as error:
        raise MbrosError(str(error)) from None
    found = [(version(each.attributes.get("version", "")) or OLDEST, each.text.strip()) for each in root.all("sdf")]
    known = [(of, name) for of, name in found if of <= NEWEST and name]
    return max(known, key=lambda each: each[0])[1] if known else "model.sdf"


def find(uri: str, file: str | None, package_dirs: Sequence[str | PathLike[str]]) -> Path:
    """The file that a uri names. Raises MbrosError with reason and remedy."""
    scheme, colon, rest = uri.partition("://")
    if not colon:
        return resolve(uri, file, package_dirs)
    if scheme in ("http", "https", "fuel"):
        refuse(uri, "nothing is fetched from the network", f"Download it, and write model://...; the folder that holds it: {NAME_IT}")
    if scheme != "model":
        return resolve(uri, file, package_dirs)
    name, _, path = rest.partition("/")
    if name in ("", ".", "..") or "\x00" in uri or "\\" in uri:
        refuse(uri, f"{shorten(name)} is not the name of a model", "Write model://name/path.")
    outside, looked = False, []
    for root in model_roots(name, file, package_dirs):
        looked.append(str(root))
        try:
            base, full = root.resolve(), (root / path).resolve()
            if not full.is_relative_to(base):
                outside = True
            elif full.is_file():
                return full
        except (OSError, RuntimeError, ValueError):
            continue
    if outside:
        refuse(uri, "it leads outside its model", "Keep its files inside its folder.")
    if looked:
        refuse(uri, "there is no such file", f"Looked in {', '.join(looked[:4])}.")
    refuse(uri, f"no model {shorten(name)} was found", f"Name the folder that holds it: {NAME_IT}; or set {VARIABLES[0]}.")


def model_roots(name: str, file: str | None, package_dirs: Sequence[str | PathLike[str]]) -> Iterator[Path]:
    """Existing folders of the model `name`, in the order they are searched."""
    above = [] if file is None else list(Path(file).absolute().parents)
    listed = [entry for variable in VARIABLES for entry in os.environ.get(variable, "").split(os.pathsep) if entry]
    for entry in (*package_dirs, *listed):
        folder = Path(os.path.abspath(os.path.expanduser(entry)))
        yield from (root for root in (folder / name, folder) if root.name == name and os.path.isdir(root))
    for folder in above:
        if folder.name == name:
            yield folder
        beside = folder / name
        if os.path.isfile(beside / CONFIG):
            yield beside
    yield from package_roots(name, file, package_dirs)


def refuse(uri: str, reason: str, remedy: str) -> NoReturn:
    raise MbrosError(sentences(f"{shorten(uri, 200)}: {reason}", remedy))


__all__ = ["Library", "file_of", "find", "find_model", "included", "parse_sdf", "version_of"]
