"""Choose among what the finders found: what can stand together, and which kind a table is of."""

from collections.abc import Sequence

from overruler.detections import Detection
from overruler.vision.contours.ends_of_ovals import oval_preferences
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.detection.cards import without_cards
from overruler.vision.detection.finders import DOMINANCE_RATIO, REGIMENT, Search
from overruler.vision.detection.sizes import is_plate
from overruler.vision.rounds.scoring import MIN_SCORE, MIN_SCORE_IN_PLAY
from overruler.vision.rounds.suppression import MAX_OVERLAP_SHARE

PLATE_PREFERENCE = 10.0
"""A base in the place of a plate stays only with a probability of error smaller by this factor.

Ships have round hulls.
"""
SURE_IN_MINORITY = 0.995
"""Smallest score of a base of the kind, plates or others, that the other kind outnumbers.

Hulls and tokens look round, printed rooms and doors look like plates. Nobody chose sizes or a game,
and no game of the catalogue has both; but people mix games."""


def choose(
    search: Search, found: list[Detection], angular: list[Detection]
) -> tuple[Detection, ...]:
    """Choose among what the finders `found`; the `angular` ones are rectangles that nobody named."""
    sizes = search.sizes
    unnamed, doubtful = split_doubtful(angular)
    if not sizes.only_plates:
        return suppress_overlaps([*found, *unnamed], 1.0)
    if search.sizes_chosen:
        return suppress_overlaps([*found, *unnamed])
    if not search.is_fleet or len(unnamed) >= REGIMENT:
        found = _without_parts(found, unnamed)
    together = _prefer_dominant_kind(found, unnamed)
    if search.seen is not None or search.least_score < MIN_SCORE:
        # No table in play taught the network that knows cards; and several photos see what is flat.
        if len(unnamed) < REGIMENT:
            return together
        alone = [
            one for one in doubtful if not any(_exclude_each_other(one, it) for it in together)
        ]
        return (*together, *alone)
    return without_cards(search.frame, search.calibration.camera, together)


def split_doubtful(
    detections: Sequence[Detection],
) -> tuple[tuple[Detection, ...], tuple[Detection, ...]]:
    """Split the likely bases from round ones and rectangles that only other photos may confirm."""
    likely: list[Detection] = []
    doubtful: list[Detection] = []
    for detection in detections:
        (doubtful if detection.score < _least_likely(detection) else likely).append(detection)
    return tuple(likely), tuple(doubtful)


def _least_likely(detection: Detection) -> float:
    """Return the score from which a base is a likely one, where its finder tells unlikely ones, too."""
    if detection.base.shape == "rectangle":
        from overruler.vision.plates.find import MIN_OPEN_SCORE  # loaded by what found it
        from overruler.vision.plates.regiments import MIN_SCORE as MIN_SCORE_OF_RECTANGLES

        return MIN_OPEN_SCORE if is_plate(detection.base) else MIN_SCORE_OF_RECTANGLES
    if detection.base.shape == "circle":
        return MIN_SCORE if detection.in_play_probability is None else MIN_SCORE_IN_PLAY
    return 0.0


def _without_parts(
    detections: Sequence[Detection], unnamed: Sequence[Detection]
) -> list[Detection]:
    """Remove plates where regiments have a larger base, or two bases of another size.

    Two bases of 40 × 20 mm side by side look like a plate of 40 mm.
    """

    def is_part(plate: Detection) -> bool:
        there = [one for one in unnamed if _exclude_each_other(plate, one)]
        others = [one.base for one in there if one.base != plate.base]
        return len(others) > 1 or any(base.length_mm > plate.base.length_mm for base in others)

    return [one for one in detections if not (is_plate(one.base) and is_part(one))]


def _prefer_dominant_kind(
    detections: Sequence[Detection], unnamed: Sequence[Detection] = ()
) -> tuple[Detection, ...]:
    """Keep what can stand together; of plates and others, those far fewer must be sure.

    Where one kind dominates, nothing of the other stands in a place of it. `unnamed` rectangles are
    of neither kind: regiments stand among round bases.
    """
    whole = [*detections, *unnamed]
    together, free = suppress_overlaps(whole), set(map(id, unnamed))
    counted = [one for one in together if id(one) not in free]
    plates = sum(_is_rectangle(one) for one in counted)
    others = len(counted) - plates
    if max(plates, others) < DOMINANCE_RATIO * min(plates, others):
        return together
    many_are_plates = plates > others
    many = [one for one in whole if id(one) in free or _is_rectangle(one) == many_are_plates]
    few = [one for one in counted if _is_rectangle(one) != many_are_plates]
    standing = suppress_overlaps(many)
    sure = [one for one in few if one.score >= SURE_IN_MINORITY]
    apart = [one for one in sure if not any(_exclude_each_other(one, big) for big in standing)]
    return tuple(sorted((*standing, *apart), key=lambda detection: -detection.score))


def suppress_overlaps(
    detections: Sequence[Detection], preference: float = PLATE_PREFERENCE
) -> tuple[Detection, ...]:
    """Remove detections that overlap a surer one, the surest first (non-maximum suppression).

    The probability of error of a plate is divided by `preference`.
    """

    preferences = oval_preferences(
        detections,
        [one.score for one in detections],
        lambda j, k: _exclude_each_other(detections[j], detections[k]),
    )

    def error_probability(k: int) -> float:
        divisor = preference if is_plate(detections[k].base) else preferences[k]
        return (1 - detections[k].score) / divisor

    kept: list[Detection] = []
    for k in sorted(range(len(detections)), key=error_probability):
        if not any(_exclude_each_other(detections[k], other) for other in kept):
            kept.append(detections[k])
    return tuple(sorted(kept, key=lambda detection: -detection.score))


def _exclude_each_other(one: Detection, other: Detection) -> bool:
    """Tell whether two detections overlap too much; the finders compare their own results."""
    if one.base.shape == other.base.shape != "rectangle":
        return False
    return bases_overlap(one, other, MAX_OVERLAP_SHARE)


def _is_rectangle(detection: Detection) -> bool:
    return detection.base.shape == "rectangle"
