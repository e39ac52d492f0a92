"""Pictures as films: with alpha VP9 in WebM, to be laid over others; without it H.264 in MP4, which plays anywhere."""

import io
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
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


def encode_webm(
    pictures: Iterable[NDArray[np.uint8]], size_px: tuple[int, int], per_s: int
) -> bytes:
    """A film of pictures (H, W, 4), red green blue alpha, straight; both sides even. `MissingExtra` without PyAV."""
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("films need PyAV", "video") from None
    out = io.BytesIO()
    with av.open(out, "w", format="webm") as film:
        stream: Any = film.add_stream("libvpx-vp9", rate=per_s, options=VP9_OPTIONS)
        stream.width, stream.height, stream.pix_fmt = *size_px, "yuva420p"
        for number, pixels in enumerate(pictures):
            picture = av.VideoFrame.from_ndarray(pixels, format="rgba")
            picture.pts, picture.time_base = number, Fraction(1, per_s)
            film.mux(stream.encode(picture))
        film.mux(stream.encode())
    return out.getvalue()


MP4_TICKS_PER_S = 90_000
"""Ticks in a second of an MP4: fine enough for any film's own times."""


def write_mp4(
    pictures: Iterable[tuple[float, NDArray[np.uint8]]],
    size_px: tuple[int, int],
    per_s: float,
    path: Path,
) -> int:
    """Write pictures (H, W, 3), blue green red, each at its own time in s; both sides even. How many there were.

    H.264 where FFmpeg brings it, else MPEG-4. `MissingExtra` without PyAV.
    """
    try:
        import av
    except ImportError:
        raise MissingExtra.with_install_hint("films need PyAV", "video") from None
    name, last = _mp4_codec(), -1
    count = 0
    with av.open(str(path), "w", format="mp4") as film:
        stream: Any = film.add_stream(
            name, rate=Fraction(per_s).limit_denominator(1001), options=MP4_CODEC_OPTIONS[name]
        )
        stream.width, stream.height, stream.pix_fmt = *size_px, "yuv420p"
        stream.codec_context.time_base = Fraction(1, MP4_TICKS_PER_S)
        for time_s, pixels in pictures:
            picture = av.VideoFrame.from_ndarray(pixels, format="bgr24")
            last = max(round(time_s * MP4_TICKS_PER_S), last + 1)
            picture.pts, picture.time_base = last, Fraction(1, MP4_TICKS_PER_S)
            film.mux(stream.encode(picture))
            count += 1
        film.mux(stream.encode())
    return count


MP4_CODEC_OPTIONS = {
    "libx264": {"crf": "21", "preset": "veryfast"},
    "mpeg4": {"qscale": "4", "flags": "+qscale"},
}


def _mp4_codec() -> str:
    import av

    return next(
        name for name in MP4_CODEC_OPTIONS if name == "mpeg4" or name in av.codecs_available
    )
