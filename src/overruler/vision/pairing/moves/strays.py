"""Which photos show a base in its place, and what a photo found that no other photo shows there.

A photo that is asked for a base in rank and file finds something like it nearly anywhere, also on bare
ground. Whether that is a base is told by what the photo says of its sides.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.vision.learned.logits import sigmoid
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.sighting import SeenPhoto, Sighting, are_one_spot

MOVE_NATS = 4.0
"""Log odds that a base did not move, before photos are asked: one in some fifty does. So much must a photo
say against a base in rank and file that it does not show, where others are sure of it."""


@dataclass(frozen=True, slots=True, eq=False)
class Stray:
    """What a photo found and no other photo shows there."""

    number: int | None
    """Number of its finding; None where it is no finding of its own."""
    base: Base
    sighting: Sighting


def as_shown(finding: Finding) -> Finding:
    """The finding without the photos that refute it, though they find something like it."""
    kept = [one for one in finding.sightings if not _refutes(one.photo.index, finding)]
    return replace(finding, sightings=tuple(kept))


def find_strays(findings: Sequence[Finding], photo: SeenPhoto) -> list[Stray]:
    """What a photo found that is no base of several photos."""
    own = [(k, one) for k, each in enumerate(findings) for one in each.sightings]
    own = [(k, one) for k, one in own if one.photo is photo]
    strays = [
        Stray(k, findings[k].base, _as_sure_as_its_sides(findings[k], one))
        for k, one in own
        if _is_only_in(photo, findings[k])
    ]
    known = [(one.place_at(0.0), one.detection.base.width_mm) for _, one in own]
    for detection in photo.detections:
        spot = photo.place_of(detection, 0.0), detection.base.width_mm
        if not any(are_one_spot(*spot, *one) for one in known):
            strays.append(Stray(None, detection.base, Sighting(photo, detection)))
    return strays


def _is_only_in(photo: SeenPhoto, finding: Finding) -> bool:
    """Whether just one photo shows a base; in rank and file another one must refute it."""
    if as_shown(finding).photos != {photo.index}:
        return False
    return finding.ranks is None or any(_refutes(k, finding) for k in finding.ranks.seen)


def _refutes(photo: int, finding: Finding) -> bool:
    odds = None if finding.ranks is None else finding.ranks.log_odds_by(photo)
    return odds is not None and odds < -MOVE_NATS


def _as_sure_as_its_sides(finding: Finding, sighting: Sighting) -> Sighting:
    """A sighting as sure as what its photo says of its sides, if that is more than its own score."""
    odds = None if finding.ranks is None else finding.ranks.log_odds_by(sighting.photo.index)
    if odds is None:
        return sighting
    score = max(sighting.detection.score, float(sigmoid(np.asarray(odds))))
    return sighting.with_detection(replace(sighting.detection, score=score))
