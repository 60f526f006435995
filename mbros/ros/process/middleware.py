"""How a process of ours begins with ROS: without handlers of signals, and with what it asks of the middleware.

Fast DDS 3 starts two threads in every participant, `dds.tls.request` and `dds.tls.replies`, by which others can look up the definition of
a type. ROS has no use for them: its nodes know their types, and its tools find them by name and hash. A participant that ends while it is
being discovered may take down what these threads are still using: about one start and stop in 300 on a busy machine ended with a
segmentation fault there. Without them there is nothing to race.
"""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from mbros_core.support.files import stranger

from mbros.errors import MbrosWarning, warn

PROFILES = os.path.join(os.path.dirname(__file__), "fastdds.xml")
NAMED = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
LYING_HERE = ("DEFAULT_FASTDDS_PROFILES.xml", "DEFAULT_FASTRTPS_PROFILES.xml")
SKIP = "SKIP_DEFAULT_XML_FILE"


def init(args: Sequence[str], **more: Any) -> None:
    """rclpy.init, which see. ROS's own handlers of signals are not installed: each of our processes has its way to end."""
    import rclpy
    from rclpy.signals import SignalHandlerOptions

    without_type_look_up()
    rclpy.init(args=list(args), signal_handler_options=SignalHandlerOptions.NO, **more)


def without_type_look_up() -> None:
    """For this process. Profiles that the user has, named in the environment or lying in the working folder, are left as they are; other
    middleware reads none of this. Those that another user has put into the working folder are not read: they name files to write to."""
    for name in LYING_HERE:
        if (owner := stranger(name)) is not None:
            os.environ[SKIP] = "1"
            warn(f"{name} in the working folder belongs to user {owner}, and is not read", MbrosWarning)
    lying = SKIP not in os.environ and any(os.path.exists(name) for name in LYING_HERE)
    if not any(os.environ.get(name) for name in NAMED) and not lying:
        os.environ[NAMED[0]] = PROFILES
