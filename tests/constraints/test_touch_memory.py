"""What stands in a state's memory of contacts is read within bounds, whatever was written there: the memory is the user's own."""
import pickle

import numpy as np
import pytest
from mbros_core.constraints import touches

import mbros
import mbros_core

HOSTILE = (np.nan, np.inf, -np.inf, -1.0, -1e300, 0.5, 40.0, 1e4, 2e9, 1e19, 1e300)
DEVICES = (mbros.PositionServo("*.servo", joint="*", kp=200.0, kd=5.0), mbros.ContactSwitch("switch", body="trunk"),
           mbros.ForceTorque("knee", joint="FL_calf_joint"), mbros.GroundTruthPose("pose", frame="trunk"))


def stood():
    """A quadruped that stands on the ground, and the contacts of its last step."""
    bench = mbros.Bench()
    for device in DEVICES:
        bench.add(device)
    sim = mbros.Simulator(mbros.load("quadruped", ground=True), bench=bench)
    sim.advance_to(0.3)
    memory = sim.state.field("contact_memory")
    assert memory[0, touches.COUNT] >= 4 and len(sim.model.contacts(sim.state)) == memory[0, touches.COUNT]
    return sim, memory


def uses(sim):
    """Everything that reads the memory, by name."""
    model, state = sim.model, sim.state
    tau = np.zeros(model.nv)
    dual = mbros_core.dual()
    slopes = np.empty((1, 2 * model.nv, 2 * model.nv)), np.empty((1, 2 * model.nv, model.nv))
    return {
        "linearize": lambda: dual.Linearizer(dual.Model(model.spec)).linearize("step", state._inputs[None].copy(), tau[None], *slopes),
        "contacts": lambda: [(c.force, c.point) for c in model.contacts(state)],
        "reaction": lambda: [joint.reaction(state).values for joint in model.joints if joint.nv],
        "observe": lambda: sim.plant.observe(),
        "step": lambda: sim.step(),
        "log": lambda: sim.run(0.01).contact_force("trunk")[1:],        # of the first row: NaN, as of more points than a snapshot holds
        "copy": lambda: pickle.loads(pickle.dumps(state)),
    }


def finite(x):
    return all(finite(y) for y in x) if isinstance(x, list | tuple) else not isinstance(x, np.ndarray) or bool(np.isfinite(x).all())


@pytest.mark.parametrize("column", [touches.COUNT, touches.PAIR], ids=["count", "pair"])
@pytest.mark.parametrize("number", HOSTILE)
def test_a_memory_of_contacts_is_read_within_its_bounds(column, number):
    """Before, a count beyond the room was believed: the heap was overrun, and a loop ran over whatever followed."""
    for name in uses(stood()[0]):
        sim, memory = stood()
        memory[0 if column == touches.COUNT else slice(1, 5), column] = number
        try:
            assert finite(uses(sim)[name]()), name
        except mbros.MbrosError:
            continue
        memory[0 if column == touches.COUNT else slice(1, 5), column] = number
        sim.step()
        assert finite([sim.state.q, sim.state.v])


def test_rows_that_name_no_pair_are_left_out_and_the_others_stay():
    sim, memory = stood()
    there = sim.model.contacts(sim.state)
    memory[1, touches.PAIR] = -1.0
    assert [c.point.tolist() for c in sim.model.contacts(sim.state)] == [c.point.tolist() for c in there[1:]]
    memory[0, touches.COUNT] = 2.0
    assert len(sim.model.contacts(sim.state)) == 1
