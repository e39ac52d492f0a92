"""Sight and cover between pieces: what counts, and how sure it is, against drawing the places and counting."""

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

from overruler.errors import BadInput
from overruler.geometry.pose import Array
from overruler.geometry.shapes import translate_shape
from overruler.geometry.tangents import Hull, widest_separation
from overruler.geometry.visibility import ObstructedView
from overruler.reading import Node
from overruler.rules.sight import answer_cover, answer_los
from overruler.scene import Scene
from overruler.verdict import Verdict
from tests.rules.scenes import disc, joint, scene_of

scene = partial(scene_of, game="positioning")
ASK = {"los": answer_los, "cover": answer_cover}
AGREED = 0.005


def wall(name: str, x0: float, y0: float, x1: float, y1: float, **more: Any) -> dict[str, Any]:
    return {
        "id": name,
        "footprint_mm": [[x0, y0], [x1, y0], [x1, y1], [x0, y1]],
        "top_z_mm": 50,
        **more,
    }


def asked(kind: str, found: Scene, a: str = "a", b: str = "b") -> Verdict:
    return ASK[kind](found, Node({"from": a, "to": b}, "question"))


ENDS = [disc("a", 0, 0), disc("b", 300, 0)]

# --- as measured ---


@pytest.mark.parametrize("kind", ["los", "cover"])
@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"from": "a"}, "question: to: is missing"),
        ({"from": "a", "to": "a"}, "question: to: 'a' is on both sides"),
        ({"from": "a", "to": 3}, "question: to: expected text"),
        ({"from": "a", "to": "nobody"}, "question: to: unknown name 'nobody'"),
        ({"from": "w", "to": "a"}, "question: from: 'w' is terrain"),
        ({"from": "u", "to": "a"}, "question: from: 'u' is a unit of 2"),
    ],
)
def test_what_is_wrong_is_named(kind: str, question: dict[str, Any], message: str) -> None:
    pieces = [*ENDS, disc("c", 0, 99, unit="u"), disc("d", 0, 199, unit="u")]
    with pytest.raises(BadInput) as error:
        ASK[kind](scene(pieces, terrain=[wall("w", 99, 0, 199, 9)]), Node(question, "question"))
    assert message in str(error.value)


def test_a_size_that_is_none_is_named() -> None:
    with pytest.raises(BadInput, match=r"pieces\[2\].stats.size: expected a number"):
        asked("cover", scene([*ENDS, disc("c", 0, 99, stats={"size": "big"})]))


@pytest.mark.parametrize(
    ("top", "clear"), [(49.999, True), (50, True), (50.001, False), (80, False)]
)
@pytest.mark.parametrize("heights", [(50, 0), (0, 50), (50, 50)])
def test_terrain_counts_where_it_stands_above_both(
    heights: tuple[float, float], top: float, clear: bool
) -> None:
    pieces = [piece | {"z_mm": z} for piece, z in zip(ENDS, heights, strict=True)]
    found = scene(pieces, terrain=[wall("w", 140, -80, 160, 80, top_z_mm=top)])
    assert asked("los", found).value is clear
    assert asked("cover", found).value is not clear
    assert ("positioning.looked_over" in asked("los", found).rules) is clear


def test_terrain_with_a_dent_hides_with_all_its_parts() -> None:
    dent = [[140, -80], [160, -80], [160, 80], [150, 80], [150, -60], [140, -60]]
    found = scene(ENDS, terrain=[wall("w", 0, 0, 1, 1) | {"footprint_mm": dent}])
    assert asked("los", found).answer == {"clear": False, "blocked_by": ["w"]}
    around = [
        [140, -80],
        [160, -80],
        [160, 80],
        [140, 80],
        [140, 60],
        [150, 60],
        [150, -60],
        [140, -60],
    ]
    inside = scene(
        [disc("a", 145, 0, 8), disc("b", -200, 0)],
        terrain=[wall("w", 0, 0, 1, 1) | {"footprint_mm": around}],
    )
    assert asked("los", inside).value is True


def test_parts_of_one_terrain_do_not_move_apart() -> None:
    """A star is as far from letting a line pass as its outline is, though its parts touch on many lines."""

    def star(y_mm: float) -> Scene:
        tips = ((120 if k % 2 else 40, math.tau * k / 10 + 0.2) for k in range(10))
        outline = [[150 + r * math.cos(t) / 2, y_mm + r * math.sin(t) / 2] for r, t in tips]
        return scene(ENDS, terrain=[wall("w", 0, 0, 1, 1) | {"footprint_mm": outline}])

    margin_mm = asked("los", star(0)).margin_mm
    assert margin_mm is not None
    assert margin_mm < -30
    assert not any(asked("los", star(way * (-margin_mm - 1))).value for way in (-1, 1))
    assert any(asked("los", star(way * (1 - margin_mm))).value for way in (-1, 1))


STAGGERED = [
    [120, -40],
    [150, -40],
    [150, -10],
    [180, -10],
    [180, 40],
    [150, 40],
    [150, 10],
    [120, 10],
]
"""Two walls side by side, one reaching far to the left of the line and one far to the right."""
FORK = [[140, -30], [170, -30], [170, -20], [150, -20], [150, 20], [170, 20], [170, 60], [140, 60]]
"""A wall with a tooth at each end, of different widths."""


@pytest.mark.parametrize("footprint", [STAGGERED, FORK])
def test_cover_ends_where_no_part_of_one_terrain_crosses_a_line(
    footprint: list[list[float]],
) -> None:
    """Its parts do not move apart: the least shift of the whole ends the cover, none shorter does."""

    def shifted(length_mm: float, turn: float) -> bool | None:
        x_mm, y_mm = length_mm * math.cos(turn), length_mm * math.sin(turn)
        outline = [[x + x_mm, y + y_mm] for x, y in footprint]
        terrain = [wall("w", 0, 0, 1, 1) | {"footprint_mm": outline}]
        return bool(asked("cover", scene(ENDS, terrain=terrain)).value)

    terrain = [wall("w", 0, 0, 1, 1) | {"footprint_mm": footprint}]
    margin_mm = asked("cover", scene(ENDS, terrain=terrain)).margin_mm
    assert margin_mm is not None
    turns = [math.tau * k / 24 for k in range(24)]
    assert all(shifted(margin_mm - 0.01, turn) for turn in turns)
    assert not all(shifted(margin_mm + 0.01, turn) for turn in turns)


def test_all_that_crosses_a_line_is_named_pieces_first() -> None:
    pieces = [*ENDS, disc("m", 60, 10), disc("off", 60, 80)]
    walls = [
        wall("half", 200, 0, 210, 80),
        wall("whole", 140, -80, 160, 80),
        wall("beside", 200, 16, 210, 80),
    ]
    assert asked("los", scene(pieces, terrain=walls)).answer["blocked_by"] == ["m", "half", "whole"]
    assert asked("cover", scene(pieces, terrain=walls)).answer["objects"] == ["m", "half", "whole"]


def test_an_exact_scene_has_no_odds() -> None:
    for kind in ASK:
        verdict = asked(kind, scene(ENDS, terrain=[wall("w", 140, -80, 160, 80)]))
        assert (verdict.probability, verdict.call, verdict.sigma_mm, verdict.distance_mm) == (
            None,
            None,
            0,
            270,
        )


# --- in doubt ---


def counted(found: Scene, draws: int) -> tuple[float, float]:
    """The shares of clear sight and of cover, each draw looked at on its own."""
    assert found.covariance is not None
    root = np.linalg.cholesky(found.covariance.array + 1e-12 * np.eye(2 * len(found.pieces)))
    drawn = np.random.default_rng(7).standard_normal((draws, len(root))) @ root.T
    looks = [looked_at(found, draw.reshape(-1, 2)) for draw in drawn]
    return float(np.mean([clear for clear, _ in looks])), float(
        np.mean([covered for _, covered in looks])
    )


def looked_at(found: Scene, moved: Array) -> tuple[bool, bool]:
    """Clear sight and cover from the first piece to the second, in one draw."""
    a, b, *third = (
        translate_shape(shape, *shift)
        for shape, shift in zip(found.shapes, moved.tolist(), strict=True)
    )
    if widest_separation(a, b).signed_gap_mm <= 1e-6:
        return True, False
    for parts in found.terrain_parts.values():
        if (
            min(widest_separation(end, part).signed_gap_mm for end in (a, b) for part in parts)
            > -1e-6
        ):
            third += parts
    crossing = [
        shape for shape in third if widest_separation(Hull(a, b), shape).signed_gap_mm < -1e-6
    ]
    return ObstructedView(a, b, tuple(crossing)).is_clear, bool(crossing)


def oval(name: str, x_mm: float, y_mm: float, heading_deg: float) -> dict[str, Any]:
    base = {"shape": "oval", "width_mm": 30, "length_mm": 70}
    return {"id": name, "base": base, "x_mm": x_mm, "y_mm": y_mm, "heading_deg": heading_deg}


DOUBTFUL = {
    "a slit between two walls": (ENDS, [wall("v", 99, -90, 100, 5), wall("w", 200, -5, 201, 90)]),
    "a base as wide as the lines": ([*ENDS, disc("m", 150, 0, 30.9)], []),
    "a base beside the lines": ([*ENDS, disc("m", 150, 25.1, 20)], []),
    "two bases that leave little": ([*ENDS, disc("m", 100, 16, 32), disc("n", 150, -15, 30)], []),
    "a wall that a base leans on": (ENDS, [wall("w", 15.1, -80, 30, 80)]),
    "bases all but in contact": ([disc("a", 0, 0), disc("b", 30.2, 0), disc("m", 15, 25, 20)], []),
    "ovals": (
        [
            oval("a", 0, 0, 20),
            oval("b", 300, 0, 70),
            oval("m", 140, 24.5, 0),
            oval("n", 150, -19, 5),
        ],
        [],
    ),
}


@pytest.mark.parametrize("name", DOUBTFUL)
def test_odds_agree_with_single_draws(name: str) -> None:
    pieces, terrain = DOUBTFUL[name]
    found = scene(pieces, joint(len(pieces), 0.3), terrain=terrain)
    wanted = counted(found, 700)
    for kind, share in zip(("los", "cover"), wanted, strict=True):
        odds = asked(kind, found).probability
        assert odds is not None
        # Three standard deviations of a share out of so many draws.
        assert odds["true"] == pytest.approx(
            share, abs=AGREED + 3 * (share * (1 - share) / 700) ** 0.5
        )
        assert odds["true"] + odds["false"] == pytest.approx(1)


@pytest.mark.parametrize(("kind", "edge_mm"), [("los", 15.1), ("cover", -15.2)])
def test_odds_at_a_wall_agree_with_a_million_draws(kind: str, edge_mm: float) -> None:
    """The outermost line of two equal bases lies a radius beside that of their middles."""
    found = scene(ENDS, joint(2, 0.3), terrain=[wall("w", 99, -80, 101, edge_mm)])
    assert found.covariance is not None
    root = np.linalg.cholesky(found.covariance.array)
    drawn = (np.random.default_rng(1).standard_normal((1_000_000, 4)) @ root.T).reshape(-1, 2, 2)
    (ax, ay), (bx, by) = drawn[:, 0].T, (drawn[:, 1] + (300, 0)).T
    length = np.hypot(bx - ax, by - ay)
    beyond = [
        ((by - ay) * (ax - x) - (bx - ax) * (ay - edge_mm)) / length for x in (99, 101)
    ]  # left of the middle line
    share = np.mean(np.max(beyond, 0) <= 15) if kind == "los" else np.mean(np.max(beyond, 0) > -15)
    odds = asked(kind, found).probability
    assert odds is not None
    assert odds["true"] == pytest.approx(share, abs=AGREED)
    assert 0.2 < share < 0.8


def test_what_nothing_within_reach_changes_is_settled_without_a_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def drawn(*_: Any) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr("overruler.rules.sampled.sightlines.draw_displacements", drawn)
    found = scene(ENDS, joint(2, 0.2), terrain=[wall("w", 140, -80, 160, 80)])
    assert asked("los", found).probability == {"true": 0, "false": 1}
    assert asked("cover", found).probability == {"true": 1, "false": 0}
    empty = scene(ENDS, joint(2, 0.2), terrain=[wall("w", 140, 30, 160, 80)])
    assert asked("los", empty).probability == {"true": 1, "false": 0}
    assert asked("cover", empty).probability == {"true": 0, "false": 1}


def test_what_all_pieces_share_makes_doubt_only_against_terrain() -> None:
    shared = np.tile(np.eye(2), (3, 3)) * 0.25
    bases = scene([*ENDS, disc("m", 150, 0, 30.001)], shared)
    assert asked("los", bases).probability == {"true": 0, "false": 1}
    walled = scene([*ENDS, disc("m", 150, 400)], shared, terrain=[wall("w", 140, -80, 160, 15.001)])
    odds = asked("los", walled).probability
    assert odds is not None
    assert odds["true"] == pytest.approx(0.499, abs=AGREED)


def test_exact_pieces_in_a_doubtful_scene_are_certain() -> None:
    covariance = np.zeros((6, 6))
    covariance[4:, 4:] = np.eye(2)
    found = scene([*ENDS, disc("far", 0, 500)], covariance, terrain=[wall("w", 140, -80, 160, 15)])
    assert asked("los", found).probability == {"true": 1, "false": 0}


@pytest.mark.parametrize(("kind", "clear"), [("los", "in sight"), ("cover", "no cover")])
def test_a_table_without_terrain_says_that_none_is_known(kind: str, clear: str) -> None:
    """A photo sees no ruin, so a clear line may rest on what nobody declared."""
    pieces = [disc("a", 100, 100), disc("b", 400, 100), disc("c", 130, 100)]
    bare = asked(kind, scene(pieces))
    assert "positioning.no_terrain" in bare.rules
    assert asked(kind, scene(pieces[:2])).headline == f"{clear}: no terrain is known"
    known = asked(kind, scene(pieces[:2], terrain=[wall("w", 500, 500, 600, 600)]))
    assert known.headline == clear
    assert "positioning.no_terrain" not in known.rules
    assert asked(kind, scene(pieces), "a", "c").headline == clear, "bases in contact"
