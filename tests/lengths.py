"""Tests with few cases in every run and many in the long one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest


def few_or_long(names: str | Sequence[str], few: object, many: object) -> pytest.MarkDecorator:
    """Run a test with few cases, and with many where long tests are asked for.

    Arguments of several names are tuples.
    """
    several = not isinstance(names, str)
    both: tuple[tuple[Any, Any], ...] = ((few, ()), (many, pytest.mark.long))
    params = [pytest.param(*(case if several else (case,)), marks=mark) for case, mark in both]
    return pytest.mark.parametrize(names, params, ids=["few", "many"])


def seeds(daily: int, long: int, name: str = "seed") -> pytest.MarkDecorator:
    """Run a test with a few seeds in every run, and with the further ones where long tests are asked for."""
    further = [pytest.param(seed, marks=pytest.mark.long) for seed in range(daily, long)]
    return pytest.mark.parametrize(name, [*range(daily), *further])
