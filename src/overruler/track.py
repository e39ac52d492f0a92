"""What is known of the pieces while a film runs: where each stands, what has moved, and when the table is at rest."""

from dataclasses import dataclass

from overruler.bases import Base
from overruler.report import Report

PIECE_STATES = ("static", "occluded", "moving", "lifted", "new", "gone")
"""Standing where it stood; something before it; on its way; nowhere to be seen; just put down; taken off the table."""


@dataclass(frozen=True, slots=True)
class TrackedPosition:
    """One piece at one moment."""

    id: str
    base: Base
    x_mm: float
    y_mm: float
    sigma_mm: float
    """1 σ of either coordinate, root mean square."""
    state: str
    """One of `PIECE_STATES`."""
    seen: bool
    """Whether the picture shows it; else the place is the last one known."""


@dataclass(frozen=True, slots=True)
class Move:
    """One piece from one place at rest to the next."""

    piece: str
    start_s: float
    end_s: float
    from_mm: tuple[float, float]
    to_mm: tuple[float, float]
    distance_mm: float
    """Straight."""
    sigma_mm: float
    """1 σ of the distance."""
    path_mm: float
    """Along the way that it took."""
    path_sigma_mm: float
    way_mm: tuple[tuple[float, float], ...]
    """The corners of that way, both ends included."""
    trail: tuple[tuple[float, float, float], ...] = ()
    """Where it was seen on its way: time in s, x and y in mm."""
    way_seen: bool = True
    """Whether that way was seen; else it is taken as straight, and its length is the least that it can have been."""


@dataclass(frozen=True, slots=True, eq=False)
class Tick:
    """What one shot of a film has told."""

    time_s: float
    spots: tuple[TrackedPosition, ...]
    moves: tuple[Move, ...] = ()
    """Moves that have ended and are now sure."""
    rest: Report | None = None
    """The table, where it has come to rest with something changed."""
    notes: tuple[str, ...] = ()
    """What an onlooker should know, a sentence each: the camera was bumped, a piece is gone."""
