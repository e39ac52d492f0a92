"""The options of `overruler measure`, read and checked before the slow work begins."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from overruler.apps.geojson import check_geojson_path
from overruler.apps.measure.questions import check_asks_for_area, read_questions
from overruler.apps.settings.game_choice import choose_game, recorded_game
from overruler.apps.settings.house_options import (
    check_given_bases,
    check_given_house_options,
    read_house,
    read_own_bases,
    select_bases,
)
from overruler.apps.settings.known_boards import AUTO_BOARD, known_boards, load_board
from overruler.apps.settings.measure_request import MeasureRequest
from overruler.bases import Base
from overruler.board import AUTO_DICTIONARY, DICTIONARIES, Board
from overruler.declared_terrain import DeclaredTerrain, load_terrain
from overruler.errors import BadInput, UnknownName
from overruler.fixes import Fix, load_fixes
from overruler.games import DEFAULT_GAME
from overruler.house_rules import HouseRules
from overruler.lens import Lens
from overruler.picture import ALL_ENDINGS, ENDINGS
from overruler.picture.films import check_film_ending
from overruler.reading import MAX_LENGTH_MM, Node, read_length
from overruler.taught import Taught
from overruler.writing import (
    check_different,
    check_ending,
    check_outputs,
    check_writable,
    endings_rule,
)

MIN_POINTS = 4
"""A homography needs four points."""
SCENE_ENDINGS = (".json",)
"""What the name of a scene file ends in."""
CSV_ENDINGS = (".csv",)
"""What the name of a table of pieces ends in."""

PointCorrespondence = tuple[float, float, float, float]
"""A point in the photo and on the board: u and v in pixels, x and y in mm."""


@dataclass(frozen=True, slots=True, eq=False)
class MeasureOptions:
    """The checked options of a measurement."""

    photo: Path
    more: tuple[Path, ...]
    """Further photos of the same table."""
    beside: tuple[Path, ...]
    """Other photos by the same camera."""
    board: Board | None
    known_boards: tuple[Board, ...]
    """The boards of which the photo shows one, for `--board auto`."""
    points: tuple[PointCorrespondence, ...]
    """Clicked correspondences, for a photo without markers."""
    lens: Lens | None
    lenses: tuple[Lens | None, ...]
    """The lens of each photo, where they have lens files of their own."""
    game: str | None
    bases: tuple[Base, ...] | None
    """The bases to look for; None for the game's."""
    terrain: tuple[DeclaredTerrain, ...]
    flat: bool
    """Whether the table has no raised ground but the declared one."""
    fixes: tuple[Fix, ...]
    taught: Taught | None
    """What corrections taught about the table."""
    house: HouseRules
    questions: tuple[dict[str, Any], ...]
    """The questions to answer, as parsed JSON."""
    scene: Path | None
    """Scene file to write."""
    picture: Path | None
    """Annotated photo to write."""
    doubt: Path | None
    """Picture of the precision map to write."""
    geojson: Path | None
    """File of the areas to write."""
    csv: Path | None
    """File of the pieces to write, as a table."""
    json: bool
    """Whether to print the scene and nothing else."""
    other_boards: tuple[Board, ...] = ()
    """Boards, beside the known ones, that are told to fit where the board does not."""
    with_helper: bool = False
    """Whether a second process may measure every other one of several photos: a program that is started
    anew in it must do nothing then."""

    @property
    def unit(self) -> str:
        """The unit that lengths are told in, one of `UNITS`."""
        return self.house.unit_told(self.game)


def read_options(args: argparse.Namespace) -> MeasureOptions:
    """Read and check the options of the command line."""
    return load_options(read_request(args))


def read_request(args: argparse.Namespace) -> MeasureRequest:
    """The request of the command line, before any file is read."""
    check_given_table_options(args)
    request = with_default_board(MeasureRequest.from_namespace(args))
    return replace(request, game=recorded_game(request.game))


def check_given_table_options(args: argparse.Namespace) -> None:
    """Refuse what the command line says of the table twice, or in vain."""
    check_given_house_options(args, choose_game(args.game).game or DEFAULT_GAME)
    check_given_bases(args)


def with_default_board(request: MeasureRequest) -> MeasureRequest:
    """The request with `--board auto` where nothing else tells the scale."""
    if _given_scale_options(request):
        return request
    return replace(request, board=Path(AUTO_BOARD))


def load_options(args: MeasureRequest) -> MeasureOptions:
    """Load the files of a request; raise `BadInput` for anything that is wrong with it or them."""
    _check_scale_options(args)
    choice = choose_game(args.game)
    for path in (args.scene, args.picture, args.doubt, args.csv):
        if path:
            check_writable(path)
    check_geojson_path(args.geojson)
    _check_outputs(args)
    house = read_house(args, choice.preset)
    questions = read_questions(args.ask, choice.game, house)
    if args.geojson:
        check_asks_for_area(choice.game, questions)
    return MeasureOptions(
        photo=args.photo,
        more=args.more,
        beside=args.beside,
        board=_read_board(args),
        known_boards=tuple(known_boards()) if _is_auto(args) else (),
        points=tuple(_parse_point(text) for text in args.point),
        lens=Lens.load(args.lens) if args.lens else None,
        lenses=read_lenses("photo", args.lens_of_photo, args.lens, 1 + len(args.more)),
        game=choice.game,
        bases=select_bases(args.bases, read_own_bases(args.own_base), choice),
        terrain=load_terrain(args.terrain) if args.terrain else (),
        flat=args.flat,
        fixes=load_fixes(args.fix) if args.fix else (),
        taught=_read_taught(args.taught),
        house=house,
        questions=questions,
        scene=args.scene,
        picture=args.picture,
        doubt=args.doubt,
        geojson=args.geojson,
        csv=args.csv,
        json=args.json,
    )


def read_free_markers(marker_mm: float, dictionary: str | None) -> Board:
    """The board of `--marker-mm` and `--dictionary`."""
    read_length(Node(marker_mm, "--marker-mm"))
    known = (AUTO_DICTIONARY, *DICTIONARIES)
    if dictionary and dictionary not in known:
        raise UnknownName("--dictionary", dictionary, known)
    return Board.free(marker_mm, dictionary or AUTO_DICTIONARY)


def _check_scale_options(args: MeasureRequest) -> None:
    given = _given_scale_options(args)
    if not given:
        raise BadInput(
            "nothing says how large things are: give --board BOARD.toml, or --marker-mm SIZE "
            "(the side of the markers' black squares), or --point U,V=X,Y four times"
        )
    if len(given) > 1:
        raise BadInput(f"{' and '.join(given)} exclude each other: give one")
    if args.more and args.point:
        raise BadInput(
            "several photos share a table by its markers: leave --point away, or all but one photo"
        )
    if args.more and args.beside:
        raise BadInput(
            "--beside goes with a single photo: several photos of a table share all they have"
        )
    if args.beside and args.point:
        raise BadInput(
            "--beside goes with markers, by which photos share their lens: leave --point away"
        )
    if args.dictionary is not None and args.marker_mm is None:
        raise BadInput("--dictionary goes with --marker-mm; a board file names its own")
    if args.point and len(args.point) < MIN_POINTS:
        raise BadInput(f"--point: {MIN_POINTS} points or more are needed, {len(args.point)} given")


def _given_scale_options(args: MeasureRequest) -> list[str]:
    values = {"--board": args.board, "--marker-mm": args.marker_mm, "--point": args.point or None}
    return [option for option, value in values.items() if value is not None]


def _is_auto(args: MeasureRequest) -> bool:
    return args.board == Path(AUTO_BOARD)


def _check_outputs(args: MeasureRequest) -> None:
    if args.picture:
        check_picture_ending("--picture", args.picture, ALL_ENDINGS)
        check_film_ending(args.picture)
    if args.doubt:
        check_picture_ending("--doubt", args.doubt)
    names = ("scene", "picture", "doubt", "geojson", "csv")
    photos = (args.photo, *args.more, *args.beside)
    others = (args.board, args.lens, args.terrain, args.fix, args.taught)
    check_different("PHOTO", photos)
    check_outputs([(f"--{name}", getattr(args, name)) for name in names], (*photos, *others))
    check_ending("--scene", args.scene, SCENE_ENDINGS)
    check_ending("--csv", args.csv, CSV_ENDINGS)


def read_lenses(
    what: str, texts: Sequence[str], lens: Path | None, count: int
) -> tuple[Lens | None, ...]:
    """The lens of each photo or camera: its own, else the common one; empty where none has its own.

    `texts` are those of `--lens-of-photo`, or of `--lens-of-camera` where `what` is a camera.
    """
    if not texts:
        return ()
    lenses: list[Lens | None] = [Lens.load(lens) if lens else None] * count
    given: set[int] = set()
    for text in texts:
        number, path = _parse_lens_of_one(what, text, count)
        if number in given:
            raise BadInput(f"--lens-of-{what}: {what} {number} has two lens files: give one")
        given.add(number)
        lenses[number - 1] = Lens.load(path)
    return tuple(lenses)


def _parse_lens_of_one(what: str, text: str, count: int) -> tuple[int, Path]:
    number, _, path = text.partition("=")
    if not (number.isascii() and number.isdecimal() and path and 1 <= int(number) <= count):
        expected = f"N=LENS.toml, N from 1 to {count}"
        raise BadInput(f"--lens-of-{what}: expected {expected}, found {text!r}")
    return int(number), Path(path)


def check_picture_ending(option: str, path: Path, known: tuple[str, ...] = ENDINGS) -> None:
    """Raise `BadInput` where the name of a picture to write has no known ending."""
    if path.suffix.lower() not in known:
        raise BadInput(f"{option}: {path}: {endings_rule(known)}")


def _read_board(args: MeasureRequest) -> Board | None:
    if args.board and not _is_auto(args):
        return load_board(args.board)
    if args.marker_mm is None:
        return None
    return read_free_markers(args.marker_mm, args.dictionary)


def _read_taught(path: Path | None) -> Taught | None:
    if path is None:
        return None
    from overruler.vision.assembly.taught_pieces import load_taught

    return load_taught(path)


def _parse_point(text: str) -> PointCorrespondence:
    try:
        pixel, position = text.split("=")
        u, v = (float(value) for value in pixel.split(","))
        x, y = (float(value) for value in position.split(","))
    except ValueError:
        expected = "U,V=X,Y (a pixel = its place in mm)"
        raise BadInput(f"--point: expected {expected}, found {text!r}") from None
    if not all(abs(value) <= MAX_LENGTH_MM for value in (u, v, x, y)):
        raise BadInput(f"--point: {text!r} holds a number that no photo or table has")
    return u, v, x, y
