"""mass.<body>: the number that was given, and moments in proportion to it, whatever it was before."""
import numpy as np
import pytest

import mbros


@pytest.fixture
def made():
    model = mbros.load("arm7")
    return model, model.default_state()


def test_a_mass_is_what_was_given_to_the_bit(made, rng):
    model, state = made
    for mass in [3.0, *rng.uniform(0.1, 10.0, 100)]:
        model.set_parameter(state, "mass.link7", mass)
        assert model.parameter(state, "mass.link7") == mass
    robots = model.batch(np.zeros((1, 7)), parameters={"mass.link7": [mass]})
    assert model.parameter(robots.state(0), "mass.link7") == mass
    np.testing.assert_allclose(robots.state(0).field("inertia"), state.field("inertia"), rtol=1e-13)


@pytest.mark.parametrize("tiny", [0.0, 5e-324, 1e-320, 1e-300])
def test_a_body_that_had_next_to_no_mass_has_its_moments_again(made, tiny):
    model, state = made
    before = state.field("inertia").copy()
    model.set_parameter(state, "mass.link7", tiny)
    model.set_parameter(state, "mass.link7", before[model.spec.body_names.index("link7"), 0])
    np.testing.assert_allclose(state.field("inertia"), before, rtol=1e-15)


def test_a_mass_whose_moments_would_not_be_finite_is_refused(made):
    model, state = made
    before = state.field("inertia").copy()
    body = model.spec.body_names.index("link7")
    before[body, 1:] *= 1e3
    state.field("inertia")[:] = before
    with pytest.raises(mbros.NonFiniteError, match=r"'mass.link7': inertia\[\d\] is -?inf"):
        model.set_parameter(state, "mass.link7", 1e308)
    assert (state.field("inertia") == before).all()


@pytest.mark.parametrize("base", ["fixed", "floating"])
def test_the_world_has_no_mass_to_set(base):
    """What is welded to the world is part of it, and in no equation."""
    model = mbros.load("arm7", base=base)
    assert "mass.world" not in model.parameter_names and "mass.link7" in model.parameter_names
    with pytest.raises(mbros.UnknownNameError, match="no parameter 'mass.world' in model 'arm7'"):
        model.set_parameter(model.default_state(), "mass.world", 1.0)
    with pytest.raises(mbros.UnknownNameError, match="no parameter 'mass.world'"):
        model.batch(model.default_state().q[None], parameters={"mass.world": [1.0]})
