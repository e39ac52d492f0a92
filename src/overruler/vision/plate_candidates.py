"""Places where a square plate may stand: four straight sides at right angles, over the board as seen from above.

The field of doubled gradient angles that finds rings (`candidates`) finds sides as well: turned by an angle, its cosine
is positive along sides that run one way and negative along those that run the other. Averages over the length of a
side, four of them half a side from the middle, then say how much of a square is there.
"""

from collections.abc import Iterator, Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.candidates import level_mask, orientation
from overruler.vision.orthophoto import Orthophoto

Image = NDArray[np.float32]
SIDE_PX = 24.0
"""A side is looked for where it is about this long: finer pictures are halved first."""
TURN_DEG = 6.0
"""Squares are looked for at headings so far apart: half of it moves a side's ends by half a pixel."""
COVERED = 0.9
"""The share of a side that is averaged: its corners are round."""
SHORTER_MM = 2.0
"""What shows best of a plate, its upper edge or its card's frame, is about this much shorter than its side."""
LEAST_RESPONSE = 0.04
MOST = 90
"""Candidates of one size kept at most: the best ones."""
APART = 0.2
"""Candidates of one size closer than this share of the side are the same one."""


def find_squares(view: Orthophoto, sides_mm: Sequence[float], hidden: Sequence[Array] = ()) -> Array:
    """Rough squares (N, 5): x, y and side in mm, turn in degrees (0 to 90, counter-clockwise), response 0 to 1.

    The strongest of each size come first; none lie where a `hidden` polygon (K, 2) in mm does.
    """
    found = [_of_size(view, side, hidden) for side in sides_mm]
    return np.concatenate(found) if found else np.empty((0, 5))


def _of_size(view: Orthophoto, side_mm: float, hidden: Sequence[Array]) -> Array:
    shrink = max(1.0, side_mm / view.mm_per_px / SIDE_PX)
    size = [max(8, round(length / shrink)) for length in view.pixels.shape[1::-1]]
    pixels = np.asarray(cv2.resize(view.pixels, size, interpolation=cv2.INTER_AREA), np.uint8)
    mask = np.asarray(cv2.resize(level_mask(view, hidden, 0), size, interpolation=cv2.INTER_NEAREST), np.float32)
    cosine, sine = orientation(pixels, mask)
    half = (side_mm - SHORTER_MM) / view.mm_per_px / shrink / 2
    rows = []
    for turn_deg in np.arange(0.0, 90.0, TURN_DEG):
        for x, y, response in _at_turn(cosine, sine, half, turn_deg):
            rows.append((*view.to_mm(np.array([x, y]) * shrink + (shrink - 1) / 2), side_mm, turn_deg, response))
    return _distinct(np.array(rows).reshape(-1, 5))


def _at_turn(cosine: Image, sine: Image, half_px: float, turn_deg: float) -> Iterator[tuple[float, float, float]]:
    """Where squares of one heading are centred, and how much of them is there."""
    rows, columns = cosine.shape
    across = int(np.ceil(np.hypot(rows, columns)))
    # The picture's y runs down: a square turned counter-clockwise comes upright by a clockwise turn of the picture.
    upright = cv2.getRotationMatrix2D(((columns - 1) / 2, (rows - 1) / 2), -turn_deg, 1.0)
    upright[0, 2] += (across - columns) / 2
    upright[1, 2] += (across - rows) / 2
    twice = 2 * np.radians(turn_deg)
    field = cv2.warpAffine(
        cosine * np.float32(np.cos(twice)) - sine * np.float32(np.sin(twice)), upright, (across,) * 2
    )
    response = _square_response(np.asarray(field, np.float32), half_px)
    reach = max(2, int(2 * half_px * APART))
    highest = cv2.dilate(response, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    y, x = np.nonzero((response >= highest) & (response > LEAST_RESPONSE))
    places = np.column_stack([x, y, np.ones(len(x))]) @ cv2.invertAffineTransform(upright).T
    for (place_x, place_y), share in zip(places, response[y, x], strict=True):
        yield float(place_x), float(place_y), float(share)


def _square_response(field: Image, half_px: float) -> Image:
    """The mean over four sides of how much of each is there, for upright squares centred on each pixel."""
    length, k = max(3, round(2 * half_px * COVERED)), round(half_px)
    upright = cv2.dilate(cv2.boxFilter(field, -1, (1, length)), np.ones((1, 3), np.uint8))
    level = cv2.dilate(cv2.boxFilter(-field, -1, (length, 1)), np.ones((3, 1), np.uint8))
    upright, level = (cv2.copyMakeBorder(np.maximum(a, 0), k, k, k, k, cv2.BORDER_CONSTANT) for a in (upright, level))
    rows, columns = field.shape
    total = upright[k : k + rows, 2 * k :] + upright[k : k + rows, :columns]
    total = total + level[2 * k :, k : k + columns] + level[:rows, k : k + columns]
    return np.asarray(total / 4, np.float32)


def _distinct(rows: Array) -> Array:
    kept: list[Array] = []
    for row in rows[np.argsort(-rows[:, 4], kind="stable")]:
        if len(kept) == MOST:
            break
        if not kept or np.hypot(*(np.stack(kept)[:, :2] - row[:2]).T).min() > APART * row[2]:
            kept.append(row)
    return np.stack(kept) if kept else np.empty((0, 5))
