"""Contacts: the pairs of pieces at each rest whose gap may be 0."""

from collections.abc import Iterator
from itertools import combinations

from overruler.apps.analyze.merge import Data, FilmResults
from overruler.reading import Node
from overruler.rules import matrix
from overruler.rules.contact import Contact
from overruler.rules.measure import between
from overruler.scene import Scene

MIN_CONTACT_PROBABILITY = 0.025
"""Least probability of a contact that is listed: below, the 95 % interval of the gap does not reach 0."""
MAX_GAP_SIGMAS = 8.0
"""Pairs with a larger gap, in its σ, are not examined."""


def find_contacts(film: FilmResults) -> list[Data]:
    """List each pair at each rest that may touch: its gap, 1 σ of it, and the probability of contact."""
    rows = []
    for rest in film.rests:
        for row in _contacts_in_scene(Scene.from_json(rest["scene"])):
            rows.append({"time_s": rest["time_s"], **row})
    return rows


def _contacts_in_scene(scene: Scene) -> Iterator[Data]:
    distances = matrix(scene)
    for i, j in combinations(range(len(distances.ids)), 2):
        distance_mm = float(distances.distance_mm[i, j])
        sigma_mm = float(distances.sigma_mm[i, j])
        if distance_mm > MAX_GAP_SIGMAS * sigma_mm:
            continue
        first, second = distances.ids[i], distances.ids[j]
        probability = contact_probability(scene, first, second)
        if probability >= MIN_CONTACT_PROBABILITY:
            yield {
                "from": first,
                "to": second,
                "distance_mm": distance_mm,
                "sigma_mm": sigma_mm,
                "probability": probability,
            }


def contact_probability(scene: Scene, first: str, second: str) -> float:
    """The probability that two pieces touch: that there is no gap between their bases."""
    question = Node({"from": first, "to": second}, "question")
    contact = Contact(scene, between(scene, question).pairs, (0.0,))
    if contact.probabilities is None:
        return float(contact.answer)
    return contact.probabilities["true"]
