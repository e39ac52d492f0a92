"""Memory that is kept: what one array leaves behind serves the next."""

import ctypes
import subprocess
import sys

import pytest

from overruler.apps.memory import keep_memory

ROUNDS, PAGES = 20, 1000
TAKES = f"""
import resource, numpy
from overruler.apps.memory import keep_memory
{{}}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for more in range({ROUNDS}):
    numpy.ones(({PAGES} + more) * 4096, numpy.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def new_pages(first: str) -> int:
    """How many pages a process of its own asks for, for arrays that come one after the other, each a little larger."""
    done = subprocess.run([sys.executable, "-c", TAKES.format(first)], capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only there pages are counted so")
def test_what_an_array_leaves_behind_serves_the_next() -> None:
    assert new_pages("keep_memory()") < 2 * PAGES


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (object(), None):
        monkeypatch.setattr(ctypes, "CDLL", lambda _, one=one: one)
        keep_memory()
