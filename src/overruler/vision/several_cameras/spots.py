"""Where each piece is at a moment, by the cameras that see it."""

from collections.abc import Sequence

from overruler.track import TrackedPosition
from overruler.vision.several_cameras.joint_piece import JointPiece
from overruler.vision.several_cameras.watched_camera import WatchedCamera
from overruler.vision.tracking.piece_state import GONE_S, NEW_S


def joint_spots(
    pieces: Sequence[JointPiece], cameras: Sequence[WatchedCamera], time_s: float
) -> tuple[TrackedPosition, ...]:
    """The position of every piece."""
    return tuple(_spot(piece, cameras, time_s) for piece in pieces)


def _spot(piece: JointPiece, cameras: Sequence[WatchedCamera], time_s: float) -> TrackedPosition:
    """A piece moves where a camera sees it move, stands where one sees it stand, else is hidden."""
    own = _own_spots(piece, cameras)
    moving = next((spot for spot in own if spot.seen and spot.state == "moving"), None)
    x_mm, y_mm = piece.xy_mm.tolist()
    seen = any(spot.seen for spot in own)
    if piece.away_s is not None:
        state = "gone" if time_s - piece.away_s > GONE_S else "lifted"
        seen = False
    elif moving is not None:
        state, x_mm, y_mm = "moving", moving.x_mm, moving.y_mm
    elif seen:
        state = "new" if time_s - piece.arrived_s < NEW_S else "static"
    else:
        state = "lifted" if own and all(_is_away(spot) for spot in own) else "occluded"
    base = piece.fused.base
    return TrackedPosition(piece.id, base, x_mm, y_mm, piece.sigma_mm, state, seen)


def _own_spots(piece: JointPiece, cameras: Sequence[WatchedCamera]) -> list[TrackedPosition]:
    """What the cameras that see the table say of a piece."""
    found = []
    for camera in cameras:
        if camera.table is not None:
            spot = camera.spots.get(piece.own_ids.get(camera.index, ""))
            if spot is not None:
                found.append(spot)
    return found


def _is_away(spot: TrackedPosition) -> bool:
    return spot.state in ("lifted", "gone")
