"""A piece that is looked for on a table known before stands at the height of its hill."""

import numpy as np

from overruler.bases import Base
from overruler.detections import RaisedArea
from overruler.geometry.pose import Array
from overruler.referee import Referee
from overruler.report import Report
from overruler.vision.assembly.to_scene import build_scene
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, exact, photo

HIGH_MM, PLACE = 30.0, (560.0, 400.0)
HILL = np.array([[480.0, 300.0], [660.0, 300.0], [660.0, 470.0], [480.0, 470.0]])


def found(areas: tuple[RaisedArea, ...]) -> tuple[Array, float]:
    camera = camera_over(20.0)
    frame, calibration = photo(camera, [Plinth(*PLACE, 40.0, HIGH_MM)]), exact(camera)
    known = Report(frame, calibration, (), build_scene(calibration, ()), areas=areas)
    bases, box = [Base.circle(d) for d in (40, 50)], np.array([[400.0, 250.0], BOARD_MM])
    (one,) = Referee(None).redetect_bases(frame, known, bases, box)
    return one.xy_mm, one.z_mm


def test_a_piece_put_on_a_hill_is_found_where_it_stands() -> None:
    place, z_mm = found((RaisedArea("h1", HILL, HIGH_MM, 1.5),))
    assert z_mm == HIGH_MM
    assert np.hypot(*(place - PLACE)) < 0.7
    flat, z_mm = found(())
    assert z_mm == 0
    assert np.hypot(*(flat - PLACE)) > 5
