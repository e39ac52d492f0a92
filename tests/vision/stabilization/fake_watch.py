"""A watch over a table with markers and without pieces, which costs nothing."""

from dataclasses import replace

import numpy as np

from overruler.bases import Base
from overruler.frame import Shot
from overruler.report import Report
from overruler.track import Tick, TrackedPosition
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.stabilization.light_bands import GreyImage
from tests.tables import camera_over, eight_markers, exact


class FakeWatch:
    """Measures at its first look, and at the first after it was told to."""

    def __init__(self) -> None:
        self.looked_s: list[float] = []
        self.levels: list[float] = []
        """The median brightness of each picture looked at."""
        self.pictures: list[GreyImage] = []
        self.state = "static"
        """The state of its only piece."""
        self.again_s: list[float] = []
        self._due = True

    def look(self, shot: Shot) -> Tick:
        self.looked_s.append(shot.time_s)
        self.levels.append(float(np.median(shot.grey)))
        self.pictures.append(shot.grey)
        camera = camera_over(10.0)
        corners = tuple(camera.project(corners) for corners in eight_markers().values())
        calibration = replace(exact(camera), corners_px=corners)
        report = (
            Report(shot.frame(), calibration, (), build_scene(calibration, ()))
            if self._due
            else None
        )
        self._due = False
        spot = TrackedPosition(
            "p01", Base("circle", 27.0, 27.0), 100.0, 100.0, 0.1, self.state, True
        )
        return Tick(shot.time_s, (spot,), rest=report)

    def close(self) -> Tick | None:
        return None

    def remeasure_table(self, why: str = "") -> None:
        self.again_s.append(self.looked_s[-1])
        self._due = True
