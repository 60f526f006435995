"""What tests of the engine's arguments start from: a tree with a floating base, in a random state."""
import pytest
import robots
import zoo


@pytest.fixture
def model():
    return robots.model("floating_tree")


@pytest.fixture
def state(model, rng):
    state = model.default_state()
    state.q[:], state.v[:] = zoo.random_q(model.spec, rng), rng.normal(size=model.nv)
    return state
