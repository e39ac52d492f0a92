"""The size of each base by all photos that see it.

The networks measure a rim's radius in each photo. At the base's own height the radii of all photos
belong together, and the sizes of a table are weighed together as in one photo. A photo that is less
sharp shows all rims too small or too large alike: bases that other photos see too tell how much.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.geometry.pose import Array
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.sighting import Sighting
from overruler.vision.refinement.base_scale import EDGE_OFFSET_SIGMA_PX
from overruler.vision.rounds.size_likelihood import (
    RADIUS_FLOOR_SIGMA_MM,
    RADIUS_SIGMA_INFLATION,
    RIM_KIND_SIGMAS_MM,
    expect_radii_mm,
)
from overruler.vision.rounds.size_mixture import size_probabilities
from overruler.vision.rounds.table_sizes import size_set_priors

SURE_SIZE = 0.95
"""Probability of a stated size of which the photo names no other."""
UNSURE_SIZE = 0.65
"""The same where it names others."""
OTHER_SIZE = 0.003
"""Probability of a size that it does not name."""
SHARP_MM_PER_PX = 1.0
"""Resolution from which on a photo's vote counts in full; a coarser photo's vote counts by its information.
A photo decides the sizes of its table together, and a wrong decision makes all its votes wrong. Of 543
bases on 19 rendered tables 14 had a wrong size so, 19 with half of each vote, and 26 with all votes in full."""
VOTE_SHARE = 0.3
"""Share of a vote that counts beside the radius: a photo votes by its radius too. Of 648 bases on 22
rendered tables 11 had a wrong size so, 14 with votes in full, 13 without."""
COMMON_SIGMA_MM = 0.15
"""1 σ of the radius by what misleads all photos of a base alike: the make of its rim."""
ON_LEVEL_MM = 3.0
"""Bases that stand higher say nothing of the sizes of those below: heights blur their radii. Those
below tell which sizes are on the table."""

MAX_HEIGHT_STEP_MM = 15.0
"""A size that a photo names at a height farther from the base's counts for nothing: 15 mm make 0.4 mm
of 28, half a step between sizes."""

MISFIT_NATS = 2.0
"""Log-likelihood that its radius loses by a wrong size where a thing is as likely none: such a thing has
any radius within some 9 mm. Of 224 bases on 15 rendered tables two lost more, 2.5 and 4.5 nats."""
MOST_MISFIT_NATS = 4.0
"""Most that a radius speaks against a base: what misleads one photo may mislead all."""

SizeShares = dict[Base, float]
"""The sizes that a base may have, with their probabilities, the likeliest first."""


def weigh_sizes(findings: Sequence[Decided], radii_mm: Array) -> list[SizeShares]:
    """The sizes of all findings; those of round bases out of `radii_mm` (C,)."""
    shares = [_votes(each) for each in findings]
    rounds = [k for k, each in enumerate(findings) if _measured(each)]
    offsets_mm = _find_offsets_mm([findings[k] for k in rounds])
    low = [k for k in rounds if findings[k].xyz_mm[2] < ON_LEVEL_MM]
    for members, wanted in ((low, low), (rounds, [k for k in rounds if k not in low])):
        rows = _weigh_rounds([findings[k] for k in members], radii_mm, offsets_mm) if wanted else []
        by_radius = dict(zip(members, rows, strict=False))
        for k in wanted:
            shares[k] = _combine(by_radius[k], _votes_at_height(findings[k]))
    return shares


def size_misfits(findings: Sequence[Decided]) -> list[float]:
    """How much the radii that photos measured speak against each finding, whatever its size, in nats.

    A base has one of the table's sizes. What is none has any, and its nearest one fits badly.
    """
    rounds = [k for k, each in enumerate(findings) if _measured(each)]
    offsets_mm = _find_offsets_mm([findings[k] for k in rounds])
    against = [0.0] * len(findings)
    for k in rounds:
        if findings[k].base.shape == "circle":
            radius_mm = np.array([findings[k].base.width_mm / 2])
            lost = -float(_log_likelihood(findings[k], radius_mm, offsets_mm).max())
            against[k] = min(max(0.0, lost - MISFIT_NATS), MOST_MISFIT_NATS)
    return against


def _votes(finding: Decided) -> SizeShares:
    """The sizes that photos name; a coarse photo counts for less, unless it measured a rectangle along its sides."""
    weights = [1.0 if one.is_rectangle else _sharpness(one) for one in finding.sightings]
    return _named_sizes([one.detection for one in finding.sightings], weights)


def _votes_at_height(finding: Decided) -> SizeShares:
    """The sizes that photos name at the base's height: taken to lie on the board it seems larger."""
    z_mm = float(finding.xyz_mm[2])
    near = [one for one in finding.sightings if abs(one.detection.z_mm - z_mm) < MAX_HEIGHT_STEP_MM]
    return _named_sizes([one.detection for one in near], [_vote_weight(one) for one in near])


def _vote_weight(sighting: Sighting) -> float:
    """How much a photo's vote for a size counts beside the radius that it measured."""
    return VOTE_SHARE * _sharpness(sighting)


def _sharpness(sighting: Sighting) -> float:
    """How much a photo's vote counts by its resolution."""
    return min(1.0, (SHARP_MM_PER_PX / sighting.mm_per_px) ** 2)


def _combine(by_radius: SizeShares, by_votes: SizeShares) -> SizeShares:
    """Sizes by the mean radius and by the votes of the photos, which also saw the rims' fits."""
    if not by_votes:
        return by_radius
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


def _weigh_rounds(
    findings: Sequence[Decided], radii_mm: Array, offsets_mm: Mapping[int, float]
) -> list[SizeShares]:
    likelihood = np.array([_log_likelihood(each, radii_mm, offsets_mm) for each in findings])
    probabilities = size_probabilities(likelihood, size_set_priors(radii_mm)).sum(2)
    rows = []
    for row in probabilities:
        order = np.argsort(-row, kind="stable").tolist()
        rows.append({Base.circle(float(2 * radii_mm[c])): float(row[c]) for c in order})
    return rows


def _log_likelihood(finding: Decided, radii_mm: Array, offsets_mm: Mapping[int, float]) -> Array:
    """The log-likelihood (C, 2) of radii and rim kinds by the radii that all photos measured.

    Each photo errs by itself, more where they disagree; a rim's look misleads all of them.
    """
    z_mm, seen = float(finding.xyz_mm[2]), _measured(finding)
    read, sigma = np.array([radius_at_mm(one, z_mm) for one in seen]).T
    read = read - [offsets_mm[one.photo.index] for one in seen]
    eyes = np.array([float(one.photo.calibration.camera.center_mm[2]) - z_mm for one in seen])
    residuals = expect_radii_mm(radii_mm, sigma, eyes) - read[:, None, None]
    weights = 1 / (RADIUS_SIGMA_INFLATION**2 * sigma**2 + RADIUS_FLOOR_SIGMA_MM**2)
    mean = np.tensordot(weights, residuals, 1) / weights.sum()
    scatter = np.tensordot(weights, (residuals - mean) ** 2, 1)
    excess = max(1.0, float(scatter.min()) / max(len(seen) - 1, 1))
    variance = excess / weights.sum() + COMMON_SIGMA_MM**2 + RIM_KIND_SIGMAS_MM**2
    terms = mean**2 / variance + scatter / excess + np.log(variance / variance[0])
    return np.asarray(-0.5 * terms)


def _find_offsets_mm(findings: Sequence[Decided]) -> dict[int, float]:
    """By how much each photo, by its index, shows the radii of N bases too large.

    Least squares over the bases' radii and the photos' offsets, whose prior is one of pixels.
    """
    indices = sorted({one.photo.index for each in findings for one in _measured(each)})
    count = len(findings)
    information = np.zeros((count + len(indices),) * 2)
    right = np.zeros(count + len(indices))
    for k, finding in enumerate(findings):
        for one in _measured(finding):
            radius, sigma = radius_at_mm(one, float(finding.xyz_mm[2]))
            at = [k, count + indices.index(one.photo.index)]
            weight = 1 / (RADIUS_SIGMA_INFLATION**2 * sigma**2 + RADIUS_FLOOR_SIGMA_MM**2)
            information[np.ix_(at, at)] += weight
            right[at] += weight * radius
    for p, index in enumerate(indices):
        information[count + p, count + p] += _offset_sigma_mm(findings, index) ** -2
    solution = np.linalg.solve(information, right)
    return dict(zip(indices, solution[count:].tolist(), strict=True))


def _offset_sigma_mm(findings: Sequence[Decided], index: int) -> float:
    """Prior 1 σ of a photo's offset: as many pixels in all photos."""
    scales = [
        one.photo.mm_per_px(each.xyz_mm)
        for each in findings
        for one in _measured(each)
        if one.photo.index == index
    ]
    return EDGE_OFFSET_SIGMA_PX * float(np.median(scales))


def radius_at_mm(one: Sighting, z_mm: float) -> tuple[float, float]:
    """The radius that the network measured, at a height, and 1 σ."""
    assert one.detection.learned_radius_mm is not None
    eye_mm = float(one.photo.calibration.camera.center_mm[2])
    plane_mm = one.detection.z_mm if one.again else 0.0
    scale = (eye_mm - z_mm) / (eye_mm - plane_mm)
    radius, sigma = one.detection.learned_radius_mm
    return radius * scale, sigma * scale


def _named_sizes(detections: Sequence[Detection], votes: Sequence[float]) -> SizeShares:
    """The sizes that the photos name, as independent votes that count as `votes` says."""
    named: SizeShares = {}
    for detection in detections:
        for base in (detection.base, *detection.alternative_bases):
            named.setdefault(base, 0.0)
    if not named:
        return {}
    for base in named:
        chances = [_size_chance(one.base, one.alternative_bases, base) for one in detections]
        named[base] = float(np.dot(votes, np.log(chances)))
    weights = np.exp(np.array(list(named.values())) - max(named.values()))
    shares = zip(named, (weights / weights.sum()).tolist(), strict=True)
    return dict(sorted(shares, key=lambda pair: -pair[1]))


def _size_chance(stated: Base, others: Sequence[Base], base: Base) -> float:
    if base == stated:
        return UNSURE_SIZE if others else SURE_SIZE
    return (1 - UNSURE_SIZE) / len(others) if base in others else OTHER_SIZE
