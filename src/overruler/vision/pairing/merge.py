"""Findings that are one base after all."""

from collections.abc import Sequence

import numpy as np

from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.sighting import SAME_PLACE_SHARE, Sighting

AGREEING_MM = 2.5
"""A sighting farther from the place of a base shows something else."""
MAX_OVERLAP_SHARE = 0.25
"""Two bases overlap by less than this share of the smaller width."""
SAME_HEIGHT_MM = 12.0
"""Findings whose heights differ by more may stand over each other."""


def merge_repeated(findings: Sequence[Decided]) -> list[Decided]:
    """Join findings in one place, into the one that most photos see."""
    kept: list[Decided] = []
    for finding in sorted(findings, key=_strength, reverse=True):
        same = next((k for k, one in enumerate(kept) if is_one_base(one, finding)), None)
        if same is None:
            kept.append(finding)
        else:
            kept[same] = _join(kept[same], finding)
    return kept


def _strength(finding: Decided) -> tuple[int, int, float]:
    """What decides between two findings: photos that found it by themselves, all, and scores."""
    scores = [one.detection.score for one in finding.sightings]
    by_themselves = sum(not one.again for one in finding.sightings)
    return by_themselves, len(scores), float(np.sum(scores))


def _apart(one: Decided, other: Decided) -> tuple[float, float]:
    """The distance of two findings on the board, and of their heights."""
    step = one.xyz_mm - other.xyz_mm
    return float(np.hypot(*step[:2])), abs(float(step[2]))


def is_one_base(stronger: Decided, weaker: Decided) -> bool:
    """Whether two findings stand in one place."""
    apart_mm, higher_mm = _apart(stronger, weaker)
    width = min(stronger.base.width_mm, weaker.base.width_mm)
    is_near = apart_mm < SAME_PLACE_SHARE * width and higher_mm < SAME_HEIGHT_MM
    is_alike = stronger.base.shape == weaker.base.shape
    return is_near and is_alike


def do_overlap(one: Decided, other: Decided) -> bool:
    """Whether two findings overlap more than two bases can.

    Only one on a known top stands over another: what floats over a base is the figure on it.
    """
    _, higher_mm = _apart(one, other)
    higher = max(one, other, key=lambda each: float(each.xyz_mm[2]))
    if higher_mm >= SAME_HEIGHT_MM and higher.level is not None:
        return False
    return bases_overlap(one, other, MAX_OVERLAP_SHARE)


def _join(stronger: Decided, weaker: Decided) -> Decided:
    """The stronger finding with what the weaker one's photos add, where they agree with it."""
    own = {one.photo.index for one in stronger.sightings}
    more = [one for one in weaker.sightings if one.photo.index not in own]
    agreeing = [one for one in more if _agrees(stronger, one)]
    return stronger.with_sightings([*stronger.sightings, *agreeing])


def _agrees(finding: Decided, sighting: Sighting) -> bool:
    """Whether a sighting shows the base of a finding in its place."""
    if sighting.detection.base != finding.base:
        return False
    z_mm = float(finding.xyz_mm[2])
    apart_mm = float(np.hypot(*(sighting.place_at(z_mm) - finding.xyz_mm[:2])))
    return apart_mm < AGREEING_MM
