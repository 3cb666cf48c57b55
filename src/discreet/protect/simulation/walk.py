"""A Markov chain over all tables with given margins, for laws and models that cannot be drawn from at once.

A step picks a family of moves, a value for its fixed dimensions and two for each group, all evenly and whatever the
table is; that names a line of tables with the same margins. The next table is drawn from the law on that line (hit and
run), so that the chain has exactly this law as its stationary one.

*Connectivity.* For decomposable margins the moves are a Markov basis (Diaconis and Sturmfels 1998 for two-way tables,
Dobra 2003): they connect all tables without passing through negative counts. For other margins, and with structural
zeros, that is not so; a table may be cut off from all others. Then counts may go below zero, at a price of ρ for every
unit, and only tables without a negative count are ever returned. The moves generate all whole-number differences of
tables with these margins and every table has a positive weight, so that the chain reaches them all; seen only where
counts are not negative, it has the law that is asked for (Bunea and Besag 2000 allow −1; here the price bounds it).

*How well it has mixed* is measured: several chains from places set apart, the largest split R̂ and the smallest
effective sample size over all cells (Gelman and others, Bayesian Data Analysis, section 11.4).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.compiled import compiled
from discreet.core.errors import LimitError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.parallel import run
from discreet.core.progress import Progress
from discreet.protect.simulation.model import Model
from discreet.table.grid import Grid

CHAINS, KEPT, WATCHED = 4, 200, 2000
"""How many chains there are, and of how many tables of each, evenly apart, and how many cells diagnostics look at."""
MIXED = 1.05
"""Chains count as mixed when no cell's split R̂ is above this."""
LONGEST = 400_000_000
"""The most steps of one chain."""


@compiled
def _ratio(x: int, possible: bool, factorial: bool, price: float) -> float:
    """Return the weight of x + 1 over that of x, at one cell."""
    if not possible:
        return 1.0 / price if x < 0 else price
    if x < 0:
        return 1.0 / price
    return 1.0 / (x + 1.0) if factorial else 1.0


@compiled
def _line_ratio(x: IntArray, where: IntArray, possible: Any, shift: int, factorial: bool, price: float) -> float:
    """Return the weight of the table shifted by one more over that of the one shifted by `shift`."""
    ratio = 1.0
    for c in range(where.size):
        i = where[c]
        odd = 0
        for bit in range(8):
            odd ^= c >> bit & 1
        if odd:
            ratio /= _ratio(x[i] - shift - 1, possible[i], factorial, price)
        else:
            ratio *= _ratio(x[i] + shift, possible[i], factorial, price)
    return ratio


@compiled
def _walk(
    x: IntArray,
    possible: Any,
    families: IntArray,
    sizes: IntArray,
    begin: IntArray,
    offsets: IntArray,
    factorial: bool,
    price: float,
    steps: int,
    rng: np.random.Generator,
) -> int:
    """Take a number of steps between tables without negative counts; return it, or -1 where they are not reached."""
    weights, where = np.zeros(1024), np.zeros(256, np.int64)
    hard = price == 0.0
    below = 0
    for i in range(x.size):
        below += max(-x[i], 0) if possible[i] else abs(x[i])
    taken, tried = 0, 0
    # A step counts when it leaves a table without negative counts, and ends at the next such table: the chain watched
    # on these tables alone. Stopping at the first of them after a fixed time would favour those that are entered often.
    while taken < steps or below > 0:
        tried += 1
        if below == 0:
            taken += 1
        if tried > 50 * steps + 100_000_000:
            return -1
        f = rng.integers(0, families.shape[0])
        start, groups = families[f, 0], families[f, 1]
        # The first entry of a family is its fixed dimensions, the others its groups.
        base = offsets[begin[start] + rng.integers(0, sizes[start])]
        corners = 1
        where[0] = base
        for g in range(start + 1, start + 1 + groups):
            a = rng.integers(0, sizes[g])
            b = rng.integers(0, sizes[g] - 1)
            b += b >= a
            to_a, to_b = offsets[begin[g] + a], offsets[begin[g] + b]
            for c in range(corners):
                where[corners + c] = where[c] + to_b
                where[c] += to_a
            corners *= 2
        here = where[:corners]
        if hard:
            down, up = 2**60, 2**60
            for c in range(corners):
                odd = 0
                for bit in range(8):
                    odd ^= c >> bit & 1
                if odd:
                    up = min(up, int(x[here[c]]))
                else:
                    down = min(down, int(x[here[c]]))
            if up + down == 0:
                continue
            if not factorial:
                shift = int(rng.integers(-down, up + 1))
                _apply(x, here, shift)
                continue
        else:
            down, up = 2**60, 2**60
        # Climb to the likeliest table on the line, the lowest of several: weights fall off to both sides (log-concave),
        # and the line is gone over alike from wherever the chain stands on it.
        mode = 0
        while mode < up and _line_ratio(x, here, possible, mode, factorial, price) > 1.0:
            mode += 1
        while mode > -down and _line_ratio(x, here, possible, mode - 1, factorial, price) <= 1.0:
            mode -= 1
        total, above = 1.0, 0
        weights[0] = 1.0
        w = 1.0
        while mode + above < up and w > 1e-17 and above < 500:
            w *= _line_ratio(x, here, possible, mode + above, factorial, price)
            above += 1
            weights[above] = w
            total += w
        low, w = 0, 1.0
        while mode - low > -down and w > 1e-17 and low < 500:
            w /= _line_ratio(x, here, possible, mode - low - 1, factorial, price)
            low += 1
            weights[500 + low] = w
            total += w
        if above == 500 or low == 500:
            # A long line, which is so from wherever the chain stands on it: a step of its own, accepted or not.
            shift = _metropolis(x, here, possible, factorial, price, down, up, rng)
        else:
            u = rng.random() * total
            shift = mode
            for k in range(above + 1):
                u -= weights[k]
                if u <= 0.0:
                    shift = mode + k
                    break
            if u > 0.0:
                for k in range(1, low + 1):
                    u -= weights[500 + k]
                    if u <= 0.0:
                        shift = mode - k
                        break
        if not hard and shift != 0:
            for c in range(corners):
                i = here[c]
                below -= max(-x[i], 0) if possible[i] else abs(x[i])
            _apply(x, here, shift)
            for c in range(corners):
                i = here[c]
                below += max(-x[i], 0) if possible[i] else abs(x[i])
        else:
            _apply(x, here, shift)
    return taken


@compiled
def _apply(x: IntArray, where: IntArray, shift: int) -> None:
    for c in range(where.size):
        odd = 0
        for bit in range(8):
            odd ^= c >> bit & 1
        x[where[c]] += -shift if odd else shift


@compiled
def _metropolis(
    x: IntArray,
    where: IntArray,
    possible: Any,
    factorial: bool,
    price: float,
    down: int,
    up: int,
    rng: np.random.Generator,
) -> int:
    """Return a shift of up to 100 to either side, accepted or 0."""
    shift = int(rng.integers(1, 101)) * (1 if rng.random() < 0.5 else -1)
    if shift > up or shift < -down:
        return 0
    ratio = 1.0
    if shift > 0:
        for k in range(shift):
            ratio *= _line_ratio(x, where, possible, k, factorial, price)
    else:
        for k in range(-shift):
            ratio /= _line_ratio(x, where, possible, -k - 1, factorial, price)
    return shift if rng.random() < ratio else 0


@dataclass(frozen=True)
class Diagnostics:
    """How well the chains have mixed, and why they reach every table.

    ``split_rhat`` is the largest over all cells, ``effective`` the smallest effective sample size of the tables that
    were looked at, ``draws`` their number, ``steps`` those of each chain, ``apart`` the steps between two draws.
    """

    chains: int
    steps: int
    draws: int
    apart: int
    split_rhat: float
    effective: float
    connected: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(vars(self))

    @property
    def sentence(self) -> str:
        """The diagnostics in words."""
        return (
            f"{self.chains} chains of {self.steps:,} steps agree: split R̂ is {self.split_rhat:.3f} at most, the "
            f"effective sample size {self.effective:,.0f} of {self.draws:,} at least. {self.connected}"
        )


class Chain:
    """The chain over the tables with the margins of one table, and its law."""

    def __init__(self, F: IntArray, shape: tuple[int, ...], model: Model, law: str, impossible: IntArray) -> None:
        self.F, self.factorial = F, law == "hypergeometric"
        families: list[tuple[int, int]] = []
        sizes: list[int] = []
        begin, offsets = [0], []
        grid = Grid(shape)
        for family in model.moves():
            if any(math.prod(shape[i] for i in group) < 2 for group in family.groups):
                continue
            families.append((len(sizes), len(family.groups)))
            for axes in (family.fixed, *family.groups):
                offset = grid.cross([np.arange(n) if i in axes else [0] for i, n in enumerate(shape)])
                offsets.append(offset)
                sizes.append(offset.size)
                begin.append(begin[-1] + offset.size)
        self.families = np.array(families, np.int64).reshape(-1, 2)
        self.sizes, self.begin = np.array(sizes, np.int64), np.array(begin, np.int64)
        self.offsets = np.concatenate(offsets) if offsets else np.zeros(0, np.int64)
        self.possible = np.ones(F.size, bool)
        self.possible[impossible] = False
        basis = model.decomposable and not impossible.size
        self.price = 0.0 if basis else min(0.1, 1.0 / F.size)
        self.connected = (
            "The moves are a Markov basis of the decomposable margins, so that they reach every table."
            if basis
            else "The moves generate all differences of tables with these margins, and counts may pass below zero at a "
            f"price of {self.price:.2g} a unit, so that every table is reached."
        )

    def walk(self, x: IntArray, steps: int, rng: np.random.Generator, *, spread: bool = False) -> None:
        """Take steps from a table, in place; with `spread` towards the other law, which sets chains apart."""
        if not self.families.size:
            return
        factorial = self.factorial != spread
        fixed = (self.possible, self.families, self.sizes, self.begin, self.offsets)
        if _walk(x, *fixed, factorial, self.price, steps, rng) < 0:
            raise LimitError(
                "the Markov chain does not come back to tables without negative counts; simulate a smaller table, or "
                "decomposable margins"
            )

    def draw(
        self, rng: np.random.Generator, size: int, progress: Progress | None = None
    ) -> tuple[IntArray, Diagnostics]:
        """Return draws from chains that have mixed, one per row, spread evenly over the chains.

        Steps between two draws are doubled until no split R̂ is above the bound and draws are nearly independent.
        """
        streams = rng.spawn(CHAINS)
        states = [self.F.copy() for _ in range(CHAINS)]
        apart = max(50, 4 * self.F.size)
        for x, stream in zip(states, streams, strict=True):
            self.walk(x, 20 * apart, stream, spread=True)
        watched = np.unique(np.linspace(0, self.F.size - 1, WATCHED).astype(np.int64))
        steps = 0
        while True:
            kept = np.zeros((CHAINS, KEPT, watched.size))

            def go(c: int, kept: Any = kept, apart: int = apart) -> None:
                for k in range(KEPT):
                    self.walk(states[c], apart, streams[c])
                    kept[c, k] = states[c][watched]

            run(go, range(CHAINS), progress=progress, label="walking over tables")
            steps += KEPT * apart
            rhat, effective = diagnose(kept)
            if rhat <= MIXED and effective >= CHAINS * KEPT / 4:
                break
            apart *= 2
            if 2 * KEPT * apart > LONGEST:
                raise LimitError(
                    f"after {steps:,} steps the chains do not agree (split R̂ {rhat:.2f}, effective sample size "
                    f"{effective:.0f} of {CHAINS * KEPT}); such a table would still look like the original. Release "
                    "fewer margins, or simulate a smaller table"
                )
        # Draws handed out are further apart than those looked at, by what these still depend on each other.
        apart = math.ceil(apart * max(1.0, CHAINS * KEPT / effective) * 2)
        drawn = np.zeros((size, self.F.size), np.int64)

        def hand_out(c: int) -> None:
            for k in range(c, size, CHAINS):
                self.walk(states[c], apart, streams[c])
                drawn[k] = states[c]

        run(hand_out, range(CHAINS), progress=progress, label="drawing tables")
        return drawn, Diagnostics(CHAINS, steps, CHAINS * KEPT, apart, rhat, effective, self.connected)


def diagnose(kept: FloatArray) -> tuple[float, float]:
    """Return the largest split R̂ and the smallest effective sample size over cells of chains [chain, draw, cell].

    >>> rhat, effective = diagnose(np.random.default_rng(1).normal(size=(4, 500, 1)))
    >>> rhat < 1.02, 1000 < effective < 3000
    (True, True)
    """
    chains, draws, cells = kept.shape
    half = draws // 2
    parts = kept[:, : 2 * half].reshape(2 * chains, half, cells)
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = half * parts.mean(axis=1).var(axis=0, ddof=1)
    moving = (within > 0) | (between > 0)
    if not moving.any():
        return 1.0, float(chains * draws)
    stuck = moving & (within == 0)
    if stuck.any():
        return math.inf, 1.0
    parts, within, between = parts[..., moving], within[moving], between[moving]
    total = (half - 1) / half * within + between / half
    rhat = float(np.sqrt(total / within).max())
    # Geyer's initial monotone sequence over autocorrelations, of all cells at once by fast Fourier transforms.
    centred = parts - parts.mean(axis=1, keepdims=True)
    length = 1 << (2 * half - 1).bit_length()
    spectrum = np.abs(np.fft.rfft(centred, length, axis=1)) ** 2
    covariance = np.fft.irfft(spectrum, length, axis=1)[:, :half].mean(axis=0) / half
    rho = 1 - (within - covariance * half / (half - 1)) / total
    pairs = rho[: half - half % 2].reshape(-1, 2, rho.shape[1]).sum(axis=1)
    positive = np.cumprod(pairs > 0, axis=0).astype(bool)
    pairs = np.where(positive, np.minimum.accumulate(pairs, axis=0), 0.0)
    time = np.maximum(2 * pairs.sum(axis=0) - 1, 1 / math.log10(2 * chains * half))
    return rhat, float((2 * chains * half / time).min())
