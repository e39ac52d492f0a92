"""The lines printed across a ruler, found in its strip."""

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.rulers.strip import RulerKind, Strip

MIN_RIDGE_RATIO = 0.3
"""Least ratio of a line's strength to that of whatever crosses the ruler there."""
RIDGE_SEARCH_MM = 3.5
"""Search range of such a line to either side of its expected place, in mm."""
LINE_WINDOW_MM = 1.6
"""Half the window of a line's centroid, in mm."""
MAX_SLIDE_MM = 12.0
"""Largest error of the ruler's place along its own direction, in mm."""
SLIDE_STEP_MM = 0.4
"""Step of the slides that are tried, in mm."""
STRETCH_STEP_MM = 0.8
"""Step of the stretches that are tried, in mm at the ruler's ends."""
MAX_STRETCH_COST = 0.5
"""Cost of the largest stretch, in clear lines."""
MAX_LINE_WIDTH_MM = 2.4
"""Lines are narrower than this, in mm."""
SMOOTHING_MM = 2.0
"""Window over which line strengths are averaged, in mm."""
JOINT_CONTRAST_RANGE_MM = (1.0, 4.0)
"""Colours on both sides of a joint are compared between these distances from it, in mm."""
LEAST_STRENGTH = 0.2
"""Floor of the usual line strength, in L*a*b* units."""


def band_profile(strip: Strip, kind: RulerKind, low: float, high: float) -> Array:
    """Mean colours (S, 3) along the ruler, between two offsets across it in shares of its width."""
    above = strip.across_mm >= low * kind.width_mm
    below = strip.across_mm <= high * kind.width_mm
    return np.asarray(strip.lab[:, above & below].mean(1), float)


def ridge_strength(profile: Array, strip: Strip) -> Array:
    """How much each sample (S,) differs from both its sides: strong at lines, not at steps."""
    reach = max(1, round(MAX_LINE_WIDTH_MM / strip.step_mm))
    padded = np.pad(profile, ((reach, reach), (0, 0)), mode="edge")
    from_left = profile - padded[: -2 * reach]
    from_right = profile - padded[2 * reach :]
    product = (from_left * from_right).sum(1)
    return np.asarray(np.sqrt(np.maximum(product, 0)))


def crossing_strength(ridge: Array, profile: Array, strip: Strip, kind: RulerKind) -> Array:
    """How clearly something crosses the ruler at each sample (S,).

    That is a line or, if the ruler is jointed, a change of colour as well.
    """
    if not kind.jointed:
        return ridge
    near, far = (max(1, round(reach / strip.step_mm)) for reach in JOINT_CONTRAST_RANGE_MM)
    total = np.cumsum(np.pad(profile, ((1, 0), (0, 0))), axis=0)
    at = np.arange(len(profile))
    after = _window_means(total, at + near, at + far)
    before = _window_means(total, at - far, at - near)
    step = np.linalg.norm(after - before, axis=1)
    return np.asarray(np.hypot(ridge, step))


def _window_means(total: Array, low: NDArray[np.intp], high: NDArray[np.intp]) -> Array:
    """Means (S, 3) over windows of a profile, by its cumulative sum (S + 1, 3)."""
    count = len(total) - 1
    low = np.clip(low, 0, count - 1)
    high = np.clip(high, 1, count)
    sums = total[np.maximum(high, low + 1)] - total[low]
    return np.asarray(sums / np.maximum(high - low, 1)[:, None])


def strength_at(ridge: Array, strip: Strip, places: Array) -> Array:
    """The smoothed strength at distances `places` along the ruler."""
    return np.asarray(np.interp(places, strip.along_mm, _smooth_ridge(ridge, strip)))


def _smooth_ridge(ridge: Array, strip: Strip) -> Array:
    width = max(1, round(SMOOTHING_MM / strip.step_mm))
    return np.convolve(ridge, np.ones(width) / width, "same")


def align_lines(ridge: Array, slope: Array, strip: Strip, kind: RulerKind) -> tuple[Array, float]:
    """Fit evenly spaced lines (n - 1,); also return their strength relative to the usual one.

    Both lines and ends count, each by its strength relative to the usual one: a strong printed
    figure cannot stand in for five lines.
    """
    along = strip.along_mm
    offsets, stretches = _tried_shifts(kind)
    joints = kind.segment_mm * np.arange(kind.segments + 1) - kind.length_mm / 2
    places = joints * (1 + stretches[:, None])
    places = places[:, None] + kind.length_mm / 2 + offsets[:, None]
    inside = (along > 5) & (along < kind.length_mm - 5)
    smooth = _smooth_ridge(ridge, strip)
    usual = max(float(smooth[inside].mean()), LEAST_STRENGTH)
    line_strength = _relative_strength(smooth, inside)
    end_strength = _relative_strength(_smooth_ridge(slope, strip), inside)
    line_merit = np.interp(places[..., 1:-1], along, line_strength).sum(-1)
    end_merit = np.interp(places[..., [0, -1]], along, end_strength).sum(-1)
    merit = line_merit + end_merit
    merit -= MAX_STRETCH_COST * np.abs(stretches[:, None]) / kind.stretch
    best = np.unravel_index(merit.argmax(), merit.shape)
    lines = np.asarray(places[best][1:-1])
    return lines, float(np.interp(lines, along, smooth).mean() / usual)


def _tried_shifts(kind: RulerKind) -> tuple[Array, Array]:
    """The slides (mm) and the stretches (shares) that are tried."""
    is_short = kind.segment_mm < 2.5 * MAX_SLIDE_MM
    slide = min(MAX_SLIDE_MM, 0.45 * kind.segment_mm) if is_short else 1.4 * MAX_SLIDE_MM
    count = int(np.ceil(kind.stretch * kind.length_mm / 2 / STRETCH_STEP_MM))
    stretches = np.linspace(-kind.stretch, kind.stretch, 2 * count + 1)
    return np.arange(-slide, slide, SLIDE_STEP_MM), stretches


def _relative_strength(height: Array, inside: NDArray[np.bool_]) -> Array:
    """Strengths (S,) from 0 to 1, relative to the usual one inside the ruler."""
    usual = max(float(height[inside].mean()), LEAST_STRENGTH)
    return np.asarray(height / (height + 3 * usual))


def locate_line(ridge: Array, crossing: Array, along: Array, near: float) -> float:
    """Where a line lies near a place, by its ridge or else by whatever crosses the ruler."""
    jointed = crossing is not ridge
    close = np.abs(along - near) < (RIDGE_SEARCH_MM if jointed else LINE_WINDOW_MM)
    if jointed and ridge[close].max() > MIN_RIDGE_RATIO * crossing[close].max():
        near = float(along[close][ridge[close].argmax()])
        crossing = ridge
    window = np.abs(along - near) < LINE_WINDOW_MM
    total = float(crossing[window].sum())
    if total <= 0:
        return near
    return float((crossing[window] * along[window]).sum()) / total
