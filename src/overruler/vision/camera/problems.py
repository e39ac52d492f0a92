"""What makes a photo's measures worse than they could be, each with what would help."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.bundle_adjustment import Solution
from overruler.vision.camera.precision_map import REFERENCE_LENGTH_MM, doubt_map
from overruler.vision.markers.edge_noise import SHAPE_SIGMA_PX
from overruler.vision.markers.marker import Marker

FEW_MARKERS = 4
COVERED_SHARE = 0.25
"""Markers round less of the picture than this leave the rest to extrapolation."""
LOW_VIEW_DEG, OVERHEAD_DEG = 50.0, 12.0
UNSURE_FOCAL_SHARE = 0.03
BLUR_PX, BLUR_CELLS = 3.0, 0.17
"""Blur, 1 σ, beyond which edges are uncertain: in px, and in cells of a marker."""
MAX_NOISE_SCALE, MAX_SHAPE_SCALE = 8.0, 8.0
"""How many times worse than expected the markers may lie, and how many times more bent they may be, unsaid."""
MIN_SHAPE_ERROR_MM = 0.05
"""And by how much their corners must be off for it to be worth a word: large in the photo, a good print looks bent."""
UNSURE_DISTANCE_SIGMA_MM = 0.6
"""The doubt of a distance anywhere on the board, 1 σ, that is worth a word."""
MAP_STEP_MM = 100.0
"""How closely that is looked at: doubt changes slowly."""
FLAGS_BY_SEVERITY = (
    "large_residuals", "lens_disagrees", "cropped", "marker_size", "ruler_disagrees", "few_markers", "markers_not_flat",
    "marker_left_out", "blurred", "low_view", "low_light", "unsure_distances", "points_alone",
    "markers_close_together", "markers_hidden", "overhead_without_lens", "grid_turned",
)  # fmt: skip
"""Every flag there is."""
CROPPED_SHARE, CROPPED_SIGMAS = 0.03, 5.0
"""The lens's axis meets an uncut picture nearer to its middle than this share of the longer side; and that it does not
must be as sure as this."""
MAX_LENS_PULL_SIGMAS = 3.0
"""How many σ, as a root mean square over its nine numbers, the lens may lie from what was known of it before."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationDiagnostics:
    """What a calibration came from."""

    solution: Solution
    size_px: tuple[int, int]
    markers: Sequence[Marker]
    """Those that it rests on."""
    point_count: int
    left_out: Sequence[int]
    """Markers seen that contradict the others."""
    hidden_ids: Sequence[int]
    """Markers of the board that should be in the picture and were not found."""
    noise_scale: float
    """How many times the expected doubt the markers turned out to share."""
    shape_scale: float
    """How many times more bent and stretched each turned out to be than expected."""
    has_lens_file: bool
    """Whether there was a lens file."""
    lens_disagrees: bool
    """Whether the photo was found to be no whole picture by that lens."""


def find_problems(seen: CalibrationDiagnostics) -> tuple[Problem, ...]:
    """All of them at once."""
    return (*_marker_problems(seen), *_view_problems(seen), *_quality_problems(seen))


def sort_by_severity(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """In the order of how much harm they do."""
    return tuple(sorted(problems, key=lambda problem: FLAGS_BY_SEVERITY.index(problem.flag)))


def find_unsure_distances(found: Calibration, lens: bool) -> tuple[Problem, ...]:
    """That distances are unsure somewhere on the board, with what would help most."""
    doubt = doubt_map(found, lens, UNSURE_DISTANCE_SIGMA_MM, MAP_STEP_MM)
    worst = float(np.max(doubt.sigma_mm * doubt.visible))
    if worst <= UNSURE_DISTANCE_SIGMA_MM * doubt.length_mm / REFERENCE_LENGTH_MM:
        return ()
    remedies = [f"{one.text} (then {one.after_mm:.2f} mm)" for one in doubt.advice]
    text = f"a distance of {doubt.length_mm:.0f} mm is unsure by up to {worst:.2f} mm (1 σ) on this board"
    return (Problem("unsure_distances", ": ".join([text, *remedies[:1]])),)


def _marker_problems(seen: CalibrationDiagnostics) -> Iterator[Problem]:
    count = len(seen.markers)
    if 0 < count < FEW_MARKERS and seen.point_count == 0:
        yield Problem(
            "few_markers",
            f"only {count} markers are seen: four are needed for good measures, eight are better",
        )
    for number in seen.left_out:
        yield Problem(
            "marker_left_out",
            f"marker {number} does not agree with the others and was left out: was it moved?",
        )
    if count == 0 and not seen.has_lens_file:
        yield Problem(
            "points_alone",
            "points say nothing about the lens: lay out markers, or give a lens file",
        )
    if seen.hidden_ids:
        names = ", ".join(map(str, seen.hidden_ids))
        yield Problem(
            "markers_hidden",
            f"hidden or unreadable: marker {names}; clear the view of every marker",
        )
    if count and seen.point_count == 0 and _covered_share(seen) < COVERED_SHARE:
        text = "the markers lie close together in the picture: measures away from them are extrapolated; spread them out"
        yield Problem("markers_close_together", text)


def _covered_share(seen: CalibrationDiagnostics) -> float:
    corners = np.concatenate([marker.corners_px for marker in seen.markers])
    return float(np.prod(np.ptp(corners, axis=0)) / np.prod(seen.size_px))


def _view_problems(seen: CalibrationDiagnostics) -> Iterator[Problem]:
    camera, tilt = seen.solution.state.camera, tilt_deg(seen.solution.state.camera)
    focal_share = float(np.sqrt(seen.solution.covariance[0, 0]) / camera.matrix[0, 0])
    if tilt > LOW_VIEW_DEG:
        text = f"the camera looks from low down, {tilt:.0f}° from straight above: errors of height become errors of place"
        yield Problem("low_view", text)
    if not seen.has_lens_file and tilt < OVERHEAD_DEG and focal_share > UNSURE_FOCAL_SHARE:
        text = "seen from straight above without a lens file: places on the board are sound, high things are less sure"
        yield Problem("overhead_without_lens", text)


def _quality_problems(seen: CalibrationDiagnostics) -> Iterator[Problem]:
    if any(_is_blurred(marker) for marker in seen.markers):
        yield Problem(
            "blurred", "the markers are blurred; hold the camera still and focus on the table"
        )
    if seen.lens_disagrees:
        text = (
            "the photo does not fit the lens file; was another camera, zoom or picture size used?"
        )
        yield Problem("lens_disagrees", text)
    elif not seen.has_lens_file and _is_cropped(seen):
        text = "the photo looks cropped, its lens's axis lies far off its middle; measure the photo as it was taken"
        yield Problem("cropped", text)
    elif (
        seen.shape_scale > MAX_SHAPE_SCALE
        and seen.shape_scale * SHAPE_SIGMA_PX * _mm_per_px(seen) > MIN_SHAPE_ERROR_MM
    ):
        yield Problem(
            "markers_not_flat",
            "the markers do not look square: lay or glue them flat, on something stiff",
        )
    elif (
        seen.noise_scale > MAX_NOISE_SCALE or seen.solution.lens_pull_sigmas > MAX_LENS_PULL_SIGMAS
    ):
        text = "the markers do not lie quite as they should; are they flat, printed to scale, where the board file says?"
        yield Problem("large_residuals", text)


def _is_cropped(seen: CalibrationDiagnostics) -> bool:
    """Whether the lens's axis surely meets the picture far off its middle."""
    off_px = seen.solution.state.camera.matrix[:2, 2] - (np.array(seen.size_px) - 1) / 2
    sigma_px = np.sqrt(np.diag(seen.solution.covariance)[2:4])
    return bool(
        (
            np.abs(off_px)
            > np.maximum(CROPPED_SHARE * max(seen.size_px), CROPPED_SIGMAS * sigma_px)
        ).any()
    )


def _mm_per_px(seen: CalibrationDiagnostics) -> float:
    """The table's millimetres in a pixel, where the typical marker lies."""
    camera = seen.solution.state.camera
    middles = camera.unproject(np.stack([marker.center_px for marker in seen.markers]))
    return float(np.median(camera.mm_per_px(np.column_stack([middles, np.zeros(len(middles))]))))


def _is_blurred(marker: Marker) -> bool:
    return marker.blur_px > min(BLUR_PX, BLUR_CELLS * marker.cell_px)


def tilt_deg(camera: Camera) -> float:
    """The angle between the camera's axis and straight down."""
    return float(np.degrees(np.arccos(np.clip(-camera.T_camera_board.rotation[2, 2], -1, 1))))


def missing_marker_ids(
    camera: Camera,
    size_px: tuple[int, int],
    corners_mm: dict[int, Array],
    found: set[int],
    whole: bool = True,
) -> list[int]:
    """The ids of markers (4, 3) that should be in the picture, all of them or their middle, and are not among those
    found."""
    limit = np.array(size_px) - 1
    missing = {
        number: camera.project(corners_mm[number]) for number in sorted(set(corners_mm) - found)
    }
    shown = {number: px if whole else px.mean(0) for number, px in missing.items()}
    return [number for number, px in shown.items() if ((px > 0) & (px < limit)).all()]
