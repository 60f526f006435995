"""model.shapes: names, frozen objects, and what the spec's tables may hold."""
import dataclasses

import mbros_core
import numpy as np
import pytest
from mbros_core.geometry import box, sphere
from optional import needs

import mbros
from mbros.errors import CoordinateIndexError, FrozenModelError, MbrosError, UnknownNameError


@pytest.fixture(scope="module")
def dog():
    return mbros.load("quadruped", ground=mbros.Ground(friction=0.9, stiffness=2e5, relaxation_time=0.01))


def test_by_name_and_index(dog):
    foot = dog.shapes["FL_foot"]
    assert foot is dog.shapes[foot.index] and foot in dog.shapes and "FL_foot" in dog.shapes and len(dog.shapes) == 19
    assert (foot.kind, foot.geometry.sizes, foot.group, foot.body) == ("sphere", (0.022,), "FL", dog.body("FL_foot"))
    assert foot.X_BG.relative_to == "FL_foot" and not foot.X_BG.p.any() and np.array_equal(foot.X_BG.R, np.eye(3))
    floor = dog.shapes["floor"]
    assert (floor.friction, floor.stiffness, floor.relaxation_time, floor.static_friction, floor.torsional_radius,
            floor.rolling_radius) == (0.9, 2e5, 0.01, 0.0, 0.0, 0.0)
    assert dog.spec.shape_parameters[floor.index].tolist() == [2e5, 0.01, 0.9, 0.0, 0.0, 0.0]
    assert repr(floor) == "<BodyShape 'floor': half_space on 'world'>"
    assert foot.excluded["FL_hip"] == "group" and "trunk" not in foot.excluded and foot.excluded.get("floor") is None
    with pytest.raises(UnknownNameError, match="no shape 'FL_fot' in model 'quadruped'; did you mean 'FL_foot'?"):
        dog.shapes["FL_fot"]
    with pytest.raises(CoordinateIndexError, match="no shape 19"):
        dog.shapes[19]


def test_nothing_of_it_changes(dog):
    foot = dog.shapes["FL_foot"]
    with pytest.raises(FrozenModelError, match="shape 'FL_foot': friction cannot change"):
        foot.friction = 0.1
    with pytest.raises(ValueError, match="read-only"):
        foot.X_BG.p[0] = 1.0
    with pytest.raises(TypeError):
        foot.excluded["trunk"] = "mine"
    with pytest.raises(ValueError, match="read-only"):
        dog.spec.shape_parameters[0, 0] = 1.0
    with pytest.raises(MbrosError, match="parts of a model are made with it, and found in model.shapes"):
        type(foot)(dog, 3)


def test_a_row_of_each_pair_once(dog):
    pairs = dog.spec.shape_excluded
    assert (pairs[:, 0] < pairs[:, 1]).all() and len(np.unique(pairs, axis=0)) == len(pairs)
    assert sum(len(shape.excluded) for shape in dog.shapes) == 2 * len(pairs)
    assert (dog.spec.shape_body[pairs[:, 0]] != dog.spec.shape_body[pairs[:, 1]]).all()


BAD = {
    "shape_body": [(lambda spec: np.full(19, 40), "shape 'floor': body index 40 is outside 0..13"),
                   (lambda spec: np.zeros(3), r"shape_body of 'quadruped': expected shape \(19,\), got \(3,\)"),
                   (lambda spec: np.full(19, 0.5), "expected whole numbers")],
    "shape_X": [(lambda spec: 2.0 * spec.shape_X, "shape 'floor': its R .* is no rotation"),
                (lambda spec: spec.shape_X * np.nan, r"shape_X\[0, 0\] of 'quadruped': expected a finite number, got nan"),
                (lambda spec: spec.shape_X[:, :3], r"expected shape \(19, 12\)")],
    "shape_names": [(lambda spec: ["a"] * 19, "19 shapes are called 'a'; every shape needs a name of its own"),
                    (lambda spec: [3] * 19, "expected a list of 19 names"),
                    (lambda spec: ["a"], "shape_geometry of 'quadruped': expected a list of 1 shapes")],
    "shape_geometry": [(lambda spec: [box((1, 1, 1))] * 18 + ["ball"], "shape 'RR_foot': expected a mbros_core.geometry.Shape, got 'ball'"),
                       (lambda spec: [sphere(1.0)], "expected a list of 19 shapes")],
    "shape_parameters": [(lambda spec: 0.0 * spec.shape_parameters, "stiffness of shape 'floor' is 0 N/m; expected positive"),
                         (lambda spec: np.abs(spec.shape_parameters) * [1, 1, -1, 1, 1, 1], "friction of shape .* expected zero or more"),
                         (lambda spec: spec.shape_parameters[:, :3], r"expected shape \(19, 6\)")],
    "shape_excluded": [(lambda spec: [[1, 1]], r"the pair \(1, 1\) is none of 0 <= a < b < 19"),
                       (lambda spec: [[0, 19]], r"the pair \(0, 19\)"), (lambda spec: [[-1, 3]], r"the pair \(-1, 3\)"),
                       (lambda spec: [1, 2], r"expected shape \(0, 2\)")],
}


@pytest.mark.parametrize("field, k", [(field, k) for field, rows in BAD.items() for k in range(len(rows))])
def test_tables_that_cannot_be(dog, field, k):
    change, why = BAD[field][k]
    with pytest.raises(MbrosError, match=why):
        mbros_core.Model(dataclasses.replace(dog.spec, **{field: change(dog.spec)}))


def test_tables_without_names(dog):
    plain = mbros.load("quadruped").spec
    assert mbros_core.Model(dataclasses.replace(plain)).spec.shape_names == []
    with pytest.raises(MbrosError, match=r"shape_body of 'quadruped': expected shape \(0,\), got \(1,\)"):
        mbros_core.Model(dataclasses.replace(plain, shape_body=np.zeros(1)))


@needs("coal", "pip install 'mbros[collision]'")
def test_grounds_are_left_out_of_collision_pairs():
    """coal measures bodies that end somewhere; a robot with a ground is measured as without."""
    plain, grounded = (mbros.CollisionPairs(mbros.load("quadruped", ground=ground)) for ground in (None, True))
    assert grounded.add_all() == plain.add_all() and len(plain) > 100
    state = plain.model.default_state()
    stands = grounded.model.default_state()
    assert [d.distance for d in plain.distances(state)] == pytest.approx([d.distance for d in grounded.distances(stands)], abs=1e-9)


@pytest.mark.parametrize("name, value, why", [("stiffness", 0.0, "positive"), ("stiffness", 1e300, r"at most 1e\+15"),
                                              ("relaxation_time", 1e300, r"at most 1e\+15"), ("friction", -1.0, "zero or more")])
def test_numbers_in_a_state_are_as_those_of_a_model(dog, name, value, why):
    state = dog.default_state()
    before = state.field("contact_parameters").copy()
    with pytest.raises(MbrosError, match=rf"contact.FL_foot.{name}.* expected .*{why}"):
        dog.set_parameter(state, f"contact.FL_foot.{name}", value)
    assert np.array_equal(state.field("contact_parameters"), before)
    with pytest.raises(MbrosError, match=f"{name}.*{'must be' if value <= 0 else 'expected at most'}"):
        mbros.load("quadruped", ground=mbros.Ground(**{name: value}))
    dog.set_parameter(state, "contact.FL_foot.stiffness", 1e12)             # what Gazebo takes where nothing is said
