"""Errors held against their stated doubts and the bound, with how unsure the counts are by so few tables."""

from collections.abc import Sequence

import numpy as np

from overruler.geometry.pose import Array

COLUMNS = ("error", "bound", "ratio", "z²", "±", "in95", "±")


def figures(errors: Sequence[Array], sigma: Sequence[Array], bound: Sequence[Array]) -> list[float]:
    """The columns' figures of tables, each with its distances' errors, stated σ and bounds (P,) in mm."""
    error, least = (float(np.sqrt(np.mean(np.square(np.stack(some))))) for some in (errors, bound))
    return [error, least, error / least, *honesty(errors, sigma)]


def honesty(errors: Sequence[Array], sigma: Sequence[Array]) -> list[float]:
    """Mean z² and share within 1.96 σ, each with its 1 σ: the distances of one table say much the same."""
    z = np.stack(errors) / np.stack(sigma)
    by_table = np.mean(z**2, 1), np.mean(np.abs(z) < 1.96, 1)
    return [figure for one in by_table for figure in (one.mean(), one.std() / len(one) ** 0.5)]
