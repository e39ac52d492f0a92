"""Find the hexagons among the bases that were found as round ones, and fit them.

Where the rims of a table say that some have six sides, each of those is fitted anew as a hexagon. The
bases of one table come in few sizes, so all of them together tell the sizes.
"""

from collections.abc import Iterable, Mapping, Sequence
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
    TABLE_SHARE,
    hexagon_logits,
    hexagon_probabilities,
)
from overruler.vision.hexagons.rim_evidence import RimEvidence, see_rim
from overruler.vision.rounds.oval_edge_fit import (
    WHOLE_OUTLINE_NATS,
    OvalFit,
    PosePrior,
    fit_oval,
)
from overruler.vision.rounds.size_mixture import size_probabilities
from overruler.vision.rounds.uncertainty import MIN_REPORTED_PROBABILITY

LEAST_RADIUS_PX = 15.0
"""Radius in the photo from which a rim's sides can be told.

On 12 photos of rendered tables the log odds put a hexagon before a round base in 71 % of pairs below 12
px, in 91 % from 12 to 18 px, and in 99 % above."""
FIRST_LOOKS, LEAST_HOPE = 10, 0.002
"""So many rims, of all sizes, are looked at first; the rest are where one of them is a hexagon with this
probability."""
NAMED_SHARE = 0.9
"""Share of tables with hexagons where somebody names some: a judgement."""
WIDTH_REACH = 0.12
"""Widths that differ by a larger share from what was seen are not fitted."""
LEAST_WIDTH_SIGMA_MM = 0.6
"""Least 1 σ of a width by the network that traced the rim: it knows no hexagons."""
PLACE_SIGMA_MM, HEADING_SIGMA = 1.0, 0.15
"""1 σ of where a fit starts, in mm and in rad."""


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
    pixels: NDArray[np.uint8], camera: Camera, detections: Sequence[Detection]
) -> tuple[Detection, ...]:
    """Return the detections with hexagons of the catalogue for the round bases that are likelier ones."""
    judged = _judge(pixels, camera, detections, HEXAGON_WIDTHS_MM, TABLE_SHARE, FIRST_LOOKS)
    return _with_judged(pixels, camera, detections, judged, HEXAGON_WIDTHS_MM, are_named=False)


def with_named_hexagons(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    named: Sequence[Base],
) -> tuple[Detection, ...]:
    """Return the detections with hexagons for the round bases that stand for the `named` ones.

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
    found = _with_judged(pixels, camera, detections, judged, widths, are_named=True)
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
    asked = [k for k, one in enumerate(detections) if _may_be_hexagon(camera, one, widths_mm)]
    asked.sort(key=lambda k: detections[k].base.width_mm)
    every = max(1, -(-len(asked) // max(1, first_looks)))
    seen: dict[int, RimEvidence] = {}
    probabilities = np.empty(0)
    for some in (asked[::every], asked):
        for k in some:
            evidence = None if k in seen else see_rim(pixels, camera, detections[k])
            if evidence is not None:
                seen[k] = evidence
        probabilities = hexagon_probabilities(hexagon_logits(list(seen.values())), table_share)
        if probabilities.max(initial=0.0) < LEAST_HOPE:
            break
    return {
        k: _Judged(detections[k], evidence, probability)
        for (k, evidence), probability in zip(seen.items(), probabilities.tolist(), strict=True)
    }


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
    fits = {k: _fit_widths(pixels, camera, one, widths_mm) for k, one in likely.items()}
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
    seen_mm = one.base.width_mm / HEXAGON_MEAN_RATIO
    near = [width for width in widths_mm if abs(seen_mm / width - 1) < WIDTH_REACH / 2]
    if not near:
        return one
    nearest = min(near, key=lambda width: abs(seen_mm / width - 1))
    return replace(one, alternative_bases=(*one.alternative_bases, Base.hexagon(nearest)))


def _may_be_hexagon(camera: Camera, one: Detection, widths_mm: Sequence[float]) -> bool:
    """Tell whether a base was found as a round one of a size that a hexagon looks like, and is large enough."""
    if one.base.shape != "circle":
        return False
    seen_width_mm = one.base.width_mm / HEXAGON_MEAN_RATIO
    is_sized = any(abs(seen_width_mm / width - 1) < 2 * WIDTH_REACH for width in widths_mm)
    mm_per_px = float(camera.mm_per_px(np.array([*one.xy_mm, one.z_mm])))
    return is_sized and one.base.width_mm / 2 >= LEAST_RADIUS_PX * mm_per_px


def _fit_widths(
    pixels: NDArray[np.uint8], camera: Camera, one: _Judged, widths_mm: Sequence[float]
) -> dict[int, OvalFit]:
    """Fit a hexagon of each of the widths (C,) that it may have; by the width's index."""
    pose = np.array([*one.found.xy_mm, one.evidence.heading_rad])
    start = PosePrior(pose, np.array([PLACE_SIGMA_MM, PLACE_SIGMA_MM, HEADING_SIGMA]))
    near = [
        size
        for size, width in enumerate(widths_mm)
        if abs(one.seen_width_mm / width - 1) < WIDTH_REACH
    ]
    attempts = {
        size: fit_oval(pixels, camera, start, Base.hexagon(widths_mm[size]), one.found.z_mm)
        for size in near
    }
    return {size: fit for size, fit in attempts.items() if fit is not None}


def _log_likelihoods(
    one: _Judged, fits: Mapping[int, OvalFit], widths_mm: Sequence[float]
) -> Array:
    """Return the log likelihoods (C,) of its widths: by what the fits see, and by the round base's radius."""
    nats = np.full(len(widths_mm), -np.inf)
    for size, fit in fits.items():
        nats[size] = WHOLE_OUTLINE_NATS * fit.merit
    if one.found.learned_radius_mm is not None:
        radius_mm, sigma_mm = one.found.learned_radius_mm
        sigma = np.hypot(2 * sigma_mm, LEAST_WIDTH_SIGMA_MM)
        nats -= ((2 * radius_mm / HEXAGON_MEAN_RATIO - np.array(widths_mm)) / sigma) ** 2 / 2
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
    return replace(made, clutter_score=one.found.clutter_score).with_added_covariance(
        doubt_mm2, doubt_mm2
    )


def _doubt_mm2(one: _Judged, fit: OvalFit, fits: Mapping[int, OvalFit], share: Array) -> Array:
    """Return the covariance (2, 2) for what the fit does not show.

    The base may have another width or be round, so its rim lies elsewhere. And where the hexagon and
    the round base lie apart, one of the two fits went astray.
    """
    off_mm = [(other.base.width_mm - fit.base.width_mm) / 2 for other in fits.values()]
    corner_mm = (fit.base.length_mm - fit.base.width_mm) / 4  # a circle's rim lies between
    edge_mm2 = float(share[[*fits]] @ np.square(off_mm) + (1 - one.probability) * corner_mm**2)
    apart_mm = fit.xy_mm - one.found.xy_mm
    return np.asarray(np.eye(2) * edge_mm2 + np.outer(apart_mm, apart_mm))
