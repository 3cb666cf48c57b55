"""Tables of integers around a point over real numbers: how large amounts of large groups are told apart.

Moves by 1 do not find a table of large amounts, and intervals of many of them take a linear program for each end. But
large amounts leave room. The equations are solved in exact integers, each for one unknown of as much room as it has;
the others are free. A point well inside all ranges is rounded where unknowns are free, the equations say what the
others are, and the table mostly fits, since no value is near an end. Free unknowns moved by 1 give more such tables.

Unknowns in which two of them differ have several values, once both are checked against all equations and ranges. What
the equations leave nothing free is determined: they are the proof.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable

import numpy as np

from discreet.core.clock import Clock
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray, NumberArray
from discreet.core.sparse import Rows
from discreet.feasible.reduction import NOT_SEEN, Group, StuckError
from discreet.table.kinds import UNBOUNDED

STEPS = 40_000_000
"""The most entries of rows that are added up to solve equations: about ten seconds."""
KEPT = 10
"""As how many of these each entry counts that is kept: at most some 400 MB of them."""
HUGE = 2**60
"""Values that add up to this are not believed: sums of them might not fit into 64 bits."""
ROUNDINGS = 5
"""How many roundings of the point may not fit before the group is left to exact searches; a round choice."""
FRUITLESS, FEWER = 3, 8
"""How many tables in a row may tell nothing new before so many times fewer free unknowns are moved; round choices."""

SHARES = 8
"""What is left is moved at once, then half of it, and so on up to this share: each time by a linear program."""
TINY = 1e-300
"""Keeps a quotient finite where nothing is worked out from an unknown."""

Row = dict[int, int]


class Solved:
    """Equations, each solved for one unknown (``own``) in exact integers: these are ``by`` · all + ``constant``.

    ``by`` holds free unknowns only.
    """

    def __init__(self, group: Group, room: FloatArray, clock: Clock) -> None:
        """Solve equations for unknowns of much room, never for those that have none.

        Raises:
            StuckError: it takes too long.
        """
        self.size = n = group.variables.size
        self.rows: dict[int, Row] = {}
        self.steps, self.clock = STEPS, clock
        self.order: dict[int, int] = {}
        self.pivots: list[int] = []
        starts, columns, space = group.starts.tolist(), group.columns.tolist(), room.tolist()
        signs, rhs = group.signs.tolist(), group.rhs.tolist()
        for e in np.argsort(group.rows.lengths, kind="stable").tolist():
            mine = slice(starts[e], starts[e + 1])
            row = self._without({**dict(zip(columns[mine], signs[mine], strict=True)), n: -rhs[e]})
            units = (c for c, entry in row.items() if abs(entry) == 1 and c < n and space[c] > 0)
            pivot = max(units, key=space.__getitem__, default=n)
            # What is left out leaves tables that do not fit, and nothing wrong.
            if pivot < n:
                self.order[pivot] = len(self.pivots)
                self.pivots.append(pivot)
                self.rows[pivot] = row
                self.steps -= KEPT * len(row)
        for pivot in reversed(self.pivots):
            row = self.rows[pivot]
            own = row.pop(pivot)
            self.rows[pivot] = {pivot: own, **self._without(row)}
            self.steps -= KEPT * len(row)
        self._state()

    def _state(self) -> None:
        own = list(self.rows)
        row: list[int] = []
        column: list[int] = []
        entries: list[int] = []
        constant = np.zeros(len(own), np.int64)
        for k, pivot in enumerate(own):
            line = self.rows[pivot]
            if max(map(abs, line.values())) >= HUGE:
                raise StuckError
            sign = -line.pop(pivot)
            constant[k] = sign * line.pop(self.size, 0)
            row += [k] * len(line)
            column += line
            entries += [sign * entry for entry in line.values()]
        shape = len(own), self.size
        self.own, self.constant = np.array(own, np.int64), constant
        at, of, values = (np.array(part, np.int64) for part in (row, column, entries))
        self.by = Rows.gathered(at, of, values, shape)
        self.free = np.ones(self.size, bool)
        self.free[self.own] = False

    def _without(self, row: Row) -> Row:
        """Return what the equations make of a row, without the unknowns that they were solved for.

        A row says that Σ entry·value is 0, where the unknown after the last one is 1.
        """
        order, pivots = self.order, self.pivots
        left = [order[c] for c in row if c in order]
        heapq.heapify(left)
        while left:
            pivot = pivots[heapq.heappop(left)]
            other = self.rows[pivot]
            times = row.get(pivot, 0) * other[pivot]
            if not times:
                continue
            self.steps -= len(other)
            if self.steps < 0 or self.clock.late:
                raise StuckError
            for c, entry in other.items():
                if c not in row and c in order:
                    heapq.heappush(left, order[c])
                row[c] = row.get(c, 0) - times * entry
                if not row[c]:
                    del row[c]
        return row

    def table(self, values: IntArray) -> IntArray:
        """Return values with what the equations make of the free ones among them."""
        table = values.copy()
        table[self.own] = self.by.sums(values) + self.constant
        return table

    def determined(self, group: Group) -> IntArray:
        """Return the values of unknowns that equations leave no choice; NOT_SEEN for others."""
        known = group.least == group.most
        found = np.where(known, group.least, NOT_SEEN)
        only = np.bincount(self.by.of, weights=~known[self.by.columns], minlength=self.own.size) == 0
        values = np.where(known, group.least, 0)
        # Nothing is said of what 64 bits may not hold, nor of what contradicts its range.
        size = Rows(self.by.starts, self.by.columns, np.abs(self.by.values).astype(np.float64))
        only &= size.sums(np.abs(values).astype(np.float64)) < HUGE
        table, own = self.table(values), self.own[only]
        own = own[(table[own] >= group.least[own]) & (table[own] <= group.most[own])]
        found[own] = table[own]
        return found


class Around:
    """Tables of a group around a point well inside its ranges."""

    def __init__(self, group: Group, clock: Clock) -> None:
        """Find the point, and solve the equations.

        Raises:
            StuckError: there is no such point, or it takes too long.
        """
        self.program = Program(
            group.rows,
            costs=np.zeros(group.variables.size),
            lower=group.least,
            upper=np.where(group.most >= UNBOUNDED, np.inf, group.most),
            sums=(group.rhs, group.rhs),
            # Without costs, interior points stay in the middle; what presolve works out is at an end.
            options={"solver": "ipm", "run_crossover": "off", "presolve": "off"},
        )
        self.group, self.clock = group, clock
        point = self._inside()
        if point is None:
            raise StuckError
        self.point = point
        self.known = group.least == group.most
        room = np.where(self.known, 0.0, np.minimum(point - group.least, group.most - point))
        self.solved = Solved(group, room, clock)
        self.across = self.solved.by.across(point.size)
        self.weight = 1 / np.maximum(room[self.solved.own], 0.5) ** 2
        self.drawn = np.random.default_rng(7)

    def _inside(self) -> FloatArray | None:
        """Return a point over real numbers that keeps away from the ends of ranges, if one is found."""
        found = self.program.run(self.clock.left) == "optimal"
        return self.program.point if found and np.abs(self.program.point).sum() < HUGE else None

    def first(self) -> IntArray | None:
        """Return a table near the point, None if no rounding of it fits."""
        free = np.flatnonzero(self.solved.free & ~self.known)
        down = np.floor(self.point)
        for _ in range(ROUNDINGS):
            values = np.where(self.known, self.group.least, self.point)
            table = self._nearest(values, self.drawn.permutation(free), down, down + 1)
            if not self._misfits(table).any():
                return table
            if self.clock.late:
                break
        return None

    def other(self, table: IntArray, moved: IntArray, near: bool) -> IntArray:
        """Return a table in which some free unknowns are one more or one less, as far as that fits.

        What is worked out stays ``near`` the point on request: otherwise it changes more, and more goes back.
        """
        if near:
            values = self._nearest(table.astype(np.float64), moved, table - 1, table + 1)
        else:
            values = table.copy()
            values[moved] += self.drawn.choice([-1, 1], moved.size)
            values = self.solved.table(np.clip(values, self.group.least, self.group.most))
        while (wrong := self._misfits(values)).any():
            # What an unknown outside its range is worked out from goes back to where it was inside.
            behind = self.solved.by.taken(np.flatnonzero(wrong[self.solved.own])).columns
            values[behind] = table[behind]
            values = self.solved.table(values)
        return values

    def beyond(self, table: IntArray, chosen: IntArray) -> IntArray | None:
        """Return a table in which chosen values are beyond those of another one, near a point where they are."""
        least, most = (side[chosen].astype(np.float64) for side in (self.group.least, self.group.most))
        most[most >= UNBOUNDED] = np.inf
        value, middle = table[chosen].astype(np.float64), self.point
        up = most - value >= value - least
        self.program.set_ranges(chosen, np.where(up, value + 1, least), np.where(up, most, value - 1))
        point = self._inside()
        self.program.set_ranges(chosen, least, most)
        if point is None:
            return None
        self.point = point
        found = self.first()
        self.point = middle
        return found

    def _nearest(self, values: FloatArray, order: IntArray, low: NumberArray, high: NumberArray) -> IntArray:
        """Give some free unknowns one of two values each, by which what is worked out stays nearest to the point."""
        below, above = (np.clip(side, self.group.least, self.group.most) for side in (low, high))
        solved, starts, weight = self.solved, self.across.starts, self.weight
        off = solved.by.sums(values) + solved.constant - self.point[solved.own]
        values = values.copy()
        for j in order.tolist():
            mine = slice(starts[j], starts[j + 1])
            at, entries = self.across.columns[mine], self.across.values[mine]
            pull = entries * weight[at]
            # Where what is off is least.
            best = values[j] - float(pull @ off[at]) / max(float(pull @ entries), TINY)
            chosen = below[j] if best - below[j] < above[j] - best else above[j]
            off[at] += entries * (chosen - values[j])
            values[j] = chosen
        return solved.table(np.rint(values).astype(np.int64))

    def tell(self, table: IntArray, wanted: BoolArray, note: Callable[[IntArray], BoolArray]) -> None:
        """Find tables that tell wanted values apart; ``note`` takes them, and says what is still the same in all."""
        free = self.solved.free & ~self.known
        same, fewer, fruitless = wanted & note(table), 1, 0
        while same.any() and fewer <= free.sum() and not self.clock.late:
            # What is still the same moves first. It may have to stay, and what is worked out moves with others.
            pool = np.flatnonzero(free & same if (free & same).any() and not fruitless else free)
            moved = self.drawn.choice(pool, max(pool.size // fewer, 1), replace=False)
            before = int(same.sum())
            same = wanted & note(self.other(table, moved, fruitless % 2 == 1))
            fruitless = fruitless + 1 if int(same.sum()) == before else 0
            if fruitless == FRUITLESS:
                fewer, fruitless = FEWER * fewer, 0
        share = 1
        while same.any() and share <= SHARES and not self.clock.late:
            left = np.flatnonzero(same)
            found = self.beyond(table, self.drawn.choice(left, max(left.size // share, 1), replace=False))
            before = int(same.sum())
            same = same if found is None else wanted & note(found)
            share *= 1 if int(same.sum()) < before else 2

    def _misfits(self, table: IntArray) -> BoolArray:
        wrong: BoolArray = (table < self.group.least) | (table > self.group.most)
        if np.abs(table.astype(np.float64)).sum() >= HUGE:
            wrong[:] = True
        return wrong
