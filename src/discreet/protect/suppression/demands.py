"""What must remain possible, and the circuits that prove it: a pattern in the making.

A demand asks that one class of cells can move by some amount, up, down or either way, for one attacker. The proof of a
demand that is met is a circuit of hidden cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Self, TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, FloatArray, IntArray, index_ranges
from discreet.core.progress import Progress
from discreet.core.sparse import distinct_rows, row_of, starts_of
from discreet.protect.suppression.circuits import EFFORT, workspace
from discreet.protect.suppression.insider_knowledge import InsiderKnowledge, by_class
from discreet.protect.suppression.meeting import CircuitSearch, DemandColumns, HeldCircuits, keep, meet, reserve
from discreet.protect.suppression.pattern import Circuit, Pattern
from discreet.protect.suppression.problem import Problem

BOTH, UP, DOWN = 0, 1, -1
OwnRoom: TypeAlias = tuple[int, int] | None
"""How far a cell that an insider is in can move down and up for them; None for others' cells."""
FEW = 3
"""The most insiders who get a circuit each; more of them share one that none of them undoes, if there is one. A round
choice: a shared circuit suppresses fewer cells but is harder to find."""


@dataclass
class Demanded:
    """A pattern in the making: which classes are hidden, and a circuit for every demand that is met.

    A demand is a class, an amount, a way (up, down or both), and the attacker against whom it holds.
    """

    problem: Problem
    known: InsiderKnowledge
    progress: Progress | None = None
    clock: Clock = field(default_factory=Clock)
    cell: list[int] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    way: list[int] = field(default_factory=list)
    attacker: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Hide the sensitive cells and what no table shows."""
        p = self.problem
        self.hidden: BoolArray = p.always
        self.cost: FloatArray = self.costs()
        self.work = workspace(p.size, p.on.starts.size - 1)
        self.head = np.full(p.size, -1, np.int64)
        self.where = np.zeros((0, 2), np.int64)
        self.pool = np.empty((5, 1024), np.int64)
        self.end = 0
        self.asked: set[tuple[int, int, int, int]] = set()
        self.stirred: IntArray = np.zeros(p.size, np.int64)
        self.forget()
        self._learn(self.known)

    def _learn(self, known: InsiderKnowledge) -> None:
        """Take note of what insiders know."""
        self.known = known
        who, at, down, up = by_class(self.problem, known)
        order = np.lexsort((at, who))
        self.facts = (who[order], at[order], down[order], up[order])
        self.known_start: IntArray = starts_of(np.bincount(who + 1, minlength=len(known) + 1))
        self.together: dict[int, tuple[int, list[int]]] = {}

    def learn(self, known: InsiderKnowledge) -> None:
        """Take note of what insiders know now; demands of those who undo their own circuits with it are asked anew.

        A demand that has no insider any more repeats what outsiders are asked for; the circuit of a group serves them.
        """
        number = {name: k for k, name in enumerate(known.names, start=1)}
        single = [k for k, a in enumerate(self.attacker) if a and a not in self.together]
        outside = {(self.cell[k], way): k for k, a in enumerate(self.attacker) if not a for way in self._ways(k)}
        now = {k: number.get(self.known.names[self.attacker[k] - 1], 0) for k in single}
        self.attacker = [now.get(k, 0) for k in range(len(self.attacker))]
        self._learn(known)
        for k in {*self._broken().tolist(), *(k for k in single if not now[k])}:
            other = outside[self.cell[k], self._ways(k)[0]]
            self.size[k], self.way[k], self.attacker[k] = self.size[other], self.way[other], 0
            self._keep(k, *self.circuit(other))
        self.asked = set(zip(self.cell, self.size, self.way, self.attacker, strict=True))

    def _ways(self, demand: int) -> tuple[int, ...]:
        """Return the ways that a demand asks for."""
        return (UP, DOWN) if self.way[demand] == BOTH else (self.way[demand],)

    def _broken(self) -> IntArray:
        """Return the insiders' demands whose own circuits leave what these insiders take to be possible."""
        who, at, down, up = self.facts
        t, q = np.arange(self.end), self.pool[2, : self.end]
        attacker, way = np.array(self.attacker, np.int64), np.array(self.way, np.int64)
        live = np.flatnonzero((attacker[q] > 0) & (self.where[q, 0] <= t) & (t < self.where[q].sum(axis=1)))
        cell, move, q = self.pool[0, live], self.pool[1, live].astype(np.float64), q[live]
        fact, key = (who + 1) * self.problem.size + at, attacker[q] * self.problem.size + cell
        order = np.argsort(fact, kind="stable")
        entry, place = index_ranges(*(np.searchsorted(fact[order], key, side) for side in ("left", "right")))
        less, more, move, way = down[order[place]], up[order[place]], move[entry], way[q[entry]]
        out = ((move > more) | (-move > less)) & (way >= 0) | ((-move > more) | (move > less)) & (way <= 0)
        broken: IntArray = np.unique(q[entry[out]])
        return broken

    def before(self, known: InsiderKnowledge) -> Self:
        """Return a copy of a pattern against outsiders, before insiders who know what is given."""
        found = copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray | list | set):
                setattr(found, name, value.copy())
        found._learn(known)
        return found

    def forget(self) -> None:
        """Let every cell and every group of cells be tried for release again."""
        self.tried_alone: IntArray = np.full(self.problem.size, -1)
        self.tried_together: IntArray = np.full(self.problem.on.starts.size - 1, -1)

    # --- demands ------------------------------------------------------------------------------------------

    def costs(self, price: FloatArray | IntArray | float | None = None) -> FloatArray:
        """Return what using each class costs: its price, or another one that is given, unless it is hidden already."""
        on = self.problem.on
        return np.where(self.hidden, on.slight, on.price if price is None else price)

    def held(self, cost: FloatArray | None = None) -> HeldCircuits:
        """Return the pattern as kernels take it, at other costs than usual if some are given."""
        return HeldCircuits(self.hidden, self.cost if cost is None else cost, self.where, self.head, self.stirred)

    def search(self, cost: FloatArray | None = None, demands: Sequence[Sequence[int]] | None = None) -> CircuitSearch:
        """Return what kernels work on; at other costs than usual, or for other demands, where some are given."""
        columns = demands or (self.cell, self.size, self.way, self.attacker)
        cell, size, way, attacker = (np.array(column, np.int64) for column in columns)
        asked = DemandColumns(cell, size, way, attacker, self.known_start, *self.facts[1:])
        return CircuitSearch(self.problem.on, asked, self.held(cost), self.work)

    def can_be_met(self, cost: FloatArray, demands: Sequence[Sequence[int]] | None = None) -> BoolArray:
        """Say for which demands a search finds a circuit at given costs."""
        search, none = self.search(cost, demands), np.zeros(0, np.int64)
        order = np.arange(search.asked.cell.size)
        met: BoolArray = meet(order, (none, none), False, search, self.pool, self.end, EFFORT)[2]
        return met

    def ask(self, cell: int, size: int, way: int, attacker: int) -> None:
        """Add a demand unless it is there."""
        key = (cell, size, way, attacker)
        if size > 0 and key not in self.asked:
            self.asked.add(key)
            for column, item in zip((self.cell, self.size, self.way, self.attacker), key, strict=True):
                column.append(item)

    def ask_outsider(self) -> None:
        """Demand every level of every sensitive class, and that nobody works out those that are kept hidden."""
        p = self.problem
        for k in np.flatnonzero(p.on.primary | p.kept).tolist():
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
        reached, beyond = upper, wide - lower + 1
        while reached < beyond - 1:
            middle = wide - lower if beyond > wide - lower else (reached + beyond) // 2
            if self.can_be_met(self.cost, ([cell], [middle], [UP], [0]))[0]:
                reached = middle
            else:
                beyond = middle
        return wide - reached, reached

    def ask_insiders(self) -> bool:
        """Demand what insiders would undo: circuits that move a cell beyond what they know of it. False if none.

        An insider who undoes every circuit of a demand needs another one; several of them share one.
        """
        before = len(self.cell)
        if not self.facts[0].size:
            return False
        for way in (UP, DOWN):
            together = []
            for demand, insiders in self._undone(way).items():
                others = [a for a, room in insiders if self._can_share(room, demand, way)]
                if len(others) > FEW:
                    together.append((demand, way, others))
                    insiders = [(a, room) for a, room in insiders if not self._can_share(room, demand, way)]
                for attacker, room in insiders:
                    self._ask_insider(demand, attacker, room)
            self._ask_together(together)
        return len(self.cell) > before

    def _undone(self, way: int) -> dict[int, list[tuple[int, OwnRoom]]]:
        """Return for demands of one way who undoes all circuits that serve them, and has no circuit of their own.

        With each of them comes how far the cell can move down and up for them, if they are in it.
        """
        count = int(self.known_start[len(self.known) + 1])
        who, at, down, up = (column[:count] for column in self.facts)
        asked = self.search().asked
        serves = np.isin(asked.way, (way, BOTH)) & ((asked.attacker == 0) | (asked.attacker > len(self.known)))
        serves &= ~self.problem.kept[asked.cell]
        # Demands that ask for the same are served by the circuits of all of them.
        group = np.full(serves.size, -1)
        group[serves] = distinct_rows(np.stack([asked.cell, asked.size], axis=1)[serves])[1]
        circuits = np.bincount(group[serves])
        first = np.full(circuits.size, serves.size)
        np.minimum.at(first, group[serves], np.flatnonzero(serves))
        t, q = np.arange(self.end), self.pool[2, : self.end]
        live = np.flatnonzero(serves[q] & (self.where[q, 0] <= t) & (t < self.where[q].sum(axis=1)))
        cell, move, q = self.pool[0, live], self.pool[1, live].astype(np.float64) * way, q[live]
        order = np.argsort(at, kind="stable")
        begin, end = np.searchsorted(at[order], cell, "left"), np.searchsorted(at[order], cell, "right")
        entry, place = index_ranges(begin, end)
        fact = order[place]
        broken = (move[entry] > up[fact]) | (-move[entry] > down[fact])
        # Pairs are sorted as one number each: that takes a fraction of the time of sorting columns.
        people = len(self.known)
        q, insider = np.divmod(np.unique(q[entry[broken]] * people + who[fact[broken]]), people)
        undone, times = np.unique(group[q] * people + insider, return_counts=True)
        g, insider = np.divmod(undone, people)
        all_undone = times == circuits[g]
        demand, insider = first[g[all_undone]], insider[all_undone]
        found: dict[int, list[tuple[int, OwnRoom]]] = {}
        for d, a, room in zip(demand.tolist(), insider.tolist(), self._own_rooms(insider, demand), strict=True):
            if not self._served(d, way, a, room):
                found.setdefault(d, []).append((a, room))
        return found

    def _can_share(self, room: OwnRoom, demand: int, way: int) -> bool:
        """Say whether an insider may share a circuit with others: those who are not in the cell ask for the same."""
        return room is None

    def _served(self, demand: int, way: int, attacker: int, room: OwnRoom) -> bool:
        """Say whether an insider has demands of their own for what a demand asks for."""
        cell, size = self.cell[demand], self.size[demand]
        size = size if room is None else min(size, room[way == UP])
        return size == 0 or any((cell, size, one, attacker + 1) in self.asked for one in (way, BOTH))

    def _own_rooms(self, insiders: IntArray, demands: IntArray) -> list[OwnRoom]:
        """Return how far the cells of demands can move for insiders who are in them, one demand for each insider."""
        count = int(self.known_start[len(self.known) + 1])
        who, at, *sides = (column[:count] for column in self.facts)
        # Facts are sorted by insider and cell.
        fact, key = who * self.problem.size + at, insiders * self.problem.size + np.array(self.cell, np.int64)[demands]
        begin, end = (np.searchsorted(fact, key, side) for side in ("left", "right"))
        entry, place = index_ranges(begin, end)
        rooms = np.full((2, key.size), 2**62)
        for room, side in zip(rooms, sides, strict=True):
            np.minimum.at(room, entry, side[place].astype(np.int64))
        inside = (begin < end).tolist()
        return [(low, high) if own else None for own, low, high in zip(inside, *rooms.tolist(), strict=True)]

    def insiders_of(self, demand: int) -> list[int]:
        """Return whom a demand is for, numbered as in demands; no one if it is for outsiders."""
        who = self.attacker[demand]
        return [a + 1 for a in self.together[who][1]] if who in self.together else [who] if who else []

    def _ask_together(self, groups: list[tuple[int, int, list[int]]]) -> None:
        """Demand for each group of insiders a circuit, for a demand one way, that none of them undoes.

        A group knows what its members know, and is numbered after all of them.
        """
        first = self.known_start.size - 1
        self._share([insiders for _, _, insiders in groups])
        for number, (demand, way, insiders) in enumerate(groups, start=first):
            self.together[number] = (demand, insiders)
            self.ask(self.cell[demand], self.size[demand], way, number)

    def _share(self, groups: Sequence[Sequence[int]]) -> None:
        """Let groups of insiders know what their members do."""
        rows, start = [np.arange(self.known_start[-1])], [self.known_start]
        for insiders in groups:
            rows += [np.arange(self.known_start[a + 1], self.known_start[a + 2]) for a in insiders]
            start.append(start[-1][-1:] + sum(part.size for part in rows[-len(insiders) :]))
        self.known_start, copied = np.concatenate(start), np.concatenate(rows)
        who, at, down, up = self.facts
        self.facts = (who[copied], at[copied], down[copied], up[copied])

    def _ask_insider(self, demand: int, attacker: int, room: OwnRoom) -> None:
        cell, size, way = self.cell[demand], self.size[demand], self.way[demand]
        if room is None:
            self.ask(cell, size, way, attacker + 1)
            return
        # Nobody can be kept from knowing what they contributed to a cell of their own.
        for one, far in zip((DOWN, UP), room, strict=True):
            if way in (one, BOTH):
                self.ask(cell, min(size, far), one, attacker + 1)

    def _keep(self, q: int, cells: IntArray, moves: IntArray) -> None:
        """Store a circuit as the proof of a demand."""
        self.pool = reserve(self.pool, self.end, cells.size)
        self.end = keep(q, 1.0, cells, moves.astype(np.float64), self.held(), self.pool, self.end)

    def _grow(self) -> None:
        """Make room for the proofs of new demands."""
        more = len(self.cell) - self.where.shape[0]
        self.where = np.concatenate([self.where, np.zeros((more, 2), np.int64)])

    @property
    def total(self) -> int:
        """What the hidden cells cost."""
        return int(self.problem.on.price[self.hidden].sum())

    def _tick(self, done: int, total: int, label: str) -> None:
        if self.progress is not None and total:
            self.progress(done, total, label)

    def circuit(self, q: int) -> tuple[IntArray, IntArray]:
        """Return the classes and moves that prove a demand."""
        start, count = self.where[q]
        return self.pool[0, start : start + count].copy(), self.pool[1, start : start + count].copy()

    @property
    def touched(self) -> BoolArray:
        """The positions that are hidden, and those that no table shows and some circuit moves."""
        p, moved = self.problem, np.zeros(self.problem.size, bool)
        moved[self.pool[0, : self.end]] = True
        found = p.member >= 0
        found[found] = moved[p.member[found]]
        return p.positions(self.hidden) | (found & ~p.cells.listed)

    def pattern(self, method: str = "fast", bound: int | None = None, limited: bool = False) -> Pattern:
        """Return what was found, with the circuits that prove it, checked in integers."""
        whom = (0 if who in self.together else who for who in self.attacker)
        asked = zip(self.cell, self.size, self.way, whom, strict=True)
        circuits = tuple(Circuit(*demand, *self.circuit(q)) for q, demand in enumerate(asked))
        proven = lower_bound(self.problem) if bound is None else bound
        found = Pattern(self.problem, self.known, self.hidden.copy(), method, proven, circuits, limited)
        found.check()
        return found


def lower_bound(problem: Problem) -> int:
    """Return a cost that no safe pattern undercuts.

    In every equation with one sensitive cell another must be suppressed. Each such equation is given as much as all
    cells that could serve it can still pay; no cell pays more than its own cost, so the sum is a lower bound.
    """
    on, fixed, left = problem.on, problem.always, problem.on.price.copy()
    row, count = row_of(on.starts), on.starts.size - 1
    hidden, sensitive = (np.bincount(row[which[on.columns]], minlength=count) for which in (fixed, on.primary))
    total = int(left[fixed].sum())
    for e in np.flatnonzero((hidden == 1) & (sensitive == 1)).tolist():
        others = on.columns[on.starts[e] : on.starts[e + 1]]
        others = others[~fixed[others]]
        least = int(left[others].min()) if others.size else 0
        total += least
        left[others] -= least
    return total
