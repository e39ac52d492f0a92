"""Square plates on drawn tables: found, told apart from other squares, measured, and which way they look."""

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.bases import Base
from overruler.calibration import Calibration, Covariances
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.contours.outlines import penetration_depth_mm
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.contours.rare_events import RARE_WITHIN_SIGMAS
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.shape_net import ShapeCandidate, find_plate_candidates
from overruler.vision.plates import face_net, find
from overruler.vision.plates import plate as plate_module
from overruler.vision.plates.coarse_grid import MAX_PLACES, MIN_SEPARATION_MM, fit_from_aside
from overruler.vision.plates.compatible_plates import keep_compatible
from overruler.vision.plates.find import find_plates
from overruler.vision.plates.fine_grid import PlateFit
from overruler.vision.plates.heading_net import Heading
from overruler.vision.plates.more_views import AveragedGuess, refine_guess
from overruler.vision.plates.plate import LOGIT_WEIGHTS, MAX_MISFIT_MM, Plate, plate_log_odds
from overruler.vision.plates.rivals import Rival
from overruler.vision.plates.sides import PLATE_HEIGHT_MM
from tests.vision.plate_table import SHIPS, SIZE_PX, Ship, table_camera, table_with

BOX_MM = (0.0, 0.0, 560.0, 500.0)


def plates_on(frame: Frame, camera: Camera, expected: bool = True) -> list[Detection]:
    guesses = find_plate_candidates(
        rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX), camera
    )
    return find_plates(frame, camera, guesses, (40.0, 60.0, 80.0), expected)


def nearest(found: list[Detection], ship: Ship) -> Detection:
    return min(found, key=lambda one: float(np.hypot(*(one.xy_mm - [ship.x_mm, ship.y_mm]))))


@pytest.fixture(scope="module", params=[0.0, 32.0], ids=["overhead", "tilted"])
def camera(request: pytest.FixtureRequest) -> Camera:
    return table_camera(request.param)


@pytest.fixture(scope="module")
def seen(camera: Camera) -> list[Detection]:
    return plates_on(table_with(camera, SHIPS, SIZE_PX), camera)


def test_every_plate_is_found_once_with_its_size(seen: list[Detection]) -> None:
    assert len(seen) == len(SHIPS)
    assert [nearest(seen, ship).base for ship in SHIPS] == [
        Base.rectangle(s.side_mm, s.side_mm) for s in SHIPS
    ]


def test_places_are_right_to_a_third_of_a_millimetre_and_as_stated(seen: list[Detection]) -> None:
    off = np.array([nearest(seen, ship).xy_mm - [ship.x_mm, ship.y_mm] for ship in SHIPS])
    surprise = [
        e @ np.linalg.solve(nearest(seen, s).covariance_mm2, e)
        for e, s in zip(off, SHIPS, strict=True)
    ]
    assert np.hypot(*off.T).max() < 0.35
    assert max(surprise) < 9.2  # 99 % of two coordinates
    assert max(np.sqrt(np.trace(nearest(seen, ship).covariance_mm2)) for ship in SHIPS) < 0.7


def test_the_outline_is_the_underside_in_the_photo(seen: list[Detection], camera: Camera) -> None:
    for ship in SHIPS:
        one, turn = nearest(seen, ship), np.radians(ship.heading_deg)
        assert np.hypot(*(one.outline_px.mean(0) - one.center_px)) < 1.5
        spin = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        own = (camera.unproject(one.outline_px) - [ship.x_mm, ship.y_mm]) @ spin
        assert np.abs(own).max(-1) == pytest.approx(
            ship.side_mm / 2, abs=0.9
        )  # the corners are a little rounded
        assert np.abs(own).max(0) == pytest.approx(ship.side_mm / 2, abs=0.5)


def test_bare_discs_and_empty_mats_are_no_plates() -> None:
    camera = table_camera(20.0)
    frame = table_with(camera, [], SIZE_PX, noise=3.0)
    for k, (x, y) in enumerate([(150.0, 150.0), (300.0, 250.0), (420.0, 350.0)]):
        u, v = camera.project(np.array([x, y, 0.0]))
        cv2.circle(frame.pixels, (round(u), round(v)), 24 + 12 * k, (35, 35, 40), -1, cv2.LINE_AA)
    assert plates_on(frame, camera) == []


def test_where_no_plate_is_plain_to_see_doubtful_ones_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    camera = table_camera(10.0)
    frame = table_with(camera, SHIPS[:1], SIZE_PX)
    assert len(plates_on(frame, camera, expected=False)) == 1
    monkeypatch.setattr(Plate, "score", (find.SURE_SCORE + find.MIN_SCORE) / 2)
    assert len(plates_on(frame, camera, expected=True)) > 0
    assert plates_on(frame, camera, expected=False) == []


def test_sides_that_are_nearly_as_likely_are_told_and_doubted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every side that was tried is, for this test, as likely as the likeliest."""
    camera = table_camera(10.0)
    frame = table_with(camera, [Ship(330, 300, 20.0, 60.0)], SIZE_PX)
    plain = plates_on(frame, camera)[0]
    as_likely = property(
        lambda one: Rival(one.start.xy_mm, one.start.side_mm, plain_log_odds(plain))
    )
    monkeypatch.setattr(find._Candidate, "as_rival", as_likely)
    doubtful = plates_on(frame, camera)[0]
    assert plain.alternative_bases == ()
    assert doubtful.base == plain.base
    assert set(doubtful.alternative_bases) <= {Base.rectangle(40, 40), Base.rectangle(80, 80)}
    assert len(doubtful.alternative_bases) > 0
    assert doubtful.score < 0.7 < 0.99 < plain.score
    rare = doubtful.covariance_mm2 + doubtful.rare_excess_mm2
    edge_mm = 10.0
    assert np.linalg.eigvalsh(rare).min() >= (edge_mm / RARE_WITHIN_SIGMAS) ** 2


def plain_log_odds(found: Detection) -> float:
    return float(np.log(found.score / (1 - found.score)))


def tried_with_faces(
    odds: Callable[[Array], float], monkeypatch: pytest.MonkeyPatch
) -> tuple["find._Candidate", int]:
    """A 60 mm plate at SHIPS[2] whose face has these odds by its place, and how often it is asked."""
    camera, ship = table_camera(10.0), SHIPS[2]
    frame, asked = table_with(camera, [ship], SIZE_PX), list[Array]()

    def said(
        pixels: Array, seen_by: Camera, xy_mm: Array, turn_rad: float, side_mm: float
    ) -> float:
        asked.append(xy_mm)
        return odds(np.asarray(xy_mm) - [ship.x_mm, ship.y_mm])

    monkeypatch.setattr(find, "face_logit", said)
    monkeypatch.setattr(face_net, "face_logit", said)
    monkeypatch.setattr(find, "fit_from_aside", lambda *told: [])
    guess = ShapeCandidate(
        np.array([ship.x_mm, ship.y_mm]), 60.0, 60.0, np.radians(ship.heading_deg), 0.9, 0.9
    )
    looks = refine_guess(frame.pixels, camera, guess)
    assert looks is not None
    (tried,) = find._try_side(frame, camera, guess, looks, 60.0)
    return tried, len(asked)


@pytest.mark.parametrize(("face", "often"), [(9.5, 1), (5.0, 5), (-5.0, 1)])
def test_only_a_face_that_is_open_is_looked_at_aside(
    face: float, often: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried, asked = tried_with_faces(lambda _: face, monkeypatch)
    assert asked == often
    assert (tried.start.face is not None) == (often > 1)
    assert (
        np.hypot(*(tried.start.xy_mm - [SHIPS[2].x_mm, SHIPS[2].y_mm])) < 0.5
    )  # faces all alike say nothing


@pytest.mark.parametrize("way", [(1.0, 0.0), (-0.6, 0.8)])
def test_a_face_that_leans_far_aside_moves_the_square(
    way: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its odds grow by so much per mm towards one side, more than its sides can say against it."""
    tried, _ = tried_with_faces(
        lambda off: float(np.clip(3 * off @ np.array(way), -20, 20)) + 1, monkeypatch
    )
    assert (tried.start.xy_mm - [SHIPS[2].x_mm, SHIPS[2].y_mm]) @ np.array(way) > 1.5
    assert tried.features[-1] > 4  # the face where it was moved to


@given(st.integers(0, len(SHIPS) - 1), st.floats(0, 2 * np.pi), st.floats(0, 8))
@settings(max_examples=25)
def test_from_beside_a_guess_plates_are_seen_that_lie_far_off_it(
    number: int, way: float, off_mm: float
) -> None:
    camera, ship = table_camera(15.0), SHIPS[number]
    frame, place = table_with(camera, [ship], SIZE_PX), np.array([ship.x_mm, ship.y_mm])
    guess = place + off_mm * np.array([np.cos(way), np.sin(way)])
    view = LabPatch.crop_around(frame.pixels, camera, guess, ship.side_mm * 0.75, PLATE_HEIGHT_MM)
    assert view is not None
    starts = fit_from_aside(view, guess, [np.radians(ship.heading_deg + 2)], ship.side_mm)
    assert min(np.hypot(*(one.xy_mm - place)) for one in starts) < 0.6
    assert len(starts) <= MAX_PLACES
    apart = [np.hypot(*(one.xy_mm - other.xy_mm)) for one, other in combinations(starts, 2)]
    assert min(apart, default=np.inf) > MIN_SEPARATION_MM


@pytest.mark.parametrize("way", [(1, 1), (-1, 1), (1, -1), (-1, -1)])
def test_a_plate_is_laid_where_it_is_though_its_guess_is_off_by_more_than_sides_are_sought(
    way: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    camera, ship = table_camera(10.0), SHIPS[3]
    frame, place = table_with(camera, [ship], SIZE_PX), np.array([ship.x_mm, ship.y_mm])
    guess = ShapeCandidate(
        place + 8.0 * np.array(way), 80.0, 80.0, np.radians(ship.heading_deg), 0.9, 0.9
    )

    def off_mm() -> float:
        tried = find._try_side(frame, camera, guess, AveragedGuess(guess, 1.0), 80.0)
        best = max(tried, key=lambda candidate: candidate.log_odds)
        return float(np.hypot(*(best.start.xy_mm - place)))

    assert off_mm() < 0.5
    monkeypatch.setattr(find, "fit_from_aside", lambda *told: [])
    assert off_mm() > 5  # as far as it was without


@pytest.mark.parametrize(
    ("aside_mm", "behind", "left"),
    [(18.0, 1.0, [80.0]), (18.0, 4.0, [40.0]), (32.0, 1.0, [40.0]), (62.0, 1.0, [40.0, 80.0])],
    ids=["within", "much likelier", "half within", "beside"],
)
def test_a_square_within_a_plate_nearly_as_likely_is_print(
    aside_mm: float, behind: float, left: list[float]
) -> None:
    """A small square, the likelier one, so far aside of a large one's middle."""
    camera = table_camera(10.0)
    frame = table_with(camera, SHIPS[:1], SIZE_PX)
    view = LabPatch.crop_around(
        frame.pixels, camera, np.array([200.0, 200.0]), 60.0, PLATE_HEIGHT_MM
    )
    assert view is not None

    def plate(x_mm: float, side_mm: float, odds: float) -> Plate:
        fit = PlateFit(side_mm, np.array([x_mm, 200.0]), 0.0, 2.0, np.eye(2), np.ones(4), 0.0)
        signs = (
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            0.0,
            (odds - LOGIT_WEIGHTS[0]) / LOGIT_WEIGHTS[-1],
        )
        return Plate(fit, Heading(0.0, 90.0), signs, view, ())

    standing = keep_compatible([plate(200, 80, 2.0), plate(200 + aside_mm, 40, 2.0 + behind)])
    assert sorted(one.plate.fit.side_mm for one in standing) == left
    alone = [plate_log_odds(one.plate.features) for one in standing]
    if len(left) == 1:
        assert standing[0].probability < sigmoid(alone[0])
        assert standing[0].any_probability > standing[0].probability


def test_an_axis_of_which_one_side_is_seen_is_doubted() -> None:
    ship, camera = SHIPS[5], table_camera(10.0)
    frame = table_with(camera, [ship], SIZE_PX)
    whole = plates_on(frame, camera)[0]
    hull = camera.project(
        ship.place(np.array([[0.8, 1.3], [0.8, -1.3], [1.3, -1.3], [1.3, 1.3]]), PLATE_HEIGHT_MM)
    )
    cv2.fillPoly(frame.pixels, [np.round(hull).astype(np.int32)], (90, 140, 90))
    covered = plates_on(frame, camera)[0]
    forward = np.array([np.cos(np.radians(ship.heading_deg)), np.sin(np.radians(ship.heading_deg))])
    before, after = (forward @ one.covariance_mm2 @ forward for one in (whole, covered))
    assert after > 4 * before
    assert covered.score < whole.score


@pytest.mark.parametrize("within", [True, False])
def test_a_plate_that_is_not_plain_may_have_gone_astray(
    within: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if within:  # no plate is as sure as this
        monkeypatch.setattr(plate_module, "CONFIDENT_LOGIT", 99.0)
        monkeypatch.setattr(plate_module, "CONFIDENT_HIDDEN_LOGIT", 99.0)
    camera = table_camera(10.0)
    found = plates_on(table_with(camera, SHIPS[:1], SIZE_PX), camera)[0]
    away = np.array([MAX_MISFIT_MM, 0.0])
    squared = away @ np.linalg.solve(found.covariance_mm2 + found.rare_excess_mm2, away)
    assert squared < RARE_WITHIN_SIGMAS**2 if within else squared > 5 * RARE_WITHIN_SIGMAS**2


@pytest.mark.parametrize(
    ("signs", "plain"),
    [
        (
            (0.61, 0.57, 0.85, 1.69, 1.77, 0.03, 4.07),
            False,
        ),  # wings over two of its sides: it lies 6 mm aside
        ((1.05, 0.65, 0.51, 2.38, 1.92, 0.05, 4.38), True),
        ((-0.65, -0.26, 2.70, 1.07, 1.49, 0.19, 2.32), False),
        ((1.46, 0.79, 0.56, 2.30, 2.11, 0.08, 8.60), True),
    ],
)
def test_a_high_score_alone_makes_no_plate_plain(signs: tuple[float, ...], plain: bool) -> None:
    nothing = PlateFit(*[None] * len(PlateFit.__dataclass_fields__))  # type: ignore[arg-type]
    fit = replace(nothing, seen=np.ones(4))
    plate = Plate(fit, None, signs, None, ())  # type: ignore[arg-type]
    assert plate.score > 0.9
    assert plate.is_confident == plain


@pytest.mark.parametrize(("face", "plain"), [(8.0, False), (11.0, True)])
def test_a_plate_with_a_hidden_side_must_be_plainer(face: float, plain: bool) -> None:
    """With all sides in sight both are plain."""
    nothing = PlateFit(*[None] * len(PlateFit.__dataclass_fields__))  # type: ignore[arg-type]
    signs = (1.0, 0.6, 0.5, 0.0, 0.7, 0.0, face)
    for seen, expected in ((np.ones(4), True), (np.array([0.7, 1.4, 0.14, 0.0]), plain)):
        plate = Plate(replace(nothing, seen=seen), None, signs, None, ())  # type: ignore[arg-type]
        assert plate.is_confident == expected


def test_hidden_cards_hold_no_plates() -> None:
    camera = table_camera(10.0)
    frame = table_with(camera, SHIPS[4:], SIZE_PX)
    card = np.array([[360.0, 110], [440, 110], [440, 190], [360, 190]])
    guesses = find_plate_candidates(
        rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX), camera, [card]
    )
    found = find_plates(frame, camera, guesses, (40.0,))
    assert [one.xy_mm.round().tolist() for one in found] == [[460, 400]]


@pytest.mark.parametrize("turn_deg", [0.0, 20.0, 45.0, 83.0])
def test_guesses_lie_within_reach_of_the_fit(turn_deg: float) -> None:
    camera = table_camera(15.0)
    frame = table_with(camera, [Ship(300, 250, turn_deg)], SIZE_PX)
    best = find_plate_candidates(
        rectify_photo(frame.pixels, camera, BOX_MM, OVERVIEW_MM_PER_PX), camera
    )[0]
    assert np.hypot(*(best.xy_mm - [300, 250])) < 5
    assert abs((np.degrees(best.turn_rad) - turn_deg + 45) % 90 - 45) < 6


def test_slopes_by_the_camera_agree_with_moving_it() -> None:
    ship, camera = Ship(300, 250, 30.0), table_camera(25.0)
    one = plates_on(table_with(camera, [ship], SIZE_PX), camera)[0]
    step = np.zeros(15)
    step[12:14] = (
        2.0,
        -1.5,
    )  # the camera aside: what the photo shows stays, so the board's places move with it
    middle = camera.project(np.array([*one.xy_mm, PLATE_HEIGHT_MM]))
    moved = camera.moved(step).unproject(middle, PLATE_HEIGHT_MM) - one.xy_mm
    np.testing.assert_allclose(one.d_xy_d_camera @ step, moved, atol=0.02)


def test_a_heading_known_but_for_quarters_says_so_in_the_scene(seen: list[Detection]) -> None:
    calibration = Calibration(
        table_camera(10.0), Covariances.same(np.zeros((15, 15))), SIZE_PX, 0.1, (), (560.0, 500.0)
    )
    known, open_ = build_scene(
        calibration,
        [replace(seen[0], heading_modulo_deg=360.0), replace(seen[0], heading_modulo_deg=90.0)],
        "xwing",
    ).pieces
    assert "heading_modulo_deg" not in known.extra
    assert open_.extra["heading_modulo_deg"] == 90.0


# --- overlaps ---


def square(x_mm: float, y_mm: float, turn_deg: float, side_mm: float) -> Array:
    angles = np.radians(turn_deg + 45 + 90 * np.arange(4))
    corners = side_mm / np.sqrt(2) * np.stack([np.cos(angles), np.sin(angles)], -1)
    return np.asarray(np.array([x_mm, y_mm]) + corners)


@pytest.mark.parametrize(
    ("other", "expected"),
    [
        (square(40, 0, 0, 40), 0.0),
        (square(38, 7, 0, 40), 2.0),
        (square(45, 0, 0, 40), -5.0),
        (square(40, 40, 0, 40), 0.0),
        (square(20 + 20 * np.sqrt(2) - 3, 0, 45, 40), 3.0),
        (square(0, 0, 0, 20), 30.0),
    ],
)
def test_overlaps_of_squares(other: Array, expected: float) -> None:
    assert penetration_depth_mm(square(0, 0, 0, 40), other) == pytest.approx(expected, abs=1e-9)


@given(
    st.floats(-60, 60), st.floats(-60, 60), st.floats(0, 90), st.sampled_from([40.0, 60.0, 80.0])
)
def test_moving_apart_by_the_overlap_ends_it(
    x_mm: float, y_mm: float, turn_deg: float, side_mm: float
) -> None:
    one, other = square(0, 0, 10, 40), square(x_mm, y_mm, turn_deg, side_mm)
    deep = penetration_depth_mm(one, other)
    assert deep == pytest.approx(penetration_depth_mm(other, one), abs=1e-9)
    angles = np.radians(np.concatenate([10 + 90 * np.arange(4), turn_deg + 90 * np.arange(4)]))
    least = [
        penetration_depth_mm(one, other + (deep + 1e-6) * np.array([np.cos(angle), np.sin(angle)]))
        for angle in angles
    ]
    assert deep < 0 or min(least) < 1e-5


@pytest.mark.parametrize(
    ("expected", "likely", "tried"), [(True, 1, 6), (False, 1, 1), (False, 2, 2), (False, 3, 6)]
)
def test_where_little_speaks_for_plates_the_rest_is_not_tried(
    expected: bool, likely: int, tried: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six guesses, so many of them likely; none turns out to be a plate."""
    guesses = [
        ShapeCandidate(np.zeros(2), 40.0, 40.0, 0.0, 1.0, 0.7 if k < likely else 0.3)
        for k in range(6)
    ]
    camera, looked = table_camera(0.0), []
    monkeypatch.setattr(find, "_fit_guess", lambda *given: looked.append(given))
    assert (
        find_plates(table_with(camera, [], SIZE_PX), camera, guesses, (40.0, 60.0), expected) == []
    )
    assert len(looked) == tried
