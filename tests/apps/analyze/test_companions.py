"""What a page says of the files beside it: ways that lead there, and nothing of the machine."""

import os
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from overruler.apps.analyze.companions import film_addresses, relative_address

NAMES = st.text("aß ?#:%.\\", min_size=1, max_size=6)
FOLDERS = st.lists(NAMES.filter(lambda name: name not in (".", "..")), max_size=3)
posix = pytest.mark.skipif(os.name == "nt", reason="ways of another kind")


@posix
@given(FOLDERS, FOLDERS, NAMES.filter(lambda name: name not in (".", "..")))
def test_a_way_leads_from_the_page_to_the_film(
    here: list[str], there: list[str], name: str
) -> None:
    folder, film = Path("/games", *here), Path("/games", *there, name)
    if folder == film or film in folder.parents:
        return
    address = relative_address(folder, film)
    assert not address.startswith("/")
    assert ":" not in address.split("/")[0]
    assert not set(address) & set("?#")
    assert os.path.normpath(folder / unquote(address)) == str(film)


@posix
def test_nothing_is_told_of_folders_that_the_page_does_not_share() -> None:
    assert relative_address(Path("/tmp/out/game"), Path("/home/anna/game.mkv")) == ""
    where = film_addresses(Path("/tmp/out/game"), [Path("/home/anna/my game.mkv")])
    assert where == ("my%20game.mkv",)


@posix
def test_a_film_is_looked_for_where_it_is_and_beside_the_page() -> None:
    film, drawn = Path("/a/game.mkv"), Path("/a/out/game/drawn.mp4")
    where = film_addresses(Path("/a/out/game"), [film, drawn])
    assert where == ("../../game.mkv", "drawn.mp4", "game.mkv")
