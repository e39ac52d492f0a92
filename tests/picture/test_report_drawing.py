"""What is drawn lies where it was measured, shows on any ground, and stays in the picture."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest

from overruler import picture
from overruler.errors import BadInput
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.picture import loupe, report_drawing
from overruler.picture.answer_style import CLOSE_STYLE, NO_STYLE, YES_STYLE, AnswerStyle
from overruler.picture.banner import SAFE_SHARE, build_banner
from overruler.picture.drawable_ruling import drawable_ruling, drawable_rulings
from overruler.picture.label_placement import LabelLayout
from overruler.picture.loupe import POINTER_POINTS
from overruler.picture.painters import draw_range_lines, range_arcs
from overruler.picture.raster import MAX_SIDE_PX, output_size, resize_by_area
from overruler.picture.svg import text_plate
from overruler.picture.view import View
from overruler.report import Report
from overruler.scene import Scene, Table
from overruler.verdict import Verdict
from tests.reports import RULINGS, SIZE_PX, camera, pieces, report, verdict

LOOKS = (YES_STYLE, NO_STYLE, CLOSE_STYLE)
MATS = {
    "grass": (40, 110, 70),
    "city": (110, 110, 115),
    "desert": (120, 170, 200),
    "snow": (235, 235, 235),
    "space": (35, 20, 15),
}
"""Blue, green, red."""


def png(data: bytes) -> Array:
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    assert decoded is not None
    return decoded.astype(float)


def cover(drawn: Report) -> Array:
    """How opaque the drawing is at each pixel (H, W), 0 to 1."""
    from overruler.picture.raster import render_png

    return (
        png(
            render_png(
                report_drawing.draw_on_photo(drawn).document(), output_size(drawn.frame.size_px)[0]
            )
        )[..., 3]
        / 255
    )


def on(colour: tuple[int, int, int], *verdicts: Verdict) -> Report:
    """The report on a table of one colour."""
    flat = np.full((SIZE_PX[1], SIZE_PX[0], 3), colour, np.uint8)
    return replace(report(*verdicts), frame=Frame(flat, "flat"))


def luminance(bgr: Array) -> Array:
    """Relative luminance by WCAG 2.2 of pixels (..., 3)."""
    share = bgr / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ [0.0722, 0.7152, 0.2126])


def test_the_svg_is_well_formed_and_names_every_piece_and_ruling() -> None:
    table = report()
    svg = report_drawing.draw_report(table)
    root = ElementTree.fromstring(svg)
    texts = {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {piece.id for piece in table.scene.pieces} <= texts
    assert {
        "p01 → p02: range 3",
        "p01 → p03: too close to call",
        "p03 → p02: past the ruler",
    } <= texts
    assert root.get("viewBox") == "0 0 1280 960"
    assert "nan" not in report_drawing.draw_on_photo(table).document().lower()
    assert "@font-face" in svg
    assert len(list(root.iter("{http://www.w3.org/2000/svg}image"))) == 1


def test_names_cannot_break_the_svg() -> None:
    one, *others = pieces()
    scene = Scene("legion", Table(900, 600), (replace(one, id='<&"p'), *others))
    root = ElementTree.fromstring(report_drawing.draw_report(replace(report(), scene=scene)))
    assert '<&"p' in {text.text for text in root.iter("{http://www.w3.org/2000/svg}text")}


def test_bases_are_drawn_where_the_camera_sees_them() -> None:
    """The drawing covers each base's rim and leaves its middle free."""
    table = report(verdict("p01", "p02", "range 3", 3, {"3": 1.0}))
    opacity = cover(table)
    for piece in table.scene.pieces[2:]:
        rim = [piece.shape.support_point(np.cos(a), np.sin(a)) for a in np.linspace(0, 6, 12)]
        seen = np.rint(camera().project(np.array([(*point, 0.0) for point in rim]))).astype(int)
        assert opacity[seen[:, 1], seen[:, 0]].mean() > 0.7
        u, v = np.rint(camera().project([piece.x_mm, piece.y_mm, 0.0])).astype(int)
        assert opacity[v, u] == 0


def test_the_photo_is_untouched_where_nothing_is_drawn() -> None:
    table = report()
    free = cover(table) == 0
    assert free.mean() > 0.6
    assert np.array_equal(
        png(picture.annotated_bytes(table, ".png"))[free], table.frame.pixels[free]
    )


def test_the_measured_line_runs_between_the_closest_points() -> None:
    table = report(RULINGS[0])
    told = drawable_rulings(table.scene, table.verdicts)[0]
    between = np.linspace(told.from_mm, told.to_mm, 30)[3:-3]
    seen = np.rint(camera().project(np.column_stack([between, np.zeros(len(between))]))).astype(int)
    assert (cover(table)[seen[:, 1], seen[:, 0]] > 0.9).all()


@pytest.mark.parametrize("colour", MATS.values(), ids=MATS)
@pytest.mark.parametrize("ruling", RULINGS, ids=["in", "close", "out"])
def test_a_line_shows_on_every_mat(colour: tuple[int, int, int], ruling: Verdict) -> None:
    """Across the line some edge stands out from the ground by 3 to 1, which WCAG 2.2 (1.4.11) asks of graphics."""
    table = on(colour, ruling)
    drawn = luminance(png(picture.annotated_bytes(table, ".png")))
    ground = float(luminance(np.array(colour, float)))
    told = drawable_rulings(table.scene, table.verdicts)[0]
    view = View(camera(), SIZE_PX)
    start, end = view.to_px(np.stack([told.from_mm, told.to_mm]))
    across = np.array([start[1] - end[1], end[0] - start[0]]) / np.linalg.norm(end - start)
    for share in (0.3, 0.45, 0.62):
        places = (start + share * (end - start) + np.linspace(-5, 5, 41)[:, None] * across).astype(
            int
        )
        profile = drawn[places[:, 1], places[:, 0]]
        contrast = (np.maximum(profile, ground) + 0.05) / (np.minimum(profile, ground) + 0.05)
        assert contrast.max() >= 3


def test_each_kind_of_answer_has_its_own_word_icon_and_pattern() -> None:
    for part in ("word", "icon", "dash", "colour"):
        assert len({getattr(look, part) for look in LOOKS}) == len(LOOKS)


DEFICIENT = {
    "protan": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deutan": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritan": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""Linear RGB as seen without one kind of cone: Machado, Oliveira & Fernandes 2009, severity 1."""


@pytest.mark.parametrize(
    "matrix", [np.eye(3), *map(np.array, DEFICIENT.values())], ids=["full", *DEFICIENT]
)
def test_the_colours_differ_for_every_eye(matrix: Array) -> None:
    srgb = np.array([[int(look.colour[i : i + 2], 16) for i in (1, 3, 5)] for look in LOOKS]) / 255
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4) @ matrix.T
    seen = np.clip(
        np.where(
            linear <= 0.0031308, linear * 12.92, 1.055 * np.clip(linear, 0, 1) ** (1 / 2.4) - 0.055
        ),
        0,
        1,
    )
    lab = cv2.cvtColor(seen.astype(np.float32)[None], cv2.COLOR_RGB2LAB)[0]
    apart = [float(np.linalg.norm(lab[i] - lab[j])) for i in range(3) for j in range(i)]
    assert min(apart) > 12  # five times what is just noticed


@pytest.mark.parametrize("size_px", [(1280, 960), (960, 1280), (4032, 3024), (640, 360)])
@pytest.mark.parametrize("count", [1, 3, 7])
def test_the_banner_keeps_the_safe_border_and_its_words(
    size_px: tuple[int, int], count: int
) -> None:
    long = replace(RULINGS[0], headline="range 3 " + "of a very long story " * 6)
    told = [drawable_ruling(report().scene, long)] * count
    plaque = build_banner(told, size_px)
    assert plaque.wide <= size_px[0] * (1 - 2 * SAFE_SHARE) + 1e-6
    assert len(plaque.claims) == count


def test_nothing_but_labels_near_bases_enters_the_border() -> None:
    table = report()
    rows, columns = (int(SAFE_SHARE * side) - 1 for side in (SIZE_PX[1], SIZE_PX[0]))
    opacity = cover(table)
    opacity[rows:-rows, columns:-columns] = 0
    assert opacity.max() == 0


def test_banner_magnifier_and_warning_keep_off_each_other() -> None:
    table = report(
        replace(RULINGS[0], lines_mm=(445.0,), headline="range 3 and quite a lot to say about it")
    )
    view, told = View(camera(), SIZE_PX), drawable_rulings(table.scene, table.verdicts)
    room = report_drawing._reserve_pieces(view, table, told)
    before = len(room.boxes)
    found = report_drawing._place_plates(view, table, room, told)
    assert found.loupe is not None
    assert not found.strip_px
    banner, loupe, *pointer, warning = np.array(room.boxes[before:])
    assert len(pointer) == POINTER_POINTS - 1
    for one, other in (
        (banner, loupe),
        (loupe, warning),
        *((warning, it) for it in (banner, *pointer)),
    ):
        apart = (one[:2] >= other[2:]) | (other[:2] >= one[2:])
        assert apart.any()


def test_range_lines_end_with_the_first_past_the_measured_distance() -> None:
    view = View(camera(), SIZE_PX)
    told = drawable_rulings(report().scene, RULINGS)
    assert [name for name, _ in range_arcs(view, told[0])] == ["1", "2", "3"]
    assert [name for name, _ in range_arcs(view, told[1])] == ["1", "2"]


def test_a_range_line_is_its_distance_from_the_base() -> None:
    view = View(camera(), SIZE_PX)
    told = drawable_rulings(report().scene, RULINGS)[0]
    for name, arc in range_arcs(view, told):
        on_board = camera().unproject(arc - 0.5)
        apart = np.linalg.norm(on_board - [150, 150], axis=1) - 13.5
        assert apart == pytest.approx(np.full(len(arc), int(name) * 152.4), abs=1e-6)


def test_the_magnifier_helps_where_a_line_is_near_and_only_there() -> None:
    view = View(camera(), SIZE_PX)
    near = drawable_ruling(report().scene, replace(RULINGS[0], lines_mm=(445.0,)))
    far = drawable_ruling(report().scene, replace(RULINGS[0], lines_mm=(300.0,)))
    assert loupe.place_loupe(view, near, LabelLayout(SIZE_PX)) is not None
    assert loupe.place_loupe(view, far, LabelLayout(SIZE_PX)) is None
    assert (
        loupe.place_loupe(
            view,
            drawable_ruling(report().scene, replace(RULINGS[0], lines_mm=())),
            LabelLayout(SIZE_PX),
        )
        is None
    )


@pytest.mark.parametrize("style", LOOKS)
def test_letters_can_be_read_on_the_colour_of_an_answer(style: AnswerStyle) -> None:
    """WCAG 2.2 asks for a contrast of 3 to 1 of large letters."""

    def brightness(colour: str) -> float:
        return float(luminance(np.array([int(colour[at : at + 2], 16) for at in (5, 3, 1)], float)))

    plate = text_plate("range 3", 100, 100, 12, fill=style.colour)
    inks = [brightness(ink) for ink in re.findall(r'<text[^>]*fill="(#\w{6})"', plate)]
    dark, light = sorted([brightness(style.colour), *inks])
    assert (light + 0.05) / (dark + 0.05) > 3.0


def test_the_line_to_the_magnifier_crosses_no_measured_line_and_no_base() -> None:
    view = View(camera(), SIZE_PX)
    near = drawable_ruling(report().scene, replace(RULINGS[0], lines_mm=(445.0,)))
    first = loupe.place_loupe(view, near, LabelLayout(SIZE_PX))
    assert first is not None
    way = first.pointer_px()
    across = 30 * np.array([[0, 1], [-1, 0]]) @ (way[1] - way[0]) / np.linalg.norm(way[1] - way[0])
    crossed, covered = LabelLayout(SIZE_PX), LabelLayout(SIZE_PX)
    crossed.reserve_line(np.stack([way.mean(0) - across, way.mean(0) + across]))
    covered.reserve_points(way.mean(0)[None], 6, weight=report_drawing.PIECE_OVERLAP_WEIGHT)
    again = loupe.place_loupe(view, near, crossed)
    assert again is not None
    assert not crossed.crossing_costs(again.source, again.pointer_px()[1:]).any()
    again = loupe.place_loupe(view, near, covered)
    assert again is not None
    points = again.pointer_px(200)
    assert not ((points >= covered.boxes[0][:2]) & (points <= covered.boxes[0][2:])).all(1).any()


def test_the_magnifier_shows_the_photo_s_own_pixels() -> None:
    """A bright spot at the closest point appears in the middle of the magnifier, enlarged."""
    table = on((60, 60, 60), replace(RULINGS[0], lines_mm=(450.0,)))
    view = View(camera(), SIZE_PX)
    told = drawable_rulings(table.scene, table.verdicts)[0]
    u, v = np.rint(camera().project([*(told.to_mm + 8.0), 0.0])).astype(int)
    pixels = table.frame.pixels.copy()
    pixels[v - 1 : v + 2, u - 1 : u + 2] = (0, 0, 255)
    room = report_drawing._reserve_pieces(view, table, [told])
    draw_range_lines(view, told, room)
    glass = report_drawing._place_plates(view, table, room, [told]).loupe
    assert glass is not None
    _, _, stats, middles = cv2.connectedComponentsWithStats(
        _red(replace(table, frame=Frame(pixels, "spot")))
    )
    spots = [
        (middles[i], stats[i, cv2.CC_STAT_AREA])
        for i in range(1, len(stats))
        if stats[i, cv2.CC_STAT_AREA] > 20
    ]
    assert len(spots) == 1
    expected = glass.to_loupe_px(np.array([[u + 0.5, v + 0.5]]))[0]
    assert spots[0][0] == pytest.approx(expected, abs=4)
    assert spots[0][1] == pytest.approx(9 * glass.magnification**2, rel=0.5)


def _red(table: Report) -> "np.ndarray[tuple[int, ...], np.dtype[np.uint8]]":
    drawn = png(picture.annotated_bytes(table, ".png"))
    return np.asarray((drawn[..., 2] > 150) & (drawn[..., :2].max(-1) < 90), np.uint8)


@pytest.mark.parametrize(
    ("size_px", "shown"),
    [((4032, 3024), (2400, 1800)), ((640, 480), (640, 480)), ((9, 9000), (2, 2400))],
)
def test_pictures_are_no_larger_than_a_screen_needs(
    size_px: tuple[int, int], shown: tuple[int, int]
) -> None:
    assert output_size(size_px) == shown
    assert max(shown) <= MAX_SIDE_PX


def test_a_shrunk_photo_is_the_mean_of_what_it_stands_for() -> None:
    board = np.indices((400, 400)).sum(0) % 2 * 200
    photo = np.repeat(board[..., None], 3, -1).astype(np.uint8)
    assert resize_by_area(photo, (100, 100)) == pytest.approx(np.full((100, 100, 3), 100), abs=1)


def test_a_table_without_pieces_or_rulings_is_drawn() -> None:
    bare = replace(report(), scene=Scene("legion", Table(900, 600), ()), detections=(), verdicts=())
    assert png(picture.annotated_bytes(bare, ".png")).shape == (960, 1280, 3)


def test_save_writes_the_kind_that_the_name_says(tmp_path: Path) -> None:
    table = report()
    picture.save(table, tmp_path / "a.png")
    picture.save(table, tmp_path / "a.svg")
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == report_drawing.draw_report(table)
    with pytest.raises(BadInput, match=r"\.gif or \.webm"):
        picture.save(table, tmp_path / "a.bmp")
    assert len(list(tmp_path.iterdir())) == 2


def test_the_same_report_gives_the_same_picture() -> None:
    assert picture.annotated_bytes(report(), ".png") == picture.annotated_bytes(report(), ".png")
