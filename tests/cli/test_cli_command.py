"""The command as a whole: help, version, errors, pipes, signals."""
import os
import signal
import subprocess
import sys
import time

import pytest
from shell import environment, one_paragraph

from mbros import cli


def test_help_lists_every_command(command):
    done = command("--help")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("usage: mbros")
    for word in cli.COMMANDS:
        assert f"\n    {word} " in done.stdout


def test_no_command_shows_the_help(command):
    done = command()
    assert done.returncode == 0 and done.stdout == command("--help").stdout


def in_process(capsys, *words):
    """(exit code, stdout, stderr) of the command in this process: for what needs no process of its own."""
    try:
        code = cli.main(list(words))
    except SystemExit as end:               # argparse
        code = end.code
    said = capsys.readouterr()
    return code or 0, said.out, said.err


@pytest.mark.parametrize("word", cli.COMMANDS)
def test_every_command_has_help(capsys, word):
    code, out, err = in_process(capsys, word, "--help")
    assert code == 0 and out.startswith(f"usage: mbros {word}") and err == ""


def test_help_loads_nothing_heavy(tmp_path):
    """What makes a command slow to answer is never imported for --help. (How long it takes: benchmarks.)"""
    show = ("import sys\nfrom mbros.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
            "print([m for m in sys.modules if m.split('.')[0] in ('numpy', 'rclpy', 'mbros_core', 'xml', 'json', 'subprocess')])")
    done = subprocess.run([sys.executable, "-c", show], env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.stdout.splitlines()[-1] == "[]", done.stdout


def test_trial_D4_the_package_is_the_command(tmp_path):
    for words in (["--version"], ["list"], ["run", "amr7"]):
        done, same = (subprocess.run([sys.executable, "-m", module, *words], env=environment(), cwd=tmp_path,
                                     capture_output=True, text=True,
                                     timeout=240) for module in ("mbros", "mbros.cli"))
        assert (done.returncode, done.stdout, done.stderr) == (same.returncode, same.stdout, same.stderr)
        assert done.stdout or done.stderr.startswith("mbros: no robot 'amr7'")


def test_version(command):
    done = command("--version")
    assert done.returncode == 0 and done.stdout == f"mbros {cli.version()}\n"


@pytest.mark.parametrize("words, sentence", [
    (["runn"], "no command 'runn'; did you mean 'run'?"),
    (["run"], "required: robot"),
    (["run", "arm7", "--effort", "joint1"], "expected joint=value, got 'joint1' (the robot stands before the options)"),
    (["run", "arm7", "--effort", "joint1=nan"], "expected finite numbers, got 'nan'"),
    (["run", "arm7", "--duration", "-1"], "expected a number above zero, got '-1'"),
    (["run", "arm7", "--every", "0"], "expected a whole number, 1 or more, got '0'"),
    (["run", "arm7", "--gravity", "0,0"], "three numbers X,Y,Z"),
    (["run", "arm7", "--integrator", "euler"], "invalid choice: 'euler'"),
    (["check", "arm7", "--xacro-arg", "x"], "expected name:=value, got 'x'"),
])
def test_wrong_arguments_are_one_sentence(capsys, words, sentence):
    code, out, err = in_process(capsys, *words)
    assert code == 2 and out == ""
    assert one_paragraph(err) and sentence in err and "--help" in err


@pytest.mark.parametrize("words, sentence", [
    (["run", "amr7"], "did you mean 'arm7'?"),
    (["run", "nofile.urdf"], "no such file"),
    (["run", "arm7", "--effort", "jiont2=1"], "no joint 'jiont2' in model 'arm7'; did you mean 'joint2'?"),
    (["run", "arm7", "--effort", "joint2=1", "--effort", "joint2=2"], "joint 'joint2' is given twice"),
    (["run", "quadruped", "--q", "base=0,0,1"], "expected 7 numbers"),
    (["run", "arm7", "--dt", "20"], "dt is 20; expected a step above 0 and up to 10 s"),
    (["run", "arm7", "--dt", "1", "--duration", "0.1"], "shorter than half a step"),
    (["run", "arm7", "--csv", "no/such/folder/x.csv"], "no/such/folder/x.csv: it cannot be written: no such file or directory"),
    (["demo", "arm7", "--no-ros", "--duration", "0.2"], "--duration"),
])
def test_errors_are_one_paragraph(capsys, words, sentence):
    code, out, err = in_process(capsys, *words)
    assert code == 2 and out == ""
    assert one_paragraph(err) and sentence in err


def test_errors_are_one_paragraph_for_the_shell_too(command):
    done = command("run", "amr7")
    assert done.returncode == 2 and done.stdout == "" and one_paragraph(done.stderr)


def test_a_path_that_is_no_text(command):
    name = b"caf\xe9.urdf"
    done = command("check", os.fsdecode(name))
    assert done.returncode == 1 and "caf\\udce9.urdf" in done.stdout and "no such file" in done.stdout and done.stderr == ""


def test_debug_shows_the_traceback(command):
    for words in (["--debug", "run", "amr7"], ["run", "amr7", "--debug"]):
        done = command(*words)
        assert done.returncode != 0 and "Traceback" in done.stderr and "UnknownNameError" in done.stderr


def test_an_error_nobody_foresaw_asks_for_a_report(monkeypatch, capsys):
    def broken(argv):
        raise KeyError("x")

    monkeypatch.setattr(cli, "_run", broken)
    assert cli.main(["run", "arm7"]) == 2
    said = capsys.readouterr().err
    assert "should not be: KeyError: 'x'" in said and "--debug" in said and "Traceback" not in said


@pytest.mark.parametrize("words", [["check", "humanoid"], ["run", "arm7", "--csv", "-", "--duration", "60"]])
def test_a_reader_that_has_enough(command, words):
    """`mbros ... | head -1` ends quietly."""
    running = command.start(*words)
    assert running.stdout.readline()
    running.stdout.close()
    said = running.stderr.read()
    assert running.wait(60) == 141 or words[0] == "check" and running.returncode == 0       # little output fits into the pipe
    assert "Traceback" not in said and "Broken" not in said


def test_ctrl_c_ends_a_run_with_130_and_a_summary(command):
    running = command.start("run", "arm6", "--duration", "1e6", "--csv", "out.csv", "--every", "100")
    while not ((command.folder / "out.csv").exists() and (command.folder / "out.csv").stat().st_size):        # rows, not only a name
        assert running.poll() is None
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=240)
    assert running.returncode == 130 and "Traceback" not in err
    assert " of 1e+06 s simulated in " in out
    lines = (command.folder / "out.csv").read_text().splitlines()
    assert len(lines) > 1 and {line.count(",") for line in lines} == {lines[0].count(",")}
    assert f"recorded {len(lines) - 1} rows" in out


def test_no_colours_where_nobody_looks(command):
    done = command("check", "arm7", "nope")
    assert "\x1b" not in done.stdout + done.stderr


def test_list(command):
    from mbros.build.robots import BUILT_IN

    done = command("list")
    assert done.returncode == 0
    for name, robot in BUILT_IN.items():
        assert f"  {name} " in done.stdout and robot.doc in done.stdout


def test_node_help_needs_no_ros(tmp_path):
    """The node's own parser answers, also where rclpy is missing."""
    show = "import sys; sys.modules['rclpy'] = None; from mbros.cli import main; sys.exit(main(['node', '--help']))"
    done = subprocess.run([sys.executable, "-c", show], env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0 and done.stdout.startswith("usage: mbros node")


@pytest.mark.parametrize("words", [["node", "arm7"], ["demo", "arm7"]])
def test_without_ros_the_remedy_is_told(tmp_path, words):
    show = f"import sys; sys.modules['rclpy'] = None; from mbros.cli import main; sys.exit(main({words!r}))"
    done = subprocess.run([sys.executable, "-c", show], env=environment(), cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert done.returncode in (1, 2) and one_paragraph(done.stderr)
    assert 'pip install "mbros[ros]"' in done.stderr
    assert ("--no-ros" in done.stderr) == (words[0] == "demo")


def test_the_node_gets_its_arguments_untouched(monkeypatch):
    import mbros.ros.process.main as node

    seen = []
    monkeypatch.setattr(node, "main", lambda argv, beside: seen.append((argv, beside)) or 0)
    words = ["panda", "--rate", "500", "--ros-args", "-r", "__ns:=/left", "-p", "gravity:=[0.0, 0.0, -1.62]", "--help"]
    assert cli.main(["node", *words]) == 0
    assert seen == [(words, None)]
