"""The exact law of an urn's cells under restrictions, by convolution in the frequency domain.

The counts of a Pólya or multinomial urn are independent negative binomial or Poisson counts, given that they
add up to the number of balls M. So the probability that cells stay within bounds, together with the law of how
many of the sample uniques stay untouched, is one coefficient of a product of generating functions:

    P(bounds, U = u) = [z^M y^u] Π_g G_g(z, y)^{c_g} · (unrestricted rest) / [z^M] (everything unrestricted)

with c_g equal cells in group g. The coefficient is read off by the trapezoidal rule on circles, which is exact up to
aliasing for periodic functions. On the chosen z-circle the restricted cells expect M balls together, which keeps the
probability's relative accuracy even at 10⁻³⁰⁰. Nothing is drawn, no normal law is assumed, and a million cells cost as
much as one, because equal cells share one function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, log_gamma
from discreet.uniques.log_probabilities import log1p_complex, log_negative_binomial, log_poisson
from discreet.uniques.urn import Urn

ComplexArray = npt.NDArray[np.complex128]

BUDGET = 150_000_000
"""The most function values that an exact law may take: about ten seconds."""
_TERMS = 20_000
"""The most counts of one cell that are summed: a round choice; the work is this times the number of frequencies."""
_ALTERNATING = 400
"""The most alternating terms that are summed: where more of them matter, cancellation leaves no digits."""
_NEGLIGIBLE = -44.0  # log of 1e-19, below what float64 can add to 1


@dataclass(frozen=True)
class CellGroup:
    """Equal cells: ``count`` of them, each of the same weight, on each of which low … high balls may fall.

    ``unique`` marks sample uniques: those on which no ball falls are counted by the law of U.
    """

    count: int
    weight: float
    low: int = 0
    high: int | None = None
    unique: bool = False


class UntouchedLaw(NamedTuple):
    """Log-probability of the restrictions, and P(U = start + i | restrictions) as pmf[i]."""

    log_probability: float
    start: int
    pmf: FloatArray


NEVER = UntouchedLaw(-np.inf, 0, np.zeros(1))


def restricted_law(urn: Urn, groups: Sequence[CellGroup], *, counting: bool = True) -> UntouchedLaw:
    """Return the probability of the restrictions and the law of the number of untouched uniques under them.

    The groups are the restricted cells and the sample uniques; the urn's weight includes all other cells. Without
    ``counting`` only the probability is computed, which is cheaper.

    Raises:
        LimitError: when the convolution would cost more than ``BUDGET`` function values.

    >>> law = restricted_law(Urn(1, 4.0, True), [CellGroup(2, 2.0, unique=True)])
    >>> law.pmf.round(12).tolist()
    [0.0, 1.0, 0.0]
    """
    m = urn.balls
    kept: list[CellGroup] = []
    settled = 0
    for given in groups:
        high = given.high if given.high is not None and given.high < m else None
        # A lower bound above 1 needs a finite sum, and so an upper bound too.
        group = replace(given, low=max(given.low, 0), high=m if high is None and given.low > 1 else high)
        if group.count == 0:
            continue
        if group.low > m or (group.high is not None and group.high < group.low):
            return NEVER
        if group.weight == 0 or m == 0:
            if group.low > 0:
                return NEVER
            settled += group.count if group.unique else 0
            continue
        if group.low > 0:
            group = replace(group, unique=False)
        if group.unique or group.low > 0 or group.high is not None:
            kept.append(group)
    if not kept:
        return UntouchedLaw(0.0, settled, np.ones(1))
    law = _Convolution.prepare(urn, kept)
    return NEVER if law is None else law.solve(settled, counting)


@dataclass(frozen=True)
class _Circle:
    """The circle |z| = t on which coefficients are read; an unrestricted unit of weight expects e^s balls there.

    ``v0`` is the log generating function of a unit of weight at angle 0: −log(1 − t) for the reinforced urn,
    where t = e^s/(1 + e^s), and t itself for the plain one, where t = e^s. When every cell is bounded all sums
    are finite, any t = e^s will do, and nothing is scaled by v0.
    """

    s: float
    reinforced: bool
    bounded: bool

    @property
    def odds(self) -> float:
        return float(np.exp(self.s))

    @property
    def log_t(self) -> float:
        return -float(np.log1p(np.exp(-self.s))) if self.reinforced and not self.bounded else self.s

    @property
    def v0(self) -> float:
        if self.bounded:
            return 0.0
        return float(np.log1p(self.odds)) if self.reinforced else self.odds

    def moments(self, weight: float) -> tuple[float, float]:
        """Mean and variance of the balls on an unrestricted weight."""
        if weight == 0:
            return 0.0, 0.0
        mean = weight * self.odds
        return mean, mean * (1.0 + self.odds) if self.reinforced else mean

    def change(self, angle: FloatArray) -> ComplexArray:
        """Log generating function of a unit of weight along the circle, relative to angle 0."""
        if self.bounded:
            return np.zeros(angle.size, np.complex128)
        turn = self.odds * np.expm1(1j * angle)
        return -log1p_complex(-turn) if self.reinforced else turn

    def log_unrestricted(self, urn: Urn) -> float:
        """Log of the coefficient of z^M of the whole unrestricted urn, scaled like the restricted ones."""
        m, w = urn.balls, urn.total
        if not self.bounded:
            return log_negative_binomial(m, w, self.odds) if self.reinforced else log_poisson(m, w * self.odds)
        if self.reinforced:
            scale = w * float(np.log1p(m / w)) + m * float(np.log1p(w / m))
            return log_negative_binomial(m, w, m / w) + scale + m * self.s
        return log_poisson(m, float(m)) + m * (1.0 + float(np.log(w / m)) + self.s)


@dataclass(frozen=True)
class _Factor:
    """The generating function of a group of equal cells."""

    group: CellGroup
    sum: tuple[FloatArray, FloatArray] | None  # x = low … high with the logs of their coefficients at t = 1, if finite

    @classmethod
    def make(cls, group: CellGroup, reinforced: bool) -> _Factor:
        if group.high is None:
            return cls(group, None)
        if group.high - group.low > _TERMS:
            raise LimitError(
                f"a restriction allows {group.high - group.low + 1:,} different counts of one cell, more than the "
                f"{_TERMS:,} that are added up exactly"
            )
        x = np.arange(group.low, group.high + 1, dtype=np.float64)
        w = group.weight
        rising = log_gamma(w + x) - log_gamma(w) if reinforced else x * np.log(w)
        return cls(group, (x, rising - log_gamma(x + 1.0)))

    def moments(self, circle: _Circle) -> tuple[float, float, float]:
        """Log of the mass that the restriction keeps, mean and variance of what it leaves."""
        w = self.group.weight
        if self.sum is not None:
            powers, coefficients = self.sum
            logs = coefficients + powers * circle.log_t
            top = logs.max()
            terms = np.exp(logs - top)
            total = terms.sum()
            mean = float((terms * powers).sum() / total)
            spread = float((terms * (powers - mean) ** 2).sum() / total)
            return float(top + np.log(total) - w * circle.v0), mean, spread
        mean, spread = circle.moments(w)
        if self.group.low == 0:
            return 0.0, mean, spread
        mass = float(-np.expm1(-w * circle.v0))
        cut = mean / mass
        return float(np.log(mass)), cut, max((spread + mean * mean) / mass - cut * cut, 0.0)

    def along(self, circle: _Circle, change: ComplexArray, angle: FloatArray) -> ComplexArray:
        """G(z)/G(t) − 1 along the circle, untouched uniques counting with y = 1."""
        w = self.group.weight
        if self.sum is not None:
            powers, coefficients = self.sum
            logs = coefficients + powers * circle.log_t
            terms = np.exp(logs - logs.max())
            terms /= terms.sum()
            result = np.empty(angle.size, np.complex128)
            step = max(1, 2_000_000 // terms.size)
            for i in range(0, angle.size, step):
                result[i : i + step] = np.expm1(1j * angle[i : i + step, None] * powers) @ terms
            return result
        moved: ComplexArray = np.expm1(w * change)
        return moved if self.group.low == 0 else moved / -np.expm1(-w * circle.v0)

    def untouched(self, circle: _Circle) -> float:
        """Probability that no ball falls on a cell of this group, within its restriction."""
        if not self.group.unique:
            return 0.0
        log_mass, _, _ = self.moments(circle)
        return float(np.exp(-self.group.weight * circle.v0 - log_mass))


@dataclass(frozen=True)
class _Convolution:
    """All factors, on a circle where M balls are expected."""

    urn: Urn
    parts: list[_Factor]
    rest: float
    circle: _Circle
    log_mass: float
    spread: float

    @classmethod
    def prepare(cls, urn: Urn, groups: list[CellGroup]) -> _Convolution | None:
        """Choose the circle on which the restricted cells expect M balls; None when M cannot be reached."""
        rest = urn.total - sum(group.count * group.weight for group in groups)
        rest = 0.0 if rest < 1e-12 * urn.total else rest  # a remainder of rounding error is not a cell
        bounded = rest == 0 and all(group.high is not None for group in groups)
        highest = sum(group.count * group.high for group in groups if group.high is not None)
        if sum(group.count * group.low for group in groups) > urn.balls or (bounded and highest < urn.balls):
            return None
        parts = [_Factor.make(group, urn.reinforced) for group in groups]

        def state(s: float) -> tuple[_Circle, float, float, float]:
            circle = _Circle(s, urn.reinforced, bounded)
            mean, spread = circle.moments(rest)
            mass = 0.0
            for part in parts:
                log_mass, m, v = part.moments(circle)
                mass += part.group.count * log_mass
                mean += part.group.count * m
                spread += part.group.count * v
            return circle, mass, mean, spread

        # Without restrictions the urn expects M balls at e^s = M/W; restrictions move it up or down from there,
        # by Newton steps, as the mean's slope is known. Near is enough: any circle gives the same coefficients,
        # and at the edge of what the restrictions allow M is only approached.
        s = float(np.log(urn.balls / urn.total))
        circle, mass, mean, spread = state(s)
        for _ in range(200):
            gap = urn.balls - mean
            if abs(gap) <= max(0.05, 0.01 * np.sqrt(spread)):
                break
            slope = spread / (1.0 + circle.odds) if urn.reinforced and not bounded else spread
            s += float(np.clip(gap / max(slope, 1e-300), -1.0, 1.0))
            circle, mass, mean, spread = state(s)
        return cls(urn, parts, rest, circle, mass, spread)

    def solve(self, settled: int, counting: bool) -> UntouchedLaw:
        """Read off the coefficients and scale them by the unrestricted law."""
        # The spacing of aliases: farther out, the sum of the counts has negligible probability.
        heavy = self.urn.reinforced and not self.circle.bounded
        span = 12.0 * np.sqrt(self.spread) + 48.0 * ((-1.0 / self.circle.log_t if heavy else 1.0) + 1.0)
        if self.circle.bounded:
            span = min(span, float(sum(part.group.count * (part.group.high or 0) for part in self.parts)))
        period = int(np.ceil(span)) + 1
        angle, phase = self._nodes(period)
        change = self.circle.change(angle)
        fixed: ComplexArray = self.rest * change - 1j * phase
        free: list[_Free] = []
        for part in self.parts:
            along = part.along(self.circle, change, angle)
            if part.group.unique:
                free.append(_Free(part.group.count, along, part.untouched(self.circle)))
            else:
                fixed = fixed + part.group.count * log1p_complex(along)
        plain = fixed
        for one in free:
            plain = plain + one.count * log1p_complex(one.along)
        reached = float(np.exp(plain).sum().real) / period
        if reached <= 0:
            return NEVER
        log_probability = min(self.log_mass + float(np.log(reached)) - self.circle.log_unrestricted(self.urn), 0.0)
        if not counting or not free:
            return UntouchedLaw(log_probability, settled, np.ones(1))
        start, pmf = _count(fixed, free)
        return UntouchedLaw(log_probability, start + settled, pmf)

    def _nodes(self, period: int) -> tuple[FloatArray, FloatArray]:
        """Angles of the circle that matter, in order around 0, and M times them, reduced exactly."""
        half = period // 2
        if half > 2048:
            grid = 2.0 * np.pi / period * np.geomspace(1.0, half, 800)
            change = self.circle.change(grid)
            # An upper bound of the log-modulus of the integrand, whatever y on the unit circle.
            bound: FloatArray = self.rest * change.real
            for part in self.parts:
                q = part.untouched(self.circle)
                modulus = np.abs(1.0 + part.along(self.circle, change, grid) - q) + q
                bound = bound + part.group.count * np.log(np.maximum(modulus, 1e-300))
            alive = np.flatnonzero(bound > _NEGLIGIBLE)
            last = grid[min(int(alive[-1]) + 1, grid.size - 1)] if alive.size else grid[0]
            half = min(half, int(np.ceil(last * period / (2.0 * np.pi))))
        if half > BUDGET // 40:
            raise LimitError(f"the exact law takes {2 * half + 1:,} frequencies, more than the budget allows")
        k = np.arange(-half, half + 1) if 2 * half + 1 <= period else np.arange(-half, half)
        turns = (k * (self.urn.balls % period)) % period
        return 2.0 * np.pi * k / period, 2.0 * np.pi * turns / period


@dataclass(frozen=True)
class _Free:
    """Sample uniques of one group along the circle: how many, G/G(t) − 1, and P(untouched)."""

    count: int
    along: ComplexArray
    q: float


def _count(fixed: ComplexArray, free: list[_Free]) -> tuple[int, FloatArray]:
    """The law of U given the restrictions, over a window that holds all but 10⁻¹⁹ of it."""
    everyone = sum(one.count for one in free)
    mean = sum(one.count * one.q for one in free)
    half = 12.0 * float(np.sqrt(sum(one.count * one.q * max(1.0 - one.q, 0.0) for one in free))) + 40.0
    start, stop = max(0, int(mean - half)), min(everyone, int(mean + half))
    if everyone <= 500:
        start, stop = 0, everyone
    width = stop - start + 1
    spectrum = np.zeros(width // 2 + 1, np.complex128)
    block = max(1, min(64, 4_000_000 // fixed.size))
    spent = 0
    for k in range(0, spectrum.size, block):
        turn = 2.0 * np.pi * np.arange(k, min(k + block, spectrum.size)) / width
        y_minus_1 = np.expm1(1j * turn)[:, None]
        logs = np.broadcast_to(fixed, (turn.size, fixed.size))
        for one in free:
            logs = logs + one.count * log1p_complex(one.along + one.q * y_minus_1)
        spectrum[k : k + turn.size] = np.exp(logs).sum(axis=1) * np.exp(-1j * turn * start)
        # The transform of a bell-shaped law decays and stays negligible; short windows are computed in full.
        if width > 2048 and np.abs(spectrum[k : k + turn.size]).max() < 1e-17 * abs(spectrum[0]):
            break
        spent += turn.size * fixed.size * len(free)
        if spent > BUDGET:
            raise LimitError(f"the exact law of {everyone:,} uniques takes more than {BUDGET:,} function values")
    # irfft sums with e^{+iωu}, the coefficients want e^{−iωu}.
    pmf = np.maximum(np.fft.irfft(spectrum.conj(), width), 0.0)
    return start, pmf / pmf.sum()


def rare_law(urn: Urn, group: CellGroup) -> UntouchedLaw:
    """Return P(U = u) = Σ_{j≥u} (−1)^{j−u}·C(j,u)·C(s,j)·P(j given cells stay untouched).

    It serves populations that are huge beside a handful of cells, where convolution needs too many frequencies
    and where, for the same reason, hardly any cell stays untouched.

    Raises:
        LimitError: when the alternating terms are so large that fewer than twelve digits would be left.

    >>> law = rare_law(Urn(10**9, 12.0, True), CellGroup(3, 2.0, unique=True))
    >>> law.start, law.pmf.round(12).tolist()
    (0, [1.0, 0.0])
    """
    s = group.count
    # Cells that make up the whole urn cannot stay untouched once a ball falls; the urn knows.
    j = np.arange(min(s, _ALTERNATING) + 1)
    choose = log_gamma(s + 1.0) - log_gamma(j + 1.0) - log_gamma(s - j + 1.0)
    logs = choose + urn.log_miss(np.minimum(j * group.weight, urn.total))
    size = float(np.exp(np.logaddexp.reduce(logs + j * np.log(2.0))))
    if size > 1e4 or (s > _ALTERNATING and logs[-1] + _ALTERNATING * np.log(2.0) > -44.0):
        raise LimitError(f"the law of {s:,} cells has alternating terms of size {size:.3g}; draw it instead")
    last = int(np.flatnonzero(logs + j * np.log(2.0) > -60.0)[-1]) if s else 0
    u, k = np.arange(last + 1)[:, None], np.arange(last + 1)[None, :]
    above = k >= u
    ways = log_gamma(k + 1.0) - log_gamma(np.where(above, u, 0) + 1.0) - log_gamma(np.where(above, k - u, 0) + 1.0)
    terms = np.where(above, np.exp(ways + logs[: last + 1]) * np.where((k - u) % 2 == 0, 1.0, -1.0), 0.0)
    pmf = np.maximum(terms.sum(axis=1), 0.0)
    return UntouchedLaw(0.0, 0, pmf / pmf.sum())
