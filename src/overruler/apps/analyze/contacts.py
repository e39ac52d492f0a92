"""Who may have stood in contact with whom: the pairs at each rest whose gap is 0 within its doubt."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from overruler.apps.analyze.merge import FilmResults
from overruler.reading import Node
from overruler.rules import matrix
from overruler.rules.contact import Contact
from overruler.rules.measure import between
from overruler.scene import Scene

Data = dict[str, Any]

MIN_CONTACT_PROBABILITY = 0.025
"""Pairs that touch with a smaller probability are left out: the 95 % interval of their gap does not reach 0."""
MAX_GAP_SIGMAS = 8.0
"""Pairs farther apart than so many σ are not asked about."""


def find_contacts(film: FilmResults) -> list[Data]:
    """Each pair at each rest that may touch: the gap, its 1 σ, and the probability of contact."""
    return [
        {"time_s": rest["time_s"], **row}
        for rest in film.rests
        for row in _contacts_in_scene(Scene.from_json(rest["scene"]))
    ]


def _contacts_in_scene(scene: Scene) -> Iterator[Data]:
    found = matrix(scene)
    for i, j in combinations(range(len(found.ids)), 2):
        distance, sigma = float(found.distance_mm[i, j]), float(found.sigma_mm[i, j])
        if distance > MAX_GAP_SIGMAS * sigma:
            continue
        chance = contact_probability(scene, found.ids[i], found.ids[j])
        if chance >= MIN_CONTACT_PROBABILITY:
            pair = {"from": found.ids[i], "to": found.ids[j]}
            yield {**pair, "distance_mm": distance, "sigma_mm": sigma, "probability": chance}


def contact_probability(scene: Scene, one: str, other: str) -> float:
    """The probability that two pieces are in contact, as every game has it: no gap between their bases."""
    measure = between(scene, Node({"from": one, "to": other}, "question"))
    contact = Contact(scene, measure.pairs, (0.0,))
    return (
        contact.probabilities["true"]
        if contact.probabilities is not None
        else float(contact.answer)
    )
