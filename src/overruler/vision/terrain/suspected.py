"""Raised ground that only the bases on it tell: neighbours that look too large for their size.

The network's map misses a roof now and then. Bases on it seem to stand centimetres off on the board
then, and surely so. But they are nearer to the camera, so they look larger: on a roof of 84 mm, seen
from 1.9 m, 35 mm look like 36.6. The rim network reads a radius to some tenths of a millimetre, and
neighbours share their ground.
"""

from collections.abc import Sequence
from itertools import count

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from shapely import MultiPoint, Polygon

from overruler.calibration import Calibration
from overruler.detections import Detection, RaisedArea
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.refinement.base_scale import MIN_VISIBLE_SHARE
from overruler.vision.rounds.size_likelihood import RADIUS_FLOOR_SIGMA_MM, RADIUS_SIGMA_INFLATION
from overruler.vision.terrain.log_heights import mean_and_sigma
from overruler.vision.terrain.standing_on import probability_on

LEAST_BASES = 4
"""Fewer round bases on the board do not tell how large bases look there."""
TOO_LARGE_SIGMAS = 2.0
"""A base whose radius is read so much too large, in σ, may stand on something."""
NEIGHBOUR_MM = 150.0
"""Distance of neighbours that may stand on the same ground."""
MARGIN_MM = 30.0
"""How far such ground reaches beyond the centres of its bases."""
EDGE_SIGMA_MM = 15.0
"""1 σ of the place of its outline, which nobody sees."""
PRIOR_PROBABILITY = 0.005
"""Probability that neighbours stand on ground which the map misses."""
HEIGHT_MM = 55.0
"""Usual height of such ground: roofs are missed more often than hills."""
HEIGHT_SIGMA_MM = 30.0
"""1 σ of that."""
HEIGHTS_MM = np.arange(8.0, 150.0, 2.0)
"""Heights that are tried."""
COMMON_SIGMA_MM = 0.1
"""1 σ of the radius by what misleads the network about all bases on one ground."""
MOST_NATS = 4.0
"""Most that one base's radius says for raised ground: its rim may be another thing's."""
LEAST_PROBABILITY = 0.02
"""Less likely ground is left out."""


def suspect_ground(
    calibration: Calibration, found: Sequence[Detection], areas: Sequence[RaisedArea]
) -> tuple[RaisedArea, ...]:
    """Return raised ground under neighbours on the board that look too large for their sizes.

    No base of one of the `areas` is among them. The ground is named h1, h2 and so on.
    """
    beside = [one for one in found if _tells_height(one) and not _is_on(calibration, one, areas)]
    if len(beside) < LEAST_BASES:
        return ()
    excess, sigma = _excess_mm(beside)
    large = np.flatnonzero(excess > TOO_LARGE_SIGMAS * sigma)
    places = np.array([beside[k].xy_mm for k in large]).reshape(-1, 2)
    groups, labels = connected_components(cdist(places, places) < NEIGHBOUR_MM, directed=False)
    used = {area.id for area in areas}
    names = (name for number in count(1) if (name := f"h{number}") not in used)
    suspects = []
    for group in range(groups):
        of_group = large[labels == group]
        radii = np.array([beside[k].base.width_mm / 2 for k in of_group])
        eye_mm = float(calibration.camera.center_mm[2])
        chance, height, height_sigma = _weigh_heights(
            excess[of_group], sigma[of_group], radii, eye_mm
        )
        if chance > LEAST_PROBABILITY:
            outline = _outline_mm(calibration, places[labels == group], height)
            suspects.append(
                RaisedArea(
                    next(names), outline, height, height_sigma, chance, edge_mm=EDGE_SIGMA_MM
                )
            )
    return tuple(suspects)


def _tells_height(one: Detection) -> bool:
    is_round = one.base.shape == "circle" and one.learned_radius_mm is not None
    return is_round and one.z_mm == 0 and one.visible >= MIN_VISIBLE_SHARE


def _is_on(calibration: Calibration, one: Detection, areas: Sequence[RaisedArea]) -> bool:
    chances = [probability_on(calibration.camera, one, area) for area in areas]
    return max(chances, default=0.0) > 0.5


def _excess_mm(rounds: Sequence[Detection]) -> tuple[Array, Array]:
    """By how much (N,) the network reads each radius as too large, beside the others, and 1 σ."""
    read = np.array([one.learned_radius_mm for one in rounds], float)
    excess = read[:, 0] - [one.base.width_mm / 2 for one in rounds]
    sigma = np.hypot(RADIUS_SIGMA_INFLATION * read[:, 1], RADIUS_FLOOR_SIGMA_MM)
    return excess - np.median(excess), sigma


def _weigh_heights(
    excess_mm: Array, sigma_mm: Array, radii_mm: Array, eye_mm: float
) -> tuple[float, float, float]:
    """Return how likely N neighbours stand on raised ground, its height and 1 σ of that, in mm."""
    share = HEIGHTS_MM / (eye_mm - HEIGHTS_MM)
    expected = share[:, None] * radii_mm
    precision = np.linalg.inv(np.diag(sigma_mm**2) + COMMON_SIGMA_MM**2)
    residual = excess_mm - expected
    nats = -0.5 * np.einsum("hi,ij,hj->h", residual, precision, residual)
    flat_nats = -0.5 * excess_mm @ precision @ excess_mm
    prior = np.exp(-0.5 * ((HEIGHTS_MM - HEIGHT_MM) / HEIGHT_SIGMA_MM) ** 2)
    weight = prior / prior.sum() * np.exp(nats - nats.max())
    evidence = float(np.log(weight.sum()) + nats.max() - flat_nats)
    odds = np.exp(min(evidence, MOST_NATS * len(radii_mm))) * PRIOR_PROBABILITY
    return float(odds / (1 + odds)), *mean_and_sigma(weight / weight.sum(), HEIGHTS_MM)


def _outline_mm(calibration: Calibration, places_mm: Array, height_mm: float) -> Array:
    """The outline (K, 2) of ground at a height under bases that seem to stand at places (N, 2) on the board."""
    raised = reproject_to_height(calibration.camera, places_mm, 0.0, height_mm)
    ground = MultiPoint(raised).convex_hull.buffer(MARGIN_MM)
    return np.array(Polygon(ground).exterior.coords[:-1])
