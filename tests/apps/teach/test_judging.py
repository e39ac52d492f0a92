"""What corrections say of findings, and what they leave open."""

from dataclasses import replace

import pytest

from overruler.apps.teach.judging import judge_findings, unjudged_ids
from overruler.fixes import Fix
from overruler.report import Report
from overruler.taught import Taught, Weighing
from overruler.vision.contours.reproject import reproject_outline
from tests.reports import report


def found(**probabilities: float) -> Report:
    """A report whose pieces are as likely as said, and else quite sure."""
    one = report()
    pieces = [
        replace(piece, extra={**piece.extra, "probability": probabilities.get(piece.id, 0.999)})
        for piece in one.scene.pieces
    ]
    shown = tuple(reproject_outline(one.calibration.camera, each) for each in one.detections)
    return replace(one, detections=shown, scene=replace(one.scene, pieces=tuple(pieces)))


def judged(*fixes: Fix) -> list[bool]:
    return [one.is_piece for one in judge_findings(found(), fixes, None)]


@pytest.mark.parametrize(
    ("fixes", "first_is_piece"),
    [
        ([], True),
        ([Fix(do="remove", id="p01")], False),
        ([Fix(do="confirm", id="p01")], True),
        ([Fix(do="confirm", id="p01"), Fix(do="remove", id="p01")], False),
        ([Fix(do="move", id="p01", xy_mm=(152.0, 149.0))], True),
        ([Fix(do="move", id="p01", xy_mm=(250.0, 150.0))], False),
        ([Fix(do="name", id="p01", labels={"new_id": "Ann"}), Fix(do="remove", id="Ann")], False),
        ([Fix(do="name", id="p02", labels={"new_id": "Ann"}), Fix(do="remove", id="Ann")], True),
        ([Fix(do="add", id="Bob", xy_mm=(50.0, 50.0)), Fix(do="remove", id="Bob")], True),
    ],
)
def test_the_last_word_of_a_finding_counts(fixes: list[Fix], first_is_piece: bool) -> None:
    assert judged(*fixes)[0] is first_is_piece


def test_a_place_in_the_photo_counts_as_one_on_the_board() -> None:
    u, v = found().detections[0].center_px
    assert judged(Fix(do="move", id="p01", xy_px=(u + 1.0, v - 1.0)))[0]
    assert not judged(Fix(do="move", id="p01", xy_px=(u + 300.0, v)))[0]


def test_who_leaves_a_doubtful_finding_alone_is_asked() -> None:
    doubtful = found(p02=0.8, p04=0.98)
    assert unjudged_ids(doubtful, []) == ["p02", "p04"]
    assert unjudged_ids(doubtful, [Fix(do="confirm", id="p02")]) == ["p04"]


def test_what_was_taught_before_is_taken_back_first() -> None:
    how = Weighing(-1.0, 0.8)
    taught = Taught("f00d", (), {"27 mm": how})
    first, *_ = judge_findings(found(p01=how.reweigh(0.9)), [], taught)
    assert first.kind == "27 mm"
    assert first.probability == pytest.approx(0.9, abs=1e-6)
