"""Where the camera stands and where the markers lie: tables drawn at random, with the truth of every corner."""

from dataclasses import dataclass, field

import numpy as np

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from synthetic.arrays import Rng
from synthetic.camera import camera_above, lens_matrix
from synthetic.flat_table import square_mm

SIZE_PX = (2000, 1500)
COLUMNS, ROWS = 4, 3
"""Markers in a picture: one in each field of such a division, somewhere in its middle."""
LEAST_PX, MOST_PX, MOST_TILT_DEG = 40.0, 160.0, 60.0
"""Mean side of a marker in the picture, and the angle between the camera's axis and the table's upright."""


@dataclass(frozen=True, slots=True, eq=False)
class MarkerView:
    """A table as one camera sees it."""

    camera: Camera
    tilt_deg: float
    corners_mm: dict[int, Array]
    """Each marker's corners (4, 2) on the table, the printed top left first, then clockwise."""
    size_px: tuple[int, int] = SIZE_PX
    z_mm: dict[int, float] = field(default_factory=dict)
    """How high markers lie that do not lie on the table."""

    def corners_px(self, number: int) -> Array:
        """(4, 2): where they are seen."""
        return self.camera.project(
            np.column_stack([self.corners_mm[number], np.full(4, self.z_mm.get(number, 0.0))])
        )


@dataclass(frozen=True, slots=True)
class Spread:
    """How many markers a picture has, and how large they are in it."""

    columns: int = COLUMNS
    rows: int = ROWS
    least_px: float = LEAST_PX
    most_px: float = MOST_PX


USUAL_SPREAD = Spread()
"""Twelve markers from 40 to 160 px."""


def random_view(random: Rng, spread: Spread = USUAL_SPREAD) -> MarkerView:
    """A camera with a little distortion at any tilt, over markers turned every way and of every size."""
    tilt_deg, turn_deg = random.uniform(0, MOST_TILT_DEG), random.uniform(0, 360)
    camera = _camera(tilt_deg, turn_deg, random)
    columns, rows = spread.columns, spread.rows
    fields = random.uniform(-0.15, 0.15, (columns * rows, 2))
    fields += [(column + 0.5, row + 0.5) for row in range(rows) for column in range(columns)]
    middles = camera.unproject(fields * np.array(SIZE_PX) / (columns, rows))
    squares = [_square(camera, middle, spread, random) for middle in middles]
    return MarkerView(camera, tilt_deg, dict(enumerate(squares)))


def _camera(tilt_deg: float, turn_deg: float, random: Rng) -> Camera:
    focal = random.uniform(0.8, 1.2) * SIZE_PX[0]
    matrix = lens_matrix(focal, (np.array(SIZE_PX) - 1) / 2 + random.normal(0, 8, 2))
    distortion = (random.uniform(-0.12, 0.06), random.uniform(-0.02, 0.02), 0, 0, 0)
    return camera_above((0, 0), 1000.0, tilt_deg, turn_deg, matrix, distortion)


def _square(camera: Camera, middle_mm: Array, spread: Spread, random: Rng) -> Array:
    """A square (4, 2) round `middle_mm`, as large as its mean side in the picture asks."""
    heading_deg = random.uniform(0, 360)
    wanted_px = random.uniform(spread.least_px, spread.most_px)
    shape = square_mm(0, 0, 1.0, heading_deg)[:, :2]
    side_mm = wanted_px * float(camera.mm_per_px(np.append(middle_mm, 0.0)))
    for _ in range(3):
        seen = camera.project(np.column_stack([middle_mm + shape * side_mm, np.zeros(4)]))
        side_mm *= wanted_px / float(np.linalg.norm(seen - np.roll(seen, 1, 0), axis=1).mean())
    return np.asarray(middle_mm + shape * side_mm)
