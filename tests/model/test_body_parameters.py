"""com.<body> and inertia.<body>: in axes of the link, with what is welded to it, checked, and one with masses."""
import copy

import mbros
import numpy as np
import pytest

from mbros.model import parameters


def tilted():
    """A body on a joint along y, whose axes the engine turns, with another welded to it; both far from simple."""
    b = mbros.ModelBuilder("tilted")
    arm = b.add_body("arm", 2.0, (0.1, -0.2, 0.3), [[0.3, 0.01, 0.02], [0.01, 0.4, -0.03], [0.02, -0.03, 0.2]])
    tip = b.add_body("tip", 0.5, (0.0, 0.1, 0.0), (0.01, 0.02, 0.015))
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, arm, axis=(0, 1, 0)))
    b.add_joint(mbros.WeldJoint("glue", arm, tip))
    return b


@pytest.fixture
def model():
    return tilted().build()


def test_they_are_those_of_the_builder(model):
    """Mass, centre and inertia of both bodies together."""
    state = model.default_state()
    com = (2.0 * np.array([0.1, -0.2, 0.3]) + 0.5 * np.array([0.0, 0.1, 0.0])) / 2.5
    assert model.parameter(state, "mass.arm") == 2.5 and np.allclose(model.parameter(state, "com.arm"), com, atol=1e-15)
    assert np.allclose(model.center_of_mass(state), com)
    assert {"com.arm", "inertia.arm"} <= set(model.parameter_names) and "com.tip" not in model.parameter_names


def test_a_changed_body_is_a_body_built_so(model):
    state, rng = model.default_state(), np.random.default_rng(0)
    com, inertia = [0.2, 0.1, -0.1], [0.5, 0.6, 0.4, 0.02, -0.03, 0.05]
    model.set_parameter(state, "inertia.arm", inertia).set_parameter(state, "com.arm", com).set_parameter(state, "mass.arm", 5.0)
    assert np.allclose(model.parameter(state, "inertia.arm"), 2.0 * np.array(inertia)), "in proportion to the mass"
    assert np.allclose(model.parameter(state, "com.arm"), com)
    x, y, z, xy, xz, yz = 2.0 * np.array(inertia)
    b = mbros.ModelBuilder("one")
    arm = b.add_body("arm", 5.0, com, [[x, xy, xz], [xy, y, yz], [xz, yz, z]])
    b.add_joint(mbros.RevoluteJoint("hinge", b.world, arm, axis=(0, 1, 0)))
    other = b.build()
    for _ in range(5):
        q, v, vdot = rng.normal(size=(3, 1))
        state.q[:], state.v[:] = q, v
        same = other.default_state().set_q(q).set_v(v)
        assert np.allclose(model.inverse_dynamics(state, vdot), other.inverse_dynamics(same, vdot), rtol=1e-13)
        assert np.allclose(model.com_of(state, "hinge").com, other.center_of_mass(same))
        assert np.allclose(model.com_of(state, "hinge").jacobian, other.com_jacobian(same))
    assert np.array_equal(copy.deepcopy(state).field("inertia"), state.field("inertia"))


def test_what_it_has_changes_nothing(model):
    """To the bit, so that a node that sets all of them is the robot that was loaded."""
    state = model.default_state()
    before = state._inputs.copy()
    for name in ("mass.arm", "com.arm", "inertia.arm"):
        model.set_parameter(state, name, model.parameter(state, name))
    assert np.array_equal(state._inputs, before)


def test_limits_of_what_is_possible_are_possible(model):
    """Rods, plates and points."""
    state = model.default_state()
    for inertia in ([1.0, 1.0, 0.0, 0, 0, 0], [1.0, 2.0, 3.0, 0, 0, 0], [0.0] * 6):
        model.set_parameter(state, "inertia.arm", inertia)


@pytest.mark.parametrize(("name", "bad", "said"), [
    ("inertia.arm", [1.0, 0.1, 0.1, 0, 0, 0], r"eigenvalue -0.4 kg m\^2, .* along \(1, 0, 0\)"),
    ("inertia.arm", [-1.0, 1.0, 1.0, 0, 0, 0], "must not be negative"), ("inertia.arm", [1.0] * 5, "expected 6 numbers"),
    ("com.arm", [0.0, np.nan, 0.0], "nan"), ("com.arm", 1.0, "expected 3 numbers"), ("com.arm", [1e200] * 3, "expected at most"),
    ("com.arm", [1e308] * 3, "expected a finite number")])
def test_refusals_change_nothing(model, name, bad, said):
    state = model.default_state()
    before = state._inputs.copy()
    with pytest.raises(mbros.MbrosError, match=said):
        model.set_parameter(state, name, bad)
    assert np.array_equal(state._inputs, before)
    with pytest.raises(mbros.MbrosError):
        model.batch(np.zeros((2, 1)), parameters={name: [bad, bad]})


def test_without_mass_there_is_nothing_to_place(model):
    state = model.default_state()
    model.set_parameter(state, "mass.arm", 0.0)
    with pytest.raises(mbros.MbrosError, match="has a mass of 0 kg in this state.*set 'mass.arm' first"):
        model.set_parameter(state, "com.arm", [0.0, 0.0, 0.0])


def test_robots_of_a_rollout_have_their_own(model):
    rng = np.random.default_rng(1)
    own = {"inertia.arm": np.concatenate([rng.uniform(1.0, 1.5, (6, 3)), np.zeros((6, 3))], axis=1), "com.arm": rng.normal(size=(6, 3)),
           "mass.arm": rng.uniform(1.0, 3.0, 6)}
    q, _ = mbros.rollout(model, np.zeros((6, 1)), np.ones((6, 1)), np.zeros((6, 100, 1)), dt=1e-3, parameters=own)
    for k in range(6):
        sim = mbros.Simulator(model)
        for name in ("mass.arm", "com.arm", "inertia.arm"):
            model.set_parameter(sim.state, name, own[name][k])
        sim.state.v[:] = 1.0
        sim.advance_to(0.1)
        assert np.allclose(q[k].reshape(-1)[-1], sim.state.q[0], rtol=1e-9)
        saved = sim.save()
        model.set_parameter(sim.state, "com.arm", [0.0, 0.0, 0.0])
        sim.restore(saved)
        assert np.allclose(model.parameter(sim.state, "com.arm"), own["com.arm"][k])


HERE = [0.0, 0.0, 0.0225]


@pytest.fixture
def link7():
    model = mbros.load("arm7")
    return model, model.default_state()


def zeros(n):
    return np.zeros((n, 7)), np.zeros((n, 7)), np.zeros((n, 1, 7))


@pytest.mark.parametrize("distance", [1e5, 1e6, 1e8, 1e200])
def test_a_centre_of_mass_that_the_inertia_would_be_lost_at_is_refused(link7, distance):
    model, state = link7
    before = state._inputs.copy()
    said = r"'com.link7'.* m away .*0.000214375 kg m\^2; expected at most 1660.86 m"
    with pytest.raises(mbros.MbrosError, match=said):
        model.set_parameter(state, "com.link7", [distance] * 3)
    with pytest.raises(mbros.MbrosError, match=said):
        parameters.put_all(model, state, {"com.link7": [distance] * 3})
    assert np.array_equal(state._inputs, before)
    with pytest.raises(mbros.MbrosError, match="robot 1 of 2: parameter.*" + said):
        mbros.rollout(model, *zeros(2), dt=1e-3, parameters={"com.link7": [HERE, [distance] * 3]})


def test_out_and_back_keeps_the_inertia_as_far_as_it_is_allowed(link7):
    """To a millionth at the very edge, whatever the mass is."""
    model, state = link7
    inertia = model.parameter(state, "inertia.link7")
    for mass in (1e-6, 1e9, float(model.parameter(state, "mass.link7"))):
        model.set_parameter(state, "mass.link7", mass)
    for distance in (1660.0, -1234.5, 1.0):
        model.set_parameter(state, "com.link7", [0.6 * distance, 0.0, 0.8 * distance]).set_parameter(state, "com.link7", HERE)
        assert np.abs(model.parameter(state, "inertia.link7") - inertia).max() < 3e-6 * np.abs(inertia).max()


def test_an_inertia_too_small_for_where_the_centre_of_mass_is_is_refused(link7):
    """And a large one may be set with a centre of mass far out, together."""
    model, state = link7
    far = {"com.link7": [1e5, 0.0, 0.0], "inertia.link7": [1e5] * 3 + [0.0] * 3}
    parameters.put_all(model, state, far)
    assert np.allclose(model.parameter(state, "inertia.link7"), far["inertia.link7"], rtol=1e-6)
    mbros.rollout(model, *zeros(2), dt=1e-3, parameters={name: [value] * 2 for name, value in far.items()})
    before = state._inputs.copy()
    with pytest.raises(mbros.MbrosError, match=r"'inertia.link7' is \[0.001.*is 100000 m away .*expected at most 3587"):
        model.set_parameter(state, "inertia.link7", [1e-3] * 3 + [0.0] * 3)
    assert np.array_equal(state._inputs, before)


@pytest.mark.parametrize("body, of", [("arm7", "link7"), ("tilted", "arm")])
def test_a_point_may_be_anywhere_and_stays_one(body, of):
    model = mbros.load(body) if body == "arm7" else tilted().build()
    state = model.default_state()
    model.set_parameter(state, f"inertia.{of}", [0.0] * 6)
    for com in ([50.0, -3.0, 1.0], [1e8, 2e8, 3e8], [0.1, 0.2, 0.3], [1.0, 0.0, 0.0]):
        model.set_parameter(state, f"com.{of}", com)
        assert (model.parameter(state, f"inertia.{of}") == 0.0).all() and np.allclose(model.parameter(state, f"com.{of}"), com)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("mass", [1e-90, 1e155, 1e160, 1e300])
def test_what_a_huge_mass_gives_is_read_as_finite_numbers(link7, mass):
    model, state = link7
    com, ratio = model.parameter(state, "com.link7"), model.parameter(state, "inertia.link7") / model.parameter(state, "mass.link7")
    model.set_parameter(state, "mass.link7", mass)
    assert np.allclose(model.parameter(state, "inertia.link7") / mass, ratio, rtol=1e-12)
    assert np.allclose(model.parameter(state, "com.link7"), com, rtol=1e-14)


@pytest.mark.filterwarnings("error")
def test_what_was_written_past_the_checks_is_not_read_as_inf(link7):
    model, state = link7
    state.field("inertia")[model.spec.body_names.index("link7"), 1:] = 1e308
    for name in ("com.link7", "inertia.link7"):
        with pytest.raises(mbros.NonFiniteError, match=rf"'{name}'.* is -?(inf|nan); expected a finite number"):
            model.parameter(state, name)


@pytest.mark.filterwarnings("error")
def test_an_impossible_inertia_near_the_largest_double_is_refused_as_any_other(link7):
    model, state = link7
    said = r"'inertia.link7' is \[1e\+308.*eigenvalue -1.5e\+308 kg m\^2"
    with pytest.raises(mbros.MbrosError, match=said):
        model.set_parameter(state, "inertia.link7", [1e308] * 6)
    with pytest.raises(mbros.MbrosError, match=said):
        mbros.rollout(model, *zeros(2), dt=1e-3, parameters={"inertia.link7": np.full((2, 6), 1e308)})
    with pytest.raises(mbros.MbrosError, match=r"eigenvalue -1.79769e\+308"):
        model.set_parameter(state, "inertia.link7", [1.7e308] * 6)
