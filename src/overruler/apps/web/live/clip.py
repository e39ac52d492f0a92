"""The ruling on air as a short film with alpha, for replays: the line grows from base to base, then come the words."""

import io
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.apps.web.live.graphics import Graphics, svg_document
from overruler.errors import BadInput

FRAMES_PER_S = 30
LINE_GROWN_S, WORDS_SHOWN_S, CLIP_LENGTH_S = 0.8, 1.1, 4.0
"""When the line has reached the other base, when the words are there, and when it ends."""
FADE_LENGTH_PX = 30.0
"""How gently the line's end fades."""
RgbaLayer = NDArray[np.uint8]


def render_clip(on_air: Graphics, size_px: tuple[int, int], width_px: int) -> bytes:
    """WebM, `width_px` wide; `BadInput` where there is no ruling on air."""
    if on_air.ends_px is None:
        raise BadInput("there is no ruling on air to make a clip of: pick two pieces that stand")
    from overruler.picture.film_encoding import encode_webm

    width = width_px // 2 * 2
    size = width, round(size_px[1] * width / size_px[0] / 2) * 2
    ends = np.array(on_air.ends_px) * width / size_px[0]
    return encode_webm(_render_frames(on_air, size_px, size, ends), size, FRAMES_PER_S)


def _render_frames(
    on_air: Graphics, from_px: tuple[int, int], size: tuple[int, int], ends: NDArray[np.float64]
) -> Iterator[RgbaLayer]:
    table, words = (
        _render_layer(on_air.layers[name], from_px, size) for name in ("lines", "verdict")
    )
    along = _distance_along_px(size, ends)
    reach = float(np.hypot(*(ends[1] - ends[0]))) + 2 * FADE_LENGTH_PX + 0.1 * size[0]
    whole = composite_over(words, table)
    for number in range(round(CLIP_LENGTH_S * FRAMES_PER_S)):
        time_s = number / FRAMES_PER_S
        if time_s >= WORDS_SHOWN_S:
            yield whole
            continue
        tip = reach * min(time_s / LINE_GROWN_S, 1.0) - 0.1 * size[0]
        shown = (
            np.clip((tip - along) / FADE_LENGTH_PX, 0, 1)
            if time_s < LINE_GROWN_S
            else np.ones_like(along)
        )
        yield composite_over(
            _scale_alpha(
                words, np.clip((time_s - LINE_GROWN_S) / (WORDS_SHOWN_S - LINE_GROWN_S), 0, 1)
            ),
            _scale_alpha(table, shown),
        )


def _distance_along_px(size: tuple[int, int], ends: NDArray[np.float64]) -> NDArray[np.float32]:
    """How far each pixel (H, W) lies along the way from one end to the other."""
    way = ends[1] - ends[0]
    unit = way / max(float(np.hypot(*way)), 1e-6)
    u, v = np.arange(size[0])[None] - ends[0, 0], np.arange(size[1])[:, None] - ends[0, 1]
    return np.asarray(u * unit[0] + v * unit[1], np.float32)


def _render_layer(drawing: str, from_px: tuple[int, int], size: tuple[int, int]) -> RgbaLayer:
    from PIL import Image

    from overruler.picture.raster import render_png

    picture = Image.open(io.BytesIO(render_png(svg_document([drawing], from_px), size[0]))).convert(
        "RGBA"
    )
    return np.asarray(picture if picture.size == size else picture.resize(size))


def _scale_alpha(
    layer: RgbaLayer, share: NDArray[np.float32] | Sequence[float] | float
) -> RgbaLayer:
    found = layer.copy()
    found[..., 3] = np.rint(layer[..., 3] * np.asarray(share))
    return found


def composite_over(front: RgbaLayer, back: RgbaLayer) -> RgbaLayer:
    """One picture with straight alpha laid over another (Porter and Duff, "Compositing digital images", 1984)."""
    found = back.copy()
    where = front[..., 3] > 0
    a, b = front[where].astype(np.float32), back[where].astype(np.float32)
    cover, rest = a[:, 3:] / 255, b[:, 3:] / 255 * (1 - a[:, 3:] / 255)
    found[where, :3] = np.rint(
        (a[:, :3] * cover + b[:, :3] * rest) / np.maximum(cover + rest, 1e-6)
    )
    found[where, 3] = np.rint(255 * (cover + rest))[:, 0]
    return found
