"""Why a sensitive cell cannot be protected: which cells would have to be suppressed that must not be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.core.errors import InfeasibleError
from discreet.protect.suppression.problem import Problem, state

FEW = 5
"""How many conflicting cells a message names."""


class UnprotectableError(InfeasibleError):
    """A sensitive cell cannot be protected as asked: ``why`` not, and what helps ``anyway``, whatever was asked."""

    why: str
    anyway: str

    @classmethod
    def of(cls, why: str, anyway: str, remedies: Sequence[str] = ()) -> UnprotectableError:
        """Say why not, and what to do about it; remedies are changes of the request that were tried and work."""
        error = cls("; ".join([why, "; or ".join([*remedies, anyway])]))
        error.why, error.anyway = why, anyway
        return error


def explain(problem: Problem, at: int, size: int, way: int, attacker: str | None = None) -> UnprotectableError:
    """Return the error that says what prevents moving the value at a position.

    The problem is stated again with every figure open to suppression; the cells that a circuit needs then, and that the
    request keeps published, are the conflict.
    """
    from discreet.protect.suppression.rescue import rescue

    cells, equations = problem.cells, problem.cells.equations
    none = np.zeros(cells.values.size, bool)
    wide = state(cells, problem.demands, np.ones(cells.values.size, np.int64), none, True)
    against = f" against the {attacker}" if attacker else ""
    anyway = "make the table coarser, or publish fewer totals or fewer tables together"
    if size > 1:
        # One unit is the least that keeps a value from being exact.
        anyway += "; or lower the level"
    if attacker:
        anyway += "; or leave insiders aside knowingly (insiders='none', --insiders none)"
    sign = "±" if way == 0 else "+" if way > 0 else "−"
    head = f"cell {equations.describe(at)} cannot be protected by {sign}{equations.text(size)}{against}"
    k = int(wide.member[at])
    if k >= 0:
        barred = np.zeros(wide.size, bool)
        barred[wide.member[(wide.member >= 0) & (problem.member < 0) & cells.listed]] = True
        cost = np.where(barred, 1.0, 1e-4)
        nothing = (np.zeros(0, np.int64), np.zeros(0), np.zeros(0))
        found = rescue(wide, k, max(size, 1), way, cost, nothing, nothing[0])
        if found is not None:
            need = found[0][barred[found[0]]]
            names = [wide.cell(int(j)) for j in need[:FEW]]
            if names:
                more = f" and {need.size - FEW} more" if need.size > FEW else ""
                return UnprotectableError.of(f"{head} while these are published: {'; '.join(names)}{more}", anyway)
    return UnprotectableError.of(
        f"{head}: whatever is suppressed, what remains published or known determines it more closely", anyway
    )
