"""Why no marker can be read: a picture that is mirrored, or cards printed white on black."""

from dataclasses import replace

import numpy as np

from overruler.board import Board
from overruler.frame import Frame
from overruler.vision.markers.detect import find_markers

MIN_MARKERS_READ = 2
"""Markers that must be readable in the changed picture: one may be chance."""
MIRRORED_TEXT = (
    "the picture is mirrored, as front cameras do: mirror it back, or use the other camera"
)
INVERTED_TEXT = "the markers are printed white on black: print them black on white"


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
