"""Memory and priority of short and of long-running processes; what the system lacks has no effect."""

import ctypes
import gc
import os
import sys

_TRIM_THRESHOLD = -1
"""`M_TRIM_THRESHOLD` of `mallopt` (malloc.h)."""
_MMAP_MAX = -4
"""`M_MMAP_MAX`."""
_ARENA_MAX = -8
"""`M_ARENA_MAX`."""


def keep_memory() -> None:
    """Keep freed memory in the process, and switch the garbage collector off.

    That halves the number of page faults, which take some microseconds each. Collecting cycles takes
    60 ms of a photo.
    """
    gc.disable()
    _call_libc("mallopt", _TRIM_THRESHOLD, 2**31 - 1)
    _call_libc("mallopt", _MMAP_MAX, 0)
    limit_malloc_arenas()


def limit_malloc_arenas() -> None:
    """Let all threads share one arena, so that one thread reuses what another has freed."""
    _call_libc("mallopt", _ARENA_MAX, 1)


def give_back_memory() -> None:
    """Return free memory to the system: in fragments, it does not fit the next request."""
    _call_libc("malloc_trim", 0)


def peak_bytes() -> int:
    """The most memory that this process has had at once; 0 where the system does not tell."""
    try:
        import resource
    except ImportError:  # Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def lower_priority(by: int) -> None:
    """Let other processes go first, where the system has such priorities."""
    if hasattr(os, "nice"):
        os.nice(by)


def _call_libc(function: str, *numbers: int) -> None:
    try:
        getattr(ctypes.CDLL(None), function)(*numbers)
    except (AttributeError, OSError, TypeError):
        return
