"""The one folder of the node's services, where the user or the home is odd."""
import os

import pytest

from mbros.ros.errors import RequestError
from mbros.ros.serve.folder import folder_of


def test_a_home_that_there_is_not_is_said(monkeypatch, tmp_path):
    monkeypatch.delenv("ROS_HOME", raising=False)
    with pytest.raises(RequestError, match="no home folder for '~no-such-user/x'; give another one with the parameter `folder`"):
        folder_of({"folder": "~no-such-user/x"})
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)           # as of a user that the system has no entry of
    with pytest.raises(RequestError, match="no home folder for '~/.ros/mbros'"):
        folder_of({"folder": ""})
    assert folder_of({"folder": str(tmp_path)}) == tmp_path
