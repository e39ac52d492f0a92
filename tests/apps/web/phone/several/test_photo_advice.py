"""From where another photo would help, as whoever took the first one would walk."""

import pytest

from overruler.apps.web.phone.several import photo_advice
from overruler.apps.web.phone.several.photo_advice import advice_json
from overruler.calibration import Advice
from tests.reports import RULINGS, report


@pytest.mark.parametrize(
    ("place", "way"),
    [
        ("the near side", "from the same side once more"),
        ("the right", "from the side to your right"),
        ("the far left", "from the far corner to your left"),
        ("the far side", "from the opposite side"),
        ("close by", "of both from close by"),
    ],
)
def test_the_way_is_told_from_where_the_first_photo_was_taken(
    monkeypatch: pytest.MonkeyPatch, place: str, way: str
) -> None:
    """Up in the report's photo is the far side of the board."""
    advice = Advice("a photo", 2.0, 0.5, place)
    monkeypatch.setattr(photo_advice, "advise_photo", lambda report, verdicts: advice)
    told = advice_json(report(), RULINGS[1])
    assert told is not None
    assert told["way"] == way
    assert told["settles"] is (RULINGS[1].margin_mm is not None and RULINGS[1].margin_mm > 1.65)
