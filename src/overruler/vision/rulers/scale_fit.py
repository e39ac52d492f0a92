"""A ruler's apparent scale, from its ends and its cross lines."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.rulers.cross_lines import (
    align_lines,
    band_profile,
    crossing_strength,
    locate_line,
    ridge_strength,
    strength_at,
)
from overruler.vision.rulers.ruler_ends import locate_end
from overruler.vision.rulers.strip import RulerKind, Strip

LINE_BANDS = ((-0.45, 0.45), (-0.45, -0.2), (-0.25, 0.0), (0.0, 0.25), (0.2, 0.45))
"""Bands across the ruler in which lines are sought, in shares of its width.

Some lines reach only part of the way across, and figures are printed beside them."""
MIN_LINE_STRENGTH = 2.0
"""Least strength of a cross line that is present, in L*a*b* units against what lies beside it."""
MAX_SEGMENTS_ALL_LINES = 5
"""A ruler of at most this many segments must show all its lines, a longer one most of them."""
MAX_SEGMENTS_ALL_ENDS = 3
"""Both ends of a ruler of at most this many segments must be visible, and all must agree."""
END_SIGMA_MM = 0.4
"""1 σ of an end, in mm, where ends and lines are asked whether they agree."""
LINE_SIGMA_MM = 0.06
"""Least 1 σ of a cross line, in mm, for the same."""
LINE_SIGMA_PX = 0.08
"""Least 1 σ of a cross line, in photo pixels, for the same."""
USUAL_LINE_SIGMA_PX = 0.15
"""1 σ of the error of a cross line, in photo pixels, beside `LINE_SIGMA_MM`: lines are sharper than they are
true. With this and the next four 92 % of 42 segments on 35 rendered photos were right within
1.96 σ, 57 % with those above."""
LINE_SIGMA_BY_SPREAD = 0.65
"""The same for a pixel by which white spreads over black: too much light moves paint, too."""
USUAL_END_SIGMA_MM = 0.6
"""1 σ of the error of an end, in mm."""
USUAL_END_SIGMA_PX = 0.6
"""The same in photo pixels, beside that. Both ends spread alike by half of it."""
END_SIGMA_BY_SPREAD = 1.8
"""The same for a pixel by which white spreads over black."""
LINE_PRINT_SIGMA_MM = 0.8
"""1 σ of the common offset of all printed lines from their joints, in mm."""
EDGE_SPREAD_SIGMA_MM = 0.2
"""1 σ of how far both ends appear to lie too far out, in mm."""
ALTERNATION_SIGMA_MM = 1.5
"""1 σ of the alternating offset of the lines where segments alternate between two colours, in mm."""
NO_ALTERNATION_SIGMA_MM = 1e-3
"""The same for a ruler of one piece."""
HIDDEN_END_SIGMA_MM = 1e3
"""1 σ of an end that is not visible, in mm."""
OUTLIER_SIGMAS = 3.0
"""Measurements farther off than this are outliers, in σ."""
ROBUST_SCALE_SIGMAS = 2.5
"""Residual at which the weight falls to half, in σ (Cauchy)."""
MIN_AGREEING_SHARE = 0.7
"""Least share of a long ruler's ends and lines that agree."""
MAX_SCATTER_SIGMAS = 5.0
"""Largest scatter of ends and lines, in their stated σ."""


@dataclass(frozen=True, slots=True, eq=False)
class ScaleFit:
    """A ruler's scale."""

    start_mm: float
    """Where its first end lies along the strip."""
    segment_mm: float
    """Apparent length of a segment."""
    sigma_mm: float
    """1 σ of that."""
    line_contrast: float
    """Ratio of its cross lines' strength to that of anything else across it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Solution:
    """A robust least-squares solution of P parameters from N measurements."""

    parameters: Array
    """(P,)."""
    covariance: Array
    """(P, P)."""
    scatter: float
    """Scatter of the measurements in their stated σ, at least 1."""
    inlier: NDArray[np.bool_]
    """(N,): whether each is no outlier."""


def fit_scale(
    strip: Strip, kind: RulerKind, edge_spread_mm: float, mm_per_px: float, white_spread_px: float
) -> ScaleFit | None:
    """Fit the ruler's scale to its ends and lines; edges appear `edge_spread_mm` too far out.

    White spreads over black by `white_spread_px` in this photo.

    None where too few of them are found or agree.
    """
    profiles = [band_profile(strip, kind, *band) for band in LINE_BANDS]
    ridges = [ridge_strength(profile, strip) for profile in profiles]
    crossings = [
        crossing_strength(ridge, profile, strip, kind)
        for ridge, profile in zip(ridges, profiles, strict=True)
    ]
    slope = np.append(np.linalg.norm(np.diff(profiles[0], axis=0), axis=1), 0.0)
    aligned = [align_lines(crossing, slope, strip, kind) for crossing in crossings]
    best = max(range(len(LINE_BANDS)), key=lambda band: aligned[band][1])
    places, line_contrast = aligned[best]
    if line_contrast < kind.min_line_contrast:
        return None
    present = strength_at(crossings[best], strip, places) > MIN_LINE_STRENGTH
    needed = MIN_AGREEING_SHARE if kind.segments > MAX_SEGMENTS_ALL_LINES else 1
    if np.mean(present) < needed:
        return None
    ridge, crossing = ridges[best], crossings[best]
    lines = [locate_line(ridge, crossing, strip.along_mm, float(place)) for place in places]
    scale = _solve_scale(
        strip, kind, profiles[0], lines, edge_spread_mm, mm_per_px, white_spread_px
    )
    return None if scale is None else ScaleFit(*scale, line_contrast)


def _solve_scale(
    strip: Strip,
    kind: RulerKind,
    profile: Array,
    lines: Sequence[float],
    edge_spread_mm: float,
    mm_per_px: float,
    white_spread_px: float,
) -> tuple[float, float, float] | None:
    """The start, the step and the step's 1 σ of an even scale through ends and lines, in mm.

    None where too few ends and lines agree.
    """
    n = kind.segments
    step = float(np.median(np.diff(lines))) if len(lines) > 1 else kind.segment_mm
    first = locate_end(profile, strip, lines[0] - step, -1)
    last = locate_end(profile, strip, lines[-1] + step, 1)
    if n <= MAX_SEGMENTS_ALL_ENDS and (first is None or last is None):
        return None
    ends, faces = _end_measurements(strip, first, last)
    right = np.array([*ends, *lines, 0.0, edge_spread_mm, 0.0])
    line = max(LINE_SIGMA_MM, LINE_SIGMA_PX * mm_per_px)
    sharp = _sigmas(kind, np.hypot(END_SIGMA_MM, faces), line, EDGE_SPREAD_SIGMA_MM)
    solution = _robust_least_squares(_design_matrix(n), right, sharp)
    agreeing = solution.inlier[: n + 1] & (sharp[: n + 1] < HIDDEN_END_SIGMA_MM)
    needed = (1 if n <= MAX_SEGMENTS_ALL_ENDS else MIN_AGREEING_SHARE) * (n + 1)
    if solution.scatter > MAX_SCATTER_SIGMAS or agreeing.sum() < needed:
        return None
    usual = _usual_sigmas(kind, faces, mm_per_px, white_spread_px)
    solution = _robust_least_squares(_design_matrix(n), right, usual)
    if abs(solution.parameters[1] / kind.segment_mm - 1) > kind.stretch:
        return None
    start, segment = (float(value) for value in solution.parameters[:2])
    return start, segment, float(np.sqrt(solution.covariance[1, 1]))


def _usual_sigmas(kind: RulerKind, faces: Array, mm_per_px: float, white_spread_px: float) -> Array:
    """1 σ (N + 4,) in mm by which lines and ends usually err; `faces` (2,) is that of the ends' sides."""
    line_px = np.hypot(USUAL_LINE_SIGMA_PX, LINE_SIGMA_BY_SPREAD * white_spread_px)
    end_px = np.hypot(USUAL_END_SIGMA_PX, END_SIGMA_BY_SPREAD * white_spread_px)
    line = float(np.hypot(LINE_SIGMA_MM, line_px * mm_per_px))
    end = float(np.hypot(USUAL_END_SIGMA_MM, end_px * mm_per_px))
    spread = float(np.hypot(EDGE_SPREAD_SIGMA_MM, end_px * mm_per_px / 2))
    return _sigmas(kind, np.hypot(end, faces), line, spread)


def _sigmas(kind: RulerKind, ends: Array, line: float, spread: float) -> Array:
    """1 σ (N + 4,) in mm of the rows of `_design_matrix`, by those of the ends (2,) and of a line."""
    alternation = ALTERNATION_SIGMA_MM if kind.jointed else NO_ALTERNATION_SIGMA_MM
    return np.array(
        [*ends, *[line] * (kind.segments - 1), LINE_PRINT_SIGMA_MM, spread, alternation]
    )


def _end_measurements(
    strip: Strip, first: float | None, last: float | None
) -> tuple[list[float], Array]:
    """Places of both ends, less the visible part of their side faces, and what 1 σ (2,) that adds, in mm."""
    outwards = strip.relief_displacement_mm[:, 0] * np.array([-1, 1])
    faces = np.maximum(outwards, 0)
    places, sigmas = [], []
    for end, side, face in zip((first, last), (-1, 1), faces, strict=True):
        places.append((end or 0.0) - side * face)
        sigmas.append(HIDDEN_END_SIGMA_MM if end is None else face / 3)
    return places, np.array(sigmas)


def _design_matrix(n: int) -> Array:
    """Rows (n + 4, 5) of two ends, n - 1 lines and three priors.

    The parameters are the start, the step, the common offset of the lines, the spread of the ends,
    and the alternating offset of the lines.
    """
    k = np.arange(1, n)
    rows = np.zeros((n + 4, 5))
    rows[: n + 1, 0] = 1
    rows[:2, 1] = (0, n)
    rows[:2, 3] = (-1, 1)
    rows[2 : n + 1, 1] = k
    rows[2 : n + 1, 2] = 1
    rows[2 : n + 1, 4] = (-1.0) ** k
    rows[n + 1 :, 2:] = np.eye(3)
    return rows


def _robust_least_squares(rows: Array, right: Array, sigma: Array) -> _Solution:
    """Least squares, reweighted so that outliers count little."""
    weight = 1 / sigma**2
    for _ in range(8):
        covariance = np.linalg.inv(rows.T @ (rows * weight[:, None]))
        parameters = covariance @ rows.T @ (weight * right)
        z = (right - rows @ parameters) / sigma
        weight = 1 / sigma**2 / (1 + (z / ROBUST_SCALE_SIGMAS) ** 2)
    chi2 = float(np.sum(z**2 / (1 + (z / ROBUST_SCALE_SIGMAS) ** 2)))
    by_median = float(1.4826 * np.median(np.abs(z)))
    by_chi2 = float(np.sqrt(chi2 / (len(z) - rows.shape[1])))
    scatter = max(1.0, by_median, by_chi2)
    inlier = np.abs(z) < OUTLIER_SIGMAS * scatter
    return _Solution(parameters, np.asarray(covariance * scatter**2), scatter, inlier)
