"""The node's command line: what it refuses, in one sentence, before anything is started."""
import subprocess
import sys

import pytest

from mbros.ros.process.arguments import check_given_once, own_arguments, parser
from mbros.ros.errors import ParameterError

TWICE = [
    ("arm7 --rate 500 --ros-args -p rate:=250", "rate is given twice, by --rate (500.0) and by -p rate:=250; leave one of them out"),
    ("arm7 --ros-args -p robot:=nope", "robot is given twice, by its argument (arm7) and by -p robot:=nope; leave one of them out"),
    ("--ros-args --param mbros:base:=fixed -- --base floating", "base is given twice, by --base (floating) and by -p mbros:base:=fixed;"),
    ("--ground 0.1 --ros-args -p ground_height:=0", "ground_height is given twice, by --ground (0.1) and by -p ground_height:=0;"),
    ("--paused --ros-args -p start_paused:=false", "start_paused is given twice, by --paused (True) and by -p start_paused:=false;"),
    ("--no-tf --ros-args -p publish_tf:=true", "publish_tf is given twice, by --no-tf (False) and by -p publish_tf:=true;"),
]
ONCE = ["", "arm7 --rate 500 --ros-args -p tf_rate:=25 -p /**:cpu:=1 -r rate:=250 --params-file rate.yaml",
        "--end-with 1 --ros-args -p end_with:=2",
        "arm7 --ros-args -p rate:=250", "--ros-args -- arm7 -p"]


@pytest.mark.parametrize("line, said", TWICE)
def test_a_parameter_that_is_given_twice_is_refused(line, said):
    with pytest.raises(ParameterError) as refused:
        check_given_once(line.split(), parser().parse_args(own_arguments(line.split())))
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize("line", ONCE)
def test_one_that_is_given_once_is_not(line):
    own = [word for word in own_arguments(line.split()) if word != "-p"]
    check_given_once(line.split(), parser().parse_args(own))


@pytest.mark.parametrize("words, said", [
    (["arm7", "bogus"], "mbros node: unrecognized arguments: bogus. See: mbros node --help\n"),
    (["arm7", "--frame-prefix", "\udcff"], "mbros node: argument --frame-prefix: expected UTF-8, got '\\udcff'. See: mbros node --help\n")])
def test_what_is_wrong_is_one_sentence(words, said, capsys):
    with pytest.raises(SystemExit) as ended:
        parser().parse_args(words)
    assert (ended.value.code, capsys.readouterr().err) == (2, said)


@pytest.mark.ros
@pytest.mark.parametrize("words, said", [
    (["pendulum", "--rate", "500", "--ros-args", "-p", "rate:=250"], "mbros: rate is given twice, "),
    (["pendulum", "--ros-args", "-p", "rate:=250.0", "extra"], "mbros: ROS does not know ['extra'], after --ros-args\n"),
    (["pendulum", "--frame-prefix", "a\nb"], "mbros: parameter frame_prefix must be one line of printable text, got 'a\\nb'\n")])
def test_the_node_does_not_start_with_it(words, said):
    pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")
    done = subprocess.run([sys.executable, "-m", "mbros.ros", *words], capture_output=True, text=True, timeout=240)
    assert done.returncode == 1 and done.stderr.startswith(said) and done.stderr.count("\n") == 1
