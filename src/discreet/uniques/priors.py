"""What is believed about the population table before the sample is seen."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.core.errors import RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.uniques.events import Event, at_least_one_zero
from discreet.uniques.sample import Sample
from discreet.uniques.urn import Urn


class Prior(ABC):
    """A law of the population table F on the simplex ΣF = N."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The prior in a few words, for results and reports."""


class UrnPrior(Prior):
    """A prior under which people fall into the cells of an urn; its posterior is an urn too.

    A prior of this kind says only how heavy each cell is and whether people make their cell heavier
    (``reinforced``, the Dirichlet-multinomial family) or not (the multinomial family).
    """

    reinforced: bool
    weights: float | FloatArray
    """The weight of every cell: one figure for all, or one for each combination of categories."""

    @property
    def symmetric(self) -> bool:
        """Whether all cells weigh the same."""
        return isinstance(self.weights, float)

    def weight_of(self, cells: IntArray) -> FloatArray:
        """Return the prior weights of the cells at the given positions."""
        if isinstance(self.weights, float):
            return np.full(cells.size, self.weights)
        return self.weights[cells]

    def before(self, sample: Sample) -> Urn:
        """Return the urn that all N people are drawn from, before the sample is seen."""
        if isinstance(self.weights, float):
            return Urn(sample.population, self.weights * sample.possible, self.reinforced)
        if self.weights.size != sample.size:
            raise RequestError(
                f"the {self.name} prior has {self.weights.size:,} parameters, but the table {sample.size:,} "
                "combinations of categories; give one parameter for each (structural zeros too)"
            )
        total = float(self.weights.sum() - self.weights[sample.impossible].sum())
        if total <= 0:
            raise RequestError(f"the {self.name} prior gives every possible cell the weight 0; raise some")
        return Urn(sample.population, total, self.reinforced)

    def after(self, sample: Sample) -> tuple[Urn, FloatArray]:
        """Return the urn that the unseen people are drawn from, and the weights of the non-empty cells."""
        before = self.before(sample)
        weights = self.weight_of(sample.cells)
        if weights.size and weights.min() <= 0:
            where = int(np.argmin(weights))
            raise RequestError(
                f"the {self.name} prior gives the data probability zero: the cell at position "
                f"{sample.cells[where]} has weight 0 but {sample.counts[where]} people in the sample; "
                "give every cell that occurs a positive weight"
            )
        if self.reinforced:
            return Urn(sample.unseen, before.total + sample.size_of_sample, True), weights + sample.counts
        return Urn(sample.unseen, before.total, False), weights


@dataclass(frozen=True)
class Uniform(UrnPrior):
    """Every population table is equally likely (cohen2009, Theorem 2.1).

    >>> Uniform().name
    'uniform'
    """

    reinforced = True
    weights = 1.0
    name = "uniform"


@dataclass(frozen=True, eq=False)
class Multinomial(UrnPrior):
    """Each person falls into a cell independently (cohen2009, Theorem 2.2), by default with equal chances.

    Args:
        probabilities: relative frequencies of the combinations of categories, in the table's order; they need
            not add up to 1. None for equal ones.

    >>> Multinomial().symmetric, Multinomial([0.2, 0.8]).symmetric
    (True, False)
    """

    probabilities: npt.ArrayLike | None = None
    weights: float | FloatArray = field(init=False, repr=False)
    reinforced = False

    def __post_init__(self) -> None:
        """Check the probabilities."""
        given = 1.0 if self.probabilities is None else self.probabilities
        object.__setattr__(self, "weights", _checked(given, "probabilities"))

    @property
    def name(self) -> str:
        """The prior in a word or two."""
        return "multinomial" if self.probabilities is None else "informative multinomial"


@dataclass(frozen=True, eq=False)
class DirichletMultinomial(UrnPrior):
    """Cell probabilities are Dirichlet(α), and each person falls into a cell with these probabilities.

    The common generalisation of both theorems of cohen2009: α = 1 is the uniform prior, α → ∞ the multinomial
    one; α < 1 expects few large cells and many empty ones.

    Args:
        alpha: one parameter for all cells, or one for each combination of categories in the table's order.

    >>> DirichletMultinomial(0.5).name
    'Dirichlet-multinomial (α = 0.5)'
    """

    alpha: npt.ArrayLike
    weights: float | FloatArray = field(init=False, repr=False)
    reinforced = True

    def __post_init__(self) -> None:
        """Check the parameters."""
        object.__setattr__(self, "weights", _checked(self.alpha, "alpha"))

    @property
    def name(self) -> str:
        """The prior with its parameter."""
        shown = f"α = {self.weights:g}" if isinstance(self.weights, float) else "informative"
        return f"Dirichlet-multinomial ({shown})"


@dataclass(frozen=True, eq=False)
class Mixture(Prior):
    """Weight γ on a named subset of the simplex, 1 − γ on its complement (cohen2009, end of section 2).

    Within the subset and within its complement the base prior is conditioned:
    g(F) = base(F)·(γ/P(event) if F is in the event, else (1−γ)/P(complement)), with probabilities under the base.

    >>> from discreet.uniques.events import at_least_one_zero
    >>> Mixture(0.9, at_least_one_zero(), Uniform()).name
    '0.9 on at least one population zero, over uniform'
    """

    gamma: float
    event: Event
    base: UrnPrior = field(default_factory=Uniform)

    def __post_init__(self) -> None:
        """Check that the weight is a probability."""
        if not 0.0 <= self.gamma <= 1.0:
            raise RequestError(f"gamma is {self.gamma}; it is a probability, between 0 and 1")

    @property
    def name(self) -> str:
        """The mixture in words."""
        return f"{self.gamma:g} on {self.event.label}, over {self.base.name}"


def _checked(values: npt.ArrayLike, what: str) -> float | FloatArray:
    array = np.asarray(values, np.float64)
    if not np.isfinite(array).all() or (array < 0).any() or array.max(initial=0.0) <= 0:
        raise RequestError(f"{what} must be finite, 0 or more, and not all 0; correct the parameters of the prior")
    if array.ndim == 0:
        return float(array)
    flat = array.ravel().copy()
    flat.flags.writeable = False
    return flat


def prior_of(name: str) -> Prior:
    """Return a prior by name: ``uniform``, ``multinomial``, or ``dirichlet:0.5`` with its parameter.

    ``zeros:0.9`` is a mixture: weight 0.9 on at least one empty cell of the population, over the uniform prior, or over
    the one that follows, as in ``zeros:0.9:multinomial``.

    >>> prior_of("uniform").name, prior_of("zeros:0.9:multinomial").name
    ('uniform', '0.9 on at least one population zero, over multinomial')
    """
    kind, _, parameter = name.partition(":")
    if name in ("uniform", "multinomial"):
        return Uniform() if name == "uniform" else Multinomial()
    known = ["uniform", "multinomial", "dirichlet:0.5", "zeros:0.9"]
    if kind not in ("dirichlet", "zeros"):
        raise RequestError(f"there is no prior {name!r}; {nearest(kind, known)}")
    number, _, rest = parameter.partition(":")
    try:
        value = float(number)
    except ValueError:
        raise RequestError(f"prior {name!r} needs a number, as {kind}:0.5") from None
    if kind == "zeros":
        base = prior_of(rest) if rest else Uniform()
        if not isinstance(base, UrnPrior):
            raise RequestError(f"prior {name!r} is a mixture over a mixture; name uniform, multinomial or dirichlet:A")
        return Mixture(value, at_least_one_zero(), base)
    if rest:
        raise RequestError(f"prior {name!r} has more than its number; give dirichlet:{number}")
    return DirichletMultinomial(value)
