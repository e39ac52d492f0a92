"""Corrections of a table by several photos: untouched places stay as all photos measured them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.fixes import Fix
from overruler.geometry.covariance import Covariance
from overruler.records import PhotoImageRecord
from overruler.report import JointErrors, Report, TablePhoto
from overruler.vision.assembly.placed_anew import PlacedPiece, errors_after
from overruler.vision.assembly.pointed_at import detect_at_point
from overruler.vision.assembly.to_scene import image_record, position_covariance
from overruler.vision.camera.table_bow import correct_detections_for_bow
from overruler.vision.contours.reproject import reproject_outline


def on_seeing_photo(report: Report, fix: Fix, base: Base | None, seen_in: Sequence[int]) -> Fix:
    """A correction that names no photo, with one that shows where it points, or its piece.

    `base` is the piece's, and `seen_in` the photos that it is measured in.
    """
    if fix.photo is not None or fix.xy_px is not None or not report.photos:
        return fix
    if fix.xy_mm is None or base is None:
        return replace(fix, photo=next(iter(seen_in), 0))
    others = [index for index in range(len(report.photos)) if index not in seen_in]
    return replace(fix, photo=_photo_of_place(report, fix, base, [*seen_in, *others]))


def _photo_of_place(report: Report, fix: Fix, base: Base, photos: Sequence[int]) -> int:
    """The first photo that shows a base where a correction points, else the first of the place."""
    of_place = []
    for index in photos:
        try:
            found = detect_at_point(report.on_photo(index), fix, "", base, 0.0)
        except BadInput:  # the place is outside this photo
            continue
        if found.is_seen:
            return index
        of_place.append(index)
    return next(iter(of_place), 0)


def on_photo_of(report: Report, fix: Fix) -> Report:
    """The report drawn on the photo that a correction points at; `BadInput` if there is none such."""
    fix.check_photo(max(len(report.photos), 1))
    return report.on_photo(fix.photo_index) if report.photos else report


def images_in(
    detection: Detection, photos: Sequence[TablePhoto], seen: set[int]
) -> tuple[PhotoImageRecord, ...]:
    """Where the photos show a base; it was seen in those of the indices `seen`."""
    place = np.array([*detection.xy_mm, detection.z_mm])
    images = []
    for index, photo in enumerate(photos):
        camera = photo.calibration.camera
        pixel = camera.project(place)
        inside = (pixel >= 0).all() and (pixel <= np.array(photo.frame.size_px) - 1).all()
        if np.isfinite(pixel).all() and inside:
            drawn = image_record(reproject_outline(camera, detection))
            images.append(PhotoImageRecord(index, drawn, index in seen))
    return tuple(images)


def detect_in_photo(
    report: Report, fix: Fix, name: str, base: Base, heading_deg: float
) -> Detection:
    """The base where a fix points, in the photo that it names, drawn on the report's own photo."""
    found = detect_at_point(on_photo_of(report, fix), fix, name, base, heading_deg)
    return reproject_outline(report.calibration.camera, found) if fix.photo_index else found


def images_after(
    report: Report, detection: Detection, fix: Fix | None, seen: set[int]
) -> list[dict[str, Any]]:
    """Where all photos show a corrected piece; one placed anew is seen where somebody pointed at it."""
    if fix is not None:
        seen = {fix.photo_index} if detection.is_seen else set()
    return [image.to_json() for image in images_in(detection, report.photos, seen)]


def place_jointly(
    report: Report, pieces: Sequence[tuple[str, Detection, Fix | None]]
) -> tuple[tuple[Detection, ...], Covariance, JointErrors | None]:
    """The detections of pieces and how they err together; without a fix of its place a piece stays.

    A piece is its id in the scene before, its detection, and the last fix of its place.
    """
    if report.errors is None:
        all_flat = correct_detections_for_bow(report.calibration, [one for _, one, _ in pieces])
        return all_flat, position_covariance(report.calibration, all_flat), None
    before = {piece.id: k for k, piece in enumerate(report.scene.pieces)}
    placed: list[PlacedPiece] = []
    for name, detection, fix in pieces:
        if fix is None:
            placed.append(PlacedPiece(detection, before[name]))
            continue
        calibration = on_photo_of(report, fix).calibration
        (flat,) = correct_detections_for_bow(calibration, [detection])
        placed.append(PlacedPiece(flat, None, fix.photo_index))
    calibrations = [photo.calibration for photo in report.photos]
    errors = errors_after(report.errors, calibrations, placed)
    return tuple(one.detection for one in placed), errors.of_places(len(placed)), errors
