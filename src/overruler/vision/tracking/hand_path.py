"""The path of a piece that a hand hides completely: the piece goes where the hand goes.

Between the moment when the hand rests over the piece and the moment when it lets go, hand and piece
move as one. The hand is what differs from the table at rest. A window of it round the piece is
found again from shot to shot (normalised cross-correlation, peaks by parabolas). Steps add up, and
so do their errors. So while the hand looks as it did when it took the piece, the first window is
found instead. The piece's final place is known, which tells how far to trust the result.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import distance, step_lengths
from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import GreyImage
from overruler.vision.tracking.path import MovePath, estimate_path
from overruler.vision.tracking.table_state import CoarseShot, TableState

GRASP_TOLERANCE_S = 0.45
"""Largest time between a hand's taking a piece and the piece's leaving, or their opposites, in s."""
HALF_WINDOW_MM = 60.0
"""Half the side of the window, in mm."""
MAX_STEP_MM = 45.0
"""Longest way of a hand between two shots, in mm."""
FOREGROUND_MIN_LEVELS = 6.0
"""Difference from the table at rest at which a pixel begins to belong to the hand, in grey levels."""
FOREGROUND_FULL_LEVELS = 14.0
"""Difference at which it wholly belongs to the hand, in grey levels."""
BACKGROUND_WINDOW_MM = 225.0
"""Window over which the table's brightness is averaged, in mm."""
MIN_HAND_PRESENCE = 0.4
"""Least foreground in the window at which the hand is there, as a share of the most."""
RESTING_CORRELATION = 0.8
"""Least correlation from shot to shot of a hand at rest."""
MIN_STEP_CORRELATION = 0.6
"""Least correlation from shot to shot at which the hand is not lost."""
MIN_GRASP_CORRELATION = 0.7
"""Least correlation with the hand as it took the piece at which it looks as it did then."""
MAX_DRIFT_PX = 3
"""Largest error of a step that this corrects, in pixels of a coarse shot."""
MAX_CLOSURE_ERROR_MM = 15.0
"""Largest distance of the hand's end from the piece at which the hand was not lost, in mm."""
HAND_HEIGHT_MM = 18.0
"""Height of a hand above the board, in mm: fingers at about 30 mm, their shade on the table."""
HAND_HEIGHT_SIGMA_MM = 15.0
"""1 σ of that, in mm: the nearer to the camera, the longer a path appears."""
CLOSURE_SIGMA_SHARE = 0.5
"""1 σ of the length of a path with corners, as a share of its closure error."""
EQUIVALENT_HAND_SHARE = 0.25
"""A hand's path is as accurate as that of a piece of which the hand was followed on this share.

That is to a millimetre, in the median of 36 paths."""


def follow_hand(table: TableState, unsure: MovePath, z_mm: float) -> tuple[MovePath, Array] | None:
    """The path of a piece at height `z_mm` by its hand, and times and places (N, 3) of the hand.

    `unsure` is the path by the piece itself. None where the hand is lost.
    """
    start_mm, end_mm = unsure.corners_mm[0], unsure.corners_mm[-1]
    times, places_mm = _track_hand(table, unsure, z_mm)
    if not len(times):
        return None
    closure_mm = end_mm - places_mm[-1]
    if np.hypot(*closure_mm) > MAX_CLOSURE_ERROR_MM:
        return None
    gone_mm = np.concatenate([[0.0], step_lengths(places_mm).cumsum()])
    share = gone_mm / max(gone_mm[-1], 1e-9)
    places_mm = places_mm + share[:, None] * closure_mm
    trail = np.column_stack([times, places_mm])
    arrival = [times[-1] + 1e-3, *end_mm]
    eye_mm = table.camera.center_mm
    path = estimate_path(
        np.vstack([trail, arrival]), start_mm, end_mm, eye_mm, EQUIVALENT_HAND_SHARE
    )
    if not path.seen:
        return None
    if len(path.corners_mm) == 2:  # both ends are known, whatever the hand's height
        return path, trail
    excess_mm = path.length_mm - distance(start_mm, end_mm)
    by_height = HAND_HEIGHT_SIGMA_MM / float(eye_mm[2] - z_mm) * excess_mm
    by_closure = CLOSURE_SIGMA_SHARE * np.hypot(*closure_mm)
    sigma = np.linalg.norm([path.sigma_mm, by_closure, by_height])
    return replace(path, sigma_mm=float(sigma)), trail


def _track_hand(table: TableState, unsure: MovePath, z_mm: float) -> tuple[Array, Array]:
    """Times (N,) and places (N, 2) of the hand while it holds the piece; none where it is lost."""
    lost = np.zeros(0), np.zeros((0, 2))
    from_s, to_s = unsure.start_s - GRASP_TOLERANCE_S, unsure.end_s + GRASP_TOLERANCE_S
    shots = [shot for shot in table.recent_shots if from_s <= shot.time_s <= to_s]
    rest = table.last_rest.coarse_shot
    if len(shots) < 2 or shots[0].time_s > unsure.start_s:
        return lost  # it was forgotten, or the stream stalled
    if shots[0].grey.shape != rest.grey.shape:
        return lost
    start = np.array([*unsure.corners_mm[0], z_mm])
    px_per_mm = 1 / float(table.camera.mm_per_px(start)) / shots[0].scale
    hand = _HandTracker.from_rest(rest, px_per_mm)
    times = np.array([shot.time_s for shot in shots])
    pictures = [hand.pad_picture(shot.grey) for shot in shots]
    start_px = shots[0].to_coarse(table.camera.project(start))
    before_leaving = np.count_nonzero(times < unsure.start_s + GRASP_TOLERANCE_S)
    first = hand.grasp_index(pictures[: before_leaving + 1], start_px)
    places = hand.follow(pictures[first:], start_px)
    times = times[first : first + len(places)]
    steps = step_lengths(np.array(places))
    arriving = np.flatnonzero(times[1:] > to_s - 2 * GRASP_TOLERANCE_S)
    if not len(arriving):
        return lost
    last = int(arriving[np.argmin(steps[arriving])]) + 1  # the hand rests as it lets go
    places_px = shots[0].to_fine(np.array(places[: last + 1]))
    hand_mm = table.camera.unproject(places_px, z_mm + HAND_HEIGHT_MM)
    return times[: last + 1], unsure.corners_mm[0] + hand_mm - hand_mm[0]


@dataclass(frozen=True, slots=True, eq=False)
class _HandWindow:
    """A window of a shot."""

    at_px: Array
    """(2,): its centre, to a fraction of a pixel; it is cut out round the nearest whole one."""
    foreground: NDArray[np.float32]
    """(2 half + 1, 2 half + 1): its difference from the table."""


@dataclass(frozen=True, slots=True, eq=False)
class _HandTracker:
    """Finds the hand, as what differs from the table at rest, in padded pictures."""

    table: GreyImage
    """The table at rest, padded."""
    level: GreyImage
    """The brightness of the table without what is on it, padded.

    Differences from it do not depend on whether the piece below the hand is dark or bright."""
    half_px: int
    """A window has 2 half + 1 pixels a side."""
    reach_px: int
    """Largest step from shot to shot."""

    @classmethod
    def from_rest(cls, rest: CoarseShot, px_per_mm: float) -> "_HandTracker":
        side = 2 * round(BACKGROUND_WINDOW_MM * px_per_mm / 2) + 1
        level = np.asarray(cv2.blur(rest.grey, (side, side)), np.uint8)
        half_px, reach_px = round(HALF_WINDOW_MM * px_per_mm), round(MAX_STEP_MM * px_per_mm)
        bare = cls(rest.grey, level, half_px, reach_px)
        return replace(bare, table=bare.pad_picture(rest.grey), level=bare.pad_picture(level))

    def grasp_index(self, pictures: Sequence[GreyImage], at: Array) -> int:
        """The picture, but the last, in which the hand rests over the piece at a pixel (2,)."""
        windows = [self.cut_window(picture, at) for picture in pictures[:-1]]
        presence = [float(np.abs(window.foreground).mean()) for window in windows]
        steps_px, correlations = [], []
        for window, picture in zip(windows, pictures[1:], strict=True):
            place, correlation = self.match_window(window, picture, at, self.reach_px)
            steps_px.append(distance(place, at))
            correlations.append(correlation)
        needed = MIN_HAND_PRESENCE * max(presence)
        present = [k for k, share in enumerate(presence) if share >= needed]
        resting = [k for k in present if correlations[k] > RESTING_CORRELATION]
        return min(resting or present, key=steps_px.__getitem__)

    def follow(self, pictures: Sequence[GreyImage], start: Array) -> list[Array]:
        """The hand's pixels (2,), one a picture, up to the last or where it is lost."""
        grasp = self.cut_window(pictures[0], start)
        places = [start]
        for picture, following in pairwise(pictures):
            window = self.cut_window(picture, places[-1])
            by_step, correlation = self.match_window(window, following, places[-1], self.reach_px)
            if correlation < MIN_STEP_CORRELATION:
                break
            by_grasp, correlation = self.match_window(grasp, following, by_step, MAX_DRIFT_PX)
            places.append(by_grasp if correlation >= MIN_GRASP_CORRELATION else by_step)
        return places

    def cut_window(self, picture: GreyImage, at: Array) -> _HandWindow:
        """The window of a picture round a pixel (2,)."""
        return _HandWindow(at, self._foreground(picture, at, self.half_px))

    def match_window(
        self, window: _HandWindow, picture: GreyImage, near: Array, reach_px: int
    ) -> tuple[Array, float]:
        """The centre (2,) of a window found again near a pixel (2,), and the correlation there."""
        if float(window.foreground.std()) < 1:
            return near, 0.0
        around = self._foreground(picture, near, self.half_px + reach_px)
        correlation = np.asarray(
            cv2.matchTemplate(around, window.foreground, cv2.TM_CCOEFF_NORMED), np.float32
        )
        row, column = divmod(int(np.argmax(correlation)), correlation.shape[1])
        u = _subpixel_peak(correlation[row], column)
        v = _subpixel_peak(correlation[:, column], row)
        shift = np.array([u, v]) - reach_px
        at = window.at_px + np.rint(near) - np.rint(window.at_px) + shift
        return at, float(correlation[row, column])

    def pad_picture(self, picture: GreyImage) -> GreyImage:
        """A picture with a black border, beyond which there is no foreground."""
        border = (self.half_px + self.reach_px,) * 4
        return np.asarray(cv2.copyMakeBorder(picture, *border, cv2.BORDER_CONSTANT), np.uint8)

    def _foreground(self, picture: GreyImage, at: Array, half_px: int) -> NDArray[np.float32]:
        """The brightness round a pixel (2,) less the table's, where they differ enough."""
        size = (2 * half_px + 1, 2 * half_px + 1)
        center = (np.rint(at) + self.half_px + self.reach_px).tolist()
        pictures = (picture, self.table, self.level)
        cut = [cv2.getRectSubPix(one, size, center, patchType=cv2.CV_32F) for one in pictures]
        seen, rested, level = cut
        full = FOREGROUND_FULL_LEVELS - FOREGROUND_MIN_LEVELS
        share = np.clip((np.abs(seen - rested) - FOREGROUND_MIN_LEVELS) / full, 0, 1)
        return np.asarray(share * (seen - level), np.float32)


def _subpixel_peak(values: NDArray[np.float32], at: int) -> float:
    """The place of the peak of values (N,) near an index, to a fraction of a step."""
    if not 0 < at < len(values) - 1:
        return float(at)
    return float(at + parabolic_peak_offset(*values[at - 1 : at + 2]))
