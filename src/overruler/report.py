"""The report on one picture of the table, or on several, and what is wrong with them in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from overruler.board import Board
from overruler.calibration import Calibration, Problem, calibration_to_json
from overruler.detections import DetectedRuler, Detection, RaisedArea
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.covariance import Covariance, RareAlternative
from overruler.geometry.pose import Array
from overruler.scene import Scene
from overruler.units import format_count
from overruler.verdict import Verdict

MAX_PHOTOS = 10
"""Most photos of one table."""


@dataclass(frozen=True, slots=True, eq=False)
class TablePhoto:
    """One of several photos of a table."""

    frame: Frame
    calibration: Calibration


@dataclass(frozen=True, slots=True, eq=False)
class JointErrors:
    """How the places of a scene's N pieces err together with the cameras of its P photos.

    The rows are x and y of each piece in mm, the 17 of each photo's camera and bow (`Covariances`), and
    17 of the camera that stands for the map of the markers.
    """

    usual: Array
    """(2 N + 17 P + 17, 2 N + 17 P + 17): covariance on a table that is as its board file says."""
    rare: Array
    """The same with every term of the error budget at its largest."""
    rare_probability: float
    """Probability that the rare one holds; 1 where it surely does."""
    map_cameras: tuple[Camera, Camera] | None = None
    """Cameras by which the map's error moves places, usual and rare; None for exact markers."""

    def of_places(self, count: int) -> Covariance:
        """The joint covariance of the `count` pieces, with its rare alternative."""
        rare = Covariance(self.rare[: 2 * count, : 2 * count].tolist())
        if self.rare_probability == 1.0:
            return rare
        usual = self.usual[: 2 * count, : 2 * count].tolist()
        return Covariance(usual, RareAlternative(self.rare_probability, rare))


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """A frame, its measurements, and its rulings."""

    frame: Frame
    calibration: Calibration
    detections: tuple[Detection, ...]
    """The detections, in the order of the scene's pieces."""
    scene: Scene
    verdicts: tuple[Verdict, ...] = ()
    """The rulings, the most important first; on questions, in the order of those that have an answer."""
    unanswered: Mapping[int, str] = field(default_factory=dict)
    """By the index of a question that was asked: why the scene gives it no answer."""
    rulers: tuple[DetectedRuler, ...] = ()
    """Range rulers that lie in the photo."""
    areas: tuple[RaisedArea, ...] = ()
    """Raised areas that pieces may stand on."""
    board: Board | None = None
    """The board that the photo was measured on; None where points told the places."""
    doubtful: tuple[Detection, ...] = ()
    """What may be bases but is not likely to: only other photos can tell."""
    photos: tuple[TablePhoto, ...] = ()
    """All photos where there are several, the report's own first."""
    errors: JointErrors | None = None
    """The joint errors of pieces and photos where there are several."""

    def __repr__(self) -> str:
        return f"<Report on {self.frame.name}: {format_count(len(self.scene.pieces), 'piece')}>"

    def on_photo(self, index: int) -> "Report":
        """The report drawn on another one of its photos."""
        photo = self.photos[index]
        return replace(self, frame=photo.frame, calibration=photo.calibration)


def with_problems(report: Report, problems: Sequence[Problem]) -> Report:
    """The report with more problems: of several photos those of all come first, of one they are the mildest."""
    if not problems:
        return report
    own = report.calibration.problems
    told = (*problems, *own) if report.photos else (*own, *problems)
    calibration = replace(report.calibration, problems=told)
    extra = {**report.scene.extra, "calibration": calibration_to_json(calibration)}
    return replace(report, calibration=calibration, scene=replace(report.scene, extra=extra))


def problem_sentences(
    shown: Sequence[Problem], by_photo: Mapping[int, Sequence[Problem]], unit: str
) -> list[str]:
    """A sentence in a unit for each problem; of several photos it begins with their numbers.

    `shown` are the problems of the photos as a whole, and of the one that is shown. `by_photo` has each
    photo's own, by its number.
    """
    if len(by_photo) < 2:
        return [problem.sentence(unit) for problem in shown]
    numbers: dict[str, list[int]] = {}
    for number, problems in by_photo.items():
        for text in dict.fromkeys(problem.sentence(unit) for problem in problems):
            numbers.setdefault(text, []).append(number)
    sentences = (problem.sentence(unit) for problem in shown)
    of_all = [text for text in sentences if text not in numbers]
    return of_all + [f"{_name_photos(those)}: {text}" for text, those in numbers.items()]


def _name_photos(numbers: Sequence[int]) -> str:
    """Photos by their numbers: `photo 2`, `photos 1, 3`."""
    plural = "s" if len(numbers) > 1 else ""
    return f"photo{plural} {', '.join(map(str, numbers))}"
