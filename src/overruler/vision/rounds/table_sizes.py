"""What is known of the sizes on one table before its bases are fitted: what is played together, and how it looks.

Where nobody prepared a table for measuring, its scale comes from points or lengths that people give. All bases
then look too large, or too small, by the same share. On any table the look of the photo may mislead the
network: it reads all radii as a little larger, or less surely, than usual. Both are inferred with the sizes.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overruler.bases import DIAMETER_SET_PRIORS, DIAMETER_SET_PRIORS_IN_PLAY, ROUND_DIAMETERS_MM
from overruler.geometry.camera import Camera
from overruler.geometry.pose import Array
from overruler.vision.learned.rim_net import RimEstimates
from overruler.vision.rounds.size_likelihood import (
    MIN_FIT_PROBABILITY,
    Reading,
    rim_net_log_likelihood,
)
from overruler.vision.rounds.size_mixture import SizeSetPrior, size_probabilities_at_scales

GIVEN_SCALE_SIGMA = 0.01
"""1 σ of a scale that points or lengths tell which people give: 5 mm in half a metre.

Of 353 round bases on photographs of games 327 have the right size so, 324 with 0.002, 325 or 326 with 0.015 to 0.03,
and 322 if the scale counts as known."""
SCALE_STEP = 0.015
"""Largest step between two scales that are tried: half of how well a network reads a base's radius."""
SCALE_REACH_SIGMAS = 2.5
"""How far off the scale may be, in σ."""
PRIOR_TOTAL_IN_PLAY = 5.0
"""Prior count of bases of all sizes of a game on a table in play.

Of 352 round bases on photographs of games 320 have the right size so, and the mean log-likelihood of the right
ones is -0.357. With 1 for each size it is 311 and -0.382. A whole table of 25 mm was told as one of 27 mm, for the game
of 27 mm has the fewest sizes. From 1 to 5 it is 320, from 8 on 309."""


OFFSET_SIGMA_MM = 0.1
"""1 σ of the offset that a network reads into all radii of one photo."""
OFFSETS_MM = OFFSET_SIGMA_MM * np.array([0.0, -2.5, -1.25, 1.25, 2.5])
"""Offsets that are tried."""
SPREAD_PRIORS = {1.0: 0.7, 1.5: 0.2, 2.2: 0.1}
"""How many times as large as usual a network's errors may be in one photo, with the prior probabilities.

Local tone mapping, heavy noise reduction and prints on the mat mislead the network: it then reads one size as two
near it, and is sure of each. Of 4482 bases on 314 rendered photos, three of four edited or with prints, 41 had a
wrong size with a probability of 0.95 or more, and 3974 the right one. With these priors, the offsets and
strays (`size_mixture`) it is 23, and 4067."""
READINGS = {
    Reading(offset_mm=float(offset), spread=spread): math.log(prior)
    - 0.5 * (float(offset) / OFFSET_SIGMA_MM) ** 2
    for spread, prior in SPREAD_PRIORS.items()
    for offset in OFFSETS_MM
}
"""How a network may read a prepared table, the usual way first, with the log priors."""


class TableSizes(NamedTuple):
    """The sizes that the bases of one table may have."""

    log_likelihoods: Array
    """(S, N, C, 2): by the rim network alone, of each size and rim kind of N bases, in each of S readings."""
    log_priors: Array
    """(S,): of the readings."""
    sets: list[SizeSetPrior]
    """What is played together."""
    prior_total: float | None = None
    """Prior count of bases of all sizes of a set; by default each size counts alike in all sets."""

    @property
    def usual(self) -> Array:
        """(N, C, 2): the log-likelihoods where the network reads a prepared table as usual."""
        return np.asarray(self.log_likelihoods[0])

    @property
    def plausible(self) -> NDArray[np.bool_]:
        """(N, C, 2): which sizes and rim kinds are likely enough to be fitted."""
        return np.asarray(self.probabilities(self.log_likelihoods) > MIN_FIT_PROBABILITY)

    def probabilities(self, log_likelihoods: Array) -> Array:
        """Return (M, C, 2): how likely each size and rim kind is, of bases with such log-likelihoods (S, M, C, 2)."""
        return size_probabilities_at_scales(
            log_likelihoods, self.log_priors, self.sets, prior_total=self.prior_total
        )


def sizes_on_table(guesses: RimEstimates, radii: Array, camera: Camera) -> TableSizes:
    """What is known of the sizes on a table that was prepared for measuring, by the rims of its N bases."""
    seen = [rim_net_log_likelihood(guesses, radii, camera, reading=reading) for reading in READINGS]
    return TableSizes(np.stack(seen), np.array(list(READINGS.values())), size_set_priors(radii))


def sizes_in_play(
    guesses: RimEstimates, radii: Array, camera: Camera, scale_sigma: float
) -> TableSizes:
    """The same on a table in play, where other networks saw the rims; `scale_sigma` is what is known to be unsure."""
    sigma = float(np.hypot(scale_sigma, GIVEN_SCALE_SIGMA))
    steps = int(np.ceil(SCALE_REACH_SIGMAS * sigma / SCALE_STEP))
    in_sigmas = SCALE_REACH_SIGMAS * np.linspace(-1, 1, 2 * steps + 1)
    seen = [
        rim_net_log_likelihood(
            guesses, radii, camera, is_pulled=False, reading=Reading(float(scale))
        )
        for scale in np.exp(sigma * in_sigmas)
    ]
    sets = size_set_priors(radii, prepared=False)
    return TableSizes(np.stack(seen), -0.5 * in_sigmas**2, sets, PRIOR_TOTAL_IN_PLAY)


def size_set_priors(radii: Array, prepared: bool = True) -> list[SizeSetPrior]:
    """Return which radii (C,) are played together; custom sizes may occur with any others.

    Few tables in play, which nobody `prepared` for measuring, are of the game of one set.
    """
    if not covers_catalogue(radii):
        return []
    custom = ~np.isin(2 * radii, ROUND_DIAMETERS_MM)
    sets = (DIAMETER_SET_PRIORS if prepared else DIAMETER_SET_PRIORS_IN_PLAY).items()
    return [(np.isin(2 * radii, sizes) | custom, prior) for sizes, prior in sets]


def covers_catalogue(radii: Array) -> bool:
    """Return whether `radii` (C,) holds the whole catalogue: nobody chose a game or sizes."""
    return set(ROUND_DIAMETERS_MM) <= set(2 * radii)
