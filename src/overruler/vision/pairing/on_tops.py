"""Bases on one top that two photos see: pairs of sightings that meet at one height.

Two sightings that meet high above the board may do so by chance. Several pairs side by side that all
meet at one height do not: they stand on a hill or a roof that no photo found.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from overruler.vision.pairing.crossing import find_crossing
from overruler.vision.pairing.hypotheses import MIN_RAISED_MM, Hypothesis
from overruler.vision.pairing.sighting import SeenPhoto

MIN_PAIR_LOG_RATIO = -8.0
"""Log-likelihood ratio from which a pair may be one of several, or of three sightings that meet."""
TOP_REACH_MM = 150.0
"""Largest distance of two bases on one top."""
SAME_HEIGHT_SIGMAS = 2.0
"""Largest difference of their heights, in σ."""
NEIGHBOUR_NATS = 5.5
"""Log-likelihood ratio that a neighbour at the same height adds: where one base is raised so is the
next (0.5 in place of 0.03), and its height is known to 2.3 mm in place of 35 mm."""
MIN_PAIRS = 2
"""Fewest pairs on a top that no photo found."""


@dataclass(frozen=True, slots=True, eq=False)
class _Meeting:
    """Two sightings, each of which is alone, that may be one raised base."""

    first: Hypothesis
    second: Hypothesis
    joined: Hypothesis
    log_ratio: float

    def is_beside(self, other: "_Meeting") -> bool:
        """Whether both may stand on one top."""
        mine, theirs = self.joined.modes[1], other.joined.modes[1]
        apart = mine.mean - theirs.mean
        spread = np.sqrt(mine.covariance[2, 2] + theirs.covariance[2, 2])
        is_level = abs(apart[2]) < SAME_HEIGHT_SIGMAS * spread
        return bool(is_level and np.hypot(*apart[:2]) < TOP_REACH_MM)


def join_on_tops(
    found: Sequence[Hypothesis], photos: Sequence[SeenPhoto], board_mm: tuple[float, float]
) -> list[Hypothesis]:
    """Join what two photos saw alone where several such bases meet at one height."""
    first, second = ([one for one in found if one.is_seen_by_only(photo)] for photo in photos)
    meetings = _find_meetings(first, second, max(len(first), len(second)), board_mm)
    joined: list[Hypothesis] = []
    gone: set[int] = set()
    while group := _best_group(meetings):
        joined += [one.joined for one in group]
        gone |= {id(each) for one in group for each in (one.first, one.second)}
        meetings = [m for m in meetings if not {id(m.first), id(m.second)} & gone]
    return [*(one for one in found if id(one) not in gone), *joined]


def _find_meetings(
    first: Sequence[Hypothesis],
    second: Sequence[Hypothesis],
    count: int,
    board_mm: tuple[float, float],
) -> list[_Meeting]:
    """The pairs that may be raised bases, the likeliest first."""
    density = count / (board_mm[0] * board_mm[1])
    meetings = []
    crossing = find_crossing(
        [one.sightings[0] for one in first], [one.sightings[0] for one in second]
    )
    for i, j in crossing:
        sighting = second[j].sightings[0]
        ratio = first[i].log_ratio(sighting, density)
        if ratio < MIN_PAIR_LOG_RATIO:
            continue
        joined = first[i].joined_by(sighting)
        if joined.is_raised and joined.best.mean[2] > MIN_RAISED_MM:
            meetings.append(_Meeting(first[i], second[j], joined, ratio))
    return sorted(meetings, key=lambda one: -one.log_ratio)


def _best_group(meetings: Sequence[_Meeting]) -> list[_Meeting]:
    """The likeliest group of pairs on one top; empty where none is likelier than chance."""
    groups = [_group_about(seed, meetings) for seed in meetings]
    able = [group for group in groups if len(group) >= MIN_PAIRS]
    best = max(able, key=_log_ratio, default=[])
    return best if best and _log_ratio(best) > 0 else []


def _group_about(seed: _Meeting, meetings: Sequence[_Meeting]) -> list[_Meeting]:
    """A pair and those beside it that make the group likelier, each sighting once."""
    group = [seed]
    taken = {id(seed.first), id(seed.second)}
    for one in meetings:
        is_free = not {id(one.first), id(one.second)} & taken
        if is_free and one.log_ratio + NEIGHBOUR_NATS > 0 and seed.is_beside(one):
            group.append(one)
            taken |= {id(one.first), id(one.second)}
    return group


def _log_ratio(group: Sequence[_Meeting]) -> float:
    return sum(one.log_ratio for one in group) + (len(group) - 1) * NEIGHBOUR_NATS
