"""The size of each base by all photos that see it.

The networks measure a rim's radius in each photo. At the base's own height the radii of all photos
belong together, and the sizes of a table are weighed together as in one photo.
"""

from collections.abc import Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.fusion.decided import Decided
from overruler.vision.fusion.sighting import Sighting
from overruler.vision.rounds.fit_rounds import size_set_priors
from overruler.vision.rounds.size_likelihood import radius_log_likelihood
from overruler.vision.rounds.size_mixture import size_probabilities

SURE_SIZE = 0.95
"""Probability of a stated size of which the photo names no other."""
UNSURE_SIZE = 0.65
"""The same where it names others."""
OTHER_SIZE = 0.003
"""Probability of a size that it does not name."""
ON_LEVEL_MM = 3.0
"""Bases that stand higher are weighed apart: they are often of other kinds than those below."""

SizeShares = dict[Base, float]
"""The sizes that a base may have, with their probabilities, the likeliest first."""


def weigh_sizes(findings: Sequence[Decided], radii_mm: Array) -> list[SizeShares]:
    """The sizes of all findings; those of round bases out of `radii_mm` (C,)."""
    shares = [_named_sizes([one.detection for one in each.sightings]) for each in findings]
    rounds = [k for k, each in enumerate(findings) if _measured(each)]
    low = [k for k in rounds if findings[k].xyz_mm[2] < ON_LEVEL_MM]
    for members in (low, [k for k in rounds if k not in low]):
        if members:
            chosen = _weigh_rounds([findings[k] for k in members], radii_mm)
            for k, row in zip(members, chosen, strict=True):
                shares[k] = _combine(row, shares[k])
    return shares


def _combine(by_radius: SizeShares, by_votes: SizeShares) -> SizeShares:
    """Sizes by the mean radius and by the votes of the photos, which also saw the rims' fits.

    The two are not independent, but together they erred on 1 of 140 bases on rendered tables, each
    alone on 2 and 5.
    """
    least = min(by_votes.values())
    weights = {base: share * by_votes.get(base, least) for base, share in by_radius.items()}
    total = sum(weights.values())
    shares = {base: weight / total for base, weight in weights.items()}
    return dict(sorted(shares.items(), key=lambda pair: -pair[1]))


def _measured(finding: Decided) -> list[Sighting]:
    """The sightings of a round base of which a network measured the radius."""
    return [
        one
        for one in finding.sightings
        if one.detection.base.shape == "circle" and one.detection.learned_radius_mm is not None
    ]


def _weigh_rounds(findings: Sequence[Decided], radii_mm: Array) -> list[SizeShares]:
    measured = np.array([_mean_radius_mm(each) for each in findings])
    eyes = np.array([_eye_mm(each) for each in findings])
    likelihood = radius_log_likelihood(measured[:, 0], measured[:, 1], radii_mm, eyes)
    probabilities = size_probabilities(likelihood, size_set_priors(radii_mm)).sum(2)
    rows = []
    for row in probabilities:
        order = np.argsort(-row, kind="stable").tolist()
        rows.append({Base.circle(float(2 * radii_mm[c])): float(row[c]) for c in order})
    return rows


def _eye_mm(finding: Decided) -> float:
    """The mean height of the cameras over the base's plane."""
    heights = [one.photo.calibration.camera.center_mm[2] for one in _measured(finding)]
    return float(np.mean(heights) - finding.xyz_mm[2])


def _mean_radius_mm(finding: Decided) -> tuple[float, float]:
    """The radius of a base at its height by all photos, and 1 σ; larger where they disagree."""
    z_mm = float(finding.xyz_mm[2])
    radii, sigmas = [], []
    for one in _measured(finding):
        assert one.detection.learned_radius_mm is not None
        eye_mm = float(one.photo.calibration.camera.center_mm[2])
        plane_mm = one.detection.z_mm if one.again else 0.0
        scale = (eye_mm - z_mm) / (eye_mm - plane_mm)
        radius, sigma = one.detection.learned_radius_mm
        radii.append(radius * scale)
        sigmas.append(sigma * scale)
    weights = np.array(sigmas) ** -2
    mean = float(weights @ radii / weights.sum())
    chi2 = float(weights @ (np.array(radii) - mean) ** 2)
    excess = max(1.0, chi2 / max(len(radii) - 1, 1))
    return mean, float(np.sqrt(excess / weights.sum()))


def _named_sizes(detections: Sequence[Detection]) -> SizeShares:
    """The sizes that the photos name, weighed as independent votes."""
    named: SizeShares = {}
    for detection in detections:
        for base in (detection.base, *detection.alternative_bases):
            named.setdefault(base, 0.0)
    for base in named:
        chances = [_size_chance(one.base, one.alternative_bases, base) for one in detections]
        named[base] = float(np.sum(np.log(chances)))
    weights = np.exp(np.array(list(named.values())) - max(named.values()))
    shares = zip(named, (weights / weights.sum()).tolist(), strict=True)
    return dict(sorted(shares, key=lambda pair: -pair[1]))


def _size_chance(stated: Base, others: Sequence[Base], base: Base) -> float:
    if base == stated:
        return UNSURE_SIZE if others else SURE_SIZE
    return (1 - UNSURE_SIZE) / len(others) if base in others else OTHER_SIZE
