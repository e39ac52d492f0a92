"""The times of a film's pictures, also where its file states none, or states them out of order.

A decoder gives pictures in the order in which they are shown. Sound times therefore ascend. Some
files (AVI, raw streams, badly joined ones) state the times of decoding, or none.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np

from overruler.sources.film_file import import_av

CLOCK_RESTART_S = 1.0
"""Time stamps that step back by more than this belong to a second recording."""
CLOCK_RESTART_STEPS = 3.5
"""The same in times between two pictures: short clips may be joined too."""
DEFAULT_FRAMES_PER_S = 10.0
"""Rate of a film that does not declare one."""
PROBED_PACKETS = 64
"""Packets that are read to learn how a file states its times."""
NUDGE_SHARE = 0.1
"""By how much a picture follows one whose time it repeats, in times between two pictures."""
REORDERED_PICTURES = 16
"""Most pictures between two that change places: H.264 and HEVC allow no more."""


@dataclass(frozen=True, slots=True)
class TimeBase:
    """How a stream states the times of its pictures."""

    first: Fraction
    """Time stamp from which the film's time counts, in s: its first picture's, or its sound's if that is earlier."""
    late: Fraction
    """How much later than the sound the pictures begin, in s; 0 where they do not."""
    is_timed: bool
    """Whether its packets state times, and not all the same."""
    in_decoding_order: bool
    """Whether the times are those of decoding, though pictures are shown in another order."""

    @classmethod
    def probe(cls, path: Path, index: int) -> "TimeBase":
        """Read the first packets of a stream, in a copy of the film that is opened for it."""
        av = import_av()
        with av.open(str(path)) as container:
            stream = container.streams[index]
            stamps = _packet_stamps(container, stream)
            base = stream.time_base or Fraction(1)
            known = [stamp for stamp in stamps if stamp is not None]
            is_timed = len(set(known)) > (len(stamps) > 1)
            may_reorder = bool(stream.codec_context.has_b_frames)
            ascend = all(one < other for one, other in pairwise(known))
            by_decoding = may_reorder and ascend and len(known) > 1
            start = stream.start_time or 0
            first = Fraction(min(known) if by_decoding else start) * base
            late = _lateness(start * base, container.streams.audio) if is_timed else Fraction(0)
            return cls(first - late, late, is_timed, by_decoding)


def _lateness(start: Fraction, sounds: Iterable[Any]) -> Fraction:
    """How much later than the earliest of a file's sounds its pictures begin, in s: players count from there.

    What lies before 0 is what a codec needs to begin, and nobody hears it.
    """
    begins = [
        sound.start_time * sound.time_base for sound in sounds if sound.start_time is not None
    ]
    return max(start - max(min(begins, default=start), Fraction(0)), Fraction(0))


def _packet_stamps(container: Any, stream: Any) -> list[int | None]:
    av = import_av()
    stamps: list[int | None] = []
    try:
        for packet in islice(container.demux(stream), PROBED_PACKETS):
            if packet.size:
                stamps.append(packet.pts)
    except (av.error.FFmpegError, ValueError):
        pass  # what is damaged is told when it is read
    return stamps


def stamped_pictures(
    pictures: Iterable[Any], in_decoding_order: bool
) -> Iterator[tuple[Any, Fraction | None]]:
    """Yield each picture with its time stamp in s; None stands for a damaged piece, as given.

    Times of decoding are the times of showing, in another order: each picture gets the least that
    is left of those around it.
    """
    if not in_decoding_order:
        for picture in pictures:
            yield picture, _stamp(picture)
        return
    waiting = deque[Any]()
    stamps: list[Fraction] = []
    for picture in pictures:
        waiting.append(picture)
        stamp = _stamp(picture)
        if stamp is not None:
            heapq.heappush(stamps, stamp)
        if len(waiting) > REORDERED_PICTURES:
            yield _with_least(waiting.popleft(), stamps)
    while waiting:
        yield _with_least(waiting.popleft(), stamps)


def _with_least(picture: Any, stamps: list[Fraction]) -> tuple[Any, Fraction | None]:
    if _stamp(picture) is None:
        return picture, None
    return picture, heapq.heappop(stamps)


def _stamp(picture: Any) -> Fraction | None:
    if picture is None or picture.pts is None:
        return None
    return Fraction(picture.pts * picture.time_base)


class PictureClock:
    """The time of each picture since the film began; the times never step back."""

    __slots__ = ("_first", "_offset_s", "_step_s", "corrected_count", "last_s")

    last_s: float
    """Time of the last picture; minus infinity before the first one."""
    corrected_count: int
    """Pictures that had no time, or one before the picture shown before them."""

    def __init__(self, first: Fraction, frames_per_s: float) -> None:
        self._first = first
        self._offset_s = 0.0
        self._step_s = 1 / frames_per_s
        self.last_s = -np.inf
        self.corrected_count = 0

    def advance(self, stamp: Fraction | None) -> float:
        """Return the time of the next picture, in s."""
        next_s = max(self.last_s + self._step_s, 0.0)
        if stamp is None:
            self.corrected_count += 1
            self.last_s = next_s
            return next_s
        time_s = float(stamp - self._first) + self._offset_s
        if time_s < self.last_s - min(CLOCK_RESTART_S, CLOCK_RESTART_STEPS * self._step_s):
            # The clock starts again where recordings were joined.
            self._offset_s += next_s - time_s
            time_s = next_s
        elif time_s <= self.last_s:
            self.corrected_count += 1
            time_s = self.last_s + NUDGE_SHARE * self._step_s
        self.last_s = time_s
        return time_s
