"""Check of the markers' printed size by the bases: a wrong size makes all bases look wrong.

A print scaled to fit the page is a few per cent too small. Each base is then found under the nearest
size of the catalogue, with its rim a little off that size. For one base that may be its upper rim
or a ring of sand, so all bases are evaluated together. For each scale that the print may have, the
likelihood counts how much of the rims is visible where the catalogue's sizes, at that scale, have
them. An offset in millimetres that all rims share, on small bases as on large ones, comes from
manufacture and light, and is no scale.
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
"""Relative offsets that are tried, of a base's radius and of the scale."""
RIM_OFFSET_SIGMAS = np.linspace(-3, 3, 13)
"""Outward offsets of all rims that are tried, in σ."""
RIM_OFFSET_SIGMA_MM = 0.15
"""Prior σ of that offset by manufacture and light."""
RIM_OFFSET_SIGMA_PX = 0.2
"""The same by the photo's blur, in px. Of 61 photos with the right size 2 were flagged so, 7 with 0, none
with 0.4. Of the same with sizes off by 6 % 43 were flagged so, 46 with 0, 28 with 0.4."""
MIN_BASES = 5
"""Smallest number of bases for the check."""
MAX_BASES_PER_SIZE = 8
"""Largest number of bases of one size, those of the highest score."""
MIN_SCORE = 0.9
"""Smallest score of a base."""
MIN_VISIBLE_SHARE = 0.3
"""Smallest visible share of a base."""
EDGE_SIGMA_PX = 0.5
"""1 σ of an edge about a rim."""
RIM_LOG_LIKELIHOOD = 12.0
"""Log-likelihood of a whole visible rim against none of it."""
PRINT_SCALE_SIGMA = 0.03
"""Prior σ of the scale: prints are a few per cent off, and the catalogue's sizes a tenth apart."""
MIN_SCALE_ERROR = 0.015
"""Smallest relative scale error that is reported: chosen with `MIN_LOG_LIKELIHOOD_GAIN` on 106
rendered tables and on 48 of them with sizes off by 3 and 6 %."""
MIN_LOG_LIKELIHOOD_GAIN = 3.0
"""Smallest gain of log-likelihood for which a scale error is reported."""
MIN_TABLE_MM = 300.0
"""A photo without a base that shows less of the table along its longer side has a wrong scale perhaps."""
MAX_TABLE_MM = 6000.0
"""The same of one that shows more: no table is as long."""

Look = tuple[Frame, Calibration, Sequence[Detection]]
"""A photo with its calibration and bases."""


def flag_marker_size(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection], radii: Array
) -> Calibration:
    """Report a scale error if the bases on the board contradict the markers.

    `radii` (C,) are those of the catalogue in mm. Nobody knows which of the two is wrong, so the
    whole error is added to the budget's scale until somebody measures the print.
    """
    return flag_marker_size_of_all([(frame, calibration, detections)], radii)[0]


def flag_marker_size_of_all(looks: Sequence[Look], radii: Array) -> list[Calibration]:
    """The same of several photos of one table: all of them get the problem, or none."""
    calibrations = [calibration for _, calibration, _ in looks]
    if not any(found for _, _, found in looks):
        return _doubt_odd_extent(looks)
    told = [nats for look in looks if (nats := _nats_by_bases(*look, radii)) is not None]
    if not told:
        return calibrations
    log_likelihoods = np.mean(told, 0)
    error = float(SCALE_OFFSETS[log_likelihoods.argmax()])
    unscaled = log_likelihoods[len(SCALE_OFFSETS) // 2]
    gain = float(log_likelihoods.max() - unscaled)
    if abs(error) < MIN_SCALE_ERROR - 1e-9 or gain < MIN_LOG_LIKELIHOOD_GAIN:
        return calibrations
    if error < 0 and any(map(_is_low_light, calibrations)):
        return calibrations
    return [_doubt_by(calibration, error) for calibration in calibrations]


def _doubt_odd_extent(looks: Sequence[Look]) -> list[Calibration]:
    """Ask for the scale where photos without any base show as much table as no photo of a game does."""
    shown = [_shown_mm(frame, calibration) for frame, calibration, _ in looks]
    calibrations = [calibration for _, calibration, _ in looks]
    if not all(mm < MIN_TABLE_MM for mm in shown) and not all(mm > MAX_TABLE_MM for mm in shown):
        return calibrations
    return [
        replace(one, problems=(*one.problems, _odd_extent(mm, bool(one.markers))))
        for one, mm in zip(calibrations, shown, strict=True)
    ]


def _shown_mm(frame: Frame, calibration: Calibration) -> float:
    """How much of the table the photo shows along its longer side, in mm; NaN where it looks past it."""
    rows, columns = frame.pixels.shape[:2]
    middle = calibration.camera.unproject(np.array([(columns - 1) / 2, (rows - 1) / 2]), 0.0)
    mm_per_px = float(calibration.camera.mm_per_px(np.array([*middle, 0.0])))
    return float(max(rows, columns)) * mm_per_px


def _odd_extent(shown_mm: float, has_markers: bool) -> Problem:
    remedy = _scale_remedy(has_markers)
    text = f"no base is found, and the photo would show {shown_mm:.0f} mm of the table: {remedy}"
    return Problem("marker_size", text)


def _nats_by_bases(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection], radii: Array
) -> Array | None:
    """`scale_log_likelihoods` of one photo; None where it shows too few bases."""
    rims = _rims_by_radius(frame, calibration, detections)
    if sum(map(len, rims.values())) < MIN_BASES:
        return None
    places = [np.array([*one.xy_mm, 0.0]) for one in detections]
    scales = [float(calibration.camera.mm_per_px(place)) for place in places]
    return scale_log_likelihoods(rims, radii, float(np.median(scales)))


def _doubt_by(calibration: Calibration, error: float) -> Calibration:
    scale_share = float(np.hypot(calibration.budget.scale_share, error))
    problem = Problem("marker_size", _scale_error_message(error, bool(calibration.markers)))
    return replace(
        calibration,
        budget=replace(calibration.budget, scale_share=scale_share),
        problems=(*calibration.problems, problem),
    )


def _scale_error_message(error: float, has_markers: bool) -> str:
    direction = "larger" if error > 0 else "smaller"
    return (
        f"bases look {abs(error):.1%} {direction} than they are made: {_scale_remedy(has_markers)}"
    )


def _scale_remedy(has_markers: bool) -> str:
    if has_markers:
        return "measure the markers' printed size, and give that"
    return "check the points' places"


def _is_low_light(calibration: Calibration) -> bool:
    """Whether the light is so low that bases' dark sides merge with the mat and make them smaller."""
    return calibration.light is not None and calibration.light.strength >= LOW_LIGHT_STRENGTH


def _rims_by_radius(
    frame: Frame, calibration: Calibration, detections: Sequence[Detection]
) -> Mapping[float, list[Array]]:
    """`rim_shares_by_scale` of the surest bases, by the radius under which they were found."""
    by_radius: dict[float, list[Array]] = {}
    for detection in sorted(detections, key=lambda detection: -detection.score):
        if not _is_usable(detection):
            continue
        rims = by_radius.setdefault(detection.base.width_mm / 2, [])
        if len(rims) >= MAX_BASES_PER_SIZE:
            continue
        rim = rim_shares_by_scale(frame, calibration, detection)
        if rim is not None:
            rims.append(rim)
    return by_radius


def _is_usable(detection: Detection) -> bool:
    on_table = detection.base.shape == "circle" and not detection.z_mm
    return on_table and detection.score >= MIN_SCORE and detection.visible >= MIN_VISIBLE_SHARE


def rim_shares_by_scale(
    frame: Frame, calibration: Calibration, detection: Detection
) -> Array | None:
    """Visible share (N,) of the lower rim if larger by each of `SCALE_OFFSETS`; None if hidden."""
    lower = visible_lower_rim(frame, calibration, detection)
    if lower is None:
        return None
    view, rays = lower
    radius = detection.base.width_mm / 2
    sigma_mm = EDGE_SIGMA_PX * view.mm_per_px
    reach = np.full(len(rays), SCALE_OFFSETS[-1] * radius + 2 * sigma_mm)
    edges = find_radial_edges(view, detection.xy_mm, rays, radius - reach, radius + reach)
    deviation = (edges.radius_mm - radius * (1 + SCALE_OFFSETS[:, None])) / sigma_mm
    weight = edges.strength * np.exp(-0.5 * deviation**2)
    by_ray = np.stack([np.bincount(edges.ray, row, len(rays)) for row in weight])
    return np.asarray((by_ray / (by_ray + OCCLUSION_WEIGHT)).mean(1))


def scale_log_likelihoods(
    seen: Mapping[float, Sequence[Array]], radii: Array, mm_per_px: float
) -> Array:
    """Log-likelihoods (N,) in nats of the scales 1 + `SCALE_OFFSETS`.

    `seen` has the visible shares of the rims found under each radius; `radii` (C,) are those of the
    catalogue.
    """
    offsets_mm = RIM_OFFSET_SIGMAS * float(
        np.hypot(RIM_OFFSET_SIGMA_MM, RIM_OFFSET_SIGMA_PX * mm_per_px)
    )
    by_scale = (SCALE_OFFSETS[:, None] / PRINT_SCALE_SIGMA) ** 2
    nats = -0.5 * (RIM_OFFSET_SIGMAS**2 + by_scale)
    for radius, rims in seen.items():
        if not rims:
            continue
        made = radii * (1 + SCALE_OFFSETS[:, None, None]) + offsets_mm[:, None]
        mean_shares = np.mean(rims, 0)
        visible = np.interp(made / radius - 1, SCALE_OFFSETS, mean_shares, left=0.0, right=0.0)
        nats += RIM_LOG_LIKELIHOOD * len(rims) * visible.max(2)
    return np.asarray(nats.max(1))
