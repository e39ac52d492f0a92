"""What several photos find of one table's bases.

associate the photos' bases → heights of what one photo finds → shapes → tops and their heights → leave out
bare cells of the mat's grid → sizes → look again where others see one
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from overruler.geometry.pose import Array
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.ground.bare_cells import without_bare_findings
from overruler.vision.pairing.ground.plane_sweep import raise_lone
from overruler.vision.pairing.levels import (
    SAME_LEVEL_MM,
    Level,
    join_levels,
    measure_levels,
    without_floating,
)
from overruler.vision.pairing.merge import merge_repeated
from overruler.vision.pairing.second_look import Expected, look_again
from overruler.vision.pairing.shapes import settle_shapes
from overruler.vision.pairing.sighting import PHOTOS_AT_A_TIME, SeenPhoto, Sighting, is_same_spot
from overruler.vision.pairing.size_by_place import weigh_by_places
from overruler.vision.pairing.sizes import weigh_sizes


def gather_findings(
    photos: Sequence[SeenPhoto], radii_mm: Array
) -> tuple[list[Decided], Sequence[Level]]:
    """The findings and the tops that they may stand on; `radii_mm` (N,) are those of round bases to look for."""
    board_mm = photos[0].calibration.board_mm
    guessed = join_levels(photos)
    hypotheses = raise_lone(associate(photos, board_mm), photos, guessed)
    levels = measure_levels(guessed, hypotheses)
    hypotheses = without_floating(settle_shapes(hypotheses), levels)
    findings = without_bare_findings([Decided.of(one, levels) for one in hypotheses], photos)
    findings = merge_repeated(_decide_sizes(findings, radii_mm, photos))
    return _look_again_everywhere(photos, findings), levels


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
        if not (k in own and finding.is_measured_by(own[k])) and photo.shows(finding.xyz_mm)
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


def _decide_sizes(
    findings: Sequence[Decided], radii_mm: Array, photos: Sequence[SeenPhoto]
) -> list[Decided]:
    """The findings with their likeliest sizes."""
    shares = weigh_by_places(findings, weigh_sizes(findings, radii_mm), photos)
    pairs = zip(findings, shares, strict=True)
    return [finding.with_sizes(sizes) for finding, sizes in pairs]
