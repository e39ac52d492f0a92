"""Whose a piece is, by the photo that shows it best."""

from collections.abc import Mapping
from dataclasses import replace

from overruler.house_rules import HouseRules
from overruler.pieces import Piece
from overruler.records import PieceRecord
from overruler.report import Report
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.contours.reproject import reproject_outline


def apply_house_rules_by_photo(
    report: Report, house: HouseRules, before: Mapping[str, Piece] | None = None
) -> Report:
    """Apply the house rules; the ring of a base is looked at in the first photo that sees it.

    Pieces in `before`, by id, keep their owners.
    """
    if not report.photos:
        return apply_house_rules(report, house, before)
    photos = range(len(report.photos))
    by_photo = [apply_house_rules(_drawn_on(report, k), house, before) for k in photos]
    pieces = tuple(
        by_photo[_first_seeing(report, piece)].scene.pieces[k]
        for k, piece in enumerate(report.scene.pieces)
    )
    return replace(report, scene=replace(by_photo[0].scene, pieces=pieces))


def _drawn_on(report: Report, index: int) -> Report:
    """The report with the outlines of its detections in one of its photos."""
    camera = report.photos[index].calibration.camera
    detections = tuple(reproject_outline(camera, one) for one in report.detections)
    return replace(report.on_photo(index), detections=detections)


def _first_seeing(report: Report, piece: Piece) -> int:
    """Index of the first photo that sees a piece."""
    images = PieceRecord.from_json(piece.extra).images
    return next((image.photo for image in images if image.seen), 0)
