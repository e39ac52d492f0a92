"""The pieces that an area lists: what distances say of points all over their bases."""

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overruler.geometry.pose import Array
from overruler.geometry.shapes import Shape
from overruler.rules import ask
from overruler.scene import Scene
from tests.rules.areas.membership import told
from tests.rules.areas.test_ground import BOARD_MM, PIECES, RUIN, joined, of
from tests.rules.scenes import disc, scene_of

NAMES = ("u", "oval", "plate", "ruin")
ANY_OF_THEM = st.one_of(
    st.builds(lambda name, far: of(name, within_mm=far), st.sampled_from(NAMES), st.floats(5, 300)),
    st.builds(
        lambda name, low, wide: of(name, within_mm=[low, low + wide]),
        st.sampled_from(NAMES),
        st.floats(5, 150),
        st.floats(5, 150),
    ),
)
ANY_AREA = st.recursive(
    ANY_OF_THEM,
    lambda inner: st.one_of(
        st.builds(lambda area: joined("not", area), inner),
        st.builds(
            lambda how, areas: joined(how, *areas),
            st.sampled_from(["all", "any"]),
            st.lists(inner, min_size=2, max_size=3),
        ),
    ),
    max_leaves=4,
)


def points_on(shape: Shape) -> Array:
    """Points (n, 2) all over a base."""
    turn = np.linspace(0, 2 * np.pi, 180, endpoint=False)
    rim = shape.support_points(np.stack([np.cos(turn), np.sin(turn)], -1))
    shares = np.linspace(0, 1, 15)[:, None, None]
    return np.asarray((shape.center + shares * (rim - shape.center)).reshape(-1, 2))


def other_pieces(seed: int) -> list[dict[str, Any]]:
    random = np.random.default_rng(seed)
    places = random.uniform((-10, -10), np.array(BOARD_MM) + 10, (12, 2))
    return [disc(f"d{k}", x, y, 40) for k, (x, y) in enumerate(places.tolist())]


@settings(max_examples=60)
@given(ANY_AREA, st.integers(0, 10_000))
def test_lists_are_what_points_say(area: dict[str, Any], seed: int) -> None:
    found = scene_of(
        [*PIECES, *other_pieces(seed)], game="inches", board_mm=BOARD_MM, terrain=[RUIN]
    )
    answer = ask(found, area).answer
    assert set(answer["whole"]) <= set(answer["pieces"])
    for index, piece in enumerate(found.pieces):
        if not piece.id.startswith("d"):
            continue
        points = points_on(found.shapes[index])
        where = told(found, area, points)
        on_board = ((points >= 0) & (points <= BOARD_MM)).all(1)
        if (where.sure & where.inside & on_board).any():
            assert piece.id in answer["pieces"]
        if (where.sure & ~(where.inside & on_board)).any():
            assert piece.id not in answer["whole"]
        if (where.sure | ~on_board).all():
            assert (piece.id in answer["whole"]) == bool((where.inside & on_board).all())


@pytest.mark.parametrize(
    ("x_mm", "some", "whole"),
    [(320, True, True), (320.001, True, False), (360, True, False), (360.001, False, False)],
)
def test_a_micrometre_decides(x_mm: float, some: bool, whole: bool) -> None:
    found: Scene = scene_of([disc("a", 200, 300, 40), disc("b", x_mm, 300, 40)], game="inches")
    answer = ask(found, of("a", within_mm=120)).answer
    assert (answer["pieces"], answer["whole"]) == (["b"] * some, ["b"] * whole)


def test_named_pieces_are_not_listed() -> None:
    found = scene_of([disc("a", 200, 300), disc("b", 240, 300), disc("c", 280, 300)], game="legion")
    assert ask(found, of("a", within_mm=200)).answer["pieces"] == ["b", "c"]
    both = joined("any", of("a", within_mm=200), of("b", within_mm=200))
    assert ask(found, both).answer["pieces"] == ["c"]
    assert ask(found, of("a", within_mm=200, **{"for": "b"})).answer["pieces"] == []


def test_a_crowded_table_is_told_at_once() -> None:
    """An overlay that waits for an area for a second goes off the air."""
    doubt = {"covariance_mm2": [[1.0, 0.0], [0.0, 1.0]]}
    crowd = [disc(f"d{k}", 20 + 60 * (k % 10), 20 + 60 * (k // 10), 40, **doubt) for k in range(40)]
    found = scene_of(crowd, game="inches", board_mm=BOARD_MM)
    area = {"question": "area", **of("d0", within_mm=200.0)}

    def seconds() -> float:
        begin = time.process_time()
        verdict = ask(found, area)
        assert verdict.probability
        assert len(verdict.probability) > 1
        return time.process_time() - begin

    assert (
        min(seconds() for _ in range(3)) < 0.15
    )  # of the processor: a busy machine changes little
