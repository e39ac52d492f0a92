"""The actions of the desk: each is a button of the control page and of a Stream Deck."""

from collections.abc import Callable
from dataclasses import dataclass

from overruler.apps.web.live.desk import Desk


@dataclass(frozen=True, slots=True)
class Action:
    """One action of the desk."""

    summary: str
    """What it does, for people."""
    perform: Callable[..., None]
    """Called with the desk, then with the values of `required` and `optional`, in their order."""
    required: tuple[str, ...] = ()
    """Parameters that its address must have."""
    optional: tuple[str, ...] = ()
    """Parameters that its address may have; None stands for one that is absent."""


def _set_score(desk: Desk, player: str, score: str) -> None:
    desk.change_show(lambda show: show.with_score(player, score))


def _set_round(desk: Desk, text: str) -> None:
    desk.change_show(lambda show: show.with_round(text))


def _set_caption(desk: Desk, title: str | None, line: str | None) -> None:
    desk.change_show(lambda show: show.with_caption(title, line))


def _set_player(desk: Desk, player: str, name: str | None, colour: str | None) -> None:
    desk.change_show(lambda show: show.with_player(player, name, colour))


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
    "ground": Action(
        "The ground within reach of a piece, on or off",
        Desk.toggle_ground,
        ("piece",),
        ("reach_in",),
    ),
    "shadow": Action(
        "The ground that a piece does not see, on or off", Desk.toggle_shadow, ("piece",)
    ),
    "freeze": Action("Hold the picture and its graphics, or let go", Desk.toggle_freeze),
    "close": Action("Hold the picture and show the gap large, or let go", Desk.toggle_close_up),
    "live": Action("Let go", Desk.unfreeze),
    "replay": Action("The last ruling once more", Desk.replay),
    "score": Action(
        "A player's score; an empty one takes it away", _set_score, ("player", "score")
    ),
    "round": Action("The round that the scoreboard tells", _set_round, ("text",)),
    "caption": Action(
        "The words at the foot of the picture; none without a title",
        _set_caption,
        (),
        ("title", "line"),
    ),
    "player": Action("How a player is shown", _set_player, ("player",), ("name", "colour")),
    "clear": Action("Everything off the air", Desk.clear),
}
"""Every action, by the last part of its path."""
