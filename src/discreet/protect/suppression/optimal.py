"""The optimal method: cuts from the attacker's problem, until the cheapest pattern that satisfies them all is safe.

Fischetti and Salazar (Mathematical Programming 84, 1999, and 2000): a pattern is safe if it satisfies infinitely many
inequalities, but few of them are needed. A linear program over those found so far gives a lower bound; cells that no
pattern cheaper than the best known one can suppress are dropped; the rest falls into groups, each solved in integers.
The fast method provides the first pattern and, guided by the linear program, better ones.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import InfeasibleError, LimitError
from discreet.core.numerics import BoolArray, FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.protect.suppression import scip
from discreet.protect.suppression.cuts import separate, sliding_cut
from discreet.protect.suppression.demands import BOTH, DOWN, UP
from discreet.protect.suppression.fast import FastSearch
from discreet.protect.suppression.master import Master
from discreet.protect.suppression.pattern import Pattern

ROUNDS = 400
"""The most rounds of cuts over real numbers; far more than are needed before no cut is found."""
CLOSE = 1e-6
"""How far above an integer a bound may be and still count as that integer: the tolerance of solvers."""


def optimal(search: FastSearch, *, time_limit: float | None = None, progress: Progress | None = None) -> Pattern:
    """Improve a pattern until it is proved to be the cheapest, or until time is up."""
    return _Proof(search, time_limit, progress).run()


class _Proof:
    """The best pattern known, the cuts found, and the lower bound that they prove."""

    def __init__(self, search: FastSearch, time_limit: float | None, progress: Progress | None) -> None:
        self.best, self.progress = search, progress
        self.problem = search.problem
        self.clock = Clock.within(time_limit)
        self.price, self.fixed = self.problem.on.price, self.problem.always
        self.base = int(self.price[self.fixed].sum())
        self.master = Master(self.price, np.flatnonzero(~self.fixed))
        self.demands = self._demands()
        self.bound = self.base

    def _demands(self) -> FastSearch:
        """Return the demands that no safe pattern can do without, one way at a time."""
        ways = FastSearch(self.problem, self.best.known)
        for cell in np.flatnonzero(self.problem.on.primary).tolist():
            ways.ask(cell, int(self.problem.upper[cell]), UP, 0)
            ways.ask(cell, int(self.problem.lower[cell]), DOWN, 0)
        self._insiders(ways, self.best, 0)
        return ways

    def _insiders(self, ways: FastSearch, search: FastSearch, first: int) -> None:
        """Add the demands of insiders in a search; of a sliding level each side asks for its own part only."""
        for k in range(first, len(search.cell)):
            cell, size = search.cell[k], search.size[k]
            for who in search.insiders_of(k):
                for way in (UP, DOWN) if search.way[k] == BOTH else (search.way[k],):
                    own = self.problem.upper[cell] if way == UP else self.problem.lower[cell]
                    ways.ask(cell, min(size, int(own)), way, who)

    @property
    def total(self) -> int:
        return self.best.total

    def run(self) -> Pattern:
        # Every single equation with a sensitive cell is a cut.
        self._separate(np.zeros(self.problem.size), True)
        while not self._over():
            self._real_numbers()
            if self._over():
                break
            if not (self._branch() if scip.available() else self._integers()):
                break
        limited = self.bound < self.total and self.clock.late
        return self.best.pattern("optimal", min(self.bound, self.total), limited)

    def _raise(self, value: float) -> None:
        """Adopt a proven bound, capped at the best pattern, since cells of more expensive ones were dropped."""
        proven = self.total if np.isinf(value) else min(self.base + int(np.ceil(value - CLOSE)), self.total)
        self.bound = max(self.bound, proven)
        self._tell()

    def _over(self) -> bool:
        return self.bound >= self.total or self.clock.late

    # --- real numbers -------------------------------------------------------------------------------------

    def _separate(self, y: FloatArray, sharp: bool, order: IntArray | None = None) -> int:
        """Add cuts that shares violate, for all demands or some; return how many are new."""
        search = self.demands.search()
        order = np.arange(search.asked.cell.size) if order is None else order
        order = order[np.lexsort((order, search.asked.size[order], search.asked.way[order]))]
        starts, cells, values = separate(order, search, y, self.fixed, sharp)
        return self.master.add((cells[a:b], values[a:b]) for a, b in pairwise(starts))

    def _spread(self, y: FloatArray) -> FloatArray:
        """Return shares of all classes from those of the master's columns."""
        whole = self.fixed.astype(np.float64)
        whole[self.master.columns] = np.clip(y, 0.0, 1.0)
        return whole

    def _real_numbers(self) -> None:
        """Add cuts that the linear program violates until none is found."""
        stale = 0
        for step in range(ROUNDS):
            if self.clock.late:
                return
            value, y, dual = self.master.solve()
            self._raise(value)
            if self.bound >= self.total:
                return
            self._drop(value, y, dual)
            shares = self._spread(y)
            if step % 8 == 7:
                self._guided(shares)
            if self._separate(shares, True):
                stale = 0
                continue
            stale += 1
            if stale > 1 or not self._separate(shares, False):
                break
        self._guided(self._spread(self.master.solve()[1]))

    def _drop(self, value: float, y: FloatArray, dual: FloatArray) -> None:
        """Fix cells that no cheaper pattern can suppress, or leave out."""
        room = self.total - self.base - value - 1.0 + 1e-4
        open_ = self.master.low < self.master.high
        self.master.fix(np.flatnonzero(open_ & (y < 1e-9) & (dual > room)), 0.0)
        self.master.fix(np.flatnonzero(open_ & (y > 1.0 - 1e-9) & (-dual > room)), 1.0)

    # --- patterns -----------------------------------------------------------------------------------------

    def _guided(self, shares: FloatArray) -> None:
        """Let the fast method look for a pattern in the direction the linear program suggests."""
        self._try(self.fixed, self.price * (1.0 - shares) + 1e-2)

    def _try(self, hidden: BoolArray, cost: FloatArray | IntArray) -> None:
        """Complete a pattern at the given costs, release what is not needed, and keep it if it is cheaper."""
        trial = self._again(hidden, cost)
        try:
            trial.meet()
            trial.cost = trial.costs()
            trial.improve(2)
            while trial.total < self.total and trial.ask_insiders():
                trial.meet()
                trial.improve(1)
        except (InfeasibleError, LimitError):
            return
        if trial.total < self.total:
            self.best = trial
            self._tell()

    def _again(self, hidden: BoolArray, cost: FloatArray | IntArray | float) -> FastSearch:
        """Return a search for the same demands with some cells hidden already."""
        trial = FastSearch(self.problem, self.best.known, clock=self.clock)
        trial.hidden = hidden.copy()
        trial.cost = trial.costs(cost)
        trial.ask_outsider()
        best = self.best
        for k, (cell, size, way) in enumerate(zip(best.cell, best.size, best.way, strict=True)):
            for who in best.insiders_of(k):
                trial.ask(cell, size, way, who)
        return trial

    # --- integers -----------------------------------------------------------------------------------------

    def _branch(self) -> bool:
        """Solve what is left by branch-and-cut; return false if time ran out or SCIP could not say."""
        bound, shares = scip.branch_and_cut(self.master, self._met, self.clock.left, float(self.total - self.base))
        self._raise(bound)
        if shares is not None and self.bound < self.total:
            return self._complete(self._spread(shares) > 0.5)
        return self.bound >= self.total

    def _met(self, shares: FloatArray, whole: bool) -> bool:
        """Add the cuts that shares of the master's columns violate; true where integers meet every demand."""
        spread = self._spread(shares)
        if not whole:
            return self._separate(spread, True) == 0
        chosen = spread > 0.5
        unmet = self._unmet(chosen)
        if unmet.size:
            return not self._cut(unmet, chosen) and not self._short(unmet, chosen)
        slides = self._slide(chosen)
        self.master.add(slides)
        return not slides

    def _cut(self, unmet: IntArray, chosen: BoolArray) -> int:
        """Add cuts for demands that a pattern does not meet; return how many are new."""
        y = chosen.astype(np.float64)
        return self._separate(y, False, unmet) + self._separate(y, True, unmet)

    def _short(self, unmet: IntArray, chosen: BoolArray) -> bool:
        """Say whether some demand that real numbers would meet is not met in integers, and forbid the pattern then."""
        cost = np.where(chosen, self.problem.on.slight, np.inf)
        if all(self.demands.rescued(q, cost) is not None for q in unmet.tolist()):
            return False
        self._forbid(chosen)
        return True

    def _integers(self) -> bool:
        """Solve what is left in integers; return false if nothing more can be done."""
        chosen = self.fixed.copy()
        columns = self.master.columns
        inside = self.master.low == 1
        chosen[columns[inside]] = True
        found = float(self.master.price[inside].sum())
        for cells, cuts in self.master.parts():
            if self.clock.late:
                return False
            bound, part = self.master.in_integers(cells, cuts, self.clock.left)
            found += bound
            if part is None:
                if np.isinf(bound):
                    self._raise(bound)
                return False
            chosen[columns[part]] = True
        self._raise(found)
        if self.bound >= self.total:
            return True
        unmet = self._unmet(chosen)
        if not unmet.size:
            slides = self._slide(chosen)
            # A pattern that meets everything and costs what the bound says.
            return self.master.add(slides) > 0 if slides else self._complete(chosen)
        if not self._cut(unmet, chosen) and not self._short(unmet, chosen):
            return self._complete(chosen)
        self._try(chosen, self.price)
        return True

    def _unmet(self, chosen: BoolArray) -> IntArray:
        """Return the demands for which a search finds no circuit of the chosen cells alone."""
        return np.flatnonzero(~self.demands.can_be_met(np.where(chosen, self.problem.on.slight, np.inf)))

    def _slide(self, chosen: BoolArray) -> list[tuple[IntArray, FloatArray]]:
        """Return cuts for the sliding levels that a pattern does not keep."""
        p = self.problem
        wide = np.flatnonzero(p.sliding > p.lower + p.upper)
        cuts = (sliding_cut(p, cell, int(p.sliding[cell]), chosen, self.fixed) for cell in wide.tolist())
        return [cut for cut in cuts if cut is not None]

    def _forbid(self, chosen: BoolArray) -> int:
        """Require another cell: whatever part of this pattern is suppressed, some demand is not met."""
        others = np.flatnonzero(~chosen)
        return self.master.add([(others, np.ones(others.size))])

    def _complete(self, chosen: BoolArray) -> bool:
        """Adopt a pattern that meets every demand; it may bring further demands of insiders."""
        trial = self._again(chosen, np.inf)
        before = len(self.demands.cell)
        try:
            trial.meet()
            count = len(trial.cell)
            while trial.ask_insiders():
                self._insiders(self.demands, trial, count)
                count = len(trial.cell)
                trial.meet()
        except InfeasibleError:
            if len(self.demands.cell) == before:
                # In integers the pattern falls short where the demands one by one did not show it.
                return self._forbid(chosen) > 0
            self._try(chosen, self.price)
            return True
        except LimitError:
            return False
        trial.cost = trial.costs()
        if trial.total < self.total:
            self.best = trial
        return True

    def _tell(self) -> None:
        if self.progress is not None:
            gap = (self.total - self.bound) / max(self.total, 1)
            self.progress(self.bound - self.base, max(self.total - self.base, 1), f"of the cost proved, gap {gap:.2%}")
