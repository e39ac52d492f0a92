"""One of several cameras over a table: its own watch, and what is new of its pieces."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.errors import CannotMeasure
from overruler.frame import Shot
from overruler.geometry.batched.vectors import distance
from overruler.track import Move, Tick, TrackedPosition
from overruler.vision.pairing.sighting import SeenPhoto
from overruler.vision.stabilization.guard import CameraMotionGuard
from overruler.vision.tracking.hands import OBJECT_STILL_S, is_disturbed
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.resolve import MIN_STAYED_SHARE, SETTLE_S
from overruler.vision.tracking.table_part import average_shots
from overruler.vision.tracking.table_state import TableState
from overruler.vision.tracking.watch import Watch

SAME_PIECE_RADII = 0.5
"""A sighting this near to a camera's own piece in the picture is that piece, in its radii."""
FIRST_RETRY_S = 30.0
"""Time after which a camera that does not go with the others is measured anew, in s: somebody may have
stood before it. It doubles each time."""
MIN_ADOPTED_SHARE = 0.5
"""Least score and visible share of a base that other cameras told of, to be followed by this one."""


@dataclass(slots=True, eq=False)
class WatchedCamera:
    """A camera that stands still, with the pieces that it follows by names of its own."""

    index: int
    name: str
    watch: Watch
    shot: Shot | None = None
    """The newest shot."""
    has_ended: bool = False
    refusal: CannotMeasure | None = None
    """Why it measured nothing until its end."""
    spots: dict[str, TrackedPosition] = field(default_factory=dict)
    """Its pieces as last tracked, by own ids."""
    moves: list[Move] = field(default_factory=list)
    """Its moves that are not yet in the joint table."""
    has_news: bool = False
    """Whether its table has changed since it was last joined with the others."""
    photo: SeenPhoto | None = None
    """Its picture and calibration when it was last joined with the others."""
    is_refused: bool = False
    """Whether its picture could not be measured when it was last tried."""
    is_left_out: bool = False
    """Whether it does not go with the other cameras."""
    retry_s: float = FIRST_RETRY_S
    """Time from its being left out to the next try."""
    _left_out_s: float = 0.0
    """When it was left out."""
    is_lost: bool = False
    """Whether it gives no pictures for now."""
    _told: set[str] = field(default_factory=set)
    """Notes since it last saw the table: each is told once."""
    _guard: CameraMotionGuard = field(init=False)
    _known: dict[str, Detection | None] = field(default_factory=dict)
    """Where its pieces stood when it was last joined with the others; None for those away."""

    def __post_init__(self) -> None:
        self._guard = CameraMotionGuard(self.watch)

    @property
    def table(self) -> TableState | None:
        """Its table; None while it sees none that is measured."""
        is_out = self.has_ended or self.is_left_out or self.is_lost
        return None if is_out or self._guard.change is not None else self.watch.table

    @property
    def is_able(self) -> bool:
        """Whether it may have something to say by and by."""
        return not (self.has_ended or self.is_left_out or self.is_lost or self.is_refused)

    @property
    def trouble(self) -> str | None:
        """Why it does not see the table now; None if it does."""
        if self._guard.change is not None:
            return self._guard.change
        if self.is_left_out:
            return "it does not go with the other cameras"
        return "it cannot be measured" if self.is_refused else None

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing moves on its table, and no hand lies over it."""
        table = self.table
        return table is not None and not is_disturbed(table, SETTLE_S, OBJECT_STILL_S)

    # --- shots ---

    def look(self, shot: Shot) -> Sequence[str]:
        """Take in a shot; return its notes."""
        self.shot = shot
        if self.is_left_out and shot.time_s > self._left_out_s + self.retry_s:
            self.is_left_out = False
            self.retry_s *= 2
            self.watch.remeasure_table("it did not go with the other cameras")
        tick = self._guard.look(shot)
        self._take_in(tick)
        if self.table is not None:
            self._told.clear()
        self.is_refused = self.table is None and (self.is_refused or bool(tick.notes))
        new = [note for note in tick.notes if note not in self._told]
        self._told |= set(new)
        return [f"{self.name}: {note}" for note in new]

    def end(self) -> None:
        """Its pictures have ended, while the other cameras may go on."""
        try:
            tick = self._guard.close()
        except CannotMeasure as error:
            self.refusal = error
        else:
            if tick is not None:
                self._take_in(tick)

    def leave_out(self, time_s: float) -> None:
        """It does not go with the other cameras for now."""
        self.is_left_out = True
        self._left_out_s = time_s

    def _take_in(self, tick: Tick) -> None:
        self.spots = {spot.id: spot for spot in tick.spots}
        self.moves += tick.moves
        self.has_news |= bool(tick.moves) or tick.rest is not None

    # --- its pieces ---

    def news(self) -> set[str]:
        """Own ids of the pieces that came, went or stand elsewhere since it was last joined."""
        table = self.table
        if table is None:
            return set()
        now = _standing_detections(table)
        names = self._known.keys() | now.keys()
        return {name for name in names if now.get(name) is not self._known.get(name)}

    def mark_joined(self, photo: SeenPhoto) -> None:
        """All that is new is in the joint table now, as this photo of it shows."""
        self.photo = photo
        self.has_news = False
        self.moves.clear()
        if self.table is not None:
            self._known = _standing_detections(self.table)

    def track(self, own_id: str | None) -> PieceTrack | None:
        """The piece that it follows by that name; None where it sees no table or has no such piece."""
        tracks = self.table.tracks if self.table is not None else ()
        return next((track for track in tracks if track.id == own_id), None)

    def sees_in_place(self, own_id: str | None) -> bool:
        """Whether a piece of its own looks as it did when it came to rest, just where it stands."""
        track = self.track(own_id)
        if track is None or self.table is None or track.away_s is not None or not track.seen:
            return False
        return track.share_in_place(self.table.shot.grey) >= MIN_STAYED_SHARE

    def track_of(self, detection: Detection) -> PieceTrack | None:
        """The standing piece of its own that a detection in its picture is."""
        best, least = None, SAME_PIECE_RADII
        for track in self.table.standing if self.table is not None else ():
            rest = track.rest_projection
            apart_px = distance(track.rest_detection.center_px, detection.center_px)
            apart = apart_px / (rest.px_per_mm * track.radius_mm)
            if apart < least:
                best, least = track, apart
        return best

    def adopt(self, detection: Detection) -> str | None:
        """Follow a base that the other cameras told of; its own id, None where too little is seen."""
        if self.table is None or min(detection.score, detection.visible) < MIN_ADOPTED_SHARE:
            return None
        return self.table.add_piece(self.table.next_id(), detection).id

    def forget(self, own_id: str | None) -> None:
        """Follow a piece no more."""
        if self.watch.table is not None:
            tracks = self.watch.table.tracks
            tracks[:] = [track for track in tracks if track.id != own_id]

    # --- its picture ---

    def photograph(self, detections: tuple[Detection, ...]) -> SeenPhoto | None:
        """Its picture now with some of the bases; None where it sees no table."""
        table = self.table
        if table is None:
            return None
        first = table.first_report
        frame = replace(average_shots(table.shots), name=self.name)
        calibration = table.calibration
        return SeenPhoto(self.index, frame, calibration, detections, first.areas, first.rulers)

    @property
    def is_new(self) -> bool:
        """Whether its table was measured, for the first time or anew, since it was last joined."""
        table = self.table
        return table is not None and not _same(table.calibration, self.photo)

    @property
    def doubtful(self) -> tuple[Detection, ...]:
        """What may be bases but is not likely to, as its first measurement found it."""
        return self.table.first_report.doubtful if self.table is not None and self.is_new else ()


def _standing_detections(table: TableState) -> dict[str, Detection | None]:
    return {
        track.id: track.rest_detection if track.away_s is None else None for track in table.tracks
    }


def _same(calibration: Calibration, photo: SeenPhoto | None) -> bool:
    return photo is not None and photo.calibration is calibration
