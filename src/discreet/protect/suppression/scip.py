"""Branch-and-cut by SCIP (extra ``exact``): cuts are separated at the nodes, not in rounds of solving again."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from discreet.core.numerics import FloatArray
from discreet.protect.suppression.master import Master

if TYPE_CHECKING:
    from pyscipopt import Conshdlr, Model
    from pyscipopt.scip import Solution

Separate: TypeAlias = Callable[[FloatArray, bool], bool]
"""Given shares of the master's columns, and whether they are integers, adds violated cuts; true where all is met."""
Answer: TypeAlias = "Callable[..., dict[str, int]]"
DEPTH = 4
"""Nodes below this depth are cut only where their shares are integers: a round choice, since cuts near the root serve
most nodes."""


def available() -> bool:
    """Say whether SCIP is installed."""
    return find_spec("pyscipopt") is not None


def branch_and_cut(
    master: Master, separate: Separate, seconds: float | None, above: float
) -> tuple[float, FloatArray | None]:
    """Solve a covering problem whose cuts are found on the way, for solutions that cost less than ``above``.

    Returns a proven bound, infinite where nothing is cheaper, and the shares of the best solution found.
    """
    covering = _Covering(master, separate, seconds, above)
    model = covering.model
    covering.send(model)
    model.includeConshdlr(
        _handler(covering), "safe", "every demand is met", sepapriority=100, enfopriority=-10, chckpriority=-10,
        sepafreq=1, eagerfreq=-1, maxprerounds=0, needscons=False,
    )  # fmt: skip
    model.optimizeNogil()
    if model.getStatus() == "userinterrupt":
        raise KeyboardInterrupt
    fixed = float(master.price[master.low == 1].sum())
    if model.getNSols() == 0:
        return (np.inf if model.getStatus() == "infeasible" else fixed + model.getDualbound()), None
    best = model.getBestSol()
    found = master.low.copy()
    for c, variable in covering.variables.items():
        found[c] = round(model.getSolVal(best, variable))
    return fixed + float(model.getDualbound()), found


class _Covering:
    """A model of SCIP over the cells of a master that are open, and how many of its cuts the model has."""

    def __init__(self, master: Master, separate: Separate, seconds: float | None, above: float) -> None:
        from pyscipopt import Model

        self.master, self.separate, self.sent = master, separate, 0
        self.model = Model()
        self.model.hideOutput()
        # SCIP would take Ctrl-C for itself, and hand over what it has so far.
        self.model.setParam("misc/catchctrlc", False)
        self.model.setParam("parallel/maxnthreads", 1)
        self.model.setParam("misc/allowstrongdualreds", False)
        self.model.setParam("misc/allowweakdualreds", False)
        if seconds is not None:
            self.model.setParam("limits/time", max(seconds, 0.05))
        self.model.setObjlimit(above - 0.5)
        self.open = np.flatnonzero(master.low < master.high)
        self.variables = {int(c): self.model.addVar(vtype="B", obj=float(master.price[c])) for c in self.open}

    def send(self, target: Model) -> int:
        """Hand over the cuts that were found since the last time; return how many."""
        from pyscipopt import quicksum

        fresh = self.master.cuts[self.sent :]
        for place, values in fresh:
            inside = np.isin(place, self.open)
            right = 1.0 - float((values * self.master.low[place])[~inside].sum())
            if right > 1e-9:
                terms = zip(place[inside].tolist(), values[inside].tolist(), strict=True)
                target.addCons(quicksum(v * self.variables[c] for c, v in terms) >= right)
        self.sent = len(self.master.cuts)
        return len(fresh)

    def shares(self, model: Model, solution: Solution | None = None) -> FloatArray:
        """Return the shares of all columns in a solution; in that of the node's linear program by default."""
        found = self.master.low.copy()
        for c, variable in self.variables.items():
            found[c] = model.getSolVal(solution, model.getTransformedVar(variable))
        return np.clip(found, 0.0, 1.0)


def _interruptible(answer: Answer) -> Answer:
    """Let Ctrl-C stop SCIP, which takes an exception for an error of its own and asks on for a while."""
    from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

    def answered(self: Any, *state: Any) -> dict[str, int]:
        if not self.stopped:
            try:
                return answer(self, *state)
            except KeyboardInterrupt:
                self.stopped = True
                self.model.interruptSolve()
        return {"result": SCIP_RESULT.INFEASIBLE}

    return answered


def _handler(covering: _Covering) -> Conshdlr:
    """Return the constraint by which SCIP accepts a solution only if every demand is met."""
    from pyscipopt import Conshdlr
    from pyscipopt.scip import PY_SCIP_RESULT as SCIP_RESULT

    class Safe(Conshdlr):
        stopped = False

        def consenfops(self, *state: object) -> dict[str, int]:
            return self.consenfolp()

        @_interruptible
        def consenfolp(self, *state: object) -> dict[str, int]:
            met = covering.separate(np.rint(covering.shares(self.model)), True)
            added = covering.send(self.model)
            result = SCIP_RESULT.CONSADDED if added else SCIP_RESULT.FEASIBLE if met else SCIP_RESULT.INFEASIBLE
            return {"result": result}

        @_interruptible
        def conscheck(self, constraints: object, solution: Solution, *state: object) -> dict[str, int]:
            met = covering.separate(np.rint(covering.shares(self.model, solution)), True)
            return {"result": SCIP_RESULT.FEASIBLE if met else SCIP_RESULT.INFEASIBLE}

        @_interruptible
        def conssepalp(self, *state: object) -> dict[str, int]:
            if self.model.getDepth() > DEPTH:
                return {"result": SCIP_RESULT.DIDNOTRUN}
            covering.separate(covering.shares(self.model), False)
            return {"result": SCIP_RESULT.CONSADDED if covering.send(self.model) else SCIP_RESULT.DIDNOTFIND}

        def conslock(self, constraint: object, kind: object, positive: int, negative: int) -> None:
            for variable in covering.variables.values():
                self.model.addVarLocksType(self.model.getTransformedVar(variable), kind, positive, negative)

    return Safe()
