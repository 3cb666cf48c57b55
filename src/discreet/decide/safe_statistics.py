"""Statistics of true values beside suppressed figures: those that the audit finds safe, the others held back.

Where counts are hidden, a coarse percentage or a range of it may still be published. The audit decides which: it judges
the release with all of them, and those involved in its objections are held back until there are none. Suppression can
also choose its pattern with statistics in its equations, and hide other counts for their sake; the result with the
fewest unpublished figures and statistics is taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from discreet.auditing.audit import audit
from discreet.auditing.findings import RANK, Findings
from discreet.auditing.limits import Level, Limits
from discreet.core.clock import Clock
from discreet.core.effort import Effort
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.decide.released_statistics import ReleasedStatistics
from discreet.decide.subject import Case
from discreet.evaluate.audited_suppression import AuditedSuppression
from discreet.evaluate.statistics_in_patterns import suppress_beside
from discreet.feasible.implied_statistics import without_implied
from discreet.protect.base import Method, Original, Protected
from discreet.table.equations import Equations
from discreet.table.figures import Figures
from discreet.table.grid import recode
from discreet.table.release import Release
from discreet.table.space import WHOLE
from discreet.table.statistic import Statistic, StatisticColumn
from discreet.utility.statistic_loss import StatisticLoss, statistic_loss

Cell: TypeAlias = tuple[tuple[str, str], ...]
"""A cell as audits write it: dimensions with their labels."""
ROUNDS = 4
"""Rounds of holding statistics back before all that say more than the figures are dropped: a round choice."""


@dataclass(frozen=True, eq=False)
class SafeStatistics(ReleasedStatistics):
    """Statistics of the true values of all cells of a release, as far as the audit finds them safe beside its figures.

    A release whose figures are not all exact or hidden gets the statistics of what it publishes. ``precise`` is the
    table with statistics as they were wanted, where coarser ones are published. One search of ``effort`` is for all
    audits that a release takes, or a choice among patterns, and at most half of the time that is left for everything;
    what is not found safe by then is held back.
    """

    limits: Limits = field(default_factory=Limits)
    effort: Effort = field(default_factory=Effort)
    precise: Figures | None = None
    clock: Clock | None = None

    def lost(self, release: Release) -> tuple[StatisticLoss, ...]:
        """Return how much a release keeps of each, compared with what was wanted before coarsening."""
        return statistic_loss(self.truth if self.precise is None else self.precise, release.parts()[0])

    def begun(self) -> SafeStatistics:
        """Return the same with its time running."""
        if self.clock is not None:
            return self
        left = self.effort.clock.left
        limits = [limit for limit in (self.effort.time_limit, None if left is None else left / 2) if limit is not None]
        return replace(self, clock=Clock.within(min(limits, default=None)))

    def beside(self, release: Release) -> Release:
        """Return a release with all statistics that are safe."""
        return self.begun()._beside(release)

    def _beside(self, release: Release) -> Release:
        plain = super().beside(release)
        held = any(one.threshold or not one.extremes for one in self.wanted.values())
        if held or len(plain.parts()) != 1 or not all(kind.exact or kind.hidden for kind in plain.parts()[0].used):
            return plain
        if any(one.statistics for one in release.parts()) and self._objections(release) is None:
            # The pattern was chosen with them.
            return release
        (part,) = plain.parts()
        shown = {column.name: column for column in part.statistics}
        every = tuple(
            shown[column.name] if self.wanted[column.name].where != "safe" else self._true(part, column)
            for column in self.truth.statistics
        )
        for _ in range(ROUNDS):
            found = replace(plain, figures=(replace(part, statistics=every),))
            wrong = self._objections(found)
            if wrong is None:
                return found
            # Held back are the statistics of cells at fault, and of all cells on a line with them.
            kept = []
            for column in every:
                apart = (np.count_nonzero(column.codes != other, axis=1) > 1 for other in wrong)
                keep = np.logical_and.reduce([np.ones(len(column), bool), *apart]) | _shown(part, column)
                kept.append(replace(column, codes=column.codes[keep], values=column.values[keep], printed=None))
            every = tuple(kept)
        return plain

    def cheapest(
        self, method: AuditedSuppression, original: Original, made: Protected, progress: Progress | None
    ) -> Protected:
        """Return the result with the fewest unpublished numbers: the pattern, or one chosen with statistics."""
        timed = self.begun()
        assert timed.clock is not None
        best = replace(made, release=timed.beside(made.release))
        wanted = {name: one for name, one in self.wanted.items() if one.where == "safe"}
        limits = [limit for limit in (method.time_limit, timed.clock.left) if limit is not None]
        timely = replace(method, time_limit=min(limits, default=None))
        for found in suppress_beside(timely, original, wanted, ("fitting", "apart"), progress=progress):
            release = timed.beside(found.release)
            if self._missing(release) < self._missing(best.release):
                best = replace(found.protected, release=release, details={**found.protected.details, "audit": "safe"})
        return best

    def _missing(self, beside: Release) -> int:
        """Return how many figures and statistics are not published."""
        hidden = sum(int(part.hidden.sum()) for part in beside.parts())
        return hidden + sum(one.wanted - one.shown for one in self.lost(beside))

    def _true(self, part: Figures, column: StatisticColumn) -> StatisticColumn:
        """Return a statistic of true values in the labels of a release."""
        codes = []
        for name, labels in part.labels.items():
            own = [self.truth.total if part.is_total(name, label) else label for label in labels]
            place = recode(self.truth.labels[name], own)
            codes.append(place[column.codes[:, self.truth.names.index(name)]])
        cells = np.stack(codes, axis=1)
        listed = {tuple(one) for one in part.codes.tolist()}
        keep = np.array([tuple(one) in listed for one in cells.tolist()], bool)
        return replace(column, codes=cells[keep], values=column.values[keep], printed=None)

    def _objections(self, release: Release) -> set[tuple[int, ...]] | None:
        """Return the cells that the audit does not find safe, in the codes of the release; None where all are.

        Only verdicts are asked for. A figure that can be its true value or 1 more is not known; this holds for most,
        and only the others need intervals.
        """
        asked = self._levels(release)
        for level in () if self.limits.width is not None else ((0, 1), (0, 0, 1)):
            wanted = {cell: self._wanted(cell, value, level) for cell, value in asked.items()}
            found = self._audited(release, Limits(levels=wanted), verdict_only=True)
            bad = found.at[found.rank != RANK["safe"]]
            if not bad.size:
                return None
            wrong = {_cell(found.equations, i) for i in bad.tolist()}
            asked = {cell: value for cell, value in asked.items() if cell in wrong}
        if self.limits.width is not None:
            found = self._audited(release, self.limits)
            bad = found.at[found.rank != RANK["safe"]]
        if not bad.size:
            return None
        (part,) = without_implied(release.parts())
        return {tuple(one) for one in _codes(found.equations, part, bad).tolist()}

    def _audited(self, release: Release, limits: Limits, *, verdict_only: bool = False) -> Findings:
        left = None if self.clock is None else self.clock.left
        return audit(release, limits=limits, proofs=0, time_limit=left, verdict_only=verdict_only).findings

    def _levels(self, release: Release) -> dict[Cell, float]:
        """Return the hidden figures of a release, as audits write their cells, and their true values."""
        (part,) = release.parts()
        true = {
            _labels(self.truth, codes): value / 10**self.truth.decimals
            for codes, value in zip(self.truth.codes.tolist(), self.truth.values.tolist(), strict=True)
        }
        return {cell: true.get(cell, 0.0) for cell in (_labels(part, one) for one in part.codes[part.hidden].tolist())}

    def _wanted(self, cell: Cell, value: float, level: tuple[int, ...]) -> Level:
        """Return what a cell must reach: its own levels, or a number of units below and above its value, or a width."""
        own = (self.limits.levels or {}).get(cell)
        if own is not None:
            return own
        unit = 10**-self.truth.decimals
        low, high = value - level[0] * unit, value + level[1] * unit
        return (low, high, level[2] * unit) if len(level) > 2 else (low, high)


def _labels(part: Figures, codes: Sequence[int]) -> Cell:
    """Return a cell of a table as audits write it, whatever the total is called."""
    named = zip(part.labels.items(), codes, strict=True)
    return tuple(sorted((name, WHOLE if part.is_total(name, labels[i]) else labels[i]) for (name, labels), i in named))


def _cell(equations: Equations, i: int) -> Cell:
    return tuple(sorted(equations.cell(i).items()))


def _codes(equations: Equations, part: Figures, at: IntArray) -> IntArray:
    """Return positions in the codes of a table."""
    own = equations.rows_of(part)
    rows = [int(np.flatnonzero(own == i)[0]) for i in at.tolist() if (own == i).any()]
    return part.codes[rows]


def _shown(part: Figures, column: StatisticColumn) -> BoolArray:
    """Say which statistics follow from published figures: these add nothing."""
    (left,) = without_implied([replace(part, statistics=(column,))])
    kept = {tuple(one) for found in left.statistics for one in found.codes.tolist()}
    return np.array([tuple(one) not in kept for one in column.codes.tolist()], bool)


def with_safe(case: Case, effort: Effort) -> Case:
    """Return a case whose statistics are published wherever that is safe, if their definitions say so."""
    if case.beside is None or not any(one.where == "safe" for one in case.beside.wanted.values()):
        return case
    limits = Limits(case.policy.limits.width, levels=case.levels())
    beside = case.beside
    return replace(case, beside=SafeStatistics(beside.wanted, beside.truth, beside.both, limits, effort))


def apply_beside(
    case: Case, method: Method, original: Any, seed: Seed = None, *, progress: Progress | None = None
) -> Protected:
    """Apply a method; suppression may choose its pattern with the statistics that are wanted where safe."""
    made = method.apply(original, seed, progress=progress)
    beside = case.beside
    if not isinstance(beside, SafeStatistics) or not isinstance(method, AuditedSuppression):
        return made
    # All statistics must be wanted wherever they are safe, whatever they say.
    plain = all(one.where == "safe" and one.extremes and not one.threshold for one in beside.wanted.values())
    return beside.cheapest(method, original, made, progress) if plain and not isinstance(original, list) else made


ALTERNATIVES = ("dropped", "kept", "coarser", "ranges")
"""Alternatives for statistics beside suppressed figures, besides showing those of published figures."""


def alternative(name: str, statistic: Statistic) -> Statistic:
    """Return a statistic wanted where safe: unchanged, in whole units or multiples of 5, or as ranges of 10.

    >>> alternative("coarser", Statistic("percentage", over={"sex": ""}, decimals=1)).decimals
    0
    >>> alternative("ranges", Statistic("percentage", over={"sex": ""}, decimals=1))
    percentage of the figures over sex, rounded down, to multiples of 10
    """
    # A mean is of published figures alone, however it is rounded.
    where = "shown" if statistic.measures else "safe"
    if name == "kept":
        return replace(statistic, where=where)
    if name == "ranges":
        return replace(statistic, decimals=0, rounding="down", step=10, where=where)
    decimals = 1 if statistic.decimals is None else statistic.decimals
    return replace(statistic, decimals=0, step=1 if decimals > 0 else 5, where=where)
