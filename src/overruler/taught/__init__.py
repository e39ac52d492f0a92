"""What people's corrections taught about a table: a file, and how a probability is re-weighed.

The file keeps the findings of every corrected photo, so that one photo can be forgotten. What is
learned of them are an offset and a slope of the log odds for each kind of finding: each shape and
size of base.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overruler.reading import Node
from overruler.writing import write_atomically

SCHEMA = "overruler/taught/1"
MAX_LOG_ODDS = 9.0
"""Largest log odds of a finding that are believed: one in eight thousand."""
MAX_OFFSET = 9.0
"""Largest offset that a file may have, in log odds."""
SLOPES = (0.1, 10.0)
"""Least and largest slope that a file may have."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How the probabilities of findings of one kind are re-weighed."""

    offset: float = 0.0
    """What is added to the log odds."""
    slope: float = 1.0
    """What the log odds are multiplied by before."""

    def reweigh(self, probability: float) -> float:
        """How likely a finding is a piece on this table."""
        return 1 / (1 + math.exp(-(self.offset + self.slope * log_odds(probability))))

    def before(self, probability: float) -> float:
        """The probability that is re-weighed to `probability`."""
        return 1 / (1 + math.exp((self.offset - log_odds(probability)) / self.slope))

    @classmethod
    def from_node(cls, node: Node) -> "Weighing":
        node.reject_unknown_keys(("offset", "slope"))
        offset = _read_within(node["offset"], -MAX_OFFSET, MAX_OFFSET)
        return cls(offset, _read_within(node["slope"], *SLOPES))

    def to_json(self) -> dict[str, float]:
        return {"offset": self.offset, "slope": self.slope}


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    """A finding that a person judged."""

    kind: str
    """The name of its base: shape and size."""
    probability: float
    """How likely it was a piece by the photo alone."""
    is_piece: bool

    @classmethod
    def from_node(cls, node: Node) -> "JudgedFinding":
        node.reject_unknown_keys(("is_piece", "kind", "probability"))
        probability = _read_within(node["probability"], 0, 1)
        return cls(node["kind"].text(), probability, node["is_piece"].boolean())

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "probability": self.probability, "is_piece": self.is_piece}


@dataclass(frozen=True, slots=True)
class CorrectedPhoto:
    """A photo that a person corrected."""

    name: str
    """Name of its file, for people."""
    sha256: str
    """Hash of its file, by which it is known again."""
    findings: tuple[JudgedFinding, ...]

    @classmethod
    def from_node(cls, node: Node) -> "CorrectedPhoto":
        node.reject_unknown_keys(("findings", "photo", "sha256"))
        findings = tuple(JudgedFinding.from_node(item) for item in node["findings"].items())
        return cls(node["photo"].text(), node["sha256"].text(), findings)

    def to_json(self) -> dict[str, Any]:
        findings = [finding.to_json() for finding in self.findings]
        return {"photo": self.name, "sha256": self.sha256, "findings": findings}


@dataclass(frozen=True, slots=True)
class Taught:
    """The corrected photos of a table, and what they taught."""

    networks: str
    """Fingerprint of the networks that found the findings."""
    photos: tuple[CorrectedPhoto, ...] = ()
    weighings: Mapping[str, Weighing] = field(default_factory=dict)
    """Of each kind of finding whose probabilities are re-weighed."""

    @classmethod
    def load(cls, path: Path) -> "Taught":
        """Read a file; `BadInput` names the path of what is wrong."""
        node = Node.of_json_file(path)
        node["schema"].choice((SCHEMA,))
        node.reject_unknown_keys(("networks", "photos", "schema", "weighings"))
        photos = tuple(CorrectedPhoto.from_node(item) for item in node["photos"].items())
        given = node["weighings"]
        weighings = {kind: Weighing.from_node(given[kind]) for kind in given.keys()}  # noqa: SIM118 - a Node
        return cls(node["networks"].text(), photos, weighings)

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_atomically(path, json.dumps(self.to_json(), indent=1) + "\n")

    def to_json(self) -> dict[str, Any]:
        photos = [photo.to_json() for photo in self.photos]
        known = {"schema": SCHEMA, "networks": self.networks}
        return {**known, "weighings": self._weighings_json(), "photos": photos}

    def record(self) -> dict[str, Any]:
        """What a scene says of it."""
        return {"photos": len(self.photos), "weighings": self._weighings_json()}

    def _weighings_json(self) -> dict[str, Any]:
        return {kind: self.weighings[kind].to_json() for kind in sorted(self.weighings)}


def taught_sentences(scene_extra: Mapping[str, Any]) -> list[str]:
    """A sentence about a scene whose probabilities were re-weighed; none about any other."""
    record = scene_extra.get("taught")
    if not isinstance(record, dict) or not isinstance(record.get("weighings"), dict):
        return []
    kinds, count = ", ".join(record["weighings"]), record.get("photos")
    return [f"how likely findings are pieces is re-weighed by {count} corrected photos: {kinds}"]


def log_odds(probability: float) -> float:
    """The log odds of a probability, as far as they are believed."""
    if not 0 < probability < 1:
        return math.copysign(MAX_LOG_ODDS, probability - 0.5)
    odds = math.log(probability / (1 - probability))
    return max(-MAX_LOG_ODDS, min(odds, MAX_LOG_ODDS))


def _read_within(node: Node, low: float, high: float) -> float:
    value = node.number()
    return value if low <= value <= high else node.fail(f"must lie between {low:g} and {high:g}")
