"""Batches drawn by several processes beside the one that teaches."""

from collections.abc import Callable, Sequence
from multiprocessing import get_context
from queue import Queue
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import multiprocessing as beside

from synthetic.arrays import Floats, Rng
from training.loop import Batch

AHEAD = 3
"""So many batches of each process may wait to be learnt from."""
Draw = Callable[[], tuple[Floats, Floats]]
Item = TypeVar("Item")
Thing = TypeVar("Thing")
HELD_OUT = 10
"""One traced table in so many is kept for the check."""


class Fresh(Generic[Thing]):
    """So many drawn things, of which one look in `every` replaces one by a new one: none is learnt by heart."""

    def __init__(self, draw: Callable[[int], Thing], count: int, every: int = 1) -> None:
        self._draw, self._things, self._next = draw, [draw(k) for k in range(count)], count
        self._every, self._looks = every, 0

    def look(self) -> Sequence[Thing]:
        if self._looks % self._every == 0:
            self._things[self._next % len(self._things)] = self._draw(self._next)
            self._next += 1
        self._looks += 1
        return self._things


def held_out(things: Sequence[Thing]) -> tuple[list[Thing], list[Thing]]:
    """Those kept for the check, and the rest."""
    return list(things[::HELD_OUT]), [thing for k, thing in enumerate(things) if k % HELD_OUT]


def mixed(
    rng: Rng,
    count: int,
    shares: Sequence[float],
    kinds: Sequence[Callable[[int], tuple[Floats, Floats]]],
) -> tuple[Floats, Floats]:
    """So many samples, each kind's share of them about as large as told."""
    parts = [
        kind(int(n)) for kind, n in zip(kinds, rng.multinomial(count, shares), strict=True) if n
    ]
    blobs, truths = zip(*parts, strict=True)
    return np.concatenate(blobs), np.concatenate(truths)


def fed(make: Callable[[int], Draw], workers: int) -> Callable[[], Batch]:
    """Gives a batch a call: its own, or those that so many processes draw meanwhile, each as `make(number)` does.

    To be called before any GPU is touched: the processes are copies of this one.
    """
    if not workers:
        return make(0)
    fork = beside.get_context("fork")
    queue = fork.Queue(AHEAD * workers)
    for number in range(workers):
        fork.Process(target=_draw_on, args=(make, number, queue), daemon=True).start()
    return queue.get  # type: ignore[no-any-return]


def _draw_on(make: Callable[[int], Draw], number: int, queue: "Queue[Any]") -> None:
    torch.set_num_threads(1)
    draw = make(number)
    while True:
        queue.put(tuple(map(torch.from_numpy, draw())))


def read_all(read: Callable[[Item], Thing], items: Sequence[Item], workers: int) -> list[Thing]:
    """What `read` makes of each file, or of another thing."""
    if not workers:
        return [read(item) for item in items]
    with get_context("fork").Pool(workers) as pool:
        return pool.map(read, items, chunksize=4)
