"""The way that a piece took, from where it was seen on it: corners, length and doubt, start and end.

A piece is carried some millimetres above the board and then looks displaced away from the camera's foot. The way is a
line of straight legs on the board between two places that are known well; the height is a bow of unknown rise over it;
both are fitted at once (least squares with a soft limit for places taken from a finger).
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array

STARTED_MM = 1.2
"""A piece is on its way when it is so far from where it stood."""
ARRIVED_MM = 20.0
"""Seen last so near to where it is found, a piece has been followed all the way."""
OFF_SHARE = 0.3
"""1 σ of a way's length, of several legs, as a share of how far off its piece seemed to come to rest: where it was
turned on its way, nobody knows."""
NEAR_MM, RESTING_MM = 3.0, 1.5
"""Where a piece seems to be when it has come to rest: so near to where it stands, or twice where it was seen last."""
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
"""A way through its corners is longer than one from place to place, which cuts them, by no larger share and the longest
step."""
UNEXPLAINED = 5.0
"""Places that lie so many times farther from the legs than they should tell that some legs are missing."""
MOST = 16.0
"""What one place says at most for or against a leg."""
BACK = 2.0
"""A piece goes on along each leg: 1 σ of how far it seems to go back there, in σ of a place."""
TIE_MM2 = 1e-6
"""By less two legs are as near."""
SHORTEST = 2
"""A leg is so many steps long: a single place to the side, taken from a finger, is none."""
MOST_LEGS = 6
WORTH = 14.0
"""By how much the misfit must fall for a leg more: two more numbers, by the usual criterion and then some."""
HAND_MM_S = 150.0
"""A hand that carries a piece goes about so fast at most."""
LONGER = 0.25
"""1 σ of how much longer a way is that nobody saw, as a share of it."""
MISSED = 2.0
"""Of so many times the usual time between two places nobody knows less."""
FASTER, SLIP_MM = 1.5, 3.0
"""A step is so many times longer than those beside it at most, and by so much more by mistake."""


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
    trail, off_mm = _landed(_believed(trail, start_mm, end_mm), start_mm, end_mm)
    start_s, end_s = _times(trail, start_mm, end_mm)
    between = trail[(trail[:, 0] > start_s) & (trail[:, 0] < end_s), 1:]
    straight, enough = np.stack([start_mm, end_mm]), len(between) >= FEWEST
    doubt = _unseen_sigma(straight, between[:0] if enough else between, end_s - start_s)
    unseen = Way(straight, _length(straight), doubt, start_s, end_s, False)
    if not enough:
        return unseen
    corners, sigma = _legs(_Seen(between, eye_mm, led), straight)
    first, last = np.searchsorted(trail[:, 0], [start_s, end_s])
    times, *places = trail[max(first - 1, 0) : last + 1].T
    long_s, far_mm = np.diff(times), np.hypot(*np.diff(places))
    turned_mm = OFF_SHARE * off_mm * (len(corners) > 2)
    sigma = float(np.linalg.norm([sigma, turned_mm, _hidden_sigma(long_s, far_mm), _jumps_mm(far_mm)]))
    if sigma > doubt:
        return unseen  # it tells less than nobody would have
    return replace(unseen, corners_mm=corners, length_mm=_length(corners), sigma_mm=sigma, seen=True)


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
    def turn_mm(self) -> float:
        """1 σ of how far a corner lies from the next place: a step, or what a place itself is wrong."""
        steps = np.hypot(*np.diff(self.places, axis=0).T)
        return float(np.hypot(steps.max(), self.sigma_mm))

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


def _landed(trail: Array, start_mm: Array, end_mm: Array) -> tuple[Array, float]:
    """The trail with the places at which it came to rest brought to where the piece stands, and by how much, in mm.

    The look it was followed by has aged, and where it was turned on its way, that may be by a centimetre.
    """
    total, last = float(np.hypot(*(end_mm - start_mm))), trail[:-1, 1:]
    if not len(last) or np.hypot(*(last[-1] - end_mm)) > min(ARRIVED_MM, total / 3):
        return trail, 0.0
    near = np.hypot(*(last - end_mm).T) < min(NEAR_MM, total / 3)
    resting = near | (np.hypot(*(last - last[-1]).T) < RESTING_MM)
    if not near.any() and resting.sum() < 2:
        return trail, 0.0
    off = np.median(last[resting], axis=0) - end_mm
    done = np.clip((trail[:, 1:] - start_mm) @ (end_mm - start_mm) / max(total, 1e-9) ** 2, 0, 1)
    done[-1] = 0.0  # which is where it stands
    return np.column_stack([trail[:, 0], trail[:, 1:] - done[:, None] * off]), float(np.hypot(*off))


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


def _legs(seen: _Seen, straight: Array) -> tuple[Array, float]:
    """The corners (K + 1, 2), and the 1 σ of the length by the fit."""
    best, places = _fitted(straight, seen), seen.places
    along = np.vstack([straight[0], places, straight[1]])
    steps = np.hypot(*np.diff(along, axis=0).T)
    most_mm = float(steps.sum()) * (1 + SLACK_SHARE) + float(steps.max())
    more_legs = _turns(along, min(MOST_LEGS, len(places) // FEWEST)) if best.capped(seen) > WORTH else ()
    for turns in more_legs:
        worth = WORTH * (len(turns) - len(best.corners))
        if best.capped(seen) <= worth:
            break  # no more legs could explain so much
        more = _fitted(along[turns], seen)
        if more.capped(seen) < best.capped(seen) - worth and _length(more.corners) <= most_mm:
            best = more
    if best.strain > UNEXPLAINED:
        return best.corners, float(np.hypot(best.sigma, steps.sum() - _length(best.corners)))
    return best.corners, best.sigma * max(best.strain, 1.0)


def _turns(along: Array, most_legs: int) -> list[Array]:
    """Which of the places (N, 2) are the ends of 2, 3 and so on legs through them, in their order, at the least sum of
    squares (Bellman, 1961).
    """
    count = len(along)
    cost = np.full((count, count), np.inf)
    for i in range(count - SHORTEST):
        for j in range(i + SHORTEST, count):
            between, leg = along[i + 1 : j] - along[i], along[j] - along[i]
            share = np.clip(between @ leg / max(float(leg @ leg), 1e-9), 0, 1)
            back = np.sum(np.maximum(-np.diff(share), 0) ** 2) * (leg @ leg)
            cost[i, j] = np.sum((between - share[:, None] * leg) ** 2) + back
    least, came, found = cost[0], [], []
    for _ in range(most_legs - 1):
        through = least[:, None] + cost
        came.append(through.argmin(0))
        least = through.min(0)
        ends = [count - 1]
        for before in reversed(came):
            ends.append(int(before[ends[-1]]))
        found.append(np.array([0, *reversed(ends)]))
    return found


def _unseen_sigma(corners: Array, places: Array, long_s: float) -> float:
    """A way that nobody saw is straight as far as is known: it may well be a quarter longer, or what a hand goes."""
    return float(_longer_mm(long_s, _length(corners), 1.0)) / (1 + len(places))


def _longer_mm(unseen_s: Array | float, far_mm: Array | float, share: Array | float) -> Array:
    """1 σ of how much longer steps are than the straight that is known, of a share of which nobody saw anything."""
    return np.asarray(np.hypot(LONGER * far_mm * share, np.maximum(HAND_MM_S * unseen_s - far_mm, 0.0) / 2))


def _hidden_sigma(long_s: Array, far_mm: Array) -> float:
    """1 σ of what a way was longer than its steps (N,) where nobody saw the piece for more than a shot or two."""
    hidden_s = np.maximum(long_s - MISSED * np.median(long_s), 0.0)
    return float(np.linalg.norm(_longer_mm(hidden_s, far_mm, hidden_s / np.maximum(long_s, 1e-9))))


def _jumps_mm(far_mm: Array) -> float:
    """How far steps (N,) are longer than hands speed up: before or after something else was followed, a shade say."""
    beside = np.pad(far_mm, 1)
    return float(np.maximum(far_mm - FASTER * np.maximum(beside[:-2], beside[2:]) - SLIP_MM, 0.0).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    corners: Array
    off: Array
    """(N,): how far each place lies from its leg."""
    back: Array
    """(N - 1,): how far places go back along theirs."""
    misfit: float
    sigma: float

    def capped(self, seen: _Seen) -> float:
        """The places' squared misfits, none of which says more than a few do: one taken from a finger is no corner."""
        said = np.concatenate([self.off, self.back / BACK]) / seen.sigma_mm
        return float(np.sum(np.minimum(said**2, MOST)))

    @property
    def strain(self) -> float:
        """How many times farther the places lie from the legs than they should."""
        return float(np.sqrt(self.misfit / max(len(self.off) - 2 * (len(self.corners) - 2), 1)))


def _fitted(corners: Array, seen: _Seen) -> _Fitted:
    ends, inner = (corners[0], corners[-1]), corners[1:-1]
    grown, turn_mm = FIRM + GROWN * seen.led, seen.turn_mm

    def line(numbers: Array) -> Array:
        return np.vstack([ends[0], numbers[:-2].reshape(-1, 2), ends[1]])

    def misfits(numbers: Array) -> Array:
        off, back = _off(line(numbers), seen, *numbers[-2:])
        beyond = _beyond(numbers[:-2].reshape(-1, 2), seen.places) / turn_mm
        rest = (numbers[-2] - RISE_MM) / RISE_SIGMA_MM, numbers[-1] / grown
        return np.concatenate([off / seen.sigma_mm, back / (BACK * seen.sigma_mm), beyond, rest])

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
        sigma = float(np.sqrt(max(slope @ covariance @ slope, 0.0)))
    corners = line(found.x)
    return _Fitted(corners, *_off(corners, seen, *found.x[-2:]), 2 * float(found.cost), sigma)


def _beyond(inner: Array, places: Array) -> Array:
    """(K,): how far corners (K, 2) lie from where the piece was seen: its legs hardly tell where it turns back."""
    return np.asarray(np.hypot(*(inner[:, None] - places).transpose(2, 0, 1)).min(1))


def _off(corners: Array, seen: _Seen, rise_mm: float, grown: float) -> tuple[Array, Array]:
    """How far places, brought down to the board, lie from their legs (N,), and go back along them (N - 1,)."""
    places, eye_mm = corners[0] + (seen.places - corners[0]) / (1 + grown), seen.eye_mm
    lengths = np.hypot(*np.diff(corners, axis=0).T)
    before = np.concatenate([[0.0], np.cumsum(lengths)])
    lean = (places - eye_mm[:2]) / eye_mm[2]
    _, done = _on_legs(corners, places, before)
    lowered = places - rise_mm * np.sin(np.pi * done)[:, None] * lean
    off, done = _on_legs(corners, lowered, before)
    return off, np.maximum(-np.diff(done), 0.0) * before[-1]


def _on_legs(corners: Array, places: Array, before: Array) -> tuple[Array, Array]:
    """Each place's signed distance from its leg, and the share of the whole way up to there.

    Places are on legs in their order: a way that turns back on itself passes near its later legs early on.
    """
    legs = np.diff(corners, axis=0)
    lengths = np.maximum(np.hypot(*legs.T), 1e-9)
    rel = places[:, None] - corners[:-1]
    along = np.clip((rel * legs).sum(-1) / lengths**2, 0, 1)
    gap = rel - along[..., None] * legs
    back = np.maximum(-np.diff(along * lengths, axis=0), 0.0) / BACK
    tie = TIE_MM2 * np.arange(len(legs))  # nearest to a corner: always the former
    leg = _in_order(np.sum(gap**2, axis=-1) + tie, back**2)
    rows = np.arange(len(places))
    side = np.sign(legs[leg, 0] * rel[rows, leg, 1] - legs[leg, 1] * rel[rows, leg, 0])
    off = side * np.hypot(*gap[rows, leg].T)
    done = (before[leg] + along[rows, leg] * lengths[leg]) / max(float(before[-1]), 1e-9)
    return np.asarray(off), np.asarray(done)


def _in_order(apart: Array, back: Array) -> NDArray[np.intp]:
    """Of each row (N, K) one column, none before that of the row before, at the least sum (Viterbi, 1967).

    `back` (N - 1, K) is what it costs to stay in a column from one row to the next.
    """
    least, came = apart[0].tolist(), list[list[int]]()
    for here, stay in zip(apart[1:].tolist(), back.tolist(), strict=True):
        total, which, best = list[float](), list[int](), 0
        for k, (cost, more) in enumerate(zip(here, stay, strict=True)):
            best = k - 1 if k and least[k - 1] < least[best] else best
            comes = best < k and least[best] < least[k] + more
            which.append(best if comes else k)
            total.append(cost + (least[best] if comes else least[k] + more))
        least = total
        came.append(which)
    leg = [least.index(min(least))]
    for which in reversed(came):
        leg.append(which[leg[-1]])
    return np.array(leg[::-1], np.intp)
