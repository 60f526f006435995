"""What README.md and docs show is true: listings run and print what they say, commands parse, names exist, tables are current,
links lead somewhere."""
import ast
import configparser
import importlib.util
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tokenize

import pytest
import tables
from tables import ROOT, pages

import mbros
from mbros import cli

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NEEDS = re.compile(r"# needs: (\w+)\n")
PAGES = [pytest.param(page, id=page.name) for page in pages()]


def blocks(page, language):
    """(number of the block's first line, its text) of every fenced block in a language."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(2)) + 1, match.group(2)) for match in BLOCK.finditer(text) if match.group(1) == language]


def program(page):
    """All Python listings of a page as one program, each at its own line number, so that a traceback points into the page."""
    lines = [""] * page.read_text(encoding="utf-8").count("\n")
    for first, text in blocks(page, "python"):
        needs = NEEDS.match(text)
        if needs and importlib.util.find_spec(needs.group(1)) is None:
            continue
        for k, line in enumerate(text.splitlines()):
            lines[first - 1 + k] = line
    return "\n".join(lines) + "\n"


RECORDER = """
import builtins, json, runpy, sys
page, record = sys.argv[1:]
printed, write = {}, builtins.print

def keep(*values, sep=" ", **options):
    printed[sys._getframe(1).f_lineno] = sep.join(map(str, values))
    write(*values, sep=sep, **options)

builtins.print = keep
runpy.run_path(page, run_name="__main__")
with open(record, "w") as file:
    json.dump(printed, file)
"""


def said_of_prints(source):
    """{line of a print(...): what the comment beside it says, or else the comment lines right below it}, spaces as one."""
    comments, alone = {}, set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            comments[token.start[0]] = token.string[1:]
            if token.line.lstrip().startswith("#"):
                alone.add(token.start[0])
    said = {}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
            lines = [comments.get(node.end_lineno, "")]
            while lines[0] == "" and node.end_lineno + len(lines) in alone:
                lines.append(comments[node.end_lineno + len(lines)])
            said[node.lineno] = " ".join(" ".join(lines).split())
    return {line: text for line, text in said.items() if text}


def run(page, folder):
    """Runs a page's program; returns the process and {line: what its print printed}."""
    file, record = folder / (page.stem + ".py"), folder / "printed.json"
    file.write_text(program(page), encoding="utf-8")
    paths = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, str(ROOT)])}
    done = subprocess.run([sys.executable, "-c", RECORDER, str(file), str(record)], cwd=folder, env=env, capture_output=True, text=True,
                          timeout=600)
    printed = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
    return done, {int(line): text for line, text in printed.items()}


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in pages() if blocks(page, "python")])
def test_python_listings_run(page, tmp_path):
    """In README.md and the seeds' pages every comment beside or right below a print(...) is what it prints."""
    done, printed = run(page, tmp_path)
    assert done.returncode == 0, f"{page.name} (line numbers are those of the page):\n{done.stderr}"
    if page.parent.name == "seeds" or page.name == "README.md":
        said = said_of_prints(program(page))
        assert said and {line: " ".join(printed.get(line, "nothing").split()) for line in said} == said


def test_comments_about_prints_are_found_where_they_stand():
    source = 'print(1)  # 1\nfor k in (2, 3):\n    print(k,\n          k)  # 3 3\n# no\nprint(4)\n# 4\n#  4\n\n# no\nx = 5  # 5\nprint(6)\n'
    assert said_of_prints(source) == {1: "1", 3: "3 3", 6: "4 4"}


def commands(page):
    """Every command line in the page's bash blocks, as words, comments left out."""
    found = []
    for _, text in blocks(page, "bash"):
        for line in text.splitlines():
            for part in line.split("&&"):
                words = shlex.split(part, comments=True)
                if words:
                    found.append(words)
    return found


ALL = [(page.name, words) for page in pages() for words in commands(page)]


@pytest.mark.parametrize("words", [words for _, words in ALL if words[0] == "mbros"], ids=" ".join)
def test_mbros_commands_parse(words):
    name = words[1]
    if name == "node":
        from mbros.ros.process.arguments import parser

        own = words[2:words.index("--ros-args")] if "--ros-args" in words else words[2:]
        assert parser().parse_args(own).robot
        return
    arguments = cli.make_parser(name).parse_args(words[1:])
    assert arguments.command == name


def test_there_are_commands_of_every_kind():
    assert {words[1] for _, words in ALL if words[0] == "mbros"} >= {"run", "check", "node", "list", "doctor"}
    assert {words[0] for _, words in ALL} >= {"mbros", "make", "pip", "ros2", "colcon", "git"}


@pytest.mark.parametrize("words", [words for _, words in ALL if words[0] == "make"], ids=" ".join)
def test_make_targets_exist(words):
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert words[1] in targets


def launch_arguments():
    return re.findall(r"^\| `(\w+)` ", tables.launch_arguments(), re.MULTILINE)


def of_standard():
    """Names of the services and actions of simulation_interfaces that the node serves."""
    from mbros.ros.standard.table import ROWS

    return [row.topic for row in ROWS if row.served]


def numbers_of_devices():
    """As parameters of a node with the devices of docs/ros_bench.md."""
    bench = mbros.Bench()
    for device in (mbros.PositionServo("joint2.servo", joint="joint2", kp=1.0, kd=1.0), mbros.Encoder("joint2.encoder", joint="joint2"),
                   mbros.Channel("joint2.encoder, latency", signal="joint2.position", delay=1e-3),
                   mbros.JointSource("joint2", joint="joint2")):
        bench.add(device)
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench)
    return [f"device.{name}" for name in sim.devices.parameter_names]


@pytest.mark.parametrize("words", [words for _, words in ALL if words[0] == "ros2"], ids=" ".join)
def test_ros_commands_name_what_exists(words):
    from mbros.ros.parameters import TABLE
    from mbros_core.plant.faults.registry import TRIGGER_NUMBERS

    if words[1] == "launch":
        assert (ROOT / "launch" / words[3]).is_file()
        assert {word.partition(":=")[0] for word in words[4:]} <= set(launch_arguments())
    elif words[1] == "param":
        patterns = [re.sub("<(joint|body|shape|parameter)>", "[a-z0-9_]+", row.name) for row in TABLE if row.live]
        patterns.append("|".join(re.escape(name) for name in numbers_of_devices()))
        patterns.append(f"fault\\.[a-z0-9 ]+\\.({'|'.join(TRIGGER_NUMBERS[-4:])})")
        assert any(re.fullmatch(pattern, words[4]) for pattern in patterns), words[4]
    elif words[1] == "service":
        assert words[3].rpartition("/")[2] in ("reset", "pause", "step", "set_joint_lock", "set_state", "save_state",
                                               "restore_state", "record", "apply_wrench", "set_source", *of_standard())
    elif words[1] == "action":
        assert words[2] == "send_goal" and words[3].rpartition("/")[2] in of_standard()
    else:
        assert words[:2] == ["ros2", "topic"] and words[2] in ("hz", "pub", "echo")
        topics = {"/joint_states", "/joint_commands", "/joint_trajectory", "/mbros/contacts", "/joint2/motor"}
        assert {word for word in words if word.startswith("/")} <= topics


def ros_parameters(page):
    return re.findall(r"-p (\w+):=", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_ros_parameters_exist(page):
    from mbros.ros.parameters import TABLE

    assert set(ros_parameters(page)) <= {row.name for row in TABLE}


def test_extras_exist():
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    named = set(re.findall(r"""pip install ["'](?:\.|mbros)\[(\w+)\]["']""", text))
    assert {"ros", "robots", "xacro"} <= named <= set(config["options.extras_require"])


@pytest.mark.parametrize("page", PAGES)
def test_generated_tables_are_current(page):
    text = page.read_text(encoding="utf-8")
    assert tables.written(text) == text, "run: python tests/docs/tables.py"


def test_every_table_is_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    named = [match.group(2) for match in tables.MARK.finditer(text)]
    assert sorted(named) == sorted(["drop_reasons", "parameters", "launch_arguments", "built_in", "unused", "errors", "joint_kinds",
                                    "conventions", "rows", "contact_numbers", "actuators", "sensors", "channels", "faults", "sources",
                                    "standard", "sensor_messages", "sdf_unused"])


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http://", "https://", "generated/")):        # the last are pages that the site makes; it minds its links
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_short_and_name_no_machine(page):
    text = page.read_text(encoding="utf-8")
    if page.name not in ("seeds.md", "joints.md", "forces.md"):     # generated: a row per capability, a section per kind
        assert tables.MARK.sub("", text).count("\n") < 200      # written by hand
    assert not re.search(r"/(work|tmp|root|home)/", text)


@pytest.mark.parametrize("page", PAGES)
def test_code_that_is_named_exists(page):
    """`mbros.x` in the text is an attribute or a module; a file path in backticks is a file."""
    import importlib

    import mbros

    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for name in set(re.findall(r"`(mbros(?:_core)?(?:\.\w+)+)", text)):
        head, *rest = name.split(".")
        found = mbros if head == "mbros" else importlib.import_module(head)
        for k, part in enumerate(rest):
            if not hasattr(found, part):
                importlib.import_module(".".join([head, *rest[:k + 1]]))
            found = getattr(found, part)
    for name in set(re.findall(r"`((?:mbros|tests|docs|launch)/[\w./]+\.\w+)`", text)):
        assert (ROOT / name).is_file(), name


def test_the_launch_files_arguments_are_found_without_launch():
    assert {"robot", "rate", "rviz", "namespace", "record"} <= set(launch_arguments())
    assert isinstance(ast.parse((ROOT / "launch" / "sim.launch.py").read_text(encoding="utf-8")), ast.Module)
