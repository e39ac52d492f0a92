"""Fit the weights of a round base's score in play: prints their file, or writes it beside the networks' weights.

python tools/training/fit_round_score.py --painted 60 --tables build/tables --write

Painted tables as people play on them (`synthetic.painted`) teach what is no base; traced ones, where a folder of them
with their truth is named, teach what bases look like. Each third of the tables is also scored by weights fitted on the
others, to tell how often a score is right. The weights are held to those of before. The constant says nothing of how
many guesses are bases: the program infers that from each photo.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from overruler.bases import catalogue
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.camera.marker_layout import POINTS_BUDGET
from overruler.vision.detection.sizes import round_radii_mm
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.in_play_net import look_in_play
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX
from overruler.vision.learned.patches import photo_pyramid
from overruler.vision.learned.rim_net import RimEstimates, estimate_rims
from overruler.vision.learned.shapes_in_play import find_shapes
from overruler.vision.rounds import scoring
from overruler.vision.rounds.fit_rounds import _centre_sigma_mm
from overruler.vision.rounds.further_networks import features_in_play
from overruler.vision.rounds.ring_filter import are_visible, find_candidates
from overruler.vision.rounds.size_likelihood import SizeHypothesis, fit_sizes
from overruler.vision.rounds.suppression import suppress_overlaps
from overruler.vision.rounds.table_sizes import sizes_in_play
from synthetic.arrays import Picture, Rng
from synthetic.camera import View, patch_view
from synthetic.from_above.crowds import crowd_photo
from synthetic.from_above.quick_tables import DISC
from synthetic.from_above.sheet import drawn_view, visible_share
from synthetic.painted.paint import photo_of
from synthetic.painted.scene import make_scene
from synthetic.painted.wardrobe import Wardrobe
from training.lessons.rims.photos import round_bases
from training.regression import HELD, logistic_regression
from training.score_tables import (
    Table,
    judged_rows,
    kept_rows,
    read_options,
    teaching_tables,
    tell_weights,
)

REACH_MM, FINER, TILES = 190.0, 2, 40
"""How far a painted table reaches, samples of a pixel's side, and the mats that tables lie on."""
USUAL_TILT, LOW_TILT, LOW_SHARE = 0.74, 1.05, 0.33
"""The largest tilt of most cameras and of the others, in radians, and the share of those."""
NEAR_SHARE, NEAR_LOG = 0.35, 0.16
"""A guess is a base's whose middle lies so near, in radii, and whose size differs so little."""
CROWDED = 0.7
"""The share of painted tables with units."""
LEAST_VISIBLE = 0.15
"""Bases of which less is in sight count neither way."""
FOLDS = 3
RIDGE = 3.0
"""How firmly weights are held to those of before, on features of spread 1."""
IDLE = (4, 5)
"""The places of the contrast and of the same-size ratio among the weights. They count for nothing: the look and the
company that is near tell all that they do."""
FILE = "round_score_in_play"
"""The file of the weights."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_options(__doc__, 7, arguments)
    rows = kept_rows(options.rows, lambda: _rows(options))
    tables = f"{len(set(rows[:, 0]))} tables painted with units and clutter, and traced"
    tell_weights(options, FILE, _fitted(rows), tables, "fit_round_score.py")


def _rows(options: argparse.Namespace) -> Array:
    """A row a guess: the table's number, whether it is a base, and the features of its score."""
    tables = teaching_tables(options, 31, painted_table, round_bases, mats=TILES)
    return judged_rows(tables, judged, "guesses")


def random_view(rng: Rng) -> View:
    """A camera over a painted table, some from low."""
    most_tilt = LOW_TILT if rng.random() < LOW_SHARE else USUAL_TILT
    return patch_view(rng, REACH_MM, float(rng.uniform(0.4, 1.1)), most_tilt)


def painted_table(
    seed: Sequence[int], tiles: Sequence[Picture], wardrobe: Wardrobe | None = None
) -> Table:
    """A table that nothing was taught on: units in play, or what the lessons of the rims show."""
    rng = np.random.default_rng(list(seed))
    view = random_view(rng)
    if rng.random() < CROWDED:
        photo, found = crowd_photo(rng, view, tiles, REACH_MM, wardrobe)
        discs = found[found[:, 5] == DISC]
        bases = np.column_stack([discs[:, :2], discs[:, 2] / 2, discs[:, 6]])
    else:
        photo, bases = _plain_photo(rng, view, tiles, wardrobe)
    flat = drawn_view(photo, view.camera, REACH_MM, OVERVIEW_MM_PER_PX)
    return Table(photo, view.camera, flat, bases)


def _plain_photo(
    rng: Rng, view: View, tiles: Sequence[Picture], wardrobe: Wardrobe | None
) -> tuple[Picture, Array]:
    """A photo, and the place, radius and visible share of its round bases (M, 4)."""
    scene = make_scene(rng, REACH_MM, tiles, wardrobe)
    photo, owners = photo_of(rng, scene, view, FINER, tiles)
    fine: View = view.resized(FINER)
    bases = [
        [*plate.center_mm, plate.radius_mm, visible_share(k, plate, owners, fine)]
        for k, plate in enumerate(scene.plates)
        if plate.is_base
    ]
    return photo, np.array(bases).reshape(-1, 4)


def judged(table: Table) -> Iterator[list[float]]:
    """Of each guess on a table: whether it is a base, and the features of its score."""
    frame, radii = Frame(table.photo, "table"), round_radii_mm(catalogue())
    discs, levels = find_discs(table.view, table.camera, in_play=True), photo_pyramid(frame)
    shapes = find_shapes(levels, table.camera, discs)
    shapes = shapes.among(are_visible(table.view, table.cards, shapes.shapes[:, :2]))
    above = discs.rounds
    near = find_candidates(table.view, radii.tolist(), table.cards, known=above)
    circles = np.concatenate([np.column_stack([near.xy_mm, near.radius_mm]), shapes.circles])
    if not len(circles):
        return
    estimates = estimate_rims(frame, table.camera, circles, look_in_play)
    chosen = suppress_overlaps(estimates, radii)
    if not chosen:
        return
    guesses = estimates[np.array(chosen, int)]
    fits = _fits(frame, table.camera, guesses, radii)
    contrasts, ratios = scoring.relative_contrast(guesses, fits), scoring.same_size_ratio(guesses)
    seen = scoring.probability_from_above(guesses, above)
    further = features_in_play(frame, table.camera, guesses)
    for i, tried in enumerate(fits):
        said = verdict(guesses, i, table.bases)
        if tried and said is not None:
            more = contrasts[i], ratios[i], float(seen[i])
            yield [said, *scoring.score_features(guesses, i, tried, *more), *further[i].tolist()]


def _fits(
    frame: Frame, camera: Camera, guesses: RimEstimates, radii: Array
) -> list[list[SizeHypothesis]]:
    """The fits of guesses, as `fit_rounds` makes them."""
    plausible = sizes_in_play(guesses, radii, camera, POINTS_BUDGET.scale_share).plausible
    sigmas = _centre_sigma_mm(guesses)[:, None]
    return fit_sizes(frame, camera, guesses.xy_mm[:, None], sigmas, plausible, radii)


def verdict(guesses: RimEstimates, i: int, bases: Array) -> float | None:
    """1 for a base, 0 for none, None for what counts neither way."""
    if not len(bases):
        return 0.0
    away = np.linalg.norm(bases[:, :2] - guesses.xy_mm[i], axis=1) / bases[:, 2]
    size = np.abs(np.log(bases[:, 2] / guesses.radius_mm[i]))
    here = int(np.argmin(away + size))
    if away[here] < NEAR_SHARE and size[here] < NEAR_LOG:
        return 1.0 if bases[here, 3] >= LEAST_VISIBLE else None
    return 0.0


# --- weights ---


def _fitted(rows: Array) -> Array:
    """The weights on all tables; they say nothing of the odds on these tables."""
    weights, truth = cross_validated(rows, FILE, fitted), rows[:, 1]
    weights[0] -= np.log(truth.mean() / (1 - truth.mean()))
    return weights


def cross_validated(rows: Array, file: str, fit: Callable[[Array, Array, Array], Array]) -> Array:
    """The weights on all tables; prints how often the scores of tables not fitted on are right.

    `fit` takes features, truth and the weights before, which the file holds.
    """
    table, truth, signs = rows[:, 0], rows[:, 1], rows[:, 2:]
    before = np.array(list(load_coefficients(file).values()))
    odds = np.zeros(len(rows))
    for fold in range(FOLDS):
        kept = table % FOLDS == fold
        odds[kept] = signs[kept] @ fit(signs[~kept], truth[~kept], before)
    for told, said in (("before", signs @ before), ("now", odds)):
        print(f"{told}: {_calibration(said, truth)}")
    return fit(signs, truth, before)


def fitted(signs: Array, truth: Array, before: Array) -> Array:
    """Weights by regression, near those of before; those of what is idle are 0."""
    is_idle = np.isin(np.arange(len(before)), IDLE)
    return regression(signs, truth, np.where(is_idle, 0.0, before), is_idle)


def _calibration(odds: Array, truth: Array) -> str:
    """How many are right between two scores, and the share of bases over two thirds."""
    score = 1 / (1 + np.exp(-odds))
    edges = (0.0, 0.1, 0.3, 0.5, 2 / 3, 0.8, 0.9, 0.97, 1.0)
    told = []
    for low, high in pairwise(edges):
        some = truth[(score >= low) & (score < high)]
        told.append(f"{low:.2f}-{high:.2f}: {some.mean():.2f} of {len(some)}" if len(some) else "")
    over = score >= 2 / 3
    found, right = truth[over].sum() / max(truth.sum(), 1), truth[over].mean() if over.any() else 0
    return f"{', '.join(filter(None, told))}; found {found:.3f}, right {right:.3f}"


def regression(
    signs: Array, truth: Array, before: Array, held: NDArray[np.bool_] | bool = False
) -> Array:
    """Weights near those of before, on features of spread 1; those `held` stay."""
    spread = np.maximum(signs.std(0), 1e-3)
    spread[0] = 1.0
    stiff = np.where(held, HELD, RIDGE * spread**2)
    return logistic_regression(signs, truth, stiff, before)


if __name__ == "__main__":
    main()
