"""Files that are none, and streams that are closed: a sentence, at once, and nothing is changed."""
import os
import subprocess
import sys

import pytest
from shell import environment, one_paragraph

from mbros import cli

SWEEP = "robot: pendulum\nduration: 0.01\ncases: {mass.rod: [1.0, 2.0]}\n"


PIPES = ("check x.yaml", "run x.yaml", "run arm7 --bench x.yaml", "run arm7 --parameters x.yaml", "run arm7 --from x.mbros", "sweep x.yaml",
         "faults run x.yaml", "view x.csv --html y.html", "replay x.mcap", "replay x.mcap --compare --robot arm7")


def test_pipes_are_refused_and_not_waited_for(tmp_path):
    """In a process of their own, which can be ended if it waits."""
    for ending in ("yaml", "mbros", "csv", "mcap"):
        os.mkfifo(tmp_path / f"x.{ending}")
    code = "import sys\nfrom mbros import cli\nfor line in sys.argv[1:]: print(cli.main(line.split()), flush=True)"
    done = subprocess.run([sys.executable, "-c", code, *PIPES], cwd=tmp_path, env=environment(), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=240)
    codes = [line for line in done.stdout.splitlines() if len(line) == 1]
    assert codes == ["1"] + ["2"] * (len(PIPES) - 1)
    assert done.stdout.lower().count("not a regular file") == len(PIPES) and "should not be" not in done.stdout


@pytest.mark.parametrize("words", [["run", "arm7", option, ""] for option in ("--csv", "--plot", "--record", "--save", "--from")]
                         + [["codegen", "arm7", "--out", ""], ["sweep", "x.yaml", "--out", ""]], ids=str)
def test_an_empty_path_is_a_variable_that_was_not_set(words, capsys):
    with pytest.raises(SystemExit) as caught:
        cli.main(words)
    assert caught.value.code == 2 and "expected the path of a file or folder, got ''" in capsys.readouterr().err


def test_where_results_go_is_looked_at_before_they_are_computed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.setattr("mbros.study.sweep.sweep.sweep", lambda *_, **__: pytest.fail("it began"))
    monkeypatch.setattr("mbros.simulate.simulator.Simulator.__init__", lambda *_, **__: pytest.fail("it began"))
    for words in (["sweep", "sweep.yaml", "--out", "no/x.csv"], ["run", "arm7", "--save", "no/x.mbros"],
                  ["faults", "run", "none.yaml", "--report", "no/x.xml"]):
        assert cli.main(words) == 2
        said = capsys.readouterr().err
        assert one_paragraph(said) and "there is no folder" in said, said
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    assert cli.main(["sweep", "sweep.yaml", "--out", "x.parquet"]) == 2 and 'pip install "mbros[sweep]"' in capsys.readouterr().err


@pytest.mark.parametrize("snap", ["nan", "-1", "1", "x"])
def test_rotations_are_not_snapped_to_others(snap, capsys):
    with pytest.raises(SystemExit):
        cli.main(["codegen", "arm7", "--out", "c", "--snap", snap])
    assert "0 to 1e-3" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["list"], ["check", "arm7"], ["run", "pendulum", "--duration", "0.01", "--csv", "out.csv"]],
                         ids=" ".join)
def test_streams_that_are_closed_lead_nowhere(words, tmp_path):
    """As in a job that was started with `>&- 2>&-`; the file that is opened next does not become standard output."""
    shell = f'exec "{sys.executable}" -m mbros.cli "$@" <&- >&-'
    done = subprocess.run(["sh", "-c", shell, "sh", *words], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True,
                          timeout=240)
    assert (done.returncode, done.stderr) == (0, "")
    done = subprocess.run(["sh", "-c", shell + " 2>&-", "sh", *words], cwd=tmp_path, env=environment(), timeout=240)
    assert done.returncode == 0
    if "out.csv" in words:
        assert {line.count(",") for line in (tmp_path / "out.csv").read_text().splitlines()} == {6}


def test_ctrl_c_while_the_viewer_starts_is_not_swallowed(command):
    """Packages that it imports catch whatever their imports raise, a KeyboardInterrupt too."""
    pytest.importorskip("viser")
    swallow = ("import builtins, os, signal, sys\nfrom mbros.cli import main\nreal = builtins.__import__\n"
               "def load(name, *more, **other):\n"
               "    if name == 'mbros.view.page':\n"
               "        try:\n            signal.raise_signal(signal.SIGINT)\n        except BaseException: pass\n"
               "    return real(name, *more, **other)\n"
               "builtins.__import__ = load\nsys.exit(main(['view', 'pendulum', '--port', '0']))\n")
    running = subprocess.Popen([sys.executable, "-c", swallow], cwd=command.folder, env=environment(), stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        out, err = running.communicate(timeout=120)
    except subprocess.TimeoutExpired:
        running.kill()
        pytest.fail("Ctrl-C was swallowed")
    assert running.returncode == 130 and "Traceback" not in err and "Ctrl-C ends" not in out


@pytest.mark.parametrize("words, who", [(["run", "arm7", "arm6"], "mbros run"), (["list", "--foo"], "mbros list"), (["--foo"], "mbros")])
def test_the_help_that_is_named_is_that_of_the_command(words, who, capsys):
    with pytest.raises(SystemExit):
        cli.main(words)
    said = capsys.readouterr().err
    assert said.startswith(f"{who}: unrecognized arguments") and said.endswith(f"See: {who} --help\n")


def test_view_takes_limits_and_inertia_as_given(tmp_path):
    """They were read, and left out."""
    (tmp_path / "robot.urdf").write_text(
        "<robot name='r'><link name='a'/><link name='b'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='2.5' ixy='0' "
        "ixz='0' iyz='0'/></inertial></link><joint name='j' type='revolute'><parent link='a'/><child link='b'/></joint></robot>")
    from mbros.cli import view

    path = str(tmp_path / "robot.urdf")
    arguments = cli.make_parser("view").parse_args(["view", path, "--limits", "as_given", "--inertia", "as_given"])
    assert view._load(path, arguments).nv == 1
