"""Rows that are taken for records, because nothing in them is a count and some of them repeat."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.table.arrow_files import errors_of
from discreet.table.inspection import finished_amounts, proposed_reading
from discreet.table.roles import (
    FIGURES,
    NO_COUNTS,
    UNNAMED,
    UNPROPOSED,
    different_rows,
    figure_among,
    looks_like_statistic,
    numeric,
    refuse_tabulated,
)
from discreet.tabulation.whose import NAMED

MOST_CATEGORIES = 100
"""A column with more different entries is not taken for a dimension unless it is named: a round choice."""


def columns_of_records(arrow: pa.Table, file: Path | None, error: DiscreetError) -> list[str]:
    """Return the columns by which records are counted: all, if all of them can classify.

    Args:
        arrow: the columns of what is not a table.
        file: the file that they are in; None for a frame.
        error: why it is not a table, which is raised if it holds no records either.
    """
    shown = "the frame" if file is None else str(file)
    names = [str(name) for name in arrow.column_names]
    with errors_of(shown):
        refuse_tabulated(names)
    plain = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in arrow.schema]
    arrow = arrow.cast(pa.schema(list(zip(names, plain, strict=True))))
    counts = {name: pc.count_distinct(arrow[name]).as_py() for name in names}
    wide = [name for name, count in counts.items() if count > MOST_CATEGORIES]
    # A table with a column called count has rows given twice, which its own error names.
    if any(name.strip().casefold() == FIGURES[0] for name in names):
        raise error
    # A cross-table has a row for each category of its first column; records repeat themselves.
    if arrow.num_rows < 2 or counts[names[0]] == arrow.num_rows or not _repeats(arrow):
        if figure_among(names) is not None or not names:
            raise error
        why, hint = str(error).removeprefix(f"{shown}: "), _hint(arrow, counts)
        if why.startswith(NO_COUNTS) and (read := proposed_reading(arrow)):
            raise type(error)(f"{shown}: no column is called {FIGURES[0]!r}; {_read_so(arrow, read)}; {hint}") from None
        if (finished := finished_amounts(arrow)) is not None:
            draft = f"discreet plan new {file or 'FILE'} drafts how it is protected"
            # Counts along the top of a cross-table: what is wrong with one of them comes first.
            if isinstance(error, DataError) and _crossed_counts(arrow, *finished):
                raise error
            raise type(error)(
                f"{shown}: it is probably a finished table of amounts with its totals; {draft}; {hint}"
            ) from None
        # Without a column of counts, or one that may be, it is probably no table; nor beside one that says whose.
        no_table = UNPROPOSED in str(error.args[0]) or "contributor=" in hint
        told = f"{hint}; as a table it cannot be read: {why}" if no_table else f"{why}; {hint}"
        raise type(error)(f"{shown}: {told}") from None
    if wide:
        raise RequestError(
            f"{shown} looks like records, but column {wide[0]!r} has {counts[wide[0]]:,} different entries; name the "
            "columns to count by (by=, --by), and what to add up (value=, --value)"
        ) from None
    odd = next((name for name in names if UNNAMED.fullmatch(name) or looks_like_statistic(name, arrow[name])), None)
    if odd is not None:
        raise RequestError(
            f"{shown} looks like records, but column {odd!r} does not look like one that classifies; name the columns "
            "to count by (by=, --by), and what to add up (value=, --value)"
        ) from None
    whose = next((name for name in names if NAMED.fullmatch(name.strip())), None)
    if whose is not None:
        raise RequestError(
            f"{shown} looks like records, but column {whose!r} seems to say whose each of them is; name the columns to "
            f"count by (by=, --by), and this one for whose they are (contributor={whose!r}, --contributor "
            f"{shlex.quote(whose)})"
        ) from None
    return names


def _read_so(arrow: pa.Table, read: Mapping[str, str]) -> str:
    """Say with which options rows are probably read as a table, without statistics beside its counts."""
    others = [str(name) for name in arrow.column_names if name != read.get("count")]
    classify = [name for name in others if not looks_like_statistic(name, arrow[name])]
    aside = {} if len(classify) == len(others) or "count" not in read else {"dimensions": classify}
    named = ", ".join(f"{name}={value!r}" for name, value in {**read, **aside}.items())
    read = {**read, **{name: ",".join(one) for name, one in aside.items()}}
    told = " ".join(f"--{name} {shlex.quote(value)}" for name, value in read.items())
    return f"as a table it is probably read so ({named}, {told})"


def _crossed_counts(arrow: pa.Table, labels: Sequence[str], figures: Sequence[str]) -> bool:
    """Say whether labels in one column and whole numbers in all others make a cross-table of counts."""
    return len(labels) == 1 and not any(looks_like_statistic(name, arrow[name]) for name in figures)


def _hint(arrow: pa.Table, counts: Mapping[str, int]) -> str:
    """Say how to read rows that may be records, by the columns that probably classify, are amounts, or say whose."""
    half = min(MOST_CATEGORIES, arrow.num_rows // 2)
    first, *others = counts
    # A number of its own in the first column says which record it is.
    numbers = [name for name in (*others, *([first] if counts[first] < arrow.num_rows else [])) if numeric(arrow[name])]
    by = [name for name, count in counts.items() if count <= half and name not in numbers]
    named = f"(by={by}, --by {shlex.quote(','.join(by))})" if by else "(by=, --by)"
    amounts = [name for name in numbers if 2 * counts[name] > arrow.num_rows]
    own = [name for name, count in counts.items() if count == arrow.num_rows and name not in numbers]
    hint = f"if every row is a record, name the columns to count by {named}"
    if by and amounts:
        hint += f", and perhaps an amount to add up (value={amounts[0]!r}, --value {shlex.quote(amounts[0])})"
        if own:
            hint += f" and whose it is (contributor={own[0]!r}, --contributor {shlex.quote(own[0])})"
    return hint


def _repeats(arrow: pa.Table) -> bool:
    """Say whether some row occurs twice, as among records but not among the cells of a table."""
    return bool(different_rows(arrow.columns) < arrow.num_rows)


def note_of(by: Sequence[str]) -> str:
    """Say what was assumed."""
    return f"There is no column of counts, so every row was taken for one record, counted by {', '.join(by)}."
