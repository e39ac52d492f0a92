"""The exact pose of one square plate, and the inset of its card's frame, over a grid of both.

Which of the concentric squares a mark belongs to is unknown: lower outline, upper edge or frame of
the card. Known is that they are concentric, that the first lies 3 mm below, and that the frame's
inset is equal on all sides. A shift of the plate moves the marks of opposite sides in opposite
directions. The log posterior over shift, turn and inset is therefore a sum of looked-up values of
mark profiles beside each side and each line of the card.
"""

from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.coarse_grid import CoarseFit, pair_opposite_sides
from overruler.vision.plates.pose_grid import INSETS_MM, TURNS_RAD, PoseGrid
from overruler.vision.plates.side_net import run_side_net

ARC_WEIGHT = 0.6
"""Evidence of each limit of an arc seen all along, relative to the frame's."""
WHOLE_SIDE_NATS = 8.0
"""Log-likelihood of one contour seen all along one side, in a sharp photo."""
SHARP_MM_PER_PX = 0.6
"""Largest pixel of a sharp photo: larger ones merge lines, and the network sees more."""
STEP_MM = 0.25
"""Step of the network's samples across the sides."""
NET_TEMPER = 3.0
"""Divisor of the network's log-likelihoods beside those of the marks."""
COARSE_DOUBT_BEYOND_MM = 1.0
"""Distance from the result beyond which the coarse posterior adds to its covariance."""
ONE_SIDED_SIGMA_MM = 0.6
"""Additional 1 σ along an axis with one side unseen: edges of the card are then confused."""
BOTH_SIDES_SEEN = 0.5
"""Share of both sides that must be seen for no additional σ."""
FLOOR_SIGMA_PX = 0.15
"""Smallest 1 σ of the place, whatever the number of marks."""


@dataclass(frozen=True, slots=True, eq=False)
class PlateFit:
    """The pose of a plate, if it is one of this size."""

    side_mm: float
    """The plate's side."""
    xy_mm: Array
    """(2,): the centre."""
    turn_rad: float
    """The heading but for half turns, by the card's lines."""
    inset_mm: float
    """Distance of the frame line's middle inside the edge."""
    covariance_mm2: Array
    """(2, 2): of the edges' places, by the centre's and the heading's errors, for an exact camera."""
    seen: Array
    """(4,): how much of each side is seen, above the usual background."""
    log_likelihood: float
    """Log-likelihood of what is seen, to compare fits."""


def fit_finely(view: LabPatch, start: CoarseFit) -> PlateFit | None:
    """Fit a plate by its sides and its card's lines in their likelier direction, if visible."""
    grid = PoseGrid(view, start.xy_mm, start.turn_rad, start.side_mm)
    sides = grid.side_evidence()
    if sides is None:
        return None
    network = run_side_net(view, start.xy_mm, start.turn_rad, start.side_mm, STEP_MM)
    nats = network.side_log_likelihood(grid.shifts, TURNS_RAD)
    turned = replace(grid, turn_rad=grid.turn_rad + np.pi / 2)
    ahead = _fit_arc_axis(start, grid, sides, nats)
    rolled = (np.roll(evidence, -1, 0) for evidence in (sides, nats))
    aside = _fit_arc_axis(start, turned, *rolled)
    fits = [fit for fit in (ahead, aside) if fit is not None]
    return max(fits, key=lambda fit: fit.log_likelihood, default=None)


def _fit_arc_axis(
    start: CoarseFit, grid: PoseGrid, sides: Array, net_nats: Array
) -> PlateFit | None:
    """Return the fit for one direction of the card's lines.

    `sides` (4, T, S, I) is the evidence of marks, `net_nats` (4, T, S) the network's.
    """
    arcs = grid.arc_evidence()
    if arcs is None:
        return None
    side_nats = WHOLE_SIDE_NATS * min(1.0, SHARP_MM_PER_PX / grid.view.mm_per_px)
    marks = pair_opposite_sides(side_nats * sides)
    network = pair_opposite_sides(net_nats / NET_TEMPER)
    along = marks[0] + network[0][..., None]
    across = marks[1] + network[1][..., None]
    face = 0.0 if start.face is None else start.face.log_likelihood_at(grid.places_mm)
    arc_nats = side_nats * ARC_WEIGHT * arcs.sum(0) + face
    density, merit = _grid_posterior(along + grid.inset_prior, across, arc_nats)
    plane = density.sum(0)
    forward_mm, left_mm = plane.sum(1) @ grid.shifts, plane.sum(0) @ grid.shifts
    shift = np.array([forward_mm, left_mm])
    offsets = grid.places_mm - grid.xy_mm - shift @ grid.axes
    spread = np.einsum("uv,uvi,uvj->ij", plane, offsets, offsets)
    best = np.unravel_index(int(np.argmax(density)), density.shape)
    turn, forward, left = (int(i) for i in best)
    inset_nats = along[turn, forward] + across[turn, left] + grid.inset_prior
    inset = int(np.argmax(inset_nats))
    side_shifts = forward, left, -1 - forward, -1 - left
    seen = np.array([sides[k, turn, i, inset] for k, i in enumerate(side_shifts)])
    xy = grid.xy_mm + shift @ grid.axes
    heading = grid.turn_rad + float(TURNS_RAD[turn])
    covariance = spread + _one_sided_covariance(seen, grid.axes)
    covariance = covariance + start.posterior.moments_beyond(xy, COARSE_DOUBT_BEYOND_MM)
    turn_variance = float(density.sum((1, 2)) @ (TURNS_RAD - TURNS_RAD[turn]) ** 2)
    by_turn_mm2 = turn_variance * (grid.side_mm / 2) ** 2 / 2
    floor_mm2 = (FLOOR_SIGMA_PX * grid.view.mm_per_px) ** 2
    covariance = covariance + np.eye(2) * (floor_mm2 + by_turn_mm2)
    inset_mm = float(INSETS_MM[inset])
    return PlateFit(grid.side_mm, xy, heading, inset_mm, covariance, seen, merit)


def _grid_posterior(along: Array, across: Array, arcs: Array) -> tuple[Array, float]:
    """Return the posterior (T, S, S) over turns and both shifts, and the log of its total weight.

    The evidence along both axes (T, S, I) shares the inset; that of the arcs (T, S, S) does not
    depend on it. The sum over insets is a matrix product.
    """
    tops = along.max(), across.max(), arcs.max()
    forward = np.exp(along - tops[0])
    left = np.exp(across - tops[1])
    weight = forward @ left.transpose(0, 2, 1) * np.exp(arcs - tops[2])
    total = float(weight.sum())
    return weight / total, float(np.log(total) + tops[0] + tops[1] + tops[2])


def _one_sided_covariance(seen: Array, axes: Array) -> Array:
    """Return the covariance (2, 2) of contours mistaken where no opposite side contradicts."""
    both = np.minimum(seen[:2], seen[2:]) / BOTH_SIDES_SEEN
    sigmas = ONE_SIDED_SIGMA_MM * (1 - np.clip(both, 0, 1))
    return np.asarray(axes.T @ np.diag(sigmas**2) @ axes)
