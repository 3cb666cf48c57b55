"""Entries of records that differ in nothing but blanks around them.

They would be several categories, or several firms: one firm whose code is padded in some records would pass a
threshold. CSV files are read without blanks, so this concerns Parquet files, frames and databases. Codes that are all
padded to one length differ in more than blanks, and are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable

from discreet.core.errors import DataError
from discreet.table.arrow_files import BLANKS
from discreet.tabulation.spec import TableSpec


def refuse_padded(shown: str, column: str, entries: Iterable[str | None]) -> None:
    """Refuse entries of a column if two of them are one without the blanks around them.

    >>> refuse_padded("firms", "id", ["F1", "F2", None])
    >>> refuse_padded("firms", "id", ["F1", "F1 "])
    Traceback (most recent call last):
    discreet.core.errors.DataError: firms: column 'id' has 'F1' and 'F1 ', which differ in blanks alone and would be \
two; leave blanks around entries out of the records
    """
    seen: dict[str, str] = {}
    for entry in sorted({entry for entry in entries if entry is not None}):
        other = seen.setdefault(entry.strip(BLANKS), entry)
        if other != entry:
            raise DataError(
                f"{shown}: column {column!r} has {other!r} and {entry!r}, which differ in blanks alone and would be "
                "two; leave blanks around entries out of the records"
            )


def units(spec: TableSpec) -> list[str]:
    """Return the columns that say whose a record is."""
    return [column for column in (spec.contributor, spec.holding) if column is not None]
