"""The pieces of a scene that lie in an area."""

from overruler.rules.areas.membership import (
    Membership,
    in_all,
    membership_in,
    membership_on_board,
)
from overruler.rules.areas.tree import Area, Hidden, bases_of, bodies_of, leaves_of
from overruler.rules.bodies import Body, piece_bodies
from overruler.scene import Scene

FINE_SAGITTA_MM = 1e-4
"""How far chords lie inside curves where outlines decide whether a piece lies in an area."""


def candidates_for(scene: Scene, area: Area) -> list[Body]:
    """The pieces that may be listed: all but those that the area names.

    Where an area is for a base, all other bases are cut out of it, so none is listed.
    """
    if bases_of(area):
        return []
    leaves = [*leaves_of(area)]
    named = {body.id for leaf in leaves for body in bodies_of(leaf)}
    named |= {body.id for leaf in leaves if isinstance(leaf, Hidden) for body in leaf.obstacles}
    return [piece for piece in piece_bodies(scene) if piece.id not in named]


def decide_memberships(scene: Scene, area: Area, pieces: list[Body]) -> list[Membership]:
    """How much of each piece lies in an area on the board, nothing left undecided."""
    found = [
        in_all([membership_on_board(scene, piece), membership_in(area, piece)]) for piece in pieces
    ]
    if all(None not in one for one in found):
        return found
    from overruler.rules.areas.ground import Ground, membership_by_outline

    fine = Ground(scene, area, FINE_SAGITTA_MM)
    ground = fine.cover(area)
    for number, piece in enumerate(pieces):
        if None in found[number]:
            by_outline = membership_by_outline(ground, fine.polygon_of(piece), FINE_SAGITTA_MM)
            some, whole = found[number]
            found[number] = Membership(
                by_outline.some if some is None else some,
                by_outline.whole if whole is None else whole,
            )
    return found
