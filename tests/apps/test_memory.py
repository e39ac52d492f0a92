"""Memory that is kept: what one array leaves behind serves the next."""

import ctypes
import gc
import subprocess
import sys

import pytest

from overruler.apps import cli
from overruler.apps.process import memory

ROUNDS, PAGES = 20, 1000
TAKES = f"""
import resource, numpy
from overruler.apps.process.memory import keep_memory
{{}}
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for more in range({ROUNDS}):
    numpy.ones(({PAGES} + more) * 4096, numpy.uint8)
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def new_pages(first: str) -> int:
    """How many pages a process of its own asks for, for arrays that come one after the other, each a little larger."""
    done = subprocess.run(
        [sys.executable, "-c", TAKES.format(first)], capture_output=True, text=True, check=True
    )
    return int(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="only there pages are counted so")
def test_what_an_array_leaves_behind_serves_the_next() -> None:
    assert new_pages("keep_memory()") < 2 * PAGES


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "disable", lambda: None)
    for one in (object(), None):
        monkeypatch.setattr(ctypes, "CDLL", lambda _, one=one: one)
        memory.keep_memory()
        memory.limit_malloc_arenas()
        memory.give_back_memory()


@pytest.mark.parametrize(
    ("command", "keeps"), [("measure", True), ("analyze", False), ("serve", False)]
)
def test_only_a_command_that_is_soon_over_keeps_it(
    command: str, keeps: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(sys, "argv", ["overruler", command])
    monkeypatch.setattr(memory, "keep_memory", lambda: told.append(command))
    monkeypatch.setattr(cli, "main", lambda: 2)
    with pytest.raises(SystemExit):
        cli.run_process()
    assert bool(told) == keeps
