"""`command`: the mbros command, run in the test's own folder."""
import pytest
from nursery import Nursery
from shell import Command


@pytest.fixture(scope="session")
def commands():
    """What commands are forked from."""
    nursery = Nursery("mbros.cli")
    yield nursery
    nursery.close()


@pytest.fixture
def command(tmp_path, commands):
    return Command(tmp_path, commands)
