"""Hexagons in the scene of several photos, as their table has them; and round bases that stay round."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest

from overruler.bases import Base, catalogue
from overruler.scene import Scene
from overruler.vision.fusion.fuse import fuse_photos
from overruler.vision.fusion.hexagons.tell import tell_hexagons
from overruler.vision.fusion.to_scene import report_fused
from overruler.vision.hexagons.on_table import FIRST_LOOKS
from overruler.vision.hexagons.rim_evidence import see_rim
from overruler.vision.hexagons.wanted import NO_HEXAGONS, WantedHexagons
from tests.vision.fusion.hexagons.views import (
    COARSE_PX,
    SHARP_PX,
    decided,
    seen_from_all_sides,
)
from tests.vision.hexagons.table import row_of

HEXAGON, DISC = Base.hexagon(30.0), Base.circle(32.0)
CATALOGUE = WantedHexagons.of(catalogue(None))
NAMED = WantedHexagons.of([HEXAGON, DISC, Base.circle(25.0)])
RADII_MM = np.array([25, 28.5, 32, 40, 50]) / 2
INSIDE_95 = 5.99


def scene_of(bases: list[Base], is_prepared: bool = True) -> Scene:
    photos = seen_from_all_sides(row_of(bases))
    if not is_prepared:
        photos = [replace(one, calibration=replace(one.calibration, markers=())) for one in photos]
    fused = fuse_photos(photos, RADII_MM, CATALOGUE)
    return report_fused(fused, photos, None, False).scene


def test_the_scene_has_hexagons_with_width_heading_and_place_within_their_doubt() -> None:
    bases = [HEXAGON, DISC] * 5
    scene, placed = scene_of(bases), row_of(bases)
    assert len(scene.pieces) == 10
    for base, xy_mm, turn in placed:
        piece = min(scene.pieces, key=lambda one: np.hypot(*([one.x_mm, one.y_mm] - xy_mm)))
        off_mm = np.array([piece.x_mm, piece.y_mm]) - xy_mm
        assert np.hypot(*off_mm) < 0.5
        assert off_mm @ np.linalg.solve(np.array(piece.covariance_mm2), off_mm) < INSIDE_95
        assert piece.base.shape == base.shape
        if base == HEXAGON:
            assert piece.base == base
            assert piece.extra["heading_modulo_deg"] == 60
            off_deg = piece.heading_deg - np.degrees(turn)
            assert abs((off_deg + 30) % 60 - 30) < 2


def test_where_nobody_laid_markers_unnamed_hexagons_stay_round() -> None:
    scene = scene_of([HEXAGON] * 6, is_prepared=False)
    assert {one.base.shape for one in scene.pieces} == {"circle"}


def test_round_bases_stay_as_they_are_and_few_looks_are_enough(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    placed = row_of([DISC] * 20)
    look = Mock(side_effect=see_rim)
    monkeypatch.setattr("overruler.vision.fusion.hexagons.seen_rim.see_rim", look)
    bases = decided(seen_from_all_sides(placed), placed)
    assert [one.base for one in tell_hexagons(bases, CATALOGUE)] == [one.base for one in bases]
    assert look.call_count == 3 * FIRST_LOOKS


def test_without_wanted_hexagons_nothing_is_told() -> None:
    placed = row_of([HEXAGON] * 4)
    bases = decided(seen_from_all_sides(placed), placed)
    assert tell_hexagons(bases, NO_HEXAGONS) == bases


def test_a_photo_with_few_pixels_is_fitted_with_the_heading_of_the_others() -> None:
    placed = row_of([HEXAGON] * 6)
    photos = seen_from_all_sides(placed, (SHARP_PX, SHARP_PX, COARSE_PX))
    for one, (base, _, turn) in zip(
        tell_hexagons(decided(photos, placed), CATALOGUE), placed, strict=True
    ):
        assert one.base == base
        coarse = one.sightings[2].detection
        assert coarse.base == base
        assert abs((coarse.heading_deg - np.degrees(turn) + 30) % 60 - 30) < 6


def test_a_base_that_only_few_pixels_show_has_the_hexagon_of_the_others_beside_it() -> None:
    placed = row_of([HEXAGON] * 8)
    sharp = seen_from_all_sides(placed)
    coarse = seen_from_all_sides(placed, (COARSE_PX,) * 3)
    bases = [*decided(sharp, placed)[:7], decided(coarse, placed)[7]]
    told = tell_hexagons(bases, CATALOGUE)
    assert [one.base for one in told[:7]] == [HEXAGON] * 7
    assert told[7].base == bases[7].base
    assert HEXAGON in told[7].sizes


def test_one_odd_rim_alone_makes_no_hexagon() -> None:
    placed = row_of([HEXAGON])
    (told,) = tell_hexagons(decided(seen_from_all_sides(placed), placed), CATALOGUE)
    assert told.base.shape == "circle"


def test_an_unsure_hexagon_is_as_unsure_as_its_rim(monkeypatch: pytest.MonkeyPatch) -> None:
    photos = seen_from_all_sides(row_of([HEXAGON] * 4))
    stated = []
    for probability in (1.0, 0.6):
        judge = Mock(
            side_effect=lambda asked, look, *_, p=probability: {k: p for k in asked if look(k)}
        )
        monkeypatch.setattr("overruler.vision.fusion.hexagons.tell.judge_rims", judge)
        stated.append(fuse_photos(photos, RADII_MM, CATALOGUE))
    sure, unsure = stated
    assert all(one.base == HEXAGON for one in (*sure.bases, *unsure.bases))
    assert not any(other.shape == "circle" for one in sure.bases for other in one.other_bases)
    assert all(any(it.shape == "circle" for it in one.other_bases) for one in unsure.bases)
    more_mm2 = np.diag(unsure.fit.usual_mm2 - sure.fit.usual_mm2)
    corner_mm = (HEXAGON.length_mm - HEXAGON.width_mm) / 4
    assert more_mm2 == pytest.approx(0.4 * corner_mm**2, rel=0.3)


def test_named_round_bases_and_hexagons_of_one_size_are_told_apart_by_their_sides() -> None:
    """Each is found with the size of the other."""
    placed = row_of([HEXAGON, DISC] * 4)
    swapped = [
        replace(one, base=size, sizes={size: 1.0})
        for one, size in zip(
            decided(seen_from_all_sides(placed), placed),
            [DISC, HEXAGON.as_round] * 4,
            strict=True,
        )
    ]
    told = tell_hexagons(swapped, NAMED)
    assert [one.base for one in told] == [HEXAGON, DISC] * 4


def test_a_named_round_base_of_another_size_does_not_stand_against_a_named_hexagon() -> None:
    """No other base has that size, so it is the hexagon, whatever its sides look like."""
    large = Base.hexagon(40.0)
    placed, size = row_of([Base.circle(42.0)] * 2), large.as_round
    bases = [
        replace(one, base=size, sizes={size: 1.0})
        for one in decided(seen_from_all_sides(placed), placed)
    ]
    wanted = WantedHexagons.of([HEXAGON, large, DISC])
    assert [one.base for one in tell_hexagons(bases, wanted)] == [large] * 2


def test_named_hexagons_are_told_by_size_where_few_pixels_show_them() -> None:
    placed = row_of([HEXAGON] * 4)
    photos = seen_from_all_sides(placed, (COARSE_PX,) * 3)
    size = HEXAGON.as_round
    bases = [replace(one, base=size, sizes={size: 1.0}) for one in decided(photos, placed)]
    assert [one.base for one in tell_hexagons(bases, NAMED)] == [HEXAGON] * 4


def test_no_stand_in_for_a_named_hexagon_is_told_even_where_nothing_is_seen() -> None:
    placed = row_of([HEXAGON] * 2)
    size = HEXAGON.as_round
    bases = []
    for one in decided(seen_from_all_sides(placed), placed):
        outside = tuple(
            each.with_detection(replace(each.detection, xy_mm=np.array([5000.0, 5000.0])))
            for each in one.sightings
        )
        bases.append(replace(one, base=size, sizes={size: 0.7, DISC: 0.3}, sightings=outside))
    for one in tell_hexagons(bases, NAMED):
        assert one.base == HEXAGON
        assert [*one.sizes] == [HEXAGON, DISC]
