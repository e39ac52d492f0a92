"""Fit the rims of round bases to the edges in a photo, many at once.

The photo is sampled along rays across the predicted outline. The edges on a ray compete with each
other and with "hidden". The place (x, y) is the robust least-squares solution over all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import (
    RAY_STEP_PX,
    LabPatch,
    RadialEdges,
    association_weights,
    find_radial_edges_of_each,
    ray_directions,
    ray_step_px,
)
from overruler.vision.contours.rim_solver import (
    NARROW_EDGE_SIGMA_PX,
    SEARCH_REACH_SIGMA,
    solve_reweighted,
)
from overruler.vision.contours.silhouette import PROFILES, Profile, RimContours, project_rims

WIDE_EDGE_SIGMA_PX = 1.0
"""1 σ of an edge about the outline at the start of the last pass, in px."""
MAX_EDGE_SIGMA_PX = 4 * WIDE_EDGE_SIGMA_PX
"""Largest 1 σ of an edge about the outline in the first pass, in px."""
MIN_EDGES = 8
"""Least number of edges of a fit."""
CORRELATION_INFLATION = 3.2
"""Factor on σ: neighbouring rays share texture, shadow and blur."""

RimModel = tuple[Profile, bool]
"""How a base is seen: its profile, and whether by its upper rim because the outline is lost."""
OUTLINE_MODELS: tuple[RimModel, ...] = tuple((profile, False) for profile in PROFILES)
"""Every profile by its outline."""
RIM_MODELS: tuple[RimModel, ...] = tuple(
    (profile, upper) for profile in PROFILES for upper in (False, True)
)
"""Every profile, by its outline and by its upper rim."""
PlaceKey = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class BaseHypothesis:
    """A base that may stand at a place."""

    start_mm: Array
    """(2,): the expected place."""
    start_sigma_mm: float
    """1 σ of either of its coordinates."""
    radius_mm: float
    """Radius of the lower rim."""
    z_mm: float
    """Height of the lower rim."""
    rim_models: Sequence[RimModel] = RIM_MODELS
    """How it may be seen."""
    facing: Array | None = None
    """(2,): only the half of the rim on this side is used; None for all of it."""

    @property
    def place(self) -> PlaceKey:
        """Its expected place, as a key."""
        return float(self.start_mm[0]), float(self.start_mm[1]), self.z_mm

    def profiles(self, upper: bool) -> list[Profile]:
        """Return the profiles to fit by the upper rim, or by the outline."""
        return [profile for profile, by_upper in self.rim_models if by_upper == upper]

    def rays(self, mm_per_px: float) -> Array:
        """Return the directions (K, 2) of its rays."""
        every = ray_directions(self.radius_mm, mm_per_px)
        return every if self.facing is None else every[every @ self.facing > 0]


@dataclass(frozen=True, slots=True, eq=False)
class FitAttempt:
    """One way to see a base, and where its fit starts."""

    hypothesis: BaseHypothesis
    """The base."""
    view: LabPatch
    """The photo around it."""
    center_mm: Array
    """(2,): centre of the lower rim."""
    profile: Profile
    """Its shape seen from the side."""
    upper: bool
    """Whether the upper rim is fitted instead of the outline."""

    @property
    def initial_edge_sigma_px(self) -> float:
        """1 σ of an edge about the outline in the first pass."""
        sigma_px = self.hypothesis.start_sigma_mm / self.view.mm_per_px
        return float(np.clip(sigma_px, WIDE_EDGE_SIGMA_PX, MAX_EDGE_SIGMA_PX))


@dataclass(frozen=True, slots=True, eq=False)
class FittedRim(FitAttempt):
    """A converged fit of one profile."""

    covariance_mm2: Array
    """(2, 2)."""
    spread_mm: float
    """1 σ of the edges about the rim, doubtful ones included."""
    weight: Array
    """(K,): weight of the rim's edge on each ray."""
    directions: Array
    """(K, 2): the rays."""
    rims: RimContours
    """The predicted rims from which the last pass started."""
    visible_shares: tuple[float, float] = (0.0, 0.0)
    """Visible shares of outline and upper rim."""
    merit: float = 0.0
    """How much of both rims the photo shows."""


def fit_rims(tries: Sequence[FitAttempt]) -> list[FittedRim]:
    """Fit rims: a wide search with each base's first profile, then a narrow one with every one."""
    near = [attempt for attempt in tries if attempt.initial_edge_sigma_px <= WIDE_EDGE_SIGMA_PX]
    far = [attempt for attempt in tries if attempt.initial_edge_sigma_px > WIDE_EDGE_SIGMA_PX]
    wide = _fit_pass(far, [attempt.initial_edge_sigma_px for attempt in far])
    halfway = [(attempt.initial_edge_sigma_px * WIDE_EDGE_SIGMA_PX) ** 0.5 for attempt in wide]
    rough = _fit_pass(near, [WIDE_EDGE_SIGMA_PX] * len(near))
    rough += _fit_pass(wide, halfway)
    each = []
    for fit in rough:
        for profile in fit.hypothesis.profiles(fit.upper):
            each.append(FitAttempt(fit.hypothesis, fit.view, fit.center_mm, profile, fit.upper))
    return _fit_pass(each, [WIDE_EDGE_SIGMA_PX] * len(each))


def _fit_pass(tries: Sequence[FitAttempt], sigma_px: Sequence[float]) -> list[FittedRim]:
    """Fit all attempts with the given σ of their edges; those with too few edges are dropped."""
    if not tries:
        return []
    rays = [attempt.hypothesis.rays(attempt.view.mm_per_px) for attempt in tries]
    rims = [_predict_rims(attempt, part) for attempt, part in zip(tries, rays, strict=True)]
    contours = [some.contour(attempt.upper) for attempt, some in zip(tries, rims, strict=True)]
    contour = np.concatenate([distance for distance, _ in contours])
    normals = np.concatenate([normal for _, normal in contours])
    scale = np.array([attempt.view.mm_per_px for attempt in tries])
    wide = np.array(sigma_px)
    counts = [len(part) for part in rays]
    ray_base = np.repeat(np.arange(len(tries)), counts)
    reach = (SEARCH_REACH_SIGMA * wide * scale)[ray_base]
    steps_px = np.array([ray_step_px(sigma) for sigma in sigma_px])
    edges = _find_edges(tries, rays, contour - reach, contour + reach, steps_px)
    edge_base, normal = ray_base[edges.ray], normals[edges.ray]
    direction = np.concatenate(rays)[edges.ray]
    slant = np.sum(normal * direction, axis=-1)
    offset = (edges.radius_mm - contour[edges.ray]) * slant
    shift, weight, information = solve_reweighted(edges, edge_base, normal, offset, scale, wide)
    residual = offset - np.sum(normal * shift[edge_base], axis=-1)
    tight = _residual_sigmas_mm(edge_base, weight, residual, len(tries))
    loose = association_weights(
        edges, residual, (WIDE_EDGE_SIGMA_PX * scale)[edge_base], len(ray_base)
    )
    spread = _residual_sigmas_mm(edge_base, loose, residual, len(tries))
    sigma = tight * CORRELATION_INFLATION
    covariance = np.linalg.inv(information) * sigma[:, None, None] ** 2
    ray_weight = np.asarray(np.bincount(edges.ray, weight, len(ray_base)), float)
    weights = np.split(ray_weight, np.cumsum(counts)[:-1])
    edge_counts = np.bincount(edge_base, minlength=len(tries))
    return [
        _to_fitted_rim(tries[k], shift[k], covariance[k], spread[k], weights[k], rays[k], rims[k])
        for k in range(len(tries))
        if edge_counts[k] >= MIN_EDGES and np.isfinite(covariance[k]).all()
    ]


def _predict_rims(attempt: FitAttempt, directions: Array) -> RimContours:
    view, radius_mm = attempt.view, attempt.hypothesis.radius_mm
    return project_rims(
        view.camera, attempt.center_mm, radius_mm, view.z_mm, attempt.profile, directions
    )


def _to_fitted_rim(
    attempt: FitAttempt,
    shift: Array,
    covariance: Array,
    spread: float,
    weight: Array,
    directions: Array,
    rims: RimContours,
) -> FittedRim:
    return FittedRim(
        hypothesis=attempt.hypothesis,
        view=attempt.view,
        center_mm=attempt.center_mm + shift,
        profile=attempt.profile,
        upper=attempt.upper,
        covariance_mm2=covariance,
        spread_mm=float(spread),
        weight=weight,
        directions=directions,
        rims=rims,
    )


def _find_edges(
    tries: Sequence[FitAttempt],
    rays: Sequence[Array],
    inner_mm: Array,
    outer_mm: Array,
    every_px: Array,
) -> RadialEdges:
    """Find the edges on each attempt's rays (K, 2), between two distances from its centre."""
    counts = [len(part) for part in rays]
    centers = np.repeat([attempt.center_mm for attempt in tries], counts, axis=0)
    views = [attempt.view for attempt in tries]
    directions = np.concatenate(rays)
    return find_radial_edges_of_each(
        views, counts, centers, directions, inner_mm, outer_mm, every_px
    )


def visible_rim_shares(settled: Sequence[FittedRim]) -> list[tuple[float, float]]:
    """Return the visible shares of outline and upper rim.

    The upper rim counts where it can be told from the outline.
    """
    if not settled:
        return []
    rays = [fit.directions for fit in settled]
    counts = [len(part) for part in rays]
    scale = np.repeat([fit.view.mm_per_px for fit in settled], counts)
    outline = np.concatenate([fit.rims.outline_mm for fit in settled])
    upper = np.concatenate([fit.rims.upper_mm for fit in settled])
    sigma = NARROW_EDGE_SIGMA_PX * scale
    steps_px = np.full(len(settled), RAY_STEP_PX)
    starts = np.cumsum([0, *counts])[:-1]
    edges = _find_edges(settled, rays, upper - 2 * sigma, outline + 2 * sigma, steps_px)
    shares = []
    for contour, distinct in ((outline, True), (upper, outline - upper > scale)):
        off_mm = edges.radius_mm - contour[edges.ray]
        weight = association_weights(edges, off_mm, sigma[edges.ray], len(scale))
        by_ray = np.bincount(edges.ray, weight, len(scale))
        seen = np.minimum(by_ray, 1) * distinct
        shares.append(np.add.reduceat(seen, starts) / counts)
    outlines, uppers = (share.tolist() for share in shares)
    return list(zip(outlines, uppers, strict=True))


def residual_sigma_mm(weight: Array, left_mm: Array) -> float:
    """Return 1 σ of the residuals `left_mm` (M,) of edges to which a place (x, y) was fitted."""
    of = np.zeros(len(weight), int)
    return float(_residual_sigmas_mm(of, weight, left_mm, 1)[0])


def _residual_sigmas_mm(
    edge_base: NDArray[np.intp], weight: Array, left_mm: Array, count: int
) -> Array:
    """Do as `residual_sigma_mm` for `count` bases at once; `edge_base` (M,) is each edge's base."""
    squares = np.bincount(edge_base, weight * left_mm**2, count)
    total = np.bincount(edge_base, weight, count)
    return np.asarray(np.sqrt(squares / np.maximum(total - 2, 1)))
