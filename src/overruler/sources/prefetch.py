"""Things that take time to make, made in a thread of their own while somebody works on those before."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

MAX_PREFETCHED = 8
"""So many are made before they are asked for: pictures of a film that nothing happens in cost hardly more to look at
than to decode, those that are measured a hundred times as much."""


@contextmanager
def prefetch_items(things: Iterable[T], most: int = MAX_PREFETCHED) -> Iterator[Iterator[T]]:
    """The same things, none of which is None, in the same order; an error comes where it would have come.

    Leaving the `with` block waits for the thread, which makes no more than `most` things then.
    """
    source = iter(things)
    with ThreadPoolExecutor(1, "ahead") as maker:
        yield _yield_prefetched(source, maker, most)


def _yield_prefetched(source: Iterator[T], maker: ThreadPoolExecutor, most: int) -> Iterator[T]:
    waiting: deque[Future[T | None]] = deque(maker.submit(next, source, None) for _ in range(most))
    while (thing := waiting.popleft().result()) is not None:
        waiting.append(maker.submit(next, source, None))
        yield thing
