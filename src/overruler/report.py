"""All that one look at the table yields."""

from dataclasses import dataclass

from overruler.calibration import Calibration
from overruler.detections import DetectedRuler, Detection, RaisedArea
from overruler.frame import Frame
from overruler.scene import Scene
from overruler.verdict import Verdict


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A frame, what was made of it, and the rulings asked of it."""

    frame: Frame
    calibration: Calibration
    detections: tuple[Detection, ...]
    """In the order of the scene's pieces."""
    scene: Scene
    verdicts: tuple[Verdict, ...] = ()
    """The most important first."""
    rulers: tuple[DetectedRuler, ...] = ()
    """Range rulers that lie in the photo."""
    areas: tuple[RaisedArea, ...] = ()
    """Raised ground that pieces may stand on."""
