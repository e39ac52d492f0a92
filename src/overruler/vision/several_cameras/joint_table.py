"""The table by all cameras: its pieces, brought up to date by what each camera sees anew.

Only what is new is associated between the cameras, with what stands near it. One fit then places all
pieces by all sightings. A camera that sees the table no more counts with what it last saw, as long
as no other camera sees that this has changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from overruler.calibration import Calibration
from overruler.fixes import next_piece_id
from overruler.geometry.pose import Array
from overruler.track import Move
from overruler.vision.fusion.fuse import CheckedFit, FusedTable, fit_and_check, fuse_photos
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.pairing.levels import Level
from overruler.vision.several_cameras.gather import News
from overruler.vision.several_cameras.identity import Identities, begins_at, identify
from overruler.vision.several_cameras.joint_move import (
    PlaceChange,
    best_seen,
    chain_moves,
    join_moves,
)
from overruler.vision.several_cameras.joint_piece import JointPiece, camera_of
from overruler.vision.several_cameras.misfit import find_misfits
from overruler.vision.several_cameras.outdated import keep_what_was_seen
from overruler.vision.several_cameras.watched_camera import WatchedCamera


@dataclass(slots=True, eq=False)
class JointTable:
    """The pieces of a table by all its cameras."""

    radii_mm: Array
    """(C,): radii of the round bases to look for."""
    pieces: list[JointPiece] = field(default_factory=list)
    levels: list[Level] = field(default_factory=list)
    """The flat tops that pieces stand on."""
    fit: CheckedFit | None = None
    """The fit of the standing pieces, in their order; None before the cameras' views were first joined."""
    named: set[tuple[int, str]] = field(default_factory=set)
    """Cameras' numbers and names by which they have followed some piece of the table."""
    notes: list[str] = field(default_factory=list)
    """What users should know and were not told yet."""

    @property
    def standing(self) -> list[JointPiece]:
        return [piece for piece in self.pieces if piece.away_s is None]

    def update(self, cameras: Sequence[WatchedCamera], time_s: float) -> tuple[Move, ...]:
        """Take in what the cameras see anew, and return the moves that it shows."""
        self._forget_old_names(cameras)
        news = News.of(cameras, self.pieces)
        photos = news.photos()
        if not photos:
            return ()
        fused = fuse_photos(photos, self.radii_mm)
        has_new = any(camera.is_new for camera in news.cameras)
        if has_new:
            misfits = find_misfits(fused, photos)
            if misfits:
                self._leave_out(misfits, news.cameras, time_s)
                return self.update(cameras, time_s)
        known = identify(fused, news, self.pieces, time_s)
        seen = [self._moves_of(k, known, news.cameras) for k in range(len(fused.bases))]
        before = [_Before.of(known.pieces.get(k), news, own) for k, own in enumerate(seen)]
        self._take_away(news, known, time_s)
        if has_new:
            self._drop_unlikely(known, news)
        settled = self._settle(fused, known, news, time_s)
        keep_what_was_seen(self.pieces, settled, photos, time_s)
        self.place_all()
        moves = [
            then.move(piece, own, time_s)
            for then, piece, own in zip(before, settled, seen, strict=True)
        ]
        for camera, photo in zip(news.cameras, photos, strict=True):
            camera.mark_joined(photo)
        return tuple(move for move in moves if move is not None)

    def _forget_old_names(self, cameras: Sequence[WatchedCamera]) -> None:
        """A camera that was measured anew has its names from the cameras that went on seeing.

        By itself it can only guess which piece stands where by now.
        """
        seeing = [camera for camera in cameras if camera.table is not None]
        for camera in seeing:
            others = [one for one in seeing if one is not camera and not one.is_new]
            for piece in self.pieces if camera.is_new else ():
                if any(piece.is_followed_by(other) for other in others):
                    own_id = piece.own_ids.pop(camera.index, None)
                    camera.moves[:] = [move for move in camera.moves if move.piece != own_id]

    def _leave_out(
        self, misfits: Mapping[int, str], cameras: Sequence[WatchedCamera], time_s: float
    ) -> None:
        for camera in cameras:
            if camera.index in misfits:
                camera.leave_out(time_s)
                self.notes.append(f"{misfits[camera.index]}; the other cameras go on without it")

    def _moves_of(
        self, number: int, known: Identities, cameras: Sequence[WatchedCamera]
    ) -> list[Move]:
        """What each camera saw of the move of the piece that a base is.

        A camera that takes it for another piece has not seen its move.
        """
        piece, own_ids = known.pieces.get(number), known.own_ids[number]
        moves = []
        for camera in cameras:
            own_id = own_ids.get(camera.index)
            own = [move for move in camera.moves if move.piece == own_id]
            if (own and piece is None and (camera.index, own_id) not in self.named) or (
                own and piece is not None and begins_at(own[0], piece)
            ):
                moves.append(chain_moves(own))
        return moves

    def _take_away(self, news: News, known: Identities, time_s: float) -> None:
        """Pieces that have left, and that no camera found again, are away."""
        found = {piece.id for piece in known.pieces.values()}
        for piece in news.affected:
            if piece.id in news.left_s and piece.id not in found and piece.away_s is None:
                piece.away_s = min(news.left_s[piece.id], time_s)

    def _drop_unlikely(self, known: Identities, news: News) -> None:
        """Pieces that a camera that was measured just now speaks against have never been any."""
        found = {piece.id for piece in known.pieces.values()}
        now = {one.index: one.table.calibration for one in news.cameras if one.table is not None}
        unlikely = [
            piece
            for piece in news.affected
            if piece.id not in found and piece.away_s is None and _was_asked(piece, now)
        ]
        self.pieces = [piece for piece in self.pieces if piece not in unlikely]

    def _settle(
        self, fused: FusedTable, known: Identities, news: News, time_s: float
    ) -> list[JointPiece]:
        """The pieces of the fused bases, settled where they stand; new ones count from left to right."""
        levels = self._level_numbers(fused.levels)
        is_first = not self.pieces
        settled: dict[int, JointPiece] = {}
        order = np.argsort(fused.fit.xy_mm[:, 0], kind="stable").tolist()
        for number in order:
            base = fused.bases[number]
            placed = fused.placed[number]
            if base.level is not None:
                base = replace(base, level=levels[base.level])
                placed = replace(placed, level=levels[base.level])
            piece = known.pieces.get(number)
            if piece is None:
                name = next_piece_id([one.id for one in self.pieces])
                arrived_s = -np.inf if is_first else time_s
                piece = JointPiece(name, base, placed, arrived_s=arrived_s)
                self.pieces.append(piece)
            else:
                piece.settle(base, self._with_lost(piece, placed, news))
            self._name(piece, known.own_ids[number], news.cameras)
            _adopt(piece, news.cameras)
            settled[number] = piece
        return [settled[number] for number in range(len(fused.bases))]

    def _name(
        self, piece: JointPiece, own_ids: Mapping[int, str], cameras: Sequence[WatchedCamera]
    ) -> None:
        """Note by which names cameras follow a piece; what one has lost, it follows no more."""
        for camera in cameras:
            track = camera.track(piece.own_ids.get(camera.index))
            if track is None or track.away_s is not None:
                piece.own_ids.pop(camera.index, None)
        for key in own_ids.items():
            for other in self.pieces:
                if other.own_ids.get(key[0]) == key[1]:
                    del other.own_ids[key[0]]
            self.named.add(key)
        piece.own_ids |= own_ids

    def _with_lost(self, piece: JointPiece, placed: PlacedBase, news: News) -> PlacedBase:
        """The sightings with those of cameras that see the table no more, if it has not left."""
        if piece.id in news.left_s:
            return placed
        seeing = {camera.index for camera in news.cameras}
        lost = [one for one in piece.placed.sightings if camera_of(one) not in seeing]
        return replace(placed, sightings=(*placed.sightings, *lost))

    def _level_numbers(self, levels: Sequence[Level]) -> list[int]:
        """The table's own numbers of tops; new ones are added."""
        numbers = []
        for level in levels:
            areas = {id(area) for _, area in level.areas}
            own = [
                number
                for number, one in enumerate(self.levels)
                if areas & {id(area) for _, area in one.areas}
            ]
            numbers.append(own[0] if own else len(self.levels))
            if not own:
                self.levels.append(level)
        return numbers

    def place_all(self) -> None:
        """Fit the places of all pieces; those of which nothing is new stay where they are."""
        standing = self.standing
        fit = fit_and_check([piece.placed for piece in standing])
        xy_mm = fit.fit.xy_mm.copy()
        for k, piece in enumerate(standing):
            if piece.is_placed_anew:
                piece.xy_mm = xy_mm[k].copy()
                piece.is_placed_anew = False
            xy_mm[k] = piece.xy_mm
        self.fit = replace(fit, fit=replace(fit.fit, xy_mm=xy_mm))


@dataclass(frozen=True, slots=True, eq=False)
class _Before:
    """A piece before an update."""

    xy_mm: Array
    sigma_mm: float
    cameras: frozenset[int]
    """Numbers of the cameras that saw it."""
    left_s: float | None
    """When it left its place; None if no camera saw it leave."""

    @classmethod
    def of(cls, piece: JointPiece | None, news: News, seen: Sequence[Move]) -> "_Before":
        """A known piece; or one that is new, by what cameras saw of its move."""
        if piece is not None:
            starts_s = [move.start_s for move in seen]
            left_s = news.left_s.get(piece.id, min(starts_s, default=None))
            return cls(piece.xy_mm, piece.sigma_mm, piece.seen_by, left_s)
        if not seen:
            return cls(np.zeros(2), 0.0, frozenset(), None)
        first = best_seen(seen)
        sigma_mm = first.sigma_mm / np.sqrt(2)
        return cls(np.array(first.from_mm), sigma_mm, frozenset(), first.start_s)

    def move(self, piece: JointPiece, seen: Sequence[Move], time_s: float) -> Move | None:
        """The move of the piece since; None where it stands as before."""
        if self.left_s is None:
            return None
        change = PlaceChange(
            piece.id,
            self.xy_mm,
            piece.xy_mm,
            (self.sigma_mm, piece.sigma_mm or self.sigma_mm),
            (self.left_s, time_s),
            self.cameras == piece.seen_by,
        )
        return join_moves(change, seen)


def _was_asked(piece: JointPiece, now: Mapping[int, Calibration]) -> bool:
    """Whether all that is known of a piece is what the cameras that see the table now say of it."""
    return all(now.get(one.photo.index) is one.photo.calibration for one in piece.placed.sightings)


def _adopt(piece: JointPiece, cameras: Sequence[WatchedCamera]) -> None:
    """Have the cameras that see a piece only since others told of it follow it from now on."""
    for camera in cameras:
        sighting = piece.sighting_by(camera.index)
        if sighting is not None and camera.index not in piece.own_ids:
            own_id = camera.adopt(sighting.detection)
            if own_id is not None:
                piece.own_ids[camera.index] = own_id
