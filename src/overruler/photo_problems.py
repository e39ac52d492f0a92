"""The problems of the photos of a table in sentences, each once, with the photos that have it."""

from collections.abc import Mapping, Sequence

from overruler.calibration import Problem


def problem_sentences(
    shown: Sequence[Problem], by_photo: Mapping[int, Sequence[Problem]]
) -> list[str]:
    """A sentence for each problem; of several photos it begins with their numbers.

    `shown` are the problems of the photos as a whole, and of the one that is shown. `by_photo` has each
    photo's own, by its number.
    """
    if len(by_photo) < 2:
        return [problem.text for problem in shown]
    numbers: dict[str, list[int]] = {}
    for number, problems in by_photo.items():
        for text in dict.fromkeys(problem.text for problem in problems):
            numbers.setdefault(text, []).append(number)
    of_all = [problem.text for problem in shown if problem.text not in numbers]
    return of_all + [f"{_name_photos(those)}: {text}" for text, those in numbers.items()]


def _name_photos(numbers: Sequence[int]) -> str:
    """Photos by their numbers: `photo 2`, `photos 1, 3`."""
    plural = "s" if len(numbers) > 1 else ""
    return f"photo{plural} {', '.join(map(str, numbers))}"
