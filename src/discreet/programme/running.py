"""A plan run: tabulated once, every cluster protected and audited, everything checked together, written whole.

Finished clusters are kept beside the outputs, one file each, written in one step. A run that was killed resumes from
there, and a later run redoes only what changed; both end in the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TypedDict

from discreet.core.clock import Clock
from discreet.core.effort import Effort
from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.core.files import (
    PRIVATE_FOLDER,
    ScratchFolder,
    file_sha256,
    new_whole,
    remove_orphans,
    sync_folder,
    write_text,
)
from discreet.core.json_types import Json
from discreet.core.parallel import run as run_parallel
from discreet.core.progress import Progress, tell
from discreet.core.random import drawn_seed, release_seed
from discreet.decide.ledger import Ledger
from discreet.decide.ledger.entry import Entry
from discreet.decide.ledger.joined_tables import ContradictingReleases
from discreet.decide.ledger.joint import SUMS
from discreet.decide.ledger.ledger import Announced
from discreet.decide.ledger.packing import packed
from discreet.decide.ledger.settings import Tags
from discreet.decide.policy import Policy
from discreet.decide.provenance import digest
from discreet.decide.provenance import versions as versions_used
from discreet.decide.subject import Case, Levels
from discreet.decide.verdict import READERS
from discreet.programme.cluster_work import SEARCH, ClusterOutcome, Task, work_on
from discreet.programme.finished import finished_clusters
from discreet.programme.means import with_means
from discreet.programme.originals import ClusterCells, RecordsOfPlan
from discreet.programme.outcome import ProgrammeOutcome, refuse_overwriting, table_files
from discreet.programme.periods import Before, Steady, cell_name, outcomes_in, plan_in, refuse_unkept
from discreet.programme.plan_model import Programme
from discreet.programme.territories import maps_of, remedy
from discreet.protect.base import Original
from discreet.table.release import Release

COUNTED = ("", "count")
"""The variable of a cluster of numbers."""
DIFFERENT = (
    "say in the plan how they differ, and run it again, which keeps the check on. A correction of what was published: "
    "under [previous], folder, revision = true and records, the files as they were then. Another time: period. Other "
    'people: population, those of a part after the whole ("residents > 18+"). To state this about an earlier release, '
    "retag it (discreet ledger retag ID --reason …)"
)
"""What to do in a plan if its tables and those in the ledger contradict each other."""
CLOSE = (
    "To hide more, close figures of this version that the correction changed, totals too, those in the sums above "
    'first, and run it again: [[frozen]], cell = {{ DIMENSION = "…" }}, state = "closed". These are open: {}'
)
"""What to do in a plan if a revision gives away figures together with what it corrects."""
CLOSED = "No figure that the correction changed is open, so nothing more can be closed: let the last version stand"
"""What is left to do in a plan if nothing can be closed."""
CLOSELY = (
    "Beside other releases, it is judged which amounts can be worked out exactly, not whether they keep their levels"
)
"""What a check of amounts beside the ledger leaves open, where a policy has protection levels."""
KEPT_BY_ALL = (
    "Sensitive cells keep their protection levels to a reader of all versions, too, who knows which of the finest "
    "cells went up, and which down"
)
"""What is said if cells keep their levels beside older versions."""
ALONE = " of this version alone"
"""What a claim about all cells of a revision is qualified by if it was not judged beside older versions again."""
BY_ITSELF = f"{ALONE}; what readers of all versions know more closely is named below"
"""What it is qualified by if older versions tell some too closely."""
NAMED = 12
"""How many open figures a message names."""
FEW = "If a change by so few gives nothing away, as where the turnover of every firm changes, say so: fewest = {}"
"""What to do in a plan if a change is traced to few people or firms, and hiding more is not wanted."""
KEPT = ".plan"
"""The folder beside the outputs with the state of a run; it is as confidential as the records."""


@dataclass(frozen=True)
class RunOptions:
    """How a plan is run: its output, seed, workers and progress.

    ``time_limit`` is for the whole run, in seconds, and overrides that of the plan; ``before_writing`` is called once
    everything is found.
    """

    folder: Path | None = None
    seed: int | None = None
    trial: bool = False
    workers: int | None = None
    progress: Progress | None = None
    time_limit: float | None = None
    before_writing: Callable[[], None] | None = None


def run_plan(plan: Programme, options: RunOptions | None = None) -> ProgrammeOutcome:
    """Run a plan: write every table that may be published, the record and the report.

    A table is published if its cluster meets the policy, and if nothing follows from it together with the ledger.
    Whatever is unfinished when time is up is withheld, and a later run continues with it.
    """
    how = options or RunOptions()
    clock = Clock.within(plan.time_limit if how.time_limit is None else how.time_limit)
    plan.refuse_faults()
    policy = Policy.load(plan.place(plan.policy) if plan.policy.endswith(".toml") else plan.policy)
    folder = how.folder or plan.written
    refuse_overwriting(plan, folder, table_files(plan))
    inputs = digest(_inputs(plan, policy, how))
    if (before := ProgrammeOutcome.unchanged(plan, folder, inputs)) is not None:
        return before
    if how.seed is not None:
        release_seed(how.seed, trial=how.trial)
    finished = plan.tables[0].file is not None
    tell(how.progress, 0, 1, "tabulating")
    cells = finished_clusters(plan) if finished else [*RecordsOfPlan.of(plan).clusters(policy.top, how.progress)]
    statistics = {table.name: table.defined for table in plan.tables if table.statistics}
    until = None if clock.left is None else time.time() + clock.left
    with _kept_folder(folder) as kept:
        seed = _seed(kept, how)
        tasks = [
            Task(one, policy, plan.protection, _own_seed(seed, one.cluster.name), how.trial, until, statistics)
            for one in cells
        ]
        tasks = _steady(plan, policy, tasks)
        outcomes, fresh = _worked(tasks, kept, how)
    tabulated = [one for one in cells if isinstance(one, ClusterCells)]
    named = {task.name: task for task in tasks}
    beside = _Beside(named, _compared(plan, policy, tabulated, how), maps_of(plan, tabulated))
    joint = with_means(plan, _beside_the_ledger(plan, policy, outcomes, how, clock, beside))
    if how.before_writing is not None:
        how.before_writing()
    found = ProgrammeOutcome(plan, policy, tuple(joint), folder, inputs, fresh)
    found.write()
    return found


def _steady(plan: Programme, policy: Policy, tasks: Sequence[Task]) -> list[Task]:
    """Let clusters that are suppressed keep what was published before, and what is frozen."""
    if plan.previous is None and not plan.frozen:
        return list(tasks)
    earlier = {} if plan.previous is None else outcomes_in(plan.place(plan.previous.folder))
    made = []
    for task in tasks:
        magnitudes = bool(task.cells.judged.responses)
        first = next((one.name for one in policy.protections if one.suits(magnitudes)), "")
        name = first if plan.protection == "propose" else plan.method[0]
        if name != "suppress":
            refuse_unkept(task.cells, plan.previous, plan.frozen, name)
            made.append(task)
            continue
        there = earlier.get(task.cells.cluster.variable)
        release = None if there is None else there.release
        before = None if release is None else Before.of(release)
        steady = Steady(task.cells, policy, before, plan.previous, plan.frozen)
        asked = {
            "before": "" if release is None else hashlib.sha256(packed(release)).hexdigest(),
            "previous": None if plan.previous is None else plan.previous.model_dump(mode="json", exclude={"folder"}),
            "frozen": [one.model_dump(mode="json") for one in plan.frozen],
        }
        made.append(replace(task, asked=asked, prepared=steady.method))
    return made


def _worked(tasks: Sequence[Task], kept: Path, how: RunOptions) -> tuple[list[ClusterOutcome], int]:
    """Work on the clusters that are not finished, and keep each as soon as it is; return how many were worked on."""
    files = {task.name: kept / f"{slug(task.name)}.json" for task in tasks}
    known = {task.name: _read(files[task.name], task) for task in tasks}
    todo = [task for task in tasks if known[task.name] is None]

    alone = how.workers if len(todo) == 1 else 1

    def work(task: Task) -> str:
        try:
            return work_on(task.anew(), workers=alone).to_text()
        except DiscreetError as error:
            raise type(error)(f"cluster {task.name!r}: {error}") from None

    late: dict[str, ClusterOutcome] = {}

    def keep(task: Task, text: str) -> None:
        if (found := ClusterOutcome.from_text(text)).unfinished:
            late[task.name] = found
        else:
            write_text(files[task.name], text, private=True)

    run_parallel(
        work,
        todo,
        workers=how.workers,
        progress=how.progress,
        label="protecting clusters",
        apart=True,
        each=keep,
    )
    # What was read back and what was just made must be the same.
    return [
        late.get(task.name) or ClusterOutcome.from_text(files[task.name].read_text(encoding="utf-8")) for task in tasks
    ], len(todo)


def _read(file: Path, task: Task) -> ClusterOutcome | None:
    """Return the stored outcome of a cluster if nothing that it depends on has changed."""
    if not file.exists():
        return None
    found = ClusterOutcome.from_text(file.read_text(encoding="utf-8"))
    return found if found.sha256 == task.anew().sha256 else None


@dataclass(frozen=True)
class _Versions:
    """The cells of a cluster as they are now, as they were in the version that it corrects, and in older ones."""

    now: list[Original]
    then: list[Original]
    older: Mapping[str, list[Original]]

    def of(self, plan: Programme, title: str, corrected: str, entries: Sequence[Entry]) -> dict[str, list[Original]]:
        """Return the cells behind a release and behind all that it corrects, by title."""
        known = {**self.older, corrected: self.then}
        if strange := [one for one in self.older if one not in {e.title for e in entries}]:
            told = f"the ledger has no release {strange[0]!r}; write a title as it lists it (discreet ledger list)"
            raise RequestError(plan.told([(("previous", "older"), told)]))
        found = {title: self.now}
        for e in _versions_before(entries, [corrected]):
            if e.title not in known:
                told = (
                    f"«{corrected}» corrected «{e.title}», and readers may hold that, too; name the records as they "
                    f"were then, under [previous.older]: {json.dumps(e.title, ensure_ascii=False)} = FILE"
                )
                raise RequestError(plan.told([(("previous", "records"), told)]))
            found[e.title] = known[e.title]
        return found


def _versions_before(entries: Sequence[Entry], titles: Sequence[str]) -> list[Entry]:
    """Return the releases of some titles, and all that they correct."""
    ahead, by_id = [e for e in entries if e.title in titles], {e.id: e for e in entries}
    for e in ahead:
        ahead += [by_id[one] for one in e.revises if by_id[one] not in ahead]
    return ahead


@dataclass(frozen=True)
class _Beside:
    """What clusters are checked with, by name: what is asked of them, what they correct, and maps of territories."""

    tasks: Mapping[str, Task]
    versions: Mapping[str, _Versions]
    maps: Mapping[str, Sequence[Release]]

    def originals(
        self, plan: Programme, name: str, about: Described, entries: Sequence[Entry]
    ) -> dict[str, list[Original]] | None:
        """Return the cells behind a cluster and behind all that it corrects, None where the plan does not say them."""
        compared = self.versions.get(name)
        if compared is None or len(about["revises"]) != 1:
            return None
        return compared.of(plan, about["title"], about["revises"][0], entries)

    def levels(self, name: str) -> Levels:
        """Return what the intervals of a cluster's sensitive cells must reach."""
        task = self.tasks[name].anew()
        return Case.of(task.subject(), task.policy).levels()


def _compared(plan: Programme, policy: Policy, cells: Sequence[ClusterCells], how: RunOptions) -> dict[str, _Versions]:
    """Return the cells of every cluster that a revision corrects, as they were and as they are now."""
    if plan.previous is None or not plan.previous.records or plan.records is None:
        return {}
    records = plan.records

    def were(files: str | tuple[str, ...]) -> dict[str, list[Original]]:
        then = plan.model_copy(update={"records": records.model_copy(update={"files": files})})
        return {one.cluster.name: one.truth for one in RecordsOfPlan.of(then).clusters(policy.top, how.progress)}

    before = were(plan.previous.records)
    older = {title: were(files) for title, files in plan.previous.older.items()}
    return {
        name: _Versions(one.truth, before[name], {title: found[name] for title, found in older.items()})
        for one in cells
        for name in [one.cluster.name]
    }


def _beside_the_ledger(
    plan: Programme,
    policy: Policy,
    outcomes: Sequence[ClusterOutcome],
    how: RunOptions,
    clock: Clock,
    beside: _Beside,
) -> list[ClusterOutcome]:
    """Check every cluster beside what was published before, and beside the clusters before it.

    One that gives something away is withheld.
    """
    at = None if plan.ledger is None else plan.place(plan.ledger)
    listed = at is not None and at.exists()
    effort = Effort(SEARCH, how.workers, clock=clock)
    found: list[ClusterOutcome] = []
    with ExitStack() as stack:
        empty = Path(stack.enter_context(ScratchFolder())) / "empty.sqlite"
        ledger = stack.enter_context(Ledger(at, create=False) if at is not None and listed else Ledger(empty))
        for number, one in enumerate(outcomes):
            tell(how.progress, number, len(outcomes), "checking beside the ledger")
            with_it = [other for other in found if other.release is not None and _meet(plan, one, other)]
            asked = one.release is not None and (listed or with_it or beside.maps.get(one.name))
            found.append(_checked(plan, policy, one, with_it, ledger, effort, beside) if asked else one)
    return found


def _meet(plan: Programme, one: ClusterOutcome, other: ClusterOutcome) -> bool:
    """Say whether two clusters show each other who is there: numbers and amounts at the same time."""
    counts = [entry_of(plan, cluster)["variable"] in COUNTED for cluster in (one, other)]
    periods = [cluster.period or plan.period for cluster in (one, other)]
    return counts[0] != counts[1] and periods[0] == periods[1]


def _checked(
    plan: Programme,
    policy: Policy,
    one: ClusterOutcome,
    with_it: Sequence[ClusterOutcome],
    ledger: Ledger,
    effort: Effort,
    beside: _Beside,
) -> ClusterOutcome:
    assert one.release is not None
    about = entry_of(plan, one)
    there = {entry.title for entry in ledger.entries()}
    about["revises"] = [title for title in about["revises"] if title in there]
    versions = {entry.id for entry in _versions_before(ledger.entries(), about["revises"])}
    if (mine := _listed(plan, one, ledger)) is not None:
        own = _qualified(one.checks, ALONE if versions else "")
        return replace(one, checks=(*own, (True, f"it is in the ledger already, as {mine}")))
    levels = beside.levels(one.name) if versions else {}
    # What a policy asks of contributors was judged with the amounts themselves.
    counted = about["variable"] in COUNTED
    threshold = None if counted else policy.rules.threshold
    releases = [other.release for other in (one, *with_it) if other.release is not None]
    names = {*plan.dimensions, *(name for release in releases for part in release.parts() for name in part.names)}
    # Columns of the same records are not the same, whatever their categories; those of different files may be.
    apart = [] if plan.records is None else list(combinations(sorted(names), 2))
    tags = _tags(about)
    maps = [Announced(shown, shown.parts()[0].name, tags) for shown in beside.maps.get(one.name, ())]
    try:
        seen = ledger.check(
            one.release,
            **about,
            policy=policy if counted else None,
            threshold="default" if threshold is None else threshold,
            fewest=plan.fewest,
            apart=apart,
            originals=beside.originals(plan, one.name, about, ledger.entries()),
            levels=levels,
            together=[*(_announced(plan, other) for other in with_it if _listed(plan, other, ledger) is None), *maps],
            **effort.searching(),
        )
    except ContradictingReleases as error:
        raise DataError(plan.told([(("ledger",), f"{error.told}; {DIFFERENT}")])) from None
    what = "ledger" if there else "other tables"
    told = " ".join([f"beside the {what}{' and the map' if maps else ''}: {seen.sentence}", *seen.arithmetic(1)])
    if seen.verdict == "safe":
        further = any(entry.id not in versions for entry in (*seen.linked, *seen.compared))
        asks_more = further and _asks_more(policy, about["variable"])
        kept = bool(levels) and not seen.closer
        told = ". ".join([told.removesuffix("."), *[KEPT_BY_ALL][:kept], *[CLOSELY][:asks_more]])
    told += f". {remedy(plan)}" if maps and seen.verdict != "safe" else ""
    revision = plan.previous is not None and plan.previous.revision and one.method == "suppress"
    told += f". {_hide_more(plan, one)}" if revision and (seen.new or seen.changes or SUMS in told) else ""
    told += f". {FEW.format(min(change.people for change in seen.changes))}" if seen.changes else ""
    checks = (*_qualified(one.checks, BY_ITSELF if seen.closer else ""), (seen.verdict == "safe", told))
    if seen.verdict == "safe":
        return replace(one, checks=checks)
    # More time may show that it is safe, but nothing makes safe what was found unsafe.
    late = seen.verdict == "incomplete" and effort.clock.late
    held = f"Do not release it: {told}"
    return replace(one, verdict="withhold", sentence=held, checks=checks, release=None, unfinished=late)


def _qualified(checks: Sequence[tuple[bool, str]], how: str) -> list[tuple[bool, str]]:
    """Return the checks of a version, with more said of the claim that all cells keep their levels."""
    claims = tuple(f"protection levels to {reader}" for reader in READERS.values())
    return [(passed, f"{text}{how}" if text.endswith(claims) else text) for passed, text in checks]


def _asks_more(policy: Policy, variable: str) -> bool:
    """Say whether a policy has protection levels for a variable, which no ledger judges."""
    judges = [] if variable in COUNTED else policy.judges(True, holdings=policy.rules.level == "holding")
    return bool(judges) and policy.limits.levels != "never"


def _hide_more(plan: Programme, one: ClusterOutcome) -> str:
    """Name the figures that a revision prints and corrects: what it can hide beyond what was hidden."""
    assert plan.previous is not None
    assert one.release is not None
    there = outcomes_in(plan.place(plan.previous.folder)).get(one.variable)
    was = {} if there is None or there.release is None else Before.of(there.release).figures
    now = Before.of(one.release).figures
    changed = [key for key, figure in now.items() if figure and was.get(key, 0) not in (None, figure)]
    if not changed:
        return CLOSED
    names = [cell_name(dict(sorted(key))) or "the total (cell = {})" for key in sorted(changed, key=sorted)]
    return CLOSE.format(f"{'; '.join(names[:NAMED])}{f'; and {len(names) - NAMED:,} more' * (len(names) > NAMED)}")


def _listed(plan: Programme, one: ClusterOutcome, ledger: Ledger) -> str | None:
    """Return the id of a cluster that is already in the ledger, unchanged."""
    assert one.release is not None
    title = entry_of(plan, one)["title"]
    mine = [entry for entry in ledger.entries() if entry.title == title]
    return mine[-1].id if mine and packed(ledger.release(mine[-1].id)) == packed(one.release) else None


def _announced(plan: Programme, one: ClusterOutcome) -> Announced:
    """Return a cluster as what is published together with another one."""
    assert one.release is not None
    about = entry_of(plan, one)
    return Announced(one.release, about["title"], _tags(about))


def _tags(about: Described) -> Tags:
    return {"population": about["population"], "period": about["period"], "variable": about["variable"]}


class Described(TypedDict):
    """A release as a ledger lists it."""

    title: str
    population: str
    period: str
    variable: str
    revises: list[str]


def entry_of(plan: Programme, one: ClusterOutcome) -> Described:
    """Return the description of a cluster for a ledger."""
    period = one.period or plan.period
    weight = None if one.variable else plan.weights.get(one.name)
    revises = list(plan.revises)
    if plan.previous is not None and plan.previous.revision and not revises:
        earlier = plan_in(plan.place(plan.previous.folder))
        revises = [_title(earlier, one)]
    return {
        "title": _title(plan, one),
        "population": plan.population,
        "period": period,
        # What weights represent are not numbers of respondents.
        "variable": f"count weighted by {weight}" if weight else one.variable,
        "revises": revises,
    }


def _title(plan: Programme, one: ClusterOutcome) -> str:
    """Return the title of a cluster in a ledger."""
    return " · ".join(filter(None, (plan.title, one.name, "" if one.period else plan.period, plan.vintage)))


def refuse_without_ledger(plan: Programme) -> None:
    """Refuse to publish what no ledger would list."""
    if plan.ledger is None:
        told = 'the plan names none; add ledger = "office.sqlite" to enter what is published'
        raise RequestError(plan.told([(("ledger",), told)]))


def publish_outcome(found: ProgrammeOutcome, key: Path | None = None) -> list[str]:
    """Enter what may be published into the ledger of the plan; return the titles."""
    plan = found.plan
    refuse_without_ledger(plan)
    assert plan.ledger is not None
    if found.verdict == "withhold":
        raise RequestError("some tables are withheld; nothing was entered. Correct the plan, and run it again")
    titles = []
    with Ledger(plan.place(plan.ledger), key=key) as ledger:
        there = {entry.title for entry in ledger.entries()}
        for one in found.clusters:
            about = entry_of(plan, one)
            about["revises"] = [title for title in about["revises"] if title in there]
            if one.release is not None and about["title"] not in there:
                ledger.add(one.release, **about)
                titles.append(str(about["title"]))
    return titles


# --- what a run depends on ----------------------------------------------------------------------------------


def _inputs(plan: Programme, policy: Policy, how: RunOptions) -> dict[str, Json]:
    """Return everything that a run depends on as plain data, files by their hashes."""
    return {
        "plan": plan.model_dump(mode="json", exclude={"folder"}),
        "files": {os.path.relpath(file, plan.folder): file_sha256(file) for file in plan.input_files()},
        "policy": policy.to_dict(),
        "versions": dict(versions_used()),
        "seed": None if how.seed is None else hashlib.sha256(str(how.seed).encode()).hexdigest(),
        "trial": how.trial,
    }


@contextmanager
def _kept_folder(folder: Path) -> Iterator[Path]:
    """Yield the folder with the state of a run; a refusal leaves none behind, unless some cluster is finished."""
    kept = folder / KEPT
    made = [one for one in (kept, folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    kept.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
    remove_orphans(kept)
    sync_folder(folder)
    try:
        yield kept
    except DiscreetError:
        if kept in made and not any(kept.glob("*.json")):
            with suppress(OSError):
                shutil.rmtree(kept)
                for one in made[1:]:
                    one.rmdir()
        raise


def _seed(kept: Path, how: RunOptions) -> int:
    """Return the seed of the programme: the one given, or one that was drawn once and is kept."""
    if how.seed is not None:
        return release_seed(how.seed, trial=how.trial)
    file = kept / "seed"
    if not file.exists():
        new_whole(file, lambda path: path.write_text(str(drawn_seed()), encoding="utf-8"))
    return int(file.read_text(encoding="utf-8"))


def _own_seed(seed: int, name: str) -> int:
    """Return the seed of a cluster; of a short one it is short too, so what it makes is a trial."""
    short = seed < 2**96
    found = int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[: 8 if short else 32], "big")
    return found if short else 1 << 256 | found


def slug(name: str) -> str:
    """Return a name as part of a file's name; different names give different ones."""
    plain = re.sub(r"[^\w-]+", "-", name).strip("-")[:60]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
