"""What is sought where the picture has changed: of several sizes, the one that stands there."""

from collections import deque

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame, Shot
from overruler.report import Report
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.tracking.change_detection import BackgroundModel, block_means, build_pyramid
from overruler.vision.tracking.redetect import redetect_rounds
from overruler.vision.tracking.table_state import TableState
from synthetic.flat_table import Plinth
from tests.tables import camera_over, exact, photo

CAMERA = camera_over(12.0)
AT = np.array([330.0, 240.0])
FAINT = (0.12, 0.25, 0.34)
KINDS = [Base.circle(size) for size in (55.0, 60.0, 65.0, 70.0, 80.0)]


class Nobody:
    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> None:
        """Nothing more to be said."""


def table(size_mm: float) -> TableState:
    """A table on which a base stands that is not known, its rim nearly of the mat's colour."""
    shot = Shot.of(photo(CAMERA, [Plinth(float(AT[0]), float(AT[1]), size_mm, rim=FAINT)]))
    calibration = exact(CAMERA)
    report = Report(shot.frame(), calibration, (), build_scene(calibration, ()))
    return TableState(
        report,
        BackgroundModel.of(block_means(build_pyramid(shot.grey)), 0.0),
        deque([shot]),
        Nobody(),
    )


@pytest.mark.parametrize("size_mm", [60.0, 65.0, 70.0])
def test_of_sizes_that_are_much_alike_the_faint_rim_tells_which_and_not_the_clear_top(
    size_mm: float,
) -> None:
    watched = table(size_mm)
    where = np.zeros_like(watched.on_table)
    where[watched.blocks(AT, 0.0, size_mm / 2)] = True
    found = redetect_rounds(watched, KINDS, AT + 90.0 * np.array([[-1.0], [1.0]]), where)
    assert found[0].base.width_mm == size_mm
    assert np.hypot(*(found[0].xy_mm - AT)) < 0.5
