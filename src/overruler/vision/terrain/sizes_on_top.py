"""Round bases on raised ground: which sizes they have, now that it is known how high they stand.

Sizes are weighed across the table as if all stood on the board (`rounds`). There a base of 25 mm on a hill looks like
one of 26: too large for what it is, and perhaps as large as the next of the catalogue. So both looks are taken anew at
the hill's height: the learned one is brought there, and the sizes that it leaves open are fitted there. Who stands up
there is often none of the many below: what the board holds says little of it.
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
from overruler.vision.rounds.fit_rounds import (
    add_misfit_covariance,
    other_likely_bases,
)
from overruler.vision.rounds.size_likelihood import (
    MIN_FIT_PROBABILITY,
    add_fit_likelihoods,
    fit_sizes,
    radius_log_likelihood,
)
from overruler.vision.rounds.size_mixture import SIZE_PSEUDOCOUNT, size_probabilities
from overruler.vision.terrain.standing_on import REFIT_START_SIGMA_MM, area_under

BOARD_PSEUDOCOUNT = 1.0
"""All bases on the board count together as so many on the hills. Of 67 bases on hills of rendered tables, 10 of them of
another renderer that puts strangers there, none has a wrong size at 1, one at 2 to 8, five where each counts whole."""


def reassess_sizes(
    frame: Frame,
    camera: Camera,
    detections: Sequence[Detection],
    areas: Sequence[RaisedArea],
    radii: Array,
) -> tuple[Detection, ...]:
    """The detections in their order, those on one of the areas of the sizes, out of `radii` (C,), that they look there.

    They come as found on the board. Those on hills are weighed together, and any sizes may meet there: how high a hill
    is has a doubt that all on it share, and no single look should be overruled for it.
    """
    under = [
        area_under(camera, one, areas) if one.learned_radius_mm and not one.z_mm else None
        for one in detections
    ]
    if not any(under):
        return tuple(detections)
    looked = [k for k, one in enumerate(detections) if one.learned_radius_mm is not None]
    eye, heights = (
        camera.center_mm[2],
        np.array([area.top_z_mm if area else 0.0 for area in under])[looked],
    )
    radius, sigma = (
        np.array([detections[k].learned_radius_mm for k in looked]).T * (eye - heights) / eye
    )
    level = eye - heights - np.array([detections[k].z_mm for k in looked])
    likelihood = radius_log_likelihood(radius, sigma, radii, level)
    above = np.flatnonzero([under[k] is not None for k in looked])
    standing = [detections[looked[n]] for n in above]
    counted = _prior_counts(np.delete(likelihood, above, 0))
    worth = size_probabilities(likelihood[above], counted=counted) > MIN_FIT_PROBABILITY
    both = _likelihoods_with_fits(
        frame, camera, standing, heights[above], likelihood[above], worth, radii
    )
    known = list(detections)
    for k, share in zip(above, size_probabilities(both, counted=counted).sum(-1), strict=True):
        known[looked[k]] = _with_size(known[looked[k]], share, radii)
    return tuple(known)


def _prior_counts(below: Array) -> Array:
    """How many bases of each size (C,) are thought to stand on hills, by the likelihoods (N, C, 2) of those below."""
    shares = size_probabilities(below).sum((0, 2))
    return np.asarray(SIZE_PSEUDOCOUNT + shares * min(1.0, BOARD_PSEUDOCOUNT / max(len(below), 1)))


def _likelihoods_with_fits(
    frame: Frame,
    camera: Camera,
    standing: Sequence[Detection],
    z_mm: Array,
    looks: Array,
    worth: NDArray[np.bool_],
    radii: Array,
) -> Array:
    """The log-likelihoods (N, C, 2) of bases at these heights (N,) by look and fit; by the look where none succeeds."""
    places = reproject_to_height(
        camera, np.stack([one.xy_mm for one in standing]), 0.0, z_mm[:, None]
    )
    fits = fit_sizes(
        frame, camera, places[:, None], np.array(REFIT_START_SIGMA_MM), worth, radii, z_mm
    )
    return np.where([[[bool(tried)]] for tried in fits], add_fit_likelihoods(looks, fits), looks)


def _with_size(one: Detection, share: Array, radii: Array) -> Detection:
    """A base of the likeliest size, `share` (C,) saying how likely each is; others are in its doubt."""
    best = int(share.argmax())
    chance, edge2 = np.where(share > NEGLIGIBLE_PROBABILITY, share, 0.0), (radii - radii[best]) ** 2
    rarely = np.where(chance > 0, np.maximum(chance, RARE_WITHIN_SIGMAS**-2), 0.0)
    usual, rare = (float(likely @ edge2) * np.eye(2) for likely in (chance, rarely))
    known = replace(
        one,
        base=Base.circle(float(2 * radii[best])),
        alternative_bases=other_likely_bases(share, best, radii),
        covariance_mm2=one.covariance_mm2 - one.unmodelled_mm2,
        unmodelled_mm2=np.zeros((2, 2)),
        rare_excess_mm2=np.zeros((2, 2)),
    )
    return add_misfit_covariance(known.with_added_covariance(usual, rare))
