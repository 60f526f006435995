"""Names and other foreign text: what may be a name, and how text is shown where it could act."""
import pytest

import mbros
from mbros.build import one_robot
from mbros.names import LONGEST, no_name, printable, sentences

ACTING = ["arm\n[ERROR] forged", "\x1b[2Jarm", "arm\r", "arm\x9b31m", "arm\u2028forged", "arm\u202egpj", "arm\x00", "arm\ud800"]


@pytest.mark.parametrize("text", ACTING)
def test_trial_A15_what_could_act_is_shown_as_its_escape(text):
    shown = printable(text)
    assert shown.isprintable() and shown.isascii() and "arm" in shown
    shown.encode("utf-8")


@pytest.mark.parametrize("text", ["arm", "left arm/joint 2", "Gelenk ä", "関節", "a\\nb", ""])
def test_what_is_plain_is_shown_as_it_is(text):
    assert printable(text) == text


def test_long_text_is_cut_and_counted():
    assert printable("\n" * 3000, 3) == "\\n\\n\\n... (3000 characters)"
    assert printable("x" * 5, 5) == "xxxxx"
    assert printable(12) == "12"


@pytest.mark.parametrize("name", [None, 3, "", "  ", "x" * (LONGEST + 1), *ACTING])
def test_what_is_no_name_is_told(name):
    reason, remedy = no_name(name)
    assert f"{reason} {remedy}".isprintable() and len(reason) < 200


@pytest.mark.parametrize("name", ["arm", "x" * LONGEST, "left arm/joint 2", "関節"])
def test_what_is_a_name(name):
    assert no_name(name) is None


@pytest.mark.parametrize("parts, text", [
    (("no robot 'arm'; did you mean 'arm7'?", "More come with an extra."), "no robot 'arm'; did you mean 'arm7'? More come with an extra."),
    (("no robot 'x'", "More come"), "no robot 'x'. More come."),
    (("it is wrong ", ""), "it is wrong."),
    (("", "Mend it."), "Mend it.")])
def test_trial_D4_sentences_end_once(parts, text):
    assert sentences(*parts) == text


def test_trial_D4_a_name_with_a_near_one_and_more_to_say(monkeypatch):
    """Without example-robot-data there is more to say after the question."""
    monkeypatch.setattr(one_robot, "_examples", dict)
    with pytest.raises(mbros.UnknownNameError) as caught:
        mbros.load("amr7")
    assert str(caught.value) == ("no robot 'amr7', and no such file; did you mean 'arm7'? More robots come with: pip install "
                                 "'mbros[robots]'")
    with pytest.raises(mbros.UnknownNameError, match="'qqqqqq', and no such file; there are .*'mobile_arm'. More robots come with"):
        mbros.load("qqqqqq")
