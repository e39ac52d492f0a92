"""Settles tabletop measurements by camera: a photo of the table in, the ruling and its doubt out.

    import overruler

    table = overruler.measure("table.jpg", board="6x3", game="legion")
    print(table.ask("range p01 p02").sentence())

The modules at the root of this package follow the flow of the data:
frame → board → lens → calibration → detections → scene → verdict → report. The referee runs it.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overruler.apps.measure.measurement import Measurement, measure
    from overruler.bases import Base
    from overruler.board import Board
    from overruler.errors import BadInput, CannotMeasure, MissingExtra, OverrulerError
    from overruler.frame import Frame
    from overruler.house_rules import HouseRules
    from overruler.lens import Lens
    from overruler.pieces import Piece
    from overruler.presets import Preset
    from overruler.referee import Referee
    from overruler.report import Report
    from overruler.rules import ask, matrix
    from overruler.rules.pair_ranges import Matrix
    from overruler.scene import Scene, Table
    from overruler.sources.photo import load_photo
    from overruler.sources.video import Film
    from overruler.verdict import Verdict

__version__ = "0.1.0"
__all__ = [
    "BadInput",
    "Base",
    "Board",
    "CannotMeasure",
    "Film",
    "Frame",
    "HouseRules",
    "Lens",
    "Matrix",
    "Measurement",
    "MissingExtra",
    "OverrulerError",
    "Piece",
    "Preset",
    "Referee",
    "Report",
    "Scene",
    "Table",
    "Verdict",
    "__version__",
    "ask",
    "load_photo",
    "matrix",
    "measure",
]

_HOMES = {
    "Measurement": "overruler.apps.measure.measurement",
    "measure": "overruler.apps.measure.measurement",
    "Base": "overruler.bases",
    "Board": "overruler.board",
    "BadInput": "overruler.errors",
    "CannotMeasure": "overruler.errors",
    "MissingExtra": "overruler.errors",
    "OverrulerError": "overruler.errors",
    "Frame": "overruler.frame",
    "HouseRules": "overruler.house_rules",
    "Lens": "overruler.lens",
    "Piece": "overruler.pieces",
    "Preset": "overruler.presets",
    "Referee": "overruler.referee",
    "Report": "overruler.report",
    "ask": "overruler.rules",
    "matrix": "overruler.rules",
    "Matrix": "overruler.rules.pair_ranges",
    "load_photo": "overruler.sources.photo",
    "Film": "overruler.sources.video",
    "Scene": "overruler.scene",
    "Table": "overruler.scene",
    "Verdict": "overruler.verdict",
}
"""The module of each public name, imported when the name is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
