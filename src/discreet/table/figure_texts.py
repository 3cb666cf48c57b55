"""Published figures as texts: numbers in units of their last decimal, and what marks in their place mean."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, RequestError
from discreet.core.numerics import BoolArray, FloatArray, IntArray, first_true
from discreet.table.counts import Where
from discreet.table.kinds import SUPPRESSED, Kind, Marked
from discreet.table.statistic_reader import Texts
from discreet.table.table_reader import DECIMALS

MEANING = re.compile(r"(.*)=([0-9]*)\.\.([0-9]*)")
"""A mark with what it means: c=1..7."""
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
"""A figure: digits with a point."""


def meanings_of(marks: Sequence[str], least: float | None) -> dict[str, Kind]:
    """Return the marks, and what each says of a figure; ``x=..`` says no more than ``x``.

    >>> [kind.phrase for kind in meanings_of(["x", "c=1..7"], 1).values()]
    ['suppressed, at least 1', 'suppressed, 1 to 7']
    """
    if least is not None and not float(least).is_integer():
        raise RequestError(f"hidden figures are at least {least}; give an integer (least=, --least)")
    plain = SUPPRESSED if least is None else Marked(least=int(least))
    found: dict[str, Kind] = {}
    for text in marks:
        said = MEANING.fullmatch(text.strip())
        if said is None or not (said[2] or said[3]):
            found[text.strip() if said is None else said[1].strip()] = plain
        else:
            low, high = (int(end) if end else None for end in said.group(2, 3))
            found[said[1].strip()] = Marked(least=low, most=high)
    return found


def figure_texts(column: pa.ChunkedArray, where: Where) -> Texts:
    """Return figures as texts; nothing at all is the empty text."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_floating(column.type):
        values = column.to_pylist()
        for row, number in enumerate(values):
            if number is not None and not np.isfinite(number):
                raise DataError(f"{where(row)}: the figure is {number}; write a number or a suppression mark")
        texts = ["" if v is None else f"{v:.10f}".rstrip("0").rstrip(".") for v in values]
    else:
        texts = ["" if v is None else str(v).strip() for v in column.to_pylist()]
    return np.array(texts, dtype=object)


def parsed(
    columns: Sequence[Texts], marks: Sequence[str], where: Where, *, negative: bool, padded: bool = False
) -> tuple[list[IntArray], list[BoolArray], int]:
    """Return columns of figures in units of the last decimal, which of them are hidden, and the number of decimals.

    Unless figures may be ``padded``, decimals that are 0 everywhere are none: programs write counts beside gaps as
    12.0, and readers do not take hidden ones for tenths.
    """
    kept = sorted({mark.strip() for mark in marks})
    for mark in kept:
        if NUMBER.fullmatch(mark):
            raise RequestError(f"the suppression mark {mark!r} is a number; name a mark that no figure can be")
    read = [_digits(texts, kept if i == 0 else ["", *kept], where, negative) for i, texts in enumerate(columns)]
    decimals = max(int(points.max(initial=0)) for _, points, _ in read)
    if decimals > DECIMALS:
        raise DataError(f"a figure has {decimals} decimals; round the figures to at most {DECIMALS}")
    if not padded and all((digits % 10.0**points == 0).all() for digits, points, _ in read):
        read = [(digits / 10.0**points, np.zeros_like(points), hidden) for digits, points, hidden in read]
        decimals = 0
    numbers = []
    for digits, points, _ in read:
        largest = float(np.abs(digits * 10.0 ** (decimals - points)).max(initial=0.0))
        if largest >= 2**52:
            raise DataError(f"a figure is {largest:.3g} units of its last decimal, too large to add exactly; round it")
        numbers.append(digits.astype(np.int64) * 10 ** (decimals - points))
    return numbers, [hidden for _, _, hidden in read], decimals


def _digits(texts: Texts, marks: Sequence[str], where: Where, negative: bool) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return the digits of every figure as one number, how many of them are decimals, and which figures are hidden."""
    column = pa.array(texts, pa.string())
    hidden = pc.is_in(column, value_set=pa.array(marks, pa.string())).to_numpy(zero_copy_only=False)
    fits = pc.match_substring_regex(column, f"^(?:{NUMBER.pattern})$").to_numpy(zero_copy_only=False)
    if (row := first_true(~fits & ~hidden)) is not None:
        named = ", ".join(repr(mark) for mark in marks)
        what = "is empty" if not texts[row] else f"is {texts[row]!r}"
        raise DataError(
            f"{where(row)}: the figure {what}, neither a number nor a suppression mark ({named}); name the mark "
            "(marks=, --mark), and what it means if readers know that, as 'p=1..2'"
        )
    shown = pc.if_else(pa.array(hidden), "0", column)
    point = pc.find_substring(shown, ".").to_numpy()
    length = pc.utf8_length(shown).to_numpy()
    points = np.where(point < 0, 0, length - point - 1).astype(np.int64)
    # Sixteen digits and fewer are exact as floats; what has more is refused by its size.
    digits: FloatArray = pc.replace_substring(shown, ".", "").cast(pa.float64()).to_numpy()
    if not negative and (row := first_true(digits < 0)) is not None:
        raise DataError(f"{where(row)}: the figure {texts[row]} is negative; counts and amounts are 0 or more")
    return digits, points, hidden
