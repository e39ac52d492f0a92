"""How much later one film began than another of the same table, by the times at which things move."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from overruler.frame import Shot
from overruler.geometry.pose import Array
from overruler.vision.tracking.change_detection import (
    MOTION_THRESHOLD,
    block_means,
    build_pyramid,
    differing_blocks,
)

SAMPLES_PER_S = 10.0
"""Samples of a film's motion in a second: as many as pictures are looked at."""
MAX_OFFSET_S = 90.0
"""Largest offset of two films that is found, in s."""
MIN_OVERLAP_S = 8.0
"""Least time that both films must show at an offset, in s: two moves of a piece."""
MIN_MOTION_S = 1.0
"""Least time for which something must move in a film, in s."""
MIN_CORRELATION = 0.5
"""Least correlation of the motion of two films of one table at the right offset."""
MIN_MARGIN = 0.1
"""By how much the correlation must exceed that of any other offset."""
PEAK_HALF_WIDTH_S = 1.5
"""Offsets nearer than this to the best are no other offsets, in s: a hand's move is as long."""
NO_CORRELATION = -1.0
"""The correlation where two films do not overlap by enough, or nothing moves."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The offset of a film against another one."""

    offset_s: float
    """How much later it began."""
    correlation: float
    """Correlation of the two films' motion at that offset."""
    next_correlation: float
    """The largest correlation at any other offset."""

    @property
    def is_sure(self) -> bool:
        margin = self.correlation - self.next_correlation
        return self.correlation >= MIN_CORRELATION and margin >= MIN_MARGIN


def motion_of(shots: Iterable[Shot]) -> Array:
    """(N,): share of the picture that moves, in each tenth of a second since the film's beginning."""
    shares: dict[int, float] = {}
    before = None
    for shot in shots:
        means = block_means(build_pyramid(shot.grey))
        if before is not None and before.shape == means.shape:
            moving = differing_blocks(means, before, MOTION_THRESHOLD)
            shares[round(shot.time_s * SAMPLES_PER_S)] = float(moving.mean())
        before = means
    signal = np.zeros(max(shares, default=0) + 1)
    for sample, share in shares.items():
        signal[sample] = share
    return signal


def align(motion: Array, reference: Array) -> Alignment | None:
    """How much later a film began than the reference; None where too little moves in either."""
    one, other = np.sqrt(motion), np.sqrt(reference)
    if min(np.count_nonzero(one), np.count_nonzero(other)) < MIN_MOTION_S * SAMPLES_PER_S:
        return None
    most = round(MAX_OFFSET_S * SAMPLES_PER_S)
    offsets = np.arange(-most, most + 1)
    values = np.array([_correlation(one, other, int(offset)) for offset in offsets])
    best = int(values.argmax())
    apart = np.abs(offsets - offsets[best]) > PEAK_HALF_WIDTH_S * SAMPLES_PER_S
    rival = float(values[apart].max(initial=NO_CORRELATION))
    offset = offsets[best] + _peak_shift(values, best)
    return Alignment(float(offset) / SAMPLES_PER_S, float(values[best]), rival)


def _correlation(one: Array, other: Array, offset: int) -> float:
    """The correlation of two signals where they overlap, `one` shifted by so many samples."""
    first, end = max(offset, 0), min(len(other), len(one) + offset)
    if end - first < MIN_OVERLAP_S * SAMPLES_PER_S:
        return NO_CORRELATION
    a, b = one[first - offset : end - offset], other[first:end]
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / norm if norm > 0 else NO_CORRELATION


def _peak_shift(values: Array, best: int) -> float:
    """Where the parabola through a peak and its neighbours is highest, in samples from it."""
    if not 0 < best < len(values) - 1:
        return 0.0
    low, peak, high = values[best - 1 : best + 2]
    bend = low - 2 * peak + high
    return float(0.5 * (low - high) / bend) if bend < 0 and min(low, high) >= 0 else 0.0
