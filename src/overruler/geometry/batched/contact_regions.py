"""What `geometry.contact_region` does, for many pairs at once: each step is one pass over arrays.

Alphabet: m rows, each a pair of shapes, the covariance of its displacement and a line; s pieces of
the rows' boundaries. Lengths are in mm, or in σ where coordinates are whitened.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.support_columns import SupportColumns
from overruler.geometry.batched.vectors import SMALLEST_DIVISOR
from overruler.geometry.contact_region import (
    FAR_SIGMAS,
    GAUSS_NODES,
    JUMP,
    LEAST_PIECES,
    MAX_HALVINGS,
    MIN_SIGMA_MM,
    MOMENT_REACH_SIGMAS,
    MOMENT_STEPS,
    ROUNDING,
    STEP_SIGMAS,
)
from overruler.geometry.pose import Array

PAST_JUMP = 10 * JUMP
"""How far past an edge's normal an arc begins, in radians: normals that nearly agree are one jump."""
STRAIGHT_PIECES = int(2 * FAR_SIGMAS / STEP_SIGMAS)
"""Number of rules of 5 points along a straight piece."""
NODES, WEIGHTS = np.array(GAUSS_NODES).T

Points = tuple[Array, Array]
"""The x and y of points."""
Rows = NDArray[np.integer[Any]]


class ContactRows(NamedTuple):
    """For each row the displacements of b that bring it within a line of a."""

    a: SupportColumns
    b: SupportColumns
    line_mm: Array
    xx: Array
    yx: Array
    yy: Array
    """The whitening: (x, y) becomes (xx x, yx x + yy y)."""

    @classmethod
    def of(
        cls, a: SupportColumns, b: SupportColumns, covariance: Array, line_mm: Array
    ) -> "ContactRows":
        """Return the rows of pairs with covariances (m, 2, 2) and a line each."""
        sigma_x = np.sqrt(np.maximum(covariance[:, 0, 0], MIN_SIGMA_MM**2))
        lean = covariance[:, 0, 1] / sigma_x
        sigma_y = np.sqrt(np.maximum(covariance[:, 1, 1] - lean * lean, MIN_SIGMA_MM**2))
        return cls(a, b, line_mm, 1 / sigma_x, -lean / (sigma_x * sigma_y), 1 / sigma_y)

    def select_rows(self, rows: Rows) -> "ContactRows":
        a, b = self.a.select_rows(rows), self.b.select_rows(rows)
        return ContactRows(a, b, *(column[rows] for column in self[2:]))

    def whiten(self, x: Array, y: Array) -> Points:
        return self.xx * x, self.yx * x + self.yy * y

    def boundary_points(self, angles: Array) -> Points:
        """Return the boundary's points with their outward normals at angles."""
        ux, uy = np.cos(angles), np.sin(angles)
        ax, ay = self.a.support_points(ux, uy)
        bx, by = self.b.support_points(-ux, -uy)
        return self.whiten(ax - bx + self.line_mm * ux, ay - by + self.line_mm * uy)

    def turn_rates(self, angles: Array) -> Array:
        """Return the change of the integral with the normal's angle."""
        ux, uy = np.cos(angles), np.sin(angles)
        radius = self.line_mm + self.a.curvature_radii(ux, uy) + self.b.curvature_radii(ux, uy)
        along_x, along_y = self.whiten(-radius * uy, radius * ux)
        x, y = self.boundary_points(angles)
        return np.asarray((x * along_y - y * along_x) * _turn_weights(x * x + y * y))


def probabilities_within(
    a: SupportColumns, b: SupportColumns, covariance: Array, line_mm: Array
) -> Array:
    """Return the probability (m,) that each gap is at most its line.

    `covariance` (m, 2, 2) is that of b's displacement.
    """
    rows = ContactRows.of(a, b, covariance, line_mm)
    angles = _break_angles(a, b)
    is_jump = np.diff(angles, axis=1, prepend=-1.0) > PAST_JUMP
    turned = _straight_sums(rows, angles, is_jump)
    turned += _arc_sums(rows, angles, is_jump)
    return np.asarray(np.clip(turned / (2 * np.pi), 0.0, 1.0))


def gap_sigmas(a: SupportColumns, b: SupportColumns, covariance: Array, gap_mm: Array) -> Array:
    """Return the standard deviation (m,) of each gap, which contact cuts off at 0."""
    xx, xy, yy = covariance[:, 0, 0], covariance[:, 0, 1], covariance[:, 1, 1]
    largest = (xx + yy) / 2 + np.hypot((xx - yy) / 2, xy)
    reach = MOMENT_REACH_SIGMAS * np.sqrt(np.maximum(largest, 0.0))
    low = np.maximum(gap_mm - reach, 0.0)
    places = (2 * np.arange(MOMENT_STEPS)[:, None] + 1 + NODES).ravel()
    step = (gap_mm + reach - low) / (2 * MOMENT_STEPS)
    past_low = step[:, None] * places  # (m, nodes)
    row = np.repeat(np.arange(len(low)), len(places))
    lines = (low[:, None] + past_low).ravel()
    within = probabilities_within(a.select_rows(row), b.select_rows(row), covariance[row], lines)
    past = np.where(within < 1 - ROUNDING, 1 - within, 0.0).reshape(past_low.shape)
    above = past * np.tile(WEIGHTS, MOMENT_STEPS) * step[:, None]
    first = above.sum(1)
    second = 2 * (past_low * above).sum(1)
    return np.asarray(np.sqrt(np.maximum(second - first * first, 0.0)))


def _break_angles(a: SupportColumns, b: SupportColumns) -> Array:
    """Return ascending angles (m, k) in a turn: the normals of all sides, and even ones."""
    count = len(a.x)
    even = np.tile(2 * np.pi * np.arange(LEAST_PIECES) / LEAST_PIECES, (count, 1))
    columns = [even]
    for shapes in (a, b):
        if shapes.is_box.any():
            heading = np.arctan2(shapes.sin, shapes.cos)[:, None]
            normals = (heading + np.pi / 2 * np.arange(4)) % (2 * np.pi)
            normals[normals > 2 * np.pi - PAST_JUMP] = 0.0
            columns.append(np.where(shapes.is_box[:, None], normals, 0.0))
    return np.sort(np.concatenate(columns, 1), axis=1)


# --- arcs ---


def _arc_sums(rows: ContactRows, angles: Array, is_jump: NDArray[np.bool_]) -> Array:
    """Return what the curved pieces of each row's boundary add (m,)."""
    turned = np.zeros(len(angles))
    last = np.concatenate([angles[:, 1:], angles[:, :1] + 2 * np.pi], 1)
    # Of normals that nearly agree, the first one's jump passes the others.
    row, place = np.nonzero(last - angles > 2 * PAST_JUMP)
    first = angles[row, place] + np.where(is_jump[row, place], PAST_JUMP, JUMP)
    last = last[row, place] - JUMP
    pieces = rows.select_rows(row)
    start, end = pieces.boundary_points(first), pieces.boundary_points(last)
    for halvings in range(MAX_HALVINGS + 1):
        pieces = rows.select_rows(row)
        angle = (first + last) / 2
        middle = pieces.boundary_points(angle)
        length = _lengths_between(start, middle) + _lengths_between(middle, end)
        nearest = np.minimum(np.minimum(np.hypot(*start), np.hypot(*middle)), np.hypot(*end))
        is_far = nearest > FAR_SIGMAS + length
        is_smooth = ~is_far & ((length <= STEP_SIGMAS) | (halvings == MAX_HALVINGS))
        added = _angles_between(start, end)
        smooth = np.flatnonzero(is_smooth)
        added[smooth] = _smooth_sums(pieces.select_rows(smooth), first[smooth], last[smooth])
        done = is_far | is_smooth
        np.add.at(turned, row[done], added[done])
        rest = np.flatnonzero(~done)
        if not len(rest):
            break
        first, last = _halves(first, angle, rest), _halves(angle, last, rest)
        start, end = _point_halves(start, middle, rest), _point_halves(middle, end, rest)
        row = np.tile(row[rest], 2)
    return turned


def _halves(lower: Array, upper: Array, rest: Rows) -> Array:
    return np.concatenate([lower[rest], upper[rest]])


def _point_halves(lower: Points, upper: Points, rest: Rows) -> Points:
    return _halves(lower[0], upper[0], rest), _halves(lower[1], upper[1], rest)


def _smooth_sums(rows: ContactRows, first: Array, last: Array) -> Array:
    half = (last - first) / 2
    middle = (first + last) / 2
    total = np.zeros(len(half))
    for place, weight in GAUSS_NODES:
        total += weight * rows.turn_rates(middle + half * place)
    return total * half


def _lengths_between(p: Points, q: Points) -> Array:
    return np.asarray(np.hypot(q[0] - p[0], q[1] - p[1]))


def _angles_between(p: Points, q: Points) -> Array:
    """Return the angles from points to others as seen from the origin."""
    return np.arctan2(p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1])


def _turn_weights(square: Array) -> Array:
    """Return (1 - exp(-r² / 2)) / r² for r²."""
    divisor = np.maximum(square, SMALLEST_DIVISOR)
    return np.where(square < 1e-6, 0.5 - square / 8, -np.expm1(-square / 2) / divisor)


# --- straight pieces ---


def _straight_sums(rows: ContactRows, angles: Array, is_jump: NDArray[np.bool_]) -> Array:
    """Return what the straight pieces of each row's boundary add (m,)."""
    turned = np.zeros(len(angles))
    row, place = np.nonzero(is_jump)
    pieces = rows.select_rows(row)
    angle = angles[row, place]
    p, q = pieces.boundary_points(angle - JUMP), pieces.boundary_points(angle + PAST_JUMP)
    np.add.at(turned, row, _straight_turns(p, q))
    return turned


def _straight_turns(p: Points, q: Points) -> Array:
    """Return the contributions (s,) of straight pieces from points p to q."""
    length = _lengths_between(p, q)
    divisor = np.maximum(length, SMALLEST_DIVISOR)
    ux, uy = (q[0] - p[0]) / divisor, (q[1] - p[1]) / divisor
    aside = p[0] * uy - p[1] * ux
    start = p[0] * ux + p[1] * uy
    half = np.sqrt(np.maximum(FAR_SIGMAS**2 - aside * aside, 0.0))
    low = np.maximum(start, -half)
    high = np.minimum(start + length, half)
    total = _angles_between(p, q)
    near = np.flatnonzero((np.abs(aside) < FAR_SIGMAS) & (low < high))
    if not len(near):
        return total
    foot = aside[near] * uy[near], -aside[near] * ux[near]
    low, high, aside = low[near], high[near], aside[near]
    enter = foot[0] + low * ux[near], foot[1] + low * uy[near]
    leave = foot[0] + high * ux[near], foot[1] + high * uy[near]
    ends = (p[0][near], p[1][near]), (q[0][near], q[1][near])
    outer = _angles_between(ends[0], enter) + _angles_between(leave, ends[1])
    step = (high - low) / (2 * STRAIGHT_PIECES)
    places = (2 * np.arange(STRAIGHT_PIECES)[:, None] + 1 + NODES).ravel()
    along = low[:, None] + step[:, None] * places
    rates = aside[:, None] * _turn_weights(aside[:, None] ** 2 + along**2)
    total[near] = outer + step * (rates @ np.tile(WEIGHTS, STRAIGHT_PIECES))
    return total
