"""Where a plate lies, to a millimetre or so: what is seen along its sides, weighed over a grid of what it could be.

A shift of the plate moves opposite sides opposite ways, a turn moves the ends of each side: the log posterior over
shift and turn is a sum of values that the look along the sides gives (`plate_edges`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import View
from overruler.vision.plates.face_net import Leaning
from overruler.vision.plates.side_net import BINS, MODEL, Edges, look_along
from overruler.vision.plates.sides import CORNERS, normals_of, reaches_of

STEP_MM = 0.5
"""Across the sides."""
SHIFTS_MM, TURNS_RAD = np.arange(-6.0, 6.01, 0.25), np.radians(np.arange(-6.0, 6.01, 0.75))
TEMPER = 1.6
"""Neighbouring stretches err alike: their log likelihoods count for so much less."""
PULL_MM, TURN_SIGMA = 2.0, np.radians(3.5)
"""How far guesses usually are off: the scale of a heavy tail along each axis, and 1 σ of the heading."""
OVERSURE = 1.5
"""True places lie further down the log posterior than if it were as sure as it says: of 560 one in twenty lay 6 nats
below the likeliest, not 3.9. Doubt is told with all of it divided by so much."""
FAR_MM, FAR_RAD = 2.0, np.radians(3.0)
"""A place found further than this from where the look was centred is looked at again."""
ASIDE_MM = 5.0
"""How far off a guess, along both axes, it is looked from where the sides may have been sought at the wrong place: a
place is seen from no more than 6 mm away along each."""
DISTINCT_MM, MOST_PLACES = 2.0, 3
"""Places are another's own that lie so far from it; so many are told, the likeliest."""
NEAR_MM = 1.5
"""Of what is likely so near the likeliest place, along each axis, the mean is taken."""
LEAST_INSIDE = 0.5
"""The share of a plate that must lie in the photo."""


@dataclass(frozen=True, slots=True, eq=False)
class Start:
    """Roughly where a plate of one size lies."""

    side_mm: float
    xy_mm: Array
    turn_rad: float
    look: "Posterior"
    """Where else it may lie."""
    told: Array
    """(4,): how much each side says, 0 to 1."""
    merit: float
    """The log of how much likelier what is seen is with a plate of this size there than without any."""
    leaning: Leaning | None = None
    """Where its whole face says that it rather lies, if that was looked at."""

    def agreed(self, leaning: Leaning) -> "Start":
        """Where its sides and its whole face together say that it lies."""
        look = replace(self.look, logs=self.look.logs + leaning.at(self.look.places_mm))
        xy, turn = look.best
        return replace(self, xy_mm=xy, turn_rad=turn, look=look, leaning=leaning)


@dataclass(frozen=True, slots=True, eq=False)
class Posterior:
    """Over turns, and shifts forward and to the left, about some place."""

    xy_mm: Array
    turn_rad: float
    logs: Array
    """(T, S, S)"""
    edges: Edges

    @property
    def best(self) -> tuple[Array, float]:
        """The likeliest place and heading."""
        turn, shift = self._most
        return self.xy_mm + shift @ normals_of(self.turn_rad)[:2], self.turn_rad + turn

    @property
    def seen(self) -> Array:
        """What each stretch of each side (4, STRETCHES) says for the likeliest place, in nats."""
        turn, shift = self._most
        return self.edges.stretches(np.append(shift, -shift), np.array([turn]))[range(4), :, 0, range(4)] / TEMPER

    @property
    def _most(self) -> tuple[float, Array]:
        turn, forward, left = np.unravel_index(int(np.argmax(self.logs)), self.logs.shape)
        return float(TURNS_RAD[turn]), SHIFTS_MM[[int(forward), int(left)]]

    def settled(self) -> tuple[Array, float, Array, float]:
        """The mean place (2,) and heading near the likeliest, and the second moments about these of all that is likely.

        Those of the place (2, 2), and that of the heading.
        """
        share = np.exp((self.logs - self.logs.max()) / OVERSURE)
        near = share * (np.abs(self.places_mm - self.best[0]).max(-1) < NEAR_MM)
        xy = np.einsum("tuv,uvi->i", near, self.places_mm) / near.sum()
        turn = float(near.sum((1, 2)) @ TURNS_RAD / near.sum())
        off, share = self.places_mm - xy, share / share.sum()
        moments = np.einsum("tuv,uvi,uvj->ij", share, off, off)
        return xy, self.turn_rad + turn, moments, float(share.sum((1, 2)) @ (TURNS_RAD - turn) ** 2)

    @property
    def places_mm(self) -> Array:
        """All that it is weighed at (S, S, 2)."""
        grid = np.stack(np.meshgrid(SHIFTS_MM, SHIFTS_MM, indexing="ij"), -1)
        return np.asarray(self.xy_mm + grid @ normals_of(self.turn_rad)[:2])

    @property
    def evidence(self) -> float:
        most = float(self.logs.max())
        return most + float(np.log(np.exp(self.logs - most).mean()))

    def beyond(self, xy_mm: Array, reach_mm: float) -> Array:
        """The second moments (2, 2) about a place of what is likely further away from it than so much."""
        share = np.exp((self.logs - self.logs.max()) / OVERSURE).sum(0)
        off = self.places_mm - xy_mm
        far = np.hypot(*np.moveaxis(off, -1, 0)) > reach_mm
        return np.asarray(np.einsum("uv,uvi,uvj->ij", share / share.sum() * far, off, off))


def start_at(view: View, guess_mm: Array, turns_rad: Sequence[float], side_mm: float) -> Start | None:
    """A plate of one size near a guess off by some 5 mm and, of the likeliest of these headings, 5°.

    `view` is of the plane of its upper face. None where the photo does not show it.
    """
    looks = [posterior_at(view, guess_mm, turn, side_mm, guess_mm) for turn in turns_rad]
    look = max((one for one in looks if one is not None), key=lambda one: one.evidence, default=None)
    return None if look is None else _settled(view, look, guess_mm, side_mm)


def starts_aside(view: View, guess_mm: Array, turns_rad: Sequence[float], side_mm: float) -> list[Start]:
    """Where else it may lie, looked for from beside the guess on all four sides, the likeliest first.

    A ship that hides the near sides draws the look to its wings, further off than the sides are sought.
    """
    ways = [(turn, way @ normals_of(turn)[:2]) for turn in turns_rad for way in ASIDE_MM * CORNERS]
    looks = [posterior_at(view, guess_mm + aside, turn, side_mm, guess_mm) for turn, aside in ways]
    kept: list[Start] = []
    for look in sorted((one for one in looks if one is not None), key=lambda one: -one.evidence):
        if len(kept) < MOST_PLACES and _apart(look.best[0], kept):
            start = _settled(view, look, guess_mm, side_mm)
            kept += [start] if _apart(start.xy_mm, kept) else []
    return kept


def _apart(xy_mm: Array, others: Sequence[Start]) -> bool:
    return all(np.hypot(*(xy_mm - other.xy_mm)) > DISTINCT_MM for other in others)


def _settled(view: View, look: "Posterior", guess_mm: Array, side_mm: float) -> Start:
    """The likeliest place of a look, looked at again where it lies far from where that was centred."""
    xy, turn = look.best
    if np.hypot(*(xy - look.xy_mm)) > FAR_MM or abs(turn - look.turn_rad) > FAR_RAD:
        look = posterior_at(view, xy, turn, side_mm, guess_mm) or look
        xy, turn = look.best
    return Start(side_mm, xy, turn, look, _told(look.edges), look.evidence)


def pairs(sides: Array) -> tuple[Array, Array]:
    """What each pair of opposite sides (4, T, S) says of a shift along its axis, forward and to the left (T, S)."""
    return sides[0] + sides[2][:, ::-1], sides[1] + sides[3][:, ::-1]


def posterior_at(
    view: View, xy_mm: Array, turn_rad: float, size_mm: ArrayLike, guess_mm: Array, model: Path = MODEL
) -> Posterior | None:
    """What is seen from a supposed place, and the prior that the guess gives; None beyond the photo's border.

    `size_mm` is the side of a plate, or the length and width of another rectangle.
    """
    if _inside(view, xy_mm, turn_rad, size_mm) < LEAST_INSIDE:
        return None
    edges = look_along(view, xy_mm, turn_rad, size_mm, STEP_MM, model)
    forward, left = pairs(edges.sides(SHIFTS_MM, TURNS_RAD) / TEMPER)
    off = normals_of(turn_rad)[:2] @ (xy_mm - guess_mm)
    pull = [np.log1p(((SHIFTS_MM + part) / PULL_MM) ** 2) for part in off]
    tilt = 0.5 * (TURNS_RAD / TURN_SIGMA) ** 2
    logs = (forward - pull[0])[:, :, None] + (left - pull[1])[:, None] - tilt[:, None, None]
    return Posterior(xy_mm, turn_rad, logs, edges)


def _inside(view: View, xy_mm: Array, turn_rad: float, size_mm: ArrayLike) -> float:
    """The share of a rectangle's corners and middles of sides in the photo."""
    middles = normals_of(turn_rad) * reaches_of(size_mm)[:, None]
    points = xy_mm + np.concatenate([middles, middles + np.roll(middles, 1, 0)])
    return float(view.sample(points[None])[1].mean())


def _told(edges: Edges) -> Array:
    """How much each side says (4,): 1 where all its stretches know where it lies."""
    share = np.exp(edges.logs)
    share /= share.sum(-1, keepdims=True)
    return np.asarray((1 + (share * np.log(share)).sum(-1) / np.log(BINS)).mean(-1))
