"""Names that differ in nothing but spelling, and dimensions that differ in nothing but their name.

A release about «Residents» by «Age» is about the same people as one about «residents» by «age», and «gender» with the
categories of «sex» may well be it. Taken for something else, it would not be put together with the other, and what both
give away would go unseen.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product

from discreet.core.errors import RequestError
from discreet.table.figures import Figures

PLAIN = frozenset(
    {"yes", "no", "true", "false", "other", "others", "none", "unknown", "missing", "low", "medium", "high"}
)
"""Categories that many dimensions have."""
DIFFERENT = "were taken for different things"
"""What is said of names and categories that may be the same."""


@lru_cache(maxsize=1 << 16)
def spelled(name: str) -> str:
    """Return a name as all ways of spelling it have in common.

    >>> spelled(" Residents  of the\u00a0North") == spelled("residents of the north")
    True
    """
    # Characters without a width, such as a joiner that a copy left behind, are no difference to see.
    seen = "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")
    return " ".join(seen.casefold().split())


def other_spellings(releases: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the first spelling of every dimension that a later release spells in another way.

    A table that has two dimensions of one spelling means two.

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


def namesakes(
    first: Iterable[Figures], second: Iterable[Figures], apart: Iterable[Sequence[str]] = ()
) -> list[tuple[str, str]]:
    """Return dimensions of some tables and of others that have the same categories under different names.

    Half of the categories of either are enough: tables of some areas, or without those of whom nothing is known, have
    fewer. A table that has both means two. So does whoever says it (``apart``). Codes and answers such as yes and no
    say nothing: many dimensions have them.

    >>> both = [Figures.from_array([3, 4, 7], {name: ["Male", "Female", "Total"]}) for name in ("sex", "gender")]
    >>> namesakes(both[:1], both[1:]), namesakes(both[:1], both[1:], [("gender", "sex")])
    ([('sex', 'gender')], [])
    """
    pairs = {frozenset(pair) for pair in apart}
    sides = [list(first), list(second)]
    pairs |= {frozenset((a, b)) for part in (*sides[0], *sides[1]) for a in part.names for b in part.names}
    seen = [{(name, _meant(part, name)) for part in side for name in part.names} for side in sides]
    alike = ((a, b) for (a, mine), (b, theirs) in product(*seen) if _alike(mine, theirs))
    return sorted({(a, b) for a, b in alike if a != b and frozenset((a, b)) not in pairs})


def _meant(part: Figures, name: str) -> frozenset[str]:
    """Return the categories of a dimension, without its totals."""
    return frozenset(spelled(one) for one in part.named[name])


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Say whether two dimensions have the same categories, or many of them, that could not be those of any other."""
    both = one & other
    named = both - PLAIN
    telling = any(sum(letter.isalpha() for letter in label) > 2 for label in named)
    enough = len(both) > 1 if one == other else len(named) > 1 and 2 * len(both) >= min(len(one), len(other))
    return telling and enough


def pairs_of(given: Sequence[str]) -> list[tuple[str, str]]:
    """Return dimensions that are not the same, as NAME=NAME.

    >>> pairs_of(["residence=workplace"])
    [('residence', 'workplace')]
    """
    found = [tuple(name.strip() for name in text.split("=")) for text in given]
    for text, pair in zip(given, found, strict=True):
        if len(pair) != 2 or not all(pair):
            raise RequestError(f"{text!r} does not name two dimensions; write residence=workplace (apart=, --apart)")
    return [(one, other) for one, other in found]


def may_be_one(pairs: Sequence[tuple[str, str]]) -> str:
    """Say which dimensions may be the same, and how to say whether they are."""
    (a, b), more = pairs[0], len(pairs) - 1
    others = f" (and {more} more {'pairs' if more > 1 else 'pair'})" if more else ""
    return (
        f"dimensions {a!r} and {b!r}{others} have the same categories, all or many, and {DIFFERENT}; if they are "
        f"one, give them one name, otherwise say that they are not (apart=[({a!r}, {b!r})], --apart '{a}={b}')"
    )
