"""Whether a marker that OpenCV reads is ever lost: many markers of all families, drawn fast."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from evaluate.corners.methods import Found, ours
from evaluate.corners.picture import BLACK, CARD, MARGIN_CELLS, MAT
from evaluate.corners.view import SIZE_PX, MarkerView, Spread, random_view
from overruler.board import DICTIONARIES
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.vision.markers.detect import ERROR_CORRECTION
from synthetic.arrays import Floats
from synthetic.develop import encode_srgb

SPREADS = (
    Spread(20, 14, 18, 38),
    Spread(13, 9, 32, 65),
    Spread(7, 5, 60, 130),
    Spread(4, 3, 110, 220),
)
"""Pictures of many small markers, and of few large ones."""
SAMPLES = 3
"""Samples of light a pixel, along u and along v."""
GRID_PX = 8
"""Spacing of the pixels whose place on the table is worked out; between them it is linear."""
CELL_TEXELS = 16
"""Texels of a cell's side in the print."""
MOST_BLUR_CELLS = 0.35
"""Largest blur, 1 σ in cells of the smallest marker. Beyond it OpenCV reads hardly any."""
READ_SHARE = 0.06
"""A marker counts as read where OpenCV's corners are as near as this, in sides."""


@dataclass(frozen=True, slots=True, eq=False)
class Fate:
    """What became of a drawn marker."""

    picture: int
    family: str
    number: int
    side_px: float
    is_read: bool
    """Whether OpenCV reads it at its place."""
    errors_px: Array | None
    """(4, 2): our corners less the true ones; None where we do not find it."""

    @property
    def is_lost(self) -> bool:
        """Whether it is read, and not found by us."""
        return self.is_read and self.errors_px is None


def fates(indexes: Iterable[int], seed: int) -> Iterator[Fate]:
    """Draw a picture for each index, and tell what becomes of its markers."""
    for index in indexes:
        random = np.random.default_rng([seed, index])
        family = str(random.choice(DICTIONARIES))
        spread = SPREADS[index // 2 % len(SPREADS)]
        draw = _draw_photo if index % 2 else _draw_screen
        frame, truths = draw(spread, family, random)
        read, found = _read(frame, family), ours(frame, family)
        for number, truth in truths.items():
            errors = _errors(found.get(number), truth)
            is_read = _is_near(read.get(number), truth)
            yield Fate(index, family, number, _side_px(truth), is_read, errors)


def lost_table(all_of: list[Fate]) -> Table:
    """One row a size: drawn, read by OpenCV, found by us, lost, and our errors."""
    result = Table("side px", "drawn", "read", "found", "lost", "RMS px", "u, v px", "off > 1 px")
    edges = [0.0, 25.0, 40.0, 70.0, 110.0, np.inf]
    for low, high in pairwise(edges):
        part = [fate for fate in all_of if low <= fate.side_px < high]
        result.add_row(f"{low:.0f}-{high:.0f}", *_figures(part))
    result.add_section()
    result.add_row("all", *_figures(all_of))
    return result


def _figures(some: list[Fate]) -> list[str]:
    errors = np.array([fate.errors_px for fate in some if fate.errors_px is not None])
    read, lost = sum(fate.is_read for fate in some), sum(fate.is_lost for fate in some)
    counts = [str(len(some)), str(read), str(len(errors)), str(lost)]
    if not len(errors):
        return [*counts, "-", "-", "-"]
    u, v = errors.mean((0, 1))
    far = int((np.abs(errors).max((1, 2)) > 1).sum())
    rms = float(np.sqrt(np.mean(errors**2)))
    return [*counts, f"{rms:.3f}", f"{u:+.3f}, {v:+.3f}", str(far)]


def _errors(found: Found | None, truth: Array) -> Array | None:
    return None if found is None else np.asarray(found.corners_px - truth)


def _read(frame: Frame, family: str) -> dict[int, Array]:
    """What OpenCV reads at full size, as strictly as the program does; an id read twice is none."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.errorCorrectionRate = ERROR_CORRECTION
    detector = cv2.aruco.ArucoDetector(_code(family), parameters)
    corners, ids, _ = detector.detectMarkers(cv2.cvtColor(frame.pixels, cv2.COLOR_BGR2GRAY))
    numbers = [] if ids is None else [int(number) for number in np.reshape(ids, -1)]
    quads = [np.reshape(quad, (4, 2)).astype(float) for quad in corners]
    return {
        number: quad
        for number, quad in zip(numbers, quads, strict=True)
        if numbers.count(number) == 1
    }


def _is_near(read_px: Array | None, truth: Array) -> bool:
    if read_px is None:
        return False
    off_px = float(np.abs(read_px - truth).max())
    return off_px < max(2.0, READ_SHARE * _side_px(truth))


def _side_px(corners: Array) -> float:
    return float(np.linalg.norm(corners - np.roll(corners, 1, 0), axis=1).mean())


def _numbered(view: MarkerView, family: str, random: np.random.Generator) -> MarkerView:
    """The view with ids that the family has, each once."""
    count = len(_code(family).bytesList)
    squares = list(view.corners_mm.values())[:count]
    numbers = random.permutation(count)[: len(squares)].tolist()
    corners_mm = dict(zip(numbers, squares, strict=True))
    return MarkerView(view.camera, view.tilt_deg, corners_mm, view.size_px)


def _code(family: str) -> cv2.aruco.Dictionary:
    return cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, family))


# --- the picture ---

Picture = tuple[Frame, dict[int, Array]]
"""A picture, and the true corners (4, 2) of each id."""


def _draw_photo(spread: Spread, family: str, random: np.random.Generator) -> Picture:
    """Draw markers as a camera sees them: at a tilt, blurred, noisy, coded as JPEG."""
    view = _numbered(random_view(random, spread), family, random)
    light: Floats = np.full(SIZE_PX[::-1], MAT, np.float32)
    for number in view.corners_mm:
        _draw_marker(light, view, number, family)
    truths = {number: view.corners_px(number) for number in view.corners_mm}
    cell_px = min(map(_side_px, truths.values())) / (_code(family).markerSize + 2)
    blur_px = random.uniform(0.3, max(0.4, MOST_BLUR_CELLS * cell_px))
    blurred = np.asarray(cv2.GaussianBlur(light, (0, 0), blur_px), np.float32)
    tone = encode_srgb(blurred * random.uniform(0.6, 1.15)).clip(0, 1) * 255
    tone += random.normal(0, random.uniform(0.3, 5.0), tone.shape)
    return _coded(tone, int(random.integers(75, 98))), truths


def _draw_screen(spread: Spread, family: str, random: np.random.Generator) -> Picture:
    """Draw markers as a program draws them on a screen: upright, their cells in whole pixels."""
    grey = np.full(SIZE_PX[::-1], 255.0)
    code, truths = _code(family), {}
    ids = iter(random.permutation(len(code.bytesList)).tolist())
    pitch = int(1.6 * spread.most_px)
    least = max(int(spread.least_px), code.markerSize + 2)
    for left in range(pitch // 4, SIZE_PX[0] - pitch, pitch):
        for top in range(pitch // 4, SIZE_PX[1] - pitch, pitch):
            number, side = next(ids, None), int(random.integers(least, int(spread.most_px) + 1))
            if number is None:
                break
            grey[top : top + side, left : left + side] = code.generateImageMarker(number, side)
            square = side * np.array([(0, 0), (1, 0), (1, 1), (0, 1)], float)
            truths[number] = square + np.array([left, top]) - 0.5
    grey = grey * random.uniform(0.4, 1) + random.uniform(0, 40)
    blur_px = float(random.choice([0.0, random.uniform(0.3, 1.5)]))
    if blur_px:
        grey = cv2.GaussianBlur(grey, (0, 0), blur_px)
    return _coded(np.asarray(grey, float), int(random.integers(85, 101))), truths


def _coded(tone: Array, quality: int) -> Frame:
    """The JPEG of a picture (H, W) in steps of 1/255."""
    grey = np.clip(np.round(tone), 0, 255).astype(np.uint8)
    colour = np.repeat(grey[:, :, None], 3, 2)
    coded = cv2.imencode(".jpg", colour, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
    return Frame(np.asarray(cv2.imdecode(coded, cv2.IMREAD_COLOR), np.uint8), "markers")


def _draw_marker(light: Floats, view: MarkerView, number: int, family: str) -> None:
    """Draw a marker on its card into the light."""
    corners_px, texture = view.corners_px(number), _print(family, number)
    middle, margin = corners_px.mean(0), 1 + 3 * MARGIN_CELLS / (_code(family).markerSize + 2)
    card = middle + (corners_px - middle) * margin
    low = np.floor(card.min(0) - 2).astype(int).clip(0, np.array(SIZE_PX) - 1)
    high = np.ceil(card.max(0) + 3).astype(int).clip(1, SIZE_PX)
    texel = _texels(view, number, low, high, texture.shape[0])
    u, v = (np.asarray(axis, np.float32) for axis in cv2.split(texel))
    fine = cv2.remap(texture, u, v, cv2.INTER_LINEAR, borderValue=[-1.0])
    size = (high - low).tolist()
    patch = cv2.resize(fine.clip(0), size, interpolation=cv2.INTER_AREA)
    share = cv2.resize((fine >= 0).astype(np.float32), size, interpolation=cv2.INTER_AREA)
    under = light[low[1] : high[1], low[0] : high[0]]
    light[low[1] : high[1], low[0] : high[0]] = patch + (1 - share) * under


def _texels(
    view: MarkerView, number: int, low: Array, high: Array, texels: int
) -> NDArray[np.float32]:
    """The texel of each sample of the patch from `low` to `high`, exact on a coarse grid."""
    corners, origin = view.corners_mm[number], view.corners_mm[number][0]
    inner = texels - 2 * MARGIN_CELLS * CELL_TEXELS
    axes = np.linalg.inv(np.stack([corners[1] - origin, corners[3] - origin])) * inner
    nodes = [np.arange(low[i], high[i] + GRID_PX, GRID_PX, dtype=float) for i in (0, 1)]
    coarse = (view.camera.unproject(np.stack(np.meshgrid(*nodes), -1)) - origin) @ axes
    coarse += MARGIN_CELLS * CELL_TEXELS - 0.5
    counts = (np.array(high) - low) * SAMPLES
    at = [((np.arange(count) + 0.5) / SAMPLES - 0.5) / GRID_PX for count in counts]
    u, v = np.meshgrid(at[0].astype(np.float32), at[1].astype(np.float32))
    return np.asarray(_bilinear(coarse, u, v), np.float32)


def _bilinear(coarse: Array, u: Floats, v: Floats) -> Array:
    """Interpolate a grid (H, W, 2) at columns u and rows v exactly."""
    column = np.minimum(u.astype(int), coarse.shape[1] - 2)
    row = np.minimum(v.astype(int), coarse.shape[0] - 2)
    a, b = (u - column)[..., None], (v - row)[..., None]
    upper = coarse[row, column] * (1 - a) + coarse[row, column + 1] * a
    lower = coarse[row + 1, column] * (1 - a) + coarse[row + 1, column + 1] * a
    return np.asarray(upper * (1 - b) + lower * b)


def _print(family: str, number: int) -> Floats:
    """A marker with its frame and its white margin, in texels, as shares of light."""
    code = _code(family)
    cells = code.generateImageMarker(number, code.markerSize + 2) > 127
    padded = np.pad(
        np.kron(cells, np.ones((CELL_TEXELS,) * 2)),
        int(MARGIN_CELLS * CELL_TEXELS),
        constant_values=1,
    )
    return np.where(padded > 0.5, CARD, BLACK).astype(np.float32)
