"""What is assessed: an original in the forms that rules, measures and methods take, and the policy that it is under."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.decide.measures_beside import by_policy, measures_beside
from discreet.decide.policy import Policy, group_rule
from discreet.decide.released_statistics import ReleasedStatistics
from discreet.measures.risk import risk
from discreet.measures.risk_result import Risk
from discreet.protect.base import Original
from discreet.reading.opened import Opened
from discreet.rules.sensitivity import Sensitivity, sensitivity
from discreet.table import Table
from discreet.table.figures import Figures, units_of
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.grid import locate, recode
from discreet.table.release import Release
from discreet.table.space import WHOLE
from discreet.table.statistic import Definitions, Statistic, statistics_of
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True, eq=False)
class Subject:
    """One original: cells with all margins for the rules, inner counts for the risk, and what methods protect.

    ``table`` is None for magnitudes, which R1 and R2 do not cover. ``forms`` are the inputs of methods, by name (the
    empty name stands for all others), where these are not the original itself: linked tables, or cells with their keys.
    """

    name: str
    original: Original
    tabulation: Tabulation
    table: Table | None
    response: str | None = None
    forms: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def opened(cls, source: Opened) -> Subject:
        """Lay out an opened original."""
        found = cls.of(source.original, name=source.name, response=source.response)
        return found if source.counts is None else replace(found, table=source.counts)

    @classmethod
    def of(cls, original: Original, *, name: str = "table", response: str | None = None) -> Subject:
        """Lay an original out."""
        if isinstance(original, Table):
            return cls(name, original, Tabulation.from_table(original), original)
        if not isinstance(original, Tabulation):
            raise RequestError(f"a {type(original).__name__} cannot be assessed; give a table, records or a tabulation")
        original.check_publishable()
        if original.responses:
            chosen = original.responses[original.response(response)].name
            return cls(name, original, original, None, chosen)
        whole = tuple(original.names)
        return cls(name, original, original, original.table() if whole in original.margins else None)

    def handed(self, method: str) -> Any:
        """Return the input of a method."""
        return self.forms.get(method, self.forms.get("", self.original))

    @property
    def magnitudes(self) -> bool:
        """Whether sums are published, not counts."""
        return bool(self.tabulation.responses)

    @property
    def weighted(self) -> bool:
        """Whether the sums are of weights, which count people."""
        cells = self.tabulation
        return self.magnitudes and cells.responses[cells.response(self.response)].counts

    @property
    def headline(self) -> str:
        """What is assessed, in a line."""
        return self.original.headline

    def values(self) -> tuple[IntArray, int]:
        """Return the true figures of all cells and margins in units of their last decimal, and how many decimals."""
        return units_of(self.tabulation, self.response)

    def amounts(self) -> FloatArray:
        """Return the true figures of all cells and margins."""
        values, decimals = self.values()
        amounts: FloatArray = values / 10**decimals
        return amounts

    def as_is(self, *, margins: bool = False) -> Release:
        """Return the unprotected release of the original; of a plain table with its margins on request."""
        if isinstance(self.original, Table) and not margins:
            return Release(self.original, "none")
        if "none" in self.forms:
            sheets = self.forms["none"]
            names = [" × ".join(one.names) if len(sheets) > 1 else "original" for one in sheets]
            named = zip(sheets, names, strict=True)
            linked = [Figures.of_tabulation(one, response=self.response, name=name) for one, name in named]
            return Release(self.table, "none", figures=tuple(linked))
        return Release(self.table, "none", figures=(self.figures(),))

    def figures(self) -> Figures:
        """Return the true figures of all cells and margins, with those of a plain table that nobody is in."""
        plain = isinstance(self.original, Table) and self.original.size <= DENSE_LIMIT
        cells = self.tabulation.with_empty_cells() if plain else self.tabulation
        return Figures.of_tabulation(cells, response=self.response, name="original")

    def positions(self, part: Figures) -> IntArray:
        """Return the position of every figure of a published table among the cells, or -1."""
        columns = {axis.name: np.zeros(len(part), np.int64) for axis in self.tabulation.axes}
        for (name, labels), codes in zip(part.labels.items(), part.codes.T, strict=True):
            if name in columns:
                axis = self.tabulation.axis(name)
                columns[name] = recode([axis.total if x == part.total else x for x in labels], axis.codes)[codes]
        return self.tabulation.grid.encode(list(columns.values()))

    def marked(self, release: Release, zeros: str) -> Release:
        """Return a release of the original with what its marks reveal to readers who know the policy.

        Under a policy that calls zeros safe there is no reason to hide one: marks that do not mention zeros hide none,
        unless the original has a zero behind a mark. Otherwise they may hide some.
        """
        least = int(zeros != "unsafe" and not any(self._hides_zeros(part) for part in release.parts()))
        return release.marked(least)

    def _hides_zeros(self, part: Figures) -> bool:
        """Say whether the original has a zero behind a mark."""
        values, place = self.values()[0], self.positions(part)[part.hidden]
        row = locate(self.tabulation.cells, place)
        return bool(((place >= 0) & ((row < 0) | (values[row] <= 0))).any())

    def impossible(self) -> IntArray:
        """Return the positions of structural zeros among the cells."""
        if not isinstance(self.original, Table):
            return np.zeros(0, np.int64)
        # The total stands before the categories, which are in the table's order.
        codes = self.original.grid.decode(self.original.impossible)
        return self.tabulation.grid.encode([code + 1 for code in codes])

    def sha256(self) -> str:
        """Return the hash of the original: dimensions, cells and figures."""
        found = hashlib.sha256()
        cells = self.tabulation
        found.update(repr([(axis.name, axis.codes) for axis in cells.axes]).encode())
        largest = [one.top for level in cells.levels.values() for one in level.largest]
        for column in (cells.cells, cells.records, self.values()[0], *largest):
            found.update(np.ascontiguousarray(column).tobytes())
        if isinstance(self.original, Table):
            found.update(self.original.impossible.tobytes())
        return found.hexdigest()


Levels = dict[tuple[tuple[str, str], ...], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Case:
    """A table under a policy, with everything that its releases share.

    ``found`` is what the rules say about every cell, None if the policy has none for such a table; ``before`` is R1,
    None if there is no risk to measure; ``beside`` are statistics published with it.
    """

    subject: Subject
    policy: Policy
    found: Sensitivity | None
    before: Risk | None
    beside: ReleasedStatistics | None = None

    @classmethod
    def of(cls, subject: Subject, policy: Policy, statistics: Definitions = None) -> Case:
        """Judge and measure a table before publication."""
        beside = _beside(subject, policy, statistics_of(statistics)) if statistics else None
        found, table = _judged(subject, policy), subject.table
        before = risk(table, weights=policy.weights) if table is not None and table.possible > 1 else None
        return cls(subject, policy, found, before, beside)

    def as_is(self) -> Release:
        """Return the unprotected release of the table; percentages need its margins."""
        return self.subject.as_is(margins=self.beside is not None)

    @property
    def cells(self) -> IntArray:
        """The numbers of the sensitive cells."""
        return np.zeros(0, np.int64) if self.found is None else self.found.cells

    @property
    def positions(self) -> IntArray:
        """The positions of the sensitive cells."""
        return self.cells if self.found is None else self.found.tabulation.cells[self.cells]

    @property
    def possible(self) -> int:
        """The number K of cells that anybody can be in, 0 for magnitudes."""
        return 0 if self.subject.table is None else self.subject.table.possible

    @property
    def wants_levels(self) -> bool:
        """Whether intervals must reach the protection levels of the rules."""
        wanted = self.policy.limits.levels
        return wanted == "always" or (wanted == "magnitudes" and self.subject.magnitudes)

    @property
    def asks_lines(self) -> bool:
        """Whether the policy asks for lines with all people, or all but a few, in one cell, of tables of people."""
        rules, of_people = self.policy.rules, not self.subject.magnitudes or self.subject.weighted
        return of_people and rules.group_disclosure is not None and rules.combine == "any"

    @property
    def judges_lines(self) -> bool:
        """Whether such lines can be judged: weighted figures show where nobody is, not how few people there are."""
        return self.asks_lines and not (self.subject.weighted and self.policy.rules.group_disclosure)

    @property
    def full_lines(self) -> BoolArray | None:
        """Which cells hold everybody on a line, or all but a few; None if the policy does not ask for that."""
        rules = self.policy.rules
        if self.found is None or not self.asks_lines:
            return None
        assert rules.group_disclosure is not None
        name = group_rule(rules.group_disclosure).name
        by_rule = zip(self.found.rules, self.found.findings, strict=True)
        return next(finding.sensitive for rule, finding in by_rule if rule.name == name)

    def reach(self) -> tuple[FloatArray, FloatArray]:
        """Return the values that the intervals of the sensitive cells must reach; NaN where no rule knows a level."""
        if self.found is None:
            return np.zeros(0), np.zeros(0)
        value, found = self.found.figures[0].value[self.cells], self.found
        # A cell cannot be less than nothing, so no interval can be asked to reach below 0.
        low = np.maximum(value - found.lower[self.cells], np.minimum(value, 0.0))
        return low, value + found.upper[self.cells]

    def levels(self, *, every: bool = False) -> Levels:
        """Return what the intervals of cells must reach; with `every`, the value itself where there is no level."""
        if self.found is None:
            return {}
        (low, high), value = self.reach(), self.found.figures[0].value[self.cells]
        unasked = np.isnan(low) | np.isnan(high) | (not self.wants_levels)
        low, high = np.where(unasked, value, low), np.where(unasked, value, high)
        chosen = np.flatnonzero(~unasked | every)
        labels = [tuple(sorted(label.items())) for label in self.labels(self.cells[chosen])]
        return dict(zip(labels, zip(low[chosen].tolist(), high[chosen].tolist(), strict=True), strict=True))

    def labels(self, cells: IntArray) -> Iterable[dict[str, str]]:
        """Return the labels of cells as audits write them, whatever the total is called."""
        assert self.found is not None
        here = self.found.tabulation
        totals = {axis.name: axis.total for axis in here.axes}
        for i in cells.tolist():
            yield {name: WHOLE if code == totals[name] else code for name, code in here.label(i).items()}


def _beside(subject: Subject, policy: Policy, wanted: Mapping[str, Statistic]) -> ReleasedStatistics:
    """Return the statistics that are wanted, with what they are computed from protected under the policy."""
    cells, figure = subject.tabulation, subject.response
    measures = measures_beside(cells, figure, wanted, by_policy(policy), policy.limits.width)
    return ReleasedStatistics.of(subject.figures(), wanted, measures)


def _judged(subject: Subject, policy: Policy) -> Sensitivity | None:
    """Judge every cell by the policy's rules."""
    if subject.table is not None and not subject.table.total:
        raise DataError("every count of the table is 0, so there is nobody to protect; check the column of counts")
    cells = subject.tabulation.with_empty_cells() if policy.zeros == "unsafe" else subject.tabulation
    judges = policy.judges_of(cells)
    if not judges:
        return None
    found = sensitivity(cells, judges, response=subject.response, combine=policy.rules.combine)
    if subject.table is None or not subject.table.impossible.size:
        return found
    # What cannot occur tells nothing by not occurring.
    return replace(found, sensitive=found.sensitive & ~np.isin(cells.cells, subject.impossible()))
