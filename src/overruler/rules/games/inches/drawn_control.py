"""How sure the control of an objective is, over drawn places. n draws, k players."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from overruler.rules.games.inches.claims import SUM_TOLERANCE, Claim
from overruler.rules.games.inches.drawn_units import drawn_gaps
from overruler.scene import Scene
from overruler.units import CONTACT_TOLERANCE_MM


def control_probabilities(
    scene: Scene, claims: Sequence[Claim], limit_mm: float, sure: Mapping[str, float]
) -> dict[str, float]:
    """The probability that each player, or nobody, controls an objective.

    `sure` are the sums without the claims, whose distances are drawn.
    """
    players = [*sure]
    gaps = drawn_gaps(scene, [(claim.pair.a, claim.pair.b) for claim in claims])
    sums = np.tile(np.array([*sure.values()], float), (len(gaps[0]), 1))
    for claim, gap in zip(claims, gaps, strict=True):
        is_near = gap <= limit_mm + CONTACT_TOLERANCE_MM
        sums[:, players.index(claim.player)] += claim.value * is_near
    highest = sums.max(1)
    is_alone = (sums >= highest[:, None] * (1 - SUM_TOLERANCE)).sum(1) == 1
    winner = np.where(is_alone & (highest > 0), sums.argmax(1), -1)
    counts = Counter(winner.tolist())
    names = {number: json.dumps(player) for number, player in enumerate(players)}
    names[-1] = json.dumps(None)
    return {names[number]: count / len(winner) for number, count in sorted(counts.items())}
