"""What a hand does over a table: pieces carried, pushed, put back or taken away, and a hand that only rests."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from shapely.geometry import LineString, Point, Polygon

from overruler.geometry.pose import Array
from synthetic.arrays import Rng
from synthetic.filming import HAND_S, LIFT_MM, ahead, any_path, times
from synthetic.things.materials import Part
from synthetic.things.pieces import Piece
from synthetic.things.props import hand_parts
from synthetic.traced.table import Table

MOVES = ("carry", "quick", "push")
"""A piece carried somewhere; the next one at once after it; one that is never lifted."""
STORIES = (*MOVES, "back", "leave", "rest")
"""And what is no move of the table's: one put back where it stood; one taken off the table; a hand that lies beside one
and does nothing."""
BEYOND_MM = 300.0
"""What leaves the table goes so far beyond its edge."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Carry:
    """One piece that a hand carries along straight legs."""

    path_mm: Array
    """(L + 1, 2)."""
    start_s: float
    end_s: float
    piece: Piece
    """As it stands before."""
    turn_deg: float
    away_deg: float
    """Where the arm comes from."""
    grip_mm: Array
    story: str = "carry"
    """One of `STORIES`."""

    @property
    def told(self) -> bool:
        """Whether it is a move of the table's."""
        return self.story in MOVES

    @property
    def lift_mm(self) -> float:
        """How high it is lifted, half way."""
        return 0.0 if self.story in ("push", "rest") else LIFT_MM

    def at(self, time_s: float) -> tuple[Array, float, float]:
        """Where the piece is, how high, and what share of the way it has come: slowly at first and at last."""
        q = float(np.clip((time_s - self.start_s) / (self.end_s - self.start_s), 0, 1))
        share = 3 * q * q - 2 * q**3
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.path_mm, axis=0).T))])
        place = [np.interp(share * along[-1], along, axis) for axis in self.path_mm.T]
        return np.array(place), self.lift_mm * float(np.sin(np.pi * q)), share

    @property
    def hand_from_s(self) -> float:
        return round(self.start_s - HAND_S, 1)

    @property
    def hand_to_s(self) -> float:
        return self.end_s + HAND_S

    def gone(self, time_s: float) -> float:
        """How far the hand is from the piece: 0 where it holds it, 1 and more where it is not over the table."""
        return max(self.start_s - time_s, time_s - self.end_s, 0.0) / HAND_S

    def truth(self) -> dict[str, Any]:
        return {
            "piece": self.piece.id,
            "story": self.story,
            "t_start_s": self.start_s,
            "t_end_s": self.end_s,
            "from_mm": self.path_mm[0].tolist(),
            "to_mm": self.path_mm[-1].tolist(),
            "path_length_mm": float(np.hypot(*np.diff(self.path_mm, axis=0).T).sum()),
            "path_mm": self.path_mm.tolist(),
            "hand_from_s": self.hand_from_s,
            "hand_to_s": self.hand_to_s,
        }

    def moved(self, time_s: float) -> Piece:
        (x, y), z, share = self.at(time_s)
        one, turn = self.piece, share * self.turn_deg
        home = [part.moved(-one.x_mm, -one.y_mm) for part in one.figure_parts]
        stand = one.stand.moved(-one.x_mm, -one.y_mm, 0, 0).moved(x, y, z, turn)
        figure = [part.moved(x, y, z, turn) for part in home]
        return replace(
            one,
            x_mm=x,
            y_mm=y,
            z_mm=z,
            heading_deg=one.heading_deg + turn,
            stand=stand,
            figure_parts=figure,
        )

    def hand(self, time_s: float, skin: str, sleeve: str) -> list[Part]:
        """Fingers round the piece, and an arm; nothing where the hand is not over the table."""
        gone = self.gone(time_s)
        if gone >= 1:
            return []
        place, z, _ = self.at(time_s)
        away = ahead(np.radians(self.away_deg))
        return hand_parts(place + self.grip_mm + away * 700 * gone**1.5, away, z, skin, sleeve)


def carries(
    table: Table,
    count: int,
    rng: Rng,
    stories: Sequence[str],
    least_mm: float,
    pause_s: float,
) -> list[Carry]:
    """What hands do one after another with round bases and plates on the board, to free places; `least_mm`: none
    smaller; before the middle one nothing happens for `pause_s` more."""
    stands = {piece.id: piece for piece in table.pieces}
    movable = [
        one.id
        for one in table.pieces
        if one.shape.type != "oval" and one.z_mm == 0 and _long(one) >= least_mm
    ]
    others = [Polygon(one.footprint_mm) for one in table.terrain] + [
        Polygon(m.card_mm[:, :2]) for m in table.markers
    ]
    others += [Polygon(prop.outline_mm) for prop in table.props] + [
        LineString(r.path_mm).buffer(25) for r in table.rulers
    ]
    found: list[Carry] = []
    now = 1.2
    for _ in range(20_000):
        story = stories[len(found) % len(stories)]
        piece = stands[str(rng.choice(movable))]
        path = _path(piece, story, table.spec.size_mm, rng)
        foot = Point(path[-1]).buffer(_long(piece) / 2)
        rest = [
            Point(one.x_mm, one.y_mm).buffer(_long(one) / 2)
            for one in stands.values()
            if one is not piece
        ]
        inside = ((path > 60) & (path < np.array(table.spec.size_mm) - 60)).all()
        ends = [foot.distance(other) < 5 for other in [*others, *rest]]
        if story in MOVES and (not inside or any(ends)):
            continue
        start_s, end_s = times(rng, now, path)
        grip = rng.uniform(0.0, 0.8) * _long(piece) / 2 * _unit(rng)
        if story == "rest":
            grip = (_long(piece) / 2 + rng.uniform(0, 60)) * _unit(rng)
        turn = 0.0 if story in ("rest", "back") else float(rng.choice([0.0, rng.normal(0, 35)]))
        away = float(rng.uniform(0, 360))
        if story == "leave":
            away = float(np.degrees(np.arctan2(*(path[-1] - path[0])[::-1])))
            movable.remove(piece.id)
        found.append(
            Carry(
                path_mm=path,
                start_s=start_s,
                end_s=end_s,
                piece=piece,
                turn_deg=turn,
                away_deg=away,
                grip_mm=grip,
                story=story,
            )
        )
        stands[piece.id] = found[-1].moved(end_s)
        now = end_s + HAND_S + (0.1 if story == "quick" else rng.uniform(0.9, 2.0))
        now += pause_s * (len(found) == count // 2)
        if len(found) == count:
            return found
    raise ValueError(f"seed {table.spec.seed}: no room for {count} moves; take another")


def _path(piece: Piece, story: str, size_mm: tuple[float, float], rng: Rng) -> Array:
    """The corners (N, 2) of a piece's way."""
    start = np.array([piece.x_mm, piece.y_mm])
    if story == "rest":
        return np.stack([start, start])
    if story == "leave":
        beyond = [(-BEYOND_MM, start[1]), (size_mm[0] + BEYOND_MM, start[1])]
        beyond += [(start[0], -BEYOND_MM), (start[0], size_mm[1] + BEYOND_MM)]
        return np.stack([start, min(beyond, key=lambda end: float(np.hypot(*(start - end))))])
    path = any_path(rng, start)
    return np.vstack([path, start]) if story == "back" else path


def _long(piece: Piece) -> float:
    """Across it at most."""
    one = piece.shape
    return (
        float(np.hypot(one.width_mm, one.length_mm)) if one.type == "rectangle" else one.length_mm
    )


def _unit(rng: Rng) -> Array:
    return ahead(rng.uniform(0, 2 * np.pi))
