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
    "crf": "20",
    "b": "0",
    "auto-alt-ref": "0",
    "lag-in-frames": "0",
}
MP4_CODEC_OPTIONS = {
    "libx264": {"crf": "21", "preset": "veryfast"},
    "mpeg4": {"qscale": "4", "flags": "+qscale"},
}
"""Options of each codec; the first that FFmpeg has is used."""
MP4_TICKS_PER_S = 90_000
"""Ticks in a second of an MP4: fine enough for any film's own times."""


def _import_av() -> ModuleType:
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("films need PyAV", "video") from None
    return av


def encode_webm(
    pictures: Iterable[NDArray[np.uint8]], size_px: tuple[int, int], per_s: int
) -> bytes:
    """Encode pictures (H, W, 4), RGB and straight alpha, even sides; needs PyAV (`MissingExtra`)."""
    av = _import_av()
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


def write_mp4(
    pictures: Iterable[tuple[float, NDArray[np.uint8]]],
    size_px: tuple[int, int],
    per_s: float,
    path: Path,
) -> int:
    """Write pictures (H, W, 3), blue green red, each with its time in s, and return their number.

    Both sides are even. The codec is H.264 if FFmpeg has it, otherwise MPEG-4. Raises `MissingExtra`
    without PyAV.
    """
    av = _import_av()
    codec = next(
        name for name in MP4_CODEC_OPTIONS if name == "mpeg4" or name in av.codecs_available
    )
    rate = Fraction(per_s).limit_denominator(1001)
    tick = Fraction(1, MP4_TICKS_PER_S)
    last, count = -1, 0
    with av.open(str(path), "w", format="mp4") as film:
        stream = film.add_stream(codec, rate=rate, options=MP4_CODEC_OPTIONS[codec])
        _set_format(stream, size_px, "yuv420p")
        stream.codec_context.time_base = tick
        for time_s, pixels in pictures:
            picture = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            last = max(round(time_s * MP4_TICKS_PER_S), last + 1)
            picture.pts = last
            picture.time_base = tick
            film.mux(stream.encode(picture))
            count += 1
        film.mux(stream.encode())
    return count


def _set_format(stream: Any, size_px: tuple[int, int], pixel_format: str) -> None:
    stream.width, stream.height = size_px
    stream.pix_fmt = pixel_format
