"""Cell-key perturbation: every cell gets the noise that its key picks from a perturbation table.

The key of a cell is the sum of its records' keys. The same people get the same noise in every table: repeated requests
cannot average it out, and tables that show the same cell agree. Every cell and margin is moved on its own, so published
cells need not add up to published margins. The noise hides a cell from a reader who knows the law of the noise but not
the keys; cells that are linked by sums narrow each other down, which the audit takes into account.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar, cast

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Changes, Original, Originals, Protected, check_anybody
from discreet.protect.cell_key.keys import KeyedTable, drawn_keys
from discreet.protect.cell_key.magnitudes import magnitude_noise
from discreet.protect.cell_key.perturbation_table import PTable, design_ptable
from discreet.protect.figure_method import WITH_MARGINS, FigureMethod
from discreet.protect.layout import FullTable
from discreet.protect.sampling import crossed
from discreet.protect.usage import UNLISTED, in_one_call, option
from discreet.table import Release, Table
from discreet.table.figures import Figures, units_of
from discreet.table.grid import look_up
from discreet.table.kinds import Relative
from discreet.table.tabulation import Tabulation
from discreet.tabulation.spec import KEYS

AMOUNTS = "Magnitudes"
DRAWN = "Keys were drawn for this table alone; tables that share cells need record keys, to give these the same noise."


def perturb(counts: IntArray, keys: IntArray, ptable: PTable, modulus: int = KEYS) -> IntArray:
    """Return the counts, each with the noise that its cell key picks; keys run from 0 to below the modulus.

    >>> perturb(np.array([4, 4]), np.array([0, 255]), design_ptable(2, 1), modulus=256).tolist()
    [2, 6]
    """
    from discreet.protect.cell_key.key_kernels import perturb as kernel

    ends, noise = ptable.thresholds(modulus)
    out = np.empty(counts.size, np.int64)
    kernel(np.ascontiguousarray(counts, np.int64), np.ascontiguousarray(keys, np.int64), ends, noise, out)
    return out


@dataclass(frozen=True)
class CellKey(FigureMethod):
    """Add to every cell and margin the noise that its key picks from a perturbation table.

    A cell's key is the sum of its records' keys, so the same people get the same noise in every table. Without record
    keys, keys are drawn for this table alone.

    The noise has mean 0, the variance asked for at every count, and the largest entropy that a bound allows; cells need
    not add up to margins. Neither keys nor the secret are in what is written.

    Attributes:
        ptable: the perturbation table; by default noise of at most 5 with variance 3.
        share: the largest noise of a sum of amounts; see :mod:`~discreet.protect.cell_key.magnitudes`.
        weights: how much the largest contributions count in it, as many as are given.
        margins: publish the margins of a plain table too.
        additive: publish margins as sums of the perturbed inner counts, which reveal nothing more.

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
            "How much the largest contributions count, as 1,0.5; by default the first alone.",
            "--largest-weights",
            AMOUNTS,
        ),
    )
    margins: bool = field(default=False, metadata=WITH_MARGINS)
    additive: bool = field(
        default=False, metadata=option("Margins of records are sums of what is published, and reveal nothing more.")
    )
    name: ClassVar[str] = "cell-key"
    examples: ClassVar[Mapping[str, str]] = {
        "religion.csv --bound 2 --variance 1 -o release.csv": "one table",
        "people.parquet --by area,sex --record-key rkey -o release.csv": "records with keys",
        "people.csv --by area,sex --secret key.txt --identify id -o r.csv": "hashed",
        "firms.csv --by area --value turnover --record-key k --share 0.1 -o r.csv": "amounts",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(float(weight) for weight in self.weights))
        if not isinstance(self.ptable, PTable):
            raise RequestError("the perturbation table is missing; make one (design_ptable) or read one (read_ptable)")
        if self.margins and self.additive:
            raise RequestError("margins have noise of their own (margins) or are added up (additive); choose one")
        if not 0 < self.share < 1:
            raise RequestError(f"the share is {self.share!r}; it lies between 0 and 1")
        falling = all(a >= b >= 0 for a, b in pairwise(self.weights))
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

    def check_original(self, original: Original) -> None:
        """Refuse a table that counts nobody; magnitudes get noise too."""
        check_anybody(original)

    def apply(
        self, original: Originals | KeyedTable | Sequence[KeyedTable], seed: Seed = None, **how: Progress | None
    ) -> Protected:
        """Perturb an original: by the keys of its cells, or by keys that are drawn where it has none.

        Linked tables get keys together if one of them has all their dimensions; tables with record keys agree anyway.
        """
        several = original if isinstance(original, Sequence) else [original]
        keyed = [one for one in several if isinstance(one, KeyedTable)]
        if not keyed or len(keyed) < len(several):
            return super().apply(cast("Originals", original), seed, **how)
        if seed is not None:
            raise RequestError("the records have keys, which decide the noise; leave the seed out")
        made = [self._by_keys(one) for one in keyed]
        if len(made) == 1:
            return made[0]
        parts = tuple(part for one in made for part in one.release.parts())
        release = Release(None, self.name, made[0].release.parameters, parts)
        return replace(made[0], release=release, changes=Changes.together([one.changes for one in made]))

    def _by_keys(self, original: KeyedTable) -> Protected:
        """Perturb cells by their keys."""
        cells = original.unperturbed()
        self.check_original(cells)
        made = self._perturbed(cells, cells, original.cell_keys(), original.modulus)
        # Tables by the same keys repeat each other's noise, which a reader may know.
        parameters = {**made.release.parameters, "keys": "records"}
        return replace(made, release=replace(made.release, parameters=parameters))

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Perturb an original by keys that are drawn."""
        if isinstance(original, Table) and not self.margins:
            counts = perturb(original.counts, drawn_keys(original, seed), self.ptable)
            return self.inner_changed(original, counts, self.ptable.kind, (DRAWN, *self._narrower()))
        cells = Tabulation.from_table(original) if isinstance(original, Table) else original
        return self._perturbed(original, cells, drawn_keys(cells, seed), KEYS, (DRAWN,))

    def _narrower(self) -> tuple[str, ...]:
        """Report if the requested noise reaches further than any that is drawn."""
        if self.ptable.asked <= self.ptable.bound:
            return ()
        return (
            f"Noise of at most {self.ptable.asked} was asked for; with this variance a noise beyond "
            f"{self.ptable.bound} is so rare that it is never drawn.",
        )

    def _perturbed(
        self, original: Original, cells: Tabulation, keys: IntArray, modulus: int, notes: tuple[str, ...] = ()
    ) -> Protected:
        """Perturb every cell and margin of an original, which are given with their keys."""
        if modulus < 2**20:
            notes += (f"There are {modulus} cell keys only, so probabilities are kept to within {1 / modulus:.2g}.",)
        notes += self._narrower()
        if cells.responses:
            return self._magnitudes(cells, keys, notes)
        layout = FullTable.of(original)
        counts, spread = layout.full.records, look_up(cells.cells, keys, layout.full.cells)

        def perturbed(rows: IntArray | slice) -> IntArray:
            return perturb(counts[rows], spread[rows], self.ptable, modulus)

        if self.additive:
            return layout.added_up(self, perturbed, self.ptable.kind, notes=notes)
        return layout.released(self, perturbed(slice(None)), (self.ptable.kind,), notes=notes)

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
        total = (int(units[0]), int(values[0]))
        changes = Changes.between(units, values, whole=cells.whole, total=total, decimals=decimals)
        return Protected(Release(None, self.name, parameters, (figures,)), changes, notes)

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
        """Enumerate the releases, each with its probability T(G), in blocks of rows."""
        parts = []
        for count, row in zip(table.counts.tolist(), self._rows(table), strict=True):
            parts.append((np.array([p for _, p in row]), np.array([[count + v] for v, _ in row])))
        # The first cell runs fastest.
        for chance, released in crossed(parts[::-1], block):
            yield chance, np.ascontiguousarray(released[:, ::-1])


cell_key = in_one_call(CellKey)
