"""From the reports on several photos of one table to one set of bases.

associate the photos' bases → their shapes → tops and their heights → sizes → look again where others see
one → rank and file → what moved → which findings are pieces → one fit of all places and heights
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.ends_of_ovals import oval_preferences
from overruler.vision.fusion.disagreement import MEDIAN_CHI2, growth_mm2, infer_factors, kind_of
from overruler.vision.fusion.joint_fit import JointFit, fit_jointly
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.fusion.outliers import without_outliers
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.evidence import piece_probability
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.levels import (
    LEVEL_SIGMA_MM,
    Level,
    join_levels,
    measure_levels,
    without_floating,
)
from overruler.vision.pairing.merge import do_overlap, merge_repeated
from overruler.vision.pairing.moved import Move, find_moves
from overruler.vision.pairing.ranks.complete_ranks import complete_ranks
from overruler.vision.pairing.second_look import SAME_LEVEL_MM, Expected, look_again
from overruler.vision.pairing.shapes import settle_shapes
from overruler.vision.pairing.sight import Sight
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto, Sighting, is_same_spot
from overruler.vision.pairing.size_by_place import weigh_by_places
from overruler.vision.pairing.sizes import weigh_sizes
from overruler.vision.pairing.trust import Distrust

MIN_PROBABILITY = 0.6
"""Least probability of a finding that is reported."""
MIN_REPORTED_SIZE = 0.05
"""Least probability of another size that is reported."""
MIN_SIGHTINGS_TO_COMPARE = 8
"""Least number of sightings by which photos are compared."""
MIN_SIGHTINGS_OF_PHOTO = 4
"""Least number of sightings of a photo by which it is held against the others."""
MAX_USUAL_RATIO = 2.0
"""Largest usual ratio of the median to that: rendered tables have 0.2 to 0.9."""
OUTLIER_ROUNDS = 3
"""Most rounds in which sightings that contradict the others are left out."""


@dataclass(frozen=True, slots=True, eq=False)
class FusedBase:
    """One base by all photos that see it."""

    base: Base
    other_bases: tuple[Base, ...]
    """Other sizes that it may have."""
    sightings: tuple[Sighting, ...]
    probability: float
    """Probability that it is a piece."""
    level: int | None
    """Number of the top that it stands on."""
    is_raised: bool


@dataclass(frozen=True, slots=True, eq=False)
class FusedTable:
    """The bases of a table by all its photos."""

    bases: tuple[FusedBase, ...]
    fit: JointFit
    levels: tuple[Level, ...]
    moved: tuple[tuple[int, Sighting], ...]
    """What stands elsewhere in one photo: the number of its base, and the sighting there."""
    median_chi2: Mapping[int, float] = field(default_factory=dict)
    """Median squared distance, in σ, of a photo's sightings from what the others predict, by the
    photo's index, before any sighting was left out."""
    excess: float = 1.0
    """Factor on all covariances: how far photos contradict each other (Birge's ratio, squared)."""
    placed: tuple[PlacedBase, ...] = ()
    """The bases as they went into the fit, before any sighting was left out."""


@dataclass(frozen=True, slots=True, eq=False)
class CheckedFit:
    """Bases fitted to all their sightings but those that contradict the others."""

    placed: tuple[PlacedBase, ...]
    fit: JointFit
    median_chi2: Mapping[int, float]
    """As in `FusedTable`."""
    excess: float
    """As in `FusedTable`; the fit's covariances include it."""


def fuse_photos(photos: Sequence[SeenPhoto], radii_mm: Array) -> FusedTable:
    """Fuse the photos' findings; `radii_mm` are those of the round bases to look for."""
    board_mm = photos[0].calibration.board_mm
    hypotheses = associate(photos, board_mm)
    levels = measure_levels(join_levels(photos), hypotheses)
    hypotheses = without_floating(settle_shapes(hypotheses), levels)
    findings = [Decided.of(one, levels) for one in hypotheses]
    findings = merge_repeated(_decide_sizes(findings, radii_mm, photos))
    findings = _look_again_everywhere(photos, findings)
    findings = complete_ranks(photos, findings)
    findings = merge_repeated(findings)
    plain = [one.as_finding() for one in findings]
    sight = Sight.of(plain, photos)
    moves = find_moves(plain, photos)
    kept, moved = _drop_false(findings, plain, moves, photos, sight)
    return _fit_table(kept, moved, levels, photos)


def _look_again_everywhere(
    photos: Sequence[SeenPhoto], findings: Sequence[Decided]
) -> list[Decided]:
    """Ask each photo for the bases that it lacks, and for those it measured at another height."""
    with ThreadPoolExecutor(PHOTOS_AT_A_TIME) as pool:
        seen = list(pool.map(lambda photo: _look_again_in(photo, findings), photos))
    pairs = enumerate(findings)
    return [finding.with_sightings([one[k] for one in seen if k in one]) for k, finding in pairs]


def _look_again_in(photo: SeenPhoto, findings: Sequence[Decided]) -> dict[int, Sighting]:
    """The sightings of findings, by their numbers, in a photo after a second look."""
    own = {
        k: one
        for k, finding in enumerate(findings)
        for one in finding.sightings
        if one.photo is photo
    }
    expected = [
        Expected(k, finding.base, finding.xyz_mm, finding.sigma_mm, finding.heading_deg)
        for k, finding in enumerate(findings)
        if not (k in own and _is_measured_there(own[k], finding)) and photo.shows(finding.xyz_mm)
    ]
    first = dict(own)
    for k, sighting in look_again(photo, expected).items():
        mine = first.get(k)
        others = [one for one in first.values() if one is not mine]
        if not any(_is_taken_by(one, sighting) for one in others):
            own[k] = _with_own_score(sighting, mine)
    return own


def _is_taken_by(first: Sighting, again: Sighting) -> bool:
    """Whether a second look found what the photo's first look found already.

    A first look may have taken two round bases for an oval: what is surer of them counts then.
    """
    is_surer = again.detection.score > first.detection.score
    is_other = again.detection.base.shape != first.detection.base.shape
    return is_same_spot(first, again) and not (is_surer and is_other)


def _with_own_score(again: Sighting, first: Sighting | None) -> Sighting:
    """A second look, no surer of a base than the photo's first look at the same height."""
    if first is None or abs(first.detection.z_mm - again.detection.z_mm) >= SAME_LEVEL_MM:
        return again
    score = min(again.detection.score, first.detection.score)
    return again.with_detection(replace(again.detection, score=score))


def _is_measured_there(sighting: Sighting, finding: Decided) -> bool:
    """Whether a sighting was measured at its base's height, with its size."""
    is_level = abs(sighting.detection.z_mm - finding.xyz_mm[2]) < SAME_LEVEL_MM
    return is_level and sighting.detection.base == finding.base


def _decide_sizes(
    findings: Sequence[Decided], radii_mm: Array, photos: Sequence[SeenPhoto]
) -> list[Decided]:
    """The findings with their likeliest sizes."""
    shares = weigh_by_places(findings, weigh_sizes(findings, radii_mm), photos)
    pairs = zip(findings, shares, strict=True)
    return [finding.with_sizes(sizes) for finding, sizes in pairs]


def _drop_false(
    findings: Sequence[Decided],
    plain: Sequence[Finding],
    moves: Sequence[Move],
    photos: Sequence[SeenPhoto],
    sight: Sight,
) -> tuple[list[tuple[Decided, float]], list[tuple[int, Sighting]]]:
    """The findings that are likely pieces, with their probabilities; and the moved sightings."""
    strays = {move.strays for move in moves}
    kept: list[tuple[Decided, float]] = []
    number: dict[int, int] = {}
    likely: dict[int, float] = {}
    distrust = Distrust.of(plain, photos)
    for k in range(len(findings)):
        if k in strays:
            continue
        without = [move.sighting.photo.index for move in moves if move.stays == k]
        asked = [photo for photo in photos if photo.index not in without]
        likely[k] = piece_probability(plain[k], asked, sight, distrust.nats_against(plain[k]))
    for k in _by_error(
        [k for k, one in likely.items() if one >= MIN_PROBABILITY], findings, likely
    ):
        if not any(do_overlap(findings[k], other) for other, _ in kept):
            number[k] = len(kept)
            kept.append((findings[k], likely[k]))
    moved = [(number[one.stays], one.sighting) for one in moves if one.stays in number]
    return kept, moved


def _by_error(
    chosen: Sequence[int], findings: Sequence[Decided], probabilities: Mapping[int, float]
) -> list[int]:
    """The chosen findings, by their numbers, in the order in which they claim their places."""
    preferences = oval_preferences(
        [findings[k].base for k in chosen],
        [probabilities[k] for k in chosen],
        lambda i, j: do_overlap(findings[chosen[i]], findings[chosen[j]]),
    )
    preference = dict(zip(chosen, preferences, strict=True))
    return sorted(chosen, key=lambda k: (1 - probabilities[k]) / preference[k])


def _fit_table(
    kept: Sequence[tuple[Decided, float]],
    moved: Sequence[tuple[int, Sighting]],
    levels: Sequence[Level],
    photos: Sequence[SeenPhoto],
) -> FusedTable:
    placed = [
        PlacedBase(one.sightings, float(one.xyz_mm[2]), one.z_sigma_mm, one.level)
        for one, _ in kept
    ]
    checked = fit_and_check(placed)
    bases = []
    for (one, probability), place in zip(kept, checked.placed, strict=True):
        base, *others = one.sizes
        likely = tuple(other for other in others if one.sizes[other] > MIN_REPORTED_SIZE)
        bases.append(
            FusedBase(base, likely, place.sightings, probability, one.level, one.is_raised)
        )
    return FusedTable(
        tuple(bases),
        checked.fit,
        tuple(levels),
        tuple(moved),
        checked.median_chi2,
        checked.excess,
        tuple(placed),
    )


def fit_and_check(placed: Sequence[PlacedBase]) -> CheckedFit:
    """Fit bases jointly, without the sightings that contradict the others."""
    factors = infer_factors(placed, LEVEL_SIGMA_MM)
    fit = fit_jointly(placed, LEVEL_SIGMA_MM)
    before = _chi2_by_photo(placed, fit)
    for _ in range(OUTLIER_ROUNDS):
        placed, changed = without_outliers(placed, fit.chi2, fit.residuals_mm, factors)
        if not changed:
            break
        fit = fit_jointly(placed, LEVEL_SIGMA_MM)
    after = _chi2_by_photo(placed, fit)
    excess = _excess_of([chi2 for values in after.values() for chi2 in values])
    larger = {kind: max(1.0, factor / excess) for kind, factor in factors.items()}
    if max(larger.values(), default=1.0) > 1.0:
        grown = [larger[kind_of(one)] for base in placed for one in base.sightings]
        fit = fit_jointly(placed, LEVEL_SIGMA_MM, grown)
    growth = growth_mm2(placed, fit)
    fit = replace(
        fit,
        usual_mm2=excess * (fit.usual_mm2 + growth),
        rare_mm2=excess * (fit.rare_mm2 + growth),
    )
    medians = {
        photo: float(np.median(values))
        for photo, values in before.items()
        if len(values) >= MIN_SIGHTINGS_OF_PHOTO
    }
    return CheckedFit(tuple(placed), fit, medians, excess)


def _chi2_by_photo(placed: Sequence[PlacedBase], fit: JointFit) -> dict[int, list[float]]:
    """Squared distances, in σ, of each photo's sightings from what the other photos predict."""
    found: dict[int, list[float]] = {}
    sightings = [(one, len(base.sightings)) for base in placed for one in base.sightings]
    for (one, count), chi2 in zip(sightings, fit.chi2.tolist(), strict=True):
        if count > 1:
            found.setdefault(one.photo.index, []).append(chi2)
    return found


def _excess_of(chi2: Sequence[float]) -> float:
    """The square of Birge's ratio by the median of squared distances; 1 where photos agree."""
    if len(chi2) < MIN_SIGHTINGS_TO_COMPARE:
        return 1.0
    ratio = float(np.median(chi2)) / MEDIAN_CHI2
    return ratio if ratio > MAX_USUAL_RATIO else 1.0
