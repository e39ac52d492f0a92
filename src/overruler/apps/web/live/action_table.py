"""What the desk can do, an action each."""

from collections.abc import Callable
from dataclasses import dataclass

from overruler.apps.web.live.desk import Desk


@dataclass(frozen=True, slots=True)
class Action:
    """What a button does."""

    about: str
    act: Callable[..., None]
    required: tuple[str, ...] = ()
    """What it is told in its address."""
    optional: tuple[str, ...] = ()
    """What it may be told besides."""


ACTIONS = {
    "pick": Action("Rule on two pieces, or units", Desk.pick, ("from", "to")),
    "ask": Action(
        "What a pair asks: Range, Attack, Distance",
        Desk.choose_question,
        ("question",),
        ("arc", "reach_in"),
    ),
    "swap": Action("From and to the other way round", Desk.swap),
    "bands": Action("A piece's range lines, on or off", Desk.toggle_bands, ("piece",)),
    "arcs": Action("A ship's arcs, on or off", Desk.toggle_arcs, ("piece",)),
    "freeze": Action("Hold the picture and its graphics, or let go", Desk.toggle_freeze),
    "close": Action(
        "Hold the picture and show the gap large, or let go", lambda desk: desk.freeze(large=True)
    ),
    "live": Action("Let go", Desk.unfreeze),
    "clear": Action("Everything off the air", Desk.clear),
}
