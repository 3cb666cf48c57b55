"""What joined tables give away: cells, the smallest unions of cells, cells between tables, and full lines.

The check asks about figures that some release hides, rounds or perturbs; the finest cells that no release shows, and
the smallest unions of them whose sum follows; cells between tables that cross without a table of all their dimensions;
and, if a policy says so, lines with all their people in one cell. Protected figures are given away when a single value
is left, or less than the limits require, as judged by an audit; the others when what is left is small enough to point
at somebody. What could not be asked is reported.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.auditing.full_lines import FullLine, KnownRanges, full_lines
from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray
from discreet.core.sparse import parts, row_of
from discreet.core.text import many
from discreet.decide.ledger.arithmetic import NO_PROOF, Proof, shown
from discreet.decide.ledger.crossing import Crossed, crossed_cells
from discreet.decide.ledger.joined_tables import JoinedTables
from discreet.decide.ledger.settings import INTERVALS
from discreet.decide.ledger.sums import NODES, System, open_equations, smallest_sums
from discreet.feasible.bounds import Bounds
from discreet.table.equations import Equations
from discreet.table.space import Space

PROOFS = 200
"""How many findings get their arithmetic written out: more than anybody reads, and seconds of work at most."""
SEARCH = 30.0
"""Seconds for the search for unions by default: a round choice."""
SHOWN = 8
"""How many units are written out in a name: about a line of text."""
NOBODY_SHOWS = "no release shows it, but it can be worked out exactly"
OPEN_SUMS = (
    "not all sums of units could be asked about, for they are too many; give more time (--time-limit), or check tables "
    "of fewer units"
)
OPEN_LINES = (
    "not all lines with nearly all their people in one cell could be judged in time; give more time (--time-limit)"
)
MORE_ZEROS = "more figures of 0 follow than are listed, and not all were judged; check tables of fewer categories"

Key = frozenset[tuple[str, str]] | frozenset[frozenset[tuple[str, str]]]
"""Cells and unions by their labels, which are the same in every set of equations."""
Known = tuple[float, float, bool]
"""The bounds of a cell, and whether it is given away."""


@dataclass(frozen=True)
class Given:
    """Something that is given away: a cell, a union of cells (``held``, as positions), a cell between tables, a line.

    ``joint`` says that it counts only if no release gives it away on its own, and ``bits`` is an upper bound on the
    bits left.
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
    line: FullLine | None = None
    sensitive: bool = True
    joint: bool = False
    bits: float = math.nan


class GivenAway:
    """What joined tables give away, and what could not be judged."""

    def __init__(self, tables: JoinedTables) -> None:
        self.tables, self.settings, self.equations = tables, tables.settings, tables.equations
        self.open_sums = self.more_zeros = self.open_lines = False

    def all(self) -> list[Given]:
        """Return everything that is given away."""
        return [*self.cells(), *self.unions(), *self.crossings(), *self.lines()]

    def unjudged(self) -> list[str]:
        """Say what could not be judged."""
        texts, dark = [OPEN_SUMS] if self.open_sums else [], self.tables.dark()
        if dark:
            texts.append(
                f"the risk 1/H of {many(dark, 'figure')} to a reader who knows the method cannot be shown, as "
                "published sums or a choice among all cells tie them to others; make each figure from its own value "
                f"alone and add up the margins, or {INTERVALS}"
            )
        texts += [OPEN_LINES] if self.open_lines else []
        texts += self.tables.beside()
        return [*texts, *([MORE_ZEROS] if self.more_zeros and self.settings.zeros == "unsafe" else [])]

    # --- single cells -------------------------------------------------------------------------------------

    def cells(self) -> list[Given]:
        """Return the cells that are known too well, then those that turn out to be empty."""
        t = self.tables
        none = np.flatnonzero(t.asked & t.exact & (t.found.lower == 0))
        # Inside a figure that is published as 0 there is nothing to work out.
        e = t.plain
        empty: BoolArray = (e.source >= 0) & (e.lower == 0) & (e.upper == 0)
        if t.presence is not None:
            empty[: e.positions.size] |= t.presence.nobody
        if none.size and e.starts.size > 1:
            whole = np.repeat(e.columns[e.starts[:-1]], np.diff(e.starts))
            while not empty[below := e.columns[empty[whole]]].all():
                empty[below] = True
        return [self._cell(i) for i in (*np.flatnonzero(t.wrong).tolist(), *none[~empty[none]].tolist())]

    def _cell(self, i: int) -> Given:
        lower, upper = self.tables.ends(i)
        asked = bool(self.tables.asked[i])
        reason = NOBODY_SHOWS if asked and lower == upper else self.tables.reason(i)
        reason = f"no release shows it; {reason}" if asked and lower < upper else reason
        sensitive = not asked or lower > 0 or self.settings.zeros == "unsafe"
        about = (self.equations.cell(i), self.equations.describe(i), lower, upper, reason, self.tables.key(i))
        return Given(*about, held=(i,), sensitive=sensitive, bits=sum(self.tables.bits(i)))

    # --- unions of cells ----------------------------------------------------------------------------------

    def unions(self) -> list[Given]:
        """Return the smallest unions of cells whose sum is small and follows, though no release shows it."""
        t, found, e = self.tables, self.tables.found, self.tables.plain
        n = e.lower.size
        top, clock = self.settings.top(t.scale), self.settings.clock
        units = (t.inner & ~t.exact & (found.upper < top))[:n]
        if not units.any():
            return []
        system = open_equations(e.starts, e.columns, e.signs, found.lower[:n], found.upper[:n])
        worth = ~t.protected[:n] | self._meet(system)
        clock, nodes = (Clock.within(SEARCH), NODES) if clock.deadline is None else (clock, math.inf)
        given: dict[Key, Given] = {}
        # Unions of cells that only other variables have are not new if they are sums of this one's own cells.
        own = () if t.presence is None else tuple({frozenset(sheet.figures.names) for sheet in t.sheets})
        for block in t.blocks:
            mine = np.zeros(units.size, bool)
            mine[t.inner_of(block)] = True
            sums = smallest_sums(system, units & mine, found.lower[:n], top, clock=clock, nodes=nodes, worth=worth)
            self.open_sums |= not sums.complete
            for held, value in sums.found:
                if not is_published(e, held, own):
                    one = self._union(held, value)
                    given[one.key] = one
        return list(given.values())

    def _union(self, held: tuple[int, ...], value: int) -> Given:
        e, size = self.equations, value / self.tables.scale
        name, cell = union_name(e.space, [int(e.positions[i]) for i in held])
        key: Key = frozenset(self.tables.key(i) for i in held)
        hidden = bool(self.tables.protected[list(held)].any())
        units = tuple(e.cell(i) for i in held)
        return Given(cell, name, size, size, NOBODY_SHOWS, key, held, units, joint=hidden)

    def _meet(self, system: System) -> BoolArray:
        """Return the columns of equations that neither the old tables nor the new ones state by themselves."""
        t, e = self.tables, self.tables.plain
        row = row_of(e.starts)
        if not (t.earlier or t.presence) or not row.size:
            return np.zeros(e.lower.size, bool)
        count, of_row, of_column = parts(system.row, system.column, system.rhs.size, e.lower.size)
        both = np.ones(count, bool)
        for sheets in (t.sheets[: t.earlier], t.sheets[t.earlier :]):
            needed = t.exact[e.columns] & ~t.shown(sheets, exact=True)[e.columns]
            lacks = np.zeros(count, bool)
            lacks[of_row[np.bincount(row, weights=needed, minlength=system.rhs.size) > 0]] = True
            both &= lacks
        columns: BoolArray = both[of_column]
        return columns

    # --- cells between tables -----------------------------------------------------------------------------

    def crossings(self) -> list[Given]:
        """Return the cells of dimensions that no table crosses, but whose small value follows from several."""
        t, found = self.tables, self.tables.found
        n = t.plain.positions.size
        small = np.flatnonzero((t.exact & self.settings.small(found.lower, found.upper, t.scale))[:n])
        crossings = crossed_cells(t.plain, t.blocks, small, t.exact[:n], found.upper[:n] > 0)
        self.more_zeros = not crossings.complete
        given = []
        for one in crossings.found:
            cell = self.equations.cell(one.position) | dict(one.into)
            axes = [axis for axis in self.equations.space.axes if cell[axis.name] != axis.nodes[0]]
            name = ", ".join(f"{axis.name}={cell[axis.name]}" for axis in axes)
            value = 0.0 if one.none else int(found.lower[one.position]) / t.scale
            key = t.key(one.position) | frozenset(one.into)
            sensitive = not one.none or self.settings.zeros == "unsafe"
            given.append(Given(cell, name, value, value, NOBODY_SHOWS, key, crossed=one, sensitive=sensitive))
        return given

    def _crossing_proof(self, one: Given, crossed: Crossed) -> Proof:
        i = crossed.position
        terms, releases, how = self._shown(i)
        own = {name for name, _ in self.tables.key(i)}
        told, because = dict.fromkeys(releases), []
        for name, label in crossed.into:
            with_it = [sheet for sheet in self.tables.sheets if name in sheet.figures.names]
            titles = dict.fromkeys(s.entry.title for s in with_it if own & set(s.figures.names))
            titles = titles or dict.fromkeys(sheet.entry.title for sheet in with_it)
            if not titles and self.tables.presence is not None:
                titles = dict.fromkeys(title.strip("«»") for title in self.tables.presence.titles)
            told |= titles
            where = " and ".join(f"«{title}»" for title in titles)
            because.append(f"{'none of it' if crossed.none else 'all of it'} is in {name}={label} by {where}")
        value = "0" if crossed.none else self.equations.text(int(self.tables.found.lower[i]))
        return terms, tuple(told), f"{one.name} = {value}: {how}, and {'; '.join(because)}"

    # --- lines --------------------------------------------------------------------------------------------

    def lines(self) -> list[Given]:
        """Return the cells known to hold all people of a line, or all but a few, if the policy asks for that."""
        few, e, found = self.settings.lines, self.tables.plain, self.tables.found
        n = e.lower.size
        if few is None:
            return []
        who = "everybody" if not few else f"all but at most {few} people"
        given = []
        lower, upper = found.lower[:n], found.upper[:n]
        known = KnownRanges(lower, upper, np.where(found.finished[:n], upper, lower), lower, lower > 0)
        lines = full_lines(e, known, few, self.settings.clock)
        self.open_lines = lines.unfinished > 0
        for line in lines.found:
            name, whole = e.describe(line.cell), e.describe(line.whole)
            key = frozenset([("line", whole), ("cell", name)])
            reason = f"{who} of {whole} is in it (group disclosure)"
            given.append(Given(e.cell(line.cell), name, *self.tables.ends(line.cell), reason, key, line=line))
        return given

    # --- what is said of them -----------------------------------------------------------------------------

    def known(self, given: Sequence[Given]) -> list[Known | None]:
        """Return the bounds of what others give away, and whether these tables do so too; None if they do not say."""
        shared = {one.key for one in self.unions()} if any(one.units for one in given) else set()
        crossed = {one.key for one in self.crossings()} if any(one.crossed for one in given) else set()
        lines = {one.key for one in self.lines()} if any(one.line for one in given) else set()
        found: list[Known | None] = []
        for one in given:
            if one.crossed or one.units or one.line:
                same = one.key in (lines if one.line else crossed if one.crossed else shared)
                found.append((one.lower, one.upper, True) if same else None)
            else:
                found.append(self._known_cell(one))
        sums = [k for k, one in enumerate(given[:PROOFS]) if one.units and found[k] is None]
        held = {k: [self.tables.find(unit) for unit in given[k].units] for k in sums}
        asked = {k: [i for i in at if i is not None] for k, at in held.items() if None not in at}
        if asked:
            bounded = self.tables.bounded([(at, given[k].name) for k, at in asked.items()])
            for i, k in enumerate(asked, start=self.equations.lower.size):
                lower, upper = self.tables.ends(i, bounded)
                found[k] = (lower, upper, lower == upper)
        return found

    def _known_cell(self, one: Given) -> Known | None:
        t, i = self.tables, self.tables.find(one.cell)
        if i is None:
            return None
        exact = bool(t.exact[i])
        plain = bool(t.wrong[i]) or (not t.protected[i] and not t.asked[i] and exact)
        ends, (bits, error) = t.ends(i), t.bits(i)
        # What leaves less open than these tables do gives something away that they do not.
        less = ends != (one.lower, one.upper) or one.bits < bits - error
        return (*ends, (plain or (exact and not one.sensitive)) and not less)

    def _shown(self, i: int, found: Bounds | None = None) -> Proof:
        """Return how the bounds of a position follow, by these tables or by other bounds, in the time that is left."""
        clock, presence = self.settings.clock, self.tables.presence
        if clock.late:
            return NO_PROOF
        terms, releases, text = shown(found or self.tables.found, i, self.tables.sheets, clock.deadline)
        told = () if presence is None or presence.told not in text else (title.strip("«»") for title in presence.titles)
        return terms, tuple(dict.fromkeys([*releases, *told])), text

    def proofs(self, given: Sequence[Given]) -> list[Proof]:
        """Return the figures from which each follows, the titles of their releases, and the sum as a line of text."""
        t = self.tables
        sums = [(one.held, one.name) for one in given if one.units]
        bounded: Bounds = t.bounded(sums) if sums else t.found
        at = iter(range(self.equations.lower.size, bounded.lower.size))
        found: list[Proof] = []
        for one in given:
            if one.crossed:
                found.append(self._crossing_proof(one, one.crossed))
            elif one.line:
                terms, releases, how = self._shown(one.line.cell)
                told = dict.fromkeys([*releases, *(title for i in one.line.others for title in self._shown(i)[1])])
                few = "so few are in all other cells"
                none = few if self.settings.lines else "all other cells of the line are 0"
                found.append((terms, tuple(told), f"{how}, and {none}: {one.reason}"))
            elif one.units:
                found.append(self._shown(next(at), bounded))
            else:
                found.append(self._shown(one.held[0]))
        return found


def union_name(space: Space, units: Sequence[int]) -> tuple[str, dict[str, str]]:
    """Return the name of a union of positions, and its labels along every dimension.

    >>> from discreet.table.figures import Figures
    >>> from discreet.table.space import space_of
    >>> space = space_of([Figures.from_array([[1, 2]] * 3, {"area": ["s1", "s3", "s4"], "sex": ["m", "f"]})])
    >>> at = [space.position({"area": area, "sex": "m"}) for area in ("s3", "s4")]
    >>> union_name(space, at)[0], union_name(space, [*at, space.position({"area": "s1", "sex": "f"})])[0]
    ('area=s3 + s4, sex=m', '(area=s3, sex=m) + (area=s4, sex=m) + (area=s1, sex=f)')
    """
    sides = [np.unique(codes).tolist() for codes in space.grid.decode(np.array(units, np.int64))]
    if math.prod(len(side) for side in sides) != len(units):
        cells = [f"({space.describe(unit)})" for unit in units[:SHOWN]]
        more = [f"{len(units) - SHOWN} more"] if len(units) > SHOWN else []
        name = " + ".join([*cells, *more])
        return name, {"sum": name}
    labels = {}
    for axis, side in zip(space.axes, sides, strict=True):
        held = frozenset(side)
        same = next((node for node, under in enumerate(axis.under) if under == held), None)
        listed = [axis.nodes[node] for node in side]
        short = [*listed[:SHOWN], *([f"{len(listed) - SHOWN} more"] if len(listed) > SHOWN else [])]
        labels[axis.name] = axis.nodes[same] if same is not None and len(side) > 1 else " + ".join(short)
    parts = [f"{axis.name}={labels[axis.name]}" for axis in space.axes if labels[axis.name] != axis.nodes[0]]
    return ", ".join(parts) or "total", labels


def is_published(equations: Equations, units: Sequence[int], own: Sequence[frozenset[str]] = ()) -> bool:
    """Say whether a published figure is about just these units, given as indices of positions.

    With sets of dimensions, a sum of cells in their crossing counts as published, unless the units are such cells.
    """
    space = equations.space
    sides = [frozenset(codes.tolist()) for codes in space.grid.decode(equations.positions[list(units)])]
    if math.prod(len(side) for side in sides) != len(units):
        return False
    ways = []
    for axis, side in zip(space.axes, sides, strict=True):
        first = next(iter(side))
        above = (first,) if not first else axis.above(axis.nodes[first])
        ways.append([node for node in above if side == {node} or axis.under[node] == side])
    crossed = {axis.name for axis, side in zip(space.axes, sides, strict=True) if side != {0}}
    for names in own if not any(crossed <= names for names in own) else ():
        if all(0 in way or axis.name in names for axis, way in zip(space.axes, ways, strict=True)):
            return True
    at = equations.locate(space.grid.cross(ways))
    return bool((equations.source[at[at >= 0]] >= 0).any())
