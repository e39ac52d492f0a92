"""Area: the ground near pieces, units and terrain, and the pieces in it."""

from overruler.games import facts_of
from overruler.reading import Node
from overruler.rules.areas.membership import Membership
from overruler.rules.areas.pieces import candidates_for, decide_memberships
from overruler.rules.areas.tree import (
    Area,
    Joined,
    Near,
    Outside,
    WholeBase,
    bases_of,
    check_bases,
    nears_of,
    read_area,
)
from overruler.rules.bodies import Body
from overruler.rules.clauses import clauses_that_hold
from overruler.scene import Scene
from overruler.units import MM_PER_INCH
from overruler.verdict import Verdict

MAX_NEARS = 256
"""Most pieces of ground that an area is made of."""
MM2_PER_CM2 = 100.0


def answer_area(scene: Scene, question: Node) -> Verdict:
    """The ground near a piece, unit or terrain, and which other pieces lie in it."""
    area = read_area(scene, question)
    check_bases(area, question)
    if len(list(nears_of(area))) > MAX_NEARS:
        question.fail(f"is made of more than {MAX_NEARS} areas")
    from overruler.rules.areas.ground import Ground, polygon_json

    ground = Ground(scene, area).cover(area)
    pieces = candidates_for(scene, area)
    memberships = decide_memberships(scene, area, pieces)
    found = [*zip(pieces, memberships, strict=True)]
    some = [piece.id for piece, membership in found if membership.some]
    return Verdict(
        answer={
            "area_mm2": ground.area,
            "polygons_mm": [polygon_json(polygon) for polygon in ground.geoms],
            "pieces": some,
            "whole": [piece.id for piece, membership in found if membership.whole],
        },
        headline=_headline(scene, ground.area, some),
        rules=_clauses(area),
        value=some,
        probability=_probabilities(scene, area, pieces, memberships),
        question=question.value,
    )


def _probabilities(
    scene: Scene, area: Area, pieces: list[Body], memberships: list[Membership]
) -> dict[str, float] | None:
    """How likely each list of pieces is; None in an exact scene."""
    if scene.covariance is None:
        return None
    from overruler.rules.areas.doubt import list_probabilities

    return list_probabilities(scene, area, pieces, [bool(one.some) for one in memberships])


def _headline(scene: Scene, area_mm2: float, pieces: list[str]) -> str:
    size = f"{area_mm2 / MM2_PER_CM2:.0f} cm²"
    if facts_of(scene.game).in_inches:
        size = f"{area_mm2 / MM_PER_INCH**2:.1f} sq in"
    return f"{size}, {', '.join(pieces)} in it" if pieces else f"{size}, no piece in it"


def _clauses(area: Area) -> tuple[str, ...]:
    nears = [*nears_of(area)]
    clauses = {
        "any.area": True,
        "any.area_union": any(len(near.bodies) > 1 for near in nears),
        "any.area_range": any(near.by_range for near in nears),
        "any.area_joined": not isinstance(area, Near),
        "any.area_for": bool(bases_of(area)),
        "any.area_whole": _has_whole(area),
        "any.area_pieces": not bases_of(area),
    }
    return clauses_that_hold(clauses)


def _has_whole(area: Area) -> bool:
    """Whether an area is where a whole base lies, or is made of one."""
    if isinstance(area, Joined):
        return any(_has_whole(part) for part in area.parts)
    if isinstance(area, Outside):
        return _has_whole(area.area)
    return isinstance(area, WholeBase)
