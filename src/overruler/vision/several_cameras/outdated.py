"""What a camera saw before it was measured anew: it counts until something speaks against it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.vision.pairing.ground.bare_ground import is_bare
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.several_cameras.joint_piece import (
    PHOTOS_OF_CAMERA,
    JointPiece,
    camera_of,
)


def keep_what_was_seen(
    pieces: Sequence[JointPiece],
    settled: Sequence[JointPiece],
    photos: Sequence[SeenPhoto],
    time_s: float,
) -> None:
    """Put away the pieces of which only outdated sightings are left, and that do not stand there any more.

    `settled` are those that the photos (one a camera) show now.
    """
    current = {photo.index: photo for photo in photos}
    numbers = {index: _next_number(index, pieces) for index in current}
    for piece in pieces:
        if piece.away_s is not None or piece in settled:
            continue
        outdated = [one for one in piece.placed.sightings if _is_outdated(one, current)]
        if not outdated:
            continue
        kept = [one for one in piece.placed.sightings if one not in outdated]
        if kept:
            piece.placed = replace(piece.placed, sightings=tuple(kept))
            piece.is_placed_anew = True
        elif _has_gone(piece, outdated, settled, current):
            piece.away_s = time_s
        else:
            old = tuple(_renumbered(one, numbers[one.photo.index]) for one in outdated)
            piece.placed = replace(piece.placed, sightings=old)


def _is_outdated(sighting: Sighting, current: dict[int, SeenPhoto]) -> bool:
    """Whether its camera was measured anew since."""
    now = current.get(sighting.photo.index)
    return now is not None and now.calibration is not sighting.photo.calibration


def _has_gone(
    piece: JointPiece,
    outdated: Sequence[Sighting],
    settled: Sequence[JointPiece],
    current: dict[int, SeenPhoto],
) -> bool:
    """Whether another piece stands where a piece stood, or its camera shows bare ground there.

    Where that camera shows anything else, somebody may stand before the piece.
    """
    if any(piece.does_overlap(other) for other in settled):
        return True
    base, place = piece.fused.base, np.array([*piece.xy_mm, piece.placed.z_mm])
    for one in outdated:
        now, before = current[one.photo.index], one.photo
        if is_bare(now, base, place, before):
            return True
    return False


def _next_number(camera: int, pieces: Sequence[JointPiece]) -> int:
    """The number of what a camera saw before it was measured anew: each time another one."""
    sightings = (one for piece in pieces for one in piece.placed.sightings)
    taken = (one.photo.index for one in sightings if camera_of(one) == camera)
    return max(taken, default=camera) + PHOTOS_OF_CAMERA


def _renumbered(sighting: Sighting, number: int) -> Sighting:
    """The sighting in a photo with a number of its own beside its camera's new one."""
    return replace(sighting, photo=replace(sighting.photo, index=number))
