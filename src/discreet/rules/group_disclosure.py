"""Group disclosure: a line of a frequency table that gives something away about everybody in it.

If everybody in a row is in one cell, anyone who knows that a person is in the row knows that person's cell. A few
people outside that cell know that they are; if they pool what they know, they know the cell of all the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import IntArray
from discreet.core.text import Face, Result
from discreet.table import Table
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True, eq=False, repr=False)
class GroupDisclosure(Result):
    """The lines of a table (rows, columns, and so on) of which one cell holds all but at most ``coalition`` people.

    Per line: ``parents`` is the position of the cell that sums it, ``cells`` the position of the cell that nearly
    everybody is in, ``along`` the number of the dimension that runs through the line, ``totals`` the people of the line
    and ``counts`` those of the cell.
    """

    tabulation: Tabulation
    coalition: int
    along: IntArray
    parents: IntArray
    cells: IntArray
    totals: IntArray
    counts: IntArray

    def __len__(self) -> int:
        """Return the number of lines."""
        return int(self.cells.size)

    def line(self, i: int) -> dict[str, Json]:
        """Return one line as plain data."""
        name = self.tabulation.names[self.along[i]]
        line, cell = (self.tabulation.grid.label(int(at[i])) for at in (self.parents, self.cells))
        outside = int(self.totals[i] - self.counts[i])
        who = "everybody" if not outside else f"all but {outside}"
        fixed = {key: code for key, code in line.items() if key != name or code != self.tabulation.axis(name).total}
        phrase = ", ".join(f"{key}={code}" for key, code in fixed.items()) or "the whole table"
        return {
            "line": line,
            "along": name,
            "cell": cell,
            "count": int(self.counts[i]),
            "total": int(self.totals[i]),
            "reason": f"{who} of the {int(self.totals[i]):,} in {phrase} has {name}={cell[name]}",
        }

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data."""
        return {"coalition": self.coalition, "lines": [self.line(i) for i in range(len(self))]}

    @property
    def sentence(self) -> str:
        """How many lines disclose, in words."""
        who = "one populated cell" if self.coalition == 0 else f"all but at most {self.coalition} people in one cell"
        return f"{len(self):,} lines have {who}"

    def rows(self, n: int = 20) -> list[list[str]]:
        """Return lines as rows of text, the largest first."""
        order = np.argsort(-self.totals, kind="stable")[:n]
        return [[str(self.line(int(i))["reason"]), f"{self.counts[i]:,}", f"{self.totals[i]:,}"] for i in order]

    def face(self, most: int) -> Face:
        """Return the largest lines."""
        return Face(["line", "in the cell", "in the line"], self.rows(), self.sentence)


def group_disclosure(table: Table | Tabulation, *, coalition: int = 0) -> GroupDisclosure:
    """Find the rows, columns and other lines of a frequency table that disclose something about everybody in them.

    A line is a cell together with the cells that sum to it along one dimension, at any level of a hierarchy. It
    discloses if one of these cells holds all n people of the line but at most k: n − c ≤ k. With k = 0 this is a line
    with one populated cell; with k ≥ 1, members of the line outside that cell who conspire know the cell of all others.

    Args:
        table: counts of people.
        coalition: k, how many members of the line conspire.

    >>> table = Table.from_array([[0, 7], [1, 5]], {"area": ["n", "s"], "ill": ["no", "yes"]})
    >>> [line["reason"] for line in group_disclosure(table).to_dict()["lines"]]
    ['everybody of the 1 in ill=no has area=s', 'everybody of the 7 in area=n has ill=yes']
    >>> len(group_disclosure(table, coalition=1))
    4
    """
    if coalition < 0 or coalition != int(coalition):
        raise RequestError(f"the coalition has {coalition} members; give 0 or more")
    tabulation = Tabulation.from_table(table) if isinstance(table, Table) else table
    found: list[tuple[IntArray, ...]] = [(np.zeros(0, np.int64),) * 5]
    for number in range(len(tabulation.axes)):
        found += _lines(tabulation, number, coalition)
    return GroupDisclosure(tabulation, coalition, *map(np.concatenate, zip(*found, strict=True)))


def _lines(tabulation: Tabulation, number: int, coalition: int) -> Iterator[tuple[IntArray, ...]]:
    """Yield the disclosing lines along one dimension, one family of its categories after the other."""
    axis = tabulation.axes[number]
    codes = tabulation.codes(axis.name)
    for parent, children in axis.families():
        if children.size < 2:
            # With only one category, the line says no more than the cell.
            continue
        rows = np.flatnonzero(np.isin(codes, children) & (tabulation.records > 0))
        if not rows.size:
            continue
        line = tabulation.grid.moved(tabulation.cells[rows], number, parent)
        counts = tabulation.records[rows]
        order = np.lexsort((counts, line))
        line, counts, rows = line[order], counts[order], rows[order]
        starts = np.flatnonzero(np.diff(line, prepend=-1))
        ends = np.append(starts[1:], line.size) - 1
        totals = np.add.reduceat(counts, starts)
        chosen = np.flatnonzero(totals - counts[ends] <= coalition)
        last = ends[chosen]
        along = np.full(chosen.size, number, np.int64)
        yield along, line[last], tabulation.cells[rows[last]], totals[chosen], counts[last]
