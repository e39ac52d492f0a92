"""`overruler teach`: corrected photos teach how likely findings are pieces on a table."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from overruler.apps.commands import given_options, refuse_options
from overruler.apps.process.progress import progress_display
from overruler.apps.settings.house_options import add_own_base_argument
from overruler.apps.settings.table_options import add_finding_arguments, add_taught_argument
from overruler.errors import BadInput, OverrulerError, printable
from overruler.taught import CorrectedPhoto, Taught, Weighing
from overruler.units import format_count
from overruler.writing import check_ending, check_writable

OPTIONS_OF_ALL = ("source", "taught", "checked", "show", "forget")
"""What does not say how a photo is measured."""
ALL_PHOTOS = object()
"""What `--forget` holds where it names no photo."""
FINGERPRINT_DIGITS = 8
"""Digits of its hash by which a photo is told from another of the same name."""
SHOWN = (0.9, 0.99)
"""Probabilities of which it is told what they become."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    source = (
        "a photo (with --fix and the options that it is measured with), a dispute bundle (ZIP), "
        "or the folder where overruler serve keeps photos"
    )
    parser.add_argument("source", type=Path, nargs="*", metavar="SOURCE", help=source)
    add_taught_argument(parser)
    option = parser.add_argument_group("what is done").add_argument
    checked = "you looked at every base: what you left alone is right"
    option("--checked", action="store_true", help=checked)
    option("--show", action="store_true", help="print what was learned, and of which photos")
    forget = "forget a photo, by its name in --show; without a name all of them: removes the file"
    option("--forget", nargs="?", const=ALL_PHOTOS, metavar="PHOTO", help=forget)
    add_finding_arguments(parser)
    own = "what is the table's own (kept in the file of overruler config)"
    add_own_base_argument(parser.add_argument_group(own))


def run(args: argparse.Namespace) -> int:
    if args.taught is None:
        raise BadInput("--taught is missing: name the file that keeps what is learned")
    _check_what_is_done(args)
    if args.forget is not None:
        return _forget(args.taught, args.forget)
    if args.show:
        _print(args.taught, _load(args.taught))
        return 0
    if not args.source:
        raise BadInput("nothing to learn from: name a photo with its --fix, or a dispute bundle")
    return _teach(args)


def _check_what_is_done(args: argparse.Namespace) -> None:
    """Refuse what would do nothing: where nothing is learned, or not of a photo that is named."""
    given = given_options(args)
    of_photo = [name for name in vars(given) if name not in OPTIONS_OF_ALL]
    if args.show and args.forget is not None:
        raise BadInput("--show and --forget exclude each other: give one")
    if args.show or args.forget is not None:
        option = "--show" if args.show else "--forget"
        if args.source:
            raise BadInput(f"{option} learns nothing: leave {args.source[0]} away, or {option}")
        problem = f"goes with a photo to learn from: leave it away with {option}"
        refuse_options(given, ["checked", *of_photo], problem)
    elif args.source and not _has_photo(args.source):
        problem = f"goes with a photo: {args.source[0]} says itself how its photos are measured"
        refuse_options(given, of_photo, problem)


def _has_photo(sources: Sequence[Path]) -> bool:
    from overruler.apps.teach.lessons import is_photo

    return any(map(is_photo, sources))


def _load(path: Path) -> Taught:
    from overruler.vision.assembly.taught_pieces import load_taught

    return load_taught(path)


def _forget(path: Path, name: str | object) -> int:
    if name is ALL_PHOTOS:
        Taught.load(path)  # nothing but such a file is removed
        path.unlink()
        print(f"{path}: removed; nothing is re-weighed any more")
        return 0
    taught = _load(path)
    meant = [photo for photo in taught.photos if name in (photo.name, _fingerprint(photo))]
    if len(meant) > 1:
        which = " or ".join(map(_fingerprint, meant))
        raise BadInput(f"--forget: {path} has {len(meant)} photos {name!r}: give {which} instead")
    if not meant:
        known = ", ".join(_label(photo, taught) for photo in taught.photos) or "none"
        raise BadInput(f"--forget: {path} has no photo {name!r}; it has: {known}")
    _save(path, replace(taught, photos=tuple(one for one in taught.photos if one not in meant)))
    return 0


def _fingerprint(photo: CorrectedPhoto) -> str:
    return photo.sha256[:FINGERPRINT_DIGITS]


def _label(photo: CorrectedPhoto, taught: Taught) -> str:
    """A photo's name, with its fingerprint where another photo has the name too."""
    namesakes = [one for one in taught.photos if one.name == photo.name]
    return f"{photo.name} ({_fingerprint(photo)})" if len(namesakes) > 1 else photo.name


def _teach(args: argparse.Namespace) -> int:
    from overruler.apps.measure.options import read_request
    from overruler.apps.teach.lessons import learn_from, lessons_of
    from overruler.vision.learned.inference import weights_fingerprint

    check_ending("--taught", args.taught, (".json",))
    check_writable(args.taught)
    taught = _load(args.taught) if args.taught.exists() else Taught(weights_fingerprint())
    args.photo = args.source[:1]
    request = replace(read_request(args), taught=None)
    learned: dict[str, CorrectedPhoto] = {}
    refused: list[OverrulerError] = []
    for lesson in lessons_of(args.source, request):
        try:
            with progress_display() as progress:
                photo = learn_from(lesson, args.checked, progress)
        except OverrulerError as error:
            refused.append(error)
        else:
            learned[photo.sha256] = photo
    for problem in refused if learned else refused[:-1]:
        print(f"overruler: {' '.join(str(problem).split())}", file=sys.stderr)
    if not learned:
        raise refused[-1] if refused else BadInput("nothing was learned: no photo is corrected")
    before = [photo for photo in taught.photos if photo.sha256 not in learned]
    _save(args.taught, replace(taught, photos=(*before, *learned.values())))
    return BadInput.exit_code if refused else 0


def _save(path: Path, taught: Taught) -> None:
    from overruler.apps.teach.fit import learn_weighings

    learned = replace(taught, weighings=learn_weighings(taught.photos))
    learned.save(path)
    _print(path, learned)


def _print(path: Path, taught: Taught) -> None:
    count = format_count(len(taught.photos), "corrected photo")
    print(printable(f"{path}: what {count} taught"))
    for photo in taught.photos:
        pieces = sum(one.is_piece for one in photo.findings)
        others = format_count(len(photo.findings) - pieces, "other")
        print(f"  {printable(_label(photo, taught))}: {format_count(pieces, 'piece')}, {others}")
    for line in _kind_lines(taught):
        print(printable(line))


def _kind_lines(taught: Taught) -> Iterator[str]:
    from overruler.apps.teach.fit import MIN_PHOTOS, findings_by_photo, kinds_of, left_out_gains

    for kind in kinds_of(taught.photos):
        by_photo = findings_by_photo(taught.photos, kind)
        if kind in taught.weighings:
            yield f"{kind}: {_in_words(taught.weighings[kind])}"
        elif len(by_photo) < MIN_PHOTOS:
            shown_in = format_count(len(by_photo), "photo")
            yield f"{kind}: as it was (in {shown_in}, {MIN_PHOTOS} are needed)"
        else:
            gain = left_out_gains(by_photo).sum()
            yield f"{kind}: as it was (photos that were left out gained too little: {gain:+.2f})"


def _in_words(weighing: Weighing) -> str:
    return ", ".join(f"{one:.0%} is {100 * weighing.reweigh(one):.3g} % now" for one in SHOWN)
