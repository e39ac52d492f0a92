"""Reports: which problems are told first."""

from dataclasses import replace

import pytest

from overruler.calibration import Problem
from overruler.report import Report, TablePhoto, with_problems
from overruler.vision.assembly.to_scene import build_scene
from tests.tables import camera_over, exact, photo

CAMERA = camera_over(12.0)
OWN, MORE = Problem("blurred", "it is blurred"), Problem("photo_alone", "it is measured alone")


@pytest.mark.parametrize("photos", [0, 2])
def test_what_concerns_several_photos_comes_first_and_what_concerns_one_film_last(
    photos: int,
) -> None:
    frame, calibration = photo(CAMERA, []), replace(exact(CAMERA), problems=(OWN,))
    several = (TablePhoto(frame, calibration),) * photos
    scene = build_scene(calibration, ())
    report = with_problems(Report(frame, calibration, (), scene, photos=several), [MORE])
    wanted = (MORE, OWN) if photos else (OWN, MORE)
    assert report.calibration.problems == wanted
    told = report.scene.extra["calibration"]["problems"]
    assert [one["flag"] for one in told] == [one.flag for one in wanted]
