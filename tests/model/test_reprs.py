"""How models, states, joints, logs and simulators read: in a terminal and in a notebook."""
import re
from html.parser import HTMLParser

import pytest

import mbros
import mbros_core
from mbros.simulate.simulator import make_plant


class Table(HTMLParser):
    """The cells of the only table of a text, row by row; every tag that was opened is closed in order."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.open, self.caption = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data
        elif self.open[-1] == "caption":
            self.caption += data


def follower():
    b = mbros.ModelBuilder("a<b")
    one, two = (b.add_body(name, 1.0, (0, 0, 0.1), (0.1, 0.1, 0.1)) for name in ("one", "<two>"))
    lead = b.add_joint(mbros.RevoluteJoint("lead", b.world, one, lower=-1.5, upper=2.0))
    b.add_joint(mbros.RevoluteJoint("<j&k>", one, two, mimic=(lead, -2.0, 0.5)))
    return b.build()


def test_a_state_prints_its_joints_with_positions_and_velocities():
    model = follower()
    state = model.default_state()
    state.time, state.q[:], state.v[:] = 1.5, 0.25, -3.0
    assert str(state).splitlines() == ["state of 'a<b' at 1.5 s", "joint  position  velocity", "lead   0.25 rad  -3 rad/s",
                                       "<j&k>  0 rad     6 rad/s"]
    assert repr(state) == "<State of 'a<b': nq 1, nv 1>"
    table = Table(state._repr_html_())
    assert table.caption == "state of 'a<b' at 1.5 s"
    assert table.rows == [["joint", "position", "velocity"], ["lead", "0.25 rad", "-3 rad/s"], ["<j&k>", "0 rad", "6 rad/s"]]


def test_a_follower_may_come_before_its_leader():
    link = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    joint = ('<joint name="{}" type="prismatic"><parent link="{}"/><child link="{}"/><limit lower="-5" upper="5" effort="9" velocity="9"/>'
             '<axis xyz="0 0 1"/>{}</joint>')
    model = mbros.load('<robot name="r">' + "".join(map(link.format, "abc")) + joint.format(
        "first", "a", "b", '<mimic joint="last" multiplier="3" offset="0.5"/>')
        + joint.format("last", "b", "c", "") + "</robot>", base="fixed")
    state = model.default_state()
    state.q[:], state.v[:] = 0.25, -1.0
    assert [line.split() for line in str(state).splitlines()[2:]] == [["first", "1.25", "m", "-3", "m/s"],
                                                                      ["last", "0.25", "m", "-1", "m/s"]]
    for plant in (mbros_core.Plant(model, state), make_plant(model, state)):        # the rows of the engine, and those of the model
        x, at = plant.observe(), plant.layout["joint_position"][0]
        assert x[at:at + 4].tolist() == [1.25, 0.25, -3.0, -1.0]


def test_coordinates_have_names_and_units():
    text = str(mbros.load("quadruped").default_state())
    line = next(line for line in text.splitlines() if line.startswith("base"))
    assert re.search(r"x 0 m, y 0 m, z [\d.]+ m, qw 1, qx 0, qy 0, qz 0  +wx 0 rad/s, .*, vz 0 m/s$", line)


def test_a_long_chain_is_told_in_its_first_links():
    state = mbros.chain(500).default_state()
    assert len(str(state).splitlines()) == 63 and str(state).endswith("... and 440 more")
    assert len(Table(state._repr_html_()).rows) == 62


def test_a_state_of_several_lanes_has_no_table():
    state = mbros_core.lanes().Model(follower().spec).default_state()
    assert str(state) == repr(state) and state._repr_html_() is None


def test_models_and_joints_are_tables():
    model = follower()
    table = Table(model._repr_html_())
    assert table.caption.startswith("model 'a<b': 3 bodies, 2 kg, nq 1, nv 1")
    assert table.rows[1] == ["lead", "revolute", "world", "one", "q", "-1.5 ... 2 rad", ""]
    assert table.rows[2][:4] == ["<j&k>", "revolute", "one", "<two>"] and table.rows[2][-1] == "-2 lead + 0.5"
    assert Table(model.joint("lead")._repr_html_()).rows == table.rows[:2]


@pytest.mark.parametrize("name", ["arm7", "quadruped", "mobile_arm", "scara"])
def test_logs_are_tables_and_simulators_say_what_they_are(name):
    sim = mbros.Simulator(mbros.load(name), dt=2e-3)
    log = sim.run(0.1)
    table = Table(log._repr_html_())
    assert [row[0] for row in table.rows[1:]] == [joint.name for joint in sim.model.joints if joint.nv]
    joint = next(joint for joint in sim.model.joints if joint.nv == 1 == joint.nq)
    values = log[joint.name].position
    assert f"{values.min():.4g} ... {values.max():.4g}" in table.rows[1 + [row[0] for row in table.rows[1:]].index(joint.name)][1]
    assert repr(sim) == f"<Simulator of {name!r}: midpoint, dt 0.002 s, at 0.1 s>"
    assert Table(mbros.Log(sim.model, 3)._repr_html_()).rows[1][1] == ""

