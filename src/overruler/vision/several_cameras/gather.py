"""What the cameras say anew, as photos of just the bases that this is about."""

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from overruler.detections import Detection
from overruler.geometry.batched.vectors import distance
from overruler.vision.pairing.sighting import SeenPhoto
from overruler.vision.several_cameras.joint_piece import JointPiece
from overruler.vision.several_cameras.watched_camera import WatchedCamera
from overruler.vision.tracking.piece_track import PieceTrack

NEAR_MM = 100.0
"""A piece this near to what a camera saw anew may be what it saw: the parallax of a roof, in mm."""

TOLD_SCORE = 0.995
"""Score of what a person said to be a piece, for the other cameras to confirm."""


@dataclass(frozen=True, slots=True, eq=False)
class News:
    """What is new by the cameras that see the table now."""

    cameras: Sequence[WatchedCamera]
    """The cameras that see the table."""
    changed: Mapping[int, Set[str]]
    """Own ids of the pieces that changed, by the cameras' numbers."""
    affected: Sequence[JointPiece]
    """The pieces that this may be about."""
    left_s: Mapping[str, float]
    """Time in s at which each piece left its place, by id, where a camera saw it leave."""

    @classmethod
    def of(cls, cameras: Sequence[WatchedCamera], pieces: Sequence[JointPiece]) -> "News":
        seeing = [camera for camera in cameras if camera.table is not None]
        changed = {camera.index: camera.news() for camera in seeing}
        places = [track.rest_detection.xy_mm for track in _tracks(seeing, changed)]
        affected = [
            piece
            for piece in pieces
            if any(piece.own_ids.get(index) in names for index, names in changed.items())
            or any(distance(piece.xy_mm, place) < NEAR_MM for place in places)
        ]
        left_s = {piece.id: _left_s(piece, seeing) for piece in pieces}
        return cls(seeing, changed, affected, {k: t for k, t in left_s.items() if t is not None})

    def photos(self) -> list[SeenPhoto]:
        """A photo of each camera that sees the table, with the bases to be joined."""
        photos = [camera.photograph(self._detections(camera)) for camera in self.cameras]
        return [photo for photo in photos if photo is not None]

    def _detections(self, camera: WatchedCamera) -> tuple[Detection, ...]:
        tracks = _tracks([camera], self.changed)
        new = [one.rest_detection for one in tracks if one.away_s is None]
        kept = [self._kept_detection(camera, piece) for piece in self.affected]
        detections = [*new, *(one for one in kept if one is not None), *camera.doubtful]
        return tuple(_believed(one) for one in {id(one): one for one in detections}.values())

    def _kept_detection(self, camera: WatchedCamera, piece: JointPiece) -> Detection | None:
        """What a camera holds of a piece that it saw no change of; None where that is outdated."""
        own_id = piece.own_ids.get(camera.index)
        if own_id in self.changed[camera.index]:
            return None
        track = camera.track(own_id)
        if piece.id in self.left_s and not camera.sees_in_place(own_id):
            piece.own_ids.pop(camera.index, None)
            return None
        if track is not None:
            return track.rest_detection if track.away_s is None else None
        sighting = piece.sighting_by(camera.index)
        return sighting.detection if sighting is not None and not camera.is_new else None


def _believed(detection: Detection) -> Detection:
    """A detection; a sure one where a person said that it is a piece."""
    if detection.is_confirmed or not detection.is_seen:
        return replace(detection, score=max(detection.score, TOLD_SCORE))
    return detection


def _tracks(
    cameras: Sequence[WatchedCamera], names: Mapping[int, Set[str]]
) -> Iterator[PieceTrack]:
    """The pieces of these own ids that the cameras follow."""
    for camera in cameras:
        for name in sorted(names[camera.index]):
            track = camera.track(name)
            if track is not None:
                yield track


def _left_s(piece: JointPiece, cameras: Sequence[WatchedCamera]) -> float | None:
    """When a piece left its place; None where no camera saw it leave."""
    if piece.away_s is not None:
        return piece.away_s
    times = []
    for camera in cameras:
        own_id = piece.own_ids.get(camera.index)
        track = camera.track(own_id)
        if track is not None and track.away_s is not None:
            times.append(track.away_s)
        times += [move.start_s for move in camera.moves if move.piece == own_id]
    return min(times, default=None)
