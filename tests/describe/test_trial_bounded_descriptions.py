"""What a description costs grows with its length, whatever is in it: trial-2, X3, X4 and X9. Each of these took from 20 s to hours."""
import random

import pytest
from bounded import BOX, PAIR, bounded, joint, link, robot

import mbros
from mbros.names import IN_ONE, LONGEST_COMPARED, did_you_mean, hint, one_document


def misnamed(count, length):
    """Joints whose links are not there, and links of the same few letters."""
    rng = random.Random(1)

    def name():
        return "".join(rng.choices("ab", k=length))

    return robot(*(link(name(), mass=False) for _ in range(count)), *(joint(f"j{k}", name(), name()) for k in range(count)))


@pytest.mark.parametrize(("count", "length"), [(60, 150), (1000, 50)])
def test_trial_X4_names_that_lead_nowhere(count, length):
    said, _ = bounded(lambda: mbros.load(misnamed(count, length)))
    assert said.startswith(f"refused: {min(2 * count, 1000)} problems") and "there is no link" in said


def test_trial_X4_a_hint_has_a_price_and_a_document_a_purse():
    known = [f"{'ab' * 25}{k}" for k in range(2000)]

    @one_document
    def read(count):
        return [hint("ba" * 25, known) for _ in range(count)]

    hints = read(100)
    assert 0 < sum(map(bool, hints)) <= IN_ONE // len(known) and not any(hints[-50:])
    assert read(1) == hints[:1]                                 # the next document has its own
    assert did_you_mean("x" * (LONGEST_COMPARED + 1), ["x" * LONGEST_COMPARED]) is None
    assert hint("nothing", ["n" * 900, "m" * 900]) == ""        # what would be listed is long, for each mistake of a file


def test_trial_X4_hints_are_those_that_people_mean():
    for given, known, meant in (("joint4", ["panda_joint4", "x"], "panda_joint4"), ("PANDA_joint1", ["panda_joint1"], "panda_joint1"),
                                ("uper", ["upper", "lower"], "upper"), ("zz", ["upper", "lower"], None), ("", ["a"], None)):
        assert did_you_mean(given, known) == meant


DIGITS = "1" * 300_000
COSTLY = {
    "digits that end in no number": robot(link("a", f"<visual><origin xyz='{DIGITS}x 1'/></visual>")),
    "joints and actuators of one transmission": robot(
        PAIR, "<transmission name='t'>", "<joint name='j'/>" * 4000, *(f"<joint name='j{k}'/>" for k in range(500)),
        "<actuator name='a'><drake:rotor_inertia value='1'/></actuator>" * 4000, "</transmission>"),
    "constraints": robot(PAIR, *(f"<mbros:constraint name='c{k}' type='distance' frame_A='a' frame_B='b' length='1' rope='true'/>"
                                 for k in range(5000))),
    "faults": robot(PAIR, *(f"<mbros:fault name='f{k}' kind='frozen' signal='j.position' at='1'/>" for k in range(16_000))),
    "conditions of faults": robot(PAIR, f"<mbros:fault name='f' kind='frozen' signal='j.position' when='a{' ' * 20_000}x'/>"),
}


@pytest.mark.parametrize("what", COSTLY)
def test_trial_X3_texts_that_went_back_or_grew_with_the_square(what):
    said, largest = bounded(lambda: mbros.load(COSTLY[what]))
    assert not said.startswith("raw") and largest < 500, (said[:200], largest)


def test_trial_X3_mesh_names_are_found_in_one_pass():
    from mbros.ros.wire.published import published

    text = robot("<!-- ", "<mesh " * 100_000, " -->", link("a", "<visual><geometry><mesh filename = 'package://nowhere/a.stl'/>"
                                                           "</geometry></visual>"))
    said, _ = bounded(lambda: published(text) == text)
    assert said == "False"              # its quotes are others, as ever
    assert 'filename = "package://nowhere/a.stl"' in published(text)


def floating(count):
    return robot(link("w"), *(link(f"l{k}", BOX) + joint(f"j{k}", "w", f"l{k}", f"<origin xyz='{2 * k} 0 0'/>", "floating")
                              for k in range(count)))


def test_trial_X9_many_free_links_stand_on_the_ground():
    said, _ = bounded(lambda: mbros.load(floating(600), ground=True).nv)
    assert said == "3600"


def test_trial_X9_two_thousand_boxes_on_one_link():
    said, largest = bounded(lambda: len(mbros.load(robot(link("a"), link("b", BOX * 2000), joint("j", "a", "b")), ground=True).shapes))
    assert said == "2001" and largest < 250


@pytest.mark.parametrize(("text", "said"), [
    (robot(link("a", BOX * 1500), link("b"), link("c", BOX * 1500), joint("j", "a", "b"), joint("k", "b", "c")), "boxes around more than"),
    (robot(link("a", BOX * 400), link("b"), link("c", BOX * 400), joint("j", "a", "b"), joint("k", "b", "c")), "too near at the default"),
    (robot(link("a", BOX * 1500), link("b", BOX * 1500), joint("j", "a", "b")), "never touch, which rules name"),
    (robot(link("a", BOX * 20_001)), "more than the 20000 allowed")])
def test_trial_X9_more_pairs_of_shapes_than_can_be_tried_are_refused(text, said):
    found, _ = bounded(lambda: mbros.load(text, collisions=True))
    assert found.startswith("refused: <text>: collision shapes") and said in found and "collisions=False" in found

