"""Table redesign: categories are merged, and the coarser table is published without further changes.

Every published figure is true; what is hidden is how it splits over the merged categories (domingo2002 section 4.3).
Other tables that show these categories, or a merged cell that is 0, still reveal the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from discreet.core.errors import RequestError
from discreet.core.numerics import NumberArray, xlogx
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.protect.base import Changes, MethodBase, Original, Protected
from discreet.protect.redesign.recode import categories, coarsened, joined, merging, to_levels
from discreet.reading.original import reads_original
from discreet.table import Release, Table
from discreet.table.coarsen import Recoding, groups_of
from discreet.table.figures import Figures, units_of
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import EXACT
from discreet.table.tabulation import Tabulation


@dataclass(frozen=True)
class Redesign(MethodBase):
    """A recoding ``{dimension: {category: group}}``, held as pairs to be compared and hashed.

    >>> Redesign.of({"x": {"1": "1+2", "2": "1+2"}}).apply(Table.from_array([4, 1, 2], ["x"])).release.table.to_dict()
    {('1+2',): 5, ('3',): 2}
    """

    groups: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()
    name: ClassVar[str] = "redesign"
    # Nothing is drawn, and groups stay where their first categories are.
    any_order: ClassVar[bool] = False

    @classmethod
    def of(cls, recoding: Recoding) -> Redesign:
        """Make the method from a recoding."""
        pairs = ((name, tuple((str(c), str(g)) for c, g in groups.items())) for name, groups in recoding.items())
        return cls(tuple(pairs))

    @property
    def recoding(self) -> dict[str, dict[str, str]]:
        """The group of each category that is merged."""
        return {name: dict(groups) for name, groups in self.groups}

    @property
    def parameters(self) -> dict[str, object]:
        """The recoding, which tells readers and risk measures what was merged."""
        return {"recoding": self.recoding}

    def protected(self, original: Original, seed: Seed, progress: Progress | None) -> Protected:
        """Merge the categories of an original; nothing is drawn."""
        if not self.groups:
            raise RequestError(
                "nothing is to be merged; name categories (merge=, --merge) or a level (levels=, --level)"
            )
        coarse = coarsened(original, self.recoding)
        full = {name: _full(categories(original, name), groups, name) for name, groups in self.recoding.items()}
        trees: Mapping[str, tuple[Hierarchy, ...]]
        inner: Table | None
        if isinstance(coarse, Table):
            figures, inner = Figures.of_table(coarse, EXACT, zeros=True, name=self.name), coarse
            flat = [d for d in coarse.dimensions if d.name in full]
            trees = {d.name: (Hierarchy.flat(d.categories, total=_unused(d.categories)),) for d in flat}
            values, total, decimals = coarse.counts, coarse.total, 0
        else:
            figures = Figures.of_tabulation(coarse.with_empty_cells(), name=self.name)
            inner = coarse.table() if not coarse.responses and coarse.names in coarse.margins else None
            trees = figures.hierarchies
            values, decimals = units_of(coarse)
            total = int(values[0])
        hierarchies = {n: tuple(_finer(t, full[n]) if n in full else t for t in found) for n, found in trees.items()}
        # Cells of the merged categories have no row and are not empty.
        figures = replace(figures, hierarchies=hierarchies, absent="unpublished")
        changes = Changes.between(
            values,
            values,
            whole=len(figures),
            total=(total, total),
            decimals=decimals,
            inner=isinstance(coarse, Table),
        )
        cost = lost(original, coarse)
        return Protected(
            Release(inner, self.name, {"recoding": full}, (figures,)),
            changes,
            (*(_sentence(name, groups) for name, groups in full.items()), cost.sentence),
            {"cost": cost.to_dict()},
        )


@dataclass(frozen=True)
class Cost:
    """What a recoding costs: categories that are no longer told apart, and entropy of the cells, in nats.

    ``merges`` is the reduction of the number of categories; ``entropy`` is H(X) − H(X merged) of the people over the
    finest cells, the information about where somebody is that a reader no longer gets; ``share`` is its share of H(X).
    None where the finest cells are not tabulated.
    """

    merges: int
    entropy: float | None
    share: float | None

    @property
    def sentence(self) -> str:
        """The cost in words."""
        share = "" if self.share is None else f" and {self.share:.1%} of the entropy of the cells"
        return f"This costs {self.merges} {'category' if self.merges == 1 else 'categories'}{share}."

    def to_dict(self) -> dict[str, float | int | None]:
        """Return plain data."""
        return dict(vars(self))


def lost(original: Original, coarse: Original) -> Cost:
    """Return what is lost from an original to a coarser version of it."""
    merges = sum(len(categories(original, name)) - len(categories(coarse, name)) for name in original.names)
    if isinstance(original, Tabulation) and original.names not in original.margins:
        return Cost(merges, None, None)
    before, after = (entropy_of((one if isinstance(one, Table) else one.table()).counts) for one in (original, coarse))
    entropy = max(before - after, 0.0)
    return Cost(merges, entropy, entropy / before if before else 0.0)


def entropy_of(counts: NumberArray) -> float:
    """Return the entropy, in nats, of people over cells.

    >>> round(entropy_of(np.array([4, 4])), 4)
    0.6931
    """
    N = float(counts.sum())
    return float(np.log(N) - xlogx(counts).sum() / N) if N else 0.0


def _full(found: tuple[str, ...], groups: Mapping[str, str], name: str) -> dict[str, str]:
    """Return the group of every category of a dimension."""
    labels, place = groups_of(name, found, groups)
    return {category: labels[i] for category, i in zip(found, place.tolist(), strict=True)}


def _members(groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the categories of every group that has several."""
    below: dict[str, list[str]] = {}
    for category, group in groups.items():
        below.setdefault(group, []).append(category)
    return {group: found for group, found in below.items() if len(found) > 1}


def _finer(tree: Hierarchy, groups: Mapping[str, str]) -> Hierarchy:
    """Return a tree of groups with their categories below them, for an audit to ask about."""
    below = _members(groups)
    codes, parents = list(tree.codes), list(tree.parents)
    for place, code in enumerate(tree.codes):
        codes += below.get(code, [])
        parents += [place] * len(below.get(code, []))
    return Hierarchy(tuple(codes), tuple(parents), tree.labels, tree.part)


def _unused(found: Sequence[str]) -> str:
    total = "Total"
    while total in found:
        total += " "
    return total


def _sentence(name: str, groups: Mapping[str, str]) -> str:
    merged = [f"{', '.join(found)} are {group!r}" for group, found in _members(groups).items()]
    return f"{name}: {len(groups)} categories became {len(set(groups.values()))} ({'; '.join(merged)})."


@reads_original
def redesign(
    original: Original,
    merge: Mapping[str, Mapping[str, Sequence[object]]] | None = None,
    *,
    levels: Mapping[str, int] | None = None,
) -> Release:
    """Publish an original with merged categories.

    Args:
        original: a table, or a tabulation with its margins and hierarchies.
        merge: by dimension, its new groups with their categories.
        levels: by dimension, the finest published level of its hierarchy; 1 is directly under the total.

    >>> table = Table.from_array([[3, 0], [1, 5], [2, 2]], {"age": ["0-9", "10-19", "20+"], "sex": ["m", "f"]})
    >>> redesign(table, {"age": {"0-19": ["0-9", "10-19"]}}).table.to_array().tolist()
    [[4, 5], [2, 2]]
    """
    recoding = joined(original, merging(merge or {}), to_levels(original, levels or {}))
    return Redesign.of(recoding).apply(original).release
