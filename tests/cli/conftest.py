"""Files that tests of commands read, each written from a constant of its module."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def counts(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The module's table ``COUNTS`` as a file."""
    return _written(request.module.COUNTS, tmp_path / "t.csv")


@pytest.fixture
def people(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The module's microdata ``PEOPLE`` as a file."""
    return _written(request.module.PEOPLE, tmp_path / "people.csv")


def _written(text: str, path: Path) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
