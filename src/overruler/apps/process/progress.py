"""Progress on standard error, where a person is watching, and in the log."""

import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from overruler.errors import printable

T = TypeVar("T")
logger = logging.getLogger("overruler.steps")


def is_progress_shown(quiet: bool) -> bool:
    """Whether a bar shows how far the work is: to a person, to whom the steps are not told anyway."""
    return not (quiet or logger.isEnabledFor(logging.INFO)) and sys.stderr.isatty()


@contextmanager
def progress_display(quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Yield a function that tells what is being done: to the log, and to whoever watches."""
    if not is_progress_shown(quiet):
        yield logger.info
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(Text(f"{printable(text)} …"))


def with_progress_bar(items: Sequence[T], description: str) -> Iterator[T]:
    """Yield the items in turn, with a progress bar."""
    yield from track_progress(items, len(items), description)


def track_progress(
    items: Iterable[T], count: int, description: str, quiet: bool = False
) -> Iterator[T]:
    """Yield `count` items in turn, with a progress bar; lines printed meanwhile stand above it."""
    if not is_progress_shown(quiet) or not count:
        yield from items
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(
        "{task.description}",
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),  # else its lines would leave a pipe
    )
    with bar:
        yield from bar.track(items, total=count, description=description)
