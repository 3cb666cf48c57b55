"""A table of integers that fits what is known: for cells that no table shows, and for synthetic values.

HiGHS finds it directly from the equations, near a first guess that is as even as the known sums allow. Any values
that fit would do to show that a pattern is safe, but a cell of the value 0 cannot go down, and a circuit that has to
avoid it is long and expensive; cells with something in them leave room to either side. The audit shares none of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import DataError, LimitError
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.proportional_fitting import factors
from discreet.core.sparse import Rows, parts
from discreet.table.crossing_parts import placed
from discreet.table.equations import Equations
from discreet.table.kinds import UNBOUNDED
from discreet.table.tabulation import Tabulation

Ends: TypeAlias = tuple[FloatArray, FloatArray]
"""The least and the largest of each value."""
SWEEPS = 150
"""How often the first guess is scaled to all sums: a round number, since the fit corrects what remains."""
MANY = 10_000
"""From so many open cells on, the nearest real numbers are looked for from the inside: with 18,306 of them, in three
hierarchies, in a ninth of the time."""
INTERIOR = {"solver": "ipm"}
SLACK = 4
"""How far from the nearest real numbers integers are looked for. There, 1 took longer, and 16 did not end."""
FIRST = {"mip_max_improving_sols": 1, "mip_lp_solver": "ipm"}
"""The first integers that fit are taken: the nearest did not come to an end in five minutes, these took six seconds."""
TIE = 1e-6
"""Values this close to a half are rounded down, to give the same number on any machine."""


def spread(equations: Equations) -> IntArray | None:
    """Return a value for every position, near what its sums suggest; None if none can be used.

    Iterative proportional fitting of all sums at once: each sweep multiplies every open position by the geometric mean
    of the factors that its sums ask for. Values that can be negative have no proportions.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    >>> stated = equations_of(Figures.from_array([[None, None, 30], [None, None, 60], [30, 60, 90]], both))
    >>> spread(stated)[stated.hidden].tolist()
    [10, 20, 20, 40]
    """
    known = equations.exact
    if known.all() or (equations.lower < 0).any():
        return None
    heads = equations.starts[:-1]
    sums, cells = equations.columns[heads], np.delete(equations.columns, heads)
    row = np.repeat(np.arange(heads.size), np.diff(equations.starts) - 1)
    times = np.bincount(equations.columns, minlength=known.size)
    open_ = ~known & (times > 0)
    x = np.where(open_, np.maximum(equations.lower, 1), equations.lower).astype(np.float64)
    for _ in range(SWEEPS):
        inside: FloatArray = np.bincount(row, x[cells], heads.size).astype(np.float64)
        fixed: FloatArray = np.bincount(row, np.where(open_[cells], 0.0, x[cells]), heads.size).astype(np.float64)
        asked = np.bincount(cells, _log(x[sums] - fixed, inside - fixed)[row], known.size)
        asked += np.bincount(sums, _log(inside, x[sums]), known.size)
        x[open_] *= np.exp(asked[open_] / times[open_])
    found: IntArray = np.floor(x + 0.5 - TIE).astype(np.int64)
    return np.clip(found, equations.lower, equations.upper)


def _log(wanted: FloatArray, given: FloatArray) -> FloatArray:
    """Return the logarithm of the factor from one figure to another; 0 becomes a tiny number."""
    ratio = factors(np.maximum(wanted, 0.0), given)
    return np.where(given > 0, np.log(np.maximum(ratio, 1e-9)), 0.0)


def fit(equations: Equations, wanted: IntArray | None = None, clock: Clock | None = None) -> IntArray:
    """Return a value for every position such that all equations and ranges hold, or refuse when time is up.

    Linked tables leave open the cells that only a table of all their dimensions would show. Any values serve there: a
    pattern is safe if tables that fit differ enough, wherever they start from. Values found are the nearest in sum to
    those ``wanted``, or integers near to them where the nearest are fractions.

    >>> from discreet.table.equations import equations_of
    >>> from discreet.table.figures import Figures
    >>> both = {"r": [1, 2, "Total"], "c": [1, 2, "Total"]}
    >>> stated = equations_of(Figures.from_array([[None, None, 5], [None, None, 9], [7, 7, 14]], both))
    >>> fit(stated, np.full(9, 2))[stated.hidden].reshape(2, 2)
    array([[2, 3],
           [5, 4]])
    """
    values, open_ = _settled(equations)
    filled = np.where(open_, np.clip(0 if wanted is None else wanted, equations.lower, equations.upper), values)
    until = clock or Clock()
    for part in _parts(equations, values, open_):
        filled[part.at] = part.solve(None if wanted is None else wanted[part.at], until)
    return filled


def true_values(equations: Equations, tables: Sequence[Tabulation], response: str | None) -> IntArray | None:
    """Return the true value of every position, from who contributed what; None if the tables do not say.

    These fit by definition, so no search is needed. They also fit what every respondent knows of crossings, which other
    values need not: whoever contributed more to a crossing than it has there would rule all circuits out. A pattern
    depends on true values in any case; like any pattern of suppression it is claimed to be safe against readers of the
    figures, and the audit judges it without knowing where the search began.
    """
    if equations.exact.all():
        return equations.lower
    found = placed(tables, equations.space, response)
    if found is None:
        return None
    open_ = np.flatnonzero(~equations.exact)
    sums = found.sums(equations.space, equations.positions[open_]) * 10.0**equations.decimals
    if not np.isfinite(sums).all():
        return None
    values = equations.lower.copy()
    values[open_] = np.rint(sums).astype(np.int64)
    rows = Rows(equations.starts, equations.columns, equations.signs)
    inside = (equations.lower <= values) & (values <= equations.upper)
    return values if inside.all() and not rows.sums(values).any() else None


def _settled(equations: Equations) -> tuple[IntArray, BoolArray]:
    """Fill in values that single equations determine until there are no more; return them and what is still open."""
    rows = Rows(equations.starts, equations.columns, equations.signs)
    columns, row = rows.columns, rows.of
    values, open_ = equations.lower.copy(), ~equations.exact
    while True:
        unknown = open_[columns]
        left = np.bincount(row[unknown], minlength=rows.starts.size - 1)
        rest = -rows.sums(np.where(open_, 0, values))
        wrong = (left == 0) & (rest != 0)
        last = unknown & (left[row] == 1)
        at, value = columns[last], rest[row[last]] * rows.values[last]
        values[at] = value
        out = (value < equations.lower[at]) | (value > equations.upper[at]) | (value != values[at])
        wrong[row[last][out]] = True
        if wrong.any():
            total = columns[equations.starts[np.flatnonzero(wrong)[0]]]
            raise DataError(
                f"no table fits all linked tables together: {equations.describe(int(total))} is not the sum of what "
                "they leave for its cells; give tables of the same records"
            )
        if not at.size:
            return values, open_
        open_[at] = False


@dataclass(frozen=True, eq=False)
class _LinkedPart:
    """Open positions that are linked by equations, and the equations: sums with signs that equal ``rest``."""

    at: IntArray
    rows: Rows
    rest: IntArray
    lower: IntArray
    upper: IntArray

    def solve(self, wanted: IntArray | None, clock: Clock) -> IntArray:
        """Return values that fit; integers are asked for only where real numbers give none."""
        lower = np.where(self.lower <= -UNBOUNDED, -np.inf, self.lower)
        upper = np.where(self.upper >= UNBOUNDED, np.inf, self.upper)
        near = self._nearest(wanted, lower, upper, clock)
        for least, most in ((near, near), (near - SLACK, near + SLACK), (lower, upper)):
            found: FloatArray | None = near
            if least is not near:
                ends = np.maximum(lower, np.floor(least)), np.minimum(upper, np.ceil(most))
                found = self._found(self.rows, self.rest, np.zeros(near.size), ends, clock, whole=True)
            if found is None:
                continue
            values: IntArray = np.rint(found).astype(np.int64)
            inside = (self.lower <= values) & (values <= self.upper)
            if inside.all() and (self.rows.sums(values) == self.rest).all():
                return values
        raise LimitError("no values were found for the cells that linked tables share; give fewer tables at once")

    def _nearest(self, wanted: IntArray | None, lower: FloatArray, upper: FloatArray, clock: Clock) -> FloatArray:
        """Return real numbers that fit, the nearest in sum to those wanted."""
        n = self.at.size
        if wanted is None:
            found = self._found(self.rows, self.rest, np.zeros(n), (lower, upper), clock)
        else:
            # Each position then has two columns, how far it goes up and how far down, and every unit costs.
            start = np.clip(wanted, self.lower, self.upper)
            both = self.rows.beside(self.rows._replace(values=-self.rows.values), n)
            ends = np.zeros(2 * n), np.concatenate([upper - start, start - lower])
            found = self._found(both, self.rest - self.rows.sums(start), np.ones(2 * n), ends, clock)
            found = None if found is None else start + found[:n] - found[n:]
        if found is None:
            raise DataError("no table fits all linked tables together; give tables of the same records")
        return found

    def _found(
        self, rows: Rows, rest: IntArray, costs: FloatArray, ends: Ends, clock: Clock, *, whole: bool = False
    ) -> FloatArray | None:
        """Return what costs least, or the first integers that fit; None if nothing does."""
        lower, upper = ends
        options = FIRST if whole else INTERIOR if self.at.size > MANY else None
        program = Program(rows, costs=costs, lower=lower, upper=upper, sums=(rest, rest), whole=whole, options=options)
        outcome = program.run(clock.left)
        clock.refuse_late("no values were found for the cells that linked tables share")
        if outcome == "infeasible":
            return None
        if outcome != "optimal" and not (whole and program.found):
            raise LimitError("no values were found for the cells that linked tables share; give fewer tables at once")
        return program.point


def _parts(equations: Equations, values: IntArray, open_: BoolArray) -> Iterator[_LinkedPart]:
    """Split what is open into parts that share no equation."""
    rows = equations.starts.size - 1
    if not rows or not open_.any():
        return
    whole = Rows(equations.starts, equations.columns, equations.signs)
    rest = -whole.sums(np.where(open_, 0, values))
    at = np.flatnonzero(open_)
    linked = whole.among(at, values.size)
    used = np.flatnonzero(linked.lengths)
    linked, rest = linked.taken(used), rest[used]
    count, of_column, of_row = parts(linked.columns, linked.of, at.size, used.size)
    row_order, column_order = np.argsort(of_row, kind="stable"), np.argsort(of_column, kind="stable")
    linked = linked.taken(row_order).among(column_order, at.size)
    at, rest = at[column_order], rest[row_order]
    ends = np.stack([np.cumsum(np.bincount(of, minlength=count)) for of in (of_row, of_column)], axis=1)
    r0 = c0 = 0
    for r1, c1 in ends.tolist():
        if r1 > r0:
            mine, part = at[c0:c1], linked.taken(np.arange(r0, r1))
            part = part._replace(columns=part.columns - c0)
            yield _LinkedPart(mine, part, rest[r0:r1], equations.lower[mine], equations.upper[mine])
        r0, c0 = r1, c1
