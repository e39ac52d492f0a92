"""Conversion between inches and millimetres.

Only the rules and the display use inches; everything else is in millimetres.
"""

import re

MM_PER_INCH = 25.4
"""Exact by definition (international inch, 1959)."""

MILLIMETRES, INCHES = "mm", "in"
UNITS = (MILLIMETRES, INCHES)
"""The units that lengths are told in; files and JSON are always in mm."""
_UNIT_WORDS = {
    MILLIMETRES: (MILLIMETRES, "millimetre", "millimetres", "millimeter", "millimeters"),
    INCHES: (INCHES, "inch", "inches", '"'),
}
"""What people call each of them."""
_NUMBER_IN_MM = re.compile(r"(?:(\d+(?:\.\d+)?) ± )?(\d+(?:\.(\d+))?) mm\b")
"""A length in a sentence, with its doubt or without."""

SIGMAS_95 = 1.96
"""Half-width of the 95 % interval of a normal distribution, in σ."""

CONTACT_TOLERANCE_MM = 1e-6
"""Lengths that differ by no more are equal: a distance within it of a line touches the line."""


def mm_from_inches(length_in: float) -> float:
    """Convert inches to millimetres."""
    return length_in * MM_PER_INCH


def inches_from_mm(length_mm: float) -> float:
    """Convert millimetres to inches."""
    return length_mm / MM_PER_INCH


def find_unit(name: str) -> str | None:
    """The unit that people call so, one of `UNITS`, without regard to case; None if there is none."""
    word = name.strip().casefold()
    return next((unit for unit, words in _UNIT_WORDS.items() if word in words), None)


def format_number(length_mm: float, unit: str, mm_digits: int = 1) -> str:
    """Format a length as a number in a unit: with `mm_digits` decimals in mm, one more in inches."""
    if unit == INCHES:
        return f"{inches_from_mm(length_mm):.{mm_digits + 1}f}"
    return f"{length_mm:.{mm_digits}f}"


def format_change(before_mm: float, after_mm: float, unit: str) -> str:
    """Format what a length was and what it becomes, with as many digits as tell the two apart."""
    for mm_digits in range(1, 4):
        before, after = (format_number(one, unit, mm_digits) for one in (before_mm, after_mm))
        if before != after and float(after):
            break
    return f"{before} → {after} {unit}"


def format_nominal(length_mm: float, unit: str) -> str:
    """Format a length that is exact by definition, without decimals that say nothing."""
    if unit == INCHES:
        return f"{round(inches_from_mm(length_mm), 3):g} in"
    return f"{length_mm:g} mm"


def format_length(length_mm: float, reach_mm: float, unit: str) -> str:
    """Format a length with the half-width of its 95 % interval, which is omitted where it is 0."""
    length = f"{format_number(length_mm, unit)}"
    if not reach_mm:
        return f"{length} {unit}"
    least_mm = mm_from_inches(0.01) if unit == INCHES else 0.1
    return f"{length} ± {format_number(max(reach_mm, least_mm), unit)} {unit} (95 %)"


def lengths_in_unit(sentence: str, unit: str) -> str:
    """Tell a sentence in mm in a unit; it must hold no names, a base of 27 mm is called so in any."""
    if unit != INCHES:
        return sentence

    def told(found: re.Match[str]) -> str:
        mm_digits = max(len(found[3] or ""), 1)
        numbers = [format_number(float(one), unit, mm_digits) for one in found.group(1, 2) if one]
        return f"{' ± '.join(numbers)} {unit}"

    return _NUMBER_IN_MM.sub(told, sentence)


def format_count(count: int, name: str) -> str:
    """A number of things in words, such as "1 piece" or "2 pieces"."""
    return f"{count} {name}{'s' * (count != 1)}"
