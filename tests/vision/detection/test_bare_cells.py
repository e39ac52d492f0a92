"""Dots and rings of a mat are no bases, and say nothing of the sizes of those that stand on it."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from evaluate.accuracy import board_of
from overruler.bases import Base
from overruler.detections import Detection
from overruler.referee import Referee
from overruler.sources.photo import load_photo
from overruler.vision.detection.bare_cells import (
    without_bare_circles,
    without_bare_detections,
    without_bare_rounds,
)
from overruler.vision.learned.rim_net import RimEstimates
from synthetic.from_above.sheet import read_truth
from synthetic.printed_grids import lay_grid

PHOTO = Path(__file__).parents[3] / "sample_images" / "legion_grass.jpg"


@pytest.mark.parametrize(("form", "cell_mm"), [("rings", 30.0), ("dots", 50.0)])
def test_prints_on_the_mat_tell_no_sizes(form: str, cell_mm: float) -> None:
    """A thousand rings of another size made 39 of 43 bases on this table be told as of that size."""
    truth, camera, _ = read_truth(PHOTO.with_suffix(".json"))
    frame = load_photo(PHOTO)
    rng = np.random.default_rng([300, 2])
    pixels = lay_grid(frame.pixels, camera, truth, form, cell_mm, rng)
    told = Referee(board_of(PHOTO, truth)).look(replace(frame, pixels=pixels)).detections
    true_mm = [piece["shape"].get("diameter_mm") for piece in truth["pieces"]]
    assert len(told) <= len(true_mm) + 8
    (usual_mm,) = {size for size in true_mm if true_mm.count(size) > len(true_mm) / 2}
    right = sum(one.base.width_mm == usual_mm for one in told)
    assert right >= 0.8 * true_mm.count(usual_mm)


XY_MM = np.array([[0.0, 0.0], [100.0, 0.0], [200.0, 0.0]])
RIGHT_IS_BARE: Any = SimpleNamespace(
    are_bare_cells=lambda placed: np.array([xy_mm[0] > 50 for _, xy_mm, _ in placed], bool)
)
"""A grid that has bare cells on the right side."""


def test_guesses_and_detections_in_bare_cells_are_left_out() -> None:
    one = np.ones(3)
    guesses = RimEstimates(np.array([0.1, 0.5, 0.9]), XY_MM, 14 * one, one, one, one)
    found = [
        Detection(Base.circle(25), xy_mm, 0.0, 0.0, np.eye(2), np.zeros((2, 15)), 0.9, 1.0)
        for xy_mm in XY_MM
    ]
    assert without_bare_rounds(RIGHT_IS_BARE, guesses).score.tolist() == [0.1]
    assert without_bare_rounds(None, guesses).score.tolist() == [0.1, 0.5, 0.9]
    circles = np.column_stack([XY_MM, 14 * one, guesses.score])
    assert without_bare_circles(RIGHT_IS_BARE, circles).tolist() == [circles[0].tolist()]
    assert without_bare_circles(None, circles).tolist() == circles.tolist()
    assert without_bare_detections(RIGHT_IS_BARE, found) == found[:1]
    assert without_bare_detections(None, found) == found
    assert without_bare_detections(RIGHT_IS_BARE, []) == []
