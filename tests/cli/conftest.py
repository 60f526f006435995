"""`command`: the mbros command, run in the test's own folder."""
import pytest
from shell import Command


@pytest.fixture
def command(tmp_path):
    return Command(tmp_path)
