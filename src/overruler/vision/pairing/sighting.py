"""A photo among several of one table, and one base as one photo sees it.

A base at an unknown height lies somewhere on the ray of its pixel. On the ray its place moves by
the relief displacement for each millimetre of height.
"""

from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from overruler.calibration import Calibration, Case
from overruler.detections import DetectedRuler, Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.pose import Array
from overruler.geometry.relief import relief_displacement_per_mm, reproject_to_height
from overruler.vision.assembly.flag_doubts import SURE, rare_probability
from overruler.vision.camera.table_bow import correct_for_bow_mm, place_jacobian_bow
from overruler.vision.contours.shading import (
    USUAL_SHADE_SHARE,
    common_shade_mm,
    shade_covariance_mm2,
)
from overruler.vision.hanging.lean import Lean
from overruler.vision.imaging.line_profiles import Floats
from overruler.vision.prints.printed_grid import PrintedGrid
from overruler.vision.rounds.uncertainty import misfit_covariances

PHOTOS_AT_A_TIME = 2
"""Photos looked at at a time: each needs some hundred megabytes and most of a core."""
ACROSS_SIGMA_FACTOR = 0.2
"""Ratio of a round base's actual 1 σ across the view to the one that its fit states; along the view it is 1.
Fitted together with `LEAST_SIGMA_PX`, `PROFILE_SIGMA_MM` and `COMMON_SHADE_SIGMA_PX` to 1072 sightings of
463 round bases on 18 rendered tables."""
LIT_SIDE_SIGMA_FACTOR = 0.7
"""The same, along and across the view, for a base measured by its lit side alone: at 35 such places errors
across the view were three times as large as elsewhere."""
PLATE_SIGMA_FACTOR = 0.75
"""The same for a plate."""
LEAST_SIGMA_PX = 0.13
"""1 σ of a place that no fit states, in px: what stands on the base, and the ground's own edges."""
PLATE_LEAST_SIGMA_PX = 0.23
"""The same for a plate, and for all bases in the rare alternative."""
LOOSE_SIGMA_FACTORS = (1.4, 0.7)
"""1 σ of a place along the view and across it where its fit may have gone a little astray, against the
one that the fit states: errors have long tails."""
LOOSE_PLATE_SIGMA_FACTOR = 1.5
"""The same for a plate."""
LOOSE_SIGMA_PX = 0.46
"""`LEAST_SIGMA_PX` where the fit may have gone a little astray."""
LIFT_SIGMA_PX = 0.12
"""1 σ of the shift along the view that all bases of a photo share, in px: its blur moves all rims."""
PROFILE_SIGMA_MM = 0.2
"""1 σ of the height by which a base's own profile seems to lift it, in all photos alike."""

SAME_PLACE_SHARE = 0.6
"""Two findings nearer than this share of the smaller width are one base."""
BOARD_STEPS = 24
"""Samples along and across the board for its usual colour."""


@dataclass(frozen=True, slots=True, eq=False)
class SeenPhoto:
    """One photo of the table with what it shows by itself."""

    index: int
    """Its number among the photos, from 0."""
    frame: Frame
    calibration: Calibration
    detections: tuple[Detection, ...]
    """The bases found in it alone."""
    areas: tuple[RaisedArea, ...] = ()
    """The raised ground found in it alone."""
    rulers: tuple[DetectedRuler, ...] = ()
    """The rulers that lie in it."""
    leans: tuple[Lean, ...] = ()
    """How its camera depends on those of the photos that it hangs on. Empty if its own markers fix it."""
    printed: PrintedGrid | None = None
    """The grid on the mat that it shows, if it was sought."""
    usual_lab: Floats = field(init=False)
    """(3,): the board's usual colour, L*a*b*: it takes the photo's exposure and white balance off."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "usual_lab", _usual_colour(self.frame, self.calibration))

    @property
    def is_off(self) -> bool:
        """Whether a problem of the photo makes it sure that the rare covariance holds."""
        return rare_probability(self.calibration.problems) == SURE

    def camera_covariance(self, case: Case) -> Array:
        """(17, 17): covariance of its camera and bow in a case; not the usual one if the photo is off."""
        return self.calibration.covariances.of("rare" if case == "usual" and self.is_off else case)

    def shows(self, xyz_mm: Array) -> bool:
        """Whether a point (3,) lies inside the picture."""
        pixel = self.calibration.camera.project(xyz_mm)
        size = np.array(self.frame.size_px)
        return bool(np.isfinite(pixel).all() and (pixel >= 0).all() and (pixel <= size - 1).all())

    def mm_per_px(self, xyz_mm: Array) -> float:
        """How coarsely it shows the surroundings of a point (3,)."""
        return float(self.calibration.camera.mm_per_px(xyz_mm))

    def place_of(self, detection: Detection, z_mm: float) -> Array:
        """The place (2,) on the bowed table of one of its bases whose underside lies at `z_mm`."""
        camera = self.calibration.camera
        xy = reproject_to_height(camera, detection.xy_mm, detection.z_mm, z_mm)
        return correct_for_bow_mm(self.calibration, xy, z_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """One base in one photo."""

    photo: SeenPhoto
    detection: Detection
    again: bool = False
    """Whether it was found by a second look, where other photos see a base."""
    mm_per_px: float = field(init=False)
    """The photo's resolution there."""
    usual_mm2: Array = field(init=False)
    """(2, 2): usual covariance of its own error: `own_covariance_mm2`, asked for often."""
    loose_mm2: Array = field(init=False)
    """(2, 2): the same of a fit that may have gone a little astray."""
    shade_shift_mm: Array = field(init=False)
    """(2,): its shift by the shade that all sightings of its base share, 1 σ."""
    lift_shift_mm: Array = field(init=False)
    """(2,): its shift that all sightings of its photo share, 1 σ."""

    def __post_init__(self) -> None:
        calibration, detection = self.photo.calibration, self.detection
        place = np.array([*detection.xy_mm, detection.z_mm])
        scale, along = float(calibration.camera.mm_per_px(place)), self._along_view()
        shade = USUAL_SHADE_SHARE**2 * shade_covariance_mm2(calibration, detection)
        object.__setattr__(self, "mm_per_px", scale)
        object.__setattr__(self, "usual_mm2", self._usual_covariance_mm2(along, shade))
        object.__setattr__(self, "loose_mm2", self._loose_covariance_mm2(along, shade))
        object.__setattr__(self, "shade_shift_mm", common_shade_mm(calibration, detection))
        object.__setattr__(self, "lift_shift_mm", LIFT_SIGMA_PX * scale * along)

    @property
    def is_rectangle(self) -> bool:
        """Whether it is of a plate or of another base with corners: both are fitted along their sides."""
        return self.detection.base.shape == "rectangle"

    def place_at(self, z_mm: float) -> Array:
        """Its place (2,) on the bowed table if its underside lies at `z_mm` over it."""
        return self.photo.place_of(self.detection, z_mm)

    def relief_at(self, z_mm: float, place_mm: Array | None = None) -> Array:
        """How far (2,) its place moves for a millimetre of height; `place_mm` is `place_at` if known."""
        camera = self.photo.calibration.camera
        place_mm = self.place_at(z_mm) if place_mm is None else place_mm
        return relief_displacement_per_mm(camera, place_mm, z_mm)

    def ray_at(self, z_mm: float) -> Array:
        """The unit vector (3,) from it to the camera if its underside lies at `z_mm`."""
        ray = self.photo.calibration.camera.center_mm - np.array([*self.detection.xy_mm, z_mm])
        return np.asarray(ray / np.linalg.norm(ray))

    def jacobian_at(self, z_mm: float, place_mm: Array | None = None) -> Array:
        """Its place's derivative (2, 17) by the camera and the table's bow; `place_mm` as before."""
        calibration, detection = self.photo.calibration, self.detection
        place_mm = self.place_at(z_mm) if place_mm is None else place_mm
        by_camera = detection.d_xy_d_camera
        if abs(z_mm - detection.z_mm) > 1:
            by_camera = calibration.camera.board_point_jacobian(np.array([*place_mm, z_mm]))
        return np.hstack([by_camera, place_jacobian_bow(calibration, place_mm, z_mm)])

    def own_covariance_mm2(self, rare: bool) -> Array:
        """(2, 2): covariance of the fit and the shade, for an exact camera and height.

        Across the view a place is surer than along it: what is not known of a base's profile moves
        its rim along the view. Errors that it shares with other sightings are left out.
        """
        if not rare:
            return self.usual_mm2
        detection = self.detection
        shade = shade_covariance_mm2(self.photo.calibration, detection)
        least = (PLATE_LEAST_SIGMA_PX * self.mm_per_px) ** 2 * np.eye(2)
        return detection.covariance_mm2 + detection.rare_excess_mm2 + shade + least

    def _usual_covariance_mm2(self, along: Array, shade: Array) -> Array:
        """The usual covariance of the fit and the shade; `along` (2,) points to the camera."""
        detection = self.detection
        own = detection.covariance_mm2 + shade
        if self.is_rectangle:
            factors = PLATE_SIGMA_FACTOR, PLATE_SIGMA_FACTOR
            return self._scaled_mm2(own, along, factors, PLATE_LEAST_SIGMA_PX)
        factors = 1.0, ACROSS_SIGMA_FACTOR
        if detection.measured_on_lit_side:
            factors = LIT_SIDE_SIGMA_FACTOR, LIT_SIDE_SIGMA_FACTOR
        # what one photo does not know of the size, all photos tell together
        fit = own - detection.unmodelled_mm2
        misfit, _ = misfit_covariances(self.photo.calibration.camera, detection)
        return misfit + self._scaled_mm2(fit, along, factors, LEAST_SIGMA_PX)

    def _loose_covariance_mm2(self, along: Array, shade: Array) -> Array:
        """The same of a fit that may have gone a little astray."""
        factors = (LOOSE_PLATE_SIGMA_FACTOR,) * 2 if self.is_rectangle else LOOSE_SIGMA_FACTORS
        own = self.detection.covariance_mm2 + shade
        return self._scaled_mm2(own, along, factors, LOOSE_SIGMA_PX)

    def _scaled_mm2(
        self, own: Array, along: Array, factors: tuple[float, float], least_px: float
    ) -> Array:
        """The covariance `own` (2, 2), scaled by factors on σ along and across the view."""
        projection = np.outer(along, along)
        stretch = factors[0] * projection + factors[1] * (np.eye(2) - projection)
        least = (least_px * self.mm_per_px) ** 2 * np.eye(2)
        return np.asarray(stretch @ own @ stretch + least)

    def _along_view(self) -> Array:
        """The unit vector (2,) on the board towards the camera."""
        relief = self.relief_at(self.detection.z_mm)
        return np.asarray(relief / max(float(np.hypot(*relief)), 1e-9))

    def covariance_at(self, z_mm: float) -> Array:
        """(2, 2): usual covariance of its place, the errors that it shares with others included."""
        return self._shared_covariance_at(z_mm) + self.own_covariance_mm2(rare=False)

    def loose_covariance_at(self, z_mm: float, place_mm: Array | None = None) -> Array:
        """(2, 2): the same of a fit that may have gone a little astray; `place_mm` as before."""
        return self._shared_covariance_at(z_mm, place_mm) + self.loose_mm2

    def _shared_covariance_at(self, z_mm: float, place_mm: Array | None = None) -> Array:
        """(2, 2): covariance of the errors that it shares with other sightings."""
        by_camera = self.jacobian_at(z_mm, place_mm)
        camera = by_camera @ self.photo.camera_covariance("usual") @ by_camera.T
        shifts = np.column_stack([self.shade_shift_mm, self.lift_shift_mm])
        return np.asarray(camera + shifts @ shifts.T)

    def with_detection(self, detection: Detection) -> "Sighting":
        return replace(self, detection=detection)


def is_same_spot(one: Sighting, other: Sighting) -> bool:
    """Whether two sightings in one photo are of the same spot of the picture."""
    spot = one.place_at(0.0), one.detection.base.width_mm
    return are_one_spot(*spot, other.place_at(0.0), other.detection.base.width_mm)


def are_one_spot(place_mm: Array, width_mm: float, other_mm: Array, other_width_mm: float) -> bool:
    """Whether two bases in one photo, by places (2,) at one height and widths, are of one spot."""
    apart_mm = float(np.hypot(*(place_mm - other_mm)))
    return apart_mm < SAME_PLACE_SHARE * min(width_mm, other_width_mm)


def _usual_colour(frame: Frame, calibration: Calibration) -> Floats:
    """The median colour (3,) of the board in a photo."""
    width, height = calibration.board_mm
    x, y = np.meshgrid(np.linspace(0, width, BOARD_STEPS), np.linspace(0, height, BOARD_STEPS))
    pixels = calibration.camera.project(np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3))
    inside = ((pixels > -0.5) & (pixels < np.array(frame.size_px) - 0.5)).all(1)
    columns, rows = np.rint(pixels[inside]).astype(int).T
    colours = frame.pixels[rows, columns].astype(np.float32) / 255
    if not len(colours):
        return np.zeros(3, np.float32)
    lab = cv2.cvtColor(colours[None], cv2.COLOR_BGR2Lab)[0]
    return np.asarray(np.median(lab, 0), np.float32)
