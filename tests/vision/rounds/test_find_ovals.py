"""Ovals on drawn tables: found, measured, and told apart from round bases."""

import cv2
import numpy as np
import pytest

from evaluate.drawn.markers import camera_over
from overruler.bases import OVAL_SIDES_MM, Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.contours.outlines import base_outline
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.ellipse_net import TracedOvals
from overruler.vision.learned.in_play_net import corrected_shapes, look_at_shapes
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.shapes_in_play import NO_SHAPES, find_shapes
from overruler.vision.rounds.find_ovals import find_ovals, find_ovals_at, other_likely_sizes
from overruler.vision.rounds.further_ovals import (
    _at_candidates,
    _of_other_sizes,
    add_further_trials,
    doubt_few,
    weigh_company,
)
from overruler.vision.rounds.oval_trials import (
    ALONE_WEIGHTS,
    MAX_SIZE_CHI2,
    MIN_SCORE,
    OWN_FEATURES,
    Placed,
    SizeTrials,
    _grow_parts,
    _may_matter,
    _plausible_sizes,
    judge_trials,
)
from overruler.vision.rounds.ovals_in_play import _log_company, trials_in_play
from overruler.vision.rounds.ring_filter import are_visible

IN_PLAY = [OWN_FEATURES.index(name) for name in ("in_play_logit", "resized", "stretched", "moved")]
"""Columns of what the network in play says of an oval."""
SIZE_PX = (1000, 800)
BOX_MM = (0.0, 0.0, 420.0, 380.0)
OVALS = [Base.oval(*sides) for sides in OVAL_SIDES_MM[:4]]
PLACES = [
    (Base.oval(35, 60), 110.0, 110.0, 0.3),
    (Base.oval(42, 75), 300.0, 120.0, 2.0),
    (Base.oval(70, 105), 200.0, 270.0, 1.1),
]


def over(tilt_deg: float) -> Camera:
    return camera_over(
        tilt_deg, size_px=SIZE_PX, height_mm=700.0, focal_px=1100.0, aim_mm=(210.0, 190.0)
    )


def table(camera: Camera, bases: list[tuple[Base, float, float, float]]) -> Frame:
    """Dark bases, 3.6 mm high, sand strewn on top, on a grey mat."""
    sand = cv2.GaussianBlur(np.random.default_rng(1).normal(0, 1.2, SIZE_PX[::-1]), (0, 0), 1.2)
    tops = np.zeros((SIZE_PX[1] * 2, SIZE_PX[0] * 2), np.uint8)
    picture = np.full((SIZE_PX[1] * 2, SIZE_PX[0] * 2, 3), 125, np.uint8)
    for base, x, y, turn in bases:
        spin = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        ring = base_outline(base) @ spin + [x, y]
        edges = [camera.project(np.column_stack([ring, np.full(len(ring), z)])) for z in (0.0, 3.6)]
        hull = cv2.convexHull(np.vstack(edges).astype(np.float32))[:, 0]
        for outline, colour in ((hull, (30, 30, 34)), (edges[1], (90, 140, 180))):
            at = np.round(((np.asarray(outline, float) + 0.5) * 2 - 0.5) * 16).astype(np.int32)
            cv2.fillPoly(picture, [at], colour, cv2.LINE_AA, 4)
        cv2.fillPoly(tops, [at], 1, cv2.LINE_8, 4)
    strewn = picture * (1 + tops * np.repeat(np.repeat(sand, 2, 0), 2, 1))[..., None]
    small = cv2.GaussianBlur(cv2.resize(strewn, SIZE_PX, interpolation=cv2.INTER_AREA), (0, 0), 0.7)
    noisy = small + np.random.default_rng(0).normal(0, 2.0, small.shape)
    return Frame(np.clip(noisy, 0, 255).astype(np.uint8), "drawn")


def found_on(
    frame: Frame, camera: Camera, hidden: tuple[Array, ...] = (), in_play: bool = False
) -> list[Detection]:
    view = rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX)
    discs = find_discs(view, camera, in_play)
    seen = find_shapes(photo_pyramid(frame), camera, discs) if in_play else None
    known = discs.ovals[are_visible(view, hidden, discs.ovals[:, :2])]
    return find_ovals(frame, camera, OVALS, known, seen)


@pytest.mark.parametrize("tilt_deg", [8.0, 30.0])
def test_seen_from_aside_every_oval_is_found_once_with_its_size(tilt_deg: float) -> None:
    camera = over(tilt_deg)
    found = found_on(table(camera, PLACES), camera)
    assert sorted(one.base.length_mm for one in found) == sorted(
        base.length_mm for base, *_ in PLACES
    )
    for base, x, y, _ in PLACES:
        assert (
            min(np.hypot(*(one.xy_mm - [x, y])) for one in found if one.base == base)
            < base.width_mm / 8
        )


@pytest.mark.parametrize("tilt_deg", [8.0, 30.0])
def test_on_a_table_in_play_every_oval_is_found_once_with_its_size(tilt_deg: float) -> None:
    camera = over(tilt_deg)
    found = found_on(table(camera, PLACES), camera, in_play=True)
    assert len(found) == len(PLACES)
    for base, x, y, turn in PLACES:
        one = min(found, key=lambda one: float(np.hypot(*(one.xy_mm - [x, y]))))
        assert one.base == base
        assert np.hypot(*(one.xy_mm - [x, y])) < base.width_mm / 8
        assert abs((one.heading_deg - np.degrees(turn) + 90) % 180 - 90) < 3.0


@pytest.mark.parametrize("is_played", [False, True])
def test_an_oval_is_found_about_the_place_that_others_tell_and_none_where_there_is_none(
    is_played: bool,
) -> None:
    camera = over(25.0)
    frame, (base, x, y, turn) = table(camera, PLACES[:1]), PLACES[0]
    places = np.array([[x + 3, y - 2, turn + 0.15], [300.0, 250.0, 0.0]])
    (found,) = find_ovals_at(frame, camera, base, places, is_played, 0.5)
    assert found.base == base
    assert np.hypot(*(found.xy_mm - [x, y])) < 1.5
    assert abs((found.heading_deg - np.degrees(turn) + 90) % 180 - 90) < 3.0


def test_a_circle_beside_an_oval_is_corrected_to_it() -> None:
    base, x, y, turn = PLACES[0]
    camera = over(25.0)
    pyramid = photo_pyramid(table(camera, [PLACES[0]]))
    shapes = np.array([[x + 6, y - 4, 20.0, 20.0, 0.0]])
    for _ in range(2):
        shapes = corrected_shapes(camera, shapes, look_at_shapes(pyramid, camera, shapes))
    assert shapes[0, :2] == pytest.approx([x, y], abs=base.width_mm / 8)
    assert 2 * shapes[0, 2:4] == pytest.approx([base.length_mm, base.width_mm], rel=0.12)
    assert abs((shapes[0, 4] - turn + np.pi / 2) % np.pi - np.pi / 2) < 0.15


def test_company_of_its_size_makes_an_oval_likelier() -> None:
    """Three of one size stand apart, and one of another; the second trial of a place counts for nothing."""
    ovals = np.array([[100.0 * k, 0, 30, 17.5, 0] for k in (0, 0, 1, 2, 3)])
    size, alone = np.array([0, 1, 0, 0, 1]), np.array([0.8, 0.5, 0.8, 0.8, 0.8])
    told = _log_company(size, ovals, alone)
    assert told[0] == pytest.approx(np.log(2.6 / 1.48))
    assert told[0] == pytest.approx(told[2]) == pytest.approx(told[3])
    assert told[4] == pytest.approx(np.log(1 / 1.48))


def test_no_candidates_give_no_trials() -> None:
    pyramid, sizes = photo_pyramid(table(over(10.0), [])), np.array([[30.0, 17.5]])
    trials = trials_in_play(pyramid, over(10.0), NO_SHAPES, sizes)
    assert len(trials.poses) == len(trials.probabilities()) == 0


def test_from_above_every_oval_is_found_once_where_it_lies() -> None:
    camera = over(0.0)
    found = found_on(table(camera, PLACES), camera)
    assert len(found) == len(PLACES)
    for base, x, y, turn in PLACES:
        one = min(found, key=lambda one: float(np.hypot(*(one.xy_mm - [x, y]))))
        off = one.xy_mm - [x, y]
        assert one.base == base
        assert np.hypot(*off) < 0.32  # half a pixel
        assert off @ np.linalg.solve(one.covariance_mm2, off) < 9.2  # 99 % of two coordinates
        assert abs((one.heading_deg - np.degrees(turn) + 90) % 180 - 90) < 1.0
        assert one.heading_modulo_deg == 180
        assert np.hypot(*(one.outline_px.mean(0) - one.center_px)) < 2


def test_round_bases_and_bare_mats_are_no_ovals() -> None:
    camera = over(25.0)
    rounds = [
        (Base.oval(d, d), x, y, 0.0)
        for d, x, y in ((32, 110.0, 110.0), (60, 300.0, 120.0), (80, 200.0, 270.0))
    ]
    assert found_on(table(camera, rounds), camera) == []
    assert found_on(table(camera, []), camera) == []


def test_nothing_is_found_where_a_card_hides_it() -> None:
    camera = over(10.0)
    card = np.array([[60.0, 60], [160, 60], [160, 160], [60, 160]])
    found = found_on(table(camera, PLACES), camera, (card,))
    assert [one.base.length_mm for one in sorted(found, key=lambda one: one.base.length_mm)] == [
        75,
        105,
    ]


def test_only_ovals_of_a_size_and_what_may_take_their_place_are_looked_at_again() -> None:
    sizes = np.array([[30.0, 17.5]])
    ovals = np.array([
        [100, 100, 30, 17.5, 0],  # of the size
        [102, 100, 50, 50, 0],  # of no size, in its place
        [300, 100, 50, 50, 0],  # of no size
        [500, 100, 18, 16, 0],  # may be a part of one
        [700, 100, 10, 10, 0],  # too small a part
    ])  # fmt: skip
    traced = TracedOvals(np.ones(5), ovals, np.full((5, 5), 0.1), np.ones(5))
    assert _may_matter(traced, sizes).tolist() == [True, True, False, True, False]
    assert not _may_matter(traced, sizes[:0]).any()


def test_the_nearest_sizes_are_tried_if_they_are_near() -> None:
    near, far = MAX_SIZE_CHI2 / 2, 2 * MAX_SIZE_CHI2
    chi2 = np.array([[near, far, 0.0], [far, far, 3 * far]])
    which, size = _plausible_sizes(chi2)
    assert list(zip(which.tolist(), size.tolist(), strict=True)) == [(0, 2), (0, 0)]


@pytest.mark.parametrize("end", [-1, 0, 1])
def test_a_part_of_an_oval_grows_to_the_whole_one(end: int) -> None:
    base, x, y, turn = PLACES[0]
    length, width = np.array([base.length_mm, base.width_mm]) / 2
    camera = over(25.0)
    pyramid = photo_pyramid(table(camera, [PLACES[0]]))
    part_length = 0.5 * length
    shift = end * (length - part_length)
    part = np.array([[x + shift * np.cos(turn), y + shift * np.sin(turn), part_length, 12.0, turn]])
    sizes = np.array([[length, width], [4 * length, 4 * width]])
    of_part, size, grown = _grow_parts(pyramid, camera, part, sizes)
    assert (of_part.tolist(), size.tolist()) == ([0], [0])
    assert np.hypot(*(grown[0, :2] - [x, y])) < width / 4
    assert grown[0, 2:4] == pytest.approx([length, width])


def test_ovals_of_a_size_near_by_make_one_likelier() -> None:
    """They count once a place, and neither far ones nor those of another size do."""
    at = np.array([0.0, 40.0, 41.0, 80.0, 900.0])
    size = np.array([0, 0, 0, 1, 0])
    poses = np.column_stack([at, 0 * at, 0 * at + 30.0, 0 * at + 17.5, 0 * at])
    features = np.tile([1.0, 4.0, 1.0, 0.5, 3.0, 0.05, 0.05, 0.05], (5, 1))
    trials = weigh_company(SizeTrials(size, poses, poses, features, ALONE_WEIGHTS))
    alike = trials.features[:, -1]
    assert (
        alike[0] == pytest.approx(alike[1]) == pytest.approx(sigmoid(features[0] @ ALONE_WEIGHTS))
    )
    assert alike[3] == alike[4] == 0
    assert trials.probabilities()[0] > trials.probabilities()[4]


@pytest.mark.parametrize("tilt_deg", [8.0, 30.0])
def test_the_network_in_play_tells_an_oval_from_a_bare_mat_and_from_another_size(
    tilt_deg: float,
) -> None:
    base, x, y, turn = PLACES[0]
    camera = over(tilt_deg)
    pyramid = photo_pyramid(table(camera, [PLACES[0]]))
    half = np.array([base.length_mm, base.width_mm]) / 2
    ovals = np.array([[x, y, *half, turn], [320.0, 300.0, *half, turn]])
    placed = Placed(np.zeros(2, int), ovals, np.full(2, 0.5))
    here, bare = judge_trials(pyramid, camera, placed).features[:, IN_PLAY]
    assert here[0] > 2 > -2 > bare[0]
    assert here[1:] == pytest.approx(0, abs=0.15)
    features = np.tile([1.0, 4.0, 1.0, 0.5, 3.0, 0.05, 0.05, 0.05], (3, 1))
    features[1, IN_PLAY[0]], features[2, IN_PLAY[1]] = -5.0, 0.3
    sure, unlike, other_size = sigmoid(features @ ALONE_WEIGHTS)
    assert sure > MIN_SCORE > max(unlike, other_size)


SURE = [1.0, 6.0, 2.0, 0.0, 4.0, 0.0, 0.0, 0.0]
"""Features of an oval that nobody doubts."""


def test_a_likely_oval_is_tried_in_the_size_near_its_own_that_the_network_sees_there() -> None:
    base, x, y, turn = PLACES[1]
    camera = over(20.0)
    pyramid = photo_pyramid(table(camera, [PLACES[1]]))
    half = np.array([[one.length_mm, one.width_mm] for one in OVALS]) / 2
    too_small = np.array([[x, y, *half[0], turn]])
    told = SizeTrials(np.zeros(1, int), too_small, too_small, np.array([SURE]), ALONE_WEIGHTS)
    rivals = _of_other_sizes(pyramid, camera, half, told)
    assert [OVALS[size] for size in rivals.size] == [base]
    assert rivals.ovals[0] == pytest.approx([x, y, *half[1], turn])
    both = told.joined(judge_trials(pyramid, camera, rivals))
    assert len(_of_other_sizes(pyramid, camera, half, both).size) == 0  # it was tried there


@pytest.mark.parametrize(("number", "doubted"), [(1, True), (2, True), (3, False)])
def test_a_table_with_few_ovals_makes_each_doubtful(number: int, doubted: bool) -> None:
    middles = np.repeat(200.0 * np.arange(number), 2)  # two trials in each place
    poses = np.column_stack(
        [middles, 0 * middles, 0 * middles + 30.0, 0 * middles + 17.5, 0 * middles]
    )
    odds = np.full((2 * number, 1), 1.0)
    trials = SizeTrials(np.zeros(2 * number, int), poses, poses, odds, np.ones(1))
    told = doubt_few(trials).probabilities()
    assert (told < trials.probabilities()).all() == doubted
    assert (told > MIN_SCORE).all() != doubted


def test_of_two_sizes_that_are_likely_in_one_place_the_other_is_named() -> None:
    middles = np.array([0.0, 2.0, 3.0, 400.0])
    size, half = np.array([0, 1, 2, 1]), np.array([[30.0, 17.5], [37.5, 21], [45, 26], [37.5, 21]])
    poses = np.column_stack([middles, 0 * middles, half, 0 * middles])
    odds = np.array([[3.0], [1.0], [-2.0], [3.0]])
    trials = SizeTrials(size, poses, poses, odds, np.ones(1))
    assert other_likely_sizes(trials, 0) == [1]  # the third is too unlikely, the fourth elsewhere
    assert other_likely_sizes(trials, 1) == [0]
    assert other_likely_sizes(trials, 3) == []


def test_what_no_likely_oval_explains_is_tried_where_the_network_in_play_sees_it() -> None:
    base, x, y, turn = PLACES[0]
    camera = over(20.0)
    pyramid = photo_pyramid(table(camera, PLACES[:2]))
    half = np.array([[one.length_mm, one.width_mm] for one in OVALS]) / 2
    starts = np.array(
        [[*place[1:3] + np.array([5.0, -4.0]), 22.0, 22.0, 0.0, 0.4] for place in PLACES[:2]]
    )
    standing = np.array([[*PLACES[1][1:3], *half[1], PLACES[1][3]]])
    tried = _at_candidates(pyramid, camera, starts, half, standing)
    (here,) = np.flatnonzero(tried.size == 0)
    assert np.hypot(*(tried.ovals[:, :2] - [x, y]).T).max() < base.width_mm / 4
    assert abs((tried.ovals[here, 4] - turn + np.pi / 2) % np.pi - np.pi / 2) < 0.2


def test_ovals_side_by_side_are_tried_beside_one_that_is_found() -> None:
    base, turn, camera = OVALS[0], 0.4, over(10.0)
    step = (base.width_mm + 0.5) * np.array([-np.sin(turn), np.cos(turn)])
    row = [(base, *(np.array([200.0, 150.0]) + k * step), turn) for k in range(3)]
    pyramid = photo_pyramid(table(camera, row))
    half = np.array([[base.length_mm, base.width_mm]]) / 2
    first = np.array([[*row[0][1:3], *half[0], turn]])
    placed = Placed(np.zeros(1, int), first, np.ones(1))
    found = judge_trials(pyramid, camera, placed)
    trials = add_further_trials(pyramid, camera, half, np.empty((0, 6)), found)
    likely = trials.poses[trials.probabilities() > MIN_SCORE]
    away = [np.hypot(*(likely[:, :2] - place[1:3]).T).min() for place in row]
    assert max(away) < 3.0
