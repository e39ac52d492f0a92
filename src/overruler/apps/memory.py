"""How a command holds on to memory: one that is soon over, and one that works for hours."""

import ctypes
import gc

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8
"""glibc's names for what `mallopt` sets (malloc.h)."""


def keep_memory() -> None:
    """What arrays leave behind serves the next ones, and is not given back to the system to be asked for anew.

    Half the pages are asked for then: a new one costs some microseconds. Nothing of that where the C library is not
    glibc. Nor are circles of objects looked for, which takes 60 ms of a photo.
    """
    gc.disable()
    _tell({_TRIM_THRESHOLD: 2**31 - 1, _MMAP_MAX: 0, _ARENA_MAX: 1})


def share_memory() -> None:
    """What one thread leaves behind serves the others: apart, each keeps its own. Nothing where there is no glibc."""
    _tell({_ARENA_MAX: 1})


def _tell(options: dict[int, int]) -> None:
    try:
        tell = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for option, value in options.items():
        tell(option, value)
