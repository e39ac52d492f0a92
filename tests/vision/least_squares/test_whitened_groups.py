"""Groups of all sizes are whitened and multiplied as each would be by itself."""

import numpy as np
import pytest

from overruler.vision.least_squares.whitened_groups import WhitenedGroups

SIZES = (5, 2, 5, 3, 2)


def test_each_group_says_what_it_would_alone() -> None:
    random = np.random.default_rng(1)
    whiteners = [random.normal(size=(size, size)) for size in SIZES]
    groups = [random.normal(size=(size, 1 + 4)) for size in SIZES]
    together = WhitenedGroups(whiteners)
    found = together.products(np.concatenate(groups))
    squares = together.sums_of_squares(np.concatenate([rows[:, 0] for rows in groups]))
    for k, (whitener, rows) in enumerate(zip(whiteners, groups, strict=True)):
        residual, jacobian = whitener @ rows[:, 0], whitener @ rows[:, 1:]
        assert found.squares[k] == pytest.approx(residual @ residual)
        assert squares[k] == pytest.approx(residual @ residual)
        assert found.information[k] == pytest.approx(jacobian.T @ jacobian)
        assert found.gradient[k] == pytest.approx(jacobian.T @ residual)
