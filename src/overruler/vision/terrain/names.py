"""Names of raised ground that the program found itself."""

from collections.abc import Collection, Iterator
from itertools import count


def free_names(taken: Collection[str]) -> Iterator[str]:
    """Yield h1, h2 and so on, without the names that are `taken`."""
    return (name for number in count(1) if (name := f"h{number}") not in taken)
