"""Opening a film's file, and choosing the recording in it."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from overruler.errors import BadInput, CannotMeasure, MissingExtra
from overruler.reading.files import check_is_file

PHOTO_FORMATS = ("image2",)
"""FFmpeg's names of the formats of single pictures."""
PHOTO_ENDING = "_pipe"
"""Ends FFmpeg's other names of them: jpeg_pipe, png_pipe."""
BROKEN_FILM_TEXT = "is no film that can be read; copy it again"
"""What is said of a file that is called a film and cannot be read as one."""


def import_av() -> ModuleType:
    """Return PyAV; raises `MissingExtra` where it is not installed."""
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("films need PyAV", "video") from None
    return av  # its log stays off, the default: a decoder thread that writes to it can hang


def open_container(path: Path) -> Any:
    """Open a film's file; raises `BadInput` or `CannotMeasure`."""
    av = import_av()
    _check_file(path)
    try:
        container = av.open(str(path))
    except (av.error.FFmpegError, ValueError, OSError):
        raise CannotMeasure(_unreadable_message(path)) from None
    if container.format.name in PHOTO_FORMATS or container.format.name.endswith(PHOTO_ENDING):
        container.close()
        raise CannotMeasure(f"{path}: is a photo, not a film; overruler measure takes photos")
    return container


@dataclass(frozen=True, slots=True)
class ChosenStream:
    """The recording that is read, of those in a file."""

    stream: Any
    others: int
    """How many recordings are left out."""

    def problems(self) -> list[str]:
        """Return what is left out, as sentences."""
        if not self.others:
            return []
        count = self.others + 1
        size = f"{self.stream.width} × {self.stream.height}"
        return [f"the file holds {count} recordings: the one of {size} pixels was read"]


def choose_stream(container: Any, name: str | Path) -> ChosenStream:
    """Choose the recording: no cover picture, the default one, then the largest.

    Raises `CannotMeasure` where there is none.
    """
    all_streams = list(container.streams.video)
    if not all_streams:
        raise CannotMeasure(f"{name}: holds no pictures, only sound; give the film itself")
    recordings = [stream for stream in all_streams if not _is_cover(stream)]
    if not recordings:
        problem = "holds sound and a cover picture, no film"
        raise CannotMeasure(f"{name}: {problem}; give the film itself")
    readable = [stream for stream in recordings if _can_decode(stream)]
    if not readable:
        problem = "its pictures are in a format that this FFmpeg cannot decode"
        raise CannotMeasure(f"{name}: {problem}; export it as H.264")
    best = max(readable, key=_rank)
    return ChosenStream(best, len(recordings) - 1)


def _is_cover(stream: Any) -> bool:
    return bool(stream.disposition & type(stream.disposition).attached_pic)


def _can_decode(stream: Any) -> bool:
    return stream.codec_context is not None and bool(stream.width and stream.height)


def _rank(stream: Any) -> tuple[bool, int, int]:
    is_default = bool(stream.disposition & type(stream.disposition).default)
    return is_default, stream.width * stream.height, -stream.index


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise BadInput(f"{path}: is a folder, not a film")
    check_is_file(path)
    try:
        with path.open("rb") as file:
            is_empty = not file.read(1)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise BadInput(f"{path}: cannot be read: {reason}") from None
    if is_empty:
        raise CannotMeasure(f"{path}: is empty; copy the film again")


def _unreadable_message(path: Path) -> str:
    index = "an MP4 whose recording was cut off has no index: record MKV, or repair it first"
    return f"{path}: {BROKEN_FILM_TEXT}; {index}"
