"""The evidence of marks for a plate, on a grid of shifts, turns and insets of its card's frame."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.sides import (
    UPPER_EDGE_INSET_MM,
    Marks,
    ObservedMarks,
    arc_search_lines,
    find_marks,
    lower_outline_mm,
    side_normals,
    side_search_lines,
)

INSET_MM = 2.4
"""Prior mean of the distance of the frame line's middle inside the base's edge."""
INSET_SIGMA_MM = 0.5
"""Prior 1 σ of it."""
INSETS_MM = np.arange(1.2, 4.01, 0.2)
"""(I,): insets of the grid."""
TURNS_RAD = np.radians(np.arange(-1.8, 1.81, 0.3))
"""(T,): turns of the grid."""
REACH_MM = 2.2
"""Reach of the grid's shifts along each axis."""
FRAME_WEIGHT = 1.0
"""Evidence of the frame's line seen all along a side."""
TOP_WEIGHT = 0.6
"""Evidence of the upper edge seen all along a side."""
LOWER_WEIGHT = 0.6
"""Evidence of the lower outline seen all along a side."""
LINE_EDGE_WEIGHT = 0.4
"""Evidence of each edge of the frame's line seen all along a side."""
LINE_EDGE_PX = 0.9
"""Distance of those edges from the line's middle, ..."""
LINE_EDGE_MM = 0.4
"""... or this many mm, whichever is larger."""
MARK_SIGMA_PX = 0.4
"""1 σ of a mark, ..."""
MARK_SIGMA_MM = 0.15
"""... or this many mm, whichever is larger."""
BINS_PER_SIGMA = 2.5
"""Bins of the profiles and shifts of the grid in 1 σ of a mark."""
STEPS_PER_SIGMA = 2.0
"""Samples of a ray in 1 σ of a mark."""


@dataclass(frozen=True, slots=True, eq=False)
class PoseGrid:
    """A plate at a rough pose, and the grid of S shifts, T turns and I insets about it."""

    view: LabPatch
    """The photo around the plate, on the plane of its upper face."""
    xy_mm: Array
    """(2,): the rough centre."""
    turn_rad: float
    """The rough heading."""
    side_mm: float
    """The plate's side."""

    @property
    def sigma_mm(self) -> float:
        """1 σ of a mark."""
        return max(MARK_SIGMA_PX * self.view.mm_per_px, MARK_SIGMA_MM)

    @property
    def bin_mm(self) -> float:
        return self.sigma_mm / BINS_PER_SIGMA

    @property
    def step_mm(self) -> float:
        return self.sigma_mm / STEPS_PER_SIGMA

    @property
    def shifts(self) -> Array:
        """(S,): in mm."""
        count = int(REACH_MM / self.bin_mm)
        return np.asarray(np.arange(-count, count + 1) * self.bin_mm)

    @property
    def axes(self) -> Array:
        """(2, 2): forward and left."""
        return side_normals(self.turn_rad)[:2]

    @property
    def places_mm(self) -> Array:
        """(S, S, 2): centres by shifts forward and to the left."""
        shifts = np.stack(np.meshgrid(self.shifts, self.shifts, indexing="ij"), -1)
        return np.asarray(self.xy_mm + shifts @ self.axes)

    @property
    def inset_prior(self) -> Array:
        """(I,): in nats."""
        return np.asarray(-0.5 * ((INSETS_MM - INSET_MM) / INSET_SIGMA_MM) ** 2)

    def side_evidence(self) -> Array | None:
        """Return how much of each side (4, T, S, I) is seen, by outward shift and inset, if any."""
        half = self.side_mm / 2
        lower = lower_outline_mm(self.view.camera, self.xy_mm, self.turn_rad, self.side_mm)
        inner = half - INSETS_MM[-1] - REACH_MM - 1
        reach = inner, max(half, lower.max()) + REACH_MM + 1
        lines = side_search_lines(
            self.view, self.xy_mm, self.turn_rad, self.side_mm, reach, self.step_mm
        )
        observed = find_marks(self.view, lines)
        if observed is None:
            return None
        edge_profiles = self._profiles(observed.edges, observed, *reach)
        line_profiles = self._profiles(observed.lines, observed, *reach)
        frame = half - INSETS_MM + self.shifts[:, None]
        top = half - UPPER_EDGE_INSET_MM
        top_seen = edge_profiles.values_at(top + self.shifts)[..., None]
        seen = FRAME_WEIGHT * line_profiles.values_at(frame) + TOP_WEIGHT * top_seen
        offset = max(LINE_EDGE_PX * self.view.mm_per_px, LINE_EDGE_MM)
        line_edges = edge_profiles.values_at(frame + offset) + edge_profiles.values_at(
            frame - offset
        )
        seen = seen + LINE_EDGE_WEIGHT * line_edges
        is_lower_apart = lower > top + 0.5 * self.view.mm_per_px
        weight = np.where(is_lower_apart, LOWER_WEIGHT, 0.0)[:, None, None, None]
        by_side = [edge_profiles.values_of(k, lower[k] + self.shifts) for k in range(4)]
        return np.asarray(seen + weight * np.stack(by_side)[..., None])

    def arc_evidence(self) -> Array | None:
        """Return how much of each arc limit (4, T, S, S) is seen, by both shifts, if any."""
        reach = 1.5 * REACH_MM + 1
        lines = arc_search_lines(
            self.view, self.xy_mm, self.turn_rad, self.side_mm, reach, self.step_mm
        )
        observed = find_marks(self.view, lines)
        if observed is None:
            return None
        marks = observed.lines
        turned = Marks(marks.side, -marks.along_mm, marks.out_mm, marks.strength)
        profiles = self._profiles(turned, observed, -reach, reach)
        forward = (lines.normals @ self.axes.T[:, 0])[:, None, None]
        left = (lines.normals @ self.axes.T[:, 1])[:, None, None]
        shift = forward * self.shifts[:, None] + left * self.shifts
        return np.stack([profiles.values_of(k, shift[k]) for k in range(4)])

    def _profiles(
        self, marks: Marks, observed: ObservedMarks, inner_mm: float, outer_mm: float
    ) -> "MarkProfiles":
        return MarkProfiles.from_marks(marks, observed.rays, inner_mm, outer_mm, self.bin_mm)


@dataclass(frozen=True, slots=True, eq=False)
class MarkProfiles:
    """The share of each line's rays that bear a mark, by distance beside it, for every turn."""

    share: Array
    """(4, T, B): above the median over the B bins."""
    first_mm: float
    """Distance of the first bin."""
    bin_mm: float
    """Width of a bin."""

    @classmethod
    def from_marks(
        cls, marks: Marks, rays: int, first_mm: float, last_mm: float, bin_mm: float
    ) -> "MarkProfiles":
        """Shear the marks by each turn, count them in bins, and blur the counts."""
        turns = len(TURNS_RAD)
        bins = int(np.ceil((last_mm - first_mm) / bin_mm)) + 1
        out = marks.out_mm + TURNS_RAD[:, None] * marks.along_mm
        index = np.clip(np.round((out - first_mm) / bin_mm).astype(int), 0, bins - 1)
        cell = (marks.side * turns + np.arange(turns)[:, None]) * bins + index
        strength = np.broadcast_to(marks.strength, cell.shape)
        counts = np.bincount(cell.ravel(), strength.ravel(), 4 * turns * bins).astype(float)
        share = np.minimum(_blur_counts(counts.reshape(4, turns, bins)) / rays, 1.0)
        return cls(share - np.median(share, axis=-1, keepdims=True), first_mm, bin_mm)

    def values_at(self, out_mm: Array) -> Array:
        """Return the values (4, T, ...) at distances (...)."""
        return np.asarray(self.share[..., self._bins(out_mm)])

    def values_of(self, line: int, out_mm: Array) -> Array:
        """Return the values (T, ...) of one line at distances (...)."""
        return np.asarray(self.share[line][:, self._bins(out_mm)])

    def _bins(self, out_mm: Array) -> NDArray[np.intp]:
        index = np.round((out_mm - self.first_mm) / self.bin_mm).astype(int)
        return np.asarray(np.clip(index, 0, self.share.shape[-1] - 1))


def _blur_counts(counts: Array) -> Array:
    """Blur counts (..., B) so that a mark weighs 1 at its place."""
    reach = int(3 * BINS_PER_SIGMA)
    bins = counts.shape[-1]
    blurred = np.zeros(counts.shape)
    for offset in range(-reach, reach + 1):
        to = slice(max(offset, 0), bins + min(offset, 0))
        start = max(-offset, 0)
        source = counts[..., start : start + bins - abs(offset)]
        weight = np.exp(-0.5 * (offset / BINS_PER_SIGMA) ** 2)
        blurred[..., to] += weight * source
    return blurred
