"""Patterns of many linked tables: found among the cells that tables show, then carried over to the crossings.

Cells that only a table of all dimensions would show far outnumber those that tables show, and cost nothing. Without
them, every table has its own sums only, and searches are small. A circuit found there is lifted: crossings next to the
cells that it moves are moved as well, until all their sums hold too. What cannot be lifted is met among all cells.

A pattern that is safe with the crossings is safe without them, so where no circuit exists here, there is none at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import LateError, LimitError
from discreet.core.highs import Program
from discreet.core.numerics import BoolArray, FloatArray, IntArray, each_once, index_ranges
from discreet.core.progress import Progress
from discreet.core.sparse import Rows
from discreet.protect.suppression.circuits import EFFORT, FOUND
from discreet.protect.suppression.demands import BOTH, UP, OwnRoom
from discreet.protect.suppression.fast import FastSearch, fast, meet_insiders
from discreet.protect.suppression.insider_knowledge import InsiderKnowledge
from discreet.protect.suppression.meeting import TRIES as CIRCUIT_TRIES
from discreet.protect.suppression.meeting import settle
from discreet.protect.suppression.problem import Cells, Problem
from discreet.protect.suppression.rescue import LATE

CROSSINGS = 20_000
"""From so many cells on that no table shows, patterns are found without them first: a round choice, and a large one.
With 275 to 1,728 crossings (linked tables of counts, of firms, and of firms with a hierarchy: two, three and one),
patterns that were lifted cost 1.5 to 2.3 times as much as those found among all cells."""
NODES = 200
"""The effort of looking for integers, counted in nodes to be the same on any machine. On the tables above,
95 to 3,344 programs over real numbers in each left none to be solved in integers: most corners are integers."""
HARD = 1000.0
"""The price of moving a crossing below somebody's part, that of other moves being 1. With 1 and 10⁶, five of the tables
above got the same patterns by the same work."""
TRIES = 24
"""How often another circuit is looked for if crossings leave no room for one. On the tables above, 6 took 0.4 to 1
times the searches and cost 0.7 to 1.4 times as much; 48 cost 1 to 1.5 times as much. 1 cost 0.3 to 0.7 times as much,
but left up to 285 demands to searches among all cells, which lifting is there to avoid."""
WIDE = 5_000
"""Up to so many crossings beside those inside of the cells that move, programs of all of them are small: 16,770 took 5
seconds or did not end. In place of larger ones, circuits of larger cells are tried, whose crossings have room, and then
one among all cells, which takes less than a second."""
Moves: TypeAlias = tuple[IntArray, IntArray]
"""A circuit: the classes that move, and by how much."""


def shown_only(cells: Cells) -> Cells:
    """Return linked cells with the sums of tables alone; crossings that no table shows stay as they are."""
    stated, listed = cells.equations, cells.listed
    rows = Rows(stated.starts, stated.columns, stated.signs)
    open_ = ~listed & ~stated.exact
    kept = rows.taken(np.flatnonzero(np.bincount(rows.of, open_[rows.columns], rows.starts.size - 1) == 0))
    lower, upper = (np.where(listed, end, cells.values) for end in (stated.lower, stated.upper))
    signs = kept.values.astype(np.int64)
    equations = replace(stated, lower=lower, upper=upper, starts=kept.starts, columns=kept.columns, signs=signs)
    return replace(cells, equations=equations)


def fast_among_many(
    problem: Problem,
    shown: Problem,
    known: Callable[[BoolArray], InsiderKnowledge],
    own: IntArray,
    *,
    clock: Clock,
    progress: Progress | None = None,
) -> FastSearch:
    """Find a safe pattern of many linked tables; ``shown`` is the same problem with the sums of tables alone.

    ``own`` is the largest part of one respondent in every position that no table shows.
    """
    first = fast(shown, known, clock=clock, progress=progress)
    search = LiftedSearch.of(problem, first, known(first.touched), Lift(problem, shown, own))
    search.meet()
    # What is found stays: beginning anew with what respondents of more crossings know leads to others again.
    meet_insiders(search, known)
    return search


class LiftedSearch(FastSearch):
    """Meets demands by circuits among the cells that tables show, each lifted to the crossings.

    Cells are not released again: that was done before the circuits were lifted. What could not be lifted for outsiders
    (``unlifted``: class, amount, way) is not tried for insiders, for whom there is less room.
    """

    shown: FastSearch
    lift: Lift
    shown_class: IntArray
    unlifted: set[tuple[int, int, int]]

    @classmethod
    def of(cls, problem: Problem, first: FastSearch, known: InsiderKnowledge, lift: Lift) -> LiftedSearch:
        """Start with what was found without crossings: its hidden cells, and what it demands."""
        found = cls(problem, known, first.progress, first.clock)
        found.shown = first.before(known)
        found.lift, found.shown_class, found.unlifted = lift, lift.shown_class, set()
        whom = {name: number for number, name in enumerate(known.names, start=1)}
        of = np.full(first.problem.size, -1)
        kept = found.shown_class >= 0
        of[found.shown_class[kept]] = np.flatnonzero(kept)
        hidden = np.unique(problem.member[first.problem.positions(first.hidden)])
        hidden = hidden[hidden >= 0]
        found.hidden[hidden], found.cost[hidden] = True, problem.on.slight[hidden]
        circuits = []
        for q in range(len(first.cell)):
            attacker, mine = first.attacker[q], int(of[first.cell[q]])
            who = 0 if not attacker or attacker in first.together else whom.get(first.known.names[attacker - 1], -1)
            before = len(found.cell)
            if who >= 0 and mine >= 0:
                found.ask(mine, first.size[q], first.way[q], who)
            if len(found.cell) > before:
                circuits.append(first.circuit(q))
        found.ask_outsider_again()
        found._grow()
        for q, circuit in enumerate(circuits):
            if circuit[0].size and (lifted := lift.moves(circuit, found.way[q], found.facts_of(q))) is not None:
                found._keep(q, *lifted)
        return found

    def facts_of(self, q: int) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return how far classes can move down and up for the insider of a demand."""
        mine = slice(*self.known_start[[self.attacker[q], self.attacker[q] + 1]])
        _, at, down, up = self.facts
        return at[mine], down[mine], up[mine]

    def ask_outsider_again(self) -> None:
        """Demand every level of sensitive classes for which nothing has been asked yet."""
        asked = set(self.cell)
        missing = [k for k in np.flatnonzero(self.problem.on.primary).tolist() if k not in asked]
        if missing:
            self.ask_outsider()

    def learn(self, known: InsiderKnowledge) -> None:
        """Take note of what insiders know now, also among the cells that tables show."""
        super().learn(known)
        self.shown._learn(known)

    def meet(self) -> None:
        """Meet every demand that is not met."""
        self._grow()
        for q in np.flatnonzero(self.where[:, 1] == 0).tolist():
            if not self.where[q, 1]:
                self._insist(q)

    def improve(self, rounds: int = 1) -> None:
        """Release nothing."""

    def tidy(self) -> None:
        """Release nothing."""

    def _can_share(self, room: OwnRoom, demand: int, way: int) -> bool:
        """Say whether an insider may share a circuit: respondents of the cell too, if all of the demand can be theirs.

        Of a large cell there are hundreds, and a circuit for each moves crossings of others again.
        """
        return room is None or room[way == UP] >= self.size[demand]

    def _share(self, groups: Sequence[Sequence[int]]) -> None:
        super()._share(groups)
        self.shown._share(groups)

    def _insist(self, q: int) -> None:
        """Meet a demand by a circuit that can be lifted; each way, or for fewer insiders, where there is none."""
        self.clock.refuse_late(LATE)
        asked = (self.cell[q], self.size[q], self.way[q])
        if asked not in self.unlifted and (found := self._lifted(q)) is not None:
            self._hide(q, *found)
        elif self.way[q] == BOTH:
            self._each_way(q)
        elif self.attacker[q] in self.together:
            if asked not in self.unlifted or not self._rescued_together(q):
                self._part(q)
        else:
            if not self.attacker[q]:
                self.unlifted.add(asked)
            super()._insist(q)

    def _rescued_together(self, q: int) -> bool:
        """Meet a demand of several insiders by integer programming; false where that finds nothing."""
        try:
            return self._rescue(q)
        except LateError:
            raise
        except LimitError:
            return False

    def _lifted(self, q: int) -> Moves | None:
        """Return a circuit for a demand, lifted to the crossings; None if none was found.

        If there is no room for it, the cell that has least is left out of the next, or all below a growing size are.
        """
        shown, way = self.shown, self.way[q]
        cell = int(self.shown_class[self.cell[q]])
        if cell < 0:
            return None
        shown.hidden[self.shown_class[self.hidden & (self.shown_class >= 0)]] = True
        on = shown.problem.on
        down, up = (on.least, on.least) if way == BOTH else (on.down, on.up) if way == UP else (on.up, on.down)
        asked = [[cell], [self.size[q]], [way], [self.attacker[q]]]
        # Programs of the crossings inside of the cells that move are small; those of others beside them need not be.
        for most, grow in ((0, False), (WIDE, False), (0, True)):
            cost = shown.costs()
            for number in range(TRIES):
                outcome, count = settle(0, np.inf, shown.search(cost, asked), CIRCUIT_TRIES, EFFORT)
                if outcome != FOUND:
                    break
                classes, moves = shown.work.found[:count].copy(), np.rint(shown.work.moves[:count]).astype(np.int64)
                if (lifted := self.lift.moves((classes, moves), way, self.facts_of(q), beside=most)) is not None:
                    return lifted
                room = np.where(moves > 0, up[classes], down[classes]) / np.abs(moves)
                room[classes == cell] = np.inf
                cost[classes[np.argmin(room)]] = np.inf
                if grow:
                    small = on.least < self.size[q] * 2.0 ** (number / 2)
                    small[cell] = False
                    cost[small] = np.inf
        return None


class Lift:
    """Carries circuits over to crossings. ``shown_class`` is the class of each class where tables are alone, or -1.

    If crossings can stay above what any respondent contributed to them, nobody undoes a circuit by that; so they are
    moved below it, past what is ``easy``, only where that cannot be helped.
    """

    def __init__(self, problem: Problem, shown: Problem, own: IntArray) -> None:
        self.problem, self.shown = problem, shown
        self.rows = problem.rows._replace(values=np.rint(problem.rows.values).astype(np.int64))
        listed = np.flatnonzero((problem.member >= 0) & problem.cells.listed)
        self.shown_class = np.full(problem.size, -1)
        self.shown_class[problem.member[listed]] = shown.member[listed]
        self.order = np.argsort(shown.member, kind="stable")
        self.sorted = shown.member[self.order]
        self.known: dict[tuple[object, ...], Moves | None] = {}
        inside = np.flatnonzero(problem.member >= 0)
        part = np.zeros(problem.size, np.int64)
        np.maximum.at(part, problem.member[inside], own[inside])
        self.easy = np.maximum(problem.on.down - part, 0.0)

    def moves(
        self, circuit: Moves, way: int, facts: tuple[IntArray, FloatArray, FloatArray], *, beside: int = 0
    ) -> Moves | None:
        """Return a circuit with crossings, None if they leave no room for it; what was asked before is remembered.

        ``facts`` say how far some classes can move down and up for the one who is to be kept from undoing it. Crossings
        ``beside`` those inside of the cells that move are moved too if that is above 0 and no more are moved in all.
        """
        key = (*(column.tobytes() for column in (*circuit, *facts)), way, beside)
        if key not in self.known:
            self.known[key] = self._moves(circuit, way, facts, beside)
        return self.known[key]

    def _moves(
        self, circuit: Moves, way: int, facts: tuple[IntArray, FloatArray, FloatArray], beside: int
    ) -> Moves | None:
        problem = self.problem
        begin, end = (np.searchsorted(self.sorted, circuit[0], side) for side in ("left", "right"))
        which, place = index_ranges(begin, end)
        mine, by = problem.member[self.order[place]], circuit[1][which]
        shift = np.zeros(problem.size, np.int64)
        if (mine < 0).any():
            return None
        shift[mine] = by
        if (shift[mine] != by).any():
            return None
        down, up = problem.on.down.copy(), problem.on.up.copy()
        at, less, more = facts
        np.minimum.at(down, at, less)
        np.minimum.at(up, at, more)
        least = np.minimum(down, up)
        ends = (least, least) if way == BOTH else (down, up) if way == UP else (up, down)
        easy = [
            end if (way == UP) == bool(k) and way != BOTH else np.minimum(end, self.easy) for k, end in enumerate(ends)
        ]
        crossings = self._region(np.unique(mine), beside > 0)
        if 0 < beside < crossings.size:
            return None
        # Further away, integer programs take long, and most corners are integers.
        if (found := self._solved(shift, crossings, ends, easy, integers=not beside)) is None:
            return None
        shift[crossings] = found
        every = np.flatnonzero(shift)
        return every, shift[every]

    def _region(self, moved: IntArray, wide: bool) -> IntArray:
        """Return crossings to move along with some classes: those that are parts of them, or others in sums too."""
        below = self._beside(moved)
        among = np.zeros(self.problem.size, bool)
        among[below] = True
        while below.size:
            below = self._beside(below, parts=True)
            below = below[~among[below]]
            among[below] = True
        found = np.flatnonzero(among)
        if wide:
            among[self._beside(found)] = True
            found = np.flatnonzero(among)
        return found

    def _beside(self, classes: IntArray, *, parts: bool = False) -> IntArray:
        """Return the crossings in the sums of some classes, or only those that are ``parts`` of them."""
        on = self.problem.on
        _, entry = index_ranges(on.begins[classes], on.begins[classes + 1])
        inside = entry[on.weights[entry] > 0] if parts else entry
        rows = each_once(on.rows[inside], on.starts.size - 1)
        _, entry = index_ranges(on.starts[rows], on.starts[rows + 1])
        found = each_once(on.columns[entry], self.problem.size)
        return found[self.problem.free[found]]

    def _solved(
        self,
        shift: IntArray,
        crossings: IntArray,
        ends: Sequence[FloatArray],
        easy: Sequence[FloatArray],
        *,
        integers: bool,
    ) -> IntArray | None:
        """Return the smallest moves of crossings by which all sums stay, None if there are none."""
        on, n = self.problem.on, crossings.size
        every = np.union1d(np.flatnonzero(shift), crossings)
        _, entry = index_ranges(on.begins[every], on.begins[every + 1])
        rows = self.rows.taken(np.unique(on.rows[entry]))
        rest = -rows.sums(np.where(self.problem.free, 0, shift))
        rows = rows.among(crossings, self.problem.size)
        if rest[rows.lengths == 0].any():
            return None
        some = np.flatnonzero(rows.lengths)
        rows, rest = rows.taken(some), rest[some]
        both = rows.beside(rows._replace(values=-rows.values), n)
        both = both.beside(both, 2 * n)
        down, up = (end[crossings] for end in ends)
        near = np.concatenate([easy[1][crossings], easy[0][crossings]])
        upper = np.concatenate([near, np.concatenate([up, down]) - near])
        for whole in (False, True) if integers else (False,):
            options = {"mip_max_nodes": NODES, "mip_max_improving_sols": 1} if whole else None
            costs, lower = np.repeat([1.0, HARD], 2 * n), np.zeros(4 * n)
            program = Program(
                both, costs=costs, lower=lower, upper=upper, sums=(rest, rest), whole=whole, options=options
            )
            if program.run() == "infeasible" or not program.found:
                return None
            x = program.point.reshape(4, n)
            found: IntArray = np.rint(x[0] - x[1] + x[2] - x[3]).astype(np.int64)
            inside = (-down <= found) & (found <= up)
            if inside.all() and (rows.sums(found) == rest).all():
                return found
        return None
