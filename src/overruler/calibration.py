"""The calibration of one photo: the camera, the table's bow, and their covariances."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.plane_doubt import NO_DOUBT, MarkerContrast, TableDoubt
from overruler.geometry.pose import Array, Pose
from overruler.units import MILLIMETRES, lengths_in_unit

SPEC_SHARE = 1 / 8
"""Ratio of two σ of tables, prints and bases: made as specified, and as people have them.

"Specified" means by the board file and the catalogue. Counted on 46 rendered tables by two renderers
(`docs/calibration.md`)."""
MIN_HEIGHT_WEIGHT = -1.0
"""Lower limit of the bow's weights: far outside the table its parabola is not extrapolated."""
CAMERA_SIZE = 15
"""Number of parameters of a camera: intrinsics, distortion and pose (`geometry.camera.CAMERA_PARAMETERS`)."""
JOINT_SIZE = CAMERA_SIZE + 2
"""Number of parameters of a camera and the table's bow."""


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The systematic error terms that no residual shows, 1 σ each."""

    scale_share: float = 5e-4
    """Scale of the printed markers and their layout against the nominal one; common to everything."""
    specified_scale_share: float = SPEC_SHARE * 5e-4
    """The same for a table that is as its board file specifies."""
    height_mm: float = 0.25
    """Height of a base's underside over the bowed board (folds, fibres, grit), independent per piece.

    Together with the covariance of the bow it makes up the half millimetre to which heights on a
    table are known."""
    diameter_mm: float = 0.1
    """Diameter of a base against its catalogue size, independent per piece."""
    corner_mm: float = 0.15
    """Rounding of a plate's corners against the usual one, independent per piece."""

    @property
    def as_specified(self) -> "ErrorBudget":
        """The budget for a table as its board file specifies, and bases as the catalogue does."""
        return replace(
            self,
            scale_share=self.specified_scale_share,
            height_mm=SPEC_SHARE * self.height_mm,
            diameter_mm=SPEC_SHARE * self.diameter_mm,
        )


@dataclass(frozen=True, slots=True, eq=False)
class TableBow:
    """Height of the table over the plane of its edges: one parabola along x, one along y."""

    middle_mm: Array
    """(2,): centre of the table."""
    half_mm: Array
    """(2,): half its width and half its height."""
    height_mm: Array
    """(2,): height of the centre over the edges, by the parabola along x and by the one along y."""
    turn_rad: float = 0.0
    """Rotation of the table's axes against the board frame's, counter-clockwise."""

    def height_weights(self, xy_mm: Array) -> Array:
        """Weights (..., 2) of the two heights at points (..., 2): 1 at the centre, 0 at the edges."""
        c, s = np.cos(self.turn_rad), np.sin(self.turn_rad)
        rotation = np.array([[c, -s], [s, c]])
        along_axes = (xy_mm - self.middle_mm) @ rotation
        weights = 1 - (along_axes / self.half_mm) ** 2
        return np.asarray(np.maximum(weights, MIN_HEIGHT_WEIGHT))

    def z_mm(self, xy_mm: Array) -> Array:
        """Height (...,) of the table at points (..., 2)."""
        return np.asarray(self.height_weights(xy_mm) @ self.height_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """The light on the table, as one lamp."""

    lamp_mm: Array
    """(2,): point of the board's plane below the lamp; far away for parallel light."""
    strength: float
    """Strength of the shading: 0 for diffuse light, 1 for a low lamp in a dark room."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a photo that makes its measurements worse."""

    flag: str
    """A short fixed name: `few_markers`, `overhead_without_lens`."""
    text: str
    """What is wrong and what would help, in one sentence, with lengths in mm."""

    def sentence(self, unit: str) -> str:
        """The text in a unit; one that names photos stays as it is."""
        return self.text if self.flag.startswith("photo_") else lengths_in_unit(self.text, unit)


Case = Literal["usual", "rare", "strange"]
"""What is assumed of a table and its lens, from the likeliest to the oddest: the fields of `Covariances`."""


@dataclass(frozen=True, slots=True, eq=False)
class Covariances:
    """The covariance of the camera and the table's bow, under three assumptions.

    The rows are the camera's 15 parameters (`geometry.camera.CAMERA_PARAMETERS`), then the bow's two heights in mm.
    """

    usual: Array
    """(17, 17): covariance if the table is as its board file specifies, flat and well laid."""
    rare: Array
    """(17, 17): covariance if something about the table is off; at least as large as `usual`."""
    strange: Array
    """(17, 17): `rare` with a lens unlike most; it is for doubt alone, and weighs no measurement."""

    @classmethod
    def same(cls, covariance: Array) -> "Covariances":
        """One covariance (17, 17) for all, or one (15, 15) of the camera alone: the bow is exact."""
        joint = np.pad(covariance, (0, JOINT_SIZE - len(covariance)))
        return cls(joint, joint, joint)

    def of(self, case: Case) -> Array:
        """(17, 17): the covariance in a case."""
        return {"usual": self.usual, "rare": self.rare, "strange": self.strange}[case]

    def map(self, function: Callable[[Array], Array]) -> "Covariances":
        """Apply a function of a covariance (17, 17) to each."""
        return Covariances(function(self.usual), function(self.rare), function(self.strange))


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The camera of one photo, the table that it sees, and the precision of both."""

    camera: Camera
    """Intrinsics, distortion and pose over the board."""
    covariances: Covariances
    """Covariances of the camera and the bow; all pieces of the photo share this error."""
    size_px: tuple[int, int]
    """Width and height of the photo."""
    rms_px: float
    """Root mean square of the reprojection residuals."""
    markers: tuple[int, ...]
    """Ids of the markers that the calibration uses, ascending."""
    board_mm: tuple[float, float]
    """Width and height of the board, or of the bounding box of all markers seen."""
    left_out_mm: float | None = None
    """Mean error of leave-one-out cross-validation by marker; None with too few markers."""
    edge_shift_px: float = 0.0
    """Shift of edges towards their dark side (tone curve, softness)."""
    corners_px: tuple[Array, ...] = ()
    """Corners (4, 2) of each marker's black square in the photo."""
    layout_known: bool = True
    """Whether the markers' places were known beforehand, not only their size."""
    budget: ErrorBudget = ErrorBudget()
    """Systematic errors beside the covariances."""
    problems: tuple[Problem, ...] = ()
    """Problems of the photo, the worst first."""
    bow: TableBow | None = None
    """The estimated bow of the table; None where it is taken as flat."""
    light: Light | None = None
    """The light on the table; None where unknown."""
    doubt: TableDoubt = NO_DOUBT
    """What may be wrong all over the table, if something about it is off."""
    contrast: MarkerContrast | None = None
    """The markers' size against their spacing; None where either is unknown."""
    common_lens: Array | None = None
    """(9, 9): covariance of what photos by the same camera know of its lens alike; None for one alone."""
    by_ground: bool = False
    """Whether the camera was found by the ground that photos with markers show."""

    @property
    def is_prepared(self) -> bool:
        """Whether somebody laid markers on the table, seen here or in a photo beside."""
        return bool(self.markers) or self.by_ground

    @property
    def squares_mm(self) -> tuple[Array, ...]:
        """Corners (4, 2) of each marker's black square, unprojected onto the board."""
        return tuple(self.camera.unproject(np.reshape(self.corners_px, (-1, 4, 2))))

    @property
    def covariance(self) -> Array:
        """(15, 15): covariance of the camera, if something about the table may be off."""
        return self.covariances.rare[:CAMERA_SIZE, :CAMERA_SIZE]

    @property
    def joint_covariance(self) -> Array:
        """(17, 17): covariance of the camera and the bow, if something about the table may be off."""
        return self.covariances.rare

    @property
    def as_specified(self) -> "Calibration":
        """The calibration under the assumption that the table is as its board file specifies."""
        return replace(
            self,
            covariances=Covariances.same(self.covariances.usual),
            budget=self.budget.as_specified,
            doubt=NO_DOUBT,
        )

    def updated_by(self, step: Array, function: Callable[[Array], Array]) -> "Calibration":
        """Add `step` (17,) to camera and bow; `function` maps each covariance (17, 17) to the new one."""
        bow = self.bow and replace(self.bow, height_mm=self.bow.height_mm + step[CAMERA_SIZE:])
        moved = replace(self, camera=self.camera.moved(step[:CAMERA_SIZE]), bow=bow)
        return moved.map_covariances(function)

    def map_covariances(self, function: Callable[[Array], Array]) -> "Calibration":
        """Apply a function of a covariance (17, 17) to both covariances."""
        return replace(self, covariances=self.covariances.map(function))

    def with_origin_at(self, origin_mm: Array) -> "Calibration":
        """Express the calibration in a board frame with its origin at `origin_mm` (3,), an exact point.

        `board_mm` stays as it is.
        """
        camera, camera_jacobian = self.camera.with_origin_at(origin_mm)
        jacobian = np.eye(JOINT_SIZE)
        jacobian[:CAMERA_SIZE, :CAMERA_SIZE] = camera_jacobian
        moved = self.map_covariances(lambda covariance: jacobian @ covariance @ jacobian.T)
        bow = self.bow and replace(self.bow, middle_mm=self.bow.middle_mm - origin_mm[:2])
        return replace(moved, camera=camera, bow=bow)


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that would make the measurements of a photo more precise."""

    text: str
    """What to do, as the end of a sentence: `add a marker at the right edge`."""
    before_mm: float
    """The largest σ of a distance on the board now."""
    after_mm: float
    """The largest σ once the advice is followed."""
    place: str = ""
    """From where another photo would be taken: `the far right`; empty for other advice."""


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionMap:
    """Precision of distances all over the board, on R rows and C columns of places."""

    length_mm: float
    """Length of the distances."""
    xy_mm: Array
    """(R, C, 2): places on the board, the lowest row first."""
    sigma_mm: Array
    """(R, C): 1 σ of a distance about each place, averaged over directions; bases add nothing here."""
    visible: Array
    """(R, C): 1 where the photo shows the place, 0 elsewhere."""
    advice: tuple[Advice, ...] = ()
    """What would help, the best first."""
    unit: str = MILLIMETRES
    """The unit that its figures are told in."""


@dataclass(frozen=True, slots=True, eq=False)
class CalibrationRecord:
    """The part of a calibration that a scene keeps for those who draw on its photo."""

    camera: Camera
    """The camera of the photo."""
    size_px: tuple[int, int]
    """Width and height of the photo."""
    problems: tuple[Problem, ...]
    """Problems of the photo, the worst first."""

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "CalibrationRecord":
        """Read what `calibration_to_json` wrote."""
        pose = Pose(np.array(data["rotation"]), np.array(data["translation_mm"]))
        camera = Camera(np.array(data["matrix"]), np.array(data["distortion"]), pose)
        width, height = data["size_px"]
        problems = [Problem(p.get("flag", ""), p["text"]) for p in data.get("problems", [])]
        return cls(camera, (width, height), tuple(problems))


def calibration_to_json(calibration: Calibration) -> dict[str, Any]:
    """A calibration as a scene stores it."""
    camera = calibration.camera
    return {
        "size_px": list(calibration.size_px),
        "matrix": camera.matrix.tolist(),
        "distortion": camera.distortion.tolist(),
        "rotation": camera.T_camera_board.rotation.tolist(),
        "translation_mm": camera.T_camera_board.translation_mm.tolist(),
        "rms_px": calibration.rms_px,
        "markers": list(calibration.markers),
        "left_out_mm": calibration.left_out_mm,
        "edge_shift_px": calibration.edge_shift_px,
        "problems": [{"flag": one.flag, "text": one.text} for one in calibration.problems],
    }
