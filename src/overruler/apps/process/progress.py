"""Progress on standard error, where a person is watching."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


@contextmanager
def progress_display() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows what is being done."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(f"{text} …")


def with_progress_bar(items: Sequence[T], description: str) -> Iterator[T]:
    """Yield the items in turn, with a progress bar."""
    if not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description, console=Console(stderr=True), transient=True)
