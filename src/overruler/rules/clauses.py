"""Clauses: what answers rest on, each one sentence under a name such as `legion.melee`."""

from collections.abc import Mapping

COMMON_CLAUSES: Mapping[str, str] = {
    "any.edge_to_edge": "A distance runs from the edge of one base to the edge of the other, level with the table.",
    "any.closest_piece": "A unit is as far away as its closest piece.",
    "any.area": "Ground is as far from a body as it is from the body's edge, level with the table.",
    "any.area_union": "Ground is near a unit where it is near any of its pieces.",
    "any.area_range": "Ground is in a band of the ruler where a point on it would be.",
    "any.area_move": "Whatever moves first moves straight and in any direction, past everything. (Decided here.)",
    "any.area_arc": "Ground is in an arc of a piece where a point on it would be.",
    "any.area_hidden": "Ground is hidden from a base where terrain above it crosses every straight line between.",
    "any.area_zone": "A zone is the ground inside its outline, or between two distances from an edge of the board.",
    "any.area_soft": "A border that rests on doubt has a soft edge: where it lies in 95 % of all cases.",
    "any.area_joined": "Areas are joined as all, any and not say, and cut to the board.",
    "any.area_for": "A base may stand where its closest part lies in the area, off other bases, its heading kept.",
    "any.area_whole": "With whole a base may stand where all of it lies in the area.",
    "any.area_pieces": "A piece is listed where any part of it lies in the area, and as whole where all of it does.",
    "any.hexes": "Hexes are counted from the one's hex to the other's, which counts too.",
    "any.hex_center": "A piece stands in the hex that holds the middle of its base. (Decided here.)",
    "any.hex_way": "Between two hexes lie those on the straight line from middle to middle. (Decided here.)",
    "any.hex_terrain": "Terrain stands between where it reaches into one of them, and blocks where it is above both.",
    "any.enemies": "Two pieces are enemies where each has a player and the two differ.",
}
"""The clauses of every game."""


def clauses_that_hold(holds: Mapping[str, bool], game: str = "") -> tuple[str, ...]:
    """The names of those that hold, in their order, with `game` put before them where it is given."""
    names = [name for name, is_held in holds.items() if is_held]
    return tuple([f"{game}.{name}" for name in names] if game else names)
