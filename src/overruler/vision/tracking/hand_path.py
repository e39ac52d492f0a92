"""The way of a piece that a hand hides wholly: it goes where the hand goes that carries it.

Between the moment when the hand has come to rest over the piece and that when it lets go of it again, hand and piece
are one. What stands out from the table at rest is the hand; a window of it round the piece is found again from shot to
shot (normalised cross-correlation, the peak by parabolas). Steps add up, and so do their errors: as long as the hand
looks as it did when it took the piece, it is that first window which is found again. Where all this leads says how far
to believe it, for where the piece stands in the end is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.parabola import parabolic_peak_offset
from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import GreyImage
from overruler.vision.tracking.path import MovePath, estimate_path
from overruler.vision.tracking.table_state import CoarseShot, TableState

GRASP_TOLERANCE_S = 0.45
"""A hand takes a piece, and lets go of it, so near to when the piece seems to leave and to come."""
HALF_WINDOW_MM, MAX_STEP_MM = 60.0, 45.0
"""Half the side of the window, and how far a hand goes from shot to shot at most."""
FOREGROUND_MIN_LEVELS, FOREGROUND_FULL_LEVELS = 6.0, 14.0
"""Grey levels by which a pixel differs from the table at rest that begins to be the hand's, and one that is."""
BACKGROUND_WINDOW_MM = 225.0
"""What the table's brightness is told over."""
MIN_HAND_PRESENCE = 0.4
"""Share of the most that stands out in the window from which on the hand is there."""
RESTING_CORRELATION, MIN_STEP_CORRELATION = 0.8, 0.6
"""Correlation of one step's windows where it counts as the hand at rest, and at least."""
MIN_GRASP_CORRELATION, MAX_DRIFT_PX = 0.7, 3
"""Correlation with the hand as it took the piece from which on it counts as that, and how many pixels steps may have
slipped by."""
MAX_CLOSURE_ERROR_MM = 15.0
"""A hand that leads farther from where the piece stands was lost on its way."""
HAND_HEIGHT_MM, HAND_HEIGHT_SIGMA_MM = 18.0, 15.0
"""How much higher than the piece a hand is, and 1 σ of that: what is nearer to the camera seems to go farther. Its
fingers are at 30 mm or so, and its shade lies on the table."""
CLOSURE_SIGMA_SHARE = 0.5
"""1 σ of a length, as a share of how far off the steps lead, where the way has corners."""
EQUIVALENT_HAND_SHARE = 0.25
"""All of a hand tells its way as well as a piece does that was out of sight on such a share of its own: to a
millimetre, in the median of 36 ways."""


def follow_hand(table: TableState, unsure: MovePath, z_mm: float) -> tuple[MovePath, Array] | None:
    """The way of a piece at height `z_mm` by its hand's, and where that was: times and places (N, 3)."""
    start_mm, end_mm = unsure.corners_mm[0], unsure.corners_mm[-1]
    times, places_mm = _track_hand(table, unsure, z_mm)
    if not len(times):
        return None
    off_mm = end_mm - places_mm[-1]
    if np.hypot(*off_mm) > MAX_CLOSURE_ERROR_MM:
        return None
    gone = np.concatenate([[0.0], np.hypot(*np.diff(places_mm, axis=0).T).cumsum()])
    places_mm = places_mm + (gone / max(gone[-1], 1e-9))[:, None] * off_mm
    trail = np.column_stack([times, places_mm])
    arrived, eye_mm = [times[-1] + 1e-3, *end_mm], table.camera.center_mm
    way = estimate_path(
        np.vstack([trail, arrived]), start_mm, end_mm, eye_mm, EQUIVALENT_HAND_SHARE
    )
    if not way.seen:
        return None
    if (
        len(way.corners_mm) == 2
    ):  # however high the hand is, and wherever it leads, both ends are known
        return way, trail
    nearer = (
        HAND_HEIGHT_SIGMA_MM
        / float(eye_mm[2] - z_mm)
        * (way.length_mm - float(np.hypot(*(end_mm - start_mm))))
    )
    sigma = np.linalg.norm([way.sigma_mm, CLOSURE_SIGMA_SHARE * np.hypot(*off_mm), nearer])
    return replace(way, sigma_mm=float(sigma)), trail


def _track_hand(table: TableState, unsure: MovePath, z_mm: float) -> tuple[Array, Array]:
    """Times (N,) and places (N, 2) of the hand from taking the piece to letting go of it; none where it is lost."""
    from_s, to_s = unsure.start_s - GRASP_TOLERANCE_S, unsure.end_s + GRASP_TOLERANCE_S
    shots = [one for one in table.recent_shots if from_s <= one.time_s <= to_s]
    lost = np.zeros(0), np.zeros((0, 2))
    if (
        not shots
        or shots[0].time_s > unsure.start_s
        or shots[0].grey.shape != table.last_rest.coarse_shot.grey.shape
    ):
        return lost
    start = np.array([*unsure.corners_mm[0], z_mm])
    hand = _HandTracker.from_rest(
        table.last_rest.coarse_shot, 1 / float(table.camera.mm_per_px(start)) / shots[0].scale
    )
    times = np.array([one.time_s for one in shots])
    places = [shots[0].to_coarse(table.camera.project(start))]
    seen = [hand.pad_picture(one.grey) for one in shots]
    first = hand.grasp_index(
        seen[: np.count_nonzero(times < unsure.start_s + GRASP_TOLERANCE_S) + 1], places[0]
    )
    taking = hand.cut_window(seen[first], places[0])
    for one, other in pairwise(seen[first:]):
        went, alike = hand.match_window(
            hand.cut_window(one, places[-1]), other, places[-1], hand.reach_px
        )
        if alike < MIN_STEP_CORRELATION:
            break
        as_taken, sure = hand.match_window(taking, other, went, MAX_DRIFT_PX)
        places.append(as_taken if sure >= MIN_GRASP_CORRELATION else went)
    steps = np.hypot(*np.diff(places, axis=0).T)
    came = np.flatnonzero(times[first + 1 : first + len(places)] > to_s - 2 * GRASP_TOLERANCE_S)
    if not len(came):
        return lost
    last = int(came[np.argmin(steps[came])]) + 1  # it rests as it lets go
    hand_mm = table.camera.unproject(
        shots[0].to_fine(np.array(places[: last + 1])), z_mm + HAND_HEIGHT_MM
    )
    return times[first : first + last + 1], unsure.corners_mm[0] + hand_mm - hand_mm[0]


@dataclass(frozen=True, slots=True, eq=False)
class _HandWindow:
    """Part of a shot."""

    at_px: Array
    """(2,): its middle, to a fraction of a pixel; it is cut out round the nearest whole one."""
    foreground: NDArray[np.float32]
    """(2 half + 1, 2 half + 1): how far it stands out from the table."""


@dataclass(frozen=True, slots=True, eq=False)
class _HandTracker:
    """What stands out from the table at rest; all pictures are `framed`."""

    table: GreyImage
    level: GreyImage
    """The table's brightness without what is on it: less would be told by a hand over a dark piece or a bright one."""
    half_px: int
    """Half the side of the window, less a half."""
    reach_px: int

    @classmethod
    def from_rest(cls, rested: CoarseShot, px_per_mm: float) -> "_HandTracker":
        wide = 2 * round(BACKGROUND_WINDOW_MM * px_per_mm / 2) + 1
        level = np.asarray(cv2.blur(rested.grey, (wide, wide)), np.uint8)
        bare = cls(
            rested.grey, level, round(HALF_WINDOW_MM * px_per_mm), round(MAX_STEP_MM * px_per_mm)
        )
        return replace(bare, table=bare.pad_picture(rested.grey), level=bare.pad_picture(level))

    def grasp_index(self, shots: Sequence[GreyImage], at: Array) -> int:
        """In which of the shots but the last it takes the piece that stands at a pixel (2,): it is there, and rests."""
        windows = [self.cut_window(one, at) for one in shots[:-1]]
        there = [float(np.abs(window.foreground).mean()) for window in windows]
        steps = [
            self.match_window(window, other, at, self.reach_px)
            for window, other in zip(windows, shots[1:], strict=True)
        ]
        present = [k for k, much in enumerate(there) if much >= MIN_HAND_PRESENCE * max(there)]
        sure = [k for k in present if steps[k][1] > RESTING_CORRELATION]
        return min(sure or present, key=lambda k: float(np.hypot(*(steps[k][0] - at))))

    def cut_window(self, shot: GreyImage, at: Array) -> "_HandWindow":
        """What is round a pixel (2,) of a shot."""
        return _HandWindow(at, self._foreground(shot, at, self.half_px))

    def match_window(
        self, window: "_HandWindow", shot: GreyImage, near: Array, reach_px: int
    ) -> tuple[Array, float]:
        """Where (2,) the middle of a window is in a shot, near a pixel (2,); and how alike it still is."""
        if float(window.foreground.std()) < 1:
            return near, 0.0
        around = self._foreground(shot, near, self.half_px + reach_px)
        alike = np.asarray(
            cv2.matchTemplate(around, window.foreground, cv2.TM_CCOEFF_NORMED), np.float32
        )
        row, column = divmod(int(np.argmax(alike)), alike.shape[1])
        shift = (
            np.array([_subpixel_peak(alike[row], column), _subpixel_peak(alike[:, column], row)])
            - reach_px
        )
        return window.at_px + np.rint(near) - np.rint(window.at_px) + shift, float(
            alike[row, column]
        )

    def pad_picture(self, picture: GreyImage) -> GreyImage:
        """A picture in a black frame: nothing stands out beyond its edges."""
        wide = (self.half_px + self.reach_px,) * 4
        return np.asarray(cv2.copyMakeBorder(picture, *wide, cv2.BORDER_CONSTANT), np.uint8)

    def _foreground(self, shot: GreyImage, at: Array, half_px: int) -> NDArray[np.float32]:
        """(2 half + 1, 2 half + 1): of what is round a pixel (2,), in levels above or below the table's."""
        size, middle = (
            (2 * half_px + 1, 2 * half_px + 1),
            (np.rint(at) + self.half_px + self.reach_px).tolist(),
        )
        pictures = shot, self.table, self.level
        seen, rested, level = (
            cv2.getRectSubPix(one, size, middle, patchType=cv2.CV_32F) for one in pictures
        )
        much = np.clip(
            (np.abs(seen - rested) - FOREGROUND_MIN_LEVELS)
            / (FOREGROUND_FULL_LEVELS - FOREGROUND_MIN_LEVELS),
            0,
            1,
        )
        return np.asarray(much * (seen - level), np.float32)


def _subpixel_peak(values: NDArray[np.float32], at: int) -> float:
    """Where the peak of values (N,) is to a fraction of a step."""
    return (
        float(at + parabolic_peak_offset(*values[at - 1 : at + 2]))
        if 0 < at < len(values) - 1
        else float(at)
    )
