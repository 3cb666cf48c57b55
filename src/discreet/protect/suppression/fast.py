"""The fast method: every demand met by its cheapest circuit, then cells released as long as all demands are met.

Demands that cost most alone come first, so that later ones find cells suppressed already. Then every secondary cell,
the dearest first, is released if the demands that used it can be met more cheaply without it; then groups of cells in
one equation. Insiders who undo a circuit are given others, until none does, and cells are released once more. What
remains is minimal: no single cell can be released. All choices depend on whole-number costs and a fixed order, so that
the same table gives the same pattern on any machine.
"""

from __future__ import annotations

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.sparse import row_of, starts_of
from discreet.protect.suppression.demands import BOTH, DOWN, FEW, UP, Demanded
from discreet.protect.suppression.insider_knowledge import InsiderKnowledge
from discreet.protect.suppression.meeting import keep, meet, reserve, settle, survey
from discreet.protect.suppression.problem import Problem
from discreet.protect.suppression.releasing import Groups, improve
from discreet.protect.suppression.rescue import rescue
from discreet.protect.suppression.unprotectable import cannot

BLOCK = 2000
"""How many demands are met between two reports of progress."""
ROUNDS = 6
"""How often all cells of a small pattern are tried for release."""
EFFORT = 1e9
"""The most changes of tableaus while groups of cells are tried."""
SMALL, LARGE = 2000, 5000
"""The most secondary cells of a pattern that is gone through again and again, and in groups."""


class FastSearch(Demanded):
    """Meets demands by their cheapest circuits, and releases what they do not need."""

    # --- meeting them -------------------------------------------------------------------------------------

    def meet(self) -> None:
        """Meet every demand that is not met, those that cost most alone first.

        What takes too long is left for the end, when more cells are hidden.
        """
        self._grow()
        todo = np.flatnonzero(self.where[:, 1] == 0)
        alone = self._survey(todo)
        left = self.where[todo, 1] == 0
        todo, alone = todo[left], alone[left]
        found = np.isfinite(alone)
        hard = self._meet(todo[np.lexsort((todo, -np.where(found, alone, 0.0), ~found))]).tolist()
        for k, q in enumerate(hard):
            self._tick(k, len(hard), "cells met that are hard to protect")
            self._insist(q)

    def _meet(self, order: IntArray) -> IntArray:
        """Meet demands in their order; return those that were not."""
        demands = self.demands()
        by_cell = _index(demands.cell, self.problem.size)
        missed = [np.zeros(0, np.int64)]
        for start in range(0, order.size, BLOCK):
            if order.size > 1:
                self._tick(start, order.size, "demands met")
            part = order[start : start + BLOCK]
            self.pool, self.end, failed = meet(
                part, by_cell, self.instance, demands, self.held(), self.pool, self.end, self.work
            )
            missed.append(failed)
        return np.concatenate(missed)

    def _insist(self, q: int) -> None:
        """Meet a demand by integer programming; where no circuit leads both ways, by two; or say why it cannot be."""
        if not self._meet(np.array([q])).size or self._rescue(q):
            return
        if self.attacker[q] in self.together:
            self._part(q)
            return
        if self.way[q] != BOTH:
            raise cannot(self.problem, self.cell[q], self.size[q], self.way[q], self._name(q))
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
        self._copy(demand, q)
        count, half = len(self.cell), len(insiders) // 2
        parts = [insiders[:half], insiders[half:]]
        self._ask_together([(demand, self.way[q], part) for part in parts if len(part) > FEW])
        for attacker in (a for part in parts if len(part) <= FEW for a in part):
            self.ask(self.cell[q], self.size[q], self.way[q], attacker + 1)
        self._grow()
        for part_of in range(count, len(self.cell)):
            self._insist(part_of)

    def _copy(self, q: int, twin: int) -> None:
        """Let the circuit of a demand be that of another."""
        self._keep(twin, *self.circuit(q))

    def _keep(self, q: int, cells: IntArray, moves: IntArray) -> None:
        """Store a circuit as the proof of a demand."""
        self.pool = reserve(self.pool, self.end, cells.size)
        self.end = keep(q, 1.0, cells, moves.astype(np.float64), self.held(), self.pool, self.end)

    def _survey(self, todo: IntArray) -> FloatArray:
        """Return what each demand would cost alone, infinite where that is not seen; some are met for nothing."""
        demands = self.demands()
        by_cell = _index(demands.cell, self.problem.size)
        alone = np.zeros(todo.size)
        for start in range(0, todo.size, BLOCK):
            self._tick(start, todo.size, "sensitive cells looked at")
            part = slice(start, start + BLOCK)
            self.pool, self.end, alone[part] = survey(
                todo[part], by_cell, self.instance, demands, self.held(), self.pool, self.end, self.work
            )
        return alone

    def _rescue(self, q: int) -> bool:
        """Meet a demand by integer programming; false where it cannot be met."""
        found = self.rescued(q, self.cost)
        if found is None:
            return False
        cells, moves = found
        fresh = cells[~self.hidden[cells]]
        self.hidden[fresh], self.cost[fresh] = True, self.slight[fresh]
        self._keep(q, cells, moves)
        return True

    def rescued(self, q: int, cost: FloatArray) -> tuple[IntArray, IntArray] | None:
        """Return a circuit for a demand by integer programming, None where there is none."""
        _, at, down, up = self.facts
        start, stop = self.known_start[self.attacker[q]], self.known_start[self.attacker[q] + 1]
        known = (at[start:stop], down[start:stop], up[start:stop])
        count = settle(q, np.inf, self.instance, self.demands(), cost, self.work, 0)[1]
        hint = self.work.found[:count]
        return rescue(self.problem, self.cell[q], self.size[q], self.way[q], cost, known, hint)

    def _name(self, q: int) -> str | None:
        return None if self.attacker[q] == 0 else self.known.names[self.attacker[q] - 1]

    # --- releasing ----------------------------------------------------------------------------------------

    def secondary(self) -> IntArray:
        """Return the classes that are hidden for the sake of others, the dearest first."""
        found = np.flatnonzero(self.hidden & ~self.problem.primary & ~self.problem.free)
        return found[np.argsort(-self.problem.price[found], kind="stable")]

    def improve(self, rounds: int = ROUNDS) -> None:
        """Release cells, alone and in groups, as long as that makes the pattern cheaper.

        A large pattern is gone through once, and a very large one cell by cell only. What can be released without
        suppressing another cell is looked for until there is none.
        """
        count = self.secondary().size
        self.tried[:] = False
        for _ in range(rounds if count <= SMALL else 1):
            before = self.total
            self._release(*_singles(self.secondary()))
            if count <= LARGE:
                self._release(*self._groups(), effort=EFFORT)
            if self.total == before:
                break
        if count <= SMALL:
            self.tidy()
        else:
            self._release_for_nothing()

    def tidy(self) -> None:
        """Release every cell that can be released without suppressing another."""
        if self.secondary().size <= SMALL:
            self._stand_alone()
        self.tried[:] = False
        self._release_for_nothing()

    def _release_for_nothing(self) -> None:
        while True:
            left = self.secondary()
            if not self._release(*_singles(left[~self.tried[left]]), exchange=False):
                break

    def _stand_alone(self) -> None:
        """Let circuits that lead both ways, or serve several insiders, stand for two or for each of them.

        They can then be replaced one by one.
        """
        copies = []
        for q in range(len(self.cell)):
            if self.where[q, 1] == 0:
                continue
            ways = (UP, DOWN) if self.way[q] == BOTH else (self.way[q],)
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
        for q, twin in copies:
            self._copy(q, twin)

    def _groups(self) -> tuple[IntArray, IntArray]:
        """Return the secondary cells of every equation that has several, the dearest groups first."""
        p = self.problem
        entry = np.flatnonzero((self.hidden & ~p.primary & ~p.free)[p.columns])
        row = row_of(p.starts)[entry]
        count = np.bincount(row, minlength=p.starts.size - 1)
        keep = (count[row] > 1) & (count[row] <= 12)
        row, cells = row[keep], p.columns[entry[keep]]
        worth = np.bincount(row, weights=p.price[cells], minlength=p.starts.size - 1)
        order = np.lexsort((cells, row, -worth[row]))
        row, cells = row[order], cells[order]
        starts = np.flatnonzero(np.diff(row, prepend=-1))
        return np.append(starts, row.size), cells

    def _release(self, groups: IntArray, members: IntArray, exchange: bool = True, effort: float = np.inf) -> int:
        """Try to release groups of cells, in exchange for others or for nothing; return how often it succeeded."""
        accepted = 0
        cost = self.cost if exchange else np.where(self.hidden, self.slight, np.inf)
        most = float(self.work.effort[0]) + effort
        for start in range(0, groups.size - 1, BLOCK):
            part = groups[start : start + BLOCK + 1]
            self._tick(start, groups.size - 1, f"cells tried for release, cost {self.total:,}")
            block = Groups(part - part[0], members[part[0] : part[-1]], exchange, most)
            self.pool, self.end, more = improve(
                block, self.instance, self.demands(), self.held(cost), self.pool, self.end, self.work
            )
            accepted += int(more)
        if not exchange:
            self.cost = np.where(self.hidden, self.slight, self.problem.price.astype(np.float64))
        return accepted


def _singles(cells: IntArray) -> tuple[IntArray, IntArray]:
    return np.arange(cells.size + 1), cells


def _index(cell: IntArray, size: int) -> tuple[IntArray, IntArray]:
    """Return the demands of every class in compressed rows."""
    return starts_of(np.bincount(cell, minlength=size)), np.argsort(cell, kind="stable")


def fast(problem: Problem, known: InsiderKnowledge, *, progress: Progress | None = None) -> FastSearch:
    """Find a safe pattern quickly."""
    search = FastSearch(problem, known, progress)
    search.ask_outsider()
    search.meet()
    search.improve()
    if search.ask_insiders():
        search.meet()
        while search.ask_insiders():
            search.meet()
        search.improve(1)
        # Whoever undoes what the last cells were released for is given circuits again.
        while search.ask_insiders():
            search.meet()
            search.tidy()
    return search
