"""How likely a finding is a piece, by all photos: those that see it, and those that should but do not.

A photo that shows bare ground in its place refutes it. So do photos that all show one flat print, but
in rank and file: cards do not lie side by side.
"""

from collections.abc import Sequence

import numpy as np

from overruler.vision.contours.outlines import in_half_sizes
from overruler.vision.learned.logits import probability_to_logit, sigmoid
from overruler.vision.pairing.finding import Finding
from overruler.vision.pairing.ground.bare_ground import is_bare_instead
from overruler.vision.pairing.ground.flat_print import correlate_from_all_sides
from overruler.vision.pairing.sight import Sight
from overruler.vision.pairing.sighting import SeenPhoto

MAX_LOGIT = 5.0
"""Largest log odds by the surest photo: what deceives it once deceives it all over."""
AGREEING_NATS = (-1.0, 2.7)
"""Least and largest log-likelihood ratio of one more photo that sees something there. On 22 rendered
tables, where two photos saw something and the surer one gave it 0.6 to 0.8, 2 of 10 were pieces if the
other gave it less than 0.5; where the surer one gave 0.95 or more, 16 of 17."""
EVEN_LOGIT = 0.7
"""Log odds of a score that speaks neither for nor against, where another photo sees a base: false
findings look a little like bases from other sides too."""
FLAT_CORRELATIONS = (0.86, 0.96)
"""Least correlation of a disc in any two photos that speaks against a figure on it, and one that surely
does. On seven rendered tables 38 of 66 false findings had 0.9 or more, 3 of 217 bases had."""
FLAT_NATS = -5.0
"""Log-likelihood ratio of a disc that is surely flat. A base without a figure is flat too: photos that
are sure of it outweigh that."""
FLAT_CARD_NATS = -12.0
"""The same of a rectangle: cards look like rectangular bases in each photo. On 16 rendered tables four
cards had correlations of 0.89 to 0.99; of 132 ships' plates none had more than 0.86."""
LONE_NATS = -1.0
"""Log-likelihood ratio of a rectangle that stands in no unit: of four such false findings on three rendered
tables of regiments three had log odds of 0.8 to 1.1."""
SAME_THING_SHARE = 0.7
"""A photo that finds a base whose middle lies in a longer or angular one is not silent: it took that, or
its end, for a circle or for another size. The middle lies nearer than this share of the way to the rim."""
LEAST_WIDTH_RATIO = 0.5
"""What is taken for an angular base is wider than this share of it: a square of 80 mm, which is none, was told
over small bases of a unit."""


def piece_probability(
    finding: Finding, photos: Sequence[SeenPhoto], sight: Sight, distrust_nats: float = 0.0
) -> float:
    """The probability that a finding is a piece, by P photos; `distrust_nats` lower its log odds.

    `sight` says how much a photo that does not see it counts.
    """
    silent = sum(_silent_nats(finding, photo, sight) for photo in photos)
    odds = _rank_log_odds(finding, photos, silent)
    if odds is not None:
        return float(sigmoid(np.asarray(odds)))
    scores = np.array([one.detection.score for one in finding.sightings])
    logits = np.sort(probability_to_logit(scores, MAX_LOGIT))[::-1]
    least, most = AGREEING_NATS
    if finding.xyz_mm[2]:  # looked for on the board, a raised base has a low score
        least = 0.0
    agreeing = np.clip(logits[1:] - EVEN_LOGIT, least, most).sum()
    total = float(logits[0]) + agreeing + silent + _flat_nats(finding, photos)
    return float(sigmoid(np.asarray(total - distrust_nats)))


def _rank_log_odds(
    finding: Finding, photos: Sequence[SeenPhoto], silent_nats: float
) -> float | None:
    """The log odds of a base in rank and file by all photos together; None of others.

    Outside a unit it may be flat, or what one photo alone shows, and where it lies.
    """
    if finding.ranks is None:
        return None
    odds = finding.ranks.log_odds({photo.index for photo in photos})
    if odds is None or finding.ranks.is_in_unit:
        return odds
    alone = silent_nats if len(finding.sightings) == 1 else 0.0
    return odds + LONE_NATS + _flat_nats(finding, photos) + alone


def _flat_nats(finding: Finding, photos: Sequence[SeenPhoto]) -> float:
    """The log-likelihood ratio of how flat a base's place is."""
    least, most = FLAT_CORRELATIONS
    heading_deg = finding.sightings[0].detection.heading_deg or 0.0
    alike = correlate_from_all_sides(finding.base, finding.xyz_mm, photos, heading_deg)
    nats = FLAT_CARD_NATS if finding.base.shape == "rectangle" else FLAT_NATS
    return nats * float(np.clip((alike - least) / (most - least), 0.0, 1.0))


def _silent_nats(finding: Finding, photo: SeenPhoto, sight: Sight) -> float:
    """The log-likelihood ratio of a photo that does not see the finding; 0 of one that does."""
    if photo.index in finding.photos or not photo.shows(finding.xyz_mm):
        return 0.0
    if finding.base.shape != "circle" and _shows_something(finding, photo):
        return 0.0
    beside = (one.photo for one in finding.sightings)
    turn_rad = finding.surest.detection.turn_rad
    place = finding.base, finding.xyz_mm
    if any(is_bare_instead(photo, *place, each, turn_rad) for each in beside):
        return sight.bare_nats(finding, photo)
    return sight.silent_nats(finding, photo)


def _shows_something(finding: Finding, photo: SeenPhoto) -> bool:
    """Whether a photo finds another base whose middle lies in this one, and which may be this one."""
    z_mm, base = float(finding.xyz_mm[2]), finding.base
    least_mm = 0.0 if base.has_round_ends else LEAST_WIDTH_RATIO * base.width_mm
    found = [one for one in photo.detections if one.base.width_mm > least_mm]
    places = [photo.place_of(one, z_mm) for one in found]
    if not places:
        return False
    apart_mm = np.array(places) - finding.xyz_mm[:2]
    inside = in_half_sizes(base, apart_mm, finding.surest.detection.turn_rad)
    return bool((np.linalg.norm(inside, axis=1) < SAME_THING_SHARE).any())
