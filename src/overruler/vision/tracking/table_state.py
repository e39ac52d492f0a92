"""The watched table: its camera, its pieces, its last shots, and where it lies in the picture."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import cv2
import numpy as np

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.fixes import next_piece_id
from overruler.frame import Frame, Shot
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.tracking.change_detection import (
    BLOCK_PX,
    BackgroundModel,
    BlockMeans,
    BlockSlices,
    GreyImage,
    Mask,
    blocks_near,
    build_pyramid,
    label_areas,
    relit_areas,
)
from overruler.vision.tracking.piece_track import PieceTrack
from overruler.vision.tracking.table_part import TablePart

AVERAGED_SHOTS = 3
"""Number of shots that are averaged for a measurement."""
MAX_GLIMPSE_PX = 640
"""Largest side of a coarse shot, in pixels."""
MAX_GLIMPSES = 150
"""Largest number of coarse shots that are kept: 15 s, in 20 MB."""
TABLE_MARGIN_MM = 60.0
"""Anything farther from the board than this is ignored, in mm."""
FIGURE_MARGIN_MM = 22.0
"""How far a figure and its shadow reach beyond its base, in mm."""
MIN_BASE_BLOCKS = 4
"""Least number of blocks of an area that may be a base."""
INNER_SQUARE_RADII = 0.8
"""Half the side of a square that stands for a base, in radii; its corners lie a little outside."""
MIN_CHANGED_SHARE = 0.2
"""Least share of a base that has changed if it has come or gone."""


class BaseMeasurer(Protocol):
    """Measures bases in a picture; the referee does."""

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        """Measure a base of known size again; None where the picture tells no more."""


@dataclass(frozen=True, slots=True, eq=False)
class CoarseShot:
    """A shot at a fraction of its resolution."""

    time_s: float
    grey: GreyImage
    pyramid_level: int
    """How many times it is halved."""

    @classmethod
    def of(cls, time_s: float, pyramid: Sequence[GreyImage]) -> "CoarseShot":
        """The finest level of a pyramid that is small enough to keep."""
        for level, grey in enumerate(pyramid, 1):
            if max(grey.shape) <= MAX_GLIMPSE_PX:
                return cls(time_s, grey, level)
        return cls(time_s, pyramid[-1], len(pyramid))

    @property
    def scale(self) -> int:
        """The shot's pixels to one pixel of this."""
        return 1 << self.pyramid_level

    def to_coarse(self, px: Array) -> Array:
        """Pixels (..., 2) of the shot in this picture."""
        return np.asarray((px - (self.scale - 1) / 2) / self.scale)

    def to_fine(self, px: Array) -> Array:
        """Pixels (..., 2) of this picture in the shot."""
        return np.asarray(px * self.scale + (self.scale - 1) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class RestState:
    """The table when all of it was last at rest."""

    shots: tuple[Shot, ...]
    block_means: BlockMeans
    """Of the last of the shots."""
    coarse_shot: CoarseShot
    """The last of the shots."""
    places_mm: dict[str, Array]
    """(2,): where each piece stood, by id."""


@dataclass(slots=True, eq=False)
class TableState:
    """A table under a camera that stands still, and what is known of it."""

    first_report: Report
    """The first measurement: calibration, rulers, grid and terrain hold while the camera stays."""
    changes: BackgroundModel
    shots: deque[Shot]
    """The last shots, which are averaged for measurements."""
    measurer: BaseMeasurer
    tracks: list[PieceTrack] = field(default_factory=list)
    looks_again: bool = False
    """Whether all of the table is searched again now and then."""
    on_table: Mask = field(init=False)
    """The blocks that show the table."""
    edge_blocks: Mask = field(init=False)
    """Those at its edge, or the picture's: an arm that reaches over the table crosses them."""
    block_mm2: float = field(init=False)
    """The area of a block in the middle of the board."""
    searched_blocks: Mask = field(init=False)
    """Where a missing piece was sought in vain beside a hand, and nothing has moved since."""
    vacated_blocks: Mask = field(init=False)
    """Where pieces stood that have moved since the last rest, on a table that is searched again."""
    recent_shots: deque[CoarseShot] = field(init=False)
    """The last shots at low resolution, in which hands are followed."""
    last_rest: RestState = field(init=False)

    def __post_init__(self) -> None:
        coarse = CoarseShot.of(self.shot.time_s, build_pyramid(self.shot.grey))
        self.recent_shots = deque([coarse], MAX_GLIMPSES)
        self.on_table = self._blocks_on_table()
        inner = cv2.erode(self.on_table.astype(np.uint8), np.ones((5, 5), np.uint8), borderValue=0)
        self.edge_blocks = self.on_table & (inner == 0)
        center = np.array([*self.calibration.board_mm, 0.0]) / 2
        self.block_mm2 = (BLOCK_PX * float(self.camera.mm_per_px(center))) ** 2
        self.searched_blocks = np.zeros_like(self.on_table)
        self.vacated_blocks = np.zeros_like(self.on_table)
        self.record_rest()

    def _blocks_on_table(self) -> Mask:
        rows, columns = self.changes.last_means.shape
        u, v = np.meshgrid(np.arange(columns), np.arange(rows))
        pixels = (np.stack([u, v], -1) + 0.5) * BLOCK_PX - 0.5
        xy = self.camera.unproject(pixels)
        low = np.full(2, -TABLE_MARGIN_MM)
        high = np.array(self.calibration.board_mm) + TABLE_MARGIN_MM
        return np.asarray(((xy > low) & (xy < high)).all(-1))

    def record_rest(self) -> None:
        """Remember the table as it is, since all of it is at rest."""
        places = {track.id: track.rest_detection.xy_mm for track in self.standing}
        self.last_rest = RestState(
            tuple(self.shots), self.changes.last_means, self.recent_shots[-1], places
        )

    @property
    def calibration(self) -> Calibration:
        return self.first_report.calibration

    @property
    def camera(self) -> Camera:
        return self.first_report.calibration.camera

    @property
    def shot(self) -> Shot:
        """The newest shot."""
        return self.shots[-1]

    @property
    def standing(self) -> list[PieceTrack]:
        """The pieces that are not away."""
        return [track for track in self.tracks if track.away_s is None]

    @property
    def changed_blocks(self) -> Mask:
        """The table's blocks that differ from the table at rest."""
        return self.changes.changed & self.on_table

    def relit_blocks(self, where: Mask) -> Mask:
        """The areas of a mask in which only the light has changed since the last rest."""
        return relit_areas(self.shot.grey, self.last_rest.shots[-1].grey, where)

    # --- pieces ---

    def next_id(self) -> str:
        """The id of the next new piece."""
        return next_piece_id([track.id for track in self.tracks])

    def add_piece(self, name: str, detection: Detection) -> PieceTrack:
        """Track a piece from now on."""
        track = PieceTrack.of(name, detection, self.shot.grey, self.camera)
        self.tracks.append(track)
        return track

    # --- places and blocks ---

    def blocks(self, xy_mm: Array, z_mm: float, radius_mm: float) -> BlockSlices:
        """The blocks round a place on the board."""
        point = np.array([*xy_mm, z_mm])
        radius_px = radius_mm / float(self.camera.mm_per_px(point))
        return blocks_near(self.camera.project(point), radius_px)

    def covered_share(self, where: Mask, places_mm: Array, z_mm: float, radius_mm: float) -> Array:
        """(N,): share of a base at each place (N, 2) that a mask covers, by its blocks' centres."""
        if not len(places_mm):
            return np.zeros(0)
        points = np.column_stack([places_mm, np.full(len(places_mm), z_mm)])
        # places that the camera cannot see lie beside the mask
        pixels = np.nan_to_num(self.camera.project(points), nan=-np.inf)
        center = (pixels - (BLOCK_PX - 1) / 2) / BLOCK_PX
        mm_per_px = float(self.camera.mm_per_px(points.mean(0)))
        half = INNER_SQUARE_RADII * radius_mm / mm_per_px / BLOCK_PX
        nearest, size = np.rint(center), np.array(where.shape[::-1])
        first = np.minimum(np.ceil(center - half), nearest)
        end = np.maximum(np.floor(center + half), nearest) + 1
        low = np.clip(first, 0, size).astype(int)
        high = np.clip(end, 0, size).astype(int)
        covered = _box_sums(where, low, high)
        return np.asarray(covered / np.maximum((high - low).prod(1), 1))

    def boxes(self, where: Mask) -> list[Array]:
        """Boxes (2, 2) on the board round each area of a mask that may be a base, with a margin."""
        count, labels = label_areas(where, gap=2)
        found = []
        for label in range(1, count + 1):
            rows, columns = np.nonzero(labels == label)
            if len(rows) >= MIN_BASE_BLOCKS:
                us = (columns.min(), columns.max() + 1)
                vs = (rows.min(), rows.max() + 1)
                corners = np.array([(u, v) for u in us for v in vs])
                xy = self.camera.unproject(corners * BLOCK_PX - 0.5)
                low, high = xy.min(0), xy.max(0)
                found.append(np.array([low - FIGURE_MARGIN_MM, high + FIGURE_MARGIN_MM]))
        return [box for box in found if np.isfinite(box).all()]

    # --- measurements ---

    def average_part(self, box_mm: Array, shots: Sequence[Shot] | None = None) -> TablePart:
        """The average over a box (2, 2) on the table of `shots`, by default the last ones."""
        return TablePart.of(self.first_report, shots or self.shots, box_mm)

    def remeasure_base(self, one: Detection, shots: Sequence[Shot] | None = None) -> Detection:
        """Measure a resting base again in `shots`, by default the last ones, if that is possible."""
        reach = max(one.base.width_mm, one.base.length_mm)
        box = one.xy_mm + reach * np.array([[-1.0], [1.0]])
        part = self.average_part(box, shots)
        found = self.measurer.remeasure_base(part.frame, part.report, one)
        return part.to_whole_picture(found) if found is not None else one

    def report(self) -> Report:
        """The table as it stands."""
        standing, first = self.standing, self.first_report
        detections = tuple(track.rest_detection for track in standing)
        game, grid = first.scene.game, first.scene.grid
        scene = build_scene(self.calibration, detections, game, first.rulers, grid)
        named = zip(scene.pieces, standing, strict=True)
        pieces = tuple(replace(piece, id=track.id) for piece, track in named)
        scene = replace(scene, pieces=pieces, terrain=first.scene.terrain)
        return replace(first, frame=self.shot.frame(), detections=detections, scene=scene)


def _box_sums(where: Mask, low: Array, high: Array) -> Array:
    """(N,): number of a mask's blocks in boxes from `low` to before `high` (N, 2), as (u, v)."""
    sums = np.pad(where.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    (left, top), (right, bottom) = low.T, high.T
    right_sums = sums[bottom, right] - sums[top, right]
    left_sums = sums[bottom, left] - sums[top, left]
    return np.asarray(right_sums - left_sums)
