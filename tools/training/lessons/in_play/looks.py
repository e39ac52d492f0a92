"""What the network sees of painted tables in play, and what is true of it.

A shape is a row (5,): x, y, half length, half width in mm on z = 0, and heading in radians.
"""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.camera import Camera
from overruler.vision.learned.in_play_net import WIDE_PATCH
from overruler.vision.learned.patches import (
    auxiliary_input,
    build_pyramid,
    cut_patches,
    shape_matrices_mm,
    upright_axes,
)
from synthetic.arrays import Array, Floats, Mask, Picture, Rng
from synthetic.camera import View, view_towards
from synthetic.from_above.crowds import any_eye, crowded_scene, in_front
from synthetic.from_above.quick_tables import DISC, FINER, RECTANGLE
from synthetic.from_above.sheet import Size, seen_bases
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate
from synthetic.painted.scene import Scene, make_scene
from synthetic.painted.wardrobe import Wardrobe
from training.blocks import Arrays
from training.lessons.in_play.wrong_shapes import (
    in_ovals,
    misplaced,
    moved,
    pairs,
    rounds,
    wrong_shapes,
)
from training.lessons.rims.patches import apparent, ring_candidates

CROWDED = 0.75
"""The share of tables with units; on the others stands what the lessons of the rims show."""
PLACE_SHARE, SIZE_LOG, ASPECT_LOG = 0.35, 0.25, 0.22
"""A candidate is a base's where it lies within these, in the candidate's own radii."""
NEAR_SHARE, NEAR_LOG, NEAR_ASPECT_LOG = 0.55, 0.42, 0.38
"""Up to here it is nobody's fault."""
LEAST_VISIBLE, HIDDEN_VISIBLE = 0.2, 0.08
"""Bases of which more is seen count; where less than the second is seen there is none."""
DISTANCES_MM, LOW, LOW_TILT_RAD = (250.0, 2200.0), 0.45, 1.1
"""How far the camera stands, the share of photos from low, and their greatest tilt."""
REACHES_MM, PHOTOS_MM, MOST_PX = (60.0, 220.0), (0.3, 2.0), 420
"""How far a piece of a table reaches, a pixel of its photo, and the photo's side at most."""
ROUND_MM = 1e-6
"""A circle's half length and half width differ by less."""
MOST_LOOKS = 64
"""Taken of one table."""
SHOWN, SHOWN_SHARE = 1.1, 0.7
"""So much of a candidate, in its radii, of which this share must lie in the photo."""


def looks(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Arrays:
    """What one table shows: patches (N, 96, 96, 3), their side input (N, 3) and truth (N, 5)."""
    rng = np.random.default_rng(list(seed))
    view, reach = _view(rng)
    kind = float(rng.random())
    scene, sizes = in_front(view, *_scene(kind, rng, reach, tiles, wardrobe))
    photo, owners = photo_of(rng, scene, view, FINER, tiles)
    truth = _bases(scene, sizes, owners, view.resized(FINER))
    every = _candidates(rng, photo, view, scene, truth, reach)
    if kind >= CROWDED:  # odd plates of any shape stand there
        every = every[np.abs(every[:, 2] - every[:, 3]) < ROUND_MM]
    shapes = rng.permutation(_inside(every, view))[:MOST_LOOKS]
    return {
        "patches": cut_patches(build_pyramid(photo), view.camera, shapes, WIDE_PATCH),
        "side": auxiliary_input(view.camera, shapes),
        "truth": label(view.camera, shapes, truth),
    }


def _scene(
    kind: float, rng: Rng, reach: float, tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> tuple[Scene, list[Size | None]]:
    if kind < CROWDED:
        return crowded_scene(rng, reach, tiles, wardrobe)
    scene = make_scene(rng, reach, tiles, wardrobe)
    return scene, [_round_size(plate) for plate in scene.plates]


def _round_size(plate: Plate) -> Size | None:
    return (2 * plate.radius_mm, 2 * plate.radius_mm, 0.0, DISC) if plate.is_base else None


def _bases(scene: Scene, sizes: Sequence[Size | None], owners: Mask, fine: View) -> Array:
    """The shapes of all round bases and ovals, and how much of each is seen (N, 6)."""
    rows = seen_bases(scene.plates, sizes, owners, fine)
    rows = rows[rows[:, 5] != RECTANGLE]
    return np.column_stack([rows[:, :2], rows[:, 2:4] / 2, rows[:, 4], rows[:, 6]])


def label(camera: Camera, candidates: Array, truth: Array) -> Floats:
    """What is true of candidates (N, 5), as the rims' lessons have it (N, 5), given bases (M, 6)."""
    result = np.zeros((len(candidates), 5), np.float32)
    if not len(truth) or not len(candidates):
        return result
    own, theirs = shape_matrices_mm(candidates), shape_matrices_mm(truth[:, :5])
    apart = truth[None, :, :2] - candidates[:, None, :2]
    offset = np.linalg.solve(own[:, None], apart[..., None])[..., 0]
    stretch = np.log(np.linalg.svd(np.linalg.solve(own[:, None], theirs), compute_uv=False))
    place, size = np.linalg.norm(offset, axis=2), np.abs(stretch.mean(2))
    aspect = stretch[..., 0] - stretch[..., 1]
    far = np.hypot(np.hypot(place / PLACE_SHARE, size / SIZE_LOG), aspect / ASPECT_LOG)
    rows, match = np.arange(len(candidates)), np.argmin(far, 1)
    errors = [one[rows, match] for one in (place, size, aspect)]
    visible = truth[match, 5]
    good = _within(errors, (PLACE_SHARE, SIZE_LOG, ASPECT_LOG))
    near = _within(errors, (NEAR_SHARE, NEAR_LOG, NEAR_ASPECT_LOG))
    near &= visible > HIDDEN_VISIBLE
    result[:, 0] = np.where(good & (visible >= LEAST_VISIBLE), 1, np.where(near, -1, 0))
    upright, _ = upright_axes(camera, candidates)
    result[:, 1:3] = np.einsum("nkd,nd->nk", upright, offset[rows, match])
    result[:, 3], result[:, 4] = stretch.mean(2)[rows, match], visible
    return result


def _within(errors: Sequence[Array], most: Sequence[float]) -> Mask:
    return np.asarray(np.all([error < limit for error, limit in zip(errors, most, strict=True)], 0))


def _view(rng: Rng) -> tuple[View, float]:
    """A camera as people hold it over a table, and how far the table reaches."""
    distance, eye, roll = any_eye(rng, DISTANCES_MM, LOW, LOW_TILT_RAD)
    reach = float(np.exp(rng.uniform(*np.log(REACHES_MM))))
    mm_per_px = max(float(np.exp(rng.uniform(*np.log(PHOTOS_MM)))), 2 * reach / MOST_PX)
    aim = np.append(rng.uniform(-0.2, 0.2, 2) * distance, 0)
    return view_towards(eye, aim, roll, reach, mm_per_px), reach


def _candidates(
    rng: Rng, photo: Picture, view: View, scene: Scene, truth: Array, reach: float
) -> Array:
    """Shapes about bases with a finder's errors, and wrong ones about bases, other things and nothing."""
    bases = truth[:, :5]
    plates = [[*plate.center_mm, plate.radius_mm] for plate in scene.plates]
    lures = apparent(scene.lures, view.camera)
    circles = rounds(np.concatenate([np.array(plates).reshape(-1, 3), lures]))
    guesses = [moved(rng, bases, share) for share in (0.06, 0.15, 0.3, 0.42)]
    guesses += [moved(rng, circles, 0.2), misplaced(rng, circles), misplaced(rng, bases)]
    guesses += [in_ovals(rng, bases), pairs(rng, bases)]
    guesses += [wrong_shapes(rng, circles), wrong_shapes(rng, bases)]
    anywhere = [rng.uniform(-reach, reach, (4, 2)), np.exp(rng.uniform(2.3, 4.2, (4, 1)))]
    guesses.append(wrong_shapes(rng, rounds(np.column_stack(anywhere))))
    if rng.random() < 0.4:
        radii = rng.choice([12.8, 14.2, 16, 20, 25, 30, 40, 50], 4, replace=False).tolist()
        box = (-reach, -reach, reach, reach)
        guesses.append(rounds(ring_candidates(photo, view.camera, box, radii, 10)))
    return np.concatenate(guesses)


def _inside(candidates: Array, view: View) -> Array:
    """Those of which most lies in the picture, their middles too."""
    corners = np.array([[0, 0], [-1, -1], [1, -1], [1, 1], [-1, 1]]) * SHOWN
    offsets = np.einsum("kd,nde->nke", corners, shape_matrices_mm(candidates))
    points = candidates[:, None, :2] + offsets
    at = view.camera.project(np.concatenate([points, np.zeros((*points.shape[:2], 1))], -1))
    shown = np.asarray(((at > 0) & (at < view.size_px)).all(2), float)
    return np.asarray(candidates[(shown.mean(1) > SHOWN_SHARE) & (shown[:, 0] > 0)])
