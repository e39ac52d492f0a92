"""Armies: units in formation, some bases touching, some pairs near a line of the ruler."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from shapely.geometry import Point, Polygon

from synthetic.arrays import Rng
from synthetic.things.mesh import about_z
from synthetic.things.pieces import Piece, Shape, distance_mm, stand
from synthetic.things.terrain import Terrain
from synthetic.traced.dress import Dress, dress_of, figure_parts
from synthetic.traced.ground import Ground, footprint
from synthetic.traced.rank_and_file import ranks_and_files
from synthetic.traced.troops import (
    BANDS,
    HUES,
    RIM_CHOICE,
    STEP_MM,
    TOP_CHOICE,
    TROOPS,
    UNITS,
    Kind,
)

TOUCHING = ("circle", "rectangle")
"""What is put in contact with its neighbours: others would reach into some."""
Place = tuple[float, float, float, float]
"""x, y, z, heading."""
SIDE_BY_SIDE = 0.6
"""The share of riders that stand abreast of another, most of them touching it."""


class Muster:
    """Puts pieces on the ground one by one."""

    def __init__(self, game: str, ground: Ground, rng: Rng) -> None:
        self.game, self.ground, self.rng = game, ground, rng
        (self._looks,) = rng.spawn(1)  # so that new looks leave everyone where they stood
        self.pieces: list[Piece] = []
        self.critical: list[tuple[str, str, float]] = []

    def add(
        self, kind: Kind, dress: Dress, at: Place, unit: str, player: str, leader: bool
    ) -> Piece:
        """A piece at a place that is free."""
        rng, (x, y, z, heading) = self._looks, at
        style = (
            "xw"
            if self.game == "xwing"
            else str(rng.choice(["cone", "cone", "cone", "cone", "lipped", "flat"]))
        )
        base = stand(kind.shape, style, dress.rim, dress.topping, rng)
        parts = figure_parts(rng, kind, dress.paints, (x, y, z + base.height_mm), heading)
        turned, place = base.moved(x, y, z, heading), (x, y, z, heading % 360)
        name = f"p{len(self.pieces) + 1:02d}"
        piece = Piece(
            name, kind.shape, *place, turned, kind.figure, parts, self.game, player, unit, leader
        )
        self.pieces.append(piece)
        if z == 0:
            self.ground.take(footprint(kind.shape, x, y, heading))
        return piece

    def fits(self, shape: Shape, at: Place) -> bool:
        return self.ground.free(footprint(shape, at[0], at[1], at[3]))


def muster(
    game: str,
    crowd: float,
    ground: Ground,
    hills: list[Terrain],
    rng: Rng,
    armies: Sequence[str] | None = None,
) -> tuple[list[Piece], list[tuple[str, str, float]]]:
    """Two players' units, and the pairs that were put near a line of the ruler."""
    host = Muster(game, ground, rng)
    drawn = rng.permutation(list(HUES))[:2].tolist()
    armies = armies or drawn
    looks = [(str(rng.choice(RIM_CHOICE)), str(rng.choice(TOP_CHOICE))) for _ in range(2)]
    count = round(UNITS[game] * crowd)
    for k in range(count):
        player = k % 2
        kind = TROOPS[game][rng.integers(len(TROOPS[game]))]
        dress = dress_of(game, str(armies[player]), looks[player], rng)
        _unit(host, kind, dress, f"U{k + 1}", str(armies[player]), player)
    for one in hills:
        _garrison(
            host,
            one,
            dress_of(game, str(armies[0]), looks[0], rng),
            f"U{count + 1}",
            str(armies[0]),
        )
    if game in STEP_MM:
        for k in range(int(rng.integers(1, 4))):
            _near_a_line(
                host,
                dress_of(game, str(armies[1]), looks[1], rng),
                f"U{count + 2 + k}",
                str(armies[1]),
            )
    return host.pieces, host.critical


def _unit(host: Muster, kind: Kind, dress: Dress, unit: str, army: str, player: int) -> None:
    """A leader somewhere in the player's half, the others around."""
    rng, size = host.rng, host.ground.size_mm
    low, high = (
        ((0, 0), (size[0], size[1] * 0.62))
        if player == 0
        else ((0, size[1] * 0.38), (size[0], size[1]))
    )
    leader = _somewhere(host, kind.shape, low, high)
    if leader is None:
        return
    if kind.ranks:
        for place in ranks_and_files(kind, leader, rng):
            if host.fits(kind.shape, place):
                host.add(kind, dress, place, unit, army, place == leader)
        return
    members = [host.add(kind, dress, leader, unit, army, True)]
    for _ in range(int(rng.integers(kind.low, kind.high + 1)) - 1):
        at = _beside(host, kind.shape, members, rng)
        if at:
            members.append(host.add(kind, dress, at, unit, army, False))


def _somewhere(
    host: Muster, shape: Shape, low: tuple[float, float], high: tuple[float, float]
) -> Place | None:
    for _ in range(300):
        x, y = host.rng.uniform(low, high)
        at = (float(x), float(y), 0.0, float(host.rng.uniform(0, 360)))
        if host.fits(shape, at):
            return at
    return None


def _beside(host: Muster, shape: Shape, members: list[Piece], rng: Rng) -> Place | None:
    """A free place by one of the members: a third of the round ones touch it, and half of the plates."""
    for _ in range(60):
        friend = members[rng.integers(len(members))]
        touch = rng.random() < (0.5 if shape.type == "rectangle" else 0.3)
        if host.game == "riders" and shape.type == "oval" and rng.random() < SIDE_BY_SIDE:
            at = _abreast(friend, shape, rng)
        else:
            gap = 0.0 if touch and shape.type in TOUCHING else float(rng.uniform(1, 45))
            at = _next_to(friend, shape, gap, rng)
        if host.fits(shape, at):
            return at
    return None


def _next_to(friend: Piece, shape: Shape, gap_mm: float, rng: Rng) -> Place:
    """A place at a gap from a friend, exactly for discs and for plates side by side."""
    if shape.type == "rectangle":
        side = int(rng.integers(4))
        apart = _reach(friend.shape, side) + _reach(shape, side) + gap_mm
        step = about_z(friend.heading_deg + 90 * side)[:2, 0] * apart
        slide = about_z(friend.heading_deg + 90 * side)[:2, 1] * rng.uniform(-10, 10)
        return (
            float(friend.x_mm + step[0] + slide[0]),
            float(friend.y_mm + step[1] + slide[1]),
            0.0,
            friend.heading_deg,
        )
    angle = rng.uniform(0, 2 * np.pi)
    reach = (friend.shape.length_mm + shape.length_mm) / 2 + gap_mm
    return (
        float(friend.x_mm + reach * np.cos(angle)),
        float(friend.y_mm + reach * np.sin(angle)),
        0.0,
        float(rng.uniform(0, 360)),
    )


def _abreast(friend: Piece, shape: Shape, rng: Rng) -> Place:
    """A place at a friend's side, often touching it."""
    side = about_z(friend.heading_deg + 90)[:2, 0] * float(rng.choice([-1, 1]))
    gap = float(rng.choice([0.1, rng.uniform(0, 8)]))
    x, y = (friend.x_mm, friend.y_mm) + side * (
        friend.shape.width_mm / 2 + shape.width_mm / 2 + gap
    )
    return float(x), float(y), 0.0, float(friend.heading_deg + rng.normal(0, 1))


def _reach(shape: Shape, side: int) -> float:
    """From a rectangle's centre to one of its sides: ahead, left, behind, right."""
    return (shape.width_mm if side % 2 else shape.length_mm) / 2


def _garrison(host: Muster, one: Terrain, dress: Dress, unit: str, army: str) -> None:
    """A few pieces on a hill's flat top."""
    kind = TROOPS[host.game][0]
    top = Polygon(one.footprint_mm.mean(0) + (one.footprint_mm - one.footprint_mm.mean(0)) * 0.88)
    stood: list[Polygon] = []
    for _ in range(80):
        x, y = host.rng.uniform(one.footprint_mm.min(0), one.footprint_mm.max(0))
        base = _room_to_turn(kind.shape, float(x), float(y))
        if (
            len(stood) < 3
            and top.contains(base.buffer(2))
            and all(base.distance(b) > 0.5 for b in stood)
        ):
            host.add(
                kind,
                dress,
                (float(x), float(y), one.top_mm, float(host.rng.uniform(0, 360))),
                unit,
                army,
                not stood,
            )
            stood.append(base)


def _room_to_turn(shape: Shape, x_mm: float, y_mm: float) -> Polygon:
    """What a base covers however it is turned."""
    if shape.type == "circle":
        return footprint(shape, x_mm, y_mm, 0)
    return Point(x_mm, y_mm).buffer(float(np.hypot(shape.length_mm, shape.width_mm)) / 2)


def _near_a_line(host: Muster, dress: Dress, unit: str, army: str) -> None:
    """A lone piece 0.3 to 2 mm from where the ruler's answer to one of the enemy's changes."""
    rng, kind = host.rng, TROOPS[host.game][0]
    enemies = [p for p in host.pieces if p.player != army and p.z_mm == 0]
    for _ in range(300):
        if not enemies:
            return
        enemy = enemies[rng.integers(len(enemies))]
        line = STEP_MM[host.game] * int(rng.integers(1, BANDS[host.game] + 1))
        gap = line + float(rng.choice([-1, 1]) * rng.uniform(0.3, 2))
        at = _at_distance(enemy, kind.shape, gap, rng)
        if host.fits(kind.shape, at):
            piece = host.add(kind, dress, at, unit, army, True)
            host.critical.append((enemy.id, piece.id, line))
            return


def _at_distance(enemy: Piece, shape: Shape, gap_mm: float, rng: Rng) -> Place:
    if shape.type == "rectangle":
        side = int(rng.integers(4))
        way = about_z(enemy.heading_deg + 90 * side)[:2, 0] * (
            _reach(enemy.shape, side) + _reach(shape, side) + gap_mm
        )
        return float(enemy.x_mm + way[0]), float(enemy.y_mm + way[1]), 0.0, enemy.heading_deg
    return _next_to(enemy, shape, gap_mm, rng)


def all_distances(pieces: list[Piece]) -> list[tuple[str, str, float]]:
    """Every pair's distance."""
    return [(a.id, b.id, distance_mm(a, b)) for a, b in combinations(pieces, 2)]
