"""From the reports on several photos of one table to one set of bases.

parts of rulers → gather the findings → rank and file → what moved → which findings are pieces → which are
hexagons → one fit of all places and heights
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.contours.ends_of_ovals import oval_preferences
from overruler.vision.fusion.disagreement import MEDIAN_CHI2, growth_mm2, infer_factors, kind_of
from overruler.vision.fusion.gather_findings import gather_findings
from overruler.vision.fusion.hexagons.tell import tell_hexagons
from overruler.vision.fusion.joint_fit import JointFit, fit_jointly
from overruler.vision.fusion.noise import PlacedBase
from overruler.vision.fusion.outliers import without_outliers
from overruler.vision.hexagons.wanted import NO_HEXAGONS, WantedHexagons
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.evidence import piece_probability
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.ground.bare_cells import without_bare_findings
from overruler.vision.pairing.levels import Level
from overruler.vision.pairing.merge import do_overlap, merge_repeated
from overruler.vision.pairing.moves.moved import Move, find_moves
from overruler.vision.pairing.ranks.complete_ranks import complete_ranks
from overruler.vision.pairing.seen_rulers import without_parts_of_rulers
from overruler.vision.pairing.sight import Sight
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from overruler.vision.pairing.sizes import size_misfits
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
"""Ratio of the median χ² to `MEDIAN_CHI2` above which photos count as contradicting.

Rendered tables have 0.2 to 0.9."""
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

    @property
    def heading_sightings(self) -> Sequence[Sighting]:
        """Its sightings that tell its heading: those of a hexagon that were fitted as one, if any."""
        told = [one for one in self.sightings if one.detection.base.shape == self.base.shape]
        return told if told and self.base.shape == "hexagon" else self.sightings


@dataclass(frozen=True, slots=True, eq=False)
class FusedTable:
    """The bases of a table by all its photos."""

    bases: tuple[FusedBase, ...]
    fit: JointFit
    levels: tuple[Level, ...]
    moved: tuple[tuple[int, Sighting], ...]
    """What stands elsewhere in one photo: the number of its base, and the sighting there."""
    median_chi2: Mapping[int, float]
    """Median squared distance, in σ, of a photo's sightings from what the others predict, by the
    photo's index, before any sighting was left out."""
    excess: float
    """Factor on all covariances: how far photos contradict each other (Birge's ratio, squared)."""
    placed: tuple[PlacedBase, ...]
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


def fuse_photos(
    photos: Sequence[SeenPhoto], radii_mm: Array, hexagons: WantedHexagons = NO_HEXAGONS
) -> FusedTable:
    """Fuse the photos' findings; `radii_mm` are those of the round bases to look for.

    Hexagons that nobody named are told on tables that were prepared, as in one photo.
    """
    photos = without_parts_of_rulers(photos)
    findings, levels = gather_findings(photos, radii_mm)
    findings = without_bare_findings(complete_ranks(photos, findings), photos)
    findings = merge_repeated(findings)
    plain = [one.as_finding() for one in findings]
    moves = find_moves(plain, photos)
    findings = leave_old_places(findings, moves)
    plain = [one.as_finding() for one in findings]
    sight = Sight.of(plain, photos)
    kept, moved = _drop_false(findings, plain, moves, photos, sight)
    if hexagons.are_named or all(photo.calibration.is_prepared for photo in photos):
        told = tell_hexagons([one for one, _ in kept], hexagons)
        kept = [(one, likely) for one, (_, likely) in zip(told, kept, strict=True)]
    return _fit_table(kept, moved, levels)


def leave_old_places(findings: Sequence[Decided], moves: Sequence[Move]) -> list[Decided]:
    """The findings without what a photo found where a base stands that it shows elsewhere."""
    left = list(findings)
    for move in moves:
        left[move.stays] = left[move.stays].without_photo(move.sighting.photo)
    return left


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
    distrust, misfits = Distrust.of(plain, photos), size_misfits(findings)
    for k in range(len(findings)):
        if k in strays:
            continue
        without = [move.sighting.photo.index for move in moves if move.stays == k]
        asked = [photo for photo in photos if photo.index not in without]
        against = distrust.nats_against(plain[k]) + misfits[k]
        likely[k] = piece_probability(plain[k], asked, sight, against)
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
        [findings[k] for k in chosen],
        [probabilities[k] for k in chosen],
        lambda i, j: do_overlap(findings[chosen[i]], findings[chosen[j]]),
    )
    preference = dict(zip(chosen, preferences, strict=True))
    return sorted(chosen, key=lambda k: (1 - probabilities[k]) / preference[k])


def _fit_table(
    kept: Sequence[tuple[Decided, float]],
    moved: Sequence[tuple[int, Sighting]],
    levels: Sequence[Level],
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
        checked.fit.with_added_covariance({k: one.doubt_mm2 for k, (one, _) in enumerate(kept)}),
        tuple(levels),
        tuple(moved),
        checked.median_chi2,
        checked.excess,
        tuple(placed),
    )


def fit_and_check(placed: Sequence[PlacedBase]) -> CheckedFit:
    """Fit bases jointly, without the sightings that contradict the others."""
    factors = infer_factors(placed)
    fit = fit_jointly(placed)
    before = _chi2_by_photo(placed, fit)
    for _ in range(OUTLIER_ROUNDS):
        placed, changed = without_outliers(placed, fit.chi2, fit.residuals_mm, factors)
        if not changed:
            break
        fit = fit_jointly(placed)
    after = _chi2_by_photo(placed, fit)
    excess = _excess_of([chi2 for values in after.values() for chi2 in values])
    larger = {kind: max(1.0, factor / excess) for kind, factor in factors.items()}
    if max(larger.values(), default=1.0) > 1.0:
        grown = [larger[kind_of(one)] for base in placed for one in base.sightings]
        fit = fit_jointly(placed, grown)
    growth = growth_mm2(placed, fit)
    fit = replace(
        fit,
        usual_mm2=excess * (fit.usual_mm2 + growth),
        rare_mm2=excess * (fit.rare_mm2 + growth),
        z_sigma_mm=excess**0.5 * fit.z_sigma_mm,
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
