"""Who controls an objective, and how sure that is."""

import json
from collections.abc import Iterable, Mapping, Sequence

from overruler.reading import Node
from overruler.rules.bodies import body_named
from overruler.rules.clauses import clauses_that_hold
from overruler.rules.games.inches.claims import SUM_TOLERANCE, Claim, claims_on
from overruler.rules.games.inches.fields import CONTROL_IN, CONTROL_VALUE, OBJECTIVE
from overruler.rules.measure import BodyPair
from overruler.rules.sampling import max_relative_shift_mm
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM
from overruler.verdict import Verdict


def answer_controls(scene: Scene, question: Node) -> Verdict:
    """Who controls an objective, and what each player's pieces near it sum up to."""
    objective = body_named(scene, question[OBJECTIVE.name])
    limit_mm = CONTROL_IN.read(question)
    claims = claims_on(scene, objective, CONTROL_VALUE.read(question))
    players = [piece.player for piece in scene.pieces if piece.player is not None]
    nobodys = any(piece.player is None for piece in scene.pieces if piece.id != objective.id)
    near = [claim for claim in claims if _is_near(claim, limit_mm)]
    counts = _sums(players, near)
    winner = leader_of(counts)
    clauses = {
        "inches.controls": True,
        "inches.control_value": True,
        "inches.no_player": nobodys,
        "any.edge_to_edge": True,
    }
    return Verdict(
        answer={"by": winner, "counts": counts},
        headline=f"{winner} controls it" if winner is not None else "nobody controls it",
        rules=clauses_that_hold(clauses),
        value=winner,
        null_text="nobody",
        probability=_probabilities(scene, players, claims, limit_mm),
        question=question.value,
        unnamed=tuple(claim.pair.b.id for claim in near if claim.value),
    )


def leader_of(counts: Mapping[str, float]) -> str | None:
    """The player with the strictly larger sum; None where no sum is above 0 and all others."""
    highest = max(counts.values(), default=0)
    least = highest * (1 - SUM_TOLERANCE)
    leaders = [player for player, count in counts.items() if count >= least]
    return leaders[0] if len(leaders) == 1 and highest > 0 else None


def _is_near(claim: Claim, limit_mm: float) -> bool:
    return claim.pair.gap.distance_mm <= limit_mm + CONTACT_TOLERANCE_MM


def _sums(players: Iterable[str], claims: Iterable[Claim]) -> dict[str, float]:
    """What the claims of each player sum up to; 0 without one."""
    sums: dict[str, float] = dict.fromkeys(players, 0)
    for claim in claims:
        sums[claim.player] += claim.value
    return sums


def _probabilities(
    scene: Scene, players: Sequence[str], claims: Sequence[Claim], limit_mm: float
) -> dict[str, float] | None:
    """How likely each player controls the objective; None in an exact scene."""
    if scene.covariance is None:
        return None
    unsure = [claim for claim in claims if _may_cross(scene, claim.pair, limit_mm)]
    sure = [claim for claim in claims if claim not in unsure and _is_near(claim, limit_mm)]
    sums = _sums(players, sure)
    if not unsure:
        return {json.dumps(leader_of(sums)): 1.0}
    from overruler.rules.games.inches.drawn_control import control_probabilities

    return control_probabilities(scene, unsure, limit_mm, sums)


def _may_cross(scene: Scene, pair: BodyPair, limit_mm: float) -> bool:
    reach_mm = max_relative_shift_mm(scene, pair.a.index, pair.b.index)
    return abs(pair.gap.distance_mm - limit_mm) <= reach_mm + CONTACT_TOLERANCE_MM
