"""What is drawn keeps clear of what it is about: numbers off bases, labels off what the words hide."""

from dataclasses import replace

import numpy as np

from overruler.picture import annotated_svg, report_drawing
from overruler.picture.drawable_ruling import drawable_ruling, drawable_rulings
from overruler.picture.label_placement import LabelLayout
from overruler.picture.painters import base_outline, draw_range_lines, range_arcs
from overruler.picture.view import View
from tests.reports import RULINGS, SIZE_PX, camera, report


def test_contact_is_no_line_of_the_ruler() -> None:
    told = drawable_ruling(report().scene, replace(RULINGS[0], lines_mm=(0.0, 152.4)))
    assert [name for name, _ in range_arcs(View(camera(), SIZE_PX), told)] == ["1"]


def test_a_number_of_a_range_line_covers_no_base_where_its_other_end_is_free() -> None:
    view, told = View(camera(), SIZE_PX), drawable_rulings(report().scene, RULINGS)[1]
    ends = [arc[[0, -1]] for _, arc in range_arcs(view, told)]
    room = LabelLayout(SIZE_PX)
    for first, _ in ends:
        room.reserve_box([*(first - 20), *(first + 20)])
    drawn, both = draw_range_lines(view, told, room), draw_range_lines(view, told)
    assert (drawn.count("<text"), both.count("<text")) == (len(ends), 2 * len(ends))
    middles = np.array([(box[:2] + box[2:]) / 2 for box in room.boxes])
    assert all(np.linalg.norm(middles - last, axis=1).min() < 1e-6 for _, last in ends)


def test_who_stands_under_the_words_has_no_label() -> None:
    table = report()
    shown, view = annotated_svg(table), View(camera(), SIZE_PX)
    room = report_drawing._reserve_pieces(
        view, table, drawable_rulings(table.scene, table.verdicts)
    )
    for piece in table.scene.pieces:
        hidden = [
            np.array(
                [*(base_outline(view, piece).mean(0) - 5), *(base_outline(view, piece).mean(0) + 5)]
            )
        ]
        labels = report_drawing._draw_labels(view, table, room, {}, [], hidden)
        assert {one.id for one in table.scene.pieces if f">{one.id}<" in labels} == {
            one.id for one in table.scene.pieces if one is not piece
        }
        assert f">{piece.id}<" in shown
