"""A film's table, traced once without what moves; whatever moves is traced into it."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from synthetic.arrays import Array, Floats
from synthetic.camera import View, rows_columns
from synthetic.filming import HAND_S, STEPS_PER_S, step_of
from synthetic.things.materials import Part
from synthetic.things.pieces import Piece
from synthetic.traced.expose import ROUGH, Effort, expose
from synthetic.traced.hands import Carry
from synthetic.traced.table import Table
from synthetic.traced.tracer import Tracer

HASTY = Effort(1, 3, 2)
"""Rays for what moves: nobody measures it."""
NEAR_MM = 150.0
"""What stands so near shades, and is shaded."""
SEEN_MM = 600.0
"""Nothing is seen that lies so far beyond the board."""
LEAST_PX, AROUND_PX = 8, 14
"""The least side of a part of the picture that is traced anew, and its margin."""


def _near(parts: Sequence[Part], points_mm: Array) -> list[Part]:
    """The parts that stand near the box round some points (N, 3), on the board: an arm is long."""
    low, high = points_mm[:, :2].min(0) - NEAR_MM, points_mm[:, :2].max(0) + NEAR_MM
    feet = [one.mesh.points_mm[..., :2].reshape(-1, 2) for one in parts]
    return [
        one for one, xy in zip(parts, feet, strict=True) if ((xy > low) & (xy < high)).all(1).any()
    ]


class Stage:
    """The table, traced once without what moves; whatever moves is traced into it."""

    def __init__(self, table: Table, view: View, moves: Sequence[Carry]) -> None:
        self.view, self.lights, self._under = view, table.lights, table.scenery
        movers = {move.piece.id for move in moves}
        self.still = replace(table, pieces=[one for one in table.pieces if one.id not in movers])
        self._others = [part for part in self.still.parts if part not in self._under]
        self.empty: Floats = expose(Tracer(self.still.parts, table.lights), view, ROUGH)

    def with_pieces(
        self,
        light: Floats,
        pieces: Sequence[Piece],
        hand: Sequence[Part] = (),
        standing: Sequence[Piece] = (),
    ) -> Floats:
        """The light with some pieces, and a hand, traced in; others that move at other times are `standing` there."""
        light = light.copy()
        moving = [part for one in [*pieces, *standing] for part in one.parts]
        for piece in pieces:
            self._trace(
                light,
                np.concatenate([part.mesh.points_mm.reshape(-1, 3) for part in piece.parts]),
                moving,
            )
        if hand:
            ends = hand[-1].mesh.points_mm.reshape(
                -1, 3
            )  # the arm is long, and its mesh has corners only at its ends
            far, near = ends[None, ::-7], ends[None, ::7]
            ends = (near + np.linspace(0, 1, 40)[:, None, None] * (far - near)).reshape(-1, 3)
            points = np.vstack([ends, *(part.mesh.points_mm.reshape(-1, 3) for part in hand)])
            high = np.array(self.still.spec.size_mm) + SEEN_MM
            inside = ((points[:, :2] > -SEEN_MM) & (points[:, :2] < high)).all(1)
            self._trace(light, points[inside] if inside.any() else points, [*moving, *hand], HASTY)
        return light

    def _trace(
        self, light: Floats, points: Array, moving: Sequence[Part], effort: Effort = ROUGH
    ) -> None:
        foot = np.vstack([points, points * [1, 1, 0]])
        box = self.view.box(self.view.camera.project(foot), AROUND_PX)
        if min(box[2:]) < LEAST_PX:
            return
        near = _near(self._others, points)
        tracer = Tracer([*self._under, *near, *moving], self.lights)
        light[rows_columns(box)] = expose(tracer, self.view.part(box), effort)


def lights(stage: Stage, moves: Sequence[Carry], skin: str, sleeve: str) -> Iterator[Floats]:
    """The light of each tenth of a second."""
    stands = {move.piece.id: move.piece for move in reversed(moves)}
    rest = stage.with_pieces(stage.empty, list(stands.values()))
    without = light = rest
    for number, move in enumerate([*moves, None]):
        begin = 0 if number == 0 else step_of(moves[number - 1].end_s + HAND_S)
        until = step_of(move.start_s - HAND_S) if move else begin + 15
        yield from [rest] * (until - begin)
        if move is None:
            return
        others = [piece for name, piece in stands.items() if name != move.piece.id]
        without = stage.with_pieces(stage.empty, others)
        seen: tuple[float, ...] = ()
        for step in range(until, step_of(move.end_s + HAND_S)):
            now = step / STEPS_PER_S
            before, seen = seen, (*move.at(now)[0], move.gone(now))
            if seen != before:
                light = stage.with_pieces(
                    without, [move.moved(now)], move.hand(now, skin, sleeve), others
                )
            yield light
        stands[move.piece.id] = move.moved(move.end_s)
        rest = stage.with_pieces(without, [stands[move.piece.id]], standing=others)
