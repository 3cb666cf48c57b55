"""Controlled rounding as a protection.

Every figure, inner cell, subtotal or total, is published as a multiple of the base next to it, and all sums hold. A
reader who knows this learns that every true figure is less than a base away. Published cells add up to published
totals, so the totals reveal nothing that the cells do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from discreet.core.errors import LimitError
from discreet.core.progress import Progress
from discreet.core.random import Seed, generator
from discreet.protect.additive import sums_of
from discreet.protect.base import Original, Protected
from discreet.protect.checks import check_seconds
from discreet.protect.controlled_rounding.near import NearRounding
from discreet.protect.controlled_rounding.nearest import RoundingProblem, nearest_rounding
from discreet.protect.controlled_rounding.unbiased import unbiased_rounding
from discreet.protect.figure_method import BASE, Rounding
from discreet.protect.layout import FullTable
from discreet.protect.usage import in_one_call, option
from discreet.table.kinds import Controlled, Kind, Perturbed


@dataclass(frozen=True)
class ControlledRounding(Rounding):
    """Round every figure to a neighbouring multiple of the base: all sums hold, and changes are as small as possible.

    All margins, and groups of hierarchies, are published. Where no such rounding exists, or none is found,
    figures may move further; the release then says how far, and the notes say why. Of large tables with three or more
    dimensions one near the best is taken, and the notes say how near it is at least; ``exact`` looks for the best in
    the time given. ``unbiased`` draws a rounding at random instead; the mean of every published figure is then the
    original one.

    >>> from discreet import Table
    >>> table = Table.from_array([[1, 0], [3, 3], [12, 20]], ["row", "column"])
    >>> ControlledRounding(5).apply(table).release.table.to_array().tolist()
    [[0, 0], [5, 5], [10, 20]]
    """

    base: int = field(default=5, metadata=BASE)
    unbiased: bool = field(default=False, metadata=option("Draw a rounding at random whose mean is the original."))
    time_limit: float = field(default=60.0, metadata=option("Seconds for the search."))
    exact: bool = field(
        default=False, metadata=option("Look for the nearest rounding of a large table too.", "--nearest")
    )
    name: ClassVar[str] = "controlled-rounding"
    told: ClassVar[tuple[str, ...]] = ("base", "unbiased")
    examples: ClassVar[Mapping[str, str]] = {
        "t.csv --base 5 -o rounded.csv": "all sums hold",
        "t.csv --hierarchy region=nuts.hrc -o r.csv": "groups of regions too",
        "t.csv --unbiased -o r.csv": "at random, without bias",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        check_seconds(self.time_limit)

    @property
    def random(self) -> bool:
        """Only the unbiased rounding draws anything."""
        return self.unbiased

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Round the figures of an original; only the unbiased option draws anything at random."""
        layout, base = FullTable.of(original), int(self.base)
        true = layout.full.records
        problem = RoundingProblem.of(sums_of(layout.full), true, base)
        # A single figure x becomes y with probability 1 − |x − y|/b, as by random rounding, but the figures of one draw
        # depend on each other.
        kind: Kind = Controlled(base=base)
        if self.unbiased:
            values = unbiased_rounding(problem, generator(seed), self.time_limit, progress)
            return layout.released(self, values, (kind,), details={"zero_restricted": True})
        local = NearRounding(layout.full, base, progress) if layout.full.names in layout.full.margins else None
        found, bound = nearest_rounding(problem, self.time_limit, progress, local=local, exact=self.exact)
        if found is None:
            raise LimitError(
                f"no controlled rounding of linked margins was found in {self.time_limit:g} seconds; raise the time "
                "limit, or tabulate the finest cells too"
            )
        reason = f"No zero-restricted rounding {'exists' if found.impossible else 'was found'}"
        away = np.abs(found.values - true)
        distance, largest = float(away.sum()), int(away.max())
        gap = 0.0 if found.proved or distance == 0 else max(distance - bound, 0.0) / distance
        notes: tuple[str, ...] = ()
        if found.radius:
            beyond = int(np.count_nonzero(away >= base))
            notes = (f"{reason}: {beyond:,} figures move by a base or more, by {largest} at most. All sums hold.",)
            # In whole bases: that some figure moved exactly so far would be a figure about the original.
            kind = Perturbed(bound=(largest // base + 1) * base - 1)
        elif not found.proved:
            notes = (f"A nearer rounding may exist: the distance is within {gap:.2%} of a bound.",)
        exact = {"zero_restricted": found.radius == 0, "radius": found.radius}
        details = {"cost": int(distance), "gap": gap, **exact}
        return layout.released(self, found.values, (kind,), notes=notes, details=details)


controlled_rounding = in_one_call(ControlledRounding)
