"""The fast method: every demand met by its cheapest circuit, then cells released as long as all demands are met.

Demands that owe most to single sums come first; later ones then find cells suppressed already. Insiders who undo a
circuit are given others, until none does; a circuit serves everybody who does not undo it. Next every secondary cell,
the most expensive first, is released if the demands that used it can be met more cheaply without it; then groups of
cells in one equation. What remains is minimal: no single cell can be released. All choices depend on integer costs and
a fixed order, so the same table gives the same pattern on any machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.clock import Clock
from discreet.core.numerics import BoolArray, FloatArray, IntArray, index_ranges
from discreet.core.progress import Progress
from discreet.core.sparse import row_of, starts_of
from discreet.protect.suppression.circuits import CHANGES, RELEASES
from discreet.protect.suppression.circuits import EFFORT as CIRCUIT_EFFORT
from discreet.protect.suppression.demands import BOTH, DOWN, FEW, UP, Demanded
from discreet.protect.suppression.insider_knowledge import NOBODY, InsiderKnowledge
from discreet.protect.suppression.meeting import PARTS, CircuitSearch, meet, reserve, settle, share
from discreet.protect.suppression.problem import Problem
from discreet.protect.suppression.releasing import Groups, improve
from discreet.protect.suppression.rescue import LATE, explain, rescue

BLOCK = 2000
"""How many demands are met between two reports of progress: a round number, for seconds at most."""
HURRIED = 25
"""The same where there is a time limit: each takes less than a second."""
BRIEF = CIRCUIT_EFFORT / 300
"""The most changes of a tableau in one search for a large amount the first time; what takes longer waits for the end,
when a search may take ten times as long. In five linked tables of 3,000 firms all these searches take 3.6 s of 16."""
ROUNDS = 6
"""How often all cells of a small pattern are tried for release; it mostly stops earlier, when nothing is won."""
EFFORT = 2e8
"""The most changes of tableaus while groups of cells are tried: about a second."""
PATIENCE = 1e6
"""The most changes of a tableau in one search for a release, and for every secondary cell on average while cells are
released in exchange for others. For counts (t2d_1k, t3d_2k) a tenth and ten times as much give the same cost. For the
turnover of 3,000 firms (20 × 10 × 4, p = 10%) a tenth costs 6.4% more in an eighth of the work, and ten times as much
saves 0.5%; for 500 firms (8 × 6 × 4) a tenth saves 1.2% and ten times as much changes nothing."""
SMALL = 2000
"""The most secondary cells of a pattern all of which are tried repeatedly; it keeps the time of larger ones
proportional to their size. Trying them once only costs 3.1% more on t2d_1k, nothing on t3d_2k, 11.4% for 500 and 5.4%
for 3,000 firms, in 0.89, 0.82, 0.63 and 0.25 times the work."""
TOGETHER = 12
"""The most cells that are released together; large groups hardly ever succeed. 40 give the same patterns on the tables
above, 4 cost 2.1% more for 3,000 firms and the same elsewhere."""


class FastSearch(Demanded):
    """Meets demands by their cheapest circuits, and releases what they do not need.

    A demand that is not met when time is up is refused; cells that are not released by then stay hidden.
    """

    @property
    def block(self) -> int:
        """How many demands are met, or cells tried, before the clock is checked."""
        return BLOCK if self.clock.deadline is None else HURRIED

    # --- meeting them -------------------------------------------------------------------------------------

    def meet(self) -> None:
        """Meet every demand that is not met, those that owe most first.

        What takes too long is left for the end, when more cells are hidden.
        """
        self._grow()
        before = self.hidden.copy()
        todo = np.flatnonzero(self.where[:, 1] == 0)
        order = todo[np.lexsort((todo, -self._owed()[np.array(self.cell, np.int64)[todo]]))]
        hard = order[~self._meet(order, "demands met", BRIEF)]
        for k, q in enumerate(hard.tolist()):
            self._tick(k, hard.size, "cells met that are hard to protect")
            if not self.where[q, 1]:
                self._insist(q)
        self._stir(np.flatnonzero(self.hidden & ~before))

    def _owed(self) -> FloatArray:
        """Return, for every class, a price that its sums show must be paid for others suppressed with it.

        Where it is the only hidden one in a sum, another must be hidden, at the cost of the cheapest or more. Circuits
        say exactly what each demand costs alone, but looking for all of them first takes 1.3 times as long on t3d_180k,
        for patterns that cost 0.1% more on average (t2d_100 to t3d_30k, two to eight seeds).
        """
        on, row, hidden = self.problem.on, row_of(self.problem.on.starts), self.hidden[self.problem.on.columns]
        least = np.full(on.starts.size - 1, np.inf)
        np.minimum.at(least, row[~hidden], self.cost[on.columns[~hidden]])
        alone = (np.bincount(row[hidden], minlength=least.size) == 1) & np.isfinite(least)
        owed = np.zeros(self.problem.size)
        np.add.at(owed, on.columns, np.where(alone, least, 0.0)[row])
        return owed

    def _stir(self, fresh: IntArray) -> None:
        """Mark whatever shares a sum with newly suppressed cells to be tried for release again."""
        on = self.problem.on
        _, entry = index_ranges(on.begins[fresh], on.begins[fresh + 1])
        rows = np.unique(on.rows[entry])
        _, entry = index_ranges(on.starts[rows], on.starts[rows + 1])
        self.work.tally[RELEASES] += 1
        self.stirred[on.columns[entry]] = self.work.tally[RELEASES]

    def _meet(self, order: IntArray, label: str = "", patience: float = CIRCUIT_EFFORT) -> BoolArray:
        """Meet demands in their order; return which are met."""
        search = self.search()
        by_cell = self._by_cell(search)
        met = np.zeros(order.size, bool)
        for start in range(0, order.size, self.block):
            self.clock.refuse_late(LATE)
            part = slice(start, start + self.block)
            if label:
                self._tick(start, order.size, label)
            self.pool, self.end, met[part] = meet(order[part], by_cell, True, search, self.pool, self.end, patience)
        return met

    def _by_cell(self, search: CircuitSearch) -> tuple[IntArray, IntArray]:
        """Return the demands of each class: where they begin, and all of them in order."""
        cell = search.asked.cell
        return starts_of(np.bincount(cell, minlength=self.problem.size)), np.argsort(cell, kind="stable")

    def _insist(self, q: int) -> None:
        """Meet a demand by integer programming; by two circuits where none leads both ways; or say why it cannot be."""
        if self._meet(np.array([q]))[0] or self._rescue(q):
            return
        if self.attacker[q] in self.together:
            self._part(q)
            return
        if self.way[q] != BOTH:
            at = np.flatnonzero((self.problem.member == self.cell[q]) & self.problem.cells.listed)[0]
            raise explain(self.problem, int(at), self.size[q], self.way[q], self.known, self.attacker[q], self.clock)
        self._each_way(q)

    def _each_way(self, q: int) -> None:
        """Meet a demand by two circuits, one each way."""
        self.way[q] = UP
        count = len(self.cell)
        self.ask(self.cell[q], self.size[q], DOWN, self.attacker[q])
        self._grow()
        for part in (q, *range(count, len(self.cell))):
            self._insist(part)

    def _part(self, q: int) -> None:
        """Give two halves of a group of insiders a circuit each, since there is none for all of them."""
        demand, insiders = self.together[self.attacker[q]]
        # The demand of the group is served by what serves outsiders, and asks for nothing from now on.
        self.attacker[q] = 0
        self._keep(q, *self.circuit(demand))
        count, half = len(self.cell), len(insiders) // 2
        parts = [insiders[:half], insiders[half:]]
        self._ask_together([(demand, self.way[q], part) for part in parts if len(part) > FEW])
        for attacker in (a for part in parts if len(part) <= FEW for a in part):
            self.ask(self.cell[q], self.size[q], self.way[q], attacker + 1)
        self._grow()
        for part_of in range(count, len(self.cell)):
            self._insist(part_of)

    def _rescue(self, q: int) -> bool:
        """Meet a demand by integer programming; false where it cannot be met."""
        found = self.rescued(q, self.cost)
        if found is None:
            return False
        self._hide(q, *found)
        return True

    def _hide(self, q: int, cells: IntArray, moves: IntArray) -> None:
        """Suppress the cells of a circuit, and store it for a demand and for others without one that it serves too."""
        self.hidden[cells], self.cost[cells] = True, self.problem.on.slight[cells]
        self.work.found[: cells.size], self.work.moves[: cells.size] = cells, moves
        search = self.search()
        self.pool, self.end = share(q, cells.size, self._by_cell(search), search, self.pool, self.end)

    def rescued(self, q: int, cost: FloatArray) -> tuple[IntArray, IntArray] | None:
        """Return a circuit for a demand by integer programming, None where there is none."""
        mine = slice(*self.known_start[[self.attacker[q], self.attacker[q] + 1]])
        _, at, down, up = self.facts
        known = (at[mine], down[mine], up[mine])
        # For a large amount a linear program finds such cells sooner than a tableau.
        count = settle(q, np.inf, self.search(cost), 0, CIRCUIT_EFFORT)[1] if self.size[q] < PARTS else 0
        hint = self.work.found[:count]
        return rescue(self.problem, self.cell[q], self.size[q], self.way[q], cost, known, hint, self.clock)

    # --- releasing ----------------------------------------------------------------------------------------

    def secondary(self) -> IntArray:
        """Return the secondary suppressions, the most expensive first."""
        found = np.flatnonzero(self.hidden & ~self.problem.always)
        return found[np.argsort(-self.problem.on.price[found], kind="stable")]

    def improve(self, rounds: int = ROUNDS) -> None:
        """Release cells, alone and in groups, as long as that makes the pattern cheaper.

        A large pattern is tried once. What can be released without suppressing another cell is looked for until there
        is none.
        """
        count = self.secondary().size
        self.forget()
        most = float(self.work.tally[CHANGES]) + PATIENCE * count
        for _ in range(rounds if count <= SMALL else 1):
            before = self.total
            self._release_alone(self.secondary(), effort=most - float(self.work.tally[CHANGES]))
            self._release(*self._groups(), self.tried_together, effort=EFFORT)
            if self.total == before:
                break
        if count <= SMALL:
            self.tidy()
        else:
            self._release_for_nothing()

    def tidy(self) -> None:
        """Release every cell that can be released without suppressing another."""
        if self.secondary().size <= SMALL and self._stand_alone():
            self.forget()
        self._release_for_nothing()

    def _release_for_nothing(self) -> None:
        while True:
            left = self.secondary()
            if not self._release_alone(left[self.stirred[left] > self.tried_alone[left]], exchange=False):
                break

    def _release_alone(self, cells: IntArray, exchange: bool = True, effort: float = np.inf) -> int:
        """Try to release cells one by one."""
        return self._release(np.arange(cells.size + 1), cells, cells, self.tried_alone, exchange, effort)

    def _stand_alone(self) -> bool:
        """Split circuits that lead both ways, or serve several insiders, into one each, to be replaced one by one.

        False if there are none.
        """
        copies = []
        for q in range(len(self.cell)):
            if self.where[q, 1] == 0:
                continue
            ways = self._ways(q)
            whom = self.insiders_of(q) or [0]
            if len(ways) * len(whom) == 1:
                continue
            cell, size = self.cell[q], self.size[q]
            self.asked.discard((cell, size, self.way[q], self.attacker[q]))
            self.way[q], self.attacker[q] = ways[0], whom[0]
            self.asked.add((cell, size, ways[0], whom[0]))
            for way in ways:
                for attacker in whom:
                    count = len(self.cell)
                    self.ask(cell, size, way, attacker)
                    copies += [(q, twin) for twin in range(count, len(self.cell))]
        self._grow()
        self._copy(np.array(copies, np.int64).reshape(-1, 2))
        return bool(copies)

    def _copy(self, pairs: IntArray) -> None:
        """Store the circuits of some demands as the proofs of others, too: pairs of both."""
        of, to = pairs.T
        begin, count = self.where[of].T
        which, place = index_ranges(begin, begin + count)
        self.pool = reserve(self.pool, self.end, which.size)
        new, t = slice(self.end, self.end + which.size), self.end + np.arange(which.size)
        cells = self.pool[0, place]
        self.pool[:2, new], self.pool[2, new] = self.pool[:2, place], to[which]
        # Every entry points to the one before it that uses the same class.
        order = np.argsort(cells, kind="stable")
        same = np.flatnonzero(np.diff(cells[order]) == 0)
        before = self.head[cells]
        before[order[same + 1]] = t[order[same]]
        self.pool[3, new] = before
        self.head[cells] = t
        self.where[to] = np.stack([self.end + np.cumsum(count) - count, count], axis=1)
        self.end += which.size

    def _groups(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the secondary cells of every equation that has several, the most expensive groups first.

        The last array has the equations.
        """
        on = self.problem.on
        entry = np.flatnonzero((self.hidden & ~self.problem.always)[on.columns])
        row = row_of(on.starts)[entry]
        count = np.bincount(row, minlength=on.starts.size - 1)
        keep = (count[row] > 1) & (count[row] <= TOGETHER)
        row, cells = row[keep], on.columns[entry[keep]]
        worth = np.bincount(row, weights=on.price[cells], minlength=on.starts.size - 1)
        order = np.lexsort((cells, row, -worth[row]))
        row, cells = row[order], cells[order]
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return np.append(starts, row.size), cells, row[starts]

    def _release(
        self,
        groups: IntArray,
        members: IntArray,
        which: IntArray,
        tried: IntArray,
        exchange: bool = True,
        effort: float = np.inf,
    ) -> int:
        """Try to release groups of cells, in exchange for others or for nothing; return how often it succeeded.

        When a group was last tried stands in ``tried``, where ``which`` says; it is left out if nothing has changed.
        """
        accepted = 0
        search = self.search(None if exchange else self.costs(np.inf))
        most = float(self.work.tally[CHANGES]) + effort
        for start in range(0, groups.size - 1, self.block):
            if self.clock.late:
                break
            part, mine = groups[start : start + self.block + 1], which[start : start + self.block]
            self._tick(start, groups.size - 1, f"cells tried for release, cost {self.total:,}")
            block = Groups(part - part[0], members[part[0] : part[-1]], tried[mine], exchange, most, PATIENCE)
            self.pool, self.end, more = improve(block, search, self.pool, self.end)
            tried[mine] = block.tried
            accepted += int(more)
        if not exchange:
            self.cost = self.costs()
        return accepted


def fast(
    problem: Problem,
    known: InsiderKnowledge | Callable[[BoolArray], InsiderKnowledge],
    *,
    clock: Clock | None = None,
    progress: Progress | None = None,
) -> FastSearch:
    """Find a safe pattern quickly; refuse if there is none when time is up.

    What insiders know may be worked out for hidden positions alone, once they are known. If more are hidden for their
    sake, insiders of these are looked at too.
    """
    search = FastSearch(problem, NOBODY, progress, clock or Clock())
    search.ask_outsider()
    search.meet()
    if isinstance(known, InsiderKnowledge):
        search.learn(known)
        meet_insiders(search)
    else:
        meet_insiders(search, known)
    return search


def meet_insiders(search: FastSearch, known: Callable[[BoolArray], InsiderKnowledge] | None = None) -> None:
    """Make a pattern safe against insiders; what they know of hidden cells is asked for where it is not given."""
    seen = np.zeros(search.problem.member.size, bool)

    def undone() -> bool:
        hidden = search.touched
        if known is not None and (hidden & ~seen).any():
            seen[hidden] = True
            search.learn(known(seen))
        return search.ask_insiders()

    while undone():
        search.meet()
    search.improve()
    # Releasing cells may leave circuits that insiders undo; those insiders are given others again.
    while undone():
        search.meet()
        search.tidy()
