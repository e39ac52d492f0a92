"""What one photo says about the camera, with the doubt of all of it."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array

SPEC_SHARE = 1 / 8
"""What is left of what tables, prints and bases may be off by where all is just as the board file and the catalogue
say: counted on 46 rendered tables, of two renderers (`docs/calibration.md`)."""
MIN_HEIGHT_WEIGHT = -1.0
"""Far outside of the table nobody knows how it goes on."""


@dataclass(frozen=True, slots=True)
class ErrorBudget:
    """The systematic terms that no residual shows, 1 σ each; named so that none is forgotten."""

    scale_share: float = 5e-4
    """Printed size and layout of the markers against the nominal: moves everything together."""
    specified_scale_share: float = SPEC_SHARE * 5e-4
    """The same where the table is just as its board file says."""
    height_mm: float = 0.25
    """A base's underside over the bowed board (folds, fibres, grit): each piece on its own. With the bow's own doubt it
    makes up the half millimetre that a height on a table is known to."""
    diameter_mm: float = 0.1
    """A base's diameter against its catalogue size: each piece on its own."""
    corner_mm: float = 0.15
    """How far a plate's corners may be rounded otherwise than is usual. Each piece on its own."""

    @property
    def as_specified(self) -> "ErrorBudget":
        """The same on a table that is just as its board file says, under bases that are just as large as theirs."""
        height, diameter = SPEC_SHARE * self.height_mm, SPEC_SHARE * self.diameter_mm
        return replace(
            self, scale_share=self.specified_scale_share, height_mm=height, diameter_mm=diameter
        )


@dataclass(frozen=True, slots=True, eq=False)
class TableBow:
    """How the table stands off the plane that its edges lie in: two parabolas, along x and along y."""

    middle_mm: Array
    """(2,): of the table."""
    half_mm: Array
    """(2,): half its width and height."""
    height_mm: Array
    """(2,): by how much its middle stands over its edges, bowed along x and along y."""
    turn_rad: float = 0.0
    """By how much the table's own x and y are turned against the board frame's, counter-clockwise."""

    def height_weights(self, xy_mm: Array) -> Array:
        """How much of the two heights places (..., 2) on the table have (..., 2): 1 in its middle, 0 at its edges."""
        c, s = np.cos(self.turn_rad), np.sin(self.turn_rad)
        along = (xy_mm - self.middle_mm) @ np.array([[c, -s], [s, c]])
        return np.asarray(np.maximum(1 - (along / self.half_mm) ** 2, MIN_HEIGHT_WEIGHT))

    def z_mm(self, xy_mm: Array) -> Array:
        """The table's height (...,) at places (..., 2)."""
        return np.asarray(self.height_weights(xy_mm) @ self.height_mm)


@dataclass(frozen=True, slots=True, eq=False)
class Light:
    """From where the light falls on the table."""

    lamp_mm: Array
    """(2,): the place on the board's plane that the lamp stands over, far away where its light falls in parallel."""
    strength: float
    """How much its shade misleads: 0 for light from everywhere, 1 for a low lamp in a dark room."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about the photo that makes its measures worse."""

    flag: str
    """A short fixed name: `few_markers`, `overhead_without_lens`."""
    text: str
    """What is wrong and what would help, in one sentence."""


@dataclass(frozen=True, slots=True, eq=False)
class Calibration:
    """The camera of one photo, and how sure it is."""

    camera: Camera
    covariance: Array
    """(15, 15) over `geometry.camera.PARAMETERS`; all pieces of the photo share this error."""
    size_px: tuple[int, int]
    rms_px: float
    markers: tuple[int, ...]
    """The markers it rests on, ascending."""
    board_mm: tuple[float, float]
    """Width and height of the board, or of the box round all markers seen."""
    left_out_mm: float | None = None
    """Mean error with which each marker is predicted by the others; None where too few are left."""
    edge_shift_px: float = 0.0
    """How far edges lie towards the dark side of where they are (tone curve, softness)."""
    corners_px: tuple[Array, ...] = ()
    """The corners (4, 2) of each marker's black square in the photo."""
    layout_known: bool = True
    """Whether the markers' places were known beforehand, not only their size."""
    budget: ErrorBudget = ErrorBudget()
    problems: tuple[Problem, ...] = ()
    bow: TableBow | None = None
    """How the table is bowed, as far as the photo shows it; None where nothing is said of it."""
    covariance_with_bow: Array | None = None
    """(17, 17): the covariance over the camera's parameters and the bow's two heights."""
    joint_as_specified: Array | None = None
    """(17, 17): the same covariance, were the table as its board file says; None where that is `joint`."""
    light: Light | None = None
    """The light that the photo was taken in; None where nothing is known of it."""

    @property
    def squares_mm(self) -> tuple[Array, ...]:
        """Each marker's black square (4, 2) on the board, as this camera sees it."""
        return tuple(self.camera.unproject(np.reshape(self.corners_px, (-1, 4, 2))))

    @property
    def joint_covariance(self) -> Array:
        """(17, 17): the covariance over the camera and the bow; a bow of which nothing is said is exact."""
        if self.covariance_with_bow is not None:
            return self.covariance_with_bow
        joint = np.zeros((17, 17))
        joint[:15, :15] = self.covariance
        return joint

    @property
    def as_specified(self) -> "Calibration":
        """The same camera, as sure as it is on a table that is just as its board file says: well laid and flat."""
        joint = (
            self.joint_covariance if self.joint_as_specified is None else self.joint_as_specified
        )
        return replace(
            self,
            covariance=joint[:15, :15],
            covariance_with_bow=joint,
            budget=self.budget.as_specified,
        )

    def updated_by(self, step: Array, after: Callable[[Array], Array]) -> "Calibration":
        """With `step` (17,) added to the camera's parameters and the bow's heights; `after` makes of their covariance
        (17, 17) before what it is then."""
        bow = self.bow and replace(self.bow, height_mm=self.bow.height_mm + step[15:])
        return replace(self, camera=self.camera.moved(step[:15]), bow=bow).map_covariances(after)

    def map_covariances(self, after: Callable[[Array], Array]) -> "Calibration":
        """With both covariances (17, 17) changed alike."""
        joint = after(self.joint_covariance)
        told = None if self.joint_as_specified is None else after(self.joint_as_specified)
        return replace(
            self, covariance=joint[:15, :15], covariance_with_bow=joint, joint_as_specified=told
        )


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that would make the measures of a photo like this one surer."""

    text: str
    """What to do, as the end of a sentence: `add a marker at the right edge`."""
    before_mm: float
    """The doubt where it is greatest, 1 σ."""
    after_mm: float
    """The same, had it been done."""


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionMap:
    """How sure distances are all over the board."""

    length_mm: float
    """Of the distances."""
    xy_mm: Array
    """(R, C, 2): places on the board, by rows from below."""
    sigma_mm: Array
    """(R, C): 1 σ of a distance about each, over all directions; what the bases themselves add is not in it."""
    visible: Array
    """(R, C): 1 where the photo shows the place, 0 where it does not."""
    advice: tuple[Advice, ...] = ()
    """What would help, the best first."""


def _calibration_json(calibration: Calibration) -> dict[str, Any]:
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
        "problems": [
            {"flag": problem.flag, "text": problem.text} for problem in calibration.problems
        ],
    }
