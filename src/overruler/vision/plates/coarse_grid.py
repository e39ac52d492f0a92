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
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.face_net import FaceLikelihood
from overruler.vision.plates.side_net import MODEL, OFFSET_BINS, SideEvidence, run_side_net
from overruler.vision.plates.sides import UNIT_CORNERS, half_extents, side_normals

STEP_MM = 0.5
"""Across the sides."""
SHIFTS_MM, TURNS_RAD = np.arange(-6.0, 6.01, 0.25), np.radians(np.arange(-6.0, 6.01, 0.75))
STRETCH_TEMPER = 1.6
"""Neighbouring stretches err alike: their log likelihoods count for so much less."""
GUESS_SCALE_MM, TURN_SIGMA_RAD = 2.0, np.radians(3.5)
"""How far guesses usually are off: the scale of a heavy tail along each axis, and 1 σ of the heading."""
POSTERIOR_TEMPER = 1.5
"""True places lie further down the log posterior than if it were as sure as it says: of 560 one in twenty lay 6 nats
below the likeliest, not 3.9. Doubt is told with all of it divided by so much."""
RECENTRE_MM, RECENTRE_RAD = 2.0, np.radians(3.0)
"""A place found further than this from where the look was centred is looked at again."""
ASIDE_MM = 5.0
"""How far off a guess, along both axes, it is looked from where the sides may have been sought at the wrong place: a
place is seen from no more than 6 mm away along each."""
MIN_SEPARATION_MM, MAX_PLACES = 2.0, 3
"""Places are another's own that lie so far from it; so many are told, the likeliest."""
MODE_WINDOW_MM = 1.5
"""Of what is likely so near the likeliest place, along each axis, the mean is taken."""
MIN_INSIDE_SHARE = 0.5
"""The share of a plate that must lie in the photo."""


@dataclass(frozen=True, slots=True, eq=False)
class CoarseFit:
    """Roughly where a plate of one size lies."""

    side_mm: float
    xy_mm: Array
    turn_rad: float
    posterior: "PosePosterior"
    """Where else it may lie."""
    side_information: Array
    """(4,): how much each side says, 0 to 1."""
    log_evidence: float
    """The log of how much likelier what is seen is with a plate of this size there than without any."""
    face: FaceLikelihood | None = None
    """Where its whole face says that it rather lies, if that was looked at."""

    def with_face(self, leaning: FaceLikelihood) -> "CoarseFit":
        """Where its sides and its whole face together say that it lies."""
        look = replace(
            self.posterior,
            log_density=self.posterior.log_density
            + leaning.log_likelihood_at(self.posterior.places_mm),
        )
        xy, turn = look.best_pose
        return replace(self, xy_mm=xy, turn_rad=turn, posterior=look, face=leaning)


@dataclass(frozen=True, slots=True, eq=False)
class PosePosterior:
    """Over turns, and shifts forward and to the left, about some place."""

    xy_mm: Array
    turn_rad: float
    log_density: Array
    """(T, S, S)"""
    edges: SideEvidence

    @property
    def best_pose(self) -> tuple[Array, float]:
        """The likeliest place and heading."""
        turn, shift = self._mode
        return self.xy_mm + shift @ side_normals(self.turn_rad)[:2], self.turn_rad + turn

    @property
    def stretch_nats(self) -> Array:
        """What each stretch of each side (4, STRETCHES) says for the likeliest place, in nats."""
        turn, shift = self._mode
        return (
            self.edges.stretch_log_likelihood(np.append(shift, -shift), np.array([turn]))[
                range(4), :, 0, range(4)
            ]
            / STRETCH_TEMPER
        )

    @property
    def _mode(self) -> tuple[float, Array]:
        turn, forward, left = np.unravel_index(
            int(np.argmax(self.log_density)), self.log_density.shape
        )
        return float(TURNS_RAD[turn]), SHIFTS_MM[[int(forward), int(left)]]

    def mean_and_moments(self) -> tuple[Array, float, Array, float]:
        """The mean place (2,) and heading near the likeliest, and the second moments about these of all that is likely.

        Those of the place (2, 2), and that of the heading.
        """
        share = np.exp((self.log_density - self.log_density.max()) / POSTERIOR_TEMPER)
        near = share * (np.abs(self.places_mm - self.best_pose[0]).max(-1) < MODE_WINDOW_MM)
        xy = np.einsum("tuv,uvi->i", near, self.places_mm) / near.sum()
        turn = float(near.sum((1, 2)) @ TURNS_RAD / near.sum())
        off, share = self.places_mm - xy, share / share.sum()
        moments = np.einsum("tuv,uvi,uvj->ij", share, off, off)
        return xy, self.turn_rad + turn, moments, float(share.sum((1, 2)) @ (TURNS_RAD - turn) ** 2)

    @property
    def places_mm(self) -> Array:
        """All that it is weighed at (S, S, 2)."""
        grid = np.stack(np.meshgrid(SHIFTS_MM, SHIFTS_MM, indexing="ij"), -1)
        return np.asarray(self.xy_mm + grid @ side_normals(self.turn_rad)[:2])

    @property
    def log_evidence(self) -> float:
        most = float(self.log_density.max())
        return most + float(np.log(np.exp(self.log_density - most).mean()))

    def moments_beyond(self, xy_mm: Array, reach_mm: float) -> Array:
        """The second moments (2, 2) about a place of what is likely further away from it than so much."""
        share = np.exp((self.log_density - self.log_density.max()) / POSTERIOR_TEMPER).sum(0)
        off = self.places_mm - xy_mm
        far = np.hypot(*np.moveaxis(off, -1, 0)) > reach_mm
        return np.asarray(np.einsum("uv,uvi,uvj->ij", share / share.sum() * far, off, off))


def fit_coarsely(
    view: LabPatch, guess_mm: Array, turns_rad: Sequence[float], side_mm: float
) -> CoarseFit | None:
    """A plate of one size near a guess off by some 5 mm and, of the likeliest of these headings, 5°.

    `view` is of the plane of its upper face. None where the photo does not show it.
    """
    looks = [pose_posterior(view, guess_mm, turn, side_mm, guess_mm) for turn in turns_rad]
    look = max(
        (one for one in looks if one is not None), key=lambda one: one.log_evidence, default=None
    )
    return None if look is None else _recentre_fit(view, look, guess_mm, side_mm)


def fit_from_aside(
    view: LabPatch, guess_mm: Array, turns_rad: Sequence[float], side_mm: float
) -> list[CoarseFit]:
    """Where else it may lie, looked for from beside the guess on all four sides, the likeliest first.

    A ship that hides the near sides draws the look to its wings, further off than the sides are sought.
    """
    ways = [
        (turn, way @ side_normals(turn)[:2])
        for turn in turns_rad
        for way in ASIDE_MM * UNIT_CORNERS
    ]
    looks = [
        pose_posterior(view, guess_mm + aside, turn, side_mm, guess_mm) for turn, aside in ways
    ]
    kept: list[CoarseFit] = []
    for look in sorted(
        (one for one in looks if one is not None), key=lambda one: -one.log_evidence
    ):
        if len(kept) < MAX_PLACES and _is_separate(look.best_pose[0], kept):
            start = _recentre_fit(view, look, guess_mm, side_mm)
            kept += [start] if _is_separate(start.xy_mm, kept) else []
    return kept


def _is_separate(xy_mm: Array, others: Sequence[CoarseFit]) -> bool:
    return all(np.hypot(*(xy_mm - other.xy_mm)) > MIN_SEPARATION_MM for other in others)


def _recentre_fit(
    view: LabPatch, look: "PosePosterior", guess_mm: Array, side_mm: float
) -> CoarseFit:
    """The likeliest place of a look, looked at again where it lies far from where that was centred."""
    xy, turn = look.best_pose
    if np.hypot(*(xy - look.xy_mm)) > RECENTRE_MM or abs(turn - look.turn_rad) > RECENTRE_RAD:
        look = pose_posterior(view, xy, turn, side_mm, guess_mm) or look
        xy, turn = look.best_pose
    return CoarseFit(side_mm, xy, turn, look, _side_information(look.edges), look.log_evidence)


def pair_opposite_sides(sides: Array) -> tuple[Array, Array]:
    """What each pair of opposite sides (4, T, S) says of a shift along its axis, forward and to the left (T, S)."""
    return sides[0] + sides[2][:, ::-1], sides[1] + sides[3][:, ::-1]


def pose_posterior(
    view: LabPatch,
    xy_mm: Array,
    turn_rad: float,
    size_mm: ArrayLike,
    guess_mm: Array,
    model: Path = MODEL,
) -> PosePosterior | None:
    """What is seen from a supposed place, and the prior that the guess gives; None beyond the photo's border.

    `size_mm` is the side of a plate, or the length and width of another rectangle.
    """
    if _share_in_photo(view, xy_mm, turn_rad, size_mm) < MIN_INSIDE_SHARE:
        return None
    edges = run_side_net(view, xy_mm, turn_rad, size_mm, STEP_MM, model)
    forward, left = pair_opposite_sides(
        edges.side_log_likelihood(SHIFTS_MM, TURNS_RAD) / STRETCH_TEMPER
    )
    off = side_normals(turn_rad)[:2] @ (xy_mm - guess_mm)
    pull = [np.log1p(((SHIFTS_MM + part) / GUESS_SCALE_MM) ** 2) for part in off]
    tilt = 0.5 * (TURNS_RAD / TURN_SIGMA_RAD) ** 2
    logs = (forward - pull[0])[:, :, None] + (left - pull[1])[:, None] - tilt[:, None, None]
    return PosePosterior(xy_mm, turn_rad, logs, edges)


def _share_in_photo(view: LabPatch, xy_mm: Array, turn_rad: float, size_mm: ArrayLike) -> float:
    """The share of a rectangle's corners and middles of sides in the photo."""
    middles = side_normals(turn_rad) * half_extents(size_mm)[:, None]
    points = xy_mm + np.concatenate([middles, middles + np.roll(middles, 1, 0)])
    return float(view.sample_board(points[None])[1].mean())


def _side_information(edges: SideEvidence) -> Array:
    """How much each side says (4,): 1 where all its stretches know where it lies."""
    share = np.exp(edges.log_likelihood)
    share /= share.sum(-1, keepdims=True)
    return np.asarray((1 + (share * np.log(share)).sum(-1) / np.log(OFFSET_BINS)).mean(-1))
