"""The joint check: everything published about one population put into one set of equations.

Asked about are the figures that some release hides, rounds or perturbs, and the finest cells that no release shows. The
first are given away when a single value is left, or less than the limits want; the second when a value is left that is
small enough to point at somebody.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.decide.ledger.arithmetic import shown
from discreet.decide.ledger.entry import Entry
from discreet.decide.ledger.findings import Cause, Finding
from discreet.decide.ledger.joining import joined, unrelated
from discreet.feasible.bounds import Bounds, bounds
from discreet.table.blocks import blocks_of
from discreet.table.equations import equations_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release

BoolArray = npt.NDArray[np.bool_]
PROOFS = 200
"""How many findings get their arithmetic written out."""


@dataclass(frozen=True)
class Settings:
    """What counts as given away, and how long may be searched."""

    threshold: float | None
    width: float | None = None
    dr: float | None = None
    time_limit: float | None = None
    workers: int | None = None
    progress: Progress | None = None


@dataclass(frozen=True)
class Sheet:
    """One published table and the release that it belongs to."""

    figures: Figures
    entry: Entry


def sheets_of(release: Release, entry: Entry) -> list[Sheet]:
    """Return the tables of a release."""
    return [Sheet(part, entry) for part in release.parts()]


@dataclass(frozen=True)
class Joint:
    """What tables give away together, how many figures could not be bounded in time, and what could not be related."""

    findings: tuple[Finding, ...] = ()
    unfinished: int = 0
    unrelated: tuple[str, ...] = ()

    def __or__(self, other: Joint) -> Joint:
        """Return what either finds: releases that state less may belong with one set of others, or with another."""
        seen = {(finding.name, finding.subtraction) for finding in self.findings}
        more = [finding for finding in other.findings if (finding.name, finding.subtraction) not in seen]
        return Joint(
            tuple(sorted([*self.findings, *more], key=_order)),
            self.unfinished + other.unfinished,
            tuple(dict.fromkeys([*self.unrelated, *other.unrelated])),
        )


def joint_findings(new: Sequence[Sheet], earlier: Sequence[Sheet], settings: Settings) -> Joint:
    """Return what all tables give away together."""
    laid = _joined([*earlier, *new])
    work = _Work(laid, settings)
    given_away, faults = work.given_away()
    apart = bool(earlier) and given_away.size > 0
    old = _Work(laid[: len(earlier)], settings) if apart else None
    alone = _Work(laid[len(earlier) :], settings) if apart else None
    cells = [work.equations.cell(i) for i in given_away.tolist()]
    before = {} if old is None else old.intervals(cells)
    itself = {} if alone is None else alone.intervals(cells)
    scale = 10**work.equations.decimals
    findings = []
    for k, (i, cell) in enumerate(zip(given_away.tolist(), cells, strict=True)):
        known, own = before.get(k), itself.get(k)
        cause: Cause = "before" if known and known[2] else "itself" if not earlier or (own and own[2]) else "together"
        lower, upper = _ends(work.found, i, scale)
        terms, releases, text = shown(work.found, i, work.sheets, k < PROOFS)
        findings.append(
            Finding(
                cell,
                work.equations.describe(i),
                lower,
                upper,
                _narrower(known, own),
                cause,
                faults[k],
                releases,
                terms,
                text,
            )
        )
    foreign = unrelated([sheet.figures for sheet in laid], len(new))
    texts = []
    for name, tables in foreign.items():
        titles = dict.fromkeys(f"«{laid[k].entry.title}»" for k in tables)
        texts.append(
            f"dimension {name} has other categories in {', '.join(titles)} and no hierarchy relates them, so that "
            "their differences could not be checked; give one with the categories of both (hierarchies=, --hierarchy)"
        )
    return Joint(tuple(sorted(findings, key=_order)), work.unfinished(), tuple(texts))


def _order(finding: Finding) -> tuple[int, bool, float, str]:
    rank = {"together": 0, "itself": 1, "before": 2}
    return rank[finding.cause], not finding.exact, finding.upper, finding.name


def _joined(sheets: Sequence[Sheet]) -> list[Sheet]:
    parts = joined([sheet.figures for sheet in sheets])
    return [Sheet(part, sheet.entry) for part, sheet in zip(parts, sheets, strict=True)]


class _Work:
    """Tables laid over each other, and the bounds of what is asked about."""

    def __init__(self, sheets: Sequence[Sheet], settings: Settings) -> None:
        self.settings, self.sheets = settings, sheets
        try:
            self.equations = equations_of([sheet.figures for sheet in sheets])
            self.protected = self._protected()
            self.asked = self._asked() & ~self.protected
            self.found = self._bounds(np.flatnonzero(self.protected | self.asked))
        except (DataError, InfeasibleError) as error:
            titles = list(dict.fromkeys(f"«{sheet.entry.title}»" for sheet in sheets))
            if len(titles) < 2:
                raise
            raise type(error)(
                f"{', '.join(titles[:-1])} and {titles[-1]} cannot all be true of one population: {error}. Where they "
                "are about other people, another time or another amount, say so (--population, --period, --variable); "
                "an earlier release that does not say so is withdrawn (--unseen) and added again with what it is about"
            ) from None

    def _bounds(self, targets: IntArray) -> Bounds:
        s = self.settings
        return bounds(self.equations, targets, time_limit=s.time_limit, workers=s.workers, progress=s.progress)

    def _protected(self) -> BoolArray:
        """Return which positions some table hides, rounds or perturbs."""
        found = np.zeros(self.equations.lower.size, bool)
        for sheet in self.sheets:
            lower, upper = sheet.figures.ranges()
            found[self.equations.rows_of(sheet.figures)[lower < upper]] = True
        return found

    def _asked(self) -> BoolArray:
        """Return the finest cells of every block of dimensions that no table shows."""
        space = self.equations.space
        found = np.zeros(self.equations.lower.size, bool)
        sizes = {axis.name: len(axis.nodes) for axis in space.axes}
        for block in blocks_of([frozenset(sheet.figures.names) for sheet in self.sheets], sizes):
            inner = np.zeros(1, np.int64)
            for axis, stride in zip(space.axes, space.strides, strict=True):
                codes = np.array(axis.leaves if axis.name in block else (0,), np.int64)
                inner = (inner[:, None] + stride * codes).ravel()
            # Tables of a part of a dimension leave out what they do not cross.
            at = self.equations.locate(inner)
            found[at[at >= 0]] = True
        return found & (self.equations.source < 0)

    def given_away(self) -> tuple[IntArray, list[str]]:
        """Return the positions that are known too well, and why."""
        exact, narrow, close, small = self._faults()
        chosen = np.flatnonzero(exact | narrow | close | small)
        return chosen, [self._reason(i, exact[i], narrow[i], close[i]) for i in chosen.tolist()]

    def _faults(self) -> tuple[BoolArray, BoolArray, BoolArray, BoolArray]:
        """Return the protected figures that are exact, too narrow, too risky, and small cells that nobody showed."""
        found, settings = self.found, self.settings
        scale = 10**self.equations.decimals
        exact = found.lower == found.upper
        values = found.values
        none = np.zeros(exact.size, bool)
        narrow, close = none, none
        if settings.width is not None:
            narrow = self.protected & ~exact & (values - 1 < settings.width * scale)
        if settings.dr is not None:
            close = self.protected & ~exact & (np.log2(np.maximum(values, 2)) * settings.dr < 1)
        top = math.inf if settings.threshold is None else settings.threshold * scale
        small = self.asked & exact & (found.lower > 0) & (found.lower < top)
        return self.protected & exact, narrow, close, small

    def _reason(self, i: int, exact: bool, narrow: bool, close: bool) -> str:
        if self.asked[i]:
            return "no release shows it, but it can be worked out exactly"
        if exact:
            return "can be worked out exactly"
        wide, values = self.found.values[i] - 1, self.found.values[i]
        scale = 10**self.equations.decimals
        texts = [f"interval {wide / scale:g} wide, less than {self.settings.width or 0:g}"] if narrow else []
        texts += [f"risk {1 / math.log2(values):.4g}, more than {self.settings.dr or 0:g}"] if close else []
        return "; ".join(texts)

    def unfinished(self) -> int:
        """Return how many figures could not be bounded in time."""
        return int(np.count_nonzero(~self.found.finished & (self.protected | self.asked)))

    def intervals(self, cells: Sequence[dict[str, str]]) -> dict[int, tuple[float, float, bool]]:
        """Return the ends of cells by their number, and whether they are given away; cells not met are left out."""
        scale = 10**self.equations.decimals
        given = np.logical_or.reduce(self._faults()) | (
            ~self.protected & ~self.asked & (self.found.lower == self.found.upper)
        )
        found = {}
        for k, cell in enumerate(cells):
            known = {name: label for name, label in cell.items() if name in self.equations.space.names}
            rest = [label for name, label in cell.items() if name not in known]
            try:
                i = self.equations.find(known)
            except RequestError:
                continue
            if any(label != "Total" for label in rest):
                continue
            lower, upper = _ends(self.found, i, scale)
            found[k] = (lower, upper, bool(given[i]))
        return found


def _ends(found: Bounds, i: int, scale: int) -> tuple[float, float]:
    lower, upper = int(found.lower[i]), int(found.upper[i])
    return (
        lower / scale if lower > -UNBOUNDED else -math.inf,
        upper / scale if upper < UNBOUNDED else math.inf,
    )


def _narrower(*intervals: tuple[float, float, bool] | None) -> tuple[float, float] | None:
    known = [interval for interval in intervals if interval is not None]
    if not known:
        return None
    lower, upper, _ = min(known, key=lambda interval: interval[1] - interval[0])
    return lower, upper
