"""log.plot, model.tree.plot and mbros run --plot: what is drawn is what the log and the model say, in their units, with their limits."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optional import needs

import mbros

pytestmark = needs("matplotlib", "it draws")


@pytest.fixture(scope="module")
def log():
    model = mbros.load("arm7")
    state = model.default_state()
    state.q[1] = 0.5
    return mbros.Simulator(model, state=state).run(2.0, effort={"joint2": 5.0}, every=10)


def lines(ax):
    """{label: line} of the curves, and the heights of the limits."""
    curves = {line.get_label(): line for line in ax.lines if len(line.get_xdata()) > 2}
    return curves, sorted(float(line.get_ydata()[0]) for line in ax.lines if len(line.get_xdata()) == 2)


def test_signals_are_the_logs_in_panels_of_one_unit(log):
    figure = log.plot(["joint2.position", "joint4", "joint2.velocity", "joint2.effort", "energy", "kinetic_energy"])
    assert [ax.get_ylabel() for ax in figure.axes] == ["position [rad]", "velocity [rad/s]", "effort [N m]", "energy [J]"]
    assert figure.axes[-1].get_xlabel() == "time [s]"
    curves, _ = lines(figure.axes[0])
    assert list(curves) == ["joint2", "joint4"]
    for name, line in curves.items():
        assert np.array_equal(line.get_xdata(), log.time) and np.array_equal(line.get_ydata(), log[name].position)
    assert np.array_equal(lines(figure.axes[1])[0]["joint2"].get_ydata(), log["joint2"].velocity)
    energies, _ = lines(figure.axes[3])
    assert np.array_equal(energies["total energy"].get_ydata(), log.energy)
    assert np.array_equal(energies["kinetic energy"].get_ydata(), log.kinetic_energy)


def test_limits_are_drawn_where_the_curve_comes_near_and_in_view(log):
    """joint2 falls to its stop at 2 rad and joint4 to that at -2; joint6 stays far from its own."""
    ax = log.plot(["joint2", "joint4", "joint6"]).axes[0]
    assert lines(ax)[1] == [-2.0, 2.0]
    bottom, top = ax.get_ylim()
    assert bottom < -2.0 and top > 2.0
    assert sorted(text.get_text() for text in ax.texts) == ["joint2 limit 2", "joint4 limit -2"]


def test_everything_by_default_and_a_joint_with_several_coordinates():
    model = mbros.load("quadruped")
    figure = mbros.Simulator(model).run(0.05).plot()
    names = {ax.get_ylabel() for ax in figure.axes}
    assert names == {"position [m]", "position [1]", "position [rad]", "velocity [m/s]", "velocity [rad/s]", "effort [N]", "effort [N m]",
                     "energy [J]"}
    base = next(ax for ax in figure.axes if ax.get_ylabel() == "position [m]")
    assert list(lines(base)[0]) == ["base.x", "base.y", "base.z"]


def test_files_of_every_kind_and_a_notebooks_png(log, tmp_path):
    for name, begin in (("a.png", b"\x89PNG"), ("a.svg", b"<?xml"), ("a.pdf", b"%PDF")):
        figure = log.plot("energy", path=tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(begin)
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert "matplotlib.pyplot" not in subprocess.run(
        [sys.executable, "-c", "import mbros, sys; mbros.Simulator(mbros.load('pendulum')).run(0.1).plot(); print(*sys.modules)"],
        capture_output=True, text=True, check=True, cwd=Path(mbros.__file__).parents[1]).stdout


@pytest.mark.parametrize("call, part", [
    (lambda log, folder: log.plot(["joint2.positoin"]),
     "no signal 'joint2.positoin' in the log of model 'arm7'; did you mean 'joint2.position'?"),
    (lambda log, folder: log.plot(["joint9"]), "no signal 'joint9'"),
    (lambda log, folder: log.plot([3]), "no signal 3"),
    (lambda log, folder: log.plot([]), "there is no signal to draw"),
    (lambda log, folder: log.plot("base.position"), "joint 'base' (weld) does not move"),
    (lambda log, folder: log.plot("energy", folder / "a.xyz"), "expected a file that ends in .png, .svg or .pdf, got .xyz"),
    (lambda log, folder: log.plot("energy", folder / "none" / "a.png"), "there is no folder"),
    (lambda log, folder: mbros.Simulator(log.model).run(0.0).plot(), "expected a log of 2 rows or more"),
])
def test_what_is_refused(log, tmp_path, call, part):
    with pytest.raises(mbros.MbrosError) as caught:
        call(log, tmp_path)
    assert part in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_it_says_what_to_install(log, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for call in (log.plot, log.model.tree.plot):
        with pytest.raises(mbros.MissingPackageError, match=r'pip install "mbros\[plot\]"'):
            call()


@pytest.mark.parametrize("name", ["arm7", "humanoid", "mobile_arm", "cartpole"])
def test_the_tree_shows_every_body_joint_range_and_mass(name, tmp_path):
    model = mbros.load(name)
    figure = model.tree.plot(tmp_path / "tree.svg")
    shown = [text.get_text() for text in figure.axes[0].texts]
    for body in model.bodies:
        assert body.name in shown and (not body.mass or f"{body.mass:.3g} kg" in shown)
    for joint in model.joints:
        assert joint.name in shown and joint.kind in shown
        if joint.nq == 1 and np.isfinite(joint.limits.position.lower[0]):
            assert any(text.startswith(f"{joint.limits.position.lower[0]:.3g} … {joint.limits.position.upper[0]:.3g} ")
                       for text in shown), joint
    figure.draw_without_rendering()
    canvas = figure.get_window_extent()
    assert all(canvas.x0 <= box.x0 and box.x1 <= canvas.x1 for box in (text.get_window_extent() for text in figure.axes[0].texts))


def test_followers_say_whom_they_follow():
    inertial = '<inertial><mass value="2"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
    model = mbros.load(f"""<robot name="r"><link name="a"/><link name="b">{inertial}</link><link name="c">{inertial}</link>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j" multiplier="2" offset="0.5"/></joint></robot>""")
    assert "= 2 j +0.5" in [text.get_text() for text in model.tree.plot().axes[0].texts]


PLANTED = """
import os, sys, warnings, mbros
os.chdir(sys.argv[1])
with warnings.catch_warnings(record=True) as warned:
    warnings.simplefilter("always")
    mbros.Simulator(mbros.load("pendulum")).run(0.01).plot(path="run.svg")
print(*{str(one.message) for one in warned if issubclass(one.category, mbros.MbrosWarning)}, os.path.getsize("run.svg") > 1000)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="plays another user: needs root")
@pytest.mark.parametrize("owner, words", [(65534, "matplotlibrc in the working folder belongs to user 65534, and is not in force True"),
                                          (0, "True")])
def test_settings_that_another_user_put_into_the_working_folder_are_not_in_force(tmp_path, owner, words):
    """They had LaTeX run, and include any file of this user."""
    settings = "text.usetex: True\ntext.latex.preamble: \\input{/no/such/file}\n" if owner else "axes.linewidth: 2.0\n"
    (tmp_path / "matplotlibrc").write_text(settings)
    os.chown(tmp_path / "matplotlibrc", owner, owner)
    done = subprocess.run([sys.executable, "-c", PLANTED, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == words, done.stderr
