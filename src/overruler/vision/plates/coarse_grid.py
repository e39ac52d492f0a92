"""The place of a plate to about a millimetre: the evidence along its sides, over a grid of poses.

A shift of the plate moves opposite sides in opposite directions, a turn moves the ends of each
side. The log posterior over shift and turn is therefore a sum of looked-up values of `side_net`.
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
from overruler.vision.plates.sides import MIN_INSIDE_SHARE, UNIT_CORNERS, half_extents, side_normals

STEP_MM = 0.5
"""Step of the samples across the sides."""
SHIFTS_MM = np.arange(-6.0, 6.01, 0.25)
"""(S,): shifts of the grid along each axis."""
TURNS_RAD = np.radians(np.arange(-6.0, 6.01, 0.75))
"""(T,): turns of the grid."""
STRETCH_TEMPER = 1.6
"""Divisor of the log-likelihoods of neighbouring stretches, whose errors are correlated."""
GUESS_SCALE_MM = 2.0
"""Scale of the prior's heavy tail about a guess, along each axis."""
TURN_SIGMA_RAD = np.radians(3.5)
"""Prior 1 σ of a guess's heading."""
POSTERIOR_TEMPER = 1.5
"""Divisor of the log posterior in covariances: of 560 true places one in twenty lay 6 nats below
the likeliest instead of 3.9."""
RECENTRE_MM = 2.0
"""Distance from the grid's centre from which a place is searched again with the grid around it."""
RECENTRE_RAD = np.radians(3.0)
"""Turn from which it is."""
ASIDE_MM = 5.0
"""Shift along both axes of further starts beside a guess: a grid reaches 6 mm along each."""
MIN_SEPARATION_MM = 2.0
"""Smallest distance between two places found from beside a guess."""
MAX_PLACES = 3
"""Largest number of such places."""
MODE_WINDOW_MM = 1.5
"""Distance along each axis from the likeliest place up to which the mean is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class CoarseFit:
    """The rough pose of a plate of one size."""

    side_mm: float
    """The plate's side."""
    xy_mm: Array
    """(2,): the likeliest centre."""
    turn_rad: float
    """The likeliest heading, but for quarter turns."""
    posterior: "PosePosterior"
    """The grid around it."""
    side_information: Array
    """(4,): how informative each side is, 0 to 1."""
    log_evidence: float
    """Log of the likelihood ratio of a plate of this size here against none."""
    face: FaceLikelihood | None = None
    """The likelihood of places by its whole face, if that was probed."""

    def with_face(self, likelihood: FaceLikelihood) -> "CoarseFit":
        """Return the fit by sides and whole face together."""
        prior = self.posterior
        log_density = prior.log_density + likelihood.log_likelihood_at(prior.places_mm)
        posterior = replace(prior, log_density=log_density)
        xy, turn = posterior.best_pose
        return replace(self, xy_mm=xy, turn_rad=turn, posterior=posterior, face=likelihood)


@dataclass(frozen=True, slots=True, eq=False)
class PosePosterior:
    """The posterior over turns, and over shifts forward and to the left, about some pose."""

    xy_mm: Array
    """(2,): centre of the grid."""
    turn_rad: float
    """Heading of the grid."""
    log_density: Array
    """(T, S, S): unnormalized, in nats."""
    edges: SideEvidence
    """The evidence along the sides."""

    @property
    def best_pose(self) -> tuple[Array, float]:
        """The likeliest place (2,) and heading."""
        turn, shift = self._mode
        offset = shift @ side_normals(self.turn_rad)[:2]
        return self.xy_mm + offset, self.turn_rad + turn

    @property
    def stretch_nats(self) -> Array:
        """(4, STRETCHES): evidence of each stretch for the likeliest pose, in nats."""
        turn, shift = self._mode
        shifts, turns = np.append(shift, -shift), np.array([turn])
        nats = self.edges.stretch_log_likelihood(shifts, turns)
        return np.asarray(nats[range(4), :, 0, range(4)] / STRETCH_TEMPER)

    @property
    def _mode(self) -> tuple[float, Array]:
        best = int(np.argmax(self.log_density))
        turn, forward, left = np.unravel_index(best, self.log_density.shape)
        return float(TURNS_RAD[turn]), SHIFTS_MM[[int(forward), int(left)]]

    def mean_and_moments(self) -> tuple[Array, float, Array, float]:
        """Return place (2,) and heading, means near the mode, and their moments on the grid."""
        density = np.exp((self.log_density - self.log_density.max()) / POSTERIOR_TEMPER)
        distances = np.abs(self.places_mm - self.best_pose[0]).max(-1)
        near = density * (distances < MODE_WINDOW_MM)
        xy = np.einsum("tuv,uvi->i", near, self.places_mm) / near.sum()
        turn = float(near.sum((1, 2)) @ TURNS_RAD / near.sum())
        offsets, density = self.places_mm - xy, density / density.sum()
        moments = np.einsum("tuv,uvi,uvj->ij", density, offsets, offsets)
        turn_variance = float(density.sum((1, 2)) @ (TURNS_RAD - turn) ** 2)
        return xy, self.turn_rad + turn, moments, turn_variance

    @property
    def places_mm(self) -> Array:
        """(S, S, 2): the places of the grid."""
        grid = np.stack(np.meshgrid(SHIFTS_MM, SHIFTS_MM, indexing="ij"), -1)
        return np.asarray(self.xy_mm + grid @ side_normals(self.turn_rad)[:2])

    @property
    def log_evidence(self) -> float:
        most = float(self.log_density.max())
        return most + float(np.log(np.exp(self.log_density - most).mean()))

    def moments_beyond(self, xy_mm: Array, reach_mm: float) -> Array:
        """Return the second moments (2, 2) about a place of what lies beyond `reach_mm`."""
        density = np.exp((self.log_density - self.log_density.max()) / POSTERIOR_TEMPER).sum(0)
        offsets = self.places_mm - xy_mm
        is_far = np.hypot(*np.moveaxis(offsets, -1, 0)) > reach_mm
        far = density / density.sum() * is_far
        return np.asarray(np.einsum("uv,uvi,uvj->ij", far, offsets, offsets))


def fit_coarsely(
    view: LabPatch, guess_mm: Array, turns_rad: Sequence[float], side_mm: float
) -> CoarseFit | None:
    """Fit a plate near a guess off by some 5 mm and, for the best heading, 5°, if it is visible."""
    tried = [pose_posterior(view, guess_mm, turn, side_mm, guess_mm) for turn in turns_rad]
    best = max((p for p in tried if p is not None), key=lambda p: p.log_evidence, default=None)
    return None if best is None else _recentre_fit(view, best, guess_mm, side_mm)


def fit_from_aside(
    view: LabPatch, guess_mm: Array, turns_rad: Sequence[float], side_mm: float
) -> list[CoarseFit]:
    """Return fits started on all four sides of the guess, the likeliest first.

    A ship that hides the near sides draws the guess to its wings, beyond the reach of the grid.
    """
    tried = []
    for turn in turns_rad:
        for corner in ASIDE_MM * UNIT_CORNERS:
            start_mm = guess_mm + corner @ side_normals(turn)[:2]
            tried.append(pose_posterior(view, start_mm, turn, side_mm, guess_mm))
    visible = [posterior for posterior in tried if posterior is not None]
    kept: list[CoarseFit] = []
    for posterior in sorted(visible, key=lambda posterior: -posterior.log_evidence):
        if len(kept) < MAX_PLACES and _is_separate(posterior.best_pose[0], kept):
            fit = _recentre_fit(view, posterior, guess_mm, side_mm)
            kept += [fit] if _is_separate(fit.xy_mm, kept) else []
    return kept


def _is_separate(xy_mm: Array, others: Sequence[CoarseFit]) -> bool:
    return all(np.hypot(*(xy_mm - other.xy_mm)) > MIN_SEPARATION_MM for other in others)


def _recentre_fit(
    view: LabPatch, posterior: PosePosterior, guess_mm: Array, side_mm: float
) -> CoarseFit:
    """Return the likeliest pose, on a new grid around it where it lies far from the centre."""
    xy, turn = posterior.best_pose
    is_far = np.hypot(*(xy - posterior.xy_mm)) > RECENTRE_MM
    if is_far or abs(turn - posterior.turn_rad) > RECENTRE_RAD:
        posterior = pose_posterior(view, xy, turn, side_mm, guess_mm) or posterior
        xy, turn = posterior.best_pose
    information = _side_information(posterior.edges)
    return CoarseFit(side_mm, xy, turn, posterior, information, posterior.log_evidence)


def pair_opposite_sides(sides: Array) -> tuple[Array, Array]:
    """Sum values (4, T, S, ...) by outward shift into values by shift forward and left."""
    front, left, back, right = sides
    return front + back[:, ::-1], left + right[:, ::-1]


def pose_posterior(
    view: LabPatch,
    xy_mm: Array,
    turn_rad: float,
    size_mm: ArrayLike,
    guess_mm: Array,
    model: Path = MODEL,
) -> PosePosterior | None:
    """Return the posterior about a supposed pose, with the guess as prior; None beyond the photo.

    `size_mm` is the side of a plate, or the length and width of another rectangle.
    """
    if _share_in_photo(view, xy_mm, turn_rad, size_mm) < MIN_INSIDE_SHARE:
        return None
    edges = run_side_net(view, xy_mm, turn_rad, size_mm, STEP_MM, model)
    sides = edges.side_log_likelihood(SHIFTS_MM, TURNS_RAD) / STRETCH_TEMPER
    forward, left = pair_opposite_sides(sides)
    offset = side_normals(turn_rad)[:2] @ (xy_mm - guess_mm)
    cost = [np.log1p(((SHIFTS_MM + part) / GUESS_SCALE_MM) ** 2) for part in offset]
    turn_cost = 0.5 * (TURNS_RAD / TURN_SIGMA_RAD) ** 2
    along, across = forward - cost[0], left - cost[1]
    shifted = along[:, :, None] + across[:, None]
    return PosePosterior(xy_mm, turn_rad, shifted - turn_cost[:, None, None], edges)


def _share_in_photo(view: LabPatch, xy_mm: Array, turn_rad: float, size_mm: ArrayLike) -> float:
    """Return the share of a rectangle's corners and side centres in the photo."""
    middles = side_normals(turn_rad) * half_extents(size_mm)[:, None]
    corners = middles + np.roll(middles, 1, 0)
    points = xy_mm + np.concatenate([middles, corners])
    return float(view.sample_board(points[None])[1].mean())


def _side_information(edges: SideEvidence) -> Array:
    """Return how informative each side is (4,): 1 where all its stretches locate it exactly."""
    share = np.exp(edges.log_likelihood)
    share /= share.sum(-1, keepdims=True)
    negative_entropy = (share * np.log(share)).sum(-1)
    return np.asarray((1 + negative_entropy / np.log(OFFSET_BINS)).mean(-1))
