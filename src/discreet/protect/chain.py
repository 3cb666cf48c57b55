"""Chains: a sample or swap, and then a rounding or cell keys, as one protection.

Censuses swap households and then add noise to the cells. Each step is a method of its own; the last one makes what is
published, and what a reader knows about the true counts follows from all of them. For every cell, a reader of the
figures knows what the last step says about its input, and what the step before says about its own input in turn.
Margins that a swap keeps, or changes by at most so much, bound the true margins by the sums of their cells: these
intervals follow from the figures and the method, and the release states them. The number of people who moved is stated
for the largest total that the published figures allow, since the true number would reveal the true total.

The law of the whole is not stated, so no disclosure risk is claimed for a reader who knows it: people who move leave
one cell for another, and a swap looks at all cells together. A reader who considers all steps jointly may narrow the
intervals, so an audit never calls a chain safe. Samples of a fixed size cannot start a chain: the reader would know the
sum of the sample, which bounds every count in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, cast

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed, spawn
from discreet.protect.base import Changes, MethodBase, Original, Protected, RandomMethod
from discreet.protect.bernoulli_sample import BernoulliSample
from discreet.protect.figure_method import FigureMethod
from discreet.protect.layout import FullTable
from discreet.protect.swapping import RecordSwapping
from discreet.protect.table_swapping import TableSwapping
from discreet.protect.usage import UNLISTED, in_one_call
from discreet.table import Release, Table
from discreet.table.figures import Figures
from discreet.table.grid import look_up
from discreet.table.kinds import INTERVAL, UNBOUNDED, Kind, Sampled, Swapped
from discreet.table.kinds.chained import Chained, behind
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True)
class Chain(MethodBase):
    """Apply several methods one after the other, and publish the inner counts that the last one makes.

    All steps but the last sample or swap people; the last rounds counts or perturbs them by cell keys. The release
    states every step, and for margins the intervals that follow from it.

    >>> from discreet.protect import RandomRounding, TableSwapping
    >>> table = Table.from_array([[1, 5], [6, 2]], ["area", "sex"])
    >>> made = Chain((TableSwapping(rate=0.3), RandomRounding(3))).apply(table, 1).release
    >>> made.parameters["steps"][1], sorted({kind.name for kind in made.figures[0].kinds})
    ({'name': 'random-rounding', 'base': 3}, ['chain', 'interval'])
    """

    steps: tuple[MethodBase, ...] = field(metadata=UNLISTED)
    name: ClassVar[str] = "chain"
    examples: ClassVar[Mapping[str, str]] = {
        "t.csv --step table-swapping:rate=0.1 --step random-rounding:base=3 -o c.parquet": "swap, then round",
        "t.csv --step record-swapping:area=region --step cell-key:bound=2,variance=1 -o c.parquet": "swap, then keys",
    }

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        if len(self.steps) < 2:
            raise RequestError(f"a chain has two steps or more, not {len(self.steps)}; name them in their order")
        for step in self.steps[:-1]:
            if not isinstance(step, BernoulliSample | TableSwapping | RecordSwapping):
                raise RequestError(
                    f"{_called(step)} cannot be an earlier step of a chain; take table-swapping, record-swapping or "
                    "bernoulli-sample, and round or perturb after that"
                )
            if getattr(step, "known_total", False):
                raise RequestError("a sample of a known total cannot start a chain: its size would be known exactly")
        if not isinstance(self.steps[-1], FigureMethod):
            raise RequestError(
                f"{_called(self.steps[-1])} cannot end a chain; round counts, or perturb them by cell keys"
            )

    @property
    def parameters(self) -> dict[str, object]:
        """What the release says about how it was made: every step with its parameters."""
        return {"steps": [{"name": step.name, **step.parameters} for step in self.steps]}

    def check_original(self, original: Original) -> None:
        """Refuse what one of the steps cannot protect."""
        for step in self.steps:
            step.check_original(original)

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Apply every step once."""
        table = original if isinstance(original, Table) else original.table()
        earlier: list[Protected] = []
        now = table
        *before, last = zip(self.steps, spawn(seed, len(self.steps)), strict=True)
        for step, rng in before:
            earlier.append(step.apply(now, rng))
            now = earlier[-1].release.table
        done = last[0].apply(now, last[1])
        inner = done.release.inner
        if inner is None or done.release.figures:
            raise RequestError(
                f"{last[0].name} publishes more than inner counts, which cannot end a chain; round or perturb the "
                "inner counts alone, and leave margins out"
            )
        made = list(zip(self.steps, [one.release for one in earlier], strict=False))
        kind, figures = _published(table, made, inner, done.release.kind, self.name)
        cells = np.setdiff1d(np.arange(table.size), table.impossible)
        total = (table.total, inner.total)
        changes = Changes.between(table.at(cells), inner.at(cells), whole=cells.size, total=total, inner=True)
        notes = tuple(note for one in (*earlier, done) for note in one.notes)
        details = {"steps": [one.to_dict() for one in (*earlier, done)]}
        return Protected(Release(inner, self.name, self.parameters, figures, kind), changes, notes, details)

    def check(self, table: Table) -> None:
        """Refuse a table that the first step cannot protect."""
        _drawing(self.steps[0]).check(table)

    def support(self, table: Table) -> IntArray:
        """Return the cells that can be published as other than empty: those that the first step can fill.

        Later samples and swaps fill no others than these and what they share categories with.
        """
        return np.setdiff1d(np.arange(table.size), table.impossible)

    def draws(self, table: Table, rng: np.random.Generator, size: int) -> IntArray:
        """Return released counts of the cells of :meth:`support`, one draw per row."""
        support = self.support(table)
        return np.array([self._drawn(table, rng).at(support) for _ in range(size)]).reshape(size, -1)

    def _drawn(self, table: Table, rng: np.random.Generator) -> Table:
        now = table
        for step in self.steps:
            method = _drawing(step)
            cells = method.support(now)
            now = now.with_counts(cells, method.draws(now, rng, 1)[0])
        return now


def _drawing(step: MethodBase) -> RandomMethod:
    """Return a step as a random method, which all of them are."""
    return cast("RandomMethod", step)


def _called(step: object) -> str:
    return str(getattr(step, "name", type(step).__name__))


def _published(
    table: Table, earlier: Sequence[tuple[MethodBase, Release]], inner: Table, last: Kind, name: str
) -> tuple[Kind, tuple[Figures, ...]]:
    """Return the kind of the published inner counts, and figures of them with intervals of the margins.

    There are no such figures if nothing bounds the margins from above, as after a sample.
    """
    layout = FullTable.of(table)
    full, kept = layout.full, layout.kept
    at_inner = layout.inner[kept]
    shown = look_up(*_sums(inner, inner.counts, inner.cells), full.cells[kept])
    positions = full.among_leaves(kept[at_inner])
    # What the last step says of the counts before it, in every cell and margin.
    ends = [
        look_up(*_sums(table, end, positions), full.cells[kept])
        for end in behind(last, shown[at_inner], shown[at_inner])
    ]
    chain: tuple[Kind, ...] = (last,)
    for step, release in reversed(earlier):
        kinds, which = _kinds(step, release, layout, int(ends[1][0]))
        for i in np.unique(which).tolist():
            rows = which == i
            ends[0][rows], ends[1][rows] = behind(kinds[i], ends[0][rows], ends[1][rows])
        chain = (kinds[int(which[at_inner][0])], *chain)
    kind = Chained(chain)
    if (ends[1] >= UNBOUNDED).any():
        return kind, ()
    values, upper = np.where(at_inner, shown, ends[0]), np.where(at_inner, 0, ends[1])
    figures = layout.figures(values, np.where(at_inner, 0, 1), (kind, INTERVAL), upper=upper, name=name)
    return kind, (figures,)


def _kinds(step: MethodBase, release: Release, layout: FullTable, most: int) -> tuple[tuple[Kind, ...], IntArray]:
    """Return the kinds of figures of a step, and which of them each cell and margin has.

    ``most`` is the largest total that the published figures allow.
    """
    if isinstance(step, BernoulliSample):
        # A sample says of sums what it says of their cells.
        return (release.kind, Sampled()), np.where(layout.inner[layout.kept], 0, 1)
    part = release.figures[0]
    if not np.array_equal(part.codes, np.stack(layout.full.grid.decode(layout.full.cells[layout.kept]), axis=1)):
        raise AssertionError("a step of the chain published other cells than the table has")
    if isinstance(step, TableSwapping):
        bound = int(step.rate * most / 2**step.keep + 1e-9)
    else:
        assert isinstance(step, RecordSwapping)
        bound = step.pairs(most)
    return tuple(Swapped(bound=bound) if isinstance(kind, Swapped) else kind for kind in part.kinds), part.kind


def _sums(table: Table, counts: IntArray, cells: IntArray) -> tuple[IntArray, IntArray]:
    """Return the cells and margins of counts, and their values."""
    filled = counts != 0
    if not filled.any():
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    found = Tabulation.from_table(table.with_counts(cells[filled], counts[filled]))
    return found.cells, found.records


chain = in_one_call(Chain)
