"""What the agency knows: the sample's counts, how large the population is, and how many cells can occur."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.table import Table


@dataclass(frozen=True, eq=False)
class Sample:
    """A simple random sample of a population, cross-classified.

    ``counts`` are the f_k of the non-empty cells, ``cells`` their positions among the ``size`` combinations of
    categories, ``impossible`` the positions of structural zeros and ``population`` is N. K, the number of cells
    that can occur, leaves the structural zeros out and keeps the sampling zeros in (cohen2009, section 2).

    >>> sample = Sample.from_counts([1, 4, 1], population=20, possible=10)
    >>> sample.size_of_sample, sample.possible, sample.uniques
    (6, 10, 2)
    """

    cells: IntArray
    counts: IntArray
    population: int
    size: int
    impossible: IntArray = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        """Check that the sample fits into the population and into the cells."""
        if self.cells.shape != self.counts.shape or (np.diff(self.cells) <= 0).any():
            raise DataError("cells must be sorted and different, with one count each; build samples from a table")
        if self.counts.size and self.counts.min() <= 0:
            raise DataError(f"a non-empty cell has count {self.counts.min()}; leave empty cells out")
        if self.counts.size > self.possible:
            raise RequestError(
                f"{self.counts.size:,} cells are not empty, but only {self.possible:,} are said to be possible; "
                "K counts every cell that can occur, the empty ones too"
            )
        if self.size_of_sample > self.population:
            raise RequestError(
                f"the sample has {self.size_of_sample:,} people, but the population only {self.population:,}; "
                "give the size of the whole population"
            )
        if self.population < 1:
            raise RequestError(f"the population is {self.population}; give 1 or more")

    @classmethod
    def from_table(cls, table: Table, population: int) -> Sample:
        """Take a sample table with its structural zeros.

        >>> Sample.from_table(Table.from_array([[1, 0], [3, 2]], ["a", "b"]), 50).possible
        4
        """
        return cls(table.cells, table.counts, int(population), table.size, table.impossible)

    @classmethod
    def from_counts(cls, counts: npt.ArrayLike, population: int, possible: int | None = None) -> Sample:
        """Take counts without labels; zeros among them are cells, and ``possible`` may add more.

        >>> Sample.from_counts([1, 0, 2], population=9).possible
        3
        """
        figures = np.asarray(counts)
        if figures.dtype.kind not in "iu" and not np.array_equal(figures, np.floor(figures)):
            raise DataError("counts are integers, but some are fractional")
        if figures.size and figures.min() < 0:
            raise DataError(f"a count is {figures.min()}; counts are 0 or more")
        flat = figures.ravel().astype(np.int64)
        cells = np.flatnonzero(flat)
        if possible is not None and possible < flat.size:
            flat = flat[cells]
            cells = np.arange(flat.size)
        return cls(cells, flat[cells], int(population), int(flat.size if possible is None else possible))

    @classmethod
    def from_sizes(cls, population: int, people: int, possible: int, uniques: int, filled: int | None = None) -> Sample:
        """Describe a sample by its sizes alone: N, n, K and the number of sample uniques.

        The other counts do not matter to the uniform, multinomial and symmetric Dirichlet priors; to mixtures, only
        how many cells are ``filled`` does.

        >>> Sample.from_sizes(46228, 8399, 1108, 108).uniques
        108
        """
        others = (people > uniques) if filled is None else filled - uniques
        rest = people - uniques
        if min(people, possible, uniques) < 0 or others < 0 or rest < 2 * others or (rest > 0 and not others):
            raise RequestError(
                f"{people:,} people cannot fill {uniques + max(others, 0):,} cells of which {uniques:,} hold one "
                "person and the others two or more; correct the sizes"
            )
        counts = [1] * uniques + [2] * (others - 1) + ([rest - 2 * (others - 1)] if others else [])
        return cls.from_counts(counts, population, possible=possible)

    @property
    def size_of_sample(self) -> int:
        """The number of people sampled, n."""
        return int(self.counts.sum())

    @property
    def possible(self) -> int:
        """The number of cells that can occur, K."""
        return self.size - int(self.impossible.size)

    @property
    def empty(self) -> int:
        """The number of cells that can occur but hold nobody of the sample."""
        return self.possible - int(self.counts.size)

    @property
    def unseen(self) -> int:
        """The number of people of the population who were not sampled, N − n."""
        return self.population - self.size_of_sample

    @property
    def unique_cells(self) -> IntArray:
        """The positions of the sample uniques."""
        return np.asarray(self.cells[self.counts == 1])

    @property
    def uniques(self) -> int:
        """The number of sample uniques, s."""
        return int(np.count_nonzero(self.counts == 1))
