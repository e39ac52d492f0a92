"""Fit the weights of a round base's score by two networks: prints their file, or writes it.

What the usual score takes for a base, this one may refuse: the lower of the two counts. Alone it would be better
on the tables it is fitted on, and worse on those of another renderer.

python tools/training/fit_score_of_two.py TABLES... [--write]

TABLES are folders of rendered photos, each with its truth beside it. Every photo is looked at as it is and with round
prints on its mat. Each fifth of the photos is also scored by weights fitted on the others, to tell how often a score
is right. A print counts less than a base: few mats have as many.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from overruler.bases import catalogue
from overruler.frame import Frame
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.detection.sizes import round_radii_mm
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.disc_net import find_discs
from overruler.vision.learned.inference import OVERVIEW_MM_PER_PX, WEIGHTS
from overruler.vision.learned.logits import sigmoid
from overruler.vision.learned.rim_net import estimate_rims
from overruler.vision.rounds import scoring
from overruler.vision.rounds.fit_rounds import fits_of_guesses
from overruler.vision.rounds.further_networks import MIN_ASKED_SCORE, features_of_two
from overruler.vision.rounds.ring_filter import find_candidates
from overruler.vision.rounds.suppression import suppress_overlaps
from synthetic.arrays import Picture
from synthetic.from_above.sheet import Truth, read_truth, traced_view
from synthetic.printed_mats import Lookalike, print_on_mat
from training.fit_round_score import verdict
from training.lessons.rims.photos import round_bases
from training.regression import FREE, HELD, logistic_regression
from training.score_tables import cards_of, read_photo_options, rows_of_photos, weights_text

FILE = WEIGHTS / "round_score_of_two.json"
"""The file of the weights."""
PRINTS = 6
"""Prints on a photo's mat."""
PRINT_WEIGHT = 0.5
"""How much a print counts: a mat has fewer than these."""
FOLDS = 5
HELD_WEIGHTS = {1: 0.0, 5: 0.4, 6: 1.0}
"""Weights that are not fitted, by their place. The usual score asks the first network already; what company is
worth hangs on how many bases stand alone; and the look from above is trusted less than fits rendered tables, as on
tables in play."""
NUMBER, IS_BASE, COUNTS = 0, 1, 2
"""Columns of a row before its features: the photo's number, what is there, and how much it counts."""
RAISED = 2.3
"""What is added to the constant: this score only refuses what the usual one takes for a base. It then refuses one
base in 250, and four in five of the prints that the usual one takes. Raised less it would refuse more of both."""
TOLD, SURE = 2 / 3, 0.97
"""Scores over these are told, and told surely."""
EDGES = (0.1, 0.3, 0.5, 2 / 3, 0.8, 0.9, 0.97, 0.99, 1.001)
"""Bounds of the bins that are counted."""
RIDGE = 1.0
"""How firmly weights are held to 0 on features of spread 1."""


def main(arguments: Sequence[str] | None = None) -> None:
    options = read_photo_options(__doc__, arguments)
    rows, photos = rows_of_photos(options, _rows)
    _tell(rows)
    weights = _fitted(rows)
    weights[0] += RAISED
    text = _record(weights, photos)
    print(text, end="")
    if options.write:
        FILE.write_text(text, encoding="utf-8")


def _rows(seed: int, numbered: tuple[int, Path]) -> list[list[float]]:
    """A row a guess in a photo, as it is and with prints."""
    number, path = numbered
    truth, camera, photo = read_truth(path)
    rng = np.random.default_rng([seed, number])
    printed, discs = print_on_mat(rng, photo, camera, truth, PRINTS)
    plain = _judged(photo, camera, truth, [], number)
    return [*plain, *_judged(printed, camera, truth, discs, number)]


def _judged(
    photo: Picture, camera: Camera, truth: Truth, discs: Sequence[Lookalike], number: int
) -> Iterator[list[float]]:
    """Of each guess that is asked about: the photo's number, what is there, its weight, and its features."""
    frame, radii = Frame(photo, "table"), round_radii_mm(catalogue())
    view = traced_view(photo, camera, truth, OVERVIEW_MM_PER_PX)
    above, bases = find_discs(view, camera).rounds, round_bases(truth, camera)
    near = find_candidates(view, radii.tolist(), cards_of(truth), known=above)
    circles = np.column_stack([near.xy_mm, near.radius_mm])
    estimates = estimate_rims(frame, camera, circles)
    guesses = estimates[np.array(suppress_overlaps(estimates, radii), int)]
    if not len(guesses.score):
        return
    fits, likelihoods = fits_of_guesses(frame, camera, guesses, radii)
    asked = np.flatnonzero(scoring.base_probabilities(guesses, fits, above) >= MIN_ASKED_SCORE)
    more = features_of_two(frame, camera, guesses, likelihoods, asked)
    usual = scoring.feature_table(guesses, fits, above)
    for k in asked.tolist():
        at = guesses.xy_mm[k]
        is_print = any(one.holds(at) for one in discs)
        said = 0.0 if is_print else verdict(guesses, k, bases)
        if said is not None:
            yield [number, said, PRINT_WEIGHT if is_print else 1.0, *usual[k], *more[k]]


# --- weights ---


def _fitted(rows: Array) -> Array:
    """Weights by weighted logistic regression."""
    truth, counts, features = rows[:, IS_BASE], rows[:, COUNTS], rows[:, COUNTS + 1 :]
    stiff, before = RIDGE * features.var(0), np.zeros(features.shape[1])
    for place, weight in HELD_WEIGHTS.items():
        stiff[place], before[place] = HELD, weight
    return logistic_regression(features, truth, stiff + FREE, before, counts)


def _tell(rows: Array) -> None:
    """Print how often the usual score is right, and the lower of it and of that by weights of other photos."""
    fold = rows[:, NUMBER] % FOLDS
    said = np.zeros(len(rows))
    for one in range(FOLDS):
        said[fold == one] = rows[fold == one, COUNTS + 1 :] @ _fitted(rows[fold != one]) + RAISED
    usual = len(scoring.LOGIT_WEIGHTS_WITH_OVERVIEW)
    before = rows[:, COUNTS + 1 :][:, :usual] @ scoring.LOGIT_WEIGHTS_WITH_OVERVIEW
    for name, odds in (("usual", before), ("the lower", np.minimum(before, said))):
        print(f"{name}: {_told(sigmoid(odds), rows)}")


def _told(scores: Array, rows: Array) -> str:
    is_base, is_print = rows[:, IS_BASE] == 1, rows[:, COUNTS] < 1
    groups = {"bases": is_base, "prints": is_print, "others": ~is_base & ~is_print}
    told = [
        f"{name} {(scores[which] >= TOLD).sum()} ({(scores[which] >= SURE).sum()}) of {which.sum()}"
        for name, which in groups.items()
    ]
    bins = []
    for low, high in pairwise(EDGES):
        here = (scores >= low) & (scores < high)
        if here.any():
            share = np.average(is_base[here], weights=rows[here, COUNTS])
            bins.append(f"{low:.2f} to {high:.2f}: {share:.2f} of {here.sum()}")
    return f"told (surely) {', '.join(told)}; bases with scores of {', '.join(bins)}"


def _record(weights: Array, photos: int) -> str:
    """The text of the weights' file, with their origin."""
    usual = list(load_coefficients("round_score_with_overview"))
    data = (
        f"weighted logistic regression on {photos} rendered photos, as they are and with prints; "
        f"the constant raised by {RAISED}"
    )
    features = [*usual, "print_net_logit", "size_log_likelihood"]
    return weights_text(features, weights, data, "fit_score_of_two.py TABLES --write")


if __name__ == "__main__":
    main()
