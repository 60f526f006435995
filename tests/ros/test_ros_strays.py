"""Parameters that were given and that the node does not have: refused where they were meant for it, said where they may be another's."""
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")

from mbros.ros.serve.strays import meant_for, strays  # noqa: E402

FILE = """
/**:
  ros__parameters: {quux: 1, damping: {jiont1: 0.5}, use_sim_time: false, qos_overrides: {/there: {publisher: {depth: 3}}}}
/strays/mbros:
  ros__parameters: {rate: 500.0, mass: {lnik7: 2.0}}
/strays:
  mbros:
    ros__parameters: {friction.joint9: 1.0}
  other:
    ros__parameters: {gain: 3.0}
mbros:
  ros__parameters: {of_the_root: 1}
/*/mbros:
  ros__parameters: {of_any: 1}
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "given.yaml"
    path.write_text(FILE, encoding="utf-8")
    return str(path)


def test_what_is_meant_for_a_node_and_no_other(file):
    argv = ["arm7", "-p", "no", "--ros-args", "-p", "a.b:=[1, 2]", "--param", "strays/mbros:c:=d:=e", "-p", "mbros:e:=1", "-p",
            "other:d:=1", "-r", "x:=y", "--params-file", file, "--", "-p", "f:=1", "--ros-args", "-p", "/strays/mbros:g:=1", "-p"]
    assert list(meant_for("/strays/mbros", argv)) == [("a.b", False), ("c", True), ("rate", True), ("mass.lnik7", True),
                                                      ("friction.joint9", True), ("g", True), ("", False)]
    assert list(meant_for("/mbros", ["--ros-args", "--params-file", file])) == [("of_the_root", True)]
    assert list(meant_for("/mbros", ["--ros-args", "--params-file", "/no/such/file", "--params-file"])) == []


@pytest.mark.ros
@pytest.mark.parametrize("words, said", [
    (["-p", "mass.lnik7:=2.0"], "there is no parameter 'mass.lnik7'; did you mean 'mass.link7'?"),
    (["-p", "watchdog_timout:=0.05", "-p", "mass.link7:=2.0"], "there is no parameter 'watchdog_timout'; did you mean 'watchdog_timeout'?"),
    (["-p", "mbros:rte:=10.0", "-r", "__ns:=/"], "there is no parameter 'rte'; did you mean 'rate'?"),
    (["--params-file", "FILE"], "there is no parameter 'friction.joint9'; did you mean 'friction.joint7'?; there is no parameter "
                                "'mass.lnik7'; did you mean 'mass.link7'?")])
def test_a_name_that_was_mistyped_is_refused_at_the_start(file, nursery, tmp_path, words, said):
    from ros_client import Process

    words = [file if word == "FILE" else word for word in words]
    process = Process(tmp_path, "arm7", "--ros-args", *([] if "__ns:=/" in words else ["-r", "__ns:=/strays"]), *words, nursery=nursery)
    assert process.wait() == 1
    assert f"mbros: {said}" in process.text, process.text


@pytest.mark.ros
def test_what_may_be_another_node_s_is_said_and_the_node_runs(simulate, tmp_path):
    path = tmp_path / "shared.yaml"
    path.write_text("/**:\n  ros__parameters: {use_sim_time: false, quux: 1, damping: {jiont1: 0.5}, mass: {link7: 2.0},\n"
                    "    qos_overrides: {/there: {publisher: {depth: 3}}}}\nother:\n  ros__parameters: {gain: 3.0}\n", encoding="utf-8")
    sim = simulate("arm7", "/strays_shared", "--params-file", str(path), "-p", "other:gain:=4.0")
    assert sim.get("mass.link7") == 2.0
    status = sim.fresh_status("parameters")
    assert sim.levels["parameters"] == 1 and status["given and not used"] == "damping.jiont1, quux"
    assert "parameter 'damping.jiont1' is given and not used; did you mean 'damping.joint1'?" in status["message"]
    assert sim.process.text.count("given and not used") == 2


@pytest.mark.ros
def test_what_is_far_from_every_name_warns_of_nothing(simulate, tmp_path):
    path = tmp_path / "shared.yaml"
    path.write_text("/**:\n  ros__parameters: {quux: 1}\n", encoding="utf-8")
    sim = simulate("pendulum", "/strays_far", "--params-file", str(path), "-p", "of_all_nodes:=2")
    assert sim.fresh_status("parameters")["given and not used"] == "of_all_nodes, quux" and sim.levels["parameters"] == 0


def test_parameters_of_robots_that_are_still_to_come_wait_for_them(executor):
    import rclpy
    from rclpy.parameter import Parameter

    node = rclpy.create_node("waiting", parameter_overrides=[Parameter(name, value=1.0) for name in ("mass.arm3/link7", "mass.left/lnik7")])
    try:
        argv = ["--ros-args", "-p", "waiting:mass.arm3/link7:=1.0"]
        assert strays(node, argv, ["left"]).names == ("mass.left/lnik7",)
        with pytest.raises(ValueError, match="there is no parameter 'mass.arm3/link7'"):
            strays(node, argv)
    finally:
        node.destroy_node()


MEANT = "mbros:\n  ros__parameters: {watchdog_timeout: 0.05}\n"
NODES = "other:\n  ros__parameters: {gain: 3.0}\n"


@pytest.mark.parametrize("node, text, said", [
    ("/mbros", MEANT, None),
    ("/left/mbros", MEANT, "has parameters for '/mbros', and this node is '/left/mbros'"),
    ("/sim", MEANT, "has parameters for '/mbros', and this node is '/sim'"),
    ("/left/mbros", "/**/mbros:\n  ros__parameters: {rate: 500.0}\n", None),
    ("/left/mbros", "/*/mbros:\n  ros__parameters: {rate: 500.0}\n", None),
    ("/a/b/mbros", "/*/mbros:\n  ros__parameters: {rate: 500.0}\n", "has parameters for '/*/mbros'"),
    ("/left/mbros", "left:\n  mbros:\n    ros__parameters: {rate: 500.0}\n", None),
    ("/left/mbros", "/right/mbros:\n  ros__parameters: {rate: 500.0}\n", "has parameters for '/right/mbros'"),
    ("/left/mbros", "/**:\n  ros__parameters: {rate: 500.0}\n/right/mbros:\n  ros__parameters: {rate: 250.0}\n", None),
    ("/left/mbros", "/**:\n  ros__parameters: {rate: 500.0}\n" + MEANT, "has parameters for '/mbros'"),
    ("/mbros", "mbrso:\n  ros__parameters: {rate: 500.0}\n", "has parameters for '/mbrso'"),
    ("/mbros", "sim_node:\n  ros__parameters: {rate: 500.0}\n", "has parameters for '/sim_node'"),
    ("/mbros", MEANT + NODES, None)])
def test_trial_R15_a_file_whose_parameters_do_not_reach_the_node_is_refused(tmp_path, node, text, said):
    from mbros.ros.errors import ParameterError
    from mbros.ros.serve.strays import unreached
    path = tmp_path / "given.yaml"
    path.write_text(text, encoding="utf-8")
    argv = ["arm7", "--ros-args", "--params-file", str(path)]
    if said is None:
        assert unreached(node, argv) == []
    else:
        with pytest.raises(ParameterError, match=said.replace("*", "[*]")):
            unreached(node, argv)


def test_trial_R15_a_file_that_may_be_for_others_is_said(tmp_path):
    from mbros.ros.serve.strays import unreached
    path = tmp_path / "given.yaml"
    path.write_text(NODES, encoding="utf-8")
    [said] = unreached("/mbros", ["--ros-args", "--params-file", str(path)])
    assert said == f"'{path}' has no parameters for this node, '/mbros': they are for /other"


@pytest.mark.ros
@pytest.mark.parametrize("words, said", [
    (["-r", "__ns:=/left", "--params-file", "FILE"], "would be in force. Write them under '/left/mbros'"),
    (["-r", "__node:=sim", "--params-file", "FILE"], "would be in force. Write them under '/sim'"),
    (["-r", "__node:=sim", "-p", "mbros:rate:=500.0"], "would not be in force: this one is '/sim'")])
def test_trial_R15_the_node_does_not_start_with_limits_that_are_not_in_force(nursery, tmp_path, words, said):
    from ros_client import Process
    (tmp_path / "given.yaml").write_text(MEANT, encoding="utf-8")
    process = Process(tmp_path, "arm7", "--ros-args", *(str(tmp_path / "given.yaml") if word == "FILE" else word for word in words),
                      nursery=nursery)
    assert process.wait() == 1 and said in process.text, process.text
