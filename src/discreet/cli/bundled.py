"""Bundled tables as whatever a command takes: a file, records, a plan, a ledger, an assessment or its record."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.core.errors import DiscreetError, RequestError

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.decide.assessment import Assessment
    from discreet.table.release import Release


def one_of(given: object, example: str | None, what: str) -> None:
    """Refuse a command that is given both a file and a bundled table, or neither."""
    if given and example is not None:
        raise RequestError(f"a file is given, and the bundled table {example!r} too (--example); leave out one")
    if not given and example is None:
        raise RequestError(f"name {what}, or a bundled table with --example religion")


@contextmanager
def _folder() -> Iterator[str]:
    """Make a temporary folder, of which messages say nothing."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            yield folder
        except DiscreetError as error:
            error.args = (str(error.args[0]).replace(f"{folder}{os.sep}", ""), *error.args[1:])
            raise


@contextmanager
def table_file(example: str) -> Iterator[Path]:
    """Write a bundled table to a temporary folder."""
    from discreet import datasets

    with _folder() as folder:
        file = Path(folder, f"{example}.csv")
        datasets.load(example).write(file)
        yield file


def people(example: str) -> pa.Table:
    """Return a row for everybody in a bundled table.

    >>> people("sex").num_rows, people("sex").column_names
    (2449, ['output_area', 'sex'])
    """
    import numpy as np
    import pyarrow as pa

    from discreet import datasets

    table = datasets.load(example)
    rows = np.repeat(table.cells, table.counts)
    columns = {}
    for one, code in zip(table.dimensions, table.grid.decode(rows), strict=True):
        columns[one.name] = pa.array([str(one.categories[i]) for i in code.tolist()], pa.string())
    return pa.table(columns)


@contextmanager
def people_file(example: str) -> Iterator[Path]:
    """Write everybody in a bundled table, a row each, to a temporary folder."""
    from discreet.table.arrow_files import write_csv

    with _folder() as folder:
        file = Path(folder, f"{example}.csv")
        write_csv(people(example), file)
        yield file


def assessment(example: str) -> Assessment:
    """Assess a bundled table under the default policy."""
    from discreet.decide.assess import assess
    from discreet.reading.original import open_original
    from discreet.reading.reading import Reading

    return assess(open_original(None, Reading(example=example)))


@contextmanager
def earlier_and_new(example: str) -> Iterator[tuple[Path, Path]]:
    """Make a ledger with a bundled table whose small counts are hidden, and a file of the unprotected table."""
    from discreet.decide.ledger import Ledger

    with table_file(example) as file:
        book = file.with_suffix(".ledger")
        with Ledger(book, create=True) as kept:
            kept.add(with_gaps(example), title=gaps(example))
        yield book, file


def gaps(example: str) -> str:
    """Return the name of a bundled table with hidden small counts."""
    return f"{example}, counts of 1 and 2 hidden"


def with_gaps(example: str) -> Release:
    """Return a bundled table whose counts of 1 and 2 are hidden, and others with them."""
    from discreet import datasets
    from discreet.evaluate.audited_suppression import suppress
    from discreet.rules import Threshold

    return suppress(datasets.load(example), [Threshold(3)]).release


@contextmanager
def plan_file(example: str) -> Iterator[Path]:
    """Write the plan that is drafted from everybody in a bundled table, beside the records."""
    from discreet.programme.drafting import draft

    with people_file(example) as records:
        file = records.with_suffix(".toml")
        file.write_text(draft(records), encoding="utf-8")
        yield file


@contextmanager
def record_file(example: str) -> Iterator[Path]:
    """Write the record of an assessment of a bundled table to a temporary folder."""
    with _folder() as folder:
        file = Path(folder, f"{example}.record.json")
        assessment(example).write_record(file)
        yield file
