"""Which places of a photo are which places of the board, by the ground's features.

Texture repeats itself, so a consensus counts only where no other one comes near it.
"""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.hanging.ground_features import GroundFeatures

DISTANCE_RATIO = 0.85
"""Distance of two descriptors that match, against that of the next best, at most (Lowe's ratio)."""
REACH_SHARE = 0.002
"""Distance of a match from a consensus, as a share of the picture's longer side: the lens is a guess."""
MIN_MATCHES = 40
"""Fewest matches of a consensus: of four photos of other tables wrong ones
reach 8, of four mirrored ones 23. True ones have 364 and more."""
MAX_RIVAL_SHARE = 0.25
"""Matches of the next best consensus against those of the best, at most."""
RIVAL_MATCHES = 12
"""So many matches of a rival are chance."""
RIVAL_REACH = 3.0
"""Matches within so many reaches of the best consensus are not asked again."""
MIN_BOARD_SHARE = 0.12
"""Least share of the board that the matches of a consensus enclose ..."""
MIN_PHOTO_SHARE = 0.25
"""... or of the photo, which may show a part of the board."""
MATCHED_AT_A_TIME = 500
"""So many features of a photo are compared at a time with all of the board: memory is bounded."""
RANSAC_ROUNDS = 3000
"""Most rounds of the search for a consensus."""
RANSAC_CONFIDENCE = 0.9999
"""Confidence at which it ends."""


@dataclass(frozen=True, slots=True, eq=False)
class Matches:
    """N places on the board that a photo shows."""

    xy_mm: Array
    """(N, 2): on a flat board."""
    xy_px: Array
    """(N, 2): in the photo."""

    def __len__(self) -> int:
        return len(self.xy_mm)

    def only(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> "Matches":
        """Those of a mask or of indices."""
        return Matches(self.xy_mm[which], self.xy_px[which])


def match_features(board: GroundFeatures, photo: GroundFeatures) -> Matches:
    """The features of a photo with a like one on the board, no place of the board twice."""
    if len(board.xy) < 2 or not len(photo.xy):
        return Matches(np.zeros((0, 2)), np.zeros((0, 2)))
    starts = range(0, len(photo.xy), MATCHED_AT_A_TIME)
    blocks = [photo.descriptors[start : start + MATCHED_AT_A_TIME] for start in starts]
    pairs = [_two_nearest(block, board.descriptors) for block in blocks]
    nearest, distance, next_best = (np.concatenate(parts) for parts in zip(*pairs, strict=True))
    good = np.flatnonzero(distance < DISTANCE_RATIO * next_best)
    order = good[np.argsort(distance[good], kind="stable")]
    _, first = np.unique(nearest[order], return_index=True)
    kept = order[np.sort(first)]
    return Matches(board.xy[nearest[kept]], photo.xy[kept])


def _two_nearest(
    some: NDArray[np.float32], others: NDArray[np.float32]
) -> tuple[NDArray[np.intp], Array, Array]:
    """The nearest of the others (M, 128) to each of N descriptors: its index and distance, and the next one's."""
    # of descriptors of length 1 the nearest is that of the largest product
    alike = some @ others.T
    rows, nearest = np.arange(len(alike)), alike.argmax(1)
    best = alike[rows, nearest]
    alike[rows, nearest] = -np.inf
    products = np.column_stack([best, alike.max(1)])
    distances = np.sqrt(np.maximum(2 - 2 * products, 0.0))
    return nearest, distances[:, 0], distances[:, 1]


def find_consensus(
    matches: Matches,
    undistorted_px: Array,
    size_px: tuple[int, int],
    board_mm: tuple[float, float],
) -> Matches | None:
    """The matches that one view of the plane explains; None where there is none, or another.

    `undistorted_px` (N, 2) are the pixels without the lens's distortion.
    """
    reach_px = REACH_SHARE * max(size_px)
    found = _most_agreeing(matches.xy_mm, undistorted_px, reach_px)
    if found is None:
        return None
    off_px, agree = found
    rest = off_px > RIVAL_REACH * reach_px
    rival = _most_agreeing(matches.xy_mm[rest], undistorted_px[rest], reach_px)
    count, others = int(agree.sum()), 0 if rival is None else int(rival[1].sum())
    if count < MIN_MATCHES or others > max(RIVAL_MATCHES, MAX_RIVAL_SHARE * count):
        return None
    of_board = _enclosed(matches.xy_mm[agree]) / np.prod(board_mm)
    of_photo = _enclosed(undistorted_px[agree]) / np.prod(size_px)
    if of_board < MIN_BOARD_SHARE and of_photo < MIN_PHOTO_SHARE:
        return None
    return matches.only(agree)


def _enclosed(places: Array) -> float:
    """The area that places (N, 2) enclose."""
    return float(cv2.contourArea(cv2.convexHull(places.astype(np.float32))))


def _most_agreeing(
    xy_mm: Array, xy_px: Array, reach_px: float
) -> tuple[Array, NDArray[np.bool_]] | None:
    """Distances (N,) of matches from the view that most agree on, and which do (N,)."""
    if len(xy_mm) < 4:
        return None
    view, _ = cv2.findHomography(
        xy_mm,
        xy_px,
        cv2.RANSAC,
        reach_px,
        maxIters=RANSAC_ROUNDS,
        confidence=RANSAC_CONFIDENCE,
    )
    if view is None:
        return None
    seen_px = cv2.perspectiveTransform(xy_mm[None], view)[0]
    off_px = np.linalg.norm(seen_px - xy_px, axis=1)
    off_px = np.where(np.isfinite(off_px), off_px, np.inf)
    return off_px, off_px < reach_px
