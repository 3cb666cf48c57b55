"""Controlled tabular adjustment: sensitive figures move to safe values, the others as little as possible.

Every sensitive figure x is published at x − lower or less, or at x + upper or more, its protection levels; other
figures move to make all sums hold with the least weighted changes. Dandekar and Cox (2002) propose it instead of
suppression: nothing is hidden, and no figure reveals on its own whether it was moved. Which way
each sensitive figure goes is an integer program; the rest is linear (absolute changes) or quadratic (squared
changes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.core.text import decimal_text
from discreet.protect.additive import SumEquations, sums_of
from discreet.protect.adjustment_program import Adjustment, ProtectionLevels, adjust
from discreet.protect.base import Changes, MethodBase, Original, Protected
from discreet.protect.checks import check_seconds
from discreet.protect.layout import grand_totals, inner_of
from discreet.protect.usage import UNLISTED, in_one_call, option
from discreet.rules.rule import Rule
from discreet.rules.rule_texts import as_rules
from discreet.rules.sensitivity import Combine, Sensitivity, sensitivity
from discreet.table import Release, Table
from discreet.table.figures import Figures, units_of
from discreet.table.kinds import EXACT, Perturbed
from discreet.table.tabulation import Tabulation

Norm: TypeAlias = Literal["absolute", "squared"]
Weights: TypeAlias = Literal["equal", "inverse"]
NORMS, WEIGHTS = ("absolute", "squared"), ("equal", "inverse")


@dataclass(frozen=True)
class TabularAdjustment(MethodBase):
    """Publish every sensitive figure at a safe distance from its value, and change the others as little as possible.

    For magnitudes: nothing is hidden, and all sums hold.

    Attributes:
        rules: the sensitivity rules; a cell that any of them (or, with ``combine="all"``, all) names is moved.
        response: the magnitude that is published, where there are several.
        norm: whether the sum of absolute or of squared changes is least.
        weights: whether a unit of change costs the same everywhere, or by the inverse of the figure.
        radius: the largest change of figures that are not sensitive, in per cent of each; none by default.
        combine: whether any rule makes a cell sensitive, or all together.
        time_limit: seconds for the search of directions.
    """

    rules: tuple[Rule, ...]
    response: str | None = field(default=None, metadata=UNLISTED)
    norm: Norm = field(default="absolute", metadata=option("Keep absolute or squared changes as small as possible."))
    weights: Weights = field(
        default="equal", metadata=option("equal, or inverse: changes relative to figures.", "--change-weights")
    )
    radius: float | None = field(
        default=None, metadata=option("Largest change of figures that are not sensitive, in %.")
    )
    combine: Combine = field(default="any", metadata=UNLISTED)
    time_limit: float = field(default=60.0, metadata=option("Seconds for the search."))
    name: ClassVar[str] = "tabular-adjustment"
    # How far figures must move is not told.
    told: ClassVar[tuple[str, ...]] = ("norm", "weights")
    seeded: ClassVar[bool] = False
    examples: ClassVar[Mapping[str, str]] = {
        "table.parquet --rule p=10 -o adjusted.csv": "by the p% rule",
        "firms.csv --by region,activity --value turnover --rule p=10 -o adjusted.csv": "from records",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(as_rules(self.rules)))
        if not self.rules:
            raise RequestError("no rule is given, so nothing is sensitive; give one (rules=, --rule p=10)")
        for what, given, known in (("norm", self.norm, NORMS), ("weights", self.weights, WEIGHTS)):
            if given not in known:
                raise RequestError(f"{what} is {given!r}; {nearest(str(given), known)}")
        if self.radius is not None and not self.radius > 0:
            raise RequestError(f"the radius is {self.radius!r}; give per cent above 0 (radius=, --radius), or none")
        check_seconds(self.time_limit)

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Adjust the figures of an original; there is nothing random in it."""
        cells = Tabulation.from_table(original) if isinstance(original, Table) else original
        found = sensitivity(cells, list(self.rules), response=self.response, combine=self.combine)
        values, decimals = units_of(cells, self.response)
        sums = sums_of(cells)
        _check_sums(cells, sums, values, decimals)
        size = np.abs(values.astype(np.float64))
        task = Adjustment(
            sums,
            values,
            levels_of(found, values, decimals),
            weights=np.ones(values.size) if self.weights == "equal" else 1.0 / np.maximum(size, 1.0),
            reach=np.full(values.size, np.inf) if self.radius is None else self.radius / 100 * size,
        )
        adjusted, gap = adjust(task, self.norm == "squared", self.time_limit, progress)
        totals = grand_totals(cells, values, adjusted)
        changes = Changes.between(values, adjusted, whole=cells.whole, total=totals, decimals=decimals)
        # The worst case for the audit: a reader is told how far a figure moved at most.
        kind = Perturbed(bound=changes.largest) if changes.largest else EXACT
        figures = Figures.of_tabulation(cells, response=self.response, values=adjusted, kind=kind, name=self.name)
        inner = None if cells.responses else inner_of(original, cells, adjusted)
        other = int(np.abs(adjusted - values)[~found.sensitive].max(initial=0))
        notes = [
            f"{found.cells.size:,} sensitive figures are at safe values; the others moved by "
            f"{decimal_text(other, decimals)} at most. All sums hold."
        ]
        if gap > 1e-6:
            notes.append(f"A nearer adjustment may exist: the changes are within {gap:.1%} of a bound.")
        cost = {"cost": changes.distance / 10**decimals, "gap": gap, "largest_other": other / 10**decimals}
        details = {"sensitive": int(found.cells.size), **cost}
        return Protected(Release(inner, self.name, self.parameters, (figures,)), changes, tuple(notes), details)


def levels_of(found: Sensitivity, values: IntArray, decimals: int) -> ProtectionLevels:
    """Return how far below and above its value each sensitive figure must be published, in units."""
    at = found.cells
    lower, upper = found.lower[at], found.upper[at]
    missing = np.flatnonzero(~np.isfinite(lower) | ~np.isfinite(upper))
    if missing.size:
        raise RequestError(
            f"cell {found.tabulation.describe(int(at[missing[0]]))} is sensitive by a rule that sets no protection "
            "levels; use a rule that does, such as p% or dominance"
        )
    scale = 10**decimals

    def units(level: FloatArray) -> IntArray:
        # A sensitive figure always moves, and by no less than its level.
        whole: IntArray = np.maximum(np.ceil(level * scale - 1e-9), 1).astype(np.int64)
        return whole

    return ProtectionLevels(at, units(lower), units(upper))


def _check_sums(cells: Tabulation, sums: SumEquations, values: IntArray, decimals: int) -> None:
    gaps = sums.sums(values)
    wrong = np.flatnonzero(gaps)
    if wrong.size:
        total = int(sums.columns[sums.starts[wrong[0]]])
        stated = int(values[total])
        raise DataError(
            f"margin '{cells.describe(total)}' is {decimal_text(stated, decimals)}, but its cells sum to "
            f"{decimal_text(stated - int(gaps[wrong[0]]), decimals)}; correct the figures"
        )


tabular_adjustment = in_one_call(TabularAdjustment)
