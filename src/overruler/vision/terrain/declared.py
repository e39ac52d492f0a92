"""Raised ground that people declare, in one photo: its height, and what stands on it."""

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
from overruler.marker_card import card_about
from overruler.vision.detection.detect import detect
from overruler.vision.detection.raised_plane import RaisedPlane
from overruler.vision.markers.detect import find_markers
from overruler.vision.markers.marker import Marker
from overruler.vision.terrain.by_markers import HilltopFit, measure_top
from overruler.vision.terrain.standing_on import area_under

SAME_BASE_SHARE = 0.7
"""Distance below which two bases are one seen twice, as a share of their distance side by side."""
MARGIN_MM = 5.0
"""Margin around an area's bounding box in which centres of bases are searched."""
GRID_SIZE = 17
"""Points a side that sample whether the photo shows an area."""
MAX_CONFLICT_SIGMAS = 4.0
"""Largest contradiction between what is declared and what is seen, in σ."""
MAX_HEIGHT_SHARE = 0.8
"""Largest height of ground as a share of the camera's; more is a typing error."""


@dataclass(frozen=True, slots=True, eq=False)
class DeclaredGround:
    """The declared raised areas of one photo, and the markers seen on them."""

    camera: Camera
    """The photo's camera."""
    areas: tuple[RaisedArea, ...]
    """The areas, at their place on this table."""
    markers: tuple[tuple[Array, float], ...]
    """Each marker's corners in the photo (4, 2), and its height in mm."""

    def cards_mm(self, z_mm: float = 0.0) -> list[Array]:
        """Return the markers' cards (4, 2) on the plane at `z_mm`."""
        return [card_about(self.camera.unproject(px, z_mm)) for px, _ in self.markers]

    def merge_detections(
        self, flat: Sequence[Detection], raised: Sequence[Detection]
    ) -> tuple[Detection, ...]:
        """Return both, without those on the board that are raised ones seen twice."""

        def is_raised(detection: Detection) -> bool:
            return any(_is_same_base(self.camera, detection, other) for other in raised)

        return (*(detection for detection in flat if not is_raised(detection)), *raised)


def raised_marker_ids(declared: Sequence[DeclaredTerrain]) -> tuple[int, ...]:
    """Return the ids of the markers that lie on raised ground instead of the board."""
    return tuple(marker for terrain in declared for marker in terrain.markers)


# --- how high ---


def locate_ground(
    frame: Frame, calibration: Calibration, declared: Sequence[DeclaredTerrain], board: Board | None
) -> DeclaredGround:
    """Locate declared ground in this photo.

    Raises `CannotMeasure` where the markers that define a height or a place are not seen,
    `BadInput` where ground would reach up to the camera.
    """
    seen = _find_wanted_markers(frame, raised_marker_ids(declared), board)
    board_marker_mm = board.marker_mm if board is not None else None
    areas: list[RaisedArea] = []
    heights: dict[int, float] = {}
    for terrain in declared:
        area = _locate_area(calibration, terrain, seen, terrain.marker_mm or board_marker_mm)
        areas.append(area)
        heights |= dict.fromkeys(terrain.markers, area.top_z_mm)
    markers = tuple((marker.corners_px, heights[marker.id]) for marker in seen)
    return DeclaredGround(calibration.camera, tuple(areas), markers)


def _find_wanted_markers(frame: Frame, wanted: Sequence[int], board: Board | None) -> list[Marker]:
    """Return the visible ones of the wanted markers, of the board's family."""
    if not wanted:
        return []
    family = Board.free(1.0, board.dictionary if board is not None else "auto")
    return [marker for marker in find_markers(frame, family) if marker.id in wanted]


def _locate_area(
    calibration: Calibration,
    terrain: DeclaredTerrain,
    markers: Sequence[Marker],
    side_mm: float | None,
) -> RaisedArea:
    """Return the area of one declaration, from the markers seen on any."""
    seen = [marker for marker in markers if marker.id in terrain.markers]
    _check_markers(terrain, seen, side_mm)
    z_mm, sigma_mm, top = terrain.top_z_mm or 0.0, terrain.sigma_mm, None
    if seen and side_mm:
        top = measure_top(calibration, terrain, seen, side_mm)
        z_mm, sigma_mm = top.z_mm, top.sigma_mm
    eye_mm = float(calibration.camera.center_mm[2])
    _check_plausible(eye_mm, terrain, top, z_mm, sigma_mm)
    return RaisedArea(
        id=terrain.id,
        footprint_mm=_outline_on_board(terrain, top),
        top_z_mm=max(z_mm, terrain.base_z_mm),
        sigma_mm=sigma_mm,
        edge_mm=terrain.edge_mm,
        base_z_mm=terrain.base_z_mm,
        rough=terrain.rough,
        size=terrain.size,
        is_declared=True,
    )


def _check_markers(terrain: DeclaredTerrain, seen: Sequence[Marker], side_mm: float | None) -> None:
    """Raise where the markers seen cannot define place and height."""
    required = terrain.markers[:1] if terrain.about_marker else ()
    missing = sorted(set(required) - {marker.id for marker in seen})
    if missing or (terrain.top_z_mm is None and not seen):
        which = ", ".join(map(str, missing or terrain.markers))
        raise CannotMeasure(
            f"{terrain.location}: marker {which} on {terrain.id!r} was not found; have it whole and in "
            "focus, or give footprint_mm and top_z_mm"
        )
    if seen and side_mm is None:
        raise BadInput(
            f"{terrain.location}: marker_mm is missing: without a board the size of markers is unknown"
        )


def _check_plausible(
    eye_mm: float, terrain: DeclaredTerrain, top: HilltopFit | None, z_mm: float, sigma_mm: float
) -> None:
    """Raise `BadInput` where the ground cannot be as declared."""
    if top is not None and top.max_residual_sigmas > MAX_CONFLICT_SIGMAS:
        raise BadInput(
            f"{terrain.location}: what is declared of {terrain.id!r} contradicts its markers by "
            f"{top.max_residual_sigmas:.0f} σ: check marker_mm, top_z_mm and markers_at_mm"
        )
    lowest_mm = terrain.base_z_mm - MAX_CONFLICT_SIGMAS * sigma_mm
    if not lowest_mm < z_mm < MAX_HEIGHT_SHARE * eye_mm:
        raise BadInput(
            f"{terrain.location}: the top of {terrain.id!r}",
            in_mm=f" would lie at {z_mm:.0f} mm; it must lie above its foot at {terrain.base_z_mm:g} mm "
            f"and well below the camera at {eye_mm:.0f} mm: check top_z_mm, and marker_mm",
        )


def _outline_on_board(terrain: DeclaredTerrain, top: HilltopFit | None) -> Array:
    """Return the outline (K, 2) on the board."""
    outline = np.array(terrain.outline_mm, float)
    if not terrain.about_marker or top is None:
        return outline
    x, y, turn = top.poses[terrain.markers[0]]
    c, s = np.cos(turn), np.sin(turn)
    axes = np.array([[c, s], [-s, c]])
    return np.asarray(outline @ axes + [x, y])


# --- what stands on it ---


def detect_on_ground(
    frame: Frame,
    calibration: Calibration,
    bases: Sequence[Base],
    ground: DeclaredGround,
    progress: Callable[[str], None],
) -> tuple[Detection, ...]:
    """Return the bases on raised ground outside markers' cards."""
    found: list[Detection] = []
    smallest_mm = min((base.width_mm for base in bases), default=np.inf)
    for area in ground.areas:
        if not _is_shown(frame, calibration.camera, area, smallest_mm):
            continue
        progress(f"looking at what stands on {area.id}")
        plane = _raised_plane(calibration, area)
        cards = [card - plane.origin_mm[:2] for card in ground.cards_mm(area.top_z_mm)]
        for local in detect(frame, plane.calibration, bases, cards, MARGIN_MM):
            detection = plane.to_board_frame(local)
            if area_under(calibration.camera, detection, ground.areas) is area:
                found.append(detection)
    return tuple(found)


def _raised_plane(calibration: Calibration, area: RaisedArea) -> RaisedPlane:
    """Return the plane over an area's bounding box, at its height."""
    low, high = area.footprint_mm.min(0), area.footprint_mm.max(0)
    width, height = (float(side) for side in high - low)
    return RaisedPlane.of(calibration, np.array([*low, area.top_z_mm]), (width, height))


def _is_shown(frame: Frame, camera: Camera, area: RaisedArea, smallest_mm: float) -> bool:
    """Return whether the photo shows enough of an area for a base on it."""
    low, high = area.footprint_mm.min(0), area.footprint_mm.max(0)
    grid = np.meshgrid(*np.linspace(low, high, GRID_SIZE).T)
    x, y = (axis.ravel() for axis in grid)
    heights = np.full(len(x), area.top_z_mm)
    pixels = camera.project(np.column_stack([x, y, heights]))
    last = np.array(frame.size_px) - 1
    inside = np.all((pixels >= 0) & (pixels <= last), axis=1)
    if not inside.any():
        return False
    shown_mm = min(np.ptp(x[inside]), np.ptp(y[inside]))
    return bool(shown_mm >= smallest_mm)


def _is_same_base(camera: Camera, flat: Detection, raised: Detection) -> bool:
    place = reproject_to_height(camera, flat.xy_mm, flat.z_mm, raised.z_mm)
    side_by_side_mm = (flat.base.length_mm + raised.base.length_mm) / 2
    return bool(np.hypot(*(place - raised.xy_mm)) < SAME_BASE_SHARE * side_by_side_mm)


def board_cards_mm(board: Board | None, calibration: Calibration) -> list[Array]:
    """Squares (4, 2) of the markers' cards in mm: all of the board's, else the visible ones."""
    squares = list(calibration.squares_mm)
    if board is not None and board.corners_mm is not None:
        squares = [np.asarray(corners)[:, :2] for corners in board.corners_mm.values()]
    return [card_about(square) for square in squares]
