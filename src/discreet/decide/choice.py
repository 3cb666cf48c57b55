"""What the choice to protect a table reveals: something in it must not be published.

If tables without sensitive cells are published unchanged, a protected table must contain a sensitive cell. If only one
figure can hide it, the reader knows which. Given the figures y, all made independently, let s_j be the probability that
cell j is small. Then a reader who sees the cell i protected weighs its values by p(v | y)·P(protected | v, y), where
the last factor is 1 if v itself is small, and otherwise between q = 1 − Π_{j≠i} (1 − s_j) and 1: the other cells, or
another requirement of the policy, may have been the reason. The bits reported here are the least over all such weights.

That a release met the policy is informative too, if that depends on the true counts and not on the published figures
alone. The limit on R2 rules originals out; their chance is bounded (:mod:`discreet.decide.passing_r2`). A protection
that was taken because earlier ones did not meet the policy carries no claim against readers who know the policy.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from discreet.auditing.audit_result import Audit
from discreet.auditing.laws.law import entropy
from discreet.auditing.laws.method import Shape
from discreet.core.numerics import FloatArray, IntArray
from discreet.decide.passing_r2 import Ranges, chance_of_failing
from discreet.decide.policy import Policy
from discreet.table.equations import Equations, equations_of
from discreet.table.release import Release

FEW = 14
"""The most values whose weights are tried in all 2^14 ways, within milliseconds; for more a bound holds."""
WIDE = 2_000
"""The most values of its cells, all together, for which the law of a sum is convolved; for more a bound holds. A round
choice."""


@dataclass(frozen=True)
class Choice:
    """What readers know about how a release came to be published, apart from its method.

    Attributes:
        protected: the table would have been published unchanged if that met the policy.
        later: protections that come earlier in the policy did not meet it.
    """

    protected: bool = False
    later: bool = False


ASKED = Choice()
"""A method that was requested regardless of the table."""


@dataclass(frozen=True, eq=False)
class Outsider:
    """A reader of one release who knows the policy and how the release came to be published.

    ``cells`` is the number K of cells that anybody can be in; R2 has no meaning, and no limit, below 2. ``ranges`` are
    those of the counts where R2 is limited, None where a count has no largest value, and ``above`` says whether
    an original within them can be above the limit.
    """

    audited: Audit
    policy: Policy
    choice: Choice
    cells: int
    shape: Shape
    ranges: Ranges | None
    above: bool

    @classmethod
    def of(cls, audited: Audit, policy: Policy, choice: Choice, cells: int) -> Outsider:
        """Work out what the figures leave open."""
        shape, ranges, limit = Shape.of(audited.findings.equations), None, policy.limits.r2
        limited = limit is not None and cells > 1
        if limited:
            ranges = Ranges.of(audited, cells, shape)
        above = limited and (ranges is None or not policy.limits.met("r2", ranges.ceiling(policy.weights)))
        return cls(audited, policy, choice, cells, shape, ranges, above)

    @property
    def threshold(self) -> float:
        """The least count that is not small."""
        return self.policy.rules.threshold or 1.0

    @property
    def least(self) -> float:
        """The smallest count that can be small: 0 if zeros are unsafe, otherwise 1."""
        return 0.0 if self.policy.zeros == "unsafe" else 1.0

    def small(self, values: IntArray) -> npt.NDArray[np.bool_]:
        """Say which counts are small."""
        return (values < self.threshold) & (values >= self.least)

    @property
    def told(self) -> bool:
        """Whether the fact that a release passed may narrow intervals beyond its figures."""
        # A table with nobody in it is refused: where the figures leave it possible, being published rules it out.
        nobody = bool((self.audited.findings.equations.lower <= 0).all())
        alone = self.choice.protected and self._other_reasons and self._small_cells().size < 2
        return self.choice.later or nobody or self.above or alone

    @property
    def only_small(self) -> int:
        """The row of the audit of the only cell that can be small, -1 where there are several or none.

        If a table was protected because something in it is small, a reader concludes that it is this cell, unless the
        policy has other reasons to protect a table.
        """
        if self._other_reasons or not self.choice.protected:
            return -1
        rows = self._small_cells()
        return int(rows[0]) if rows.size == 1 else -1

    @property
    def _other_reasons(self) -> bool:
        return self.policy.rules.group_disclosure is not None or self.policy.limits.r2 is not None

    def may_be_small(self) -> IntArray:
        """Return the rows of the audit of figures that can be small.

        Limits apply to all of them, not only to those that are really small: whether a release passes then depends only
        on what is published, and reveals nothing more.
        """
        findings = self.audited.findings
        if self.policy.rules.threshold is None:
            return np.zeros(0, np.int64)
        return self._can_be_small(findings.at < findings.equations.positions.size)

    def _small_cells(self) -> IntArray:
        return self._can_be_small(self.shape.cell[self.audited.findings.at])

    def _can_be_small(self, among: npt.NDArray[np.bool_]) -> IntArray:
        findings = self.audited.findings
        can = (findings.who == 0) & (findings.upper >= self.least) & (findings.lower < self.threshold)
        return np.flatnonzero(among & can)


@dataclass(frozen=True, eq=False)
class Reasons:
    """Why a release was published: how likely each cell is small, and how likely the policy was met, to readers.

    ``sure`` is true if some figure is visibly small: being protected then reveals nothing. ``laws`` are
    those of cells that no published sum ties, each with its values and their probabilities, ``small`` says which of the
    values are small, ``logs`` is log(1 − s) of each, and ``none`` their sum over all cells. ``case`` numbers them by
    position, -1 where it has none, and ``single`` has the bits that each leaves. ``known`` is false if nothing can be
    claimed. ``failing`` is at most the chance that an original behind the figures would not have been published so.
    """

    reader: Outsider
    known: bool
    sure: bool
    laws: list[tuple[IntArray, FloatArray]]
    small: list[npt.NDArray[np.bool_]]
    logs: FloatArray
    none: float
    case: IntArray
    single: FloatArray
    failing: float

    @classmethod
    def of(cls, reader: Outsider) -> Reasons:
        """Weigh every cell of an audit under the law ``"method"``."""
        findings, rules, choice = reader.audited.findings, reader.policy.rules, reader.choice
        equations, shape = findings.equations, reader.shape
        sure = bool(((findings.lower >= 1) & (findings.upper < reader.threshold) & (findings.who == 0)).any())
        code, kinds, published = equations.figures_at(findings.at)
        lone = np.flatnonzero(shape.lone[findings.at] & (findings.who == 0) & np.isfinite(findings.upper))
        columns = (code[lone], published[lone], findings.lower[lone], findings.upper[lone])
        cases, number, times = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True, return_counts=True)
        laws = []
        for which, y, low, high in cases.astype(np.int64).tolist():
            values = np.arange(low, high + 1)
            stated = which < len(kinds) and kinds[which].stated
            weights = kinds[which].likelihood(y, values) if stated else np.zeros(0)
            laws.append((values, weights / weights.sum() if stated else weights))
        small = [reader.small(values) for values, _ in laws]
        chances = np.array([float(p[s].sum()) if p.size else 0.0 for (_, p), s in zip(laws, small, strict=True)])
        # Kept away from minus infinity; a cell that is surely small was noticed above.
        logs = np.log1p(-np.minimum(chances, 1 - 1e-15))
        case = np.full(equations.lower.size, -1)
        case[findings.at[lone]] = number.ravel()
        none = float(logs @ times)
        rest = 1 - np.exp(none - logs) if choice.protected and not sure else np.ones(logs.size)
        bits = [
            _least(p, np.where(some, 1.0, q)) if p.size else np.nan
            for (_, p), some, q in zip(laws, small, rest.tolist(), strict=True)
        ]
        known = rules.threshold is not None and (rules.combine == "any" or rules.group_disclosure is None)
        known = not choice.later and (known or not choice.protected)
        failing = _failing(reader, lone, [(values, p, int(n)) for (values, p), n in zip(laws, times, strict=True)])
        if choice.protected and not sure:
            failing = min(failing / max(-np.expm1(none), 1e-300), 1.0)
        return cls(reader, known, sure, laws, small, logs, none, case, np.array(bits), failing)

    @property
    def tells(self) -> bool:
        """Whether being protected reveals something."""
        return self.reader.choice.protected and not self.sure

    @property
    def bounds(self) -> bool:
        """Whether the bits are a lower bound."""
        return bool(self.failing) or self.tells

    def bits(self, entry: IntArray, bits: FloatArray) -> FloatArray:
        """Return how many bits remain, for rows of the audit, once a reader knows why the release was published.

        ``bits`` are left before that, NaN where they are not known.
        """
        findings, shape = self.reader.audited.findings, self.reader.shape
        if not self.known:
            return np.where(bits > 0, np.nan, bits)
        found = bits
        if self.bounds:
            at = findings.at[entry]
            found = np.array([self._left(findings.equations, shape, self.case, int(i)) for i in at])
            # Where being protected tells nothing, what the audit found holds too; of sums it knows a bound only.
            found = found if self.tells else np.fmax(found, bits)
            found = np.where(np.isnan(bits) | (shape.tied[at] & self.tells), np.nan, found)
        return self._passed(found, findings.upper[entry] - findings.lower[entry] + 1)

    def bits_of_sums(self, release: Release) -> FloatArray:
        """Return how many bits remain of all sums that may be small and about which nothing is published.

        Such a sum is asked about if it is really sensitive. Applied to all of them, the limits reveal nothing about
        that.
        """
        if not self.known or not self.tells:
            return np.zeros(0)
        equations = self.reader.audited.findings.equations
        every = equations_of(release)
        shape = Shape.of(every)
        at = equations.locate(every.positions)
        case = np.where(at >= 0, self.case[at], -1)
        low, high = (shape.sums(ends.astype(np.float64), shape.derived) for ends in (every.lower, every.upper))
        some = (high >= self.reader.least) & (low < self.reader.threshold) & (low < high)
        left = np.array([self._left(every, shape, case, int(i)) for i in shape.derived[some]])
        return self._passed(left, (high - low + 1)[some])

    def _left(self, equations: Equations, shape: Shape, case: IntArray, at: int) -> float:
        """Return how many bits of a position remain once a reader knows that the table was protected."""
        if case[at] >= 0:
            return float(self.single[case[at]])
        cells = shape.leaves.taken([at]).columns
        other = cells[case[cells] < 0]
        if not equations.exact[other].all():
            return 0.0
        return self._of_sum(np.sort(case[cells[case[cells] >= 0]]), int(equations.lower[other].sum()))

    def _of_sum(self, cells: IntArray, start: int) -> float:
        """Return how many bits remain of the sum of a known number and of cells with these laws.

        Given its value the table is protected for sure if the sum is small itself, and otherwise unless none of its
        cells nor any other is small.
        """
        laws = [self.laws[k] for k in cells]
        if any(not p.size for _, p in laws):
            return 0.0
        q = 1 - float(np.exp(self.none - self.logs[cells].sum())) if self.tells else 1.0
        if sum(p.size for _, p in laws) > WIDE:
            # At least as open as the most open cell: H′ ≥ q·H + log q for any weights between q and 1.
            most = max(entropy(self.laws[k][1]) for k in np.unique(cells))
            return max(q * most + float(np.log2(q)), 0.0) if q > 0 else 0.0
        whole, none = np.ones(1), np.ones(1)
        for k, (values, p) in zip(cells.tolist(), laws, strict=True):
            start += int(values[0])
            whole, none = np.convolve(whole, p), np.convolve(none, np.where(self.small[k], 0.0, p))
        sure = self.reader.small(start + np.arange(whole.size))
        share = 1 - np.divide(none, whole, out=np.zeros(whole.size), where=whole > 0) * (1 - q)
        return _least(whole, np.where(sure, 1.0, np.clip(share, 0.0, 1.0)))

    def _passed(self, bits: FloatArray, values: FloatArray) -> FloatArray:
        """Return how many bits of m values remain once originals with a chance of at most δ are ruled out.

        H(X) ≤ H(X | passed) + δ·log m + h(δ), where h is the entropy of whether it passed; it rises up to δ = 1/2.
        """
        if not self.failing:
            return bits
        if self.failing > 0.5:
            return np.where(bits > 0, np.nan, bits)
        chance = entropy(np.array([self.failing, 1 - self.failing]))
        return np.maximum(bits - chance - self.failing * np.log2(np.maximum(values, 1.0)), 0.0)


def _failing(reader: Outsider, lone: IntArray, laws: list[tuple[IntArray, FloatArray, int]]) -> float:
    """Return an upper bound on the chance that an original is above the limit on R2, or has nobody in it."""
    findings = reader.audited.findings
    equations = findings.equations
    inside = np.flatnonzero(reader.shape.cell[: equations.positions.size])
    certain = equations.lower[inside][equations.exact[inside]].astype(np.float64)
    independent = all(p.size for _, p, _ in laws) and lone.size + certain.size == inside.size
    nobody = 0.0
    if independent and not certain.any():
        nobody = float(np.prod([p[values == 0].sum() ** times for values, p, times in laws]))
    limit = reader.policy.limits.r2
    if limit is None or not reader.above:
        return nobody
    if reader.ranges is None or not independent or np.unique(findings.at[lone]).size != lone.size:
        return 1.0
    chance = chance_of_failing(reader.ranges, reader.policy.weights, limit, laws, certain)
    return min(nobody + chance, 1.0)


def _least(weights: FloatArray, shares: FloatArray) -> float:
    """Return the least entropy if every weight is multiplied by a factor between the given one and 1.

    Along each weight the entropy rises and then falls, so it is least where all shares are at an end. Where they
    are too many to try, H′ ≥ q·H + log q for the least share q, and H′ ≥ H − h(δ) − δ·log m for m values, if a share
    of δ of all weight is taken away at most.

    >>> round(_least(np.array([3.0, 2.0, 1.0]), np.array([0.0, 1.0, 1.0])), 4)
    0.9183
    """
    whole = weights / weights.sum()
    free = np.flatnonzero((shares < 1) & (whole > 0))
    if free.size <= FEW:
        ends = np.array(list(product((0.0, 1.0), repeat=int(free.size)))).reshape(2**free.size, free.size)
        some = np.tile(whole, (len(ends), 1))
        some[:, free] *= shares[free] + (1 - shares[free]) * ends
        total = some.sum(axis=1)
        p = some / np.where(total > 0, total, 1.0)[:, None]
        bits = -np.where(p > 0, p * np.log2(np.where(p > 0, p, 1.0)), 0.0).sum(axis=1)
        return float(np.where(total > 0, np.maximum(bits, 0.0), 0.0).min())
    q, taken, before = float(shares[free].min()), float((whole * (1 - shares)).sum()), entropy(whole)
    found = q * before + float(np.log2(q)) if q > 0 else 0.0
    if taken <= 0.5:
        chance = entropy(np.array([taken, 1 - taken]))
        found = max(found, before - chance - taken * float(np.log2(whole.size)))
    return max(found, 0.0)
