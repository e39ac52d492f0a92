"""The sizes that a round base may have: their likelihood by the rim network, and a fit of each.

A base is seen by its lower rim, or by its upper one where the lower is lost against the mat.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import BaseFit, fit_bases
from overruler.vision.contours.rim_fit import OUTLINE_MODELS, BaseHypothesis, RimModel
from overruler.vision.contours.silhouette import USUAL_PROFILE
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.rim_net import RimEstimates

MIN_FIT_PROBABILITY = 0.0005
"""Sizes less probable by the rim network, on this table, are not fitted."""
RADIUS_SIGMA_INFLATION = load_coefficients("sigma_inflation")["rim_radius"]
"""Inflation of the rim network's stated radius σ."""
RADIUS_FLOOR_SIGMA_MM = 0.15
"""Smallest 1 σ of the network's radius: rims are made in more ways than it was trained on."""
PULLING_RADIUS_MM = 13.5
"""Radius that an unsure network names too often: half its lessons have bases of 27 mm. On 22 rendered
tables it read 25 mm as 25.8 in the mean, 28.5 as 28.1 and 30 as 29.5. This and the next two are
likeliest for 1480 radii on them; 109 of 1320 sizes were wrong by the radii alone, 85 with these."""
PULL_SIGMA_MM = 0.34
"""1 σ of the network at which it names a radius halfway to that one."""
PULL_REACH_MM = 1.16
"""1 σ of the differences over which it is pulled so: larger bases it does not confuse with those."""
UPPER_RADIUS_SIGMA_MM = 0.25
"""1 σ of the difference between the radii of lower and upper rim."""
RIM_KIND_SIGMAS_MM = np.array([0.0, UPPER_RADIUS_SIGMA_MM])
"""1 σ of the radius of each rim kind beside the network's."""
WHOLE_RIM_NATS = 2.0
"""Log-likelihood of a whole rim seen against none of it."""
OTHER_RIM_WEIGHT = 0.2
"""Weight of the other rim in that."""
RIM_KINDS: tuple[tuple[RimModel, ...], ...] = (OUTLINE_MODELS, ((USUAL_PROFILE, True),))
"""What is fitted: the outline with any profile, or the upper rim."""


@dataclass(frozen=True, slots=True, eq=False)
class SizeHypothesis:
    """A fit of one size to one base."""

    size_index: int
    """Index among the radii."""
    rim_kind: int
    """Index in `RIM_KINDS`."""
    fit: BaseFit
    """The fit of this size."""
    log_likelihood: float
    """Log-likelihood by the fit alone, in nats."""


class Reading(NamedTuple):
    """How a network reads the radii of one photo, all alike."""

    scale: float = 1.0
    """Rims look so many times as large as they are."""
    offset_mm: float = 0.0
    """Radii are read as larger by this."""
    spread: float = 1.0
    """Errors are so many times as large as usual."""


AS_USUAL = Reading()
"""The radii are read as usual."""


def rim_net_log_likelihood(
    guesses: RimEstimates,
    radii: Array,
    camera: Camera,
    is_pulled: bool = True,
    reading: Reading = AS_USUAL,
) -> Array:
    """Return the log-likelihood (N, C, 2) of radii and rim kinds by the network's radius alone."""
    height = np.full(len(guesses.radius_mm), camera.center_mm[2])
    seen = guesses.radius_mm, guesses.sigma_radius_mm
    return radius_log_likelihood(*seen, radii, height, is_pulled, reading)


def radius_log_likelihood(
    seen_mm: Array,
    sigma_mm: Array,
    radii: Array,
    eye_mm: Array,
    is_pulled: bool = True,
    reading: Reading = AS_USUAL,
) -> Array:
    """Return the log-likelihood (N, C, 2) of radii (C,) and rim kinds, from network radii (N,).

    `sigma_mm` (N,) is the network's σ, `eye_mm` (N,) the camera's height above each base's plane. On
    tables in play other networks saw the rims, and none `is_pulled`.
    """
    seen_mm = seen_mm / reading.scale - reading.offset_mm
    net_sigma = np.hypot(RADIUS_SIGMA_INFLATION * sigma_mm, RADIUS_FLOOR_SIGMA_MM)[:, None, None]
    sigma = np.hypot(reading.spread * net_sigma, RIM_KIND_SIGMAS_MM)
    residual = (
        expect_radii_mm(radii, sigma_mm, eye_mm, is_pulled) - seen_mm[:, None, None]
    ) / sigma
    return np.asarray(-0.5 * residual**2 - np.log(sigma / net_sigma))


def expect_radii_mm(radii: Array, sigma_mm: Array, eye_mm: Array, is_pulled: bool = True) -> Array:
    """Return the network's mean answers (N, C, 2) to rims of radii (C,), by its σ (N,)."""
    eye = eye_mm[:, None]
    upper = (radii - USUAL_PROFILE.taper_mm) * eye / (eye - USUAL_PROFILE.height_mm)
    rims = np.stack([np.broadcast_to(radii, upper.shape), upper], -1)
    if not is_pulled:
        return rims
    apart = PULLING_RADIUS_MM - rims
    share = (sigma_mm**2 / (sigma_mm**2 + PULL_SIGMA_MM**2))[:, None, None]
    return np.asarray(rims + apart * share * np.exp(-0.5 * (apart / PULL_REACH_MM) ** 2))


def fit_sizes(
    frame: Frame,
    camera: Camera,
    xy_mm: Array,
    sigma_mm: Array,
    plausible: NDArray[np.bool_],
    radii: Array,
    z_mm: Array | float = 0.0,
) -> list[list[SizeHypothesis]]:
    """Fit the sizes and rim kinds that are `plausible` (N, C, 2) a fit.

    Fits start at places (N, C, 2) with 1 σ (N, C), or at one for all sizes: (N, 1, 2) and (N, 1).
    The bases stand at `z_mm`, one height for all or one for each (N,).
    """
    heights = np.broadcast_to(z_mm, len(plausible)).tolist()
    start = np.broadcast_to(xy_mm, (*plausible.shape[:2], 2))
    sigma = np.broadcast_to(sigma_mm, plausible.shape[:2])
    triples = np.argwhere(plausible).tolist()
    hypotheses = []
    for i, size, kind in triples:
        place, place_sigma = start[i, size], float(sigma[i, size])
        radius, models = float(radii[size]), RIM_KINDS[kind]
        hypotheses.append(BaseHypothesis(place, place_sigma, radius, heights[i], models))
    fits = fit_bases(frame.pixels, camera, hypotheses)
    found: list[list[SizeHypothesis]] = [[] for _ in plausible]
    for (i, size, kind), fit in zip(triples, fits, strict=True):
        if fit is not None:
            found[i].append(SizeHypothesis(size, kind, fit, _fit_log_likelihood(fit, kind)))
    return found


def _fit_log_likelihood(fit: BaseFit, kind: int) -> float:
    """Return the log-likelihood by how much of the fitted and of the other rim is seen."""
    fitted_rim, other_rim = fit.visible_shares[kind], fit.visible_shares[1 - kind]
    return WHOLE_RIM_NATS * (fitted_rim + OTHER_RIM_WEIGHT * other_rim)


def add_fit_likelihoods(net: Array, fits: Sequence[list[SizeHypothesis]]) -> Array:
    """Add the fits' log-likelihoods to the network's (..., N, C, 2); sizes without a fit get -inf."""
    by_fit = np.full(net.shape[-3:], -np.inf)
    for row, tried in zip(by_fit, fits, strict=True):
        for hypothesis in tried:
            row[hypothesis.size_index, hypothesis.rim_kind] = hypothesis.log_likelihood
    return np.asarray(net + by_fit)
