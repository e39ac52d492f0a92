"""The periodicity of hexes in the orthophoto: three plane waves, by their Fourier amplitudes."""

from dataclasses import dataclass

import cv2
import numpy as np

from overruler.geometry.batched.vectors import unit_vectors
from overruler.geometry.pose import Array
from overruler.vision.imaging.orthophoto import Orthophoto

SIZE_RANGE_MM = (10.0, 60.0)
"""Range of the hexes that are sought, centre to corner, in mm."""
WAVE_SIZES_MM = np.geomspace(3.5, SIZE_RANGE_MM[1], 480)
"""Sizes of the waves that are tried, in mm.

The strongest waves of thin lines are overtones, like those of hexes down to a sixth as large."""
SEARCH_ROTATION_DEG = 1.5
"""Largest rotation against the board's axes that is sought, in degrees."""
MAX_CYCLES_PER_PX = 0.3
"""Highest frequency of the waves, in cycles a pixel."""
MIN_PEAK_RATIO = 30.0
"""Least ratio of the power of each of the three waves to that of others of the same length."""
PEAK_LOG_WIDTH = 0.05
"""Sizes that differ by less belong to the same peak, as a logarithm of their ratio."""
LATTICES_TRIED = 2
"""Number of lattices that are tried, of each orientation and in all."""
MIN_PHASE_COHERENCE = 0.8
"""Least cosine of the phase by which the three waves miss meeting in one point."""
MIN_HEXES_ACROSS = 4.0
"""Least number of hexes side by side on the board."""
HILL_CLIMB_RANGES = (0.012, 0.012, 0.004, 0.001)
"""Ranges of the searches for size (a share) and rotation (radians), one after the other."""


@dataclass(frozen=True, slots=True, eq=False)
class HexLattice:
    """Three waves that meet in points: a grid's own, or overtones of them."""

    size_mm: float
    """Centre to corner of the hexes that have these waves."""
    orientation: str
    rotation_deg: float
    """Rotation against the board, counter-clockwise."""
    origin_mm: Array
    """(2,): a point where they meet, as they do at each hex's centre."""
    sigma_mm: float
    """1 σ of the origin on either axis."""


def reciprocal_lattice(size_mm: float, orientation: str, rotation_deg: float) -> Array:
    """The three longest waves (3, 2) of a hex grid in cycles a mm; they sum to zero."""
    first = 90.0 if orientation == "pointy" else 0.0
    angle = np.radians(first + rotation_deg + np.array([0.0, 120.0, 240.0]))
    return np.asarray(2 / (3 * size_mm) * unit_vectors(angle))


def candidate_lattices(lines: Array, mm_per_px: float) -> list[tuple[float, str]]:
    """Sizes (mm) and orientations whose weakest wave stands out most, the best first."""
    shape = [cv2.getOptimalDFTSize(2 * side) for side in lines.shape]
    power = _power_spectrum(lines, shape)
    largest = min(lines.shape) * mm_per_px / (1.5 * MIN_HEXES_ACROSS)
    slow_enough = 2 * mm_per_px / (3 * WAVE_SIZES_MM) < MAX_CYCLES_PER_PX
    sizes = WAVE_SIZES_MM[slow_enough & (largest > WAVE_SIZES_MM)]
    found = []
    for orientation in ("pointy", "flat"):
        ratio = _peak_ratios(power, shape, sizes, orientation, mm_per_px)
        for _ in range(LATTICES_TRIED):
            best = int(ratio.argmax())
            if ratio[best] > MIN_PEAK_RATIO:
                found.append((float(ratio[best]), float(sizes[best]), orientation))
            ratio[np.abs(np.log(sizes / sizes[best])) < PEAK_LOG_WIDTH] = 0
    found.sort(reverse=True)
    return [(size, orientation) for _, size, orientation in found[:LATTICES_TRIED]]


def _power_spectrum(lines: Array, shape: list[int]) -> Array:
    """The power of the waves up to `MAX_CYCLES_PER_PX`, each the largest of its neighbourhood."""
    columns = int(MAX_CYCLES_PER_PX * shape[1]) + 3
    rows = np.fft.rfft(lines, shape[1])[:, :columns]
    power = np.abs(np.fft.fft(rows, shape[0], axis=0)) ** 2
    return np.asarray(cv2.dilate(power, np.ones((3, 3), np.uint8)), float)


def _peak_ratios(
    power: Array, shape: list[int], sizes: Array, orientation: str, mm_per_px: float
) -> Array:
    """Ratio (S,) of the power of each size's weakest wave to that of others of its length."""

    def powers(rotation_deg: float) -> Array:
        unit = reciprocal_lattice(1.0, orientation, rotation_deg)
        wave = unit / sizes[:, None, None] * mm_per_px
        wave = wave * np.where(wave[..., :1] < -1e-9, -1, 1)
        x, y = wave[..., 0], wave[..., 1]
        row = np.rint(-y * shape[0]).astype(int)
        column = np.rint(x * shape[1]).astype(int)
        return np.asarray(power[row % shape[0], column])

    others = np.concatenate([powers(rotation) for rotation in (15.0, 30.0, 45.0)], axis=1)
    usual = np.median(others, axis=1)
    smooth = cv2.blur(usual[:, None], (1, 15))[:, 0]
    return np.asarray(powers(0.0).min(1) / smooth)


def fit_lattice(
    lines: Array, view: Orthophoto, size_mm: float, orientation: str, board_mm: tuple[float, float]
) -> HexLattice | None:
    """Fit a lattice near a size; None where the three waves do not meet."""
    lines = np.asarray(lines, float)  # once: each product would convert them
    center = np.array(board_mm) / 2
    size, rotation = size_mm, 0.0
    for search_range in HILL_CLIMB_RANGES:
        size, rotation = _hill_climb(lines, view, orientation, size, rotation, search_range)
    waves = reciprocal_lattice(size, orientation, rotation)
    amplitudes = _fourier_amplitudes(lines, view, waves, center)
    coherence = float(np.real(np.prod(amplitudes / np.abs(amplitudes))))
    if abs(coherence) < MIN_PHASE_COHERENCE or abs(rotation) > SEARCH_ROTATION_DEG:
        return None
    phase = np.angle(amplitudes * np.sign(coherence))
    turns = np.round(phase.sum() / (2 * np.pi))
    phase[0] -= 2 * np.pi * turns  # the phases sum to zero
    offset = np.linalg.lstsq(waves * 2 * np.pi, -phase, rcond=None)[0]
    noise = _noise_amplitude(lines, view, size, orientation, rotation)
    noise_share = noise / float(np.abs(amplitudes).min())
    sigma = noise_share * 3 * size / (4 * np.pi)
    return HexLattice(size, orientation, rotation, center + offset, sigma)


def _hill_climb(
    lines: Array,
    view: Orthophoto,
    orientation: str,
    size: float,
    rotation: float,
    search_range: float,
) -> tuple[float, float]:
    """The size (mm) and the rotation (degrees) near these at which the waves are strongest."""
    steps = np.linspace(-search_range, search_range, 9)
    sizes = size * (1 + steps)
    scaled = np.concatenate([reciprocal_lattice(tried, orientation, rotation) for tried in sizes])
    size = float(sizes[_wave_power(lines, view, scaled).argmax()])
    rotations = rotation + np.degrees(steps)
    rotated = np.concatenate([reciprocal_lattice(size, orientation, tried) for tried in rotations])
    return size, float(rotations[_wave_power(lines, view, rotated).argmax()])


def _wave_power(lines: Array, view: Orthophoto, waves: Array) -> Array:
    """The power (K,) of lattices of three waves each (3K, 2)."""
    power = np.abs(_fourier_amplitudes(lines, view, waves, np.zeros(2))) ** 2
    return np.asarray(power.reshape(-1, 3).sum(1))


def _noise_amplitude(
    lines: Array, view: Orthophoto, size: float, orientation: str, rotation: float
) -> float:
    """Root mean square amplitude of waves as long as the grid's that are not the grid's."""
    turns = (15.0, 25.0, 35.0, 45.0)
    others = [reciprocal_lattice(size, orientation, rotation + turn) for turn in turns]
    amplitudes = _fourier_amplitudes(lines, view, np.concatenate(others), np.zeros(2))
    return float(np.sqrt(np.mean(np.abs(amplitudes) ** 2)))


def _fourier_amplitudes(lines: Array, view: Orthophoto, waves: Array, origin: Array) -> Array:
    """Complex amplitudes (K,) of waves (K, 2) in cycles a mm, with the phase at `origin` (2,)."""
    rows, columns = lines.shape
    first_row = np.column_stack([np.arange(columns), np.zeros(columns)])
    first_column = np.column_stack([np.zeros(rows), np.arange(rows)])
    x = view.to_mm(first_row)[:, 0] - origin[0]
    y = view.to_mm(first_column)[:, 1] - origin[1]
    wave_x, wave_y = waves.T
    by_x = np.exp(-2j * np.pi * np.outer(wave_x, x))
    by_y = np.exp(-2j * np.pi * np.outer(wave_y, y))
    real, imaginary = np.split(np.concatenate([by_x.real, by_x.imag]) @ lines.T, 2)
    row_sums = real + 1j * imaginary
    return np.asarray((by_y * row_sums).sum(1))
