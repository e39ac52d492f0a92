"""The rims of round bases brought to rest on the edges that the photo shows of them: many at once.

Along each of many radii the photo is sampled across the predicted outline; every edge found there competes with the
others and with "hidden", and the place (x, y) is the robust least squares over them.
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
from overruler.vision.contours.silhouette import PROFILES, Profile, RimContours, project_rims

SEARCH_REACH_SIGMA = 2.2
"""How far from the predicted outline an edge is looked for."""
WIDE_EDGE_SIGMA_PX, NARROW_EDGE_SIGMA_PX = 1.0, 0.35
"""1 σ of an edge about the outline at the start of the last pass, and at its end."""
REWEIGHTING_ITERATIONS = 6
MIN_EDGES = 8
CORRELATION_INFLATION = 3.2
"""Neighbouring radii share texture, shadow and blur: 1 σ is this much larger than independent edges would have it."""

RimModel = tuple[Profile, bool]
"""How a base is taken to be seen: its profile, and whether by its upper rim, the outline being lost."""
OUTLINE_MODELS: tuple[RimModel, ...] = tuple((profile, False) for profile in PROFILES)
RIM_MODELS: tuple[RimModel, ...] = tuple(
    (profile, upper) for profile in PROFILES for upper in (False, True)
)
PlaceKey = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class BaseHypothesis:
    """A base that may stand somewhere."""

    start_mm: Array
    """(2,): the guess."""
    start_sigma_mm: float
    """Its 1 σ."""
    radius_mm: float
    z_mm: float
    """Where the lower rim lies."""
    rim_models: Sequence[RimModel] = RIM_MODELS
    """How it may be seen: profiles with outline or upper rim."""
    facing: Array | None = None
    """(2,): a direction that the parts of the rim must face that are looked at; None for all of it."""

    @property
    def place(self) -> PlaceKey:
        return float(self.start_mm[0]), float(self.start_mm[1]), self.z_mm

    def profiles(self, upper: bool) -> list[Profile]:
        return [profile for profile, which in self.rim_models if which == upper]

    def rays(self, mm_per_px: float) -> Array:
        """The directions (K, 2) to look along where a pixel is so large."""
        every = ray_directions(self.radius_mm, mm_per_px)
        return every if self.facing is None else every[every @ self.facing > 0]


@dataclass(frozen=True, slots=True, eq=False)
class FitAttempt:
    """One way to see one base, and where the fit begins."""

    hypothesis: BaseHypothesis
    view: LabPatch
    center_mm: Array
    """(2,)."""
    profile: Profile
    upper: bool

    @property
    def initial_edge_sigma_px(self) -> float:
        """1 σ of an edge about the outline at first."""
        return float(
            np.clip(
                self.hypothesis.start_sigma_mm / self.view.mm_per_px,
                WIDE_EDGE_SIGMA_PX,
                4 * WIDE_EDGE_SIGMA_PX,
            )
        )


@dataclass(frozen=True, slots=True, eq=False)
class FittedRim(FitAttempt):
    """One profile's fit at rest."""

    covariance_mm2: Array
    """(2, 2)."""
    spread_mm: float
    """1 σ of the edges about the rim, those counted that may well be something else."""
    weight: Array
    """(K,): how surely the rim was seen on each ray."""
    directions: Array
    """(K, 2): the rays."""
    rims: RimContours
    visible_shares: tuple[float, float] = (0.0, 0.0)
    merit: float = 0.0


def fit_rims(tries: Sequence[FitAttempt]) -> list[FittedRim]:
    """From a wide look, by the first of the profiles for all of them, to a narrow one by each."""
    near, far = (
        [one for one in tries if (one.initial_edge_sigma_px > WIDE_EDGE_SIGMA_PX) == which]
        for which in (False, True)
    )
    wide = _fit_pass(far, [one.initial_edge_sigma_px for one in far])
    rough = _fit_pass(near, [WIDE_EDGE_SIGMA_PX] * len(near)) + _fit_pass(
        wide, [(one.initial_edge_sigma_px * WIDE_EDGE_SIGMA_PX) ** 0.5 for one in wide]
    )
    each = [
        FitAttempt(one.hypothesis, one.view, one.center_mm, profile, one.upper)
        for one in rough
        for profile in one.hypothesis.profiles(one.upper)
    ]
    return _fit_pass(each, [WIDE_EDGE_SIGMA_PX] * len(each))


def _fit_pass(tries: Sequence[FitAttempt], sigma_px: Sequence[float]) -> list[FittedRim]:
    """The tries at rest, by the edges about their rims with so large a σ; without those that see hardly any."""
    if not tries:
        return []
    rays = [one.hypothesis.rays(one.view.mm_per_px) for one in tries]
    rims = [
        project_rims(
            one.view.camera,
            one.center_mm,
            one.hypothesis.radius_mm,
            one.view.z_mm,
            one.profile,
            directions,
        )
        for one, directions in zip(tries, rays, strict=True)
    ]
    contours = [some.contour(one.upper) for one, some in zip(tries, rims, strict=True)]
    contour, normals = (np.concatenate(part) for part in zip(*contours, strict=True))
    scale, wide, counts = (
        np.array([one.view.mm_per_px for one in tries]),
        np.array(sigma_px),
        list(map(len, rays)),
    )
    base = np.repeat(np.arange(len(tries)), counts)
    reach = (SEARCH_REACH_SIGMA * wide * scale)[base]
    edges = _find_edges(
        tries,
        rays,
        contour - reach,
        contour + reach,
        np.array([ray_step_px(one) for one in sigma_px]),
    )
    of, normal = base[edges.ray], normals[edges.ray]
    offset = (edges.radius_mm - contour[edges.ray]) * np.sum(
        normal * np.concatenate(rays)[edges.ray], axis=-1
    )
    shift, weight, information = _solve_reweighted(edges, of, normal, offset, scale, wide)
    left = offset - np.sum(normal * shift[of], axis=-1)
    spreads = [
        _residual_sigmas_mm(of, one, left, len(tries))
        for one in (
            weight,
            association_weights(edges, left, (WIDE_EDGE_SIGMA_PX * scale)[of], len(base)),
        )
    ]
    covariance = (
        np.linalg.inv(information) * (spreads[0] * CORRELATION_INFLATION)[:, None, None] ** 2
    )
    by_ray = np.split(np.bincount(edges.ray, weight, len(base)), np.cumsum(counts)[:-1])
    found = zip(tries, shift, covariance, spreads[1].tolist(), by_ray, rays, rims, strict=True)
    return [
        FittedRim(one.hypothesis, one.view, one.center_mm + moved, one.profile, one.upper, *rest)
        for (one, moved, *rest), many in zip(
            found, np.bincount(of, minlength=len(tries)), strict=True
        )
        if many >= MIN_EDGES
    ]


def _find_edges(
    tries: Sequence[FitAttempt],
    rays: Sequence[Array],
    inner_mm: Array,
    outer_mm: Array,
    every_px: Array,
) -> RadialEdges:
    """The edges on the rays (K, 2) of each of the tries, between so far from its centre and so far."""
    counts = [len(some) for some in rays]
    centers = np.repeat([one.center_mm for one in tries], counts, axis=0)
    views = [one.view for one in tries]
    return find_radial_edges_of_each(
        views, counts, centers, np.concatenate(rays), inner_mm, outer_mm, every_px
    )


def visible_rim_shares(settled: Sequence[FittedRim]) -> list[tuple[float, float]]:
    """The shares of outline and upper rim that are seen, the latter where it can be told from the former."""
    if not settled:
        return []
    rays = [one.directions for one in settled]
    counts = [len(some) for some in rays]
    scale = np.repeat([one.view.mm_per_px for one in settled], counts)
    outline, upper = (
        np.concatenate([getattr(one.rims, name) for one in settled])
        for name in ("outline_mm", "upper_mm")
    )
    sigma = NARROW_EDGE_SIGMA_PX * scale
    edges = _find_edges(
        settled, rays, upper - 2 * sigma, outline + 2 * sigma, np.full(len(settled), RAY_STEP_PX)
    )
    shown = []
    for contour, told in ((outline, True), (upper, outline - upper > scale)):
        weight = association_weights(
            edges, edges.radius_mm - contour[edges.ray], sigma[edges.ray], len(scale)
        )
        seen = np.minimum(np.bincount(edges.ray, weight, len(scale)), 1) * told
        shown.append(np.add.reduceat(seen, np.cumsum([0, *counts])[:-1]) / counts)
    return list(zip(*(part.tolist() for part in shown), strict=True))


def _solve_reweighted(
    edges: RadialEdges,
    of: NDArray[np.intp],
    normal: Array,
    offset_mm: Array,
    mm_per_px: Array,
    wide_px: Array,
) -> tuple[Array, Array, Array]:
    """The shifts (N, 2) of the centres, each edge's weight (M,) and the information matrices (N, 2, 2), by reweighting.

    Edge by edge: `of` which of the N it is, the rim's normal (M, 2) there, and how far outside of it (M,) it lies.
    """
    (x, y), count, rays = normal.T, len(wide_px), int(edges.ray.max(initial=-1)) + 1
    sums = x * x, x * y, y * y, x * offset_mm, y * offset_mm
    shift, weight = np.zeros((count, 2)), edges.strength
    xx: Array = np.ones(count)
    xy = yy = xx
    for step in np.linspace(0, 1, REWEIGHTING_ITERATIONS).tolist():
        sigma = mm_per_px * wide_px * (NARROW_EDGE_SIGMA_PX / wide_px) ** step
        weight = association_weights(
            edges, offset_mm - x * shift[of, 0] - y * shift[of, 1], sigma[of], rays
        )
        xx, xy, yy, right, up = np.array(
            [np.bincount(of, weight * one, count) for one in sums], float
        )
        xx, yy = xx + 1e-3, yy + 1e-3
        shift = np.stack(
            [yy * right - xy * up, xx * up - xy * right], -1
        )  # solved by Cramer's rule
        shift /= (xx * yy - xy * xy)[:, None]
    return shift, weight, np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -1)


def residual_sigma_mm(weight: Array, left_mm: Array) -> float:
    """1 σ of what is left of edges (M,) that a place (x, y) was fitted to."""
    return float(_residual_sigmas_mm(np.zeros(len(weight), int), weight, left_mm, 1)[0])


def _residual_sigmas_mm(of: NDArray[np.intp], weight: Array, left_mm: Array, count: int) -> Array:
    """The same of the edges of so many places at once."""
    square, free = (np.bincount(of, one, count) for one in (weight * left_mm**2, weight))
    return np.asarray(np.sqrt(square / np.maximum(free - 2, 1)))
