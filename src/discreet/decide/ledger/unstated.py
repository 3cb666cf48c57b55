"""Figures that may be an original: nothing says how they were published, and small counts stand in them as they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from discreet.core.errors import RequestError
from discreet.decide.ledger.check_result import LedgerCheck
from discreet.decide.ledger.joined_tables import refuse_contradiction
from discreet.reading.original import is_read, stated_method
from discreet.reading.published import open_release
from discreet.table.kinds import EXACT
from discreet.table.release import AS_PUBLISHED, Release
from discreet.table.table import Table

SMALL = 3
"""Counts below this are sensitive by every profile with a threshold."""


def release_of(given: object) -> Release:
    """Return the release in a file, frame or result, or a table as a release of itself."""
    found = open_release(given)
    if isinstance(found, Table):
        return Release(found, AS_PUBLISHED, {})
    if not isinstance(found, Release):
        what = type(found).__name__
        raise RequestError(f"what was given is no release ({what}); give a release, or a file or frame of one")
    return found


def small_counts(given: object, release: Release) -> str:
    """Describe the counts of 1 and 2 that a table, file or frame shows, empty if it says that it is a release.

    What hides or changes figures, or says how they were made, is a release.
    """
    if not (isinstance(given, Table) or (is_read(given) and stated_method(given) is None)):
        return ""
    found, first = 0, ""
    for part in release.parts():
        if part.decimals or not part.where(lambda kind: kind == EXACT).all():
            return ""
        rows = np.flatnonzero((part.values > 0) & (part.values < SMALL))
        found += rows.size
        if rows.size and not first:
            first = f"{part.describe(int(rows[0]))} is {int(part.values[rows[0]])}"
    return f"{found:,} {'count' if found == 1 else 'counts'} of 1 or 2 ({first})" if found else ""


def with_small_counts(result: LedgerCheck, given: object, release: Release) -> LedgerCheck:
    """Let a check say what it does not judge: counts of 1 and 2 that the table itself shows."""
    if not (shown := small_counts(given, release)):
        return result
    told = f"«{result.title}» itself shows {shown}, which is not judged here (dc.assess, discreet assess)"
    return replace(result, assumed=(*result.assumed, told))


def refuse_original(given: object, release: Release) -> None:
    """Refuse what may be an original: a ledger holds what was published."""
    if shown := small_counts(given, release):
        refuse_contradiction(release)
        name = given if isinstance(given, str) or hasattr(given, "__fspath__") else "the table"
        raise RequestError(
            f"{name} shows {shown}, and nothing says that it is what was published rather than the original; add the "
            "release that was made of it (dc.assess, discreet assess FILE -o RELEASE), or, if these figures were "
            "published as they are, say so (exact=True, --published-as exact)"
        )
