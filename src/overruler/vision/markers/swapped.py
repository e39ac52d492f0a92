"""Two cards that lie in each other's place: exchanged on the table, or in the board file."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.markers.homography import perspective_rms_px
from overruler.vision.markers.marker import Marker

MIN_MARKERS = 4
"""With fewer markers a wrong exchange can fit as well."""
MAX_FIT_SHARE = 0.25
"""RMS error of a plain perspective above which something is wrong, as a share of a marker's side.
A lens's distortion alone stays below a tenth."""
MAX_RATIO = 0.2
"""RMS error with the two exchanged, as a share of that without, at which they are exchanged."""


def find_swapped(
    markers: Sequence[Marker], corners_mm: Mapping[int, Array]
) -> tuple[int, int] | None:
    """Return the ids of two markers that lie in each other's place; None if no two do."""
    if len(markers) < MIN_MARKERS:
        return None
    in_photo = np.stack([marker.corners_px for marker in markers])
    on_board = np.stack([np.asarray(corners_mm[marker.id])[:, :2] for marker in markers])
    side_px = float(np.median([marker.side_px for marker in markers]))
    as_filed_px = perspective_rms_px(on_board, in_photo)
    if as_filed_px < MAX_FIT_SHARE * side_px:
        return None
    errors_px = {}
    for i, j in combinations(range(len(markers)), 2):
        exchanged = on_board.copy()
        exchanged[[i, j]] = on_board[[j, i]]
        errors_px[i, j] = perspective_rms_px(exchanged, in_photo)
    i, j = min(errors_px, key=lambda pair: errors_px[pair])
    if errors_px[i, j] > min(MAX_RATIO * as_filed_px, MAX_FIT_SHARE * side_px):
        return None
    return markers[i].id, markers[j].id
