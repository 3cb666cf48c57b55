"""How large a sample may be before sample uniques are likely to be population uniques, and how large it must be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.text import Face, Result, brief
from discreet.table import Table
from discreet.uniques.log_probabilities import log_binomial, log_polya
from discreet.uniques.priors import Prior, UrnPrior, prior_of
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

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {"cells" if name == "possible" else name: value for name, value in vars(self).items()}

    @property
    def risk(self) -> str:
        """The risk that is bounded, as people write it."""
        return "Q" if self.measure == "q" else "τ̃"

    @property
    def figures(self) -> tuple[str, str]:
        """Both sizes as text."""
        largest = f"{self.largest:,}" if self.largest else "none"
        return largest, "not reached" if self.needed is None else f"{self.needed:,}"

    def face(self, most: int) -> Face:
        """Return both sizes."""
        rows = [
            [f"largest sample with {self.risk} below {self.bound:g}", self.figures[0]],
            [f"smallest sample with {self.risk} at {self.bound:g} or more", self.figures[1]],
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

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        figures = {"n": self.sizes, "q": self.q, "sample_uniques": self.uniques, "tau": self.tau}
        return {"prior": self.prior, "basis": self.basis, **{name: part.tolist() for name, part in figures.items()}}

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row per size, as text."""
        figures = zip(self.sizes, self.q, self.uniques, self.tau, strict=True)
        return ["n", "Q", "sample uniques", "τ̃"], [[f"{n:,}", *map(brief, rest)] for n, *rest in figures]

    def face(self, most: int) -> Face:
        """Return one line per size."""
        return Face(*self.rows(), f"{self.prior} prior, sample uniques expected by {self.basis}", 0)


@dataclass(frozen=True, eq=False, repr=False)
class SizePlan(Result):
    """For each prior the sizes around the bound, and Q and τ̃ over the sample size."""

    sizes: tuple[SampleSize, ...]
    curves: tuple[SizeCurve, ...]

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        first = self.sizes[0]
        parts = [
            f"{'no sample' if not size.largest else f'at most {size.largest:,} people'} under the {size.prior} prior"
            for size in self.sizes
        ]
        return (
            f"To keep {first.risk} below {first.bound:g} in a population of {first.population:,}: {'; '.join(parts)}."
        )

    def rows(self) -> tuple[list[str], list[list[str]]]:
        """Return a header and one row per prior, as text."""
        risk, bound = self.sizes[0].risk, f"{self.sizes[0].bound:g}"
        header = ["", f"largest n, {risk} < {bound}", f"smallest n, {risk} ≥ {bound}", "uniques expected by"]
        return header, [[f"{size.prior} prior", *size.figures, size.basis] for size in self.sizes]

    def curve_rows(self, curve: SizeCurve, points: int) -> tuple[list[str], list[list[str]]]:
        """Return a header and some points of a curve, evenly spaced, as text."""
        header, rows = curve.rows()
        some = np.unique(np.linspace(0, curve.sizes.size - 1, points).round().astype(np.int64))
        return header, [rows[i] for i in some]

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data, as ``--json`` prints it."""
        return {
            "sentence": self.sentence,
            "priors": {size.prior: size.to_dict() for size in self.sizes},
            "curves": {curve.prior: curve.to_dict() for curve in self.curves},
        }

    def to_csv(self) -> str:
        """Return the points of all curves as CSV."""
        lines = ["prior,n,q,sample_uniques,tau"]
        for curve in self.curves:
            figures = zip(curve.sizes, curve.q, curve.uniques, curve.tau, strict=True)
            lines += [f"{curve.prior},{n},{q:.10g},{s:.10g},{t:.10g}" for n, q, s, t in figures]
        return "\n".join(lines) + "\n"

    def face(self, most: int) -> Face:
        """Return the outcome and the sizes."""
        return Face(*self.rows(), self.sentence)


@dataclass(frozen=True, eq=False)
class _Plan:
    """Q(n) and the expected number of sample uniques s(n), for any n of one population."""

    prior: UrnPrior
    weight: float
    population: int
    possible: int
    given: Sample | None
    basis: str

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
        basis = "the prior" if given is None else "the given table"
        return cls(prior, prior.weights, population, possible, given, basis)

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
        out = size - fewer
        for f, number in zip(values.tolist(), times, strict=True):
            # Exactly one of the cell's f people is among n people drawn at random from the table's: the hypergeometric
            # law is the binomial of the cell times that of the others, given their sum.
            others = log_binomial(fewer - 1, fewer, out, size - f) - log_binomial(fewer, fewer, out, size)
            below += number * np.exp(log_binomial(1, fewer, out, f) + others)
        more = np.maximum(n - size, 0)
        above = self.given.uniques * np.exp(self._log_pmf(0, size, 1, more))
        above += self.given.empty * np.exp(self._log_pmf(1, size, 0, more))
        return np.where(n <= size, below, above)

    def tau(self, n: IntArray) -> FloatArray:
        return self.q(n) * self.uniques(n)


def sample_size(
    prior: Prior, bound: float, *, population: int, possible: int, measure: Measure = "q", table: Sample | None = None
) -> SampleSize:
    """Return the largest sample that keeps the risk below a bound, and the smallest that reaches it.

    Args:
        prior: a symmetric prior; (2.4) for the uniform one, (2.6) for the multinomial one.
        bound: of Q, or of τ̃.
        population: N.
        possible: K.
        measure: ``"q"``, the probability that a sample unique is alone in the population, which rises with n; or
            ``"tau"``, the expected number of such uniques, Q(n) times the expected number of sample uniques.
        table: a sample already at hand, from which sample uniques are expected in place of the prior. With a table, τ̃
            need not rise with n; then the first crossing counts, looked for on a grid of sizes if the population has
            more than 20,000 people.

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
    risk = plan.q if measure == "q" else plan.tau
    low, high = 0, population
    if measure == "tau" and table is not None:
        low, high = _bracket(risk, bound, population, table.size_of_sample)
    needed = _first(risk, bound, low, high)
    largest = population if needed is None else needed - 1
    return SampleSize(prior.name, measure, plan.basis, float(bound), population, possible, largest, needed)


def _bracket(risk: Callable[[IntArray], FloatArray], bound: float, last: int, table: int) -> tuple[int, int]:
    """Sizes between which the risk first reaches the bound."""
    grid = np.arange(1, last + 1)
    if last > 20_000:
        sizes = np.concatenate([np.geomspace(1, last, 4000), np.linspace(1, last, 4000), [table]])
        grid = np.unique(sizes.astype(np.int64))
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


def _spread(last: int, points: int) -> IntArray:
    """Return sizes from 1 to the last, evenly spaced."""
    return np.unique(np.linspace(1, last, points).round().astype(np.int64))


def size_curve(
    prior: Prior, *, population: int, possible: int, sizes: npt.ArrayLike | None = None, table: Sample | None = None
) -> SizeCurve:
    """Return Q, the expected number of sample uniques and τ̃ = s·Q over the sample size.

    The arguments are those of :func:`sample_size`; by default there are fifty sizes from 1 to N.

    >>> from discreet.uniques.priors import Uniform
    >>> curve = size_curve(Uniform(), population=100, possible=20, sizes=[10, 100])
    >>> curve.tau.round(4).tolist()
    [0.2706, 2.7062]
    """
    chosen = _spread(population, 50) if sizes is None else np.atleast_1d(np.asarray(sizes, np.int64))
    if chosen.size == 0 or chosen.min() < 1 or chosen.max() > population:
        raise RequestError(f"sample sizes run from 1 to the population's {population:,}; correct them")
    plan = _Plan.of(prior, population, possible, table)
    q, uniques = plan.q(chosen), plan.uniques(chosen)
    return SizeCurve(prior.name, plan.basis, chosen, q, uniques, q * uniques)


def plan_size(
    priors: Sequence[str | Prior],
    bound: float,
    *,
    population: int,
    cells: int | None = None,
    table: Table | None = None,
    measure: Measure = "q",
    points: int = 50,
) -> SizePlan:
    """Find for each prior the largest sample below a bound and the smallest that reaches it.

    Args:
        priors: names or priors, symmetric ones.
        bound: of Q or of τ̃.
        population: N.
        cells: K; or give the table.
        table: a sample at hand, from which sample uniques are expected.
        measure: ``"q"`` or ``"tau"``.
        points: how many sizes the curves have.

    >>> plan_size(["uniform"], 0.05, population=46228, cells=1108).sizes[0].largest
    9477
    """
    if not priors:
        raise RequestError("no prior is given; name one, such as uniform")
    if (cells is None) == (table is None):
        raise RequestError("give the number of cells or a sample table, one of the two")
    given = None if table is None else Sample.from_table(table, population)
    possible = cells if given is None else given.possible
    assert possible is not None
    chosen = [prior_of(item) if isinstance(item, str) else item for item in priors]
    grid = _spread(max(population, 1), points)
    needed = partial(sample_size, bound=bound, measure=measure, population=population, possible=possible, table=given)
    curve = partial(size_curve, sizes=grid, population=population, possible=possible, table=given)
    return SizePlan(tuple(map(needed, chosen)), tuple(map(curve, chosen)))
