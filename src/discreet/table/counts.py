"""Figures to counts: integers, or an error that names the first figure that is not one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import AnyArray, BoolArray, FloatArray, IntArray, first_true

if TYPE_CHECKING:
    import pyarrow as pa

Where: TypeAlias = Callable[[int], str]
"""Names the place of a row or cell in messages."""
GAPS = r" \x{a0}\x{202f}\x{2009}'’"
"""What separates thousands and can be nothing else."""
AMOUNTS = (
    "counts are integers, and amounts are judged by who contributed what: give their records (by=, value= and "
    "contributor=; --by, --value and --contributor)"
)
LARGEST = 2**62
"""Counts and their sum stay below this, and so add up exactly in 64 bits."""


def whole_counts(figures: AnyArray, where: Where) -> IntArray:
    """Return a flat array of any type as counts, or name the first that is not an integer.

    >>> whole_counts(np.array([2.0, 0.0]), str).tolist()
    [2, 0]
    """
    if figures.dtype.kind not in "iuf":
        figures = _plain_numbers(figures, where)
    checks: list[tuple[BoolArray, str]] = []
    if figures.dtype.kind == "f":
        checks += [
            (np.isnan(figures), "is missing (NaN); write 0 if nobody is in the cell"),
            (np.isinf(figures), "is infinite; counts are integers"),
            (figures != np.floor(figures), f"is fractional; {AMOUNTS}"),
            (np.abs(figures) > 2.0**53, "is too large to be an exact count; give integers, not floats"),
        ]
    elif figures.dtype.kind == "u":
        checks.append((figures > np.uint64(LARGEST), f"is too large; counts go up to {LARGEST:,}"))
    checks.append((figures < 0, "is negative; counts are 0 or more"))
    for wrong, reason in checks:
        if (first := first_true(wrong)) is not None:
            more = int(wrong.sum()) - 1
            others = f" (and {more:,} more like it)" if more else ""
            raise DataError(f"{where(first)}: count {figures[first]} {reason}{others}")
    counts = figures.astype(np.int64)
    total = counts.sum(dtype=np.float64)
    if total > LARGEST:
        raise DataError(f"the counts add up to {total:.3g}, more than can be added exactly ({LARGEST:.3g})")
    return counts


def _plain_numbers(figures: AnyArray, where: Where) -> AnyArray:
    values = figures.tolist()
    if figures.dtype.kind in "US":
        # NumPy makes texts of all figures as soon as one is a text: name that one, not its neighbours.
        first = next((i for i, value in enumerate(values) if _number(value) is None), 0)
        raise DataError(f"{where(first)}: count is {values[first]!r}, a text; counts are integers")
    for i, value in enumerate(values):
        if value is None or type(value).__name__ == "NAType":
            raise DataError(f"{where(i)}: count is missing; write 0 if nobody is in the cell")
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
            raise DataError(f"{where(i)}: count is {value!r}, which is not a number; counts are integers")
        if isinstance(value, int | np.integer) and abs(int(value)) > LARGEST:
            raise DataError(f"{where(i)}: count {value} is too large; counts go up to {LARGEST:,}")
    return np.array(values)


def counts_from_arrow(column: pa.ChunkedArray, where: Where, decimal: str | None = None) -> AnyArray:
    """Return an Arrow column of counts as numbers; texts must be integers.

    If it is said which of point and comma is the decimal sign, the other one may separate thousands.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if pa.types.is_decimal(kind):
        column, kind = column.cast(pa.string()), pa.string()
    if is_text(kind):
        return _parse_counts(column.cast(pa.string()), where, decimal)
    if column.null_count and not pa.types.is_floating(kind):
        row = column.is_null().index(True).as_py()
        raise DataError(f"{where(row)}: count is missing; write 0 if nobody is in the cell")
    if pa.types.is_integer(kind):
        return numpy_from_arrow(column)
    if pa.types.is_floating(kind):
        return numpy_from_arrow(column.cast(pa.float64()))
    raise DataError(f"{where(0)}: count is {column[0].as_py()!r}, of type {kind}; counts are integers")


def is_text(kind: pa.DataType) -> bool:
    """Say whether an Arrow type holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def numpy_from_arrow(column: pa.ChunkedArray) -> AnyArray:
    """Return a column of Arrow numbers as a NumPy array; missing ones are NaN."""
    # Not by Arrow's own conversion: it imports pandas, which takes longer than reading a small table.
    if column.null_count:
        column = column.fill_null(math.nan)
    return np.concatenate([np.from_dlpack(chunk) for chunk in column.chunks])


def amounts_from_arrow(column: pa.ChunkedArray, what: str, where: Where) -> FloatArray:
    """Return an Arrow column of amounts as numbers, or name the first that is not a number; missing ones are NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        column = pc.utf8_trim_whitespace(column.cast(pa.string()))
        number = pc.match_substring_regex(column, r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$")
        row = pc.index(pc.fill_null(number, False), False).as_py()
        if row >= 0:
            raise DataError(f"{where(row)}: {what} is {column[row].as_py()!r}, which is not a number; give a number")
    return numpy_from_arrow(column.cast(pa.float64()))


def _parse_counts(column: pa.ChunkedArray, where: Where, decimal: str | None) -> IntArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(column.fill_null("") if column.null_count else column)
    whole = pc.match_substring_regex(text, rf"^\+?[0-9]{{1,18}}([{decimal or '.'}]0*)?$")
    if not pc.all(whole).as_py():
        # A space or an apostrophe between groups of three digits can only separate thousands.
        gap = GAPS + {None: "", ".": ",", ",": "."}[decimal]
        grouped = pc.match_substring_regex(text, rf"^[0-9]{{1,3}}([{gap}][0-9]{{3}}){{1,5}}$")
        text = pc.if_else(grouped, pc.replace_substring_regex(text, r"[^0-9]", ""), text)
        whole = pc.or_(whole, grouped)
    elif decimal is None and not pc.all(pc.match_substring(text, ".")).as_py():
        # Numbers of which all have decimals may have three; 1.000 beside 250 may be a thousand.
        whole = pc.and_(whole, pc.invert(pc.match_substring_regex(text, r"^[1-9][0-9]{0,2}\.000$")))
    if not pc.all(whole).as_py():
        row = whole.index(False).as_py()
        more = pc.sum(pc.invert(whole)).as_py() - 1
        others = f" (and {more:,} more such rows)" if more else ""
        raise DataError(f"{where(row)}: count {_reason(text[row].as_py())}{others}")
    digits = pc.replace_substring_regex(text, r"^\+|[.,]0*$", "")
    return numpy_from_arrow(digits.cast(pa.int64()))


def _number(text: str | bytes) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _reason(text: str) -> str:
    value = _number(text)
    if not text:
        return "is empty; write 0 if nobody is in the cell, and leave notes below the table out"
    if doubt := re.fullmatch(r"[1-9][0-9]{0,2}([.,])[0-9]{3}(\1[0-9]{3})*", text):
        sign, other = ("comma", ".") if doubt[1] == "," else ("point", ",")
        return (
            f"is {text!r}, where the {sign} could separate thousands or decimals; if it separates thousands, say that "
            f"the decimal sign is the other one (decimal={other!r}, --decimal {other})"
        )
    if value is None and re.fullmatch(r"[0-9]+,[0-9]+", text):
        return f"is {text!r}, which is fractional if the comma marks decimals; {AMOUNTS}"
    if value is None:
        return (
            f"is {text!r}, which is not a number; give integers without separators "
            "(a mark of a suppressed figure cannot be measured)"
        )
    if math.isnan(value):
        return f"is {text!r} (not a number); write 0 if nobody is in the cell"
    if math.isinf(value):
        return f"is {text!r}, which is infinite; counts are integers"
    if value < 0:
        return f"is {text}, which is negative; counts are 0 or more"
    if value >= 1e18:
        return f"is {text}, which is too large; counts have at most 18 digits"
    if value == math.floor(value):
        return f"is {text!r}, which is not written as an integer; write its digits only"
    return f"is {text}, which is fractional; {AMOUNTS}"
