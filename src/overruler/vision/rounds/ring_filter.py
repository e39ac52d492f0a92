"""Places where a round base may stand: a ring filter over the board as seen from above.

Each pixel of the rectified picture has a gradient, and the rim of a base is a ring along which gradients point to or
from one centre. Doubling the gradient's angle makes "to" and "from" the same, so rims darker and lighter than the mat,
and both edges of a painted rim, add up while texture cancels; dividing by the local strength lets a faint rim count
like a strong one. One pair of convolutions then answers for every place at once. The learned look from above (`discs`)
knows nearly all bases; this one owes nothing to what that was taught on.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Image, Orthophoto, visibility_mask

RING_RADIUS_PX = (6.0, 12.5)
"""A ring is looked for on the level of the pyramid where its radius lies between these."""
RING_SIGMA_PX = 0.8
"""1 σ of a ring's width."""
RADIUS_STEP_RATIO = 1.12
"""Radii closer than this ratio are found by one ring."""
MIN_RESPONSE = 0.1
RADIUS_TOLERANCE_RATIO = 1.25
"""Places known otherwise may look so many times smaller or larger than what is looked for."""
WORKER_THREADS = 2
"""So many rings are looked for at a time."""
BAND_ROWS, BLUR_MARGIN_ROWS = 128, 8
"""Gradients are taken so many rows at a time, which stay in the processor's memory, with the rows that blurs reach."""
MEDIAN_STRIDE = 3
"""Every so many-th row and column tells how strong gradients usually are."""
MAX_CANDIDATES = 120
"""Candidates kept at most: the best ones."""
MAX_PER_RING = 60
"""Of one ring at most: a printed mesh answers to one size everywhere, and would leave no room for the others."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Rough circles on the plane z = 0, the strongest first."""

    xy_mm: Array
    """(N, 2)."""
    radius_mm: Array
    """(N,): within a quarter of the true one."""
    response: Array
    """(N,): the share of the ring that is there, 0 to 1; where a base is known otherwise, 1 and its likelihood."""


def find_candidates(
    view: Orthophoto,
    radii_mm: Sequence[float],
    hidden: Sequence[Array] = (),
    known: Array | None = None,
    rings: bool = True,
) -> Candidates:
    """Rough circles with any of the radii, none where a `hidden` polygon (K, 2) in mm lies.

    `known` (N, 4) are places known otherwise (`discs`): x, y and radius in mm, and the likelihood; they come first.
    Without `rings` there are no others.
    """
    levels = _rings_by_level(radii_mm if rings else (), view.mm_per_px).items()
    found = [_find_on_level(view, hidden, level, rings_mm) for level, rings_mm in levels]
    rows = np.concatenate([*found, _known_in_view(view, radii_mm, hidden, known)])
    rows = _suppress_overlaps(rows[np.argsort(-rows[:, 3], kind="stable")])
    return Candidates(rows[:, :2], rows[:, 2], rows[:, 3])


def _known_in_view(
    view: Orthophoto, radii_mm: Sequence[float], hidden: Sequence[Array], known: Array | None
) -> Array:
    """The rows of `known` that are in sight and about as large as a radius looked for, stronger than any ring."""
    if known is None or not len(known) or not len(radii_mm):
        return np.empty((0, 4))
    size = (known[:, 2] > min(radii_mm) / RADIUS_TOLERANCE_RATIO) & (
        known[:, 2] < max(radii_mm) * RADIUS_TOLERANCE_RATIO
    )
    return np.asarray(
        (known + np.array([0, 0, 0, 1]))[size & are_visible(view, hidden, known[:, :2])]
    )


def are_visible(view: Orthophoto, hidden: Sequence[Array], xy_mm: Array) -> NDArray[np.bool_]:
    """Which places (N, 2) the photo shows, and no `hidden` polygon covers."""
    mask = visibility_mask(view, hidden, 0)
    column, row = np.clip(
        np.rint(view.to_px(xy_mm)).astype(int), 0, np.array(mask.shape[::-1]) - 1
    ).T
    return np.asarray(mask[row, column] > 0)


def _rings_by_level(radii_mm: Sequence[float], mm_per_px: float) -> dict[int, list[float]]:
    """The rings to look for, by the level of the pyramid they are looked for on."""
    levels: dict[int, list[float]] = {}
    last = 0.0
    for radius in sorted(set(radii_mm)):
        if radius < last * RADIUS_STEP_RATIO:
            continue
        last = radius * (1 + (RADIUS_STEP_RATIO - 1) / 4)
        level = max(0, int(np.floor(np.log2(radius / mm_per_px / RING_RADIUS_PX[0]))))
        levels.setdefault(level, []).append(last)
    return levels


def _find_on_level(
    view: Orthophoto, hidden: Sequence[Array], level: int, rings_mm: Sequence[float]
) -> Array:
    """Rows of x, y, radius in mm and response for the rings that are looked for on one level of the pyramid."""
    a, b = normalize_gradients(
        double_angle_gradients(_pyramid_level(view, level)), visibility_mask(view, hidden, level)
    )

    def of_ring(ring_mm: float) -> Array:
        cosine, sine = _ring_kernels(ring_mm / (view.mm_per_px * 2**level), RING_SIGMA_PX)
        response = cv2.add(cv2.filter2D(a, -1, cosine), cv2.filter2D(b, -1, sine))
        return _local_maxima(np.asarray(response, np.float32), ring_mm, 2**level, view)

    with ThreadPoolExecutor(WORKER_THREADS) as pool:
        return np.concatenate(list(pool.map(of_ring, rings_mm)))


def _pyramid_level(view: Orthophoto, level: int) -> NDArray[np.uint8]:
    if level == 0:
        return view.pixels
    return np.asarray(
        cv2.resize(view.pixels, None, fx=0.5**level, fy=0.5**level, interpolation=cv2.INTER_AREA),
        np.uint8,
    )


def double_angle_gradients(pixels: NDArray[np.uint8]) -> tuple[Image, Image, Image]:
    """Cosine and sine of the doubled gradient angle, times the gradient's squared length, and that itself."""
    cosine, sine, strength = np.empty((3, *pixels.shape[:2]), np.float32)
    for top in range(0, len(pixels), BAND_ROWS):
        end = top + BAND_ROWS
        low = max(top - BLUR_MARGIN_ROWS, 0)
        xx, yy, xy = (
            part[top - low : end - low]
            for part in _structure_tensor(pixels[low : end + BLUR_MARGIN_ROWS])
        )
        np.subtract(xx, yy, out=cosine[top:end])
        np.add(xy, xy, out=sine[top:end])
        np.add(xx, yy, out=strength[top:end])
    return cosine, sine, strength


def normalize_gradients(slopes: tuple[Image, Image, Image], mask: Image) -> tuple[Image, Image]:
    """Cosine and sine of the doubled gradient angle, each weighted by how far the gradient stands out.

    They take the place of the `slopes`.
    """
    few, where = (
        slopes[2][::MEDIAN_STRIDE, ::MEDIAN_STRIDE],
        mask[::MEDIAN_STRIDE, ::MEDIAN_STRIDE] > 0,
    )
    usual = float(np.median(few[where])) if where.any() else 1.0
    for top in range(0, len(mask), BAND_ROWS):
        cosine, sine, strength = (part[top : top + BAND_ROWS] for part in slopes)
        strength += np.float32(4 * usual + 1e-3)
        weight = np.divide(mask[top : top + BAND_ROWS], strength, out=strength)
        cosine *= weight
        sine *= weight
    return slopes[:2]


def _structure_tensor(pixels: NDArray[np.uint8]) -> tuple[Image, Image, Image]:
    """Squares and product of the colours' slopes across and down, all of L*a*b* summed."""
    lab = cv2.cvtColor(
        np.multiply(pixels, np.float32(1 / 255), dtype=np.float32), cv2.COLOR_BGR2Lab
    )
    lab = cv2.GaussianBlur(lab, (0, 0), 1.0, dst=lab)
    xx, yy, xy = (np.zeros(lab.shape[:2], np.float32) for _ in range(3))
    channel, gx, gy = (np.empty(lab.shape[:2], np.float32) for _ in range(3))
    for k in range(
        3
    ):  # one at a time, in the same memory: new memory, and sums over a last axis of 3, are slow
        cv2.extractChannel(lab, k, channel)
        cv2.Sobel(channel, cv2.CV_32F, 1, 0, gx)
        cv2.Sobel(channel, cv2.CV_32F, 0, 1, gy)
        cv2.accumulateSquare(gx, xx)
        cv2.accumulateSquare(gy, yy)
        cv2.accumulateProduct(gx, gy, xy)
    return xx, yy, xy


def _ring_kernels(radius_px: float, width_px: float) -> tuple[Image, Image]:
    """The kernels that sum (cosine, sine) of the doubled radial direction along a ring of weight 1."""
    reach = int(np.ceil(radius_px + 3 * width_px))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(float)
    ring = np.exp(-((np.hypot(x, y) - radius_px) ** 2) / (2 * width_px**2))
    ring /= ring.sum()
    angle = 2 * np.arctan2(y, x)
    return (ring * np.cos(angle)).astype(np.float32), (ring * np.sin(angle)).astype(np.float32)


def _local_maxima(response: Image, ring_mm: float, scale: int, view: Orthophoto) -> Array:
    """Local maxima as rows of x, y, radius in mm and response, which comes so many times coarser than the view."""
    reach = max(1, int(0.4 * ring_mm / (view.mm_per_px * scale)))
    highest = cv2.dilate(response, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    rows, columns = np.nonzero((response >= highest) & (response > MIN_RESPONSE))
    xy = view.to_mm(np.stack([columns, rows], -1) * scale + (scale - 1) / 2)
    return np.column_stack([xy, np.full(len(xy), ring_mm), response[rows, columns]])


def _limit_per_ring(rows: Array, most: int) -> Array:
    """The rows without those that come after so many of their own ring."""
    keep = np.ones(len(rows), bool)
    for ring_mm in np.unique(rows[:, 2]):
        keep[np.flatnonzero(rows[:, 2] == ring_mm)[most:]] = False
    return rows[keep]


def _suppress_overlaps(rows: Array) -> Array:
    """The strongest of every group of rows that speak of the same circle, `MAX_CANDIDATES` at most; rows come strongest first."""
    kept, count = np.empty((MAX_CANDIDATES, rows.shape[1])), 0
    for row in _limit_per_ring(rows, 2 * MAX_PER_RING)[: 4 * MAX_CANDIDATES]:
        if count == MAX_CANDIDATES:
            break
        others = kept[:count]
        if np.count_nonzero(others[:, 2] == row[2]) >= MAX_PER_RING:
            continue
        apart = np.hypot(others[:, 0] - row[0], others[:, 1] - row[1]) > 0.35 * np.minimum(
            others[:, 2], row[2]
        )
        if np.all(apart | (np.abs(np.log(others[:, 2] / row[2])) > 0.28)):
            kept[count] = row
            count += 1
    return kept[:count]
