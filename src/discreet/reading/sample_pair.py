"""A sample from a population: a table of counts, or records that remember their cells."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.table import Table
from discreet.table.arrow_files import errors_of, read_arrow
from discreet.table.frames import to_arrow
from discreet.table.records import Records, count_records
from discreet.tabulation.whose import like_whose, refuse_repeated

TAKEN = ("by", "weight", "encoding", "delimiter", "impossible")
"""What may be said of records that are kept one by one."""


def open_sample(sample: object, reading: Reading) -> Table | Records:
    """Return a sample as a table; as records if the columns that classify them are named.

    >>> import pyarrow as pa
    >>> open_sample(pa.table({"sex": ["m", "f", "f"]}), Reading(by=["sex"])).cells.tolist()
    [0, 1, 1]
    """
    if isinstance(sample, Records):
        return sample
    if reading.by is None or isinstance(sample, Table):
        return open_original(sample, reading, released=True).table()
    if strange := replace(reading, contributor=reading.contributor or None).beyond(TAKEN):
        raise RequestError(f"records of a sample are counted, which needs no {strange}; leave it out")
    file = sample if isinstance(sample, str | Path) else None
    arrow = to_arrow(sample) if file is None else read_arrow(file, **reading.text)
    # Of records, several may be one person's, unless somebody says whose each is.
    named = () if reading.contributor is not None else map(str, arrow.column_names)
    for name in like_whose(named, {*reading.by, reading.weight or ""}):
        column = arrow[name].drop_null()
        refuse_repeated(str(file or "the records"), name, len(column), len(column.unique()), kept=True)
    with nullcontext() if file is None else errors_of(file):
        place = None if file is None else lambda row: f"record {row + 1}"
        found = count_records(arrow, reading.by, weight=reading.weight, where=place)
    return found if reading.impossible is None else found.with_structural_zeros(reading.impossible, **reading.text)
