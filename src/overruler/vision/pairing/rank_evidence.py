"""How likely a base in rank and file stands at a place, by what several photos say of its sides.

What one photo shows of a side, a figure hides in another. So the evidence of all photos is added up
for each stretch of each side. A stretch that one photo sees well is seen: more photos of it add no more.
"""

from collections.abc import Sequence

import numpy as np

from overruler.vision.plates.regiments import MAX_STRETCH_NATS
from overruler.vision.plates.told_places import SeenPlace

MIN_LOOKS = 2
"""Photos that show a place, at least, for which it is judged by all of them."""
CONSTANT = -3.64
"""Log odds of a base where the photos say nothing. This and the three weights were fitted by logistic
regression to 99 bases of two rendered tables and 150 empty places beside them, by two photos and by three.
Of 300 such places 4 were judged wrongly, 3 of which by two photos."""
WEIGHT_OF_NETWORK = 2.33
"""Weight of the photos' mean log odds of a middle there."""
WEIGHT_OF_SIDES = 0.58
"""Weight of the evidence of all sides, in nats."""
WEIGHT_OF_WORST_SIDE = 1.23
"""Weight of the side with the least evidence."""


def rank_log_odds(looks: Sequence[SeenPlace]) -> float:
    """The log odds of a base, by what each photo says of its place."""
    network = float(np.mean([look.network_logit for look in looks]))
    nats = np.sum([look.stretch_nats for look in looks], 0)
    sides = np.clip(nats, -MAX_STRETCH_NATS, MAX_STRETCH_NATS).sum(1)
    seen = WEIGHT_OF_SIDES * sides.sum() + WEIGHT_OF_WORST_SIDE * sides.min()
    return CONSTANT + WEIGHT_OF_NETWORK * network + float(seen)
