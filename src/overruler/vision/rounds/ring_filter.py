"""Propose places of round bases: a ring filter over the board as seen from above.

The rim of a base is a ring along which gradients point to or from one centre. Doubling the angle of
the gradient makes the two directions equal. Dark and light rims and both edges of a painted rim
then add up, while texture cancels. Division by the local strength lets a faint rim count like a
strong one. One pair of convolutions scores every place at once. The overview network (`disc_net`)
knows nearly all bases; this filter depends on no training data.
"""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Image, Orthophoto, visibility_mask

MIN_RING_RADIUS_PX = 6.0
"""Smallest radius of a ring, in pixels of the pyramid level it is searched on."""
RING_SIGMA_PX = 0.8
"""1 σ of a ring's width."""
RING_RANGE_RATIO = 1.15
"""Radii within this ratio share one ring, in their middle."""
MIN_RESPONSE = 0.1
"""Smallest response of a candidate."""
RADIUS_TOLERANCE_RATIO = 1.25
"""Ratio by which the radius of a known place may leave the range of radii."""
WORKER_THREADS = 2
"""Rings filtered at a time."""
BAND_ROWS = 128
"""Rows of a band: gradients are computed band by band, within the processor's cache."""
BLUR_MARGIN_ROWS = 8
"""Rows around a band that its blurs reach."""
MEDIAN_STRIDE = 3
"""Stride of rows and columns that sample the usual gradient strength."""
MAX_CANDIDATES = 120
"""Largest number of candidates, unless the whole-table network knows of many."""
MIN_RINGS = 40
"""Least number of rings among the candidates, however many the network knows, if there are so many."""
MAX_PER_RING = 60
"""Largest number of one ring: a printed mesh answers to one size everywhere."""
SAME_CENTRE_RADII = 0.35
"""Distance of the centres, in radii, below which two candidates may be one circle."""
SAME_SIZE_LOG_RATIO = 0.28
"""Logarithm of the ratio of radii up to which such two are one circle."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """N rough circles on the plane z = 0, the strongest first."""

    xy_mm: Array
    """(N, 2): the centres."""
    radius_mm: Array
    """(N,): within a quarter of the true one."""
    response: Array
    """(N,): the visible share of the ring, 0 to 1; for known places 1 plus their probability."""


def find_candidates(
    view: Orthophoto,
    radii_mm: Sequence[float],
    hidden: Sequence[Array] = (),
    known: Array | None = None,
    rings: bool = True,
) -> Candidates:
    """Return rough circles with any of the radii, none within a `hidden` polygon (K, 2) in mm.

    `known` (N, 4) are places from elsewhere (`disc_net`): x, y and radius in mm, and probability;
    they come first. Without `rings` there are no others.
    """
    levels = _rings_by_level(radii_mm if rings else (), view.mm_per_px).items()
    found = [_find_on_level(view, hidden, level, rings_mm) for level, rings_mm in levels]
    known_rows = _known_in_view(view, radii_mm, hidden, known)
    rows = np.concatenate([*found, known_rows])
    most = max(MAX_CANDIDATES, len(known_rows) + MIN_RINGS)
    rows = _suppress_overlaps(rows[np.argsort(-rows[:, 3], kind="stable")], most)
    return Candidates(rows[:, :2], rows[:, 2], rows[:, 3])


def _known_in_view(
    view: Orthophoto, radii_mm: Sequence[float], hidden: Sequence[Array], known: Array | None
) -> Array:
    """Return the visible rows of `known` of a radius sought, made stronger than any ring."""
    if known is None or not len(known) or not len(radii_mm):
        return np.empty((0, 4))
    is_large = known[:, 2] > min(radii_mm) / RADIUS_TOLERANCE_RATIO
    is_small = known[:, 2] < max(radii_mm) * RADIUS_TOLERANCE_RATIO
    is_usable = is_large & is_small & are_visible(view, hidden, known[:, :2])
    stronger = known + np.array([0, 0, 0, 1])
    return np.asarray(stronger[is_usable])


def are_visible(view: Orthophoto, hidden: Sequence[Array], xy_mm: Array) -> NDArray[np.bool_]:
    """Return which places (N, 2) the photo shows and no `hidden` polygon covers."""
    mask = visibility_mask(view, hidden, 0)
    cells = np.rint(view.to_px(xy_mm)).astype(int)
    column, row = np.clip(cells, 0, np.array(mask.shape[::-1]) - 1).T
    return np.asarray(mask[row, column] > 0)


def _rings_by_level(radii_mm: Sequence[float], mm_per_px: float) -> dict[int, list[float]]:
    """Return the radii of the rings to search, in mm, by level of the pyramid."""
    levels: dict[int, list[float]] = {}
    for smallest, largest in _ranges_of_rings(radii_mm):
        octaves = np.log2(smallest / mm_per_px / MIN_RING_RADIUS_PX)
        level = max(0, int(np.floor(octaves)))
        levels.setdefault(level, []).append(math.sqrt(smallest * largest))
    return levels


def _ranges_of_rings(radii_mm: Sequence[float]) -> list[tuple[float, float]]:
    """Return the smallest and the largest of the radii that share each ring."""
    ranges: list[tuple[float, float]] = []
    for radius in sorted(set(radii_mm)):
        if ranges and radius < ranges[-1][0] * RING_RANGE_RATIO:
            ranges[-1] = ranges[-1][0], radius
        else:
            ranges.append((radius, radius))
    return ranges


def _find_on_level(
    view: Orthophoto, hidden: Sequence[Array], level: int, rings_mm: Sequence[float]
) -> Array:
    """Return rows of x, y, radius in mm and response for the rings of one pyramid level."""
    gradients = double_angle_gradients(_pyramid_level(view, level))
    cosines, sines = normalize_gradients(gradients, visibility_mask(view, hidden, level))

    def filter_ring(ring_mm: float) -> Array:
        cosine, sine = _ring_kernels(ring_mm / (view.mm_per_px * 2**level), RING_SIGMA_PX)
        parts = cv2.filter2D(cosines, -1, cosine), cv2.filter2D(sines, -1, sine)
        response = cv2.add(*parts)
        return _local_maxima(np.asarray(response, np.float32), ring_mm, 2**level, view)

    with ThreadPoolExecutor(WORKER_THREADS) as pool:
        return np.concatenate(list(pool.map(filter_ring, rings_mm)))


def _pyramid_level(view: Orthophoto, level: int) -> NDArray[np.uint8]:
    if level == 0:
        return view.pixels
    scale = 0.5**level
    resized = cv2.resize(view.pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(resized, np.uint8)


def double_angle_gradients(pixels: NDArray[np.uint8]) -> tuple[Image, Image, Image]:
    """Return cosine and sine of the doubled gradient angle, times the squared length, and that."""
    cosine, sine, strength = np.empty((3, *pixels.shape[:2]), np.float32)
    for top in range(0, len(pixels), BAND_ROWS):
        end = top + BAND_ROWS
        low = max(top - BLUR_MARGIN_ROWS, 0)
        tensor = _structure_tensor(pixels[low : end + BLUR_MARGIN_ROWS])
        xx, yy, xy = (part[top - low : end - low] for part in tensor)
        np.subtract(xx, yy, out=cosine[top:end])
        np.add(xy, xy, out=sine[top:end])
        np.add(xx, yy, out=strength[top:end])
    return cosine, sine, strength


def normalize_gradients(slopes: tuple[Image, Image, Image], mask: Image) -> tuple[Image, Image]:
    """Divide `slopes` in place by their strength; return cosine and sine, 0 outside the mask."""
    sampled = slopes[2][::MEDIAN_STRIDE, ::MEDIAN_STRIDE]
    is_visible = mask[::MEDIAN_STRIDE, ::MEDIAN_STRIDE] > 0
    usual = float(np.median(sampled[is_visible])) if is_visible.any() else 1.0
    for top in range(0, len(mask), BAND_ROWS):
        cosine, sine, strength = (part[top : top + BAND_ROWS] for part in slopes)
        strength += np.float32(4 * usual + 1e-3)
        weight = np.divide(mask[top : top + BAND_ROWS], strength, out=strength)
        cosine *= weight
        sine *= weight
    return slopes[:2]


def _structure_tensor(pixels: NDArray[np.uint8]) -> tuple[Image, Image, Image]:
    """Return xx, yy and xy of the colour gradients, summed over L*a*b*."""
    scaled = np.multiply(pixels, np.float32(1 / 255), dtype=np.float32)
    lab = cv2.cvtColor(scaled, cv2.COLOR_BGR2Lab)
    lab = cv2.GaussianBlur(lab, (0, 0), 1.0, dst=lab)
    xx, yy, xy = np.zeros((3, *lab.shape[:2]), np.float32)
    channel, gx, gy = np.empty((3, *lab.shape[:2]), np.float32)
    # Channel by channel in the same memory: new memory, and sums over a last axis of 3, are slow.
    for k in range(3):
        cv2.extractChannel(lab, k, channel)
        cv2.Sobel(channel, cv2.CV_32F, 1, 0, gx)
        cv2.Sobel(channel, cv2.CV_32F, 0, 1, gy)
        cv2.accumulateSquare(gx, xx)
        cv2.accumulateSquare(gy, yy)
        cv2.accumulateProduct(gx, gy, xy)
    return xx, yy, xy


def _ring_kernels(radius_px: float, width_px: float) -> tuple[Image, Image]:
    """Return the kernels for cosine and sine of the doubled radial angle, on a ring of weight 1."""
    reach = int(np.ceil(radius_px + 3 * width_px))
    y, x = np.mgrid[-reach : reach + 1, -reach : reach + 1].astype(float)
    ring = np.exp(-((np.hypot(x, y) - radius_px) ** 2) / (2 * width_px**2))
    ring /= ring.sum()
    angle = 2 * np.arctan2(y, x)
    cosine, sine = ring * np.cos(angle), ring * np.sin(angle)
    return cosine.astype(np.float32), sine.astype(np.float32)


def _local_maxima(response: Image, ring_mm: float, scale: int, view: Orthophoto) -> Array:
    """Return maxima of a `scale` times coarser response: x, y, radius in mm and response."""
    reach = max(1, int(0.4 * ring_mm / (view.mm_per_px * scale)))
    window = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    highest = cv2.dilate(response, window)
    rows, columns = np.nonzero((response >= highest) & (response > MIN_RESPONSE))
    pixels = np.stack([columns, rows], -1) * scale + (scale - 1) / 2
    radius = np.full(len(rows), ring_mm)
    return np.column_stack([view.to_mm(pixels), radius, response[rows, columns]])


def _limit_per_ring(rows: Array, most: int) -> Array:
    """Keep the first `most` rows of each ring."""
    keep = np.ones(len(rows), bool)
    for ring_mm in np.unique(rows[:, 2]):
        keep[np.flatnonzero(rows[:, 2] == ring_mm)[most:]] = False
    return rows[keep]


def _suppress_overlaps(rows: Array, most: int) -> Array:
    """Keep the strongest row of each circle, `most` at most; the strongest come first."""
    kept, count = np.empty((most, rows.shape[1])), 0
    for row in _limit_per_ring(rows, 2 * MAX_PER_RING)[: 4 * most]:
        if count == most:
            break
        others = kept[:count]
        of_ring = np.count_nonzero(others[:, 2] == row[2])
        if of_ring < MAX_PER_RING and not _is_duplicate(row, others):
            kept[count] = row
            count += 1
    return kept[:count]


def _is_duplicate(row: Array, others: Array) -> bool:
    """Return whether a row is the circle of one of the others."""
    x, y, radius = row[:3]
    distances = np.hypot(others[:, 0] - x, others[:, 1] - y)
    radii = others[:, 2]
    is_apart = distances > SAME_CENTRE_RADII * np.minimum(radii, radius)
    is_other_size = np.abs(np.log(radii / radius)) > SAME_SIZE_LOG_RATIO
    return not np.all(is_apart | is_other_size)
