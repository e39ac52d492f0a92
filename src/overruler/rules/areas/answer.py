"""Area: the ground near pieces, in arcs, shadows and zones, and the pieces in it."""

from typing import Any

from overruler.reading import Node
from overruler.rules.areas.membership import Membership
from overruler.rules.areas.pieces import candidates_for, decide_memberships
from overruler.rules.areas.reading import check_bases, read_area
from overruler.rules.areas.tree import (
    Area,
    Hidden,
    InArc,
    Joined,
    Near,
    Outside,
    WholeBase,
    Zone,
    bases_of,
    leaves_of,
)
from overruler.rules.areas.words import area_in_words
from overruler.rules.bodies import Body, piece_bodies
from overruler.rules.clauses import clauses_that_hold
from overruler.scene import Scene
from overruler.units import INCHES, MM_PER_INCH
from overruler.verdict import Shade, Verdict

MAX_LEAVES = 256
"""Most pieces of ground that an area is made of."""
MM2_PER_CM2 = 100.0
NO_TERRAIN = "no terrain is known (declare it: overruler measure --terrain)"


def answer_area(scene: Scene, question: Node) -> Verdict:
    """The ground near a piece, unit or terrain, and which other pieces lie in it."""
    area = read_area(scene, question)
    check_bases(area, question)
    if len(list(leaves_of(area))) > MAX_LEAVES:
        question.fail(f"is made of more than {MAX_LEAVES} areas")
    from overruler.rules.areas.ground import Ground
    from overruler.rules.areas.outlines import polygon_json

    nominal = Ground(scene, area)
    ground = nominal.cover(area)
    pieces = candidates_for(scene, area)
    memberships = decide_memberships(scene, area, pieces)
    found = [*zip(pieces, memberships, strict=True)]
    some = [piece.id for piece, membership in found if membership.some]
    polygons = [polygon_json(polygon) for polygon in ground.geoms]
    soft = _soft_edge(scene, area)
    return Verdict(
        answer={
            "area_mm2": ground.area,
            "polygons_mm": polygons,
            **soft,
            "pieces": some,
            "whole": [piece.id for piece, membership in found if membership.whole],
        },
        headline=_headline(scene, area, ground.area, some),
        rules=_clauses(area, bool(soft)),
        value=some,
        probability=_probabilities(scene, area, pieces, memberships),
        question=question.value,
        unnamed=tuple(body.id for body in nominal.takers(area, _doubtful_bodies(scene))),
        shades=(Shade(area_in_words(scene, area), polygons, *soft.values()),),
    )


def _doubtful_bodies(scene: Scene) -> list[Body]:
    return [body for body in piece_bodies(scene) if body.id in scene.reasons_for_doubt]


def _soft_edge(scene: Scene, area: Area) -> dict[str, Any]:
    """The ground that surely lies in an area, and that may; nothing where every place is exact."""
    if scene.covariance is None:
        return {}
    from overruler.rules.areas.ground import Ground
    from overruler.rules.areas.outlines import polygon_json
    from overruler.rules.areas.soft import POSSIBLE, SOFT_SAGITTA_MM, SURE

    sides = {"sure_polygons_mm": SURE, "possible_polygons_mm": POSSIBLE}
    grounds = {
        key: Ground(scene, area, SOFT_SAGITTA_MM, side).cover(area) for key, side in sides.items()
    }
    return {key: [*map(polygon_json, ground.geoms)] for key, ground in grounds.items()}


def _probabilities(
    scene: Scene, area: Area, pieces: list[Body], memberships: list[Membership]
) -> dict[str, float] | None:
    """How likely each list of pieces is; None in an exact scene."""
    if scene.covariance is None:
        return None
    from overruler.rules.areas.doubt import list_probabilities

    return list_probabilities(scene, area, pieces, [bool(one.some) for one in memberships])


def _headline(scene: Scene, area: Area, area_mm2: float, pieces: list[str]) -> str:
    if isinstance(area, Hidden) and not area_mm2:
        return "nothing is hidden" + ("" if scene.terrain else f": {NO_TERRAIN}")
    size = f"{area_mm2 / MM2_PER_CM2:.0f} cm²"
    if scene.unit == INCHES:
        size = f"{area_mm2 / MM_PER_INCH**2:.1f} sq in"
    if bases := bases_of(area):
        names = " and ".join(dict.fromkeys(base.id for base in bases))
        return f"{size} for {names} to stand on"
    return f"{size}, {', '.join(pieces)} in it" if pieces else f"{size}, no piece in it"


def _clauses(area: Area, is_soft: bool) -> tuple[str, ...]:
    leaves = [*leaves_of(area)]
    nears = [leaf for leaf in leaves if isinstance(leaf, Near)]
    clauses = {
        "any.area": bool(nears),
        "any.area_union": any(len(near.bodies) > 1 for near in nears),
        "any.area_range": any(near.by_range for near in nears),
        "any.area_move": any(near.move_mm > 0 for near in nears),
        "any.area_arc": any(isinstance(leaf, InArc) for leaf in leaves),
        "any.area_hidden": any(isinstance(leaf, Hidden) for leaf in leaves),
        "any.area_zone": any(isinstance(leaf, Zone) for leaf in leaves),
        "any.area_joined": isinstance(area, Joined | Outside | WholeBase),
        "any.area_for": bool(bases_of(area)),
        "any.area_whole": _has_whole(area),
        "any.area_pieces": not bases_of(area),
        "any.area_soft": is_soft,
    }
    return clauses_that_hold(clauses)


def _has_whole(area: Area) -> bool:
    """Whether an area is where a whole base lies, or is made of one."""
    if isinstance(area, Joined):
        return any(_has_whole(part) for part in area.parts)
    if isinstance(area, Outside):
        return _has_whole(area.area)
    return isinstance(area, WholeBase)
