"""Locks of files: one process holds a file, and the lock goes with the process, however it ends."""

import os
from pathlib import Path
from typing import IO


def hold_file(path: Path) -> IO[bytes] | None:
    """Open a file and lock it for this process; None if another process has it.

    A file system without locks gives the file unlocked.
    """
    file = path.open("ab")
    try:
        _lock_file(file)
    except (BlockingIOError, PermissionError):
        file.close()
        return None
    except OSError:
        pass  # a file system without locks
    return file


def _lock_file(file: IO[bytes]) -> None:
    """Lock a file, or raise `BlockingIOError` (on Windows `PermissionError`) at once."""
    if os.name == "nt":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
