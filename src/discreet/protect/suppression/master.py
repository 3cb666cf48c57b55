"""The covering problem that cuts build up: which cells to suppress to cover every cut at least cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from discreet.core.highs import Program
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows, parts, row_of, starts_of


class Master:
    """Cuts Σ a·y ≥ 1 over cells with prices, as a linear program that is solved again after every new cut.

    Cells whose ``low`` equals ``high`` are fixed at 0 or 1; the others are open.
    """

    def __init__(self, price: IntArray, candidates: IntArray) -> None:
        self.price, self.columns = price[candidates].astype(np.float64), candidates
        self.place = np.full(price.size, -1, np.int64)
        self.place[candidates] = np.arange(candidates.size)
        self.low, self.high = np.zeros(candidates.size), np.ones(candidates.size)
        self.cuts: list[tuple[IntArray, FloatArray]] = []
        self.seen: set[bytes] = set()
        self.program = Program(options={"solver": "simplex"})
        self.program.add_columns(self.price, self.low, self.high)

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
            self.program.add_rows(np.ones(len(fresh)), np.full(len(fresh), np.inf), _rows(fresh))
            self.cuts += fresh
        return len(fresh)

    def solve(self) -> tuple[float, FloatArray, FloatArray]:
        """Return the bound, the cells' shares and their reduced costs; the bound is infinite where nothing fits."""
        if self.program.run() == "infeasible":
            nothing = np.zeros(self.columns.size)
            return np.inf, nothing, nothing
        return self.program.objective, self.program.point, self.program.reduced_costs

    def fix(self, chosen: IntArray, value: float) -> None:
        """Fix cells at 0 or 1."""
        if not chosen.size:
            return
        self.low[chosen] = self.high[chosen] = value
        self.program.set_ranges(chosen, self.low[chosen], self.high[chosen])

    def parts(self) -> list[tuple[IntArray, list[int]]]:
        """Return the cells that are still open in groups that share no cut, with the cuts of each."""
        open_ = self.low < self.high
        left = [
            r for r, (place, values) in enumerate(self.cuts) if not (self.low[place][values >= 1.0 - 1e-9] == 1).any()
        ]
        if not left:
            return []
        cells = [place[open_[place]] for place, _ in (self.cuts[r] for r in left)]
        row = row_of(starts_of([mine.size for mine in cells]))
        _, of_cut, of_cell = parts(row, np.concatenate(cells), len(left), open_.size)
        cuts: dict[int, list[int]] = {}
        for group, r in zip(of_cut.tolist(), left, strict=True):
            cuts.setdefault(group, []).append(r)
        return [(np.flatnonzero(open_ & (of_cell == group)), rows) for group, rows in cuts.items()]

    def in_integers(self, cells: IntArray, cuts: list[int], seconds: float | None) -> tuple[float, IntArray | None]:
        """Solve one group in integers; return a proven bound and the cells chosen, None where time ran out.

        The bound is infinite where nothing fits.
        """
        if not cells.size:
            return np.inf, None
        local = np.full(self.columns.size, -1)
        local[cells] = np.arange(cells.size)
        rows, need = [], []
        for r in cuts:
            place, values = self.cuts[r]
            mine = local[place] >= 0
            rows.append((local[place[mine]], values[mine]))
            need.append(1.0 - float((values * self.low[place])[~mine].sum()))
        program = Program(
            _rows(rows),
            costs=self.price[cells],
            lower=np.zeros(cells.size),
            upper=np.ones(cells.size),
            sums=(need, np.full(len(cuts), np.inf)),
            whole=True,
            options={"mip_rel_gap": 0.0, "mip_abs_gap": 0.5},
        )
        if program.run(None if seconds is None else max(seconds, 0.05)) == "infeasible":
            return np.inf, None
        bound = float(np.ceil(program.bound - 1e-6))
        if not program.found:
            return max(bound, 0.0) if np.isfinite(bound) else 0.0, None
        return bound, cells[program.point > 0.5]


def _rows(entries: Sequence[tuple[IntArray, FloatArray]]) -> Rows:
    """Return rows from the columns and values of each."""
    columns, values = (np.concatenate(side) for side in zip(*entries, strict=True))
    return Rows(starts_of([place.size for place, _ in entries]), columns, values)
