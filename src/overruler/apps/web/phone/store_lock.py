"""What keeps a store safe from other servers and from jumps of the clock."""

import os
import time
from pathlib import Path
from typing import IO

from overruler.errors import BadInput

OWNER_ALONE_MODE = 0o700
"""Mode of folders that nobody but their owner reads."""
LOCK_FILE = "in-use"
"""Name of the file that a running server holds locked; the lock goes with the process, however it ends."""


class StoreInUse(BadInput):
    """Another process has the store."""


def lock_folder(folder: Path) -> IO[bytes]:
    """Lock a store for this process; `StoreInUse` if another server has it."""
    file = (folder / LOCK_FILE).open("ab")
    try:
        _lock_file(file)
    except (BlockingIOError, PermissionError):
        file.close()
        raise StoreInUse(
            f"--store: {folder}: another server uses it: end that one, or give another folder"
        ) from None
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


class SteadyClock:
    """The time of day at the start, and the seconds since: a clock that is set does not move it.

    So a jump of the machine's clock makes no photo expire.
    """

    __slots__ = ("_offset_s",)

    def __init__(self) -> None:
        self._offset_s = time.time() - time.monotonic()

    def now_s(self) -> float:
        """Seconds since 1970."""
        return self._offset_s + time.monotonic()

    def least_s(self) -> float:
        """The earlier of this time and the machine's: what is older by it is older by both."""
        return min(self.now_s(), time.time())
