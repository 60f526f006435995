"""What a node is asked and refuses: nothing that comes in ends it, and the answer says why."""
import math

import pytest
from ros_requests import lock

from mbros.ros.live import RATES, Live
from mbros.ros.parameters import TABLE
from mbros.ros.wire.topics import share

pytest.importorskip("rclpy", reason="needs ROS 2: source it, or pip install 'mbros[ros]'")

ROWS = {row.name: row for row in TABLE}


@pytest.fixture(scope="module")
def sim(simulate):
    return simulate("arm7", "/refusals", gravity="[0.0, 0.0, 0.0]", joint_states_rate=200.0, tf_rate=50.0, diagnostics_rate=10.0)


# --- rates


@pytest.mark.ros
@pytest.mark.parametrize("name, value", [("joint_states_rate", 1e-7), ("tf_rate", 1e-320), ("clock_rate", 1e-7), ("odom_rate", 1e-9)])
def test_trial_A1_a_rate_that_cannot_be_counted_is_refused(sim, name, value):
    before = sim.get(name)
    assert sim.set(**{name: value}).startswith(f"{name} must be 0 or 0.001 ... 20000 Hz, got ")
    assert sim.get(name) == before
    sim.fresh()


def test_trial_A1_every_rate_that_the_table_allows_can_be_had():
    for name in RATES:
        assert 0.0 < share(ROWS["rate"].limits[1], ROWS[name].limits[0]) < 1.0
        assert share(ROWS[name].limits[1], ROWS[name].limits[1]) == 1.0


# --- whatever fails


class NoContacts:
    """Topics of contacts, of a model that has none."""

    def set_rate(self, rate):
        assert rate >= 0.0


class Failing:
    """A data plane whose clock rate cannot be set, for a reason that nobody thought of."""

    gate = None

    class stamps:
        @staticmethod
        def set_scaled(scaled):
            pass

    def __init__(self):
        self.rates = {}

    def set_share(self, rate, share):
        if rate == "clock" and share == 0.002:
            raise OverflowError("cannot fit into an index")
        self.rates[rate] = share


def test_trial_A1_what_fails_half_way_is_refused_and_put_back():
    from mbros.ros.robot import load_robot
    from mbros_core.realtime import Loop
    values = {row.name: row.default for row in TABLE if row.default is not None}
    robot = load_robot(values)
    own = robot.rows()
    values.update({row.name: row.default for row in own})
    live, plane, loop = Live([*TABLE, *own], values, robot), Failing(), Loop(robot.plant, rt="off")
    live.start(loop, plane, NoContacts())
    before, rates = robot.plant.parameter_block().tolist(), dict(plane.rates)
    reason = live.change({"damping.joint1": 9.0, "tf_rate": 250.0, "clock_rate": 2.0})
    assert "an error that should not be, OverflowError: cannot fit into an index" in reason and "nothing was changed" in reason
    assert live.values == values and plane.rates == rates
    assert robot.plant.parameter_block().tolist() == before
    assert live.change({"damping.joint1": 9.0}) == "" and live.values["damping.joint1"] == 9.0


@pytest.mark.ros
def test_trial_A1_a_request_that_is_no_parameter_at_all_is_refused(sim):
    """rclpy's own services raise on it."""
    from rcl_interfaces.msg import Parameter, ParameterValue
    from rcl_interfaces.srv import SetParameters, SetParametersAtomically
    good = Parameter(name="tf_rate", value=ParameterValue(type=3, double_value=40.0))
    bad = Parameter(name="tf_rate", value=ParameterValue(type=200))
    results = sim.call(SetParameters, "set_parameters", SetParameters.Request(parameters=[good, bad, good])).results
    assert [result.successful for result in results] == [True, False, True] and "200" in results[1].reason       # each by itself
    assert sim.get("tf_rate") == 40.0
    result = sim.call(SetParametersAtomically, "set_parameters_atomically", SetParametersAtomically.Request(parameters=[good, bad])).result
    assert not result.successful and "200" in result.reason
    assert sim.set(tf_rate=50.0) == "" and "[ERROR]" not in sim.process.text


# --- types and names


@pytest.mark.ros
@pytest.mark.parametrize("name, given, kept",
                         [("damping__joint1", 1, 1.0), ("gravity", [0, 0, -2], [0.0, 0.0, -2.0]), ("watchdog_timeout", 1, 1.0)])
def test_trial_C6_a_whole_number_for_a_double_stays_a_double(sim, name, given, kept):
    assert sim.set(**{name: given}) == ""
    value = sim.get(name.replace("__", "."))
    assert list(value) == kept if isinstance(kept, list) else value == kept
    assert all(type(x) is float for x in (value if isinstance(kept, list) else [value]))
    assert sim.set(**{name: [0.0] * 3 if isinstance(kept, list) else 0.1}) == ""


@pytest.mark.ros
def test_trial_C6_a_whole_number_at_the_start_is_a_double_too(simulate):
    sim = simulate("pendulum", "/whole", rate=500, tf_rate=20)
    assert [type(sim.get(name)) for name in ("rate", "tf_rate")] == [float, float]
    assert sim.set(tf_rate=math.pi) == ""


@pytest.mark.ros
def test_trial_C6_the_refusal_of_a_name_that_is_not_there_says_the_name(sim):
    assert sim.set(dampin__joint1=1.0) == "there is no parameter 'dampin.joint1'; did you mean 'damping.joint1'?"
    forged = sim.set(**{"x\n[ERROR] forged": 1.0})
    assert forged.startswith("there is no parameter 'x\\n[ERROR] forged'")


@pytest.mark.ros
def test_a_joint_is_locked_once_in_a_request(sim):
    answer = lock(sim, ["joint1", "joint2", "joint1"], True)
    assert (answer.success, answer.message) == (False, "joint 'joint1' is named twice")
    assert not sim.get("locked.joint1") and not sim.get("locked.joint2")


# --- rates that follow


@pytest.mark.ros
def test_trial_C9_topics_follow_the_rate_unless_they_are_given_their_own(simulate):
    sim = simulate("pendulum", "/follow", rate=250.0, tf_rate=25.0)
    assert {name: sim.get(name) for name in ("joint_states_rate", "odom_rate", "tf_rate")} == {
        "joint_states_rate": 250.0, "odom_rate": 250.0, "tf_rate": 25.0}
    fast = simulate("pendulum", "/faster", rate=2000.0)
    assert fast.get("joint_states_rate") == fast.get("tf_rate") == 2000.0
    steps, states = int(fast.fresh_status("real time")["steps"]), fast.states
    fast.until(lambda: fast.states > states + 500)
    assert int(fast.fresh_status("real time")["steps"]) >= steps + 400       # one state a step, not one in two
