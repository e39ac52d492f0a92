"""Sight and cover between two pieces: the questions that a game takes into its record."""

from collections.abc import Mapping
from dataclasses import replace

from overruler.reading import Node
from overruler.rules.game import answer_distance
from overruler.rules.routes import read_piece, read_stat
from overruler.rules.sampled.sightlines import Displacements, SightUncertainty, joint_displacements
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
        headline="in sight" if sight.is_clear else f"out of sight behind {_join_names(blocked_by)}",
        rules=sight.rules("positioning"),
        value=sight.is_clear,
        margin_mm=sight.margin_mm,
        probability=sight_probabilities(SightUncertainty(sight), "clear"),
    )


def answer_cover(scene: Scene, question: Node) -> Verdict:
    """Whether something as large as the target crosses a line to it, and what does."""
    sight = _read_sight(scene, question)
    objects = [thing.id for thing in sight.cover_objects]
    return replace(
        answer_distance(scene, question),
        answer={"cover": bool(objects), "objects": objects},
        headline=f"in cover of {_join_names(objects)}" if objects else "no cover",
        rules=("positioning.cover", "positioning.cover_size", *sight.rules("positioning")),
        value=bool(objects),
        margin_mm=sight.cover_margin_mm,
        probability=sight_probabilities(SightUncertainty(sight), "cover"),
    )


def _read_sight(scene: Scene, question: Node) -> Sight:
    (_, i), (_, j) = (read_piece(scene, question[key]) for key in ("from", "to"))
    if i == j:
        question["to"].fail(f"{question['to'].value!r} is on both sides; a line needs two")
    return Sight(scene, i, j, _object_sizes(scene))


def _object_sizes(scene: Scene) -> Mapping[str, int]:
    sizes = {found.id: read_stat(scene, index, "size") for index, found in enumerate(scene.pieces)}
    return sizes | {ground.id: ground.size for ground in scene.terrain}


def sight_probabilities(doubt: SightUncertainty, what: str) -> dict[str, float] | None:
    """The probabilities of yes and no; None in an exact scene."""
    if doubt.scene.covariance is None:
        return None
    settled = doubt.settled_clear if what == "clear" else doubt.settled_cover
    if settled is not None:
        return {"true": float(settled), "false": float(not settled)}
    places: Displacements = joint_displacements(doubt.scene, doubt.indices)
    found = answer_probabilities(
        doubt.clear_in_draws(places) if what == "clear" else doubt.cover_in_draws(places)
    )
    return {"true": found.get("true", 0.0), "false": found.get("false", 0.0)}


def _join_names(names: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
