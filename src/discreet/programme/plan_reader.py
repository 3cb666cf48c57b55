"""Plans in TOML: read whole, and refused with line, key and remedy where anything in them is wrong."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ValidationError

from discreet.core.errors import DiscreetError, RequestError
from discreet.decide.policy_texts import faults_in, key_lines
from discreet.programme.labels import read_labels
from discreet.programme.plan_model import (
    DimensionPart,
    FrozenPart,
    OutputPart,
    PreviousPart,
    Programme,
    RecordsPart,
    TablePart,
    as_list,
)
from discreet.programme.plan_text import Fault, PlanText
from discreet.table.hierarchy_reader import read_hierarchy

PARTS: dict[str, type[BaseModel]] = {
    "records": RecordsPart,
    "tables": TablePart,
    "output": OutputPart,
    "previous": PreviousPart,
    "frozen": FrozenPart,
}


def read_plan(path: str | Path) -> Programme:
    """Read a plan from a TOML file; the files that it names are looked up from its folder.

    Raises:
        RequestError: with every fault, its line and its key.
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise RequestError(f"{file} does not exist; name a plan, or draft one with 'discreet plan new'") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} cannot be read ({error}); give a TOML file in UTF-8") from None
    return plan_of(text, str(file), file.resolve().parent)


def plan_of(text: str, name: str = "the plan", folder: Path = Path(".")) -> Programme:
    """Return the plan that a TOML text states."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        remedy = "correct the file" if name.endswith(".toml") else "draft a plan from other files (discreet plan new)"
        raise RequestError(f"{name} is not TOML: {error}; {remedy}") from None
    return plan_from(data, name, folder, text)


def plan_from(
    data: Mapping[str, object], name: str = "the plan", folder: Path = Path("."), text: str = ""
) -> Programme:
    """Return the plan that the data of a TOML text state; faults are told with its lines."""
    stated = PlanText(name, key_lines(text))
    if "folder" in data:
        told = "there is no such key; say under [output] where tables are written"
        raise RequestError(stated.told([(("folder",), told)]))
    try:
        plan = Programme.model_validate({**data, "folder": folder})
    except ValidationError as error:
        raise RequestError(f"{name}: {faults_in(error, text, _keys(data))}") from None
    plan = plan.read_from(stated)
    if found := [*plan.faults(), *missing(plan)]:
        raise RequestError(plan.told(found))
    return plan


def _keys(data: Mapping[str, object]) -> dict[tuple[str, ...], tuple[str, ...]]:
    """Return the keys that each table of a plan knows."""
    named = data.get("dimensions")
    dimensions = {("dimensions", str(name)) for name in named} if isinstance(named, dict) else set()
    return {
        (): tuple(key for key in Programme.model_fields if key != "folder"),
        **{(name,): tuple(part.model_fields) for name, part in PARTS.items()},
        **{path: tuple(DimensionPart.model_fields) for path in dimensions},
    }


def missing(plan: Programme) -> list[Fault]:
    """Return the files that a plan names and that are not there, or cannot be what they should be."""
    found: list[Fault] = []
    for number, table in enumerate(plan.tables):
        if table.file is not None and not plan.place(table.file).exists():
            found.append((("tables", str(number), "file"), _absent(plan.place(table.file))))
    read = [] if plan.records is None else [("records", "files", file) for file in as_list(plan.records.files)]
    read += [] if plan.previous is None else [("previous", "records", file) for file in as_list(plan.previous.records)]
    for part, key, file in read:
        at = plan.place(file)
        if not at.exists() and not any(at.parent.glob(at.name)):
            found.append(((part, key), _absent(at)))
    secret = None if plan.records is None else plan.records.secret
    if secret is not None and not plan.place(secret).exists():
        found.append((("records", "secret"), _absent(plan.place(secret))))
    for name, said in plan.dimensions.items():
        for file in said.files:
            try:
                tree = read_hierarchy(plan.place(file), total=said.total)
            except DiscreetError as error:
                found.append((("dimensions", name, "hierarchy"), str(error)))
                continue
            if said.levels and tree.depth != len(said.levels):
                told = f"{len(said.levels)} levels are named, but {file} has {tree.depth}; name all of them"
                found.append((("dimensions", name, "levels"), told))
        if said.labels is not None:
            try:
                read_labels(plan.place(said.labels))
            except DiscreetError as error:
                found.append((("dimensions", name, "labels"), str(error)))
    if plan.ledger is not None and not plan.place(plan.ledger).parent.is_dir():
        at = plan.place(plan.ledger).parent
        found.append((("ledger",), f"{at} is not a folder; make it first, or name another ledger"))
    if plan.previous is not None and not plan.place(plan.previous.folder).is_dir():
        found.append((("previous", "folder"), _absent(plan.place(plan.previous.folder))))
    if plan.previous is not None and plan.previous.records:
        if not plan.previous.revision or plan.revises:
            told = "these say what a revision corrects; add revision = true here, and take revises out of the plan"
            found.append((("previous", "records"), told))
        elif plan.records is None:
            told = "the plan itself has no records to compare these with; add [records], or take this out"
            found.append((("previous", "records"), told))
    return found


def _absent(file: Path) -> str:
    return f"{file} does not exist; check the name and the folder"
