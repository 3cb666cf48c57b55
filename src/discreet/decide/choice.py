"""What the choice to protect a table tells: somewhere in it something was found that may not be published.

A table that is published as it is when nothing in it is sensitive, and protected otherwise, tells by being protected
that a sensitive cell is there. Where a single figure can hide one, the reader knows which. Given the figures y, all
made independently, let s_j be the probability that cell j is small. Then a reader who sees the cell i protected weighs
its values by p(v | y)·P(protected | v, y), where the last factor is 1 if v itself is small, and otherwise between
q = 1 − Π_{j≠i} (1 − s_j) and 1: the other cells, or something else that the policy asks for, may have been the reason.
The bits told here are the least over all such weights.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from discreet.auditing.laws.base import entropy
from discreet.auditing.laws.method import Shape
from discreet.auditing.result import Audit
from discreet.core.numerics import FloatArray, IntArray
from discreet.decide.policy import Policy

FEW = 10
"""The most values that are not small whose weights are tried in all ways; for more a bound holds."""


def only_small(audited: Audit, policy: Policy) -> int:
    """Return the row of the audit of the only cell that can be small, -1 where there are several or none.

    Of a table that was protected because something in it is small, a reader takes that cell to be it. Where the policy
    has other reasons to protect a table, nobody can be sure of it.
    """
    findings = audited.findings
    if policy.rules.group_disclosure is not None or policy.limits.r2 is not None:
        return -1
    threshold = policy.rules.threshold or 1.0
    cell = Shape.of(findings.equations).cell[findings.at]
    least = 0.0 if policy.zeros == "unsafe" else 1.0
    can = cell & (findings.who == 0) & (findings.upper >= least) & (findings.lower < threshold)
    rows = np.flatnonzero(can)
    return int(rows[0]) if rows.size == 1 else -1


def may_be_small(audited: Audit, policy: Policy) -> IntArray:
    """Return the rows of the audit of figures that can be small, as far as an outsider sees.

    Limits are held against all of them, not only against those that are small in truth: whether a release passes then
    depends on what is published, and tells nothing else.
    """
    findings = audited.findings
    if policy.rules.threshold is None:
        return np.zeros(0, np.int64)
    least = 0.0 if policy.zeros == "unsafe" else 1.0
    inside = findings.at < findings.equations.positions.size
    can = inside & (findings.who == 0) & (findings.upper >= least) & (findings.lower < policy.rules.threshold)
    return np.flatnonzero(can)


def bits_once_protected(audited: Audit, policy: Policy, entry: IntArray, bits: FloatArray) -> FloatArray:
    """Return the bits that are left about audited figures once a reader knows why the table was protected.

    Args:
        audited: what is known of all figures that are not exact, under the law ``"method"``.
        policy: whose threshold says what is small.
        entry: the rows of the audit that are asked about.
        bits: what is left before that; NaN where it is not known.
    """
    findings = audited.findings
    threshold, zeros = policy.rules.threshold, policy.zeros == "unsafe"
    if threshold is None:
        return np.full(bits.size, np.nan)
    if ((findings.lower >= 1) & (findings.upper < threshold) & (findings.who == 0)).any():
        # Some figure says of itself that it is small.
        return bits
    equations = findings.equations
    shape = Shape.of(equations)
    code, kinds, published = equations.figures_at(findings.at)
    lone = np.flatnonzero(shape.lone[findings.at] & (findings.who == 0) & np.isfinite(findings.upper))
    columns = (code[lone], published[lone], findings.lower[lone], findings.upper[lone])
    cases, case = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    weights, small = [], []
    for number, y, low, high in cases.astype(np.int64).tolist():
        values = np.arange(low, high + 1)
        stated = number < len(kinds) and kinds[number].stated
        weights.append(kinds[number].likelihood(y, values) if stated else np.zeros(0))
        small.append((values < threshold) & ((values > 0) | zeros))
    case = case.ravel()
    chances = np.array(
        [float(w[s].sum() / w.sum()) if w.size and w.sum() > 0 else 0.0 for w, s in zip(weights, small, strict=True)]
    )
    none = np.zeros(equations.lower.size)
    # log(1 − s), kept away from minus infinity; a cell that is surely small would have been noticed above.
    none[findings.at[lone]] = np.log1p(-np.minimum(chances[case], 1 - 1e-15))
    every = float(none.sum())
    at = findings.at[entry]
    # The chance that some other cell is small; a cell's own case decides it, and its bits.
    other = 1 - np.exp(every - shape.sums(none, at))
    single = np.array(
        [
            _least(w, s, 1 - float(np.exp(every - np.log1p(-min(p, 1 - 1e-15))))) if w.size else np.nan
            for w, s, p in zip(weights, small, chances, strict=True)
        ]
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        # Of a sum of several cells: H′ ≥ q·H + log q for any weights between q and 1.
        found = np.where(other > 0, np.maximum(other * bits + np.log2(other), 0.0), 0.0)
    of_case = np.full(findings.at.size, -1)
    of_case[lone] = case
    mine = of_case[entry]
    found = np.where(mine >= 0, single[mine], found) if single.size else found
    found = np.where(np.isnan(bits) | shape.tied[at], np.nan, found)
    least: FloatArray = np.where(np.isnan(found), np.nan, np.fmin(found, bits))
    return least


def _least(weights: FloatArray, small: npt.NDArray[np.bool_], q: float) -> float:
    """Return the least entropy if the weights of values that are not small are lowered to a share between q and 1.

    >>> round(_least(np.array([3.0, 2.0, 1.0]), np.array([False, True, True]), 0.0), 4)
    0.9183
    """
    free = np.flatnonzero(~small & (weights > 0))
    if free.size > FEW:
        return max(q * entropy(weights) + np.log2(q), 0.0) if q > 0 else 0.0
    best = np.inf
    for shares in product((q, 1.0), repeat=int(free.size)):
        some = weights.copy()
        some[free] *= shares
        best = min(best, entropy(some) if some.sum() > 0 else 0.0)
    return float(best)
