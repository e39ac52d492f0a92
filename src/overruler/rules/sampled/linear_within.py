"""The probability that all of some bases lies between two lines, where distances are linear.

A base lies within the upper line if every point of its rim does, and past the lower one if its
closest point does. Over all displacements these distances are linear in the places, but for a bend
that is checked and whose mean is allowed for. So each draw is a few sums. Which body is nearest, and
which point is farthest, is looked up in every draw. Few draws tell which points and bodies matter;
only those are looked at in the many.

Alphabet: n draws, m parts of the first side, k points of a rim, s stretches of p points, r axes.
Lengths are in mm.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.draws import difference_covariance, standard_normal_points
from overruler.geometry.batched.vectors import SMALLEST_DIVISOR
from overruler.geometry.covariance import REACH_SIGMAS
from overruler.geometry.pose import Array
from overruler.rules.measure import Measure
from overruler.rules.sampled.rims import NearRim, least_radius_mm, near_rims
from overruler.rules.sampling import ClosestCandidate
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM

LINEAR_DRAWS = 8192
"""Draws, which give a probability to 0.004."""
FEW_DRAWS = 256
"""Draws that tell which points matter."""
FEW_DRAWS_WIDTH = 1.5
"""How much wider they spread, so that rare draws are among them."""
LIVE_SIGMAS = 5.0
"""A point nearer to the line than this many σ may cross it."""
MAX_BEND_SHARE = 0.02
"""The largest bend of a distance that passes for linear, in its own σ."""
MAX_SAG_SHARE = 0.02
"""The largest bend between two neighbours on a rim that passes for none, in σ."""
MIN_AXIS_SHARE = 1e-12
"""Axes whose variance is a smaller share of the largest are rounding."""
MIN_PRINCIPAL_SHARE = 1e-5
"""Axes with a smaller share of the largest change of distances change no probability."""

Axes = Mapping[int | None, Array]
"""The displacement (2, r) of each body, by its index, by independent standard Gaussians."""


@dataclass(frozen=True, slots=True, eq=False)
class Rooms:
    """What is left between distances and their line: linear in the places, and never to be below 0."""

    means_mm: Array
    """(m, ...), the bend allowed for."""
    slopes: Array
    """(m, ..., r) the change of each along each axis."""
    is_bent: bool = False
    """Whether one bends too much to pass for linear."""

    @classmethod
    def below(
        cls, line_mm: float, distances: Array, directions: Array, moves: Array, radii: Array
    ) -> "Rooms":
        """Of distances (m, k) that grow in directions (m, k, 2), where parts move by (m, 2, r).

        `radii` (m, 1) are those of curvature. A move across the direction adds a mean bend.
        """
        slopes = directions @ moves
        variance = (slopes**2).sum(2)
        across = np.maximum((moves**2).sum((1, 2))[:, None] - variance, 0.0)
        bends = across / (2 * np.maximum(distances + radii, SMALLEST_DIVISOR))
        is_bent = bool((bends > MAX_BEND_SHARE * np.sqrt(variance)).any())
        return cls(line_mm - distances - bends, -slopes, is_bent)

    @property
    def largest_step_mm(self) -> float:
        """What no room falls from a point (m, s, p) to the next; 0 where one part is nearest."""
        if len(self.means_mm) == 1 or self.means_mm.shape[2] == 1:
            return 0.0
        falls = np.abs(np.diff(self.means_mm, axis=2))
        turns = np.sqrt((np.diff(self.slopes, axis=2) ** 2).sum(3))
        return float((falls + LIVE_SIGMAS * turns).max())

    def drawn(self, draws: Array) -> Array:
        """The rooms (n, m, ...) in draws (n, r)."""
        flat = self.slopes.reshape(-1, self.slopes.shape[-1])
        return (draws @ flat.T).reshape(-1, *self.means_mm.shape) + self.means_mm


def probability_all_between(
    scene: Scene,
    measure: Measure,
    candidates: Sequence[ClosestCandidate],
    lower_mm: float | None,
    upper_mm: float,
    reach_mm: float,
) -> float | None:
    """The probability that all of the second side lies past the lower and not past the upper line.

    `candidates` are the pairs that may be the closest, and no displacement exceeds `reach_mm`. None:
    the distances are not linear.
    """
    upper_mm += CONTACT_TOLERANCE_MM
    rims = near_rims(measure, upper_mm, reach_mm * LIVE_SIGMAS / REACH_SIGMAS)
    if rims is None:
        return None
    if not all(rim.froms for rim in rims):
        return 0.0
    pairs = [] if lower_mm is None else candidates
    if not rims and not pairs:
        return 1.0
    axes = _axes(scene, rims, pairs)
    rooms = []
    for rim in rims:
        coarse = _rim_rooms(axes, rim, upper_mm)
        rooms += [coarse if coarse.is_bent else _fine_rooms(axes, rim, coarse, upper_mm)]
    if pairs:
        rooms.append(_pair_rooms(axes, pairs, (lower_mm or 0.0) + CONTACT_TOLERANCE_MM))
    if any(one.is_bent for one in rooms):
        return None
    return _share_with_room(rooms)


def _axes(scene: Scene, rims: Sequence[NearRim], pairs: Sequence[ClosestCandidate]) -> Axes:
    """The displacements of the bodies that matter."""
    assert scene.covariance is not None
    indices = [index for pair in pairs for index in (pair.i, pair.j)]
    for rim in rims:
        indices += [rim.body.index, *(body.index for body, _ in rim.froms)]
    places = [*dict.fromkeys(indices)]
    joint = difference_covariance(scene.covariance.array, [(None, index) for index in places])
    values, vectors = np.linalg.eigh(joint)
    kept = values > MIN_AXIS_SHARE * max(values[-1], SMALLEST_DIVISOR)
    rows = (vectors[:, kept] * np.sqrt(values[kept]))[:, ::-1].reshape(len(places), 2, -1)
    return dict(zip(places, rows, strict=True))


def _rim_rooms(axes: Axes, rim: NearRim, line_mm: float) -> Rooms:
    """Of the points of a rim below a line."""
    moves = np.stack([axes[rim.body.index] - axes[body.index] for body, _ in rim.froms])
    radii = np.array([[least_radius_mm(shape)] for _, shape in rim.froms])
    distances, directions = rim.measure()
    count = len(rim.froms)
    places = distances.reshape(count, -1), directions.reshape(count, -1, 2)
    found = Rooms.below(line_mm, *places, moves, radii)
    shape = distances.shape
    return Rooms(found.means_mm.reshape(shape), found.slopes.reshape(*shape, -1), found.is_bent)


def _pair_rooms(axes: Axes, pairs: Sequence[ClosestCandidate], line_mm: float) -> Rooms:
    """Of the closest distances past a line."""
    distances = np.array([[pair.gap.distance_mm] for pair in pairs])
    ends = np.array([(pair.gap.from_point, pair.gap.to_point) for pair in pairs])
    directions = (ends[:, 1] - ends[:, 0])[:, None] / (distances[..., None] + SMALLEST_DIVISOR)
    moves = np.stack([axes[pair.j] - axes[pair.i] for pair in pairs])
    radii = np.array([[least_radius_mm(pair.a) + least_radius_mm(pair.b)] for pair in pairs])
    below = Rooms.below(line_mm, distances, directions, moves, radii)
    past = -below.means_mm.T[..., None], -below.slopes.swapaxes(0, 1)[:, :, None]
    return Rooms(*past, below.is_bent)


def _fine_rooms(axes: Axes, rim: NearRim, coarse: Rooms, line_mm: float) -> Rooms:
    """Of finer points (s, p), along the stretches of a rim where its farthest point may be."""
    drawn = coarse.drawn(
        FEW_DRAWS_WIDTH * standard_normal_points(FEW_DRAWS, coarse.slopes.shape[2])
    )
    least = drawn.max(1).min(1)
    # Along a stretch a part leaves at least as much room as at one of its ends.
    along = np.minimum(drawn, np.roll(drawn, -1, 2)).max(1)
    matters = (along <= least[:, None]).any(0)
    matters |= np.roll(matters, 1) | np.roll(matters, -1)
    ends = matters | np.roll(matters, 1)
    nearest = drawn[:, :, ends].argmax(1)
    kept = np.isin(np.arange(len(rim.froms)), nearest)
    sizes = np.sqrt((coarse.slopes[:, ends] ** 2).sum(2))
    sigma_mm = float(np.min(sizes[sizes > 0], initial=1.0))
    fine = rim.divide(matters & rim.is_followed, kept, MAX_SAG_SHARE * sigma_mm)
    return _rim_rooms(axes, fine, line_mm)


def _share_with_room(rooms: Sequence[Rooms]) -> float:
    """The share of draws that leave room everywhere."""
    slopes = [one.slopes.reshape(-1, one.slopes.shape[-1]) for one in rooms]
    square = np.concatenate(slopes).T @ np.concatenate(slopes)
    values, vectors = np.linalg.eigh(square)
    principal = vectors[:, values > MIN_PRINCIPAL_SHARE * values[-1]][:, ::-1]
    draws = standard_normal_points(LINEAR_DRAWS, principal.shape[1])
    for one in rooms:
        turned = Rooms(one.means_mm, one.slopes @ principal)
        draws = draws[_have_room(turned.drawn(draws), one.largest_step_mm)]
    return len(draws) / LINEAR_DRAWS


def _have_room(drawn: Array, step_mm: float) -> NDArray[np.bool_]:
    """Whether some part (n, m, s, p) leaves room at every point, and between neighbours too."""
    least = drawn.max(1).min((1, 2))
    found = least >= 0
    rows = np.flatnonzero(found & (least < step_mm))
    if len(rows):
        found[rows] = _least_at_crossings(drawn[rows]) >= 0
    return np.asarray(found)


def _least_at_crossings(drawn: Array) -> Array:
    """The least room (n,) where the nearest part (n, m, s, p) changes between two neighbours."""
    start, end = drawn[..., :-1], drawn[..., 1:]
    first, last = start.argmax(1)[:, None], end.argmax(1)[:, None]
    p, q = start.max(1), end.max(1)
    p_last = np.take_along_axis(start, last, 1)[:, 0]
    q_first = np.take_along_axis(end, first, 1)[:, 0]
    fall = p + q - p_last - q_first
    at_crossing = (p * q - p_last * q_first) / np.where(fall > 0, fall, 1.0)
    return np.asarray(np.where(fall > 0, at_crossing, p).min((1, 2)))
