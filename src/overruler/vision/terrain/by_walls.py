"""The height of raised ground from its walls: the wider they look on the camera's side, the higher.

A wall that runs out b and down h, from the edge of the top to its foot, looks b + h·f wide across
the outline. Here f is the inward displacement there per mm of height. On the far side f is
negative, and less of the wall shows, or none. All around, edges are searched at the edge of the top
and that far outside it, for each h and b of a grid. The network knows the edge of the top only to a
centimetre, so it is traced anew for each h and b (Viterbi, 1967).
"""

from typing import NamedTuple

import cv2
import numpy as np

from overruler.geometry.batched.vectors import right_normals
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.imaging.line_profiles import log_colours, sample_picture, steps_across
from overruler.vision.imaging.orthophoto import Orthophoto
from overruler.vision.terrain.log_heights import mean_and_sigma

OUTLINE_STEP_MM = 2.0
"""Distance between the sections across the outline."""
SMOOTHING_SIGMA_MM = 6.0
"""1 σ of the smoothing of the outline, which follows the cells' corners."""
SEARCH_INSIDE_MM = 16
"""Reach of a section inside the outline, in steps of 1 mm."""
SEARCH_OUTSIDE_MM = (40, 120)
"""Least and largest reach of a section outside the outline, in steps of 1 mm: a tall wall looks wide."""
STRIPE_MM = 2
"""Width of the stripes whose colours are compared."""
HEIGHTS_MM = np.geomspace(6.0, 120.0, 16)
"""Heights of the grid."""
RUNS_MM = np.arange(-6.0, 25.0, 3.0)
"""Runs of the walls on the grid; negative under eaves."""
ASYMMETRY_SCALE_MM = 1.25
"""Median difference between the walls' widths on both sides for other reasons than height, such as
shadows and slopes; some differ by far more."""
MIN_WALL_WIDTH_MM = 2.0
"""Narrower walls show no edges of their own."""
AVERAGED_SAMPLES = 3
"""Samples along the outline over which colours are averaged."""
NATS_PER_STEP = 0.014
"""Evidence of an edge for each median step of colour, against other places of the section. Few of
the steps are independent: with this value 21 hills on rendered tables lie within their σ."""
MAX_STEP_RATIO = 10.0
"""Largest step of colour that counts, in median steps."""
WALL_TEXTURE_WEIGHT = 1.0
"""Weight of the mean step between both edges against a wall: walls are plainer than the ground."""
FLAT_MM = np.zeros(1)
"""The only height of a print, of paper, of a mat or of a shadow."""
BEND_COST_NATS = 0.01
"""Cost of a shift of the edge by 1 mm between neighbouring sections, the largest shift."""


class Kind(NamedTuple):
    """Raised ground of one kind: the prior of its height, normal in the logarithm, and of its walls' run."""

    height_mm: float
    height_sigma_mm: float
    run_mm: float
    run_sigma_mm: float

    def prior(self) -> Array:
        """Return the prior (H, R) on the grid of heights and runs; its sum is 1."""
        log_errors = (np.log(HEIGHTS_MM) - np.log(self.height_mm)) * self.height_mm
        errors = (log_errors / self.height_sigma_mm)[:, None] ** 2
        errors = errors + ((RUNS_MM - self.run_mm) / self.run_sigma_mm) ** 2
        prior = np.exp(-0.5 * errors)
        return np.asarray(prior / prior.sum())


class WallHeight(NamedTuple):
    """What the walls tell of raised ground."""

    height_mm: float
    sigma_mm: float
    """1 σ of the height."""
    raised_nats: float
    """Evidence that there are walls at all: that edges lie farther out towards the camera."""


def height_from_walls(
    view: Orthophoto, camera: Camera, outline_mm: Array, prior: Array
) -> WallHeight:
    """Return the height, in mm, of ground whose top is outlined on the board's plane.

    `outline_mm` is (K, 2), `prior` (H, R) that of heights and runs, as `Kind` gives it. A flat thing
    may have a border of any width, the same all round.
    """
    places, normals = _sample_outline(outline_mm)
    displacement = relief_displacement_per_mm(camera, places, 0.0)
    inwards = np.sum(normals * displacement, axis=-1)
    steps = _edge_nats(view, places, normals, float(inwards.max()))
    nats = _viterbi_scores(steps, inwards, HEIGHTS_MM)
    asymmetry_mm = ASYMMETRY_SCALE_MM / float(np.sqrt(2 * np.mean(inwards**2)))
    weight = (prior * _blur_cauchy(np.exp(nats - nats.max()), asymmetry_mm)).sum(1)
    raised = _mean_likelihood_log(nats, prior)
    border = _viterbi_scores(steps, inwards, FLAT_MM)
    flat = _mean_likelihood_log(border, np.full(len(RUNS_MM), 1 / len(RUNS_MM)))
    return WallHeight(*mean_and_sigma(weight / weight.sum(), HEIGHTS_MM), raised - flat)


def _mean_likelihood_log(nats: Array, prior: Array) -> float:
    """Return the logarithm of the mean likelihood (H, R), given by nats, over a prior of sum 1."""
    most = float(nats.max())
    return most + float(np.log((prior * np.exp(nats - most)).sum()))


def _blur_cauchy(likelihood: Array, scale_mm: float) -> Array:
    """Blur the likelihood (H, R) of heights by a Cauchy error of this scale."""
    differences = HEIGHTS_MM - HEIGHTS_MM[:, None]
    kernel = HEIGHTS_MM / (1 + (differences / max(scale_mm, 0.1)) ** 2)
    return np.asarray(kernel / kernel.sum(1, keepdims=True) @ likelihood)


def _sample_outline(outline_mm: Array) -> tuple[Array, Array]:
    """Return places (S, 2) evenly along a smoothed outline, and its outward normals (S, 2)."""
    closed = np.concatenate([outline_mm, outline_mm[:1]])
    lengths = np.linalg.norm(np.diff(closed, axis=0), axis=1)
    ends = np.append(0.0, np.cumsum(lengths))
    along = np.arange(0.0, ends[-1], OUTLINE_STEP_MM)
    even = np.stack([np.interp(along, ends, closed[:, k]) for k in (0, 1)], -1)
    sigma = SMOOTHING_SIGMA_MM / OUTLINE_STEP_MM
    reach = round(3 * SMOOTHING_SIGMA_MM / OUTLINE_STEP_MM)
    wrapped = np.pad(even, ((reach + 1, reach + 1), (0, 0)), mode="wrap")
    blurred = cv2.GaussianBlur(wrapped, (1, 2 * reach + 1), sigma)
    smooth = np.asarray(blurred, float)[reach:-reach]
    tangent = smooth[2:] - smooth[:-2]
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-9)
    signed_area = cv2.contourArea(even.astype(np.float32), True)
    direction = np.sign(signed_area) or 1.0  # negative for a clockwise outline
    return smooth[1:-1], direction * right_normals(tangent)


def _edge_nats(view: Orthophoto, at_mm: Array, outwards: Array, most_lean: float) -> Array:
    """Return the evidence (S, W) in nats for an edge, by ratios of brightness across each place.

    The sections reach as far as the tallest wall looks wide where the inward displacement is
    `most_lean` per mm of height.
    """
    widest_mm = HEIGHTS_MM[-1] * most_lean + RUNS_MM[-1]
    across = np.arange(-SEARCH_INSIDE_MM, int(np.clip(widest_mm, *SEARCH_OUTSIDE_MM)))
    places_mm = at_mm[:, None] + across[None, :, None] * outwards[:, None]
    places = view.to_px(places_mm).astype(np.float32)
    colours = log_colours(sample_picture(view.pixels, places))
    margin = AVERAGED_SAMPLES
    wrapped = np.pad(colours, ((margin, margin), (0, 0), (0, 0)), mode="wrap")
    blurred = np.asarray(cv2.blur(wrapped, (1, AVERAGED_SAMPLES)), np.float32)
    change = np.linalg.norm(steps_across(blurred[margin:-margin], STRIPE_MM), axis=-1)
    change *= sample_picture(view.seen.astype(np.uint8), places) > 0
    steps = np.minimum(change / (np.median(change) + 5e-4), MAX_STEP_RATIO)
    nats = NATS_PER_STEP * steps
    return np.asarray(nats - nats.mean(1, keepdims=True))


def _viterbi_scores(steps: Array, inwards: Array, heights_mm: Array) -> Array:
    """Return how well each height and run (H, B) explain the steps (S, W), in nats.

    The edge of the top runs where that is best. `inwards` (S,) is the inward displacement per mm.
    """
    grid = np.meshgrid(heights_mm, RUNS_MM, indexing="ij")
    height, run = (part.ravel()[:, None] for part in grid)
    wide = steps.shape[1]
    unseen_foot = np.zeros((len(steps), wide + 1))  # a foot beyond the section has no evidence
    extended = np.concatenate([steps, unseen_foot], 1)
    first = np.zeros((len(steps), 1))
    sums = np.concatenate([first, np.cumsum(extended, axis=1)], 1)
    edge = np.arange(wide)
    padded = np.full((len(height), wide + 2), -np.inf)  # nothing runs beyond a section's ends
    best: Array = np.zeros((len(height), wide))
    for nats, until, lean in zip(extended, sums, inwards, strict=True):
        width = run + height * lean
        reach = np.clip(np.rint(width), 1, wide).astype(int)
        foot = edge + reach
        between = (until[foot] - until[edge + 1]) / reach
        wall = nats[foot] - WALL_TEXTURE_WEIGHT * between
        shown = np.where(width > MIN_WALL_WIDTH_MM, wall, 0.0)
        padded[:, 1:-1] = best
        shifted = padded - BEND_COST_NATS
        moved = np.maximum(shifted[:, :-2], shifted[:, 2:])
        best = np.maximum(best, moved) + nats[:wide] + shown
    return np.asarray(best.max(1).reshape(len(heights_mm), len(RUNS_MM)))
