"""Branch-and-cut by SCIP (extra ``exact``): cuts are separated in the nodes, not in rounds of solving anew."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np

from discreet.core.numerics import FloatArray, IntArray
from discreet.protect.suppression.master import Master

Separate: TypeAlias = Callable[[FloatArray, bool], bool]
"""Given shares of the master's columns, and whether they are whole, adds violated cuts; true where all is met."""
DEPTH = 4
"""Nodes below this depth are cut only where their shares are whole."""


def available() -> bool:
    """Say whether SCIP is installed."""
    return find_spec("pyscipopt") is not None


def branch_and_cut(
    master: Master, separate: Separate, seconds: float | None, above: float
) -> tuple[float, FloatArray | None]:
    """Solve a covering problem whose cuts are found on the way.

    Args:
        master: the cells that are open and the cuts so far.
        separate: finds cuts that a point violates.
        seconds: when to stop.
        above: what a solution is known to cost; only cheaper ones are looked for.

    Returns:
        A proven bound, infinite where nothing is cheaper, and the shares of the best solution found.
    """
    from pyscipopt import Conshdlr, Model, quicksum
    from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

    model = Model()
    model.hideOutput()
    model.setParam("parallel/maxnthreads", 1)
    model.setParam("misc/allowstrongdualreds", False)
    model.setParam("misc/allowweakdualreds", False)
    if seconds is not None:
        model.setParam("limits/time", max(seconds, 0.05))
    model.setObjlimit(above - 0.5)
    open_ = np.flatnonzero(master.low < master.high)
    variables = {int(c): model.addVar(vtype="B", obj=float(master.price[c])) for c in open_}
    inside = master.low.copy()

    def row(place: IntArray, values: FloatArray) -> tuple[Any, float]:
        terms = [float(v) * variables[int(c)] for c, v in zip(place, values, strict=True) if int(c) in variables]
        return quicksum(terms), 1.0 - float((values * inside[place])[master.low[place] == master.high[place]].sum())

    sent = 0

    def send(target: Any) -> int:
        """Hand over the cuts that were found since the last time."""
        nonlocal sent
        fresh = master.cuts[sent:]
        for place, values in fresh:
            left, right = row(place, values)
            if right > 1e-9:
                target.addCons(left >= right)
        sent = len(master.cuts)
        return len(fresh)

    send(model)

    class Safe(Conshdlr):
        """Accepts a solution only if every demand is met."""

        def shares(self, solution: Any = None) -> FloatArray:
            found = inside.copy()
            for c, variable in variables.items():
                found[c] = self.model.getSolVal(solution, self.model.getTransformedVar(variable))
            return np.clip(found, 0.0, 1.0)

        def enforce(self) -> dict[str, Any]:
            met = separate(np.rint(self.shares()), True)
            added = send(self.model)
            result = SCIP_RESULT.CONSADDED if added else SCIP_RESULT.FEASIBLE if met else SCIP_RESULT.INFEASIBLE
            return {"result": result}

        def consenfolp(self, constraints: Any, n: int, infeasible: bool) -> dict[str, Any]:
            return self.enforce()

        def consenfops(self, constraints: Any, n: int, infeasible: bool, objective: bool) -> dict[str, Any]:
            return self.enforce()

        def conscheck(
            self, constraints: Any, solution: Any, integrality: bool, rows: bool, reason: bool, completely: bool
        ) -> dict[str, Any]:
            met = separate(np.rint(self.shares(solution)), True)
            return {"result": SCIP_RESULT.FEASIBLE if met else SCIP_RESULT.INFEASIBLE}

        def conssepalp(self, constraints: Any, n: int) -> dict[str, Any]:
            if self.model.getDepth() > DEPTH:
                return {"result": SCIP_RESULT.DIDNOTRUN}
            separate(self.shares(), False)
            return {"result": SCIP_RESULT.CONSADDED if send(self.model) else SCIP_RESULT.DIDNOTFIND}

        def conslock(self, constraint: Any, kind: Any, positive: int, negative: int) -> None:
            for variable in variables.values():
                self.model.addVarLocksType(self.model.getTransformedVar(variable), kind, positive, negative)

    model.includeConshdlr(
        Safe(), "safe", "every demand is met", sepapriority=100, enfopriority=-10, chckpriority=-10, sepafreq=1,
        eagerfreq=-1, maxprerounds=0, needscons=False,
    )  # fmt: skip
    model.optimize()
    fixed = float(master.price[master.low == 1].sum())
    if model.getNSols() == 0:
        return (np.inf if model.getStatus() == "infeasible" else fixed + model.getDualbound()), None
    best = model.getBestSol()
    found = inside.copy()
    for c, variable in variables.items():
        found[c] = round(model.getSolVal(best, variable))
    return fixed + float(model.getDualbound()), found
