"""The work on one cluster: judged, protected in one problem and audited by an assessment, then cut into its tables."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TypeAlias

import numpy as np

from discreet.core.clock import Clock
from discreet.core.errors import DataError, InfeasibleError, LateError, LimitError, undamaged
from discreet.core.numerics import IntArray
from discreet.core.progress import Progress
from discreet.decide.assess import assess_subject
from discreet.decide.assessment import Assessment, Protect, Request
from discreet.decide.json_data import plain_settings
from discreet.decide.known_cells import LEFT_ASIDE
from discreet.decide.ledger.packing import packed, unpacked
from discreet.decide.policy import Policy
from discreet.decide.provenance import canonical, digest, versions
from discreet.decide.subject import Subject
from discreet.feasible.implied_statistics import without_implied
from discreet.programme.crossings import Crossing, TableFamily
from discreet.programme.finished import FinishedCells
from discreet.programme.originals import ClusterCells
from discreet.programme.projections import part_axis, projected, subsets
from discreet.programme.stacking import INDICATOR
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import UNBOUNDED, Kind
from discreet.table.listed_zeros import cells_shown
from discreet.table.published_statistics import with_published
from discreet.table.release import Release
from discreet.table.statistic import Statistic
from discreet.table.tabulation import Tabulation

Cells: TypeAlias = ClusterCells | FinishedCells
SAVED = 3
"""The version of a cluster's stored outcome."""

SEARCH = 600.0
"""Seconds for each search and each audit of a cluster where the run has no time limit, or a shorter one."""
LATE = "it was not finished in time; run the plan again, as what is finished is kept, or give more (--time-limit)"
"""Why an unfinished cluster is withheld."""
UNPUBLISHED = (
    "the disclosure risk 1/H to a reader who knows the method cannot be shown: it was judged with figures that no "
    "table of the plan shows; publish the tables of all people and of the finest level that they are taken from, or "
    "take a policy without a limit on it"
)
"""Why a cluster is withheld if less of it is published than was judged."""


@dataclass(frozen=True, eq=False)
class Task:
    """One cluster, and what is asked of it.

    ``statistics`` are published beside tables, by the name of each. ``prepared`` makes the method that replaces
    ``protection``, with notes, within a number of seconds; ``asked`` describes it. Work ends at the time ``until``,
    which other processes and machines read from their own clocks.
    """

    cells: Cells
    policy: Policy
    protection: Protect
    seed: int
    trial: bool
    until: float | None = None
    statistics: Mapping[str, Mapping[str, Statistic]] = field(default_factory=dict)
    asked: Mapping[str, object] = field(default_factory=dict)
    prepared: Callable[[float | None], tuple[Protect, tuple[str, ...]]] | None = None

    def anew(self) -> Task:
        """Return the same task; what is worked out of its cells is forgotten with it, as it can be large."""
        return replace(self, cells=replace(self.cells))

    def clock(self) -> Clock:
        """Return a clock for the end of the work."""
        return Clock.within(None if self.until is None else max(self.until - time.time(), 0.0))

    @property
    def name(self) -> str:
        """The cluster's name."""
        return self.cells.cluster.name

    def subject(self) -> Subject:
        """Return what is assessed."""
        cells = self.cells
        whole = cells.judged
        alone = cells.uniform and len(cells.sheets) == 1
        found = Subject.of(whole, name=self.name) if alone else None
        if found is None:
            response = whole.responses[0].name if whole.responses else None
            found = Subject(self.name, whole, whole, None, response)
        return replace(found, forms=cells.forms())

    @property
    def sha256(self) -> str:
        """The hash of everything that the result depends on: cells, respondents, keys, tables and what is asked."""
        data = hashlib.sha256(self.subject().sha256().encode())
        people = self.cells.judged.respondents
        if people is not None:
            data.update(repr(people.names).encode())
            for column in (people.unit, people.cell, people.records, people.amounts):
                data.update(np.ascontiguousarray(column).tobytes())
        if self.cells.keys is not None:
            data.update(np.ascontiguousarray(self.cells.keys).tobytes())
        asked = {
            "saved": SAVED,
            "versions": dict(versions()),
            "policy": self.policy.to_dict(),
            "protection": plain_settings(self.asked) | {"method": str(self.protection)},
            "seed": hashlib.sha256(str(self.seed).encode()).hexdigest(),
            "tables": [asdict(one) for one in self.cells.cluster.tables],
            "statistics": [
                {name: one.to_dict() for name, one in self.statistics.get(table.name, {}).items()}
                for table in self.cells.cluster.tables
            ],
        }
        return digest({"cells": data.hexdigest(), **asked})


@dataclass(frozen=True)
class TableOutcome:
    """The outcome for one table: how many figures are published, hidden or changed, sensitive; its statistics."""

    name: str
    figures: int
    hidden: int
    sensitive: int
    statistics: int = 0

    @property
    def share(self) -> float:
        """The share of figures that are hidden."""
        return self.hidden / max(self.figures, 1)


@dataclass(frozen=True, eq=False)
class ClusterOutcome:
    """The outcome for a cluster: verdict and reasons, and what may be published of every table, in order."""

    name: str
    variable: str
    period: str
    sha256: str
    verdict: str
    sentence: str
    checks: tuple[tuple[bool, str], ...]
    method: str
    utility: float
    cells: int
    sensitive: int
    tables: tuple[TableOutcome, ...]
    release: Release | None
    notes: tuple[str, ...] = ()
    unfinished: bool = False

    @classmethod
    def late(cls, task: Task) -> ClusterOutcome:
        """Return the outcome for a cluster that was not finished in time."""
        cluster = task.cells.cluster
        tables = tuple(TableOutcome(table.name, 0, 0, 0) for table in cluster.tables)
        told = (task.sha256, "withhold", f"Do not release it: {LATE}.", ((False, LATE),), "", 0.0)
        return cls(
            task.name, cluster.variable, cluster.period, *told, len(task.cells.judged), 0, tables, None, unfinished=True
        )

    def to_text(self) -> str:
        """Return all of it as text; the same outcome gives the same bytes."""
        data = {key: value for key, value in vars(self).items() if key not in ("release", "tables")}
        data["tables"] = [asdict(one) for one in self.tables]
        data["trial"] = self.release is not None and self.release.trial
        release = None if self.release is None else json.loads(packed(self.release))
        return canonical(plain_settings(data) | {"release": release}) + "\n"

    def refuse_odd_types(self) -> None:
        """Refuse values of other types than a run writes, and invalid verdicts and releases."""
        texts = (self.name, self.variable, self.period, self.sha256, self.sentence, self.method)
        counts = (
            self.cells,
            self.sensitive,
            *(n for one in self.tables for n in (one.figures, one.hidden, one.sensitive, one.statistics)),
        )
        if not all(isinstance(text, str) for text in (*texts, *(one.name for one in self.tables))):
            raise TypeError("an entry that should be text is not")
        if not all(isinstance(n, int) for n in counts) or not isinstance(self.utility, float | int):
            raise TypeError("an entry that should be a number is not")
        if not isinstance(self.unfinished, bool) or (self.unfinished and self.verdict != "withhold"):
            raise TypeError("it is marked both finished and unfinished")
        if self.verdict not in ("release", "protect", "withhold") or (self.verdict == "withhold") != (
            self.release is None
        ):
            raise ValueError(f"its verdict is {self.verdict!r}")
        if self.release is not None and len(self.release.parts()) != len(self.tables):
            raise ValueError("a table is missing")

    @classmethod
    def from_text(cls, text: str) -> ClusterOutcome:
        """Return the outcome that was written."""
        with undamaged("what was kept of a cluster", "remove it and run the plan again"):
            data = json.loads(text)
            body, trial = data.pop("release"), data.pop("trial")
            release = None if body is None else unpacked(json.dumps(body).encode())
            tables = tuple(TableOutcome(**one) for one in data.pop("tables"))
            checks = tuple((bool(passed), str(told)) for passed, told in data.pop("checks"))
            notes = tuple(str(note) for note in data.pop("notes"))
            found = cls(**data, notes=notes, tables=tables, checks=checks, release=release)
            found.refuse_odd_types()
        return replace(found, release=release.as_trial()) if trial and release is not None else found


def work_on(task: Task, progress: Progress | None = None, workers: int | None = None) -> ClusterOutcome:
    """Assess a cluster, and cut what may be published into its tables; withhold it if time runs out."""
    clock = task.clock()
    if clock.late:
        return ClusterOutcome.late(task)
    try:
        found = _found(task, clock, progress, workers)
    except LimitError as error:
        if clock.late or isinstance(error, LateError):
            return ClusterOutcome.late(task)
        raise
    # What was judged in time stands; what failed may have failed for want of it.
    return replace(found, unfinished=found.unfinished or (found.verdict == "withhold" and clock.late))


def _found(task: Task, clock: Clock, progress: Progress | None, workers: int | None) -> ClusterOutcome:
    """Assess a cluster in the time that is left."""
    protection, told = (task.protection, ()) if task.prepared is None else task.prepared(clock.left)
    search = max(SEARCH, clock.left or 0.0)
    request = Request(task.policy, protection, task.seed, 1000, None, search, task.trial, within=clock.left)
    found = assess_subject(task.subject(), request, workers=workers, progress=progress)
    release = found.release
    tables = task.cells.cluster.tables
    parts = [] if release is None else [_cut(release, task.cells, table) for table in tables]
    verdict, sentence, checks = found.verdict, found.sentence, tuple((one.passed, one.text) for one in found.checks)
    notes = () if found.protected is None else found.protected.notes
    if found.verdict == "withhold" and found.protected is None and found.candidates:
        sentence, checks = _unprotected(found)
    elif found.verdict == "withhold":
        failed = "; ".join(text for passed, text in checks if not passed)
        notes = tuple(
            f"{one.title} was tried" if one.text == failed else f"{one.title}: {one.text}" for one in found.candidates
        )
    elif release is not None and (risk := _risk_of_more(found, release, parts)) is not None:
        verdict, sentence = "withhold", f"Do not release it: {UNPUBLISHED}."
        checks = tuple((False, UNPUBLISHED) if k == risk else one for k, one in enumerate(checks))
        release, parts = None, []
    parts, said = _with_statistics(task, parts)
    outcomes = [_outcome(task.cells, found, table, k, parts) for k, table in enumerate(tables)]
    aside = tuple(text for passed, text in checks if passed and text.startswith(LEFT_ASIDE))
    notes = (*aside, *notes, *told)
    made = None
    if release is not None:
        made = Release(None, release.method, release.parameters, tuple(parts))
        made = made.as_trial() if release.trial or task.trial else made
    return ClusterOutcome(
        task.name,
        task.cells.cluster.variable,
        task.cells.cluster.period,
        task.sha256,
        verdict,
        sentence,
        (*checks, *said),
        "" if release is None else release.method,
        round(found.evidence.utility, 12),
        len(task.cells.judged),
        0 if found.sensitivity is None else int(found.sensitivity.cells.size),
        tuple(outcomes),
        made,
        notes,
        unfinished=verdict == "withhold" and any(one.late for one in found.candidates),
    )


def _unprotected(found: Assessment) -> tuple[str, tuple[tuple[bool, str], ...]]:
    """Return why nothing of a cluster can be published, and its checks, which are of the tables as they are."""
    tried = "; ".join(f"{one.title}: {one.text}" for one in found.candidates)
    why = f"no protection that the policy allows was found ({tried})"
    checks = tuple((one.passed, f"without protection: {one.text}") for one in found.checks)
    return f"Do not release it: {why}.", ((False, why), *checks)


def _risk_of_more(found: Assessment, release: Release, parts: Sequence[Figures]) -> int | None:
    """Return the check of the disclosure risk to a reader who knows the method if more was judged than is published.

    With fewer figures, intervals are at least as wide. But the bits left of a figure can be fewer without another one
    than with it: an unseen figure counts only on average.
    """
    claimed = (k for k, one in enumerate(found.checks) if one.name == "dr" and one.passed and one.reader == "method")
    if (risk := next(claimed, None)) is None:
        return None
    shown = {_where(part, row) for part in parts for row in range(len(part))}
    return None if all(_where(part, row) in shown for part in release.parts() for row in range(len(part))) else risk


def _where(part: Figures, row: int) -> frozenset[tuple[str, str]]:
    """Return the categories of a figure, those that are totals aside."""
    labels = ((name, part.labels[name][code]) for name, code in zip(part.names, part.codes[row].tolist(), strict=True))
    return frozenset((name, label) for name, label in labels if not part.is_total(name, label))


def _outcome(cells: Cells, found: Assessment, table: Crossing, k: int, parts: list[Figures]) -> TableOutcome:
    judged = found.sensitivity
    sensitive = 0
    if judged is not None:
        names = [axis.name for axis in cells.axes(table) if axis.name not in table.where]
        whole = judged.tabulation
        axes = [axis for axis in cells.axes(table) if axis.name in whole.names]
        _, rows = projected(replace(whole, respondents=None), axes, subsets(names, table.where), table.where)
        if INDICATOR in whole.names:
            rows = rows[whole.codes(INDICATOR)[rows] == whole.axis(INDICATOR).places[table.indicator]]
        sensitive = int(judged.sensitive[rows].sum())
    shown = parts[k] if parts else None
    if shown is None:
        return TableOutcome(table.name, 0, 0, sensitive)
    beside = sum(len(column) for column in shown.statistics)
    return TableOutcome(table.name, cells_shown(shown), int(shown.hidden.sum()), sensitive, beside)


def _with_statistics(task: Task, parts: Sequence[Figures]) -> tuple[list[Figures], list[tuple[bool, str]]]:
    """Return tables with their statistics, and a check that these follow from the figures of all tables together."""
    made = []
    for part in parts:
        wanted = task.statistics.get(part.name)
        made.append(with_published(Release.of(part), wanted).parts()[0] if wanted else part)
    shown: dict[str, int] = {}
    for column in (column for part in made for column in part.statistics):
        shown[column.name] = shown.get(column.name, 0) + len(column)
    if not shown:
        return made, []
    left = [column.name for part in without_implied(made) for column in part.statistics]
    if left:
        raise DataError(
            f"the statistic {left[0]!r} does not follow from the figures beside it; leave it out of the plan"
        )
    told = ", ".join(f"{name} {count:,}" for name, count in shown.items())
    return made, [(True, f"statistics are those of the published figures, and reveal no more (published: {told})")]


def _shows_all(group: TableFamily, part: Figures, whole: Tabulation) -> bool:
    """Say whether a table of the group shows everything down to the finest level, so readers can add up its sums."""
    depth = {name: max(tree.depth for tree in whole.axis(name).hierarchies) for name in part.names if name != INDICATOR}
    return any(
        not one.where and all(one.levels.get(name, -1) >= deep for name, deep in depth.items()) for one in group.tables
    )


def _without_parts(part: Figures, whole: Tabulation) -> Figures:
    """State sums of unpublished figures as a reader knows them: as uncertain as all their parts together.

    With n cells below a sum, each at most b away from its true value, the sum is at most n·b away from its own.
    """
    summed = part.where(lambda kind: kind.summed)
    if not summed.any():
        return part
    far = 0
    for k in np.unique(part.kind[~summed]).tolist():
        values = part.values[part.kind == k].astype(np.int64)
        lower, upper = part.kinds[k].range(values)
        far = max(far, int((upper - values).max()), int((values - lower).max()))
    if far >= UNBOUNDED // 2:
        raise InfeasibleError(
            "some tables show sums of figures that no table shows and that may be anything; publish the finest level, "
            "or take another protection"
        )
    below = np.ones(len(part), np.int64)
    for (name, labels), code in zip(part.labels.items(), part.codes.T, strict=True):
        axis = whole.axis(name)
        nodes = [axis.places[axis.total if part.is_total(name, label) else label] for label in labels]
        below *= np.array([max(len(axis.under[node]), 1) for node in nodes])[code]
    sizes, which = np.unique(below[summed], return_inverse=True)
    kind = part.kind.copy()
    kind[summed] = len(part.kinds) + which
    own = tuple(Kind("perturbed", bound=max(int(size) * far, 1)) for size in sizes)
    return replace(part, kinds=(*part.kinds, *own), kind=kind)


def _cut(release: Release, cells: Cells, table: Crossing) -> Figures:
    """Return the figures of one table, with the categories of its people and its indicator as labels."""
    parts, groups = release.parts(), cells.cluster.groups
    number = next(k for k, group in enumerate(groups) if table in group.tables)
    part = parts[number]
    axes = {axis.name: axis for axis in cells.axes(table)}
    kept = np.ones(len(part), bool)
    columns: dict[str, tuple[tuple[str, ...], IntArray]] = {}
    for (name, labels), code in zip(part.labels.items(), part.codes.T, strict=True):
        if name in table.where:
            kept &= np.array([label == table.where[name] for label in labels])[code]
            columns[name] = ((table.where[name],), np.zeros(len(part), np.int64))
        elif name == INDICATOR and name in axes:
            kept &= np.array([label == table.indicator for label in labels])[code]
            columns[name] = ((table.indicator,), np.zeros(len(part), np.int64))
        elif name in table.levels:
            axis = axes[name]
            known = [axis.total if part.is_total(name, label) else label for label in labels]
            place = np.array([axis.places.get(label, -1) for label in known])[code]
            kept &= place >= 0
            columns[name] = (axis.codes, place)
        else:
            kept &= np.array([part.is_total(name, label) for label in labels])[code]
    rows = np.flatnonzero(kept)
    trees: dict[str, tuple[Hierarchy, ...]] = {
        name: part_axis(name, code).hierarchies for name, code in table.where.items() if name in columns
    }
    # The whole hierarchy says how the categories of a table that is cut relate to those of others; a part has its own.
    whole = cells.judged
    trees |= {
        name: (axes[name] if axes[name].part else whole.axis(name)).hierarchies
        for name in columns
        if name in axes and name not in table.where
    }
    first = next(iter(table.levels))
    order = [*table.levels, *(name for name in columns if name not in table.levels)]
    if isinstance(cells, ClusterCells) and not _shows_all(groups[number], part, cells.whole):
        part = _without_parts(part, cells.whole)
    return replace(
        part,
        labels={name: columns[name][0] for name in order},
        codes=np.stack([columns[name][1][rows] for name in order], axis=1),
        values=part.values[rows],
        kind=part.kind[rows],
        upper=None if part.upper is None else part.upper[rows],
        name=table.name,
        figure=table.indicator or part.figure,
        total=axes[first].total,
        hierarchies=trees,
        absent=part.absent if cells.uniform else "unpublished",
    )
