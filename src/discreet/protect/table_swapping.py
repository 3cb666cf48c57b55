"""Table swapping: small random moves of the inner counts that keep all margins of k dimensions.

One move takes two values for each of k + 1 groups of dimensions; the cells with an even number of second values lose
one person each, the others gain one (for k = 1 two people exchange the values of some dimensions; Dalenius and Reiss
1982, Diaconis and Sturmfels 1998). Nothing changes in any margin of k dimensions. A reader knows these margins exactly,
and that no cell is further off than the number of moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.protect.base import Original, Protected
from discreet.protect.checks import check_integer, check_share
from discreet.protect.inner_counts import InnerMethod
from discreet.protect.simulation.margin_model import Model
from discreet.protect.usage import in_one_call, option
from discreet.table import Table
from discreet.table.frequencies import DENSE_LIMIT
from discreet.table.kinds import Swapped

TRIES = 1000
"""How many attempts a move gets if counts would become negative: a round choice, exhausted only by tables with almost
no room for moves."""


@dataclass(frozen=True)
class TableSwapping(InnerMethod):
    """Move people between cells at random; all margins of some number of dimensions stay exactly as they are.

    ``rate`` says how large a share of all people moves, and ``keep`` of how many dimensions all margins are kept.

    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> done = TableSwapping(1, rate=0.3).apply(table, 1)
    >>> done.release.table.margin("area").counts.tolist(), done.details["moves"]
    ([6, 8], 2)
    """

    keep: int = field(default=1, metadata=option("All margins of this many dimensions are kept.", "--keep-all"))
    rate: float = field(default=0.05, metadata=option("The share of all people that moves."))
    name: ClassVar[str] = "table-swapping"
    examples: ClassVar[Mapping[str, str]] = {"t.csv --keep-all 2 --rate 0.1 -o s.csv": "all two-way margins stay"}

    def __post_init__(self) -> None:
        check_share(self.rate, "the swap rate")
        check_integer(self.keep, "keep")

    def check(self, table: Table) -> None:
        """Refuse a table in which no move keeps the margins."""
        if self.keep >= len(table.shape):
            raise RequestError(
                f"margins of {self.keep} dimensions are to be kept in a table of {len(table.shape)}, which leaves "
                "nothing to swap; keep fewer"
            )
        super().check(table)
        if table.size > DENSE_LIMIT:
            raise RequestError(f"the table has {table.size:,} cells, more than the {DENSE_LIMIT:,} that are swapped")

    def moves(self, table: Table) -> int:
        """Return how many moves are made: each takes 2ᵏ people to other cells."""
        return int(self.rate * table.total / 2**self.keep + 1e-9)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled: those of categories that somebody is in."""
        filled = [np.flatnonzero(sums) for sums in table.sums(table.names, table.counts)]
        return np.setdiff1d(table.grid.cross(filled), table.impossible)

    def renewed(self, original: Original, table: Table, rng: np.random.Generator) -> Protected:
        """Swap once."""
        self.check(table)
        wanted = self.moves(table)
        ((x, made),) = self._swapped(table, rng, 1)
        notes = [f"{made:,} moves of {2**self.keep} people each were made."]
        if made < wanted:
            notes.append(f"{wanted:,} were wanted: the margins leave too little room for the others.")
        # Each move takes 2ᵏ people to other cells; moves that were not made protect nobody.
        kind = Swapped(bound=made, fraction=min(2**self.keep * made / table.total, 1.0))
        return self.release(
            original,
            table.with_counts(np.arange(table.size), x),
            (kind,),
            Swapped(bound=made),
            kept=Model.of_table(table, self.keep).names(table),
            notes=tuple(notes),
            details={"moves": made, "wanted": wanted},
        )

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return swapped counts of the cells of :meth:`support`, one draw per row."""
        self.check(table)
        support = self.support(table)
        return np.array([x[support] for x, _ in self._swapped(table, rng, size)]).reshape(size, -1)

    def _swapped(self, table: Table, rng: np.random.Generator, size: int) -> Iterator[tuple[IntArray, int]]:
        """Yield inner counts after as many moves as are wanted, or found, and their number, once per draw."""
        from discreet.protect.simulation.move_kernels import Pairs, exchange

        families = [family.groups for family in Model.of_table(table, self.keep).moves()]
        codes = table.grid.decode(np.arange(table.size))
        part = np.zeros((len(families), max(len(groups) for groups in families), table.size), np.int64)
        for f, groups in enumerate(families):
            for g, axes in enumerate(groups):
                part[f, g] = table.grid.encode([code * (i in axes) for i, code in enumerate(codes)])
        counts = table.to_array().ravel()
        possible = np.ones(counts.size, bool)
        possible[table.impossible] = False
        lengths = np.array([len(groups) for groups in families], np.int64)
        pairs, moves = Pairs(np.repeat(np.arange(counts.size), counts), possible, part, lengths), self.moves(table)
        for _ in range(size):
            x = counts.copy()
            yield x, int(exchange(x, pairs, moves, TRIES * moves, rng))


table_swapping = in_one_call(TableSwapping)
