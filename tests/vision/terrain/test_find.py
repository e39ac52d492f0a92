"""Hills under pieces, found in a picture from above, and how high they are."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from overruler.bases import Base
from overruler.detections import Detection, RaisedArea
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.imaging.line_profiles import LOG_OFFSET
from overruler.vision.imaging.orthophoto import (
    Orthophoto,
    relief_displacement_map,
    resample_orthophoto,
)
from overruler.vision.learned.hill_net import picture_input, predict_hill_map
from overruler.vision.terrain.find import (
    USUAL_ERROR_SHARE,
    _raised_probability,
    find_hills,
    usual_error_share,
)
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
    view = Orthophoto(
        np.zeros((*shape, 3), np.uint8), np.ones(shape, bool), BOX[0], BOX[3], PIXEL_MM
    )
    if height_mm is not None:
        middle = FOOT.mean(0)
        edge = middle + (FOOT - middle) * (1 - run_mm / np.hypot(*(FOOT - middle).T)[:, None])
        top = reproject_to_height(camera, edge, height_mm, 0.0)
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
            Base.circle(27),
            reproject_to_height(camera, xy, z_mm, 0.0),
            0,
            0,
            np.eye(2),
            np.zeros((2, 15)),
            1,
            1,
            none,
            none,
        )
        for xy in places
    ]


def found_on(
    camera: Camera, height_mm: float | None, seed: int, run_mm: float = 0.0
) -> tuple[RaisedArea, ...]:
    pieces = [*standing(camera, ON, height_mm or 0.0), *standing(camera, BESIDE, 0.0)]
    return hills_of(table(camera, height_mm, seed, run_mm), camera, pieces)


def hills_of(
    view: Orthophoto, camera: Camera, pieces: list[Detection], taken: tuple[str, ...] = ()
) -> tuple[RaisedArea, ...]:
    return find_hills(view, predict_hill_map(view, camera), exact(camera), pieces, taken)


@pytest.mark.parametrize(("height_mm", "run_mm"), [(36.0, 0.0), (36.0, 10.0), (60.0, 5.0)])
def test_a_hill_under_pieces_is_found_with_an_honest_height(
    height_mm: float, run_mm: float
) -> None:
    camera = camera_over(30.0)
    (hill,) = found_on(camera, height_mm, 3, run_mm)
    assert hill.probability > 0.9
    assert abs(hill.top_z_mm - height_mm) < 2.5 * hill.sigma_mm
    assert hill.sigma_mm < 0.8 * hill.top_z_mm
    assert hill.usual_sigma_share == pytest.approx(USUAL_ERROR_SHARE, abs=0.1)
    top = FOOT.astype(np.float32).reshape(-1, 1, 2)
    off = [abs(cv2.pointPolygonTest(top, (float(x), float(y)), True)) for x, y in hill.footprint_mm]
    assert np.median(off) < 1.5 * hill.edge_mm + run_mm


def test_of_a_roof_s_height_all_of_the_stated_doubt_counts() -> None:
    assert usual_error_share(1.0) == USUAL_ERROR_SHARE
    assert usual_error_share(0.0) == 1.0
    camera = camera_over(30.0)
    sure, unsure = (found_on(camera, z, 3)[0] for z in (45.0, 15.0))
    assert sure.usual_sigma_share < unsure.usual_sigma_share - 0.05


def test_the_more_of_its_side_shows_the_likelier_it_is_raised() -> None:
    camera = camera_over(30.0)
    chances = [
        max([hill.probability for hill in found_on(camera, z, 3)], default=0.0)
        for z in (0.0, 10.0, 16.0, 36.0)
    ]
    assert chances == sorted(chances)
    assert chances[-1] - chances[0] > 0.5


def test_a_plain_mat_has_no_hills() -> None:
    camera = camera_over(30.0)
    assert not any(found_on(camera, None, seed) for seed in (1, 2, 3))


def test_a_print_is_not_said_to_be_raised() -> None:
    camera = camera_over(30.0)
    assert all(hill.probability < 0.5 for seed in (1, 2) for hill in found_on(camera, 0.0, seed))


def test_a_hill_where_nothing_stands_is_not_looked_for() -> None:
    camera = camera_over(30.0)
    assert hills_of(table(camera, 36.0, 3), camera, standing(camera, BESIDE, 0.0)) == ()


@pytest.mark.parametrize(("share", "found"), [(0.3, 1), (0.8, 0)])
def test_what_covers_most_of_the_table_is_the_table(share: float, found: int) -> None:
    camera = camera_over(20.0)
    view = table(camera, None, 1)
    standing_there = standing(camera, np.array([[350.0, 250.0]]), 0.0)
    cells = predict_hill_map(view, camera)
    rows, columns = cells.top.shape
    inside = (
        np.abs(np.indices((rows, columns)) / np.array([rows, columns])[:, None, None] - 0.5).max(0)
        < share**0.5 / 2
    )
    said = replace(cells, top=np.where(inside, np.float32(0.99), np.float32(0)) * cells.view.seen)
    assert len(find_hills(view, said, exact(camera), standing_there)) == found


def test_what_stands_at_its_edge_cuts_no_bay_into_a_hill() -> None:
    """Figures are seen as no top: a hill is outlined as it would be without them."""
    camera = camera_over(30.0)
    view = table(camera, 36.0, 3)
    whole = predict_hill_map(view, camera)
    cut = whole.top.copy()
    row, column = whole.cells_at(reproject_to_height(camera, np.array([[600.0, 330.0]]), 36.0, 0.0))
    cut[row[0] - 2 : row[0] + 3, column[0] - 4 : column[0] + 4] = 0
    assert whole.top[row[0], column[0] - 4] > 0.5  # it is one that is cut into
    areas = [
        cv2.contourArea(hill.footprint_mm.astype(np.float32))
        for seen in (whole, replace(whole, top=cut))
        for hill in find_hills(view, seen, exact(camera), standing(camera, ON, 36.0))
    ]
    assert areas[1] == pytest.approx(areas[0], rel=0.015)


@pytest.mark.parametrize(("beside", "found"), [(0.0, 0), (0.5, 1), (1.0, 1)])
def test_no_hill_carries_a_marker_that_lies_on_the_board(beside: float, found: int) -> None:
    camera = camera_over(30.0)
    view = table(camera, 36.0, 3)
    square = reproject_to_height(camera, FOOT.mean(0), 36.0, 0.0) + 20 * np.array(
        [[-1, 1], [1, 1], [1, -1], [-1, -1.0]]
    )
    square[:, 0] += beside * np.ptp(FOOT[:, 0])
    seen = replace(
        exact(camera), corners_px=(camera.project(np.column_stack([square, np.zeros(4)])),)
    )
    assert (
        len(find_hills(view, predict_hill_map(view, camera), seen, standing(camera, ON, 36.0)))
        == found
    )


@pytest.mark.parametrize(("diameter_mm", "found"), [(27.0, 1), (120.0, 1), (180.0, 0), (300.0, 0)])
def test_the_top_of_a_large_base_is_no_hill(diameter_mm: float, found: int) -> None:
    camera = camera_over(0.0, 0.0)
    middle = standing(camera, FOOT.mean(0, keepdims=True), 36.0)
    pieces = [replace(one, base=Base.circle(diameter_mm)) for one in middle]
    assert len(hills_of(table(camera, 36.0, 3), camera, pieces)) == found


def test_names_that_are_taken_are_not_given_again() -> None:
    camera = camera_over(30.0)
    view, pieces = table(camera, 36.0, 3), standing(camera, ON, 36.0)
    (hill,) = hills_of(view, camera, pieces, ("h1", "h2"))
    assert hill.id == "h3"


@given(xy=st.tuples(st.floats(0, BOARD_MM[0]), st.floats(0, BOARD_MM[1])), tilt=st.floats(0, 45))
def test_the_lean_says_where_high_things_are_seen(xy: tuple[float, float], tilt: float) -> None:
    """Something low z above a place is seen z times the lean there away from it."""
    camera = camera_over(tilt)
    view = Orthophoto(
        np.zeros((290, 390, 3), np.uint8), np.ones((290, 390), bool), BOX[0], BOX[3], 2.0
    )
    column, row = np.round(view.to_px(xy)).astype(int)
    lean = relief_displacement_map(view, camera)[row, column]
    place = view.to_mm([column, row])
    away = (reproject_to_height(camera, place, 1e-3, 0.0) - place) / 1e-3
    assert away == pytest.approx(lean * [1, -1], abs=1e-4)


@given(scale=st.floats(0.7, 4.0))
def test_another_resolution_shows_the_same_place(scale: float) -> None:
    pixels = np.zeros((300, 400, 3), np.uint8)
    cv2.circle(pixels, (210, 130), 30, (255, 255, 255), -1)
    view = Orthophoto(pixels, np.ones((300, 400), bool), -40.0, 600.0, 1.6)
    there = resample_orthophoto(view, scale)
    rows, columns = np.nonzero(there.pixels[..., 0] > 127)
    assert there.to_mm([columns.mean(), rows.mean()]) == pytest.approx(
        view.to_mm([210, 130]), abs=0.3 * scale
    )


@given(gain=st.floats(0.3, 1.0))
def test_the_network_sees_ratios_of_brightness(gain: float) -> None:
    """Half the light changes nothing, but for what is nearly black; what the photo does not show is 0."""
    rng = np.random.default_rng(1)
    seen, lean = rng.random((40, 50)) < 0.8, np.zeros((40, 50, 2), np.float32)
    light = rng.uniform(60, 255, (40, 50, 3))
    full, dim = (
        picture_input((part - LOG_OFFSET).clip(0).astype(np.uint8), seen, lean)
        for part in (light, light * gain)
    )
    assert np.abs(full - dim)[..., :3].max() < 0.25
    assert (full[~seen] == 0).all()
    assert full[seen][:, :3].mean(0) == pytest.approx(0, abs=1e-4)


def test_an_unsure_look_needs_walls() -> None:
    unsure = 1.1  # as sure as the network is of a sheet of paper under coins
    assert _raised_probability(unsure, 0.0) < 0.2
    assert _raised_probability(unsure, 3.0) > 0.5
    assert _raised_probability(unsure, 9.0) == _raised_probability(unsure, 3.0)
