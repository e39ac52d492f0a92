"""What the networks for tables in play see is worked out once for each photo, camera and view."""

import numpy as np
import pytest

from overruler.frame import Frame
from overruler.vision.detection import seen_in_play
from overruler.vision.detection.seen_in_play import see_in_play
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.disc_net import NO_DISCS
from overruler.vision.learned.shapes_in_play import NO_SHAPES
from tests.tables import SIZE_PX, camera_over


def test_the_same_question_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def find_discs(*known: object, in_play: bool) -> object:
        asked.append("discs")
        return NO_DISCS

    def find_shapes(*known: object) -> object:
        asked.append("shapes")
        return NO_SHAPES

    monkeypatch.setattr(seen_in_play, "find_discs", find_discs)
    monkeypatch.setattr(seen_in_play, "find_shapes", find_shapes)
    one, other = (
        Frame(np.full((*SIZE_PX[::-1], 3), 90, np.uint8), name) for name in ("one", "other")
    )
    camera, moved = camera_over(10), camera_over(20)
    whole = rectify_photo(one.pixels, camera, (0, 0, 700, 500), 4.0)
    part = rectify_photo(one.pixels, camera, (0, 0, 300, 500), 4.0)
    for known in (
        (one, camera, whole),
        (one, moved, whole),
        (one, camera, part),
        (other, camera, whole),
    ):
        first = see_in_play(*known)
        assert asked == ["discs", "shapes"]
        assert see_in_play(*known) is first
        assert asked == ["discs", "shapes"]
        asked.clear()
