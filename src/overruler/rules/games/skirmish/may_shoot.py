"""Who may shoot in Skirmish."""

from overruler.reading import Node
from overruler.rules.games.skirmish.shooters import read_fighters, read_piece_index
from overruler.rules.sampling import yes_no_probabilities
from overruler.scene import Scene
from overruler.verdict import Verdict

CLAUSE_BY_REASON = {
    "no_ranged_weapon": "skirmish.armed",
    "engaged": "skirmish.engaged",
    "ran": "skirmish.ran",
    "cast": "skirmish.cast",
    "stunned": "skirmish.stunned",
    "dazed": "skirmish.dazed",
    "already_shot": "skirmish.once",
    "not_reloaded": "skirmish.long_reload",
    "phase_skipped": "skirmish.phase_skipped",
}
"""By each reason that keeps a unit from shooting: the clause that says so."""


def may_shoot(scene: Scene, question: Node) -> Verdict:
    """Whether a unit may shoot, and all that keeps it from it."""
    unit = read_fighters(scene)[read_piece_index(scene, question["unit"])]
    weapon = unit.weapon
    state = Node(scene.state, "scene", "state")
    loaded = weapon is None or not weapon.long_reload or "shot_last_turn" not in unit.flags
    holds = {
        **dict.fromkeys(unit.flags, True),
        "no_ranged_weapon": weapon is None,
        "already_shot": "shot_this_turn" in unit.flags,
        "not_reloaded": not loaded,
        "phase_skipped": state.get("first_turn_of_first_player", Node.boolean, False),
    }
    reasons = [reason for reason in CLAUSE_BY_REASON if holds.get(reason)]
    in_words = ", ".join(reasons).replace("_", " ")
    armed = ("skirmish.one_weapon", "skirmish.reload") if weapon else ()
    return Verdict(
        answer={"eligible": not reasons, "reasons": reasons},
        headline=f"may not shoot: {in_words}" if reasons else "may shoot",
        rules=("skirmish.ranged_phase", *armed, *(CLAUSE_BY_REASON[reason] for reason in reasons)),
        value=not reasons,
        probability=yes_no_probabilities(float(not reasons)) if scene.covariance else None,
        question=question.value,
    )
