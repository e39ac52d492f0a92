"""The pieces of a scene, as likely as people's corrections of the table's other photos taught."""

from dataclasses import replace
from pathlib import Path

from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.records import PieceRecord
from overruler.report import Report
from overruler.scene import Piece
from overruler.taught import Taught
from overruler.vision.learned.inference import weights_fingerprint

DIGITS = 4
"""Digits of a probability in a scene."""


def load_taught(path: Path) -> Taught:
    """Read a file; `BadInput` where it is wrong, or other networks found its findings."""
    taught = Taught.load(path)
    if taught.networks != weights_fingerprint():
        raise BadInput(
            f"{path}: was taught with the networks of another version of this program: "
            "remove it (overruler teach --forget) and teach its photos again"
        )
    return taught


def reweigh_pieces(report: Report, taught: Taught | None) -> Report:
    """The report with re-weighed probabilities, and a scene that says so.

    It is the same report where nothing was learned of the kinds that were found.
    """
    kinds = {piece.base.name for piece in report.scene.pieces}
    if taught is None or kinds.isdisjoint(taught.weighings):
        return report
    found = zip(report.scene.pieces, report.detections, strict=True)
    pieces = tuple(_reweigh(piece, detection, taught) for piece, detection in found)
    extra = {**report.scene.extra, "taught": taught.record()}
    return replace(report, scene=replace(report.scene, pieces=pieces, extra=extra))


def _reweigh(piece: Piece, detection: Detection, taught: Taught) -> Piece:
    weighing = taught.weighings.get(piece.base.name)
    before = PieceRecord.from_json(piece.extra).probability
    if weighing is None or before is None or detection.is_confirmed:
        return piece
    now = round(weighing.reweigh(before), DIGITS)
    return replace(piece, extra={**piece.extra, "probability": now})
