"""Whether the markers have the size that was given: if not, all bases look larger or smaller than they are made.

A print that was made to fit the page is a few per cent too small, and each base is then found under the size of the
catalogue nearest to it, its rim standing a little apart from where that size would have it. Of one base that may be the
upper rim or a ring of sand. So all are asked together: for every scale that the markers may have been printed at, how
much of the rims is seen where sizes of the catalogue, at that scale, would have them. What all rims have in common in
millimetres, small bases and large ones alike, is how they are made and lit, and no scale.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import OCCLUSION_WEIGHT, find_radial_edges
from overruler.vision.refinement.base_scale import visible_lower_rim
from overruler.vision.refinement.lit_side import LOW_LIGHT_STRENGTH

SCALE_OFFSETS = np.linspace(-0.1, 0.1, 41)
"""By how much bases are tried larger than the size that they were found under, and the scale than 1."""
RIM_OFFSETS_MM, RIM_OFFSET_SIGMA_MM = np.linspace(-0.6, 0.6, 9), 0.15
"""How far outside of where they are made all rims may look to be, and 1 σ of that."""
MIN_BASES, MAX_BASES_PER_SIZE = 5, 8
"""Bases below which nothing is said, and so many of one size, the surest, that are looked at."""
MIN_SCORE, MIN_VISIBLE_SHARE = 0.9, 0.3
EDGE_SIGMA_PX = 0.5
"""1 σ of an edge about a rim."""
RIM_LOG_LIKELIHOOD = 12.0
"""Log-likelihood of a whole rim seen against none of it."""
PRINT_SCALE_SIGMA = 0.03
"""1 σ of the scale beforehand: prints made to fit are a few per cent off, and sizes of the catalogue a tenth apart."""
MIN_SCALE_ERROR, MIN_LOG_LIKELIHOOD_GAIN = 0.015, 3.0
"""The markers are doubted where another scale, off by so much, is so much likelier: chosen on 106 rendered tables and
on 48 of them with sizes off by 3 and 6 %."""


def flag_marker_size(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection], radii: Array
) -> Calibration:
    """The calibration, its scale in doubt where the bases on the board, of `radii` (C,) in mm, contradict the markers.

    Which of the two is wrong nobody knows: until somebody has measured, the scale may be off by all of the difference.
    """
    seen = _rims_by_radius(frame, calibration, detections)
    if sum(map(len, seen.values())) < MIN_BASES:
        return calibration
    nats = scale_log_likelihoods(seen, radii)
    share, gain = (
        float(SCALE_OFFSETS[nats.argmax()]),
        float(nats.max() - nats[len(SCALE_OFFSETS) // 2]),
    )
    if (
        abs(share) < MIN_SCALE_ERROR - 1e-9
        or gain < MIN_LOG_LIKELIHOOD_GAIN
        or (share < 0 and _is_low_light(calibration))
    ):
        return calibration
    which = "larger" if share > 0 else "smaller"
    remedy = (
        "measure the markers' printed size, and give that"
        if calibration.markers
        else "check the points' places"
    )
    text = f"bases look {abs(share):.1%} {which} than they are made: {remedy}"
    budget = replace(
        calibration.budget, scale_share=float(np.hypot(calibration.budget.scale_share, share))
    )
    return replace(
        calibration, budget=budget, problems=(*calibration.problems, Problem("marker_size", text))
    )


def _is_low_light(calibration: Calibration) -> bool:
    """Whether the light is so low that bases' dark sides are taken for the mat: they look smaller then."""
    return calibration.light is not None and calibration.light.strength >= LOW_LIGHT_STRENGTH


def _rims_by_radius(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection]
) -> Mapping[float, list[Array]]:
    """What is seen of the rims of the surest bases of each size."""
    found: dict[float, list[Array]] = {}
    for one in sorted(detections, key=lambda detection: -detection.score):
        plain = one.base.shape == "circle" and not one.z_mm and one.score >= MIN_SCORE
        rims = (
            found.setdefault(one.base.width_mm / 2, [])
            if plain and one.visible >= MIN_VISIBLE_SHARE
            else None
        )
        if (
            rims is not None
            and len(rims) < MAX_BASES_PER_SIZE
            and (rim := visible_rim_shares(frame, calibration, one)) is not None
        ):
            rims.append(rim)
    return found


def visible_rim_shares(
    frame: Frame, calibration: Calibration, detection: Detection
) -> Array | None:
    """The share of its lower rim that is seen were the base larger by each of `SCALE_OFFSETS` (N,); None if it is hidden."""
    lower = visible_lower_rim(frame, calibration, detection)
    if lower is None:
        return None
    radius, (view, rays) = detection.base.width_mm / 2, lower
    sigma_mm = EDGE_SIGMA_PX * view.mm_per_px
    reach = np.full(len(rays), SCALE_OFFSETS[-1] * radius + 2 * sigma_mm)
    edges = find_radial_edges(view, detection.xy_mm, rays, radius - reach, radius + reach)
    off = (edges.radius_mm - radius * (1 + SCALE_OFFSETS[:, None])) / sigma_mm
    weight = edges.strength * np.exp(-0.5 * off**2)
    by_ray = np.stack([np.bincount(edges.ray, row, len(rays)) for row in weight])
    return np.asarray((by_ray / (by_ray + OCCLUSION_WEIGHT)).mean(1))


def scale_log_likelihoods(seen: Mapping[float, Sequence[Array]], radii: Array) -> Array:
    """How likely (N,) each scale, 1 + `SCALE_OFFSETS`, is, in nats, by what is `seen` of the rims found under each radius."""
    nats = -0.5 * (
        (RIM_OFFSETS_MM / RIM_OFFSET_SIGMA_MM) ** 2
        + (SCALE_OFFSETS[:, None] / PRINT_SCALE_SIGMA) ** 2
    )
    for radius, rims in seen.items():
        if not rims:
            continue
        made = radii * (1 + SCALE_OFFSETS[:, None, None]) + RIM_OFFSETS_MM[:, None]
        there = np.interp(made / radius - 1, SCALE_OFFSETS, np.mean(rims, 0), left=0.0, right=0.0)
        nats += RIM_LOG_LIKELIHOOD * len(rims) * there.max(2)
    return np.asarray(nats.max(1))
