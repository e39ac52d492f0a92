"""What the scene of several photos says of a base that was moved between them."""

import numpy as np
import pytest

from evaluate.drawn.views import Truth, camera_from, see
from overruler.detections import RaisedArea
from overruler.rules import ask
from overruler.scene import Scene
from overruler.units import MM_PER_INCH
from overruler.verdict import CERTAIN
from overruler.vision.fusion.fuse import fuse_photos, leave_old_places
from overruler.vision.fusion.to_scene import area_names, report_fused
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.hypotheses import Hypothesis
from overruler.vision.pairing.levels import Level
from overruler.vision.pairing.moves.moved import Move
from overruler.vision.pairing.sighting import Sighting

RADII_MM = np.array([25, 27, 32, 40, 50]) / 2
BASES: list[Truth] = [(180.0 + 80 * k, 150.0 + 70 * (k % 4), 0.0, 27.0) for k in range(8)]
MOVED, STEP_MM = 3, (50.0, -20.0)
FAR = 7
"""A base to which the distance of the moved one is asked."""

pytestmark = pytest.mark.usefixtures("fits_as_stated")


def scene_of(*steps_mm: tuple[float, float]) -> Scene:
    """The scene of photos in which one base is moved by so much, on plain ground."""
    photos = []
    for k, (dx, dy) in enumerate(steps_mm):
        bases = list(BASES)
        x, y, z, width = bases[MOVED]
        bases[MOVED] = (x + dx, y + dy, z, width)
        photos.append(see(k, camera_from(120 * k), bases, np.random.default_rng(k)))
    return report_fused(fuse_photos(photos, RADII_MM), photos, "positioning", False).scene


def test_a_declared_top_keeps_its_name_and_found_ones_have_others() -> None:
    photo = see(0, camera_from(0), BASES)
    outline = np.array([[0.0, 0], [90, 0], [90, 90], [0, 90]])
    declared = {"house": True, "h1": True, "": False}
    tops = [
        Level(((photo, RaisedArea(name, outline, 60.0, 1.0, is_declared=known)),), 60.0, 1.0, 1.0)
        for name, known in declared.items()
    ]
    names = area_names([tops[2], *tops])
    assert names == ["h2", "house", "h1", "h3"]


def test_a_moved_base_is_named_and_as_unsure_as_it_moved() -> None:
    scene = scene_of((0, 0), (0, 0), STEP_MM)
    (moved,) = scene.extra["moved"]
    old, new = np.array(BASES[MOVED][:2]), np.array(BASES[MOVED][:2]) + STEP_MM
    piece = next(one for one in scene.pieces if one.id == moved["id"])
    assert moved["photo"] == 2
    assert np.hypot(*(np.array([moved["x_mm"], moved["y_mm"]]) - new)) < 2
    assert np.hypot(*(np.array([piece.x_mm, piece.y_mm]) - old)) < 2
    assert scene.covariance is not None
    sigmas = np.sqrt(np.diag(scene.covariance.array)).reshape(-1, 2)
    number = scene.pieces.index(piece)
    assert sigmas[number] == pytest.approx(np.abs(STEP_MM), abs=2)
    assert np.delete(sigmas, number, 0).max() < 2


def test_a_base_is_not_placed_by_what_a_photo_found_where_it_had_left() -> None:
    photos = [see(k, camera_from(120 * k), BASES[:2]) for k in range(3)]
    bases = [
        Decided.of(Hypothesis.of(Sighting(photos[0], photos[0].detections[k])), ()).with_sightings(
            [Sighting(photo, photo.detections[k]) for photo in photos]
        )
        for k in range(2)
    ]
    moves = [Move(stays=1, strays=None, sighting=Sighting(photos[2], photos[2].detections[0]))]
    left = leave_old_places(bases, moves)
    assert [[one.photo.index for one in base.sightings] for base in left] == [[0, 1, 2], [0, 1]]


@pytest.mark.parametrize("last_mm", [(0.0, 0.0), STEP_MM])
def test_no_ruling_is_certain_that_another_place_of_the_base_refutes(
    last_mm: tuple[float, float],
) -> None:
    """At its old place the base is within a distance of another, at its new one it is not, or vice versa."""
    scene = scene_of((0, 0), (0, 0), last_mm)
    by_place = {}
    for step in ((0.0, 0.0), STEP_MM):
        apart = np.array(BASES[FAR][:2]) - BASES[MOVED][:2] - step
        by_place[step] = float(np.hypot(*apart)) - 27.0
    line_in = sum(by_place.values()) / 2 / MM_PER_INCH
    names = {piece.id: (piece.x_mm, piece.y_mm) for piece in scene.pieces}
    near = [
        min(names, key=lambda n: np.hypot(*np.subtract(names[n], BASES[k][:2])))
        for k in (MOVED, FAR)
    ]
    question = {"question": "within", "from": near[0], "to": near[1], "distance_in": line_in}
    is_certain = ask(scene, question).call == CERTAIN
    assert is_certain == (last_mm == (0.0, 0.0))
