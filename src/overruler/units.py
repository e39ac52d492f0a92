"""Conversion between inches and millimetres.

Only the rules and the display use inches; everything else is in millimetres.
"""

MM_PER_INCH = 25.4
"""Exact by definition (international inch, 1959)."""

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


def format_length(length_mm: float, reach_mm: float, in_inches: bool) -> str:
    """Format a length with the half-width of its 95 % interval, which is omitted where it is 0."""
    unit, digits, length, reach = "mm", 1, float(length_mm), float(reach_mm)
    if in_inches:
        unit, digits = "in", 2
        length, reach = inches_from_mm(length_mm), inches_from_mm(reach_mm)
    text = f"{length:.{digits}f}"
    if not reach_mm:
        return f"{text} {unit}"
    return f"{text} ± {max(reach, 10**-digits):.{digits}f} {unit} (95 %)"


def format_round_length(length_mm: float, in_inches: bool) -> str:
    """Format a length that rules or makers chose, without needless zeros."""
    return f"{inches_from_mm(length_mm):g} in" if in_inches else f"{length_mm:g} mm"
