"""Whether the line that an attack of X-Wing measures runs over an obstacle, and how sure that is."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from overruler.geometry.arcs import gap_inside_region
from overruler.geometry.shapes import Disc, Gap, Polygon, Shape, translate_shape
from overruler.geometry.tangents import signed_gap_mm
from overruler.rules.areas.arcs import ShipArc
from overruler.rules.bodies import Body, is_thing, piece_bodies, terrain_body
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Piece, Scene
from overruler.units import CONTACT_TOLERANCE_MM

STEP_MM = 1e-3
"""Step of a difference quotient, in mm."""
AXES = ((1.0, 0.0), (0.0, 1.0))


def gap_in_arcs(
    ship: Piece, ship_shape: Shape, target: Shape, arcs: Sequence[ShipArc]
) -> Gap | None:
    """The gap to the closest point of a target in any of some arcs; None where no part lies in one."""
    regions = [arc.on_board(ship) for arc in arcs]
    gaps = [gap_inside_region(region, ship_shape, target) for region in regions]
    return min((gap for gap in gaps if gap), key=lambda gap: gap.distance_mm, default=None)


@dataclass(frozen=True)
class MeasuredLine:
    """The line from an attacker to the closest point of its target in an arc."""

    scene: Scene
    attacker: Body
    target: Body
    arcs: tuple[ShipArc, ...]
    gap: Gap

    @cached_property
    def clearances_mm(self) -> tuple[tuple[Body, float], ...]:
        """Each obstacle, and how far it is from the line; negative where the line runs over it."""
        line = _line_shape(self.gap)
        return tuple((body, _clearance_mm(line, body)) for body in self._obstacles())

    @property
    def crossed(self) -> list[str]:
        """The ids of the obstacles that the line runs over. Touching an edge is not over."""
        return [body.id for body, mm in self.clearances_mm if mm < -CONTACT_TOLERANCE_MM]

    def _obstacles(self) -> Iterator[Body]:
        ends = (self.attacker.id, self.target.id)
        for body in piece_bodies(self.scene):
            if body.id not in ends and _is_obstacle(self.scene, body):
                yield body
        for terrain in self.scene.terrain:
            yield terrain_body(self.scene, terrain.id)

    # --- uncertainty ---

    def crossing_probability(self) -> float:
        """The probability that the line runs over any obstacle.

        A clearance is linear in the places, but for where the line's ends jump.
        """
        unsure = []
        for body, clearance_mm in self.clearances_mm:
            reach_mm = sum(self._reaches_mm(body))
            if clearance_mm < -reach_mm:
                return 1.0
            if clearance_mm <= reach_mm and reach_mm:
                unsure.append((body, clearance_mm))
        return self._probability_of_any(unsure) if unsure else 0.0

    def _reaches_mm(self, body: Body) -> Iterator[float]:
        for end in (self.attacker, self.target):
            yield max_relative_shift_mm(self.scene, end.index, body.index)

    def _probability_of_any(self, unsure: Sequence[tuple[Body, float]]) -> float:
        import numpy as np

        from overruler.geometry.batched.draws import draw_gaussian

        assert self.scene.covariance is not None
        slopes = np.array([self._slopes(body) for body, _ in unsure])
        covariance = slopes @ self.scene.covariance.array @ slopes.T
        clearances = np.array([mm for _, mm in unsure])
        if len(unsure) == 1:
            sigma_mm = math.sqrt(max(float(covariance[0, 0]), 0.0))
            return _probability_below_zero(float(clearances[0]), sigma_mm)
        drawn = clearances + draw_gaussian(covariance)
        return float((drawn.min(1) < 0).mean())

    def _slopes(self, body: Body) -> list[float]:
        """The change (2 N,) of an obstacle's clearance for each mm of each piece's x and y."""
        slopes = [0.0] * (2 * len(self.scene.pieces))
        for moved in (self.attacker, self.target, body):
            if moved.index is None:
                continue
            for axis, (x, y) in enumerate(AXES):
                ahead, behind = (
                    self._clearance_after(body, moved, sign * x, sign * y)
                    for sign in (STEP_MM, -STEP_MM)
                )
                slopes[2 * moved.index + axis] = (ahead - behind) / (2 * STEP_MM)
        return slopes

    def _clearance_after(self, body: Body, moved: Body, x_mm: float, y_mm: float) -> float:
        """An obstacle's clearance with one of the three moved."""
        if moved is body:
            parts = tuple(translate_shape(part, x_mm, y_mm) for part in body.parts)
            return _clearance_mm(_line_shape(self.gap), replace(body, parts=parts))
        ship = self.scene.pieces[self.attacker.index or 0]
        from_shape, to_shape = self.attacker.parts[0], self.target.parts[0]
        if moved is self.attacker:
            ship = replace(ship, x_mm=ship.x_mm + x_mm, y_mm=ship.y_mm + y_mm)
            from_shape = translate_shape(from_shape, x_mm, y_mm)
        else:
            to_shape = translate_shape(to_shape, x_mm, y_mm)
        gap = gap_in_arcs(ship, from_shape, to_shape, self.arcs) or self.gap
        return _clearance_mm(_line_shape(gap), body)


def _is_obstacle(scene: Scene, body: Body) -> bool:
    """Whether a piece is an obstacle; a device is none."""
    assert body.index is not None
    return is_thing(scene, body) and scene.kind_of(scene.pieces[body.index]) == "obstacle"


def _line_shape(gap: Gap) -> Shape:
    start, end = gap.from_point, gap.to_point
    if math.dist(start, end) <= CONTACT_TOLERANCE_MM:
        return Disc(start)
    return Polygon((start, end))


def _clearance_mm(line: Shape, body: Body) -> float:
    return min(signed_gap_mm(line, part) for part in body.parts)


def _probability_below_zero(mean: float, sigma: float) -> float:
    if not sigma:
        return float(mean < -CONTACT_TOLERANCE_MM)
    return 0.5 * math.erfc(mean / sigma / math.sqrt(2))
