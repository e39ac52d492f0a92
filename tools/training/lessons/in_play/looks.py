"""What the network sees of painted tables in play, and what is true of it.

A shape is a row (5,): x, y, half length, half width in mm on z = 0, and heading in radians.
"""

from collections.abc import Callable, Sequence

import numpy as np

from overruler.geometry.camera import Camera
from overruler.vision.learned.in_play_net import WIDE_PATCH, corrected_shapes
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
from synthetic.from_above.regiments import regiment_scene
from synthetic.from_above.sheet import Size, seen_bases
from synthetic.painted.paint import photo_of
from synthetic.painted.plates import Plate
from synthetic.painted.scene import Scene, make_scene
from synthetic.painted.wardrobe import Wardrobe
from training.blocks import Arrays
from training.lessons.in_play.wrong_shapes import (
    as_circles,
    in_ovals,
    misplaced,
    moved,
    pairs,
    rounds,
    wrong_shapes,
)
from training.lessons.rims.painted import apparent
from training.lessons.rims.patches import ring_candidates

CROWDED, REGIMENTS = 0.52, 0.3
"""The shares of tables with units of round bases, and with regiments and stands; on the others stands what the
lessons of the rims show."""
SQUARE_TO_ROUND = 2 / np.sqrt(np.pi)
"""Half side of a circle's size of the same area to a square's: a rectangle counts as the oval of its area."""
PLACE_SHARE, SIZE_LOG, ASPECT_LOG = 0.35, 0.25, 0.22
"""A candidate is a base's where it lies within these, in the candidate's own radii."""
NEAR_SHARE, NEAR_LOG, NEAR_ASPECT_LOG = 0.55, 0.42, 0.38
"""Up to here it is nobody's fault."""
DRAWN_SHARE, DRAWN_LOG, DRAWN_ASPECT_LOG = 1.0, 0.75, 0.9
"""Up to here the network says where the base lies."""
LEAST_VISIBLE, HIDDEN_VISIBLE = 0.2, 0.08
"""Bases of which more is seen count; where less than the second is seen there is none."""
DISTANCES_MM, LOW, LOW_TILT_RAD = (250.0, 2200.0), 0.8, 1.1
"""How far the camera stands, the share of photos from low, and their greatest tilt."""
REACHES_MM, PHOTOS_MM, MOST_PX = (60.0, 220.0), (0.3, 2.0), 420
"""How far a piece of a table reaches, a pixel of its photo, and the photo's side at most."""
ROUND_MM = 1e-6
"""A circle's half length and half width differ by less."""
MOST_LOOKS = 80
"""Taken of one table."""
Before = Callable[[list[Picture], Camera, Array], Array]
"""Answers about shapes, as the network gives them that learnt before."""
CORRECTED = (0.35, 0.25, 0.4)
"""The shares of candidates that such a network corrects so many times."""
LEAST_HALF_MM, MOST_HALF_MM = 4.0, 130.0
"""Half width and half length of what may be a base."""
SHOWN, SHOWN_SHARE = 1.1, 0.7
"""So much of a candidate, in its radii, of which this share must lie in the photo."""


def looks(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None = None,
    before: Before | None = None,
) -> Arrays:
    """What one table shows: patches (N, 96, 96, 3), their side input (N, 3) and truth (N, 9).

    Most candidates are shapes as the network `before` corrects them.
    """
    rng = np.random.default_rng(list(seed))
    view, reach = _view(rng)
    kind = float(rng.random())
    scene, sizes = in_front(view, *_scene(kind, rng, reach, tiles, wardrobe))
    photo, owners = photo_of(rng, scene, view, FINER, tiles)
    truth = _bases(scene, sizes, owners, view.resized(FINER))
    every = _candidates(rng, photo, view, scene, truth, reach)
    shapes = rng.permutation(_inside(every, view))[:MOST_LOOKS]
    levels = build_pyramid(photo)
    if before is not None and len(shapes):
        shapes = _inside(_corrected(rng, before, levels, view.camera, shapes), view)
    labels = label(view.camera, shapes, truth)
    if kind >= CROWDED + REGIMENTS:  # odd plates of any shape stand there
        odd = np.abs(shapes[:, 2] - shapes[:, 3]) > ROUND_MM
        labels[odd, 0] = np.where(labels[odd, 0] > 0, labels[odd, 0], -1)
        labels[:, 5] = -1
    return {
        "patches": cut_patches(levels, view.camera, shapes, WIDE_PATCH),
        "side": auxiliary_input(view.camera, shapes),
        "truth": labels,
    }


def _corrected(
    rng: Rng, before: Before, levels: list[Picture], camera: Camera, shapes: Array
) -> Array:
    """Shapes as a finder has them after none, one or two corrections by a network."""
    steps = rng.choice(len(CORRECTED), len(shapes), p=CORRECTED)
    shapes = shapes.copy()
    for done in range(len(CORRECTED) - 1):
        some = np.flatnonzero(steps > done)
        if len(some):
            answers = before(levels, camera, shapes[some])
            shapes[some] = corrected_shapes(camera, shapes[some], answers)
    usual = (
        np.isfinite(shapes).all(1) & (shapes[:, 3] > LEAST_HALF_MM) & (shapes[:, 2] < MOST_HALF_MM)
    )
    return np.asarray(shapes[usual])


def _scene(
    kind: float, rng: Rng, reach: float, tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> tuple[Scene, list[Size | None]]:
    if kind < CROWDED:
        return crowded_scene(rng, reach, tiles, wardrobe)
    if kind < CROWDED + REGIMENTS:
        return regiment_scene(rng, reach, tiles, wardrobe)
    scene = make_scene(rng, reach, tiles, wardrobe)
    return scene, [_round_size(plate) for plate in scene.plates]


def _round_size(plate: Plate) -> Size | None:
    return (2 * plate.radius_mm, 2 * plate.radius_mm, 0.0, DISC) if plate.is_base else None


def _bases(scene: Scene, sizes: Sequence[Size | None], owners: Mask, fine: View) -> Array:
    """The shapes of all bases, how much of each is seen, and whether it is a rectangle (N, 7)."""
    rows = seen_bases(scene.plates, sizes, owners, fine)
    angular = rows[:, 5] == RECTANGLE
    half = rows[:, 2:4] / 2 * np.where(angular, SQUARE_TO_ROUND, 1.0)[:, None]
    return np.column_stack([rows[:, :2], half, rows[:, 4], rows[:, 6], angular])


def label(camera: Camera, candidates: Array, truth: Array) -> Floats:
    """What is true of candidates (N, 5), given bases (M, 7): (N, 9).

    Whether it is a round base or an oval (1, 0, or -1: undecided); dx, dy and log of the size's ratio; visible
    share; whether it is a rectangle; the log of the stretch along and across the view, and of that between;
    and whether there is a base of which all this is told.
    """
    result = np.zeros((len(candidates), 9), np.float32)
    if not len(truth) or not len(candidates):
        return result
    own, theirs = shape_matrices_mm(candidates), shape_matrices_mm(truth[:, :5])
    apart = truth[None, :, :2] - candidates[:, None, :2]
    offset = np.linalg.solve(own[:, None], apart[..., None])[..., 0]
    ratio = np.linalg.solve(own[:, None], theirs)
    stretch = np.log(np.linalg.svd(ratio, compute_uv=False))
    place, size = np.linalg.norm(offset, axis=2), np.abs(stretch.mean(2))
    aspect = stretch[..., 0] - stretch[..., 1]
    far = np.hypot(np.hypot(place / PLACE_SHARE, size / SIZE_LOG), aspect / ASPECT_LOG)
    far = far + 9.0 * (truth[:, 5] < HIDDEN_VISIBLE)
    rows, match = np.arange(len(candidates)), np.argmin(far, 1)
    errors = [one[rows, match] for one in (place, size, aspect)]
    visible, angular = truth[match, 5], truth[match, 6] > 0
    good = _within(errors, (PLACE_SHARE, SIZE_LOG, ASPECT_LOG))
    near = _within(errors, (NEAR_SHARE, NEAR_LOG, NEAR_ASPECT_LOG))
    near &= visible > HIDDEN_VISIBLE
    is_base = np.where(good & (visible >= LEAST_VISIBLE), 1, np.where(near, -1, 0))
    result[:, 0] = np.where(angular, 0, is_base)
    result[:, 5] = np.where(angular, is_base, 0)
    upright, _ = upright_axes(camera, candidates)
    result[:, 1:3] = np.einsum("nkd,nd->nk", upright, offset[rows, match])
    result[:, 3], result[:, 4] = stretch.mean(2)[rows, match], visible
    turned = upright @ ratio[rows, match]
    spread = _log_of(turned @ turned.transpose(0, 2, 1)) / 2
    result[:, 6], result[:, 7] = (spread[:, 0, 0] - spread[:, 1, 1]) / 2, spread[:, 0, 1]
    drawn = _within(errors, (DRAWN_SHARE, DRAWN_LOG, DRAWN_ASPECT_LOG))
    result[:, 8] = drawn & (visible > HIDDEN_VISIBLE)
    return result


def _log_of(matrices: Array) -> Array:
    """The logarithms of symmetric positive matrices (N, 2, 2)."""
    values, axes = np.linalg.eigh(matrices)
    return np.asarray(axes * np.log(values)[:, None] @ axes.transpose(0, 2, 1))


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
    guesses += [in_ovals(rng, bases), pairs(rng, bases), as_circles(rng, bases)]
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
