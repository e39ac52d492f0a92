"""Hexagons among round bases: their shape, width, place and heading, and that round bases stay round."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import numpy as np
import pytest

from overruler.bases import Base, catalogue
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.hexagons.find import with_hexagons, with_named_hexagons
from overruler.vision.hexagons.judged import Rims
from overruler.vision.hexagons.rim_evidence import see_rim
from overruler.vision.hexagons.seen_from_above import (
    find_seen_from_above,
    score_by_sides,
    without_places_of,
)
from overruler.vision.hexagons.wanted import WantedHexagons
from overruler.vision.rounds.scoring import MIN_SCORE
from overruler.vision.rounds.uncertainty import misfit_covariances
from tests.vision.hexagons.table import Placed, as_round, over, painted, row_of

HEXAGON, DISC = Base.hexagon(30.0), Base.circle(32.0)


def rims_of(camera: Camera, placed: Sequence[Placed]) -> Rims:
    return Rims(painted(camera, placed).pixels, camera)


def circles(placed: Sequence[Placed], probability: float) -> Array:
    """What the look from above makes of bases: a circle (N, 4) each, a little off."""
    return np.array(
        [
            [*(xy_mm + 0.8), base.as_round.width_mm / 2 + 0.4, probability]
            for base, xy_mm, _ in placed
        ]
    )


def test_hexagons_among_round_bases_are_told_with_place_width_and_heading() -> None:
    camera, placed = over(), row_of([HEXAGON, DISC] * 5)
    found = with_hexagons(rims_of(camera, placed), as_round(placed))
    assert [one.base.shape for one in found] == ["hexagon", "circle"] * 5
    for one, (base, xy_mm, turn) in list(zip(found, placed, strict=True))[::2]:
        assert one.base == base
        assert np.hypot(*(one.xy_mm - xy_mm)) < 0.5
        assert one.heading_modulo_deg == 60
        assert abs((one.heading_deg - np.degrees(turn) + 30) % 60 - 30) < 3


@pytest.mark.parametrize("width", [25.0, 40.0, 50.0])
def test_the_width_is_the_nearest_of_the_catalogue(width: float) -> None:
    camera, placed = over(), row_of([Base.hexagon(width)] * 5)
    found = with_hexagons(rims_of(camera, placed), as_round(placed))
    assert [one.base for one in found] == [Base.hexagon(width)] * 5


def test_round_bases_stay_as_they_are() -> None:
    camera, placed = over(), row_of([DISC, Base.circle(25.0)] * 5)
    before = as_round(placed)
    assert with_hexagons(rims_of(camera, placed), before) == tuple(before)


def test_other_shapes_stay_as_they_are() -> None:
    camera, placed = over(), row_of([HEXAGON] * 6)
    square = replace(as_round(placed)[0], base=Base.rectangle(30, 30))
    pixels = painted(camera, placed).pixels
    assert with_hexagons(Rims(pixels, camera), [square, *as_round(placed)[1:]])[0] is square


def test_too_few_pixels_leave_hexagons_round() -> None:
    camera, placed = over(focal_px=600.0), row_of([HEXAGON] * 8)
    before = as_round(placed)
    assert with_hexagons(rims_of(camera, placed), before) == tuple(before)


def test_where_others_are_hexagons_a_small_round_base_may_be_one() -> None:
    """No sides are told of one that few pixels show, so the other shape is told beside it."""
    camera, placed = over(), row_of([HEXAGON] * 8)
    far = replace(as_round(placed)[7], xy_mm=np.array([100.0, 3000.0]))
    found = with_hexagons(rims_of(camera, placed), [*as_round(placed)[:7], far])
    assert found[7].base.shape == "circle"
    assert found[7].alternative_bases == (HEXAGON,)


def test_named_hexagons_are_told_however_few_pixels_show_them() -> None:
    camera, placed = over(focal_px=600.0), row_of([HEXAGON] * 4)
    before = [replace(one, base=HEXAGON.as_round) for one in as_round(placed)]
    found = with_named_hexagons(rims_of(camera, placed), before, [HEXAGON])
    assert [one.base for one in found] == [HEXAGON] * 4


def test_named_hexagons_stand_beside_round_bases_that_few_pixels_show() -> None:
    camera, placed = over(focal_px=600.0), row_of([HEXAGON, Base.circle(25.0)] * 2)
    before = [
        replace(one, base=size)
        for one, size in zip(as_round(placed), [DISC, Base.circle(25.0)] * 2, strict=True)
    ]
    found = with_named_hexagons(rims_of(camera, placed), before, [HEXAGON])
    assert [one.base for one in found] == [one.base for one in before]
    assert [one.alternative_bases for one in found] == [(HEXAGON,), ()] * 2


def test_no_round_base_that_stands_for_a_named_hexagon_is_told() -> None:
    """One lies where the photo shows nothing to fit; another may be either."""
    camera, placed = over(), row_of([DISC] * 6)
    near = as_round(placed)
    outside = replace(near[0], base=HEXAGON.as_round, xy_mm=np.array([5000.0, 5000.0]))
    either = replace(near[1], base=DISC, alternative_bases=(HEXAGON.as_round, Base.circle(35)))
    found = with_named_hexagons(rims_of(camera, placed), [outside, either, *near[2:]], [HEXAGON])
    assert (found[0].base, found[0].heading_modulo_deg) == (HEXAGON, 60)
    assert found[1].base == DISC
    assert found[1].alternative_bases == (HEXAGON, Base.circle(35))


def test_plainly_round_bases_have_no_named_hexagon_beside_them() -> None:
    camera, placed = over(), row_of([DISC] * 12)
    before = as_round(placed)
    found = with_named_hexagons(rims_of(camera, placed), before, [HEXAGON])
    assert [(one.base, one.alternative_bases) for one in found] == [
        (one.base, ()) for one in before
    ]


def test_a_hexagon_that_lies_beside_its_round_base_is_in_doubt() -> None:
    camera, placed = over(), row_of([HEXAGON] * 6)
    pixels, near = painted(camera, placed).pixels, as_round(placed)
    aside = replace(near[0], xy_mm=placed[0][1] + [1.5, 0])
    one, other = (
        with_hexagons(Rims(pixels, camera), [first, *near[1:]])[0] for first in (near[0], aside)
    )
    more = other.covariance_mm2 - one.covariance_mm2
    assert more[0, 0] > 1 > 5 * abs(more[1, 1])


def test_few_looks_are_enough_for_a_table_of_round_bases(monkeypatch: pytest.MonkeyPatch) -> None:
    camera, placed = over(), row_of([DISC] * 20)
    look = Mock(side_effect=see_rim)
    monkeypatch.setattr("overruler.vision.hexagons.judged.see_rim", look)
    with_hexagons(rims_of(camera, placed), as_round(placed))
    assert look.call_count == 10


def test_a_hexagon_that_hardly_looks_like_a_base_may_be_as_far_off_as_a_round_one() -> None:
    camera, placed = over(), row_of([HEXAGON] * 6)
    pixels, near = painted(camera, placed).pixels, as_round(placed)
    hardly = replace(near[0], score=0.7)
    sure, unsure = (
        with_hexagons(Rims(pixels, camera), [first, *near[1:]])[0] for first in (near[0], hardly)
    )
    assert unsure.base == sure.base == HEXAGON
    usual, rare = misfit_covariances(camera, unsure)
    assert np.linalg.eigvalsh(unsure.unmodelled_mm2 - 0.999 * usual).min() > 0
    assert np.linalg.eigvalsh(unsure.rare_excess_mm2 - 0.999 * (rare - usual)).min() > 0
    assert unsure.rare_excess_mm2[0, 0] > sure.rare_excess_mm2[0, 0] + 1.0


UNNAMED = WantedHexagons.of(catalogue(None))
NAMED = WantedHexagons.of([HEXAGON, Base.hexagon(40.0), DISC])


@pytest.mark.parametrize("wanted", [UNNAMED, NAMED])
def test_what_only_the_look_from_above_sees_is_told_by_its_sides(wanted: WantedHexagons) -> None:
    camera, placed = over(), row_of([HEXAGON, *4 * [HEXAGON, DISC], Base.hexagon(40.0)])
    rims, before = rims_of(camera, placed), as_round(placed[1:9])
    further = find_seen_from_above(rims, before, partial(circles, placed, 0.8), wanted)
    if wanted.are_named:
        found = with_named_hexagons(rims, before, [HEXAGON, Base.hexagon(40.0)], further)
    else:
        found = with_hexagons(rims, before, further)
    assert len(found) == 10
    for one in found[8:]:
        base = next(base for base, xy, _ in placed if np.hypot(*(xy - one.xy_mm)) < 0.5)
        assert one.base == base
        assert one.score > MIN_SCORE


def test_what_is_hardly_seen_from_above_or_has_no_sides_is_none() -> None:
    """Round counters are seen from above, too, and other networks say that they are no bases."""
    camera, placed = over(), row_of([HEXAGON, DISC, *[HEXAGON] * 5])
    seen = np.vstack([circles(placed[:1], 0.02), circles(placed[1:2], 0.9)])
    rims, before = rims_of(camera, placed), as_round(placed[2:])
    assert find_seen_from_above(rims, before, lambda: seen, UNNAMED) == []
    seen = circles(placed[:1], 0.8)
    (told,) = find_seen_from_above(rims, before, lambda: seen, UNNAMED)
    assert np.hypot(*(told.xy_mm - placed[0][1])) < 1


def test_a_stand_in_that_is_no_hexagon_after_all_is_left_out() -> None:
    camera, placed = over(), row_of([*[HEXAGON] * 6, DISC])
    *before, stand_in = as_round(placed)
    found = with_hexagons(rims_of(camera, placed), before, [stand_in])
    assert [one.base for one in found] == [HEXAGON] * 6


def test_doubtful_bases_give_way_to_what_stands_in_their_place() -> None:
    one, other, third = as_round(row_of([HEXAGON] * 3))
    moved = replace(one, xy_mm=one.xy_mm + 2)
    assert without_places_of([moved, other], [one, third]) == [other]


def test_nobody_looks_from_above_again_where_few_hexagons_are() -> None:
    camera, placed = over(), row_of([HEXAGON, HEXAGON, *[DISC] * 8])
    from_above = Mock()
    assert (
        find_seen_from_above(rims_of(camera, placed), as_round(placed), from_above, UNNAMED) == []
    )
    from_above.assert_not_called()


def test_sides_and_the_look_from_above_both_tell_a_hexagon() -> None:
    scores = [
        [score_by_sides(seen, sides) for sides in (-9.0, 0.0, 9.0)] for seen in (0.2, 0.5, 0.9)
    ]
    assert (np.diff(scores, axis=0) > 0).all()
    assert (np.diff(scores, axis=1) > 0).all()
    assert scores[0][2] < MIN_SCORE < scores[2][2]


def test_six_sides_count_less_in_low_views() -> None:
    camera, placed = over(), row_of([HEXAGON])
    pixels, (one,) = painted(camera, placed).pixels, as_round(placed)
    high, low = (Rims(pixels, camera, slant_deg).logit(one) for slant_deg in (35.0, 45.0))
    assert high is not None
    assert low is not None
    assert low == pytest.approx(high - 3)
