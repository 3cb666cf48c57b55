"""What sampling, swapping and simulation share: taking the inner counts of an original, and releasing new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.base import MethodBase, Original, Protected, ReleaseNotes, check_anybody
from discreet.protect.layout import FullTable
from discreet.table import Table
from discreet.table.grid import look_up
from discreet.table.kinds import EXACT, Kind
from discreet.table.tabulation import Tabulation

Margin = tuple[str, ...]


class InnerMethod(MethodBase):
    """A protection that publishes new inner counts, with margins that are their sums."""

    def check(self, table: Table) -> None:
        """Refuse a table that this method cannot protect."""
        check_anybody(table)

    def check_original(self, original: Original) -> None:
        """Refuse tables that count nobody, and magnitudes, which belong to records and not to cells."""
        super().check_original(original)
        if isinstance(original, Tabulation) and original.responses:
            names = ", ".join(response.name for response in original.responses)
            raise DataError(
                f"the tabulation holds sums of {names}; {self.name} works on counts, or on the records themselves"
            )

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Make new inner counts of an original."""
        table = original if isinstance(original, Table) else original.table()
        return self.renewed(original, table, generator(seed))

    def renewed(self, original: Original, table: Table, rng: np.random.Generator) -> Protected:
        """Return the release of an original whose inner counts are those of the table."""
        raise NotImplementedError

    def release(
        self,
        original: Original,
        inner: Table,
        kinds: Sequence[Kind],
        sums: Kind,
        *,
        kept: Sequence[Margin] = (),
        group: IntArray | None = None,
        **more: Unpack[ReleaseNotes],
    ) -> Protected:
        """Return the release of new inner counts with all their margins and the groups of hierarchies.

        ``kinds`` and ``sums`` say what a reader knows about inner counts and about margins; ``group`` is the number of
        every inner cell's kind, by position, the first by default. Margins that are ``kept`` are published as exact, as
        are sums of them; ``more`` are notes and details.
        """
        layout = FullTable.of(original)
        full, at_leaves = layout.full, layout.inner
        found = Tabulation.from_table(inner, hierarchies={axis.name: axis.hierarchies for axis in full.axes})
        values = look_up(found.cells, found.records, full.cells)
        which = np.full(len(full), 1 + len(kinds))
        which[at_leaves] = 1 + (0 if group is None else group[full.among_leaves(np.flatnonzero(at_leaves))])
        for margin in kept:
            others = [full.codes(name) == 0 for name in full.names if name not in margin]
            which[np.logical_and.reduce(others or [np.True_])] = 0
        return layout.released(self, values, (EXACT, *kinds, sums), which, **more)
