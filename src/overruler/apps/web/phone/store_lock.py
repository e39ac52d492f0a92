"""What keeps a store safe from other servers and from jumps of the clock."""

import time
from pathlib import Path
from typing import IO

from overruler.apps.process.file_lock import hold_file
from overruler.errors import BadInput

OWNER_ALONE_MODE = 0o700
"""Mode of folders that nobody but their owner reads."""
LOCK_FILE = "in-use"
"""Name of the file that a running server holds locked; the lock goes with the process, however it ends."""


class StoreInUse(BadInput):
    """Another process has the store."""


def lock_folder(folder: Path) -> IO[bytes]:
    """Lock a store for this process; `StoreInUse` if another server has it."""
    file = hold_file(folder / LOCK_FILE)
    if file is None:
        raise StoreInUse(
            f"--store: {folder}: another server uses it: end that one, or give another folder"
        )
    return file


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
