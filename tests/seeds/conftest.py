"""`shown`: the tests that carry the marker of each seed id, of this run where it has collected every test."""
import pytest
from seed_outcomes import whole
from seed_table import ids_of, shown_by


@pytest.fixture(scope="session")
def shown(request):
    return ids_of(request.session.items) if whole(request.config) else shown_by()
