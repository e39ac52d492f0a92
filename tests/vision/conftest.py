"""Fixtures of the vision tests."""

import pytest

from .sight import Sight


@pytest.fixture
def see(monkeypatch: pytest.MonkeyPatch) -> type[Sight]:
    Sight.monkeypatch = monkeypatch
    return Sight
