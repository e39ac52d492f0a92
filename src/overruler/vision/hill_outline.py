"""The outline of a hill round a place on it, its height and slope: whichever explains most edges at once.

The edge of a flat top z high is seen in one place and the foot below it in another, nearer to the point below the
camera by z times the lean, and farther out by what the side runs out. On the sides where the foot shows, a hill has
both edges; where the top hides its foot, one. For each height and run the best closed outline is found exactly
(Viterbi over directions, twice round), with the foot's evidence added to the top's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.ridges import NEAREST_MM, STEP_MM, Field, Floats, directions, distances, outline_evidence

MOVES = 4
"""How many steps of distance an outline may go in or out between neighbouring directions."""
BEND = 0.06
"""What such a step costs, squared."""
STRIP_MM = (4.0, 8.0)
"""A strip of side narrower than the first is one edge with the top's; from the second on it is two."""
OUTSIDE = -0.3
"""What a foot beyond the patch says."""
AT_A_TIME = 64
BESIDE_MM = (6.0, 9.0, 12.0, 15.0)
"""How far from the edge the ground is compared, on the top and outside the foot."""


@dataclass(frozen=True, slots=True, eq=False)
class Guess:
    """The hills that are tried: of heights and runs (how far the foot lies outside the top's edge)."""

    heights_mm: Array
    runs_mm: Array

    @classmethod
    def over(cls, heights_mm: tuple[float, ...], runs_mm: tuple[float, ...]) -> "Guess":
        """All of them together, and first of all a flat print."""
        grid = [(0.0, 0.0), *((height, run) for height in heights_mm for run in runs_mm)]
        return cls(*np.array(grid).T)


@dataclass(frozen=True, slots=True, eq=False)
class Outlines:
    """For each guess, the best outline round a place."""

    middle_mm: Array
    nats: Array
    """(K,): what speaks for it, per direction."""
    reach_mm: Array
    """(K, count): how far out the top's edge is seen, on the plane z = 0."""

    def points_mm(self, k: int) -> Array:
        return np.asarray(self.middle_mm + directions(self.reach_mm.shape[1]) * self.reach_mm[k][:, None])


def best_outlines(
    field: Field, eye_mm: Array, places_mm: Sequence[Array], guess: Guess, count: int
) -> Iterator[Outlines]:
    """The outlines round each of some places, seen by a camera at `eye_mm` (3,), in so many directions."""
    tries = _tries(field, eye_mm, places_mm, guess, count)
    parts = [_closed(np.stack(some)) for some in iter(lambda: list(islice(tries, AT_A_TIME)), [])]
    nats, path = (np.concatenate(part) for part in zip(*parts, strict=True)) if parts else ((), ())
    for k, middle in enumerate(places_mm):
        here = slice(k * len(guess.heights_mm), (k + 1) * len(guess.heights_mm))
        yield Outlines(middle, nats[here] / count, distances()[path[here]])


def _tries(field: Field, eye_mm: Array, places_mm: Sequence[Array], guess: Guess, count: int) -> Iterator[Floats]:
    """The evidence for each guess at each place."""
    for middle in places_mm:
        evidence = outline_evidence(field, middle, count)
        for pair in zip(guess.heights_mm, guess.runs_mm, strict=True):
            yield _with_foot(evidence, eye_mm, middle, *pair)


def _with_foot(evidence: Floats, eye_mm: Array, middle_mm: Array, height_mm: float, run_mm: float) -> Floats:
    """The evidence (count, R) for a top's edge, with that for its foot where the foot shows."""
    if height_mm == 0:
        return evidence
    count = len(evidence)
    way = directions(count)[:, None]
    away = way * distances()[:, None]
    shift = (eye_mm[:2] - middle_mm - away) / eye_mm[2] * height_mm + run_mm * way
    shows = np.clip(((shift * way).sum(-1) - STRIP_MM[0]) / (STRIP_MM[1] - STRIP_MM[0]), 0, 1)
    foot = away + shift
    turn = np.arctan2(foot[..., 1], foot[..., 0]) / (2 * np.pi) * count % count
    reach = (np.hypot(foot[..., 0], foot[..., 1]) - NEAREST_MM) / STEP_MM
    wrapped = np.concatenate([evidence, evidence[:1]])
    there = cv2.remap(
        wrapped, reach.astype(np.float32), turn.astype(np.float32), cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_CONSTANT, borderValue=OUTSIDE,
    )  # fmt: skip
    return np.asarray(evidence + shows * there, np.float32)


def _closed(evidence: Floats) -> tuple[Array, NDArray[np.intp]]:
    """The best closed paths (K, count) through evidence (K, count, R), and what they add up to (K,)."""
    kinds, count, reach = evidence.shape
    moves, rows = np.arange(-MOVES, MOVES + 1), np.arange(kinds)
    cost = (BEND * moves**2).astype(np.float32)[:, None, None]
    best, back = evidence[:, 0].copy(), np.zeros((2 * count, kinds, reach), np.int8)
    for step in range(1, 2 * count):
        wide = np.pad(best, ((0, 0), (MOVES, MOVES)), constant_values=-1e9)
        before = np.stack([wide[:, m : m + reach] for m in range(2 * MOVES + 1)]) - cost
        choice = before.argmax(0)
        back[step] = moves[choice]
        best = np.take_along_axis(before, choice[None], 0)[0] + evidence[:, step % count]
    path, here = np.zeros((kinds, count), np.intp), best.argmax(1)
    for step in range(2 * count - 1, count - 1, -1):
        path[:, step % count] = here
        here = here + back[step, rows, here]
    turned = BEND * ((path - np.roll(path, 1, 1)) ** 2).sum(1)
    total = evidence[rows[:, None], np.arange(count), path].sum(1) - turned
    return np.asarray(total, float), path


def rims(eye_mm: Array, outlines: Outlines, guess: Guess, k: int) -> tuple[list[Array], list[Array]]:
    """Rings of places (count, 2) on the top of a guess and on the ground round its foot, as seen on the plane z = 0."""
    way, reach = directions(outlines.reach_mm.shape[1]), outlines.reach_mm[k]
    shift = (eye_mm[:2] - outlines.points_mm(k)) / eye_mm[2] * guess.heights_mm[k]
    foot = reach + np.maximum((shift * way).sum(-1) + guess.runs_mm[k], 0)
    inside = [outlines.middle_mm + way * (reach - off)[:, None] for off in BESIDE_MM]
    return inside, [outlines.middle_mm + way * (foot + off)[:, None] for off in BESIDE_MM]


@cache
def quick_guess() -> Guess:
    """A few hills, to see whether there may be one."""
    return Guess.over((14.0, 36.0), (0.0, 12.0))


@cache
def full_guess() -> Guess:
    return Guess.over(
        (8.0, 12.0, 16.0, 20.0, 25.0, 30.0, 36.0, 43.0, 51.0, 62.0, 76.0, 92.0), (0.0, 6.0, 12.0, 20.0, 32.0)
    )
