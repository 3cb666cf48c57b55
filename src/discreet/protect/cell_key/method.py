"""Cell-key perturbation: every cell gets the noise that its key picks from a perturbation table.

The key of a cell is the sum of its records' keys, so that the same people get the same noise in every table: repeated
requests cannot be averaged, and tables that show the same cell agree. Every cell and margin is moved on its own, so
published cells need not add up to published margins. The noise hides a cell from somebody who knows the law of the
noise but not the keys; many cells that are linked by sums narrow each other down, which the audit works out.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Changes, Original, Protected, check_anybody, drawn
from discreet.protect.cell_key.keyed import KeyedTable
from discreet.protect.cell_key.keys import drawn_keys
from discreet.protect.cell_key.magnitudes import magnitude_noise
from discreet.protect.cell_key.ptable import PTable, design_ptable
from discreet.protect.linked import protect_linked
from discreet.protect.rounding import WITH_MARGINS, inner_and_sums, laid_out, released, rounded_table
from discreet.protect.usage import UNLISTED, Usage, option
from discreet.reading.reads import reads_original
from discreet.table import Release, Table
from discreet.table.figures import Figures, units_of
from discreet.table.grid import Grid, look_up
from discreet.table.kinds import Relative
from discreet.table.tabulation import Tabulation
from discreet.tabulation.spec import KEYS

AMOUNTS = "Magnitudes"
DRAWN = (
    "Keys were drawn for this table alone; tables that share cells need record keys, so that these get the same noise."
)


def perturb(counts: IntArray, keys: IntArray, ptable: PTable, modulus: int = KEYS) -> IntArray:
    """Return the counts, each with the noise that its cell key picks; keys run from 0 to below the modulus.

    >>> perturb(np.array([4, 4]), np.array([0, 255]), design_ptable(2, 1), modulus=256).tolist()
    [2, 6]
    """
    from discreet.protect.cell_key.kernels import perturb as kernel

    ends, noise = ptable.thresholds(modulus)
    out = np.empty(counts.size, np.int64)
    kernel(np.ascontiguousarray(counts, np.int64), np.ascontiguousarray(keys, np.int64), ends, noise, out)
    return out


@dataclass(frozen=True)
class CellKey:
    """Noise by cell keys.

    Counts are moved by the perturbation table; margins by noise of their own or, with ``additive``, as the sums of
    the perturbed inner counts, which tell a reader nothing more. Sums of amounts are moved by at most ``share`` of
    their largest contributions, of as many as there are ``weights``; see :mod:`~discreet.protect.cell_key.magnitudes`.

    >>> method = CellKey(design_ptable(bound=2, variance=1, minimum=2))
    >>> method.apply(Table.from_array([[1, 5], [6, 2]], ["area", "sex"]), 1).changes.largest <= 2
    True
    """

    ptable: PTable = field(default_factory=lambda: design_ptable(5, 3), metadata=UNLISTED)
    share: float = field(
        default=0.1, metadata=option("The largest noise, as a share of the largest contribution.", panel=AMOUNTS)
    )
    weights: tuple[float, ...] = field(
        default=(1.0,),
        metadata=option(
            "How much the largest contributions count, as 1,0.5; by default the first alone.", panel=AMOUNTS
        ),
    )
    margins: bool = field(default=False, metadata=WITH_MARGINS)
    additive: bool = field(
        default=False, metadata=option("Margins of records are sums of what is published, and reveal nothing more.")
    )
    name: ClassVar[str] = "cell-key"
    usage: ClassVar[Usage] = Usage(
        "Add to every cell and margin the noise that its key picks from a perturbation table.\n\n"
        "A cell's key is the sum of its records' keys, so the same people get the same noise in every table. Without "
        "record keys, keys are drawn for this table alone.\n\n"
        "The noise has mean 0, the variance asked for at every count, and the largest entropy that a bound allows; "
        "cells need not add up to margins. Neither keys nor the secret are in what is written.",
        {
            "discreet protect cell-key religion.csv --bound 2 --variance 1 -o release.csv": "one table",
            "discreet protect cell-key people.parquet --by area,sex --key rkey -o release.csv": "records with keys",
            "discreet protect cell-key people.csv --by area,sex --secret key.txt --identify id -o r.csv": "hashed",
            "discreet protect cell-key firms.csv --by area --value turnover --key k --share 0.1 -o r.csv": "amounts",
        },
        linked=True,
    )

    def __post_init__(self) -> None:
        """Check the share and the weights."""
        object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
        if not isinstance(self.ptable, PTable):
            raise RequestError("the perturbation table is missing; make one (design_ptable) or read one (read_ptable)")
        if self.margins and self.additive:
            raise RequestError("margins have noise of their own (margins) or are added up (additive); choose one")
        if not 0 < self.share < 1:
            raise RequestError(f"the share is {self.share!r}; it lies between 0 and 1")
        falling = all(a >= b >= 0 for a, b in zip(self.weights, self.weights[1:], strict=False))
        if not self.weights or self.weights[0] != 1 or not falling:
            raise RequestError(f"weights are {list(self.weights)}; begin with 1 and do not rise, as 1, 0.5")

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made; no key is among it."""
        variance = float(self.ptable.moments()[1][-1])
        return {
            "bound": max(self.ptable.asked, self.ptable.bound),
            "variance": round(variance, 6),
            "minimum": self.ptable.minimum,
            **({"additive": True} if self.additive else {}),
        }

    def check(self, table: Table) -> None:
        """Refuse a table in which nobody is."""
        check_anybody(table)

    @drawn
    def apply(
        self,
        original: Original | KeyedTable | Sequence[Original],
        seed: Seed = None,
        *,
        progress: Progress | None = None,
    ) -> Protected:
        """Perturb an original: by the keys of its cells, or by keys that are drawn where it has none.

        Linked tables get keys together, where one of them has all their dimensions; tables with record keys agree as
        they are.
        """
        if not isinstance(original, Table | Tabulation | KeyedTable):
            return protect_linked(self, original, seed, progress=progress)
        if isinstance(original, KeyedTable):
            if seed is not None:
                raise RequestError("the records have keys, which decide the noise; leave the seed out")
            made = self._cells(original.unperturbed(), original.cell_keys(), original.modulus, ())
            # Tables by the same keys repeat each other's noise, which a reader may know.
            parameters = {**made.release.parameters, "keys": "records"}
            return replace(made, release=replace(made.release, parameters=parameters))
        if isinstance(original, Table) and not self.margins:
            self.check(original)
            counts = perturb(original.counts, drawn_keys(original, seed), self.ptable)
            notes = (DRAWN, *self._narrower())
            return rounded_table(original, counts, self.name, self.parameters, self.ptable.kind, notes=notes)
        cells = Tabulation.from_table(original) if isinstance(original, Table) else original
        return self._cells(cells, drawn_keys(cells, seed), KEYS, (DRAWN,), original)

    def _narrower(self) -> tuple[str, ...]:
        """Say so where the noise asked for reaches farther than any that is drawn."""
        if self.ptable.asked <= self.ptable.bound:
            return ()
        return (
            f"Noise of at most {self.ptable.asked} was asked for; with this variance a noise beyond "
            f"{self.ptable.bound} is so rare that it is never drawn.",
        )

    def _cells(
        self,
        cells: Tabulation,
        keys: IntArray,
        modulus: int,
        notes: tuple[str, ...],
        original: Original | None = None,
    ) -> Protected:
        """Perturb every cell and margin."""
        if modulus < 2**20:
            notes += (f"There are {modulus} cell keys only, so probabilities are kept to within {1 / modulus:.2g}.",)
        check_anybody(cells)
        notes = (*notes, *self._narrower())
        if cells.responses:
            return self._magnitudes(cells, keys, notes)
        full, kept = laid_out(original or cells)
        spread = look_up(cells.cells, keys, full.cells)
        if self.additive and not cells.responses:
            about = (self.name, self.parameters, self.ptable.kind)
            return inner_and_sums(
                original or cells,
                lambda rows: perturb(full.records[rows], spread[rows], self.ptable, modulus),
                *about,
                notes=notes,
            )
        values = perturb(full.records, spread, self.ptable, modulus)
        kinds = (self.ptable.kind,)
        return released(original or cells, full, kept, values, self.name, self.parameters, kinds, notes=notes)

    def _magnitudes(self, cells: Tabulation, keys: IntArray, notes: tuple[str, ...]) -> Protected:
        """Perturb the sums of the first response."""
        largest, sums = cells.contributors.largest[0], cells.responses[0].sums
        if cells.responses[0].shadow is not None:
            raise RequestError("the largest contributions are of a shadow variable; tabulate without it")
        if cells.top < len(self.weights):
            raise RequestError(
                f"{len(self.weights)} contributions are to be moved, but {cells.top} are kept; raise top"
            )
        odd = np.flatnonzero(np.abs(largest.total - sums) > 1e-9 * np.maximum(np.abs(sums), 1.0))
        if odd.size:
            raise DataError(
                f"cell {cells.describe(int(odd[0]))} has contributions below 0; noise by the largest contributions is "
                "bounded for amounts of 0 or more only; separate gains and losses"
            )
        units, decimals = units_of(cells)
        noise = magnitude_noise(largest.top, keys, self.ptable, share=self.share, weights=self.weights)
        values = units + np.rint(noise * 10**decimals).astype(np.int64)
        parameters = {**self.parameters, "share": self.share, "weights": list(self.weights)}
        kind = Relative(fraction=float(self.share))
        figures = Figures.of_tabulation(cells, values=values, kind=kind, name=self.name)
        changes = Changes.between(units, values, total=(int(units[0]), int(values[0])), decimals=decimals)
        return Protected(Release(None, self.name, parameters, (figures,)), changes, notes)

    # --- its law ------------------------------------------------------------------------------------------

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be published as other than 0: empty cells stay empty."""
        return table.cells

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the table's non-empty cells, one draw per row."""
        counts = np.repeat(table.counts[None], size, axis=0).ravel()
        return perturb(counts, rng.integers(0, KEYS, counts.size), self.ptable).reshape(size, -1)

    def _rows(self, table: Table) -> list[tuple[tuple[int, float], ...]]:
        last = len(self.ptable.law) - 1
        return [tuple(e for e in self.ptable.law[min(c, last)] if e[1] > 0) for c in table.counts.tolist()]

    def outcomes(self, table: Table) -> int:
        """Return how many different releases there are."""
        return math.prod(len(row) for row in self._rows(table))

    def law(self, table: Table, block: int = 4096) -> Iterator[tuple[FloatArray, IntArray]]:
        """Go through every release with its probability T(G), in blocks of rows."""
        rows = self._rows(table)
        # The first cell runs fastest.
        grid = Grid(tuple(len(row) for row in reversed(rows)))
        for start in range(0, grid.size, block):
            number = np.arange(start, min(start + block, grid.size))
            chance = np.ones(number.size)
            released_counts = np.repeat(table.counts[None], number.size, axis=0)
            for cell, (row, at) in enumerate(zip(rows, reversed(grid.decode(number)), strict=True)):
                released_counts[:, cell] += np.array([v for v, _ in row])[at]
                chance = chance * np.array([p for _, p in row])[at]
            yield chance, released_counts


@reads_original
def cell_key(
    original: Original | KeyedTable,
    ptable: PTable | None = None,
    *,
    share: float = 0.1,
    weights: tuple[float, ...] = (1.0,),
    margins: bool = False,
    additive: bool = False,
    seed: Seed = None,
) -> Release:
    """Perturb every cell by the noise that its key picks.

    Args:
        original: cells with keys (:class:`KeyedTable`); or a table or tabulation, for which keys are drawn.
        ptable: the perturbation table; by default noise of at most 5 with variance 3.
        share: for amounts, the largest noise as a share of the largest contribution.
        weights: for amounts, how much of the share the largest, the second largest contribution and so on count.
        margins: publish the margins of a plain table too.
        additive: publish the margins of a tabulation of counts as sums of the perturbed inner counts.
        seed: makes drawn keys reproducible; keep it secret.

    >>> release = cell_key(Table.from_array([[1, 5], [6, 2]], ["area", "sex"]), design_ptable(2, 1), seed=1)
    >>> release.kind.phrase
    'perturbed by at most 2 by a known law'
    """
    chosen: dict[str, Any] = {} if ptable is None else {"ptable": ptable}
    method = CellKey(**chosen, share=share, weights=weights, margins=margins, additive=additive)
    return method.apply(original, seed).release
