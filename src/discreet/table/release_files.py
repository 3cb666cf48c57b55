"""Files and frames of published tables to releases: any table with suppression marks, long or wide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.errors import DataError, DiscreetError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.columns import Coded, coded_arrow
from discreet.table.counts import Where
from discreet.table.figures import Absent, Figures
from discreet.table.files import read_arrow_rows
from discreet.table.frames import POSSIBLE, Layout, to_arrow, unpivot
from discreet.table.hierarchy import TOTAL, Hierarchy
from discreet.table.kinds import EXACT, SUPPRESSED, Kind
from discreet.table.release import Release

MARKS = ("x", "..", "c", "")
"""What stands in place of a hidden figure, unless other marks are named."""
VALUES = ("count", "value", "freq", "figure")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


def read_release(
    path: str | Path,
    *,
    value: str | None = None,
    dimensions: Sequence[str] | None = None,
    layout: Layout = "auto",
    total: str = TOTAL,
    marks: Sequence[str] = MARKS,
    kind: Kind = EXACT,
    margins: Kind | None = None,
    hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None = None,
    merged: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    absent: Absent = "empty",
    encoding: str = "utf-8",
    delimiter: str | None = None,
    name: str | None = None,
) -> Release:
    """Read what is published from a CSV or Parquet file.

    Args:
        path: a long file (a column per dimension and a column of figures) or a wide cross-table.
        value: the column of figures of a long file; ``count`` or ``value`` where not named.
        dimensions: the columns that classify; by default all others.
        layout: ``"long"``, ``"wide"`` or ``"auto"``.
        total: the label of margins.
        marks: what stands in place of hidden figures; anything else that is no number is an error.
        kind: how the figures were made, such as ``Kind("random", base=3)``.
        margins: how the margins were made, where that differs.
        hierarchies: for a dimension its tree, or several trees over it.
        merged: for a dimension, published categories that stand for several: ``{"size": {"5,6": ["5", "6"]}}``.
        absent: inner cells without a row are ``"empty"`` or ``"unpublished"``.
        encoding: the encoding of a CSV file.
        delimiter: what separates the columns of a CSV file.
        name: what messages and proofs call this table; by default the file's name.
    """
    file = Path(path)
    arrow, where = read_arrow_rows(file, encoding=encoding, delimiter=delimiter)
    try:
        figures = figures_from_arrow(
            arrow,
            where,
            value=value,
            dimensions=dimensions,
            layout=layout,
            total=total,
            marks=marks,
            kind=kind,
            margins=margins,
            hierarchies=hierarchies,
            merged=merged,
            absent=absent,
            name=name or file.name,
        )
    except DiscreetError as error:
        raise type(error)(f"{file}: {error}") from None
    return Release.of(figures)


def release_from_frame(frame: Any, **reading: Any) -> Release:
    """Return the release that a pandas, polars or Arrow frame holds; options as for :func:`read_release`."""
    reading.setdefault("name", "release")
    return Release.of(figures_from_arrow(to_arrow(frame), lambda row: f"row {row}", **reading))


def figures_from_arrow(
    arrow: pa.Table,
    where: Where,
    *,
    value: str | None = None,
    dimensions: Sequence[str] | None = None,
    layout: Layout = "auto",
    total: str = TOTAL,
    marks: Sequence[str] = MARKS,
    kind: Kind = EXACT,
    margins: Kind | None = None,
    hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None = None,
    merged: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    absent: Absent = "empty",
    name: str = "release",
) -> Figures:
    """Build figures from columns; `where` names the place of a row in messages."""
    if layout not in ("auto", "long", "wide"):
        raise RequestError(f"layout is {layout!r}; it is 'auto', 'long' or 'wide'")
    names = [str(column) for column in arrow.column_names]
    if arrow.num_rows == 0:
        raise DataError("there are no rows; a release needs at least one figure")
    column = value or next((candidate for candidate in VALUES if candidate in names), None)
    wide = layout == "wide" or (layout == "auto" and value is None and ("\\" in names[0] or column is None))
    if wide:
        labels, texts, where = unpivot(arrow, dimensions, where, _texts)
    else:
        if column is None or column not in names:
            raise RequestError(f"there is no column of figures {column or 'count'!r}; {nearest(column or '', names)}")
        chosen = [c for c in names if c not in (column, POSSIBLE)] if dimensions is None else list(dimensions)
        for dimension in chosen:
            if dimension not in names or dimension == column:
                raise RequestError(f"there is no dimension column {dimension!r}; {nearest(dimension, names)}")
        if not chosen:
            raise DataError(f"there is no dimension beside the column of figures {column!r}; add one")
        labels = {dimension: coded_arrow(dimension, arrow[dimension], where) for dimension in chosen}
        texts = _texts(arrow[column], where)
    numbers, hidden, decimals = _parse(texts, marks, where, (margins or kind).name == "perturbed")
    trees = _trees(labels, hierarchies or {}, merged or {}, total)
    is_margin = np.zeros(numbers.size, bool)
    for dimension, coded in labels.items():
        sums = {total} | {t.codes[p] for t in trees.get(dimension, ()) for p in t.parents if p >= 0}
        is_margin |= np.array([label in sums for label in coded.categories])[coded.codes]
    scale = 10**decimals
    kinds = tuple(_scaled(k, scale) for k in (kind, SUPPRESSED, margins or kind))
    return Figures(
        {dimension: tuple(coded.categories) for dimension, coded in labels.items()},
        np.stack([coded.codes for coded in labels.values()], axis=1),
        np.where(hidden, 0, numbers),
        np.where(hidden, 1, np.where(is_margin, 2, 0)),
        kinds,
        name=name,
        decimals=decimals,
        total=total,
        hierarchies=trees,
        absent=absent,
    )


def _scaled(kind: Kind, scale: int) -> Kind:
    return Kind(kind.name, kind.base * scale, kind.bound * scale, kind.fraction) if scale > 1 else kind


def _texts(column: Any, where: Where) -> npt.NDArray[Any]:
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


def _parse(
    texts: npt.NDArray[Any], marks: Sequence[str], where: Where, negative: bool
) -> tuple[IntArray, npt.NDArray[np.bool_], int]:
    """Return figures in units of the last decimal, which of them are hidden, and the number of decimals."""
    kept = {mark.strip() for mark in marks}
    for mark in kept:
        if NUMBER.fullmatch(mark):
            raise RequestError(f"the suppression mark {mark!r} is a number; name a mark that no figure can be")
    hidden = np.array([text in kept for text in texts.tolist()], bool)
    decimals = 0
    for row, text in enumerate(texts.tolist()):
        if hidden[row]:
            continue
        match = NUMBER.fullmatch(text)
        if match is None:
            shown = ", ".join(repr(mark) for mark in marks)
            what = "is empty" if not text else f"is {text!r}"
            raise DataError(
                f"{where(row)}: the figure {what}, neither a number nor a suppression mark ({shown}); name the mark "
                "(marks=, --mark)"
            )
        if text.startswith("-") and not negative and text.strip("-0."):
            raise DataError(f"{where(row)}: the figure {text} is negative; counts and amounts are 0 or more")
        decimals = max(decimals, len(match[1] or ".") - 1)
    if decimals > 6:
        raise DataError(f"a figure has {decimals} decimals; round the figures to at most 6")
    numbers = [0 if h else _units(text, decimals) for text, h in zip(texts.tolist(), hidden.tolist(), strict=True)]
    largest = max((abs(number) for number in numbers), default=0)
    if largest >= 2**52:
        raise DataError(f"a figure is {largest:.3g} units of its last decimal, too large to add up exactly; round it")
    return np.array(numbers, np.int64), hidden, decimals


def _units(text: str, decimals: int) -> int:
    whole, _, part = text.partition(".")
    return int(whole + part.ljust(decimals, "0"))


def _trees(
    labels: Mapping[str, Coded],
    hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]],
    merged: Mapping[str, Mapping[str, Sequence[str]]],
    total: str,
) -> dict[str, tuple[Hierarchy, ...]]:
    """Return the trees of each dimension; merged categories make one of their own."""
    trees = {
        name: (found,) if isinstance(found, Hierarchy) else tuple(found)
        for name, found in hierarchies.items()
        if name in labels
    }
    for name, groups in merged.items():
        if name not in labels:
            raise RequestError(f"there is no dimension {name!r} to merge categories of; {nearest(name, list(labels))}")
        if name in trees:
            raise RequestError(f"dimension {name!r} has a hierarchy; put merged categories into it")
        found = [label for label in labels[name].categories if label != total]
        pairs: list[tuple[object, object]] = [(label, None) for label in found]
        for whole, parts in groups.items():
            if whole not in found:
                raise RequestError(f"dimension {name!r} has no category {whole!r}; {nearest(whole, found)}")
            pairs += [(part, whole) for part in parts]
        trees[name] = (Hierarchy.from_parents(pairs, total=total),)
    return trees
