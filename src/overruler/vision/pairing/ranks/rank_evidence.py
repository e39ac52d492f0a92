"""How likely a base in rank and file stands at a place, by what several photos say of its sides.

What one photo shows of a side, a figure hides in another. So the evidence of all photos is added up
for each stretch of each side. A stretch that one photo sees well is seen: more photos of it add no more.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from overruler.geometry.pose import Array
from overruler.vision.learned.coefficients import load_coefficients
from overruler.vision.learned.logits import sigmoid
from overruler.vision.pairing.ranks.told_places import SeenPlace
from overruler.vision.plates.regiments import MAX_STRETCH_NATS

MIN_LOOKS = 2
"""Photos that show a place, at least, for which it is judged by all of them."""
LOGIT_WEIGHTS = tuple(load_coefficients("rank_evidence").values())
"""Weights of a base's log odds; the file names the features. They were fitted by logistic regression to 419 bases
of nine rendered tables of regiments, 922 other places and, with a weight of 0.03, 125 that overlap a base: by all
three photos and by any two. With weights fitted on the other tables 409 of the bases have 0.5 or more by all three
photos, and of the other places 13."""
SHARP_MM_PER_PX = 1.0
"""Resolution up to which a photo's log odds count in full; a coarser one's count by its information."""
FEW_NATS = -4.0
"""What is added to the log odds on a table without regiments: cards, walls and boxes have corners, too. On
22 rendered tables without any seven such things had 1.9 to 7.1, where flat ones did not count."""
MAX_LOG_ODDS = 8.0
"""Largest log odds of a base, either way."""


@dataclass(frozen=True, slots=True, eq=False)
class RankEvidence:
    """What all photos say of the place of a base in rank and file."""

    seen: Mapping[int, SeenPlace]
    """By the photos' indices."""
    is_in_unit: bool = False
    """Whether others of its size stand in contact with it, in rank and file."""
    is_among_few: bool = False
    """Whether the table has few such bases."""

    def log_odds(self, photos: Collection[int]) -> float | None:
        """The log odds of a base, by these photos; None where too few of them show the place."""
        features = self.features(photos)
        return None if features is None else self._weigh(features)

    def log_odds_by(self, photo: int) -> float | None:
        """The same by what one photo alone shows; None where it was not asked.

        The weights were fitted to two photos and more. On a rendered table of regiments each of three
        photos gave 40 bases -2.4 or more, a base that had left -8, and false findings 1.6 at most.
        """
        place = self.seen.get(photo)
        return None if place is None else self._weigh(_features_of([place]))

    def _weigh(self, features: Array) -> float:
        total = float(np.dot(LOGIT_WEIGHTS, features)) + (FEW_NATS if self.is_among_few else 0.0)
        return float(np.clip(total, -MAX_LOG_ODDS, MAX_LOG_ODDS))

    def features(self, photos: Collection[int]) -> Array | None:
        """What these photos say together (4,); None where too few of them show the place.

        1, their mean log odds of a middle there, the evidence of all sides and that of the weakest, in nats.
        """
        asked = [place for index, place in self.seen.items() if index in photos]
        return _features_of(asked) if len(asked) >= MIN_LOOKS else None

    @property
    def size_chi2(self) -> float:
        """The mean squared error of the guessed size, in σ²."""
        places = [*self.seen.values()]
        chi2 = [place.size_chi2 for place in places]
        return float(np.average(chi2, weights=_votes_on_size(places))) if places else 0.0


def _features_of(places: Sequence[SeenPlace]) -> Array:
    """What looks at one place say together (4,), as `RankEvidence.features` says."""
    network = np.average([place.network_logit for place in places], weights=_votes(places))
    nats = np.sum([place.stretch_nats for place in places], 0)
    sides = np.clip(nats, -MAX_STRETCH_NATS, MAX_STRETCH_NATS).sum(1)
    return np.array([1.0, network, sides.sum(), sides.min()])


def _votes(places: Sequence[SeenPlace]) -> Array:
    """How much each photo's look from above counts."""
    scales = np.array([place.mm_per_px for place in places])
    return np.minimum(1.0, (SHARP_MM_PER_PX / scales) ** 2)


def _votes_on_size(places: Sequence[SeenPlace]) -> Array:
    """The same for a size: where a photo sees no middle, it says nothing of that."""
    return _votes(places) * sigmoid(np.array([place.network_logit for place in places]))
