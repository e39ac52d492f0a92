"""The way of a piece that a hand hides wholly: it goes where the hand goes that carries it.

Between the moment when the hand has come to rest over the piece and that when it lets go of it again, hand and piece
are one. What stands out from the table at rest is the hand; a window of it round the piece is found again from shot to
shot (normalised cross-correlation, the peak by parabolas). Steps add up, and so do their errors: where they lead says
how far to believe them, for where the piece stands in the end is known.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.track_path import Way, way_of
from overruler.vision.track_table import Glimpse, Watched

ABOUT_S = 0.45
"""A hand takes a piece, and lets go of it, so near to when the piece seems to leave and to come."""
WINDOW_MM, STEP_MM = 60.0, 45.0
"""Half the side of the window, and how far a hand goes from shot to shot at most."""
STANDS_OUT, CLEARLY = 6.0, 14.0
"""Grey levels by which a pixel differs from the table at rest that begins to be the hand's, and one that is."""
ROUND_MM = 225.0
"""What the table's brightness is told over."""
PRESENT = 0.6
"""Share of the most that stands out in the window from which on the hand is there."""
SURE, ALIKE = 0.8, 0.6
"""Correlation of one step's windows where it counts as the hand at rest, and at least."""
FARTHEST_MM = 12.0
"""A hand that leads farther from where the piece stands was lost on its way."""
OFF_SHARE = 0.5
"""1 σ of a length, as a share of how far off the steps lead, where the way has corners."""

AS_IF_LED = 0.7
"""All of a hand tells its way as well as a piece does that was out of sight on such a share of its own."""

Hand = NDArray[np.float32]


def led(table: Watched, unsure: Way, z_mm: float) -> tuple[Way, Array] | None:
    """The way of a piece at height `z_mm` by its hand's, and where that was: times and places (N, 3)."""
    start_mm, end_mm = unsure.corners_mm[0], unsure.corners_mm[-1]
    times, places_mm = _followed(table, unsure, z_mm)
    if not len(times):
        return None
    off_mm = end_mm - places_mm[-1]
    if np.hypot(*off_mm) > FARTHEST_MM:
        return None
    gone = np.concatenate([[0.0], np.hypot(*np.diff(places_mm, axis=0).T).cumsum()])
    places_mm = places_mm + (gone / max(gone[-1], 1e-9))[:, None] * off_mm
    trail = np.column_stack([times, places_mm])
    arrived, eye_mm = [times[-1] + 1e-3, *end_mm], table.camera.center_mm
    way = way_of(np.vstack([trail, arrived]), start_mm, end_mm, eye_mm, AS_IF_LED)
    if not way.seen:
        return None
    sigma = float(np.hypot(way.sigma_mm, OFF_SHARE * np.hypot(*off_mm) * (len(way.corners_mm) > 2)))
    return replace(way, sigma_mm=sigma), trail


def _followed(table: Watched, unsure: Way, z_mm: float) -> tuple[Array, Array]:
    """Times (N,) and places (N, 2) of the hand from taking the piece to letting go of it; none where it is lost."""
    from_s, to_s = unsure.start_s - ABOUT_S, unsure.end_s + ABOUT_S
    shots = [one for one in table.lately if from_s <= one.time_s <= to_s]
    lost = np.zeros(0), np.zeros((0, 2))
    if not shots or shots[0].time_s > unsure.start_s or shots[0].grey.shape != table.rested.glimpse.grey.shape:
        return lost
    scale = 1 << shots[0].halved
    start = np.array([*unsure.corners_mm[0], z_mm])
    px_per_mm = 1 / float(table.camera.mm_per_px(start)) / scale
    at = (table.camera.project(start) - (scale - 1) / 2) / scale
    step = partial(_step, round(WINDOW_MM * px_per_mm), round(STEP_MM * px_per_mm))
    hands, times = _hands(table.rested.glimpse, shots, px_per_mm), np.array([one.time_s for one in shots])
    first = _taken(hands, at, np.flatnonzero(times[:-1] < unsure.start_s + ABOUT_S).tolist(), step)
    places = [at]
    for one, other in zip(hands[first:], hands[first + 1 :], strict=False):
        shift, alike = step(one, other, places[-1])
        if alike < ALIKE:
            break
        places.append(places[-1] + shift)
    steps = np.hypot(*np.diff(places, axis=0).T)
    came = np.flatnonzero(times[first + 1 : first + len(places)] > to_s - 2 * ABOUT_S)
    if not len(came):
        return lost
    last = int(came[np.argmin(steps[came])]) + 1  # it rests as it lets go
    places_px = np.array(places[: last + 1]) * scale + (scale - 1) / 2
    return times[first : first + last + 1], table.camera.unproject(places_px, z_mm)


def _hands(rested: Glimpse, shots: Sequence[Glimpse], px_per_mm: float) -> list[Hand]:
    """What stands out from the table at rest in each shot (H, W), in levels above or below the table's."""
    table = rested.grey.astype(np.float32)
    level = np.asarray(cv2.blur(table, (2 * round(ROUND_MM * px_per_mm / 2) + 1,) * 2), np.float32)
    return [_out(one.grey.astype(np.float32), table, level) for one in shots]


def _out(shot: Hand, table: Hand, level: Hand) -> Hand:
    much = np.clip((np.abs(shot - table) - STANDS_OUT) / (CLEARLY - STANDS_OUT), 0, 1)
    return np.asarray(much * (shot - level), np.float32)


def _taken(hands: Sequence[Hand], at: Array, tries: Sequence[int], step: partial[tuple[Array, float]]) -> int:
    """When the hand takes the piece that stands at a pixel (2,): it is there, and rests."""
    half = step.args[0]
    there = [float(np.abs(_window(hands[k], at, half)).mean()) for k in tries]
    steps = [step(hands[k], hands[k + 1], at) for k in tries]
    present = [k for k, much in enumerate(there) if much >= PRESENT * max(there)]
    sure = [k for k in present if steps[k][1] > SURE]
    return int(tries[min(sure or present, key=lambda k: float(np.hypot(*steps[k][0])))])


def _step(half: int, reach: int, one: Hand, other: Hand, at: Array) -> tuple[Array, float]:
    """How far (2,), in pixels, what was round a pixel (2,) has gone until the next shot, and how alike it still is."""
    window = _window(one, at, half)
    if float(window.std()) < 1:
        return np.zeros(2), 0.0
    alike = np.asarray(cv2.matchTemplate(_window(other, at, half + reach), window, cv2.TM_CCOEFF_NORMED), np.float32)
    row, column = divmod(int(np.argmax(alike)), alike.shape[1])
    across, down = _peak(alike[row], column), _peak(alike[:, column], row)
    return np.array([across - reach, down - reach]), float(alike[row, column])


def _window(picture: Hand, at: Array, half: int) -> Hand:
    """(2 half + 1, 2 half + 1): what is round a pixel (2,), nothing beyond the picture's edges."""
    x, y = (int(value) for value in np.rint(at))
    rows, columns = picture.shape
    low, high = (
        np.clip([y - half, x - half], 0, [rows, columns]),
        np.clip([y, x], -half - 1, [rows, columns]) + half + 1,
    )
    found = np.zeros((2 * half + 1, 2 * half + 1), np.float32)
    part = picture[low[0] : high[0], low[1] : high[1]]
    top, left = low - [y - half, x - half]
    found[top : top + part.shape[0], left : left + part.shape[1]] = part
    return found


def _peak(values: Hand, at: int) -> float:
    """Where a peak of values (N,) is to a fraction of a step, by a parabola."""
    if not 0 < at < len(values) - 1:
        return float(at)
    before, middle, after = (float(value) for value in values[at - 1 : at + 2])
    bend = before - 2 * middle + after
    return at + (0.5 * (before - after) / bend if bend < 0 else 0.0)
