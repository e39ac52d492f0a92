"""Words over a recording: in front of every line, and no line runs through them."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from overruler.apps.analyze.merge import FilmResults
from overruler.apps.analyze.overlay import Overlay
from overruler.geometry.pose import Array
from overruler.picture.view import View
from tests.apps.analyze.test_outputs import MOVE
from tests.apps.web.desk import scene
from tests.reports import SIZE_PX, camera

WAY_MM = [[150.0, 430.0], [470.0, 420.0], [700.0, 300.0]]
"""Past other pieces, and across the measured line."""


@pytest.fixture(scope="module")
def drawing() -> list[ElementTree.Element]:
    """What is drawn at rest, a few seconds after a move."""
    film = FilmResults("game", read_to_s=20.0)
    film.moves = [
        MOVE | {"piece": name, "start_s": 1.0, "end_s": end_s, "way_mm": way, "trail": []}
        for name, end_s, way in (("p01", 3.0, WAY_MM), ("p04", 4.0, WAY_MM[::-1]))
    ]
    film.rests = [{"time_s": 5.0, "scene": scene().to_json(), "still": "data:,"}]
    (drawn,) = Overlay(film, SIZE_PX).drawings_at(6.0)
    return list(ElementTree.fromstring(drawn.svg).iter())


def plates(drawing: list[ElementTree.Element]) -> dict[str, Array]:
    """The plates of lengths and names: left, top, right, bottom."""
    found = {}
    for box, words in pairwise(drawing):
        if (
            box.tag.endswith("rect")
            and words.tag.endswith("text")
            and re.match(r"p0|.* mm", words.text or "")
        ):
            x, y, wide, high = (float(box.get(key, 0)) for key in ("x", "y", "width", "height"))
            found[words.text or ""] = np.array([x, y, x + wide, y + high])
    return found


def test_words_lie_in_front_of_every_line(drawing: list[ElementTree.Element]) -> None:
    kinds = [part.tag.rpartition("}")[2] for part in drawing]
    names = [k for k, part in enumerate(drawing) if part.text and part.text.startswith("p0")]
    assert len(names) >= 4
    assert max(k for k, kind in enumerate(kinds) if kind == "path") < min(names)


def test_no_way_runs_through_a_word(drawing: list[ElementTree.Element]) -> None:
    view = View(camera(), SIZE_PX)
    way = np.concatenate([view.line_px(a, b) for a, b in pairwise(WAY_MM)])
    found = plates(drawing)
    assert len(found) >= 4
    for box in found.values():
        assert not ((way > box[:2]) & (way < box[2:])).all(1).any()
