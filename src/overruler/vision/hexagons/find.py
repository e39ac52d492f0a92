"""Find the hexagons among the bases that were found as round ones, and fit them.

Where the rims of a table say that some have six sides, each of those is fitted anew as a hexagon. The
bases of one table come in few sizes, so all of them together tell the sizes.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.bases import HEXAGON_WIDTHS_MM, Base
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
from overruler.vision.hexagons.rim_evidence import MEAN_REACH, RimEvidence, see_rim
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
WIDTH_REACH = 0.12
"""Widths that differ by a larger share from what was seen are not fitted."""
LEAST_WIDTH_SIGMA_MM = 0.6
"""Least 1 σ of a width by the network that traced the rim: it knows no hexagons."""
PLACE_SIGMA_MM, HEADING_SIGMA = 1.0, 0.15
"""1 σ of where a fit starts, in mm and in rad."""


class _Hexagon(NamedTuple):
    """A rim that is likely a hexagon's."""

    found: Detection
    """The round base that it was found as."""
    evidence: RimEvidence
    """What the photo says about its sides."""
    probability: float
    """That it is a hexagon."""

    @property
    def seen_width_mm(self) -> float:
        """Its width from side to side, by the edges."""
        return self.found.base.width_mm * self.evidence.share / MEAN_REACH


def with_hexagons(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    widths_mm: Sequence[float] = HEXAGON_WIDTHS_MM,
    table_share: float = TABLE_SHARE,
) -> tuple[Detection, ...]:
    """Return the detections with hexagons for the round bases that are likelier ones.

    `widths_mm` are the sizes that they may have, from side to side. `table_share` is the prior
    probability that the table has any.
    """
    hexagons = _likely_hexagons(pixels, camera, detections, widths_mm, table_share)
    fits = {k: _fit_widths(pixels, camera, one, widths_mm) for k, one in hexagons.items()}
    fitted = [k for k in hexagons if any(fits[k])]
    likelihoods = np.array([_log_likelihoods(hexagons[k], fits[k], widths_mm) for k in fitted])
    changed = list(detections)
    if fitted:
        shares = size_probabilities(likelihoods[:, :, None])[:, :, 0]
        for k, share in zip(fitted, shares, strict=True):
            changed[k] = _make_detection(camera, hexagons[k], fits[k], share)
    return tuple(changed)


def _likely_hexagons(
    pixels: NDArray[np.uint8],
    camera: Camera,
    detections: Sequence[Detection],
    widths_mm: Sequence[float],
    table_share: float,
) -> dict[int, _Hexagon]:
    """Return those of the detections that are likelier hexagons than round, by their index."""
    asked = [k for k, one in enumerate(detections) if _may_be_hexagon(camera, one, widths_mm)]
    asked.sort(key=lambda k: detections[k].base.width_mm)
    every = -(-len(asked) // FIRST_LOOKS) or 1
    seen: dict[int, RimEvidence] = {}
    probabilities = np.empty(0)
    for some in (asked[::every], asked):
        for k in some:
            evidence = None if k in seen else see_rim(pixels, camera, detections[k])
            if evidence is not None:
                seen[k] = evidence
        logits = hexagon_logits(list(seen.values()))
        probabilities = hexagon_probabilities(logits, table_share)
        if probabilities.max(initial=0.0) < LEAST_HOPE:
            return {}
    return {
        k: _Hexagon(detections[k], evidence, probability)
        for (k, evidence), probability in zip(seen.items(), probabilities.tolist(), strict=True)
        if probability > 0.5
    }


def _may_be_hexagon(camera: Camera, one: Detection, widths_mm: Sequence[float]) -> bool:
    """Tell whether a base was found as a round one of a size that a hexagon looks like, and is large enough."""
    if one.base.shape != "circle":
        return False
    seen_width_mm = one.base.width_mm / MEAN_REACH
    is_sized = any(abs(seen_width_mm / width - 1) < 2 * WIDTH_REACH for width in widths_mm)
    mm_per_px = float(camera.mm_per_px(np.array([*one.xy_mm, one.z_mm])))
    return is_sized and one.base.width_mm / 2 >= LEAST_RADIUS_PX * mm_per_px


def _fit_widths(
    pixels: NDArray[np.uint8], camera: Camera, one: _Hexagon, widths_mm: Sequence[float]
) -> list[OvalFit | None]:
    """Fit a hexagon of each width (C) that it may have; None for the others."""
    pose = np.array([*one.found.xy_mm, one.evidence.heading_rad])
    start = PosePrior(pose, np.array([PLACE_SIGMA_MM, PLACE_SIGMA_MM, HEADING_SIGMA]))
    fits: list[OvalFit | None] = []
    for width in widths_mm:
        is_near = abs(one.seen_width_mm / width - 1) < WIDTH_REACH
        base = Base.hexagon(width)
        fits.append(fit_oval(pixels, camera, start, base, one.found.z_mm) if is_near else None)
    return fits


def _log_likelihoods(
    one: _Hexagon, fits: Sequence[OvalFit | None], widths_mm: Sequence[float]
) -> Array:
    """Return the log likelihoods (C,) of its widths: by what the fits see, and by the round base's radius."""
    nats = np.array([-np.inf if fit is None else WHOLE_OUTLINE_NATS * fit.merit for fit in fits])
    if one.found.learned_radius_mm is not None:
        radius_mm, sigma_mm = one.found.learned_radius_mm
        sigma = np.hypot(2 * sigma_mm, LEAST_WIDTH_SIGMA_MM)
        nats -= ((2 * radius_mm / MEAN_REACH - np.array(widths_mm)) / sigma) ** 2 / 2
    return nats


def _make_detection(
    camera: Camera, one: _Hexagon, fits: Sequence[OvalFit | None], share: Array
) -> Detection:
    """Make the detection of a hexagon; `share` (C,) are the probabilities of its widths."""
    best = int(share.argmax())
    fit = fits[best]
    assert fit is not None  # what was not fitted has no share
    others = [other for other, its in zip(fits, share, strict=True) if its > MIN_REPORTED_PROBABILITY]
    also = [other.base for other in others if other is not None and other is not fit]
    if one.probability < 1 - MIN_REPORTED_PROBABILITY:
        also.append(one.found.base)
    seen = float(np.mean(fit.seen > MIN_RIM_WEIGHT))
    made = make_detection(
        camera, fit, fit.covariance_mm2, fit.d_xy_d_camera, one.found.score, seen, tuple(also)
    )
    usual = np.eye(2) * _edge_variance_mm2(one, fit, fits, share)
    return replace(made, clutter_score=one.found.clutter_score).with_added_covariance(usual, usual)


def _edge_variance_mm2(
    one: _Hexagon, fit: OvalFit, fits: Sequence[OvalFit | None], share: Array
) -> float:
    """Return the variance of the rim's place for what else the base may be: another width, or round."""
    off_mm = [0.0 if it is None else (it.base.width_mm - fit.base.width_mm) / 2 for it in fits]
    corner_mm = (fit.base.length_mm - fit.base.width_mm) / 4  # a circle's rim lies between
    return float(share @ np.square(off_mm) + (1 - one.probability) * corner_mm**2)
