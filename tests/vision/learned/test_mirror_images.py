"""A whole-table network's answers about a picture and its mirror images agree, once these are mirrored back."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from overruler.bases import Base
from overruler.geometry.camera import Camera
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.imaging.orthophoto import Orthophoto, rectify_photo
from overruler.vision.learned import mirror_images
from overruler.vision.learned.inference import OUTPUT_STRIDE_PX
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.mirror_images import COLUMNS, MIRROR_IMAGES, ROWS
from overruler.vision.learned.shape_net import (
    RECTANGLE_CHANNEL,
    REFERENCE_SIZE_MM,
    infer_orthophoto,
)
from overruler.vision.plates import regiment_net
from tests.vision.plates.test_regiments import BOX_MM, unit
from tests.vision.rounds.test_find_ovals import over, table


def view_of_unit() -> tuple[Orthophoto, Camera]:
    frame, camera, _ = unit()
    return rectify_photo(frame.pixels, camera, BOX_MM, regiment_net.MM_PER_PX), camera


def mean(view: Orthophoto, camera: Camera, first: Floats) -> Floats:
    return mirror_images.mean_with_mirror_images(
        regiment_net.MODEL, view, camera, first, regiment_net.SIGNED_CHANNELS
    )


def test_the_network_says_the_same_of_bases_in_each_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong sign would turn the heading or move the middle of each base."""
    camera = over(25.0)
    bases = [
        (Base.rectangle(50, 100), 110.0, 110.0, 0.5),
        (Base.rectangle(30, 60), 290.0, 220.0, 1.2),
        (Base.rectangle(60, 100), 290.0, 100.0, -0.4),
    ]
    pixels = table(camera, bases).pixels
    view = rectify_photo(pixels, camera, BOX_MM, regiment_net.MM_PER_PX)
    first = infer_orthophoto(regiment_net.MODEL, view, camera)
    places = view.to_px([[x, y] for _, x, y, _ in bases])
    columns, rows = np.round((places + 0.5) / OUTPUT_STRIDE_PX - 0.5).astype(int).T
    for axes in MIRROR_IMAGES:
        monkeypatch.setattr(mirror_images, "MIRROR_IMAGES", (axes,))
        mirrored = 2 * mean(view, camera, first) - first
        off = np.abs(mirrored - first)[:, rows, columns].max(1)
        assert off[3:5].max() < 0.75  # cells
        assert off[5:7].max() < 0.4  # logarithms of length and width
        assert off[9:13].max() < 0.7  # cosine and sine of twice and four times the heading


@pytest.mark.parametrize("axis", [ROWS, COLUMNS])
def test_an_answer_comes_back_to_its_cell_with_its_sign(
    axis: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the padding: the picture's sides are no multiples of what the network takes."""
    view, camera = view_of_unit()
    assert all(side % 16 for side in view.pixels.shape[:2])
    rows, columns = (-(-side // 4) for side in view.pixels.shape[:2])
    first = np.zeros((3, rows, columns), np.float32)
    first[:, 7, 12] = 4, 1, 1

    def inferred(network: Path, height: int, picture: Callable[[slice], Floats]) -> Floats:
        """The same base in the mirror, where channel 1 points down and channel 2 to the right."""
        shape = picture(slice(0, height)).shape
        answer = np.zeros((3, shape[1] // 4, shape[2] // 4), np.float32)
        row, column = answer.shape[1] - 1 - 7, 12
        if axis == COLUMNS:
            row, column = 7, answer.shape[2] - 1 - 12
        answer[:, row, column] = 4, 1 if axis == COLUMNS else -1, 1 if axis == ROWS else -1
        return answer

    monkeypatch.setattr(mirror_images, "MIRROR_IMAGES", ((axis,),))
    monkeypatch.setattr(mirror_images, "infer_in_strips", inferred)
    signed = {ROWS: (1,), COLUMNS: (2,)}
    told = mirror_images.mean_with_mirror_images(Path("none"), view, camera, first, signed)
    np.testing.assert_allclose(told, first)


def test_the_mean_knows_the_size_of_a_unit_better_than_the_picture_alone() -> None:
    view, camera = view_of_unit()
    first = infer_orthophoto(regiment_net.MODEL, view, camera)
    likely = sigmoid(first[RECTANGLE_CHANNEL]) > 0.5
    errors = []
    for answer in (first, mean(view, camera, first)):
        sides_mm = REFERENCE_SIZE_MM / regiment_net.MAGNIFICATION * np.exp(answer[5:7, likely])
        errors.append(np.mean(np.log(sides_mm / 25.0) ** 2))
    assert errors[1] < errors[0]
