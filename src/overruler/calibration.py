"""What one photo says about the camera, with the doubt of all of it."""

from dataclasses import dataclass

from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array


@dataclass(frozen=True, slots=True)
class Budget:
    """The systematic terms that no residual shows, 1 σ each; named so that none is forgotten."""

    scale_share: float = 5e-4
    """Printed size and layout of the markers against the nominal: moves everything together."""
    height_mm: float = 0.5
    """A base's underside over the board (curled mat, uneven table): each piece on its own."""
    diameter_mm: float = 0.1
    """A base's diameter against its catalogue size: each piece on its own."""


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
    squares_mm: tuple[Array, ...] = ()
    """Each marker's black square as seen (4, 2), on the board."""
    laid: bool = True
    """Whether the markers' places were known beforehand, not only their size."""
    budget: Budget = Budget()
    problems: tuple[Problem, ...] = ()


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
class DoubtMap:
    """How sure distances are all over the board."""

    length_mm: float
    """Of the distances."""
    xy_mm: Array
    """(R, C, 2): places on the board, by rows from below."""
    sigma_mm: Array
    """(R, C): 1 σ of a distance about each, over all directions; what the bases themselves add is not in it."""
    seen: Array
    """(R, C): 1 where the photo shows the place, 0 where it does not."""
    advice: tuple[Advice, ...] = ()
    """What would help, the best first."""
