"""What all samples share: how they are published, and how records are sampled in the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa

from discreet.core.numerics import FloatArray, IntArray
from discreet.core.random import Seed, generator
from discreet.protect.base import Changes, Original, Protected
from discreet.protect.inner_counts import InnerMethod
from discreet.protect.record_rows import arrow_records, like, rows_by_name
from discreet.protect.usage import option
from discreet.table import Release, Table
from discreet.table.arrow_files import Frame
from discreet.table.grid import Grid
from discreet.table.kinds import Sampled

FRACTION = option("The share of all people in the sample.")
PUBLISH_TOTAL = option(
    "The number of all people, or of every stratum, is public: state it in the release.", "--publish-total"
)
UNSTATED = (
    "The release does not state how many people there are in all; where that is public, say so (known_total=, "
    "--publish-total), and the audit counts on it."
)


class Sampling(InnerMethod):
    """A protection that publishes the table of a sample."""

    fraction: float | None = None
    known_total: bool

    def left_out(self, n: int) -> int | None:
        """Return how many people a sample of n leaves out at most, by the share that the release states.

        None if it states none, or if the share is only that of an average sample.
        """
        if self.fraction is None:
            return None
        most = int((n + 0.5) / self.fraction) + 1
        while int(self.fraction * most + 0.5) > n:
            most -= 1
        return most - n

    @property
    def share(self) -> float:
        """The share of all people that the release states; 0 where it states none."""
        return float(self.fraction or 0)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be filled in the sample: those that are in the original."""
        return table.cells

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return sample counts of the table's non-empty cells, one draw per row."""
        raise NotImplementedError

    def rows(self, arrow: pa.Table, rng: np.random.Generator) -> IntArray:
        """Return which records are in a sample, in their order."""
        raise NotImplementedError

    def records(self, records: object, seed: Seed = None) -> Frame:
        """Return a sample of the records of a frame or file, drawn by the same law, in the order of the file.

        The same seed draws the same records whatever that order is.
        """
        arrow = arrow_records(records)
        order = rows_by_name(arrow)
        chosen = order[self.rows(arrow.take(order), generator(seed))]
        return like(records, arrow.take(np.sort(chosen)))

    def renewed(self, original: Original, table: Table, rng: np.random.Generator) -> Protected:
        """Draw one sample."""
        return self.sampled(original, table, self.draws(table, rng, 1)[0])

    def sampled(self, original: Original, table: Table, counts: IntArray, notes: tuple[str, ...] = ()) -> Protected:
        """Return the release of a sample in which a reader knows the same about every cell.

        Its fraction is the requested one; if the total is public, it is the share that was drawn.
        """
        n = int(counts.sum())
        kind = Sampled(fraction=self.share, missed=self.left_out(n))
        if self.known_total:
            kind = Sampled(fraction=n / table.total, size=table.total)
        inner = table.with_counts(table.cells, counts)
        if inner == table and not notes:
            notes = ("Everybody is in the sample, so its counts are the true ones; sample less.",)
        told = notes if kind.size else (*notes, UNSTATED)
        if isinstance(original, Table):
            return changed(table, counts, Release(inner, self.name, self.parameters, kind=kind), told)
        # What the inner counts of a sample say about a sum, the sum itself does not say again.
        sums = Sampled(missed=kind.size - n if kind.size else kind.missed)
        return self.release(original, inner, (kind,), sums, notes=told)


def changed(table: Table, counts: IntArray, release: Release, notes: tuple[str, ...]) -> Protected:
    """Return a release of inner counts alone, with what it changed."""
    total = (table.total, int(counts.sum()))
    changes = Changes.between(table.counts, counts, whole=table.possible, total=total, inner=True)
    return Protected(release, changes, notes)


def crossed(parts: Sequence[tuple[FloatArray, IntArray]], block: int) -> Iterator[tuple[FloatArray, IntArray]]:
    """Enumerate the combinations of independent parts, each given by its outcomes with their probabilities.

    >>> half = (np.array([0.5, 0.5]), np.array([[0], [1]]))
    >>> [(chance.tolist(), rows.tolist()) for chance, rows in crossed([half, half], 2)]
    [([0.25, 0.25], [[0, 0], [0, 1]]), ([0.25, 0.25], [[1, 0], [1, 1]])]
    """
    grid = Grid(tuple(chance.size for chance, _ in parts))
    for start in range(0, grid.size, block):
        numbers = grid.decode(np.arange(start, min(start + block, grid.size)))
        chance, rows = np.ones(numbers[0].size), []
        for (probabilities, values), number in zip(reversed(parts), reversed(numbers), strict=True):
            chance = chance * probabilities[number]
            rows.append(values[number])
        yield chance, np.concatenate(rows[::-1], axis=1)
