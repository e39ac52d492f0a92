"""Pictures with alpha as a film: VP9 in WebM, which OBS, browsers and video editors lay over others."""

import io
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overruler.errors import MissingExtra

QUICK = {"deadline": "realtime", "cpu-used": "8", "crf": "20", "b": "0", "auto-alt-ref": "0", "lag-in-frames": "0"}


def webm(pictures: Iterable[NDArray[np.uint8]], size_px: tuple[int, int], per_s: int) -> bytes:
    """A film of pictures (H, W, 4), red green blue alpha, straight; both sides even. `MissingExtra` without PyAV."""
    try:
        import av
    except ImportError:
        raise MissingExtra.of("films need PyAV", "video") from None
    out = io.BytesIO()
    with av.open(out, "w", format="webm") as film:
        stream: Any = film.add_stream("libvpx-vp9", rate=per_s, options=QUICK)
        stream.width, stream.height, stream.pix_fmt = *size_px, "yuva420p"
        for number, pixels in enumerate(pictures):
            picture = av.VideoFrame.from_ndarray(pixels, format="rgba")
            picture.pts, picture.time_base = number, Fraction(1, per_s)
            film.mux(stream.encode(picture))
        film.mux(stream.encode())
    return out.getvalue()
