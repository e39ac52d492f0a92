"""A base that one photo shows elsewhere has moved, if both places are bare where they should be."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, blank_frame, camera_from, see
from overruler.bases import Base
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.ground.bare_ground import _apart, is_bare
from overruler.vision.pairing.hypotheses import largest_sigma_mm
from overruler.vision.pairing.moves import moved
from overruler.vision.pairing.moves.moved import find_moves
from overruler.vision.pairing.moves.settled import MIN_BASES_TO_COMPARE
from overruler.vision.pairing.ranks.rank_evidence import RankEvidence
from overruler.vision.pairing.ranks.told_places import SeenPlace
from overruler.vision.pairing.second_look import Expected
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from synthetic.flat_table import Plinth, render_table

SMALL_PX = (600, 450)
ASIDE = 520.0, 220.0
"""Where a base stands that did not move."""
HERE, THERE, TREE = (350.0, 300.0), (430.0, 340.0), (352.0, 298.0)
BASE = Base.circle(32)


def photo_of(index: int, camera: Camera, *plinths: Plinth, noise: float = 2.0) -> SeenPhoto:
    """A drawn photo of bases at some places, of which just those of the size are found."""
    matrix = camera.matrix.copy()
    matrix[:2] /= 2
    camera = camera.with_lens(matrix, camera.distortion)
    pixels = render_table(camera, SMALL_PX, BOARD_MM, list(plinths), noise=noise, seed=index)
    frame = replace(blank_frame(f"photo{index}.jpg"), pixels=pixels)
    places = [(p.x_mm, p.y_mm, p.z_mm, 32.0) for p in plinths if p.diameter_mm == 32]
    return see(index, camera, places, frame=frame)


@pytest.fixture(scope="module")
def photos() -> list[SeenPhoto]:
    """Two photos of a base, one of the same base elsewhere, and one in which a tree hides it."""
    here, there = Plinth(*HERE, 32.0), Plinth(*THERE, 32.0)
    tree = Plinth(*TREE, 60.0, top=(0.02, 0.12, 0.03), rim=(0.02, 0.1, 0.03))
    return [
        photo_of(0, camera_from(0), here),
        photo_of(1, camera_from(120), here),
        photo_of(2, camera_from(240), there),
        photo_of(3, camera_from(60), tree, there),
    ]


def bush(seed: int = 1) -> list[Plinth]:
    """Leaves of about the mat's own colour over a place and the ground around it."""
    random, leaves = np.random.default_rng(seed), []
    for _ in range(120):
        x, y = random.normal(HERE, 20)
        blue, green, red = (0.15, 0.3, 0.4) * random.uniform(0.8, 1.1, 3)
        leaf = Plinth(x, y, 9.0, 3.0, 1.0, 0.2, (blue, green, red), (blue, green, red))
        leaves.append(leaf)
    return leaves


def finding(place: tuple[float, float], *photos: SeenPhoto) -> Finding:
    sightings = tuple(Sighting(photo, photo.detections[0]) for photo in photos)
    return Finding(BASE, np.array([*place, 0.0]), sightings, 0.2)


def settled(*photos: SeenPhoto) -> Finding:
    """A base that these photos show in its place."""
    cameras = [photo.calibration.camera for photo in photos]
    seen = [see(k, one, [(*ASIDE, 0.0, 32.0)]).detections[0] for k, one in enumerate(cameras)]
    pairs = zip(photos, seen, strict=True)
    sightings = tuple(Sighting(photo, detection) for photo, detection in pairs)
    return Finding(BASE, np.array([*ASIDE, 0.0]), sightings, 0.2)


def test_ground_is_bare_where_nothing_stands(photos: list[SeenPhoto]) -> None:
    here, there = np.array([*HERE, 0.0]), np.array([*THERE, 0.0])
    assert is_bare(photos[2], BASE, here, photos[0])
    assert is_bare(photos[0], BASE, there, photos[2])
    assert not is_bare(photos[0], BASE, here, photos[1])
    assert not is_bare(photos[3], BASE, here, photos[0])


def test_a_moved_base_is_paired_with_its_place(photos: list[SeenPhoto]) -> None:
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[2])
    (move,) = find_moves([stays, strays], photos[:3])
    assert (move.stays, move.strays) == (0, 1)


def test_a_weak_finding_has_not_moved(photos: list[SeenPhoto]) -> None:
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[2])
    assert find_moves([scored(stays, 0.8), strays], photos[:3]) == []


def test_a_base_that_the_photo_shows_a_little_aside_has_not_moved(
    photos: list[SeenPhoto],
) -> None:
    """What else the photo shows near the old place is that base, measured badly."""
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[2])
    camera = photos[2].calibration.camera
    (aside,) = see(2, camera, [(HERE[0] + 2, HERE[1], 0.0, 32.0)]).detections
    both = replace(photos[2], detections=(*photos[2].detections, aside))
    sightings = tuple(replace(one, photo=both) for one in strays.sightings)
    strays = replace(strays, sightings=sightings)
    assert find_moves([stays, strays], [photos[0], photos[1], both]) == []


def test_in_a_photo_that_scatters_a_move_is_as_much_longer(photos: list[SeenPhoto]) -> None:
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[2])
    apart_mm = float(np.hypot(*np.subtract(HERE, THERE)))
    for off_sigmas, moves in ((0.3, 1), (30.0, 0)):
        one = settled(photos[2], photos[0])
        sigma_mm = largest_sigma_mm(one.sightings[0].loose_covariance_at(0.0))
        off_mm = off_sigmas * float(np.hypot(one.sigma_mm, sigma_mm))
        assert (off_mm < apart_mm / 6) == (moves == 1)
        off = replace(one, xyz_mm=one.xyz_mm + np.array([off_mm, 0.0, 0.0]))
        others = [replace(off) for _ in range(MIN_BASES_TO_COMPARE)]
        assert len(find_moves([stays, strays, *others], photos[:3])) == moves


def test_a_hidden_base_has_not_moved(photos: list[SeenPhoto]) -> None:
    stays, strays = finding(HERE, photos[0], photos[1]), finding(THERE, photos[3])
    assert find_moves([stays, strays], [photos[0], photos[1], photos[3]]) == []


def test_a_plate_came_from_a_hidden_place_near_by(photos: list[SeenPhoto]) -> None:
    plate = Base.rectangle(32, 32)
    here, there = finding(HERE, photos[0], photos[1]), finding(THERE, photos[3])
    stays, strays = (replace(one, base=plate, sightings=_as_plates(one)) for one in (here, there))
    seen = [photos[0], photos[1], photos[3]]
    assert [(one.stays, one.strays) for one in find_moves([stays, strays], seen)] == [(0, 1)]
    assert [len(find_moves([stays, scored(strays, p)], seen)) for p in (0.93, 0.85)] == [1, 0]
    alone = replace(stays, sightings=stays.sightings[:1])
    assert find_moves([alone, strays], seen) == []
    both = [
        photo_of(k, camera_from(120 * k), Plinth(*HERE, 32.0), Plinth(*THERE, 32.0)) for k in (0, 1)
    ]
    stays = replace(finding(HERE, *both), base=plate)
    assert find_moves([stays, strays], [*both, photos[3]]) == []


def scored(one: Finding, score: float) -> Finding:
    """A finding of which its photos are as sure as a score."""
    seen = [each.with_detection(replace(each.detection, score=score)) for each in one.sightings]
    return replace(one, sightings=tuple(seen))


def test_two_plates_that_overlap_are_one_that_moved(photos: list[SeenPhoto]) -> None:
    """Leaves hide the ground of the old place; photos that are not sure may have misread the plate."""
    near = HERE[0] + 18, HERE[1] + 14
    hidden = photo_of(2, camera_from(240), *bush(), Plinth(*near, 32.0))
    seen = [photos[0], photos[1], hidden]
    rounds = finding(HERE, photos[0], photos[1]), finding(near, hidden)
    assert find_moves(rounds, seen) == []
    plate = Base.rectangle(32, 32)
    plates = [replace(one, base=plate, sightings=_as_plates(one)) for one in rounds]
    other = settled(*seen)
    assert [(one.stays, one.strays) for one in find_moves([*plates, other], seen)] == [(0, 1)]
    assert find_moves([scored(plates[0], 0.9), plates[1], other], seen) == []
    assert find_moves([plates[0], scored(plates[1], 0.95), other], seen) == []
    assert find_moves(plates, seen) == [], "the photo's camera may be off"


def _as_plates(one: Finding) -> tuple[Sighting, ...]:
    seen = [replace(each.detection, base=Base.rectangle(32, 32)) for each in one.sightings]
    pairs = zip(one.sightings, seen, strict=True)
    return tuple(each.with_detection(detection) for each, detection in pairs)


def test_a_base_behind_leaves_of_the_grounds_colour_has_not_moved(photos: list[SeenPhoto]) -> None:
    hidden = photo_of(4, camera_from(60), *bush(), Plinth(*THERE, 32.0))
    here = np.array([*HERE, 0.0])
    assert is_bare(photos[2], BASE, here, photos[0])
    assert not is_bare(hidden, BASE, here, photos[0])
    assert find_moves([finding(HERE, photos[0]), finding(THERE, hidden)], [photos[0], hidden]) == []


def test_of_two_photos_the_first_one_counts(photos: list[SeenPhoto]) -> None:
    pair = [photos[0], photos[2]]
    (move,) = find_moves([finding(THERE, photos[2]), finding(HERE, photos[0])], pair)
    assert (move.stays, move.strays) == (1, 0)


def test_a_base_of_another_size_has_not_moved(photos: list[SeenPhoto]) -> None:
    other = replace(finding(THERE, photos[2]), base=Base.circle(50))
    assert find_moves([finding(HERE, photos[0], photos[1]), other], photos[:3]) == []


WIDE, WIDE_NEAR = Base.circle(100), (HERE[0] + 30, HERE[1] + 10)
"""A base that moves less than its width, and where to."""


def wide_photos(*covering: Plinth) -> list[SeenPhoto]:
    """Two photos of a wide base, and one of it near by, where other things cover its old place."""
    shown = [[Plinth(*place, 100.0)] for place in (HERE, HERE, WIDE_NEAR)]
    shown[2] += covering
    return [photo_of(k, camera_from(120 * k), *plinths) for k, plinths in enumerate(shown)]


def find_wide(shots: list[SeenPhoto], score: float = 1.0) -> list[tuple[int, int | None]]:
    """What moved, if two photos find the wide base in its place and one, with a score, near by."""
    places = (HERE, HERE, WIDE_NEAR)
    cameras = [shot.calibration.camera for shot in shots]
    looks = [
        see(k, camera, [(*place, 0.0, 100.0)])
        for k, (camera, place) in enumerate(zip(cameras, places, strict=True))
    ]

    def of(place: tuple[float, float], *numbers: int) -> Finding:
        seen = [replace(looks[k].detections[0], score=1.0 if k < 2 else score) for k in numbers]
        sightings = [Sighting(shots[k], one) for k, one in zip(numbers, seen, strict=True)]
        return Finding(WIDE, np.array([*place, 0.0]), tuple(sightings), 0.3)

    moves = find_moves([of(HERE, 0, 1), of(WIDE_NEAR, 2), settled(*shots)], shots)
    return [(one.stays, one.strays) for one in moves]


def test_a_large_base_that_moved_less_than_its_width_is_told_by_the_crescents() -> None:
    shots = wide_photos()
    assert find_wide(shots) == [(0, 1)]
    still = photo_of(2, camera_from(240), Plinth(*HERE, 100.0))
    assert find_wide([*shots[:2], still]) == []


def test_a_crescent_may_be_covered_in_part_where_the_photo_is_sure_of_the_base() -> None:
    """Two bases cannot overlap. Over nearly all of the crescent, nobody knows."""
    for width_mm, is_told in ((26.0, True), (70.0, False)):
        at = (HERE[0] - 40, HERE[1] - 13)
        figure = Plinth(*at, width_mm, top=(0.5, 0.1, 0.1), rim=(0.5, 0.1, 0.1))
        covered = wide_photos(figure)
        assert bool(find_wide(covered)) == is_told
        assert find_wide(covered, 0.9) == []


def test_a_base_whose_size_one_photo_misread_is_measured_again(
    photos: list[SeenPhoto], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One photo takes 32 mm for 28.5 mm, and is not sure of that; the others know the size."""
    stays = finding(HERE, photos[0], photos[1])
    own = photos[2].detections[0]
    misread = replace(own, base=Base.circle(28.5), score=0.7)
    photo = replace(photos[2], detections=(misread,))
    asked: list[Expected] = []

    def again(photo: SeenPhoto, expected: Sequence[Expected]) -> dict[int, Sighting]:
        asked.extend(expected)
        return {expected[0].key: Sighting(photo, replace(own, score=0.3), again=True)}

    monkeypatch.setattr(moved, "look_again", again)
    (move,) = find_moves([stays], [photos[0], photos[1], photo])
    assert (move.stays, move.strays) == (0, None)
    assert (move.sighting.detection.base, move.sighting.detection.score) == (BASE, 0.7)
    assert [one.base for one in asked] == [BASE]


def test_a_stray_of_which_its_photo_is_not_sure_came_from_near(photos: list[SeenPhoto]) -> None:
    stays = finding(HERE, photos[0], photos[1])
    unsure = replace(photos[2], detections=(replace(photos[2].detections[0], score=0.7),))
    assert len(find_moves([stays], [*photos[:2], unsure])) == 1
    doubtful = replace(photos[2], detections=(replace(photos[2].detections[0], score=0.5),))
    assert find_moves([stays], [*photos[:2], doubtful]) == []


NOISE = 16.0
"""Noise of photos in low light, in grey levels."""

NEIGHBOURS = [np.add(HERE, 38 * np.array([np.cos(a), np.sin(a)])) for a in (0.0, 2.1, 4.2)]


WITH_FIGURES = [np.add(HERE, 42 * np.array([np.cos(a), np.sin(a)])) for a in (0.0, 2.1, 4.2)]
"""The same of bases with figures."""


AWAY = HERE[0] + 20.0, HERE[1] - 90.0
"""Where a base went that stood in a crowd."""


def crowd(index: int, side_deg: float, *plinths: Plinth, figures: bool = False) -> SeenPhoto:
    """A photo of bases that stand close round a place; their figures look different from each side."""
    random = np.random.default_rng(index)
    tops = random.uniform(0, 0.8, (len(NEIGHBOURS), 3)).tolist()
    places = WITH_FIGURES if figures else NEIGHBOURS
    around = [
        Plinth(x, y, 30.0, top=(b, g, r)) for (x, y), (b, g, r) in zip(places, tops, strict=True)
    ]
    if figures:
        around = [replace(one, height_mm=28.0, taper_mm=5.0, rim=one.top) for one in around]
    return photo_of(index, camera_from(side_deg), *around, *plinths)


def beside(place: Array, shots: Sequence[SeenPhoto]) -> Finding:
    """A base that all photos show in a place."""
    at = float(place[0]), float(place[1]), 0.0, 30.0
    seen = [see(k, shot.calibration.camera, [at]).detections[0] for k, shot in enumerate(shots)]
    sightings = tuple(Sighting(shot, one) for shot, one in zip(shots, seen, strict=True))
    return Finding(Base.circle(30), np.array([*at[:3]]), sightings, 0.2)


def test_bare_ground_in_a_crowd_is_told_by_what_lies_between() -> None:
    here, there = crowd(0, 0, Plinth(*HERE, 32.0)), crowd(1, 120)
    place, others = np.array([*HERE, 0.0]), np.array([[x, y, 15.0] for x, y in NEIGHBOURS])
    assert not is_bare(there, BASE, place, here)
    assert is_bare(there, BASE, place, here, others_mm=others)
    assert not is_bare(here, BASE, place, there, others_mm=others)


def test_figures_of_a_crowd_hide_the_ground_behind_them() -> None:
    """Each photo shows other ground hidden. What no figure hides in either tells that a base has left."""
    here, there = Plinth(*HERE, 32.0), Plinth(*AWAY, 32.0)
    before = crowd(1, 120.0, here, figures=True)
    for plinths, is_told in (((there,), True), ((there, here), False)):
        after = crowd(2, 240.0, *plinths, figures=True)
        around = [beside(place, [before, after]) for place in WITH_FIGURES]
        findings = [finding(HERE, before), finding(AWAY, after), *around]
        moves = find_moves(findings, [before, after])
        assert [(one.stays, one.strays) for one in moves] == ([(0, 1)] if is_told else [])


def test_a_base_in_all_other_photos_came_from_a_place_that_is_covered_in_part(
    photos: list[SeenPhoto],
) -> None:
    """A figure leans over half of the old place; over nearly all of it, nobody knows."""
    stays = finding(HERE, photos[0], photos[1])
    for reach_mm, is_told in ((19.0, True), (10.0, False)):
        figure = Plinth(HERE[0] + reach_mm, HERE[1], 28.0, top=(0.5, 0.1, 0.1), rim=(0.5, 0.1, 0.1))
        covered = photo_of(2, camera_from(240), figure, Plinth(*THERE, 32.0))
        assert bool(find_moves([stays], [*photos[:2], covered])) == is_told
        unsure = replace(stays.sightings[0].detection, score=0.9)
        sightings = (stays.sightings[0].with_detection(unsure), stays.sightings[1])
        less_sure = replace(stays, sightings=sightings)
        assert find_moves([less_sure], [*photos[:2], covered]) == []


def test_ground_round_a_wide_base_is_known_through_the_noise_of_low_light() -> None:
    random, marks = np.random.default_rng(5), []
    for _ in range(70):
        x, y = HERE + random.uniform(-125, 125, 2)
        blue, green, red = (0.5, 1.0, 1.33) * random.uniform(0.25, 0.4, 1)
        colour = (blue, green, red)
        marks.append(Plinth(x, y, 30.0, 0.0, 0.05, 0.0, colour, colour))
    here = photo_of(0, camera_from(0), *marks, Plinth(*HERE, 100.0), noise=NOISE)
    there = photo_of(1, camera_from(120), *marks, noise=NOISE)
    assert is_bare(there, WIDE, np.array([*HERE, 0.0]), here)
    assert not is_bare(here, WIDE, np.array([*HERE, 0.0]), there)


@pytest.mark.parametrize(("contrast", "is_same"), [(12.0, True), (1.5, False)])
def test_rough_ground_is_known_by_its_marks_where_noise_is_strong(
    contrast: float, is_same: bool
) -> None:
    """In low light a photo's noise is as strong as that of leaves; marks of the ground are stronger."""
    random = np.random.default_rng(1)
    ground = random.normal(0, contrast, (800, 1)) * [1.0, 0.2, 0.2]
    noisy = [ground + random.normal(0, 1.6, (800, 3)) for _ in range(2)]
    here, there = (each.astype(np.float32) for each in noisy)
    assert (_apart(here, there) is not None) == is_same


def by_sides(one: Finding, *logits: float) -> Finding:
    """A finding in rank and file of which each photo says so much for each of its sides."""
    looks = {k: SeenPlace(x, 1.0, np.full((4, 3), x / 3), 0.0) for k, x in enumerate(logits)}
    return replace(one, ranks=RankEvidence(looks))


def test_a_base_in_rank_and_file_that_moved_is_told_by_its_sides(photos: list[SeenPhoto]) -> None:
    """The photo gives it a low score where it went, and something like it where it stood: sides decide."""
    again = replace(photos[2].detections[0], xy_mm=np.array(HERE), score=0.01)
    stays = finding(HERE, photos[0], photos[1])
    weak = replace(stays, sightings=(*stays.sightings, Sighting(photos[2], again, again=True)))
    strays = scored(finding(THERE, photos[2]), 0.16)
    went = by_sides(weak, 3.0, 3.0, -3.0), by_sides(strays, -3.0, -3.0, 3.0)
    (move,) = find_moves(went, photos[:3])
    assert (move.stays, move.strays) == (0, 1)
    stayed = by_sides(weak, 3.0, 3.0, 3.0), by_sides(strays, -3.0, -3.0, 3.0)
    assert find_moves(stayed, photos[:3]) == []
    unknown = by_sides(weak, 3.0, 3.0, 0.0), by_sides(strays, -3.0, -3.0, 3.0)
    assert find_moves(unknown, photos[:3]) == []
    false = by_sides(weak, 3.0, 3.0, -3.0), by_sides(strays, -3.0, -3.0, -3.0)
    assert find_moves(false, photos[:3]) == []
    not_asked = by_sides(weak, 3.0, 3.0, -3.0), by_sides(strays, 0.0, 0.0, 3.0)
    assert find_moves(not_asked, photos[:3]) == []


def test_a_base_in_rank_and_file_is_hidden_by_its_unit_and_has_not_moved(
    photos: list[SeenPhoto],
) -> None:
    """A ship's plate in its place would have moved: each has a print of its own."""
    plates = [
        replace(one, base=Base.rectangle(32, 32), sightings=_as_plates(one))
        for one in (finding(HERE, photos[0], photos[1]), finding(THERE, photos[3]))
    ]
    seen = [photos[0], photos[1], photos[3]]
    assert len(find_moves(plates, seen)) == 1
    ranks = by_sides(plates[0], 3.0, 3.0), plates[1]
    assert find_moves(ranks, seen) == []
