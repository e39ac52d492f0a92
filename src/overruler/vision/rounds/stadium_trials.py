"""Trials of stadiums, bases with round ends: each end is half the rim of a round base.

The ring network is asked for a round base in each end. It follows the outer half of such a rim as
well as any. On the inner half, where a round base would go on, it is unsure: that tells a stadium
from two round bases in a row.
"""

from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.batched.vectors import left_component, left_normals, unit_vectors
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.disc_net import Discs
from overruler.vision.learned.ellipse_net import (
    CAUCHY_SCALE_SIGMA,
    MAX_SQUARED_RESIDUAL,
    REWEIGHTING_PASSES,
)
from overruler.vision.learned.logits import probability_to_logit
from overruler.vision.learned.patches import Picture, patch_axes_mm, ring_angles
from overruler.vision.learned.rim_net import predict_rim_radii

END_RADII = (0.75, 1.55)
"""Radii of round candidates that may be an end, in radii of the end. The overview takes a part of the
middle for the end's other half."""
PAIR_DISTANCES = (0.58, 1.15)
"""Distances of two such, in those of the ends' centres."""
MIDDLE_LENGTHS = (0.4, 1.2)
"""Lengths of an oval candidate that may be the middle, in lengths of the base."""
MIDDLE_WIDTHS = (0.64, 1.7)
"""Its widths, in widths of the base."""
MIDDLE_SHIFT = 0.36
"""Distance up to which such an oval supports a pair of ends, along the base, in lengths of it."""
MIDDLE_SIDE_SHIFT = 0.2
"""The same across the base, in widths of it."""
MIDDLE_TURN = 0.35
"""Difference of heading up to which it does, in rad."""
LEAST_SHIFT = 0.06
"""Least shift along the base at which an oval is tried besides its own place, in lengths."""
SIDE_SHIFT = 0.16
"""Shift across the base at which it is tried, in widths: a figure draws candidates aside."""
LEAST_OVAL_LOGIT = -2.5
"""Least log odds of an oval that supports two ends, compared with those of the likelier end.

Two round bases in a row are surer than the oval that the overview sees between them. On 10 rendered
tables it was at least -2.1 for 115 pairs on a stadium; on 19 tables without any this leaves out two of
three pairs."""
TRACES = 4
"""Times that the ends are traced."""
TRACED_WEIGHTS = np.array([-23.2, 4.95, 7.8])
"""Weights of the log odds by the trace alone: constant, negative misfit, and contrast.

Fitted by logistic regression to 86 traces on stadiums and 384 on other things, on 19 rendered tables."""
FIRST_TRACES = 2
"""After so many of them the rest are made only ..."""
HOPEFUL_LOGIT = -7.0
"""... where the log odds of one are larger than this. Of 23 rendered tables without any, 13 had such a pair."""
TRACE_PRIOR_SIGMA = np.array([3.0, 3.0, 0.1])
"""Prior 1 σ of one trace's step: x and y in mm, heading in rad."""
LEAST_OUTER_COSINE = -0.05
"""Directions belong to an end's half of the rim where their cosine with the way out is at least so."""
LARGEST_INNER_COSINE = -0.4
"""They point into the base, where a round one would have its rim, where it is at most so."""

Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Stadiums:
    """N stadiums of known size whose ends were traced."""

    size: NDArray[np.intp]
    """(N,): which size."""
    poses: Array
    """(N, 5): x, y, half length and half width in mm on the plane z = 0, and heading in rad."""
    covariance: Array
    """(N, 3, 3): of x, y and heading."""
    misfit: Array
    """(N,): mean negative log likelihood of a direction of the ends' rims."""
    contrast: Array
    """(N,): how much larger σ is where a round base would have its rim: the difference of the logarithms."""

    def __getitem__(self, which: NDArray[np.bool_] | NDArray[np.intp] | list[int]) -> "Stadiums":
        return Stadiums(*(getattr(self, field.name)[which] for field in fields(self)))


NO_STADIUMS = Stadiums(
    np.empty(0, int), np.empty((0, 5)), np.empty((0, 3, 3)), np.empty(0), np.empty(0)
)


def paired_starts(discs: Discs, half_size: Array) -> Array:
    """Return stadiums (N, 5) of a half size (2,) on pairs of round candidates that an oval one supports."""
    half_length, radius = half_size
    is_end = _lies_within(discs.rounds[:, 2] / radius, END_RADII)
    ends = discs.rounds[is_end, :2]
    logits = probability_to_logit(discs.rounds[is_end, 3])
    step = ends[None] - ends[:, None]
    shares = np.hypot(*step.transpose(2, 0, 1)) / (2 * (half_length - radius))
    one, other = np.nonzero(np.triu(_lies_within(shares, PAIR_DISTANCES), 1))
    way = step[one, other]
    starts = _stadiums((ends[one] + ends[other]) / 2, half_size, np.arctan2(way[:, 1], way[:, 0]))
    surer = np.maximum(logits[one], logits[other])
    middles = _middles(discs.ovals, half_size)
    is_likely = probability_to_logit(middles[:, 5]) - surer[:, None] > LEAST_OVAL_LOGIT
    return starts[(_are_supported(starts, middles) & is_likely).any(1)]


def oval_starts(discs: Discs, half_size: Array) -> Array:
    """Return stadiums (N, 5) of a half size (2,) at the oval candidates that may be the middle or an end."""
    middles = _middles(discs.ovals, half_size)
    least = LEAST_SHIFT * 2 * half_size[0]
    shift = np.maximum(half_size[0] - middles[:, 2], least)
    starts = _stadiums(middles[:, :2], half_size, middles[:, 4])
    ahead = unit_vectors(middles[:, 4])
    aside = SIDE_SHIFT * 2 * half_size[1] * left_normals(ahead)
    ahead *= shift[:, None]
    moved = np.tile(starts, (5, 1))
    moved[:, :2] += np.concatenate([0 * ahead, ahead, -ahead, aside, -aside])
    return moved


def trace_stadiums(
    levels: list[Picture], camera: Camera, size: NDArray[np.intp], starts: Array
) -> Stadiums:
    """Move stadiums (N, 5) of known `size` (N,) to where the ring network sees their ends.

    None are returned where all look hopeless on the way.
    """
    if not len(starts):
        return NO_STADIUMS
    traced = _trace_once(levels, camera, size, starts)
    for count in range(1, TRACES):
        if count == FIRST_TRACES and traced_logits(traced).max() <= HOPEFUL_LOGIT:
            return NO_STADIUMS
        traced = _trace_once(levels, camera, size, traced.poses)
    return traced


def traced_logits(traced: Stadiums) -> Array:
    """Return the log odds (N,) by the traces alone."""
    features = [np.ones(len(traced.size)), -traced.misfit, traced.contrast]
    return np.asarray(TRACED_WEIGHTS @ features)


def _trace_once(
    levels: list[Picture], camera: Camera, size: NDArray[np.intp], poses: Array
) -> Stadiums:
    """Fit place and heading to the rims that the network sees round the ends, by least squares."""
    ends, way_out = end_circles(poses)
    reach, sigma = predict_rim_radii(levels, camera, ends)
    angle = ring_angles()
    unit = unit_vectors(angle)
    outward = unit @ patch_axes_mm(camera, ends) / ends[:, 2, None, None]
    cosine = np.einsum("nkd,nd->nk", outward, way_out)
    arm = way_out * np.tile(poses[:, 2] - poses[:, 3], 2)[:, None]
    turning = left_component(outward, arm[:, None])
    design = _both_ends(np.concatenate([outward, turning[..., None]], -1))
    off_mm = _both_ends((reach - 1) * ends[:, 2:3])
    sigma_mm = _both_ends(sigma * ends[:, 2:3])
    is_outer = _both_ends(cosine >= LEAST_OUTER_COSINE)
    step, covariance = _fit_step(design, off_mm, sigma_mm, is_outer)
    residual = (off_mm - np.einsum("nki,ni->nk", design, step)) / sigma_mm
    log_sigma = np.log(_both_ends(sigma))
    nats = np.minimum(residual**2, MAX_SQUARED_RESIDUAL) / 2 + log_sigma
    is_inner = _both_ends(cosine <= LARGEST_INNER_COSINE)
    contrast = _mean_where(log_sigma, is_inner) - _mean_where(log_sigma, is_outer)
    moved = poses.copy()
    moved[:, [0, 1, 4]] += step
    return Stadiums(size, moved, covariance, _mean_where(nats, is_outer), contrast)


def _fit_step(
    design: Array, off_mm: Array, sigma_mm: Array, is_used: NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Return the steps (N, 3) of x, y and heading, and their covariances, with Cauchy weights."""
    prior = np.diag(1 / TRACE_PRIOR_SIGMA**2)
    step = np.zeros((len(design), 3))
    information = np.tile(prior, (len(design), 1, 1))
    for _ in range(REWEIGHTING_PASSES):
        residual = (off_mm - np.einsum("nki,ni->nk", design, step)) / sigma_mm
        weight = is_used / sigma_mm**2 / (1 + (residual / CAUCHY_SCALE_SIGMA) ** 2)
        information = np.einsum("nk,nki,nkj->nij", weight, design, design) + prior
        pull = np.einsum("nk,nki->ni", weight * off_mm, design)
        step = np.linalg.solve(information, pull[..., None])[..., 0]
    return np.asarray(step, float), np.asarray(np.linalg.inv(information), float)


def end_circles(poses: Array) -> tuple[Array, Array]:
    """Return the circles (2 N, 3) of the ends of stadiums (N, 5), and the ways out (2 N, 2)."""
    ahead = unit_vectors(poses[:, 4])
    way_out = np.concatenate([ahead, -ahead])
    reach = np.tile(poses[:, 2] - poses[:, 3], 2)[:, None]
    centres = np.tile(poses[:, :2], (2, 1)) + reach * way_out
    return np.column_stack([centres, np.tile(poses[:, 3], 2)]), way_out


def _both_ends(values: NDArray[Kind]) -> NDArray[Kind]:
    """Join what is said of the first ends (N, K, ...) and of the others to (N, 2 K, ...)."""
    first, other = np.split(values, 2)
    return np.concatenate([first, other], 1)


def _mean_where(values: Array, is_used: NDArray[np.bool_]) -> Array:
    return np.asarray((values * is_used).sum(1) / is_used.sum(1))


def _middles(ovals: Array, half_size: Array) -> Array:
    """Return those of the oval candidates (N, 6) that may be the middle of a stadium, or a part."""
    length, width = (ovals[:, 2:4] / half_size).T
    return ovals[_lies_within(length, MIDDLE_LENGTHS) & _lies_within(width, MIDDLE_WIDTHS)]


def _are_supported(stadiums: Array, ovals: Array) -> NDArray[np.bool_]:
    """Tell which of the stadiums (N, 5) lie along which ovals (M, 6): (N, M)."""
    apart = ovals[:, :2] - stadiums[:, None, :2]
    ahead = unit_vectors(stadiums[:, 4])
    along = np.einsum("nmd,nd->nm", apart, ahead)
    across = left_component(apart, ahead[:, None])
    turn = (ovals[:, 4] - stadiums[:, None, 4] + np.pi / 2) % np.pi - np.pi / 2
    length, width = 2 * stadiums[:, 2:4].T[..., None]
    is_beside = (np.abs(along) < MIDDLE_SHIFT * length) & (
        np.abs(across) < MIDDLE_SIDE_SHIFT * width
    )
    return np.asarray(is_beside & (np.abs(turn) < MIDDLE_TURN))


def _stadiums(centres: Array, half_size: Array, headings: Array) -> Array:
    sizes = np.tile(half_size, (len(centres), 1))
    return np.column_stack([centres, sizes, headings])


def _lies_within(values: Array, limits: tuple[float, float]) -> NDArray[np.bool_]:
    least, most = limits
    return np.asarray((values > least) & (values < most))
