"""Fit how likely a base in rank and file is, by what several photos say: prints `rank_evidence.json`, or writes it.

python tools/training/fit_rank_evidence.py TABLES... [--write]

TABLES are folders of tables that `tools/synthetic/render_views.py` drew, of three photos each. Every table is
measured. Its photos are then asked, as the program asks them, for each rectangle that any of them finds likely or
doubtful, for what else one of an odd size may be, and for the places beside likely ones. What they say counts by all
photos and by any two or more of them. A place that overlaps a base counts less: the program tells such places from
the base by what excludes what. Each table is also judged by weights fitted on the others.

The shipped weights were fitted so to nine rendered tables of regiments, by a program that was not kept.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np

from evaluate.counting.tally import Truth
from evaluate.several.judged import frame_by_camera
from evaluate.several.tables import RADII_MM, PhotoTable, tables_in
from overruler.bases import Base
from overruler.errors import CannotMeasure
from overruler.geometry.pose import Array
from overruler.vision.contours.overlap_choice import bases_overlap
from overruler.vision.fusion.gather_findings import gather_findings
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.inference import WEIGHTS
from overruler.vision.learned.logits import sigmoid
from overruler.vision.pairing.decided import Decided
from overruler.vision.pairing.merge import SAME_HEIGHT_MM
from overruler.vision.pairing.ranks.ask_photos import ask_photos, pose_of
from overruler.vision.pairing.ranks.complete_ranks import is_in_ranks
from overruler.vision.pairing.ranks.other_places import is_likely, other_sizes, places_beside
from overruler.vision.pairing.ranks.rank_evidence import MIN_LOOKS
from overruler.vision.pairing.sighting import SeenPhoto
from overruler.vision.plates.rectangle_fit import BasePose
from synthetic.from_above.sheet import lengthwise
from training.fit_regiment_score import verdict
from training.regression import ridge_regression
from training.score_tables import folder_parser, kept_rows, weights_text

NAME = "rank_evidence"
OVERLAP_WEIGHT = 0.03
"""How much a place counts that overlaps a base."""
TOLD = 0.5
"""Places over this probability are counted."""
NUMBER, IS_BASE, COUNTS, BY_ALL = 0, 1, 2, 3
"""Columns of a row before its features: the table's number, whether a base stands there, how much the row counts,
and whether all photos that show the place speak."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = folder_parser(__doc__).parse_args(arguments)
    rows = kept_rows(options.rows, lambda: _rows(options.tables))
    if len(np.unique(rows[:, IS_BASE])) < 2:
        raise SystemExit(
            "no weights can be fitted: the tables need places with a base and places without"
        )
    print(_counted(rows))
    text = _record(_fitted(rows), rows)
    print(text, end="")
    if options.write:
        (WEIGHTS / f"{NAME}.json").write_text(text, encoding="utf-8")


def _rows(folders: Sequence[Path]) -> Array:
    """A row a place and a set of photos that show it."""
    tables = (table for folder in folders for table in tables_in(folder))
    found: list[list[float]] = []
    for number, table in enumerate(tables):
        try:
            found += [[number, *row] for row in judged(table)]
        except CannotMeasure as error:
            print(f"{table.name}: {error}")
        print(f"{table.name}: {len(found)} rows", flush=True)
    return np.array(found).reshape(-1, BY_ALL + 1 + len(load_coefficients(NAME)))


def judged(table: PhotoTable) -> Iterator[list[float]]:
    """Of each place on a table: a row without the table's number for each set of photos."""
    photos = table.see()
    findings, _ = gather_findings(photos, RADII_MM)
    turned = _in_frame_of(photos[0], table.truth, table.whole["pieces"])
    standing = [one for one in turned if one["shape"]["type"] == "rectangle"]
    for one in asked_places(photos, [each for each in findings if is_in_ranks(each.base)]):
        at_height = [
            piece for piece in standing if abs(piece["z_mm"] - one.xyz_mm[2]) < SAME_HEIGHT_MM
        ]
        yield from rows_of(one, at_height)


def _in_frame_of(photo: SeenPhoto, truth: Truth, pieces: Sequence[Truth]) -> list[Truth]:
    """True pieces in the frame of the program, which a photo's pose tells: markers may lie anywhere."""
    turn, shift = frame_by_camera(truth, photo.calibration)
    back_deg = float(np.degrees(np.arctan2(turn[0, 1], turn[0, 0])))
    moved = []
    for one in pieces:
        x_mm, y_mm = (turn.T @ (np.array([one["x_mm"], one["y_mm"]]) - shift)).tolist()
        heading_deg = one["heading_deg"] + back_deg
        moved.append({**one, "x_mm": x_mm, "y_mm": y_mm, "heading_deg": heading_deg})
    return moved


def asked_places(photos: Sequence[SeenPhoto], ranks: Sequence[Decided]) -> list[Decided]:
    """The bases, what else they may be, and the places beside likely ones, with what photos say of each."""
    asked = ask_photos(photos, ranks)
    likely = [one for one in asked if is_likely(one)]
    tried, standing = list(map(pose_of, asked)), list(map(pose_of, likely))
    others = [*other_sizes(asked), *places_beside(likely, standing, tried)]
    return [*asked, *ask_photos(photos, others)]


def rows_of(one: Decided, pieces: Sequence[Truth]) -> Iterator[list[float]]:
    """The rows of a place among `pieces` at its height; none where what stands there counts neither way."""
    said = verdict(one, np.array([_as_base(piece) for piece in pieces]).reshape(-1, 7))
    if one.ranks is None or said is None:
        return
    is_beside = not said and any(bases_overlap(one, _pose(piece)) for piece in pieces)
    counts = OVERLAP_WEIGHT if is_beside else 1.0
    for some in sets_of(sorted(one.ranks.seen)):
        features = one.ranks.features(some)
        if features is not None:
            yield [said, counts, len(some) == len(one.ranks.seen), *features]


def sets_of(photos: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield any so many photos of those that show a place as are enough to judge it."""
    for count in range(MIN_LOOKS, len(photos) + 1):
        yield from combinations(photos, count)


def _as_base(piece: Truth) -> list[float]:
    """A true base (7,), as `Sheet` has them, at its own height; visible is what the best photo shows."""
    shape = piece["shape"]
    place = piece["x_mm"], piece["y_mm"], shape["length_mm"], shape["width_mm"]
    return [*lengthwise([*place, np.radians(piece["heading_deg"])]), 1, piece["best_visible_rim"]]


def _pose(piece: Truth) -> BasePose:
    x, y, length, width, turn = _as_base(piece)[:5]
    return BasePose(Base.rectangle(width, length), np.array([x, y]), turn)


# --- weights ---


def _fitted(rows: Array) -> Array:
    return ridge_regression(rows[:, BY_ALL + 1 :], rows[:, IS_BASE], counts=rows[:, COUNTS])


def _counted(rows: Array) -> str:
    """How many bases and other places are told by all photos, by weights fitted on the other tables."""
    tables = np.unique(rows[:, NUMBER])
    if len(tables) < 2:
        return "one table alone: there are no others to judge it by"
    told, whole = np.zeros(len(rows)), rows[:, BY_ALL] == 1
    for number in tables:
        here = rows[:, NUMBER] == number
        if len(np.unique(rows[~here, IS_BASE])) == 2:
            told[here] = sigmoid(rows[here, BY_ALL + 1 :] @ _fitted(rows[~here]))
    is_told, is_base = told[whole] >= TOLD, rows[whole, IS_BASE] == 1
    is_other = ~is_base & (rows[whole, COUNTS] == 1)
    bases = f"told {is_told[is_base].sum()} of {is_base.sum()} bases"
    return f"{bases}, and {is_told[is_other].sum()} of {is_other.sum()} other places"


def _record(weights: Array, rows: Array) -> str:
    """The text of the weights' file, with their origin."""
    whole = rows[rows[:, BY_ALL] == 1]
    bases = int(whole[:, IS_BASE].sum())
    places = f"{bases} bases of {len(np.unique(rows[:, NUMBER]))} rendered tables and of {len(whole) - bases}"
    data = f"logistic regression on what several photos say of {places} other places"
    command = "fit_rank_evidence.py TABLES --write"
    return weights_text(list(load_coefficients(NAME)), weights, data, command)


if __name__ == "__main__":
    main()
