"""The order in which rounding and cell keys go through a table: by name, whatever the order of rows and columns.

The same seed then gives the same noise for the same table. Otherwise a table that is read again in another order would
be published with other noise, and the two releases together would leave less open than either.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.core.numerics import IntArray
from discreet.table.figures import Figures
from discreet.table.grid import Dimension, grid_of, recode
from discreet.table.release import Release
from discreet.table.table import Table


def by_name(table: Table) -> Table:
    """Return a table with its dimensions, and the categories of each, sorted by name.

    >>> by_name(Table.from_array([[1, 2], [3, 4]], {"b": ["y", "x"], "a": ["p", "q"]})).to_array().tolist()
    [[3, 1], [4, 2]]
    """
    found = sorted(table.dimensions, key=lambda dimension: dimension.name)
    return _laid_out(table, [Dimension(one.name, tuple(sorted(one.categories))) for one in found])


def as_in(release: Release, table: Table) -> Release:
    """Return a release with its dimensions and categories in the order of a table."""
    inner = None if release.inner is None else _laid_out(release.inner, _like(release.inner.dimensions, table))
    return replace(release, inner=inner, figures=tuple(_sorted(part, table) for part in release.figures))


def _like(dimensions: Sequence[Dimension], table: Table) -> list[Dimension]:
    """Return dimensions in the order of a table, which may have fewer categories left in them."""
    own = {one.name: one for one in dimensions}
    names = [*(name for name in table.names if name in own), *(name for name in own if name not in table.names)]
    return [Dimension(name, tuple(_ordered(own[name].categories, name, table))) for name in names]


def _ordered(labels: Sequence[str], name: str, table: Table) -> list[str]:
    """Return labels in the order of a table's categories; what is none of them, as a total, comes first."""
    known = table.dimensions[table.axis(name)].categories if name in table.names else ()
    place = {label: i for i, label in enumerate(known)}
    return sorted(labels, key=lambda label: place.get(label, -1))


def _laid_out(table: Table, dimensions: Sequence[Dimension]) -> Table:
    """Return a table over the same dimensions in another order."""
    if tuple(dimensions) == table.dimensions:
        return table
    old, new, names = grid_of(table.dimensions), grid_of(tuple(dimensions)), [one.name for one in table.dimensions]
    maps = {one.name: recode(table.dimensions[names.index(one.name)].categories, one.categories) for one in dimensions}

    def moved(positions: IntArray) -> IntArray:
        codes = dict(zip(names, old.decode(positions), strict=True))
        return new.encode([maps[one.name][codes[one.name]] for one in dimensions])

    cells = moved(table.cells)
    order = np.argsort(cells)
    return Table(tuple(dimensions), cells[order], table.counts[order], np.sort(moved(table.impossible)))


def _sorted(part: Figures, table: Table) -> Figures:
    """Return published figures with their labels, columns and rows in the order of a table."""
    names = [*(name for name in table.names if name in part.names), *(n for n in part.names if n not in table.names)]
    labels = {name: tuple(_ordered(part.labels[name], name, table)) for name in names}
    if list(labels.items()) == [(name, tuple(part.labels[name])) for name in part.names]:
        return part
    columns = [recode(part.labels[n], labels[n])[part.codes[:, part.names.index(n)]] for n in names]
    codes = np.stack(columns, axis=1)
    order = np.lexsort(codes.T[::-1])
    return replace(
        part,
        labels=labels,
        codes=codes[order],
        values=part.values[order],
        kind=part.kind[order],
        upper=None if part.upper is None else part.upper[order],
        hierarchies={name: part.hierarchies[name] for name in names if name in part.hierarchies},
    )
