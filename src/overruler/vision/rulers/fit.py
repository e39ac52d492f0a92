"""One ruler, measured in the photo's own pixels at the height of its face: middle line, ends, cross lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.detections import DetectedRuler
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.precision_map import place_jacobian_camera_bow
from overruler.vision.rulers.strip import (
    LongEdgeFit,
    RulerKind,
    Strip,
    fit_long_edges,
    points_on_path,
    regularize_path,
    shift_sideways,
)

MIN_LINE_CONTRAST, MAX_SEGMENTS_ALL_LINES = 2.0, 5
"""The faintest cross line, L*a*b* units against what lies beside it: a ruler of so many segments shows all its lines,
a stick that has more most of them."""
MIN_RIDGE_RATIO, RIDGE_SEARCH_MM = 0.3, 3.5
"""How strong a line is against all that crosses there, at least, to be taken for a line; how near it must lie."""
MAX_SLIDE_MM, STRETCH_STEP_MM = 12.0, 0.8
"""How far along the whole ruler may have been laid wrongly; by how much its ends move from one stretch to the next."""
MAX_LINE_WIDTH_MM = 2.4
"""A line is narrower than this."""
LINE_BANDS = ((-0.45, 0.45), (-0.45, -0.2), (-0.25, 0.0), (0.0, 0.25), (0.2, 0.45))
"""Across which shares of the width lines are looked for: some reach only part of the way, and figures stand beside."""
END_SIGMA_MM, LINE_SIGMA_MM, LINE_SIGMA_PX = 0.4, 0.06, 0.08
"""1 σ: of an end, and of a cross line, at least."""
LINE_PRINT_SIGMA_MM, EDGE_SPREAD_SIGMA_MM, ALTERNATION_SIGMA_MM = 0.8, 0.2, 1.5
"""1 σ of how far all lines are printed off their joints, by how much both ends seem to lie too far out, and how far
off the lines are in turn to either side where segments have two colours in turn."""
HIDDEN_END_SIGMA_MM = 1e3
"""1 σ of an end that is not seen."""
END_SEARCH_MM = 4.0
"""How far from where the lines have them ends are looked for."""
SHADOW_BRIGHTNESS_RATIO, MAX_SHADOW_COLOUR_DIFFERENCE = (0.4, 0.93), 5.0
"""A shadow's brightness against the lit ground's, and by how much its colour may differ (L*a*b*)."""
JOINT_CONTRAST_RANGE_MM = 1.0, 4.0
"""Colours on both sides of a joint are compared from here to there."""
THICKNESS_SIGMA_MM = 0.5
"""1 σ of how high a ruler's face lies."""
MAX_STRETCH_COST = 0.5
"""What the greatest stretch costs, in clear lines."""
OUTLIER_SIGMAS = 3.0
"""Measures so many σ off are strays: something lies there."""
CONTRADICTION_SIGMAS = 3.5
"""A ruler so many σ off its nominal length contradicts the markers."""
FEW_SEGMENTS, CLEARLY_SEEN_SHARE = 2, 0.85
"""What contradicts the markers and has no more segments than this, or of whose edges no more is seen, is something
else: a wall, a strip of card, a row of hexes."""
MIN_AGREEING_SHARE, MAX_SCATTER_SIGMAS = 0.7, 5.0
"""The share of a long ruler's ends and lines that agree, at least: a short one's all do; how many σ they scatter."""


def measure_ruler(
    frame: Frame, calibration: Calibration, kind: RulerKind, path_mm: Array
) -> DetectedRuler | None:
    """A ruler, once its middle line and the places along it are found; None where it turns out to be none."""
    camera = calibration.camera
    flat = camera.project(np.column_stack([path_mm, np.zeros(len(path_mm))]))
    path = camera.unproject(flat, kind.z_mm)
    size = np.array(frame.size_px) - 1
    if not ((flat > 0) & (flat < size)).all():
        return None
    rough = _align_to_edges(frame, camera, kind, path)
    fine = None if rough is None else _align_to_edges(frame, camera, kind, rough[0])
    if fine is None:
        return None
    path, strip, sides = fine
    fit = fit_scale(
        strip,
        kind,
        sides.edge_spread_mm,
        float(camera.mm_per_px(np.append(path.mean(0), kind.z_mm))),
    )
    if fit is None:
        return None
    ruler = _to_ruler_seen(calibration, kind, regularize_path(kind, path), fit)
    doubtful = kind.segments <= FEW_SEGMENTS or sides.seen_share < CLEARLY_SEEN_SHARE
    return None if doubtful and contradicts_markers(ruler) else ruler


def _align_to_edges(
    frame: Frame, camera: Camera, kind: RulerKind, path: Array
) -> tuple[Array, Strip, LongEdgeFit] | None:
    """A path (n + 1, 2) moved between the long edges near it, the picture along it, and what that shows of them."""
    path = regularize_path(kind, path)
    strip = Strip.of(frame, camera, kind, path)
    sides = fit_long_edges(strip, kind)
    return None if sides is None else (shift_sideways(path, sides.shift_mm), strip, sides)


def contradicts_markers(ruler: DetectedRuler) -> bool:
    """Whether a ruler is not as long as the markers say."""
    return abs(ruler.segment_mm - ruler.nominal_mm) > CONTRADICTION_SIGMAS * ruler.sigma_mm


@dataclass(frozen=True, slots=True, eq=False)
class ScaleFit:
    """Where a ruler's first end lies along the strip, how long a segment is, and how sure that is."""

    start_mm: float
    segment_mm: float
    sigma_mm: float
    stands_out: float
    """How many times clearer its cross lines are than what else crosses it."""


def fit_scale(strip: Strip, kind: RulerKind, grown_mm: float, mm_per_px: float) -> ScaleFit | None:
    """The ruler's own scale, by its ends and the lines across it; edges seem to lie `grown_mm` too far out."""
    profiles = [_band_profile(strip, kind, *band) for band in LINE_BANDS]
    ridges = [_ridge_strength(profile, strip) for profile in profiles]
    crossing = [
        _crossing_strength(ridge, profile, strip, kind)
        for ridge, profile in zip(ridges, profiles, strict=True)
    ]
    slope = np.append(np.linalg.norm(np.diff(profiles[0], axis=0), axis=1), 0.0)
    tried = [_align_lines(one, slope, strip, kind) for one in crossing]
    best = max(range(len(LINE_BANDS)), key=lambda k: tried[k][1])
    places, stands_out = tried[best]
    if stands_out < kind.stands_out:
        return None
    least = MIN_AGREEING_SHARE if kind.segments > MAX_SEGMENTS_ALL_LINES else 1
    if np.mean(_strength_at(crossing[best], strip, places) > MIN_LINE_CONTRAST) < least:
        return None
    lines = [
        _locate_line(ridges[best], crossing[best], strip.along_mm, float(place)) for place in places
    ]
    scale = _solve_scale(strip, kind, profiles[0], lines, grown_mm, mm_per_px)
    return None if scale is None else ScaleFit(*scale, stands_out)


def _band_profile(strip: Strip, kind: RulerKind, low: float, high: float) -> Array:
    inner = (strip.across_mm >= low * kind.width_mm) & (strip.across_mm <= high * kind.width_mm)
    return np.asarray(strip.lab[:, inner].mean(1), float)


def _solve_scale(
    strip: Strip,
    kind: RulerKind,
    profile: Array,
    lines: Sequence[float],
    grown_mm: float,
    mm_per_px: float,
) -> tuple[float, float, float] | None:
    """The even scale through ends and lines (n - 1,), in order; None where too few of them lie on one.

    Where it begins, its step and 1 σ of that, in mm.
    """
    n, step = kind.segments, float(np.median(np.diff(lines))) if len(lines) > 1 else kind.segment_mm
    ends = [
        _locate_end(profile, strip, lines[0] - step, -1),
        _locate_end(profile, strip, lines[-1] + step, 1),
    ]
    if n <= 3 and None in ends:
        return None
    out = np.maximum(
        strip.relief_displacement_mm[:, 0] * np.array([-1, 1]), 0
    )  # an end's face that is seen
    where = [(end or 0.0) - side * face for end, side, face in zip(ends, (-1, 1), out, strict=True)]
    unsure = [
        HIDDEN_END_SIGMA_MM if end is None else float(np.hypot(END_SIGMA_MM, face / 3))
        for end, face in zip(ends, out, strict=True)
    ]
    k = np.arange(1, n)
    rows = np.zeros((n + 4, 5))
    rows[: n + 1, 0] = 1
    rows[:2, 1], rows[:2, 3] = (0, n), (-1, 1)
    rows[2 : n + 1, 1], rows[2 : n + 1, 2], rows[2 : n + 1, 4] = k, 1, (-1.0) ** k
    rows[n + 1 :, 2:] = np.eye(3)
    right = np.array([*where, *lines, 0.0, grown_mm, 0.0])
    turns = ALTERNATION_SIGMA_MM if kind.jointed else 1e-3
    line = max(LINE_SIGMA_MM, LINE_SIGMA_PX * mm_per_px)
    sigma = np.array([*unsure, *[line] * (n - 1), LINE_PRINT_SIGMA_MM, EDGE_SPREAD_SIGMA_MM, turns])
    solution, covariance, spread, agree = _robust_least_squares(rows, right, sigma)
    good = agree[: n + 1] & (sigma[: n + 1] < HIDDEN_END_SIGMA_MM)
    if (
        spread > MAX_SCATTER_SIGMAS
        or good.sum() < (1 if n <= 3 else MIN_AGREEING_SHARE) * (n + 1)
        or abs(solution[1] / kind.segment_mm - 1) > kind.stretch
    ):
        return None
    return float(solution[0]), float(solution[1]), float(np.sqrt(covariance[1, 1]))


def _robust_least_squares(
    rows: Array, right: Array, sigma: Array
) -> tuple[Array, Array, float, NDArray[np.bool_]]:
    """Least squares with few strays; its covariance, how many σ the measures scatter, and which are no strays."""
    weight = 1 / sigma**2
    for _ in range(8):
        covariance = np.linalg.inv(rows.T @ (rows * weight[:, None]))
        solution = covariance @ rows.T @ (weight * right)
        z = (right - rows @ solution) / sigma
        weight = 1 / sigma**2 / (1 + (z / 2.5) ** 2)
    chi2 = float(np.sum(z**2 / (1 + (z / 2.5) ** 2)))
    spread = max(
        1.0, float(1.4826 * np.median(np.abs(z))), float(np.sqrt(chi2 / (len(z) - rows.shape[1])))
    )
    return solution, np.asarray(covariance * spread**2), spread, np.abs(z) < OUTLIER_SIGMAS * spread


def _locate_end(profile: Array, strip: Strip, near: float, side: int) -> float | None:
    """The outermost clear edge (mm) near an end that is no shadow's; `side` is -1 at the first end."""
    along = strip.along_mm
    slope = np.linalg.norm(np.diff(profile, axis=0), axis=1)
    middle = (along[1:] + along[:-1]) / 2
    height = np.where(np.abs(middle - near) < END_SEARCH_MM, slope, 0)
    peaks = np.flatnonzero(
        (height >= np.roll(height, 1))
        & (height > np.roll(height, -1))
        & (height > 0.35 * height.max())
    )
    peaks = peaks if side < 0 else peaks[::-1]
    while len(peaks) > 1 and _is_shadow(profile, along, middle[peaks[0]], middle[peaks[1]]):
        peaks = peaks[1:]
    if not len(peaks):
        return None
    weight = slope * (np.abs(middle - middle[peaks[0]]) < 0.9)
    return float((weight * middle).sum() / weight.sum())


def _is_shadow(profile: Array, along: Array, outer: float, inner: float) -> bool:
    """Whether what lies between two edges (mm) is what lies beyond the outer one, in shadow: as colourful, darker."""
    away = np.sign(outer - inner)
    beyond = (away * (along - outer) > 1.0) & (away * (along - outer) < 4.0)
    between = (along > min(outer, inner) + 0.4) & (along < max(outer, inner) - 0.4)
    if not beyond.any() or not between.any():
        return False
    lit, dark = profile[beyond].mean(0), profile[between].mean(0)
    share = dark[0] / max(lit[0], 1.0)
    return bool(
        SHADOW_BRIGHTNESS_RATIO[0] < share < SHADOW_BRIGHTNESS_RATIO[1]
        and np.hypot(*(dark[1:] - share * lit[1:])) < MAX_SHADOW_COLOUR_DIFFERENCE
    )


def _crossing_strength(ridge: Array, profile: Array, strip: Strip, kind: RulerKind) -> Array:
    """How clearly something crosses the ruler at each place (S,): a line, or where it bends another colour too."""
    if not kind.jointed:
        return ridge
    total = np.cumsum(np.pad(profile, ((1, 0), (0, 0))), axis=0)
    near, far = (
        max(1, round(reach / float(strip.along_mm[1] - strip.along_mm[0])))
        for reach in JOINT_CONTRAST_RANGE_MM
    )
    at = np.arange(len(profile))

    def mean(low: NDArray[np.intp], high: NDArray[np.intp]) -> Array:
        low, high = np.clip(low, 0, len(at) - 1), np.clip(high, 1, len(at))
        return np.asarray(
            (total[np.maximum(high, low + 1)] - total[low]) / np.maximum(high - low, 1)[:, None]
        )

    step = np.linalg.norm(mean(at + near, at + far) - mean(at - far, at - near), axis=1)
    return np.asarray(np.hypot(ridge, step))


def _ridge_strength(profile: Array, strip: Strip) -> Array:
    """How much a place (S,) differs from both its sides: lines, not steps."""
    reach = max(1, round(MAX_LINE_WIDTH_MM / float(strip.along_mm[1] - strip.along_mm[0])))
    padded = np.pad(profile, ((reach, reach), (0, 0)), mode="edge")
    low, high = profile - padded[: -2 * reach], profile - padded[2 * reach :]
    same = (low * high).sum(1)
    return np.asarray(np.sqrt(np.maximum(same, 0)))


def _smooth_ridge(ridge: Array, strip: Strip) -> Array:
    width = max(1, round(2.0 / float(strip.along_mm[1] - strip.along_mm[0])))
    return np.convolve(ridge, np.ones(width) / width, "same")


def _strength_at(ridge: Array, strip: Strip, places: Array) -> Array:
    return np.asarray(np.interp(places, strip.along_mm, _smooth_ridge(ridge, strip)))


def _align_lines(ridge: Array, slope: Array, strip: Strip, kind: RulerKind) -> tuple[Array, float]:
    """Where the lines (n - 1,) are if evenly spaced, and how many times stronger they are than what lies between.

    Lines and ends together say so, each as clear as it is against the rest: one strong figure is no line of five.
    """
    along, n = strip.along_mm, kind.segments
    slid = (
        min(MAX_SLIDE_MM, 0.45 * kind.segment_mm)
        if kind.segment_mm < 2.5 * MAX_SLIDE_MM
        else 1.4 * MAX_SLIDE_MM
    )
    offsets = np.arange(-slid, slid, 0.4)
    count = int(np.ceil(kind.stretch * kind.length_mm / 2 / STRETCH_STEP_MM))
    stretches = np.linspace(-kind.stretch, kind.stretch, 2 * count + 1)
    places = (kind.segment_mm * np.arange(n + 1) - kind.length_mm / 2) * (1 + stretches[:, None])
    places = places[:, None] + kind.length_mm / 2 + offsets[:, None]
    inside = (along > 5) & (along < kind.length_mm - 5)
    smooth = _smooth_ridge(ridge, strip)
    between = max(float(smooth[inside].mean()), 0.2)
    clear = [_relative_strength(one, inside) for one in (smooth, _smooth_ridge(slope, strip))]
    merit = np.interp(places[..., 1:-1], along, clear[0]).sum(-1) + np.interp(
        places[..., [0, -1]], along, clear[1]
    ).sum(-1)
    merit -= MAX_STRETCH_COST * np.abs(stretches[:, None]) / kind.stretch
    best = np.unravel_index(merit.argmax(), merit.shape)
    lines = np.asarray(places[best][1:-1])
    return lines, float(np.interp(lines, along, smooth).mean() / between)


def _relative_strength(height: Array, inside: NDArray[np.bool_]) -> Array:
    """Heights (S,) from 0 to 1, against what is usual inside."""
    return np.asarray(height / (height + 3 * max(float(height[inside].mean()), 0.2)))


def _locate_line(ridge: Array, crossing: Array, along: Array, near: float) -> float:
    """Where a line lies near a place: by what is a line there, or else by what crosses the ruler."""
    lined = np.abs(along - near) < (1.6 if crossing is ridge else RIDGE_SEARCH_MM)
    if crossing is not ridge and ridge[lined].max() > MIN_RIDGE_RATIO * crossing[lined].max():
        near = float(along[lined][ridge[lined].argmax()])
        crossing = ridge
    window = np.abs(along - near) < 1.6
    total = float(crossing[window].sum())
    return float((crossing[window] * along[window]).sum()) / total if total > 0 else near


def _to_ruler_seen(
    calibration: Calibration, kind: RulerKind, path: Array, fit: ScaleFit
) -> DetectedRuler:
    stretched = np.asarray(fit.start_mm + fit.segment_mm * np.arange(kind.segments + 1), float)
    xy, _ = points_on_path(path, kind, stretched)
    along = (xy[-1] - xy[0]) / np.linalg.norm(xy[-1] - xy[0])
    slope = along @ np.diff(place_jacobian_camera_bow(calibration, xy[[0, -1]]), axis=0)[0]
    height = calibration.camera.center_mm[2]
    shares = [calibration.budget.scale_share, THICKNESS_SIGMA_MM / height]
    shared = np.sqrt(slope @ calibration.joint_covariance @ slope) / kind.segments
    sigma = float(
        np.linalg.norm([fit.sigma_mm, shared, *(share * kind.segment_mm for share in shares)])
    )
    return DetectedRuler(
        kind.name, kind.segment_mm, fit.segment_mm, sigma, xy, kind.width_mm, fit.stands_out
    )
