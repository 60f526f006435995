"""The scenes of benchmarks.contact_peers in mbros, against their references; and that the peers that are here build and step them."""
import numpy as np
import pytest
from benchmarks import _contact_scenes as scenes
from benchmarks import contact_peers
from benchmarks._contact_engines import Legs, build, installed

BOUNDS = {"drag": (3e-5, 3e-5), "blow": (0.0, 0.02, 1e-3, 0.0), "rod": (1e-6, 2e-3, 1e-6, 3e-3), "legs": (1e-12, 1e-12),
          "slide": (1e-5, 1e-9), "disk": (1e-4, 1e-5, 2e-6, 1e-4, 1e-4, 1e-4), "stack": (1e-9, 5e-6, 2e-6)}


@pytest.mark.parametrize("name", BOUNDS)
def test_a_scene_is_as_exact_as_its_table_says(name):
    def start(scene):
        return contact_peers.Clock(scene("mbros") if callable(scene) else build("mbros", scene, 1e-3))

    _, heads, measure, _ = contact_peers.SCENES[name]
    found = measure(start, 1e-3)
    assert len(found) == len(heads) and (np.abs(found) <= BOUNDS[name]).all(), found


@pytest.mark.parametrize("engine", installed())
def test_an_engine_builds_the_scenes(engine):
    """A box at rest is as high as it stands, and its four balls carry it; an arm hangs on a cart; legs have twelve joints."""
    box = build(engine, scenes.box_on_incline(0.5, 0.0), 1e-3)
    box.step(500)
    R, p, w, v = box.motion("box")
    contacts = box.contacts()
    assert abs(p[2] - 0.1) < 2e-3 and R == pytest.approx(np.eye(3), abs=1e-6) and np.abs([w, v]).max() < 1e-2
    assert len(contacts) == 4 and contacts[:, 0].sum() == pytest.approx(scenes.G, rel=0.02)
    arm = build(engine, scenes.dragged_arm(0.6, 1.0), 1e-3)
    arm.drive("cart", 1.0)
    arm.step()
    assert 0.4 < arm.speed("cart") < 0.6
    legs = Legs(engine, 0.8, 1e-3)
    q, v = legs.joints()
    assert q == pytest.approx(np.tile(Legs.STANCE, 4)) and len(v) == 12
    legs.control()
    legs.step()
    assert legs.time == 1e-3
