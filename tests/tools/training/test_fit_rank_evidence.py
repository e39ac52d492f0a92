"""The weights of what several photos say of a base are fitted to what truly stands there."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs the group `train`: uv sync --group train")

from evaluate.drawn.views import camera_from, see
from overruler.bases import Base
from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.ranks.rank_evidence import RankEvidence
from overruler.vision.pairing.ranks.told_places import SeenPlace
from overruler.vision.pairing.sighting import Sighting
from training import fit_rank_evidence as program

SQUARE = Base.rectangle(25, 25)
PHOTO = see(0, camera_from(30.0), [(400.0, 300.0, 0.0, 25.0)])
FEATURES = program.BY_ALL + 1


def asked_at(x_mm: float) -> Decided:
    """A square that three photos were asked about."""
    at = np.array([x_mm, 300.0])
    seen = replace(PHOTO.detections[0], base=SQUARE, xy_mm=at, heading_deg=0.0, score=0.9)
    one = Decided.of(Hypothesis.of(Sighting(PHOTO, seen)), ()).with_sizes({SQUARE: 1.0})
    places = {k: SeenPlace(float(k), 1.0, np.full((4, 3), 0.1), 0.0) for k in range(3)}
    return replace(one, ranks=RankEvidence(places))


def piece(visible: float) -> dict[str, Any]:
    shape = {"type": "rectangle", "width_mm": 25, "length_mm": 25}
    place = {"x_mm": 400.0, "y_mm": 300.0, "z_mm": 0.0, "heading_deg": 90.0}
    return {"shape": shape, **place, "best_visible_rim": visible}


@pytest.mark.parametrize(
    ("x_mm", "visible", "said"),
    [
        (401.0, 1.0, (1.0, 1.0)),
        (412.0, 1.0, (0.0, program.OVERLAP_WEIGHT)),
        (500.0, 1.0, (0.0, 1.0)),
        (401.0, 0.1, None),
    ],
    ids=["a base", "half beside it", "nothing", "a base that no photo shows"],
)
def test_a_place_is_judged_by_what_stands_there(
    x_mm: float, visible: float, said: tuple[float, float] | None
) -> None:
    rows = list(program.rows_of(asked_at(x_mm), [piece(visible)]))
    assert {tuple(row[:2]) for row in rows} == ({said} if said else set())


def test_true_bases_are_brought_into_the_frame_of_the_program() -> None:
    """Where markers lie anywhere, both frames have an origin and axes of their own."""
    pose = PHOTO.calibration.camera.T_camera_board
    turn, shift = np.eye(3), np.array([120.0, -40.0, 0.0])
    turn[:2, :2] = [[0.6, -0.8], [0.8, 0.6]]  # by 53.13 degrees
    rotation = pose.rotation @ turn.T
    camera = {"rotation": rotation, "translation_mm": pose.translation_mm - rotation @ shift}
    x_mm, y_mm, _ = turn @ [400.0, 300.0, 0.0] + shift
    true = {**piece(1.0), "x_mm": x_mm, "y_mm": y_mm, "heading_deg": 90 + 53.1301}
    (found,) = program._in_frame_of(PHOTO, {"camera": camera}, [true])
    place = [found[name] for name in ("x_mm", "y_mm", "heading_deg")]
    assert place == pytest.approx([400.0, 300.0, 90.0], abs=1e-3)


def test_a_place_counts_by_all_photos_and_by_any_two() -> None:
    rows = np.array(list(program.rows_of(asked_at(400.0), [piece(1.0)])))
    by_all, features = rows[:, program.BY_ALL - 1], rows[:, FEATURES - 1 :]
    assert by_all.tolist() == [0, 0, 0, 1]
    assert features[:, 1] == pytest.approx([0.5, 1.0, 1.5, 1.0])  # the mean of what each says
    assert features[:, 2] == pytest.approx([2.4, 2.4, 2.4, 3.6])  # the sum over 12 stretches


def judged_rows(weights: Array, tables: int = 4, places: int = 4000) -> Array:
    """Rows of tables on which bases stand as often as the weights say."""
    rng = np.random.default_rng(5)
    features = np.column_stack([np.ones(places), rng.normal(size=(places, 3)) * [1.5, 4, 1.5]])
    is_base = rng.random(places) < 1 / (1 + np.exp(-features @ weights))
    plain = np.ones(places)
    return np.column_stack([np.arange(places) % tables, is_base, plain, plain, features])


def test_the_weights_by_which_bases_stand_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = np.array(list(load_coefficients("rank_evidence").values()))
    np.savez(tmp_path / "rows.npz", rows=judged_rows(truth))
    monkeypatch.setattr(program, "WEIGHTS", tmp_path)
    program.main([str(tmp_path), "--rows", str(tmp_path / "rows.npz"), "--write"])
    text = (tmp_path / "rank_evidence.json").read_text(encoding="utf-8")
    assert json.loads(text)["coefficients"] == pytest.approx(truth.tolist(), abs=0.25)
    assert json.loads(text)["features"] == list(load_coefficients("rank_evidence"))
    assert capsys.readouterr().out.endswith(text)


def test_rows_that_count_less_pull_less() -> None:
    rows = judged_rows(np.array([0.0, 1.0, 0.0, 0.0]))
    others = rows.copy()
    others[:, program.IS_BASE] = 0
    constants = []
    for counts in (0.03, 1.0):
        others[:, program.COUNTS] = counts
        constants.append(program._fitted(np.concatenate([rows, others]))[0])
    assert -0.3 < constants[0] < 0.1
    assert constants[1] < -1


def test_tables_without_bases_fit_nothing(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="places with a base and places without"):
        program.main([str(tmp_path)])
