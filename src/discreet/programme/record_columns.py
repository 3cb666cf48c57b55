"""The columns that a plan names, looked up in its records before anything else is read."""

from __future__ import annotations

from collections.abc import Iterator

from discreet.core.errors import RequestError, nearest
from discreet.programme.plan_model import Programme, RecordsPart, as_list
from discreet.programme.plan_text import Fault
from discreet.tabulation.sources import columns_of


def columns_held(plan: Programme, said: RecordsPart) -> frozenset[str]:
    """Return the columns of the records of a plan, none where only a database knows them.

    Raises:
        RequestError: if the plan names a column that is not there.
    """
    file = str(plan.place(as_list(said.files)[0]))
    held = frozenset(columns_of(file, encoding=said.encoding, delimiter=said.delimiter))
    wanted = dict.fromkeys((*_of_records(said), *_of_tables(plan))) if held else {}
    faults: list[Fault] = [
        (path, f"the records have no column {column!r}; {nearest(column, sorted(held))}")
        for path, column in wanted
        if column not in held
    ]
    if faults:
        raise RequestError(plan.told(faults))
    return held


def _of_records(said: RecordsPart) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the columns that the records are said to have, each with its key."""
    for key in ("contributor", "holding", "weight", "period", "key"):
        if column := getattr(said, key):
            yield ("records", key), column
    for column in said.identify:
        yield ("records", "identify"), column


def _of_tables(plan: Programme) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the columns that tables cross, add up and weight by, each with its key."""
    ties = plan.indicators
    for number, table in enumerate(plan.tables):
        here = ("tables", str(number))
        if table.value:
            root = ties.root(table.value)
            for name in ties.tree(root).leaves if ties.tied(root) else (table.value,):
                yield ((*here, "value") if name == table.value else ("equations",)), name
        if table.weight:
            yield (*here, "weight"), table.weight
        for key, names in (("by", table.by), ("where", tuple(table.where))):
            for name in (plan.dimension(name)[0] for name in names):
                stated = plan.dimensions[name].columns if name in plan.dimensions else ()
                for column in stated or (name,):
                    yield (("dimensions", name, "columns") if stated else (*here, key)), column
