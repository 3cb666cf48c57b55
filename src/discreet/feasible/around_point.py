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
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.feasible.reduction import NOT_SEEN, Group, StuckError
from discreet.table.kinds import UNBOUNDED

STEPS = 40_000_000
"""The most entries of rows that are added up to solve equations: about ten seconds."""
KEPT = 10
"""As how many of these each entry counts that is kept: at most some 400 MB of them."""
HUGE = 2**60
"""Values that add up to this are not believed: sums of them might not fit into 64 bits."""
ROUNDINGS = 20
"""How many roundings of the point may not fit before the group is left to exact searches; a round choice."""
FRUITLESS, FEWER = 3, 8
"""How many tables in a row may tell nothing new before so many times fewer free unknowns are moved; round choices."""

Row = dict[int, int]


def inside(group: Group, seconds: float | None) -> FloatArray | None:
    """Return a point over real numbers that keeps away from the ends of ranges, if one is found."""
    program = Program(
        group.rows,
        costs=np.zeros(group.variables.size),
        lower=group.least,
        upper=np.where(group.most >= UNBOUNDED, np.inf, group.most),
        sums=(group.rhs, group.rhs),
        # Without costs, interior points stay in the middle.
        options={"solver": "ipm", "run_crossover": "off"},
    )
    return program.point if program.run(seconds) == "optimal" else None


class Solved:
    """Equations, each solved for one unknown in exact integers.

    A row says that Σ entry·value is 0, where the unknown after the last one is 1. No row holds an unknown that an
    earlier row was solved for. ``place`` says which row is of which unknown; all others are free.
    """

    def __init__(self, group: Group, room: FloatArray, clock: Clock) -> None:
        """Solve equations for unknowns of much room, never for those that have none."""
        self.size = n = group.variables.size
        self.rows: list[tuple[int, Row]] = []
        self.place: dict[int, int] = {}
        self.steps, self.clock = STEPS, clock
        starts, columns, space = group.starts.tolist(), group.columns.tolist(), room.tolist()
        signs, rhs = group.signs.tolist(), group.rhs.tolist()
        for e in np.argsort(group.rows.lengths, kind="stable").tolist():
            mine = slice(starts[e], starts[e + 1])
            row = self.without({**dict(zip(columns[mine], signs[mine], strict=True)), n: -rhs[e]})
            pivot = max(
                (c for c, entry in row.items() if abs(entry) == 1 and c < n and space[c] > 0),
                key=space.__getitem__,
                default=n,
            )
            # What is left out leaves tables that do not fit, and nothing wrong.
            if pivot < n:
                self.place[pivot] = len(self.rows)
                self.rows.append((pivot, row))
                self.steps -= KEPT * len(row)
        if any(abs(entry) >= HUGE for _, row in self.rows for entry in row.values()):
            raise StuckError
        self.terms = []
        for pivot, row in self.rows:
            others = [c for c in row if c != pivot]
            entries = [-row[pivot] * row[c] for c in others]
            self.terms.append((pivot, np.array(others, np.int64), np.array(entries, np.int64)))
        self.free = np.ones(n, bool)
        self.free[list(self.place)] = False

    def without(self, row: Row) -> Row:
        """Return what the equations make of a row, without the unknowns that they were solved for.

        Raises:
            StuckError: it takes too long.
        """
        left = [self.place[c] for c in row if c in self.place]
        heapq.heapify(left)
        while left:
            pivot, other = self.rows[heapq.heappop(left)]
            times = row.get(pivot, 0) * other[pivot]
            if not times:
                continue
            self.steps -= len(other)
            if self.steps < 0 or self.clock.late:
                raise StuckError
            for c, entry in other.items():
                if c not in row and c in self.place:
                    heapq.heappush(left, self.place[c])
                row[c] = row.get(c, 0) - times * entry
                if not row[c]:
                    del row[c]
        return row

    def table(self, values: IntArray) -> IntArray:
        """Return values with what the equations make of the free ones among them."""
        table = np.append(values, 1)
        for pivot, others, entries in reversed(self.terms):
            table[pivot] = entries @ table[others]
        return table[:-1]

    def behind(self, chosen: BoolArray) -> BoolArray:
        """Return unknowns with all those that they are worked out from."""
        found = np.append(chosen, False)
        for pivot, others, _ in self.terms:
            if found[pivot]:
                found[others] = True
        return found[:-1]

    def value(self, k: int, known: BoolArray, values: IntArray) -> int | None:
        """Return what an unknown is worked out to be from known ones, None if not from these alone."""
        row = self.without({k: 1})
        constant = row.pop(self.size, 0)
        if not all(known[c] for c in row):
            return None
        return constant + sum(entry * int(values[c]) for c, entry in row.items())


class Around:
    """Tables of a group around a point well inside its ranges."""

    def __init__(self, group: Group, clock: Clock) -> None:
        """Find the point, and solve the equations.

        Raises:
            StuckError: there is no such point, or it takes too long.
        """
        point = inside(group, clock.left)
        if point is None or np.abs(point).sum() >= HUGE:
            raise StuckError
        self.group, self.clock, self.point = group, clock, point
        self.known = group.least == group.most
        room = np.minimum(point - group.least, group.most - point)
        self.solved = Solved(group, np.where(self.known, 0.0, room), clock)
        self.drawn = np.random.default_rng(7)

    def first(self) -> IntArray | None:
        """Return a table near the point, None if no rounding of it fits."""
        for turn in range(ROUNDINGS):
            by = self.drawn.random(self.point.size) if turn else 0.5
            table = self.solved.table(self._within(np.floor(self.point + by).astype(np.int64)))
            if self._misfits(table).any():
                if self.clock.late:
                    return None
                continue
            return table
        return None

    def other(self, table: IntArray, moved: IntArray) -> IntArray:
        """Return a table in which some free unknowns are one more or one less, as far as that fits."""
        values = table.copy()
        values[moved] += self.drawn.choice([-1, 1], moved.size)
        values = self._within(values)
        while True:
            found = self.solved.table(values)
            wrong = self._misfits(found)
            if not wrong.any():
                return found
            # What an unknown outside its range is worked out from goes back to where it was inside.
            back = self.solved.behind(wrong)
            values[back] = table[back]

    def tell(self, table: IntArray, wanted: BoolArray, note: Callable[[IntArray], BoolArray]) -> None:
        """Find tables that tell wanted values apart; ``note`` takes them, and says what is still the same in all."""
        free = self.solved.free & ~self.known
        same, fewer, fruitless = wanted & note(table), 1, 0
        while same.any() and fewer <= free.sum() and not self.clock.late:
            # What is still the same moves first. It may have to stay, and what is worked out moves with others.
            pool = np.flatnonzero(free & same if (free & same).any() and not fruitless else free)
            moved = self.drawn.choice(pool, max(pool.size // fewer, 1), replace=False)
            before = int(same.sum())
            same = wanted & note(self.other(table, moved))
            fruitless = fruitless + 1 if int(same.sum()) == before else 0
            if fruitless == FRUITLESS:
                fewer, fruitless = FEWER * fewer, 0

    def determined(self, which: BoolArray) -> IntArray:
        """Return the values of those that equations leave no choice; NOT_SEEN for others."""
        found = np.full(which.size, NOT_SEEN)
        try:
            for k in np.flatnonzero(which).tolist():
                value = self.solved.value(k, self.known, self.group.least)
                found[k] = NOT_SEEN if value is None else value
        except StuckError:
            pass
        return found

    def _within(self, values: IntArray) -> IntArray:
        return np.clip(values, self.group.least, self.group.most)

    def _misfits(self, table: IntArray) -> BoolArray:
        wrong = (table < self.group.least) | (table > self.group.most)
        return wrong | (np.abs(table.astype(np.float64)).sum() >= HUGE)
