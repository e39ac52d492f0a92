"""What is said about a photo that measures worse than it could: all at once, the worst first."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from evaluate.drawn.markers import FOUR, camera_over, known_board, marker_mm
from overruler.apps.measure import pictures
from overruler.board import Board
from overruler.calibration import Problem
from overruler.lens import Lens
from overruler.vision.camera import problems
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.precision_map import precision_map
from overruler.vision.camera.problems import FLAGS_BY_SEVERITY, sort_by_severity
from overruler.vision.contours import shading
from overruler.vision.fusion import look_at_all, same_table, walk
from overruler.vision.imaging import veil
from overruler.vision.refinement import marker_scale, round_plane, scale_doubt
from overruler.vision.rulers import find, hexgrid
from tests.vision.sight import BOARD, SIZE, Sight, blank, corners_of, distances, flags


def test_every_flag_has_its_place_in_the_order() -> None:
    tellers = (
        problems,
        marker_scale,
        round_plane,
        scale_doubt,
        hexgrid,
        shading,
        veil,
        find,
        look_at_all,
        same_table,
        walk,
        pictures,
    )
    source = "".join(Path(str(module.__file__)).read_text() for module in tellers)
    named = set(re.findall(r'Problem\(\s*"(\w+)"', source))
    assert named == set(FLAGS_BY_SEVERITY)
    assert len(FLAGS_BY_SEVERITY) == len(set(FLAGS_BY_SEVERITY))


def test_the_worst_comes_first() -> None:
    mixed = [Problem(flag, "words") for flag in ("markers_hidden", "large_residuals", "blurred")]
    assert [problem.flag for problem in sort_by_severity(mixed)] == [
        "large_residuals",
        "blurred",
        "markers_hidden",
    ]


def test_several_are_said_at_once(see: type[Sight]) -> None:
    see(camera_over(3), {n: corners_of(BOARD)[n] for n in (0, 1, 2)})
    found = calibrate(blank(), BOARD)
    assert flags(found) >= {"few_markers", "markers_hidden", "overhead_without_lens"}
    order = [FLAGS_BY_SEVERITY.index(problem.flag) for problem in found.problems]
    assert order == sorted(order)
    (hidden,) = (problem for problem in found.problems if problem.flag == "markers_hidden")
    assert hidden.text.startswith("hidden or unreadable: markers 3, ")


def test_markers_that_are_bent_are_told_from_markers_that_are_moved(
    see: type[Sight], monkeypatch: pytest.MonkeyPatch
) -> None:
    camera, random = camera_over(20), np.random.default_rng(1)
    bent = {
        n: at + np.column_stack([random.normal(0, 0.9, (4, 2)), np.zeros(4)])
        for n, at in corners_of(BOARD).items()
    }
    see(camera, bent)
    assert "markers_not_flat" in flags(calibrate(blank(), BOARD))
    with monkeypatch.context() as fine:
        fine.setattr(
            problems, "MIN_SHAPE_ERROR_MM", 1.5
        )  # as though they were seen from so near that this is nothing
        assert "markers_not_flat" not in flags(calibrate(blank(), BOARD))
    see(camera, {n: marker_mm(x + random.normal(0, 2), y + random.normal(0, 2)) for n, (x, y) in
                 {n: tuple(at.mean(0)[:2]) for n, at in corners_of(BOARD).items()}.items()})  # fmt: skip
    assert "markers_not_flat" not in flags(calibrate(blank(), BOARD))


def test_distances_that_are_unsure_come_with_what_would_help(
    see: type[Sight], monkeypatch: pytest.MonkeyPatch
) -> None:
    see(camera_over(5), corners_of(known_board(FOUR)))
    monkeypatch.setattr(problems, "UNSURE_DISTANCE_SIGMA_MM", 0.2)
    found = calibrate(blank(), known_board(FOUR))
    said = next(problem for problem in found.problems if problem.flag == "unsure_distances")
    assert re.search(
        r"unsure by up to ± \d\.\d\d mm \(95 %\) .*: (add a marker|add markers|make a lens file).*then ± \d\.\d\d mm",
        said.text,
    )
    see(camera_over(5), corners_of(BOARD))
    monkeypatch.undo()
    assert "unsure_distances" not in {p.flag for p in found.problems if p is not said}


def test_a_small_board_is_told_what_would_help_as_well(see: type[Sight]) -> None:
    """The shorter distances of a small board are unsure sooner, and from there on a remedy is sought."""
    see(camera_over(5), corners_of(known_board(FOUR)))
    found = replace(calibrate(blank(), known_board(FOUR)), board_mm=(150.0, 150.0))
    precision = precision_map(found, step_mm=problems.MAP_STEP_MM)
    worst = float(np.max(precision.sigma_mm * precision.visible))
    times = (0.45 / worst) ** 2  # σ of 0.45 mm: over 0.3 mm, under 0.6 mm
    (said,) = problems.find_unsure_distances(
        found.map_covariances(lambda covariance: covariance * times), False
    )
    assert re.search(r"150 mm is unsure .*: \w.*\(then ± \d\.\d\d mm", said.text)


@pytest.mark.parametrize("layout", [BOARD, known_board(FOUR)])
def test_a_cropped_photo_is_named_as_such(see: type[Sight], layout: Board) -> None:
    """A strip is cut off one side: the middle is elsewhere, and distances are as sound as they were."""
    for off_px, named in ((0.0, False), (12.0, False), (240.0, True), (-240.0, True)):
        camera = camera_over(30, center_px=(off_px, off_px / 2))
        see(camera, corners_of(layout))
        found = calibrate(blank(), layout)
        assert ("cropped" in flags(found)) is named
        assert "large_residuals" not in flags(found)
        errors, sigma = distances(found, camera)
        assert np.abs(errors).max() < 4 * sigma.max()
    lens = Lens(
        SIZE,
        camera_over(30).matrix,
        camera.distortion,
        np.diag([1.0, 1, 1, 1, 1e-6, 1e-6, 1e-9, 1e-9, 1e-8]),
    )
    assert "cropped" not in flags(calibrate(blank(), layout, lens=lens))


def test_every_problem_is_one_sentence_without_a_line_break(see: type[Sight]) -> None:
    see(camera_over(3), {n: corners_of(BOARD)[n] for n in (0, 1)})
    problems = calibrate(blank(), BOARD).problems
    assert problems
    for problem in problems:
        assert "\n" not in problem.text
        assert len(problem.text) > 20
