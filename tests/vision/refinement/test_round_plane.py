"""What round bases say about points that people gave by hand."""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.calibration import Calibration
from overruler.errors import CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, Pose
from overruler.referee import Referee
from overruler.report import Report
from overruler.rules import ask
from overruler.sources.photo import load_photo
from overruler.vision.camera.calibrate import calibrate
from overruler.vision.camera.observations import ClickedPoint
from overruler.vision.learned.disc_net import NO_DISCS
from overruler.vision.learned.in_play_net import COLUMNS, LOG_SIGMA_STRETCH, LOGIT, VISIBLE_LOGIT
from overruler.vision.learned.shapes_in_play import SeenShapes
from overruler.vision.refinement import round_plane
from overruler.vision.refinement.round_plane import (
    MIN_BASES,
    MIN_BASES_AGAIN,
    PlaneError,
    correct_plane,
    find_plane_error,
)
from tests.tables import SIZE_PX, camera_over

SAMPLE = Path(__file__).parents[3] / "sample_images" / "skirmish_city.jpg"
POINTS_MM = np.array([[60.0, 50.0], [640.0, 50.0], [640.0, 450.0], [60.0, 450.0]])
PLACES_MM = np.array([[x, y] for x in (110.0, 270.0, 430.0, 590.0) for y in (90.0, 250.0, 410.0)])
RADIUS_MM = 16.0
RADII_MM = np.array([12.5, 16.0, 20.0])
Plane = Callable[[Array], Array]


def wrong_plane(stretch: float, turn_rad: float, tilt_x: float, tilt_y: float) -> Plane:
    """A plane on which what lies at a place seems to lie elsewhere: stretched along a turn, and tilted."""
    middle, reach = np.array([350.0, 250.0]), 360.0
    c, s = np.cos(turn_rad), np.sin(turn_rad)
    turn = np.array([[c, -s], [s, c]])
    along = turn @ np.diag(np.exp([stretch, -stretch])) @ turn.T

    def seems(xy_mm: Array) -> Array:
        offset = (xy_mm - middle) / reach
        return np.asarray(
            middle + reach * (offset @ along) / (1 + offset @ [tilt_x, tilt_y])[..., None]
        )

    return seems


def looks(plane: Plane, places_mm: Array = PLACES_MM, aspect: float = 1.0) -> SeenShapes:
    """Bases on such a plane as a perfect network sees them."""
    step = 1e-3
    slopes = np.stack(
        [
            (plane(places_mm + axis) - plane(places_mm - axis)) / 2 / step
            for axis in np.eye(2) * step
        ],
        -1,
    )
    own = np.diag([aspect, 1.0])
    axes, sizes, _ = np.linalg.svd(slopes @ own)
    heading = np.arctan2(axes[:, 1, 0], axes[:, 0, 0])
    shapes = np.column_stack([plane(places_mm), RADIUS_MM * sizes, heading])
    answers = np.zeros((len(shapes), COLUMNS))
    answers[:, LOGIT], answers[:, VISIBLE_LOGIT], answers[:, LOG_SIGMA_STRETCH] = 6.0, 3.0, -3.5
    answers[:, -1] = -6.0
    return SeenShapes(shapes, answers, np.ones(len(shapes)))


def told(seen: SeenShapes) -> PlaneError:
    error = find_plane_error(seen, POINTS_MM)
    assert error is not None
    return error


def corrected(plane: Plane, passes: int = 4) -> Plane:
    """A plane corrected by its bases several times."""
    for _ in range(passes):
        error = told(looks(plane))
        plane = (lambda before, by: lambda xy_mm: by.corrected_mm(before(xy_mm)))(plane, error)
    return plane


def aspects(seen: SeenShapes) -> Array:
    return np.asarray(seen.shapes[:, 2] / seen.shapes[:, 3])


@settings(max_examples=40)
@given(
    stretch=st.floats(0.0, 0.09),
    turn_rad=st.floats(0, np.pi),
    tilt_x=st.floats(-0.08, 0.08),
    tilt_y=st.floats(-0.08, 0.08),
)
def test_bases_are_round_on_the_corrected_plane(
    stretch: float, turn_rad: float, tilt_x: float, tilt_y: float
) -> None:
    plane = wrong_plane(stretch, turn_rad, tilt_x, tilt_y)
    assert aspects(looks(corrected(plane))).max() < 1.01


@pytest.mark.parametrize("turn_rad", [0.0, 0.7, 1.6, 2.5])
def test_a_stretch_is_told_with_its_size_and_direction(turn_rad: float) -> None:
    error = told(looks(wrong_plane(0.07, turn_rad, 0, 0)))
    size = np.hypot(*error.stretch)
    assert size == pytest.approx(0.07, abs=0.003)
    assert np.cos(np.arctan2(*error.stretch[::-1]) - 2 * turn_rad) == pytest.approx(1, abs=1e-3)
    assert error.is_told
    assert error.mean_stretch == pytest.approx(0.07, abs=0.004)


def test_the_bases_middle_stays_where_it_is() -> None:
    error = told(looks(wrong_plane(0.07, 0.4, 0.05, 0)))
    assert error.corrected_mm(error.middle_mm[None])[0] == pytest.approx(error.middle_mm)


def test_round_bases_tell_no_error() -> None:
    error = told(looks(wrong_plane(0.0, 0.0, 0.0, 0.0)))
    assert not error.is_told
    assert error.corrected_mm(POINTS_MM) == pytest.approx(POINTS_MM, abs=0.01)


def test_a_small_error_is_left() -> None:
    assert not told(looks(wrong_plane(0.02, 0.0, 0.0, 0.0))).is_told


def test_ovals_tell_nothing() -> None:
    assert find_plane_error(looks(wrong_plane(0, 0, 0, 0), aspect=1.7), POINTS_MM) is None


def test_some_ovals_among_round_bases_hardly_count() -> None:
    plane = wrong_plane(0.07, 0.0, 0.0, 0.0)
    seen, odd = looks(plane), looks(plane, PLACES_MM[:3] + 40, aspect=1.3)
    both = SeenShapes(*map(np.concatenate, zip(seen, odd, strict=True)))
    assert told(both).stretch == pytest.approx([0.07, 0], abs=0.012)


def test_a_few_bases_tell_an_error_to_a_second_look_alone() -> None:
    plane = wrong_plane(0.09, 0.0, 0.0, 0.0)
    assert told(looks(plane, PLACES_MM[:MIN_BASES])).is_told
    assert not told(looks(plane, PLACES_MM[: MIN_BASES - 1])).is_told
    assert find_plane_error(looks(plane, PLACES_MM[: MIN_BASES_AGAIN - 1]), POINTS_MM) is None


@pytest.mark.parametrize(("column", "value"), [(LOGIT, 1.0), (VISIBLE_LOGIT, -1.0), (-1, 9.0)])
def test_what_is_unlikely_hidden_or_angular_tells_nothing(column: int, value: float) -> None:
    seen = looks(wrong_plane(0.09, 0, 0, 0))
    seen.answers[:, column] = value
    assert find_plane_error(seen, POINTS_MM) is None


def test_points_far_from_bases_that_stand_together_are_not_thrown_about() -> None:
    rng = np.random.default_rng(3)
    seen = looks(wrong_plane(0.05, 0.3, 0, 0), [320, 230] + PLACES_MM * 0.1)
    seen.shapes[:, 2] *= np.exp(rng.normal(0, 0.04, len(seen.shapes)))
    moved = told(seen).corrected_mm(POINTS_MM)
    assert np.hypot(*(moved - POINTS_MM).T).max() < 60


# --- the correction of a calibration ---


class Table:
    """A photo of a table whose points were told wrongly; the network sees each base as it is."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, plane: Plane) -> None:
        self.camera = camera_over(20)
        self.points = clicked(self.on_photo(POINTS_MM), plane(POINTS_MM))
        self.frame = Frame(np.full((*SIZE_PX[::-1], 3), 90, np.uint8), "table")
        monkeypatch.setattr(round_plane, "see_in_play", self.seen)
        self.looks = 0

    def on_photo(self, xy_mm: Array) -> Array:
        return self.camera.project(np.column_stack([xy_mm, np.zeros(len(xy_mm))]))

    def seen(self, frame: Frame, camera: Camera, view: object) -> tuple[object, SeenShapes]:
        self.looks += 1
        return NO_DISCS, looks(lambda xy_mm: camera.unproject(self.on_photo(xy_mm))[:, :2])

    def calibrated(self, points: Sequence[ClickedPoint]) -> Calibration:
        return calibrate(self.frame, None, points)

    def corrected(self) -> tuple[Calibration, Calibration]:
        first = self.calibrated(self.points)
        known = self.frame, first, self.points, RADII_MM, 50.0
        return first, correct_plane(*known, self.calibrated)

    def ratios(self, calibration: Calibration) -> Array:
        """Distances between bases as measured, by the true ones."""
        at = calibration.camera.unproject(self.on_photo(PLACES_MM))[:, :2]
        pairs = np.triu_indices(len(at), 1)
        apart, truly = (
            np.hypot(*(one[:, None] - one).transpose(2, 0, 1))[pairs] for one in (at, PLACES_MM)
        )
        return np.asarray(apart / truly)


def clicked(seen_px: Array, places_mm: Array) -> list[ClickedPoint]:
    """Points as people give them: where each is in the photo, and where they say that it lies."""
    return [
        (float(u), float(v), float(x), float(y))
        for (u, v), (x, y) in zip(seen_px, places_mm, strict=True)
    ]


def flags(calibration: Calibration) -> list[str]:
    return [problem.flag for problem in calibration.problems]


def test_distances_are_right_but_for_their_scale_once_the_plane_is_corrected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(monkeypatch, lambda xy_mm: xy_mm * [1.12, 1.0])
    before, after = table.corrected()
    first, then = table.ratios(before), table.ratios(after)
    assert first.max() / first.min() > 1.1
    assert then.max() / then.min() < 1.02
    assert "points_disagree" in flags(after)


def test_the_stated_doubt_covers_the_error_of_the_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(monkeypatch, lambda xy_mm: xy_mm * [1.12, 1.0])
    _, after = table.corrected()
    stated = re.search(r"± (\d+) % \(95 %\)", "".join(one.text for one in after.problems))
    assert stated is not None
    assert np.abs(table.ratios(after) - 1).max() < int(stated[1]) / 100 < 0.2


def test_what_is_told_rightly_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(monkeypatch, lambda xy_mm: xy_mm)
    before, after = table.corrected()
    assert after is before


def test_markers_need_no_such_look(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table(monkeypatch, lambda xy_mm: xy_mm * [1.12, 1.0])
    prepared = replace(table.calibrated(table.points), markers=(1, 2))
    known = table.frame, prepared, table.points, RADII_MM, 50.0
    assert correct_plane(*known, table.calibrated) is prepared
    assert table.looks == 0


def test_where_no_camera_sees_the_points_there_the_error_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(points: Sequence[ClickedPoint]) -> Calibration:
        raise CannotMeasure("no camera sees these points")

    table = Table(monkeypatch, lambda xy_mm: xy_mm * [1.15, 1.0])
    first = table.calibrated(table.points)
    after = correct_plane(table.frame, first, table.points, RADII_MM, 50.0, refuse)
    assert after.camera is first.camera
    assert "points_disagree" in flags(after)
    assert after.budget.scale_share == pytest.approx(np.log(1.15) / 2, rel=0.2)
    assert "unsure_distances" not in flags(after)  # it would state less


def test_a_correction_that_makes_nothing_rounder_is_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = Table(monkeypatch, lambda xy_mm: xy_mm)
    stretched = looks(wrong_plane(0.05, 0.0, 0.0, 0.0), PLACES_MM[:MIN_BASES])
    stretched.answers[:, LOG_SIGMA_STRETCH] = -2.5
    monkeypatch.setattr(round_plane, "see_in_play", lambda *asked: (NO_DISCS, stretched))
    before, after = table.corrected()
    assert after is before


# --- on a photo ---


def look_with(tilt: float) -> tuple[Report, Array]:
    """A sample measured by four points, whose places a plane tells that is tilted; and its bases' true places."""
    truth = json.loads(SAMPLE.with_suffix(".json").read_text(encoding="utf-8"))
    c = truth["camera"]
    pose = Pose(np.array(c["rotation"]), np.array(c["translation_mm"]))
    camera = Camera(np.array(c["matrix"]), np.array(c["distortion"]), pose)
    size = np.array([truth["board"]["width_mm"], truth["board"]["height_mm"]])
    places = size * [[0.1, 0.1], [0.9, 0.1], [0.9, 0.9], [0.1, 0.9]]
    seen = camera.project(np.column_stack([places, np.zeros(4)]))
    said = places / (1 + tilt * (2 * places[:, 1:] / size[1] - 1))
    report = Referee(None, clicked(seen, said)).look(load_photo(SAMPLE))
    bases = np.array([[p["x_mm"], p["y_mm"], p["z_mm"]] for p in truth["pieces"]])
    return report, camera.project(bases)


def found_at(report: Report, truly_px: Array) -> int:
    """How many of the bases are found where they stand in the photo."""
    places = np.array([[*one.xy_mm, one.z_mm] for one in report.detections])
    px = report.calibration.camera.project(places)
    return sum(np.hypot(*(px - at).T).min() < 15 for at in truly_px)


def test_a_table_told_tilted_is_measured_as_its_bases_tell() -> None:
    report, truly_px = look_with(0.1)
    assert found_at(report, truly_px) >= len(truly_px) - 1
    assert "points_disagree" in flags(report.calibration)
    first, last = report.scene.pieces[0].id, report.scene.pieces[-1].id
    told = ask(report.scene, f"range {first} {last}")
    assert told.sigma_mm is not None
    assert told.distance_mm is not None
    assert told.sigma_mm > 0.05 * told.distance_mm  # sizes of the catalogue do not tell the scale
