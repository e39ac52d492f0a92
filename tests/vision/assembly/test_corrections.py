"""What people correct is measured again from where they point, or stands at their word with its doubt."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from overruler.bases import Base
from overruler.board import Board
from overruler.calibration import JOINT_SIZE
from overruler.errors import BadInput
from overruler.fixes import Fix, read_fixes
from overruler.geometry.covariance import Covariance
from overruler.reading import Node
from overruler.referee import Referee
from overruler.report import JointErrors, Report, TablePhoto
from overruler.scene import Piece, Scene, Terrain
from overruler.vision.assembly.corrections import apply_corrections
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, eight_markers, photo

RIM = (0.03, 0.03, 0.04)
TOP_MM = 40.0
PLINTHS = [
    Plinth(150, 130, 27.0, rim=RIM),
    Plinth(300, 270, 27.0, z_mm=TOP_MM, rim=RIM),
    Plinth(420, 330, 50.0, rim=RIM),
    Plinth(560, 330, 27.0, rim=RIM),
]
"""In the order that the scene names them: p01 to p04."""
CAMERA = camera_over(25.0)


@pytest.fixture(scope="module")
def report() -> Report:
    frame = photo(CAMERA, PLINTHS, eight_markers())
    board = Board("test", 45.0, "DICT_4X4_50", *BOARD_MM, eight_markers())
    return Referee(board, bases=[Base.circle(27), Base.circle(50)]).look(frame)


def fixes(*entries: dict[str, Any]) -> tuple[Fix, ...]:
    return read_fixes(Node({"schema": "overruler/fix/1", "fix": list(entries)}, "fix.json"))


def fixed(report: Report, *entries: dict[str, Any]) -> Report:
    return apply_corrections(report, fixes(*entries))


def piece(report: Report, name: str) -> Piece:
    return next(piece for piece in report.scene.pieces if piece.id == name)


def off_mm(piece: Piece, plinth: Plinth) -> float:
    return float(np.hypot(piece.x_mm - plinth.x_mm, piece.y_mm - plinth.y_mm))


def middle_px(plinth: Plinth) -> list[float]:
    """Where a careless person points at the middle of a base."""
    u, v = CAMERA.project(np.array([plinth.x_mm, plinth.y_mm, plinth.z_mm]))
    return [float(u) + 1.5, float(v) - 1.5]


def test_every_piece_says_how_sure_and_how_much_of_it_was_seen(report: Report) -> None:
    assert [piece.id for piece in report.scene.pieces] == ["p01", "p02", "p03", "p04"]
    for written in report.scene.to_json()["pieces"]:
        assert 0.5 < written["score"] <= 1
        assert 0.5 < written["visible"] <= 1
        assert 0.5 < written["probability"] <= 1
        assert "by_hand" not in written


def test_nothing_to_correct_changes_nothing(report: Report) -> None:
    assert apply_corrections(report, ()) is report


def test_what_is_removed_is_gone_and_the_others_keep_their_names(report: Report) -> None:
    done = fixed(report, {"do": "remove", "id": "p02"})
    assert done.scene.pieces == tuple(p for p in report.scene.pieces if p.id != "p02")
    assert [d.base for d in done.detections] == [p.base for p in done.scene.pieces]
    assert report.scene.covariance is not None
    assert done.scene.covariance is not None
    assert np.allclose(
        done.scene.covariance.cross_covariance(0, 2), report.scene.covariance.cross_covariance(0, 3)
    )
    assert done.scene.extra["fixes"] == [{"do": "remove", "id": "p02"}]


@pytest.mark.parametrize("name", ["p03", "p04"])
def test_a_base_that_is_pointed_at_is_measured_as_if_it_had_been_found(
    report: Report, name: str
) -> None:
    plinth, before = PLINTHS[int(name[1:]) - 1], piece(report, name)
    entry = {
        "do": "add",
        "base": plinth.diameter_mm,
        "xy_px": middle_px(plinth),
        "player": "rebels",
        "unit": "squad",
    }
    done = fixed(report, {"do": "remove", "id": name}, entry)
    new = done.scene.pieces[-1]
    assert (new.id, new.base, new.player, new.unit) == ("p05", before.base, "rebels", "squad")
    assert off_mm(new, plinth) < 0.3
    assert new.extra["fitted"]
    assert new.extra["score"] > 0.5
    assert np.allclose(
        np.array(new.covariance_mm2), np.array(before.covariance_mm2), rtol=0.5, atol=0.02
    )


def test_a_piece_is_moved_to_the_base_that_stands_there(report: Report) -> None:
    swapped = fixed(
        report,
        {"do": "name", "id": "p01", "player": "rebels", "leader": True},
        {"do": "remove", "id": "p04"},
        {"do": "move", "id": "p01", "xy_mm": [PLINTHS[3].x_mm + 1, PLINTHS[3].y_mm - 1]},
    )
    moved = piece(swapped, "p01")
    assert off_mm(moved, PLINTHS[3]) < 0.3
    assert (moved.player, moved.leader) == ("rebels", True)
    assert moved.extra["corrections"] == ["name", "move"]
    assert moved.extra["by_hand"] is True
    assert moved.reason_for_doubt is None
    assert [p.id for p in swapped.scene.pieces] == ["p01", "p02", "p03"]


@pytest.mark.parametrize("sigma_px", [2.0, 6.0])
def test_where_the_photo_shows_nothing_a_person_is_taken_at_their_word(
    report: Report, sigma_px: float
) -> None:
    entry = {"do": "move", "id": "p01", "xy_mm": [250, 420], "sigma_px": sigma_px}
    moved = piece(fixed(report, entry), "p01")
    assert not moved.extra["fitted"]
    assert "image" not in moved.extra
    assert moved.reason_for_doubt == {"by_hand": True}
    assert moved.extra["visible"] == 0
    bow = 0.3  # how far the table's bow may have moved the place, and does not
    assert np.hypot(moved.x_mm - 250, moved.y_mm - 420) < bow
    sigma_mm = sigma_px * float(report.calibration.camera.mm_per_px(np.array([250, 420, 0.0])))
    assert np.sqrt(np.linalg.det(np.array(moved.covariance_mm2))) == pytest.approx(
        sigma_mm**2, rel=0.3
    )


def test_who_points_beside_a_base_does_not_mean_it(report: Report) -> None:
    entry = {"do": "add", "base": 27, "xy_mm": [PLINTHS[3].x_mm - 9, PLINTHS[3].y_mm]}
    beside = fixed(report, {"do": "remove", "id": "p04"}, entry).scene.pieces[-1]
    assert not beside.extra["fitted"]
    assert off_mm(beside, PLINTHS[3]) == pytest.approx(9, abs=0.3)
    meant = fixed(report, {"do": "remove", "id": "p04"}, entry | {"sigma_px": 6}).scene.pieces[-1]
    assert meant.extra["fitted"]
    assert off_mm(meant, PLINTHS[3]) < 0.3


def test_a_size_is_corrected_where_the_photo_agrees_and_doubted_where_it_does_not(
    report: Report,
) -> None:
    wrong = replace(
        report.detections[2],
        base=Base.circle(27),
        xy_mm=report.detections[2].xy_mm + np.array([6, 3]),
    )
    scene = replace(
        report.scene, pieces=tuple(replace(p, base=Base.circle(27)) for p in report.scene.pieces)
    )
    mistaken = replace(
        report, detections=(*report.detections[:2], wrong, report.detections[3]), scene=scene
    )
    right = piece(fixed(mistaken, {"do": "resize", "id": "p03", "base": "50"}), "p03")
    assert right.extra["fitted"]
    assert off_mm(right, PLINTHS[2]) < 0.3
    false = piece(fixed(report, {"do": "resize", "id": "p03", "base": "100"}), "p03")
    assert not false.extra["fitted"]
    assert np.sqrt(np.array(false.covariance_mm2).trace()) > 5
    assert off_mm(false, PLINTHS[2]) < 0.3


def test_a_piece_of_another_size_shares_its_hill_s_doubt_as_before(report: Report) -> None:
    moved, farther = np.array([0.5, 0.2]), np.array([1.0, 0.4])
    on_hill = replace(
        report.detections[2], shared_shifts_mm={"h1": moved}, rare_shifts_mm={"h1": farther}
    )
    there = replace(report, detections=(*report.detections[:2], on_hill, report.detections[3]))
    again = fixed(there, {"do": "resize", "id": "p03", "base": "50"}).detections[2]
    assert again is not on_hill
    assert again.shared_shifts_mm["h1"] == pytest.approx(moved)
    assert again.rare_shifts_mm["h1"] == pytest.approx(farther)


def test_a_piece_is_told_to_stand_higher(report: Report) -> None:
    before, after = (
        piece(one, "p02")
        for one in (report, fixed(report, {"do": "stand", "id": "p02", "z_mm": TOP_MM}))
    )
    assert off_mm(before, PLINTHS[1]) > 8
    assert off_mm(after, PLINTHS[1]) < 1
    assert (after.z_mm, after.extra["sigma_z_mm"], after.extra["corrections"]) == (
        TOP_MM,
        1.0,
        ["stand"],
    )
    vague = piece(
        fixed(report, {"do": "stand", "id": "p02", "z_mm": TOP_MM, "sigma_mm": 10}), "p02"
    )
    assert np.array(vague.covariance_mm2).trace() > 20 * np.array(after.covariance_mm2).trace()


def test_what_is_put_on_a_hill_stands_at_its_height(report: Report) -> None:
    outline = ((270.0, 215.0), (350.0, 215.0), (350.0, 300.0), (270.0, 300.0))
    hill = replace(report, scene=replace(report.scene, terrain=(Terrain("mesa", outline, TOP_MM),)))
    entry = {"do": "add", "base": 27, "xy_px": middle_px(PLINTHS[1])}
    done = fixed(hill, {"do": "remove", "id": "p02"}, entry)
    assert done.scene.pieces[-1].z_mm == TOP_MM
    assert done.scene.pieces[-1].extra["on"] == "mesa"
    assert off_mm(done.scene.pieces[-1], PLINTHS[1]) < 1
    with pytest.raises(BadInput, match="goes by the name of a piece or of terrain"):
        fixed(hill, {"do": "name", "id": "p01", "unit": "mesa"})


def test_names_are_given_in_order(report: Report) -> None:
    done = fixed(
        report,
        {
            "do": "name",
            "id": "p01",
            "new_id": "luke",
            "unit": "squad",
            "kind": "device",
            "stats": {"size": 2},
        },
        {"do": "turn", "id": "luke", "heading_deg": 450},
    )
    luke = done.scene.pieces[0]
    assert (luke.id, luke.unit, luke.kind, luke.stats, luke.heading_deg) == (
        "luke",
        "squad",
        "device",
        {"size": 2},
        90,
    )
    assert luke.extra["corrections"] == ["name", "turn"]
    assert (luke.x_mm, luke.covariance_mm2) == (
        piece(report, "p01").x_mm,
        piece(report, "p01").covariance_mm2,
    )
    assert done.scene.extra["fixes"][0] == {"do": "name", "id": "p01", "new_id": "luke"}
    assert Scene.from_json(done.scene.to_json()).to_json() == done.scene.to_json()


def test_one_after_the_other_is_all_at_once(report: Report) -> None:
    entries = (
        {"do": "remove", "id": "p04"},
        {"do": "add", "base": 27, "xy_mm": [PLINTHS[3].x_mm, PLINTHS[3].y_mm]},
        {"do": "name", "id": "p05", "player": "empire"},
    )
    step = report
    for entry in entries:
        step = fixed(step, entry)
    assert step.scene.to_json() == fixed(report, *entries).scene.to_json()


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        (
            [{"do": "remove", "id": "p09"}],
            "fix[0]: there is no piece 'p09' to remove; there are: p01, p02, p03, p04",
        ),
        (
            [{"do": "remove", "id": "p01"}, {"do": "turn", "id": "p01", "heading_deg": 9}],
            "fix[1]: there is no piece",
        ),
        (
            [{"do": "move", "id": "p01", "xy_px": [-40, 10]}],
            "fix[0]: points outside the photo of 1200 × 900",
        ),
        ([{"do": "move", "id": "p01", "xy_mm": [9000, 10]}], "fix[0]: points outside the photo"),
        (
            [{"do": "move", "id": "p01", "xy_mm": [560, 331]}],
            "fix[0]: p01 would stand where p04 does",
        ),
        (
            [{"do": "add", "base": 27, "xy_mm": [150, 131]}],
            "fix[0]: p05 would stand where p01 does",
        ),
        ([{"do": "add", "id": "p01", "base": 27, "xy_mm": [250, 420]}], "fix[0]: 'p01' is taken"),
        ([{"do": "name", "id": "p01", "new_id": "p02"}], "fix[0]: 'p02' is taken"),
        ([{"do": "name", "id": "p01", "unit": "p02"}], "fix[0]: the unit 'p02' goes by the name"),
        (
            [{"do": "stand", "id": "p01", "z_mm": 790}],
            "fix[0]: z_mm: 790 is too high, the camera is",
        ),
    ],
)
def test_what_cannot_be_done_is_refused_with_its_entry(
    report: Report, entries: list[Any], said: str
) -> None:
    with pytest.raises(BadInput) as refused:
        fixed(report, *entries)
    assert str(refused.value).startswith(f"fix.json: {said}")


def test_a_person_s_word_that_it_is_a_piece_is_the_end_of_that_doubt(report: Report) -> None:
    first = report.scene.pieces[0]
    doubted = replace(first, extra={**first.extra, "probability": 0.7})
    scene = replace(report.scene, pieces=(doubted, *report.scene.pieces[1:]))
    told = fixed(replace(report, scene=scene), {"do": "confirm", "id": "p01"})
    assert doubted.reason_for_doubt is not None
    assert piece(told, "p01").extra["probability"] == 1
    assert piece(told, "p01").reason_for_doubt is None
    assert "by_hand" not in piece(told, "p01").extra
    assert piece(told, "p01").extra["corrections"] == ["confirm"]


def test_what_a_person_placed_stays_so_whatever_is_corrected_next(report: Report) -> None:
    placed = fixed(report, {"do": "move", "id": "p01", "xy_mm": [250, 420]})
    named = fixed(placed, {"do": "name", "id": "p01", "player": "Ann"})
    assert piece(named, "p01").reason_for_doubt == {"by_hand": True}
    assert named.scene.extra["fixes"][1] == {"do": "name", "id": "p01"}


def test_names_and_removals_keep_the_doubt_that_several_photos_gave(report: Report) -> None:
    """A place that somebody shows is measured in one photo alone; a name changes no place."""
    count = len(report.scene.pieces)
    known = Covariance((np.eye(2 * count) * 0.04 + 0.01).tolist())
    photos = (TablePhoto(report.frame, report.calibration),) * 2
    errors = np.zeros((2 * count + 3 * JOINT_SIZE,) * 2)
    errors[: 2 * count, : 2 * count] = known.array
    fused = replace(
        report,
        scene=replace(report.scene, covariance=known),
        photos=photos,
        errors=JointErrors(errors, errors, rare_probability=1.0),
    )
    name = {"do": "name", "id": "p02", "new_id": "Vader"}
    after = fixed(fused, name, {"do": "remove", "id": "p01"}).scene.covariance
    assert after is not None
    assert after.rows == known.of_points(range(1, count)).rows
