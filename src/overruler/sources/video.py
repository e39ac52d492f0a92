"""A film as shots: each picture at its own time, turned the right way up, as far as it can be read.

Pictures are addressed by the stream's time stamps, never by counting: phones' films have no fixed
rate. Time counts as players count it, from the file's beginning, though its sound may begin before its
pictures.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from overruler.errors import CannotMeasure
from overruler.frame import Shot
from overruler.sources.damage import DamageWatch, PacketDecoder, sound_packets
from overruler.sources.decoded_picture import shot_from_picture
from overruler.sources.display_transform import read_pixel_aspect
from overruler.sources.film_file import ChosenStream, choose_stream, import_av, open_container
from overruler.sources.packets import (
    NONREFERENCE_DELAY_SHARE,
    LookSlot,
    is_nonreference,
    knows_nonreference,
    mark_wanted,
)
from overruler.sources.picture_times import (
    DEFAULT_FRAMES_PER_S,
    PictureClock,
    TimeBase,
    stamped_pictures,
)

LOOKS_PER_S = 10.0
"""Pictures looked at in a second of film."""
EARLY_TOLERANCE = 1e-4
"""Rounding of times: a picture this early, as a share of the time between looks, is on time."""
FROM_TOLERANCE_S = 1e-6
"""Rounding of the time from which pictures are shown."""
MIN_PAUSE_S = 1.0
"""Least time between two pictures that is told: within less nobody moves a piece and is gone."""
MAX_GAPS_LISTED = 5
MAX_DAMAGED_PACKETS = 10_000
"""With more damage than this, a film is read no further."""
MAX_CORRUPTED_S = 60.0
"""After damage, no picture is shown before the next key picture, or for this long."""
UNINDEXED_FORMATS = ("mpegts", "mpeg")
"""Formats without an index, in which a seek may arrive late."""
SEEK_MARGIN_S = 12
"""Longest delay of such a seek."""
FORMATS_COUNTED_FROM_ZERO = ("matroska,webm",)
"""Formats that may state the time of their end as their length, though their times begin at hours: FFmpeg does so
for what it cuts with `-copyts`."""
TRUNCATION_TOLERANCE_S = 0.5
"""A film that ends earlier than this before its declared end is cut short."""


@dataclass(slots=True)
class Film:
    """A film file, open on creation; use it in a `with` block and iterate over it once."""

    path: Path
    """Where it lies; a text is taken, too."""
    looks_per_s: float = LOOKS_PER_S
    """How many of its pictures are shown in a second."""
    from_s: float = 0.0
    """Time from which pictures are shown."""
    to_s: float = float("inf")
    """Time before which they are shown."""
    read_to_s: float = 0.0
    """The time of the last picture read."""
    gaps_s: list[tuple[float, float]] = field(default_factory=list)
    """Start and end of each stretch without pictures: damaged ones, and all that refer to them."""
    pauses_s: list[tuple[float, float]] = field(default_factory=list)
    """Stretches between two pictures that are so long that pieces may have moved in them."""
    corrected_count: int = 0
    """Pictures that had no time of their own, or one that stepped back."""
    _damage: DamageWatch = field(init=False, repr=False)
    _container: Any = field(default=None, repr=False)
    _stream: Any = field(default=None, repr=False)
    _chosen: ChosenStream = field(init=False, repr=False)
    _pixel_aspect: Fraction = field(init=False, repr=False)
    _times: TimeBase = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Raises `BadInput` if there is no such file, `CannotMeasure` if it is no readable film."""
        self.path = Path(self.path)
        self._damage = DamageWatch(MAX_CORRUPTED_S, partial(self._note_gap, self.gaps_s))
        self._container = open_container(self.path)
        try:
            self._open_stream()
        except CannotMeasure:
            self._container.close()
            raise

    def _open_stream(self) -> None:
        self._chosen = choose_stream(self._container, self.path)
        self._stream = self._chosen.stream
        self._pixel_aspect = read_pixel_aspect(self._stream, str(self.path))
        self._times = TimeBase.probe(self.path, self._stream.index)
        # With more threads a decoder may pass on a damaged picture before it is marked as such.
        self._stream.codec_context.thread_count = 1

    def __enter__(self) -> "Film":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.close()

    # --- what the file declares ---

    @property
    def duration_s(self) -> float | None:
        """The declared time at which the film ends; None if there is none."""
        if self._stream.duration and self._stream.time_base:
            return float(self._stream.duration * self._stream.time_base + self._times.late)
        if not self._container.duration:
            return None
        end_s = float(self._container.duration) / 1e6
        begin_s = max(0.0, float(self._times.first))
        counts_from_zero = self._container.format.name in FORMATS_COUNTED_FROM_ZERO
        return end_s - begin_s if counts_from_zero and begin_s < end_s else end_s

    @property
    def has_sound(self) -> bool:
        return bool(self._container.streams.audio)

    @property
    def frames_per_s(self) -> float | None:
        """The declared mean rate; None if there is none."""
        return float(self._stream.average_rate) if self._stream.average_rate else None

    @property
    def damaged_count(self) -> int:
        """Packets that could not be decoded, and pictures that came out damaged."""
        return self._damage.damaged_count

    # --- pictures ---

    def __iter__(self) -> Iterator[Shot]:
        """Yield the shots to look at: the first decoded picture of each time slot."""
        last_slot = -np.inf
        for time_s, picture in self._decoded_pictures():
            if time_s >= self.to_s:
                return
            self.read_to_s = max(self.read_to_s, time_s)
            slot = self._look_index(time_s)
            if self._is_after_start(time_s) and slot > last_slot:
                last_slot = slot
                yield shot_from_picture(picture, time_s, str(self.path), self._pixel_aspect)

    def _is_after_start(self, time_s: float) -> bool:
        return time_s >= self.from_s - FROM_TOLERANCE_S

    def _look_index(self, time_s: float) -> float:
        """Return the number of a time's slot; one picture of each slot is looked at."""
        if self.looks_per_s == np.inf:
            return time_s
        return float(np.floor(time_s * self.looks_per_s + EARLY_TOLERANCE))

    def _decoded_pictures(self) -> Iterator[tuple[float, Any]]:
        """Yield every picture that can be decoded and trusted, in display order, with its time."""
        first = self._times.first
        if self.from_s > 0 and self._times.is_timed:
            self._seek_start(first)
        clock = PictureClock(first, self._assumed_frames_per_s())
        decoded = self._decode_packets(first)
        for picture, stamp in stamped_pictures(decoded, self._times.in_decoding_order):
            before_s = clock.last_s
            if picture is not None:
                clock.advance(stamp if self._times.is_timed else None)
            if clock.last_s - before_s > max(MIN_PAUSE_S, 3 / self.looks_per_s) and before_s >= 0:
                self._note_gap(self.pauses_s, before_s, clock.last_s)
            self.corrected_count = clock.corrected_count
            if self._damage.trusts(picture, clock.last_s):
                yield clock.last_s, picture
        self._note_gap(self.gaps_s, self._damage.since_s, clock.last_s)

    def _assumed_frames_per_s(self) -> float:
        return self.frames_per_s or DEFAULT_FRAMES_PER_S

    def _note_gap(self, gaps_s: list[tuple[float, float]], start_s: float, end_s: float) -> None:
        """Note a stretch without pictures, if any of it was asked for."""
        if start_s < end_s and end_s > self.from_s and start_s < self.to_s:
            gaps_s.append((start_s, end_s))

    # --- packets ---

    def _decode_packets(self, first: Fraction) -> Iterator[Any]:
        """Yield the decoder's pictures, and None for each packet that it cannot decode."""
        av, context = import_av(), self._stream.codec_context
        may_skip = knows_nonreference(context) and not self._times.in_decoding_order
        decoder = PacketDecoder(self._stream, (av.error.FFmpegError, ValueError))
        are_counted = self._container.format.name not in UNINDEXED_FORMATS
        packets = sound_packets(self._demux_packets(), are_counted)
        for packet, wanted in mark_wanted(packets, partial(self._look_slot, first)):
            if self.damaged_count > MAX_DAMAGED_PACKETS:
                return
            context.skip_frame = "NONREF" if may_skip and not wanted else "DEFAULT"
            yield from decoder.decode(packet)

    def _look_slot(self, first: Fraction, packet: Any) -> LookSlot | None:
        """Return the time slot of a packet's picture, and its time with its delay."""
        if packet.pts is None:
            return None
        time_s = float(packet.pts * packet.time_base - first)
        slot = self._look_index(time_s) if self._is_after_start(time_s) else -np.inf
        if is_nonreference(self._stream.codec_context, packet):
            return slot, time_s + NONREFERENCE_DELAY_SHARE / self.looks_per_s
        return slot, time_s

    def _demux_packets(self) -> Iterator[Any]:
        """Yield the stream's packets, and a last None if they cannot be read to their end."""
        av = import_av()
        try:
            yield from self._container.demux(self._stream)
        except av.error.EOFError:
            return
        except (av.error.FFmpegError, ValueError):
            yield None

    def _seek_start(self, first: Fraction) -> None:
        """Seek the last key picture before `from_s`, or the start if the file cannot seek."""
        av = import_av()
        margin_s = SEEK_MARGIN_S if self._container.format.name in UNINDEXED_FORMATS else 0
        target = (Fraction(self.from_s - margin_s) + first) / self._stream.time_base
        try:
            self._container.seek(max(int(target), 0), stream=self._stream, backward=True)
        except av.error.FFmpegError:
            self._container.close()
            self._container = av.open(str(self.path))
            self._open_stream()

    # --- problems ---

    def problems(self) -> list[str]:
        """Return what could not be read, once the film has been iterated over."""
        found = self._chosen.problems()
        if not self._times.is_timed:
            rate = f"{self._assumed_frames_per_s():g} pictures a second"
            found.append(f"the film states no times: they follow from {rate}")
        elif self.corrected_count:
            count = f"{_counted(self.corrected_count, 'picture')} out of order"
            found.append(f"{count}: the times of what happens there are unsure")
        if self.damaged_count:
            damage = f"{_counted(self.damaged_count, 'damaged piece')} of the film left out"
            text = f", with all that was made from it: nothing was seen from {_list(self.gaps_s)}"
            found.append(damage + (text if self.gaps_s else ""))
        pauses_s = [
            pause for pause in self.pauses_s if not any(map(partial(_meet, pause), self.gaps_s))
        ]
        if pauses_s:
            found.append(f"the film has no pictures from {_list(pauses_s)}: moves were not seen")
        duration_s = self.duration_s if self.to_s == float("inf") else None
        if duration_s and self.read_to_s < duration_s - self._end_tolerance_s():
            found.append(f"the film can be read to {self.read_to_s:.1f} s of {duration_s:.1f} s")
        return found

    def _end_tolerance_s(self) -> float:
        """Return how long before the declared end a complete film's last picture may be."""
        return max(TRUNCATION_TOLERANCE_S, 3 / self._assumed_frames_per_s())


def _meet(one_s: tuple[float, float], other_s: tuple[float, float]) -> bool:
    return one_s[0] <= other_s[1] and other_s[0] <= one_s[1]


def _counted(count: int, noun: str) -> str:
    return f"1 {noun}" if count == 1 else f"{count} {noun}s"


def _list(stretches_s: Sequence[tuple[float, float]]) -> str:
    """The first few stretches of time in words, and how many more there are."""
    texts = [f"{a:.1f} s to {b:.1f} s" for a, b in stretches_s[:MAX_GAPS_LISTED]]
    unlisted = len(stretches_s) - MAX_GAPS_LISTED
    return ", ".join(texts) + (f" and {unlisted} times more" if unlisted > 0 else "")
