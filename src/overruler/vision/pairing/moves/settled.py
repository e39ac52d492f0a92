"""Whether a photo shows the bases of a table where the other photos do."""

from collections.abc import Sequence

import numpy as np

from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.hypotheses import largest_sigma_mm
from overruler.vision.pairing.sighting import SeenPhoto

MIN_SETTLED_SHARE = 0.5
"""Least share of the bases that all other photos show which a photo shows in their places, where an
overlap alone tells a move: a camera that is off moves all bases."""
USUAL_STRAY_SIGMAS = 0.6
"""Distance, in σ, of three in four of a photo's bases from where all photos see them, at most. On three
rendered tables 17 photos had 0.2 to 0.6; of a blurred and dark one 1.6. There a move is as much longer."""
MIN_BASES_TO_COMPARE = 8
"""Least number of bases by which that is told."""


def is_settled(findings: Sequence[Finding], photo: SeenPhoto, count: int) -> bool:
    """Whether one of `count` photos shows most bases where all others see them."""
    asked = [one for one in findings if photo.shows(one.xyz_mm)]
    asked = [one for one in asked if len(one.photos - {photo.index}) >= max(count - 1, 1)]
    return sum(photo.index in one.photos for one in asked) >= MIN_SETTLED_SHARE * len(asked)


def scatter_of(findings: Sequence[Finding], photo: SeenPhoto) -> float:
    """How much farther the bases of a photo lie from those of all photos than their σ says."""
    off = []
    for finding in findings:
        z_mm = float(finding.xyz_mm[2])
        for one in finding.sightings if len(finding.photos) > 1 else ():
            if one.photo is photo and not one.again:
                own_mm = largest_sigma_mm(one.loose_covariance_at(z_mm))
                apart_mm = float(np.hypot(*(one.place_at(z_mm) - finding.xyz_mm[:2])))
                off.append(apart_mm / float(np.hypot(finding.sigma_mm, own_mm)))
    if len(off) < MIN_BASES_TO_COMPARE:
        return 1.0
    return max(1.0, float(np.quantile(off, 0.75)) / USUAL_STRAY_SIGMAS)
