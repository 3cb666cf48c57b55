"""The covering problem that cuts build up: which cells to suppress so that every cut is covered, at least cost."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from discreet.core.numerics import FloatArray, IntArray


class Master:
    """Cuts Σ a·y ≥ 1 over cells with prices, as a linear program that is solved again after every new cut.

    ``open`` says which cells may still be suppressed in a better pattern; the others are fixed at 0 or 1 (``y``).
    """

    def __init__(self, price: IntArray, candidates: IntArray) -> None:
        import highspy

        self.highspy, self.price, self.columns = highspy, price[candidates].astype(np.float64), candidates
        self.place = np.full(price.size, -1, np.int64)
        self.place[candidates] = np.arange(candidates.size)
        self.low, self.high = np.zeros(candidates.size), np.ones(candidates.size)
        self.cuts: list[tuple[IntArray, FloatArray]] = []
        self.seen: set[bytes] = set()
        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.silent()
        self.solver.setOptionValue("threads", 1)
        self.solver.setOptionValue("solver", "simplex")
        n = candidates.size
        none = np.zeros(0, np.int32)
        self.solver.addCols(n, self.price, self.low, self.high, 0, np.zeros(n, np.int32), none, np.zeros(0))

    def add(self, rows: Iterable[tuple[IntArray, FloatArray]]) -> int:
        """Add cuts over classes of cells; those that are there already are left out."""
        fresh = []
        for cells, values in rows:
            place = self.place[cells]
            keep = place >= 0
            order = np.argsort(place[keep])
            place, rounded = place[keep][order], np.minimum(np.round(values[keep][order], 9), 1.0)
            key = place.tobytes() + rounded.tobytes()
            if key not in self.seen:
                self.seen.add(key)
                fresh.append((place, rounded))
        if fresh:
            starts = np.concatenate([[0], np.cumsum([place.size for place, _ in fresh])])[:-1].astype(np.int32)
            index = np.concatenate([place for place, _ in fresh]).astype(np.int32)
            value = np.concatenate([values for _, values in fresh])
            m = len(fresh)
            self.solver.addRows(m, np.ones(m), np.full(m, self.highspy.kHighsInf), index.size, starts, index, value)
            self.cuts += fresh
        return len(fresh)

    def solve(self) -> tuple[float, FloatArray, FloatArray]:
        """Return the bound, the cells' shares and their reduced costs; the bound is infinite where nothing fits."""
        self.solver.run()
        if self.solver.getModelStatus() == self.highspy.HighsModelStatus.kInfeasible:
            nothing = np.zeros(self.columns.size)
            return np.inf, nothing, nothing
        solution = self.solver.getSolution()
        value = float(self.solver.getInfo().objective_function_value)
        return value, np.asarray(solution.col_value), np.asarray(solution.col_dual)

    def fix(self, chosen: IntArray, value: float) -> None:
        """Fix cells at 0 or 1."""
        self.low[chosen] = self.high[chosen] = value
        self.solver.changeColsBounds(
            chosen.size, chosen.astype(np.int32), self.low[chosen].copy(), self.high[chosen].copy()
        )

    def parts(self) -> list[tuple[IntArray, list[int]]]:
        """Return the cells that are still open in groups that share no cut, with the cuts of each."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        n = self.columns.size
        left = np.array([not (self.low[place][values >= 1.0 - 1e-9] == 1).any() for place, values in self.cuts], bool)
        numbers = np.flatnonzero(left)
        rows, cells = [], []
        for r in numbers.tolist():
            place = self.cuts[r][0]
            mine = place[self.low[place] < self.high[place]]
            rows.append(np.full(mine.size, n + r))
            cells.append(mine)
        if not rows:
            return []
        links = coo_array(
            (np.ones(sum(c.size for c in cells), np.int8), (np.concatenate(cells), np.concatenate(rows))),
            shape=(n + len(self.cuts), n + len(self.cuts)),
        )
        label = connected_components(links.tocsr(), directed=False)[1]
        groups: dict[int, tuple[list[int], list[int]]] = {}
        for cell in np.flatnonzero(self.low < self.high).tolist():
            groups.setdefault(int(label[cell]), ([], []))[0].append(cell)
        for r in numbers.tolist():
            groups.setdefault(int(label[n + r]), ([], []))[1].append(r)
        return [(np.array(c, np.int64), r) for c, r in groups.values() if r]

    def whole(self, cells: IntArray, cuts: list[int], seconds: float | None) -> tuple[float, IntArray | None]:
        """Solve one group in whole numbers; return a proven bound and the cells chosen, None where time ran out.

        The bound is infinite where nothing fits.
        """
        if not cells.size:
            return np.inf, None
        highspy = self.highspy
        local = np.full(self.columns.size, -1)
        local[cells] = np.arange(cells.size)
        starts, index, value, need = [0], [], [], []
        for r in cuts:
            place, values = self.cuts[r]
            mine = local[place] >= 0
            index.append(local[place[mine]])
            value.append(values[mine])
            need.append(1.0 - float((values * self.low[place])[~mine].sum()))
            starts.append(starts[-1] + int(mine.sum()))
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = cells.size, len(cuts)
        lp.col_cost_ = self.price[cells]
        lp.col_lower_, lp.col_upper_ = np.zeros(cells.size), np.ones(cells.size)
        lp.row_lower_, lp.row_upper_ = np.array(need), np.full(len(cuts), highspy.kHighsInf)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.array(starts, np.int32)
        lp.a_matrix_.index_ = np.concatenate(index).astype(np.int32)
        lp.a_matrix_.value_ = np.concatenate(value)
        lp.integrality_ = [highspy.HighsVarType.kInteger] * cells.size
        solver = highspy.Highs()
        solver.silent()
        solver.setOptionValue("threads", 1)
        solver.setOptionValue("mip_rel_gap", 0.0)
        solver.setOptionValue("mip_abs_gap", 0.5)
        if seconds is not None:
            solver.setOptionValue("time_limit", max(seconds, 0.05))
        solver.passModel(lp)
        solver.run()
        info = solver.getInfo()
        if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            return np.inf, None
        bound = float(np.ceil(info.mip_dual_bound - 1e-6))
        if info.primal_solution_status != 2:
            return max(bound, 0.0) if np.isfinite(bound) else 0.0, None
        return bound, cells[np.asarray(solver.getSolution().col_value) > 0.5]
