"""Names that differ only in spelling: capitals, spaces, and the encoding of letters.

A release about «Residents» by «Age» is about the same people as one about «residents» by «age». If it were taken for
something else, the two would not be joined, and what both give away would go unseen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from discreet.table.figures import Figures


@lru_cache(maxsize=1 << 16)
def spelled(name: str) -> str:
    """Return the form that all spellings of a name share.

    >>> spelled(" Residents  of the\u00a0North") == spelled("residents of the north")
    True
    """
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def other_spellings(releases: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the first spelling of every dimension that a later release spells differently.

    Two dimensions of one table with the same spelling are different.

    >>> other_spellings([("Age", "sex"), ("age", "area")]), other_spellings([("Age",), ("age", "AGE")])
    ({'age': 'Age'}, {})
    """
    first: dict[str, str] = {}
    found: dict[str, str] = {}
    several = set()
    for names in releases:
        for name in names:
            kept = first.setdefault(spelled(name), name)
            if kept != name:
                found[name] = kept
        if found and len({spelled(name) for name in names}) < len(names):
            several |= {spelled(name) for name in names}
    return {name: kept for name, kept in found.items() if spelled(name) not in several}


def renamed(part: Figures, names: Mapping[str, str]) -> Figures:
    """Return a table with some of its dimensions called by other names."""
    if not any(name in names for name in part.names):
        return part
    return replace(
        part,
        labels={names.get(name, name): labels for name, labels in part.labels.items()},
        hierarchies={names.get(name, name): trees for name, trees in part.hierarchies.items()},
        statistics=tuple(replace(column, statistic=column.statistic.renamed(names)) for column in part.statistics),
    )
