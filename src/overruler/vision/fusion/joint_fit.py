"""The places and heights of all bases by all photos at once, with one joint covariance.

Least squares over all sightings: each photo's camera and table bow err as its calibration says, each
fit errs by itself, unless photos are from about one place, and a base's height is a parameter with
a prior. The cameras' errors are shared by
all bases of a photo, so bases that several photos see also correct the cameras. Errors of the table
itself (its print's scale, its misfit) are the same in all photos and are added at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from overruler.calibration import Calibration
from overruler.geometry.pose import Array
from overruler.vision.pairing.sighting import Sighting

MIN_HEIGHT_SIGMA_MM = 0.02
"""Least 1 σ of a base's height over the board: a grain of dust."""
RARE_WEIGHT = 0.2
"""Share of the rare covariance in the weights of the fit."""
SAME_VIEW_CORRELATION = 0.6
"""Correlation of two fits of one base in photos from one place: the same rim, shadow and mat mislead
both. On eight views of a rendered film it was 0.5, 0.45, 0.3 and 0.2 at chords of 0.2, 0.4, 0.5 and
0.7; on four tables of photos a third of a turn apart -0.06 ± 0.05."""
SAME_VIEW_CHORD = 0.6
"""Distance of two unit vectors from a base to cameras at which that correlation falls to 1 / e of it:
70° round the table for cameras tilted by 30°."""


@dataclass(frozen=True, slots=True, eq=False)
class PlacedBase:
    """A base with its sightings and what is known of its height beforehand."""

    sightings: tuple[Sighting, ...]
    z_mm: float
    """About its height; the fit is linear about it."""
    z_sigma_mm: float
    """1 σ of the prior of its height."""
    level: int | None = None
    """Number of the flat top that it shares its height with; None for a height of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class JointFit:
    """The result for N bases, M sightings and P photos."""

    xy_mm: Array
    """(N, 2)."""
    z_mm: Array
    """(N,)."""
    z_sigma_mm: Array
    """(N,): 1 σ of the heights, by the rare covariance."""
    usual_mm2: Array
    """(2 N, 2 N): covariance on a table as its board file specifies, table errors left out."""
    rare_mm2: Array
    """(2 N, 2 N): the same if something about the table is off."""
    residuals_mm: Array
    """(M, 2): what each sighting is off its prediction."""
    chi2: Array
    """(M,): its squared distance, in σ, from what the other sightings predict."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """The measurements of M sightings and N height priors, stacked: 2 M + N."""

    values: Array
    """(2 M + N,)."""
    design: Array
    """(2 M + N, 3 N): derivative by each base's x, y and z."""


def fit_jointly(bases: Sequence[PlacedBase], level_sigma_mm: float) -> JointFit:
    """Fit N bases to all their sightings; bases on one level differ by `level_sigma_mm` in height."""
    sightings = [(k, one) for k, base in enumerate(bases) for one in base.sightings]
    rows = _stack_rows(bases, sightings)
    usual = _noise(bases, sightings, level_sigma_mm, rare=False)
    rare = _noise(bases, sightings, level_sigma_mm, rare=True)
    noise = (1 - RARE_WEIGHT) * usual + RARE_WEIGHT * rare
    weighted = np.linalg.solve(noise, rows.design)
    information = rows.design.T @ weighted
    gain = np.linalg.solve(information, weighted.T)
    state = gain @ rows.values
    residuals = rows.values - rows.design @ state
    count, sights = len(bases), len(sightings)
    places = np.reshape(state, (count, 3))
    xy = _places_only(count)
    covariances = [gain @ each @ gain.T for each in (usual, rare)]
    heights = np.sqrt(np.diag(covariances[1])[2::3])
    return JointFit(
        xy_mm=places[:, :2],
        z_mm=places[:, 2],
        z_sigma_mm=np.asarray(heights),
        usual_mm2=_symmetric(covariances[0][np.ix_(xy, xy)]),
        rare_mm2=_symmetric(covariances[1][np.ix_(xy, xy)]),
        residuals_mm=residuals[: 2 * sights].reshape(-1, 2),
        chi2=_left_out_chi2(noise, rows.design, residuals, sights),
    )


def _places_only(count: int) -> Array:
    """Indices (2 N,) of x and y among x, y and z of N bases."""
    return np.asarray((3 * np.arange(count)[:, None] + [0, 1]).ravel())


def _symmetric(matrix: Array) -> Array:
    return np.asarray((matrix + matrix.T) / 2)


def _stack_rows(bases: Sequence[PlacedBase], sightings: Sequence[tuple[int, Sighting]]) -> _Rows:
    count, sights = len(bases), len(sightings)
    values = np.zeros(2 * sights + count)
    design = np.zeros((2 * sights + count, 3 * count))
    for m, (k, one) in enumerate(sightings):
        z_mm = bases[k].z_mm
        relief = one.relief_at(z_mm)
        two = slice(2 * m, 2 * m + 2)
        # seen at z, a base at another height lies aside by the relief displacement
        values[two] = one.place_at(z_mm) - relief * z_mm
        design[two, 3 * k : 3 * k + 2] = np.eye(2)
        design[two, 3 * k + 2] = -relief
    for k, base in enumerate(bases):
        values[2 * sights + k] = base.z_mm
        design[2 * sights + k, 3 * k + 2] = 1
    return _Rows(values, design)


def _noise(
    bases: Sequence[PlacedBase],
    sightings: Sequence[tuple[int, Sighting]],
    level_sigma_mm: float,
    rare: bool,
) -> Array:
    """(2 M + N, 2 M + N): covariance of the measurements and of the height priors."""
    count, sights = len(bases), len(sightings)
    noise = np.zeros((2 * sights + count, 2 * sights + count))
    for members in _group_by_photo(sightings):
        calibration = sightings[members[0]][1].photo.calibration
        jacobian = np.concatenate(
            [sightings[m][1].jacobian_at(bases[sightings[m][0]].z_mm) for m in members]
        )
        camera = _camera_covariance(calibration, rare or sightings[members[0]][1].photo.is_off)
        at = np.ravel([[2 * m, 2 * m + 1] for m in members])
        noise[np.ix_(at, at)] = jacobian @ camera @ jacobian.T
    for m, (_, one) in enumerate(sightings):
        two = slice(2 * m, 2 * m + 2)
        noise[two, two] += one.own_covariance_mm2(rare or one.photo.is_off)
    _add_common_errors(noise, bases, sightings, rare)
    heights = np.diag([_height_variance(base, rare) for base in bases])
    for level in {base.level for base in bases} - {None}:
        on = np.array([base.level == level for base in bases])
        variances = np.where(on, np.diag(heights), 0)
        heights[np.ix_(on, on)] = variances.max()
        heights[on, on] += level_sigma_mm**2
    noise[2 * sights :, 2 * sights :] = heights
    return noise


def _add_common_errors(
    noise: Array, bases: Sequence[PlacedBase], sightings: Sequence[tuple[int, Sighting]], rare: bool
) -> None:
    """Add what fits of one base have in common in photos from about one place."""
    first = 0
    for base in bases:
        seen = base.sightings
        rays = [one.ray_at(base.z_mm) for one in seen]
        roots = [_root(one.own_covariance_mm2(rare or one.photo.is_off)) for one in seen]
        for i, j in combinations(range(len(seen)), 2):
            apart = float(np.linalg.norm(rays[i] - rays[j])) / SAME_VIEW_CHORD
            common = SAME_VIEW_CORRELATION * float(np.exp(-(apart**2))) * roots[i] @ roots[j]
            m, n = 2 * (first + i), 2 * (first + j)
            noise[m : m + 2, n : n + 2] += common
            noise[n : n + 2, m : m + 2] += common.T
        first += len(seen)


def _root(covariance: Array) -> Array:
    """The symmetric square root of a covariance (2, 2)."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T)


def _group_by_photo(sightings: Sequence[tuple[int, Sighting]]) -> list[list[int]]:
    """Numbers of the sightings of each photo."""
    groups: dict[int, list[int]] = {}
    for m, (_, one) in enumerate(sightings):
        groups.setdefault(one.photo.index, []).append(m)
    return list(groups.values())


def _camera_covariance(calibration: Calibration, rare: bool) -> Array:
    return calibration.covariances.rare if rare else calibration.covariances.usual


def _height_variance(base: PlacedBase, rare: bool) -> float:
    """Variance of a height's prior; that of the board by the budget of the photos."""
    if base.z_sigma_mm:
        return base.z_sigma_mm**2
    budget = base.sightings[0].photo.calibration.budget
    height_mm = budget.height_mm if rare else budget.as_specified.height_mm
    return max(height_mm, MIN_HEIGHT_SIGMA_MM) ** 2


def _left_out_chi2(noise: Array, design: Array, residuals: Array, sights: int) -> Array:
    """(M,): squared distance of each sighting, in σ, from the prediction of all other rows."""
    inverse = np.linalg.inv(noise)
    weighted = inverse @ design
    left = inverse - weighted @ np.linalg.solve(design.T @ weighted, weighted.T)
    pulled = inverse @ residuals
    chi2 = []
    for m in range(sights):
        two = slice(2 * m, 2 * m + 2)
        block = left[two, two] + 1e-9 * np.eye(2)
        chi2.append(float(pulled[two] @ np.linalg.solve(block, pulled[two])))
    return np.array(chi2)
