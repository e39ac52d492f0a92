"""Raised ground that people tell of, in one photo: how high it is, and what stands on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.bases import Base
from overruler.board import Board
from overruler.calibration import Calibration
from overruler.declared_terrain import DeclaredTerrain
from overruler.detections import Detection, RaisedArea
from overruler.errors import BadInput, CannotMeasure
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.geometry.relief import reproject_to_height
from overruler.vision.detection.detect import detect
from overruler.vision.detection.raised_plane import RaisedPlane
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker
from overruler.vision.terrain.by_markers import HilltopFit, measure_top
from overruler.vision.terrain.standing_on import area_under

SAME_BASE_SHARE = 0.7
"""Bases that seem nearer to each other than this share of standing side by side are one, seen twice."""
MARGIN_MM = 5.0
"""How far beyond an outline's box the middles of bases are looked for."""
GRID_SIZE = 17
"""So many places a side tell whether the photo shows an area."""
MAX_CONFLICT_SIGMAS = 4.0
"""What was told and what is seen may lie so many times their doubt apart."""
MAX_HEIGHT_SHARE = 0.8
"""Ground that reaches more than this share of the way up to the camera is a slip of the pen."""


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredGround:
    """The raised areas of one photo that somebody told of, and the markers seen on them."""

    camera: Camera
    areas: tuple[RaisedArea, ...] = ()
    markers: tuple[tuple[Array, float], ...] = ()
    """Each marker's corners in the photo (4, 2), and its height in mm."""

    def cards_mm(self, larger: float, z_mm: float = 0.0) -> list[Array]:
        """Where the markers' cards are seen on the plane at `z_mm`: their squares (4, 2), so many times larger."""
        squares = [self.camera.unproject(corners, z_mm) for corners, _ in self.markers]
        return [square.mean(0) + larger * (square - square.mean(0)) for square in squares]

    def merge_detections(
        self, flat: Sequence[Detection], raised: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """Both, without those on the board that are a raised one, taken to lie there."""
        return (
            *(
                one
                for one in flat
                if not any(_is_same_base(self.camera, one, other) for other in raised)
            ),
            *raised,
        )


def raised_marker_ids(told: Sequence[DeclaredTerrain]) -> tuple[int, ...]:
    """The ids of the markers that lie on raised ground, and not on the board."""
    return tuple(marker for one in told for marker in one.markers)


# --- how high ---


def locate_ground(
    frame: Frame, calibration: Calibration, told: Sequence[DeclaredTerrain], board: Board | None
) -> DeclaredGround:
    """Where the ground that was told of lies in this photo.

    Raises `CannotMeasure` where the markers that should tell a height or a place are not seen, `BadInput` where ground
    would reach up to the camera.
    """
    seen = _find_wanted_markers(frame, raised_marker_ids(told), board)
    usual_mm = board.marker_mm if board is not None else None
    areas = tuple(_locate_area(calibration, one, seen, one.marker_mm or usual_mm) for one in told)
    heights = {
        number: area.top_z_mm
        for one, area in zip(told, areas, strict=True)
        for number in one.markers
    }
    return DeclaredGround(
        calibration.camera, areas, tuple((marker.corners_px, heights[marker.id]) for marker in seen)
    )


def _find_wanted_markers(frame: Frame, wanted: Sequence[int], board: Board | None) -> list[Marker]:
    """Those of the markers that are seen, of the board's family."""
    if not wanted:
        return []
    family = Board.free(1.0, board.dictionary if board is not None else "auto")
    return [marker for marker in find_markers(frame, family) if marker.id in wanted]


def _locate_area(
    calibration: Calibration,
    told: DeclaredTerrain,
    markers: Sequence[Marker],
    side_mm: float | None,
) -> RaisedArea:
    seen = [marker for marker in markers if marker.id in told.markers]
    first = told.markers[:1] if told.about_marker else ()
    missing = [number for number in first if number not in {marker.id for marker in seen}]
    if missing or (told.top_z_mm is None and not seen):
        which = ", ".join(map(str, missing or told.markers))
        raise CannotMeasure(
            f"{told.location}: marker {which} on {told.id!r} was not found; have it whole and in focus, or tell "
            "footprint_mm and top_z_mm"
        )
    if seen and side_mm is None:
        raise BadInput(
            f"{told.location}: marker_mm is missing: without a board nothing says how large markers are"
        )
    top = measure_top(calibration, told, seen, side_mm) if seen and side_mm else None
    z_mm, sigma_mm = (
        (told.top_z_mm or 0.0, told.sigma_mm) if top is None else (top.z_mm, top.sigma_mm)
    )
    _check_plausible(calibration, told, top, z_mm, sigma_mm)
    return RaisedArea(
        id=told.id,
        footprint_mm=_outline_on_board(told, top),
        top_z_mm=max(z_mm, told.base_z_mm),
        sigma_mm=sigma_mm,
        edge_mm=told.edge_mm,
        base_z_mm=told.base_z_mm,
        rough=told.rough,
        size=told.size,
    )


def _check_plausible(
    calibration: Calibration,
    told: DeclaredTerrain,
    top: HilltopFit | None,
    z_mm: float,
    sigma_mm: float,
) -> None:
    """Raise `BadInput` where the ground cannot be as it was told."""
    eye_mm = float(calibration.camera.center_mm[2])
    if top is not None and top.max_residual_sigmas > MAX_CONFLICT_SIGMAS:
        raise BadInput(
            f"{told.location}: what is told of {told.id!r} and what its markers show lie {top.max_residual_sigmas:.0f} times the doubt "
            "apart: check marker_mm, top_z_mm and markers_at_mm"
        )
    if not told.base_z_mm - MAX_CONFLICT_SIGMAS * sigma_mm < z_mm < MAX_HEIGHT_SHARE * eye_mm:
        raise BadInput(
            f"{told.location}: the top of {told.id!r} would lie at {z_mm:.0f} mm; it has to lie between its foot at "
            f"{told.base_z_mm:g} mm and well below the camera at {eye_mm:.0f} mm: check top_z_mm, and marker_mm"
        )


def _outline_on_board(told: DeclaredTerrain, top: HilltopFit | None) -> Array:
    """(K, 2): the outline on the board."""
    outline = np.array(told.outline_mm, float)
    if not told.about_marker or top is None:
        return outline
    x, y, turn = top.poses[told.markers[0]]
    c, s = np.cos(turn), np.sin(turn)
    return np.asarray(outline @ np.array([[c, s], [-s, c]]) + np.array([x, y]))


# --- what stands on it ---


def detect_on_ground(
    frame: Frame,
    calibration: Calibration,
    bases: Sequence[Base],
    ground: DeclaredGround,
    larger: float,
    progress: Callable[[str], None] = lambda text: None,
) -> tuple[Detection, ...]:
    """The bases that stand on raised ground, each looked for and fitted at its area's height.

    Nothing is looked for where markers lie on it, whose cards are so many times `larger` than their squares.
    """
    found: list[Detection] = []
    least_mm = min((base.width_mm for base in bases), default=np.inf)
    for area in ground.areas:
        if not _is_shown(frame, calibration.camera, area, least_mm):
            continue
        progress(f"looking at what stands on {area.id}")
        level = _raised_plane(calibration, area)
        cards = [card - level.origin_mm[:2] for card in ground.cards_mm(larger, area.top_z_mm)]
        there = map(level.to_board_frame, detect(frame, level.calibration, bases, cards, MARGIN_MM))
        found += [one for one in there if area_under(calibration.camera, one, ground.areas) is area]
    return tuple(found)


def _raised_plane(calibration: Calibration, area: RaisedArea) -> RaisedPlane:
    """The box round an area, at its height."""
    low, high = area.footprint_mm.min(0), area.footprint_mm.max(0)
    width, height = high - low
    return RaisedPlane.of(
        calibration, np.array([*low, area.top_z_mm]), (float(width), float(height))
    )


def _is_shown(frame: Frame, camera: Camera, area: RaisedArea, least_mm: float) -> bool:
    """Whether the photo shows enough of an area for a base on it."""
    low, high = area.footprint_mm.min(0), area.footprint_mm.max(0)
    x, y = (axis.ravel() for axis in np.meshgrid(*np.linspace(low, high, GRID_SIZE).T))
    pixels = camera.project(np.column_stack([x, y, np.full(len(x), area.top_z_mm)]))
    inside = np.all((pixels >= 0) & (pixels <= np.array(frame.size_px) - 1), axis=1)
    return bool(inside.any() and min(np.ptp(x[inside]), np.ptp(y[inside])) >= least_mm)


def _is_same_base(camera: Camera, one: Detection, other: Detection) -> bool:
    there = reproject_to_height(camera, one.xy_mm, one.z_mm, other.z_mm)
    reach = (one.base.length_mm + other.base.length_mm) / 2
    return bool(np.hypot(*(there - other.xy_mm)) < SAME_BASE_SHARE * reach)
