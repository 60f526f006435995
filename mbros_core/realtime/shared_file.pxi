# Files of simulations in memory: their names, and how one is made and put away.

FOLDER = "/dev/shm"
OPENED = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK      # no pipe holds it up


def path_of(str name):
    """The file of the simulation of this name. MbrosError where it is no name."""
    cdef char path[160]
    text = name.encode(errors="replace")                        # a "?" is in no name
    if b"\0" in text or mbros_path(path, sizeof(path), text) != MBROS_OK:
        raise MbrosError(f"shared memory: {name!r} is no name; expected 1 to 100 letters, digits, or one of _ - .")
    return (<bytes>path).decode()


def what_stands(str path):
    """What stands there that no simulation of this user put there, in words; "" for a file that is this user's alone, or for nothing."""
    try:
        about = os.lstat(path)
    except FileNotFoundError:
        return ""
    kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
    mode = stat.S_IMODE(about.st_mode)
    what = kinds.get(stat.S_IFMT(about.st_mode), "a file" if stat.S_ISREG(about.st_mode) else "a device")
    if about.st_uid != os.geteuid():
        return f"{what} of user {about.st_uid}"
    if what != "a file":
        return what
    if mode != 0o600:
        return f"a file of mode {mode:04o} instead of 0600"
    return f"a file with {about.st_nlink} names" if about.st_nlink > 1 else ""


cdef object in_the_way(str name, str path, str what):
    return SystemRefusedError(EEXIST, f"shared memory {name!r}: {path} is {what}, and no simulation's of this user; remove it, or choose "
                                      "another name")


def names():
    """The simulations of this user that run now and share their memory, by name."""
    cdef int file
    prefix = f"mbros-{os.geteuid()}-"
    found = []
    for entry in sorted(os.listdir(FOLDER)) if os.path.isdir(FOLDER) else ():
        if entry.startswith(prefix):
            try:
                path = path_of(entry[len(prefix):])             # others can make files of any name there
                if what_stands(path):
                    continue
                file = os.open(path, OPENED)
            except (MbrosError, OSError):
                continue
            if mbros_locked(file, MBROS_LOCK_SIMULATION):
                found.append(entry[len(prefix):])
            os.close(file)
    return found


def new_file(str path, str name, bytes_wanted):
    """A file of that many bytes, of this user alone, locked as a simulation's, and new: what stands there is never opened as ours."""
    cdef int file
    for _ in range(100):
        try:
            file = os.open(path, OPENED | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            put_away_dead(path, name)
            continue
        except OSError as error:
            raise SystemRefusedError(error.errno, f"shared memory {name!r}: {path}: {os.strerror(error.errno)}") from None
        if mbros_lock(file, MBROS_LOCK_SIMULATION) and is_file(path, file):
            try:
                os.fchmod(file, 0o600)                          # a umask may have taken bits
                os.posix_fallocate(file, 0, bytes_wanted)       # where there is no room it is said now
            except OSError as error:
                put_away(path, file)
                os.close(file)
                raise SystemRefusedError(error.errno, f"shared memory {name!r}: {FOLDER} has no room for {bytes_wanted} bytes: "
                                         f"{os.strerror(error.errno)}") from None
            return file
        os.close(file)
    raise BusyError(f"shared memory: the name {name!r} is being taken by others all the time; choose another name")


cdef void* new_segment(str name, size_t bytes_wanted, int32_t* id) except NULL:
    """Memory of that many zeros that other processes of this user can attach, and that goes with the last process that has it."""
    cdef void* where
    id[0] = shmget(IPC_PRIVATE, bytes_wanted, IPC_CREAT | 0o600)
    if id[0] < 0:
        raise SystemRefusedError(errno, f"shared memory {name!r}: no System V segment of {bytes_wanted} bytes (ipcs -l shows the limits): "
                                        f"{os.strerror(errno)}")
    where = shmat(id[0], NULL, 0)
    error = errno
    shmctl(id[0], IPC_RMID, NULL)                               # clients can attach all the same, on Linux, as long as it is there
    if where == <void*>-1:
        raise SystemRefusedError(error, f"shared memory {name!r}: {os.strerror(error)}")
    memset(where, 0, bytes_wanted)                              # touches every page
    return where


cdef int write_all(int file, bytes text) except -1:
    """From the beginning of the file."""
    done = 0
    while done < len(text):
        done += os.pwrite(file, text[done:], done)
    return 0


def put_away_dead(str path, str name):
    """Put away the file of a simulation that was killed; BusyError where the simulation lives, SystemRefusedError where something else
    stands there."""
    cdef int file
    what = what_stands(path)
    if what and not what.startswith(("a file of mode", "a file with")):
        raise in_the_way(name, path, what)
    try:
        file = os.open(path, OPENED)
    except FileNotFoundError:                                   # it has just been
        return
    except OSError as error:
        raise in_the_way(name, path, what_stands(path) or os.strerror(error.errno)) from None
    try:
        if os.fstat(file).st_uid != os.geteuid() or not stat.S_ISREG(os.fstat(file).st_mode):       # changed meanwhile
            return
        if not mbros_lock(file, MBROS_LOCK_SIMULATION):
            if what:
                raise in_the_way(name, path, what)
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
