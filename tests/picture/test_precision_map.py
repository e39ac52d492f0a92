"""The doubt map as a picture."""

from dataclasses import replace
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

from overruler.calibration import Advice, Calibration, Covariances, PrecisionMap
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Pose, rotation_from_vector
from overruler.picture import precision_map
from overruler.picture.lens_coverage import error_colour
from overruler.picture.precision_map import (
    DARKEST_SIGMA_MM,
    LIGHTEST_SIGMA_MM,
    _shade_share,
    advice_sentence,
    draw_map,
    encode_map,
    headline_text,
)
from overruler.picture.view import View

SIZE = (800, 600)
SVG = "{http://www.w3.org/2000/svg}"


def camera_above() -> Camera:
    """A camera 1 m above the middle of a board of 900 mm."""
    rotation = rotation_from_vector([np.pi, 0, 0])
    pose = Pose(rotation, np.array([0, 0, 1000.0]) - rotation @ np.array([450.0, 450.0, 0.0]))
    return Camera(np.array([[1000, 0, 399.5], [0, 1000, 299.5], [0, 0, 1.0]]), np.zeros(5), pose)


@pytest.fixture
def calibration() -> Calibration:
    """A board of 900 mm, of which the picture shows 800 × 600."""
    camera = camera_above()
    square = camera.project(
        [(400.0, 400.0, 0), (460.0, 400.0, 0), (460.0, 340.0, 0), (400.0, 340.0, 0)]
    )
    return Calibration(
        camera, Covariances.same(np.eye(15)), SIZE, 0.1, (0,), (900.0, 900.0), corners_px=(square,)
    )


@pytest.fixture
def doubt(calibration: Calibration) -> PrecisionMap:
    xy = np.stack(np.meshgrid(np.linspace(0, 900, 31), np.linspace(0, 900, 31)), -1)
    px = calibration.camera.project(np.concatenate([xy, np.zeros((31, 31, 1))], -1))
    seen = ((px >= 0) & (px <= np.array(SIZE) - 1)).all(-1).astype(float)
    sigma = 0.1 + 0.4 * np.abs(xy[..., 0] - 450) / 450
    return PrecisionMap(
        300.0, xy, sigma, seen, (Advice("add a marker at the right edge", 0.31, 0.12),)
    )


def texts(svg: str) -> list[str]:
    return ["".join(node.itertext()) for node in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_words_say_how_sure_and_what_would_help(
    calibration: Calibration, doubt: PrecisionMap
) -> None:
    said = texts(draw_map(calibration, doubt))
    shown = doubt.sigma_mm[doubt.visible > 0]
    low, high = 1.96 * shown.min(), 1.96 * shown.max()
    assert f"two exact points 300 mm apart: ± {low:.2f} to ± {high:.2f} mm (95 %)" in said
    assert "each base adds its own doubt" in said  # a ruling beside it tells several times as much
    assert "add a marker at the right edge: ± 0.61 → 0.24 mm" in said


def test_only_what_the_photo_shows_is_shaded(calibration: Calibration, doubt: PrecisionMap) -> None:
    paths = list(ElementTree.fromstring(draw_map(calibration, doubt)).iter(f"{SVG}path"))
    tiles = [node for node in paths if node.get("stroke") == node.get("fill") != "none"]
    assert 0.9 * 26 * 19 < len(tiles) <= 27 * 20
    assert len({node.get("fill") for node in tiles}) > 8


def test_the_figures_stand_where_they_hold(calibration: Calibration, doubt: PrecisionMap) -> None:
    figures = [
        text for text in texts(draw_map(calibration, doubt)) if text.replace(".", "").isdigit()
    ]
    assert len(figures) >= 9
    assert {float(figure) for figure in figures} <= {
        round(1.96 * float(sigma), 2) for sigma in doubt.sigma_mm.ravel()
    }


def test_a_picture_is_the_photo_s_size(calibration: Calibration, doubt: PrecisionMap) -> None:
    pixels = np.full((SIZE[1], SIZE[0], 3), 120, np.uint8)
    data = encode_map(calibration, doubt, pixels, ".png")
    picture = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    assert picture is not None
    assert picture.shape == pixels.shape
    assert np.ptp(picture.astype(int).mean(2)) > 100
    svg = encode_map(calibration, doubt, pixels, ".svg").decode()
    assert "data:image/jpeg" in svg
    assert texts(svg) == texts(draw_map(calibration, doubt))


def test_another_ending_is_no_picture(calibration: Calibration, doubt: PrecisionMap) -> None:
    with pytest.raises(ValueError, match="gif"):
        encode_map(calibration, doubt, np.zeros((600, 800, 3), np.uint8), ".gif")


def test_a_photo_beside_the_board_says_so(doubt: PrecisionMap) -> None:
    nothing = PrecisionMap(300.0, doubt.xy_mm, doubt.sigma_mm, doubt.visible * 0)
    assert headline_text(nothing) == "the photo shows nothing of the board"


def test_an_advice_is_one_sentence() -> None:
    assert (
        advice_sentence(Advice("add a marker at the left edge", 0.5, 0.25))
        == "add a marker at the left edge: ± 0.98 → 0.49 mm"
    )


def test_no_figure_lies_under_the_words(
    calibration: Calibration, doubt: PrecisionMap, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        precision_map, "LABEL_SPACING_MM", 60.0
    )  # so close together that some would
    root = ElementTree.fromstring(draw_map(calibration, replace(doubt, advice=doubt.advice * 4)))
    plates = [
        [float(node.get(key, 0)) for key in ("x", "y", "width", "height")]
        for node in root.iter(f"{SVG}rect")
    ]
    *figures, (left, top, wide, high) = plates
    assert figures
    assert all(
        x > left + wide or x + w < left or y > top + high or y + h < top for x, y, w, h in figures
    )
    assert wide < 0.9 * SIZE[0]


def test_more_doubt_is_darker_and_small_doubts_differ() -> None:
    shades = [_shade_share(sigma) for sigma in (0.01, 0.1, 0.2, 0.4, 1.0, 3.0, 9.0)]
    assert shades == sorted(shades)
    assert (shades[0], shades[-1]) == (0.0, 1.0)
    assert shades[3] - shades[2] > 0.15


def test_a_doubled_sigma_is_one_equal_step_of_colour() -> None:
    sigmas = LIGHTEST_SIGMA_MM * 2.0 ** np.arange(5)
    colours = np.array([to_rgb(tile_colour(sigma)) for sigma in sigmas])
    steps = np.diff(colours, axis=0)
    assert (steps < -25).all()
    assert np.ptp(steps, axis=0).max() <= 1.5
    assert tile_colour(LIGHTEST_SIGMA_MM) == error_colour(0.0)
    assert tile_colour(DARKEST_SIGMA_MM) == error_colour(1e9)


def tile_colour(sigma_mm: float) -> str:
    """The fill of a map's only tile."""
    xy = np.stack(np.meshgrid([440.0, 460.0], [440.0, 460.0]), -1)
    ones = np.ones((2, 2))
    view = View(camera_above(), SIZE)
    tiles = precision_map._sigma_tiles(view, PrecisionMap(300.0, xy, sigma_mm * ones, ones))
    (tile,) = ElementTree.fromstring(tiles).iter("path")
    return str(tile.get("fill"))


def to_rgb(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def test_no_words_cover_a_marker_or_the_deciding_gap(
    calibration: Calibration, doubt: PrecisionMap
) -> None:
    """They lie where the words stand first, at the foot, and where a figure stands."""
    gap_mm = np.array([[100.0, 200.0], [160.0, 200.0]])
    gap = View(calibration.camera, SIZE).to_px(gap_mm)
    marker = np.array([(300.0, 540.0), (360, 540), (360, 590), (300, 590)])
    marked = replace(calibration, corners_px=(marker, calibration.corners_px[0]))
    root = ElementTree.fromstring(draw_map(marked, doubt, gaps_mm=[gap_mm]))
    plates = [
        [float(node.get(key, 0)) for key in ("x", "y", "width", "height")]
        for node in root.iter(f"{SVG}rect")
    ]
    assert len(plates) > 9
    for shown in (*marked.corners_px, gap):
        (left, top), (right, bottom) = shown.min(0), shown.max(0)
        for x, y, wide, high in plates:
            assert x > right or x + wide < left or y > bottom or y + high < top
