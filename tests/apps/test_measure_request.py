"""Requests for a measurement: the same by the command line, by JSON and by recorded arguments."""

import argparse
from pathlib import Path

import pytest

from overruler.apps import measure
from overruler.apps.measure.recorded_arguments import parse_arguments
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.errors import BadInput

FULL = MeasureRequest(
    photo=Path("photo.jpg"),
    more=(Path("photo2.jpg"), Path("photo3.png")),
    beside=(Path("one.jpg"), Path("two.jpg")),
    board=Path("board.toml"),
    marker_mm=0.1 + 0.2,
    point=("1,2=3,4", "-5,6=7,8"),
    dictionary="auto",
    lens=Path("lens.toml"),
    lens_of_photo=("2=lens2.toml",),
    game="legion",
    terrain=Path("terrain.toml"),
    fix=Path("fix.json"),
    bases="27,skiff",
    own_base=("skiff=66x38o",),
    player=("red=Anna Ö.", "blue=Ben"),
    house_rule=("legion.ranged_in_contact=false",),
    units="in",
    ask=('{"question": "range"}',),
    scene=Path("out.json"),
    picture=Path("out.png"),
    doubt=Path("doubt.png"),
    csv=Path("pieces.csv"),
    json=True,
)
BARE = MeasureRequest(Path("photo.jpg"), marker_mm=60.0)


@pytest.mark.parametrize("request_", [FULL, BARE], ids=["full", "bare"])
def test_a_request_comes_back_from_its_records(request_: MeasureRequest) -> None:
    assert MeasureRequest.from_json(request_.to_json()) == request_
    assert parse_arguments(request_.to_arguments()) == request_


def test_the_fields_are_the_options_of_the_command_line() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    measure.add_arguments(parser)
    options = set(vars(parser.parse_args(["photo.jpg"])))
    of_the_run = {"each", "watch", "jobs", "quiet", "verbose", "log"}  # no part of a measurement
    assert set(MeasureRequest.__slots__) - {"more"} == options - of_the_run
    several = parser.parse_args(["photo.jpg", "photo2.jpg"])
    assert MeasureRequest.from_namespace(several).more == (Path("photo2.jpg"),)
    assert MeasureRequest.from_namespace(parser.parse_args(["photo.jpg"])) == MeasureRequest(
        Path("photo.jpg")
    )


def test_the_files_of_a_request_are_found_in_a_folder() -> None:
    moved = BARE.in_folder(Path("store"))
    assert (moved.photo, moved.board, moved.marker_mm) == (Path("store/photo.jpg"), None, 60.0)
    found = FULL.in_folder(Path("store"))
    assert found.beside == (Path("store/one.jpg"), Path("store/two.jpg"))
    assert found.more == (Path("store/photo2.jpg"), Path("store/photo3.png"))
    assert found.lens_of_photo == ("2=store/lens2.toml",)


@pytest.mark.parametrize(
    "arguments", [["--help"], ["photo.jpg", "--marker-mm=x"], [], ["a", "--more=b"]]
)
def test_recorded_arguments_that_make_no_sense_are_bad_input(arguments: list[str]) -> None:
    with pytest.raises(BadInput, match="the recorded arguments make no sense"):
        parse_arguments(arguments)
