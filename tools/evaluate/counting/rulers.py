"""Range rulers that were read, held against the truth."""

from dataclasses import dataclass, field

import numpy as np

from evaluate.counting.tally import Sum, Truth
from overruler.report import Report

NEAR = 0.05
"""A ruler is the one whose middle it lies on, to this share of its length."""
GOOD = 0.001
"""The error of a segment's length that is asked for."""


@dataclass
class Rulers(Sum):
    """What was counted on one photo or on several."""

    there: int = 0
    """Rulers that lie wholly in the photo."""
    false: int = 0
    errors: list[float] = field(default_factory=list)
    """Of each that was read, by what share its segments are measured too long, ..."""
    z: list[float] = field(default_factory=list)
    """... and in units of its stated sigma."""

    def __str__(self) -> str:
        read = f"of {self.there} rulers {len(self.errors)} are read, {self.false} false"
        if not self.errors:
            return read
        off = np.abs(self.errors)
        within = np.mean(np.abs(self.z) <= 1.96)
        told = (
            f"half of them to {np.median(off):.2%}, the worst to {off.max():.2%}, in95 {within:.2f}"
        )
        return f"{read}: {np.sum(off <= GOOD)} to {GOOD:.1%}, {told}"


def rulers(report: Report, truth: Truth) -> Rulers:
    """Hold a photo's rulers against the truth: the kind, and the middle as it is seen in the photo."""
    camera, size = report.calibration.camera, np.array(report.calibration.size_px)
    counted = Rulers()
    read = {id(one): one for one in report.rulers}
    for there in truth.get("rulers", []):
        ends = np.array([there["start_px"], there["end_px"]])
        if not ((ends > 0) & (ends < size - 1)).all():
            continue
        counted.there += 1
        middle = np.mean([there["start_px"], *there["joints_px"], there["end_px"]], 0)
        for one in [one for one in read.values() if one.kind == there["kind"]]:
            seen = camera.project(
                np.column_stack([one.path_mm, np.full(len(one.path_mm), there["z_mm"])])
            ).mean(0)
            if np.linalg.norm(seen - middle) < NEAR * np.linalg.norm(ends[1] - ends[0]):
                counted.errors.append(one.segment_mm / there["segment_mm"] - 1)
                counted.z.append((one.segment_mm - there["segment_mm"]) / one.sigma_mm)
                del read[id(one)]
                break
    counted.false = len(read)
    return counted
