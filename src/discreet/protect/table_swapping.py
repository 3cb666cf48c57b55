"""Table swapping: small random moves of the inner counts that keep all margins of k dimensions.

One move takes two values for each of k + 1 groups of dimensions; the cells with an even number of second values lose
one person each, the others gain one (for k = 1 two people exchange the values of some dimensions; Dalenius and Reiss
1982, Diaconis and Sturmfels 1998). Nothing changes in any margin of k dimensions. A reader knows these margins exactly,
and that no cell is further off than the number of moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import Original, Protected, check_anybody, drawn
from discreet.protect.inner_counts import check_share, counts_of, release_counts
from discreet.protect.simulation.model import Model
from discreet.protect.usage import Usage, option
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.kinds import Swapped


@dataclass(frozen=True)
class TableSwapping:
    """Moves of a share of a table's people that keep all margins of ``keep`` dimensions.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> done = TableSwapping(1, rate=0.3).apply(table, 1)
    >>> done.release.table.margin("area").counts.tolist(), done.details["moves"]
    ([6, 8], 2)
    """

    keep: int = field(default=1, metadata=option("All margins of this many dimensions are kept."))
    rate: float = field(default=0.05, metadata=option("The share of all people that moves."))
    name: ClassVar[str] = "table-swapping"
    usage: ClassVar[Usage] = Usage(
        "Move people between cells at random so that all margins of some number of dimensions stay exactly as "
        "they are.",
        {"discreet protect table-swapping t.csv --keep 2 --rate 0.1 -o s.csv": "all two-way margins stay"},
    )

    def __post_init__(self) -> None:
        """Check the rate and the margins."""
        check_share(self.rate, "the swap rate")
        if isinstance(self.keep, bool) or not isinstance(self.keep, int | np.integer) or self.keep < 1:
            raise RequestError(f"keep is {self.keep!r}; all margins of 1 or more dimensions are kept")

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made."""
        return {"keep": int(self.keep), "rate": float(self.rate)}

    def check(self, table: Table) -> None:
        """Refuse a table in which no move keeps the margins."""
        if self.keep >= len(table.shape):
            raise RequestError(
                f"margins of {self.keep} dimensions are to be kept of a table of {len(table.shape)}, which leaves "
                "nothing to swap; keep fewer"
            )
        check_anybody(table)
        if table.size > DENSE_LIMIT:
            raise RequestError(f"the table has {table.size:,} cells, more than the {DENSE_LIMIT:,} that are swapped")

    def moves(self, table: Table) -> int:
        """Return how many moves are made: each takes 2ᵏ people to other cells."""
        return int(self.rate * table.total / 2**self.keep + 1e-9)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled: those of categories that somebody is in."""
        possible = np.ones(table.shape, bool)
        for axis, filled in enumerate(table.sums(table.names, table.counts)):
            lengths = [1] * len(table.shape)
            lengths[axis] = filled.size
            possible &= (filled > 0).reshape(lengths)
        return np.setdiff1d(np.flatnonzero(possible), table.impossible)

    @drawn
    def apply(self, original: Original, seed: Seed = None, *, progress: Progress | None = None) -> Protected:
        """Swap once."""
        table = counts_of(original, self.name)
        self.check(table)
        wanted = self.moves(table)
        x, made = self._swapped(table, generator(seed))
        notes = [f"{made:,} moves of {2**self.keep} people each were made."]
        if made < wanted:
            notes.append(f"{wanted:,} were wanted: the margins leave too little room for the others.")
        margins = [tuple(table.names[i] for i in margin) for margin in Model.of_table(table, self.keep).margins]
        # Each move takes 2ᵏ people to other cells; moves that were not made protect nobody.
        kind = Swapped(bound=made, fraction=min(2**self.keep * made / table.total, 1.0))
        return release_counts(
            original,
            table.with_counts(np.arange(table.size), x),
            self.name,
            self.parameters,
            kept=margins,
            kinds=(kind,),
            sums=Swapped(bound=made),
            notes=tuple(notes),
            details={"moves": made, "wanted": wanted},
        )

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return swapped counts of the cells of :meth:`support`, one draw per row."""
        self.check(table)
        support = self.support(table)
        drawn = np.zeros((size, support.size), np.int64)
        for draw in range(size):
            drawn[draw] = self._swapped(table, rng)[0][support]
        return drawn

    def _swapped(self, table: Table, rng: np.random.Generator) -> tuple[IntArray, int]:
        from discreet.protect.simulation.exchange import exchange

        families = [family.groups for family in Model.of_table(table, self.keep).moves()]
        x: Any = table.to_array().ravel()
        made = exchange(x, table.shape, families, table.impossible, self.moves(table), rng)
        return x, made


@reads_original
def table_swapping(original: Original, keep: int = 1, *, rate: float = 0.05, seed: Seed = None) -> Release:
    """Move a share of a table's people between cells so that all margins of ``keep`` dimensions stay as they are.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> table_swapping(table, 1, rate=0.3, seed=1).table.margin("sex").counts.tolist()
    [7, 7]
    """
    return TableSwapping(keep, rate).apply(original, seed).release
