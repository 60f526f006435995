"""show() of models, simulations and logs, and logs as files: without a browser."""
import re
import signal
import subprocess
import sys
import types
import urllib.request

import numpy as np
import pytest

import mbros
from mbros.errors import MbrosError, MissingPackageError
from mbros.view.drive import Drive
from mbros.view.export import as_html
from mbros.view.inspect_panel import tree
from mbros.view.page import Page
from mbros.view.player import Player


@pytest.fixture(scope="module")
def log():
    sim = mbros.Simulator(mbros.load("double_pendulum"))
    sim.state.q[:] = 1.0, 0.5
    return sim.run(1.0, every=10)


def test_show_serves_a_page_and_prints_where(capsys):
    model = mbros.load("pendulum")
    for shown in (model, mbros.Simulator(model)):
        with shown.show(port=0) as page:
            assert page.url.startswith("http://127.0.0.1:") and page.url in capsys.readouterr().out
            assert b"<html" in urllib.request.urlopen(page.url).read(2000)
            assert isinstance(page.motion, Drive)
        page.close()                        # twice does no harm


def test_a_shown_simulator_is_the_one_that_was_given():
    sim = mbros.Simulator(mbros.load("pendulum"))
    with mbros.show(sim, port=0) as page:
        sim.state.q[0] = 0.7
        sim.advance_to(0.1)
        page.look()
        assert page.shown == pytest.approx(0.1) and np.array_equal(page.kinematics.state.q, sim.state.q)


@pytest.mark.parametrize("end, code", [("", 0), ("page.motion.play()", 0), ("page.motion.play(); raise SystemExit(3)", 3)])
def test_a_script_that_ends_says_no_more_than_where_the_page_was(end, code):
    script = f"import mbros\nmodel = mbros.load('pendulum')\nother, page = model.show(port=0), model.show(port=0)\n{end}"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240)
    assert done.returncode == code and done.stderr == ""
    assert [line.partition(": http://127.0.0.1:")[0] for line in done.stdout.splitlines()] == ["pendulum", "pendulum"]


def test_ctrl_c_while_it_plays_ends_it_with_0():
    words = [sys.executable, "-m", "mbros.cli", "view", "pendulum", "--play", "--port", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        said = process.stdout.readline()
        assert "http://127.0.0.1:" in said
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=600)
    assert process.returncode == 0 and rest == ""


def test_two_pages_of_one_simulator_do_not_fight():
    sim = mbros.Simulator(mbros.load("pendulum"))
    with sim.show(port=0) as first, sim.show(port=0) as second:
        first.motion.play()
        with pytest.raises(MbrosError, match="another loop"):
            second.motion.play()
        first.motion.pause()
        second.motion.play()
        second.motion.pause()


def test_show_refuses_what_it_does_not_know():
    with pytest.raises(MbrosError, match="expected a model, a Simulator or a Log"):
        mbros.show(3)
    with pytest.raises(MbrosError, match="port is 70000"):
        mbros.load("pendulum").show(port=70000)


def test_a_port_that_is_taken_is_said():
    model = mbros.load("pendulum")
    with model.show(port=0) as page:
        with pytest.raises(MbrosError, match="already in use"):
            model.show(port=page.server.get_port())


def test_in_a_notebook_the_page_stands_below_the_cell(monkeypatch, log):
    """With the two functions of IPython that show() calls in a notebook, as a kernel answers them."""
    shown = []

    class ZMQInteractiveShell:
        pass

    ipython, display = types.ModuleType("IPython"), types.ModuleType("IPython.display")
    ipython.get_ipython, ipython.display = ZMQInteractiveShell, display
    display.HTML, display.display = str, shown.append
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with log.show(port=0) as page:
        assert len(shown) == 1 and "<iframe" in shown[0] and page.url in shown[0]


def test_the_player_is_where_the_log_was(log):
    player = Player(log)
    for k in (0, 17, len(log) - 1):
        player.seek(float(log.time[k]))
        sample = player.sample()
        assert np.allclose(sample.q, log.q[k]) and np.allclose(sample.v, log.v[k]) and not sample.playing
    player.seek(0.5 * (log.time[3] + log.time[4]))
    assert np.allclose(player.sample().q, log.model.interpolate(log.q[3], log.q[4], 0.5))
    player.seek(99.0)
    assert player.sample().time == log.time[-1]
    player.play()                           # from the start, where it has ended
    assert player.sample().playing and player.sample().time < 0.5
    player.pause()
    assert not player.sample().playing


def test_an_empty_log_and_one_that_goes_back_are_refused(log):
    empty = mbros.Log(log.model, 4)
    with pytest.raises(MbrosError, match="nothing to show"):
        empty.save_html("x.html")
    back = mbros.Log(log.model, 4)
    for t in (0.0, 1.0, 0.5):
        back.add(t, log.q[0], log.v[0], log.effort[0], 0.0, 0.0)
    with pytest.raises(MbrosError, match="goes back at row 2"):
        Player(back)


def test_save_html_writes_whole_files_or_none(log, tmp_path):
    path = log.save_html(tmp_path / "run.html", rate=20.0)
    text = path.read_text()
    assert "Content-Security-Policy" in text and "<title>double_pendulum</title>" in text and len(text) < 3_000_000
    for target, rate, why in ((tmp_path / "none" / "x.html", 20.0, "cannot be written"), (tmp_path, 20.0, "cannot be written"),
                              (tmp_path / "y.html", 0.0, "rate"), (tmp_path / "y.html", float("nan"), "rate")):
        with pytest.raises(MbrosError, match=why):
            log.save_html(target, rate=rate)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.html"] and path.read_text() == text


def test_without_viser_the_remedy_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "viser", None)
    with pytest.raises(MissingPackageError, match=r"pip install .mbros\[viewer\]"):
        mbros.load("pendulum").show()


def test_the_page_keeps_up_with_numbers_and_curves():
    with Page(Drive(mbros.Simulator(mbros.load("arm7")).plant), port=0) as page:
        page.motion.play()
        while page.motion.sample().time < 0.6:
            pass
        page.motion.pause()
        page.look()
        page.tell()
        chart = page.plots.charts[0].handle
        assert len(chart.data) == 4 and chart.data[0][-1] == pytest.approx(page.motion.sample().time, abs=0.1)
        page.plots.add("joint5.effort")
        assert page.plots.chosen[-1] == "joint5.effort"
        assert "playing" not in page.simulate._clock.content and "s**" in page.simulate._clock.content


BODY = '<link name="b{k}"><inertial><mass value="1"/><inertia ixx=".1" ixy="0" ixz="0" iyy=".1" iyz="0" izz=".1"/></inertial></link>'
JOINT = '<joint name="j{k}" type="{kind}"><parent link="b{j}"/><child link="b{k}"/><origin xyz="0 0 0.1"/><axis xyz="1 0 0"/></joint>'


def chain(bodies, kind):
    parts = [BODY.format(k=k) + (JOINT.format(k=k, j=k - 1, kind=kind) if k else "") for k in range(bodies)]
    return f"<robot name='chain'>{''.join(parts)}</robot>"


@pytest.mark.parametrize("bodies, kind, base, nv", [
    (1, "", None, 0), (3, "fixed", None, 0), (2, "continuous", "floating", 7), (2, "continuous", "planar", 4),
    (100, "continuous", None, 99)])
def test_every_kind_of_robot_has_a_page(bodies, kind, base, nv, tmp_path):
    """Nothing that moves, bases that move, a hundred bodies: everything that the page can do, and the log of it."""
    model = mbros.load(chain(bodies, kind), base=base)
    assert model.nv == nv
    with model.show(port=0) as page:
        for layer in page.overlays.layers:
            page.overlays.show(layer, True)
        page.motion.play()
        page.motion.pause()
        page.motion.step()
        page.motion.reset()
        page.look()
        page.tell()
        for dial in page.inspect.dials[:3]:
            page.inspect.turn(dial, 0.5 * dial.low)
            assert dial.get(page.motion.sample().q) == pytest.approx(0.5 * dial.low)
    log = mbros.Simulator(model).run(0.003)
    with log.show(port=0) as page:
        page.tell()
    assert log.save_html(tmp_path / "x.html").stat().st_size > 10_000


def test_names_of_a_description_are_text_on_the_page():
    """Markdown fields of viser take HTML with scripts, and pictures from anywhere; a robot_description is anybody's."""
    evil = "&lt;img src=x onerror=alert(1)&gt; ![p](http://x/y.png) www.x.org"
    text = f"""<robot name="r\\1&lt;b&gt;"><link name="world"/><link name="{evil}"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial><visual><geometry><mesh filename="package://{evil}/x.stl"/></geometry>
        </visual></link><joint name="&lt;script&gt;" type="continuous"><parent link="world"/><child link="{evil}"/></joint></robot>"""
    model = mbros.load(text)
    with model.show(port=0) as page:
        page.inspect.pick(1)
        page.simulate.update(page.motion.sample()._replace(fault="<script>: http://x"), ["<script>: clamped"])
        handles = list(page.server.gui._gui_input_handle_from_uuid.values()) + [page.inspect._picked, page.simulate._trouble]
        shown = [handle.content for handle in handles if hasattr(handle, "content")]
        assert len(shown) >= 2 and "mg src" in "".join(shown)
        for content in shown:
            assert not re.search(r"(?<!\\)[<!\[&]|http:|www\.", content), content
        assert "<script" not in tree(model)
    assert page.scene.problems
    sim = mbros.Simulator(model)
    assert "<title>r\\1&lt;b&gt;</title>" in as_html(Player(sim.run(0.01)))
