"""Fixtures of the vision tests."""

import pytest

from evaluate.drawn.views import leave_shared_errors_out

from .sight import Sight


@pytest.fixture
def see(monkeypatch: pytest.MonkeyPatch) -> type[Sight]:
    Sight.monkeypatch = monkeypatch
    return Sight


@pytest.fixture
def fits_as_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawn tables: fits err alike along and across the view, and each by itself."""
    leave_shared_errors_out(monkeypatch.setattr)
