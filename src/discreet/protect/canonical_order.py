"""The order in which protections process a table: by name, whatever the order of rows, columns and categories.

The same seed then gives the same noise for the same table, whether it comes from a file, a frame or records, and
whether it holds inner counts or all margins. Otherwise a table read again in another order would get other noise, and
the two releases together would reveal more than either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from discreet.core.numerics import IntArray
from discreet.table.axis import Axis
from discreet.table.figures import Figures
from discreet.table.grid import Dimension, Grid, recode
from discreet.table.hierarchy import Hierarchy
from discreet.table.release import Release
from discreet.table.table import Table
from discreet.table.tabulation import Tabulation


def by_name(original: Table | Tabulation) -> Table | Tabulation:
    """Return an original with its dimensions, and the categories of each, sorted by name; totals and groups come first.

    >>> by_name(Table.from_array([[1, 2], [3, 4]], {"b": ["y", "x"], "a": ["p", "q"]})).to_array().tolist()
    [[3, 1], [4, 2]]
    """
    if isinstance(original, Tabulation):
        return _tabulation_by_name(original)
    found = sorted(original.dimensions, key=lambda dimension: dimension.name)
    return _laid_out(original, [Dimension(one.name, tuple(sorted(one.categories))) for one in found])


def as_in(release: Release, original: Table | Tabulation) -> Release:
    """Return a release with its dimensions and categories in the order of an original."""
    order = _Order.of(original)
    inner = release.inner
    if inner is not None:
        inner = _laid_out(inner, order.like({one.name: one.categories for one in inner.dimensions}))
    return replace(release, inner=inner, figures=tuple(_sorted(part, order) for part in release.figures))


@dataclass(frozen=True)
class _Order:
    """The dimensions of an original with their categories, including totals and groups, and their hierarchies."""

    labels: Mapping[str, Sequence[str]]
    trees: Mapping[str, tuple[Hierarchy, ...]]
    total: str | None = None

    @classmethod
    def of(cls, original: Table | Tabulation) -> _Order:
        if isinstance(original, Table):
            return cls(original.categories_by_name, {})
        trees = {axis.name: axis.hierarchies for axis in original.axes}
        return cls(original.categories_by_name, trees, original.axes[0].total)

    def like(self, labels: Mapping[str, Sequence[str]]) -> list[Dimension]:
        """Return dimensions in this order; a category that is not in it, such as a table's total, comes first."""
        names = [*(name for name in self.labels if name in labels), *(n for n in labels if n not in self.labels)]
        found = []
        for name in names:
            place = recode(labels[name], self.labels.get(name, ()))
            found.append(Dimension(name, [labels[name][i] for i in np.argsort(place, kind="stable").tolist()]))
        return found

    def hierarchies(self, part: Figures) -> dict[str, tuple[Hierarchy, ...]]:
        """Return the hierarchies of published figures as the original has them, and flat ones in its order."""
        found = {}
        for dimension in self.like({name: part.labels[name] for name in part.hierarchies}):
            name, trees = dimension.name, part.hierarchies[dimension.name]
            mine = self.trees.get(name, ())
            alike = _every_code(mine) == _every_code(trees) and len(mine) == len(trees)
            found[name] = mine if alike else tuple(_as_listed(tree, dimension.categories) for tree in trees)
        return found


def _every_code(trees: Sequence[Hierarchy]) -> set[str]:
    return {code for tree in trees for code in tree.codes}


def _as_listed(tree: Hierarchy, codes: Sequence[str]) -> Hierarchy:
    """Return a tree of one level with its codes in the listed order, and any other unchanged."""
    if tree.depth > 1 or set(codes) != set(tree.codes):
        return tree
    below = [code for code in codes if code != tree.total]
    return Hierarchy((tree.total, *below), tree.parents, tree.labels, tree.part)


def _by_name(tree: Hierarchy) -> Hierarchy:
    r"""Return a hierarchy with its groups from the top down, then its finest codes, each sorted by name.

    >>> _by_name(Hierarchy.from_hrc("s\n@s2\n@s1\nn\n@n1\n")).codes
    ('Total', 'n', 's', 'n1', 's1', 's2')
    """
    leaves, levels = set(tree.leaves), dict(zip(tree.codes, tree.levels, strict=True))
    codes = sorted(tree.codes, key=lambda code: (code in leaves, 0 if code in leaves else levels[code], code))
    above = dict(zip(tree.codes, tree.parents, strict=True))
    place = {code: i for i, code in enumerate(codes)}
    parents = tuple(place[tree.codes[above[code]]] if above[code] >= 0 else -1 for code in codes)
    return Hierarchy(tuple(codes), parents, tree.labels, tree.part)


def _axis_by_name(axis: Axis) -> Axis:
    r"""Return an axis with its codes sorted by name; of several trees, those that hold most come first.

    The first tree holds all finest codes: those that it lacks come directly under the total, of which they are parts.

    >>> trees = (Hierarchy.from_hrc("z\n@b\n@a\n"), Hierarchy.from_hrc("y\n@c\n@b\n"))
    >>> for both in (trees, trees[::-1]):
    ...     print(*_axis_by_name(Axis("x", both)).codes)
    Total y a b c z
    Total y a b c z
    """
    trees = sorted(map(_by_name, axis.hierarchies), key=lambda tree: (-len(tree.leaves), tree.codes, tree.parents))
    lacks = [code for code in axis.leaves if code not in trees[0].codes]
    return Axis(axis.name, (_by_name(trees[0].with_codes(lacks)), *trees[1:]))


def _tabulation_by_name(cells: Tabulation) -> Tabulation:
    """Return a tabulation with its dimensions, and the trees and codes of each, in another order."""
    axes = tuple(_axis_by_name(axis) for axis in sorted(cells.axes, key=lambda axis: axis.name))
    if [(axis.name, axis.codes) for axis in axes] == [(axis.name, axis.codes) for axis in cells.axes]:
        return cells
    to = Grid.of({axis.name: axis.codes for axis in axes})
    codes = {axis.name: recode(cells.axis(axis.name).codes, axis.codes) for axis in axes}
    position = cells.grid.translate(cells.cells, to, codes)
    order = np.argsort(position)
    margins = [tuple(axis.name for axis in axes if axis.name in margin) for margin in cells.margins]
    known = cells.respondents
    return replace(
        cells,
        axes=axes,
        margins=tuple(sorted(margins, key=lambda margin: (len(margin), margin))),
        cells=position[order],
        records=cells.records[order],
        weighted=None if cells.weighted is None else cells.weighted[order],
        responses=tuple(response.mapped(lambda column: column[order]) for response in cells.responses),
        contributors=cells.contributors.mapped(lambda column: column[order]),
        holdings=None if cells.holdings is None else cells.holdings.mapped(lambda column: column[order]),
        respondents=None if known is None else known.moved(cells.grid.translate(known.cell, to, codes)),
    )


def _laid_out(table: Table, dimensions: Sequence[Dimension]) -> Table:
    """Return a table over the same dimensions in another order."""
    if tuple(dimensions) == table.dimensions:
        return table
    to = Grid.of({one.name: one.categories for one in dimensions})
    codes = {one.name: recode(table.categories_by_name[one.name], one.categories) for one in dimensions}

    def moved(positions: IntArray) -> IntArray:
        return table.grid.translate(positions, to, codes)

    cells = moved(table.cells)
    order = np.argsort(cells)
    return Table(tuple(dimensions), cells[order], table.counts[order], np.sort(moved(table.impossible)))


def _sorted(part: Figures, order: _Order) -> Figures:
    """Return published figures with their labels, columns and rows in the order of an original."""
    labels = {one.name: one.categories for one in order.like(part.labels)}
    trees = order.hierarchies(part)
    total = order.total or part.total
    if list(labels.items()) == list(part.labels.items()):
        return replace(part, hierarchies=trees, total=total)
    columns = [recode(part.labels[n], labels[n])[part.codes[:, part.names.index(n)]] for n in labels]
    codes = np.stack(columns, axis=1)
    rows = np.lexsort(codes.T[::-1])
    return replace(
        part,
        labels=labels,
        codes=codes[rows],
        values=part.values[rows],
        kind=part.kind[rows],
        upper=None if part.upper is None else part.upper[rows],
        hierarchies=trees,
        total=total,
    )
