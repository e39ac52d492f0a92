"""One square plate: its place, heading and the inset of its card, weighed over a grid of what they could be.

Which of the concentric squares a mark belongs to, the lower outline, the upper edge or the card's frame, is not known.
That they are concentric is, that the first lies 3 mm below, and that the frame's inset is the same on all sides. A
shift of the plate then moves the marks of opposite sides opposite ways, so that a profile of marks beside each side,
and each line of the card, tells everything: the log posterior over shift, turn and inset is a sum of looked-up values.
"""

from dataclasses import dataclass, replace

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.contours.radial_edges import LabPatch
from overruler.vision.plates.coarse_grid import CoarseFit, pair_opposite_sides
from overruler.vision.plates.side_net import run_side_net
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

INSET_MM, INSET_SIGMA_MM = 2.4, 0.5
"""How far inside the base's edge the middle of the frame's line lies, and its 1 σ."""
INSETS_MM = np.arange(1.2, 4.01, 0.2)
FRAME_WEIGHT, TOP_WEIGHT, LOWER_WEIGHT, ARC_WEIGHT = 1.0, 0.6, 0.6, 0.6
LINE_EDGE_WEIGHT, LINE_EDGE_PX, LINE_EDGE_MM = 0.4, 0.9, 0.4
"""What seeing each contour all along a side says, and each limit of an arc all along."""
WHOLE_SIDE_NATS, SHARP_MM_PER_PX = 8.0, 0.6
"""Log-likelihood of one contour seen all along one side, where pixels are as small as this: coarser ones run lines into
each other, and the learned look sees more."""
REACH_MM, MARK_SIGMA_PX, MARK_SIGMA_MM = 2.2, 0.4, 0.15
"""How far the look reaches, and 1 σ of a mark in it, the larger of the two."""
TURNS_RAD = np.radians(np.arange(-1.8, 1.81, 0.3))
STEP_MM = 0.25
"""Across the sides, of the learned look along them."""
NET_TEMPER = 3.0
"""What the learned look says counts for so much less beside the marks that the close look sees itself."""
COARSE_DOUBT_BEYOND_MM = 1.0
"""What the rough look leaves likely further away than this from the place found is doubt of its own."""
BINS_PER_SIGMA = 2.5
STEPS_PER_SIGMA = 2.0
"""How finely rays are sampled."""
ONE_SIDED_SIGMA_MM, BOTH_SIDES_SEEN = 0.6, 0.5
"""1 σ that an axis has besides, where only one of its two sides is seen: nothing then tells an edge of the card from
the next one; and how much of both must be seen to be rid of it."""
FLOOR_SIGMA_PX = 0.15
"""1 σ of the place that no number of marks gets below."""


@dataclass(frozen=True, slots=True, eq=False)
class PlateFit:
    """Where a plate lies, if it is one of this size."""

    side_mm: float
    xy_mm: Array
    """(2,)."""
    turn_rad: float
    """Its heading, but for quarters of a turn; of halves of a turn where the card's lines were looked at."""
    inset_mm: float
    covariance_mm2: Array
    """(2, 2), the camera taken as exact."""
    seen: Array
    """(4,): how much of each side is seen, above what lies about everywhere."""
    log_likelihood: float
    """Log-likelihood of what is seen, for comparing fits."""


def fit_finely(view: LabPatch, start: CoarseFit) -> PlateFit | None:
    """The plate by its sides and its card's lines, of the two ways that these could run the likelier one.

    `view` is of the plane of its upper face.
    """
    sigma = max(MARK_SIGMA_PX * view.mm_per_px, MARK_SIGMA_MM)
    ahead = _PoseGrid(view, start.xy_mm, start.turn_rad, start.side_mm, REACH_MM, TURNS_RAD, sigma)
    seen = ahead.sides_seen()
    if seen is None:
        return None
    told = run_side_net(
        view, start.xy_mm, start.turn_rad, start.side_mm, STEP_MM
    ).side_log_likelihood(ahead.shifts, TURNS_RAD)
    aside = replace(ahead, turn_rad=ahead.turn_rad + np.pi / 2)
    looks = [(ahead, seen, told), (aside, np.roll(seen, -1, 0), np.roll(told, -1, 0))]
    found = [fit for fit in (_fit_arc_axis(start, *look) for look in looks) if fit is not None]
    return max(found, key=lambda fit: fit.log_likelihood) if found else None


def _fit_arc_axis(start: CoarseFit, look: "_PoseGrid", seen: Array, told: Array) -> PlateFit | None:
    """The likeliest fit of one way that the card's lines may run, by what is seen of its sides and told of them."""
    arcs = look.arcs_seen()
    if arcs is None:
        return None
    nats = WHOLE_SIDE_NATS * min(1.0, SHARP_MM_PER_PX / look.view.mm_per_px)
    both = zip(_axis_evidence(nats * seen), pair_opposite_sides(told / NET_TEMPER), strict=True)
    along, across = (half + one[..., None] for half, one in both)
    whole = 0.0 if start.face is None else start.face.log_likelihood_at(look.places_mm)
    where, merit = _grid_posterior(
        along + look.prior, across, nats * ARC_WEIGHT * arcs.sum(0) + whole
    )
    plane = where.sum(0)
    shift = np.array([plane.sum(1) @ look.shifts, plane.sum(0) @ look.shifts])
    off = look.places_mm - look.xy_mm - shift @ look.axes
    spread = np.einsum("uv,uvi,uvj->ij", plane, off, off)
    turn, forward, left = (int(i) for i in np.unravel_index(int(np.argmax(where)), where.shape))
    inset = int(np.argmax(along[turn, forward] + across[turn, left] + look.prior))
    fit = look.fit_at(
        look.xy_mm + shift @ look.axes, (turn, forward, left, inset), spread, seen, merit
    )
    floor = np.eye(2) * (FLOOR_SIGMA_PX * look.view.mm_per_px) ** 2
    return replace(
        fit,
        covariance_mm2=spread
        + _one_sided_covariance(fit, look.axes)
        + start.posterior.moments_beyond(fit.xy_mm, COARSE_DOUBT_BEYOND_MM)
        + floor,
    )


def _grid_posterior(along: Array, across: Array, arcs: Array) -> tuple[Array, float]:
    """The posterior (T, S, S) over turns and both shifts, whatever the inset, and the log of its whole weight.

    What is seen along one axis, and along the other (T, S, I), share the inset; the arcs (T, S, S) know nothing of it:
    the sum over insets is a product of matrices.
    """
    one, other = np.exp(along - along.max()), np.exp(across - across.max())
    weight = one @ other.transpose(0, 2, 1) * np.exp(arcs - arcs.max())
    total = float(weight.sum())
    return weight / total, float(np.log(total) + along.max() + across.max() + arcs.max())


def _one_sided_covariance(fit: PlateFit, axes: Array) -> Array:
    """The doubt (2, 2) of taking one contour for another where nothing on the opposite side contradicts."""
    both = np.minimum(fit.seen[:2], fit.seen[2:]) / BOTH_SIDES_SEEN
    return np.asarray(
        axes.T @ np.diag((ONE_SIDED_SIGMA_MM * (1 - np.clip(both, 0, 1))) ** 2) @ axes
    )


@dataclass(frozen=True, slots=True, eq=False)
class _PoseGrid:
    """A plate at a rough place, and the grid of shifts, turns and insets about it."""

    view: LabPatch
    xy_mm: Array
    turn_rad: float
    side_mm: float
    reach_mm: float
    turns: Array
    sigma_mm: float

    @property
    def bin_mm(self) -> float:
        return self.sigma_mm / BINS_PER_SIGMA

    @property
    def step_mm(self) -> float:
        return self.sigma_mm / STEPS_PER_SIGMA

    @property
    def shifts(self) -> Array:
        count = int(self.reach_mm / self.bin_mm)
        return np.asarray(np.arange(-count, count + 1) * self.bin_mm)

    @property
    def axes(self) -> Array:
        """Forward and left (2, 2)."""
        return side_normals(self.turn_rad)[:2]

    @property
    def places_mm(self) -> Array:
        """All that it is weighed at (S, S, 2), by shifts forward and to the left."""
        return np.asarray(
            self.xy_mm
            + np.stack(np.meshgrid(self.shifts, self.shifts, indexing="ij"), -1) @ self.axes
        )

    @property
    def prior(self) -> Array:
        """Of the insets (I,)."""
        return np.asarray(-0.5 * ((INSETS_MM - INSET_MM) / INSET_SIGMA_MM) ** 2)

    def sides_seen(self) -> Array | None:
        """How much of each side (4, T, S, I) is seen if it lies so much further out, its frame inset so much."""
        half = self.side_mm / 2
        lower = lower_outline_mm(self.view.camera, self.xy_mm, self.turn_rad, self.side_mm)
        inner, outer = (
            half - INSETS_MM[-1] - self.reach_mm - 1,
            max(half, lower.max()) + self.reach_mm + 1,
        )
        strokes = side_search_lines(
            self.view, self.xy_mm, self.turn_rad, self.side_mm, (inner, outer), self.step_mm
        )
        seen = find_marks(self.view, strokes)
        if seen is None:
            return None
        edges, lines = (
            self._mark_profiles(marks, seen, inner, outer) for marks in (seen.edges, seen.lines)
        )
        frame, top = half - INSETS_MM + self.shifts[:, None], half - UPPER_EDGE_INSET_MM
        total = (
            FRAME_WEIGHT * lines.values_at(frame)
            + TOP_WEIGHT * edges.values_at(top + self.shifts)[..., None]
        )
        apart = max(LINE_EDGE_PX * self.view.mm_per_px, LINE_EDGE_MM)
        total = total + LINE_EDGE_WEIGHT * (
            edges.values_at(frame + apart) + edges.values_at(frame - apart)
        )
        shown = np.where(lower > top + 0.5 * self.view.mm_per_px, LOWER_WEIGHT, 0.0)
        outline = np.stack(
            [edges.values_at(place + self.shifts)[side] for side, place in enumerate(lower)]
        )
        return np.asarray(total + shown[:, None, None, None] * outline[..., None])

    def arcs_seen(self) -> Array | None:
        """How much of each limit of an arc (4, T, S, S) is seen for shifts forward and to the left."""
        reach = 1.5 * self.reach_mm + 1
        strokes = arc_search_lines(
            self.view, self.xy_mm, self.turn_rad, self.side_mm, reach, self.step_mm
        )
        seen = find_marks(self.view, strokes)
        if seen is None:
            return None
        turned = Marks(
            seen.lines.side, -seen.lines.along_mm, seen.lines.out_mm, seen.lines.strength
        )
        profile = self._mark_profiles(turned, seen, -reach, reach)
        forward, left = strokes.normals @ self.axes.T[:, 0], strokes.normals @ self.axes.T[:, 1]
        shift = forward[:, None, None] * self.shifts[:, None] + left[:, None, None] * self.shifts
        return np.stack([profile.values_at(shift[line])[line] for line in range(4)])

    def _mark_profiles(
        self, marks: Marks, seen: ObservedMarks, inner_mm: float, outer_mm: float
    ) -> "_MarkProfiles":
        return _MarkProfiles.from_marks(
            marks, seen.rays, self.turns, inner_mm, outer_mm, self.bin_mm
        )

    def fit_at(
        self,
        xy_mm: Array,
        at: tuple[int, int, int, int],
        covariance: Array,
        seen: Array,
        merit: float,
    ) -> PlateFit:
        """The fit at one place of the grid: of turns, shifts forward and to the left, and insets."""
        turn, forward, left, inset = at
        shown = [
            seen[side, turn, i, inset]
            for side, i in enumerate((forward, left, -1 - forward, -1 - left))
        ]
        heading = self.turn_rad + float(self.turns[turn])
        return PlateFit(
            self.side_mm,
            xy_mm,
            heading,
            float(INSETS_MM[inset]),
            covariance,
            np.array(shown),
            merit,
        )


def _axis_evidence(seen: Array) -> tuple[Array, Array]:
    """What each pair of opposite sides says of a shift along its axis: twice (T, S, I)."""
    return seen[0] + seen[2][:, ::-1], seen[1] + seen[3][:, ::-1]


@dataclass(frozen=True, slots=True, eq=False)
class _MarkProfiles:
    """The share of each line's rays that bear a mark, by how far beside it: for every turn tried."""

    share: Array
    """(4, T, B): above what lies about everywhere."""
    first_mm: float
    bin_mm: float

    @classmethod
    def from_marks(
        cls, marks: Marks, rays: int, turns: Array, first_mm: float, last_mm: float, bin_mm: float
    ) -> "_MarkProfiles":
        """Marks sheared by each turn, counted, and blurred."""
        bins = int(np.ceil((last_mm - first_mm) / bin_mm)) + 1
        out = marks.out_mm + turns[:, None] * marks.along_mm
        index = np.clip(np.round((out - first_mm) / bin_mm).astype(int), 0, bins - 1)
        cell = (marks.side * len(turns) + np.arange(len(turns))[:, None]) * bins + index
        strength = np.broadcast_to(marks.strength, cell.shape)
        counted = np.bincount(cell.ravel(), strength.ravel(), 4 * len(turns) * bins).astype(float)
        share = np.minimum(_blur_counts(counted.reshape(4, len(turns), bins)) / rays, 1.0)
        return cls(share - np.median(share, axis=-1, keepdims=True), first_mm, bin_mm)

    def values_at(self, out_mm: Array) -> Array:
        """The values (4, T, ...) at places (...)."""
        index = np.round((out_mm - self.first_mm) / self.bin_mm).astype(int)
        return np.asarray(self.share[..., np.clip(index, 0, self.share.shape[-1] - 1)])


def _blur_counts(counted: Array) -> Array:
    """Counts (..., B) blurred so that a mark weighs 1 at its place."""
    reach = int(3 * BINS_PER_SIGMA)
    blurred = np.zeros(counted.shape)
    for apart in range(-reach, reach + 1):
        here, there = (
            slice(max(apart, 0), counted.shape[-1] + min(apart, 0)),
            slice(max(-apart, 0), None),
        )
        weight = np.exp(-0.5 * (apart / BINS_PER_SIGMA) ** 2)
        blurred[..., here] += weight * counted[..., there][..., : counted.shape[-1] - abs(apart)]
    return blurred
