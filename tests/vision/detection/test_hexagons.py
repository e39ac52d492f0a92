"""When one photo tells hexagons by itself: named ones, or in a photo with markers where nobody named sizes."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from overruler.bases import Base, catalogue
from overruler.vision.detection import choice, detect
from overruler.vision.detection.finders import Search
from overruler.vision.detection.sizes import Sizes
from overruler.vision.rounds.scoring import MIN_SCORE

ONE_OF_SEVERAL = MIN_SCORE / 2
NAMED = [Base.hexagon(30.0), Base.circle(32.0)]


@pytest.mark.parametrize(
    ("bases", "seen", "slant_deg", "least_score", "told_by"),
    [
        (catalogue(None), None, 30.0, MIN_SCORE, ("the table",)),
        (catalogue(None), None, 49.0, MIN_SCORE, ("the table",)),
        (catalogue(None), None, 51.0, MIN_SCORE, ()),
        (catalogue(None), "a table in play", 30.0, MIN_SCORE, ()),
        (catalogue("legion"), None, 30.0, MIN_SCORE, ()),
        (NAMED, None, 51.0, MIN_SCORE, ("their names",)),
        (NAMED, "a table in play", 30.0, MIN_SCORE, ("their names",)),
        (catalogue(None), None, 30.0, ONE_OF_SEVERAL, ()),
        (NAMED, None, 30.0, ONE_OF_SEVERAL, ()),
    ],
)
def test_hexagons_are_told_by_one_photo_or_left_to_several(
    bases: Sequence[Base],
    seen: str | None,
    slant_deg: float,
    least_score: float,
    told_by: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes, photo = Sizes.of(bases), SimpleNamespace(camera=None, pixels=None)
    search = SimpleNamespace(
        slant_deg=slant_deg, seen=seen, sizes_chosen=[*bases] != [*catalogue(None)], is_fleet=False,
        least_score=least_score, sizes=sizes, frame=photo, calibration=photo,
    )  # fmt: skip
    monkeypatch.setattr(Search, "begin", lambda *_: search)
    monkeypatch.setattr(detect, "rectify_board", lambda *_, **__: None)
    monkeypatch.setattr(detect, "_run_finders", lambda _: ([], []))
    monkeypatch.setattr(choice, "without_cards", lambda *_: ())
    monkeypatch.setattr(detect, "with_hexagons", lambda *_: ("the table",))
    monkeypatch.setattr(detect, "with_named_hexagons", lambda *_: ("their names",))
    known: Any = photo
    told: Any = detect.detect(known, known, bases, least_score=least_score)
    assert told == told_by
