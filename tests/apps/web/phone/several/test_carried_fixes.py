"""Corrections after another photo: each goes on about the piece that stands where its own piece stood."""

from dataclasses import replace
from typing import Any

import pytest

from overruler.apps.web.phone.several.carried_fixes import carry_fixes
from overruler.bases import Base
from overruler.scene import Piece, Scene, Table

BASE = Base.circle(30)


def scene(*pieces: tuple[str, float, float], log: tuple[dict[str, Any], ...] = ()) -> Scene:
    return Scene(
        game="legion",
        board=Table(900, 600),
        pieces=tuple(Piece(name, BASE, x, y) for name, x, y in pieces),
        extra={"fixes": list(log)} if log else {},
    )


FOUND = scene(("p01", 100, 100), ("p02", 200, 100), ("p03", 300, 100))
NEW = scene(("p01", 50, 300), ("p02", 101, 99), ("p03", 202, 100), ("p04", 299, 101))
"""The same three pieces by both photos, and one more to their left: the ids have moved on by one."""


def carried(
    fix: dict[str, Any], corrected: Scene, new: Scene = NEW, piece_id: str | None = None
) -> list[dict[str, Any]]:
    log = ({"do": fix["do"], "id": piece_id or fix["id"]},)
    return carry_fixes([fix], FOUND, replace(corrected, extra={"fixes": list(log)}), new)


def test_a_name_goes_with_its_piece() -> None:
    fix = {"do": "name", "id": "p01", "unit": "Guards"}
    assert carried(fix, FOUND) == [{**fix, "id": "p02"}]


def test_what_was_removed_stays_removed() -> None:
    left = scene(("p01", 100, 100), ("p03", 300, 100))
    assert carried({"do": "remove", "id": "p02"}, left) == [{"do": "remove", "id": "p03"}]


def test_a_correction_of_what_is_gone_is_dropped() -> None:
    without = scene(("p01", 200, 100), ("p02", 300, 100))
    assert carried({"do": "confirm", "id": "p01"}, FOUND, without) == []


def test_what_both_photos_find_where_somebody_put_it_needs_no_hand() -> None:
    added = scene(("p01", 100, 100), ("p02", 200, 100), ("p03", 300, 100), ("p04", 51, 300))
    fix = {"do": "add", "base": "30", "xy_px": [10, 20]}
    assert carried(fix, added, piece_id="p04") == []


def test_what_somebody_put_where_no_photo_finds_a_base_stays() -> None:
    added = scene(("p01", 100, 100), ("p02", 200, 100), ("p03", 300, 100), ("p04", 500, 500))
    fix = {"do": "add", "base": "30", "xy_px": [10, 20], "unit": "Guards"}
    (kept,) = carried(fix, added, piece_id="p04")
    assert kept == {**fix, "id": "p05"}


def with_photos(scene: Scene, *files: str) -> Scene:
    return replace(scene, extra={**scene.extra, "photos": [{"file": file} for file in files]})


@pytest.mark.parametrize(
    ("files", "place"),
    [
        (["new/1.jpg", "new/2.jpg", "new/3.jpg"], {"xy_px": [10, 20], "photo": 1}),
        (["new/2.jpg", "new/3.jpg"], {"xy_px": [10, 20]}),
        (["new/1.jpg", "new/3.jpg"], {"xy_mm": [500, 500]}),
    ],
)
def test_a_place_in_a_photo_is_in_that_photo_still(files: list[str], place: dict[str, Any]) -> None:
    found = with_photos(FOUND, "old/1.jpg", "old/2.jpg")
    fix = {"do": "add", "base": "30", "xy_px": [10, 20], "photo": 1}
    added = scene(("p01", 100, 100), ("p04", 500, 500), log=({"do": "add", "id": "p04"},))
    (kept,) = carry_fixes([fix], found, added, with_photos(NEW, *files))
    assert kept == {"do": "add", "id": "p05", "base": "30", **place}


def test_a_chain_of_corrections_about_one_piece() -> None:
    """Named, then put into a unit by its new name: both follow the piece."""
    fixes = [
        {"do": "name", "id": "p01", "new_id": "Vader"},
        {"do": "name", "id": "Vader", "unit": "Empire"},
    ]
    named = scene(
        ("Vader", 100, 100),
        ("p02", 200, 100),
        ("p03", 300, 100),
        log=({"do": "name", "id": "p01", "new_id": "Vader"}, {"do": "name", "id": "Vader"}),
    )
    assert carry_fixes(fixes, FOUND, named, NEW) == [{**fixes[0], "id": "p02"}, fixes[1]]
