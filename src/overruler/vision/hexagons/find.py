"""Find the hexagons among the bases that were found as round ones, and fit them.

Where the rims of a table say that some have six sides, each of those is fitted anew as a hexagon. The
bases of one table come in few sizes, so all of them together tell the sizes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.bases import HEXAGON_MEAN_RATIO, HEXAGON_WIDTHS_MM, Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import make_detection
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.hexagons.on_table import (
    FIRST_LOOKS,
    NAMED_SHARE,
    TABLE_SHARE,
    hexagon_logit,
    hexagon_share,
    judge_rims,
)
from overruler.vision.hexagons.rim_evidence import RimEvidence, see_rim
from overruler.vision.hexagons.seen_from_above import score_by_sides, stand_ins_seen_from_above
from overruler.vision.hexagons.widths import (
    fit_widths,
    hexagon_like,
    may_be_hexagon,
    nats_by_radius,
    rim_doubt_mm2,
)
from overruler.vision.rounds.oval_edge_fit import WHOLE_OUTLINE_NATS, OvalFit, PosePrior
from overruler.vision.rounds.scoring import MIN_SCORE
from overruler.vision.rounds.size_mixture import size_probabilities
from overruler.vision.rounds.uncertainty import MIN_REPORTED_PROBABILITY, add_misfit_covariance

LEAST_RADIUS_PX = 15.0
"""Radius in the photo from which a rim's sides can be told.

On 12 photos of rendered tables the log odds put a hexagon before a round base in 71 % of pairs below 12
px, in 91 % from 12 to 18 px, and in 99 % above."""
MANY_HEXAGONS = 3
"""From so many hexagons on, six sides tell a base."""
PLACE_SIGMA_MM, HEADING_SIGMA = 1.0, 0.15
"""1 σ of where a fit starts, in mm and in rad."""


def no_circles() -> Array:
    """Return no circle (0, 4)."""
    return np.empty((0, 4))


class _Judged(NamedTuple):
    """What is known of a rim."""

    found: Detection
    """The round base that it was found as."""
    evidence: RimEvidence
    """What the photo says about its sides."""
    probability: float
    """That it is a hexagon."""

    @property
    def seen_width_mm(self) -> float:
        """Its width from side to side, by the edges."""
        return self.found.base.width_mm * self.evidence.share / HEXAGON_MEAN_RATIO


def with_hexagons(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    from_above: Callable[[], Array] = no_circles,
) -> tuple[Detection, ...]:
    """Return the detections with hexagons of the catalogue for the round bases that are likelier ones.

    On a table of hexagons those are added that only the look from above saw. `from_above` gives its
    circles (K, 4): x, y and radius in mm, and the probability of a base.
    """
    judged = _judge(pixels, camera, detections, HEXAGON_WIDTHS_MM, TABLE_SHARE, FIRST_LOOKS)
    further = _judge_from_above(
        pixels, camera, detections, from_above, judged.values(), HEXAGON_WIDTHS_MM
    )
    together = [*detections, *(one.found for one in further)]
    judged |= dict(enumerate(further, len(detections)))
    return _with_judged(pixels, camera, together, judged, HEXAGON_WIDTHS_MM, are_named=False)


def with_named_hexagons(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    named: Sequence[Base],
    from_above: Callable[[], Array] = no_circles,
) -> tuple[Detection, ...]:
    """Return the detections with hexagons for the round bases that stand for the `named` ones.

    Those are added that only the look from above saw, as in `with_hexagons`.

    Those that were found with the mean diameter of a named hexagon are hexagons, however few pixels
    show them; others are where they are likelier so.
    """
    widths = [base.width_mm for base in named]
    judged = _judge(pixels, camera, detections, widths, NAMED_SHARE, len(detections))
    stand_ins = {base.as_round: base for base in named}
    for k, one in enumerate(detections):
        if one.base in stand_ins:
            evidence = see_rim(pixels, camera, one)
            if evidence is not None:
                judged[k] = _Judged(one, evidence, 1.0)
    further = _judge_from_above(pixels, camera, detections, from_above, judged.values(), widths)
    together = [*detections, *(one.found for one in further)]
    judged |= dict(enumerate(further, len(detections)))
    found = _with_judged(pixels, camera, together, judged, widths, are_named=True)
    return tuple(_as_named(one, stand_ins) for one in found)


def _as_named(one: Detection, stand_ins: Mapping[Base, Base]) -> Detection:
    """Return a detection that has hexagons for the round bases that stand for them, fitted or not."""
    base = stand_ins.get(one.base, one.base)
    also = dict.fromkeys(stand_ins.get(other, other) for other in one.alternative_bases)
    also.pop(base, None)
    modulo = base.heading_modulo_deg if base is not one.base else one.heading_modulo_deg
    return replace(one, base=base, alternative_bases=tuple(also), heading_modulo_deg=modulo)


def _judge(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    widths_mm: Sequence[float],
    table_share: float,
    first_looks: int,
) -> dict[int, _Judged]:
    """Judge the rims of those detections that may be hexagons, by their index; few of a hopeless table."""
    asked = [
        k
        for k, one in enumerate(detections)
        if may_be_hexagon(one.base, widths_mm) and _shows_sides(camera, one)
    ]
    asked.sort(key=lambda k: detections[k].base.width_mm)
    seen: dict[int, RimEvidence] = {}

    def look(k: int) -> float | None:
        evidence = see_rim(pixels, camera, detections[k])
        if evidence is None:
            return None
        seen[k] = evidence
        return hexagon_logit(evidence)

    judged = judge_rims(asked, look, table_share, first_looks)
    return {k: _Judged(detections[k], seen[k], probability) for k, probability in judged.items()}


def _judge_from_above(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    from_above: Callable[[], Array],
    judged: Iterable[_Judged],
    widths_mm: Sequence[float],
) -> list[_Judged]:
    """Return the bases that only the look from above saw and six sides tell, if others were `judged` hexagons."""
    probabilities = np.array([one.probability for one in judged])
    if (probabilities > 0.5).sum() < MANY_HEXAGONS:
        return []
    share = float((probabilities.sum() + 1) / (len(probabilities) + 2))
    told = []
    for one in stand_ins_seen_from_above(pixels, camera, from_above(), detections, widths_mm):
        evidence = see_rim(pixels, camera, one) if _shows_sides(camera, one) else None
        if evidence is None:
            continue
        logit = hexagon_logit(evidence)
        score = score_by_sides(one.score, logit)
        if score >= MIN_SCORE and logit > 0:  # the other networks know round bases better
            found = replace(one, score=score)
            told.append(_Judged(found, evidence, hexagon_share(logit, share)))
    return told


def _with_judged(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    judged: Mapping[int, _Judged],
    widths_mm: Sequence[float],
    are_named: bool,
) -> tuple[Detection, ...]:
    """Return the detections with hexagons for those that were `judged` likelier ones, by their index.

    Where hexagons are found or `are_named`, a round base that may be one has it beside it.
    """
    likely = {k: one for k, one in judged.items() if one.probability > 0.5}
    fits = {k: _fit(pixels, camera, one, widths_mm) for k, one in likely.items()}
    fitted = [k for k in likely if fits[k]]
    nats = [_log_likelihoods(judged[k], fits[k], widths_mm) for k in fitted]
    likelihoods = np.array(nats).reshape(-1, len(widths_mm), 1)
    shares = size_probabilities(likelihoods)[:, :, 0]
    there = widths_mm if are_named else {widths_mm[size] for size in shares.argmax(1)}
    changed = [_or_hexagon(one, judged.get(k), there) for k, one in enumerate(detections)]
    for k, share in zip(fitted, shares, strict=True):
        changed[k] = _make_detection(camera, judged[k], fits[k], share)
    return tuple(changed)


def _or_hexagon(one: Detection, judged: _Judged | None, widths_mm: Iterable[float]) -> Detection:
    """Return a round base with the hexagon of the `widths_mm` beside it that it may be, if any."""
    is_plainly_round = judged is not None and judged.probability < MIN_REPORTED_PROBABILITY
    if one.base.shape != "circle" or is_plainly_round:
        return one
    hexagon = hexagon_like(one.base, widths_mm)
    if hexagon is None:
        return one
    return replace(one, alternative_bases=(*one.alternative_bases, hexagon))


def _shows_sides(camera: Camera, one: Detection) -> bool:
    """Tell whether the photo shows a round base so large that its sides could be told."""
    mm_per_px = float(camera.mm_per_px(np.array([*one.xy_mm, one.z_mm])))
    return one.base.width_mm / 2 >= LEAST_RADIUS_PX * mm_per_px


def _fit(
    pixels: NDArray[np.uint8], camera: Camera, one: _Judged, widths_mm: Sequence[float]
) -> dict[int, OvalFit]:
    """Fit a hexagon of each of the widths (C,) that it may have; by the width's index."""
    pose = np.array([*one.found.xy_mm, one.evidence.heading_rad])
    start = PosePrior(pose, np.array([PLACE_SIGMA_MM, PLACE_SIGMA_MM, HEADING_SIGMA]))
    return fit_widths(pixels, camera, start, one.found.z_mm, one.seen_width_mm, widths_mm)


def _log_likelihoods(
    one: _Judged, fits: Mapping[int, OvalFit], widths_mm: Sequence[float]
) -> Array:
    """Return the log likelihoods (C,) of its widths: by what the fits see, and by the round base's radius."""
    nats = np.full(len(widths_mm), -np.inf)
    for size, fit in fits.items():
        nats[size] = WHOLE_OUTLINE_NATS * fit.merit
    if one.found.learned_radius_mm is not None:
        nats += nats_by_radius(*one.found.learned_radius_mm, widths_mm)
    return nats


def _make_detection(
    camera: Camera, one: _Judged, fits: Mapping[int, OvalFit], share: Array
) -> Detection:
    """Make the detection of a hexagon; `share` (C,) are the probabilities of its widths."""
    fit = fits[int(share.argmax())]
    reported = [fits[size] for size in fits if share[size] > MIN_REPORTED_PROBABILITY]
    also = [other.base for other in reported if other is not fit]
    if one.probability < 1 - MIN_REPORTED_PROBABILITY:
        also.append(one.found.base)
    seen = float(np.mean(fit.seen > MIN_RIM_WEIGHT))
    made = make_detection(
        camera, fit, fit.covariance_mm2, fit.d_xy_d_camera, one.found.score, seen, tuple(also)
    )
    doubt_mm2 = _doubt_mm2(one, fit, fits, share)
    doubted = made.with_added_covariance(doubt_mm2, doubt_mm2)
    told = add_misfit_covariance(camera, doubted)
    return replace(told, clutter_score=one.found.clutter_score)


def _doubt_mm2(one: _Judged, fit: OvalFit, fits: Mapping[int, OvalFit], share: Array) -> Array:
    """Return the covariance (2, 2) for what the fit does not show.

    The base may have another width or be round, so its rim lies elsewhere. And where the hexagon and
    the round base lie apart, one of the two fits went astray.
    """
    widths_mm = {size: other.base.width_mm for size, other in fits.items()}
    edge_mm2 = rim_doubt_mm2(one.probability, fit.base, widths_mm, share)
    apart_mm = fit.xy_mm - one.found.xy_mm
    return np.asarray(np.eye(2) * edge_mm2 + np.outer(apart_mm, apart_mm))
