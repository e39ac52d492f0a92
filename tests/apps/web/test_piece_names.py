"""Names of pieces: whose they are and where the photo shows them; what a person named keeps its name."""

from dataclasses import replace

from overruler.apps.web.piece_names import piece_names
from overruler.apps.web.ready_scenes import camera_view
from tests.apps.web.desk import scene


def test_every_piece_has_a_name_of_its_own_that_says_where_it_is() -> None:
    table = scene()
    first, second, third, *rest = table.pieces
    table = replace(
        table,
        pieces=(
            replace(first, unit="Guards", leader=True),
            replace(second, player="Blue"),
            replace(third, id="Vader"),
            *rest,
        ),
    )
    names = piece_names(table, camera_view(table))
    assert names["p01"] == "Guards (leader)"
    assert names["p02"] == "Blue 27 mm (near right)"
    assert names["Vader"] == "Vader"
    assert len(set(names.values())) == len(names)


def test_pieces_with_the_same_words_are_numbered() -> None:
    table = scene()
    first, second, *rest = table.pieces
    beside = replace(second, x_mm=first.x_mm + 30, y_mm=first.y_mm)
    table = replace(table, pieces=(first, beside, *rest))
    names = piece_names(table, camera_view(table))
    assert [names["p01"], names["p02"]] == ["27 mm (near left, 1)", "27 mm (near left, 2)"]
