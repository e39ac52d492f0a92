"""Corrections of a table by several photos: untouched places stay as all photos measured them."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.errors import BadInput
from overruler.fixes import Fix
from overruler.geometry.covariance import Covariance, RareAlternative
from overruler.geometry.pose import Array
from overruler.records import PhotoImageRecord
from overruler.report import Report, TablePhoto
from overruler.scene import Scene
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
) -> tuple[tuple[Detection, ...], Covariance]:
    """The detections of pieces and their covariance; without a fix of its place a piece stays.

    A piece is its id in the scene before, its detection, and the last fix of its place.
    """
    if not report.photos:
        all_flat = correct_detections_for_bow(report.calibration, [one for _, one, _ in pieces])
        return all_flat, position_covariance(report.calibration, all_flat)
    flattened: list[Detection] = []
    placed: dict[str, Covariance] = {}
    for name, detection, fix in pieces:
        if fix is None:
            flattened.append(detection)
            continue
        calibration = on_photo_of(report, fix).calibration
        flat = correct_detections_for_bow(calibration, [detection])
        placed[name] = position_covariance(calibration, flat)
        flattened += flat
    names = [name for name, _, _ in pieces]
    return tuple(flattened), keep_joint_covariance(report.scene, names, placed)


def keep_joint_covariance(
    before: Scene, names: Sequence[str], placed: dict[str, Covariance]
) -> Covariance:
    """The joint covariance of pieces of which some are `placed` anew, each with its own covariance.

    A piece placed anew shares no error with the others: that makes distances to it less sure than
    they are, never surer.
    """
    if before.covariance is None:  # there were no pieces
        return Covariance(_merge(Covariance(()), {}, names, placed).tolist())
    old = {piece.id: k for k, piece in enumerate(before.pieces)}
    rare = before.covariance.rare_alternative
    usual_mm2 = _merge(before.covariance, old, names, placed)
    if rare is None:
        return Covariance(usual_mm2.tolist())
    widest = {name: _widest(one) for name, one in placed.items()}
    rare_mm2 = _merge(rare.covariance, old, names, widest)
    alternative = replace(rare, covariance=Covariance(rare_mm2.tolist()))
    return Covariance(usual_mm2.tolist(), alternative)


def _widest(one: Covariance) -> Covariance:
    alternative: RareAlternative | None = one.rare_alternative
    return one if alternative is None else alternative.covariance


def _merge(
    before: Covariance, old: dict[str, int], names: Sequence[str], placed: dict[str, Covariance]
) -> Array:
    """(2N, 2N): rows of the pieces that stayed, and blocks of those placed anew."""
    merged = np.zeros((2 * len(names), 2 * len(names)))
    stayed = [k for k, name in enumerate(names) if name not in placed]
    to = np.ravel([[2 * k, 2 * k + 1] for k in stayed]).astype(int)
    source = np.ravel([[2 * old[names[k]], 2 * old[names[k]] + 1] for k in stayed]).astype(int)
    merged[np.ix_(to, to)] = before.array[np.ix_(source, source)]
    for k, name in enumerate(names):
        if name in placed:
            two = slice(2 * k, 2 * k + 2)
            merged[two, two] = placed[name].array
    return merged
