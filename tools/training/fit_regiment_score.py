"""Fit the weights of the score of rectangles that nobody named: prints `regiment_score.json`, or writes it.

python tools/training/fit_regiment_score.py --painted 60 --tables build/tables --write

Painted tables teach what is no base, and traced ones what bases look like, where a folder with their truth is named.
Each third of the tables is also scored by weights fitted on the others, to tell how often a score is right.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array, wrapped_turn
from overruler.vision.contours.overlap_choice import PlacedBase
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.learned.products import names_with_products, with_products
from overruler.vision.plates import regiment_net
from overruler.vision.plates.neighbours import (
    FEATURES,
    OWN_FEATURES,
    ROUNDS,
    SCALES,
    Places,
    Relations,
)
from overruler.vision.plates.rectangle_fit import size_mm
from overruler.vision.plates.regiment_net import look_for_bases
from overruler.vision.plates.regiments import measure_hypotheses
from synthetic.arrays import Picture
from synthetic.camera import patch_view
from synthetic.from_above.regiments import FINER, PHOTOS_MM, regiment_photo
from synthetic.from_above.sheet import REACH_MM, bases_of_shape, drawn_view
from synthetic.painted.wardrobe import Wardrobe
from training.regression import ridge_regression
from training.rising_regression import rising_regression
from training.score_tables import (
    Table,
    judged_rows,
    kept_rows,
    read_options,
    teaching_tables,
    weights_text,
)

TILES = 30
"""Mats that painted tables lie on."""
PRINTS = 8
"""Printed squares on every second traced table."""
NEAR_MM, SAME_SIZE_MM, SAME_TURN_RAD = 4.0, 1.1, 0.12
"""A hypothesis is the base whose middle, sides and heading differ so little."""
LEAST_VISIBLE = 0.2
"""Bases of which less is in sight count neither way."""
GATE = 0.4
"""Tables count on which the network gives one candidate this score."""
FOLDS = 3
RIDGE_OF_PRODUCTS = 2.0
"""How firmly weights are held to 0 where products are among the features."""
DIRECTIONS = {
    "network_logit": 1,
    "side_nats": 1,
    "size_chi2": -1,
    "closer_look_logit": 1,
    "in_play_logit": 1,
    "contacts": 1,
}
"""What can only speak for a base, or only against it. A weak side may have a neighbour, so it can do both."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, 9, arguments)
    regiment_net.LIKELY_SCORE = GATE
    rows = kept_rows(options.rows, lambda: _rows(options))
    tables = [Judged.of(rows[rows[:, 0] == number]) for number in np.unique(rows[:, 0])]
    odds = [np.zeros(0)] * len(tables)
    for fold in range(FOLDS):
        alone, among = fitted([one for k, one in enumerate(tables) if k % FOLDS != fold])
        for k in range(fold, len(tables), FOLDS):
            odds[k] = settled(tables[k], alone, among)
    print(_calibration(np.concatenate(odds), np.concatenate([one.truth for one in tables])))
    text = _record(options, *fitted(tables), len(tables))
    print(text, end="")
    if options.write:
        (WEIGHTS / "regiment_score.json").write_text(text, encoding="utf-8")


def _rows(options: argparse.Namespace) -> Array:
    """A row a hypothesis: the table's number, whether it is a base, where it lies, and its own features."""
    tables = teaching_tables(options, 47, _painted_table, _rectangles, mats=TILES, prints=PRINTS)
    return judged_rows(tables, judged, "hypotheses")


def _painted_table(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> Table:
    """A table that nothing was taught on."""
    rng = np.random.default_rng(list(seed))
    view = patch_view(rng, REACH_MM, float(rng.uniform(*PHOTOS_MM)))
    photo, bases = regiment_photo(rng, view, tiles, REACH_MM, FINER, wardrobe)
    flat = drawn_view(photo, view.camera, REACH_MM, OVERVIEW_MM_PER_PX)
    return Table(photo, view.camera, flat, bases)


def _rectangles(truth: Any, camera: Camera) -> Array:
    return bases_of_shape(truth, camera, "rectangle")


def judged(table: Table) -> Iterator[list[float]]:
    """Of each hypothesis on a table: whether it is a base (-1: counts neither way), its place, its own features."""
    frame = Frame(table.photo, "table")
    cells = look_for_bases(frame, table.camera, table.view, table.cards)
    if cells is None:
        return
    for one, features in measure_hypotheses(frame, table.camera, cells):
        said = verdict(one, table.bases)
        place = [*one.xy_mm, one.turn_rad, *size_mm(one.base)]
        yield [-1 if said is None else said, *place, *features]


def verdict(one: PlacedBase, bases: Array) -> float | None:
    """1 for a base, 0 for none, None for what counts neither way; `bases` (M, 7) as `Sheet` has them."""
    if not len(bases):
        return 0.0
    away = np.linalg.norm(bases[:, :2] - one.xy_mm, axis=1)
    size = np.array([one.base.length_mm, one.base.width_mm])
    fits = np.abs(bases[:, 2:4] - size).max(1) < SAME_SIZE_MM
    modulo = np.pi / 2 if one.base.is_square else np.pi
    turn = wrapped_turn(bases[:, 4] - one.turn_rad, modulo)
    same = (away < NEAR_MM) & fits & (np.abs(turn) < SAME_TURN_RAD)
    if same.any():
        return 1.0 if bases[same, 6].max() >= LEAST_VISIBLE else None
    return 0.0


# --- weights ---


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The hypotheses of one table."""

    truth: Array
    """(N,): 1 for a base, 0 for none, -1 for what counts neither way."""
    own: Array
    """(N, 11): what is known of each alone."""
    relations: Relations

    @classmethod
    def of(cls, rows: Array) -> "Judged":
        places = Places(rows[:, 2:4], rows[:, 4], rows[:, 5:7])
        return cls(rows[:, 1], rows[:, 7:], Relations.of(places))

    def shared(self, odds: Array) -> Array:
        """All features of each, by the log odds of all."""
        return np.column_stack([self.own, self.relations.features(self.relations.chances(odds))])


def fitted(tables: Sequence[Judged]) -> tuple[Array, Array]:
    """The weights of a base alone, and of one among others: each round is fitted on the chances of the last."""
    truth = np.concatenate([one.truth for one in tables])
    counts = truth >= 0

    alone = ridge_regression(np.concatenate([one.own for one in tables])[counts], truth[counts])
    odds = [one.own @ alone for one in tables]
    directions = [DIRECTIONS.get(name, 0) for name in FEATURES[1:]]
    for _ in range(ROUNDS):
        features = [one.shared(some) for one, some in zip(tables, odds, strict=True)]
        said = np.concatenate(features)[counts], truth[counts]
        among = rising_regression(*said, SCALES, directions, RIDGE_OF_PRODUCTS)
        odds = [with_products(some, SCALES) @ among for some in features]
    return alone, among


def settled(table: Judged, alone: Array, among: Array) -> Array:
    """The log odds of each among the others."""
    odds = table.own @ alone
    for _ in range(ROUNDS):
        odds = with_products(table.shared(odds), SCALES) @ among
    return odds


def _calibration(odds: Array, truth: Array) -> str:
    """How many are right between two scores."""
    score = 1 / (1 + np.exp(-odds))
    told = []
    for low, high in pairwise((0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 1.0)):
        some = truth[(score >= low) & (score < high) & (truth >= 0)]
        told.append(f"{low:g}-{high:g}: {int(some.sum())} of {len(some)}")
    return "  ".join(told)


def _record(options: argparse.Namespace, alone: Array, among: Array, tables: int) -> str:
    """The text of the weights' file, with their origin."""
    names = [f"alone_{name}" for name in OWN_FEATURES] + [*names_with_products(FEATURES)]
    data = (
        f"logistic regression on {tables} painted and traced tables that taught nothing, half of the "
        "traced ones with printed squares"
    )
    program = f"fit_regiment_score.py --seed {options.seed} --painted {options.painted} --tables TABLES --write"
    return weights_text(names, np.concatenate([alone, among]), data, program)


if __name__ == "__main__":
    main()
