"""The report on a table by all its cameras."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.report import Report
from overruler.scene import Grid
from overruler.vision.fusion.fuse import CheckedFit, FusedTable
from overruler.vision.fusion.to_scene import report_fused
from overruler.vision.pairing.levels import Level
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.several_cameras.joint_piece import camera_of
from overruler.vision.several_cameras.joint_table import JointTable
from overruler.vision.several_cameras.watched_camera import WatchedCamera


def report_table(
    table: JointTable, cameras: Sequence[WatchedCamera], game: str | None, is_mapped: bool
) -> Report | None:
    """The table as it stands, with a photo of each camera; None where nothing was measured.

    `is_mapped` says that the markers' places were measured in the pictures.
    """
    taken = [camera.photo for camera in cameras if camera.photo is not None]
    photos = {photo.index: replace(photo, index=k) for k, photo in enumerate(taken)}
    if not photos or table.fit is None:
        return None
    fused = _numbered_by_photo(table, table.fit, photos)
    report = report_fused(fused, list(photos.values()), game, is_mapped)
    names = [table.standing[k].id for k in np.argsort(fused.fit.xy_mm[:, 0], kind="stable")]
    pieces = [replace(one, id=name) for one, name in zip(report.scene.pieces, names, strict=True)]
    scene = replace(report.scene, pieces=tuple(pieces), grid=_grid(cameras))
    return replace(report, scene=scene)


def _numbered_by_photo(
    table: JointTable, checked: CheckedFit, photos: dict[int, SeenPhoto]
) -> FusedTable:
    """The fused table, its sightings by the photos' numbers in the report."""
    bases = []
    for piece, placed in zip(table.standing, checked.placed, strict=True):
        sightings = [
            Sighting(photos[camera_of(one)], one.detection, one.again) for one in placed.sightings
        ]
        bases.append(replace(piece.fused, sightings=tuple(sightings), level=placed.level))
    levels = tuple(_level_now(level, photos) for level in table.levels)
    return FusedTable(
        tuple(bases), checked.fit, levels, (), checked.median_chi2, checked.excess, checked.placed
    )


def _level_now(level: Level, photos: dict[int, SeenPhoto]) -> Level:
    """A top; an unlikely one if all that saw it were measured anew since."""
    current = {id(photo.calibration) for photo in photos.values()}
    if any(id(photo.calibration) in current for photo, _ in level.areas):
        return level
    return replace(level, probability=0.0)


def _grid(cameras: Sequence[WatchedCamera]) -> Grid | None:
    tables = [camera.watch.table for camera in cameras]
    grids = [one.first_report.scene.grid for one in tables if one is not None]
    return next((grid for grid in grids if grid is not None), None)
