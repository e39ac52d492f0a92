"""The options for a table's own bases, its players and its house rules."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from overruler.apps.commands import given_options
from overruler.apps.settings.game_choice import GameChoice
from overruler.bases import Base, catalogue
from overruler.errors import BadInput, UnknownName
from overruler.games import GAMES, find_game
from overruler.house_rules import OWNER_SIGNS, HouseRules
from overruler.presets import Preset
from overruler.reading import Node
from overruler.rules import game_of
from overruler.units import UNITS, find_unit

if TYPE_CHECKING:
    from overruler.apps.settings.measure_request import MeasureRequest


def add_house_arguments(parser: argparse.ArgumentParser) -> None:
    """Add all of the options, for a command that measures a table."""
    group = parser.add_argument_group(
        "what is the table's own (kept in the file of overruler config)"
    )
    add_own_base_argument(group)
    signs = ", ".join(OWNER_SIGNS)
    player = f"whose pieces are: by their ring's colour or their half of the board ({signs})"
    _add_repeatable(group, "--player", "SIGN=NAME", player)
    add_house_rule_argument(group)


def add_own_base_argument(group: "argparse._ArgumentGroup") -> None:
    """Add `--own-base`, for a command that looks for bases."""
    base = (
        "a base of one's own, in mm as for --bases, which then names it: skiff=66x38o; without --bases "
        "it is looked for beside the game's"
    )
    _add_repeatable(group, "--own-base", "NAME=SIZE", base)


def add_house_rule_argument(
    parser: "argparse.ArgumentParser | argparse._ArgumentGroup",
) -> None:
    """Add `--house-rule` and `--units`, for a command that answers questions."""
    rule = (
        "what the table chose where a game leaves it open: "
        "legion.ranged_in_contact=false (overruler rules GAME)"
    )
    _add_repeatable(parser, "--house-rule", "GAME.SETTING=true|false", rule)
    units = "tell lengths in mm or in inches (as the game reads them); files and JSON stay in mm"
    parser.add_argument("--units", type=_name_unit, choices=UNITS, help=units)


def _add_repeatable(
    parser: "argparse.ArgumentParser | argparse._ArgumentGroup", name: str, metavar: str, text: str
) -> None:
    parser.add_argument(name, action="append", default=[], metavar=metavar, help=text)


def read_house(
    args: "argparse.Namespace | MeasureRequest", preset: Preset | None = None
) -> HouseRules:
    """Read players and house rules from the options; `BadInput` names what is wrong."""
    players = _parse_players(getattr(args, "player", ()))
    rules = dict(map(_parse_house_rule, args.house_rule))
    return HouseRules(players, rules, preset, _check_units(getattr(args, "units", None)))


def check_given_house_options(args: argparse.Namespace, game: str | None = None) -> None:
    """Refuse what the command line gives twice, or in vain; the user's own file serves all games.

    `game` is the one that is played; None: any may be.
    """
    given = given_options(args)
    for option in ("own_base", "player", "house_rule"):
        name = f"--{option.replace('_', '-')}"
        _refuse_second_values(name, getattr(given, option, ()))
    for name, _ in map(_parse_house_rule, getattr(given, "house_rule", ())):
        ruled = name.partition(".")[0]
        if game not in (None, ruled):
            raise BadInput(
                f"--house-rule {name}: changes nothing in {game}: leave it away, or give --game {ruled}"
            )


def check_given_bases(args: argparse.Namespace) -> None:
    """Refuse a base of one's own on the command line that is not among those looked for."""
    given = given_options(args)
    if args.bases is None or not given.own_base:
        return
    own = read_own_bases(args.own_base)
    wanted = select_bases(args.bases, own, GameChoice(None)) or ()
    for name in read_own_bases(given.own_base):
        if own[name] not in wanted:
            lacking = "--bases lacks it" if given.bases else "bases in your own file lack it"
            raise BadInput(
                f"--own-base {name}: is not looked for, as {lacking}: "
                f"give --bases {args.bases},{name}, or leave --own-base away"
            )


def _refuse_second_values(option: str, texts: Sequence[str]) -> None:
    """Refuse two values of one name."""
    values: dict[str, str] = {}
    for name, value in parse_pairs(option, texts):
        if values.setdefault(name, value) != value:
            raise BadInput(f"{option} {name}: is {values[name]} and {value}: give one of the two")


def read_own_bases(texts: Sequence[str]) -> dict[str, Base]:
    """The table's own bases by name."""
    pairs = parse_pairs("--own-base", texts)
    return {name: parse_own_base(f"--own-base {name}", name, size) for name, size in pairs}


def select_bases(
    text: str | None, own: Mapping[str, Base], choice: GameChoice
) -> tuple[Base, ...] | None:
    """The bases to look for, given the value of `--bases` and the table's own ones.

    Without the option they are the game's and the table's own. None stands for the game's alone.
    """
    if text is None:
        usual = choice.preset.bases if choice.preset else None
        if not own:
            return usual
        return tuple(dict.fromkeys((*(usual or catalogue(choice.game)), *own.values())))
    try:
        return tuple(dict.fromkeys(find_base(part, own) for part in text.split(",")))
    except BadInput as error:
        raise BadInput(f"--bases: {error}; give several with commas between, 27,50 say") from None


def find_base(text: str, own: Mapping[str, Base]) -> Base:
    """The base of a size, or of the name of one of the table's own."""
    if text.strip() in own:
        return own[text.strip()]
    try:
        return Base.parse(text)
    except BadInput as error:
        names = f", or a name of one's own: {', '.join(own)}" if own else ""
        raise BadInput(f"{error}{names}") from None


def parse_own_base(where: str, name: str, size: str) -> Base:
    """Parse a base of the table's own; `where` begins the error message."""
    if not name.strip()[:1].isalpha() or "," in name or "=" in name:
        raise BadInput(
            f"{where}: the name of a base begins with a letter and has no comma or = in it"
        )
    try:
        return Base.parse(size)
    except BadInput as error:
        raise BadInput(f"{where}: {error}") from None


def check_house_rule(where: str, game: str, setting: str) -> None:
    """Raise `UnknownName` where a game has no such setting; `where` begins the error message."""
    if game not in GAMES:
        raise UnknownName(f"{where}: game", game, GAMES)
    if setting not in game_of(game).settings:
        raise UnknownName(f"{where}: setting", setting, game_of(game).settings)


def _name_unit(text: str) -> str:
    """The unit that a text names; the text itself where it names none, for the choices to refuse."""
    return find_unit(text) or text


def _check_units(units: str | None) -> str | None:
    unit = None if units is None else _name_unit(units)
    if unit not in (None, *UNITS):
        raise UnknownName("--units", unit or "", UNITS)
    return unit


def _parse_players(texts: Sequence[str]) -> dict[str, str]:
    players = dict(parse_pairs("--player", texts))
    for sign in players:
        if sign not in OWNER_SIGNS:
            raise UnknownName("--player", sign, OWNER_SIGNS)
    return players


def _parse_house_rule(text: str) -> tuple[str, bool | str]:
    [(name, value)] = parse_pairs("--house-rule", [text])
    game, _, setting = name.partition(".")
    game = find_game(game) or game
    name = f"{game}.{setting}"
    check_house_rule("--house-rule", game, setting)
    if words := game_of(game).settings[setting].words:
        return name, Node(value, "--house-rule", name).choice(words)
    if value not in ("true", "false"):
        raise BadInput(f"--house-rule {name}: expected true or false, found {value!r}")
    return name, value == "true"


def parse_pairs(option: str, texts: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The name and the value of each text `NAME=VALUE` of an option."""
    for text in texts:
        name, equals, value = (part.strip() for part in text.partition("="))
        if not (name and equals and value):
            raise BadInput(f"{option}: expected a name, = and a value, found {text!r}")
        yield name, value
