"""The way that a piece took, from where it was seen on it: corners, length and doubt, start and end.

A piece is carried some millimetres above the board and then looks displaced away from the camera's foot. The way is a
line of straight legs on the board between two places that are known well; the height is a bow of unknown rise over it;
both are fitted at once (least squares with a soft limit for places taken from a finger).
"""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array

STARTED_MM = 1.2
"""A piece is on its way when it is so far from where it stood."""
ARRIVED_MM = 20.0
"""Seen last so near to where it is found, a piece has been followed all the way."""
LEFT_MM = 6.0
"""A hand that was followed on put it down where it came so near to where it is found."""
SEEN_MM = 0.4
"""1 σ of a place on the way, of a piece that is seen itself."""
LED_MM = 2.5
"""1 σ of a place to which the hand has led that hides the piece: its fingers slip."""
GROWN, MOST_GROWN = 0.03, 0.08
"""By such a share a hand that hides the piece seems to go farther, being nearer to the camera; and by no more."""
FIRM = 1e-3
"""The same where the piece itself was seen."""
RISE_MM, RISE_SIGMA_MM = 3.0, 3.0
"""How high a piece is carried, and 1 σ of it."""
HIGHEST_MM = 12.0
"""Nobody slides a piece over the table higher than this."""
BEYOND_MM = 15.0
"""A corner between two shots lies no farther beyond where the piece was seen."""
FEWEST = 3
"""A leg needs so many places."""
SLACK_SHARE = 0.1
"""A way through its corners is longer than one from place to place, which cuts them, by no larger share."""
MOST_LEGS = 6
WORTH = 14.0
"""By how much the misfit must fall for a leg more: two more numbers, by the usual criterion and then some."""
HAND_MM_S = 150.0
"""A hand that carries a piece goes about so fast at most."""
AWAY_MM = 1.5
"""Places nearer to a leg than this make no corner."""


@dataclass(frozen=True, slots=True, eq=False)
class Way:
    """A way between two places."""

    corners_mm: Array
    """(K + 1, 2), both ends included."""
    length_mm: float
    sigma_mm: float
    """1 σ of what the corners add to the doubt of the length."""
    start_s: float
    end_s: float
    seen: bool
    """Whether it was seen; else it is taken as straight."""


def way_of(trail: Array, start_mm: Array, end_mm: Array, eye_mm: Array, led: float = 0.0) -> Way:
    """The way from `start_mm` (2,) to `end_mm` (2,) that a trail (N, 3) of times and places tells; `eye_mm` (3,).

    `led` is the share of the trail on which only the hand was followed.
    """
    trail = _landed(_believed(trail, start_mm, end_mm), start_mm, end_mm)
    start_s, end_s = _times(trail, start_mm, end_mm)
    between = trail[(trail[:, 0] > start_s) & (trail[:, 0] < end_s), 1:]
    corners, sigma = _legs(_Seen(between, eye_mm, led), start_mm, end_mm, end_s - start_s)
    return Way(corners, _length(corners), sigma, start_s, end_s, len(between) >= FEWEST)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What was seen on the way."""

    places: Array
    """(N, 2)."""
    eye_mm: Array
    """(3,): where the camera is."""
    led: float
    """Share of it on which only the hand was followed."""

    @property
    def sigma_mm(self) -> float:
        """1 σ of a place."""
        return float(np.hypot(SEEN_MM, self.led * LED_MM))


def _length(corners: Array) -> float:
    return float(np.hypot(*np.diff(corners, axis=0).T).sum())


def _believed(trail: Array, start_mm: Array, end_mm: Array) -> Array:
    """The trail as far as it leads to the end; where it does not, a hand was followed: then its start, and the end."""
    away = np.hypot(*(trail[:-1, 1:] - end_mm).T)
    if len(trail) < 3 or away[-1] < ARRIVED_MM:
        return trail
    if away[1:].min() < LEFT_MM:  # and then the hand, as it left
        return np.vstack([trail[: int(np.argmin(away[1:])) + 2], trail[-1:]])
    at_start = np.hypot(*(trail[:, 1:] - start_mm).T) < STARTED_MM
    first = int(np.argmin(at_start)) if not at_start.all() else len(trail)
    return np.vstack([trail[: max(first, 1)], trail[-1:]])


def _landed(trail: Array, start_mm: Array, end_mm: Array) -> Array:
    """The trail with its last places brought to where the piece stands: the look it was followed by has aged."""
    total = float(np.hypot(*(end_mm - start_mm)))
    near = np.hypot(*(trail[:, 1:] - end_mm).T) < min(3.0, total / 3)
    if not near.any():
        return trail
    off = np.median(trail[near, 1:], axis=0) - end_mm
    done = np.clip((trail[:, 1:] - start_mm) @ (end_mm - start_mm) / max(total, 1e-9) ** 2, 0, 1)
    return np.column_stack([trail[:, 0], trail[:, 1:] - done[:, None] * off])


def _times(trail: Array, start_mm: Array, end_mm: Array) -> tuple[float, float]:
    """When it left the one place and came to the other, each between two shots."""
    near = min(STARTED_MM, float(np.hypot(*(end_mm - start_mm))) / 3)
    start = _crossing(trail[:, 0], np.hypot(*(trail[:, 1:] - start_mm).T), near)
    end = -_crossing(-trail[::-1, 0], np.hypot(*(trail[::-1, 1:] - end_mm).T), near)
    return (start, end) if start < end else (float(trail[0, 0]), float(trail[-1, 0]))


def _crossing(times: Array, away: Array, near: float) -> float:
    """When `away` (N,) exceeds `near` for good: for two shots at least, for one may be an error."""
    out = away > near
    last = len(out) - 1
    first = next((i for i in range(len(out)) if out[i] and out[min(i + 1, last)]), last)
    if first == 0:
        return float(times[0])
    share = (near - away[first - 1]) / (away[first] - away[first - 1]) if away[first - 1] < near else 0.5
    return float(times[first - 1] + np.clip(share, 0, 1) * (times[first] - times[first - 1]))


def _legs(seen: _Seen, start_mm: Array, end_mm: Array, long_s: float) -> tuple[Array, float]:
    """The corners (K + 1, 2), and the 1 σ of the length by the fit; it took `long_s`."""
    corners, places = np.stack([start_mm, end_mm]), seen.places
    if len(places) < FEWEST:
        return corners, _unseen_sigma(corners, places, long_s)
    best = _fitted(corners, seen)
    most_mm = _length(np.vstack([start_mm, places, end_mm])) * (1 + SLACK_SHARE)
    turned = list[int]()  # which places became corners: a way that turns back comes near its later legs early on
    for _ in range(min(MOST_LEGS, len(places) // FEWEST) - 1):
        away, which = _farthest(best)
        if away is None:
            break
        before = bisect_left(turned, which)
        more = _fitted(np.insert(best.corners, before + 1, away, axis=0), seen)
        if more.misfit > best.misfit - WORTH or _length(more.corners) > most_mm:
            break
        best = more
        turned.insert(before, which)
    return best.corners, min(best.sigma, _unseen_sigma(best.corners, places[:0], long_s))


def _unseen_sigma(corners: Array, places: Array, long_s: float) -> float:
    """A way that nobody saw is straight as far as is known: it may well be a quarter longer, or what a hand goes."""
    more = max(HAND_MM_S * long_s - _length(corners), 0.0) / 2
    return float(np.hypot(0.25 * _length(corners), more)) / (1 + len(places))


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    corners: Array
    off: Array
    """(N,): how far each place lies from the nearest leg."""
    lowered: Array
    """(N, 2): the places brought down."""
    misfit: float
    sigma: float


def _fitted(corners: Array, seen: _Seen) -> _Fitted:
    ends, inner = (corners[0], corners[-1]), corners[1:-1]
    grown = FIRM + GROWN * seen.led

    def line(numbers: Array) -> Array:
        return np.vstack([ends[0], numbers[:-2].reshape(-1, 2), ends[1]])

    def misfits(numbers: Array) -> Array:
        off, _ = _off(line(numbers), seen, *numbers[-2:])
        return np.append(off / seen.sigma_mm, [(numbers[-2] - RISE_MM) / RISE_SIGMA_MM, numbers[-1] / grown])

    start = np.append(inner.ravel(), [RISE_MM, 0.0])
    known = np.vstack([seen.places, corners])
    low, high = (np.tile(edge, len(inner)) for edge in (known.min(0) - BEYOND_MM, known.max(0) + BEYOND_MM))
    bounds = np.append(low, [0.0, -FIRM]), np.append(high, [HIGHEST_MM, MOST_GROWN])
    from scipy.optimize import least_squares  # slow to load, and of no use to a photo

    found = least_squares(misfits, start, bounds=bounds, loss="soft_l1", f_scale=2.0, max_nfev=40)
    sigma = 0.0
    if len(inner):
        slopes: Array = np.asarray(found.jac, float)
        covariance = np.linalg.pinv(slopes.T @ slopes)
        step = np.eye(len(found.x)) * 1e-3
        slope = np.array([(_length(line(found.x + d)) - _length(line(found.x - d))) / 2e-3 for d in step])
        sigma = float(np.sqrt(slope @ covariance @ slope))
    corners = line(found.x)
    return _Fitted(corners, *_off(corners, seen, *found.x[-2:]), 2 * float(found.cost), sigma)


def _off(corners: Array, seen: _Seen, rise_mm: float, grown: float) -> tuple[Array, Array]:
    """How far places (N, 2) lie from the nearest leg (N,), and the places brought down (N, 2)."""
    places, eye_mm = corners[0] + (seen.places - corners[0]) / (1 + grown), seen.eye_mm
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    before = np.concatenate([[0.0], np.cumsum(lengths)])
    lean = (places - eye_mm[:2]) / eye_mm[2]
    _, done = _nearest(corners, places, before)
    lowered = places - rise_mm * np.sin(np.pi * done)[:, None] * lean
    off, _ = _nearest(corners, lowered, before)
    return off, lowered


def _nearest(corners: Array, places: Array, before: Array) -> tuple[Array, Array]:
    """Each place's signed distance from the nearest leg, and the share of the whole way up to there."""
    legs = np.diff(corners, axis=0)
    lengths = np.maximum(np.hypot(*legs.T), 1e-9)
    rel = places[:, None] - corners[:-1]
    along = np.clip((rel * legs).sum(-1) / lengths**2, 0, 1)
    gap = rel - along[..., None] * legs
    leg = np.argmin(np.hypot(gap[..., 0], gap[..., 1]), axis=1)
    rows = np.arange(len(places))
    side = np.sign(legs[leg, 0] * rel[rows, leg, 1] - legs[leg, 1] * rel[rows, leg, 0])
    off = side * np.hypot(*gap[rows, leg].T)
    done = (before[leg] + along[rows, leg] * lengths[leg]) / max(float(before[-1]), 1e-9)
    return np.asarray(off), np.asarray(done)


def _farthest(fit: _Fitted) -> tuple[Array | None, int]:
    """The place that would make the best corner, and which it is: far from its leg, as its neighbours are."""
    padded = np.pad(np.abs(fit.off), 1, mode="edge")
    least = np.median(np.stack([padded[:-2], padded[1:-1], padded[2:]]), axis=0)
    at = int(np.argmax(least))
    return (fit.lowered[at], at) if least[at] > AWAY_MM else (None, at)
