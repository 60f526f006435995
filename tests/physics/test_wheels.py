"""Trial P5: the wheels of a built-in robot carry it as wheel odometry says; of wide cylinders the outer rims stick."""
import mbros
import numpy as np
import pytest
from mbros.build.robots import __file__ as robots

from pathlib import Path

RADIUS, TRACK, WIDTH = 0.06, 0.28, 0.03


def turned(model, speed, yaw_rate, seconds=4.0):
    """(yaw rate, speed) of the chassis with wheels that turn exactly as commanded, after a second of speeding up."""
    sim = mbros.Simulator(model, bench=False)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        w = (speed + sign * 0.5 * TRACK * yaw_rate) / RADIUS
        sim.prescribe(f"{side}_wheel_joint", lambda t, w=w: ([w * (0.5 * t * t if t < 1.0 else t - 0.5)], [w * min(t, 1.0)],
                                                             [w if t < 1.0 else 0.0]))
    sim.advance_to(2.0)
    rates, speeds = [], []
    while sim.time < 2.0 + seconds:
        sim.advance_to(sim.time + 0.1)
        V = model.velocity(sim.state, "chassis")
        rates.append(V.angular[2])
        speeds.append(np.linalg.norm(V.linear[:2]))
    return np.mean(rates), np.mean(speeds)


@pytest.mark.parametrize("speed, yaw_rate", [(0.0, 0.5), (0.3, 0.5), (0.3, -1.0), (0.5, 0.0)])
def test_trial_P5_diff_drive_moves_as_its_odometry_says(speed, yaw_rate):
    """To 4e-4: its wheels sink in by m g / (3 k) or so, 20 um of 60 mm."""
    rate, forward = turned(mbros.load("diff_drive", ground=True), speed, yaw_rate)
    assert rate == pytest.approx(yaw_rate, rel=6e-4, abs=1e-6)
    assert forward == pytest.approx(speed, rel=6e-4, abs=1e-3 * abs(yaw_rate) + 1e-6)


def test_trial_P5_the_outer_rims_of_wide_wheels_stick():
    text = (Path(robots).parent / "diff_drive.urdf").read_text()
    wide = f'<origin xyz="0 0 0" rpy="1.5707963267948966 0 0"/><geometry><cylinder radius="{RADIUS}" length="{WIDTH}"/></geometry>'
    ball = f'<geometry><sphere radius="{RADIUS}"/></geometry>'
    assert text.count(ball) == 2
    model = mbros.load(text.replace(ball, wide), base="floating", ground=True)
    assert turned(model, 0.0, 0.5)[0] == pytest.approx(0.5 * TRACK / (TRACK + WIDTH), rel=2e-3)
