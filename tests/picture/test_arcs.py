"""Attacks on the picture: the arc that was asked about, and the ruling on what lies in none of it."""

import numpy as np
import pytest

from overruler.picture.answer_style import NO_STYLE, YES_STYLE
from overruler.picture.drawable_ruling import DrawableRuling, drawable_rulings
from overruler.picture.painters import draw_arc_borders
from overruler.picture.view import View
from overruler.rules import ask
from overruler.scene import Scene
from tests.reports import SIZE_PX, camera
from tests.rules.scenes import scene_of

PLATE = {"shape": "rectangle", "width_mm": 40, "length_mm": 40}
TABLE = scene_of(
    [
        {"id": "a", "base": PLATE, "x_mm": 300, "y_mm": 250, "heading_deg": 90},
        {"id": "b", "base": PLATE, "x_mm": 300, "y_mm": 400},
    ],
    0.04 * np.eye(4),
    game="xwing",
)


def attack(arc: str, table: Scene = TABLE) -> DrawableRuling:
    (told,) = drawable_rulings(
        table,
        [ask(table, {"question": "attack_range", "attacker": "a", "defender": "b", "arc": arc})],
    )
    return told


def test_what_is_out_of_arc_is_ruled_out_between_the_two() -> None:
    told = attack("rear")
    assert (told.style, told.headline, told.detail) == (
        NO_STYLE,
        "a → b: out of arc",
        "130.0 mm outside the line, certain",
    )
    assert (told.from_mm[1], told.to_mm[1]) == pytest.approx((270, 380))
    assert told.lines_mm == ()


def test_what_is_in_arc_is_told_with_its_range() -> None:
    told = attack("front")
    assert (told.style, told.headline) == (YES_STYLE, "a → b: range 2, in arc")


@pytest.mark.parametrize(
    ("arc", "way_deg"), [("front", 90.0), ("left", 180.0), ("full_rear", 270.0)]
)
def test_an_arcs_borders_open_its_way_as_far_as_a_ruler_reaches(arc: str, way_deg: float) -> None:
    borders = np.array(attack(arc).arc_mm)
    assert borders.shape == (2, 2, 2)
    along = borders[:, 1] - borders[:, 0]
    turned = np.degrees(np.arctan2(along[:, 1], along[:, 0])) - way_deg
    assert sorted((turned + 180) % 360 - 180) == pytest.approx(
        sorted([-turned_half(arc), turned_half(arc)])
    )
    np.testing.assert_allclose(borders[:, 0], [[300, 250]] * 2)
    np.testing.assert_allclose(np.hypot(*along.T), 300 + 20 * np.sqrt(2))


def turned_half(arc: str) -> float:
    return {"front": 40.6, "left": 49.4, "full_rear": 90.0}[arc]


def test_borders_are_drawn_where_the_camera_sees_them() -> None:
    told, view = attack("front"), View(camera(), SIZE_PX)
    drawn = draw_arc_borders(view, told)
    for border in told.arc_mm:
        x, y = view.to_px(border[0])
        assert f"{x:.2f} {y:.2f}" in drawn
    assert (
        draw_arc_borders(
            view,
            drawable_rulings(TABLE, [ask(TABLE, {"question": "range", "from": "a", "to": "b"})])[0],
        ).count("<path")
        == 0
    )
