"""The `mbros` command, also `python -m mbros`: one module per subcommand, imported when it is called.

Each has `configure(parser)` and `run(arguments) -> exit code`. Exit codes: 0 done, 1 the answer is no (a robot that is
refused, a pose not reached, a simulation that ended in a fault), 2 it could not be done, 130 Ctrl-C.
"""
from __future__ import annotations

import argparse
import importlib
import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from mbros.names import hint, printable, sentences
from mbros.ros.process.arguments import Parser as InOneSentence
from mbros.ros.process.streams import open_streams

COMMANDS = {        # subcommand: (module, what --help says of it)
    "check": ("check", "everything about a robot, and every problem with it"),
    "run": ("run", "simulate a robot, with a summary and a CSV file"),
    "replay": ("replay", "run a recording again, and say whether it is bit-identical"),
    "view": ("view", "a robot, a log or the ROS graph in the browser"),
    "node": ("node", "a robot in real time on ROS 2"),
    "demo": ("demo", "a robot and its controller on ROS 2, live"),
    "sweep": ("sweep", "many simulations of a robot, a case each, as one table"),
    "signals": ("signals", "the signals of a bench on a robot: names, units, sizes"),
    "faults": ("faults", "run fault scripts: what breaks, what the controller does, which limits are kept"),
    "codegen": ("codegen", "standalone C99 of a robot's dynamics and kinematics"),
    "list": ("robots", "robots that can be loaded by name"),
    "doctor": ("examine", "look at this machine and say what to fix"),
}
PASSED_ON = ("node",)       # these read their own arguments: everything after the word goes to them untouched


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code. argv: without the program's name."""
    argv = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in argv
    open_streams()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # names of files need not be text
            stream.reconfigure(errors="backslashreplace")       # pyright: ignore[reportAttributeAccessIssue]
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _note        # type: ignore[assignment]     # it takes what it needs
            code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:                 # `mbros ... | head`: the reader has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        if debug:
            raise
        return 130
    except Exception as error:
        if debug:
            raise
        print(f"mbros: {_sentence(error)}", file=sys.stderr)
        return 2


def _run(argv: list[str]) -> int:
    name = next((word for word in argv if not word.startswith("-")), None)
    if name in PASSED_ON and argv[0] == name:
        return importlib.import_module(f"mbros.cli.{COMMANDS[name][0]}").run(argv[1:])
    parser = make_parser(name)
    arguments, rest = parser.parse_known_args(_numbers_are_values(argv))
    if rest:
        getattr(arguments, "parser", parser).error("unrecognized arguments: " + " ".join(map(printable, rest)))
    if arguments.command is None:
        parser.print_help()
        return 0
    return importlib.import_module(f"mbros.cli.{COMMANDS[arguments.command][0]}").run(arguments)


def make_parser(name: str | None = None) -> argparse.ArgumentParser:
    """The parser of the whole command; of the subcommands only `name` is imported and has its own arguments."""
    parser = Parser(
        prog="mbros", description="mbros simulates robots at C speed, in real time, on ROS 2.", formatter_class=Formatter,
        epilog="More: mbros <command> --help. To begin: mbros demo, or mbros run arm6.")
    parser.add_argument("--version", action=Version)
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")
    commands = parser.add_subparsers(dest="command", metavar="command", title="commands")
    for word, (module, text) in COMMANDS.items():
        sub = commands.add_parser(word, help=text, description=text[0].upper() + text[1:] + ".",
                                  formatter_class=Formatter)
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        if word == name and word not in PASSED_ON:
            importlib.import_module(f"mbros.cli.{module}").configure(sub)
        sub.set_defaults(parser=sub)
    return parser


class Parser(InOneSentence):
    """Of the whole command."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """What was probably meant by a command that there is not, as of every other name."""
        if action.nargs == argparse.PARSER and action.choices is not None and value not in action.choices:
            raise argparse.ArgumentError(None, f"no {action.metavar} {value!r}{hint(value, action.choices)}")
        super()._check_value(action, value)


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Epilogs as they are written, and the commands without a line above them that says "command"."""

    def _format_action(self, action: argparse.Action) -> str:
        text = super()._format_action(action)
        return text.partition("\n")[2] if action.nargs == argparse.PARSER else text


class Version(argparse.Action):
    """--version, looked up only when it is asked for."""

    def __init__(self, option_strings: Any, dest: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, help="show the version")

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None) -> None:
        print(f"mbros {version()}")
        parser.exit()


def version() -> str:
    """The installed version; for a source folder that was never installed, the one its package.xml states."""
    from importlib.metadata import PackageNotFoundError
    from pathlib import Path

    try:
        import mbros
        return mbros.__version__
    except PackageNotFoundError:
        from xml.etree import ElementTree
        source = Path(__file__).parents[2] / "package.xml"
        return f"{ElementTree.parse(source).findtext('version')} (not installed)" if source.is_file() else "(not installed)"


def _numbers_are_values(argv: list[str]) -> list[str]:
    """`--gravity -9.81,0,0` as `--gravity=-9.81,0,0`: argparse takes such a value for an option."""
    joined: list[str] = []
    for word in argv:
        numeric = word[:1] == "-" and word[1:2].isdigit() or word[:2] == "-."
        if numeric and joined and joined[-1].startswith("--") and "=" not in joined[-1]:
            joined[-1] += "=" + word
        else:
            joined.append(word)
    return joined


_show = warnings.showwarning


def _note(message: Any, category: Any, *where: Any) -> None:
    """A warning of mbros is a sentence for users; where in the code it came from is not their business."""
    family = getattr(sys.modules.get("mbros.errors"), "MbrosWarning", ())       # what warns of it has imported it
    if issubclass(category, family):
        print(f"mbros: note: {message}", file=sys.stderr)
    else:
        _show(message, category, *where)


def _sentence(error: Exception) -> str:
    """What went wrong, for users. Errors that were not made for users say that they are a bug."""
    from mbros.errors import shown

    if isinstance(error, OSError) and error.strerror:
        where = f"{printable(error.filename)}: " if error.filename is not None else ""
        return f"{where}{error.strerror.lower()}"
    if isinstance(error, (ValueError, ArithmeticError, RuntimeError, ImportError, MemoryError)) and str(error):
        return shown(error)
    return sentences(f"an error that should not be: {type(error).__name__}: {error}",
                     "Please report it, with what `mbros --debug ...` prints.")
