"""Sizes of round bases on raised ground, reassessed at the ground's height.

Sizes are first weighed across the table as if all bases stood on the board (`rounds.fit_rounds`).
There a 25 mm base on a hill looks like one of 26 mm, perhaps like the next size of the catalogue.
The network's radius is therefore scaled to the hill's height, and the plausible sizes are fitted
there. Bases on a hill are often of other kinds than those below, so the board says little about
their sizes.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.contours.rare_events import NEGLIGIBLE_PROBABILITY, RARE_WITHIN_SIGMAS
from overruler.vision.rounds.size_likelihood import (
    MIN_FIT_PROBABILITY,
    add_fit_likelihoods,
    fit_sizes,
    radius_log_likelihood,
)
from overruler.vision.rounds.size_mixture import SIZE_PSEUDOCOUNT, size_probabilities
from overruler.vision.rounds.uncertainty import add_misfit_covariance, other_likely_bases
from overruler.vision.terrain.standing_on import REFIT_START_SIGMA_MM, area_under

BOARD_PSEUDOCOUNT = 1.0
"""Total prior count that all bases on the board add to the sizes on hills. Tried on 67 bases on hills of
rendered tables; on 10 of them the hill's sizes are not the board's. None has a wrong size at 1, one has
at 2 to 8, and five have where each base counts in full."""


def reassess_sizes(
    frame: Frame,
    camera: Camera,
    detections: Sequence[Detection],
    areas: Sequence[RaisedArea],
    radii: Array,
) -> tuple[Detection, ...]:
    """Return the detections in order, with new sizes out of `radii` (C,) for bases on an area.

    The detections are as found on the board. Bases on hills are weighed together, and any sizes may
    occur together there: they share the error of the hill's height.
    """
    under = [_area_of_base(camera, detection, areas) for detection in detections]
    if not any(under):
        return tuple(detections)
    rounds = [k for k, piece in enumerate(detections) if piece.learned_radius_mm is not None]
    heights = np.array([area.top_z_mm if area else 0.0 for area in under])[rounds]
    likelihood = _likelihoods_at_height(camera, [detections[k] for k in rounds], heights, radii)
    raised = np.flatnonzero([under[k] is not None for k in rounds])
    prior_counts = _prior_counts(np.delete(likelihood, raised, 0))
    probabilities = size_probabilities(likelihood[raised], prior_counts=prior_counts)
    plausible = probabilities > MIN_FIT_PROBABILITY
    standing = [detections[rounds[n]] for n in raised]
    at_height = heights[raised], likelihood[raised]
    fitted = _add_fits(frame, camera, standing, *at_height, plausible, radii)
    shares = size_probabilities(fitted, prior_counts=prior_counts).sum(-1)
    result = list(detections)
    for n, share in zip(raised, shares, strict=True):
        result[rounds[n]] = _with_size(camera, result[rounds[n]], share, radii)
    return tuple(result)


def _area_of_base(
    camera: Camera, detection: Detection, areas: Sequence[RaisedArea]
) -> RaisedArea | None:
    """Return the area under a round base found on the board, if any."""
    if detection.learned_radius_mm is None or detection.z_mm:
        return None
    return area_under(camera, detection, areas)


def _likelihoods_at_height(
    camera: Camera, rounds: Sequence[Detection], heights: Array, radii: Array
) -> Array:
    """Return the log-likelihoods (N, C, 2) by the network's radii, scaled to the heights (N,).

    The networks for tables in play, which are not pulled, read those that have a probability in play.
    """
    eye = camera.center_mm[2]
    learned = np.array([detection.learned_radius_mm for detection in rounds]).T
    radius, sigma = learned * (eye - heights) / eye
    level = eye - heights - np.array([detection.z_mm for detection in rounds])
    pulled, free = (
        radius_log_likelihood(radius, sigma, radii, level, is_pulled) for is_pulled in (True, False)
    )
    in_play = np.array([detection.in_play_probability is not None for detection in rounds])
    return np.where(in_play[:, None, None], free, pulled)


def _prior_counts(below: Array) -> Array:
    """Return the prior count of each size (C,) on hills, by the likelihoods (N, C, 2) below."""
    shares = size_probabilities(below).sum((0, 2))
    weight = min(1.0, BOARD_PSEUDOCOUNT / max(len(below), 1))
    return np.asarray(SIZE_PSEUDOCOUNT + shares * weight)


def _add_fits(
    frame: Frame,
    camera: Camera,
    standing: Sequence[Detection],
    z_mm: Array,
    net: Array,
    plausible: NDArray[np.bool_],
    radii: Array,
) -> Array:
    """Add fits at heights (N,) to the network's log-likelihoods (N, C, 2), where any succeeds."""
    seen_mm = np.stack([detection.xy_mm for detection in standing])
    places = reproject_to_height(camera, seen_mm, 0.0, z_mm[:, None])
    sigma = np.array(REFIT_START_SIGMA_MM)
    fits = fit_sizes(frame, camera, places[:, None], sigma, plausible, radii, z_mm)
    has_fit = [[[bool(tried)]] for tried in fits]
    return np.where(has_fit, add_fit_likelihoods(net, fits), net)


def _with_size(camera: Camera, detection: Detection, share: Array, radii: Array) -> Detection:
    """Return a base of the likeliest size; others widen its covariance by their `share` (C,)."""
    best = int(share.argmax())
    chance = np.where(share > NEGLIGIBLE_PROBABILITY, share, 0.0)
    rare_chance = np.where(chance > 0, np.maximum(chance, RARE_WITHIN_SIGMAS**-2), 0.0)
    edge2 = (radii - radii[best]) ** 2
    usual = float(chance @ edge2) * np.eye(2)
    rare = float(rare_chance @ edge2) * np.eye(2)
    resized = replace(
        detection,
        base=Base.circle(float(2 * radii[best])),
        alternative_bases=other_likely_bases(share, best, radii),
        covariance_mm2=detection.covariance_mm2 - detection.unmodelled_mm2,
        unmodelled_mm2=np.zeros((2, 2)),
        rare_excess_mm2=np.zeros((2, 2)),
    )
    return add_misfit_covariance(camera, resized.with_added_covariance(usual, rare))
