"""Hills under pieces, found in a picture from above, and how high they are."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection, Raised
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.heights import at_height
from overruler.vision.hill_outline import Guess, _closed, full_guess
from overruler.vision.hills import PRINT, find_hills, posterior
from overruler.vision.orthophoto import Orthophoto
from overruler.vision.ridges import distinctness, field_of, outline_evidence
from tests.tables import BOARD_MM, camera_over, exact

PIXEL_MM = 1.6
BOX = (-40.0, -40.0, BOARD_MM[0] + 40, BOARD_MM[1] + 40)
FOOT = np.array([[430, 200], [560, 230], [610, 330], [570, 430], [470, 450], [390, 340.0]])
ON = np.array([[480.0, 320.0], [520.0, 360.0]])
BESIDE = np.array([[150.0, 130.0], [200.0, 380.0]])


def grain(seed: int, shape: tuple[int, int]) -> NDArray[np.float32]:
    """A surface's lightness: grains of a few mm and clouds of a few cm, mean 0."""
    rng = np.random.default_rng(seed)
    fine, wide = (rng.normal(size=shape).astype(np.float32) for _ in range(2))
    wide = np.asarray(cv2.GaussianBlur(wide, (0, 0), 14), np.float32)
    return np.asarray(9 * cv2.GaussianBlur(fine, (0, 0), 0.8) + 8 * wide / wide.std(), np.float32)


def stuff(colour: tuple[int, int, int], rough: float, seed: int, shape: tuple[int, int]) -> Array:
    """A surface (H, W, 3) of some colour."""
    return np.asarray(np.array(colour) + rough * grain(seed, shape)[..., None].astype(float))


def table(camera: Camera, height_mm: float | None, seed: int, run_mm: float = 0.0) -> Orthophoto:
    """A sandy mat with a hill on it, as seen from above; a print of the same shape where the height is 0."""
    shape = round((BOX[3] - BOX[1]) / PIXEL_MM), round((BOX[2] - BOX[0]) / PIXEL_MM)
    mat = stuff((105, 150, 185), 1.0, seed, shape)
    view = Orthophoto(np.zeros((*shape, 3), np.uint8), np.ones(shape, bool), BOX[0], BOX[3], PIXEL_MM)
    if height_mm is not None:
        middle = FOOT.mean(0)
        edge = middle + (FOOT - middle) * (1 - run_mm / np.hypot(*(FOOT - middle).T)[:, None])
        top = at_height(camera, edge, height_mm, 0.0)
        side = [np.stack([FOOT[k - 1], FOOT[k], top[k], top[k - 1]]) for k in range(len(FOOT))]
        _fill(view, mat, side if height_mm else [], stuff((62, 88, 110), 0.5, seed + 1, shape))
        _fill(view, mat, [top], stuff((92, 138, 165), 1.5, seed + 2, shape))
    pixels = np.clip(cv2.GaussianBlur(mat, (0, 0), 0.7), 0, 255).astype(np.uint8)
    return Orthophoto(pixels, view.seen, view.left_mm, view.top_mm, PIXEL_MM)


def _fill(view: Orthophoto, picture: Array, polygons: list[Array], colour: Array) -> None:
    mask = np.zeros(view.seen.shape, np.uint8)
    for polygon in polygons:
        cv2.fillPoly(mask, [np.round(view.to_px(polygon) * 16).astype(np.int32)], 1, cv2.LINE_8, 4)
    picture[mask > 0] = colour[mask > 0]


def standing(camera: Camera, places: Array, z_mm: float) -> list[Detection]:
    """Bases at a height, taken to stand on the board."""
    none = np.zeros((0, 2))
    return [
        Detection(
            Base.circle(27), at_height(camera, xy, z_mm, 0.0), 0, 0, np.eye(2), np.zeros((2, 15)), 1, 1, none, none
        )
        for xy in places
    ]


def found_on(camera: Camera, height_mm: float | None, seed: int, run_mm: float = 0.0) -> tuple[Raised, ...]:
    pieces = [*standing(camera, ON, height_mm or 0.0), *standing(camera, BESIDE, 0.0)]
    return find_hills(table(camera, height_mm, seed, run_mm), exact(camera), pieces)


@pytest.mark.parametrize(("height_mm", "run_mm"), [(16.0, 0.0), (36.0, 0.0), (36.0, 10.0), (60.0, 5.0)])
def test_a_hill_under_pieces_is_found_with_its_height(height_mm: float, run_mm: float) -> None:
    camera = camera_over(30.0)
    (hill,) = found_on(camera, height_mm, 3, run_mm)
    assert hill.probability > 0.8
    assert abs(hill.top_z_mm - height_mm) < 2.5 * hill.sigma_mm
    assert abs(hill.top_z_mm - height_mm) < 0.4 * height_mm
    assert hill.sigma_mm < 0.8 * hill.top_z_mm
    top = FOOT.astype(np.float32).reshape(-1, 1, 2)
    off = [abs(cv2.pointPolygonTest(top, (float(x), float(y)), True)) for x, y in hill.footprint_mm]
    assert np.median(off) < 6 + run_mm


def test_a_plain_mat_has_no_hills() -> None:
    camera = camera_over(30.0)
    assert not any(found_on(camera, None, seed) for seed in (1, 2, 3))


def test_a_print_is_not_said_to_be_raised() -> None:
    camera = camera_over(30.0)
    assert all(hill.probability < 0.5 for seed in (1, 2) for hill in found_on(camera, 0.0, seed))


def test_a_hill_where_nothing_stands_is_not_looked_for() -> None:
    camera = camera_over(30.0)
    assert find_hills(table(camera, 36.0, 3), exact(camera), standing(camera, BESIDE, 0.0)) == ()


def test_names_that_are_taken_are_not_given_again() -> None:
    camera = camera_over(30.0)
    view, pieces = table(camera, 36.0, 3), standing(camera, ON, 36.0)
    (hill,) = find_hills(view, exact(camera), pieces, ["h1", "h2"])
    assert hill.id == "h3"


def test_what_explains_nothing_more_than_an_outline_is_flat() -> None:
    guess = full_guess()
    alike = np.zeros(len(guess.heights_mm))
    better = np.where((guess.heights_mm == 36) & (guess.runs_mm == 0), 40.0, 0.0)
    assert posterior(alike, guess)[0] == pytest.approx(PRINT)
    assert posterior(better, guess)[0] < 0.1
    assert posterior(better, guess).sum() == pytest.approx(1)


def test_the_best_closed_path_is_found() -> None:
    """Planted where a greedy walk would miss it: round a corner, across the seam."""
    rng = np.random.default_rng(1)
    evidence = rng.normal(-0.5, 0.2, (2, 40, 60)).astype(np.float32)
    turn = np.arange(40) * 2 * np.pi / 40
    planted = np.round(30 + 9 * np.cos(turn + 0.4)).astype(int)
    evidence[0, np.arange(40), planted] = 2.0
    evidence[1, np.arange(40), 50] = 1.0
    total, path = _closed(evidence)
    assert (path[0] == planted).all()
    assert (path[1] == 50).all()
    assert total[1] == pytest.approx(40.0)


def test_guesses_begin_with_the_flat_one() -> None:
    guess = Guess.over((10.0, 20.0), (0.0, 5.0))
    assert guess.heights_mm.tolist() == [0, 10, 10, 20, 20]
    assert guess.runs_mm.tolist() == [0, 0, 5, 0, 5]


def test_what_is_hidden_says_nothing() -> None:
    """Pieces are no edges, and ground that they hide is not compared."""
    camera = camera_over(30.0)
    view = table(camera, None, 1)
    place = np.array([300.0, 250.0])
    x, y = np.round(view.to_px(place + np.array([60, 0]))).astype(int).tolist()
    cv2.circle(view.pixels, (x, y), 9, (0, 0, 255), -1)
    bare = outline_evidence(field_of(view, []), place, 48)
    hidden = field_of(view, [(place + np.array([60.0, 0.0]), 22.0)])
    assert bare[0].max() > 1.5
    assert outline_evidence(hidden, place, 48)[0, :25].max() < 0.5
    ring = place + 60 * np.array([[1.0, 0.0], [1.0, 0.01]])
    assert distinctness(hidden, [ring], [ring]) == 0
