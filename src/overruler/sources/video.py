"""A film as shots: every picture at its own time, turned the right way up, read as far as the file can be read.

Pictures are addressed by the stream's own time stamps, never by counting: films of phones have no fixed rate.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.errors import BadInput, CannotMeasure, MissingExtra
from overruler.frame import PixelBox, Shot, crop_box
from overruler.sources.packets import (
    NONREFERENCE_DELAY_SHARE,
    LookSlot,
    is_nonreference,
    knows_nonreference,
    mark_wanted,
)

ENDINGS = (
    ".mp4",
    ".mkv",
    ".mov",
    ".webm",
    ".avi",
    ".m4v",
    ".ts",
    ".mts",
    ".mpg",
    ".mpeg",
    ".ogv",
    ".flv",
    ".wmv",
)
"""What the names of films end in."""
LOOKS_PER_S = 10.0
"""Pictures looked at in a second of film."""
LUMA_FIRST_FORMATS = (
    "yuv420p",
    "yuvj420p",
    "nv12",
    "yuv422p",
    "yuvj422p",
    "yuv444p",
    "yuvj444p",
    "gray",
)
"""Ways to keep a picture whose first plane is its brightness, a byte a pixel."""
FULL_RANGE = 2
"""FFmpeg's number for brightness that uses all of a byte."""
EARLY_TOLERANCE = 1e-4
"""Times are rounded: a picture so early, as a share of the time between looks, is on time."""
CLOCK_RESTART_S = 1.0
"""Time stamps that step back so far are a second recording's."""
MAX_GAPS_LISTED = 5
MAX_DAMAGED_PACKETS = 10_000
"""With more damage than this a film is read no further."""
MAX_CORRUPTED_S = 60.0
"""A picture is made from those before it: after damage none is shown before the next that stands alone, or so long."""
UNINDEXED_FORMATS, SEEK_MARGIN_S = ("mpegts", "mpeg"), 12
"""Forms without an index: who seeks a place in them may come out so much later."""
TRUNCATION_TOLERANCE_S = 0.5
"""A film that ends so much before its own header says is cut short."""


def _import_av() -> ModuleType:
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("films need PyAV", "video") from None
    return (
        av  # its log stays off, as it comes: a decoder's thread that writes to it can wait for ever
    )


@dataclass
class Film:
    """A film file, open from its first picture on; use it in a `with` block and iterate over it once."""

    path: Path
    looks_per_s: float = LOOKS_PER_S
    from_s: float = 0.0
    to_s: float = float("inf")
    """Pictures are shown from `from_s` on and before `to_s`."""
    threads: int = 0
    """Threads to decode with; 0 for as many as the decoder likes."""
    damaged_count: int = 0
    """Packets that could not be decoded so far, and pictures that came out damaged."""
    read_to_s: float = 0.0
    """The time of the last picture read so far."""
    gaps_s: list[tuple[float, float]] = field(default_factory=list)
    """From when to when nothing was shown: damaged pictures, and all that were made from them."""
    _container: Any = field(default=None, repr=False)
    _stream: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Raises `BadInput` where there is no such file, `CannotMeasure` where it holds no film that can be read."""
        av = _import_av()
        _check_file(self.path)
        try:
            self._container = av.open(str(self.path))
        except (av.error.FFmpegError, ValueError, OSError):
            raise CannotMeasure(_unreadable_message(self.path)) from None
        if not self._container.streams.video:
            self._container.close()
            raise CannotMeasure(f"{self.path}: holds no pictures, only sound; give the film itself")
        self._stream = self._container.streams.video[0]
        self._stream.thread_type = "AUTO"
        if self.threads:
            self._stream.codec_context.thread_count = self.threads

    def __enter__(self) -> "Film":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._container.close()

    @property
    def duration_s(self) -> float | None:
        """How long the film says it is; None where it does not say."""
        if self._stream.duration and self._stream.time_base:
            return float(self._stream.duration * self._stream.time_base)
        return self._container.duration / 1e6 if self._container.duration else None

    @property
    def has_sound(self) -> bool:
        return bool(self._container.streams.audio)

    @property
    def frames_per_s(self) -> float | None:
        """The mean rate, as the film says."""
        return float(self._stream.average_rate) if self._stream.average_rate else None

    def __iter__(self) -> Iterator[Shot]:
        """The shots to look at: the first picture of each tenth of a second that is decoded."""
        last = -np.inf
        for time_s, picture in self._decoded_pictures():
            if time_s >= self.to_s:
                return
            self.read_to_s, stretch = max(self.read_to_s, time_s), self._look_index(time_s)
            if time_s >= self.from_s - 1e-6 and stretch > last:
                last = stretch
                yield shot_from_picture(picture, time_s, str(self.path))

    def _look_index(self, time_s: float) -> float:
        """Which of the stretches of time it falls in, of each of which one picture is looked at."""
        return (
            time_s
            if self.looks_per_s == np.inf
            else np.floor(time_s * self.looks_per_s + EARLY_TOLERANCE)
        )

    def _decoded_pictures(self) -> Iterator[tuple[float, Any]]:
        """Every picture that can be decoded, in the order it is shown, with its time."""
        first = Fraction(self._stream.start_time or 0) * self._stream.time_base
        if self.from_s > 0:
            self._seek_start(first)
        last_s, joined_s, doubt_s = -np.inf, 0.0, np.inf
        for picture in self._decode_packets(first):
            damaged = picture is None or picture.is_corrupt
            self.damaged_count += damaged
            if picture is not None and picture.pts is not None:
                time_s = float(picture.pts * picture.time_base - first)
                if (
                    time_s + joined_s < last_s - CLOCK_RESTART_S
                ):  # recordings put end to end: the clock has started again
                    joined_s = last_s + 1 / (self.frames_per_s or 10.0) - time_s
                last_s = time_s + joined_s
            if damaged:
                doubt_s = min(doubt_s, max(last_s, 0.0))
            elif picture.pts is not None and (
                picture.key_frame or last_s < doubt_s or last_s > doubt_s + MAX_CORRUPTED_S
            ):
                self._note_gap(doubt_s, last_s)
                doubt_s = np.inf
                yield last_s, picture
        self._note_gap(doubt_s, last_s)

    def _note_gap(self, from_s: float, to_s: float) -> None:
        """Note what was not shown, as far as it was asked for."""
        if from_s < to_s and to_s > self.from_s and from_s < self.to_s:
            self.gaps_s.append((from_s, to_s))

    def _decode_packets(self, first: Fraction) -> Iterator[Any]:
        """What the decoder gives, None for each packet that it cannot decode."""
        av, context = _import_av(), self._stream.codec_context
        skips = knows_nonreference(context)
        for packet, wanted in mark_wanted(self._demux_packets(), partial(self._look_slot, first)):
            if self.damaged_count > MAX_DAMAGED_PACKETS:
                return
            context.skip_frame = "NONREF" if skips and not wanted else "DEFAULT"
            try:
                yield from packet.decode() if packet is not None else [None]
            except av.error.EOFError:
                return
            except (av.error.FFmpegError, ValueError):
                yield None

    def _look_slot(self, first: Fraction, packet: Any) -> LookSlot | None:
        if packet.pts is None:
            return None
        time_s = float(packet.pts * packet.time_base - first)
        late_s = (
            NONREFERENCE_DELAY_SHARE / self.looks_per_s
            if is_nonreference(self._stream.codec_context, packet)
            else 0.0
        )
        return self._look_index(
            time_s
        ) if time_s >= self.from_s - 1e-6 else -np.inf, time_s + late_s

    def _demux_packets(self) -> Iterator[Any]:
        """The stream's packets; a last None where they cannot be read to their end."""
        av = _import_av()
        try:
            yield from self._container.demux(self._stream)
        except av.error.EOFError:
            return
        except (av.error.FFmpegError, ValueError):
            yield None

    def _seek_start(self, first: Fraction) -> None:
        """To the last key picture before what is wanted; from the start where the file cannot be sought in."""
        av = _import_av()
        early_s = SEEK_MARGIN_S if self._container.format.name in UNINDEXED_FORMATS else 0
        wanted = (Fraction(self.from_s - early_s) + first) / self._stream.time_base
        try:
            self._container.seek(max(int(wanted), 0), stream=self._stream, backward=True)
        except av.error.FFmpegError:
            self._container.close()
            self._container = av.open(str(self.path))
            self._stream = self._container.streams.video[0]

    def problems(self) -> list[str]:
        """What of the film could not be read, after all of it has been iterated over."""
        found = []
        if self.damaged_count:
            found.append(
                f"{self.damaged_count} damaged pieces of the film were left out{self._gap_text()}"
            )
        if (
            self.to_s == float("inf")
            and self.duration_s
            and self.read_to_s < self.duration_s - self._end_tolerance_s()
        ):
            found.append(
                f"the film can be read to {self.read_to_s:.1f} s of {self.duration_s:.1f} s"
            )
        return found

    def _gap_text(self) -> str:
        if not self.gaps_s:
            return ""
        told = ", ".join(f"{a:.1f} s to {b:.1f} s" for a, b in self.gaps_s[:MAX_GAPS_LISTED])
        more = (
            f" and {len(self.gaps_s) - MAX_GAPS_LISTED} times more"
            if len(self.gaps_s) > MAX_GAPS_LISTED
            else ""
        )
        return f", and all that was made from them: nothing was seen from {told}{more}"

    def _end_tolerance_s(self) -> float:
        """How long before the end a whole film's last picture may be."""
        return max(TRUNCATION_TOLERANCE_S, 3 / (self.frames_per_s or 10.0))


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise BadInput(f"{path}: is a folder, not a film")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        raise BadInput(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from None
    if empty:
        raise CannotMeasure(f"{path}: is empty; copy the film again")


def _unreadable_message(path: Path) -> str:
    remedy = "copy it again; an MP4 whose recording was cut off has no index: record MKV, or repair it first"
    return f"{path}: is no film that can be read; {remedy}"


def shot_from_picture(picture: Any, time_s: float, name: str) -> Shot:
    """A decoded picture as a shot."""
    turns = round(picture.rotation / 90) % 4

    def colours(box: PixelBox | None) -> NDArray[np.uint8]:
        if (
            box is not None
            and not turns
            and picture.format.name == "yuv420p"
            and picture.color_range != FULL_RANGE
        ):
            return _crop_yuv420(picture, box)
        return crop_box(np.rot90(picture.to_ndarray(format="bgr24"), turns), box)

    grey = (
        np.ascontiguousarray(np.rot90(_luma_plane(picture), turns))
        if turns
        else _luma_plane(picture)
    )
    return Shot(time_s, grey, colours, f"{name} at {time_s:.2f} s")


def _luma_plane(picture: Any) -> NDArray[np.uint8]:
    """(H, W): the first plane where that is the brightness, without a copy."""
    return (
        _plane_pixels(picture, 0)
        if picture.format.name in LUMA_FIRST_FORMATS
        else np.asarray(picture.to_ndarray(format="gray"))
    )


def _plane_pixels(picture: Any, number: int) -> NDArray[np.uint8]:
    plane = picture.planes[number]
    return np.frombuffer(plane, np.uint8).reshape(plane.height, plane.line_size)[:, : plane.width]


def _crop_yuv420(picture: Any, box: PixelBox) -> NDArray[np.uint8]:
    """A box of a picture in colour, without turning all the rest of it into colour too."""
    left, top, right, bottom = box[0] & ~1, box[1] & ~1, box[2] + box[2] % 2, box[3] + box[3] % 2
    right, bottom = min(right, picture.width & ~1), min(bottom, picture.height & ~1)
    planes = [_plane_pixels(picture, 0)[top:bottom, left:right]]
    planes += [
        _plane_pixels(picture, k)[top // 2 : bottom // 2, left // 2 : right // 2] for k in (1, 2)
    ]
    packed = np.concatenate([plane.ravel() for plane in planes]).reshape(-1, right - left)
    pixels = np.asarray(cv2.cvtColor(packed, cv2.COLOR_YUV2BGR_I420), np.uint8)
    return crop_box(pixels, (box[0] - left, box[1] - top, box[2] - left, box[3] - top))
