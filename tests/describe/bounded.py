"""Work with a bound on its processor time, in a process of its own: what would take minutes fails a test after CPU_S."""
import os
import resource
import signal

CPU_S = 12              # many times what anything here takes, and less than each of these took

WAIT_S = 60             # for what waits and does nothing


def bounded(do):
    """(what do() gives, or the text of its MbrosError; by how much its memory grew at most, MB)."""
    import mbros

    mbros.load("pendulum", ground=True)         # what is imported when first used
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 1))
        signal.alarm(WAIT_S)
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")                     # the peak of what forked it is not its own
        before = memory("VmRSS")
        try:
            said = str(do())
        except mbros.MbrosError as error:
            said = f"refused: {error}"
        except BaseException as error:
            said = f"raw: {type(error).__name__}: {error}"
        largest = (memory("VmHWM") - before) // 1024
        os.write(write, f"{largest} {said}".encode("utf-8", "replace")[:60_000])
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    assert not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU), f"it took more than {CPU_S} s of processor time"
    assert not (os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM), f"it waited for {WAIT_S} s"
    assert status == 0, f"it ended with {status}"
    largest, _, said = said.partition(" ")
    return said, int(largest)


def memory(which):
    """VmRSS or VmHWM of this process, kB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(which + ":"))


def link(name, inside="", mass=True):
    return f"<link name='{name}'>" + ("<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>" if mass else "") \
        + f"{inside}</link>"


def joint(name, parent, child, inside="", kind="continuous"):
    return f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/><axis xyz='0 0 1'/>{inside}</joint>"


def robot(*parts):
    return f"<robot name='r'>{''.join(parts)}</robot>"


BOX = "<collision><geometry><box size='1 1 1'/></geometry></collision>"
PAIR = link("a") + link("b") + joint("j", "a", "b")
