"""How large a sample may be before sample uniques are likely to be population uniques, and how large it must be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result
from discreet.uniques.log_probabilities import log_binomial, log_polya
from discreet.uniques.priors import Prior, UrnPrior
from discreet.uniques.sample import Sample

Measure = Literal["q", "tau"]


@dataclass(frozen=True)
class SampleSize(Result):
    """Where a risk crosses a bound as the sample grows.

    ``largest`` is the largest n that keeps the risk below the bound at every size up to it, 0 when none does;
    ``needed`` the smallest n at which the risk reaches the bound, None when even a full census does not.
    """

    prior: str
    measure: Measure
    basis: str
    bound: float
    population: int
    possible: int
    largest: int
    needed: int | None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {"cells" if name == "possible" else name: value for name, value in vars(self).items()}

    def face(self, most: int) -> Face:
        """Return both sizes."""
        risk = "Q" if self.measure == "q" else "τ̃"
        largest = f"{self.largest:,}" if self.largest else "none"
        rows = [
            [f"largest sample with {risk} below {self.bound:g}", largest],
            [
                f"smallest sample with {risk} at {self.bound:g} or more",
                "not reached" if self.needed is None else f"{self.needed:,}",
            ],
            ["population, cells", f"{self.population:,}, {self.possible:,}"],
            ["sample uniques expected by", self.basis],
        ]
        return Face(["sample size", f"{self.prior} prior"], rows)


@dataclass(frozen=True, eq=False)
class SizeCurve(Result):
    """Q, the expected number of sample uniques and τ̃ over the sample size.

    ``basis`` says where the expected sample uniques come from: the prior, or a given table (below its size by
    leaving people out at random, above it by the people that the posterior expects next).
    """

    prior: str
    basis: str
    sizes: IntArray
    q: FloatArray
    uniques: FloatArray
    tau: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data, as ``--json`` prints it."""
        figures = {"n": self.sizes, "q": self.q, "sample_uniques": self.uniques, "tau": self.tau}
        return {"prior": self.prior, "basis": self.basis, **{name: part.tolist() for name, part in figures.items()}}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row per size, as text."""
        figures = zip(self.sizes, self.q, self.uniques, self.tau, strict=True)
        return ["n", "Q", "sample uniques", "τ̃"], [[f"{n:,}", *(f"{x:.4g}" for x in rest)] for n, *rest in figures]

    def face(self, most: int) -> Face:
        """Return one line per size."""
        return Face(*self.rows(), f"{self.prior} prior, sample uniques expected by {self.basis}", 0)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Q(n) and the expected number of sample uniques s(n), for any n of one population."""

    prior: UrnPrior
    weight: float
    population: int
    possible: int
    given: Sample | None

    @classmethod
    def of(cls, prior: Prior, population: int, possible: int, given: Sample | None) -> _Plan:
        if not isinstance(prior, UrnPrior) or not isinstance(prior.weights, float):
            raise RequestError(
                f"the sample size needs a prior under which Q is the same for every cell and every sample; "
                f"{prior.name!r} is not: take a symmetric one"
            )
        if population < 1 or possible < 1:
            raise RequestError(f"the population is {population} and K is {possible}; give 1 or more of each")
        if given is not None and (given.population, given.possible) != (population, possible):
            raise RequestError(
                f"the table has {given.possible:,} cells and a population of {given.population:,}, but {possible:,} "
                f"and {population:,} are asked for; give the same"
            )
        return cls(prior, prior.weights, population, possible, given)

    @property
    def basis(self) -> str:
        return "the prior" if self.given is None else "the given table"

    def _log_pmf(self, x: int, seen: IntArray | int, count: int, further: IntArray) -> FloatArray:
        """Log-probability of x among further people on a cell that holds ``count`` of the people seen so far."""
        grown = float(self.prior.reinforced)
        total = self.weight * self.possible + grown * np.asarray(seen, np.float64)
        weight = self.weight + grown * count
        law = log_polya if self.prior.reinforced else log_binomial
        return law(x, weight, np.maximum(total - weight, 0.0), further)

    def q(self, n: IntArray) -> FloatArray:
        """Q of a sample unique in a sample of n: no further member among the N − n people outside."""
        return np.exp(self._log_pmf(0, n, 1, self.population - n))

    def uniques(self, n: IntArray) -> FloatArray:
        """The expected number of sample uniques in a sample of n."""
        if self.given is None:
            return self.possible * np.exp(self._log_pmf(1, 0, 0, n))
        size = self.given.size_of_sample
        fewer = np.minimum(n, size)
        values, times = np.unique(self.given.counts, return_counts=True)
        below = np.zeros(n.size)
        for f, number in zip(values, times, strict=True):
            # One of the f people of the cell among n people left in at random out of the table's.
            below += number * _one_left(int(f), size, fewer)
        more = np.maximum(n - size, 0)
        above = self.given.uniques * np.exp(self._log_pmf(0, size, 1, more))
        above += self.given.empty * np.exp(self._log_pmf(1, size, 0, more))
        return np.where(n <= size, below, above)

    def risk(self, measure: Measure) -> Callable[[IntArray], FloatArray]:
        if measure == "q":
            return self.q
        return lambda n: self.q(n) * self.uniques(n)


def _one_left(f: int, size: int, n: IntArray) -> FloatArray:
    """Probability that n people left in at random, out of ``size``, include one of a cell's f people."""
    out = size - n
    # The hypergeometric law is the binomial of the cell times that of the others, given their sum.
    log = log_binomial(1, n, out, f) + log_binomial(n - 1, n, out, size - f) - log_binomial(n, n, out, size)
    return np.exp(log)


def sample_size(
    prior: Prior,
    bound: float,
    *,
    population: int,
    possible: int,
    measure: Measure = "q",
    table: Sample | None = None,
) -> SampleSize:
    """Return the largest sample that keeps the risk below a bound, and the smallest that reaches it.

    Args:
        prior: a symmetric prior; (2.4) for the uniform one, (2.6) for the multinomial one.
        bound: of Q, or of τ̃.
        population: N.
        possible: K.
        measure: ``"q"``, the probability that a sample unique is alone in the population, which rises with n; or
            ``"tau"``, the expected number of such uniques, Q(n) times the expected number of sample uniques.
        table: a sample already at hand, from which sample uniques are expected in place of the prior. Over a
            table τ̃ need not rise with n; then the first crossing counts, looked for on a grid of sizes when the
            population has more than 20,000 people.

    >>> from discreet.uniques.priors import Multinomial, Uniform
    >>> size = sample_size(Uniform(), 0.05, population=46228, possible=1108)
    >>> size.largest, size.needed
    (9477, 9478)
    >>> sample_size(Multinomial(), 0.05, population=46228, possible=1108).largest
    42910
    """
    if not np.isfinite(bound) or bound <= 0 or (measure == "q" and bound > 1):
        raise RequestError(f"the bound is {bound}; give a positive number, at most 1 for a probability")
    if measure not in ("q", "tau"):
        raise RequestError(f"the measure is {measure!r}; choose 'q' or 'tau'")
    plan = _Plan.of(prior, population, possible, table)
    risk = plan.risk(measure)
    low, high = 0, population
    if measure == "tau" and table is not None:
        low, high = _bracket(risk, bound, population, table.size_of_sample)
    needed = _first(risk, bound, low, high)
    return SampleSize(
        prior=prior.name,
        measure=measure,
        basis=plan.basis,
        bound=float(bound),
        population=population,
        possible=possible,
        largest=population if needed is None else needed - 1,
        needed=needed,
    )


def _bracket(risk: Callable[[IntArray], FloatArray], bound: float, last: int, table: int) -> tuple[int, int]:
    """Sizes between which the risk first reaches the bound."""
    grid = np.arange(1, last + 1)
    if last > 20_000:
        grid = np.unique(np.concatenate([np.geomspace(1, last, 4000), np.linspace(1, last, 4000), [table]]))
        grid = np.unique(grid.astype(np.int64))
    over = np.flatnonzero(risk(grid) >= bound)
    if not over.size:
        return last, last
    at = int(over[0])
    return (int(grid[at - 1]) if at else 0), int(grid[at])


def _first(risk: Callable[[IntArray], FloatArray], bound: float, low: int, high: int) -> int | None:
    """The smallest n in low+1 … high with the risk at or above the bound, when it rises with n."""
    if risk(np.array([high]))[0] < bound:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if risk(np.array([middle]))[0] >= bound else (middle, high)
    return high


def size_curve(
    prior: Prior,
    *,
    population: int,
    possible: int,
    sizes: npt.ArrayLike | None = None,
    table: Sample | None = None,
) -> SizeCurve:
    """Return Q, the expected number of sample uniques and τ̃ = s·Q over the sample size.

    Args:
        prior: a symmetric prior.
        population: N.
        possible: K.
        sizes: the sample sizes to look at; by default fifty from 1 to N.
        table: a sample already at hand, from which sample uniques are expected in place of the prior.

    >>> from discreet.uniques.priors import Uniform
    >>> curve = size_curve(Uniform(), population=100, possible=20, sizes=[10, 100])
    >>> curve.tau.round(4).tolist()
    [0.2706, 2.7062]
    """
    if sizes is None:
        chosen = np.unique(np.linspace(1, population, 50).round().astype(np.int64))
    else:
        chosen = np.atleast_1d(np.asarray(sizes, np.int64))
    if chosen.size == 0 or chosen.min() < 1 or chosen.max() > population:
        raise RequestError(f"sample sizes must be from 1 to the population's {population:,}; mend them")
    plan = _Plan.of(prior, population, possible, table)
    q, uniques = plan.q(chosen), plan.uniques(chosen)
    return SizeCurve(prior.name, plan.basis, chosen, q, uniques, q * uniques)
