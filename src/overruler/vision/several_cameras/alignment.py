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
MIN_STRENGTH = 6.5
"""Least strength of the match at the right offset. On 125 pairs of drawn motion of two games the strongest
match had 5.8; on as many of one game of a minute or longer the weakest had 12."""
MIN_MARGIN = 2.0
"""By how much it must exceed that of any other offset: of one game it did by 3.1 and more from 20 s on."""
MAX_CORRELATION = 0.99
"""Largest correlation that counts."""
PEAK_HALF_WIDTH_S = 1.5
"""Offsets nearer than this to the best are no other offsets, in s: a hand's move is as long."""
NO_MATCH = -1e3
"""The strength where two films do not overlap by enough, or nothing moves."""


@dataclass(frozen=True, slots=True, eq=False)
class Alignment:
    """The offset of a film against another one."""

    offset_s: float
    """How much later it began."""
    strength: float
    """How well the motion of the two films matches at that offset."""
    next_strength: float
    """The same at the best other offset."""

    @property
    def is_sure(self) -> bool:
        margin = self.strength - self.next_strength
        return self.strength >= MIN_STRENGTH and margin >= MIN_MARGIN


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
    values = np.array([_strength(one, other, int(offset)) for offset in offsets])
    best = int(values.argmax())
    apart = np.abs(offsets - offsets[best]) > PEAK_HALF_WIDTH_S * SAMPLES_PER_S
    rival = float(values[apart].max(initial=NO_MATCH))
    offset = offsets[best] + _peak_shift(values, best)
    return Alignment(float(offset) / SAMPLES_PER_S, float(values[best]), rival)


def _strength(one: Array, other: Array, offset: int) -> float:
    """How well two signals match where they overlap, `one` shifted by so many samples.

    This is Fisher's z of their correlation times the root of the seconds that they share: for signals
    that have nothing in common it does not grow with the overlap.
    """
    first, end = max(offset, 0), min(len(other), len(one) + offset)
    overlap_s = (end - first) / SAMPLES_PER_S
    if overlap_s < MIN_OVERLAP_S:
        return NO_MATCH
    a, b = one[first - offset : end - offset], other[first:end]
    a, b = a - a.mean(), b - b.mean()
    norm = float(np.sqrt((a @ a) * (b @ b)))
    if norm <= 0:
        return NO_MATCH
    correlation = float(np.clip(a @ b / norm, -MAX_CORRELATION, MAX_CORRELATION))
    return float(np.arctanh(correlation) * np.sqrt(overlap_s))


def _peak_shift(values: Array, best: int) -> float:
    """Where the parabola through a peak and its neighbours is highest, in samples from it."""
    if not 0 < best < len(values) - 1:
        return 0.0
    low, peak, high = values[best - 1 : best + 2]
    bend = low - 2 * peak + high
    return float(0.5 * (low - high) / bend) if bend < 0 and min(low, high) >= 0 else 0.0
