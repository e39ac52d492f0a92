"""Which of a table's round bases are hexagons, and how surely."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.bases import HEXAGON_MEAN_RATIO
from overruler.detections import Detection
from overruler.geometry.camera import Camera
from overruler.vision.hexagons.on_table import hexagon_logit, judge_rims
from overruler.vision.hexagons.rim_evidence import RimEvidence, see_rim
from overruler.vision.hexagons.widths import may_be_hexagon

LEAST_RADIUS_PX = 15.0
"""Radius in the photo from which a rim's sides can be told.

On 12 photos of rendered tables the log odds put a hexagon before a round base in 71 % of pairs below 12
px, in 91 % from 12 to 18 px, and in 99 % above."""

MAX_SLANT_DEG = 50.0
"""Slant up to which unnamed hexagons are told, ..."""
LOW_SLANT_DEG, LOW_VIEW_NATS = 40.0, 3.0
"""... and from which figures hide so much that six sides count less, in log odds. On a rendered table of round
bases at 48° eight of 13 were told as hexagons without it, and none with it."""


@dataclass(frozen=True, slots=True, eq=False)
class Rims:
    """The rims in a photo; each is looked at once."""

    pixels: NDArray[np.uint8]
    """(H, W, 3): the photo."""
    camera: Camera
    slant_deg: float = 0.0
    """From straight down, at which the camera sees the middle of the board."""
    _seen: dict[tuple[float, ...], RimEvidence | None] = field(default_factory=dict)

    def look(self, one: Detection) -> RimEvidence | None:
        """Return what the photo says about the sides of a round base; None where it does not show it."""
        place = (*one.xy_mm.tolist(), one.z_mm, one.base.width_mm)
        if place not in self._seen:
            self._seen[place] = see_rim(self.pixels, self.camera, one)
        return self._seen[place]

    def logit(self, one: Detection) -> float | None:
        """Return the log odds that a round base is a hexagon, if as many are; None where it is not shown."""
        evidence = self.look(one)
        if evidence is None:
            return None
        return hexagon_logit(evidence) - (self.slant_deg > LOW_SLANT_DEG) * LOW_VIEW_NATS

    def shows_sides(self, one: Detection) -> bool:
        """Tell whether the photo shows a round base so large that its sides could be told."""
        mm_per_px = float(self.camera.mm_per_px(np.array([*one.xy_mm, one.z_mm])))
        return one.base.width_mm / 2 >= LEAST_RADIUS_PX * mm_per_px


class Judged(NamedTuple):
    """What is known of a rim."""

    found: Detection
    """The round base that it was found as."""
    evidence: RimEvidence
    """What the photo says about its sides."""
    probability: float
    """That it is a hexagon."""

    @property
    def seen_width_mm(self) -> float:
        """Its width from side to side, by the edges."""
        return self.found.base.width_mm * self.evidence.share / HEXAGON_MEAN_RATIO


def judge_all(
    rims: Rims,
    detections: Sequence[Detection],
    widths_mm: Sequence[float],
    table_share: float,
    first_looks: int,
) -> dict[int, Judged]:
    """Judge the rims of those detections that may be hexagons, by their index; few of a hopeless table."""
    asked = [
        k
        for k, one in enumerate(detections)
        if may_be_hexagon(one.base, widths_mm) and rims.shows_sides(one)
    ]
    asked.sort(key=lambda k: detections[k].base.width_mm)

    def logit(k: int) -> float | None:
        return rims.logit(detections[k])

    judged = judge_rims(asked, logit, table_share, first_looks)
    seen = {k: rims.look(detections[k]) for k in judged}
    return {k: Judged(detections[k], one, judged[k]) for k, one in seen.items() if one is not None}
