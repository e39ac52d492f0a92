"""What a caster tells of the show beside the table: players, scores, the round, a caption."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from overruler.apps.web.live.look import (
    COLOUR_WORDS,
    TEAM_COLOURS,
    Look,
    PlayerLook,
    parse_colour,
)
from overruler.reading import Node

MAX_WORDS = 60
"""Longest text that is shown, in characters."""
MAX_PLAYERS = 8
"""The most players of a scoreboard."""


@dataclass(frozen=True, slots=True)
class Show:
    """What is told at one moment."""

    scores: Mapping[str, str] = field(default_factory=dict)
    """The score of each player on the scoreboard, in the order that they came."""
    round: str = ""
    caption: tuple[str, str] = ("", "")
    """The lower third's title and the line under it."""
    players: Mapping[str, PlayerLook] = field(default_factory=dict)
    """What was told of players' looks."""

    def with_score(self, player: str, score: str) -> "Show":
        """The same with a player's score; an empty one takes the player off the scoreboard."""
        player, score = _words(player, "player"), _words(score, "score")
        scores = {**self.scores, player: score}
        if not score:
            del scores[player]
        if len(scores) > MAX_PLAYERS:
            Node(player, "player").fail(f"is one too many: {MAX_PLAYERS} have a score already")
        return replace(self, scores=scores)

    def with_round(self, text: str) -> "Show":
        """The same in another round."""
        return replace(self, round=_words(text, "text"))

    def with_caption(self, title: str | None, line: str | None) -> "Show":
        """The same with another caption; without a title none."""
        title = _words(title or "", "title")
        return replace(self, caption=(title, _words(line or "", "line") if title else ""))

    def with_player(self, player: str, name: str | None, colour: str | None) -> "Show":
        """The same with a player's name or colour."""
        told = PlayerLook(
            _words(name or "", "name"), parse_colour(Node(colour, "colour")) if colour else ""
        )
        looks = Look(players=self.players).with_player(_words(player, "player"), told)
        return replace(self, players=looks.players)


def _words(text: str, key: str) -> str:
    text = " ".join(text.split())
    if len(text) > MAX_WORDS:
        Node(text, key).fail(f"has {len(text)} characters, more than {MAX_WORDS}")
    return text


def dress_players(
    look: Look, show: Show, players: list[str], signs: Mapping[str, str]
) -> Mapping[str, PlayerLook]:
    """The look of each player: as told, else of the file, else by the ring's colour or the name.

    `signs` maps players to the sign that tells their pieces. Others get the next free colour.
    """
    for player, told in show.players.items():
        look = look.with_player(player, told)
    dressed: dict[str, PlayerLook] = {}
    for player in players:
        own = look.players.get(player, PlayerLook())
        colour = own.colour or COLOUR_WORDS.get(signs.get(player, "")) or _colour_in_name(player)
        taken = {other.colour for other in dressed.values()}
        free = [team for team in TEAM_COLOURS if team not in taken]
        dressed[player] = replace(
            own, name=own.name or player, colour=colour or (free or TEAM_COLOURS)[0]
        )
    return dressed


def _colour_in_name(player: str) -> str:
    """The colour that a player's name tells; empty if none."""
    return next((COLOUR_WORDS[word] for word in player.lower().split() if word in COLOUR_WORDS), "")
