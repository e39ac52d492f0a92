"""Which hexagons are looked for: those that are named, or the catalogue's where all of it is."""

import pytest

from overruler.bases import HEXAGON_WIDTHS_MM, Base, catalogue
from overruler.vision.hexagons.wanted import NO_HEXAGONS, WantedHexagons

HEXAGON, DISC = Base.hexagon(30.0), Base.circle(32.0)


def test_of_the_whole_catalogue_all_its_hexagons_are_wanted() -> None:
    wanted = WantedHexagons.of(catalogue(None))
    assert wanted.widths_mm == HEXAGON_WIDTHS_MM
    assert not wanted.are_named
    assert not wanted.stand_ins


@pytest.mark.parametrize("bases", [catalogue("legion"), [DISC], []])
def test_a_game_or_sizes_that_name_none_want_none(bases: list[Base]) -> None:
    assert WantedHexagons.of(bases).widths_mm == NO_HEXAGONS.widths_mm == ()


def test_named_hexagons_have_round_stand_ins_and_likelier_tables() -> None:
    wanted = WantedHexagons.of([DISC, Base.hexagon(40.0), HEXAGON])
    assert wanted.widths_mm == (30, 40)
    assert wanted.stand_ins[HEXAGON.as_round] == HEXAGON
    assert wanted.rounds == (DISC,)
    assert wanted.table_share > WantedHexagons.of(catalogue(None)).table_share
