"""docs/seeds.md: every id of the catalogue has a public name and a test, and the page is current."""
from capabilities import expected_ids, markdown, rows
from seed_table import PAGE


def test_every_id_has_a_row_and_a_test(shown):
    table = rows()
    expected = set(expected_ids())
    assert not expected - set(table), f"no row in tests/capabilities for {sorted(expected - set(table))}"
    assert not expected - set(shown), f"no test carries the marker of {sorted(expected - set(shown))}"


def test_no_row_and_no_marker_is_of_an_unknown_id(shown):
    expected = set(expected_ids())
    assert set(rows()) <= expected and set(shown) <= expected


def test_the_page_is_current(shown):
    assert PAGE.read_text(encoding="utf-8") == markdown(shown), "run: python tests/seeds/seed_table.py"
