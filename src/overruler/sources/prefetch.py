"""Items that take time to make, made in a thread while the ones before are in use."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

MAX_PREFETCHED = 8
"""Items made ahead. A film's picture without events costs little more to check than to decode; one
that is measured costs a hundred times as much."""


@contextmanager
def prefetch_items(things: Iterable[T], most: int = MAX_PREFETCHED) -> Iterator[Iterator[T]]:
    """Yield the same items, none of which is None, in order; an error comes in its item's place.

    Leaving the `with` block waits for the thread, which then makes at most `most` more items.
    """
    source = iter(things)
    with ThreadPoolExecutor(1, "ahead") as executor:
        yield _yield_prefetched(source, executor, most)


def _yield_prefetched(source: Iterator[T], executor: ThreadPoolExecutor, most: int) -> Iterator[T]:
    waiting = deque[Future[T | None]]()
    for _ in range(most):
        waiting.append(executor.submit(next, source, None))
    while (item := waiting.popleft().result()) is not None:
        waiting.append(executor.submit(next, source, None))
        yield item
