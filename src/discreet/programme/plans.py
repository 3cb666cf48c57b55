"""Plans as people give them, in a file or as Python data: read, explained and run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, Unpack

from discreet.core.effort import WorkOptions
from discreet.core.errors import RequestError, require
from discreet.programme import explanation, running
from discreet.programme.drafting import draft_as_read
from discreet.programme.explanation import PlanExplanation
from discreet.programme.outcome import ProgrammeOutcome
from discreet.programme.plan_model import PreviousPart, Programme
from discreet.programme.plan_reader import plan_from, plan_of
from discreet.programme.plan_reader import read_plan as read_plan_file

Plan: TypeAlias = Programme | Mapping[str, object] | str | Path
"""A plan, Python data with the keys of one, or the name of a TOML file or of a folder of finished tables."""


def read_plan(plan: Plan, previous: str | Path | None = None) -> Programme:
    """Read a plan of many tables, and check it whole.

    Args:
        plan: a TOML file, a folder of finished tables, or a mapping with the keys of such a file. Files that a mapping
            names are looked up from the current folder.
        previous: the folder of the last run, in place of that of the plan.

    Raises:
        RequestError: with every fault and its key.

    >>> tables = [{"name": "T1", "by": ["region"]}, {"name": "T2", "by": ["region", "size"]}]
    >>> [table.name for table in read_plan({"policy": "default", "tables": tables}).tables]
    ['T1', 'T2']
    """
    if isinstance(plan, Programme):
        found = plan
    elif isinstance(plan, Mapping):
        found = plan_from({str(key): _plain(value, str(key)) for key, value in plan.items()}, folder=Path.cwd())
    elif not isinstance(plan, str | Path):
        raise RequestError(
            f"a {type(plan).__name__} is no plan; name a TOML file, or give its keys as a dict (records, tables, …)"
        )
    elif Path(plan).is_dir():
        found = plan_of(draft_as_read(Path(plan)), str(plan), Path(plan).resolve())
    else:
        found = read_plan_file(plan)
    if previous is None:
        return found
    folder = str(Path(previous).resolve())
    before = found.previous or PreviousPart(folder=folder)
    return found.model_copy(update={"previous": before.model_copy(update={"folder": folder})})


def explain_plan(plan: Plan) -> PlanExplanation:
    """Say which tables of a plan are one problem, which cells they share, and which tables others contain.

    Args:
        plan: as for :func:`read_plan`.

    >>> tables = [{"name": "T1", "by": ["region"]}, {"name": "T2", "by": ["region", "size"]}]
    >>> explain_plan({"tables": tables}).sentence
    '2 tables, 1 to protect in 1 cluster.'
    """
    return explanation.explain_plan(read_plan(plan))


def run_plan(
    plan: Plan,
    *,
    folder: str | Path | None = None,
    previous: str | Path | None = None,
    publish: bool = False,
    key: str | Path | None = None,
    seed: int | None = None,
    trial: bool = False,
    **work: Unpack[WorkOptions],
) -> ProgrammeOutcome:
    """Run a plan: write every table that may be published, the record and the report.

    Finished work is kept: a run that was stopped resumes, and a later run redoes only what changed.

    Args:
        plan: as for :func:`read_plan`.
        folder: where to write; by default that of the plan.
        previous: the folder of the last run, whose pattern is kept where that is safe.
        publish: enter what is published into the ledger of the plan, unless some tables must not be released.
        key: the file of the office's key, by which entries of the ledger are signed.
        seed: makes the run reproducible, and is as confidential as the records.
        trial: take a short seed, and mark what is written as a trial.
        **work: ``time_limit`` for the whole run in seconds, that of the plan by default; ``workers``; ``progress``.
    """
    require(work, [*(run_plan.__kwdefaults__ or ()), *WorkOptions.__annotations__], "there is no argument")
    read = read_plan(plan, previous)
    if publish:
        running.refuse_without_ledger(read)
    how = running.RunOptions(None if folder is None else Path(folder), seed, trial, **work)
    found = running.run_plan(read, how)
    if publish and found.verdict != "withhold":
        running.publish_outcome(found, None if key is None else Path(key))
    return found


def _plain(value: object, place: str) -> object:
    """Return Python data as a TOML file would hold them: paths are texts, and nothing else is an object."""
    if isinstance(value, Mapping):
        return {str(key): _plain(one, f"{place}.{key}") for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one, f"{place}.{number}") for number, one in enumerate(value)]
    if isinstance(value, Path):
        return str(value)
    if value is not None and not isinstance(value, str | int | float):
        raise RequestError(
            f"the plan: {place}: is a {type(value).__name__}, and a plan holds texts, numbers and names of files; "
            "write it to a file, and name that"
        )
    return value
