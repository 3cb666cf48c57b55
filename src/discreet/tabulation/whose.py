"""Several records of one person, in files that do not say whose each record is.

Rules count people and firms. If every row counted as another person, ten visits of one patient would be ten patients,
and a cell of one person would seem large enough. So if a column looks like an identifier and has repeated entries, you
must name it as the contributor, or say that every row is another person's.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable

from discreet.core.errors import DataError
from discreet.tabulation.spec import TableSpec

WHO = (
    "person|patient|pupil|student|respondent|contributor|individual|employee|employer|firm|enterprise|company|"
    "establishment|farm|client|customer|claimant|taxpayer|donor|participant"
)
ALSO = "resident|citizen|member|worker|business|case|unit|subject|user|offender|victim|applicant|entity|legal[ _-]?unit"
"""Words that, alone, usually mean something else."""
MARK = "id|ident|identifier|pseudonym"
NUMBER = f"{MARK}|no|nr|num|number|code|ref|reference|key"
BARE = re.compile(WHO, re.IGNORECASE)
"""Columns of these names may hold persons or firms, or only their kinds."""
NAMED = re.compile(
    rf"(?:unique[ _-]?)?(?:{WHO}|{ALSO}|nhs|vat|tax)[ _-]?(?:{NUMBER})|id[ _-]?(?:{WHO}|{ALSO})|(?:{MARK})|u?uid|guid|"
    "pid|siren|siret|ssn|nino|duns|lei",
    re.IGNORECASE,
)
"""Names that say whose a record is."""
OFTEN = 20
"""A column of such a name with more rows than this for each entry is taken for a category, such as kinds of firms: a
round choice."""


def suspects(names: Iterable[str], spec: TableSpec) -> list[str]:
    """Return the columns that may say whose each record is, where the specification does not.

    >>> from discreet.tabulation.spec import DimensionSpec
    >>> spec = TableSpec((DimensionSpec("ward"),))
    >>> suspects(["ward", "Patient ID", "firm", "company_size", "region_code", "id"], spec)
    ['Patient ID', 'firm', 'id']
    """
    if spec.contributor is not None or spec.alone:
        return []
    return like_whose(names, {column for column, _ in spec.roles()})


def like_whose(names: Iterable[str], taken: Collection[str]) -> list[str]:
    """Return the columns without another role that may say whose each record is."""
    free = (name for name in names if name not in taken)
    return [name for name in free if NAMED.fullmatch(name.strip()) or BARE.fullmatch(name.strip())]


def refuse_repeated(shown: str, column: str, rows: int, different: int, *, kept: bool = False) -> None:
    """Refuse records if several may be one person's.

    Args:
        shown: how messages name the records.
        column: the column that may say whose they are.
        rows: the number of records in which it is not empty.
        different: the number of its distinct entries.
        kept: records are kept one by one, so a person must have only one.
    """
    often = rows > OFTEN * different and not NAMED.fullmatch(column.strip())
    if different < rows and not often:
        name = f"name it (contributor={column!r}, --contributor {shlex.quote(column)})"
        raise DataError(
            f"{shown}: column {column!r} has {different:,} different entries in {rows:,} records, so several may be of "
            f"one person or firm; if it says whose they are, {'keep one for each' if kept else name}, otherwise say "
            "that no two records are about the same one (contributor='', --contributor '')"
        )
