"""Periods inside each other: a year and its quarters, whose figures may add up to those of the year.

What happens in a year (births, sales) is the sum of what happens in its quarters: three quarters and the year give the
fourth. What is there on a day (residents) is no such sum, and a period does not say which of the two figures are. So
releases about periods inside each other are joined with the time as another dimension, as if they added up. If they
contradict each other, they do not add up, and nothing follows.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from discreet.decide.ledger.bands import Band, pieces
from discreet.decide.ledger.entry import Entry, PublishedTable
from discreet.decide.ledger.joining import explicit
from discreet.decide.ledger.populations import Pairs, along
from discreet.table.spelling import spelled

_YEAR = r"(?P<year>[12]\d{3})"
_BETWEEN = r"\s*[-/. ]?\s*"
_PART = r"(?P<kind>[qhsmtw])\s*(?P<part>\d{1,2})"
_FORMS = [
    re.compile(form)
    for form in (
        rf"{_YEAR}(?:-a1?)?",
        rf"{_YEAR}{_BETWEEN}{_PART}",
        rf"{_PART}{_BETWEEN}{_YEAR}",
        rf"{_YEAR}[-/.](?P<month>\d{{1,2}})(?:[-/.](?P<day>\d{{1,2}}))?",
        rf"(?:(?P<day>\d{{1,2}})[-/. ]\s*)?(?P<month>\d{{1,2}})[-/.]\s*{_YEAR}",
        rf"(?P<name>[a-z]{{3,9}})\.?\s*{_YEAR}",
    )
]
_RANGE = re.compile(r"(.+?)(?:\s+(?:to|until|-|–|—)\s+|\.\.|–|—)(.+)")
_YEARS = re.compile(r"([12]\d{3})-([12]\d{3})")
_MONTHS = {"q": 3, "h": 6, "s": 6, "t": 4, "m": 1}
"""How many months the parts of a year have: quarters, halves or semesters, thirds, months."""


@lru_cache(maxsize=1 << 16)
def days(period: str) -> Band | None:
    """Return the first and the last day of a period, numbered; None for a text that names no period.

    >>> year, quarter, day = days("2024"), days("2024-Q3"), days("on 2024-12-31")
    >>> year[1] - year[0], quarter == days("July 2024 to 2024-09"), day
    (365, True, None)
    """
    text = spelled(period)
    if (ends := _RANGE.fullmatch(text) or _YEARS.fullmatch(text)) is not None:
        first, last = days(ends[1]), days(ends[2])
        if first is not None and last is not None:
            return (first[0], last[1]) if first[0] <= last[1] else None
    for form in _FORMS:
        if (found := form.fullmatch(text)) is not None:
            try:
                return _dated({name: one for name, one in found.groupdict().items() if one is not None})
            except ValueError:
                return None
    return None


def _dated(found: dict[str, str]) -> Band:
    """Return the days of a year, of a part of it, or of a day; an error where the calendar has none."""
    year, part = int(found["year"]), int(found.get("part", 1))
    if found.get("kind") == "w":
        monday = datetime.date.fromisocalendar(year, part, 1).toordinal()
        return monday, monday + 6
    if "day" in found:
        day = datetime.date(year, int(found["month"]), int(found["day"])).toordinal()
        return day, day
    if "name" in found:
        names = [[one.casefold() for one in every] for every in (calendar.month_name, calendar.month_abbr)]
        found["month"] = str(next((every.index(found["name"]) for every in names if found["name"] in every), 0))
    months = _MONTHS[found["kind"]] if "kind" in found else 1 if "month" in found else 12
    first = int(found["month"]) if "month" in found else 1 + (part - 1) * months
    start = datetime.date(year, first, 1)
    last = datetime.date(year, first + months - 1, calendar.monthrange(year, first + months - 1)[1])
    return start.toordinal(), last.toordinal()


def around(entry: Entry, others: Sequence[Entry]) -> list[list[Entry]]:
    """Return the releases that may add up with a new one: those in each period around others, and all that overlap.

    >>> def told(period):
    ...     return Entry(period, period, "2025-05-31", "as published", ("area",), 3, 0, period=period)
    >>> others = [told(period) for period in ("2024", "2024-Q1", "2024-Q2", "2023", "2023-07 to 2024-06")]
    >>> [[one.period for one in group] for group in around(told("2024-Q3"), others)]
    [['2024', '2024-Q1', '2024-Q2'], ['2024', '2024-Q1', '2024-Q2', '2023', '2023-07 to 2024-06']]
    """
    mine = days(entry.period)
    dated = [(e, when) for e in others if (when := days(e.period)) is not None]
    if mine is None or all(when == mine for _, when in dated):
        return []
    wholes = dict.fromkeys(when for _, when in dated if _inside(mine, when) and when != mine)
    wholes |= {mine: None} if any(_inside(when, mine) and when != mine for _, when in dated) else {}
    wholes |= {_overlapping(mine, {when for _, when in dated}): None}
    groups = {whole: [e for e, when in dated if _inside(when, whole)] for whole in wholes}
    # Releases of one period alone are put together as they are.
    return [*{tuple(e.id for e in group): group for group in groups.values() if not _alone(mine, group)}.values()]


def _overlapping(mine: Band, spans: set[Band]) -> Band:
    """Return the first and the last day of all that overlaps one period, directly or through others."""
    low, high = mine
    while over := {one for one in spans if one[0] <= high and low <= one[1]}:
        spans = spans - over
        low, high = min(low, *(one[0] for one in over)), max(high, *(one[1] for one in over))
    return low, high


def _alone(mine: Band, group: Sequence[Entry]) -> bool:
    return all(days(e.period) == mine for e in group)


def _inside(one: Band, other: Band) -> bool:
    return other[0] <= one[0] and one[1] <= other[1]


def with_time(sheets: Sequence[PublishedTable]) -> list[PublishedTable]:
    """Return tables with their periods as a dimension, cut into the times that all of them are made of."""
    cut = {when: sheet.entry.period for sheet in sheets if (when := days(sheet.entry.period)) is not None}
    name = "time"
    while any(name in sheet.figures.names for sheet in sheets):
        name += " "
    every = pieces([{label: when} for when, label in cut.items()])
    found = []
    for sheet in sheets:
        when = days(sheet.entry.period) or (0, 0)
        label = cut[when]
        pairs: Pairs = [(label, None)]
        for piece in every:
            if (called := cut.get(piece) or _named(piece)) != label:
                pairs.append((called, label if _inside(piece, when) else None))
        found.append(replace(sheet, figures=along(explicit(sheet.figures), name, label, pairs)))
    return found


def _named(when: Band) -> str:
    """Return what a time is called that no release is about."""
    return " to ".join(datetime.date.fromordinal(day).isoformat() for day in when)
