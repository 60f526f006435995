"""Every kind that stands between a controller and the mechanics has its equation in the tables, in the words of its numbers."""
import re

import pytest
from mbros_core.plant.actuators import registry as actuators
from mbros_core.plant.channels import registry as channels
from mbros_core.plant.faults import registry as injected
from mbros_core.plant.sensors import registry as sensors
from tables import DOCS

ROWS = [pytest.param(row, id=f"{registry.__name__.split('.')[1]}-{row.name}")
        for registry in (actuators, sensors, channels, injected) for row in registry.ROWS]
WORDS = set("""floor ceil sign noise random command driving driven holds slips while side least most feed forward velocity change period
    dT_c closes opens wrench along both good distribution newest rdot vdot theta dyaw servo p_WF R_WF v_WF w_WF tau_actuator
    tau_outside""".split())         # signs and plain words; all others are names of numbers and readings


@pytest.mark.parametrize("row", ROWS)
def test_a_kind_has_an_equation_in_the_words_of_its_numbers(row):
    words = set(re.findall(r"[A-Za-z_]\w{3,}", row.equation))
    names = {number.name for number in row.numbers} | {reading.name for reading in row.readings} | set(row.commands)
    assert row.equation and words <= names | WORDS, sorted(words - names - WORDS)
    own = {number.name for number in row.numbers if "covariance" not in number.name}        # which a message says
    assert not own or own & set(re.findall(r"[A-Za-z_]\w*", row.equation)), "an equation without a number of its kind"


@pytest.mark.parametrize("page, registry", [("bench.md", actuators), ("bench.md", sensors), ("bench.md", channels),
                                            ("faults.md", injected)])
def test_the_page_shows_them(page, registry):
    text = (DOCS / page).read_text(encoding="utf-8").replace("\\|", "|")
    assert all(f"`{row.equation}`" in text for row in registry.ROWS)
