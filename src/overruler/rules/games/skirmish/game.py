"""Skirmish: who may shoot, and at whom; `shots` has what comes of it."""

from overruler.reading import Node
from overruler.rules.game import Game, answer_distance
from overruler.rules.games.skirmish.shooters import read_fighters, read_piece_index
from overruler.rules.games.skirmish.shots import answer_shot, resolve_shot, yes_no_probabilities
from overruler.rules.games.skirmish.targeting import Targets
from overruler.rules.sightlines import sight_clauses
from overruler.scene import Scene
from overruler.verdict import Verdict

CLAUSES = {
    "skirmish.ranged_phase": "In the Ranged Phase units that may shoot do so one by one, as many as their side likes.",
    "skirmish.armed": "Only a unit with a ranged weapon shoots.",
    "skirmish.one_weapon": "No unit has more than one ranged weapon.",
    "skirmish.engaged": "A unit in melee does not shoot.",
    "skirmish.ran": "A unit that ran this turn does not shoot.",
    "skirmish.cast": "A unit that cast a spell this turn does not shoot.",
    "skirmish.stunned": "A stunned unit does not shoot.",
    "skirmish.dazed": "A dazed unit does not shoot.",
    "skirmish.once": "A unit shoots once in a turn.",
    "skirmish.reload": "A weapon starts loaded and is loaded again between turns; one that is not loaded cannot shoot.",
    "skirmish.long_reload": "A weapon with a long reload does not shoot in the turn after one in which it shot.",
    "skirmish.phase_skipped": "There is no Ranged Phase in the first turn of whoever goes first.",
    "skirmish.closest": "The closest enemy that can be aimed at is the only valid target, save for four exceptions.",
    "skirmish.in_sight": "Only an enemy in sight can be aimed at.",
    "skirmish.not_engaged": "An enemy in melee cannot be aimed at.",
    "skirmish.past_cover": "Where the closest enemy is in cover, the closest one that is not is a valid target too.",
    "skirmish.ignored": "Stunned and dazed enemies may be ignored in the choice of a target.",
    "skirmish.large": "A large enemy is always a valid target.",
    "skirmish.below": "An enemy at least 2 inches below the shooter is always a valid target.",
    "skirmish.stands_out": "Large enemies, and those below, must still be in sight and out of melee. (Decided here.)",
    "skirmish.together": "Cover and stunned or dazed enemies may be passed over in one choice. (Decided here.)",
    "skirmish.ties": "Of equally close enemies each counts as the closest. (Decided here.)",
    "skirmish.range_no_part": "Who is a valid target does not hang on the weapon's range. (Decided here.)",
    "skirmish.declared": "Shooter and target are named first; only then is the range measured.",
    "skirmish.range": "A target farther off than the weapon's range is missed, whatever is rolled.",
    "skirmish.advantage": "Within half range of a target at least 2 inches below, the shooter rolls with advantage.",
    "skirmish.cover": "A target that anything hides in part from the shooter has cover.",
    "skirmish.body": "The body is what is looked at: clothes, gear and limbs held far out neither show nor cover it.",
    "skirmish.told": "Where the players say who is hidden or in cover from whom, their word goes. (Decided here.)",
    "skirmish.piercing": "A weapon's piercing is added to the number that its target must roll in defence.",
    "skirmish.cover_piercing": "Cover takes 3 off the piercing.",
    "skirmish.moved": "A shooter that moved this turn has 3 taken off its piercing.",
    "skirmish.ranged_check": "A roll of the number to reach, or more, hits.",
    "skirmish.two_rolls": "Of two rolls the better counts. (Decided here: the text leaves advantage to another page.)",
    "skirmish.critical": "A natural 20 counts as two hits: the target rolls in defence twice, each roll for itself.",
    "skirmish.twenty_hits": "In range a natural 20 always hits; a natural 1 means nothing. (Decided here.)",
    "skirmish.defence": "The target of a hit rolls in defence, and a roll that reaches its number saves it.",
    "skirmish.wound": "Each failed roll in defence costs the target a wound.",
    "skirmish.injured": "A target without wounds left is injured by the value of the shot's roll.",
    "skirmish.injury": "A weapon's injury modifier adds to that value, and does not help to hit.",
    "skirmish.improvement": "Who incapacitates a target draws from the Improvement Deck.",
    "skirmish.extra_rolls": "Rolls in defence that are not called for are left aside. (Decided here.)",
    **sight_clauses("skirmish"),
}

# --- who may shoot ---

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
"""What keeps a unit from shooting, and by which clause."""


def may_shoot(scene: Scene, question: Node) -> Verdict:
    """Whether a unit may shoot, and all that keeps it from it."""
    unit = read_fighters(scene)[read_piece_index(scene, question["unit"])]
    weapon = unit.weapon
    unloaded = weapon is not None and weapon.long_reload and "shot_last_turn" in unit.flags
    state = Node(scene.state, "scene", "state")
    holds = {
        **dict.fromkeys(unit.flags, True),
        "no_ranged_weapon": weapon is None,
        "already_shot": "shot_this_turn" in unit.flags,
        "not_reloaded": unloaded,
        "phase_skipped": state.get("first_turn_of_first_player", Node.boolean, False),
    }
    reasons = [reason for reason in CLAUSE_BY_REASON if holds.get(reason)]
    armed = ("skirmish.one_weapon", "skirmish.reload") if weapon else ()
    return Verdict(
        answer={"eligible": not reasons, "reasons": reasons},
        headline="may not shoot: " + ", ".join(reasons).replace("_", " ")
        if reasons
        else "may shoot",
        rules=("skirmish.ranged_phase", *armed, *(CLAUSE_BY_REASON[reason] for reason in reasons)),
        value=not reasons,
        probability=yes_no_probabilities(float(not reasons)) if scene.covariance else None,
        question=question.value,
    )


# --- at whom ---


def answer_targets(scene: Scene, question: Node) -> Verdict:
    """All valid targets of a unit, the closest first, and of each enemy why it is one or is none."""
    found = Targets.of(scene, read_piece_index(scene, question["unit"]))
    return Verdict(
        answer={
            "valid": found.valid,
            "why": {look.target.id: found.reason_for(look) for look in found.looks},
        },
        headline="can shoot at " + (", ".join(found.valid) or "nobody"),
        rules=found.rules(),
        value=found.valid,
        probability=found.list_probabilities() if scene.covariance else None,
        question=question.value,
    )


GAME = Game(
    name="skirmish",
    title="Skirmish",
    questions={
        "distance": answer_distance,
        "may_shoot": may_shoot,
        "targets": answer_targets,
        "shot": answer_shot,
        "resolve_shot": resolve_shot,
    },
    clauses=CLAUSES,
    examples={
        "may_shoot": {"unit": "p01"},
        "targets": {"unit": "p01"},
        "shot": {"unit": "p01", "target": "p02"},
        "resolve_shot": {
            "unit": "p01",
            "target": "p02",
            "ranged": 12,
            "ranged_roll": [15],
            "defence_rolls": [9],
        },
    },
)
