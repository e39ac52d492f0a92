"""Sight and cover between two pieces: questions that a game takes into its record."""

from collections.abc import Mapping
from dataclasses import replace

from overruler.reading import Node
from overruler.rules.bodies import piece_named, read_size
from overruler.rules.eye_lines import SIGHT
from overruler.rules.game import answer_distance
from overruler.rules.sampled.eye_lines import HeightUncertainty, sight_uncertainty
from overruler.rules.sampled.sightlines import SightUncertainty, joint_displacements
from overruler.rules.sampling import answer_probabilities
from overruler.rules.sightlines import Sight, sight_clauses
from overruler.scene import Scene
from overruler.verdict import Verdict

CLAUSES = {
    **sight_clauses("positioning"),
    "positioning.cover": "What crosses a line between two bases gives the target cover; what touches the outermost"
    " does not. (Decided here.)",
    "positioning.cover_size": "An object gives no cover to a target of a larger size than its own.",
}
"""The clauses of the two questions."""


def answer_los(scene: Scene, question: Node) -> Verdict:
    """Whether some straight line between two bases is free, and what crosses the lines where none is."""
    sight = _read_sight(scene, question)
    blocked_by = [] if sight.is_clear else [thing.id for thing in sight.crossing_obstacles]
    return replace(
        answer_distance(scene, question),
        answer={"clear": sight.is_clear, "blocked_by": blocked_by},
        headline=f"in sight{_reservation(sight)}"
        if sight.is_clear
        else f"out of sight behind {_join_names(blocked_by)}",
        rules=sight.rules("positioning"),
        value=sight.is_clear,
        margin_mm=sight.margin_mm,
        probability=sight_probabilities(sight_uncertainty(sight), "clear"),
        settings=_sight_setting(sight),
    )


def answer_cover(scene: Scene, question: Node) -> Verdict:
    """Whether something as large as the target crosses a line to it, and what does."""
    sight = _read_sight(scene, question)
    objects = [thing.id for thing in sight.cover_objects]
    return replace(
        answer_distance(scene, question),
        answer={"cover": bool(objects), "objects": objects},
        headline=f"in cover of {_join_names(objects)}"
        if objects
        else f"no cover{_reservation(sight)}",
        rules=("positioning.cover", "positioning.cover_size", *sight.rules("positioning")),
        value=bool(objects),
        margin_mm=sight.cover_margin_mm,
        probability=sight_probabilities(sight_uncertainty(sight), "cover"),
        settings=_sight_setting(sight),
    )


def _read_sight(scene: Scene, question: Node) -> Sight:
    (_, i), (_, j) = (piece_named(scene, question[key]) for key in ("from", "to"))
    if i == j:
        question["to"].fail(f"{question['to'].value!r} is on both sides; a line needs two")
    return Sight(scene, i, j, _object_sizes(scene))


def _object_sizes(scene: Scene) -> Mapping[str, float]:
    """The sizes of all pieces and terrain, by id."""
    pieces = enumerate(scene.pieces)
    sizes: dict[str, float] = {piece.id: read_size(scene, index) for index, piece in pieces}
    return sizes | {terrain.id: terrain.size for terrain in scene.terrain}


def _sight_setting(sight: Sight) -> dict[str, bool | str]:
    """The setting that true lines rest on; {} where the table has the usual one."""
    return {} if sight.plane is None else {SIGHT.name: SIGHT.choice(sight.scene)}


def sight_probabilities(
    uncertainty: SightUncertainty | HeightUncertainty, what: str
) -> dict[str, float] | None:
    """The probabilities of yes and no to `clear` or `cover`; None in an exact scene."""
    is_exact = isinstance(uncertainty, SightUncertainty) and uncertainty.scene.covariance is None
    if is_exact:
        return None
    clear = what == "clear"
    settled = uncertainty.settled_clear if clear else uncertainty.settled_cover
    if settled is not None:
        return {"true": float(settled), "false": float(not settled)}
    places = joint_displacements(uncertainty.scene, uncertainty.indices)
    in_draws = uncertainty.clear_in_draws if clear else uncertainty.cover_in_draws
    known = answer_probabilities(in_draws(places))
    return {"true": known.get("true", 0.0), "false": known.get("false", 0.0)}


def _reservation(sight: Sight) -> str:
    """What a clear line rests on and nobody has said; empty where terrain is known or plays no part."""
    return ": no terrain is known" if sight.lacks_terrain else ""


def _join_names(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
