"""What an advised redesign brings down: a figure of the coarser table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from discreet.core.errors import DataError
from discreet.protect.base import Original
from discreet.rules import Rule, sensitivity
from discreet.rules.sensitivity import judged_cells
from discreet.table import Table
from discreet.table.tabulation import Tabulation

Score: TypeAlias = Callable[[Original], float]
"""A figure of a table: the number of sensitive cells, or a risk."""


def violations(
    rules: Sequence[Rule] | Rule, *, response: str | None = None, combine: Literal["any", "all"] = "any"
) -> Score:
    """Return the score that counts the cells and margins which the agency's rules call sensitive.

    >>> from discreet.rules import Threshold
    >>> violations(Threshold(3))(Table.from_array([1, 5, 2], ["x"]))
    2.0
    """
    judges = list(rules) if isinstance(rules, Sequence) else [rules]

    def score(original: Original) -> float:
        cells = judged_cells(Tabulation.from_table(original) if isinstance(original, Table) else original, judges)
        return float(np.count_nonzero(sensitivity(cells, judges, response=response, combine=combine).sensitive))

    return score


def checked(score: Score, original: Original) -> float:
    """Return a score, which must be a number."""
    value = float(score(original))
    if np.isnan(value):
        raise DataError("the score of a merged table is not a number; give a score that every table has")
    return value
