"""Trial P8: defaults that nobody gave fit the size of the model: what is heavy or small stands, and rests on its stops."""
import mbros
import numpy as np
import pytest

from mbros.build.compile.scale import stiffness_for

G = 9.81


def box(mass, a, **numbers):
    b = mbros.ModelBuilder("box", ground=mbros.Ground(**numbers))
    body = b.add_body("box", mass, (0, 0, 0), (mass * a * a / 6,) * 3)
    b.add_joint(mbros.FloatingJoint("free", b.world, body))
    b.add_collision(body, mbros.shapes.box((a, a, a)), **numbers)
    return b.build()


def pendulum(mass, length, **options):
    b = mbros.ModelBuilder("pendulum", gravity=(0, 0, -G))
    bob = b.add_body("bob", mass, (0, 0, -length), (mass * length**2 * 1e-3,) * 3)
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, bob, axis=(0, 1, 0), lower=-0.5, upper=0.5, **options))
    return b.build()


@pytest.mark.parametrize("length", [1e-3, 1e-1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_trial_P8_a_box_of_any_size_stands(length, mass):
    """On four corners of two shapes in a row it sinks by m g / (2 k): below 1e-4 of its edge, or by the usual number and below 1e-3."""
    model = box(mass, 0.1 * length)
    sim = mbros.Simulator(model)
    start, k = float(sim.state.q[2]), model.shapes["box"].stiffness
    sim.advance_to(2.0)
    sunk = (start - float(sim.state.q[2])) / (0.1 * length)
    assert sunk == pytest.approx(mass * G / (2.0 * k) / (0.1 * length), rel=1e-3, abs=1e-11)
    assert sunk < (1e-4 if k != 1e6 else 1e-3) * np.sqrt(3.0)
    assert np.abs(sim.state.v[3:]).max() < 1e-9 * np.sqrt(length)


def test_trial_P8_a_machine_of_45_tonnes_stands_and_says_so():
    model = box(45e3, 3.0)
    sim = mbros.Simulator(model)
    start = float(sim.state.q[2])
    sim.advance_to(3.0)
    assert 0.0 < start - sim.state.q[2] < 1e-4 * 3.0
    said = "stiffness, where none is given, is 8.5e+08 N/m instead of 1e+06, for 'box'"
    assert any(said in str(note) for note in model.description.notes)
    assert model.shapes["floor"].stiffness == model.shapes["box"].stiffness           # the ground has to carry it


def test_trial_P8_what_is_given_is_taken_and_usual_robots_keep_their_numbers():
    assert {shape.stiffness for shape in box(45e3, 3.0, stiffness=2e6).shapes} == {2e6}
    for name in ("quadruped", "humanoid", "arm7", "mobile_arm", "diff_drive", "gripper", "scara"):
        model = mbros.load(name, ground=True)
        assert {shape.stiffness for shape in model.shapes if shape.kind != "half_space"} <= {1e6}
        assert not any("stiffer than the usual" in str(note) for note in model.description.notes)
    model = pendulum(1.0, 0.004, stop_stiffness=12.0)
    assert model.spec.stop_stiffness.tolist() == [12.0]


def test_trial_P8_the_rule():
    """s / k is what it sinks by, of its size: kept between 1e-7 and 1e-3, 5e-5 above, 1e-7 below."""
    for mass, size in ((1e-9, 1e-3), (1e-3, 1e-2), (1.0, 0.1), (70.0, 1.7), (45e3, 5.0), (1e9, 100.0)):
        k, s = stiffness_for(mass, size, 1e6), mass * G / (2.0 * size)
        assert k == 1e6 and 1e-7 <= s / k <= 1e-3 or s / k == pytest.approx(5e-5 if s > 1e3 else 1e-7)
    assert stiffness_for(0.0, 1.0, 1e6) == stiffness_for(1.0, 0.0, 1e6) == 1e6


def test_trial_P8_a_heavy_robot_counts_whole_wherever_it_is_put_down_and_however_it_is_turned():
    def machine(turned):
        b = mbros.ModelBuilder("machine", ground=True)
        hull = b.add_body("hull", 30e3, (0, 0, 1.0), (3e4,) * 3)
        cab = b.add_body("cab", 15e3, (0, 0, 1.0), (3e4,) * 3)
        default = [100.0 * turned, 0, 5.0, 0, 0, np.sin(0.5 * turned), np.cos(0.5 * turned)]
        b.add_joint(mbros.FloatingJoint("free", b.world, hull, default=default))
        b.add_joint(mbros.RevoluteJoint("swing", hull, cab, p=(0, 0, 2.0), axis=(0, 0, 1)))
        for k, (x, y) in enumerate(((2, 1), (2, -1), (-2, 1), (-2, -1))):
            b.add_collision(hull, mbros.shapes.sphere(0.2), mbros.Pose.make((x, y, 0.0)), name=f"foot{k}")
        return b.build().shapes["foot0"].stiffness

    assert machine(0.7) == pytest.approx(machine(0.0), rel=1e-9)
    assert machine(0.0) > 1e8


@pytest.mark.parametrize("length", [4e-4, 4e-3, 0.4, 4.0, 400.0])
@pytest.mark.parametrize("mass", [1e-3, 1.0, 1e3])
def test_trial_P8_a_pendulum_of_any_size_rests_on_its_stop(length, mass):
    """Gravity across, a step of 1/2000 of sqrt(l/g): below 4 cm within 1e-4 of the range; above, as ever, by g / (l 100^2)."""
    model, pace = pendulum(mass, length), float(np.sqrt(length / G))
    sim = mbros.Simulator(model, dt=pace / 2000.0)
    sim.state.gravity[:] = G, 0.0, 0.0
    sim.state.q[0] = -0.5
    sim.advance_to(20.0 * pace)
    beyond = -0.5 - float(sim.state.q[0])
    assert 0.0 < beyond < (1e-4 if length < 0.04 else 3e-3)
    assert abs(sim.state.v[0]) * pace < 1e-6


def test_trial_P8_a_small_slider_holds_its_drive_within_its_range():
    b = mbros.ModelBuilder("valve")
    body = b.add_body("needle", 1e-6, (0, 0, 0), (1e-13,) * 3)
    b.add_joint(mbros.PrismaticJoint("lift", b.world, body, axis=(0, 0, 1), lower=0.0, upper=1e-3, effort=1e-3))
    model = b.build()
    sim = mbros.Simulator(model, dt=1e-5)
    sim.advance_to(0.1, [1e-3])
    assert 0.0 < sim.state.q[0] - 1e-3 < 1e-7
    assert any("those of 'lift' are stiffer than the usual" in str(note) for note in model.description.notes)
