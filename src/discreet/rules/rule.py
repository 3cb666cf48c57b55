"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray
from discreet.rules.cell_figures import CellFigures
from discreet.table.units import LevelName

Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Finding:
    """What a rule finds in every cell.

    ``figure`` is what the rule looks at, ``limit`` what it is compared with, and ``excess`` how far past the limit a
    cell is, positive where it is sensitive. ``lower`` and ``upper`` are the protection levels: by how much the interval
    that anybody can compute must reach below and above the true value; 0 where the cell is safe.
    """

    sensitive: Mask
    figure: FloatArray
    limit: FloatArray
    excess: FloatArray
    lower: FloatArray
    upper: FloatArray


@runtime_checkable
class Rule(Protocol):
    """A sensitivity rule with its parameters."""

    @property
    def name(self) -> str:
        """The rule's name in the registry."""

    @property
    def level(self) -> LevelName:
        """Whether contributors or holdings are judged."""

    @property
    def weighted(self) -> bool:
        """Whether a contributor of weight w counts as w contributors of the same size."""

    def judge(self, cells: CellFigures) -> Finding:
        """Judge every cell."""

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say in words and numbers what the rule finds in cell number i, sensitive or not."""

    @property
    def title(self) -> str:
        """The rule with its parameters."""


Judge: TypeAlias = Rule | Callable[[CellFigures], Mask | Finding]
"""A rule, or a function of the figures that serves as one."""


def finding(sensitive: Mask, figure: FloatArray, limit: FloatArray, excess: FloatArray, level: FloatArray) -> Finding:
    """Return a finding with the same protection level below and above, 0 in safe cells."""
    protection = np.where(sensitive, level, 0.0)
    return Finding(sensitive, figure, limit, excess, protection, protection)


def amount(value: float) -> str:
    """Return a figure as people read it.

    >>> amount(1234567.0), amount(352.941176), amount(0.5)
    ('1,234,567', '352.94', '0.5')
    """
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    return f"{value:,.2f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.4g}"


def where_applied(level: LevelName, weighted: bool) -> str:
    """Return what a rule's name says about its level and weights, nothing for the usual ones."""
    parts = [*(["holding level"] if level == "holding" else []), *(["weighted"] if weighted else [])]
    return f" ({', '.join(parts)})" if parts else ""


@dataclass(frozen=True)
class CustomRule:
    """A user's own rule: a function of the figures that says which cells are sensitive.

    The function returns a mask, or a whole :class:`Finding` if it knows protection levels; after a mask these are
    undefined (NaN).

    >>> from discreet.table import Table
    >>> from discreet.table.tabulation import Tabulation
    >>> from discreet.rules.cell_figures import cell_figures
    >>> cells = cell_figures(Tabulation.from_table(Table.from_array([1, 9], ["x"])))
    >>> CustomRule(lambda cells: cells.count == 9).judge(cells).sensitive.tolist()
    [False, False, True]
    """

    function: Callable[[CellFigures], Mask | Finding]
    name: str = ""
    level: LevelName = "contributor"
    weighted: bool = False

    def __post_init__(self) -> None:
        """Take the function's name."""
        own = getattr(self.function, "__name__", "custom")
        object.__setattr__(self, "name", self.name or ("custom" if own == "<lambda>" else own))

    @property
    def title(self) -> str:
        """The rule's name."""
        return f"{self.name}{where_applied(self.level, self.weighted)}"

    def judge(self, cells: CellFigures) -> Finding:
        """Call the function."""
        found = self.function(cells)
        if isinstance(found, Finding):
            return found
        mask = np.asarray(found)
        if mask.dtype != np.bool_ or mask.shape != cells.count.shape:
            raise RequestError(
                f"rule {self.name!r} returned {mask.dtype} of shape {mask.shape}; return a true or false per cell, "
                f"{cells.count.shape}"
            )
        unknown = np.full(mask.shape, np.nan)
        level = np.where(mask, np.nan, 0.0)
        return Finding(mask, unknown, unknown, unknown, level, level)

    def reason(self, cells: CellFigures, finding: Finding, i: int) -> str:
        """Say whether the rule holds."""
        return f"{self.name} calls it {'sensitive' if finding.sensitive[i] else 'safe'}"
