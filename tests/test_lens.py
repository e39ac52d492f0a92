"""A lens file's numbers in the pixels of another picture: smaller, larger, turned, mirrored."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.errors import BadInput
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.lens import Lens

SIZE = (1600, 1200)
MATRIX = np.array([[1300.0, 0, 790.0], [0, 1310.0, 610.0], [0, 0, 1]])
DISTORTION = np.array([-0.1, 0.03, 0.002, -0.001, 0.005])
IDEAL = np.array([(0.0, 0.0), (0.3, 0.1), (-0.2, 0.25), (0.45, -0.3)])

TURNS: dict[int, Callable[[Array, Array], tuple[Array, Array]]] = {
    1: lambda x, y: (x, y), 2: lambda x, y: (-x, y), 3: lambda x, y: (-x, -y), 4: lambda x, y: (x, -y),
    5: lambda x, y: (y, x), 6: lambda x, y: (-y, x), 7: lambda x, y: (-y, -x), 8: lambda x, y: (y, -x),
}  # fmt: skip
"""EXIF's orientations, as what they do to a point about the picture's middle."""


def lens(covariance: Array | None = None) -> Lens:
    return Lens(SIZE, MATRIX, DISTORTION, np.eye(9) if covariance is None else covariance)


def seen(of: Lens, ideal: Array) -> Array:
    """Pixels of ideal image points (N, 2)."""
    camera = Camera(of.matrix, of.distortion, Pose(np.eye(3), np.zeros(3)))
    return camera.project(np.column_stack([ideal, np.ones(len(ideal))]))


@pytest.mark.parametrize("orientation", TURNS)
def test_a_turned_lens_sees_turned_points_at_turned_pixels(orientation: int) -> None:
    turn = TURNS[orientation]
    size = SIZE if orientation < 5 else SIZE[::-1]
    found = seen(lens().for_picture(size, orientation), np.column_stack(turn(*IDEAL.T)))
    from_middle = seen(lens(), IDEAL) - (np.array(SIZE) - 1) / 2
    expected = np.column_stack(turn(*from_middle.T)) + (np.array(size) - 1) / 2
    assert found == pytest.approx(expected, abs=1e-9)


@given(st.sampled_from([0.25, 0.5, 1.0, 2.0]))
def test_a_smaller_copy_keeps_what_lies_where(scale: float) -> None:
    size = (round(SIZE[0] * scale), round(SIZE[1] * scale))
    found = seen(lens().for_picture(size), IDEAL)
    # the outer edges of a picture stay where they are, half a pixel outside the outer pixels' middles
    assert found == pytest.approx((seen(lens(), IDEAL) + 0.5) * scale - 0.5, abs=1e-9)


@pytest.mark.parametrize("orientation", TURNS)
def test_the_doubt_turns_with_the_numbers(orientation: int) -> None:
    random = np.random.default_rng(orientation)
    root = random.normal(size=(9, 9)) * 1e-4
    size = SIZE if orientation < 5 else SIZE[::-1]
    turned = lens(root @ root.T).for_picture(size, orientation)

    def numbers(of: Lens) -> Array:
        return np.concatenate([of.matrix[[0, 1, 0, 1], [0, 1, 2, 2]], of.distortion])

    plain = numbers(lens().for_picture(size, orientation))
    steps = []
    for column in root.T:
        matrix = MATRIX + np.array(
            [[column[0], 0, column[2]], [0, column[1], column[3]], [0, 0, 0]]
        )
        moved = Lens(SIZE, matrix, DISTORTION + column[4:], np.eye(9)).for_picture(
            size, orientation
        )
        steps.append(numbers(moved) - plain)
    assert turned.covariance == pytest.approx(np.transpose(steps) @ np.array(steps), abs=1e-12)


def test_a_lens_made_from_pictures_as_seen_serves_them_too() -> None:
    upright = Lens(SIZE[::-1], MATRIX, DISTORTION, np.eye(9))
    assert upright.for_picture(SIZE[::-1], 6).matrix == pytest.approx(MATRIX)


@pytest.mark.parametrize("size", [(1920, 1080), (1600, 900), (1200, 1600), (1600, 1196)])
def test_a_picture_of_another_shape_is_refused_with_both_sizes(size: tuple[int, int]) -> None:
    with pytest.raises(BadInput, match=f"1600 × 1200 pixels, the photo has {size[0]} × {size[1]}"):
        lens().for_picture(size)
    assert lens().for_picture((1599, 1200)).size_px == (1599, 1200)


def test_a_lens_is_read_back_exactly_as_it_was_written(tmp_path: Path) -> None:
    root = (
        np.random.default_rng(3).normal(size=(9, 9)) * np.array([1, 1, 1, 1, *[1e-3] * 5])[:, None]
    )
    written = lens((root @ root.T + (root @ root.T).T) / 2)
    written.save(tmp_path / "lens.toml")
    read = Lens.load(tmp_path / "lens.toml")
    assert read.size_px == written.size_px
    for name in ("matrix", "distortion", "covariance"):
        assert np.array_equal(getattr(read, name), getattr(written, name))


@pytest.mark.parametrize(
    ("distortion", "sigmas", "words"),
    [
        ([-3.0, 0, 0, 0, 0], [1.0] * 4 + [1e-3] * 5, "distortion: bends the picture over"),
        ([0.0, -9, 0, 0, 0], [1.0] * 4 + [1e-3] * 5, "distortion: bends the picture over"),
        ([0.05, -0.1, 0, 0, 0], [1e15] * 9, "covariance: says nothing of the lens"),
        ([0.05, -0.1, 0, 0, 0], [1.0, 1, 1, 1e4, *[1e-3] * 5], "covariance: says nothing"),
    ],
)
def test_a_file_of_no_lens_is_refused(
    tmp_path: Path, distortion: list[float], sigmas: list[float], words: str
) -> None:
    odd = replace(lens(), distortion=np.array(distortion), covariance=np.diag(sigmas) ** 2)
    odd.save(tmp_path / "lens.toml")
    with pytest.raises(BadInput, match=words):
        Lens.load(tmp_path / "lens.toml")


def test_a_misspelt_key_of_a_lens_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "lens.toml"
    path.write_text(lens().to_toml().replace("covariance", "covarience"))
    with pytest.raises(BadInput, match="covarience: unknown key; did you mean 'covariance'"):
        Lens.load(path)


def test_a_wide_lens_whose_fit_folds_over_at_the_corners_is_one(tmp_path: Path) -> None:
    wide = replace(lens(), distortion=np.array([-0.6, 0.0, 0, 0, 0]))
    wide.save(tmp_path / "lens.toml")
    assert Lens.load(tmp_path / "lens.toml").distortion[0] == -0.6
