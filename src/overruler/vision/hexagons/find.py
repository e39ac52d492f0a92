"""Find the hexagons among the bases that were found as round ones, and fit them.

Where the rims of a table say that some have six sides, each of those is fitted anew as a hexagon. The
bases of one table come in few sizes, so all of them together tell the sizes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import HEXAGON_WIDTHS_MM, Base
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import make_detection
from overruler.vision.contours.rare_events import MIN_RIM_WEIGHT
from overruler.vision.hexagons.judged import Judged, Rims, judge_all
from overruler.vision.hexagons.on_table import (
    FIRST_LOOKS,
    NAMED_SHARE,
    TABLE_SHARE,
)
from overruler.vision.hexagons.widths import (
    fit_widths,
    hexagon_like,
    nats_by_radius,
    rim_doubt_mm2,
)
from overruler.vision.rounds.oval_edge_fit import WHOLE_OUTLINE_NATS, OvalFit, PosePrior
from overruler.vision.rounds.size_mixture import size_probabilities
from overruler.vision.rounds.uncertainty import MIN_REPORTED_PROBABILITY, add_misfit_covariance

PLACE_SIGMA_MM, HEADING_SIGMA = 1.0, 0.15
"""1 σ of where a fit starts, in mm and in rad."""


def with_hexagons(
    rims: Rims, detections: Sequence[Detection], stand_ins: Sequence[Detection] = ()
) -> tuple[Detection, ...]:
    """Return the detections with hexagons of the catalogue for the round bases that are likelier ones.

    The `stand_ins` are none but hexagons.
    """
    together = [*detections, *stand_ins]
    judged = judge_all(rims, together, HEXAGON_WIDTHS_MM, TABLE_SHARE, FIRST_LOOKS)
    found = _with_judged(rims, together, judged, HEXAGON_WIDTHS_MM, are_named=False)
    return _without_rest(found, len(detections))


def with_named_hexagons(
    rims: Rims,
    detections: Sequence[Detection],
    named: Sequence[Base],
    stand_ins: Sequence[Detection] = (),
) -> tuple[Detection, ...]:
    """Return the detections with hexagons for the round bases that stand for the `named` ones.

    The `stand_ins` are none but hexagons.

    Those that were found with the mean diameter of a named hexagon are hexagons, however few pixels
    show them; others are where they are likelier so.
    """
    widths = [base.width_mm for base in named]
    together = [*detections, *stand_ins]
    judged = judge_all(rims, together, widths, NAMED_SHARE, len(together))
    as_rounds = {base.as_round: base for base in named}
    for k, one in enumerate(detections):
        if one.base in as_rounds:
            evidence = rims.look(one)
            if evidence is not None:
                judged[k] = Judged(one, evidence, 1.0)
    found = _with_judged(rims, together, judged, widths, are_named=True)
    told = _without_rest(found, len(detections))
    return tuple(_as_named(one, as_rounds) for one in told)


def _without_rest(found: Sequence[Detection], count: int) -> tuple[Detection, ...]:
    """Return the first so many that were found, and those hexagons that follow."""
    return (*found[:count], *(one for one in found[count:] if one.base.shape == "hexagon"))


def _as_named(one: Detection, stand_ins: Mapping[Base, Base]) -> Detection:
    """Return a detection that has hexagons for the round bases that stand for them, fitted or not."""
    base = stand_ins.get(one.base, one.base)
    also = dict.fromkeys(stand_ins.get(other, other) for other in one.alternative_bases)
    also.pop(base, None)
    modulo = base.heading_modulo_deg if base is not one.base else one.heading_modulo_deg
    return replace(one, base=base, alternative_bases=tuple(also), heading_modulo_deg=modulo)


def _with_judged(
    rims: Rims,
    detections: Sequence[Detection],
    judged: Mapping[int, Judged],
    widths_mm: Sequence[float],
    are_named: bool,
) -> tuple[Detection, ...]:
    """Return the detections with hexagons for those that were `judged` likelier ones, by their index.

    Where hexagons are found or `are_named`, a round base that may be one has it beside it.
    """
    likely = {k: one for k, one in judged.items() if one.probability > 0.5}
    fits = {k: _fit(rims, one, widths_mm) for k, one in likely.items()}
    fitted = [k for k in likely if fits[k]]
    nats = [_log_likelihoods(judged[k], fits[k], widths_mm) for k in fitted]
    likelihoods = np.array(nats).reshape(-1, len(widths_mm), 1)
    shares = size_probabilities(likelihoods)[:, :, 0]
    there = widths_mm if are_named else {widths_mm[size] for size in shares.argmax(1)}
    changed = [_or_hexagon(one, judged.get(k), there) for k, one in enumerate(detections)]
    for k, share in zip(fitted, shares, strict=True):
        changed[k] = _make_detection(rims.camera, judged[k], fits[k], share)
    return tuple(changed)


def _or_hexagon(one: Detection, judged: Judged | None, widths_mm: Iterable[float]) -> Detection:
    """Return a round base with the hexagon of the `widths_mm` beside it that it may be, if any."""
    is_plainly_round = judged is not None and judged.probability < MIN_REPORTED_PROBABILITY
    if one.base.shape != "circle" or is_plainly_round:
        return one
    hexagon = hexagon_like(one.base, widths_mm)
    if hexagon is None:
        return one
    return replace(one, alternative_bases=(*one.alternative_bases, hexagon))


def _fit(rims: Rims, one: Judged, widths_mm: Sequence[float]) -> dict[int, OvalFit]:
    """Fit a hexagon of each of the widths (C,) that it may have; by the width's index."""
    pose = np.array([*one.found.xy_mm, one.evidence.heading_rad])
    start = PosePrior(pose, np.array([PLACE_SIGMA_MM, PLACE_SIGMA_MM, HEADING_SIGMA]))
    return fit_widths(rims.pixels, rims.camera, start, one.found.z_mm, one.seen_width_mm, widths_mm)


def _log_likelihoods(one: Judged, fits: Mapping[int, OvalFit], widths_mm: Sequence[float]) -> Array:
    """Return the log likelihoods (C,) of its widths: by what the fits see, and by the round base's radius."""
    nats = np.full(len(widths_mm), -np.inf)
    for size, fit in fits.items():
        nats[size] = WHOLE_OUTLINE_NATS * fit.merit
    if one.found.learned_radius_mm is not None:
        nats += nats_by_radius(*one.found.learned_radius_mm, widths_mm)
    return nats


def _make_detection(
    camera: Camera, one: Judged, fits: Mapping[int, OvalFit], share: Array
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


def _doubt_mm2(one: Judged, fit: OvalFit, fits: Mapping[int, OvalFit], share: Array) -> Array:
    """Return the covariance (2, 2) for what the fit does not show.

    The base may have another width or be round, so its rim lies elsewhere. And where the hexagon and
    the round base lie apart, one of the two fits went astray.
    """
    widths_mm = {size: other.base.width_mm for size, other in fits.items()}
    edge_mm2 = rim_doubt_mm2(one.probability, fit.base, widths_mm, share)
    apart_mm = fit.xy_mm - one.found.xy_mm
    return np.asarray(np.eye(2) * edge_mm2 + np.outer(apart_mm, apart_mm))
