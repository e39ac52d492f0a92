"""Photos that read a size differently are weighed together, at the height of the base."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, Truth, camera_from, see
from overruler.bases import Base
from overruler.vision.fusion.gather_findings import _is_taken_by
from overruler.vision.pairing import size_by_place
from overruler.vision.pairing.association import associate
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.merge import do_overlap, merge_repeated
from overruler.vision.pairing.second_look import Expected
from overruler.vision.pairing.sighting import SeenPhoto, Sighting, is_same_spot
from overruler.vision.pairing.size_by_place import _reweigh, weigh_by_places
from overruler.vision.pairing.sizes import (
    MOST_MISFIT_NATS,
    VOTE_SHARE,
    _find_offsets_mm,
    _log_likelihood,
    _vote_weight,
    size_misfits,
    weigh_sizes,
)

RADII_MM = np.array([25, 27, 28.5, 30, 32]) / 2
OTHERS: list[Truth] = [(200.0 + 90 * k, 150.0, 0.0, 27.0) for k in range(4)]


def sizes_of(z_mm: float, readings: list[tuple[float, float]]) -> dict[Base, float]:
    """The sizes of a 27 mm base that photos read with these diameters and σ of the radius."""
    bases = [(450.0, 350.0, z_mm, 27.0), *OTHERS]
    photos = []
    for k, (diameter, sigma) in enumerate(readings):
        photo = see(k, camera_from(120.0 * k), bases)
        eye = float(photo.calibration.camera.center_mm[2])
        seen = diameter / 2 * eye / (eye - z_mm)
        first, *rest = photo.detections
        nearest = min(RADII_MM, key=lambda radius: abs(float(radius) - seen))
        one = replace(first, base=Base.circle(2 * float(nearest)), learned_radius_mm=(seen, sigma))
        photos.append(replace(photo, detections=(one, *rest)))
    findings = [Decided.of(each, ()) for each in associate(photos, BOARD_MM)]
    shares = weigh_sizes(findings, RADII_MM)
    return next(
        dict(share)
        for finding, share in zip(findings, shares, strict=True)
        if np.hypot(*(finding.xyz_mm[:2] - [450, 350])) < 5
    )


@pytest.mark.parametrize("z_mm", [0.0, 60.0])
def test_a_photo_that_misreads_a_size_is_outvoted_by_sharper_ones(z_mm: float) -> None:
    shares = sizes_of(z_mm, [(27.0, 0.1), (28.4, 0.5), (27.1, 0.1)])
    assert next(iter(shares)) == Base.circle(27)
    assert sum(shares.values()) == pytest.approx(1)


def test_a_size_named_on_the_board_says_nothing_of_a_raised_base() -> None:
    """Taken to lie on the board, a base on a roof seems larger in all photos."""
    shares = sizes_of(60.0, [(27.3, 0.15), (27.2, 0.15), (27.3, 0.15)])
    assert next(iter(shares)) == Base.circle(27)


def test_only_a_base_on_a_known_top_stands_over_another() -> None:
    photos = [see(k, camera_from(120.0 * k), [(450.0, 350.0, 0.0, 32.0)]) for k in range(2)]
    below = Decided.of(associate(photos, BOARD_MM)[0], ())
    above = replace(below, xyz_mm=below.xyz_mm + np.array([0, 0, 60.0]), is_raised=True)
    assert do_overlap(below, above)
    assert do_overlap(above, below)
    assert not do_overlap(below, replace(above, level=0))


@pytest.mark.parametrize(("heading_deg", "overlaps"), [(0.0, True), (90.0, False)])
def test_an_oval_overlaps_what_lies_in_its_end_not_what_lies_beside_it(
    heading_deg: float, overlaps: bool
) -> None:
    places = [(450.0, 350.0, 0.0, 35.0), (478.0, 350.0, 0.0, 25.0)]
    photos = [see(k, camera_from(120.0 * k), places) for k in range(2)]
    both = [Decided.of(one, ()) for one in associate(photos, BOARD_MM)]
    first, end = sorted(both, key=lambda one: float(one.xyz_mm[0]))
    oval = replace(first, base=Base.oval(35, 60), told_heading_deg=heading_deg)
    assert do_overlap(oval, end) == overlaps
    assert do_overlap(end, oval) == overlaps


def test_an_even_reading_leaves_the_size_open() -> None:
    shares = sizes_of(0.0, [(27.7, 0.3), (27.8, 0.3)])
    assert 0.01 < shares[Base.circle(28.5)] < 0.99


def test_photos_that_agree_make_a_size_surer_but_not_as_if_nothing_misled_them_all() -> None:
    photos = [see(k, camera_from(120.0 * k), OTHERS) for k in range(3)]
    offsets = dict.fromkeys(range(3), 0.0)
    one, three = (Decided.of(associate(some, BOARD_MM)[0], ()) for some in (photos[:1], photos))
    for_27 = [
        float(np.subtract(*_log_likelihood(each, RADII_MM, offsets)[[1, 4], 0]))
        for each in (one, three)
    ]
    assert 1.3 * for_27[0] < for_27[1] < 2.7 * for_27[0]


def test_photos_that_disagree_are_less_sure_of_a_size() -> None:
    photos = [see(k, camera_from(120.0 * k), OTHERS) for k in range(3)]
    finding = Decided.of(associate(photos, BOARD_MM)[0], ())
    for_27 = [
        float(np.subtract(*_log_likelihood(finding, RADII_MM, dict(enumerate(off)))[[1, 4], 0]))
        for off in ((0.0, 0.0, 0.0), (0.9, 0.0, -0.9))
    ]
    assert for_27[1] < 0.5 * for_27[0]


def misfit_of(diameters_mm: list[float]) -> float:
    """How much speaks against a 27 mm base that photos read with these diameters, beside plain bases."""
    photos = []
    for k, diameter_mm in enumerate(diameters_mm):
        photo = see(k, camera_from(120.0 * k), [(450.0, 350.0, 0.0, 27.0), *OTHERS])
        first, *rest = photo.detections
        read = replace(first, learned_radius_mm=(diameter_mm / 2, 0.25))
        photos.append(replace(photo, detections=(read, *rest)))
    findings = [Decided.of(each, ()) for each in associate(photos, BOARD_MM)]
    against = size_misfits(findings)
    apart_mm = [float(np.hypot(*(each.xyz_mm[:2] - [450, 350]))) for each in findings]
    assert sum(against) == against[int(np.argmin(apart_mm))]  # nothing speaks against plain bases
    return sum(against)


def test_a_thing_that_has_no_bases_size_is_doubtful() -> None:
    assert misfit_of([27.0, 27.0]) == 0.0
    assert misfit_of([27.8, 26.4]) == 0.0
    assert 0.0 < misfit_of([28.6, 28.6]) < misfit_of([28.8, 28.8]) < MOST_MISFIT_NATS
    assert misfit_of([36.0, 36.0]) == MOST_MISFIT_NATS


def test_coarse_photos_vote_less() -> None:
    first = see(0, camera_from(0.0), OTHERS).detections[0]
    sharp, coarse = (
        Sighting(see(0, camera, OTHERS), first)
        for camera in (camera_from(0.0), camera_from(0.0, 75.0))
    )
    assert _vote_weight(coarse) < 0.5 * _vote_weight(sharp) <= 0.5 * VOTE_SHARE


def test_two_coarse_photos_do_not_outvote_a_sharp_one_about_an_oval() -> None:
    cameras = camera_from(0.0), camera_from(120.0, 75.0), camera_from(240.0, 75.0)
    photos = [see(k, camera, OTHERS) for k, camera in enumerate(cameras)]
    small, large = Base.oval(35, 60), Base.oval(42, 75)
    seen = [
        Sighting(photo, replace(photo.detections[0], base=base, learned_radius_mm=None))
        for photo, base in zip(photos, (large, small, small), strict=True)
    ]
    finding = Decided.of(associate(photos, BOARD_MM)[0], ())
    (shares,) = weigh_sizes([replace(finding, base=small, sightings=tuple(seen))], RADII_MM)
    assert next(iter(shares)) == large
    blurred = tuple(Sighting(photos[1], one.detection) for one in seen)
    (shares,) = weigh_sizes([replace(finding, base=small, sightings=blurred)], RADII_MM)
    assert next(iter(shares)) == small


def test_a_photo_that_shows_all_rims_too_small_is_allowed_for() -> None:
    bases = [(450.0, 350.0, 0.0, 32.0), *OTHERS]
    photos = []
    for k in range(3):
        photo = see(k, camera_from(120.0 * k), bases)
        read = [
            replace(one, learned_radius_mm=(one.base.width_mm / 2 - 0.4 * (k == 2), 0.1))
            for one in photo.detections
        ]
        photos.append(replace(photo, detections=tuple(read)))
    findings = [Decided.of(each, ()) for each in associate(photos, BOARD_MM)]
    offsets = _find_offsets_mm(findings)
    assert offsets[2] - offsets[0] == pytest.approx(-0.4, abs=0.1)
    assert offsets[0] == pytest.approx(offsets[1], abs=0.01)


@pytest.mark.usefixtures("fits_as_stated")
def test_a_base_has_the_size_in_which_cameras_agree_about_its_place() -> None:
    """Fitted too small, it is seen too near by each camera."""
    right, wrong = Base.circle(27), Base.circle(28.5)
    photos = [see(k, camera_from(120.0 * k), [(450.0, 350.0, 0.0, 27.0)]) for k in range(3)]
    good = {k: Sighting(photo, photo.detections[0]) for k, photo in enumerate(photos)}
    bad = {}
    for k, one in good.items():
        nearer = one.detection.xy_mm - 1.2 * one.relief_at(0.0) / np.hypot(*one.relief_at(0.0))
        bad[k] = one.with_detection(replace(one.detection, base=wrong, xy_mm=nearer))
    finding = Decided.of(associate(photos, BOARD_MM)[0], ())
    shares = _reweigh(finding, {wrong: 0.6, right: 0.4}, {wrong: bad, right: good})
    assert next(iter(shares)) == right
    assert shares[right] > 0.9
    assert _reweigh(finding, {wrong: 0.6, right: 0.4}, {}) == {wrong: 0.6, right: 0.4}


def test_what_photos_found_by_themselves_counts_before_what_they_were_asked_for() -> None:
    """A photo's base that is asked for in another's place is not seen twice."""
    photos = [see(k, camera_from(120.0 * k), [(450.0, 350.0, 0.0, 32.0)]) for k in range(3)]
    own = [Sighting(photo, photo.detections[0]) for photo in photos]
    step_mm = np.array([7.0, 0.0])
    shifted = replace(photos[2].detections[0], xy_mm=photos[2].detections[0].xy_mm + step_mm)
    strong = Decided.of(associate(photos[:2], BOARD_MM)[0], ())
    asked = [replace(own[k], again=True) for k in range(2)]
    weak = replace(strong, sightings=(Sighting(photos[2], shifted), *asked))
    (kept,) = merge_repeated([weak, strong])
    assert not any(one.again for one in kept.sightings)
    assert is_same_spot(own[2], own[2].with_detection(shifted))


def test_an_oval_that_one_photo_takes_two_bases_for_does_not_hide_them() -> None:
    """Both are judged, and a second look in that photo may be surer of a round one."""
    photos = [see(k, camera_from(120.0 * k), [(450.0, 350.0, 0.0, 27.0)]) for k in range(2)]
    round_ = Decided.of(associate(photos, BOARD_MM)[0], ())
    oval = replace(round_, base=Base.oval(35, 60), xyz_mm=round_.xyz_mm + np.array([8.0, 0, 0]))
    assert len(merge_repeated([round_, oval])) == 2
    own = Sighting(photos[0], photos[0].detections[0])
    first = own.with_detection(replace(own.detection, base=Base.oval(35, 60), score=0.8))
    surer, weaker = (own.with_detection(replace(own.detection, score=s)) for s in (0.9, 0.7))
    assert not _is_taken_by(first, surer)
    assert _is_taken_by(first, weaker)
    assert _is_taken_by(own.with_detection(replace(own.detection, score=0.5)), surer)


def test_an_oval_is_fitted_in_its_other_sizes_as_it_lies(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Expected] = []

    def look(_photo: SeenPhoto, expected: list[Expected]) -> dict[int, Sighting]:
        asked.extend(expected)
        return {}

    monkeypatch.setattr(size_by_place, "look_again", look)
    photos = [see(k, camera_from(120.0 * k), OTHERS[:1]) for k in range(2)]
    finding = Decided.of(associate(photos, BOARD_MM)[0], ())
    small, large = Base.oval(35, 60), Base.oval(42, 75)
    finding = replace(finding, base=small, told_heading_deg=40.0)
    weigh_by_places([finding], [{small: 0.7, large: 0.3}], photos)
    assert {one.base for one in asked} == {small, large}
    assert {one.heading_deg for one in asked} == {40.0}
