"""The state of the table in a film: piece positions, moves, and the moments when it is at rest."""

from dataclasses import dataclass

from overruler.bases import Base
from overruler.report import Report


@dataclass(frozen=True, slots=True)
class TrackedPosition:
    """The position of a piece at one moment."""

    id: str
    base: Base
    x_mm: float
    y_mm: float
    sigma_mm: float
    """1 σ of either coordinate, root mean square."""
    state: str
    """`static`: it stands still. `occluded`: something hides it. `moving`: it moves. `lifted`: it is not
    in sight. `new`: it was just put down. `gone`: it left the table."""
    seen: bool
    """Whether the picture shows it; otherwise the position is the last known one."""


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a piece from one position at rest to the next."""

    piece: str
    """Id of the piece."""
    start_s: float
    end_s: float
    from_mm: tuple[float, float]
    to_mm: tuple[float, float]
    distance_mm: float
    """Straight-line distance."""
    sigma_mm: float
    """1 σ of the distance."""
    path_mm: float
    """Length of the path."""
    path_sigma_mm: float
    """1 σ of the path's length."""
    way_mm: tuple[tuple[float, float], ...]
    """Vertices of the path, both ends included."""
    trail: tuple[tuple[float, float, float], ...] = ()
    """Positions observed on the path: time in s, x and y in mm."""
    way_seen: bool = True
    """Whether the path was observed.

    Otherwise it is assumed straight, and `path_mm` is a lower bound of its length."""
    name_probability: float = 1.0
    """Probability that it was this piece: others that look alike may have moved unseen at the same time."""
    perhaps: str = ""
    """Id of the piece that it most likely was otherwise; empty where no one is known."""


@dataclass(frozen=True, slots=True, eq=False)
class Tick:
    """The result of tracking one shot of a film."""

    time_s: float
    spots: tuple[TrackedPosition, ...]
    """The position of every piece."""
    moves: tuple[Move, ...] = ()
    """Moves that have ended and are confirmed."""
    rest: Report | None = None
    """A report of the table, where it has come to rest with something changed."""
    notes: tuple[str, ...] = ()
    """Notices for the user, a sentence each: the camera was bumped, a piece is gone."""
