"""The covariance of all sightings of a table, with all that they share."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from overruler.calibration import Case
from overruler.geometry.pose import Array
from overruler.vision.fusion.joint_cameras import joint_camera_covariances
from overruler.vision.pairing.levels import LEVEL_SIGMA_MM
from overruler.vision.pairing.sighting import PROFILE_SIGMA_MM, Sighting

CASES: tuple[Case, ...] = ("usual", "rare", "strange")
MIN_HEIGHT_SIGMA_MM = 0.02
"""Least 1 σ of a base's height over the board: a grain of dust."""
SAME_VIEW_CORRELATION = 0.3
"""Correlation of two fits of one base in photos from one place, beside what photos from all sides
share: the same rim, figure and mat mislead both. Likeliest for eight views of a rendered film."""
SAME_VIEW_CHORD = 0.6
"""Distance of two unit vectors from a base to cameras at which that correlation falls to 1 / e of it:
70° round the table for cameras tilted by 30°."""
SAME_PLATE_CORRELATION = 0.18
"""Correlation of two fits of one plate in photos from any sides: its card, its edge and a shadow
mislead all of them. Likeliest for 259 sightings on nine rendered tables."""


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
class TableNoise:
    """The covariances of M sightings and N height priors: 2 M + N rows and columns."""

    usual: Array
    rare: Array
    strange: Array
    """`rare`, should the cameras' lenses not be like most: for doubt alone, as in `Covariances`."""
    usual_own: Array
    """(M, 2, 2): the part of `usual` that is each sighting's own."""
    rare_own: Array
    """(M, 2, 2): the same of `rare`."""


def noise_of(bases: Sequence[PlacedBase], sightings: Sequence[tuple[int, Sighting]]) -> TableNoise:
    """The covariances of the measurements and of the height priors."""
    jacobians = [one.jacobian_at(bases[k].z_mm) for k, one in sightings]
    shared = _errors_in_both_cases(bases, sightings)
    noises: dict[Case, Array] = {}
    own: dict[Case, Array] = {}
    for case in CASES:
        rare = case != "usual"
        blocks = [_own_covariance_mm2(bases[k], one, rare) for k, one in sightings]
        own[case] = np.reshape(blocks, (-1, 2, 2))
        noises[case] = shared.copy()
        _add_errors_of_cameras(noises[case], sightings, jacobians, case)
        _add_own_errors(noises[case], bases, own[case])
        _add_errors_of_heights(noises[case], bases, rare)
    return TableNoise(noises["usual"], noises["rare"], noises["strange"], own["usual"], own["rare"])


def _own_covariance_mm2(base: PlacedBase, one: Sighting, rare: bool) -> Array:
    """(2, 2): a sighting's own error. That of an unknown size counts only if no other photo sees the base."""
    if rare or one.photo.is_off:
        return one.own_covariance_mm2(rare=True)
    is_alone = len(base.sightings) == 1 and not one.is_rectangle
    unknown = one.detection.unmodelled_mm2 if is_alone else 0.0
    return one.own_covariance_mm2(rare=False) + unknown


def _errors_in_both_cases(
    bases: Sequence[PlacedBase], sightings: Sequence[tuple[int, Sighting]]
) -> Array:
    """(2 M + N, 2 M + N) mm²: errors that are equal in the usual and in the rare case."""
    size = 2 * len(sightings) + len(bases)
    noise = np.zeros((size, size))
    _add_errors_of_photos(noise, sightings)
    _add_errors_of_bases(noise, bases)
    return noise


def _add_errors_of_cameras(
    noise: Array,
    sightings: Sequence[tuple[int, Sighting]],
    jacobians: Sequence[Array],
    case: Case,
) -> None:
    """Add how each photo's camera errs, and how those of several err together."""
    rows, by_camera, photos = {}, {}, []
    for members in _group_by_photo(sightings):
        photo = sightings[members[0]][1].photo
        photos.append(photo)
        rows[photo.index] = np.ravel([[2 * m, 2 * m + 1] for m in members])
        by_camera[photo.index] = np.concatenate([jacobians[m] for m in members])
    for (i, j), between in joint_camera_covariances(photos, case).items():
        block = by_camera[i] @ between @ by_camera[j].T
        noise[np.ix_(rows[i], rows[j])] += block
        if i != j:
            noise[np.ix_(rows[j], rows[i])] += block.T


def _add_errors_of_photos(noise: Array, sightings: Sequence[tuple[int, Sighting]]) -> None:
    """Add the shift along the view that all bases of a photo share."""
    for members in _group_by_photo(sightings):
        shift = np.concatenate([sightings[m][1].lift_shift_mm for m in members])
        at = np.ravel([[2 * m, 2 * m + 1] for m in members])
        noise[np.ix_(at, at)] += np.outer(shift, shift)


def _add_errors_of_bases(noise: Array, bases: Sequence[PlacedBase]) -> None:
    """Add what the sightings of a base have in common: its shade and its profile."""
    first = 0
    for base in bases:
        seen = base.sightings
        own = slice(2 * first, 2 * (first + len(seen)))
        shade = np.concatenate([one.shade_shift_mm for one in seen])
        lift = np.concatenate([PROFILE_SIGMA_MM * one.relief_at(base.z_mm) for one in seen])
        noise[own, own] += np.outer(shade, shade) + np.outer(lift, lift)
        first += len(seen)


def _add_own_errors(noise: Array, bases: Sequence[PlacedBase], own: Array) -> None:
    """Add the sightings' own errors (M, 2, 2), and what those of a base have in common."""
    roots, first = _roots(own), 0
    for m, block in enumerate(own):
        two = slice(2 * m, 2 * m + 2)
        noise[two, two] += block
    for base in bases:
        count = len(base.sightings)
        at = slice(2 * first, 2 * (first + count))
        _add_near_views(noise[at, at], base, roots[first : first + count])
        first += count


def _add_near_views(noise: Array, base: PlacedBase, roots: Array) -> None:
    """Add what fits of one base have in common in photos from about one place."""
    seen = base.sightings
    is_plate = seen[0].detection.base.shape == "rectangle"
    least = SAME_PLATE_CORRELATION if is_plate else 0.0
    rays = [one.ray_at(base.z_mm) for one in seen]
    for i, j in combinations(range(len(seen)), 2):
        apart = float(np.linalg.norm(rays[i] - rays[j])) / SAME_VIEW_CHORD
        alike = max(least, SAME_VIEW_CORRELATION * float(np.exp(-(apart**2))))
        common = alike * roots[i] @ roots[j]
        noise[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] += common
        noise[2 * j : 2 * j + 2, 2 * i : 2 * i + 2] += common.T


def _roots(covariances: Array) -> Array:
    """The symmetric square roots (M, 2, 2) of covariances (M, 2, 2)."""
    values, vectors = np.linalg.eigh(covariances)
    scaled = vectors * np.sqrt(np.maximum(values, 0))[:, None]
    return np.asarray(scaled @ vectors.swapaxes(1, 2))


def _add_errors_of_heights(noise: Array, bases: Sequence[PlacedBase], rare: bool) -> None:
    """Add the priors of the heights; bases on one level share theirs."""
    heights = np.diag([_height_variance(base, rare) for base in bases])
    for level in {base.level for base in bases} - {None}:
        on = np.array([base.level == level for base in bases])
        variances = np.where(on, np.diag(heights), 0)
        heights[np.ix_(on, on)] = variances.max()
        heights[on, on] += LEVEL_SIGMA_MM**2
    first = len(noise) - len(bases)
    noise[first:, first:] += heights


def _group_by_photo(sightings: Sequence[tuple[int, Sighting]]) -> list[list[int]]:
    """Numbers of the sightings of each photo."""
    groups: dict[int, list[int]] = {}
    for m, (_, one) in enumerate(sightings):
        groups.setdefault(one.photo.index, []).append(m)
    return list(groups.values())


def _height_variance(base: PlacedBase, rare: bool) -> float:
    """Variance of a height's prior; that of the board by the budget of the photos."""
    if base.z_sigma_mm:
        return base.z_sigma_mm**2
    budget = base.sightings[0].photo.calibration.budget
    height_mm = budget.height_mm if rare else budget.as_specified.height_mm
    return max(height_mm, MIN_HEIGHT_SIGMA_MM) ** 2
