"""How high raised ground is by its sides: the wider they look on the camera's side, the higher it is.

A side that runs out b and down h, from the edge of the top to its foot, looks b + h·f wide across the outline, f being
how far things of height lean inwards there for each mm of it. On the far side f is negative: less shows, or none. All
the way round, edges are looked for at the top's edge and so far outside of it, for each h and b of a grid. Where the
top's edge runs, the network only knows to a centimetre: it is found anew for each of them (Viterbi, 1967).
"""

import cv2
import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm
from overruler.vision.imaging.line_profiles import log_colours, sample_picture, steps_across
from overruler.vision.imaging.orthophoto import Orthophoto

OUTLINE_STEP_MM, SMOOTHING_SIGMA_MM = 2.0, 6.0
"""How far apart the outline is looked across, and 1 σ of what it is smoothed with: cells have corners."""
SEARCH_INSIDE_MM, SEARCH_OUTSIDE_MM, STRIPE_MM = 16, 56, 2
"""How far across, in steps of 1 mm, the top's edge and the foot may lie; so wide are the stripes that are compared."""
HEIGHTS_MM = np.geomspace(6.0, 90.0, 14)
RUNS_MM, RUN_PRIOR_MM, RUN_PRIOR_SIGMA_MM = np.arange(0.0, 25.0, 3.0), 7.0, 5.0
"""How far sides run out: what is tried, and the mean and 1 σ of what is usual."""
ASYMMETRY_SCALE_MM = 1.25
"""By how much wider sides look on one side than on the other for other reasons than their height, shadows and slopes:
half of them by less, some by far more."""
MIN_WALL_WIDTH_MM = 2.0
"""A side that is less wide shows no edges of its own."""
AVERAGED_SAMPLES = 3
"""In samples: over so many along the outline colours are averaged."""
NATS_PER_STEP, MAX_STEP_RATIO = 0.014, 10.0
"""What an edge says, against the other places across the outline there: so much for each median step of colour, up to
so many of them. Few of the steps are independent: 21 hills on rendered tables then lie in their doubt."""
WALL_TEXTURE_WEIGHT = 1.0
"""How much the mean step between the two edges speaks against a side, as often as an edge does for it: sides are
plainer than the ground."""
BEND_COST_NATS = 0.01
"""What it costs, in nats, that the top's edge moves by 1 mm from one sample to the next; by more it cannot."""


def height_from_walls(
    view: Orthophoto, camera: Camera, outline_mm: Array, height_mm: float, sigma_mm: float
) -> tuple[float, float]:
    """The height and 1 σ of it, in mm, of ground whose top is outlined (K, 2) as seen on the board's plane.

    `height_mm` and `sigma_mm` are what is thought beforehand; the logarithm of the height is normal then.
    """
    at, outwards = _sample_outline(outline_mm)
    inwards = np.sum(outwards * relief_displacement_per_mm(camera, at, 0.0), axis=-1)
    nats = (
        _viterbi_scores(_edge_nats(view, at, outwards), inwards)
        - 0.5 * ((RUNS_MM - RUN_PRIOR_MM) / RUN_PRIOR_SIGMA_MM) ** 2
    )
    logs = np.log(HEIGHTS_MM)
    before = np.exp(-0.5 * ((logs - np.log(height_mm)) * height_mm / sigma_mm) ** 2)
    weight = before * _blur_cauchy(
        np.exp(nats - nats.max()).sum(1),
        ASYMMETRY_SCALE_MM / float(np.sqrt(2 * np.mean(inwards**2))),
    )
    weight /= weight.sum()
    middle = float(weight @ logs)
    height = float(np.exp(middle))
    return height, height * float(np.sqrt(weight @ (logs - middle) ** 2))


def _blur_cauchy(likely: Array, scale_mm: float) -> Array:
    """How likely heights are (H,) where what they seem to be is off by half the time more than `scale_mm` (Cauchy)."""
    spread = HEIGHTS_MM / (1 + ((HEIGHTS_MM - HEIGHTS_MM[:, None]) / max(scale_mm, 0.1)) ** 2)
    return np.asarray(spread / spread.sum(1, keepdims=True) @ likely)


def _sample_outline(outline_mm: Array) -> tuple[Array, Array]:
    """Places (S, 2) evenly along an outline, smoothed, and its normals there (S, 2), outwards."""
    closed = np.concatenate([outline_mm, outline_mm[:1]])
    ends = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(closed, axis=0), axis=1)))
    along = np.arange(0.0, ends[-1], OUTLINE_STEP_MM)
    even = np.stack([np.interp(along, ends, closed[:, k]) for k in (0, 1)], -1)
    reach = round(3 * SMOOTHING_SIGMA_MM / OUTLINE_STEP_MM)
    wrapped = np.pad(even, ((reach + 1, reach + 1), (0, 0)), mode="wrap")
    smooth = np.asarray(
        cv2.GaussianBlur(wrapped, (1, 2 * reach + 1), SMOOTHING_SIGMA_MM / OUTLINE_STEP_MM), float
    )[reach:-reach]
    tangent = smooth[2:] - smooth[:-2]
    tangent /= np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-9)
    turn = (
        np.sign(cv2.contourArea(even.astype(np.float32), True)) or 1.0
    )  # negative where it runs clockwise
    return smooth[1:-1], turn * np.stack([tangent[:, 1], -tangent[:, 0]], -1)


def _edge_nats(view: Orthophoto, at_mm: Array, outwards: Array) -> Array:
    """What the step of colour (S, W) at each place across the outline says for an edge there, in nats.

    Colours are compared as ratios of brightness, `STRIPE_MM` inside against as much outside.
    """
    across = np.arange(-SEARCH_INSIDE_MM, SEARCH_OUTSIDE_MM)
    places = view.to_px(at_mm[:, None] + across[None, :, None] * outwards[:, None]).astype(
        np.float32
    )
    there = log_colours(sample_picture(view.pixels, places))
    wrapped = np.pad(there, ((AVERAGED_SAMPLES, AVERAGED_SAMPLES), (0, 0), (0, 0)), mode="wrap")
    colour = np.asarray(cv2.blur(wrapped, (1, AVERAGED_SAMPLES)), np.float32)[
        AVERAGED_SAMPLES:-AVERAGED_SAMPLES
    ]
    change = np.linalg.norm(steps_across(colour, STRIPE_MM), axis=-1)
    change *= sample_picture(view.seen.astype(np.uint8), places) > 0
    said = NATS_PER_STEP * np.minimum(change / (np.median(change) + 5e-4), MAX_STEP_RATIO)
    return np.asarray(said - said.mean(1, keepdims=True))


def _viterbi_scores(steps: Array, inwards: Array) -> Array:
    """How well each height and run (H, B) explain the steps (S, W), the top's edge running where that is best.

    `inwards` (S,) is how far things lean inwards for each mm of their height.
    """
    high, run = (part.ravel()[:, None] for part in np.meshgrid(HEIGHTS_MM, RUNS_MM, indexing="ij"))
    wide = steps.shape[1]
    beyond = np.concatenate(
        [steps, np.zeros((len(steps), wide + 1))], 1
    )  # a foot further out is not looked for
    sums = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(beyond, axis=1)], 1)
    edge = np.arange(wide)
    best: Array = np.zeros((len(high), wide))
    for here, until, facing in zip(beyond, sums, inwards, strict=True):
        width = run + high * facing
        reach = np.clip(np.rint(width), 1, wide).astype(int)
        foot = edge + reach
        between = (until[foot] - until[edge + 1]) / reach
        shown = np.where(width > MIN_WALL_WIDTH_MM, here[foot] - WALL_TEXTURE_WEIGHT * between, 0.0)
        nearby = np.pad(best, ((0, 0), (1, 1)), constant_values=-np.inf) - BEND_COST_NATS
        best = np.maximum(best, np.maximum(nearby[:, :-2], nearby[:, 2:])) + here[:wide] + shown
    return np.asarray(best.max(1).reshape(len(HEIGHTS_MM), len(RUNS_MM)))
