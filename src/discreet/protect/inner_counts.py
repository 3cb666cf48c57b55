"""What sampling, swapping and simulation share: inner counts out of an original, and a release of new ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import IntArray
from discreet.protect.base import Changes, Original, Protected, check_single
from discreet.protect.rounding import laid_out, released
from discreet.protect.usage import option
from discreet.table import Release, Table
from discreet.table.grid import look_up
from discreet.table.kinds import EXACT, Kind
from discreet.table.tabulation import Tabulation

FRACTION = option("The share of all people in the sample.")
PUBLISH_TOTAL = option(
    "The number of all people, or of every stratum, is public: state it in the release.", "--publish-total"
)

Margin = tuple[str, ...]


def counts_of(original: Original, method: str) -> Table:
    """Return the inner counts of an original; refuse magnitudes, which go with records and not with cells."""
    check_single(original)
    if isinstance(original, Table):
        return original
    original.check_publishable()
    if original.responses:
        names = ", ".join(response.name for response in original.responses)
        raise DataError(f"the tabulation holds sums of {names}; {method} works on counts, or on the records themselves")
    return original.table()


def check_share(share: Any, what: str, *, above: bool = False) -> None:
    """Refuse a share that does not lie between 0 and 1.

    >>> check_share(0.5, "the rate")
    """
    number = isinstance(share, int | float | np.integer | np.floating) and not isinstance(share, bool)
    if not number or not 0 <= share <= 1 or (above and share == 0):
        ends = "above 0 and at most 1" if above else "between 0 and 1"
        raise RequestError(f"{what} is {share!r}; give a number {ends}")


def release_counts(
    original: Original,
    inner: Table,
    method: str,
    parameters: Mapping[str, object],
    *,
    kept: Sequence[Margin] = (),
    kinds: Sequence[Kind],
    group: IntArray | None = None,
    sums: Kind,
    **more: Any,
) -> Protected:
    """Return the release of new inner counts with all their margins and the groups of hierarchies.

    Args:
        original: what was protected.
        inner: the counts that take the place of its own.
        method: the method's name.
        parameters: the method's parameters.
        kept: margins that the method does not change; they, and sums of them, are published as exact.
        kinds: what a reader knows of inner counts.
        group: the number of the kind of every inner cell, by position; the first by default.
        sums: what a reader knows of the other margins beside what the inner counts say.
        more: notes and details.
    """
    full, rows = laid_out(original)
    axes = {axis.name: axis.hierarchies for axis in full.axes}
    found = Tabulation.from_table(inner, hierarchies=axes)
    values = look_up(found.cells, found.records, full.cells)
    codes = {axis.name: full.codes(axis.name) for axis in full.axes}
    exact = np.zeros(len(full), bool)
    for margin in kept:
        exact |= np.logical_and.reduce([codes[name] == 0 for name in codes if name not in margin] or [True])
    at_leaves = full.inner(full.names)
    which = np.full(len(full), 1 + len(kinds))
    which[at_leaves] = 1 + (0 if group is None else group[full.among_leaves(np.flatnonzero(at_leaves))])
    which[exact] = 0
    return released(original, full, rows, values, method, parameters, (EXACT, *kinds, sums), which, **more)


def release_inner(release: Release, original: Table, **more: Any) -> Protected:
    """Return a release of inner counts alone, with what it changed."""
    inner = release.table
    cells = np.union1d(original.cells, inner.cells)
    changes = Changes.between(original.at(cells), inner.at(cells), total=(original.total, inner.total))
    return Protected(release, changes, **more)
