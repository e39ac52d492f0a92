"""Bases in rank and file, by all photos together.

Each photo is asked for every such base that any photo found. Beside the likely ones further bases of
their size are asked for: figures hide some in every photo, but not the same sides in all of them.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.vision.contours.overlap_choice import likeliest_compatible_set
from overruler.vision.detection.finders import REGIMENT
from overruler.vision.detection.sizes import is_plate
from overruler.vision.learned.logits import sigmoid
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.ranks.ask_photos import (
    ask_photos,
    log_odds_of,
    pose_of,
    probability_of,
)
from overruler.vision.pairing.ranks.other_places import (
    is_likely,
    is_odd,
    other_sizes,
    places_beside,
    size_chi2_of,
)
from overruler.vision.pairing.sighting import SeenPhoto
from overruler.vision.plates.lattice import find_units
from overruler.vision.plates.neighbours import Places
from overruler.vision.plates.rectangle_fit import size_mm

GROWTH_ROUNDS = 6
"""Most times over that bases beside likely ones are asked for: a unit whose middle is known has seldom more files
beside it."""
SURE_SCORE = 0.9
"""Probability by all photos of a base that is surely one: where photos by themselves expect `REGIMENT` of these,
there are regiments."""
WEIGHT_OF_SIZE = -0.23
"""Weight of `size_chi2_of` in the log odds of bases that exclude one another: that of a logistic regression with
halves of bases and two taken for one."""
EVEN = 0.5
"""Probability of a base from which on it may exclude others."""
MIN_UNIT = 3
"""Bases in contact, at least, of a unit: a card is taken for two."""
MIN_PROBABILITY = 0.9
"""Least probability of a base that no photo found by itself: many places are asked for."""


def is_in_ranks(base: Base) -> bool:
    """Whether a base is one as regiments have: a rectangle that is no ship's plate."""
    return base.shape == "rectangle" and not is_plate(base)


def complete_ranks(photos: Sequence[SeenPhoto], findings: Sequence[Decided]) -> list[Decided]:
    """The findings with what all photos say of those in rank and file, and with what stands beside them."""
    if not any(is_in_ranks(one.base) for one in findings):
        return list(findings)
    others = [one for one in findings if not is_in_ranks(one.base)]
    ranks = [one for one in findings if is_in_ranks(one.base)]
    done = ask_photos(photos, ranks)
    if _expected_number(done) < REGIMENT - 0.5:  # `REGIMENT`, rounded
        return [*others, *map(_among_few, done)]
    done = _settle_sizes(photos, done)
    return [*others, *_note_units(_grow_units(photos, done))]


def _grow_units(photos: Sequence[SeenPhoto], ranks: Sequence[Decided]) -> list[Decided]:
    """The bases, and those beside likely ones that the photos show when they are asked."""
    grown, newest = [*ranks], [*ranks]
    tried = [pose_of(one) for one in ranks]
    for _ in range(GROWTH_ROUNDS):
        standing = [pose_of(one) for one in grown if is_likely(one)]
        places = places_beside([one for one in newest if is_likely(one)], standing, tried)
        tried += [pose_of(one) for one in places]
        newest = _find_likely(photos, places)
        if not newest:
            break
        grown += newest
    return grown


def _find_likely(photos: Sequence[SeenPhoto], places: Sequence[Decided]) -> list[Decided]:
    """Those of the places that no photo told at which the photos show a likely base."""
    asked = ask_photos(photos, places)
    return [one for one in asked if one.sightings and probability_of(one) >= MIN_PROBABILITY]


def _settle_sizes(photos: Sequence[SeenPhoto], ranks: Sequence[Decided]) -> list[Decided]:
    """The likeliest bases that can stand together, among these and what else those of odd size may be.

    Bases in contact look like one, and a base looks like two where a figure's shadow crosses it.
    """
    usual = [one for one in _find_likely(photos, other_sizes(ranks)) if not is_odd(one)]
    every = [*ranks, *usual]
    odds = np.array([log_odds_of(one) + WEIGHT_OF_SIZE * size_chi2_of(one) for one in every])
    scores = sigmoid(odds).tolist()
    standing = likeliest_compatible_set([pose_of(one) for one in every], scores, EVEN)
    return [one for k, one in enumerate(every) if k in standing or scores[k] <= EVEN]


def _expected_number(ranks: Sequence[Decided]) -> float:
    """The expected number of bases that a photo found by itself, of those that all photos are sure of."""
    sure = [one.sightings for one in ranks if probability_of(one) >= SURE_SCORE]
    own = [[seen.detection.score for seen in sightings if not seen.again] for sightings in sure]
    return sum(max(scores, default=0.0) for scores in own)


def _among_few(one: Decided) -> Decided:
    ranks = one.ranks
    return one if ranks is None else replace(one, ranks=replace(ranks, is_among_few=True))


def _note_units(ranks: Sequence[Decided]) -> list[Decided]:
    """The bases, with whether they stand in a unit of likely ones."""
    likely = [one for one in ranks if is_likely(one)]
    poses = [pose_of(one) for one in likely]
    places = Places(
        np.reshape([pose.xy_mm for pose in poses], (-1, 2)),
        np.array([pose.turn_rad for pose in poses]),
        np.reshape([size_mm(pose.base) for pose in poses], (-1, 2)),
    )
    units = [unit.members for unit in find_units(places) if len(unit.members) >= MIN_UNIT]
    members = {id(likely[k]) for unit in units for k in unit}
    return [
        replace(one, ranks=replace(one.ranks, is_in_unit=True))
        if one.ranks is not None and id(one) in members
        else one
        for one in ranks
    ]
