"""What people's corrections taught about the scores of a table: a file, and how a score is re-weighed.

The file keeps the findings of every corrected photo, so that one photo can be forgotten. What is
learned of them is an offset and a slope of the log odds for each kind of finding.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overruler.pieces import SIZE_KEYS
from overruler.reading import Node, read_text
from overruler.writing import write_atomically

SCHEMA = "overruler/taught/1"
KINDS = tuple(SIZE_KEYS)
"""The kinds of findings: the shapes of bases."""
MAX_SCORE_LOGIT = 9.0
"""Largest log odds of a score that is believed: one in eight thousand."""
MAX_OFFSET = 9.0
"""Largest offset that a file may have, in log odds."""
SLOPES = (0.1, 10.0)
"""Least and largest slope that a file may have."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """How the scores of one kind of finding are re-weighed."""

    offset: float = 0.0
    """What is added to the log odds."""
    slope: float = 1.0
    """What the log odds are multiplied by before."""

    def reweigh(self, score: float) -> float:
        """The score that a finding of `score` deserves on this table."""
        return 1 / (1 + math.exp(-(self.offset + self.slope * log_odds(score))))

    def score_before(self, score: float) -> float:
        """The score that is re-weighed to `score`."""
        return 1 / (1 + math.exp((self.offset - log_odds(score)) / self.slope))

    @classmethod
    def from_node(cls, node: Node) -> "Weighing":
        return cls(
            _read_within(node["offset"], -MAX_OFFSET, MAX_OFFSET),
            _read_within(node["slope"], *SLOPES),
        )

    def to_json(self) -> dict[str, float]:
        return {"offset": self.offset, "slope": self.slope}


@dataclass(frozen=True, slots=True)
class JudgedFinding:
    """A finding that a person judged."""

    kind: str
    """The shape of its base."""
    score: float
    is_piece: bool

    @classmethod
    def from_node(cls, node: Node) -> "JudgedFinding":
        score = _read_within(node["score"], 0, 1)
        return cls(node["kind"].choice(KINDS), score, node["is_piece"].boolean())

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "score": self.score, "is_piece": self.is_piece}


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
        findings = tuple(JudgedFinding.from_node(item) for item in node["findings"].items())
        return cls(node["photo"].text(), node["sha256"].text(), findings)

    def to_json(self) -> dict[str, Any]:
        findings = [finding.to_json() for finding in self.findings]
        return {"photo": self.name, "sha256": self.sha256, "findings": findings}


@dataclass(frozen=True, slots=True)
class Taught:
    """The corrected photos of a table, and what they taught."""

    networks: str
    """Fingerprint of the networks that scored the findings."""
    photos: tuple[CorrectedPhoto, ...] = ()
    scores: Mapping[str, Weighing] = field(default_factory=dict)
    """The kinds whose scores are re-weighed."""

    @classmethod
    def load(cls, path: Path) -> "Taught":
        """Read a file; `BadInput` names the path of what is wrong."""
        node = Node.of_json(read_text(path), str(path))
        node["schema"].choice((SCHEMA,))
        node.reject_unknown_keys(("networks", "photos", "schema", "scores"))
        photos = tuple(CorrectedPhoto.from_node(item) for item in node["photos"].items())
        kinds = node["scores"]
        for kind in kinds.keys():  # noqa: SIM118 - a Node is no dict
            Node(kind, str(path), f"scores.{kind}").choice(KINDS)
        scores = {kind: Weighing.from_node(kinds[kind]) for kind in kinds.keys()}  # noqa: SIM118
        return cls(node["networks"].text(), photos, scores)

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all."""
        write_atomically(path, json.dumps(self.to_json(), indent=1) + "\n")

    def to_json(self) -> dict[str, Any]:
        photos = [photo.to_json() for photo in self.photos]
        return {
            "schema": SCHEMA,
            "networks": self.networks,
            "scores": _json(self.scores),
            "photos": photos,
        }

    def record(self) -> dict[str, Any]:
        """What a scene says of it."""
        return {"photos": len(self.photos), "scores": _json(self.scores)}


def taught_sentences(scene_extra: Mapping[str, Any]) -> list[str]:
    """A sentence about a scene whose scores were re-weighed; none about any other."""
    record = scene_extra.get("taught")
    if not isinstance(record, dict):
        return []
    kinds = " and ".join(record["scores"])
    count = record["photos"]
    return [f"scores of {kinds} bases are re-weighed, as {count} corrected photos taught"]


def log_odds(score: float) -> float:
    """The log odds of a score, as far as they are believed."""
    if not 0 < score < 1:
        return math.copysign(MAX_SCORE_LOGIT, score - 0.5)
    return max(-MAX_SCORE_LOGIT, min(math.log(score / (1 - score)), MAX_SCORE_LOGIT))


def _read_within(node: Node, low: float, high: float) -> float:
    value = node.number()
    return value if low <= value <= high else node.fail(f"must lie between {low:g} and {high:g}")


def _json(scores: Mapping[str, Weighing]) -> dict[str, Any]:
    return {kind: scores[kind].to_json() for kind in sorted(scores)}
