"""The photos of a calibration, one after the other; those that are no use are left out with the reason."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from overruler.apps.process.progress import with_progress_bar
from overruler.errors import CannotMeasure
from overruler.vision.calibrators.left_out import join_reasons

if TYPE_CHECKING:
    from overruler.frame import Frame

T = TypeVar("T")
LeftOut = dict[str, str]
"""The reason why each photo, by its name, was left out."""


def process_photos(
    paths: Sequence[Path], process: "Callable[[Frame], T]", description: str
) -> tuple[dict[str, T], LeftOut]:
    """Process each photo; return the results by name, and the photos that failed.

    Raises `CannotMeasure` where all of them failed.
    """
    from overruler.sources.photo import load_photo

    results: dict[str, T] = {}
    left_out: LeftOut = {}
    for path in with_progress_bar(paths, description):
        try:
            results[str(path)] = process(load_photo(path))
        except CannotMeasure as reason:
            left_out[str(path)] = str(reason).removeprefix(f"{path}: ")
    if not results and len(left_out) > 1 and len(set(left_out.values())) == 1:
        raise CannotMeasure(f"none of the photos can be used: {left_out.popitem()[1]}")
    if not results:
        raise CannotMeasure("none of the photos can be used" + join_reasons(left_out))
    return results, left_out


def most_common(values: Sequence[T]) -> T:
    """The most common of some values; the first of several."""
    return Counter(values).most_common(1)[0][0]


def fit_or_explain(fit: Callable[[], T], left_out: LeftOut) -> T:
    """Run a fit; if it raises `CannotMeasure`, add the reasons why photos were left out."""
    try:
        return fit()
    except CannotMeasure as error:
        raise CannotMeasure(f"{error}{join_reasons(left_out)}") from None
