"""How well each photo sees the bases of a table, by those of which other photos are sure.

A blurred or coarse photo misses bases that a sharp one shows, and bases of the mat's own colours look
like bare ground to it. What such a photo does not see says little.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.ground.bare_ground import is_bare_instead
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

SURE_SCORE = 0.95
"""Score of a base by which other photos are measured."""
COARSER_RATIO = 1.3
"""A photo whose pixels are larger by this factor may be sure of marks on the mat that are no bases. So no
finer photo is measured by it."""
SEEN_SCORE = 0.3
"""Least score of a base that a photo sees."""
USUAL_BASES = 6.0
"""What is usual is worth so many bases on the table."""
USUAL_SILENT = 1 / 6
"""Of pieces one in six is hidden or missed in another photo."""
USUAL_BARE = 0.002
"""Share of pieces that look like bare ground in another photo."""
SILENT_OF_FALSE = 0.8
"""Share of false findings that are nothing in another photo."""
BARE_OF_FALSE = 0.6
"""Share of those in whose places another photo shows bare ground."""
SILENT_NATS = -1.6
"""Least log-likelihood ratio of a photo that sees nothing there."""
BARE_NATS = -4.0
"""The same of a photo that shows bare ground there. One such photo alone does not outweigh a sure one:
of two photos between which a base was moved, each shows bare ground in the other's place."""


@dataclass(frozen=True, slots=True, eq=False)
class _Asked:
    """A base of which another photo is sure, in one photo."""

    finding: Finding
    is_silent: bool
    is_bare: bool
    """Whether the photo sees no base, and bare ground."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What photos, by their indices, see of the bases of which other photos are sure."""

    asked: Mapping[int, Sequence[_Asked]]
    """Those bases in each photo; of photos without any what is usual holds."""

    @classmethod
    def of(cls, findings: Sequence[Finding], photos: Sequence[SeenPhoto]) -> "Sight":
        return cls({photo.index: _ask(photo, findings) for photo in photos})

    def silent_nats(self, finding: Finding, photo: SeenPhoto) -> float:
        """The log-likelihood ratio of a base that a photo does not see, by the other bases."""
        silent = [one.is_silent for one in self._others(finding, photo)]
        share = _usual_share(silent, USUAL_SILENT)
        return float(np.clip(np.log(share / SILENT_OF_FALSE), SILENT_NATS, 0.0))

    def bare_nats(self, finding: Finding, photo: SeenPhoto) -> float:
        """The same of a base in whose place a photo shows bare ground."""
        bare = [one.is_bare for one in self._others(finding, photo)]
        share = _usual_share(bare, USUAL_BARE)
        return float(np.clip(np.log(share / BARE_OF_FALSE), BARE_NATS, 0.0))

    def _others(self, finding: Finding, photo: SeenPhoto) -> list[_Asked]:
        """The other bases by which a photo is measured: a base says nothing of itself."""
        return [one for one in self.asked.get(photo.index, ()) if one.finding is not finding]


def _usual_share(observed: Sequence[bool], usual: float) -> float:
    """A share by what was observed and what is usual."""
    return (USUAL_BASES * usual + sum(observed)) / (USUAL_BASES + len(observed))


def _ask(photo: SeenPhoto, findings: Sequence[Finding]) -> list[_Asked]:
    asked = []
    for one in findings:
        sure = _sure_elsewhere(one, photo)
        if sure is None or not photo.shows(one.xyz_mm):
            continue
        own = max(
            (seen.detection.score for seen in one.sightings if seen.photo is photo), default=0
        )
        turn_rad = one.surest.detection.turn_rad
        is_nothing = own == 0 and is_bare_instead(photo, one.base, one.xyz_mm, sure.photo, turn_rad)
        asked.append(_Asked(one, own < SEEN_SCORE, is_nothing))
    return asked


def _sure_elsewhere(finding: Finding, photo: SeenPhoto) -> Sighting | None:
    """What another photo that shows a base as finely, and is sure of it by itself, shows of it."""
    coarsest = COARSER_RATIO * photo.mm_per_px(finding.xyz_mm)
    for one in finding.sightings:
        is_sure = not one.again and one.detection.score >= SURE_SCORE
        if one.photo is not photo and is_sure and one.photo.mm_per_px(finding.xyz_mm) < coarsest:
            return one
    return None
