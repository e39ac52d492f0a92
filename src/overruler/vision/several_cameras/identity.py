"""Which base by all cameras is which known piece."""

from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass

import numpy as np

from overruler.vision.fusion.fuse import FusedBase, FusedTable
from overruler.vision.several_cameras.gather import News
from overruler.vision.several_cameras.joint_piece import JointPiece
from overruler.vision.several_cameras.watched_camera import WatchedCamera
from overruler.vision.tracking.assignment import MissingPiece, assign_pieces
from overruler.vision.tracking.piece_state import GONE_S

FOLLOWED_VOTES = 2
"""Votes of a camera that followed a piece, or saw it stand; one that lost it on its way has one."""


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
    unsure = {
        (camera.index, move.piece)
        for camera in news.cameras
        for move in camera.moves
        if not move.way_seen
    }
    votes: Counter[tuple[int, str]] = Counter()
    for number, names in enumerate(own_ids):
        for key in names.items():
            if key in owners:
                votes[number, owners[key].id] += 1 if key in unsure else FOLLOWED_VOTES
    by_id = {piece.id: piece for piece in pieces}
    known: dict[int, JointPiece] = {}
    taken: set[str] = set()
    for (number, name), _ in sorted(votes.items(), key=lambda item: (-item[1], item[0])):
        if number not in known and name not in taken:
            known[number] = by_id[name]
            taken.add(name)
    return known


def _missing_piece(piece: JointPiece, time_s: float) -> MissingPiece:
    is_gone = piece.away_s is not None and time_s - piece.away_s > GONE_S
    return MissingPiece(piece.fused.base, piece.xy_mm, is_gone, piece.xy_mm)


def _may_be(piece: JointPiece, own_ids: dict[int, str], news: News) -> float:
    """1 where no camera that follows a piece sees the base too; else that camera told them apart."""
    followers: Set[int] = {one.index for one in news.cameras if piece.is_followed_by(one)}
    return float(not followers & own_ids.keys())
