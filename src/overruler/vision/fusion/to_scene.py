"""From fused bases to a scene: the pieces with their joint covariance, hills, photos and what moved."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from overruler.calibration import CAMERA_SIZE, calibration_to_json
from overruler.detections import Detection, RaisedArea, ruler_to_json
from overruler.games import DEFAULT_GAME
from overruler.geometry.pose import Array
from overruler.pieces import SURE_PROBABILITY
from overruler.records import MovedRecord, PieceRecord
from overruler.report import Report, TablePhoto
from overruler.scene import Piece, Scene, Table
from overruler.vision.assembly.several_photos import images_in
from overruler.vision.assembly.to_scene import to_piece, to_terrain
from overruler.vision.contours.reproject import reproject_outline
from overruler.vision.fusion.fuse import FusedBase, FusedTable
from overruler.vision.fusion.heading import fuse_headings
from overruler.vision.fusion.joint_errors import joint_errors
from overruler.vision.pairing.levels import Level
from overruler.vision.pairing.seen_rulers import distinct_rulers
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.terrain.names import free_names

MIN_TOP_MM = 4.0
"""Lowest height of a top in a scene: lower ones are cards and mats."""


@dataclass(frozen=True, slots=True, eq=False)
class _PlacedPiece:
    """A fused base at its fitted place."""

    base: FusedBase
    detection: Detection
    """As the first photo would show it."""
    z_sigma_mm: float


def report_fused(
    fused: FusedTable, photos: Sequence[SeenPhoto], game: str | None, on_map: bool
) -> Report:
    """The report on a table by all its photos, with a piece for each base: p01, p02 and so on."""
    first, fused = photos[0], _doubt_moved(fused)
    order = np.argsort(fused.fit.xy_mm[:, 0], kind="stable").tolist()
    placed = [_place(fused, k, photos) for k in order]
    errors = joint_errors(fused, order, photos, on_map)
    covariance = errors.of_places(len(order))
    digits = max(2, len(str(len(order))))
    names = [f"p{k + 1:0{digits}}" for k in range(len(order))]
    pieces = tuple(
        _to_piece(one, name, covariance.cross_covariance(k, k), photos)
        for k, (one, name) in enumerate(zip(placed, names, strict=True))
    )
    areas = tuple(_areas(fused))
    scene = Scene(
        game=game or DEFAULT_GAME,
        board=Table(*first.calibration.board_mm),
        pieces=pieces,
        terrain=tuple(to_terrain(area) for area in areas),
        covariance=covariance if pieces else None,
        extra=_extra(fused, photos, dict(zip(order, names, strict=True))),
    )
    return Report(
        frame=first.frame,
        calibration=first.calibration,
        detections=tuple(one.detection for one in placed),
        scene=scene,
        rulers=distinct_rulers(photos),
        areas=areas,
        photos=tuple(TablePhoto(photo.frame, photo.calibration) for photo in photos),
        errors=errors,
    )


def _doubt_moved(fused: FusedTable) -> FusedTable:
    """The table with moved bases as unsure as they moved: which of the places holds, nobody knows."""
    added: dict[int, Array] = {}
    for k, sighting in fused.moved:
        step = sighting.place_at(float(fused.fit.z_mm[k])) - fused.fit.xy_mm[k]
        added[k] = added.get(k, np.zeros((2, 2))) + np.outer(step, step)
    return replace(fused, fit=fused.fit.with_added_covariance(added))


def _extra(fused: FusedTable, photos: Sequence[SeenPhoto], names: dict[int, str]) -> dict[str, Any]:
    """What a scene says beside the pieces: calibrations, rulers, and what moved."""
    calibrations = [calibration_to_json(photo.calibration) for photo in photos]
    rulers = [ruler_to_json(ruler) for ruler in distinct_rulers(photos)]
    extra: dict[str, Any] = {"calibration": calibrations[0], "rulers": rulers}
    files = [photo.frame.name for photo in photos]
    extra["photos"] = [
        {"file": file, "calibration": calibration}
        for file, calibration in zip(files, calibrations, strict=True)
    ]
    if fused.moved:
        moved = [_moved_record(names[k], sighting) for k, sighting in fused.moved]
        extra["moved"] = [record.to_json() for record in moved]
    return extra


def _moved_record(name: str, sighting: Sighting) -> MovedRecord:
    x, y = sighting.place_at(sighting.detection.z_mm).tolist()
    return MovedRecord(name, sighting.photo.index, round(x, 3), round(y, 3))


def _areas(fused: FusedTable) -> list[RaisedArea]:
    """The raised ground of the table, at the height of the bases on it."""
    areas = []
    names = area_names(fused.levels)
    for k, level in enumerate(fused.levels):
        on = [n for n, base in enumerate(fused.bases) if base.level == k]
        z_mm, sigma = level.z_mm, level.z_sigma_mm
        if on:
            z_mm = float(np.mean(fused.fit.z_mm[on]))
            sigma = float(min(fused.fit.z_sigma_mm[on]))
        if level.probability <= 0.5 or z_mm < MIN_TOP_MM:
            continue
        area = _as_declared(level) or level.areas[0][1]
        footprint = level.outline_at(z_mm)
        areas.append(
            replace(
                area, id=names[k], footprint_mm=footprint, top_z_mm=z_mm, sigma_mm=sigma,
                probability=level.probability, usual_sigma_share=1.0,
            )
        )  # fmt: skip
    return areas


def area_names(levels: Sequence[Level]) -> list[str]:
    """The ids of tops: a declared one's own; of the others h1, h2 and so on, without those."""
    declared = [_as_declared(level) for level in levels]
    taken = {area.id for area in declared if area is not None}
    free = free_names(taken)
    return [next(free) if area is None else area.id for area in declared]


def _as_declared(level: Level) -> RaisedArea | None:
    """The area of a top that somebody declared; None for one that was found."""
    return next((area for _, area in level.areas if area.is_declared), None)


def _place(fused: FusedTable, k: int, photos: Sequence[SeenPhoto]) -> _PlacedPiece:
    base = fused.bases[k]
    surest = max(base.sightings, key=lambda one: one.detection.visible).detection
    z_mm = float(fused.fit.z_mm[k]) if base.is_raised else 0.0
    standing_on = None
    if base.level is not None:
        standing_on = area_names(fused.levels)[base.level]
    two = slice(2 * k, 2 * k + 2)
    z_sigma = float(fused.fit.z_sigma_mm[k])
    heading = fuse_headings(base.heading_sightings)
    most = base.base.heading_modulo_deg if base.base.shape == "hexagon" else 360.0
    detection = replace(
        surest,
        heading_deg=heading.heading_deg,
        heading_modulo_deg=min(heading.heading_modulo_deg, most),
        other_headings=heading.other_headings,
        base=base.base,
        alternative_bases=base.other_bases,
        xy_mm=fused.fit.xy_mm[k],
        z_mm=z_mm,
        covariance_mm2=fused.fit.usual_mm2[two, two],
        d_xy_d_camera=np.zeros((2, CAMERA_SIZE)),
        score=base.probability,
        standing_on=standing_on,
        sigma_z_mm=z_sigma if base.is_raised else 0.0,
        unmodelled_mm2=np.zeros((2, 2)),
        rare_excess_mm2=fused.fit.rare_mm2[two, two] - fused.fit.usual_mm2[two, two],
        shared_shifts_mm={},
        rare_shifts_mm={},
    )
    camera = photos[0].calibration.camera
    return _PlacedPiece(base, reproject_outline(camera, detection), z_sigma)


def _to_piece(one: _PlacedPiece, name: str, covariance: Any, photos: Sequence[SeenPhoto]) -> Piece:
    piece = to_piece(one.detection, name, covariance)
    seen = {sighting.photo.index for sighting in one.base.sightings}
    shown = [TablePhoto(photo.frame, photo.calibration) for photo in photos]
    record = PieceRecord(
        images=images_in(one.detection, shown, seen),
        z_sigma_mm=round(one.z_sigma_mm, 3) if one.base.is_raised else None,
        probability=_stated_probability(one.base.probability),
    )
    extra = {**piece.extra, **record.to_json()}
    extra.pop("sigma_z_mm", None)
    if not photos[0].shows(np.array([*one.detection.xy_mm, one.detection.z_mm])):
        extra.pop("image", None)
    return replace(piece, extra=extra)


def _stated_probability(probability: float) -> float | None:
    return round(probability, 4) if probability < SURE_PROBABILITY else None
