"""Which of its likely sizes a base has, by where the photos then see it.

Fitted in a wrong size, a base is seen too near or too far by each camera. Cameras on different sides
then disagree about its place.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.levels import SAME_LEVEL_MM
from overruler.vision.pairing.second_look import Expected, look_again
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto, Sighting
from overruler.vision.pairing.sizes import SizeShares

MIN_SHARE = 0.01
"""Least probability of a size that is looked at."""
PLACE_SIGMA_MM = 0.15
"""1 σ of a place beside what its covariance says: profiles of bases differ from photo to photo."""
MAX_CHI2 = 6.0
"""Largest squared distance that counts: something else is wrong beyond."""
CHI2_WEIGHT = 0.5
"""Weight of a squared distance beside radii and votes, which the same rims gave."""

Fits = dict[Base, dict[int, Sighting]]
"""A finding's sightings by photo, fitted in each likely size."""


def weigh_by_places(
    findings: Sequence[Decided], shares: Sequence[SizeShares], photos: Sequence[SeenPhoto]
) -> list[SizeShares]:
    """The sizes' probabilities after asking whether the photos agree about the place in each size."""
    fits = [_own_fits(one, sizes) for one, sizes in zip(findings, shares, strict=True)]
    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        list(pool.map(lambda photo: _fit_in(photo, findings, fits), photos))
    return [
        _reweigh(one, sizes, fit) for one, sizes, fit in zip(findings, shares, fits, strict=True)
    ]


def _own_fits(finding: Decided, sizes: SizeShares) -> Fits:
    """The likely sizes, with the fits that are there already; empty where there is nothing to ask."""
    likely = [base for base, share in sizes.items() if share > MIN_SHARE]
    if len(likely) < 2 or len(finding.sightings) < 2:
        return {}
    z_mm = float(finding.xyz_mm[2])
    fits: Fits = {base: {} for base in likely}
    for one in finding.sightings:
        if one.detection.base in fits and abs(one.detection.z_mm - z_mm) < SAME_LEVEL_MM:
            fits[one.detection.base][one.photo.index] = one
    return fits


def _fit_in(photo: SeenPhoto, findings: Sequence[Decided], fits: Sequence[Fits]) -> None:
    """Add a photo's fits in the sizes in which it was not fitted."""
    wanted = [
        (finding, fit, base)
        for finding, fit in zip(findings, fits, strict=True)
        for base in fit
        if photo.index in {one.photo.index for one in finding.sightings}
        and photo.index not in fit[base]
    ]
    expected = [
        Expected(key, base, finding.xyz_mm, finding.sigma_mm, finding.heading_deg)
        for key, (finding, _, base) in enumerate(wanted)
    ]
    for key, sighting in look_again(photo, expected).items():
        _, fit, base = wanted[key]
        fit[base][photo.index] = sighting


def _reweigh(finding: Decided, sizes: SizeShares, fits: Fits) -> SizeShares:
    """The sizes, weighed by how well photos that fitted all of them agree."""
    if not fits:
        return sizes
    common = set.intersection(*(set(fit) for fit in fits.values()))
    if len(common) < 2:
        return sizes
    z_mm = float(finding.xyz_mm[2])
    least = {
        base: _disagreement([fit[index] for index in sorted(common)], z_mm)
        for base, fit in fits.items()
    }
    best = min(least.values())
    weights = {
        base: share * float(np.exp(-0.5 * min(CHI2_WEIGHT * (least[base] - best), MAX_CHI2)))
        for base, share in sizes.items()
        if base in least
    }
    total = sum(weights.values())
    ordered = sorted(weights.items(), key=lambda pair: -pair[1])
    return {base: weight / total for base, weight in ordered}


def _disagreement(sightings: Sequence[Sighting], z_mm: float) -> float:
    """The squared distance, in σ, of the places of sightings from their common mean."""
    places = np.array([one.place_at(z_mm) for one in sightings])
    weights: Array = np.array(
        [
            np.linalg.inv(one.covariance_at(z_mm) + np.eye(2) * PLACE_SIGMA_MM**2)
            for one in sightings
        ]
    )
    mean = np.linalg.solve(weights.sum(0), np.einsum("nij,nj->i", weights, places))
    apart = places - mean
    return float(np.einsum("ni,nij,nj->", apart, weights, apart))
