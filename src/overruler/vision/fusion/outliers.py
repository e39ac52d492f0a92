"""Sightings that contradict the others of their base."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.fusion.disagreement import kind_of
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.pairing.sighting import Sighting

OUTLIER_CHI2 = 20.0
"""Squared distance, in σ, from which a sighting contradicts the others: one in 20 000 of good ones."""


def without_outliers(
    placed: Sequence[PlacedBase], chi2: Array, residuals_mm: Array, of_kinds: Mapping[str, float]
) -> tuple[list[PlacedBase], bool]:
    """The bases without sightings that contradict the others; also whether there were any.

    Of three sightings or more the worst goes. Two that contradict each other are both doubted.
    Where all of a kind err more than stated, by a factor on their variance, each may err as much.
    """
    changed, first = False, 0
    result = []
    for base in placed:
        count = len(base.sightings)
        own_chi2 = chi2[first : first + count]
        own_residuals = residuals_mm[first : first + count]
        first += count
        usual = of_kinds[kind_of(base.sightings[0])]
        if count < 2 or own_chi2.max() < usual * OUTLIER_CHI2:
            result.append(base)
            continue
        changed = True
        sightings = list(base.sightings)
        if count > 2:
            del sightings[int(own_chi2.argmax())]
        else:
            sightings = _doubt_both(sightings, own_residuals)
        result.append(replace(base, sightings=tuple(sightings)))
    return result, changed


def _doubt_both(sightings: Sequence[Sighting], residuals_mm: Array) -> list[Sighting]:
    step = residuals_mm[0] - residuals_mm[1]
    added = np.outer(step, step)
    return [
        one.with_detection(one.detection.with_added_covariance(added, added)) for one in sightings
    ]
