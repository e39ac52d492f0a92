"""One marker for each id: of two that read alike, the one that lies where the others say that it does."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import cv2
import numpy as np

from overruler.geometry.pose import Array

if TYPE_CHECKING:
    from overruler.vision.markers.marker import Marker

DECISIVE_SCORE_MARGIN = 0.2
"""A score so much better speaks for itself: the other is a stain that looks a little like a marker."""


def resolve_duplicates(
    markers: "Iterable[Marker]", corners_mm: Mapping[int, Array] | None
) -> "tuple[Marker, ...]":
    """Ascending by id. `corners_mm` says where each lies (4, 3), if that is known; else the better score decides."""
    alike: dict[int, list[Marker]] = {}
    for marker in markers:
        alike.setdefault(marker.id, []).append(marker)
    best = {number: max(some, key=lambda marker: marker.score) for number, some in alike.items()}
    rivals = {number: _close_rivals(some, best[number]) for number, some in alike.items()}
    alone = [best[number] for number, some in rivals.items() if len(some) == 1]
    if corners_mm is not None and alone:
        to_photo = _board_to_photo_homography(alone, corners_mm)
        for number, some in rivals.items():
            if len(some) > 1:
                best[number] = min(
                    some,
                    key=lambda marker: _distance_from_expected_px(
                        marker, to_photo, corners_mm[marker.id]
                    ),
                )
    return tuple(best[number] for number in sorted(best))


def _close_rivals(some: "list[Marker]", best: "Marker") -> "list[Marker]":
    return [marker for marker in some if marker.score > best.score - DECISIVE_SCORE_MARGIN]


def _board_to_photo_homography(markers: "list[Marker]", corners_mm: Mapping[int, Array]) -> Array:
    """The homography (3, 3) from the board to the photo by markers that no other one rivals."""
    on_board = np.concatenate([np.asarray(corners_mm[marker.id])[:, :2] for marker in markers])
    in_photo = np.concatenate([marker.corners_px for marker in markers])
    return np.asarray(cv2.findHomography(on_board, in_photo)[0], float)


def _distance_from_expected_px(marker: "Marker", to_photo: Array, corners_mm: Array) -> float:
    """How far a marker's middle lies from where the others say."""
    u, v, w = to_photo @ [*np.asarray(corners_mm)[:, :2].mean(0), 1.0]
    return float(np.hypot(*(marker.corners_px.mean(0) - np.array([u, v]) / w)))
