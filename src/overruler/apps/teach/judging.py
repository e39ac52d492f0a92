"""What a person's corrections of a photo say of its findings: which are pieces, and which are none.

A finding that was removed is none. One that was confirmed, named, turned, resized or moved a little
is a piece. One that nobody touched counts as a piece where the program was sure of it. Where it was
not, the person must speak of it, or say that every base was looked at (`--checked`).
"""

from collections.abc import Iterator, Sequence

import numpy as np

from overruler.detections import Detection
from overruler.fixes import Fix
from overruler.records import PieceRecord
from overruler.report import Report
from overruler.taught import JudgedFinding, Taught

NEAR_SHARE = 0.5
"""A base was only moved a little where its new middle is as near, in widths of the finding."""
DIGITS = 6
"""Digits of a probability in the file."""


def judge_findings(
    report: Report, fixes: Sequence[Fix], taught: Taught | None
) -> Iterator[JudgedFinding]:
    """The findings of a report without corrections, each as likely as before anything was taught."""
    verdicts = _verdicts_by_id(report, fixes)
    for piece in report.scene.pieces:
        kind = piece.base.name
        told = PieceRecord.from_json(piece.extra).probability
        probability = 1.0 if told is None else told
        weighing = taught.weighings.get(kind) if taught else None
        if weighing is not None:
            probability = weighing.before(probability)
        is_piece = verdicts.get(piece.id, True)
        yield JudgedFinding(kind, round(probability, DIGITS), is_piece)


def unjudged_ids(report: Report, fixes: Sequence[Fix]) -> list[str]:
    """The pieces that may be none, and of which the corrections say nothing."""
    verdicts = _verdicts_by_id(report, fixes)
    return [name for name in report.scene.reasons_for_doubt if name not in verdicts]


def _verdicts_by_id(report: Report, fixes: Sequence[Fix]) -> dict[str, bool]:
    """The findings that corrections touch, by their first ids, and whether each is a piece.

    The last correction of a finding counts.
    """
    pieces = zip(report.scene.pieces, report.detections, strict=True)
    detections = {piece.id: detection for piece, detection in pieces}
    first_ids = {name: name for name in detections}
    verdicts = {}
    for fix in fixes:
        name = first_ids.get(fix.id or "")
        if name is None:  # it was added
            continue
        if new_id := fix.labels.get("new_id"):
            first_ids[new_id] = name
        moved_away = fix.do == "move" and not _is_near(detections[name], fix)
        verdicts[name] = fix.do != "remove" and not moved_away
    return verdicts


def _is_near(finding: Detection, fix: Fix) -> bool:
    """Whether a correction of the place stays within the finding."""
    here, there = finding.xy_mm, fix.xy_mm
    width = finding.base.width_mm
    if there is None:
        here, there = finding.center_px, fix.xy_px
        width = float(np.ptp(finding.outline_px, axis=0).min())
    assert there is not None  # the reader of the fix file sees to it
    return float(np.hypot(*(here - np.array(there)))) < NEAR_SHARE * width
