"""What a measured scene records beside itself: it is read as it was written, and nothing else is lost."""

from typing import Any

import pytest

from overruler.bases import Base
from overruler.errors import BadInput
from overruler.reading import Node
from overruler.records import (
    CorrectionRecord,
    HeadingAlternative,
    ImageRecord,
    MovedRecord,
    PieceRecord,
    TerrainRecord,
)
from overruler.scene import Scene

IMAGE = ImageRecord((812.5, 604.0), ((800.0, 600.0), (820.25, 600.5), (812.0, 610.0)))
MEASURED = PieceRecord(
    image=IMAGE,
    score=0.9871,
    visible=0.75,
    also=(Base.circle(28.5), Base("rectangle", 40.0, 40.0, 1.5)),
    heading_modulo_deg=90.0,
    other_headings=(HeadingAlternative(45.0, 0.02),),
    on="h1",
    sigma_z_mm=1.5,
    probability=0.875,
    by_hand=True,
    corrections=("name", "move"),
    fitted=False,
    player_unsure=("Anna", "Ben"),
)
PIECE = {"id": "p01", "base": {"shape": "circle", "diameter_mm": 27}, "x_mm": 50, "y_mm": 60}


def scene_with(piece: dict[str, Any], **more: Any) -> Scene:
    board = {"width_mm": 900, "height_mm": 600}
    known = {"schema": "overruler/scene/1", "game": "legion", "board": board}
    return Scene.from_json({**known, "pieces": [piece], **more})


@pytest.mark.parametrize("record", [PieceRecord(), MEASURED, PieceRecord(fitted=True)])
def test_a_piece_s_record_goes_through_a_scene_and_back(record: PieceRecord) -> None:
    scene = scene_with(PIECE | record.to_json() | {"painted": "red"})
    again = Scene.from_json(scene.to_json()).pieces[0]
    assert PieceRecord.from_json(again.extra) == record
    assert again.extra["painted"] == "red"


def test_nothing_is_written_where_nothing_is_recorded() -> None:
    assert PieceRecord().to_json() == {}
    assert list(MEASURED.to_json())[:3] == ["image", "score", "visible"]


@pytest.mark.parametrize(
    ("extra", "complaint"),
    [
        ({"score": "high"}, "pieces[3].score: expected a number"),
        ({"also": [{"shape": "blob"}]}, "pieces[3].also[0].shape: unknown 'blob'"),
        ({"image": {"center_px": [1, 2], "outline_px": [1]}}, "outline_px: expected points"),
        ({"by_hand": "move"}, "pieces[3].by_hand: expected true or false"),
    ],
)
def test_what_is_wrong_in_a_record_is_named_by_its_path(extra: Any, complaint: str) -> None:
    with pytest.raises(BadInput) as error:
        PieceRecord.from_json(extra, "pieces[3]")
    assert complaint in str(error.value)


@pytest.mark.parametrize(("done", "placed"), [(["name", "move"], True), (["resize"], False)])
def test_files_of_earlier_versions_list_the_corrections(done: list[str], placed: bool) -> None:
    record = PieceRecord.from_json({"by_hand": done, "fitted": True})
    assert (record.by_hand, record.corrections) == (placed, tuple(done))


def test_what_moved() -> None:
    record = MovedRecord("p02", 1, 12.5, 30.0)
    assert MovedRecord.all_in({"moved": [record.to_json()]}) == (record,)
    assert MovedRecord.all_in({}) == ()
    with pytest.raises(BadInput, match=r"moved\[0\].photo: expected a number"):
        MovedRecord.all_in({"moved": [{**record.to_json(), "photo": "second"}]})


def test_terrain_and_corrections() -> None:
    record = TerrainRecord(3.25, 0.875)
    assert TerrainRecord.from_json(record.to_json()) == record
    assert TerrainRecord.from_json({}) == TerrainRecord(None, 1.0)
    for done in (CorrectionRecord("remove", "p02"), CorrectionRecord("name", "p01", "luke", True)):
        assert CorrectionRecord.from_node(Node(done.to_json(), "fix")) == done
