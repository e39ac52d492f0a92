"""Clauses: what answers rest on, each one sentence under a name such as `legion.melee`."""

from collections.abc import Mapping

COMMON_CLAUSES: Mapping[str, str] = {
    "any.edge_to_edge": "A distance runs from the edge of one base to the edge of the other, level with the table.",
    "any.closest_piece": "A unit is as far away as its closest piece.",
    "any.enemies": "Two pieces are enemies where each has a player and the two differ.",
}
"""The clauses of every game."""


def clauses_that_hold(holds: Mapping[str, bool], game: str = "") -> tuple[str, ...]:
    """The names of those that hold, in their order, with `game` put before them where it is given."""
    names = [name for name, is_held in holds.items() if is_held]
    return tuple([f"{game}.{name}" for name in names] if game else names)
