"""Pieces that may be none: what an answer about one says."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from overruler.scene import Scene
from overruler.verdict import Verdict


def with_reasons_for_doubt(scene: Scene, verdict: Verdict) -> Verdict:
    """The verdict with the pieces it is about that may be none, in the scene's order."""
    reasons = scene.reasons_for_doubt
    if not reasons:
        return verdict
    named = set(_texts_in([verdict.question, verdict.answer, verdict.pair, verdict.unnamed]))
    about = {
        scene.pieces[index].id
        for name in named & set(scene.piece_indices)
        for index in scene.sure_indices(name)
    }
    rests_on = [{"id": name, **reason} for name, reason in reasons.items() if name in about]
    return replace(verdict, rests_on=tuple(rests_on))


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in a JSON value; keys are none."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts_in(inner)
