"""The table that is being watched: its camera, its pieces, the last shots of it, and where in the picture it is."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from overruler.calibration import Calibration
from overruler.detections import Detection
from overruler.frame import Frame, PixelBox, Shot
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.report import Report
from overruler.vision.assembly.to_scene import build_scene
from overruler.vision.tracking.change_detection import (
    BLOCK_PX,
    BackgroundModel,
    BlockMeans,
    GreyImage,
    Mask,
    blocks_near,
    build_pyramid,
    label_areas,
    relit_areas,
)
from overruler.vision.tracking.piece_track import PieceTrack

AVERAGED_SHOTS = 3
"""Shots averaged where something is measured."""
MAX_GLIMPSE_PX, MAX_GLIMPSES = 640, 150
"""The longer side of coarse shots at most, and how many are kept: 15 s, in 20 MB."""
TABLE_MARGIN_MM = 60.0
"""What goes on farther from the board is nobody's business."""
FIGURE_MARGIN_MM = 22.0
"""How far beyond a base its figure and its shadow reach."""
MIN_BASE_BLOCKS = 4
"""A base fills more."""
INNER_SQUARE_RADII = 0.8
"""Half the side of a square in a base, in radii; its corners lie a little outside."""
MIN_CHANGED_SHARE = 0.2
"""Share of a base that must have changed for it to have come, or gone."""


class BaseMeasurer(Protocol):
    """Who can say exactly where a base stands: the referee."""

    def remeasure_base(self, frame: Frame, report: Report, one: Detection) -> Detection | None:
        """A base that was found, its size being known now; None where the picture says no more than it did."""


@dataclass(frozen=True, slots=True, eq=False)
class CoarseShot:
    """A shot, coarsely."""

    time_s: float
    grey: GreyImage
    pyramid_level: int
    """So often."""

    @classmethod
    def of(cls, time_s: float, stages: Sequence[GreyImage]) -> "CoarseShot":
        """Of the stages of halving a shot the finest that is not too fine to keep."""
        at = next(
            (k for k, one in enumerate(stages) if max(one.shape) <= MAX_GLIMPSE_PX), len(stages) - 1
        )
        return cls(time_s, stages[at], at + 1)

    @property
    def scale(self) -> int:
        """How many of the shot's pixels one of it is wide."""
        return 1 << self.pyramid_level

    def to_coarse(self, px: Array) -> Array:
        """Where pixels (..., 2) of the shot are in it."""
        return np.asarray((px - (self.scale - 1) / 2) / self.scale)

    def to_fine(self, px: Array) -> Array:
        """Where pixels (..., 2) of it are in the shot."""
        return np.asarray(px * self.scale + (self.scale - 1) / 2)


@dataclass(frozen=True, slots=True, eq=False)
class RestState:
    """The table the last time that all of it was at rest."""

    shots: tuple[Shot, ...]
    block_means: BlockMeans
    coarse_shot: CoarseShot
    places_mm: dict[str, Array]
    """Where each piece stood (2,)."""


@dataclass(slots=True, eq=False)
class TableState:
    """A table, a camera that stands still, and what is known by now."""

    first_report: Report
    """The first look: the calibration, rulers, grid and terrain hold for as long as the camera stays."""
    changes: BackgroundModel
    shots: deque[Shot]
    measurer: BaseMeasurer
    tracks: list[PieceTrack] = field(default_factory=list)
    looks_again: bool = False
    """Whether all of it is looked at again now and then."""
    on_table: Mask = field(init=False)
    """The blocks that show the table."""
    edge_blocks: Mask = field(init=False)
    """Those at its edge, or the picture's: whoever reaches over the table does so across them."""
    block_mm2: float = field(init=False)
    """What a block in the middle shows."""
    searched_blocks: Mask = field(init=False)
    """Where what is missing was sought in vain while a hand is round, and nothing has moved since."""
    vacated_blocks: Mask = field(init=False)
    """Where pieces stood that have moved since all was last at rest, on a table that is looked at again."""
    recent_shots: deque[CoarseShot] = field(init=False)
    """The last shots, coarsely: where a hand went."""
    last_rest: RestState = field(init=False)

    def __post_init__(self) -> None:
        self.recent_shots = deque(
            [CoarseShot.of(self.shot.time_s, build_pyramid(self.shot.grey))], MAX_GLIMPSES
        )
        rows, columns = self.changes.last_means.shape
        u, v = np.meshgrid(np.arange(columns), np.arange(rows))
        xy = self.camera.unproject((np.stack([u, v], -1) + 0.5) * BLOCK_PX - 0.5)
        low, high = (
            np.full(2, -TABLE_MARGIN_MM),
            np.array(self.calibration.board_mm) + TABLE_MARGIN_MM,
        )
        self.on_table = np.asarray(((xy > low) & (xy < high)).all(-1))
        inner = cv2.erode(self.on_table.astype(np.uint8), np.ones((5, 5), np.uint8), borderValue=0)
        self.edge_blocks = self.on_table & (inner == 0)
        middle = np.array([*self.calibration.board_mm, 0.0]) / 2
        self.block_mm2 = (BLOCK_PX * float(self.camera.mm_per_px(middle))) ** 2
        self.searched_blocks, self.vacated_blocks = (
            np.zeros_like(self.on_table),
            np.zeros_like(self.on_table),
        )
        self.record_rest()

    def record_rest(self) -> None:
        """All of it is at rest now."""
        places = {held.id: held.rest_detection.xy_mm for held in self.tracks if held.away_s is None}
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
        """The newest."""
        return self.shots[-1]

    @property
    def changed_blocks(self) -> Mask:
        """The table's blocks that differ from the table at rest."""
        return self.changes.changed & self.on_table

    def relit_blocks(self, where: Mask) -> Mask:
        """The areas of a mask that have changed since all was last at rest, but in their light alone."""
        return relit_areas(self.shot.grey, self.last_rest.shots[-1].grey, where)

    # --- places and blocks ---

    def blocks(self, xy_mm: Array, z_mm: float, radius_mm: float) -> tuple[slice, slice]:
        """The blocks, as rows and columns, round a place on the board."""
        point = np.array([*xy_mm, z_mm])
        radius_px = radius_mm / float(self.camera.mm_per_px(point))
        return blocks_near(self.changes.last_means.shape, self.camera.project(point), radius_px)

    def covered_share(self, where: Mask, places_mm: Array, z_mm: float, radius_mm: float) -> Array:
        """(N,): how much of a base at each place (N, 2) a mask covers: of the blocks whose middles it hides."""
        if not len(places_mm):
            return np.zeros(0)
        points = np.column_stack([places_mm, np.full(len(places_mm), z_mm)])
        middle = (self.camera.project(points) - (BLOCK_PX - 1) / 2) / BLOCK_PX
        half = (
            INNER_SQUARE_RADII * radius_mm / float(self.camera.mm_per_px(points.mean(0))) / BLOCK_PX
        )
        nearest, most = np.rint(middle), np.array(where.shape[::-1])
        low = np.clip(np.minimum(np.ceil(middle - half), nearest), 0, most).astype(int)
        high = np.clip(np.maximum(np.floor(middle + half), nearest) + 1, 0, most).astype(int)
        (left, top), (right, bottom) = low.T, high.T
        sums = np.pad(where.astype(np.int64).cumsum(0).cumsum(1), ((1, 0), (1, 0)))
        inside = sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left]
        return np.asarray(inside / np.maximum((high - low).prod(1), 1))

    def boxes(self, where: Mask) -> list[Array]:
        """The boxes (2, 2) on the board, and some way round them, of each area that could hold a base."""
        count, labels = label_areas(where, gap=2)
        found = []
        for label in range(1, count + 1):
            rows, columns = np.nonzero(labels == label)
            if len(rows) >= MIN_BASE_BLOCKS:
                u, v = (columns.min(), columns.max() + 1), (rows.min(), rows.max() + 1)
                xy = self.camera.unproject(
                    np.array([(x, y) for x in u for y in v]) * BLOCK_PX - 0.5
                )
                found.append(np.array([xy.min(0) - FIGURE_MARGIN_MM, xy.max(0) + FIGURE_MARGIN_MM]))
        return [box for box in found if np.isfinite(box).all()]

    # --- pictures ---

    def average_part(self, box_mm: Array, shots: Sequence[Shot] | None = None) -> "TablePart":
        """Shots, the last ones or others, as one frame of a part of the table, their noise averaged away."""
        (left, bottom), (right, top) = box_mm
        corners = np.array(
            [
                (x, y, 0.0)
                for x in (left, (left + right) / 2, right)
                for y in (bottom, (bottom + top) / 2, top)
            ]
        )
        pixels, (width, height) = self.camera.project(corners), self.shot.size_px
        low = np.clip(np.floor(np.nanmin(pixels, axis=0)) - 24, 0, None).astype(int)
        high = np.clip(np.ceil(np.nanmax(pixels, axis=0)) + 24, None, (width, height)).astype(int)
        box = (
            int(low[0]),
            int(low[1]),
            max(int(high[0]), int(low[0]) + 1),
            max(int(high[1]), int(low[1]) + 1),
        )
        return TablePart(
            average_shots(shots or self.shots, box), self.first_report, low.astype(float)
        )

    def remeasure_base(self, one: Detection, shots: Sequence[Shot] | None = None) -> Detection:
        """A base that is at rest in shots, the last ones or others, measured once more where that is possible."""
        reach = max(one.base.width_mm, one.base.length_mm)
        part = self.average_part(one.xy_mm + reach * np.array([[-1.0], [1.0]]), shots)
        found = self.measurer.remeasure_base(part.frame, part.report, one)
        return part.to_whole_picture(found) if found is not None else one

    def report(self) -> Report:
        """The table as it stands."""
        standing = [held for held in self.tracks if held.away_s is None]
        detections = tuple(held.rest_detection for held in standing)
        known, frame = self.first_report.scene, self.shot.frame()
        scene = build_scene(
            self.calibration, detections, known.game, self.first_report.rulers, known.grid
        )
        pieces = tuple(
            replace(piece, id=held.id) for piece, held in zip(scene.pieces, standing, strict=True)
        )
        scene = replace(scene, pieces=pieces, terrain=known.terrain)
        return replace(self.first_report, frame=frame, detections=detections, scene=scene)


@dataclass(frozen=True, slots=True, eq=False)
class TablePart:
    """A part of the picture as a frame with a camera of its own."""

    frame: Frame
    whole: Report
    corner_px: Array
    """(2,): its upper left pixel in the whole picture."""

    @property
    def report(self) -> Report:
        """What is known of the table, for the part's pixels."""
        calibration, step = self.whole.calibration, np.zeros(15)
        step[2:4] = -self.corner_px
        camera = calibration.camera.moved(step)
        return replace(
            self.whole, calibration=replace(calibration, camera=camera, size_px=self.frame.size_px)
        )

    def to_whole_picture(self, detection: Detection) -> Detection:
        """A detection with its pixels counted in the whole picture."""
        center, outline = (
            detection.center_px + self.corner_px,
            detection.outline_px + self.corner_px,
        )
        return replace(detection, center_px=center, outline_px=outline)


def average_shots(shots: Sequence[Shot] | deque[Shot], box: PixelBox | None = None) -> Frame:
    """Shots as one frame."""
    total: NDArray[np.uint16] | None = None
    for shot in shots:
        pixels = shot.colours(box)
        total = pixels.astype(np.uint16) if total is None else total + pixels
    assert total is not None
    mean = ((total + len(shots) // 2) // len(shots)).astype(np.uint8)
    mean.setflags(write=False)
    return Frame(mean, shots[-1].name, time_s=shots[-1].time_s)
