"""Private folders, files that are whole in them whenever the power is cut, and locks by which processes take turns.

Tests: tests/unit/ledger/test_opening.py.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["held", "make_private", "network_of", "sync", "write_new", "write_whole", "written_beside"]

PAUSES = (0.001, 0.05)
"""Seconds between two looks at a lock that another process holds: the first pause, and the longest. It is a choice
between an early answer and a busy processor."""

MOUNTS = Path("/proc/self/mountinfo")
"""What Linux says of mounts: https://man7.org/linux/man-pages/man5/proc_pid_mountinfo.5.html."""
NETWORK = frozenset("afs beegfs ceph cifs gfs2 glusterfs lustre ncpfs nfs nfs4 ocfs2 smb2 smb3 smbfs".split())
"""Kinds of file systems that several machines write: those that fuse brings are named the same, after ``fuse.``."""


def make_private(folder: Path) -> None:
    """Makes a folder, and every level above it that is missing, with mode 0700 whatever the umask says.

    A level that others may write would let them put another folder in the place of the private one.
    """
    if folder.exists():
        return
    for level in [*reversed(folder.parents), folder]:
        if not level.exists():
            try:
                level.mkdir(mode=0o700)
            except FileExistsError:  # another process was faster
                continue
            level.chmod(0o700)
            sync(level.parent)


def network_of(folder: Path) -> str | None:
    """The kind of file system that a folder is on, or will be made on, if several machines may write it; else None.

    Their locks are each machine's own, or come and go, and memory is not shared: two ledgers would be one file.
    """
    place = next((level for level in (folder, *folder.parents) if level.exists()), Path("/"))
    try:
        lines = MOUNTS.read_text(errors="replace").splitlines()
    except OSError:
        return None  # another system: nothing is known
    device = place.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = (line.partition(" - ")[2].split(" ")[0] for line in lines if line.split(" ")[2] == number)
    return next((kind for kind in kinds if kind.removeprefix("fuse.") in NETWORK), None)


def write_whole(file: Path, content: bytes) -> None:
    """Puts a file in its place: whoever reads it, also after a power cut, reads this or what was there before.

    Args:
        file: The place; its folder is private.
        content: All of it.
    """
    with written_beside(file, content) as place:
        place()


@contextmanager
def written_beside(file: Path, content: bytes) -> Iterator[Callable[[], None]]:
    """What puts a file in its place as `write_whole` does, once all of it is on the disk beside that place.

    Where it is not called, because the block raised, nothing is left.
    """
    handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=".new-")

    def place() -> None:
        is_new = not file.exists()
        Path(temporary).replace(file)
        if is_new:
            sync(file.parent)

    try:
        with os.fdopen(handle, "wb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        yield place
    except BaseException:
        with suppress(OSError):  # a disk that cannot be written refuses even this
            Path(temporary).unlink(missing_ok=True)
        raise


def write_new(file: Path, content: bytes) -> None:
    """Makes a file where there is none, whole or not at all; whoever may read others that its writer makes reads it.

    Raises:
        FileExistsError: If there is one, also if it came meanwhile.
    """
    beside = file.with_name(f".new-{secrets.token_hex(8)}")
    try:
        with beside.open("xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        try:
            file.hardlink_to(beside)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if file.exists():
                raise
            beside.replace(file)
    except OSError as error:
        error.filename, error.filename2 = str(file), None
        raise
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
    with suppress(OSError):  # a folder that its writer may not read
        sync(file.parent)


def sync(path: Path) -> None:
    """Waits until a file's content, or a folder's names, are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def held(lock: Path, *, patience: float, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Holds a lock; it falls with the process, however that ends.

    Args:
        lock: Its file; made with mode 0600 where there is none.
        patience: Seconds to wait for another process.
        waiting: Called before each pause.

    Raises:
        TimeoutError: If another process holds it for longer.
    """
    handle = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        ends, pause = time.monotonic() + patience, PAUSES[0]
        while not _taken(handle):
            if time.monotonic() >= ends:
                raise TimeoutError
            waiting()
            time.sleep(pause)
            pause = min(2 * pause, PAUSES[1])
        yield
    finally:
        os.close(handle)


def _taken(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
