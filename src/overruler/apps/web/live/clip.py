"""The ruling on air as a short film with alpha, for replays: the line grows, then the words appear."""

import io
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from overruler.apps.web.live.graphics import Graphics
from overruler.apps.web.live.piece_marks import svg_document
from overruler.errors import BadInput
from overruler.picture.films.line_wipe import wipe_along

FRAMES_PER_S = 30
"""Frame rate of a clip."""
LINE_GROWN_S = 0.8
"""When the line has reached the other base."""
WORDS_SHOWN_S = 1.1
"""When the words are fully visible."""
CLIP_LENGTH_S = 4.0
"""When the clip ends."""
RgbaLayer = NDArray[np.uint8]
"""A picture (H, W, 4) with straight alpha."""


def render_clip(on_air: Graphics, size_px: tuple[int, int], width_px: int) -> bytes:
    """Render a WebM film `width_px` wide; raise `BadInput` if no ruling is on air."""
    if on_air.ends_px is None:
        raise BadInput("there is no ruling on air to make a clip of: pick two pieces that stand")
    from overruler.picture.films.film_encoding import encode_webm

    width = width_px // 2 * 2
    size = width, round(size_px[1] * width / size_px[0] / 2) * 2
    ends = np.array(on_air.ends_px) * width / size_px[0]
    return encode_webm(_render_frames(on_air, size_px, size, ends), size, FRAMES_PER_S)


def _render_frames(
    on_air: Graphics, from_px: tuple[int, int], size: tuple[int, int], ends: NDArray[np.float64]
) -> Iterator[RgbaLayer]:
    """Yield the frames of `size`, with the line between the `ends` (2, 2) in their pixels."""
    lines = _render_layer(on_air.layers["lines"], from_px, size)
    words = _render_layer(on_air.layers["verdict"], from_px, size)
    wipe = wipe_along(size, ends)
    final = composite_over(words, lines)
    for number in range(round(CLIP_LENGTH_S * FRAMES_PER_S)):
        time_s = number / FRAMES_PER_S
        if time_s >= WORDS_SHOWN_S:
            yield final
            continue
        shown = wipe.shares(time_s / LINE_GROWN_S)
        words_share = (time_s - LINE_GROWN_S) / (WORDS_SHOWN_S - LINE_GROWN_S)
        fading_words = _scale_alpha(words, float(np.clip(words_share, 0, 1)))
        yield composite_over(fading_words, _scale_alpha(lines, shown))


def _render_layer(drawing: str, from_px: tuple[int, int], size: tuple[int, int]) -> RgbaLayer:
    """Render a layer drawn in pixels of a picture of `from_px` at another size."""
    from PIL import Image

    from overruler.picture.raster import render_png

    png = render_png(svg_document([drawing], from_px), size[0])
    picture = Image.open(io.BytesIO(png)).convert("RGBA")
    return np.asarray(picture if picture.size == size else picture.resize(size))


def _scale_alpha(layer: RgbaLayer, share: NDArray[np.float32] | float) -> RgbaLayer:
    scaled = layer.copy()
    scaled[..., 3] = np.rint(layer[..., 3] * np.asarray(share))
    return scaled


def composite_over(front: RgbaLayer, back: RgbaLayer) -> RgbaLayer:
    """Lay one picture over another (Porter and Duff, "Compositing digital images", 1984)."""
    result = back.copy()
    where = front[..., 3] > 0
    a = front[where].astype(np.float32)
    b = back[where].astype(np.float32)
    a_cover = a[:, 3:] / 255
    b_cover = b[:, 3:] / 255 * (1 - a[:, 3:] / 255)
    cover = a_cover + b_cover
    colours = (a[:, :3] * a_cover + b[:, :3] * b_cover) / np.maximum(cover, 1e-6)
    result[where, :3] = np.rint(colours)
    result[where, 3] = np.rint(255 * cover)[:, 0]
    return result
