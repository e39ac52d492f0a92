"""What only the look from above sees on a table of hexagons.

The rim networks learnt round rims. They score what plainly has six sides anything from 0 to 1, while the
whole-table network knows it for a base. So on a table where hexagons were found, its circles that nothing
was found in are fitted too, and their sides say whether they are bases.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import fit_bases
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.contours.rim_fit import BaseHypothesis
from overruler.vision.hexagons.widths import may_be_hexagon
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.rounds.scoring import MAX_OVERVIEW_PROBABILITY

LEAST_PROBABILITY = 0.1
"""Least probability of a circle that is fitted."""
PLACE_SIGMA_MM = 1.5
"""1 σ of a circle's centre."""
FREE_SHARE = 0.75
"""Least distance of a circle's centre from what stands there, by the sum of their radii."""
MOST_NATS = 6.0
"""Most that its sides say, either way."""
LOGIT_WEIGHTS = np.array(list(load_coefficients("hexagon_score_from_above").values()))
"""Weights of a hexagon's log odds: constant, overview log odds, and the log odds of its sides."""


def stand_ins_seen_from_above(
    pixels: NDArray[np.uint8],
    camera: Camera,
    from_above: Array,
    standing: Sequence[Detection],
    widths_mm: Sequence[float],
) -> list[Detection]:
    """Return a round base for each circle `from_above` (K, 4) of a hexagon's size where nothing is `standing`.

    The circles have x, y and radius in mm, and the probability of a base, which becomes the score.
    """
    sought, scores = [], []
    places = [(one.xy_mm, one.base.length_mm / 2) for one in standing]
    for *xy, radius, probability in sorted(from_above.tolist(), key=lambda row: -row[3]):
        xy_mm, seen = np.array(xy), Base.circle(2 * radius)
        is_free = all(np.hypot(*(xy_mm - at)) > FREE_SHARE * (radius + r) for at, r in places)
        if probability < LEAST_PROBABILITY or not is_free or not may_be_hexagon(seen, widths_mm):
            continue
        places.append((xy_mm, radius))
        rounds = [Base.hexagon(width).as_round.width_mm / 2 for width in widths_mm]
        nearest = min(rounds, key=lambda r: abs(r - radius))
        sought.append(BaseHypothesis(xy_mm, PLACE_SIGMA_MM, nearest, 0.0))
        scores.append(min(probability, MAX_OVERVIEW_PROBABILITY))
    fits = fit_bases(pixels, camera, sought)
    return [
        reproject_outline(
            camera,
            Detection(
                base=Base.circle(2 * one.radius_mm),
                xy_mm=fit.xy_mm,
                z_mm=0.0,
                heading_deg=0.0,
                covariance_mm2=fit.covariance_mm2,
                d_xy_d_camera=fit.d_xy_d_camera,
                score=score,
                visible=float(np.mean(fit.seen > MIN_RIM_WEIGHT)),
            ),
        )
        for one, score, fit in zip(sought, scores, fits, strict=True)
        if fit is not None
    ]


def score_features(probability: float, sides_logit: float) -> list[float]:
    """Return what a hexagon's score is weighed from (3): the overview's probability, and its sides' log odds."""
    return [
        1.0,
        float(probability_to_logit(probability, MAX_LOGIT)),
        float(np.clip(sides_logit, -MOST_NATS, MOST_NATS)),
    ]


def score_by_sides(probability: float, sides_logit: float) -> float:
    """Return the probability that what the overview saw is a hexagon, by the log odds of its sides."""
    return float(sigmoid(np.dot(score_features(probability, sides_logit), LOGIT_WEIGHTS)))
