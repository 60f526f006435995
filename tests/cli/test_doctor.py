"""mbros doctor: each misconfiguration is found and its remedy named; a machine that is in order gets no complaint."""
import json
import types

import pytest

import mbros_core
from mbros.cli.doctor import NOTE, OK, PROBLEM, Finding, Machine, host, ros, software
from mbros_core.realtime import timer_jitter


class Fake(Machine):
    """A healthy machine with a real-time kernel and ROS from wheels, except for what is given.

    files: path -> text. modules: name -> module or exception. missing: modules that cannot be found. free: path -> bytes.
    """

    def __init__(self, env=(), files=(), modules=(), missing=(), free=(), fifo=True, lock=True, cpus=4):
        super().__init__({"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "PATH": "/nowhere", **dict(env)}, "/nowhere")
        self.files = {"sys/kernel/realtime": "1", "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc", **dict(files)}
        self.modules = {"rclpy": types.SimpleNamespace(__file__="/x/rclpy/__init__.py"), "mbros.ros.wire._dataplane": object(),
                        "mbros.ros.process._ending": object(), **dict(modules)}
        self.missing, self.places, self.fifo, self.lock, self.n = missing, dict(free), fifo, lock, cpus

    def read(self, path):
        return self.files.get(path)

    def free(self, path):
        return self.places.get(path, 10 << 30)

    def module(self, name):
        return self.modules[name] if name in self.modules else super().module(name)

    def has(self, name):
        return name not in self.missing

    def cpus(self):
        return self.n

    def may_lock_memory(self):
        return self.lock

    def timer(self, seconds, priority):
        if priority and not self.fifo:
            raise PermissionError("refused")
        return timer_jitter(0.005)


def findings(check, machine, *arguments):
    return list(check(machine, *arguments))


@pytest.fixture(autouse=True)
def middleware_is_fine(monkeypatch):
    """rclpy may not be here; what is tested is not its loading."""
    monkeypatch.setattr(ros, "middleware", lambda machine: Finding(OK, "ros", "middleware", "rmw_x"))


@pytest.mark.parametrize("check", [software.python, software.engine, ros.installation, host.kernel, host.storage])
def test_a_machine_in_order_gets_no_complaint(check):
    assert [f for f in findings(check, Fake()) if f.level != OK] == []


SLOW = {"sys/kernel/realtime": "0", "proc/sys/kernel/version": "#1 SMP PREEMPT_DYNAMIC"}
HPET = {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"}
THROTTLED = {"proc/sys/kernel/sched_rt_runtime_us": "100000", "proc/sys/kernel/sched_rt_period_us": "1000000"}
BROKEN = ImportError("undefined symbol")
MISCONFIGURED = {
    # name: (check, machine, level, part of the text, part of the remedy)
    "no NumPy": (software.python, Fake(modules={"numpy": BROKEN}), PROBLEM, "undefined symbol", "pip install numpy"),
    "no engine": (software.engine, Fake(modules={"mbros_core": BROKEN}), PROBLEM, "undefined symbol", "make build"),
    "baseline forced": (software.engine, Fake(env={"MBROS_ENGINE": "baseline"}), NOTE, "MBROS_ENGINE=baseline", "Unset"),
    "no ROS": (ros.installation, Fake(modules={"rclpy": BROKEN}), NOTE, "no node and no demo", "mbros[ros]"),
    "ROS of another Python": (ros.installation, Fake(env={"ROS_DISTRO": "jazzy"}, modules={"rclpy": BROKEN}), PROBLEM,
                              "jazzy is sourced, but this Python cannot import", "/usr/bin/python3"),
    "missing messages": (ros.installation, Fake(missing=("nav_msgs",)), PROBLEM, "missing: nav_msgs", "mbros[ros]"),
    "missing messages, sourced": (ros.installation, Fake(env={"ROS_DISTRO": "kilted"}, missing=("nav_msgs",)), PROBLEM,
                                  "missing: nav_msgs", "apt install ros-kilted-nav-msgs"),
    "data plane not built": (ros.installation, Fake(modules={"mbros.ros.wire._dataplane": BROKEN}), PROBLEM, "not start", "Build mbros"),
    "ending not built": (ros.installation, Fake(modules={"mbros.ros.process._ending": BROKEN}), PROBLEM, "does not start", "Build mbros"),
    "no tf2_msgs, no compiler": (ros.installation, Fake(missing=("tf2_msgs", "mbros.ros.interfaces")), PROBLEM,
                                 "no C++ compiler", "apt install g++"),
    "domain is no number": (ros.installation, Fake(env={"ROS_DOMAIN_ID": "robot"}), PROBLEM, "'robot' is not a number", "0 to 101"),
    "domain too large": (ros.installation, Fake(env={"ROS_DOMAIN_ID": "233"}), PROBLEM, "not a number from 0 to 232", "0 to 101"),
    "domain in the ephemeral ports": (ros.installation, Fake(env={"ROS_DOMAIN_ID": "150"}), NOTE, "above 101", "0 to 101"),
    "open to the subnet": (ros.installation, Fake(env={"ROS_AUTOMATIC_DISCOVERY_RANGE": "SUBNET"}), NOTE, "whole subnet", "LOCALHOST"),
    "discovery misspelt": (ros.installation, Fake(env={"ROS_AUTOMATIC_DISCOVERY_RANGE": "local"}), PROBLEM, "means nothing", "SUBNET"),
    "FIFO refused": (host.real_time, Fake(fifo=False), NOTE, "SCHED_FIFO is refused", "rtprio 99"),
    "memory lock refused": (host.real_time, Fake(lock=False), NOTE, "may not be locked", "memlock unlimited"),
    "one processor": (host.real_time, Fake(cpus=1), NOTE, "one: the loop shares it", "two or more"),
    "ordinary kernel": (host.kernel, Fake(files=SLOW), NOTE, "not a real-time kernel (PREEMPT_DYNAMIC)", "PREEMPT_RT"),
    "slow clock": (host.kernel, Fake(files=HPET), NOTE, "hpet", "tsc"),
    "throttled": (host.kernel, Fake(files=THROTTLED), NOTE, "10 % of a processor", "sched_rt_runtime_us=950000"),
    "virtual machine": (host.kernel, Fake(files={"proc/cpuinfo": "flags : fpu hypervisor"}), NOTE, "virtual machine", "real"),
    "little shared memory": (host.storage, Fake(free={"dev/shm": 10 << 20}), NOTE, "10 MB free", "--shm-size"),
    "no shared memory": (host.storage, Fake(free={"dev/shm": None}), NOTE, "cannot be looked at", "--shm-size"),
}


@pytest.mark.parametrize("name", MISCONFIGURED)
def test_a_misconfiguration_is_found_with_its_remedy(name):
    check, machine, level, text, remedy = MISCONFIGURED[name]
    found = findings(check, machine, *([0.0] if check is host.real_time else []))
    matching = [f for f in found if f.level == level and text in f.text]
    assert len(matching) == 1, found
    assert remedy in matching[0].remedy


def test_a_powersave_governor(tmp_path):
    for k in range(2):
        folder = tmp_path / f"sys/devices/system/cpu/cpu{k}/cpufreq"
        folder.mkdir(parents=True)
        (folder / "scaling_governor").write_text(("performance", "powersave")[k] + "\n")
    (found,) = [f for f in host.kernel(Machine({}, tmp_path)) if f.subject == "governor"]
    assert found.level == NOTE and "powersave" in found.text and "cpupower" in found.remedy


def test_a_middleware_that_does_not_load(monkeypatch):
    monkeypatch.undo()
    monkeypatch.setitem(__import__("sys").modules, "rclpy.utilities", None)
    found = ros.middleware(Fake(env={"RMW_IMPLEMENTATION": "rmw_nobody"}))
    assert found.level == PROBLEM and "RMW_IMPLEMENTATION=rmw_nobody" in found.text and "Unset" in found.remedy


def test_an_engine_that_computes_nonsense(monkeypatch):
    import mbros

    class Wrong:
        energy = [1.0, 2.0]

    monkeypatch.setattr(mbros.Simulator, "run", lambda self, duration: Wrong())
    found = software.smoke()
    assert found.level == PROBLEM and "energy changed by 1 J" in found.text


def test_the_engine_line_names_what_was_chosen():
    (build,) = [f for f in software.engine(Fake()) if f.subject == "engine build"]
    for module in (mbros_core.Model.__module__, mbros_core.lanes().__name__, mbros_core.dual().__name__):
        assert module.split(".")[-1] + " for " in build.text


@pytest.mark.parametrize("module", ["lanes", "dual"])
def test_an_engine_without_a_module(monkeypatch, module):
    def load():
        raise ImportError("no such module")

    monkeypatch.setattr(mbros_core, module, load)
    found = findings(software.engine, Fake())
    assert [f.subject for f in found if f.level == PROBLEM] == [module]
    assert any(f.subject == "engine" and f.level == OK for f in found)      # one robot at a time still works


def test_the_timer_shows_its_histogram():
    found = host.timer(Fake(), 0.005, True)
    assert "SCHED_FIFO 80" in found.text and " us .. " in found.detail


def test_the_command(command):
    done = command("doctor", "--quick")
    assert done.returncode in (0, 1) and done.stderr == ""
    for word in ("python", "mbros", "ros", "real time", "machine"):
        assert f"\n{word}\n" in "\n" + done.stdout
    problems = [line for line in done.stdout.splitlines() if line.startswith("  problem")]
    assert done.returncode == bool(problems) and f"{len(problems)} problems" in done.stdout.splitlines()[-1]


def test_json_and_the_exit_code_of_a_problem(command):
    done = command("doctor", "--quick", "--json", ROS_DOMAIN_ID="robot")
    found = json.loads(done.stdout)
    assert {"level", "area", "subject", "text", "remedy", "detail"} == set(found[0])
    assert {f["level"] for f in found} <= {OK, NOTE, PROBLEM}
    problems = [f for f in found if f["level"] == PROBLEM]
    assert done.returncode == bool(problems)
    if any(f["subject"] == "ROS 2" and f["level"] == OK for f in found):
        assert "domain" in [f["subject"] for f in problems]
