"""What has come to rest: who stands where it stood, and who does not."""

from collections import deque

import numpy as np

from overruler.bases import Base
from overruler.detections import Detection
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.picture.render import Plinth
from overruler.report import Report
from overruler.shot import Shot
from overruler.vision.changes import reduced
from overruler.vision.track_held import THERE, Held
from overruler.vision.track_settled import STAYED, resolve
from overruler.vision.track_table import Watched
from tests.tables import photo
from tests.vision.test_track_sought import AT, CAMERA, FAINT, Nobody, table

SIZE_MM = 70.0


class Blind(Nobody):
    def look(self, frame: Frame) -> Report:
        raise NotImplementedError

    def find(self, frame: Frame, report: Report, bases: object, within_mm: Array) -> tuple[Detection, ...]:
        """No base is seen."""
        return ()


def later(left: float, shade: float = 1.0) -> tuple[Watched, Held]:
    """A table on which one base is known, a second after something has come to rest, and that base: of it, what lies
    more than `left` radii to the right of its middle is bare mat now.
    """
    watched = table(SIZE_MM)
    base, pixel = Base.circle(SIZE_MM), CAMERA.project(np.array([*AT, 0.0]))
    here = Detection(base, AT, 0.0, 0.0, np.eye(2), np.zeros((2, 15)), 1.0, 1.0, pixel, np.stack([pixel] * 3))
    held = Held.of("p01", here, watched.shot.grey, CAMERA)
    watched.held.append(held)
    seen, bare = (
        photo(CAMERA, [Plinth(float(AT[0]), float(AT[1]), SIZE_MM, rim=FAINT)]).pixels.copy(),
        photo(CAMERA, []).pixels,
    )
    column = round(float(CAMERA.project(np.array([AT[0] + left * SIZE_MM / 2, AT[1], 0.0]))[0]))
    seen[:, column:] = bare[:, column:]
    shot = Shot.of(Frame(np.asarray(seen * shade, np.uint8), "later", time_s=2.0))
    watched.shots = deque([shot])
    for time_s in (1.0, 2.0):
        watched.changes.look(reduced(shot.grey), time_s)
    return watched, held


def test_a_piece_whose_place_looks_in_part_like_it_has_gone_all_the_same() -> None:
    watched, held = later(left=0.13)
    watched.changes.moved_s[watched.blocks(AT + np.array([-200.0, 0.0]), 0.0, 5.0)] = 2.0  # a hand is still about
    assert THERE < held.at_home(watched.shot.grey, CAMERA).share < STAYED
    resolve(watched, Blind())
    assert held.away_s is not None


def test_a_piece_in_the_shade_has_not_gone() -> None:
    watched, held = later(left=2.0, shade=0.85)
    resolve(watched, Blind())
    assert held.away_s is None
