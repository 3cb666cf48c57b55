"""How an original is read: what its columns are, how it is written, and whether its rows are records."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, TypedDict

from discreet.core.effort import DrawOptions, WorkOptions
from discreet.core.errors import require
from discreet.table.columns import Margins
from discreet.table.hierarchy import TOTAL
from discreet.table.roles import FIGURES, Layout
from discreet.table.statistic import Definitions

COLUMNS = ("contributor", "holding", "weight", "shadow", "missing", "outside", "negative")
"""Options for records only."""
TABLES = ("count", "layout", "margins", "dimensions", "impossible")
"""Options for tables only."""
PLACE = ("sheet", "header_row")
"""Where a table is in its file."""
TEXT = ("count", "layout", "total", "margins", "encoding", "delimiter")
"""What files that hold more than text say themselves."""


class ReadingOptions(TypedDict, total=False):
    """The attributes of :class:`Reading` as options of a function."""

    by: Any
    value: Any
    contributor: str | None
    holding: str | None
    weight: str | None
    hierarchies: Mapping[str, Any] | None
    count: str
    total: str | None
    dimensions: Sequence[str] | None
    layout: Layout
    margins: Margins
    impossible: Any
    parts: Mapping[str, Sequence[str]] | None
    response: str | None
    sheet: str | None
    header_row: int | None
    delimiter: str | None
    decimal: str | None
    encoding: str
    missing: str | None
    outside: str | None
    negative: str | None
    shadow: str | None
    top: int | None
    rda: str | Path | None
    example: str | None


class SearchOptions(ReadingOptions, WorkOptions, total=False):
    """How an original is read, how long its protection and its audit may take, and the statistics beside it."""

    statistics: Definitions | str | Path


class EstimateOptions(ReadingOptions, DrawOptions):
    """How an original is read, and how much is drawn."""


@dataclass(frozen=True)
class Reading:
    """How a file or frame is read; anything not given is detected from it.

    Attributes:
        top: how many of the largest contributions of records to keep.
        count: the column of counts of a long table.
        layout: ``"long"``, ``"wide"`` or ``"auto"``.
        total: the label of margins; empty or None if there are none.
        margins: ``"check"`` stated margins, or ``"recompute"`` them from the cells.
        encoding: the encoding of a text file.
        dimensions: the columns that classify; all but the counts by default.
        delimiter: what separates the columns of a CSV file; detected from the header by default.
        sheet: the sheet of a workbook; the only one with anything in it by default.
        header_row: the row of a CSV file or sheet with the names of the columns, counted from 1.
        impossible: combinations that cannot occur: a file, a frame or a list.
        by: the columns that classify records; every row is one.
        value: the magnitude: a column of records, or one of those that a tabulation has.
        contributor: the column that says whose record it is.
        holding: the column of holdings.
        weight: the column of sampling weights; estimates are published.
        hierarchies: by dimension, its tree, the file of one, or a list of these.
        example: the name of a bundled table, in place of a file.
        parts: by dimension, totals that cover some categories only.
        rda: the metadata of a ``.tab`` file.
        shadow: the column of records by which the rules judge the magnitude.
        missing: what to do with records without a category.
        outside: what to do with codes that no hierarchy has.
        negative: what to do with negative contributions.
        decimal: the decimal sign of numbers that are texts; the other one of point and comma may separate thousands.
        response: the magnitude, where a tabulation has several.
    """

    top: int | None = None
    count: str = FIGURES[0]
    layout: Layout = "auto"
    total: str | None = TOTAL
    margins: Margins = "check"
    encoding: str = "utf-8"
    dimensions: Sequence[str] | None = None
    delimiter: str | None = None
    sheet: str | None = None
    header_row: int | None = None
    impossible: Any = None
    by: Any = None
    value: Any = None
    contributor: str | None = None
    holding: str | None = None
    weight: str | None = None
    hierarchies: Mapping[str, Any] | None = None
    example: str | None = None
    parts: Mapping[str, Sequence[str]] | None = None
    rda: str | Path | None = None
    shadow: str | None = None
    missing: str | None = None
    outside: str | None = None
    negative: str | None = None
    decimal: str | None = None
    response: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], *own: Callable[..., object]) -> Reading:
        """Return how to read, from named options; None means not given.

        A misspelt name may be an argument of ``own`` instead: the function that was called, and classes of options.

        >>> Reading.of({"by": ["area"], "value": None}).said()
        {'by': ['area']}
        """
        known = [item.name for item in fields(cls)]
        if not given.keys() <= set(known):
            require(
                given,
                list(dict.fromkeys([*(n for one in own for n in _arguments(one)), *known])),
                "there is no argument",
            )
        return cls(**{name: value for name, value in given.items() if value is not None or name == "total"})

    @classmethod
    def among(cls, options: Mapping[str, object], own: Sequence[str] = ()) -> tuple[Reading, dict[str, Any]]:
        """Return how to read, and the options for something else, or named as such."""
        names = {item.name for item in fields(cls)} - set(own)
        here = {name: value for name, value in options.items() if name in names}
        return cls.of(here), {name: value for name, value in options.items() if name not in names}

    def said(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, by name."""
        given = {item: getattr(self, item.name) for item in fields(self)}
        # Frames do not compare with None, so only texts are compared by value.
        changed = {item: one for item, one in given.items() if one is not item.default}
        return {item.name: one for item, one in changed.items() if not isinstance(one, str) or one != item.default}

    def beyond(self, allowed: Sequence[str]) -> str | None:
        """Return the first thing said that is not among those allowed."""
        return next((name for name in self.said() if name not in allowed), None)

    @property
    def total_code(self) -> str:
        """The code of totals that are added."""
        return self.total or TOTAL

    @property
    def text(self) -> dict[str, Any]:
        """How a text file is read."""
        return {"encoding": self.encoding, "delimiter": self.delimiter}

    @property
    def place(self) -> dict[str, Any]:
        """How a text file or workbook is read, and where in it the table is."""
        return {**self.text, **{name: getattr(self, name) for name in PLACE}}

    def linked(self) -> Reading:
        """Return how a further table is read that is linked with the one that this was said of."""
        own: dict[str, Any] = dict.fromkeys(("dimensions", "impossible", "by", "example", "rda", *PLACE, *COLUMNS))
        return replace(self, **own)

    def released(self) -> dict[str, Any]:
        """Return how a release of the original is read, as :func:`discreet.read_release` takes it."""
        from discreet.tabulation.tabulate import trees_of

        return {
            "value": self.said().get("count"),
            "dimensions": self.dimensions,
            "layout": self.layout,
            "total": self.total_code,
            "hierarchies": {name: trees_of(given, self.total_code) for name, given in (self.hierarchies or {}).items()},
            **self.text,
        }

    def companions(self) -> dict[str, Path]:
        """Return the files beside the original, by role: hierarchies and structural zeros."""
        found: dict[str, Path] = {}
        for name, given in (self.hierarchies or {}).items():
            for i, one in enumerate(given if isinstance(given, list | tuple) else [given]):
                if isinstance(one, str | Path):
                    found[f"hierarchy {name} {i + 1}"] = Path(one)
        if isinstance(self.impossible, str | Path):
            found["impossible"] = Path(self.impossible)
        return found


def _arguments(own: Callable[..., object]) -> list[str]:
    """Return the names of a function's arguments, or of a class's options."""
    if isinstance(own, type):
        return list(own.__annotations__)
    return [name for name, one in inspect.signature(own).parameters.items() if one.kind is not one.VAR_KEYWORD]
