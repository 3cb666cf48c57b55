r"""Numbers of respondents beside amounts of the same respondents: what each gives away with the other's help.

Let n be the table of numbers and a that of amounts over the crossing of all dimensions. A reader knows what is
published of either, and that a > 0 in a cell implies n ≥ 1 (:mod:`~discreet.decide.ledger.presence`). Let N be the
tables n, and A the tables a, that fit the figures of their own variable and all exchanged facts. Every pair
that fits everything is in N × A, so what follows from N or from A follows. The converse needs an argument.

**One crossing.** Let the amounts be stated for disjoint cells x (one crossing, by the finest labels of its tables), and
let every x be decided: no a in A has an amount there, or every n in N has somebody there. Take any n in N and any
amounts a(x) from A. Wherever a(x) > 0 there is a cell inside x with n ≥ 1: put a(x) there. The pair fits everything. So
the pairs that fit are N × A, as far as figures of amounts are sums of the x: the two problems are independent, and what
does not follow from N or A alone does not follow at all. If some x is not decided, readers may reason by cases, and the
check is incomplete.

**Amounts by labels of numbers.** Numbers may be stated for cells y that cut the x. Then an amount a(y) is asked about
too. If the cells of one kind lie inside those of the other, respondents can be moved as above. Otherwise let x and y
have the labels z in common, with p cells x and q cells y in z that may hold somebody. A table of n(z) respondents in z
is a graph: every respondent joins an x with a y. With n(z) ≥ p + q − 1 edges it can be made connected (while it is not,
some component has a cycle, one of whose edges can be exchanged with an edge of another component). Then some x lies in
y and in another cell of z at once, its amount can be shared out between the two in many ways, and a(y) does not follow
unless it does so from A. With fewer respondents it may: two firms, one of either size, with 15 in either branch.

**Several crossings of amounts.** A common table of amounts then needs more than one respondent in most cells: 10 and 20
by region, 15 and 15 by size are three firms at least. If the crossings form a tree and n ≥ 1 in *every* cell of the
common crossing that may hold somebody, any amounts in A have a common table there: the product of the shares. So the
numbers are asked about once more, for a reader who knows that all these cells hold somebody. What does not follow even
then does not follow; otherwise the check is incomplete.

Contributions are taken to be above 0 if that contradicts nothing: a reader who takes no amount for nobody may well be
right. This only adds to what is found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.core.errors import DataError, InfeasibleError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.text import listed, many
from discreet.decide.ledger.check_result import LedgerFinding
from discreet.decide.ledger.entry import Entry, PublishedTable
from discreet.decide.ledger.given_away import GivenAway
from discreet.decide.ledger.joined_tables import JoinedTables, lay, of_one_population
from discreet.decide.ledger.joint import Joint, findings_of, of_unrelated
from discreet.decide.ledger.presence import COUNTS, Exchange, Presence, ToldCells, told_labels
from discreet.decide.ledger.settings import Settings
from discreet.table.blocks import blocks_of
from discreet.table.equations import lay_out
from discreet.table.grid import locate
from discreet.table.spelling import spelled

LARGEST = 100_000
"""The most cells of a common crossing that are asked about again: a round choice, a few seconds of work."""
NO_AMOUNT = "an amount of 0, or no row for it, was taken to mean that nobody is there, which contradicts no number"
ONE_CROSSING = (
    "publish numbers and amounts in one crossing, or hide the small numbers and check again (a crossing of amounts "
    "that shows other cells than the numbers do counts as another one)"
)


def variable_of(entry: Entry) -> str:
    """Return a release's variable, whatever its spelling; :data:`COUNTS` for numbers."""
    return COUNTS if entry.counts else spelled(entry.variable)


def meet(entries: Sequence[Entry]) -> bool:
    """Say whether there are numbers and amounts: amounts alone say nothing about each other."""
    found = {variable_of(entry) for entry in entries}
    return COUNTS in found and len(found) > 1


def mixed_findings(
    new: Sequence[PublishedTable], earlier: Sequence[PublishedTable], rules: Callable[[bool], Settings]
) -> tuple[Joint, tuple[str, ...]]:
    """Return what tables of numbers and amounts give away together, and what was assumed.

    ``rules`` returns what counts as given away, for amounts or for numbers.
    """
    laid = lay([*earlier, *new])
    old, mine = laid[: len(earlier)], laid[len(earlier) :]
    signed = _negative(laid)
    assumed: tuple[str, ...] = (NO_AMOUNT,)
    try:
        found = _Check(old, mine, rules, positive=True).outcome()
    except (DataError, InfeasibleError):
        # Somebody contributes 0; or nothing fits, which is then refused.
        assumed = ()
        try:
            found = _Check(old, mine, rules, positive=False).outcome()
        except (DataError, InfeasibleError) as error:
            raise of_one_population(error, laid) from None
    return replace(found, unjudged=(*found.unjudged, *signed, *of_unrelated(laid, new, earlier))), assumed


def _negative(sheets: Sequence[PublishedTable]) -> list[str]:
    """Say which amounts may be negative: a sum, 0 or not, then says nothing."""
    titles = dict.fromkeys(
        f"«{sheet.entry.title}»"
        for sheet in sheets
        if not sheet.entry.counts and any((kind.said[0] or 0) < 0 for kind in sheet.figures.kinds)
    )
    if not titles:
        return []
    return [
        f"amounts of {', '.join(titles)} may be negative, and what they say about who is there was judged as if they "
        "were not; publish gains and losses as two variables"
    ]


class _Check:
    """The check of joined tables of several variables, under one assumption about contributions."""

    def __init__(
        self,
        earlier: Sequence[PublishedTable],
        new: Sequence[PublishedTable],
        rules: Callable[[bool], Settings],
        *,
        positive: bool,
    ) -> None:
        self.old, self.new = _by_variable(earlier), _by_variable(new)
        self.rules = {name: rules(name != COUNTS) for name in {**self.old, **self.new}}
        self.own = next(iter(self.new))
        tables = {name: [*self.old.get(name, ()), *self.new.get(name, ())] for name in {**self.old, **self.new}}
        self.facts = Exchange(tables, self.rules[self.own], positive=positive)
        self.before: Exchange | None = None
        if COUNTS in self.old and len(self.old) > 1:
            self.before = Exchange(self.old, self.rules[self.own], positive=positive)

    def outcome(self) -> Joint:
        """Return what every variable gives away."""
        found = Joint()
        for name in self.facts.tables:
            one = self._findings(name)
            if name != self.own:
                called = self.facts.tables[name][0].entry.variable.strip() or "count"
                one = replace(one, findings=tuple(_called(f, called) for f in one.findings))
            found |= one
        if any(f.sensitive and f.cause != "before" for f in found.findings):
            return found
        return replace(found, unjudged=(*found.unjudged, *self._undecided(), *self._room()))

    def _findings(self, name: str) -> Joint:
        new, old = self.new.get(name, ()), self.old.get(name, ())
        before = None if self.before is None or not old else self.before.presence(name)
        presence = self.facts.presence(name)
        if not new and before is not None and _tells_the_same(presence, before):
            return Joint()
        return findings_of(new, old, self.rules[name], presence, before)

    # --- whether nothing else follows ---------------------------------------------------------------------

    def _undecided(self) -> list[str]:
        """Say where readers may reason by cases, because it is open whether anybody is there."""
        cells = self.facts.open_cells()
        if not cells.size:
            return []
        layout = self.facts.layout
        first = layout.space.describe(int(layout.positions[cells[0]]))
        more = f" and {many(cells.size - 1, 'other cell')}" if cells.size > 1 else ""
        return [
            f"whether anybody is in {first}{more} follows neither from the numbers nor from the amounts of "
            f"{self._titles()}, so what readers work out case by case is open; show zeros, or say that hidden "
            "figures are above 0 where they are (--least 1; of an earlier release: discreet ledger retag ID --least 1)"
        ]

    def _room(self) -> list[str]:
        """Say where respondents may be too few for amounts to be independent of their numbers."""
        cells = self.facts.cells
        numbers, whole = cells[COUNTS], False
        for name in self.facts.amounts:
            if len(cells[name]) > 1:
                whole = True
                continue
            (mine,) = cells[name]
            across = [told for told in numbers if not told.within(mine) and not mine.within(told)]
            if not across:
                continue
            labels = across[0].labels
            if len(numbers) > 1 or any(set(mine.labels[n]) != set(labels[n]) for n in mine.labels.keys() & labels):
                whole = True
            elif (thin := self._thin(name, mine, across[0])) is not None:
                return [
                    f"so few respondents are in {thin} that amounts of {self._titles()} may follow from how many "
                    f"there are, which was not judged; {ONE_CROSSING}"
                ]
        return self._crossed() if whole else []

    def _thin(self, name: str, mine: ToldCells, theirs: ToldCells) -> str | None:
        """Return labels that amounts and numbers share with too few respondents to connect all cells."""
        facts, layout, space = self.facts, self.facts.layout, self.facts.layout.space
        shared = [axis for axis in space.names if axis in mine.labels and axis in theirs.labels]
        above = space.cross({axis: mine.labels[axis] for axis in shared})
        x, y = mine.at(layout), theirs.at(layout)
        x, y = x[facts.upper[name][x] > 0], y[facts.upper[COUNTS][y] > 0]
        at_x, at_y = (locate(above, _onto(self.facts, cells, shared)) for cells in (x, y))
        p, q = (np.bincount(at, minlength=above.size) for at in (at_x, at_y))
        scale = 10 ** facts.stated[COUNTS].decimals
        least = np.bincount(at_y, weights=facts.lower[COUNTS][y] // scale, minlength=above.size)
        at = locate(layout.positions, above)
        least = np.maximum(least, np.where(at >= 0, facts.lower[COUNTS][at] // scale, 0))
        thin = np.flatnonzero((p > 1) & (q > 1) & (least < p + q - 1))
        return space.describe(int(above[thin[0]])) if thin.size else None

    def _crossed(self) -> list[str]:
        """Ask about the numbers again, for a reader who knows that all cells of the crossing hold somebody."""
        open_text = (
            f"amounts of {self._titles()} are published for several crossings, and it could not be shown that they "
            f"say no more together; {ONE_CROSSING}"
        )
        full = self._everywhere()
        if full is None:
            return [open_text]
        settings = self.rules[COUNTS]
        tables = self.facts.tables[COUNTS]
        outer = GivenAway(JoinedTables(tables, settings, presence=self.facts.presence(COUNTS)))
        try:
            inner = GivenAway(JoinedTables(tables, settings, presence=full))
            more = {one.key for one in inner.all() if one.sensitive} - {one.key for one in outer.all()}
        except (DataError, InfeasibleError):
            return [open_text]
        return [open_text] if more or inner.unjudged() or inner.tables.unfinished() else []

    def _everywhere(self) -> Presence | None:
        """State that every cell of the common crossing that may hold somebody does; None if that is no help."""
        facts, space = self.facts, self.facts.layout.space
        crossed = [frozenset(part.names) for part in facts.layout.parts]
        leaves = {axis.name: axis.leaves for axis in space.axes}
        tree = all(
            block in crossed for block in blocks_of(crossed, {axis.name: len(axis.nodes) for axis in space.axes})
        )
        if not tree or any(axis.pieces for axis in space.axes) or math.prod(map(len, leaves.values())) > LARGEST:
            return None
        layout = lay_out(facts.layout.parts, space.names, None)
        told = facts.presence(COUNTS)
        cells = space.cross(leaves)
        possible = np.ones(cells.size, bool)
        for told_cells in (one for several in facts.cells.values() for one in several):
            at = told_cells.at(facts.layout)
            empty = facts.layout.positions[at[facts.upper[COUNTS][at] <= 0]]
            possible &= ~np.isin(_above(facts, cells, told_cells), empty)
        there = locate(layout.positions, facts.layout.positions)
        somebody, nobody = np.zeros(layout.positions.size, bool), np.zeros(layout.positions.size, bool)
        somebody[there], nobody[there] = told.somebody, told.nobody
        at = locate(layout.positions, cells)
        somebody[at[possible & self._first_of_each(cells)]], nobody[at[~possible]] = True, True
        crossing = (*told.crossed, frozenset(space.names))
        return replace(told, layout=layout, somebody=somebody, nobody=nobody, crossed=crossing)

    def _first_of_each(self, cells: IntArray) -> BoolArray:
        """Say which of the finest cells are the first in a cell that tables tell apart.

        No table says where in such a cell its respondents are, so they can be there.
        """
        space = self.facts.layout.space
        labels = told_labels(space, [sheet for sheets in self.facts.tables.values() for sheet in sheets])
        if not all(told.within(ToldCells(space, labels)) for several in self.facts.cells.values() for told in several):
            return np.ones(cells.size, bool)
        codes = zip(space.axes, space.grid.decode(cells), strict=True)
        first = [np.isin(code, [min(axis.under[one]) for one in labels[axis.name]]) for axis, code in codes]
        found: BoolArray = np.logical_and.reduce(first)
        return found

    def _titles(self) -> str:
        every = (sheet for sheets in self.facts.tables.values() for sheet in sheets)
        return listed(list(dict.fromkeys(f"«{sheet.entry.title}»" for sheet in every)))


def _by_variable(sheets: Sequence[PublishedTable]) -> dict[str, list[PublishedTable]]:
    found: dict[str, list[PublishedTable]] = {}
    for sheet in sheets:
        found.setdefault(variable_of(sheet.entry), []).append(sheet)
    return found


def _called(finding: LedgerFinding, variable: str) -> LedgerFinding:
    """Name the variable of a finding."""
    return replace(
        finding,
        cell={"variable": variable, **finding.cell},
        name=f"{variable} of {finding.name}",
        subtraction=f"{variable} of {finding.subtraction}" if finding.subtraction else "",
    )


def _tells_the_same(one: Presence, other: Presence) -> bool:
    """Say whether two layouts have the same facts about who is there."""
    if set(one.crossed) != set(other.crossed):
        return False
    space = other.layout.space
    return all(
        np.array_equal(
            np.sort(one.layout.space.translate(one.layout.positions[mine], space)), other.layout.positions[theirs]
        )
        for mine, theirs in ((one.somebody, other.somebody), (one.nobody, other.nobody))
    )


def _onto(facts: Exchange, cells: IntArray, names: Sequence[str]) -> IntArray:
    """Return the positions of cells, given by their places in the layout, summed over all but some dimensions."""
    space = facts.layout.space
    codes = space.grid.decode(facts.layout.positions[cells])
    kept = [code if name in names else np.zeros_like(code) for name, code in zip(space.names, codes, strict=True)]
    return space.grid.encode(kept)


def _above(facts: Exchange, cells: IntArray, told: ToldCells) -> IntArray:
    """Return the cell of a variable in which each of the finest cells of all dimensions lies."""
    space = facts.layout.space
    codes: Mapping[str, IntArray] = dict(zip(space.names, space.grid.decode(cells), strict=True))
    found = []
    for axis in space.axes:
        node = np.zeros(len(axis.nodes), np.int64)
        for label in told.labels.get(axis.name, ()):
            node[list(axis.under[label])] = label
        found.append(node[codes[axis.name]])
    return space.grid.encode(found)
