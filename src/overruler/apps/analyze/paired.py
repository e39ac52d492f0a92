"""Several films of one table, their pictures paired by time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from math import floor

from overruler.frame import Shot
from overruler.sources.video import EARLY_TOLERANCE, LOOKS_PER_S

END_TOLD_S = 2.0
"""A film has ended before the others if these go on for longer, in s: nobody stops all at once."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The pictures of a tenth of a second, by all films."""

    shots: tuple[tuple[int, Shot], ...]
    """Each with its film's number."""
    ended: tuple[int, ...] = ()
    """Numbers of the films that have ended before."""


@dataclass(frozen=True, slots=True)
class _Item:
    """A film's picture, or its end where there is none."""

    time_s: float
    number: int
    shot: Shot | None

    def __lt__(self, other: "_Item") -> bool:
        return (self.time_s, self.number) < (other.time_s, other.number)


def paired_moments(films: Sequence[Iterator[Shot]], offsets_s: Sequence[float]) -> Iterator[Moment]:
    """Yield the pictures of all films by the first one's time; a film's offset is how much later it began."""
    items = [_items(k, *pair) for k, pair in enumerate(zip(films, offsets_s, strict=True))]
    slot = None
    shots: list[tuple[int, Shot]] = []
    ended: list[int] = []
    for item in merge(*items):
        now = floor(item.time_s * LOOKS_PER_S + EARLY_TOLERANCE)
        if shots and now != slot:
            yield Moment(tuple(shots), tuple(ended))
            shots, ended = [], []
        slot = now
        if item.shot is None:
            ended.append(item.number)
        else:
            shots.append((item.number, item.shot))
    if shots:
        yield Moment(tuple(shots))


def _items(number: int, shots: Iterator[Shot], offset_s: float) -> Iterator[_Item]:
    time_s = 0.0
    for shot in shots:
        time_s = shot.time_s + offset_s
        yield _Item(time_s, number, replace(shot, time_s=time_s))
    yield _Item(time_s + END_TOLD_S, number, None)
