"""What the network sees of painted tables in play, and what is true of it."""

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
from synthetic.arrays import Array, Floats, Picture, Rng
from synthetic.camera import View, view_towards
from synthetic.from_above.crowds import crowded_scene, in_front
from synthetic.from_above.sheet import visible_share
from synthetic.painted.paint import photo_of
from synthetic.painted.scene import Scene, make_scene
from training.blocks import Arrays
from training.lessons.rims.patches import apparent, ring_candidates, shaken

CROWDED = 0.75
"""The share of tables with units; on the others stands what the lessons of the rims show."""
PLACE_SHARE, SIZE_LOG, ASPECT_LOG = 0.35, 0.25, 0.22
"""A candidate is a base's where it lies within these, in the candidate's own radii."""
NEAR_SHARE, NEAR_LOG, NEAR_ASPECT_LOG = 0.55, 0.42, 0.38
"""Up to here it is nobody's fault."""
LEAST_VISIBLE, HIDDEN_VISIBLE = 0.2, 0.08
"""Bases of which more is seen count; those of which less than the second is seen are none."""
CENTRE_SHARE = 0.45
"""A base whose rim is hidden counts neither way where so much of a photo's patch lies outside."""
MOST_PX = 420
"""A photo's side."""
MOST_LOOKS = 64
"""Taken of one table."""
DISTANCES_MM, USUAL_TILT_RAD, LOW, LOW_TILT_RAD = (250.0, 2200.0), 0.75, 0.45, 1.1
"""As in `synthetic.from_above.crowds`."""
FINER = 2
OVALS_MM = np.array([(60, 35), (75, 42), (90, 52), (105, 70), (120, 92), (170, 105)]) / 2


def looks(seed: Sequence[int], tiles: Sequence[Picture]) -> Arrays:
    """What one table shows: patches (N, 96, 96, 3), their side input (N, 3) and truth (N, 5)."""
    rng = np.random.default_rng(list(seed))
    view, reach = _view(rng)
    if rng.random() < CROWDED:
        scene, sizes = in_front(view, *crowded_scene(rng, reach, tiles))
    else:
        made = make_scene(rng, reach, tiles)
        scene, sizes = in_front(
            view,
            made,
            [(2 * p.radius_mm, 2 * p.radius_mm, 0.0, 0) if p.is_base else None for p in made.plates],
        )
    photo, owners = photo_of(rng, scene, view, FINER, tiles)
    fine = view.resized(FINER)
    rows = [
        [*plate.center_mm, size[0] / 2, size[1] / 2, size[2], visible_share(k, plate, owners, fine)]
        for k, (plate, size) in enumerate(zip(scene.plates, sizes, strict=True))
        if size is not None
    ]
    truth = np.array(rows, float).reshape(-1, 6)
    candidates = _candidates(rng, photo, view, scene, truth, reach)
    candidates = _inside(candidates, view)
    rng.shuffle(candidates)
    candidates = candidates[:MOST_LOOKS]
    camera = view.camera
    levels = build_pyramid(photo)
    return {
        "patches": cut_patches(levels, camera, candidates, WIDE_PATCH),
        "side": auxiliary_input(camera, candidates),
        "truth": label(camera, candidates, truth),
    }


def label(camera: Camera, candidates: Array, truth: Array) -> Floats:
    """What is true of candidates (N, 5), as the rims' lessons have it (N, 5), given bases (M, 6)."""
    result = np.zeros((len(candidates), 5), np.float32)
    if not len(truth) or not len(candidates):
        return result
    own = shape_matrices_mm(candidates)
    offset = np.linalg.solve(
        own[:, None], (truth[None, :, :2] - candidates[:, None, :2])[..., None]
    )[..., 0]
    ratio = np.linalg.solve(own[:, None], shape_matrices_mm(truth[:, :5])[None])
    stretch = np.log(np.linalg.svd(ratio, compute_uv=False).clip(1e-6))
    place, size = np.linalg.norm(offset, axis=2), stretch.mean(2)
    aspect = stretch[..., 0] - stretch[..., 1]
    match = np.argmin(np.hypot(np.hypot(place / PLACE_SHARE, size / SIZE_LOG), aspect / ASPECT_LOG), 1)
    rows = np.arange(len(candidates))
    place, size, aspect = place[rows, match], np.abs(size[rows, match]), aspect[rows, match]
    visible = truth[match, 5]
    good = (place < PLACE_SHARE) & (size < SIZE_LOG) & (aspect < ASPECT_LOG)
    near = (place < NEAR_SHARE) & (size < NEAR_LOG) & (aspect < NEAR_ASPECT_LOG)
    near &= visible > HIDDEN_VISIBLE
    result[:, 0] = np.where(good & (visible >= LEAST_VISIBLE), 1, np.where(near, -1, 0))
    upright, _ = upright_axes(camera, candidates)
    result[:, 1:3] = np.einsum("nkd,nd->nk", upright, offset[rows, match])
    result[:, 3], result[:, 4] = stretch.mean(2)[rows, match], visible
    return result


def _view(rng: Rng) -> tuple[View, float]:
    distance = float(np.exp(rng.uniform(*np.log(DISTANCES_MM))))
    tilt = rng.uniform(0, LOW_TILT_RAD if rng.random() < LOW else USUAL_TILT_RAD)
    around, roll = rng.uniform(0, 2 * np.pi, 2)
    away = np.array([np.cos(around), np.sin(around)])
    eye = distance * np.append(np.sin(tilt) * away, np.cos(tilt))
    reach = float(np.exp(rng.uniform(np.log(60), np.log(220))))
    mm_per_px = max(float(np.exp(rng.uniform(np.log(0.3), np.log(2.0)))), 2 * reach / MOST_PX)
    aim = np.append(rng.uniform(-0.2, 0.2, 2) * distance, 0)
    return view_towards(eye, aim, roll, reach, mm_per_px), reach


# --- candidates: x, y, half length, half width, heading ---


def _candidates(
    rng: Rng, photo: Picture, view: View, scene: Scene, truth: Array, reach: float
) -> Array:
    bases = truth[:, :5]
    guesses = [_moved(rng, bases, share) for share in (0.06, 0.15, 0.3, 0.42)]
    others = [p for p in scene.plates if not p.is_base]
    things = np.array([[*p.center_mm, p.radius_mm] for p in scene.plates]).reshape(-1, 3)
    odd = np.array([[*p.center_mm, p.radius_mm] for p in others]).reshape(-1, 3)
    lures = apparent(scene.lures, view.camera)
    rounds = [shaken(rng, odd, 0.2), shaken(rng, odd, 0.4), shaken(rng, lures, 0.1)]
    rounds += [shaken(rng, lures, 0.35), _misplaced(rng, things), *_in_ovals(rng, bases)]
    rounds.append(
        np.column_stack(
            [rng.uniform(-reach, reach, (4, 2)), np.exp(rng.uniform(np.log(10), np.log(70), 4))]
        )
    )
    if rng.random() < 0.4:
        radii = rng.choice([12.8, 14.2, 16, 20, 25, 30, 40, 50], 4, replace=False).tolist()
        rounds.append(ring_candidates(photo, view.camera, (-reach, -reach, reach, reach), radii, 10))
    guesses += [_as_ovals(part) for part in rounds]
    guesses.append(_wrong_ovals(rng, np.concatenate([things, shaken(rng, lures, 0.2)])))
    guesses.append(_pairs(rng, bases))
    return np.concatenate(guesses)


def _as_ovals(circles: Array) -> Array:
    return np.column_stack([circles[:, :2], circles[:, 2], circles[:, 2], np.zeros(len(circles))])


def _moved(rng: Rng, ovals: Array, share: float) -> Array:
    """Ovals (N, 5) off by up to a share of their half width in place, and of other sizes and turns."""
    count = len(ovals)
    turn, out = rng.uniform(0, 6.3, count), share * np.sqrt(rng.uniform(0, 1, count))
    shift = (out * ovals[:, 3])[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    size = np.exp(rng.uniform(-0.6, 0.6, (count, 1)) * share)
    aspect = np.exp(rng.uniform(-0.25, 0.25, (count, 1)) * share * [[1.0, -1.0]])
    is_round = np.abs(ovals[:, 2:3] - ovals[:, 3:4]) < 1e-6
    half = ovals[:, 2:4] * size * np.where(is_round, 1, aspect)
    return np.column_stack(
        [ovals[:, :2] + shift, half, ovals[:, 4] + rng.uniform(-0.5, 0.5, count) * share]
    )


def _misplaced(rng: Rng, things: Array) -> Array:
    """Circles across the edge of things, and far too large or too small for them."""
    count = len(things)
    turn, out = rng.uniform(0, 6.3, count), rng.uniform(0.5, 1.5, count) * things[:, 2]
    beside = things[:, :2] + out[:, None] * np.stack([np.cos(turn), np.sin(turn)], -1)
    size = things[:, 2] * np.exp(rng.uniform(-0.6, 0.6, count))
    factor = np.exp(rng.choice([-1, 1], count) * rng.uniform(0.42, 0.9, count))
    return np.concatenate(
        [np.column_stack([beside, size]), np.column_stack([things[:, :2], things[:, 2] * factor])]
    )


def _in_ovals(rng: Rng, bases: Array) -> list[Array]:
    """Circles in the ends and in the middle of ovals."""
    ovals = bases[bases[:, 2] > 1.1 * bases[:, 3]]
    along = np.stack([np.cos(ovals[:, 4]), np.sin(ovals[:, 4])], -1)
    reach = (ovals[:, 2] - ovals[:, 3])[:, None]
    ends = [
        np.column_stack([ovals[:, :2] + s * reach * along, ovals[:, 3]])
        for s in (-1, 1, rng.uniform(-1, 1))
    ]
    middle = np.column_stack([ovals[:, :2], np.sqrt(ovals[:, 2] * ovals[:, 3])])
    return [shaken(rng, part, 0.2) for part in [*ends, middle]]


def _wrong_ovals(rng: Rng, things: Array) -> Array:
    """Ovals of usual sizes about round and other things."""
    count = len(things)
    if not count:
        return np.empty((0, 5))
    half = OVALS_MM[rng.integers(len(OVALS_MM), size=count)]
    scale = np.where(rng.random((count, 1)) < 0.5, 1, things[:, 2:3] / half.mean(1, keepdims=True))
    shift = rng.normal(size=(count, 2)) * 0.3 * things[:, 2:3]
    turn = rng.uniform(0, np.pi, count)
    return np.column_stack([things[:, :2] + shift, half * scale, turn])


def _pairs(rng: Rng, bases: Array) -> Array:
    """Ovals about two neighbours, which together look long."""
    rows = []
    for k in range(len(bases)):
        far = np.linalg.norm(bases[:, :2] - bases[k, :2], axis=1)
        far[k] = np.inf
        j = int(np.argmin(far))
        if far[j] < 3 * bases[k, 2] and rng.random() < 0.4:
            way = bases[j, :2] - bases[k, :2]
            middle = bases[k, :2] + way / 2
            half = bases[k, 3] * rng.uniform(0.9, 1.1)
            rows.append([*middle, far[j] / 2 + half, half, np.arctan2(way[1], way[0])])
    return np.array(rows, float).reshape(-1, 5)


def _inside(candidates: Array, view: View) -> Array:
    """Those of which most lies in the picture."""
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [0, 0]]) * 1.1
    offsets = np.einsum("kd,nde->nke", corners, shape_matrices_mm(candidates))
    points = candidates[:, None, :2] + offsets
    at = view.camera.project(np.concatenate([points, np.zeros((*points.shape[:2], 1))], -1))
    good = ((at > 0) & (at < view.size_px)).all(2)
    return candidates[(good.mean(1) > 0.7) & good[:, -1]]
