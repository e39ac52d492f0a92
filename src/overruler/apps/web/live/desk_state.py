"""The state of the desk as pages and programs are sent it."""

from dataclasses import dataclass
from typing import Any

from overruler.apps.web.live.graphics import SHOW_LAYER, Graphics, Stage
from overruler.apps.web.live.piece_marks import Marks
from overruler.apps.web.live.selection import Selection, pair_questions, pieces_named
from overruler.apps.web.live.watcher import STANDING_STATES, TableStatus
from overruler.frame import Shot
from overruler.report import Report
from overruler.scene import Scene


def problems_told(report: Report) -> list[str]:
    """A sentence for each problem of a table; of several cameras each one's own begin with its name."""
    unit = report.scene.unit
    shown = [problem.sentence(unit) for problem in report.calibration.problems]
    if len(report.photos) < 2:
        return shown
    named: list[str] = []
    for photo in report.photos:
        own = [problem.sentence(unit) for problem in photo.calibration.problems]
        named += [f"{photo.frame.name}: {text}" for text in own]
        shown = [text for text in shown if text not in own]
    return list(dict.fromkeys([*shown, *named]))


@dataclass(frozen=True, slots=True, eq=False)
class FrozenPicture:
    """A still picture over the camera's, with the graphics that belong to it."""

    number: int
    """Counts the frozen pictures, so that a page loads each once."""
    jpeg: bytes
    graphics: Graphics
    large: bool
    """Whether only the gap between the two bases is shown, enlarged."""
    until_s: float
    """When it ends by itself, on the monotonic clock."""
    is_replay: bool = False


def encode_shot(shot: Shot, longest_px: int) -> bytes:
    """A camera's picture as a JPEG, its longer side no longer than `longest_px`."""
    from overruler.picture.raster import encode_small_jpeg

    return encode_small_jpeg(shot.colours(None), longest_px)


@dataclass(frozen=True, slots=True, eq=False)
class DeskState:
    """All that is shown at one moment."""

    version: int
    """Counts the changes."""
    size_px: tuple[int, int]
    """Width and height of the camera's picture."""
    status: TableStatus
    scene: Scene | None
    """The scene of the table; None before the first measurement."""
    selection: Selection
    graphics: Graphics
    """The graphics on air: the frozen picture's, if there is one."""
    frozen: FrozenPicture | None
    marks: Marks
    stage: Stage
    show_layer: str
    """SVG of what is told of the show."""
    errors: tuple[str, ...]
    """Why something that is wanted cannot be drawn."""

    def to_json(self) -> dict[str, Any]:
        status = self.status
        selection = self.selection
        return {
            "version": self.version,
            "size_px": list(self.size_px),
            "lost": status.lost,
            "notes": list(status.notes),
            "calibrated": self.scene is not None,
            "problems": self._problems(),
            "pair": list(selection.pair) if selection.pair else None,
            "bands": list(selection.bands),
            "arcs": list(selection.arcs),
            "grounds": list(selection.grounds),
            "shadows": list(selection.shadows),
            **self._questions_json(),
            "waiting": self._waiting_reasons(),
            "layers": {**self.graphics.layers, SHOW_LAYER: self.show_layer},
            "ruling": self.graphics.ruling,
            "frozen": self._frozen_json(),
            "pieces": self._pieces_json(),
            "show": self._show_json(),
        }

    def _show_json(self) -> dict[str, Any]:
        show = self.stage.show
        players = self.stage.dress.players
        return {
            "players": [
                {"player": player, "name": look.name, "colour": look.colour}
                for player, look in players.items()
            ],
            "scores": dict(show.scores),
            "round": show.round,
            "caption": list(show.caption),
        }

    def _problems(self) -> list[str]:
        return problems_told(self.status.report) if self.status.report is not None else []

    def _frozen_json(self) -> dict[str, Any] | None:
        if self.frozen is None:
            return None
        return {
            "number": self.frozen.number,
            "large": self.frozen.large,
            "box_px": self.graphics.box_px,
            "replay": self.frozen.is_replay,
        }

    def _pieces_json(self) -> list[dict[str, Any]]:
        return [
            {
                "id": spot.id,
                "state": spot.state,
                "sigma_mm": round(spot.sigma_mm, 3),
                **self.marks.get(spot.id, {}),
            }
            for spot in self.status.spots
        ]

    def _questions_json(self) -> dict[str, Any]:
        """The question that a pair asks, and all that it could ask."""
        if self.scene is None:
            return {"questions": [], "question": None}
        known = pair_questions(self.scene.game)
        question = {
            "label": self.selection.tap or known[0]["label"],
            "arc": self.selection.arc,
            "reach_in": self.selection.reach_in,
        }
        shown_keys = ("label", "arcs", "reach_in")
        questions = [{key: tap[key] for key in shown_keys if key in tap} for tap in known]
        return {"questions": questions, "question": question}

    def _waiting_reasons(self) -> list[str]:
        """Why something that is selected is not on air."""
        standing = self.status.standing
        states = {spot.id: spot.state for spot in self.status.spots}
        reasons = []
        for name in self._selected_pieces():
            if name not in standing:
                state = states.get(name, "not there")
                is_settling = state in STANDING_STATES
                reasons.append(f"{name} is {'being measured' if is_settling else state}")
        return [*reasons, *self.errors]

    def _selected_pieces(self) -> list[str]:
        pair = self.selection.pair or ()
        return list(pair) if self.scene is None else sorted(pieces_named(self.scene, pair))
