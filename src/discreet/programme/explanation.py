"""A plan in words: which tables are one problem, what they share, and what others contain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.core.json_types import Json
from discreet.core.text import Face, Result, listed, many
from discreet.programme.crossings import Cluster, Crossing, TableFamily
from discreet.programme.finished import clusters_in
from discreet.programme.plan_model import Programme
from discreet.programme.record_columns import columns_held


@dataclass(frozen=True, repr=False)
class PlanExplanation(Result):
    """The clusters of a plan, and further notes."""

    plan: Programme
    clusters: tuple[Cluster, ...]
    notes: tuple[str, ...] = ()

    @property
    def groups(self) -> tuple[tuple[Cluster, TableFamily], ...]:
        """All tables to protect, with their clusters."""
        return tuple((cluster, group) for cluster in self.clusters for group in cluster.groups)

    @property
    def sentence(self) -> str:
        """What there is to protect, in words."""
        tables, groups = len(self.plan.tables), len(self.groups)
        return f"{many(tables, 'table')}, {groups:,} to protect in {many(len(self.clusters), 'cluster')}."

    def contained(self) -> list[str]:
        """Return which tables need no protection of their own, because another one contains them."""
        told = []
        for _, group in self.groups:
            widest = group.widest
            inside = [one.name for one in group.tables if one is not widest and one.indicator == widest.indicator]
            if inside:
                are = "is" if len(inside) == 1 else "are"
                told.append(f"{listed(inside)} {are} contained in {widest.name}")
        return told

    def tied(self) -> list[str]:
        """Return which tables are linked by equations."""
        told = []
        for _, group in self.groups:
            names = list(dict.fromkeys(one.indicator for one in group.tables))
            if len(names) > 1:
                told.append(f"{group.name}: {listed(names)} are one more dimension, as an equation ties them")
        return told

    def shared(self) -> list[str]:
        """Return which cells occur in several tables."""
        told = []
        for cluster in self.clusters:
            for one, other, names in cluster.shared():
                cells = (
                    f"the cells of {' × '.join(names)} and all their totals occur"
                    if names
                    else "the grand total occurs"
                )
                parts = {**one.widest.part, **other.widest.part}
                inside = "".join(f", as far as {name} is in {code}" for name, code in parts.items())
                told.append(f"{cells} in {one.name} and in {other.name}{inside}")
        return told

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        return {
            "title": self.plan.title,
            "sentence": self.sentence,
            "tables": len(self.plan.tables),
            "protect": len(self.groups),
            "clusters": [cluster.to_dict() for cluster in self.clusters],
            "contained": self.contained(),
            "tied": self.tied(),
            "shared": self.shared(),
            "notes": list(self.notes),
        }

    def face(self, most: int) -> Face:
        """Return the tables to protect."""
        rows = [
            [cluster.name, group.name, " × ".join(_crossed(self.plan, group.widest)), str(len(group.tables))]
            for cluster, group in self.groups
        ]
        return Face(["cluster", "protected as one", "crossing", "tables"], rows, self.sentence, left=3)


def explain_plan(plan: Programme, notes: Sequence[str] = ()) -> PlanExplanation:
    """Say which tables of a plan are one problem.

    >>> tables = [{"name": "T1", "by": ["region"]}, {"name": "T2", "by": ["region", "size"]}]
    >>> print(explain_plan(Programme(tables=tables)))
    2 tables, 1 to protect in 1 cluster.
    cluster  protected as one  crossing       tables
    count    T1+T2             region × size       2
    """
    plan.refuse_faults()
    if plan.records is not None:
        columns_held(plan, plan.records)
    return PlanExplanation(plan, clusters_in(plan), tuple(notes))


def _crossed(plan: Programme, table: Crossing) -> list[str]:
    """Return the dimensions of a table, with the levels at which it is cut."""
    shown = []
    for name, level in table.levels.items():
        said = plan.dimensions.get(name)
        levels = said.named_levels if said is not None else ()
        shown.append(levels[min(level, len(levels)) - 1] if levels else name)
    return [*shown, *(f"{name} = {code}" for name, code in table.where.items())]
