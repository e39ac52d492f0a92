"""What a person's corrections of a photo say of its findings: which are pieces, and which are none.

A finding that was removed is none. One that was confirmed, named, turned, resized or moved a little
is a piece. One that nobody touched counts as a piece where the program was sure of it. Where it was
not, the person must speak of it, or say that every base was looked at (`--checked`).

What the program passed over counts where the person added a base, or looked at every base: the
candidate at an added base is a piece, every other is none.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from overruler.detections import Detection
from overruler.fixes import Fix
from overruler.geometry.pose import Array
from overruler.report import Report

Judged = tuple[Detection, bool]
"""A finding, and whether it is a piece."""
NEAR_SHARE = 0.5
"""A base stands where a finding is if their middles are as near, in widths of the finding."""


def judge_findings(report: Report, fixes: Sequence[Fix]) -> Iterator[Judged]:
    """The findings of a report that has no corrections yet, and whether each is a piece."""
    judged = dict(_judge_touched(report, fixes))
    for piece, detection in zip(report.scene.pieces, report.detections, strict=True):
        yield detection, judged.get(piece.id, True)


def judge_passed_over(candidates: Sequence[Detection], fixes: Sequence[Fix]) -> Iterator[Judged]:
    """The candidates that were no findings, and whether a base was put where each is."""
    placed = [fix for fix in fixes if fix.do in ("add", "move")]
    for candidate in candidates:
        yield candidate, any(is_near(candidate, fix) for fix in placed)


def unjudged_ids(report: Report, fixes: Sequence[Fix]) -> list[str]:
    """The pieces that may be none, and of which the corrections say nothing."""
    judged = dict(_judge_touched(report, fixes))
    return [name for name in report.scene.reasons_for_doubt if name not in judged]


def is_near(finding: Detection, fix: Fix) -> bool:
    """Whether a correction puts a base where a finding is."""
    here, there = finding.xy_mm, fix.xy_mm
    width = finding.base.width_mm
    if there is None:
        here, there = finding.center_px, fix.xy_px
        width = float(np.ptp(finding.outline_px, axis=0).min())
    assert there is not None  # the reader of the fix file sees to it
    return _distance(here, np.array(there)) < NEAR_SHARE * width


def _distance(one: Array, other: Array) -> float:
    return float(np.hypot(*(one - other)))


def _judge_touched(report: Report, fixes: Sequence[Fix]) -> Iterator[tuple[str, bool]]:
    """The findings that corrections touch, by their first ids, and whether each is a piece.

    The last correction of a finding counts.
    """
    pieces = zip(report.scene.pieces, report.detections, strict=True)
    detections = {piece.id: detection for piece, detection in pieces}
    first_ids = {name: name for name in detections}
    for fix in fixes:
        name = first_ids.get(fix.id or "")
        if name is None:  # it was added
            continue
        if new_id := fix.labels.get("new_id"):
            first_ids[new_id] = name
        moved_away = fix.do == "move" and not is_near(detections[name], fix)
        yield name, fix.do != "remove" and not moved_away
