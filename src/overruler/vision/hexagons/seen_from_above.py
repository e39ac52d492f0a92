"""What only the look from above sees on a table of hexagons.

The rim networks learnt round rims. They score what plainly has six sides anything from 0 to 1, while the
whole-table network knows it for a base. So on a table where hexagons were found, its circles that nothing
was found in are fitted too, and their sides say whether they are bases.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.cone_fit import BaseFit, fit_bases
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.contours.rim_fit import BaseHypothesis
from overruler.vision.hexagons.judged import Rims, judge_all
from overruler.vision.hexagons.on_table import FIRST_LOOKS
from overruler.vision.hexagons.wanted import WantedHexagons
from overruler.vision.hexagons.widths import may_be_hexagon
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import MAX_LOGIT, probability_to_logit, sigmoid
from overruler.vision.rounds.scoring import MAX_OVERVIEW_PROBABILITY, MIN_SCORE

MANY_HEXAGONS = 3
"""From so many hexagons on, six sides tell a base."""
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


def find_seen_from_above(
    rims: Rims,
    likely: Sequence[Detection],
    from_above: Callable[[], Array],
    wanted: WantedHexagons,
) -> list[Detection]:
    """Return what only the look from above saw on a table of hexagons, as round bases that stand for them.

    The `likely` bases are there too. `from_above` gives circles (K, 4): x, y and radius in mm, and the
    probability of a base.
    """
    widths_mm, looks = wanted.widths_mm, len(likely) if wanted.are_named else FIRST_LOOKS
    judged = judge_all(rims, likely, widths_mm, wanted.table_share, looks).values()
    if sum(one.probability > 0.5 for one in judged) < MANY_HEXAGONS:
        return []
    pixels, camera = rims.pixels, rims.camera
    stand_ins = stand_ins_seen_from_above(pixels, camera, from_above(), likely, widths_mm)
    told = (_told_by_sides(rims, one) for one in stand_ins)
    return [one for one in told if one is not None]


def without_places_of(
    doubtful: Sequence[Detection], others: Sequence[Detection]
) -> list[Detection]:
    """Return those of the doubtful detections that do not lie where one of the others does."""
    places = _places(others)
    return [one for one in doubtful if _is_free(one.xy_mm, one.base.length_mm / 2, places)]


def _told_by_sides(rims: Rims, stand_in: Detection) -> Detection | None:
    """Return a stand-in with the score that its sides give it; None where it is not likely a hexagon."""
    logit = rims.logit(stand_in) if rims.shows_sides(stand_in) else None
    if logit is None:
        return None
    score = score_by_sides(stand_in.score, logit)
    if score < MIN_SCORE or logit < 0:  # the other networks know round bases better
        return None
    return replace(stand_in, score=score)


def _places(detections: Sequence[Detection]) -> list[tuple[Array, float]]:
    return [(one.xy_mm, one.base.length_mm / 2) for one in detections]


def _is_free(xy_mm: Array, radius_mm: float, places: Sequence[tuple[Array, float]]) -> bool:
    """Tell whether a circle keeps its distance from the places (2,) with their radii."""
    return all(np.hypot(*(xy_mm - at)) > FREE_SHARE * (radius_mm + r) for at, r in places)


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
    rounds_mm = np.array([Base.hexagon(width).as_round.width_mm / 2 for width in widths_mm])
    circles = _free_circles(from_above, standing, widths_mm)
    sought = []
    for xy_mm, radius_mm, _ in circles:
        nearest = float(rounds_mm[np.abs(rounds_mm - radius_mm).argmin()])
        sought.append(BaseHypothesis(xy_mm, PLACE_SIGMA_MM, nearest, 0.0))
    fits = fit_bases(pixels, camera, sought)
    return [
        _make_detection(camera, one.radius_mm, fit, min(probability, MAX_OVERVIEW_PROBABILITY))
        for one, fit, (_, _, probability) in zip(sought, fits, circles, strict=True)
        if fit is not None
    ]


def _free_circles(
    from_above: Array, standing: Sequence[Detection], widths_mm: Sequence[float]
) -> list[tuple[Array, float, float]]:
    """Return centre (2,), radius and probability of the likely circles that nothing stands in, the surest first."""
    places, free = _places(standing), []
    for *xy, radius_mm, probability in sorted(from_above.tolist(), key=lambda row: -row[3]):
        xy_mm = np.array(xy)
        has_size = may_be_hexagon(Base.circle(2 * radius_mm), widths_mm)
        is_likely = probability >= LEAST_PROBABILITY and has_size
        if is_likely and _is_free(xy_mm, radius_mm, places):
            places.append((xy_mm, radius_mm))
            free.append((xy_mm, radius_mm, probability))
    return free


def _make_detection(camera: Camera, radius_mm: float, fit: BaseFit, score: float) -> Detection:
    """Make the detection of a round base from its fit."""
    made = Detection(
        base=Base.circle(2 * radius_mm),
        xy_mm=fit.xy_mm,
        z_mm=0.0,
        heading_deg=0.0,
        covariance_mm2=fit.covariance_mm2,
        d_xy_d_camera=fit.d_xy_d_camera,
        score=score,
        visible=float(np.mean(fit.seen > MIN_RIM_WEIGHT)),
    )
    return reproject_outline(camera, made)


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
