"""ROS 2: which, from where, and who can hear this robot and command it."""
from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from mbros.cli.doctor.machine import NOTE, OK, PROBLEM, Finding, Machine

MESSAGES = ("builtin_interfaces", "diagnostic_msgs", "geometry_msgs", "nav_msgs", "rosgraph_msgs", "sensor_msgs", "std_msgs", "std_srvs")


def installation(machine: Machine) -> Iterator[Finding]:
    """ROS 2: which, from where, and whether everything the node needs is there."""
    distro = machine.env.get("ROS_DISTRO", "")
    rclpy = machine.module("rclpy")
    if isinstance(rclpy, Exception):
        if distro:
            yield Finding(PROBLEM, "ros", "ROS 2", f"{distro} is sourced, but this Python cannot import its rclpy: {rclpy}",
                          "Use the Python that ROS was built for (/usr/bin/python3), or a shell where no ROS is sourced.")
        else:
            yield Finding(NOTE, "ros", "ROS 2", "not here, so there is no node and no demo; the library works without it",
                          'pip install "mbros[ros]", or source a ROS 2 installation.')
        return
    source = f"{distro}, sourced" if distro else "wheels from PyPI"
    yield Finding(OK, "ros", "ROS 2", f"{source}; rclpy in {Path(rclpy.__file__).parent}")
    yield middleware(machine)
    missing = [name for name in MESSAGES if not machine.has(name)]
    if missing:
        yield Finding(PROBLEM, "ros", "messages", f"missing: {', '.join(missing)}",
                      f"sudo apt install {' '.join(f'ros-{distro}-' + n.replace('_', '-') for n in missing)}" if distro
                      else 'pip install "mbros[ros]"')
    else:
        yield Finding(OK, "ros", "messages", "all packages the node uses are there")
    yield transforms(machine)
    ending = machine.module("mbros.ros.process._ending")
    if isinstance(ending, Exception):
        yield Finding(PROBLEM, "ros", "node", f"it does not start without what takes its signals: {ending}",
                      "Build mbros again: pip install .")
    plane = machine.module("mbros.ros.wire._dataplane")
    if isinstance(plane, Exception):
        yield Finding(PROBLEM, "ros", "data plane", f"the node does not start without what carries its messages: {plane}",
                      "Build mbros again: pip install .")
    else:
        yield Finding(OK, "ros", "data plane", "messages in and out without the interpreter lock")
    yield from network(machine)


def middleware(machine: Machine) -> Finding:
    """The RMW that rclpy will use."""
    try:
        from rclpy.utilities import get_rmw_implementation_identifier
        return Finding(OK, "ros", "middleware", get_rmw_implementation_identifier())
    except Exception as error:
        wanted = machine.env.get("RMW_IMPLEMENTATION")
        return Finding(PROBLEM, "ros", "middleware", f"it cannot be loaded{f' (RMW_IMPLEMENTATION={wanted})' if wanted else ''}: "
                       + " ".join(str(error).split())[:200], "Unset RMW_IMPLEMENTATION, or install that middleware.")


def transforms(machine: Machine) -> Finding:
    """tf2_msgs: there, or generated when it is first needed, for which a compiler is needed."""
    if machine.has("tf2_msgs") or machine.has("mbros.ros.interfaces") and generated("tf2_msgs"):
        return Finding(OK, "ros", "tf2_msgs", "there: /tf will be published")
    if shutil.which(machine.env.get("CXX", "g++").split()[0], path=machine.env.get("PATH")) and machine.has("catkin_pkg"):
        return Finding(NOTE, "ros", "tf2_msgs", "not there; it will be generated when a node first starts (a few seconds)",
                       "Nothing to do, or now: python -m mbros.ros.interfaces")
    return Finding(PROBLEM, "ros", "tf2_msgs", "not there, and there is no C++ compiler (or no catkin-pkg) to generate it with",
                   'sudo apt install g++ python3-dev; pip install "mbros[ros]"')


def generated(package: str) -> bool:
    from mbros.ros.interfaces import location
    folder = location(package)
    return folder is not None and (folder / package).is_dir()


def network(machine: Machine) -> Iterator[Finding]:
    """Domain and discovery: who can hear this robot, and command it."""
    domain = machine.env.get("ROS_DOMAIN_ID", "")
    if domain and not (domain.isdecimal() and int(domain) <= 232):
        yield Finding(PROBLEM, "ros", "domain", f"ROS_DOMAIN_ID={domain!r} is not a number from 0 to 232", "export ROS_DOMAIN_ID=0 to 101")
    elif domain and int(domain) > 101:
        yield Finding(NOTE, "ros", "domain", f"ROS_DOMAIN_ID={domain}: above 101 its ports lie in Linux' own range and may be taken",
                      "Choose 0 to 101.")
    else:
        yield Finding(OK, "ros", "domain", domain or "0 (ROS_DOMAIN_ID is not set)")
    reach = machine.env.get("ROS_AUTOMATIC_DISCOVERY_RANGE", "").upper()
    local = reach in ("LOCALHOST", "OFF") or machine.env.get("ROS_LOCALHOST_ONLY") == "1"
    if reach and reach not in ("LOCALHOST", "SUBNET", "OFF", "SYSTEM_DEFAULT"):
        yield Finding(PROBLEM, "ros", "discovery", f"ROS_AUTOMATIC_DISCOVERY_RANGE={reach} means nothing",
                      "export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST or SUBNET")
    elif local:
        yield Finding(OK, "ros", "discovery", "this computer only" if reach != "OFF" else "off: no other node is found")
    else:
        yield Finding(NOTE, "ros", "discovery", "the whole subnet: any computer in this domain can send torques",
                      "For one computer: export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST")
