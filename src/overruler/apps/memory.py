"""How a process holds on to memory: one that is soon over, and one that works for hours. Nothing without glibc."""

import ctypes
import gc

_TRIM_THRESHOLD, _MMAP_MAX, _ARENA_MAX = -1, -4, -8
"""glibc's names for what `mallopt` sets (malloc.h)."""


def keep_memory() -> None:
    """What arrays leave behind serves the next ones, and is not given back to the system to be asked for anew.

    Half the pages are asked for then: a new one costs some microseconds. Nor are circles of objects looked for, which
    takes 60 ms of a photo.
    """
    gc.disable()
    _call_libc("mallopt", _TRIM_THRESHOLD, 2**31 - 1)
    _call_libc("mallopt", _MMAP_MAX, 0)
    limit_malloc_arenas()


def limit_malloc_arenas() -> None:
    """What one thread leaves behind serves the others: apart, each keeps its own."""
    _call_libc("mallopt", _ARENA_MAX, 1)


def give_back_memory() -> None:
    """What is free is the system's again: left in pieces, it does not fit what is asked for next."""
    _call_libc("malloc_trim", 0)


def _call_libc(function: str, *numbers: int) -> None:
    try:
        getattr(ctypes.CDLL(None), function)(*numbers)
    except (AttributeError, OSError, TypeError):
        return
