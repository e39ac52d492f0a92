"""Which sightings in several photos are of one base: an assignment of each photo to the bases so far."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from overruler.vision.pairing.crossing import find_crossing
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.least_cost import assign_at_least_cost
from overruler.vision.pairing.on_tops import MIN_PAIR_LOG_RATIO, join_on_tops
from overruler.vision.pairing.sighting import SeenPhoto, Sighting

MIN_LOG_RATIO = 0.0
"""Least log-likelihood ratio of a match, against two bases that one photo each sees."""
IMPOSSIBLE = -1e3
"""Log-likelihood ratio of a pair that cannot be one base."""


def associate(photos: Sequence[SeenPhoto], board_mm: tuple[float, float]) -> list[Hypothesis]:
    """Join the sightings of all photos, the photo with the most bases first."""
    ordered = sorted(photos, key=lambda photo: -len(photo.detections))
    found: list[Hypothesis] = []
    for photo in ordered:
        sightings = [Sighting(photo, detection) for detection in photo.detections]
        found = join_photo(found, sightings, board_mm)
    for photo in ordered:
        found = _join_left_over(found, photo, board_mm)
    for two in combinations(ordered, 2):
        found = join_on_tops(found, two, board_mm)
    for photo in ordered:
        found = _join_left_over(found, photo, board_mm)
    for three in combinations(ordered, 3):
        found = _join_three(found, three, board_mm)
    density = max(len(photo.detections) for photo in photos) / (board_mm[0] * board_mm[1])
    return _lower_moved(_part_pairs(found, density), density)


def _part_pairs(found: Sequence[Hypothesis], density_per_mm2: float) -> list[Hypothesis]:
    """Part pairs whose two sightings are likelier of other bases, or of one of them.

    Two photos may each see another base on a roof, and their rays meet below it by chance.
    """
    kept = list(found)
    for pair in [one for one in found if len(one.sightings) == 2]:
        if not any(one is pair for one in kept):
            continue
        ratio, parted = 0.0, [one for one in kept if one is not pair]
        for seen in pair.sightings:
            gained, parted = _joined_to_likeliest(parted, seen, density_per_mm2)
            ratio += gained
        if ratio > _pair_ratio(pair, density_per_mm2):
            kept = parted
    return kept


def _joined_to_likeliest(
    found: Sequence[Hypothesis], seen: Sighting, density_per_mm2: float
) -> tuple[float, list[Hypothesis]]:
    """The bases with one more sighting, and how much likelier that is than a base of its own.

    It joins the likeliest of those that several photos see, or none.
    """
    hosts = [one for one in found if len(one.sightings) > 1 and not one.is_seen_by(seen.photo)]
    near = [hosts[i] for i, _ in find_crossing([one.sightings[0] for one in hosts], [seen])]
    ratios = [(one.log_ratio(seen, density_per_mm2), one) for one in near]
    ratio, host = max(ratios, key=lambda pair: pair[0], default=(MIN_LOG_RATIO, None))
    if host is None or ratio <= MIN_LOG_RATIO:
        return 0.0, [*found, Hypothesis.of(seen)]
    return ratio, [*(one for one in found if one is not host), host.joined_by(seen)]


def _lower_moved(found: Sequence[Hypothesis], density_per_mm2: float) -> list[Hypothesis]:
    """Take apart raised pairs of which another photo sees one sighting's base on the board.

    A base that moved towards a camera between two photos looks raised in these two. The photo that
    agrees with one of them on the board is the likelier one.
    """
    kept = list(found)
    for pair in filter(_is_raised_pair, found):
        first, second = pair.sightings
        raised = Hypothesis.of(first).log_ratio(second, density_per_mm2)
        swaps = []
        for one, other in ((first, second), (second, first)):
            for alone in kept:
                (seen, *more) = alone.sightings
                if more or pair.is_seen_by(seen.photo) or not find_crossing([one], [seen]):
                    continue
                joined = Hypothesis.of(one).joined_by(seen)
                ratio = Hypothesis.of(one).log_ratio(seen, density_per_mm2)
                if ratio > raised and not joined.is_raised:
                    swaps.append((ratio, alone, joined, Hypothesis.of(other)))
        if swaps:
            _, alone, joined, left = max(swaps, key=lambda swap: swap[0])
            kept = [one for one in kept if one is not pair and one is not alone] + [joined, left]
    return kept


def _join_left_over(
    found: Sequence[Hypothesis], photo: SeenPhoto, board_mm: tuple[float, float]
) -> list[Hypothesis]:
    """Join what only one photo saw to bases that two others see without it.

    Two photos that see a base on a roof leave its height open, so they may not match. Two others that
    match tell the height.
    """
    own = [one for one in found if one.is_seen_by_only(photo)]
    joint = [one for one in found if len(one.sightings) > 1 and not one.is_seen_by(photo)]
    if not own or not joint:
        return list(found)
    changed = {id(one) for one in (*own, *joint)}
    rest = [one for one in found if id(one) not in changed]
    sightings = [one.sightings[0] for one in own]
    return [*rest, *join_photo(joint, sightings, board_mm)]


def _join_three(
    found: Sequence[Hypothesis], photos: Sequence[SeenPhoto], board_mm: tuple[float, float]
) -> list[Hypothesis]:
    """Join what three photos saw where all three meet at one height.

    Two photos that meet so high above the board may do so by chance; three do not. So what each of the
    three saw alone is joined, and raised pairs are taken apart for it that are less likely.
    """
    loose = [one for one in found if len(one.sightings) == 1 or _is_raised_pair(one)]
    holder = {id(seen): one for one in loose for seen in one.sightings}
    seen_in = [
        [seen for one in loose for seen in one.sightings if seen.photo is photo] for photo in photos
    ]
    density = max(map(len, seen_in)) / (board_mm[0] * board_mm[1])
    meetings = []
    for total, one in _meetings(seen_in, density):
        parted = {id(holder[id(seen)]): holder[id(seen)] for seen in one.sightings}
        gain = total - sum(_pair_ratio(each, density) for each in parted.values())
        if gain > MIN_LOG_RATIO:
            meetings.append((gain, one))
    joined: list[Hypothesis] = []
    taken: set[int] = set()
    for _, one in sorted(meetings, key=lambda meeting: -meeting[0]):
        members = {id(seen) for seen in one.sightings}
        if not members & taken:
            joined.append(one)
            taken |= members
    parted = {id(holder[seen]): holder[seen] for seen in taken}
    left = [each for one in parted.values() for each in one.sightings if id(each) not in taken]
    kept = [one for one in found if id(one) not in parted]
    return [*kept, *joined, *map(Hypothesis.of, left)]


def _meetings(
    seen_in: Sequence[Sequence[Sighting]], density_per_mm2: float
) -> list[tuple[float, Hypothesis]]:
    """The bases that three photos may see, with their log-likelihood ratios against three bases."""
    first, second, third = seen_in
    found = []
    for i, j in find_crossing(first, second):
        alone = Hypothesis.of(first[i])
        ratio = alone.log_ratio(second[j], density_per_mm2)
        if ratio < MIN_PAIR_LOG_RATIO:
            continue
        pair = alone.joined_by(second[j])
        for k in {k for _, k in find_crossing([first[i]], third)}:
            total = ratio + pair.log_ratio(third[k], density_per_mm2)
            found.append((total, pair.joined_by(third[k])))
    return found


def _is_raised_pair(one: Hypothesis) -> bool:
    return len(one.sightings) == 2 and one.is_raised


def _pair_ratio(one: Hypothesis, density_per_mm2: float) -> float:
    """The log-likelihood ratio of a pair's sightings, against two bases.

    It is 0 of a lone one, and at least 0: other bases on its top may speak for a pair.
    """
    first, *others = one.sightings
    ratios = [Hypothesis.of(first).log_ratio(other, density_per_mm2) for other in others]
    return max(sum(ratios), MIN_LOG_RATIO)


def join_photo(
    found: Sequence[Hypothesis], sightings: Sequence[Sighting], board_mm: tuple[float, float]
) -> list[Hypothesis]:
    """Join one photo's sightings to the bases found so far; the others become bases of their own."""
    density = max(len(sightings), 1) / (board_mm[0] * board_mm[1])
    ratios = np.full((len(found), len(sightings)), IMPOSSIBLE)
    for i, j in find_crossing([one.sightings[0] for one in found], sightings):
        ratios[i, j] = found[i].log_ratio(sightings[j], density)
    rows, columns = assign_at_least_cost(-np.maximum(ratios, MIN_LOG_RATIO))
    joined, taken = list(found), set()
    for i, j in zip(rows.tolist(), columns.tolist(), strict=True):
        if ratios[i, j] > MIN_LOG_RATIO:
            joined[i] = found[i].joined_by(sightings[j])
            taken.add(j)
    alone = [Hypothesis.of(one) for j, one in enumerate(sightings) if j not in taken]
    return joined + alone
