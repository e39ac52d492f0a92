"""Which base by all cameras is which known piece."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from overruler.geometry.batched.vectors import distance
from overruler.track import Move
from overruler.vision.fusion.fuse import FusedBase, FusedTable
from overruler.vision.several_cameras.gather import News
from overruler.vision.several_cameras.joint_piece import JointPiece
from overruler.vision.several_cameras.watched_camera import WatchedCamera
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces
from overruler.vision.tracking.piece_state import GONE_S

MIN_STEP_MM = 15.0
"""A camera's move that begins within this of a piece is that piece's, in mm; also within its radius."""
SAME_PLACE_RADII = 0.5
"""A base this near to where a piece of its size stands is that piece, in its radii."""
LOST_VOTES, FOLLOWED_VOTES, STANDING_VOTES = 1, 2, 3
"""Votes of a camera that lost a piece on its way, that followed it, and that sees it stand as before."""


@dataclass(frozen=True, slots=True, eq=False)
class Identities:
    """The bases of a fused table with the pieces that they are."""

    own_ids: Sequence[dict[int, str]]
    """Of each base: the names by which cameras follow it, by the cameras' numbers."""
    pieces: dict[int, JointPiece]
    """The known piece of each base that is one, by the base's number."""


def identify(
    fused: FusedTable, news: News, pieces: Sequence[JointPiece], time_s: float
) -> Identities:
    """Tell the bases' pieces: by the cameras that follow them, else by size and distance."""
    own_ids = [_own_ids(base, news.cameras) for base in fused.bases]
    known = _by_votes(own_ids, news, pieces)
    _add_by_place(known, fused, pieces)
    _add_by_origin(known, own_ids, news, pieces)
    taken = {piece.id for piece in known.values()}
    missing = [one for one in pieces if one.id not in taken and one.id in news.left_s]
    left = [number for number in range(len(fused.bases)) if number not in known]
    found = [(fused.bases[number].base, fused.fit.xy_mm[number]) for number in left]
    wanted = [_missing_piece(piece, time_s) for piece in missing]
    looks = np.array([[_may_be(piece, own_ids[n], news) for n in left] for piece in missing])
    for i, j in assign_pieces(wanted, found, looks):
        known[left[j]] = missing[i]
    return Identities(own_ids, known)


def _own_ids(base: FusedBase, cameras: Sequence[WatchedCamera]) -> dict[int, str]:
    by_number = {camera.index: camera for camera in cameras}
    names = {}
    for sighting in base.sightings:
        camera = by_number[sighting.photo.index]
        track = camera.track_of(sighting.detection)
        if track is not None:
            names[camera.index] = track.id
    return names


def _by_votes(
    own_ids: Sequence[dict[int, str]], news: News, pieces: Sequence[JointPiece]
) -> dict[int, JointPiece]:
    """The pieces that most cameras take the bases for."""
    owners = {(index, name): piece for piece in pieces for index, name in piece.own_ids.items()}
    votes: Counter[tuple[int, str]] = Counter()
    for number, names in enumerate(own_ids):
        for camera in news.cameras:
            key = camera.index, names.get(camera.index, "")
            if key in owners:
                votes[number, owners[key].id] += _votes_of(camera, key[1])
    by_id = {piece.id: piece for piece in pieces}
    known: dict[int, JointPiece] = {}
    taken: set[str] = set()
    for (number, name), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if number not in known and name not in taken:
            known[number] = by_id[name]
            taken.add(name)
    return known


def _votes_of(camera: WatchedCamera, own_id: str) -> int:
    """How sure a camera is that a piece of its own is the one it was."""
    moves = [move for move in camera.moves if move.piece == own_id]
    if moves:
        return FOLLOWED_VOTES if all(move.way_seen for move in moves) else LOST_VOTES
    return STANDING_VOTES if camera.sees_in_place(own_id) else FOLLOWED_VOTES


def _add_by_place(
    known: dict[int, JointPiece], fused: FusedTable, pieces: Sequence[JointPiece]
) -> None:
    """A base where a piece of its size stands is that piece, if no camera says otherwise."""
    taken = {piece.id for piece in known.values()}
    free = [piece for piece in pieces if piece.id not in taken and piece.away_s is None]
    for number, base in enumerate(fused.bases):
        if number in known:
            continue
        reach_mm = SAME_PLACE_RADII * base.base.length_mm / 2
        for piece in free:
            is_there = distance(piece.xy_mm, fused.fit.xy_mm[number]) < reach_mm
            if is_there and MissingPiece(piece.fused.base, piece.xy_mm).has_size_of(base.base):
                known[number] = piece
                free.remove(piece)
                break


def _add_by_origin(
    known: dict[int, JointPiece],
    own_ids: Sequence[dict[int, str]],
    news: News,
    pieces: Sequence[JointPiece],
) -> None:
    """A base that a camera saw come from where a piece stood is that piece, if no camera sees it there."""
    taken = {piece.id for piece in known.values()}
    free = [piece for piece in pieces if piece.id not in taken and piece.away_s is None]
    hidden = [piece for piece in free if not _is_seen(piece, news.cameras)]
    for number, names in enumerate(own_ids):
        if number in known:
            continue
        for camera in news.cameras:
            for move in camera.moves:
                if move.piece != names.get(camera.index):
                    continue
                piece = next((one for one in hidden if begins_at(move, one)), None)
                if piece is not None:
                    known[number] = piece
                    hidden.remove(piece)


def _is_seen(piece: JointPiece, cameras: Sequence[WatchedCamera]) -> bool:
    return any(camera.sees_in_place(piece.own_ids.get(camera.index)) for camera in cameras)


def begins_at(move: Move, piece: JointPiece) -> bool:
    """Whether a camera's move begins where a piece stands."""
    apart_mm = distance(np.array(move.from_mm), piece.xy_mm)
    return apart_mm < max(piece.fused.base.length_mm / 2, MIN_STEP_MM)


def _missing_piece(piece: JointPiece, time_s: float) -> MissingPiece:
    is_gone = piece.away_s is not None and time_s - piece.away_s > GONE_S
    return MissingPiece(piece.fused.base, piece.xy_mm, is_gone, piece.xy_mm)


def _may_be(piece: JointPiece, own_ids: dict[int, str], news: News) -> float:
    """1 where no camera that follows a piece sees the base too; else that camera told them apart."""
    followers: Set[int] = {one.index for one in news.cameras if piece.is_followed_by(one)}
    return float(not followers & own_ids.keys())
