"""A small learned look at disc-shaped things: which are bases, and where the lower rim is.

Two networks of about 100 000 weights each. The first sees a candidate's surroundings from straight above and says how
much it looks like a base on the table, and roughly where its rim lies. The second sees the ring round that rim unrolled
and says, direction by direction, how far out the lower rim is and how sure that is; the circle through these is then
plain least squares. `docs/rims.md` says how they were trained.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.inference import WEIGHTS, infer_batch
from overruler.vision.learned.logits import MAX_LOGIT_PER_VIEW, probability_to_logit, sigmoid
from overruler.vision.learned.patches import (
    RING_ANGLE_COUNT,
    Floats,
    Picture,
    auxiliary_input,
    cut_patches,
    cut_rings,
    equal_area_radius_mm,
    patch_axes_mm,
    patch_input,
    photo_pyramid,
    ring_angles,
    ring_input,
)

PATCH_MODEL = WEIGHTS / "rims.onnx"
RING_MODEL = WEIGHTS / "rings.onnx"
BATCH_SIZE = 16
"""Cutouts that go through a network together: what more of them leave behind no cache holds."""
PARALLEL_BATCHES = 2
"""So many batches at a time."""
MIN_SECOND_LOOK_SCORE = 0.003
"""Candidates that score less at first sight get no second one."""
MIN_TRACE_SCORE = 0.1
"""Candidates that score as much get their rim traced."""
TEST_TIME_AUGMENTATIONS = ((True, (0.0, 0.0)), (False, (0.07, 0.03)), (True, (-0.05, 0.06)))
"""Further looks at what looks like a base: mirrored or not, and how far beside it, in radii."""
CENTRE_SIGMA_INFLATION, RADIUS_SIGMA_INFLATION = 2.5, 3.5
"""How much larger errors are than independent directions would make them, as counted on scenes not trained on."""
TRACED_CENTRE_SIGMA_INFLATION, TRACED_RADIUS_SIGMA_INFLATION = 2.0, 2.3
"""And so many times larger again than that, counted on 1495 bases of traced tables that nothing was taught on."""
DUPLICATE_DISTANCE_RADII, DUPLICATE_LOG_RADIUS = 0.1, 0.06
"""Guesses are of one circle that lie this near each other, in radii, and whose radii are this near (logarithm)."""
_CAUCHY_SCALE_SIGMA = 2.5
"""Directions that miss the circle by more σ than this count less."""


@dataclass(frozen=True, slots=True, eq=False)
class RimEstimates:
    """What the networks make of N candidates."""

    score: Array
    """(N,): 0 to 1, how likely this is a round base."""
    xy_mm: Array
    """(N, 2): the middle of the lower rim as it appears on the plane z = 0."""
    radius_mm: Array
    """(N,): its radius there; what stands z above the board appears D / (D - z) larger, the camera's height being D."""
    sigma_xy_mm: Array
    """(N,): 1 σ of either coordinate."""
    sigma_radius_mm: Array
    """(N,)"""
    visible: Array
    """(N,): share of the whole lower rim that is in sight."""

    def __getitem__(self, which: slice | NDArray[np.bool_] | NDArray[np.intp]) -> "RimEstimates":
        return RimEstimates(*(getattr(self, field.name)[which] for field in fields(self)))


def estimate_rims(frame: Frame, camera: Camera, candidates: ArrayLike) -> RimEstimates:
    """The networks' view of candidates (N, 3), each x, y and radius in mm on the plane z = 0.

    A candidate may be off by a third of its radius in place and a quarter in size. All get a first look; those that are
    not hopeless a second one where the first pointed; of those that look like bases the rim is traced, twice. Of those
    that have come to one circle the best alone goes on, and the others score 0.
    """
    levels = photo_pyramid(frame)
    guesses = _score_candidates(levels, camera, np.asarray(candidates, float).reshape(-1, 3))
    for step, least in (
        (_score_again, MIN_SECOND_LOOK_SCORE),
        (_trace_rims, MIN_TRACE_SCORE),
        (_trace_rims, MIN_TRACE_SCORE),
        (_average_augmented_scores, MIN_TRACE_SCORE),
    ):
        _suppress_duplicates(guesses, least)
        some = np.nonzero(guesses.score > least)[0]
        if not len(some):
            break
        _overwrite_rows(guesses, some, step(levels, camera, guesses[some]))
    return guesses


def _suppress_duplicates(guesses: RimEstimates, least: float) -> None:
    """Of the guesses above a score that speak of one circle, only the best keeps it."""
    circles, kept = _to_circles(guesses), np.empty((0, 3))
    for i in np.argsort(-guesses.score, kind="stable")[: np.count_nonzero(guesses.score > least)]:
        near = np.hypot(*(kept[:, :2] - circles[i, :2]).T) < DUPLICATE_DISTANCE_RADII * np.minimum(
            kept[:, 2], circles[i, 2]
        )
        if np.any(near & (np.abs(np.log(kept[:, 2] / circles[i, 2])) < DUPLICATE_LOG_RADIUS)):
            guesses.score[i] = 0.0
        else:
            kept = np.vstack([kept, circles[i]])


def _overwrite_rows(guesses: RimEstimates, some: NDArray[np.intp], better: RimEstimates) -> None:
    for field in fields(guesses):
        getattr(guesses, field.name)[some] = getattr(better, field.name)


def _to_circles(guesses: RimEstimates) -> Array:
    return np.column_stack([guesses.xy_mm, guesses.radius_mm])


# --- the first network ---


def _score_again(levels: list[Picture], camera: Camera, guesses: RimEstimates) -> RimEstimates:
    return _score_candidates(levels, camera, _to_circles(guesses))


def _score_candidates(levels: list[Picture], camera: Camera, candidates: Array) -> RimEstimates:
    said = run_patch_network(levels, camera, candidates)
    radius = candidates[:, 2]
    found = radius * np.exp(said[:, 3])
    return RimEstimates(
        score=sigmoid(said[:, 0]),
        xy_mm=candidates[:, :2] + offsets_on_board_mm(camera, candidates, said[:, 1:3]),
        radius_mm=found,
        sigma_xy_mm=radius * np.exp(said[:, 4]),
        sigma_radius_mm=found * np.exp(said[:, 5]),
        visible=sigmoid(said[:, 6]),
    )


def _average_augmented_scores(
    levels: list[Picture], camera: Camera, guesses: RimEstimates
) -> RimEstimates:
    """The guesses with their scores and visible shares averaged (as log odds) over looks from a little beside.

    A base stays one however it is looked at; what only looks like one seldom does.
    """
    first = probability_to_logit(np.stack([guesses.score, guesses.visible], -1))
    score, visible = sigmoid(
        np.mean([first, *augmented_logits(levels, camera, _to_circles(guesses))], 0)
    ).T
    return replace(guesses, score=score, visible=visible)


def run_patch_network(
    levels: list[Picture], camera: Camera, shapes: Array, mirrored: NDArray[np.bool_] | None = None
) -> Array:
    """What the first network says of circles or ellipses (N, 7), as `cutouts` has them; of the mirror images of those
    that are `mirrored` (N,).

    Logit, dx, dy, log of the radius' ratio, two log σ, logit of the visible share; dx and dy are in radii, to the right
    and away from the camera.
    """

    def blob(some: Array) -> Floats:
        here, turned = some[:, :-1], some[:, -1] > 0
        seen = patch_input(cut_patches(levels, camera, here), auxiliary_input(camera, here))
        seen[turned] = seen[turned][..., ::-1]
        return seen

    turned = np.zeros(len(shapes), bool) if mirrored is None else mirrored
    return run_in_batches(PATCH_MODEL, blob, np.column_stack([shapes, turned])).reshape(-1, 7)


def augmented_logits(levels: list[Picture], camera: Camera, shapes: Array) -> list[Array]:
    """The log odds (N, 2) of being one, and of the visible share, by each of the looks from a little beside."""
    beside = np.tile(shapes, (len(TEST_TIME_AUGMENTATIONS), 1, 1))
    mirrored, shifts = (
        np.array([one for one, _ in TEST_TIME_AUGMENTATIONS]),
        np.array([shift for _, shift in TEST_TIME_AUGMENTATIONS]),
    )
    beside[..., :2] += equal_area_radius_mm(shapes)[:, None] * shifts[:, None]
    said = run_patch_network(
        levels, camera, np.concatenate(beside), np.repeat(mirrored, len(shapes))
    )
    return list(
        said[:, [0, 6]]
        .clip(-MAX_LOGIT_PER_VIEW, MAX_LOGIT_PER_VIEW)
        .reshape(len(TEST_TIME_AUGMENTATIONS), -1, 2)
    )


def offsets_on_board_mm(camera: Camera, shapes: Array, shift: Array) -> Array:
    """Shifts (N, 2) to the right and up, in radii, as shifts on the board in mm (N, 2)."""
    return np.asarray(np.einsum("nk,nkd->nd", shift, patch_axes_mm(camera, shapes)))


# --- the second network ---


def _trace_rims(levels: list[Picture], camera: Camera, guesses: RimEstimates) -> RimEstimates:
    """The circle through what the second network sees of the rim, the first one's guess being its prior."""
    circles, radius = _to_circles(guesses), guesses.radius_mm
    reach, own = predict_rim_radii(levels, camera, circles)
    prior = (
        np.column_stack([guesses.sigma_xy_mm, guesses.sigma_xy_mm, guesses.sigma_radius_mm])
        / radius[:, None]
    )
    circle, sigma = fit_circles(reach, own, np.maximum(2 * prior, 0.05))
    return RimEstimates(
        score=guesses.score,
        xy_mm=guesses.xy_mm + offsets_on_board_mm(camera, circles, circle[:, :2]),
        radius_mm=radius * circle[:, 2],
        sigma_xy_mm=radius * TRACED_CENTRE_SIGMA_INFLATION * sigma[:, 0],
        sigma_radius_mm=radius * TRACED_RADIUS_SIGMA_INFLATION * sigma[:, 1],
        visible=guesses.visible,
    )


def predict_rim_radii(levels: list[Picture], camera: Camera, shapes: Array) -> tuple[Array, Array]:
    """How many radii out the second network sees the rims of circles or ellipses (N, 48), and the σ of that (N, 48)."""

    def blob(some: Array) -> Floats:
        return ring_input(cut_rings(levels, camera, some), auxiliary_input(camera, some))

    said = run_in_batches(RING_MODEL, blob, shapes).reshape(-1, 2, RING_ANGLE_COUNT)
    return 1 + said[:, 0], np.exp(said[:, 1])


def fit_circles(reach: Array, sigma: Array, prior: Array) -> tuple[Array, Array]:
    """Circles (N, 3) through rims that lie `reach` (N, 48) radii out, and the σ of their place and size (N, 2).

    A circle is x, y and radius; `prior` (N, 3) is the σ about the unit circle. Least squares with Cauchy's weights.
    """
    turn = ring_angles()
    slope = np.stack([np.cos(turn), np.sin(turn), np.ones(RING_ANGLE_COUNT)], -1)
    circle = np.tile([0.0, 0.0, 1.0], (len(reach), 1))
    spread = np.array([CENTRE_SIGMA_INFLATION, CENTRE_SIGMA_INFLATION, RADIUS_SIGMA_INFLATION])
    information = np.zeros((len(reach), 3, 3))
    for _ in range(6):
        missed = reach - _circle_reach(circle, turn)
        weight = 1 / sigma**2 / (1 + (missed / (_CAUCHY_SCALE_SIGMA * sigma)) ** 2)
        information = np.einsum("nk,ki,kj->nij", weight, slope, slope) + (spread / prior)[
            :, :, None
        ] ** 2 * np.eye(3)
        pull = np.einsum("nk,ki->ni", weight * missed, slope) + (spread / prior) ** 2 * (
            [0, 0, 1] - circle
        )
        circle = circle + np.linalg.solve(information, pull[..., None])[..., 0]
    variance = np.diagonal(np.linalg.inv(information), axis1=1, axis2=2) * spread**2
    return circle, np.sqrt(np.stack([variance[:, :2].mean(1), variance[:, 2]], -1))


def _circle_reach(circle: Array, turn: Array) -> Array:
    """How far out circles (N, 3) lie in each direction (N, 48)."""
    c, s = np.cos(turn), np.sin(turn)
    along = circle[:, :1] * c + circle[:, 1:2] * s
    across = circle[:, :1] * s - circle[:, 1:2] * c
    return np.asarray(along + np.sqrt(np.maximum(circle[:, 2:] ** 2 - across**2, 1e-6)))


# --- running a network ---


def run_in_batches(path: Path, blob: Callable[[Array], Floats], candidates: Array) -> Array:
    """A network's answers for all candidates, a row each."""
    parts = [
        candidates[start : start + BATCH_SIZE] for start in range(0, len(candidates), BATCH_SIZE)
    ]

    def said(part: Array) -> Array:
        return np.asarray(infer_batch(path, blob(part)), float)

    if len(parts) == 1:  # a thread of its own costs as much as a look
        return said(parts[0])
    with ThreadPoolExecutor(PARALLEL_BATCHES) as pool:
        answers = list(pool.map(said, parts))
    return np.concatenate(answers) if answers else np.empty((0, 0))
