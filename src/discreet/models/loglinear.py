"""Log-linear models of a sample table, and the population they imply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError
from discreet.core.json_types import Json
from discreet.core.numerics import FloatArray
from discreet.core.text import many
from discreet.models import ipf
from discreet.models.population import Population, check_size
from discreet.table import Table


@dataclass(frozen=True, eq=False, repr=False)
class FittedLogLinear:
    """A log-linear model fitted to a sample table.

    Attributes:
        expected: μ̂, the expected counts, an array of the table's shape that adds up to n.
        probabilities: p̂ = μ̂/n over all cells in row-major order, 0 at structural zeros.
        margins: the fitted margins, by dimension names; those contained in others are dropped.
        iterations: how many cycles of proportional fitting it took.
        gap: the largest difference left in a fitted margin, relative to its figure.

    >>> LogLinear().fit(Table.from_array([[4, 4], [1, 1]], ["area", "sex"]))
    Log-linear model [area] [sex] of 4 cells: 1 cycle, gap 0
    """

    expected: FloatArray
    probabilities: FloatArray
    margins: tuple[tuple[str, ...], ...]
    iterations: int
    gap: float

    def __repr__(self) -> str:
        """Return one line: the margins and how well they are met."""
        terms = " ".join(f"[{' × '.join(margin)}]" for margin in self.margins)
        cycles = many(self.iterations, "cycle")
        return f"Log-linear model {terms} of {self.expected.size:,} cells: {cycles}, gap {self.gap:.2g}"


@dataclass(frozen=True)
class LogLinear:
    """A hierarchical log-linear model, named by the margins it reproduces.

    A cell that is empty in the sample may hold people in the population. The model infers how likely that is
    from the table's structure: with main effects only, μ̂ᵢⱼ = nᵢ·n·ⱼ/n (antal2015, section 5.1), and with more
    dimensions any set of margins, such as all pairs. Structural zeros keep probability 0; the other cells then
    fit the margins.

    Attributes:
        margins: sets of dimension names; ``None`` is independence, all names in one set the saturated model.
        tolerance: the largest gap allowed in a fitted margin, relative to its figure.
        max_iterations: the largest number of fitting cycles.

    >>> sample = Table.from_array([[3, 1], [1, 5]], ["area", "sex"])
    >>> LogLinear().fit(sample).expected.round(6).tolist()
    [[1.6, 2.4], [2.4, 3.6]]
    >>> LogLinear().population(sample, 1000).draw(seed=1).sum()
    np.int64(1000)
    """

    name: ClassVar[str] = "loglinear"

    margins: tuple[tuple[str, ...], ...] | None = None
    tolerance: float = ipf.TOLERANCE
    max_iterations: int = ipf.MAX_ITERATIONS

    def __post_init__(self) -> None:
        """Take any sequences of names, but not one name in place of a sequence."""
        if self.margins is not None:
            for margin in self.margins:
                if isinstance(margin, str):
                    raise RequestError(f"margin {margin!r} is a text; write it as the sequence ({margin!r},)")
            object.__setattr__(self, "margins", tuple(tuple(margin) for margin in self.margins))
        if not self.tolerance > 0 or self.max_iterations < 1:
            raise RequestError(
                f"tolerance is {self.tolerance}, max_iterations {self.max_iterations}; both must be positive"
            )

    def fit(self, table: Table) -> FittedLogLinear:
        """Fit the model by maximum likelihood.

        Raises:
            RequestError: when a margin names a dimension that the table does not have.
            DataError: when the table is empty.
            LimitError: when the fit does not reach the tolerance.
        """
        if not table.total:
            raise DataError("the sample is empty; a model cannot be fitted to nobody")
        names = tuple((name,) for name in table.names) if self.margins is None else self.margins
        fitted, margins = fit_margins(table, names, table.to_array(), 1.0, self.tolerance, self.max_iterations)
        expected = fitted.values
        probabilities = expected.ravel() / expected.sum()
        for array in (expected, probabilities):
            array.flags.writeable = False
        return FittedLogLinear(expected, probabilities, margins, fitted.iterations, fitted.gap)

    def population(self, sample: Table, population: int, *, probabilities: FloatArray | None = None) -> Population:
        """Return the population F = f + Multinomial(N − n; p̂), or with known probabilities in row-major order."""
        check_size(sample, population)
        if probabilities is None:
            probabilities = self.fit(sample).probabilities
        return Population(sample, population, probabilities=probabilities)

    def details(self, sample: Table, fitted: Population) -> dict[str, Json]:
        """Return the margins that are fitted."""
        return {"margins": [list(margin) for margin in self.margins or ((name,) for name in sample.names)]}


def fit_margins(
    table: Table,
    margins: Sequence[Sequence[str]],
    target: npt.NDArray[np.int64] | FloatArray,
    offset: FloatArray | float = 1.0,
    tolerance: float = ipf.TOLERANCE,
    max_iterations: int = ipf.MAX_ITERATIONS,
) -> tuple[ipf.Fitted, tuple[tuple[str, ...], ...]]:
    """Fit the margins of an array over the cells of a table, and return them without those contained in others.

    The fit starts from the offset in every cell that can occur.
    """
    axes = ipf.generating_class([tuple(table.axis(name) for name in margin) for margin in margins] or [()])
    start = np.ones(table.size) * offset
    start[table.impossible] = 0.0
    everything = range(len(table.shape))
    sums = [(kept, target.sum(axis=tuple(axis for axis in everything if axis not in kept))) for kept in axes]
    shaped = start.reshape(table.shape)
    fitted = ipf.fit(shaped, sums, tolerance=tolerance, max_iterations=max_iterations, names=table.names)
    return fitted, tuple(tuple(table.names[axis] for axis in kept) for kept in axes)
