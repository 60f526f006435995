"""The bench on a page: commands, readings, faults and numbers, of a simulation that plays and of a recording; and how a page looks."""
import urllib.request

import numpy as np
import pytest
from tabs import new_tab

import mbros
from mbros.view.bench import hold_here
from mbros.view.bench_panel import INJECT
from mbros.view.controls import by_robot
from mbros.view.drive import Drive
from mbros.view.motion import Connection
from mbros.view.page import Page
from mbros.view.player import Player
from mbros.view.show import motion_of

PHONE = {"width": 390, "height": 844}


def bench():
    from mbros.build.benches import find
    made = mbros.Bench.load(find("", "arm7_servo"))
    made.add(mbros.Fault("hangs", "frozen", signal="joint2.encoder.position"))
    return made


@pytest.fixture(scope="module")
def shown(chromium, pictures):
    """(page, tab) of arm7 with a bench, its tab open."""
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench())
    with Page(motion_of(sim), port=0) as page, new_tab(chromium, pictures, "bench") as tab:
        tab.open(page.url)
        tab.tab("Bench")
        yield page, tab


def test_trial_H13_a_typed_position_is_commanded_and_reached(shown):
    page, tab = shown
    tab.button("Hold here")
    tab.until(lambda: page.motion.bench.commanded()[0] == 0.0, "a command")
    box = tab.page.locator(f'[id="{page.bench._sliders[0][1].slider._impl.uuid}"] + * input')       # readings say "joint1", too
    box.fill("0.4")
    tab.until(lambda: page.motion.bench.commanded()[0] == pytest.approx(0.4), "the command")
    page.motion.play()
    tab.until(lambda: abs(page.motion.sample().q[0] - 0.4) < 0.02, "the position")
    tab.until(lambda: "encoder" in page.bench._tables[0][0].content, "readings")
    tab.image(keep="commanded")
    page.motion.pause()
    page.tell()
    reading = next(r for r in page.motion.bench.readings if r.name == "joint1.encoder.position")
    assert page.motion.sample().bench[reading.at] == pytest.approx(page.motion.sample().q[0], abs=1e-3)


def test_trial_H13_a_fault_has_a_button_and_a_lamp(shown):
    page, tab = shown
    group, note = page.bench._lamps["hangs"]
    lamp = f'label[for="{group._impl.uuid}"]'

    def colour():
        return tab.page.locator(lamp).evaluate("e => getComputedStyle(e, '::before').backgroundColor")

    assert "does not act" in note.content and colour() == "rgb(195, 200, 206)"
    page.motion.play()
    tab.button(INJECT)
    tab.until(lambda: page.motion.bench.faults()[0].active, "the fault")
    tab.until(lambda: colour() == "rgb(214, 32, 42)" and "acts since" in note.content, "the lamp")
    tab.button("Clear")
    tab.until(lambda: not page.motion.bench.faults()[0].active and colour() == "rgb(195, 200, 206)", "the end of it")
    page.motion.pause()


def test_trial_H14_sliders_fill_from_nothing_with_their_unit_and_titles_are_the_robots(shown):
    page, tab = shown
    assert tab.page.title() == "arm7"
    tab.tab("Inspect")
    slider = page.inspect._sliders[1][1].slider
    page.motion.pause()
    tab.type_into("joint2", -1)
    bar = tab.page.locator(f'[id="{slider._impl.uuid}"] .mantine-Slider-bar')
    track = tab.page.locator(f'[id="{slider._impl.uuid}"] .mantine-Slider-track')

    def ends():
        (a, b) = (each.bounding_box() for each in (bar, track))
        return (a["x"] - b["x"]) / b["width"], (a["x"] + a["width"] - b["x"]) / b["width"]

    tab.until(lambda: abs(ends()[0] - 0.25) < 0.04 and abs(ends()[1] - 0.5) < 0.04, "a bar from the middle to the left")
    unit = tab.page.locator(f'[id="{slider._impl.uuid}"] + *').evaluate("e => getComputedStyle(e, '::after').content")
    assert unit == '"rad"'
    box = tab.field("joint2")
    assert box.evaluate("e => e.scrollWidth <= e.clientWidth")             # no digit is cut
    tab.image(keep="sliders")


def test_trial_H14_a_phone_has_more_picture_than_panel(chromium, pictures):
    with Page(motion_of(mbros.load("arm7")), port=0) as page, new_tab(chromium, pictures, "phone", PHONE) as tab:
        tab.open(page.url)
        canvas = tab.page.locator("canvas").first.bounding_box()
        assert canvas["width"] == PHONE["width"] and canvas["height"] > 0.5 * PHONE["height"]
        tab.image(keep="phone")


def test_trial_H14_a_page_says_what_it_is_connected_to():
    class Lost(Drive):
        def connection(self):
            return Connection("ROS 2: /mbros: nothing for 4 s", False)

    sim = mbros.Simulator(mbros.load("arm7"), bench=bench())
    with Page(Drive(sim.plant), port=0, title="<b>") as page:
        page.tell()
        assert "simulated here" in page.simulate._connection.content and "tabler-icon-cloud-check" not in page.controls._sheet.content
        assert b"<title>&lt;b&gt;</title>" in urllib.request.urlopen(page.url).read(5000)
    with Page(Lost(sim.plant), port=0) as page:
        page.tell()
        assert "nothing for 4 s" in page.simulate._connection.content and "tabler-icon-cloud-check" in page.controls._sheet.content


def test_trial_H13_a_bench_of_a_model_holds_the_robot_and_that_of_a_simulator_is_left_alone():
    for shown, commanded in ((mbros.load("arm7", bench="arm7_servo"), True),
                             (mbros.Simulator(mbros.load("arm7"), bench="arm7_servo"), False)):
        motion = motion_of(shown)
        motion.step(3)
        assert np.isfinite(motion.bench.commanded()).any() == commanded and not motion.hands.hold
        motion.close()


@pytest.mark.parametrize("robot, bench, word, takes", [
    ("diff_drive", "diff_drive_motors", "velocity", {"velocity", "effort"}),
    ("panda", "panda_impedance", "position", {"position", "velocity", "effort"}),
    ("arm7", None, "position", {"position", "velocity", "effort", "stiffness", "damping", "brake"})])
def test_trial_H13_what_an_actuator_takes_is_what_there_is(robot, bench, word, takes):
    if bench is None:
        bench = mbros.Bench()
        bench.add(mbros.ImpedanceServo("servo", joint="joint2"))
        bench.add(mbros.Brake("brake", joint="joint2", holding_effort=50.0))
    sim = mbros.Simulator(mbros.load(robot), bench=bench)
    with Page(motion_of(sim), port=0) as page:
        live = page.motion.bench
        live.command(hold_here(page.model, live.commands, page.motion.sample()))
        page.tell()
        assert {command.word for command in live.commands} == takes
        said = {live.commands[k].word for k in np.flatnonzero(np.isfinite(live.commanded()))}
        assert word in said and all(command.low < command.high and command.unit for command in live.commands if command.word != "brake")
        name = live.number_names()[0]
        assert live.about(name) and live.number(name) is not None


def test_trial_H14_scenes_are_grouped_by_robot():
    model = mbros.load("examples/scenes/cell.yaml")
    groups = by_robot(model, {joint.name: joint for joint in model.joints})
    assert [robot for robot, _ in groups][:3] == ["left", "right", "dog"] and "joint1" in groups[0][1]
    assert by_robot(mbros.load("arm7"), {"joint1": 1}) == [("", {"joint1": 1})]


def test_trial_H14_charts_are_hidden_while_empty_and_digits_have_room():
    with Page(motion_of(mbros.load("arm7")), port=0) as page:
        page.tell()
        charts = [*page.plots.charts, *page.plots._others]
        assert page.plots._empty.visible and not any(chart.handle.visible for chart in charts)
        assert charts[0].handle.axes[1]["label"] == "rad" and charts[0].handle.axes[0]["label"] == "time, s"
        width = 1 + len(page.plots.signals.units)
        charts[0].draw(np.outer([0.0, 1.0], np.full(width, 123456.0)), 1.0)
        assert charts[0].handle.axes[1]["label"] == "10³ rad" and np.max(charts[0].handle.data[1]) == pytest.approx(123.456)


def test_trial_H13_a_recording_is_played_with_what_its_bench_said(tmp_path):
    pytest.importorskip("mcap", reason="needs mbros[record]")
    from mbros.study.replay.recorded_log import read_mcap
    sim = mbros.Simulator(mbros.load("arm7"), bench=bench())
    with sim.record(tmp_path / "run.mcap"):
        sim.command(position={"joint1": 0.3})
        sim.advance_to(0.2)
    log = read_mcap(tmp_path / "run.mcap")
    np.testing.assert_array_equal(log.signals["wrist.imu.linear_acceleration"][-1], sim.signals["wrist.imu.linear_acceleration"].value)
    assert log.signals.units["joint1.encoder.position"] == "rad"
    with Page(Player(log, "run.mcap"), port=0) as page:
        page.motion.seek(0.2)
        page.look()
        page.tell()
        assert "encoder" in page.bench._tables[0][0].content and "run.mcap" in page.simulate._connection.content
        page.plots.add("joint1.encoder.position")
        x = page.plots.charts[0].handle.data
        assert len(x[0]) == 203 and x[4][-1] == pytest.approx(log.signals["joint1.encoder.position"][-1])
        assert np.isfinite(x[-1]).sum() == 2                    # the line that says where the picture is
