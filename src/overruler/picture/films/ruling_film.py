"""A ruling as a short film: the table, then the line as it grows, then the words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.picture import report_drawing
from overruler.picture.films.film_encoding import encode_opaque_webm, even_size
from overruler.picture.films.gif import encode_gif
from overruler.picture.films.line_wipe import wipe_along
from overruler.picture.raster import (
    Pixels,
    alpha_composite,
    extend_below,
    render_layer,
    resize_by_area,
)
from overruler.report import Report

BARE_S = 0.5
"""How long the table is shown without a drawing, in s."""
GROUND_S = 0.3
"""How long bases and range lines fade in, in s."""
LINE_S = 0.9
"""How long the lines grow, in s."""
WORDS_S = 0.4
"""How long the words fade in, in s."""
READ_S = 4.0
"""How long the whole is shown, in s: its first row is read in two."""
MAX_SIDE_PX = {".gif": 800, ".webm": 1280}
"""Longer side by the ending of the file's name: a GIF of more pixels is too large for a chat."""
FRAMES_PER_S = {".gif": 12.5, ".webm": 25.0}
"""Frame rate by the ending; a GIF counts its times in hundredths of a second."""


@dataclass(frozen=True, slots=True, eq=False)
class _Stage:
    """The parts of the drawing, as pixels of the film."""

    photo: Pixels
    ground: Pixels
    lines: tuple[Pixels, ...]
    ends_px: tuple[np.ndarray[tuple[int, ...], np.dtype[np.float64]], ...]
    """The two ends (2, 2) of each line."""
    words: Pixels


def encode_ruling(report: Report, ending: str) -> bytes:
    """Return the film of a report's rulings as the bytes of a file with one of `FILM_ENDINGS`."""
    stage = _render_stage(report, MAX_SIDE_PX[ending])
    per_s = FRAMES_PER_S[ending]
    length_s = BARE_S + GROUND_S + LINE_S + WORDS_S + READ_S
    frames = _render_frames(stage, per_s, length_s)
    if ending == ".gif":
        return encode_gif(frames, length_s)
    height, width = stage.photo.shape[:2]
    return encode_opaque_webm(frames, (width, height), per_s)


def _render_stage(report: Report, longest_px: int) -> _Stage:
    drawing = report_drawing.draw_on_photo(report)
    size = even_size(drawing.size_px, min(1.0, longest_px / max(drawing.size_px)))
    scale = np.divide(size, drawing.size_px)

    def render(parts: Sequence[str]) -> Pixels:
        return render_layer(drawing.document_of(parts, size), size)

    return _Stage(
        photo=resize_by_area(extend_below(report.frame.shown, drawing.strip_px), size),
        ground=render(drawing.ground),
        lines=tuple(render([line]) for line in drawing.lines),
        ends_px=tuple(ends * scale for ends in drawing.ends_px),
        words=render(drawing.words),
    )


def _render_frames(stage: _Stage, per_s: float, length_s: float) -> Iterator[tuple[float, Pixels]]:
    """Yield the film's pictures with their times; the last is shown for long."""
    height, width = stage.photo.shape[:2]
    wipes = [wipe_along((width, height), ends) for ends in stage.ends_px]
    line_from_s = BARE_S + GROUND_S
    words_from_s = line_from_s + LINE_S
    still_from_s = words_from_s + WORDS_S
    for number in range(int(still_from_s * per_s) + 1):
        time_s = number / per_s
        pixels = _faded_over(stage.ground, stage.photo, (time_s - BARE_S) / GROUND_S)
        for line, wipe in zip(stage.lines, wipes, strict=True):
            grown = (time_s - line_from_s) / LINE_S
            if grown > 0:
                pixels = _faded_over(line, pixels, wipe.shares(grown))
        yield time_s, _faded_over(stage.words, pixels, (time_s - words_from_s) / WORDS_S)
    final = alpha_composite(stage.ground, stage.photo)
    for layer in (*stage.lines, stage.words):
        final = alpha_composite(layer, final)
    yield still_from_s, final
    yield length_s - 1 / per_s, final


def _faded_over(
    layer: Pixels, pixels: Pixels, share: float | np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> Pixels:
    """Lay a layer (H, W, 4) over pixels, visible by a share of each pixel or of all."""
    visible = np.clip(share, 0, 1)
    if not np.any(visible):
        return pixels
    faded = layer.copy()
    faded[..., 3] = np.rint(layer[..., 3] * visible)
    return alpha_composite(faded, pixels)
