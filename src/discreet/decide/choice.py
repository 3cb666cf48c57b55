"""What the choice to protect a table tells: somewhere in it something was found that may not be published.

A table that is published as it is when nothing in it is sensitive, and protected otherwise, tells by being protected
that a sensitive cell is there. Where a single figure can hide one, the reader knows which. Given the figures y, all
made independently, let s_j be the probability that cell j is small. Then a reader who sees the cell i protected weighs
its values by p(v | y)·P(protected | v, y), where the last factor is 1 if v itself is small, and otherwise between
q = 1 − Π_{j≠i} (1 − s_j) and 1: the other cells, or something else that the policy asks for, may have been the reason.
The bits told here are the least over all such weights.

That a release met the policy tells something too, where that depends on the true counts and not on the published
figures alone: by the limit on R2, and by protections that were tried before it and did not meet the policy. Where this
may be so, nothing is claimed of readers who know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from discreet.auditing.laws.base import entropy
from discreet.auditing.laws.method import Shape
from discreet.auditing.result import Audit
from discreet.core.numerics import FloatArray, IntArray, xlogx
from discreet.decide.policy import Policy
from discreet.measures.entropy import size_term
from discreet.table.equations import equations_of
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release

FEW = 10
"""The most values that are not small whose weights are tried in all ways; for more a bound holds."""


@dataclass(frozen=True)
class Choice:
    """What readers know of how a release came to be published, beside its method.

    Attributes:
        protected: the table would have been published as it is if that met the policy.
        later: protections that the policy lists before did not meet it.
    """

    protected: bool = False
    later: bool = False


def told_by_passing(audited: Audit, policy: Policy, choice: Choice, possible: int) -> bool:
    """Say whether readers may learn more of the true counts from a release that passes than its figures tell.

    Args:
        audited: what the figures leave open.
        policy: what a release has to meet.
        choice: how the release came to be published.
        possible: the number K of cells that anybody can be in; R2 has no meaning, and no limit, below 2.
    """
    if choice.later:
        return True
    limit = policy.limits.r2
    if limit is not None and possible > 1 and r2_ceiling(audited, policy.weights, possible) > limit:
        return True
    others = policy.rules.group_disclosure is not None or limit is not None
    return choice.protected and others and _can_be_small(audited, policy).size < 2


def r2_ceiling(audited: Audit, weights: tuple[float, float, float], K: int) -> float:
    """Return what R2 is at most, whatever the true counts within their ranges are.

    With d empty cells in the original and e in the release, zeros give at most (d/K)^(max(d,e)/min(d,e)). Concentration
    is at most that of R1, 1 − H(X)/log K, where N·H(X) = N·log N − Σ x·log x; given N, the last sum is at most that of
    counts which are raised from their least to their largest value one after the other, the steepest first. Between two
    of them it is linear, a + b·N, so that H is least at an end or at N = −a.
    """
    equations = audited.findings.equations
    at = np.flatnonzero(Shape.of(equations).cell[: equations.positions.size])
    low, high = (ends[at].astype(np.float64) for ends in (equations.lower, equations.upper))
    filled = high > 0
    fixed = K - int(filled.sum())
    if fixed < 0 or (high >= UNBOUNDED).any():
        return 1.0
    low, high, shown = low[filled], high[filled], equations.figures_at(at[filled])[2]
    empty = fixed + int((shown == 0).sum())
    d = np.arange(max(fixed, 1), fixed + int((low == 0).sum()) + 1)
    zeros = float(np.max((d / K) ** (np.maximum(d, empty) / np.minimum(d, empty)))) if d.size and empty else 0.0
    gap = high - low
    slope = (xlogx(high) - xlogx(low)) / np.maximum(gap, 1.0)
    order = np.argsort(-slope)
    steep = slope[order]
    people = low.sum() + np.concatenate([[0.0], np.cumsum(gap[order])])
    sums = xlogx(low).sum() + np.concatenate([[0.0], np.cumsum(steep * gap[order])])
    turning = np.clip(steep * people[:-1] - sums[:-1], people[:-1], people[1:])
    N = np.maximum(np.concatenate([people, turning]), 1.0)
    H = np.maximum(np.log(N) - np.interp(N, people, sums) / N, 0.0)
    concentration, size = 1 - H.min() / np.log(K), size_term(N).max()
    return float(np.dot(weights, (zeros, concentration, size)))


def only_small(audited: Audit, policy: Policy) -> int:
    """Return the row of the audit of the only cell that can be small, -1 where there are several or none.

    Of a table that was protected because something in it is small, a reader takes that cell to be it. Where the policy
    has other reasons to protect a table, nobody can be sure of it.
    """
    if policy.rules.group_disclosure is not None or policy.limits.r2 is not None:
        return -1
    rows = _can_be_small(audited, policy)
    return int(rows[0]) if rows.size == 1 else -1


def _can_be_small(audited: Audit, policy: Policy) -> IntArray:
    """Return the rows of the audit of inner cells that can be small, as far as an outsider sees."""
    findings = audited.findings
    threshold = policy.rules.threshold or 1.0
    cell = Shape.of(findings.equations).cell[findings.at]
    least = 0.0 if policy.zeros == "unsafe" else 1.0
    can = cell & (findings.who == 0) & (findings.upper >= least) & (findings.lower < threshold)
    return np.flatnonzero(can)


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


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why a table was protected: how likely each cell is small, as far as readers see.

    ``sure`` is true where some figure says of itself that it is small: then being protected tells nothing. ``none`` is
    log(1 − s) of every position, 0 where it is no cell by itself; ``case`` numbers the laws of such cells by the rows
    of the audit, -1 for others, and ``single`` has the bits that each leaves. ``known`` is false where the policy does
    not say that a small cell alone is a reason.
    """

    audited: Audit
    policy: Policy
    shape: Shape
    known: bool
    sure: bool
    none: FloatArray
    case: IntArray
    single: FloatArray

    @classmethod
    def of(cls, audited: Audit, policy: Policy) -> Reasons:
        """Weigh every cell of an audit under the law ``"method"``."""
        findings, rules = audited.findings, policy.rules
        threshold = rules.threshold or 1.0
        equations = findings.equations
        shape = Shape.of(equations)
        sure = bool(((findings.lower >= 1) & (findings.upper < threshold) & (findings.who == 0)).any())
        code, kinds, published = equations.figures_at(findings.at)
        lone = np.flatnonzero(shape.lone[findings.at] & (findings.who == 0) & np.isfinite(findings.upper))
        columns = (code[lone], published[lone], findings.lower[lone], findings.upper[lone])
        cases, number = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        weights, small = [], []
        for which, y, low, high in cases.astype(np.int64).tolist():
            values = np.arange(low, high + 1)
            stated = which < len(kinds) and kinds[which].stated
            weights.append(kinds[which].likelihood(y, values) if stated else np.zeros(0))
            small.append((values < threshold) & ((values > 0) | (policy.zeros == "unsafe")))
        chances = np.array([_share(w, s) for w, s in zip(weights, small, strict=True)])
        none, case = np.zeros(equations.lower.size), np.full(findings.at.size, -1)
        # Kept away from minus infinity; a cell that is surely small was noticed above.
        logs = np.log1p(-np.minimum(chances, 1 - 1e-15))
        none[findings.at[lone]], case[lone] = logs[number.ravel()], number.ravel()
        rest = 1 - np.exp(none.sum() - logs)
        single = [_least(w, s, q) if w.size else np.nan for w, s, q in zip(weights, small, rest.tolist(), strict=True)]
        known = rules.threshold is not None and (rules.combine == "any" or rules.group_disclosure is None)
        return cls(audited, policy, shape, known, sure, none, case, np.array(single))

    def bits(self, entry: IntArray, bits: FloatArray) -> FloatArray:
        """Return the bits that are left once a reader knows why the table was protected.

        Args:
            entry: the rows of the audit that are asked about.
            bits: what is left before that; NaN where it is not known.
        """
        if not self.known:
            return np.full(bits.size, np.nan)
        if self.sure:
            return bits
        at = self.audited.findings.at[entry]
        found = self._of_sums(self.shape, self.none, at, bits)
        mine = self.case[entry]
        found = np.where(mine >= 0, self.single[mine], found) if self.single.size else found
        found = np.where(np.isnan(bits) | self.shape.tied[at], np.nan, found)
        least: FloatArray = np.where(np.isnan(found), np.nan, np.fmin(found, bits))
        return least

    def bits_of_sums(self, release: Release) -> FloatArray:
        """Return the bits left of all sums that may be small, and that nothing is published about.

        Such a sum is asked about where it is sensitive in truth. Held against all of them, limits tell nothing of that.
        """
        if not self.known or self.sure:
            return np.zeros(0)
        findings = self.audited.findings
        every = equations_of(release)
        shape = Shape.of(every)
        rows = np.flatnonzero((findings.at < findings.equations.positions.size) & (findings.who == 0))
        at = every.locate(findings.equations.positions[findings.at[rows]])
        none, bits = np.zeros(every.lower.size), np.zeros(every.lower.size)
        none[at], bits[at] = self.none[findings.at[rows]], np.nan_to_num(findings.bits[rows])
        low, high = (shape.sums(ends.astype(np.float64), shape.derived) for ends in (every.lower, every.upper))
        least = 0.0 if self.policy.zeros == "unsafe" else 1.0
        sums = shape.derived[(high >= least) & (low < (self.policy.rules.threshold or 1.0)) & (low < high)]
        return self._of_sums(shape, none, sums, shape.most(bits, sums))

    def _of_sums(self, shape: Shape, none: FloatArray, at: IntArray, bits: FloatArray) -> FloatArray:
        """Return the bits left of sums of cells: H′ ≥ q·H + log q for any weights between q and 1."""
        # The chance that some other cell is small.
        other = 1 - np.exp(self.none.sum() - shape.sums(none, at))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(other > 0, np.maximum(other * bits + np.log2(other), 0.0), 0.0)


def _share(weights: FloatArray, some: npt.NDArray[np.bool_]) -> float:
    """Return the share of some values in the weight of all; 0 where there is none."""
    return float(weights[some].sum() / weights.sum()) if weights.size and weights.sum() > 0 else 0.0


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
