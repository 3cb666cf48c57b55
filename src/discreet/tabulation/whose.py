"""Records of one person in several rows, if nobody says whose they are.

Rules count people and firms. If every row is taken for another person, ten visits of one patient are ten patients, and
a cell of one person seems large enough. So a column that looks as if it said whose a record is, and repeats itself, is
named as the contributor, or you say that every row is somebody else's.
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
"""Words that as a name of their own mean something else more often."""
MARK = "id|ident|identifier|pseudonym"
NUMBER = f"{MARK}|no|nr|num|number|code|ref|reference|key"
BARE = re.compile(WHO, re.IGNORECASE)
"""Names that may be those of persons or firms, or say of which kind these are."""
NAMED = re.compile(
    rf"(?:unique[ _-]?)?(?:{WHO}|{ALSO}|nhs|vat|tax)[ _-]?(?:{NUMBER})|id[ _-]?(?:{WHO}|{ALSO})|(?:{MARK})|u?uid|guid|"
    "pid|siren|siret|ssn|nino|duns|lei",
    re.IGNORECASE,
)
"""Names that say whose a record is."""
OFTEN = 20
"""A column of a bare name with more rows for each entry is taken for a category, such as kinds of firms: a round
choice."""


def suspects(names: Iterable[str], spec: TableSpec) -> list[str]:
    """Return the columns that may say whose records are, if nobody said it.

    >>> from discreet.tabulation.spec import DimensionSpec
    >>> spec = TableSpec((DimensionSpec("ward"),))
    >>> suspects(["ward", "Patient ID", "firm", "company_size", "region_code", "id"], spec)
    ['Patient ID', 'firm', 'id']
    """
    if spec.contributor is not None or spec.alone:
        return []
    return like_whose(names, {column for column, _ in spec.roles()})


def like_whose(names: Iterable[str], taken: Collection[str]) -> list[str]:
    """Return the columns, other than those taken for something else, that may say whose records are."""
    free = (name for name in names if name not in taken)
    return [name for name in free if NAMED.fullmatch(name.strip()) or BARE.fullmatch(name.strip())]


def refuse_repeated(shown: str, column: str, rows: int, different: int, *, kept: bool = False) -> None:
    """Refuse records of which several may be one person's.

    Args:
        shown: how messages name the records.
        column: what may say whose they are.
        rows: the records that it is not empty in.
        different: its different entries.
        kept: records are kept one by one, so a person must have one.
    """
    often = rows > OFTEN * different and not NAMED.fullmatch(column.strip())
    if different < rows and not often:
        name = f"name it (contributor={column!r}, --contributor {shlex.quote(column)})"
        raise DataError(
            f"{shown}: column {column!r} has {different:,} different entries in {rows:,} records, so several may be of "
            f"one person or firm; if it says whose they are, {'keep one for each' if kept else name}, otherwise say "
            "that every record is somebody else's (contributor='', --contributor '')"
        )
