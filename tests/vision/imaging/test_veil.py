"""A veil of light is taken off a picture, and a clear picture is left alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from overruler.board import Board
from overruler.frame import Frame, Picture
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from overruler.vision.imaging.veil import PARTS, clear_part, clear_veil, find_veil, veil_problems

SAMPLES = Path(__file__).parents[3] / "sample_images"
HEIGHT, WIDTH = 400, 600
DARK = 42
"""What is dark is 0.03 of what is bright, in linear light."""


def to_linear(code: Array) -> Array:
    share = np.asarray(code, float) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def to_code(light: Array) -> Picture:
    code = np.where(light <= 0.0031308, light * 12.92, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.asarray(np.rint(255 * code.clip(0, 1)), np.uint8)


def table(seed: int = 1) -> Picture:
    """A mat, and dark and bright things in every part of the picture."""
    rng = np.random.default_rng(seed)
    picture = rng.integers(90, 130, (HEIGHT, WIDTH, 3)).astype(np.uint8)
    rows, columns = PARTS
    for row in range(rows):
        for column in range(columns):
            y = row * HEIGHT // rows + int(rng.integers(2, HEIGHT // rows - 14))
            x = column * WIDTH // columns + int(rng.integers(2, WIDTH // columns - 26))
            picture[y : y + 10, x : x + 10] = DARK
            picture[y : y + 10, x + 12 : x + 22] = 220
    return picture


def veiled(picture: Picture, veil: Array) -> Picture:
    """The picture under a veil (H, W) or a number, in linear light."""
    light = np.broadcast_to(np.asarray(veil, float), picture.shape[:2])[..., None]
    return to_code(light + (1 - light) * to_linear(picture.astype(float)))


def glow(middle: float, along_x: float, along_y: float) -> Array:
    y, x = np.meshgrid(np.linspace(-1, 1, HEIGHT), np.linspace(-1, 1, WIDTH), indexing="ij")
    return middle + along_x * x + along_y * y**2


@settings(max_examples=20)
@given(
    st.floats(0.2, 0.4), st.floats(-0.06, 0.06), st.floats(-0.06, 0.06), st.integers(0, 2**32 - 1)
)
def test_a_veil_is_taken_off(middle: float, along_x: float, along_y: float, seed: int) -> None:
    clear = table(seed)
    frame = Frame(veiled(clear, glow(middle, along_x, along_y)), "hazy")
    found = clear_veil(frame)
    assert found.taken is frame.pixels
    assert found.shown is frame.pixels
    error = np.abs(found.pixels.astype(float) - clear)
    assert np.median(error) <= 8
    assert np.abs(found.pixels.astype(float) - frame.pixels).mean() > 3 * error.mean()


def test_a_clear_picture_is_left_alone() -> None:
    frame = Frame(table(), "clear")
    assert clear_veil(frame) is frame
    assert veil_problems(frame) == ()


def test_a_bright_cloth_is_no_veil() -> None:
    """Where a part of the picture has nothing dark in it, the rest tells that there is no veil."""
    picture = table()
    picture[:, 2 * WIDTH // 3 :] = np.random.default_rng(2).integers(
        200, 230, (HEIGHT, WIDTH // 3, 3)
    )
    assert find_veil(picture) is None
    round_about = np.full_like(picture, 215)
    round_about[HEIGHT // 4 : 3 * HEIGHT // 4] = table()[HEIGHT // 4 : 3 * HEIGHT // 4]
    assert find_veil(round_about) is None


@pytest.mark.parametrize("level", [0, 255])
def test_a_picture_of_one_colour_does_not_fail(level: int) -> None:
    picture = np.full((HEIGHT, WIDTH, 3), level, np.uint8)
    assert clear_veil(Frame(picture, "plain")).size_px == (WIDTH, HEIGHT)


def test_a_channel_without_light_does_not_fail() -> None:
    picture = veiled(table(), np.array(0.3))
    picture[..., 0] = 0
    assert not clear_veil(Frame(picture, "red lamp")).pixels[..., 0].any()


def test_a_picture_smaller_than_the_parts_has_no_veil() -> None:
    assert find_veil(np.full((5, 7, 3), 200, np.uint8)) is None


def test_a_cleared_picture_is_not_cleared_again() -> None:
    hazy = veiled(table(), np.array(0.25))
    once = clear_veil(Frame(hazy, "hazy"))
    assert clear_veil(once) is once
    still_hazy = replace(once, pixels=hazy)
    assert clear_veil(still_hazy) is still_hazy


def test_a_breath_of_a_veil_is_left() -> None:
    assert find_veil(veiled(table(), np.array(0.05))) is None


def test_a_part_of_a_later_picture_is_cleared_as_the_whole_was() -> None:
    hazy = veiled(table(), glow(0.25, 0.06, -0.04))
    whole = clear_veil(Frame(hazy, "film"))
    u, v = 130, 70
    part = Frame(hazy[v : v + 150, u : u + 210], "film")
    cleared = clear_part(part, whole, np.array([u, v], float))
    assert np.array_equal(cleared.pixels, whole.pixels[v : v + 150, u : u + 210])
    assert cleared.shown is part.pixels
    assert clear_part(part, Frame(table(), "clear"), np.zeros(2)) is part


def test_a_strong_veil_is_told_and_a_weak_one_is_not() -> None:
    (problem,) = veil_problems(clear_veil(Frame(veiled(table(), np.array(0.3)), "hazy")))
    assert problem.flag == "veiled"
    assert "wipe the lens" in problem.text
    weak = clear_veil(Frame(veiled(table(), np.array(0.065)), "a little"))
    assert weak.taken is not None
    assert veil_problems(weak) == ()


def test_the_order_of_colours_does_not_matter() -> None:
    hazy = veiled(table(), np.array(0.3))
    turned = np.ascontiguousarray(hazy[..., ::-1])
    straight, back = (clear_veil(Frame(one, "hazy")).pixels for one in (hazy, turned))
    assert np.array_equal(straight, back[..., ::-1])
    assert replace(Frame(hazy, "hazy"), name="other").taken is None


def test_a_photo_through_a_smudged_lens_is_measured_as_without() -> None:
    board = Board.load(SAMPLES / "legion_desert.toml")
    clear = load_photo(SAMPLES / "legion_desert.jpg")
    y, x = np.meshgrid(
        *(np.linspace(-1, 1, side) for side in clear.pixels.shape[:2]), indexing="ij"
    )
    hazy = replace(clear, pixels=veiled(clear.pixels, 0.2 + 0.08 * x - 0.05 * x * y))
    usual, found = (Referee(board).look(one) for one in (clear, hazy))
    assert not any(problem.flag == "veiled" for problem in usual.calibration.problems)
    assert any(problem.flag == "veiled" for problem in found.calibration.problems)
    assert found.frame.shown is hazy.pixels
    apart = cdist([one.xy_mm for one in usual.detections], [one.xy_mm for one in found.detections])
    again = apart.min(1) < 3
    assert len(found.detections) <= 1.05 * len(usual.detections)
    assert again.mean() > 0.9
    sizes = [found.detections[k].base for k in apart.argmin(1)]
    same = [one.base == other for one, other in zip(usual.detections, sizes, strict=True)]
    assert np.mean(np.array(same)[again]) > 0.95
