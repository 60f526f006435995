# Files of simulations in memory: their names, and how one is made and put away.

FOLDER = "/dev/shm"


def path_of(str name):
    """The file of the simulation of this name. MbrosError where it is no name."""
    cdef char path[160]
    text = name.encode()
    if b"\0" in text or mbros_path(path, sizeof(path), text) != MBROS_OK:
        raise MbrosError(f"shared memory: {name!r} is no name; expected 1 to 100 letters, digits, or one of _ - .")
    return (<bytes>path).decode()


def names():
    """The simulations of this user that run now and share their memory, by name."""
    cdef int file
    prefix = f"mbros-{os.getuid()}-"
    found = []
    for entry in sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else ():
        if entry.startswith(prefix):
            try:
                file = os.open(f"{FOLDER}/{entry}", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            except OSError:
                continue
            if mbros_locked(file, MBROS_LOCK_SIMULATION):
                found.append(entry[len(prefix):])
            os.close(file)
    return found


def new_file(str path, str name, bytes_wanted):
    """A file of that many bytes, locked as a simulation's."""
    cdef int file
    for _ in range(100):
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            put_away_dead(path, name)
            continue
        except OSError as error:
            raise SystemRefusedError(error.errno, f"shared memory {name!r}: {path}: {os.strerror(error.errno)}") from None
        if mbros_lock(file, MBROS_LOCK_SIMULATION) and is_file(path, file):
            try:
                os.posix_fallocate(file, 0, bytes_wanted)       # where there is no room it is said now, and not by a bus error later
            except OSError as error:
                put_away(path, file)
                os.close(file)
                raise SystemRefusedError(error.errno, f"shared memory {name!r}: {FOLDER} has no room for {bytes_wanted} bytes: "
                                         f"{os.strerror(error.errno)}") from None
            return file
        os.close(file)
    raise BusyError(f"shared memory: the name {name!r} is being taken by others all the time; choose another name")


def put_away_dead(str path, str name):
    """Put away the file of a simulation that was killed; BusyError where the simulation lives."""
    cdef int file
    try:
        file = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:                                   # it has just been
        return
    except OSError as error:
        raise SystemRefusedError(error.errno, f"shared memory {name!r}: {path}: {os.strerror(error.errno)}; remove it") from None
    try:
        if not mbros_lock(file, MBROS_LOCK_SIMULATION):
            raise BusyError(f"shared memory: a simulation named {name!r} runs already; choose another name, or end that one")
        put_away(path, file)
    finally:
        os.close(file)


def is_file(str path, int file):
    """Whether that open file is the one of this path."""
    try:
        there, here = os.stat(path, follow_symlinks=False), os.fstat(file)
    except FileNotFoundError:
        return False
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)


def put_away(str path, int file):
    if is_file(path, file):
        os.unlink(path)
