"""Problems: what makes a photo's measurements worse than they could be, each with a remedy."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.calibration import Calibration, Problem
from overruler.errors import CannotMeasure
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.units import SIGMAS_95, format_count
from overruler.vision.camera.lens_prior import LensPrior
from overruler.vision.camera.plausibility import describe_stretch
from overruler.vision.camera.precision_map import (
    REFERENCE_LENGTH_MM,
    precision_map,
    reference_length_mm,
)
from overruler.vision.camera.state import Solution
from overruler.vision.markers.edge_noise import SHAPE_SIGMA_PX
from overruler.vision.markers.marker import Marker
from overruler.vision.misfit.error_field import FieldEstimate

FEW_MARKERS = 4
"""With fewer markers `few_markers` is reported."""
COVERED_SHARE = 0.25
"""Markers that enclose less of the picture than this leave the rest to extrapolation."""
LOW_VIEW_DEG = 50.0
"""Tilt of the camera from straight down above which the view is low."""
OVERHEAD_DEG = 12.0
"""Tilt of the camera below which the view is from straight above."""
UNSURE_FOCAL_SHARE = 0.03
"""1 σ of the focal length, as a share of it, above which heights are unsure."""
BLUR_PX = 3.0
"""Blur, 1 σ in px, above which edges are uncertain."""
BLUR_CELLS = 0.17
"""The same in cells of a marker; the smaller of the two counts."""
MAX_NOISE_SCALE = 8.0
"""Noise scale of edges and places above which the residuals are reported as large."""
MAX_SHAPE_SCALE = 8.0
"""Noise scale of shapes above which the markers are reported as not flat."""
MIN_SHAPE_ERROR_MM = 0.05
"""Smallest shape error of a marker to report: large in the photo, a good print looks bent as well."""
UNSURE_DISTANCE_SIGMA_MM = 0.6
"""1 σ of a distance of `REFERENCE_LENGTH_MM` somewhere on the board above which `unsure_distances` is reported."""
MAP_STEP_MM = 100.0
"""Grid step of that search: precision changes slowly."""
FLAGS_BY_SEVERITY = (
    "large_residuals", "uneven_picture", "lens_disagrees", "stretched", "cropped", "scale_disagrees",
    "points_disagree", "marker_size", "ruler_disagrees", "few_markers", "markers_not_flat",
    "marker_left_out", "blurred", "low_view", "low_light", "veiled", "unsure_distances", "points_alone",
    "markers_close_together", "markers_hidden", "overhead_without_lens", "grid_turned",
    "photos_disagree", "photo_left_out", "photo_hangs", "photo_twice",
    "photo_alone", "photo_few_views",
)  # fmt: skip
"""All flags, the most harmful first."""
CROPPED_SHARE = 0.03
"""Largest offset of a whole picture's principal point, as a share of the longer side."""
CROPPED_SIGMAS = 5.0
"""The principal point's distance from the centre, in σ, above which a picture counts as cropped."""
UNEVEN_MM = 0.3
"""An error field that is surely larger than this is reported: of 14 clean tables none has one of 0.03."""
MAX_UNEVEN_SHARE = 0.015
"""An error field that is surely larger than this share of the board's longer side leaves nothing to measure."""
MAX_LENS_PULL_SIGMAS = 3.0
"""`Solution.lens_pull_sigmas` above which the residuals are reported as large."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationDiagnostics:
    """The facts about a calibration that problems are found from."""

    solution: Solution
    """The bundle adjustment's solution."""
    size_px: tuple[int, int]
    """Width and height of the photo."""
    markers: Sequence[Marker]
    """The markers that the calibration uses."""
    point_count: int
    """Number of clicked points."""
    left_out: Sequence[int]
    """Ids of markers that contradict the others."""
    hidden_ids: Sequence[int]
    """Ids of the board's markers that should be in the picture and were not found."""
    noise_scale: float
    """Largest of the scales of edge noise, of place noise and of all noise, against the expected."""
    shape_scale: float
    """Scale of the shape noise against the expected."""
    prior: LensPrior
    """The lens's prior that fits the photo: of a whole picture, or of a cropped or a stretched one."""

    @property
    def lens_disagrees(self) -> bool:
        """Whether the photo does not look like a whole picture by the lens of the file."""
        return self.prior.is_from_file and self.prior.assumes_cropped

    @property
    def camera(self) -> Camera:
        """The camera of the solution."""
        return self.solution.state.camera

    @property
    def covered_share(self) -> float:
        """Area of the bounding box of all markers, as a share of the picture."""
        corners = np.concatenate([marker.corners_px for marker in self.markers])
        return float(np.prod(np.ptp(corners, axis=0)) / np.prod(self.size_px))

    @property
    def mm_per_px(self) -> float:
        """Size of a pixel on the table at the median marker."""
        centres_px = np.stack([marker.center_px for marker in self.markers])
        centres = self.camera.unproject(centres_px)
        on_table = np.column_stack([centres, np.zeros(len(centres))])
        return float(np.median(self.camera.mm_per_px(on_table)))

    @property
    def is_cropped(self) -> bool:
        """Whether the principal point lies far from the picture's centre, significantly."""
        centre_px = (np.array(self.size_px) - 1) / 2
        offset_px = self.camera.matrix[:2, 2] - centre_px
        sigma_px = np.sqrt(np.diag(self.solution.covariance)[2:4])
        limit_px = np.maximum(CROPPED_SHARE * max(self.size_px), CROPPED_SIGMAS * sigma_px)
        return bool((np.abs(offset_px) > limit_px).any())

    @property
    def is_misshapen(self) -> bool:
        """Whether the markers are not square, by more than a good print's shape error."""
        if not self.shape_scale > MAX_SHAPE_SCALE:
            return False
        return self.shape_scale * SHAPE_SIGMA_PX * self.mm_per_px > MIN_SHAPE_ERROR_MM

    @property
    def has_large_residuals(self) -> bool:
        """Whether the residuals or the lens deviate too much from what is expected."""
        if self.noise_scale > MAX_NOISE_SCALE:
            return True
        return self.solution.lens_pull_sigmas > MAX_LENS_PULL_SIGMAS


def find_problems(facts: CalibrationDiagnostics) -> tuple[Problem, ...]:
    """All problems of a calibration."""
    return (*_marker_problems(facts), *_view_problems(facts), *_quality_problems(facts))


def sort_by_severity(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Sort problems by the harm that they do, the worst first."""
    return tuple(sorted(problems, key=lambda problem: FLAGS_BY_SEVERITY.index(problem.flag)))


def find_unsure_distances(calibration: Calibration, has_lens_file: bool) -> tuple[Problem, ...]:
    """A problem if distances are unsure somewhere on the board, with the best remedy."""
    limit_mm = UNSURE_DISTANCE_SIGMA_MM * reference_length_mm(calibration) / REFERENCE_LENGTH_MM
    precision = precision_map(calibration, has_lens_file, limit_mm, MAP_STEP_MM)
    worst = float(np.max(precision.sigma_mm * precision.visible))
    if worst <= limit_mm:
        return ()
    distance = f"a distance of {precision.length_mm:.0f} mm"
    text = f"{distance} is unsure by up to ± {SIGMAS_95 * worst:.2f} mm (95 %) on this board"
    remedies = [
        f"{advice.text} (then ± {SIGMAS_95 * advice.after_mm:.2f} mm)"
        for advice in precision.advice
    ]
    return (Problem("unsure_distances", ": ".join([text, *remedies[:1]])),)


def find_uneven_picture(field: FieldEstimate | None, longer_side_mm: float) -> tuple[Problem, ...]:
    """A problem if the picture is bent as no lens bends it; `CannotMeasure` if it is bent too far."""
    if field is None or field.least_mm < UNEVEN_MM:
        return ()
    if field.least_mm > MAX_UNEVEN_SHARE * longer_side_mm:
        raise CannotMeasure(
            in_mm=f"the picture is bent as no lens bends it, by {field.least_mm:.0f} mm or more: take a plain "
            "photo (no panorama, nothing stitched or straightened), and check the markers' places and the lens file"
        )
    text = (
        f"the markers show an error of about {field.amplitude_mm:.1f} mm that changes over the table and no lens "
        "explains: were cards moved, is the mat flat, was the photo stitched, straightened or taken in motion?"
    )
    return (Problem("uneven_picture", text),)


def _marker_problems(facts: CalibrationDiagnostics) -> Iterator[Problem]:
    count = len(facts.markers)
    if 0 < count < FEW_MARKERS and facts.point_count == 0:
        seen = f"{format_count(count, 'marker')} {'is' if count == 1 else 'are'} seen"
        text = f"only {seen}: four are needed for good measures, eight are better"
        yield Problem("few_markers", text)
    for number in facts.left_out:
        text = f"marker {number} does not agree with the others and was left out: was it moved?"
        yield Problem("marker_left_out", text)
    if count == 0 and not facts.prior.is_from_file:
        text = "points say nothing about the lens: lay out markers, or give a lens file"
        yield Problem("points_alone", text)
    if facts.hidden_ids:
        names = ", ".join(map(str, facts.hidden_ids))
        noun = "marker" if len(facts.hidden_ids) == 1 else "markers"
        text = f"hidden or unreadable: {noun} {names}; clear the view of every marker"
        yield Problem("markers_hidden", text)
    if count and facts.point_count == 0 and facts.covered_share < COVERED_SHARE:
        text = (
            "the markers lie close together in the picture: measures away from them are "
            "extrapolated; spread them out"
        )
        yield Problem("markers_close_together", text)


def _view_problems(facts: CalibrationDiagnostics) -> Iterator[Problem]:
    tilt = facts.camera.tilt_deg
    focal_sigma_px = float(np.sqrt(facts.solution.covariance[0, 0]))
    focal_share = focal_sigma_px / facts.camera.matrix[0, 0]
    if tilt > LOW_VIEW_DEG:
        text = (
            f"the camera looks from low down, {tilt:.0f}° from straight above: "
            "errors of height become errors of place"
        )
        yield Problem("low_view", text)
    if not facts.prior.is_from_file and tilt < OVERHEAD_DEG and focal_share > UNSURE_FOCAL_SHARE:
        text = (
            "seen from straight above without a lens file: "
            "places on the board are sound, high things are less sure"
        )
        yield Problem("overhead_without_lens", text)


def _quality_problems(facts: CalibrationDiagnostics) -> Iterator[Problem]:
    if any(_is_blurred(marker) for marker in facts.markers):
        text = "the markers are blurred; hold the camera still and focus on the table"
        yield Problem("blurred", text)
    if facts.lens_disagrees:
        question = "was another camera, zoom or picture size used?"
        yield Problem("lens_disagrees", f"the photo does not fit the lens file; {question}")
    elif facts.prior.assumes_stretched:
        how = describe_stretch(facts.camera)
        yield Problem("stretched", f"the photo is {how}; measure it as the camera took it")
    elif not facts.prior.is_from_file and facts.is_cropped:
        text = (
            "the photo looks cropped, its lens's axis lies far off its middle; "
            "measure the photo as it was taken"
        )
        yield Problem("cropped", text)
    elif facts.is_misshapen:
        text = "the markers do not look square: lay or glue them flat, on something stiff"
        yield Problem("markers_not_flat", text)
    elif facts.has_large_residuals:
        text = (
            "the markers do not lie quite as they should; "
            "are they flat, printed to scale, where the board file says?"
        )
        yield Problem("large_residuals", text)


def _is_blurred(marker: Marker) -> bool:
    return marker.blur_px > min(BLUR_PX, BLUR_CELLS * marker.cell_px)


def missing_marker_ids(
    camera: Camera,
    size_px: tuple[int, int],
    corners_mm: dict[int, Array],
    found: set[int],
    whole: bool = True,
) -> list[int]:
    """The ids of markers not `found` of which all corners, or the centre, should be in the picture."""
    limit = np.array(size_px) - 1
    missing = []
    for number in sorted(set(corners_mm) - found):
        px = camera.project(corners_mm[number])
        shown = px if whole else px.mean(0)
        if ((shown > 0) & (shown < limit)).all():
            missing.append(number)
    return missing
