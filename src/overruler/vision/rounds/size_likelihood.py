"""The sizes that a round base may have: how likely the learned look makes each of them, and a fit of each.

A base is looked at in two ways: by its lower rim, or by its upper one where the lower is lost against the mat.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import BaseFit, fit_bases
from overruler.vision.contours.rim_fit import OUTLINE_MODELS, BaseHypothesis, RimModel
from overruler.vision.contours.silhouette import PROFILES
from overruler.vision.learned.rim_net import RimEstimates

MIN_FIT_PROBABILITY = 0.0005
"""Sizes less probable than this by the learned look, on this table, are not fitted."""
NET_SIGMA_INFLATION, RADIUS_FLOOR_SIGMA_MM = 1.3, 0.15
"""The learned look's size is taken at so many of its stated σ; and 1 σ of the radius, whatever the look says: rims are
made in more ways than it has seen."""
USUAL_PROFILE, UPPER_RADIUS_SIGMA_MM = PROFILES[0], 0.25
"""The usual profile, and 1 σ of how much smaller the upper rim's radius is."""
WHOLE_RIM_NATS, OTHER_RIM_WEIGHT = 2.0, 0.2
"""Log-likelihood of a whole rim seen against none of it; what the other rim adds to that."""
RIM_KINDS: tuple[tuple[RimModel, ...], ...] = (OUTLINE_MODELS, ((USUAL_PROFILE, True),))
"""What is fitted: the outline, whatever the profile, or the upper rim."""


@dataclass(frozen=True, slots=True, eq=False)
class SizeHypothesis:
    """One size for one base, fitted."""

    size_index: int
    """Which of the radii."""
    rim_kind: int
    """Which of `RIM_KINDS`."""
    fit: BaseFit
    log_likelihood: float
    """By the fit alone."""


def rim_net_log_likelihood(guesses: RimEstimates, radii: Array, camera: Camera) -> Array:
    """Log-likelihood (N, C, 2) of each radius and way of seeing it, from the learned look's radius alone."""
    height = np.full(len(guesses.radius_mm), camera.center_mm[2])
    return radius_log_likelihood(guesses.radius_mm, guesses.sigma_radius_mm, radii, height)


def radius_log_likelihood(seen_mm: Array, sigma_mm: Array, radii: Array, eye_mm: Array) -> Array:
    """The same, of radii seen (N,) with so large a σ (N,) from so high (N,) above the plane that they stand on."""
    eye = eye_mm[:, None]
    upper = (radii - USUAL_PROFILE.taper_mm) * eye / (eye - USUAL_PROFILE.height_mm)
    rims = np.stack([np.broadcast_to(radii, upper.shape), upper], -1)
    own = np.hypot(NET_SIGMA_INFLATION * sigma_mm, RADIUS_FLOOR_SIGMA_MM)[:, None, None]
    sigma = np.hypot(own, [0.0, UPPER_RADIUS_SIGMA_MM])
    return np.asarray(-0.5 * ((rims - seen_mm[:, None, None]) / sigma) ** 2 - np.log(sigma / own))


def fit_sizes(
    frame: Frame,
    camera: Camera,
    xy_mm: Array,
    sigma_mm: Array,
    worth: NDArray[np.bool_],
    radii: Array,
    z_mm: Array | float = 0.0,
) -> list[list[SizeHypothesis]]:
    """The sizes and ways that are `worth` (N, C, 2) a fit, fitted.

    Each from a place (N, C, 2) with its σ (N, C), or from one for all sizes: (N, 1, 2) and (N, 1). They stand at z, one
    height for all or one for each (N,).
    """
    heights, which = np.broadcast_to(z_mm, len(worth)).tolist(), np.argwhere(worth).tolist()
    start, sigma = (
        np.broadcast_to(xy_mm, (*worth.shape[:2], 2)),
        np.broadcast_to(sigma_mm, worth.shape[:2]),
    )
    sought = [
        BaseHypothesis(start[i, c], float(sigma[i, c]), float(radii[c]), heights[i], RIM_KINDS[k])
        for i, c, k in which
    ]
    found: list[list[SizeHypothesis]] = [[] for _ in worth]
    for (i, column, kind), fit in zip(which, fit_bases(frame.pixels, camera, sought), strict=True):
        if fit is not None:
            found[i].append(SizeHypothesis(column, kind, fit, _fit_log_likelihood(fit, kind)))
    return found


def _fit_log_likelihood(fit: BaseFit, kind: int) -> float:
    """Of a fit, by what it shows of the rim that it goes by, and of the other one."""
    own, other = fit.visible_shares[kind], fit.visible_shares[1 - kind]
    return WHOLE_RIM_NATS * (own + OTHER_RIM_WEIGHT * other)


def add_fit_likelihoods(looks: Array, fits: Sequence[list[SizeHypothesis]]) -> Array:
    """The likelihoods (N, C, 2) by look and fit together; what was not fitted is impossible."""
    both = np.full(looks.shape, -np.inf)
    for row, look, tried in zip(both, looks, fits, strict=True):
        for one in tried:
            row[one.size_index, one.rim_kind] = (
                look[one.size_index, one.rim_kind] + one.log_likelihood
            )
    return both
