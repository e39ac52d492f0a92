"""Rectangles that nobody named: found in rank and file, measured, and not taken for cards, round bases or bare mats."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from overruler.bases import RECTANGLE_SIDES_MM, Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.shape_net import ShapeCandidate
from overruler.vision.plates import neighbours, regiments
from overruler.vision.plates.rectangle_fit import BasePose, RectangleHypothesis
from overruler.vision.plates.regiment_net import look_for_bases
from synthetic.camera import patch_view
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import any_base, circle, rounded, spun
from synthetic.painted.scene import make_scene, standing
from synthetic.things.figures import palette
from synthetic.tiles import library
from tests.vision.rounds.test_find_ovals import over, table

REACH_MM, TURN_RAD, SEED = 110.0, 0.5, 4
BOX_MM = (-REACH_MM, -REACH_MM, 400.0, 380.0)


def found_on(frame: Frame, camera: Camera, hidden: Sequence[Array] = ()) -> list[Detection]:
    view = rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX)
    cells = look_for_bases(frame, camera, view, hidden)
    return [] if cells is None else regiments.find_regiments(frame, camera, cells)


def guess_of(length_mm: float, width_mm: float, ahead: float = 1.0) -> ShapeCandidate:
    return ShapeCandidate(np.zeros(2), length_mm, width_mm, 0.0, 1.0, 0.9, (ahead, 0.0))


def test_ovals_round_bases_and_bare_mats_are_no_rectangles() -> None:
    camera = over(25.0)
    others = [
        (Base.oval(*size), x, y, 0.5)
        for size, x, y in (((50, 50), 110.0, 110.0), ((35, 60), 290.0, 220.0))
    ]
    assert found_on(table(camera, others), camera) == []
    assert found_on(table(camera, []), camera) == []


@given(st.sampled_from(RECTANGLE_SIDES_MM), st.floats(-0.02, 0.02))
def test_a_guess_of_a_size_is_fitted_as_that_size_first(
    sides: tuple[float, float], error: float
) -> None:
    length, width = np.array(sides) * np.exp(error)
    poses = regiments.likely_poses(guess_of(length, width))
    assert 1 <= len(poses) <= regiments.MOST_SIZES
    first = poses[0]
    assert (first.base.length_mm, first.base.width_mm) == sides
    assert first.turn_rad == 0


def test_an_oblong_base_is_laid_across_only_where_its_long_axis_is_unsure() -> None:
    turns = [
        {pose.turn_rad for pose in regiments.likely_poses(guess_of(50, 25, ahead))}
        for ahead in (1.0, 0.0)
    ]
    assert turns == [{0.0}, {0.0, np.pi / 2}]


# --- a painted unit ---


@cache
def unit() -> tuple[Frame, Camera, Array]:
    """A painted photo of nine figures on 25 mm squares in rank and file, and their centres (9, 2)."""
    rng, tiles = np.random.default_rng(SEED), library(SEED, 2)
    view = patch_view(rng, REACH_MM, 0.6, 0.3)
    places = spun(np.array(list(product((-1, 0, 1), repeat=2))) * 25.1, TURN_RAD)
    style = replace(any_base(rng, 0, tiles), is_base=False, height_mm=3.0, inset_mm=0.3)
    outline = spun(rounded(np.full(2, 12.5), 0.5), TURN_RAD)
    plates = [replace(style, center_mm=at, outline_mm=outline) for at in places]
    slim = [replace(plate, outline_mm=circle(11.0)) for plate in plates]
    paints = palette(rng)
    figures = [part for plate in slim for part in standing(rng, plate, paints)]
    scene = replace(make_scene(rng, REACH_MM, tiles), plates=plates, solids=figures, prints=[])
    photo, _ = photo_of(rng, scene, view, 2, tiles)
    return Frame(photo, "painted"), view.camera, places


def test_what_is_told_of_a_unit_is_right() -> None:
    frame, camera, places = unit()
    found = found_on(frame, camera)
    assert {one.base for one in found} == {Base.rectangle(25, 25)}
    away = np.array([[np.hypot(*(at - one.xy_mm)) for at in places] for one in found])
    assert len(set(away.argmin(1))) == len(found)
    farthest = -2 * np.log(1 - 0.99 ** (1 / len(found)))  # 99 % that no place is farther off, in χ²
    for one, at in zip(found, places[away.argmin(1)], strict=True):
        off = one.xy_mm - at
        assert one.score >= regiments.MIN_SCORE
        assert off @ np.linalg.solve(one.covariance_mm2, off) < farthest
        assert abs((one.heading_deg - np.degrees(TURN_RAD) + 45) % 90 - 45) < 3
    card = np.array([[-110.0, -110], [110, -110], [110, 110], [-110, 110]])
    assert found_on(frame, camera, [card]) == []


def test_none_is_told_that_is_less_likely_than_is_asked_for() -> None:
    frame, camera, _ = unit()
    view = rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX)
    cells = look_for_bases(frame, camera, view)
    assert cells is not None
    none, found = (regiments.find_regiments(frame, camera, cells, least) for least in (1.0, 0.6))
    assert none == []
    scores = sorted(one.score for one in found)
    assert scores[0] >= 0.6
    likely = regiments.find_regiments(frame, camera, cells, scores[4])
    assert sorted(one.score for one in likely) == scores[4:]


def test_a_base_with_a_figure_looks_less_like_a_card_than_the_mat_beside_it() -> None:
    frame, camera, places = unit()
    square = Base.rectangle(25, 25)
    hypotheses = [
        RectangleHypothesis(
            pose.base, pose.xy_mm, TURN_RAD, pose.xy_mm, pose, np.zeros((4, 3)), 0.5
        )
        for pose in (BasePose(square, at, TURN_RAD) for at in (places[4], places[4] + 70.0))
    ]
    fitted = [regiments.Fitted(one, np.zeros(6)) for one in hypotheses]
    looked_at = regiments.look_closely(frame, camera, fitted)
    on_base, beside = (one.features for one in looked_at)
    assert on_base[:6].tolist() == beside[:6].tolist() == [0] * 6
    assert on_base[6] > 0 > beside[6]
    in_play = neighbours.OWN_FEATURES.index("in_play_logit")
    assert on_base[in_play] > 0 > beside[in_play]
    assert [one.hypothesis for one in looked_at] == hypotheses
    assert regiments.look_closely(frame, camera, []) == []


def test_where_a_guess_is_too_large_the_network_in_play_tells_the_size() -> None:
    frame, camera, places = unit()
    view = rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX)
    cells = look_for_bases(frame, camera, view)
    assert cells is not None
    square = Base.rectangle(25, 25)
    large = [
        replace(one, length_mm=1.35 * one.length_mm, width_mm=1.35 * one.width_mm)
        for one in cells.guesses
    ]
    assert all(pose.base != square for one in large for pose in regiments.likely_poses(one))
    told = regiments._poses_in_play(frame, camera, replace(cells, guesses=large), [])
    seen = [pose.xy_mm for _, pose in told if pose.base == square]
    assert sum(min(np.hypot(*(xy - at)) for xy in seen) < 3.0 for at in places) >= 7


def test_a_member_that_the_network_misses_is_found_beside_the_others() -> None:
    frame, camera, _ = unit()
    view = rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX)
    cells = look_for_bases(frame, camera, view)
    assert cells is not None
    told = regiments.find_regiments(frame, camera, cells)
    member = min((one.xy_mm for one in told), key=lambda xy: float(np.hypot(*xy)))
    others = [one for one in cells.guesses if np.hypot(*(one.xy_mm - member)) > 10]
    assert len(others) < len(cells.guesses)
    found = regiments.find_regiments(frame, camera, replace(cells, guesses=others))
    assert min(np.hypot(*(one.xy_mm - member)) for one in found) < 1.0
