"""One state goes through the compiled maps, a batch of one row through NumPy: equal numbers, equal refusals."""
import numpy as np
import pytest

import mbros
from mbros.conventions.convention import CONVENTIONS
from mbros.errors import MbrosError

ARM = """<robot name="arm"><link name="base"/>{}</robot>"""
LINK = """<link name="l{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j{0}" type="{1}"><parent link="{2}"/><child link="l{0}"/><axis xyz="0 0 1"/></joint>"""
KINDS = ("continuous", "floating", "planar", "continuous")


def tree():
    """Joints of several kinds, one after another; without the planar one every library's map is compiled."""
    for kinds in (KINDS, [kind for kind in KINDS if kind != "planar"]):
        links = "".join(LINK.format(k, kind, f"l{k - 1}" if k else "base") for k, kind in enumerate(kinds))
        yield mbros.load(ARM.format(links))


def models():
    return [*tree(), *(mbros.load(robot) for robot in ("arm7", "quadruped", "humanoid"))]


@pytest.mark.parametrize("name", CONVENTIONS)
def test_trial_L1_a_state_is_a_batch_of_one_row(name):
    c = mbros.convention(name)
    for model in models():
        for seed in range(3):
            state = model.random_state(seed)
            one, batch = c.to(model, state.q, state.v), c.to(model, np.array([state.q]), np.array([state.v]))
            for a, b in zip(one, batch):
                assert a == pytest.approx(b[0], abs=1e-14)
            back, rows = c.back(model, *one), c.back(model, *batch)
            for a, b, x in zip(back, rows, (state.q, state.v)):
                assert a == pytest.approx(b[0], abs=1e-14)
                if name == "drake_2018":
                    assert np.array_equal(a, x)
            for a, b in zip(model.to_convention(state, name), one):
                assert np.array_equal(a, b)
            again = model.from_convention(name, *one)
            assert again.v == pytest.approx(state.v, abs=1e-13)
            listed = model.from_convention(name, *(x.tolist() for x in one))
            assert listed.q == pytest.approx(again.q, abs=1e-14)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_trial_L1_what_is_wrong_is_refused_in_the_words_of_the_general_way(name):
    c, model = mbros.convention(name), mbros.load("quadruped")
    state = model.random_state(1)
    q, v = c.to(model, state.q, state.v)

    def said(call):
        try:
            call()
        except MbrosError as error:
            return type(error), str(error)
        return "taken"

    nan, zero = q.copy(), q.copy()
    nan[2], zero[:7] = np.nan, 0.0
    for a, b in ((nan, v), (zero, v), (q[:-1], v), (q, v[:-1]), (q, np.full_like(v, np.inf))):
        general = said(lambda: c.back(model, a.tolist(), b.tolist()))                  # noqa: B023
        assert general != "taken"
        assert said(lambda: c.back(model, a, b)) == general                            # noqa: B023
        assert said(lambda: model.from_convention(name, a, b)) != "taken"              # noqa: B023
    state.v[3] = np.nan
    assert said(lambda: model.to_convention(state, name)) == said(lambda: c.to(model, state.q.tolist(), state.v.tolist())) != "taken"
