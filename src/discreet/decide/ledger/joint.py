"""The joint check: everything published about one population put into one set of equations.

Asked about are the figures that some release hides, rounds or perturbs; the finest cells that no release shows, and the
smallest unions of them whose sum follows; cells between tables that cross without a table of all their dimensions; and,
where a policy says so, lines with all their people in one cell. Protected figures are given away when a single value is
left, or less than the limits want, which the judge of audits decides; the others when what is left is small enough to
point at somebody. What could not be asked is said.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from discreet.core.errors import DataError, InfeasibleError, RequestError
from discreet.core.numerics import IntArray
from discreet.decide.ledger.arithmetic import shown
from discreet.decide.ledger.crossing import Crossed, crossed_cells
from discreet.decide.ledger.entry import Entry
from discreet.decide.ledger.findings import Cause, Finding, Term
from discreet.decide.ledger.joining import explicit, joined, unrelated
from discreet.decide.ledger.lines import Line, full_lines
from discreet.decide.ledger.populations import with_population
from discreet.decide.ledger.settings import Settings
from discreet.decide.ledger.sheets import Sheet
from discreet.decide.ledger.sums import NODES, System, open_equations, smallest_sums
from discreet.decide.ledger.unions import describe, is_published
from discreet.feasible.bounds import Bounds, bounds
from discreet.table.blocks import blocks_of
from discreet.table.equations import equations_of
from discreet.table.kinds import UNBOUNDED
from discreet.table.space import WHOLE

BoolArray = npt.NDArray[np.bool_]
PROOFS = 200
"""How many findings get their arithmetic written out."""
NOBODY_SHOWS = "no release shows it, but it can be worked out exactly"
REMEDIES = (
    "say how they differ and check again, which keeps the check on: categories that were split differently are related "
    "by a hierarchy with those of both (--hierarchy), a release of some of the people is tagged behind the whole "
    "(--population 'residents > 18+'), a total of some categories has a code of its own that is named "
    "(--part DIMENSION=CODE) and one of everybody the same code everywhere, a corrected release names the one that it "
    "corrects (--revises ID), and another time is stated (--period). Another amount is stated by --variable, and is "
    "not put together with these. An earlier release that should say so is retagged (discreet ledger retag ID "
    "--reason …)"
)
OPEN_SUMS = (
    "not all sums of units could be asked about, for they are too many; give more time (--time-limit), or check tables "
    "of fewer units"
)
MORE_ZEROS = "more figures of 0 follow than are listed, and not all were judged; check tables of fewer categories"


Key = frozenset[tuple[str, str]] | frozenset[frozenset[tuple[str, str]]]
"""Cells and unions by their labels, which are the same in every set of equations."""
SEARCH = 30.0
"""Seconds that the search for unions takes at most, where no other limit is given."""


@dataclass(frozen=True)
class Joint:
    """What tables give away together, how many figures were not bounded in time, and what else was not judged.

    ``more_zeros`` says that not all figures of 0 that follow are among the findings.
    """

    findings: tuple[Finding, ...] = ()
    unfinished: int = 0
    unjudged: tuple[str, ...] = ()
    more_zeros: bool = False

    def __or__(self, other: Joint) -> Joint:
        """Return what either finds: releases that state less may belong with one set of others, or with another."""
        seen = {(finding.name, finding.subtraction) for finding in self.findings}
        more = [finding for finding in other.findings if (finding.name, finding.subtraction) not in seen]
        return Joint(
            tuple(sorted([*self.findings, *more], key=_order)),
            self.unfinished + other.unfinished,
            tuple(dict.fromkeys([*self.unjudged, *other.unjudged])),
            self.more_zeros or other.more_zeros,
        )


def joint_findings(new: Sequence[Sheet], earlier: Sequence[Sheet], settings: Settings) -> Joint:
    """Return what all tables give away together."""
    laid = lay([*earlier, *new])
    work = Work(laid, settings, len(earlier))
    given = [*work.cells(), *work.unions(), *work.crossings(), *work.lines()]
    apart = bool(earlier) and bool(given)
    old = Work(laid[: len(earlier)], settings) if apart else None
    alone = Work(laid[len(earlier) :], settings) if apart else None
    before, itself = (None if one is None else one.known(given) for one in (old, alone))
    proofs = work.proofs(given[:PROOFS])
    findings, sums = [], []
    for k, one in enumerate(given):
        known = None if before is None else before[k]
        own = None if itself is None else itself[k]
        cause: Cause = "before" if known and known[2] else "itself" if not earlier or (own and own[2]) else "together"
        if one.joint and cause != "together":
            # What suppression leaves of the sum of hidden figures in its own release is judged with that release.
            continue
        terms, releases, text = proofs[k] if k < len(proofs) else ((), (), "")
        if one.joint and settings.amounts:
            sums.append(text or one.name)
            continue
        findings.append(
            Finding(
                one.cell,
                one.name,
                one.lower,
                one.upper,
                _narrower(known, own),
                cause,
                one.reason,
                releases,
                terms,
                text,
                one.units,
                one.sensitive,
            )
        )
    names = {name for sheet in (*earlier, *new) for name in sheet.figures.names}
    unjudged = [*work.unjudged(), *_of_amounts(sums), *_unrelated(laid, len(new), names)]
    return Joint(tuple(sorted(findings, key=_order)), work.unfinished(), tuple(unjudged), work.more_zeros)


def _of_amounts(sums: Sequence[str]) -> list[str]:
    """Say which sums of hidden amounts follow."""
    if not sums:
        return []
    more = f"; and {len(sums) - 3:,} more" if len(sums) > 3 else ""
    return [
        f"{_count(len(sums), 'sum')} of hidden amounts can be worked out from several releases ({'; '.join(sums[:3])}"
        f"{more}), and whether that is too much depends on who contributed, which no published figure says; hide more "
        "figures until they no longer follow, or apply the rules to the cells of each sum taken as one"
    ]


def _unrelated(laid: Sequence[Sheet], new: int, names: set[str]) -> list[str]:
    """Say which dimensions, and which populations, nothing relates."""
    texts = []
    for name, tables in unrelated([sheet.figures for sheet in laid], new).items():
        titles = ", ".join(dict.fromkeys(f"«{laid[k].entry.title}»" for k in tables))
        if name not in names:
            texts.append(
                f"how the populations of {titles} lie in the one checked is not stated, so that their differences "
                "could not be checked; write each behind the one that it is inside (--population 'a > b'), or say that "
                "they share nobody (--population 'a > b | c')"
            )
            continue
        texts.append(
            f"dimension {name} has other categories in {titles} and no hierarchy relates them, so that their "
            "differences could not be checked; give one with the categories of both (hierarchies=, --hierarchy)"
        )
    return texts


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _order(finding: Finding) -> tuple[bool, int, bool, float, str]:
    rank = {"together": 0, "itself": 1, "before": 2}
    return not finding.sensitive, rank[finding.cause], not finding.exact, finding.upper, finding.name


def lay(sheets: Sequence[Sheet]) -> list[Sheet]:
    """Return tables that can be put into one set of equations."""
    listed = [explicit(sheet.figures) for sheet in sheets]
    parts = joined(with_population(listed, [sheet.entry.population for sheet in sheets]))
    return [
        # Errors name the release.
        replace(sheet, figures=replace(part, name=f"«{sheet.entry.title}»"))
        for part, sheet in zip(parts, sheets, strict=True)
    ]


@dataclass(frozen=True)
class Given:
    """Something that is given away: a cell, a union of cells (``held``, as positions), a cell between tables, a line.

    ``joint`` says that it counts only if no release gives it away by itself, and ``bits`` how many are left at most.
    """

    cell: dict[str, str]
    name: str
    lower: float
    upper: float
    reason: str
    key: Key
    held: tuple[int, ...] = ()
    units: tuple[dict[str, str], ...] = ()
    crossed: Crossed | None = None
    sensitive: bool = True
    joint: bool = False
    line: Line | None = None
    bits: float = math.nan


class Work:
    """Tables laid over each other, and the bounds of what is asked about. The first ``earlier`` of them are old."""

    def __init__(self, sheets: Sequence[Sheet], settings: Settings, earlier: int = 0) -> None:
        self.settings, self.sheets, self.earlier = settings, sheets, earlier
        self.open_sums = self.more_zeros = False
        try:
            draws = list(dict.fromkeys(sheet.draw for sheet in sheets))
            self.equations = replace(
                equations_of([sheet.figures for sheet in sheets]),
                draws=tuple(draws.index(sheet.draw) for sheet in sheets),
            )
            self.blocks = self._blocks()
            self.protected = self._protected()
            self.inner = self._inner()
            self.asked = self.inner & (self.equations.source < 0) & ~self.protected
            self.judge = settings.judge(self.equations)
            # Who is in a line is asked of every sum.
            wanted = self.protected | self.asked | (~self.equations.exact & (settings.lines is not None))
            self.found = self.judge.bound(self.equations, np.flatnonzero(wanted))
        except (DataError, InfeasibleError) as error:
            titles = list(dict.fromkeys(f"«{sheet.entry.title}»" for sheet in sheets))
            if len(titles) < 2:
                raise
            raise type(error)(
                f"{', '.join(titles[:-1])} and {titles[-1]} cannot all be true of one population: "
                f"{_clash(str(error))}; {REMEDIES}{_silent([sheet.entry for sheet in sheets])}"
            ) from None
        self.scale = self.judge.scale
        self.exact = self.found.lower == self.found.upper
        small = self.asked & settings.small(self.found.lower, self.found.upper, self.scale)
        self.judged = self.judge.judged(self.found, np.flatnonzero(self.protected | small)).findings
        self.wrong = np.zeros(self.exact.size, bool)
        self.wrong[self.judged.at[self.judged.faults.any(axis=1)]] = True

    def _blocks(self) -> list[frozenset[str]]:
        sizes = {axis.name: len(axis.nodes) for axis in self.equations.space.axes}
        return blocks_of([frozenset(sheet.figures.names) for sheet in self.sheets], sizes)

    def _protected(self) -> BoolArray:
        """Return which positions some table hides, rounds or perturbs."""
        found = np.zeros(self.equations.lower.size, bool)
        for sheet in self.sheets:
            lower, upper = sheet.figures.ranges()
            found[self.equations.rows_of(sheet.figures)[lower < upper]] = True
        return found

    def _inner(self) -> BoolArray:
        """Return the finest cells of every block of dimensions."""
        found = np.zeros(self.equations.lower.size, bool)
        for block in self.blocks:
            found[self._inner_of(block)] = True
        return found

    def _inner_of(self, block: frozenset[str]) -> IntArray:
        space = self.equations.space
        inner = space.cross({axis.name: axis.leaves for axis in space.axes if axis.name in block})
        # Tables of a part of a dimension leave out what they do not cross.
        at = self.equations.locate(inner)
        return at[at >= 0]

    # --- single cells -------------------------------------------------------------------------------------

    def cells(self) -> list[Given]:
        """Return the cells that are known too well, then those of which it follows that nobody is in them."""
        given = [self._cell(i) for i in np.flatnonzero(self.wrong).tolist()]
        none = np.flatnonzero(self.asked & self.exact & (self.found.lower == 0))
        return given + [self._cell(i) for i in none[~self._in_empty(none)].tolist()]

    def _cell(self, i: int) -> Given:
        lower, upper = _ends(self.found, i, self.scale)
        asked = bool(self.asked[i])
        reason = NOBODY_SHOWS if asked and lower == upper else "; ".join(self.reasons(i))
        reason = f"no release shows it; {reason}" if asked and lower < upper else reason
        cell = self.equations.cell(i)
        sensitive = not asked or lower > 0 or self.settings.zeros == "unsafe"
        name, bits = self.equations.describe(i), sum(self._bits(i))
        return Given(cell, name, lower, upper, reason, self._key(i), (i,), sensitive=sensitive, bits=bits)

    def _bits(self, i: int) -> tuple[float, float]:
        """Return how many bits are left of a figure, and their error; NaN where it was not judged."""
        f = self.judged
        k = int(np.searchsorted(f.at, i))
        return (float(f.bits[k]), float(f.error[k])) if k < len(f) and f.at[k] == i else (math.nan, math.nan)

    def reasons(self, i: int) -> tuple[str, ...]:
        """Say what is wrong with a figure that was judged."""
        f = self.judged
        k = int(np.searchsorted(f.at, i))
        return f.limits.phrases(f.faults[k], float(f.lower[k]), float(f.upper[k]), float(f.dr[k]))

    def _in_empty(self, cells: IntArray) -> BoolArray:
        """Say which cells lie in a figure that is published as 0, so that nothing has to follow."""
        e = self.equations
        empty: BoolArray = (e.source >= 0) & (e.lower == 0) & (e.upper == 0)
        if not cells.size or e.starts.size == 1:
            return empty.take(cells)
        whole = np.repeat(e.columns[e.starts[:-1]], np.diff(e.starts))
        while True:
            below = e.columns[empty[whole]]
            if empty[below].all():
                return empty.take(cells)
            empty[below] = True

    # --- unions of cells ----------------------------------------------------------------------------------

    def unions(self) -> list[Given]:
        """Return the smallest unions of cells whose sum is small and follows, though no release shows it."""
        e, found, settings = self.equations, self.found, self.settings
        top = settings.top(self.scale)
        system = open_equations(e.starts, e.columns, e.signs, found.lower, found.upper)
        units = self.inner & ~self.exact & (found.upper < top)
        if not units.any():
            return []
        worth = ~self.protected | self._meet(system)
        limit = settings.time_limit
        deadline = time.monotonic() + (SEARCH if limit is None else limit)
        nodes = NODES if limit is None else math.inf
        given: dict[Key, Given] = {}
        for block in self.blocks:
            mine = np.zeros(units.size, bool)
            mine[self._inner_of(block)] = True
            sums = smallest_sums(system, units & mine, found.lower, top, deadline=deadline, nodes=nodes, worth=worth)
            self.open_sums |= not sums.complete
            for held, value in sums.found:
                one = self._union(held, value)
                if one is not None:
                    given[one.key] = one
        return list(given.values())

    def _union(self, held: tuple[int, ...], value: int) -> Given | None:
        if is_published(self.equations, held):
            return None
        name, cell = describe(self.equations.space, [int(self.equations.positions[i]) for i in held])
        units = tuple(self.equations.cell(i) for i in held)
        key: Key = frozenset(self._key(i) for i in held)
        hidden = bool(self.protected[list(held)].any())
        size = value / self.scale
        return Given(cell, name, size, size, NOBODY_SHOWS, key, held, units, joint=hidden)

    def _meet(self, system: System) -> BoolArray:
        """Return the columns that stand in equations of which old and new tables are both needed."""
        e = self.equations
        row = np.repeat(np.arange(e.starts.size - 1), np.diff(e.starts))
        apart = np.zeros(e.lower.size, bool)
        if not self.earlier or not row.size:
            return apart
        sides = []
        for sheets in (self.sheets[: self.earlier], self.sheets[self.earlier :]):
            known = np.zeros(e.lower.size, bool)
            for sheet in sheets:
                lower, upper = sheet.figures.ranges()
                known[e.rows_of(sheet.figures)[lower == upper]] = True
            needed = self.exact[e.columns] & ~known[e.columns]
            sides.append(np.bincount(row, weights=needed, minlength=system.rhs.size) > 0)
        size = system.rhs.size + e.lower.size
        links = coo_array(
            (np.ones(system.row.size, np.int8), (system.row, system.rhs.size + system.column)), (size,) * 2
        )
        count, part = connected_components(links.tocsr(), directed=False)
        both = np.ones(count, bool)
        for side in sides:
            lacks = np.zeros(count, bool)
            lacks[part[: system.rhs.size][side]] = True
            both &= lacks
        columns: BoolArray = both[part[system.rhs.size :]]
        return columns

    # --- cells between tables -----------------------------------------------------------------------------

    def crossings(self) -> list[Given]:
        """Return the cells of dimensions that no table crosses, but whose small value follows from several."""
        found = self.found
        small = np.flatnonzero(self.exact & self.settings.small(found.lower, found.upper, self.scale))
        given = []
        crossings = crossed_cells(self.equations, self.blocks, small, self.exact, found.upper > 0)
        self.more_zeros = not crossings.complete
        for one in crossings.found:
            cell = self.equations.cell(one.position) | dict(one.into)
            name = ", ".join(
                f"{axis.name}={cell[axis.name]}"
                for axis in self.equations.space.axes
                if cell[axis.name] != axis.nodes[0]
            )
            value = 0.0 if one.none else int(found.lower[one.position]) / self.scale
            key = self._key(one.position) | frozenset(one.into)
            sensitive = not one.none or self.settings.zeros == "unsafe"
            given.append(Given(cell, name, value, value, NOBODY_SHOWS, key, crossed=one, sensitive=sensitive))
        return given

    # --- lines --------------------------------------------------------------------------------------------

    def lines(self) -> list[Given]:
        """Return the cells that are known to hold all people of a line, or all but a few, where that is asked."""
        if self.settings.lines is None:
            return []
        who = "everybody" if not self.settings.lines else f"all but at most {self.settings.lines} people"
        given = []
        for line in full_lines(self.equations, self.found.lower, self.found.upper, self.settings.lines):
            name, whole = self.equations.describe(line.cell), self.equations.describe(line.whole)
            key = frozenset([("line", whole), ("cell", name)])
            reason = f"{who} of {whole} is in it (group disclosure)"
            ends = _ends(self.found, line.cell, self.scale)
            given.append(Given(self.equations.cell(line.cell), name, *ends, reason, key, line=line))
        return given

    def _line_proof(self, one: Given, line: Line) -> tuple[tuple[Term, ...], tuple[str, ...], str]:
        terms, releases, how = shown(self.found, line.cell, self.sheets)
        told = dict.fromkeys(releases)
        for i in line.others:
            told |= dict.fromkeys(shown(self.found, i, self.sheets)[1])
        none = "all other cells of the line are 0" if not self.settings.lines else "so few are in all other cells"
        return terms, tuple(told), f"{how}, and {none}: {one.reason}"

    # --- what is said of them -----------------------------------------------------------------------------

    def _key(self, i: int) -> frozenset[tuple[str, str]]:
        roots = {axis.name: axis.nodes[0] for axis in self.equations.space.axes}
        return frozenset((name, label) for name, label in self.equations.cell(i).items() if label != roots[name])

    def _find(self, cell: dict[str, str]) -> int | None:
        """Return where a cell of other equations stands in these, None if nowhere."""
        known = {name: label for name, label in cell.items() if name in self.equations.space.names}
        if any(label != WHOLE for name, label in cell.items() if name not in known):
            return None
        try:
            return self.equations.find(known)
        except RequestError:
            return None

    def known(self, given: Sequence[Given]) -> list[tuple[float, float, bool] | None]:
        """Return the ends of what others give away, and whether these tables do so as well; None if they do not say."""
        plain = self.wrong | (~self.protected & ~self.asked & self.exact)
        shared = {one.key for one in self.unions()} if any(one.units for one in given) else set()
        crossed = {one.key for one in self.crossings()} if any(one.crossed for one in given) else set()
        lines = {one.key for one in self.lines()} if any(one.line for one in given) else set()
        found: list[tuple[float, float, bool] | None] = []
        for one in given:
            if one.crossed or one.units or one.line:
                same = one.key in (lines if one.line else crossed if one.crossed else shared)
                found.append((one.lower, one.upper, True) if same else None)
                continue
            i = self._find(one.cell)
            if i is None:
                found.append(None)
                continue
            told = bool(plain[i]) or (bool(self.exact[i]) and not one.sensitive)
            ends, (bits, error) = _ends(self.found, i, self.scale), self._bits(i)
            # What leaves less open than these tables do gives something away that they do not.
            less = ends != (one.lower, one.upper) or one.bits < bits - error
            found.append((*ends, told and not less))
        sums = [k for k, one in enumerate(given[:PROOFS]) if one.units and found[k] is None]
        held = {k: [self._find(unit) for unit in given[k].units] for k in sums}
        asked = {k: [i for i in at if i is not None] for k, at in held.items() if None not in at}
        if asked:
            first = self.equations.lower.size
            bounded = self._bounded([(at, given[k].name) for k, at in asked.items()])
            for n, k in enumerate(asked):
                lower, upper = _ends(bounded, first + n, self.scale)
                found[k] = (lower, upper, lower == upper)
        return found

    def _bounded(self, sums: Sequence[tuple[Sequence[int], str]]) -> Bounds:
        equations = self.equations.with_sums(sums)
        s = self.settings
        targets = np.arange(self.equations.lower.size, equations.lower.size)
        # What is known of a sum is known over real numbers.
        return bounds(equations, targets, relaxed=True, time_limit=s.time_limit, workers=s.workers, progress=s.progress)

    def proofs(self, given: Sequence[Given]) -> list[tuple[tuple[Term, ...], tuple[str, ...], str]]:
        """Return the figures from which each follows, the titles of their releases, and the sum as a line of text."""
        sums = [(one.held, one.name) for one in given if one.units]
        bounded = self._bounded(sums) if sums else self.found
        at = iter(range(self.equations.lower.size, bounded.lower.size))
        found = []
        for one in given:
            if one.crossed:
                found.append(self._crossing_proof(one, one.crossed))
            elif one.line:
                found.append(self._line_proof(one, one.line))
            elif one.units:
                found.append(shown(bounded, next(at), self.sheets))
            else:
                found.append(shown(self.found, one.held[0], self.sheets))
        return found

    def _crossing_proof(self, one: Given, crossed: Crossed) -> tuple[tuple[Term, ...], tuple[str, ...], str]:
        i = crossed.position
        terms, releases, how = shown(self.found, i, self.sheets)
        own = {name for name, _ in self._key(i)}
        told, because = dict.fromkeys(releases), []
        for name, label in crossed.into:
            with_it = [sheet for sheet in self.sheets if name in sheet.figures.names]
            titles = dict.fromkeys(s.entry.title for s in with_it if own & set(s.figures.names))
            titles = titles or dict.fromkeys(sheet.entry.title for sheet in with_it)
            told |= titles
            where = " and ".join(f"«{title}»" for title in titles)
            because.append(f"{'none of it' if crossed.none else 'all of it'} is in {name}={label} by {where}")
        value = "0" if crossed.none else self.equations.text(int(self.found.lower[i]))
        return terms, tuple(told), f"{one.name} = {value}: {how}, and {'; '.join(because)}"

    def unfinished(self) -> int:
        """Return how many figures could not be bounded in time."""
        return int(np.count_nonzero(~self.found.finished & (self.protected | self.asked)))

    def unjudged(self) -> list[str]:
        """Say what else could not be judged."""
        f = self.judged
        dark = np.count_nonzero(self.found.finished[f.at] & ~f.finished & ~f.faults.any(axis=1))
        texts = [OPEN_SUMS] if self.open_sums else []
        if dark:
            texts.append(
                f"the risk 1/H of {_count(int(dark), 'figure')} to a reader who knows the method cannot be shown, as "
                "published sums or a choice among all cells tie them to others; make each figure from its own value "
                "alone and add up the margins, or judge intervals (--min-width in place of --policy)"
            )
        if self.more_zeros and self.settings.zeros == "unsafe":
            texts.append(MORE_ZEROS)
        return texts


def told_ends(lower: int, upper: int, scale: int) -> tuple[float, float]:
    """Return two ends in units of the last decimal as people know them."""
    return (
        lower / scale if lower > -UNBOUNDED else -math.inf,
        upper / scale if upper < UNBOUNDED else math.inf,
    )


def _ends(found: Bounds, i: int, scale: int) -> tuple[float, float]:
    return told_ends(int(found.lower[i]), int(found.upper[i]), scale)


def _clash(message: str) -> str:
    """Return which figures contradict each other, without remedies, which would be for a single table.

    >>> _clash("3 figures contradict each other (a = 1; b = 2); correct one of them")
    '3 figures contradict each other (a = 1; b = 2)'
    """
    return re.split(r";(?![^()]*\))", message, maxsplit=1)[0]


def _silent(entries: Sequence[Entry]) -> str:
    """Say which releases state nothing where another does: stating it for one alone changes nothing."""
    texts = []
    for what in ("population", "period"):
        if not any(getattr(entry, what) for entry in entries):
            continue
        for entry in dict.fromkeys(entry for entry in entries if not getattr(entry, what)):
            how = f"discreet ledger retag {entry.id} --{what} … --reason …" if entry.id else f"--{what} …"
            texts.append(f". «{entry.title}» states no {what} and was taken to be about the same: say it ({how})")
    return "".join(texts)


def _narrower(*intervals: tuple[float, float, bool] | None) -> tuple[float, float] | None:
    known = [interval for interval in intervals if interval is not None]
    if not known:
        return None
    lower, upper, _ = min(known, key=lambda interval: interval[1] - interval[0])
    return lower, upper
