"""What is drawn keeps clear of what it is about: numbers off bases, and words and magnifier off every base."""

from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

from overruler.geometry.pose import Array
from overruler.picture import annotated_pixels, report_drawing
from overruler.picture.drawable_ruling import drawable_ruling, drawable_rulings
from overruler.picture.label_placement import LabelLayout
from overruler.picture.painters import SCALE_FONT_SIZE, draw_range_lines, range_arcs
from overruler.picture.svg import text_plate_size
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Scene, Table
from tests.reports import RULINGS, SIZE_PX, camera, pieces, report


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


@pytest.mark.parametrize("count", [1, 3, 9])
def test_no_plate_covers_a_base_however_full_the_table_is_and_every_ruling_is_told(
    count: int,
) -> None:
    """Bases all over the photo: the words stand below it."""
    spots = [(u, v) for v in range(90, 960, 110) for u in range(90, 1280, 110)]
    crowd = pieces()[:2] + tuple(
        replace(pieces()[0], id=f"q{i}", x_mm=float(x), y_mm=float(y))
        for i, (x, y) in enumerate(camera().unproject(spots))
    )
    told = [replace(RULINGS[0], lines_mm=(445.0,))] * count
    table = replace(report(*told), scene=Scene("legion", Table(900, 600), crowd))
    view = View(camera(), SIZE_PX)
    drawing = report_drawing.draw_on_photo(table)
    assert drawing.strip_px > 0
    assert drawing.size_px == (SIZE_PX[0], SIZE_PX[1] + drawing.strip_px)
    assert annotated_pixels(table).shape[:2] == drawing.size_px[::-1]
    room = report_drawing._reserve_pieces(view, table, drawable_rulings(table.scene, told))
    bases = np.array(room.boxes[: len(crowd)])
    plates = report_drawing._place_plates(view, table, room, drawable_rulings(table.scene, told))
    for box in room.boxes[len(bases) :]:
        if (box[2:] - box[:2]).min() > 100:  # a plate
            assert not overlaps(box, bases).any()
    assert len(plates.parts) == 2
    headlines = [text for text in texts(drawing.document()) if text.startswith("p01 →")]
    assert len(headlines) == count


def test_the_tightest_ruling_leads_and_the_magnifier_shows_it() -> None:
    far, near = RULINGS[1], replace(RULINGS[0], lines_mm=(445.0,), margin_mm=1.0)
    table = report(far, near)
    view, told = View(camera(), SIZE_PX), drawable_rulings(table.scene, table.verdicts)
    assert [claim.to_piece.id for claim in told if claim.to_piece] == ["p02", "p03"]
    room = report_drawing._reserve_pieces(view, table, told)
    plates = report_drawing._place_plates(view, table, room, told)
    assert plates.loupe is not None
    assert np.allclose(plates.loupe.source, view.to_px(told[0].to_mm))
    wide = [replace(far, margin_mm=0.5, lines_mm=(2000.0,)), near]  # the first needs no magnifier
    told = drawable_rulings(table.scene, wide)
    assert report_drawing._place_plates(view, table, room, told).loupe is None


def overlaps(box: Array, others: Array) -> Array:
    """Whether a box (4,) lies on others (N, 4)."""
    apart = (others[:, :2] >= box[2:]) | (others[:, 2:] <= box[:2])
    return np.asarray(~apart.any(1))


def texts(drawing: str) -> list[str]:
    return [text.text or "" for text in ElementTree.fromstring(drawing).iter()]


def marked() -> Report:
    """A table whose markers lie where its warning would stand, with its bases in the middle."""
    table = report()
    near = tuple(replace(piece, x_mm=420 + 40 * k, y_mm=300) for k, piece in enumerate(pieces()))
    side = np.array([(-40, -40), (40, -40), (40, 40), (-40, 40)])
    middles = [(160, 90), (1120, 90), (160, 870), (1120, 870)]
    corners = tuple(np.array(middle) + side for middle in middles)
    scene = replace(table.scene, pieces=near, covariance=None)
    calibration = replace(table.calibration, corners_px=corners)
    return replace(table, calibration=calibration, scene=scene, verdicts=())


def test_warning_scale_and_names_cover_no_marker() -> None:
    """A warning may be about the markers: whoever reads it wants to see them."""
    table = marked()
    drawing = report_drawing.draw_on_photo(table)
    assert drawing.strip_px == 0
    blank = replace(table, frame=replace(table.frame, pixels=np.zeros_like(table.frame.pixels)))
    shown = annotated_pixels(blank)
    assert shown.any()
    for corners in table.calibration.corners_px:
        (left, top), (right, bottom) = corners.min(0).astype(int), corners.max(0).astype(int)
        assert not shown[top:bottom, left:right].any()


def test_the_length_of_the_scale_is_covered_by_no_plate() -> None:
    """It is wider than its bar, which a warning at its side used to cover."""
    table = replace(report(), scene=replace(report().scene, game="xwing"))
    view = View(camera(), SIZE_PX)
    room = LabelLayout(SIZE_PX)
    report_drawing._place_scale_bar(view, table, room)
    text = report_drawing._scale_bar_length(table)[1]
    wide = text_plate_size(text, SCALE_FONT_SIZE * view.unit)[0]
    assert room.boxes[-1][2] - room.boxes[-1][0] >= wide


def test_rulings_and_magnifier_cover_no_marker_where_there_is_room() -> None:
    """Markers lie where the words and the magnifier would stand first."""
    told = replace(RULINGS[0], lines_mm=(445.0,), margin_mm=1.0)
    table = replace(marked(), scene=report().scene, verdicts=(told,))
    side = np.array([(-40, -40), (40, -40), (40, 40), (-40, 40)])
    view, claims = View(camera(), SIZE_PX), drawable_rulings(table.scene, table.verdicts)
    room = report_drawing._reserve_pieces(view, table, claims)
    bare = replace(table, calibration=replace(table.calibration, corners_px=()))
    first = report_drawing._place_plates(view, bare, room, claims)
    assert first.loupe is not None
    words = room.boxes[-2] if len(room.boxes) > 1 else room.boxes[-1]
    middles = [first.loupe.middle, (words[:2] + words[2:]) / 2]
    markers = tuple(np.array(middle) + side for middle in middles)
    table = replace(table, calibration=replace(table.calibration, corners_px=markers))
    room = report_drawing._reserve_pieces(view, table, claims)
    count = len(room.boxes)
    report_drawing._place_plates(view, table, room, claims)
    plates = [box for box in room.boxes[count:] if (box[2:] - box[:2]).min() > 60]
    marked_boxes = np.array([[*one.min(0), *one.max(0)] for one in markers])
    large = [box for box in plates if (box[2:] - box[:2]).max() > 150]
    assert len(large) == 2
    for box in large:
        assert not overlaps(box, marked_boxes).any()
