"""Why no marker can be read: a picture that is small or mirrored, or cards printed white on black."""

from dataclasses import replace

import numpy as np

from overruler.board import Board
from overruler.frame import Frame
from overruler.vision.markers.detect import find_markers

MIN_MARKERS_READ = 2
"""Markers that must be readable in the changed picture: one may be chance."""
SMALL_PHOTO_PX = 640
"""Longer side of a photo in px: in a smaller one the markers of a whole table are too small to read."""
MIRRORED_TEXT = (
    "the picture is mirrored, as front cameras do: mirror it back, or use the other camera"
)
INVERTED_TEXT = "the markers are printed white on black: print them black on white"


def explain_small(frame: Frame) -> str | None:
    """Say that a photo has too few pixels for a table's markers; None where it has enough."""
    width, height = frame.size_px
    if max(width, height) >= SMALL_PHOTO_PX:
        return None
    size = f"the photo is only {width} × {height} pixels, too few to read its markers"
    return f"{size}; use the camera's full-size photo"


def explain_unreadable(frame: Frame, board: Board) -> str | None:
    """Say why the markers cannot be read; None where neither is the reason."""
    mirrored = frame.pixels[:, ::-1]
    for text, pixels in (
        (MIRRORED_TEXT, mirrored),
        (INVERTED_TEXT, 255 - frame.pixels),
        (f"{MIRRORED_TEXT}; {INVERTED_TEXT}", 255 - mirrored),
    ):
        changed = replace(frame, pixels=np.ascontiguousarray(pixels))
        if len(find_markers(changed, board)) >= MIN_MARKERS_READ:
            return text
    return None
