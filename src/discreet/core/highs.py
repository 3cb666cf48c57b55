"""The door to HiGHS: linear and integer programs over sparse rows, solved in silence on one thread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.sparse import Rows

Outcome = Literal["optimal", "infeasible", "stopped"]


class Program:
    """Least costs·x with x between ``lower`` and ``upper`` and every row of A·x within ``sums``.

    Ends may be infinite. Costs and ranges can be changed, and rows and columns added, between runs: HiGHS continues
    from its last corner. Query the results after each run.

    >>> rows = Rows(np.array([0, 2]), np.array([0, 1]), np.array([1, 1]))
    >>> program = Program(rows, costs=[1.0, 2.0], lower=[0, 0], upper=[2, np.inf], sums=([5], [5]))
    >>> program.run(), program.point.tolist(), program.objective
    ('optimal', [2.0, 3.0], 8.0)
    """

    def __init__(
        self,
        rows: Rows | None = None,
        *,
        costs: npt.ArrayLike = (),
        lower: npt.ArrayLike = (),
        upper: npt.ArrayLike = (),
        sums: tuple[npt.ArrayLike, npt.ArrayLike] = ((), ()),
        whole: bool | IntArray = False,
        options: Mapping[str, object] | None = None,
    ) -> None:
        """State a program; ``whole`` says that all columns, or which ones, take integers."""
        import highspy

        self._kinds = highspy
        self.solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self.solver.silent()
        self.set_options(threads=1, **(options or {}))
        prices = np.asarray(costs, np.float64)
        if rows is None and not prices.size:
            return
        lp = highspy.HighsLp()
        lp.col_cost_ = prices
        lp.col_lower_, lp.col_upper_ = np.asarray(lower, np.float64), np.asarray(upper, np.float64)
        lp.row_lower_, lp.row_upper_ = (np.asarray(ends, np.float64) for ends in sums)
        lp.num_col_, lp.num_row_ = prices.size, 0 if rows is None else rows.starts.size - 1
        if rows is not None:
            lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
            lp.a_matrix_.start_, lp.a_matrix_.index_ = rows.starts.astype(np.int32), rows.columns.astype(np.int32)
            lp.a_matrix_.value_ = rows.values.astype(np.float64)
        if whole is not False:
            chosen = np.ones(prices.size, bool) if whole is True else np.isin(np.arange(prices.size), whole)
            kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
            lp.integrality_ = [kinds[int(one)] for one in chosen]
        self.solver.passModel(lp)

    def set_options(self, **options: object) -> None:
        """Set options of HiGHS by their names."""
        for name, value in options.items():
            self.solver.setOptionValue(name, value)

    def set_costs(self, costs: FloatArray, *, largest: bool = False) -> None:
        """Ask for the least, or the largest, sum of costs."""
        sense = self._kinds.ObjSense
        self.solver.changeObjectiveSense(sense.kMaximize if largest else sense.kMinimize)
        self.solver.changeColsCost(costs.size, np.arange(costs.size, dtype=np.int32), costs)

    def set_ranges(self, columns: IntArray, lower: FloatArray, upper: FloatArray) -> None:
        """Change the ranges of some columns."""
        self.solver.changeColsBounds(columns.size, columns.astype(np.int32), lower, upper)

    def add_columns(self, costs: FloatArray, lower: FloatArray, upper: FloatArray, entries: Rows | None = None) -> None:
        """Add columns, with their entries in the existing rows."""
        none = np.zeros(0, np.int64)
        added = entries or Rows(np.zeros(costs.size + 1, np.int64), none, none)
        self.solver.addCols(costs.size, costs, lower, upper, added.columns.size, *_compressed(added))

    def add_rows(self, least: FloatArray, most: FloatArray, rows: Rows) -> None:
        """Add rows over the existing columns."""
        self.solver.addRows(least.size, least, most, rows.columns.size, *_compressed(rows))

    def run(self, seconds: float | None = None) -> Outcome:
        """Solve, for some seconds at most."""
        if seconds is not None:
            # HiGHS counts the time of all runs of a program together.
            self.set_options(time_limit=self.solver.getRunTime() + max(seconds, 0.01))
        self.solver.run()
        status, kinds = self.solver.getModelStatus(), self._kinds.HighsModelStatus
        return "optimal" if status == kinds.kOptimal else "infeasible" if status == kinds.kInfeasible else "stopped"

    @property
    def found(self) -> bool:
        """Whether the last run has a point that fits."""
        return bool(self.solver.getInfo().primal_solution_status == 2)

    @property
    def point(self) -> FloatArray:
        """The values of all columns."""
        return np.asarray(self.solver.getSolution().col_value)

    @property
    def multipliers(self) -> FloatArray:
        """The dual values of all rows."""
        return np.asarray(self.solver.getSolution().row_dual)

    @property
    def reduced_costs(self) -> FloatArray:
        """The dual values of all columns."""
        return np.asarray(self.solver.getSolution().col_dual)

    @property
    def objective(self) -> float:
        """The sum of costs of the point."""
        return float(self.solver.getInfo().objective_function_value)

    @property
    def bound(self) -> float:
        """A lower bound on the cost of any point of an integer program."""
        return float(self.solver.getInfo().mip_dual_bound)

    @property
    def gap(self) -> float:
        """How far the point of an integer program may be from the best, as a share of its cost."""
        return float(self.solver.getInfo().mip_gap)


def _compressed(added: Rows) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], FloatArray]:
    """Return the arrays that HiGHS takes for added rows or columns, without the last end."""
    return added.starts[:-1].astype(np.int32), added.columns.astype(np.int32), added.values.astype(np.float64)
