"""The fast method: every demand met by its cheapest circuit, then cells released as long as all demands are met.

Demands that cost most alone come first, so that later ones find cells suppressed already. Then every secondary cell, the
dearest first, is released if the demands that used it can be met more cheaply without it; then groups of cells in one
equation. What remains is minimal: no single cell can be released. All choices depend on whole-number costs and a fixed
order, so that the same table gives the same pattern on any machine.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.protect.suppression.circuits import FOUND, workspace
from discreet.protect.suppression.conflict import cannot
from discreet.protect.suppression.insiders import Knowledge, by_class
from discreet.protect.suppression.pattern import Circuit, Pattern
from discreet.protect.suppression.problem import BoolArray, Problem
from discreet.protect.suppression.rescue import rescue

BOTH, UP, DOWN = 0, 1, -1
SLIGHT = 1e-3
"""The cost of a cell that is suppressed already: enough to prefer short circuits."""
BLOCK = 2000
"""How many demands are met between two reports of progress."""
ROUNDS = 6
"""How often all cells are tried for release."""


@dataclass
class Search:
    """A pattern in the making: which classes are hidden, and a circuit for every demand that is met.

    A demand is a class, an amount, a way (up, down or both), and the attacker against whom it holds.
    """

    problem: Problem
    known: Knowledge
    progress: Progress | None = None
    cell: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    way: list[int] = field(default_factory=list)
    attacker: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Hide the sensitive cells and what no table shows."""
        p = self.problem
        self.hidden: BoolArray = p.primary | p.free
        # The same small numbers everywhere: a fixed hash of the place.
        spread = (np.arange(p.size, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15) >> np.uint64(40)).astype(np.float64)
        self.slight: FloatArray = SLIGHT * (1.0 + spread / 2**24)
        self.cost: FloatArray = np.where(self.hidden, self.slight, p.price.astype(np.float64))
        self.least: FloatArray = np.minimum(p.down, p.up)
        dear = p.price[~p.free & ~p.primary]
        base, most = (float(np.quantile(dear, 0.1)), float(dear.max())) if dear.size else (1.0, 1.0)
        self.arrays = (p.starts, p.columns, p.signs, p.begins, p.rows, p.down, p.up, self.least, base, most)
        self.work = workspace(p.size, p.starts.size - 1)
        self.head = np.full(p.size, -1, np.int64)
        self.where = np.zeros((0, 2), np.int64)
        self.pool = np.empty((5, 1024), np.int64)
        self.end = 0
        who, at, down, up = by_class(p, self.known)
        order = np.lexsort((at, who))
        self.facts = (who[order], at[order], down[order], up[order])
        ends = np.cumsum(np.bincount(who + 1, minlength=len(self.known) + 1))
        self.known_start: IntArray = np.concatenate([[0], ends]).astype(np.int64)
        self.asked: set[tuple[int, int, int, int]] = set()

    # --- demands ------------------------------------------------------------------------------------------

    def demands(self) -> tuple[IntArray | FloatArray, ...]:
        """Return the demands as the kernels take them."""
        who, at, down, up = self.facts
        columns = (np.array(column, np.int64) for column in (self.cell, self.size, self.way, self.attacker))
        return (*columns, self.known_start, at, down, up)

    def ask(self, cell: int, size: int, way: int, attacker: int) -> None:
        """Add a demand unless it is there."""
        key = (cell, size, way, attacker)
        if size > 0 and key not in self.asked:
            self.asked.add(key)
            for column, item in zip((self.cell, self.size, self.way, self.attacker), key, strict=True):
                column.append(item)

    def ask_outsider(self) -> None:
        """Demand every level of every sensitive class."""
        p = self.problem
        for k in np.flatnonzero(p.primary).tolist():
            lower, upper = int(p.lower[k]), int(p.upper[k])
            if p.sliding[k] > lower + upper:
                lower, upper = self._shared(k, lower, upper, int(p.sliding[k]))
            if lower == upper:
                self.ask(k, lower, BOTH, 0)
            else:
                self.ask(k, upper, UP, 0)
                self.ask(k, lower, DOWN, 0)

    def _shared(self, cell: int, lower: int, upper: int, wide: int) -> tuple[int, int]:
        """Share a sliding level between both sides: as much above as can be reached, the rest below."""
        from discreet.protect.suppression import kernels

        reached, beyond = upper, wide - lower + 1
        while reached < beyond - 1:
            middle = wide - lower if beyond > wide - lower else (reached + beyond) // 2
            one = [np.array([item], np.int64) for item in (cell, middle, UP, 0)]
            demands = (*one, self.known_start, *self.facts[1:])
            outcome = kernels.probe(np.zeros(1, np.int64), self.arrays, demands, self.cost, self.work)[1][0]
            if outcome == FOUND:
                reached = middle
            else:
                beyond = middle
        return wide - reached, reached

    def ask_insiders(self) -> bool:
        """Demand what insiders would undo: circuits that move a cell beyond what they know of it. False if nothing."""
        who, at, down, up = self.facts
        before = len(self.cell)
        if not who.size:
            return False
        live = self._live()
        cell, move, q = self.pool[0, live], self.pool[1, live].astype(np.float64), self.pool[2, live]
        mine = np.array(self.attacker, np.int64)[q] == 0
        cell, move, q = cell[mine], move[mine], q[mine]
        order = np.argsort(at, kind="stable")
        first, last = np.searchsorted(at[order], cell, "left"), np.searchsorted(at[order], cell, "right")
        entry = np.repeat(np.arange(cell.size), last - first)
        offset = np.arange(entry.size) - np.repeat(np.cumsum(last - first) - (last - first), last - first)
        fact = order[first[entry] + offset]
        way = np.array(self.way, np.int64)[q[entry]]
        signed = np.where(way == DOWN, -move[entry], move[entry])
        broken = (signed > up[fact]) | (-signed > down[fact]) | ((way == BOTH) & (np.abs(signed) > down[fact]))
        broken |= (way == BOTH) & (np.abs(signed) > up[fact])
        for demand, attacker in sorted(set(zip(q[entry[broken]].tolist(), who[fact[broken]].tolist(), strict=True))):
            self._ask_insider(demand, attacker)
        return len(self.cell) > before

    def _ask_insider(self, demand: int, attacker: int) -> None:
        cell, size, way = self.cell[demand], self.size[demand], self.way[demand]
        start, stop = self.known_start[attacker + 1], self.known_start[attacker + 2]
        own = np.flatnonzero(self.facts[1][start:stop] == cell) + start
        if not own.size:
            self.ask(cell, size, way, attacker + 1)
            return
        # Of a cell of their own nobody can be kept from knowing what they contributed.
        down, up = int(self.facts[2][own].min()), int(self.facts[3][own].min())
        if way != UP:
            self.ask(cell, min(size, down), DOWN, attacker + 1)
        if way != DOWN:
            self.ask(cell, min(size, up), UP, attacker + 1)

    def _live(self) -> IntArray:
        """Return the entries of the pool that are part of a proof."""
        t = np.arange(self.end)
        q = self.pool[2, : self.end]
        found: IntArray = t[(self.where[q, 0] <= t) & (t < self.where[q, 0] + self.where[q, 1])]
        return found

    # --- meeting them -------------------------------------------------------------------------------------

    def meet(self) -> None:
        """Meet every demand that is not met, those that cost most alone first."""
        from discreet.protect.suppression import kernels

        todo, alone = self._alone()
        order = todo[np.argsort(-alone, kind="stable")]
        demands = self.demands()
        by_cell = _index(demands[0], self.problem.size)
        for start in range(0, order.size, BLOCK):
            self._tick(start, order.size, "demands met")
            self.pool, self.end, failed = kernels.meet(
                order[start : start + BLOCK],
                by_cell,
                self.arrays,
                demands,
                self.cost,
                self.slight,
                self.hidden,
                self.where,
                self.pool,
                self.end,
                self.head,
                self.work,
            )
            for q in failed.tolist():
                self._rescue(q)
        self._tick(order.size, order.size, "demands met")

    def _alone(self) -> tuple[IntArray, FloatArray]:
        """Return the demands that are not met, and what each would cost alone.

        Where no single circuit leads both ways, two are asked for.
        """
        from discreet.protect.suppression import kernels

        self._grow()
        todo = np.flatnonzero(self.where[:, 1] == 0)
        alone, outcome = kernels.probe(todo, self.arrays, self.demands(), self.cost, self.work)
        stuck = todo[(outcome != FOUND) & (np.array(self.way, np.int64)[todo] == BOTH)]
        if not stuck.size:
            return todo, alone
        count = len(self.cell)
        for q in stuck.tolist():
            self.way[q] = UP
            self.ask(self.cell[q], self.size[q], DOWN, self.attacker[q])
        self._grow()
        again = np.concatenate([stuck, np.arange(count, len(self.cell))])
        costs = kernels.probe(again, self.arrays, self.demands(), self.cost, self.work)[0]
        fine = ~np.isin(todo, stuck)
        return np.concatenate([todo[fine], again]), np.concatenate([alone[fine], costs])

    def _grow(self) -> None:
        more = len(self.cell) - self.where.shape[0]
        self.where = np.concatenate([self.where, np.zeros((more, 2), np.int64)])

    def _rescue(self, q: int) -> None:
        """Meet a demand that the search in real numbers leaves open, by integer programming, or say why it cannot be."""
        from discreet.protect.suppression import kernels

        who, at, down, up = self.facts
        start, stop = self.known_start[self.attacker[q]], self.known_start[self.attacker[q] + 1]
        found = rescue(
            self.problem,
            self.cell[q],
            self.size[q],
            self.way[q],
            self.cost,
            (at[start:stop], down[start:stop], up[start:stop]),
        )
        if found is None:
            raise cannot(self.problem, self.cell[q], self.size[q], self.way[q], self._name(q))
        cells, moves = found
        fresh = cells[~self.hidden[cells]]
        self.hidden[fresh], self.cost[fresh] = True, self.slight[fresh]
        self.pool = kernels.reserve(self.pool, self.end, cells.size)
        self.end = kernels.keep(
            q, 1.0, cells.size, cells, moves.astype(np.float64), self.where, self.pool, self.end, self.head
        )

    def _name(self, q: int) -> str | None:
        return None if self.attacker[q] == 0 else self.known.names[self.attacker[q] - 1]

    # --- releasing ----------------------------------------------------------------------------------------

    @property
    def total(self) -> int:
        """What the hidden cells cost."""
        return int(self.problem.price[self.hidden].sum())

    def secondary(self) -> IntArray:
        """Return the classes that are hidden for the sake of others, the dearest first."""
        found = np.flatnonzero(self.hidden & ~self.problem.primary & ~self.problem.free)
        return found[np.argsort(-self.problem.price[found], kind="stable")]

    def improve(self, rounds: int = ROUNDS) -> None:
        """Release cells, alone and in groups, as long as that makes the pattern cheaper."""
        for _ in range(rounds):
            before = self.total
            while self._release(*_singles(self.secondary())):
                pass
            self._release(*self._groups())
            if self.total == before:
                break
        while self._release(*_singles(self.secondary())):
            pass

    def _groups(self) -> tuple[IntArray, IntArray]:
        """Return the secondary cells of every equation that has several, the dearest groups first."""
        p = self.problem
        entry = np.flatnonzero((self.hidden & ~p.primary & ~p.free)[p.columns])
        row = np.repeat(np.arange(p.starts.size - 1), np.diff(p.starts))[entry]
        count = np.bincount(row, minlength=p.starts.size - 1)
        keep = (count[row] > 1) & (count[row] <= 12)
        row, cells = row[keep], p.columns[entry[keep]]
        worth = np.bincount(row, weights=p.price[cells], minlength=p.starts.size - 1)
        order = np.lexsort((cells, row, -worth[row]))
        row, cells = row[order], cells[order]
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return np.append(starts, row.size), cells

    def _release(self, groups: IntArray, members: IntArray) -> int:
        from discreet.protect.suppression import kernels

        accepted = 0
        for start in range(0, groups.size - 1, BLOCK):
            part = groups[start : start + BLOCK + 1]
            self._tick(start, groups.size - 1, f"cells tried for release, cost {self.total:,}")
            self.pool, self.end, more = kernels.improve(
                part - part[0],
                members[part[0] : part[-1]],
                self.problem.price,
                self.arrays,
                self.demands(),
                self.cost,
                self.slight,
                self.hidden,
                self.where,
                self.pool,
                self.end,
                self.head,
                self.work,
            )
            accepted += int(more)
        return accepted

    def _tick(self, done: int, total: int, label: str) -> None:
        if self.progress is not None and total:
            self.progress(done, total, label)

    def circuit(self, q: int) -> tuple[IntArray, IntArray]:
        """Return the classes and moves that prove a demand."""
        start, count = self.where[q]
        return self.pool[0, start : start + count].copy(), self.pool[1, start : start + count].copy()


    def pattern(self, method: str = "fast", bound: int | None = None, limited: bool = False) -> Pattern:
        """Return what was found, with the circuits that prove it, checked in whole numbers."""
        circuits = tuple(
            Circuit(self.cell[q], self.size[q], self.way[q], self.attacker[q], *self.circuit(q))
            for q in range(len(self.cell))
        )
        proven = lower_bound(self.problem) if bound is None else bound
        found = Pattern(self.problem, self.known, self.hidden.copy(), method, proven, circuits, limited)
        found.check()
        return found


def lower_bound(problem: Problem) -> int:
    """Return a cost that no safe pattern undercuts.

    In every equation with one sensitive cell another must be suppressed. Each such equation is given as much as all
    cells that could serve it can still pay; nobody pays more than the own cost, so that the sum is a lower bound.
    """
    from discreet.protect.suppression.kernels import pay

    fixed = problem.primary | problem.free
    left = problem.price.astype(np.int64).copy()
    return int(problem.price[fixed].sum()) + int(pay(problem.starts, problem.columns, fixed, problem.primary, left))


def _singles(cells: IntArray) -> tuple[IntArray, IntArray]:
    return np.arange(cells.size + 1), cells


def _index(cell: IntArray | FloatArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the demands of every class in compressed rows."""
    whole = np.asarray(cell, np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(whole, minlength=size))]).astype(np.int64)
    return starts, np.argsort(whole, kind="stable")


def fast(problem: Problem, known: Knowledge, *, progress: Progress | None = None) -> Search:
    """Find a safe pattern quickly."""
    search = Search(problem, known, progress)
    search.ask_outsider()
    search.meet()
    search.improve()
    while search.ask_insiders():
        search.meet()
        search.improve(1)
    return search
