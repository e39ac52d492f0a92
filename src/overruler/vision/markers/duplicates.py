"""Keep one marker for each id, the one nearest to where the other markers predict it."""

from collections.abc import Iterable, Mapping

import cv2
import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.markers.marker import Marker

DECISIVE_SCORE_MARGIN = 0.2
"""A score better by this decides by itself: the other one is a stain that resembles a marker."""


def resolve_duplicates(
    markers: Iterable[Marker], corners_mm: Mapping[int, Array] | None
) -> tuple[Marker, ...]:
    """Keep one marker for each id, in ascending order.

    `corners_mm` holds each marker's corners (4, 3) if the board is known; else the best score wins.
    """
    by_id: dict[int, list[Marker]] = {}
    for marker in markers:
        by_id.setdefault(marker.id, []).append(marker)
    best = {number: max(some, key=lambda marker: marker.score) for number, some in by_id.items()}
    rivals = {number: _close_rivals(some, best[number]) for number, some in by_id.items()}
    unrivalled = [best[number] for number, some in rivals.items() if len(some) == 1]
    if corners_mm is not None and unrivalled:
        to_photo = _board_to_photo_homography(unrivalled, corners_mm)
        for number, some in rivals.items():
            if len(some) > 1:
                best[number] = _nearest_to(to_photo, some, corners_mm[number])
    return tuple(best[number] for number in sorted(best))


def _close_rivals(some: list[Marker], best: Marker) -> list[Marker]:
    return [marker for marker in some if marker.score > best.score - DECISIVE_SCORE_MARGIN]


def _board_to_photo_homography(markers: list[Marker], corners_mm: Mapping[int, Array]) -> Array:
    """Estimate the homography (3, 3) from the board to the photo by markers without rivals."""
    on_board = np.concatenate([np.asarray(corners_mm[marker.id])[:, :2] for marker in markers])
    in_photo = np.concatenate([marker.corners_px for marker in markers])
    return np.asarray(cv2.findHomography(on_board, in_photo)[0], float)


def _nearest_to(to_photo: Array, some: list[Marker], corners_mm: Array) -> Marker:
    """Return the marker whose centre lies nearest to where the homography predicts it."""
    u, v, w = to_photo @ [*np.asarray(corners_mm)[:, :2].mean(0), 1.0]
    expected_px = np.array([u, v]) / w

    def distance_px(marker: Marker) -> float:
        return float(np.hypot(*(marker.corners_px.mean(0) - expected_px)))

    return min(some, key=distance_px)
