"""Pictures as films: VP9 in WebM with alpha for overlays, H.264 in MP4 without, which plays anywhere."""

import io
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.errors import MissingExtra

VP9_OPTIONS = {
    "deadline": "realtime",
    "cpu-used": "8",
    "crf": "2",
    "b": "0",
    "auto-alt-ref": "0",
    "lag-in-frames": "0",
}
"""Options of films with alpha: nearly without loss, or what lies below shines through in streaks."""
OPAQUE_OPTIONS = {**VP9_OPTIONS, "crf": "20"}
"""Options of films without: photos need no more."""
MP4_CODEC_OPTIONS = {
    "libx264": {"crf": "21", "preset": "veryfast"},
    "mpeg4": {"qscale": "4", "flags": "+qscale"},
}
"""Options of each codec; the first that FFmpeg has is used."""
MP4_TICKS_PER_S = 90_000
"""Ticks in a second of an MP4: fine enough for any film's own times."""
WEBM_TICKS_PER_S = 1000
"""Ticks in a second of a WebM, as its format has it."""

TimedPictures = Iterable[tuple[float, NDArray[np.uint8]]]
"""Pictures (H, W, 3), blue green red, of even sides, each with its time in s."""


def even_size(size_px: tuple[int, int], scale: float) -> tuple[int, int]:
    """A size times `scale`, of even sides, as codecs need; no side becomes longer than that."""
    width, height = (max(2, int(length * scale / 2) * 2) for length in size_px)
    return width, height


def import_av() -> ModuleType:
    """Return PyAV; raises `MissingExtra` where it is not installed."""
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("films need PyAV", "video") from None
    return av


def encode_webm(
    pictures: Iterable[NDArray[np.uint8]], size_px: tuple[int, int], per_s: int
) -> bytes:
    """Encode pictures (H, W, 4), RGB and straight alpha, even sides; needs PyAV (`MissingExtra`)."""
    av = import_av()
    out = io.BytesIO()
    with av.open(out, "w", format="webm") as film:
        stream = film.add_stream("libvpx-vp9", rate=per_s, options=VP9_OPTIONS)
        _set_format(stream, size_px, "yuva420p")
        for number, pixels in enumerate(pictures):
            picture = av.VideoFrame.from_ndarray(pixels, format="rgba")
            picture.pts = number
            picture.time_base = Fraction(1, per_s)
            film.mux(stream.encode(picture))
        film.mux(stream.encode())
    return out.getvalue()


def encode_opaque_webm(pictures: TimedPictures, size_px: tuple[int, int], per_s: float) -> bytes:
    """Encode pictures as VP9 in WebM; needs PyAV (`MissingExtra`)."""
    av = import_av()
    out = io.BytesIO()
    with av.open(out, "w", format="webm") as film:
        stream = film.add_stream("libvpx-vp9", rate=_rate(per_s), options=OPAQUE_OPTIONS)
        _set_format(stream, size_px, "yuv420p")
        _mux_pictures(film, stream, pictures, WEBM_TICKS_PER_S)
    return out.getvalue()


def write_mp4(pictures: TimedPictures, size_px: tuple[int, int], per_s: float, path: Path) -> int:
    """Write pictures and return their number.

    The codec is H.264 if FFmpeg has it, otherwise MPEG-4. Raises `MissingExtra` without PyAV.
    """
    av = import_av()
    codec = next(
        name for name in MP4_CODEC_OPTIONS if name == "mpeg4" or name in av.codecs_available
    )
    with av.open(str(path), "w", format="mp4") as film:
        stream = film.add_stream(codec, rate=_rate(per_s), options=MP4_CODEC_OPTIONS[codec])
        _set_format(stream, size_px, "yuv420p")
        stream.codec_context.time_base = Fraction(1, MP4_TICKS_PER_S)
        return _mux_pictures(film, stream, pictures, MP4_TICKS_PER_S)


def _mux_pictures(film: Any, stream: Any, pictures: TimedPictures, ticks_per_s: int) -> int:
    """Encode pictures at their own times, and return their number."""
    av = import_av()
    last, count = -1, 0
    for time_s, pixels in pictures:
        picture = av.VideoFrame.from_ndarray(pixels, format="bgr24")
        last = max(round(time_s * ticks_per_s), last + 1)
        picture.pts = last
        picture.time_base = Fraction(1, ticks_per_s)
        film.mux(stream.encode(picture))
        count += 1
    film.mux(stream.encode())
    return count


def _rate(per_s: float) -> Fraction:
    return Fraction(per_s).limit_denominator(1001)


def _set_format(stream: Any, size_px: tuple[int, int], pixel_format: str) -> None:
    stream.width, stream.height = size_px
    stream.pix_fmt = pixel_format
