"""What tables of several releases may have in common though it was taken for different things.

Dimensions of one set of categories under two names; codes that lie inside those of another dimension, as districts do
in regions; and categories that differ in nothing but spelling. What such tables give away together goes unseen, so
whoever asks about them has to say what is the same.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import combinations, product

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.figures import Figures
from discreet.table.spelling import DIFFERENT, may_be_one, namesakes, spelled

CODE = re.compile(r"0*([0-9]+)(?:[.]0*)?")
"""Codes that are numbers, with the digits that say which."""


def doubts(first: Sequence[Figures], second: Sequence[Figures], apart: Iterable[Sequence[str]] = ()) -> list[str]:
    """Say what some tables may have in common with others, and how to say whether it is so.

    >>> both = [Figures.from_array([3, 4], {"area": [name, "south"]}) for name in ("North", "NORTH")]
    >>> doubts(both[:1], both[1:])
    ["categories 'North' and 'NORTH' of dimension 'area' differ only in spelling and were taken for different things; \
spell them the same"]
    """
    stated = [tuple(pair) for pair in apart]
    found = [may_be_one(pairs)] if (pairs := namesakes(first, second, stated)) else []
    for inner, outer in nestings(first, second, stated):
        found.append(
            f"categories of dimension {inner!r} seem to lie inside those of {outer!r}, by their codes and sums, and "
            f"{DIFFERENT}; if they do, give both dimensions one name and a hierarchy (hierarchies=, --hierarchy), "
            f"otherwise say that they do not (apart=[({inner!r}, {outer!r})], --apart '{inner}={outer}')"
        )
    for name, one, other in misspelled(first, second)[:1]:
        told = " and ".join(_told(one, other))
        found.append(
            f"categories {told} of dimension {name!r} differ only in spelling and {DIFFERENT}; spell them the same"
        )
    return found


def refuse_same(tables: Sequence[Figures]) -> None:
    """Refuse linked tables with dimensions or categories that their own figures show to be the same.

    >>> sexes = [Figures.from_array([3, 4], {name: ["male", "female"]}, name=name) for name in ("sex", "gender")]
    >>> refuse_same(sexes)
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: sex and gender: dimensions 'sex' and 'gender' have the same categories and \
figures; if they are one, give them one name
    """
    for first, second in combinations(tables, 2):
        both = f"{first.name} and {second.name}"
        for one, other in namesakes([first], [second]):
            figures = totals_of(first, one), totals_of(second, other)
            known = [label for label in figures[0] if label in figures[1] and figures[0][label] > 0]
            if len(known) > 1 and all(figures[0][label] == figures[1][label] for label in known):
                raise DataError(
                    f"{both}: dimensions {one!r} and {other!r} have the same categories and figures; if they are one, "
                    "give them one name"
                )
        for inner, outer in nestings([first], [second]):
            raise DataError(
                f"{both}: categories of dimension {inner!r} lie inside those of {outer!r}, by their codes and sums, so "
                "what one table hides another may show; give the finer table a hierarchy, whose groups are published "
                "with it (hierarchies=, --hierarchy), or protect both by a plan over the records (discreet plan)"
            )
        for name, one, other in misspelled([first], [second]):
            raise DataError(
                f"{both}: categories {' and '.join(_told(one, other))} of dimension {name!r} differ only in spelling; "
                "spell them the same"
            )


def nestings(
    first: Sequence[Figures], second: Sequence[Figures], apart: Iterable[Sequence[str]] = ()
) -> list[tuple[str, str]]:
    """Return dimensions whose codes all begin with codes of a dimension of other tables, and add up to its figures.

    >>> fine = Figures.from_array([3, 4, 5, 12], {"district": ["N1", "N2", "S1", "Total"]})
    >>> coarse = Figures.from_array([7, 5, 12], {"region": ["N", "S", "Total"]})
    >>> nestings([fine], [coarse]), nestings([coarse], [fine], [("district", "region")])
    ([('district', 'region')], [])
    """
    pairs = {frozenset(pair) for pair in apart}
    # A table that has both shows how they are related.
    pairs |= {frozenset((a, b)) for part in (*first, *second) for a in part.names for b in part.names}
    sides = [{(name, part.labels[name]): part for part in side for name in part.names} for side in (first, second)]
    found = set()
    for one, other in (sides, sides[::-1]):
        for ((a, _), fine), ((b, _), coarse) in product(one.items(), other.items()):
            if frozenset((a, b)) not in pairs and _inside(fine, a, coarse, b):
                found.add((a, b))
    return sorted(found)


def _inside(fine: Figures, a: str, coarse: Figures, b: str) -> bool:
    """Say whether all codes begin with those of another dimension, and add up to its figures where both are shown."""
    codes, tops = fine.named[a], coarse.named[b]
    under: dict[str, list[str]] = {}
    for code in codes:
        above = [top for top in tops if code.startswith(top) and code != top]
        if not above:
            return False
        under.setdefault(max(above, key=len), []).append(code)
    if len(under) < 2 or max(map(len, under.values())) < 2:
        return False
    parts, sums = totals_of(fine, a), totals_of(coarse, b)
    both = [top for top, some in under.items() if top in sums and all(code in parts for code in some)]
    units = 10**coarse.decimals, 10**fine.decimals
    return bool(both) and all(
        sums[top] * units[1] == sum(parts[code] for code in under[top]) * units[0] for top in both
    )


def totals_of(part: Figures, name: str) -> dict[str, int]:
    """Return the figures of single categories that a table shows exactly, or that are sums of its finest cells.

    They are in units of the last decimal.

    >>> shown = Figures.from_array([[3, 4], [None, 6]], {"area": ["n", "s"], "sex": ["m", "f"]})
    >>> totals_of(shown, "area"), totals_of(shown, "sex")
    ({'n': 7}, {'f': 10})
    """
    lower, upper = part.ranges()
    exact = lower == upper
    found = {}
    for label, (printed, cells) in category_rows(part, name).items():
        rows = printed if exact[printed].any() else cells
        if rows.size and exact[rows].all():
            found[label] = int(part.values[rows].sum())
    return found


def category_rows(part: Figures, name: str) -> dict[str, tuple[IntArray, IntArray]]:
    """Return the row of the figure of every single category, if a table has it, and the rows of its finest cells.

    There are none if some are missing, or if other dimensions have groups among their categories.
    """
    column = part.codes[:, part.names.index(name)]
    whole, finest, size = np.ones(len(part), bool), np.ones(len(part), bool), 1
    for k, other in enumerate(part.names):
        if other != name:
            totals = np.array([part.is_total(other, label) for label in part.labels[other]], bool)
            whole &= totals[part.codes[:, k]]
            finest &= ~totals[part.codes[:, k]] & (not part.hierarchies.get(other))
            size *= int(np.count_nonzero(~totals))
    found = {}
    printed, cells = (_by_code(column, chosen, len(part.labels[name])) for chosen in (whole, finest))
    for code, label in enumerate(part.labels[name]):
        if not part.is_total(name, label):
            every = part.absent == "empty" or cells[code].size == size
            found[label] = printed[code], cells[code] if every else cells[code][:0]
    return found


def _by_code(column: IntArray, chosen: BoolArray, size: int) -> list[IntArray]:
    """Return the rows of each code among those chosen."""
    rows = np.flatnonzero(chosen)
    order = rows[np.argsort(column[rows], kind="stable")]
    return np.split(order, np.searchsorted(column[order], np.arange(1, size)))


def misspelled(first: Sequence[Figures], second: Sequence[Figures]) -> list[tuple[str, str, str]]:
    """Return categories of one dimension that some tables spell in one way and others in another.

    A table that has both spellings means two categories.

    >>> tables = [Figures.from_array([3, 4], {"area": [name, "12"]}) for name in ("07", "7.0")]
    >>> misspelled(tables[:1], tables[1:])
    [('area', '07', '7.0')]
    """
    if not _several_ways((*first, *second)):
        return []
    sides: list[dict[tuple[str, str], set[str]]] = [{}, {}]
    meant: set[tuple[str, str]] = set()
    for side, parts in zip(sides, (first, second), strict=True):
        for part in parts:
            for key, labels in _ways(part).items():
                side.setdefault(key, set()).update(labels)
                meant |= {key} if len(labels) > 1 else set()
    found = []
    for key in sorted(sides[0].keys() & sides[1].keys() - meant):
        one, other = (side[key] for side in sides)
        if one != other:
            found.append((key[0], min(one - other or one), min(other - one or other)))
    return found


def in_one_spelling(parts: Sequence[Figures], like: Sequence[Figures] = ()) -> tuple[list[Figures], list[str]]:
    """Return tables with every category spelled as in the first table that has it, and what is to be said of that.

    Tables of ``like`` come before. Categories of hierarchies, and beside statistics, stay as they are spelled.

    >>> tables = [Figures.from_array([3, 4], {"area": [name, "south"]}) for name in ("North", "NORTH")]
    >>> found, told = in_one_spelling(tables)
    >>> found[1].labels["area"], told
    (('North', 'south'), ["category 'NORTH' of dimension 'area' was taken to be 'North'"])
    """
    if not _several_ways((*like, *parts)):
        return list(parts), []
    first: dict[tuple[str, str], str] = {}
    ways = [_ways(part) for part in (*like, *parts)]
    for here in ways:
        for key, labels in here.items():
            first.setdefault(key, min(labels))
    meant = {key for here in ways for key, labels in here.items() if len(labels) > 1}
    told: dict[str, None] = {}
    found = []
    for part, here in zip(parts, ways[len(like) :], strict=True):
        other = {(key[0], min(labels)): first[key] for key, labels in here.items() if key not in meant}
        other = {(n, old): new for (n, old), new in other.items() if old != new and not part.hierarchies.get(n)}
        if other and not part.statistics:
            told |= dict.fromkeys(
                f"category {_told(old, new)[0]} of dimension {name!r} was taken to be {_told(old, new)[1]}"
                for (name, old), new in other.items()
            )
            spelt = {n: tuple(other.get((n, one), one) for one in every) for n, every in part.labels.items()}
            found.append(replace(part, labels=spelt))
        else:
            found.append(part)
    return found, list(told)


def _several_ways(parts: Iterable[Figures]) -> bool:
    """Say whether some category of a dimension is spelled in several ways."""
    every: dict[str, set[str]] = {}
    for part in parts:
        for name in part.names:
            every.setdefault(name, set()).update(part.labels[name])
    return any(len({_read(label) for label in labels}) < len(labels) for labels in every.values())


def _ways(part: Figures) -> dict[tuple[str, str], set[str]]:
    """Return how a table spells the categories of its dimensions, without totals."""
    found: dict[tuple[str, str], set[str]] = {}
    for name in part.names:
        for label in part.labels[name]:
            if not part.is_total(name, label):
                found.setdefault((name, _read(label)), set()).add(label)
    return found


def _told(one: str, other: str) -> tuple[str, str]:
    """Return two spellings so that one can see what they differ in."""
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    return (ascii(one), ascii(other)) if same else (repr(one), repr(other))


def _read(label: str) -> str:
    """Return a category as all ways of writing it have in common: spreadsheets make 7 or 7.0 of the code 07."""
    text = spelled(label)
    code = CODE.fullmatch(text)
    return text if code is None else code[1]
