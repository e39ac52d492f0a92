"""What speaks against a base: bare ground in another photo, and a disc that is the same from all sides."""

from dataclasses import replace

import numpy as np
import pytest

from evaluate.drawn.views import BOARD_MM, blank_frame, camera_from, see, without
from overruler.bases import Base
from overruler.vision.pairing.evidence import piece_probability
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.ground.flat_print import (
    NOT_FLAT,
    _is_on,
    correlate_from_all_sides,
)
from overruler.vision.pairing.sight import Sight
from overruler.vision.pairing.sighting import SeenPhoto, Sighting
from synthetic.flat_canvas import Colour
from synthetic.flat_table import Plinth, render_table

SMALL_PX = (600, 450)
PLACES = {"figure": (250.0, 300.0), "token": (450.0, 300.0), "nothing": (650.0, 300.0)}
USUAL = Sight({})
SKIN, CLOTH = (0.3, 0.4, 0.6), (0.4, 0.1, 0.1)


@pytest.fixture(scope="module")
def photos() -> list[SeenPhoto]:
    """Three photos of a base with a figure on it and of a flat token; bases are found at three places."""
    return [_photo(k, 120.0 * k) for k in range(3)]


def _photo(index: int, side_deg: float) -> SeenPhoto:
    camera = camera_from(side_deg)
    matrix = camera.matrix.copy()
    matrix[:2] /= 2
    camera = camera.with_lens(matrix, camera.distortion)
    base, token = Plinth(*PLACES["figure"], 32.0), Plinth(*PLACES["token"], 32.0, 0.0, 0.2, 0.0)
    body = Plinth(*PLACES["figure"], 14.0, 3.9, 25.0, 1.0, CLOTH, SKIN)
    pixels = render_table(camera, SMALL_PX, BOARD_MM, [base, body, token], noise=2.0, seed=index)
    frame = replace(blank_frame(f"photo{index}.jpg"), pixels=pixels)
    bases = [(*place, 0.0, 32.0) for place in PLACES.values()]
    return see(index, camera, bases, frame=frame, score=0.95)


def _probability(name: str, photos: list[SeenPhoto], seen_by: int = 1) -> float:
    """The probability of a base at a place that the first photos see, and the others do not."""
    number = list(PLACES).index(name)
    sightings = tuple(Sighting(photo, photo.detections[number]) for photo in photos[:seen_by])
    asked = [*photos[:seen_by], *(without(photo, number) for photo in photos[seen_by:])]
    finding = Finding(Base.circle(32), np.array([*PLACES[name], 0.0]), sightings)
    return piece_probability(finding, asked, USUAL)


def test_a_token_is_the_same_from_all_sides(photos: list[SeenPhoto]) -> None:
    token, figure = (np.array([*PLACES[name], 0.0]) for name in ("token", "figure"))
    assert correlate_from_all_sides(Base.circle(32), token, photos) > 0.95
    assert correlate_from_all_sides(Base.circle(32), figure, photos) < 0.7
    assert correlate_from_all_sides(Base.circle(32), token, photos[:1]) == -1


def test_from_nearly_one_place_a_figure_looks_the_same_too(photos: list[SeenPhoto]) -> None:
    beside = [_photo(0, 0.0), _photo(1, 10.0)]
    figure = np.array([*PLACES["figure"], 0.0])
    assert correlate_from_all_sides(Base.circle(32), figure, beside) == -1


def test_a_card_that_all_photos_take_for_a_rectangular_base_is_none(
    photos: list[SeenPhoto],
) -> None:
    """Three photos that are sure of a figure's base outweigh what they find alike; of a card they do not."""
    card = Base.rectangle(24, 30)
    for name, is_piece in (("token", False), ("figure", True)):
        number = list(PLACES).index(name)
        sightings = tuple(Sighting(photo, photo.detections[number]) for photo in photos)
        finding = Finding(card, np.array([*PLACES[name], 0.0]), sightings)
        assert (piece_probability(finding, photos, USUAL) > 0.5) == is_piece


DARK, GREEN, BRIGHT = (0.2,) * 3, (0.08, 0.3, 0.08), (0.8,) * 3
PALE, BROWN = (0.75, 0.7, 0.6), (0.08, 0.2, 0.42)


@pytest.mark.parametrize("has_figure", [True, False])
@pytest.mark.parametrize(("stand", "figure"), [(DARK, PALE), (GREEN, BROWN)])
def test_a_small_figure_on_a_dark_stand_speaks_against_a_card(
    stand: Colour, figure: Colour, has_figure: bool
) -> None:
    """Dark on a bright mat, both look alike from all sides: most of it is the same.

    Brown on green is as light, and differs by its colour.
    """
    x, y = PLACES["figure"]
    standing = [Plinth(x, y, 56.0, 0.0, 0.2, 0.0, rim=stand, top=stand)]
    if has_figure:
        standing.append(Plinth(x, y, 9.0, 0.2, 25.0, 1.0, figure, figure))
    shown = []
    for index, blank in enumerate(_photo(k, 120.0 * k) for k in range(3)):
        camera = blank.calibration.camera
        pixels = render_table(
            camera, SMALL_PX, BOARD_MM, standing, mat=BRIGHT, noise=2.0, seed=index
        )
        shown.append(see(index, camera, [], frame=replace(blank.frame, pixels=pixels)))
    alike = correlate_from_all_sides(Base.rectangle(50, 50), np.array([x, y, 0.0]), shown)
    assert alike == NOT_FLAT if has_figure else alike > 0.9


@pytest.mark.parametrize(("shape", "corner"), [("rectangle", True), ("oval", False)])
def test_a_base_is_compared_along_its_own_heading(shape: str, corner: bool) -> None:
    places = np.array([[25.0, 0.0], [0.0, 25.0], [-15.0, 0.0], [8.0, 18.0]])
    on = _is_on(Base(shape, 20.0, 40.0), places, 90.0)
    assert on.tolist() == [False, shape == "rectangle", False, corner]


def test_a_token_that_two_photos_take_for_a_base_is_none(photos: list[SeenPhoto]) -> None:
    assert _probability("token", photos, seen_by=2) < 0.5
    assert _probability("figure", photos, seen_by=2) > 0.9


def test_a_weak_second_sighting_speaks_against_a_base_on_the_board_alone(
    photos: list[SeenPhoto],
) -> None:
    number = list(PLACES).index("figure")
    pair = [Sighting(photo, photo.detections[number]) for photo in photos[:2]]
    weak = [
        one.with_detection(replace(one.detection, score=score))
        for one, score in zip(pair, (0.7, 0.3), strict=True)
    ]
    low, high = (
        Finding(Base.circle(32), np.array([*PLACES["figure"], z]), tuple(weak)) for z in (0.0, 40.0)
    )
    likely = [piece_probability(one, photos[:2], USUAL) for one in (low, high)]
    assert likely[0] < 0.5 < likely[1]


def test_a_photo_that_shows_bare_ground_refutes_a_base(photos: list[SeenPhoto]) -> None:
    assert _probability("nothing", photos) < 0.1
    assert _probability("figure", photos) > 0.3


@pytest.mark.parametrize(
    ("base", "along_mm", "counts"),
    [
        (Base.oval(35, 60), 0.0, False),
        (Base.oval(35, 60), 17.0, False),
        (Base.oval(35, 60), 40.0, True),
        (Base.oval(105, 170), 30.0, False),
        (Base.rectangle(35, 60), 17.0, False),
        (Base.rectangle(35, 60), 40.0, True),
        (Base.rectangle(80, 80), 17.0, True),
    ],
)
def test_a_photo_that_takes_a_long_or_angular_base_for_a_round_one_is_not_silent(
    base: Base, along_mm: float, counts: bool
) -> None:
    """What it finds beside the base says nothing of it, nor does a small base on a large square."""
    one = see(0, camera_from(0.0), [(450.0, 300.0, 0.0, 35.0)], score=0.9)
    other = see(1, camera_from(120.0), [(450.0, 300.0 + along_mm, 0.0, 25.0)])
    seen = replace(one.detections[0], base=base, heading_deg=90.0)
    finding = Finding(base, np.array([450.0, 300.0, 0.0]), (Sighting(one, seen),))
    told = piece_probability(finding, [one, other], USUAL)
    assert told == pytest.approx(0.9, abs=1e-6) if not counts else told < 0.8
