"""Whose a piece is: rendered rings of known colours, and halves of the board."""

import colorsys
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from overruler.bases import Base
from overruler.detections import Detection
from overruler.fixes import read_fixes
from overruler.frame import Frame
from overruler.house_rules import RING_HUES_DEG, HouseRules
from overruler.reading import Node
from overruler.report import Report
from overruler.scene import Piece, Scene, Table
from overruler.vision.assembly.corrections import apply_corrections
from overruler.vision.assembly.owners import apply_house_rules
from overruler.vision.tracking.table_state import TableState
from overruler.vision.tracking.watch import Watch
from synthetic.flat_canvas import Colour
from synthetic.flat_table import Plinth
from tests.tables import BOARD_MM, camera_over, exact, photo

CAMERA = camera_over(tilt_deg=30)
GREY = (0.2, 0.2, 0.2)


def paint(hue_deg: float, saturation: float = 0.75, value: float = 0.7) -> Colour:
    """Linear light of a colour on the screen."""
    red, green, blue = (c**2.2 for c in colorsys.hsv_to_rgb(hue_deg / 360, saturation, value))
    return blue, green, red


def table(rings: Mapping[tuple[float, float], Colour], diameter_mm: float = 32.0) -> Report:
    """A photo of bases with rings of these colours, and what would be found in it."""
    plinths = [
        Plinth(*at, diameter_mm, taper_mm=0.5, rim=colour, top=GREY) for at, colour in rings.items()
    ]
    turn = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    detections, pieces = [], []
    for number, (x, y) in enumerate(rings, 1):
        edge = np.stack(
            [x + diameter_mm / 2 * np.cos(turn), y + diameter_mm / 2 * np.sin(turn), 0 * turn], -1
        )
        middle, outline = CAMERA.project(np.array([[x, y, 0.0]]))[0], CAMERA.project(edge)
        found = Detection(
            Base.circle(diameter_mm),
            np.array([x, y]),
            0.0,
            0.0,
            np.eye(2),
            np.zeros((2, 15)),
            0.9,
            0.9,
            middle,
            outline,
        )
        detections.append(found)
        pieces.append(Piece(f"p{number:02}", found.base, x, y))
    scene = Scene("legion", Table(*BOARD_MM), tuple(pieces))
    return Report(photo(CAMERA, plinths), exact(CAMERA), tuple(detections), scene)


def players(report: Report, **named: str) -> list[str | None]:
    return [piece.player for piece in apply_house_rules(report, HouseRules(named)).scene.pieces]


@pytest.mark.parametrize(("saturation", "value"), [(0.9, 0.9), (0.6, 0.5)])
def test_a_ring_names_the_player_of_its_colour_and_no_other(
    saturation: float, value: float
) -> None:
    rings = {
        (100.0 + 70 * k, 130.0 + 40 * (k % 3)): hue for k, hue in enumerate(RING_HUES_DEG.values())
    }
    report = table({at: paint(hue, saturation, value) for at, hue in rings.items()})
    everyone = {name: name.title() for name in RING_HUES_DEG}
    assert players(report, **everyone) == list(everyone.values())
    for k, hue in enumerate(RING_HUES_DEG.values()):
        far = {
            name: name
            for name, other in RING_HUES_DEG.items()
            if abs((other - hue + 180) % 360 - 180) > 40
        }
        assert players(report, **far)[k] is None


def test_rims_without_a_colour_are_nobodys() -> None:
    shades: list[Colour] = [(0.03, 0.03, 0.03), (0.5, 0.5, 0.5), (0.85, 0.85, 0.85)]
    report = table({(150.0 + 120 * k, 250.0): shade for k, shade in enumerate(shades)})
    assert players(report, **{name: name for name in RING_HUES_DEG}) == [None] * 3
    assert all(
        "player_unsure" not in piece.extra
        for piece in apply_house_rules(report, HouseRules({"red": "Anna"})).scene.pieces
    )


def test_a_ring_of_two_colours_is_said_to_be_unsure() -> None:
    report = table({(250.0, 200.0): paint(0), (450.0, 200.0): paint(220)})
    # what is to the left of the base's middle turns blue
    u, v = np.rint(report.detections[0].center_px).astype(int)
    red = report.frame.pixels.copy()
    red[v - 60 : v + 60, u - 60 : u] = red[v - 60 : v + 60, u - 60 : u, ::-1]
    report = replace(report, frame=replace(report.frame, pixels=red))
    torn, blue = apply_house_rules(report, HouseRules({"red": "Anna", "blue": "Ben"})).scene.pieces
    assert (torn.player, torn.extra["player_unsure"]) == (None, ["Anna", "Ben"])
    assert (blue.player, "player_unsure" in blue.extra) == ("Ben", False)


def test_halves_of_the_board_name_players_but_not_of_who_stands_across_the_middle() -> None:
    middle = BOARD_MM[0] / 2
    report = table({(x, 200.0): GREY for x in (100.0, middle - 15, middle + 17, 600.0)})
    settled = apply_house_rules(report, HouseRules({"left": "Anna", "right": "Ben"})).scene.pieces
    assert [piece.player for piece in settled] == ["Anna", None, "Ben", "Ben"]
    assert settled[1].extra["player_unsure"] == ["Anna", "Ben"]
    alone = apply_house_rules(report, HouseRules({"left": "Anna"})).scene.pieces
    assert [piece.player for piece in alone] == ["Anna", None, None, None]
    assert alone[1].extra["player_unsure"] == ["Anna"]
    assert players(report, near="Cid") == ["Cid"] * 4
    assert players(report, far="Cid") == [None] * 4


def test_signs_that_contradict_each_other_name_nobody() -> None:
    report = table({(100.0, 200.0): paint(0)})
    piece = apply_house_rules(report, HouseRules({"red": "Anna", "left": "Ben"})).scene.pieces[0]
    assert (piece.player, piece.extra["player_unsure"]) == (None, ["Anna", "Ben"])
    assert players(report, red="Anna", left="Anna") == ["Anna"]


def test_a_piece_that_was_known_stays_whose_it_was() -> None:
    report = table({(100.0, 200.0): GREY})
    before = {"p01": replace(report.scene.pieces[0], player="Ben")}
    assert (
        apply_house_rules(report, HouseRules({"left": "Anna"}), before).scene.pieces[0].player
        == "Ben"
    )
    told = replace(
        report, scene=replace(report.scene, pieces=(replace(report.scene.pieces[0], player="Cid"),))
    )
    assert (
        apply_house_rules(told, HouseRules({"left": "Anna"}), before).scene.pieces[0].player
        == "Cid"
    )


def test_a_person_who_names_the_player_ends_the_doubt() -> None:
    report = apply_house_rules(
        table({(100.0, 200.0): paint(0)}), HouseRules({"red": "Anna", "left": "Ben"})
    )
    entry = {"schema": "overruler/fix/1", "fix": [{"do": "name", "id": "p01", "player": "Ben"}]}
    piece = apply_corrections(report, read_fixes(Node(entry, "fix"))).scene.pieces[0]
    assert (piece.player, "player_unsure" in piece.extra) == ("Ben", False)
    assert "player_unsure" in report.scene.pieces[0].extra


def test_in_a_film_a_piece_that_crosses_the_middle_stays_whose_it_was() -> None:
    before, after = (table({(x, 200.0): GREY}) for x in (100.0, 600.0))
    watch = before_rest(before, HouseRules({"left": "Anna", "right": "Ben"}))
    assert [piece.player for piece in rest(watch, before).scene.pieces] == ["Anna"]
    assert [piece.player for piece in rest(watch, after).scene.pieces] == ["Anna"]


def before_rest(report: Report, house: HouseRules) -> Watch:
    class Nobody:
        def look(self, frame: Frame) -> Report:
            return report

        def redetect_bases(self, *_: object) -> tuple[Detection, ...]:
            return ()

        def remeasure_base(self, *_: object) -> None:
            return None

    return Watch(Nobody(), house)


def rest(watch: Watch, report: Report) -> Report:
    """What is told of a table that has come to rest."""
    watch._table = cast(TableState, SimpleNamespace(report=lambda: report))
    watch._unreported = True
    told = watch._rest_report()
    assert told is not None
    return told


def test_nothing_settled_is_nothing_changed() -> None:
    report = table({(100.0, 200.0): paint(0)})
    assert apply_house_rules(report, HouseRules()) is report
