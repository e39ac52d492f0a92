"""The options of several photos of one table, and what a bundle of them may name."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from overruler.apps import bundles, settle
from overruler.apps.measure import load_options
from overruler.apps.measure.summary import calibration_line, problem_lines, ruler_lines
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.calibration import Problem
from overruler.detections import DetectedRuler
from overruler.errors import BadInput
from overruler.lens import Lens, default_sigmas
from overruler.picture import on_best_photo
from overruler.report import TablePhoto
from tests.reports import report

MATRIX = np.array([[900.0, 0, 640], [0, 900, 480], [0, 0, 1]])


def request(**options: object) -> MeasureRequest:
    values = {"photo": Path("a.jpg"), "more": (Path("b.jpg"),), "marker_mm": 60.0, **options}
    return MeasureRequest(**values)  # type: ignore[arg-type]


@pytest.fixture
def lens_file(tmp_path: Path) -> Path:
    covariance = np.diag(default_sigmas(MATRIX) ** 2)
    path = tmp_path / "lens.toml"
    Lens((1280, 960), MATRIX, np.zeros(5), covariance).save(path)
    return path


def test_each_photo_may_have_a_lens_file_of_its_own(lens_file: Path) -> None:
    options = load_options(request(lens_of_photo=(f"2={lens_file}",)))
    first, second = options.lenses
    assert first is None
    assert second is not None
    assert load_options(request()).lenses == ()


@pytest.mark.parametrize("text", ["lens.toml", "3=lens.toml", "0=lens.toml", "x=lens.toml", "1="])
def test_a_lens_of_no_photo_is_bad_input(text: str) -> None:
    with pytest.raises(BadInput, match="--lens-of-photo: expected N=LENS"):
        load_options(request(lens_of_photo=(text,)))


def test_what_goes_with_a_single_photo_is_refused(lens_file: Path) -> None:
    points = ("1,2=0,0", "9,2=9,0", "9,9=9,9", "1,9=0,9")
    for options, word in (
        ({"marker_mm": None, "point": points}, "--point"),
        ({"beside": (Path("c.jpg"),)}, "--beside"),
        ({"more": (Path("a.jpg"),)}, "a.jpg is named twice"),
        ({"lens_of_photo": (f"1={lens_file}", f"1={lens_file}")}, "two lens files"),
    ):
        with pytest.raises(BadInput, match=word):
            load_options(request(**options))


def test_a_bundle_may_name_all_its_photos_and_nothing_else() -> None:
    members = [*bundles.REQUIRED_FILES, "photo.jpg", "photo2.png", "photo10.jpg"]
    good = ["photo.jpg", "photo2.png", "photo10.jpg", "--marker-mm=60"]
    options = settle.read_measure_options(good, members)
    assert [str(path) for path in options.more] == ["photo2.png", "photo10.jpg"]
    for strange in (["photo3.jpg"], ["/etc/passwd"], ["--lens-of-photo=1=/etc/passwd"]):
        with pytest.raises(BadInput, match="no file of the bundle"):
            settle.read_measure_options([*good, *strange], members)


def test_a_picture_is_drawn_on_the_photo_that_shows_the_ruling_largest() -> None:
    one = report()
    near = one.calibration
    matrix = near.camera.matrix.copy()
    matrix[:2, :2] *= 0.5
    camera = near.camera.with_lens(matrix, near.camera.distortion)
    far = replace(near, camera=camera)
    photos = (TablePhoto(one.frame, far), TablePhoto(one.frame, near))
    shown = on_best_photo(replace(one, calibration=far, photos=photos))
    assert shown.calibration is near
    assert on_best_photo(one) is one


def test_the_problems_of_every_photo_are_told_once_and_with_its_number() -> None:
    one = report()
    own, of_all = one.calibration, Problem("photos_disagree", "the photos disagree")
    blurred = Problem("blurred", "the photo is blurred")
    first, second = (replace(own, problems=(*own.problems, *more)) for more in ((), (blurred,)))
    photos = tuple(TablePhoto(one.frame, each) for each in (first, second, own))
    shown = replace(own, problems=(of_all, *own.problems))
    told = [line.plain for line in problem_lines(replace(one, calibration=shown, photos=photos))]
    (few,) = own.problems
    assert told == [
        "! the photos disagree",
        f"! photos 1, 2, 3: {few.text}",
        "! photo 2: the photo is blurred",
    ]
    assert [line.plain for line in problem_lines(one)] == [f"! {few.text}"]


def test_the_calibration_line_says_of_which_photo_it_is() -> None:
    one = report()
    assert calibration_line(one).plain.startswith("calibration: 4 markers, 0.21 px")
    photos = 2 * (TablePhoto(one.frame, one.calibration),)
    told = calibration_line(replace(one, photos=photos)).plain
    assert told.startswith("calibration of photo 1: 4 markers, 0.21 px")


def test_no_ruler_confirms_the_scale_where_another_one_or_another_photo_contradicts_it() -> None:
    one = report()
    path = np.array([[0.0, 0], [152.4, 0]])
    good, bad = (
        DetectedRuler("legion", 152.4, 152.4 + off_mm, 0.1, path, 25.0, 9.0)
        for off_mm in (0.1, 0.9)
    )
    disagrees = replace(one.calibration, problems=(Problem("ruler_disagrees", "reads 153.3"),))
    photos = tuple(TablePhoto(one.frame, each) for each in (one.calibration, disagrees))
    for told, confirmed in (
        (replace(one, rulers=(good, good)), 2),
        (replace(one, rulers=(good, bad)), 0),
        (replace(one, rulers=(good,), photos=photos), 0),
    ):
        lines = [line.plain for line in ruler_lines(told)]
        assert sum("confirmed" in line for line in lines) == confirmed
        assert all("152.4 is right" in line for line in lines)


def test_a_ruler_whose_reading_is_rough_confirms_no_scale() -> None:
    path = np.array([[0.0, 0], [100.0, 0]])
    sharp, rough = (
        DetectedRuler("xwing", 100.0, 100.5, sigma_mm, path, 20.0, 9.0) for sigma_mm in (0.51, 0.81)
    )
    told = [line.plain for line in ruler_lines(replace(report(), rulers=(sharp, rough)))]
    assert told[0].endswith("± 1.00 mm a segment (95 %), 100 is right: the scale is confirmed")
    assert told[1].endswith("(95 %), 100 is right: too unsure to confirm the scale")
