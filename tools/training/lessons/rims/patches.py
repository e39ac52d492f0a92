"""From a scene to what the network learns from: patches around candidates, and what is true of each."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from overruler.geometry.camera import Camera
from overruler.vision.imaging.orthophoto import rectify_photo
from overruler.vision.learned.patches import (
    PATCH_HALF_WIDTH_RADII,
    RING_OUTER_RADII,
    auxiliary_input,
    build_pyramid,
    cut_patches,
    cut_rings,
    patch_axes_mm,
)
from overruler.vision.rounds.ring_filter import find_candidates
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.painted.plates import Plate, circle
from synthetic.painted.wardrobe import Wardrobe
from synthetic.printed_mats import Box, Lookalike
from synthetic.tiles import library
from training.blocks import Arrays
from training.lessons.rims.painted import PaintedScene, apparent, paint_scene

RADII_MM = (12.8, 14.2, 16, 20, 25, 30, 35, 40, 45, 50, 60, 80)
RING_MM_PER_PX = 1.0
"""Of the picture from above that the ring filter sees."""
PLACE_SHARE, SIZE_LOG = 0.42, 0.30
"""A candidate is a base's where it lies within these: shares of its radius in place, logarithm of the ratio in size."""
NEAR_SHARE, NEAR_LOG = 0.6, 0.45
"""Up to here it is nobody's fault."""
LEAST_VISIBLE = 0.2
SCENES, TILES = 200, 120
"""Scenes in a block, and mats that they lie on."""
AT_ONCE = 256
"""Patches that are cut at a time."""


def drawn_block(
    seed: int, number: int, wardrobe: Wardrobe | None = None, prints: int = 0, unmanned: float = 0.0
) -> Arrays:
    """What the scenes of a block teach, with up to so many prints on each, a share of them without figures."""
    scene = partial(samples, wardrobe=wardrobe, prints=prints, unmanned=unmanned)
    return block_of(seed, number, scene)


def block_of(
    seed: int, number: int, samples_of: Callable[[Sequence[int], Sequence[Picture]], Arrays]
) -> Arrays:
    """What the scenes of a block teach, each by a seed of its own and the mats that it may lie on."""
    tiles = library(seed, TILES)
    some = [samples_of([seed, number, k], tiles) for k in range(SCENES)]
    return {name: np.concatenate([one[name] for one in some]) for name in some[0]}


def samples(
    seed: Sequence[int],
    tiles: Sequence[Picture],
    wardrobe: Wardrobe | None = None,
    prints: int = 0,
    unmanned: float = 0.0,
) -> Arrays:
    """What one random scene teaches, with up to so many prints on its mat."""
    rng = np.random.default_rng(list(seed))
    painted = paint_scene(rng, tiles, wardrobe, unmanned)
    rows = [
        [*plate.center_mm, plate.radius_mm, seen]
        for plate, seen in zip(painted.scene.plates, painted.seen, strict=True)
        if plate.is_base
    ]
    camera, (photo, discs) = painted.view.camera, painted.with_prints(rng, prints, "disc")
    guesses = [_candidates(rng, photo, painted), printed(rng, discs)]
    candidates = inside(np.concatenate(guesses), camera, photo)
    return teach(rng, photo, camera, candidates, np.array(rows, float).reshape(-1, 4))


def teach(rng: Rng, photo: Picture, camera: Camera, candidates: Array, truth: Array) -> Arrays:
    """Samples of a photo around candidates (N, 3) and rims, given its bases (M, 4): x, y, radius on z = 0, visible.

    Patches (N, 64, 64, 3) with their side input (N, 3) and truth (N, 5): 1 base, 0 none, -1 undecided; dx and dy in
    radii; log of the radius' ratio; visible share. Rings (K, 40, 48, 3) of bases only, with the same.
    """
    levels = build_pyramid(photo)
    clear = truth[truth[:, 3] >= LEAST_VISIBLE, :3]
    guesses = np.concatenate([shaken(rng, clear, share) for share in (0.03, 0.06, 0.1, 0.16)])
    rims = _in_picture(guesses, camera, photo)
    parts = np.array_split(candidates, len(candidates) // AT_ONCE + 1)
    return {
        "patches": np.concatenate([cut_patches(levels, camera, part) for part in parts]),
        "side": auxiliary_input(camera, candidates),
        "truth": label(camera, candidates, truth),
        "rings": cut_rings(levels, camera, rims),
        "ring_side": auxiliary_input(camera, rims),
        "ring_truth": label(camera, rims, truth),
    }


def label(camera: Camera, candidates: Array, truth: Array) -> Floats:
    """What is true of each candidate (N, 5)."""
    result = np.zeros((len(candidates), 5), np.float32)
    if not len(truth) or not len(candidates):
        return result
    offset = truth[None, :, :2] - candidates[:, None, :2]
    place = np.linalg.norm(offset, axis=2) / truth[:, 2]
    size = np.log(truth[:, 2] / candidates[:, 2, None])
    match = np.argmin(np.hypot(place / PLACE_SHARE, size / SIZE_LOG), 1)
    rows = np.arange(len(candidates))
    place, size, visible = place[rows, match], size[rows, match], truth[match, 3]
    good = (place < PLACE_SHARE) & (np.abs(size) < SIZE_LOG)
    near = (place < NEAR_SHARE) & (np.abs(size) < NEAR_LOG)
    result[:, 0] = np.where(good & (visible >= LEAST_VISIBLE), 1, np.where(near, -1, 0))
    axes = patch_axes_mm(camera, candidates)
    result[:, 1:3] = (
        np.einsum("nkd,nd->nk", axes, offset[rows, match]) / candidates[:, 2, None] ** 2
    )
    result[:, 3], result[:, 4] = size, visible
    return result


# --- candidates ---


def _candidates(rng: Rng, photo: Picture, painted: PaintedScene) -> Array:
    """Guesses (N, 3) near every plate and lure, what a ring filter finds, and a few at random."""
    scene, camera, reach = painted.scene, painted.view.camera, painted.reach_mm
    rows = [[*plate.center_mm, plate.radius_mm] for plate in scene.plates]
    things = np.array(rows).reshape(-1, 3)
    guesses = [shaken(rng, things, share) for share in (0.4, 0.4, 0.3, 0.2, 0.12, 0.08, 0.05)]
    guesses += [misled(rng, things), misled(rng, things)]
    lures = apparent(scene.lures, camera)
    guesses += [shaken(rng, lures, share) for share in (0.4, 0.2, 0.1, 0.05)]
    guesses.append(shaken(rng, oval_ends(scene.plates), 0.2))
    if rng.random() < 0.5 or not len(things):
        radii = rng.choice(RADII_MM, 5, replace=False).tolist()
        guesses.append(ring_candidates(photo, camera, painted.box_mm, radii, most=24))
    loose = np.column_stack(
        [rng.uniform(-reach, reach, (2, 2)), np.exp(rng.uniform(np.log(11), np.log(85), 2))]
    )
    return np.concatenate([*guesses, loose])


def printed(rng: Rng, discs: Sequence[Lookalike]) -> Array:
    """Guesses (N, 3) at round prints."""
    things = np.array([[*disc.xy_mm, disc.radius_mm] for disc in discs]).reshape(-1, 3)
    near = [shaken(rng, things, share) for share in (0.4, 0.3, 0.2, 0.12, 0.08, 0.05)]
    return np.concatenate([*near, misled(rng, things)])


def oval_ends(plates: Sequence[Plate]) -> Array:
    """The circles (N, 3) that fit into the two ends of plates that are longer than wide."""
    found = []
    for plate in plates:
        _, ways = np.linalg.eigh(plate.outline_mm.T @ plate.outline_mm)
        half = np.abs(plate.outline_mm @ ways).max(0)
        if half[1] > 1.15 * half[0]:
            step = (half[1] - half[0]) * ways[:, 1]
            found += [[*(plate.center_mm + sign * step), half[0]] for sign in (-1, 1)]
    return np.array(found).reshape(-1, 3)


def ring_candidates(
    photo: Picture, camera: Camera, box_mm: Box, radii: Sequence[float] = RADII_MM, most: int = 14
) -> Array:
    """Places and radii (N, 3) in mm, within a box of the board, where the program's ring filter answers most."""
    view = rectify_photo(photo, camera, box_mm, RING_MM_PER_PX)
    found = find_candidates(view, radii)
    return np.column_stack([found.xy_mm, found.radius_mm])[:most]


def shaken(rng: Rng, things: Array, share: float) -> Array:
    """Things (N, 3) off by up to `share` of their radius in place and three quarters of that in size."""
    count = len(things)
    turn, out = rng.uniform(0, 6.3, count), np.sqrt(rng.uniform(0, 1, count))
    shift = share * out[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    size = np.exp(rng.uniform(-0.73, 0.73, count) * share)
    return np.column_stack([things[:, :2] + shift * things[:, 2:], things[:, 2] * size])


def misled(rng: Rng, things: Array) -> Array:
    """Guesses that sit on a thing's edge, or are far too large or too small for it."""
    count = len(things)
    turn, out = rng.uniform(0, 6.3, count), rng.uniform(0.6, 1.4, count)
    beside = things[:, :2] + (out * things[:, 2])[:, None] * np.stack(
        [np.cos(turn), np.sin(turn)], -1
    )
    edge = np.column_stack([beside, things[:, 2] * np.exp(rng.uniform(-0.6, 0.6, count))])
    factor = rng.choice([-1, 1], count) * rng.uniform(0.46, 0.9, count)
    wrong = np.column_stack(
        [things[:, :2] * (1 + rng.normal(size=(count, 2)) * 0.1), things[:, 2] * np.exp(factor)]
    )
    return np.concatenate([edge, wrong])


def inside(candidates: Array, camera: Camera, photo: Picture) -> Array:
    """Those whose patch lies in the picture, all but a tenth."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0]]) * PATCH_HALF_WIDTH_RADII * 0.85
    points = candidates[:, None, :2] + corners * candidates[:, 2, None, None]
    at = camera.project(np.concatenate([points, np.zeros((*points.shape[:2], 1))], -1))
    good = (at > 0) & (at < [photo.shape[1], photo.shape[0]])
    return candidates[good.all((1, 2))]


def _in_picture(rims: Array, camera: Camera, photo: Picture) -> Array:
    """Those rims (N, 3) whose unrolled ring lies in the picture whole."""
    points = rims[:, None, :2] + RING_OUTER_RADII * circle(1, 8) * rims[:, 2, None, None]
    at = camera.project(np.concatenate([points, np.zeros((*points.shape[:2], 1))], -1))
    return rims[((at > 0) & (at < [photo.shape[1], photo.shape[0]])).all((1, 2))]
