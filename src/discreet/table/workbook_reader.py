"""Workbooks that discreet wrote, as columns with the note that describes them: the inverse of the writer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError
from discreet.core.formula_texts import armed
from discreet.core.json_types import JsonObject
from discreet.table.kinds import Kind
from discreet.table.roles import ENDS, PUBLISHED_AS
from discreet.table.worksheet import Row

COVER, CONTENTS, TECHNICAL = "Cover", "Contents", "Technical notes"
"""The sheets beside those of tables; the last one says how the tables are read."""
Rows = Sequence[Row]


class _Cell(NamedTuple):
    """A cell of a cross-table: its codes, what stands in it, and beside it the symbol, other measures, statistics."""

    codes: list[int]
    item: object
    flag: str
    measures: list[int | None]
    statistics: list[str | None]


def workbook_tables(sheets: Mapping[str, Rows], file: Path) -> list[pa.Table]:
    """Return the tables of a workbook with their notes as metadata; none if it has no technical notes."""
    if TECHNICAL not in sheets:
        return []
    texts: dict[object, str] = {}
    for title, number, text in (tuple(row[:3]) for row in sheets[TECHNICAL][3:] if row and row[0] is not None):
        if not isinstance(text, str) or not text.startswith("json ") or (number == 1) == (title in texts):
            raise _damaged(file, TECHNICAL)
        texts[title] = texts.get(title, "") + text.removeprefix("json ")
    found, own = [], {COVER, CONTENTS, TECHNICAL}
    for title, text in texts.items():
        try:
            note = json.loads(text)
            place = note.pop("place")
            table = _table(sheets[place["sheet"]], place, note)
            own.add(place["sheet"])
            found.append(table.replace_schema_metadata({b"discreet": json.dumps(note).encode()}))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError, pa.ArrowException):
            raise _damaged(file, title) from None
    if not found:
        raise _damaged(file, TECHNICAL)
    for title in (name for name, rows in sheets.items() if name not in own and any(map(any, rows))):
        raise DataError(
            f"{file}: sheet {title!r} was added to what discreet wrote, and is not judged; publish and name a workbook "
            "without it, or audit the tables together, each in a file of its own"
        )
    return found


def _damaged(file: Path, title: object) -> DataError:
    return DataError(
        f"{file}: sheet {title!r} is not as discreet wrote it; write the release again, or save one table as CSV"
    )


def _table(rows: Rows, place: JsonObject, note: JsonObject) -> pa.Table:
    """Return the columns of a table that stands on a sheet."""
    down, across, flagged = place["rows"], place["columns"], bool(place["flagged"])
    stated, measures = place.get("statistics", {}), place.get("measures", [])
    behind = 1 + flagged + len(measures)
    step = behind + len(stated)
    codes = {name: {text: i for i, text in enumerate(shown)} for name, shown in place["shown"].items()}
    first = place["head"] - 1 + max(len(across), 1)
    heads = [[_text(cell) for cell in row] for row in rows[place["head"] - 1 : first]]
    begin = len(down)
    if heads[-1][:begin] != down:
        raise ValueError
    width = max(len(head) for head in heads)
    if any(_number(cell) for cell in _outside(rows, first, place["lines"], width)):
        raise ValueError
    tops = []
    for column in range(begin, width, step):
        texts = [head[column] if column < len(head) else "" for head in heads]
        if not across or any(texts):
            top = [codes[name][text] for name, text in zip(across, texts if across else [], strict=True)]
            tops.append((column, top))
    cells: list[_Cell] = []
    for row in rows[first : first + place["lines"]]:
        left = [codes[name][_text(cell)] for name, cell in zip(down, row, strict=False)]
        for column, top in tops:
            item = row[column] if column < len(row) else None
            if item is not None:
                flag = _text(row[column + 1]) if flagged and column + 1 < len(row) else ""
                entries = row[column + behind : column + step]
                beside = [_statistic(*one, place) for one in zip(entries, stated.values(), strict=True)]
                others = [_measure(one, place) for one in row[column + 1 + flagged : column + behind]]
                cells.append(_Cell(left + top, item, flag, others, beside))
    if len(cells) != place["figures"]:
        raise ValueError
    return _columns(cells, [*down, *across], place, note)


def _outside(rows: Rows, first: int, lines: int, width: int) -> Iterator[object]:
    """Go through the cells of a sheet that are not its table's."""
    for at, row in enumerate(rows):
        yield from row[width:] if first <= at < first + lines else row


def _number(cell: object) -> bool:
    return isinstance(cell, int | float) and not isinstance(cell, bool)


def _measure(item: object, place: Mapping[str, object]) -> int | None:
    """Return the figure of another measure, None where it is not published."""
    if isinstance(item, int | float) and not isinstance(item, bool) and item == int(item):
        return int(item)
    if _text(item) != place["unpublished"]:
        raise ValueError
    return None


def _statistic(item: object, decimals: int | None, place: Mapping[str, object]) -> str | None:
    """Return a statistic as it is printed, None where it is not published."""
    if isinstance(item, int | float) and not isinstance(item, bool):
        text = f"{item:.{decimals}f}"
        if float(text) != item:
            raise ValueError
        return text
    text = _text(item)
    if text != place["unpublished"] and decimals is not None:
        raise ValueError
    return None if text == place["unpublished"] else text


def _columns(cells: Sequence[_Cell], names: Sequence[str], place: JsonObject, note: JsonObject) -> pa.Table:
    """Return figures as the columns of a Parquet file of the release, in the order of their codes."""
    order = [names.index(name) for name in note["dimensions"]]
    coded = np.array([cell.codes for cell in cells], np.int64)[:, order]
    kinds = [Kind.from_dict(data) for data in note["kinds"]]
    read = [_figure(cell.item, cell.flag, place, kinds, note["decimals"]) for cell in cells]
    sort = np.lexsort(coded.T[::-1])
    values, lower, upper, which = ([one[i] for one in read] for i in range(4))
    data: dict[str, pa.Array] = {}
    for name, column in zip(note["dimensions"], coded.T, strict=True):
        indices = pa.array(column[sort].astype(np.int32))
        data[name] = pa.DictionaryArray.from_arrays(indices, pa.array(place["labels"][name], pa.string()))
    number = pa.int64() if note["decimals"] == 0 else pa.float64()
    data[note["count"]] = pa.array([values[i] for i in sort], number)
    for k, name in enumerate(place.get("measures", [])):
        data[name] = pa.array([cells[i].measures[k] for i in sort], pa.int64())
    for k, name in enumerate(place.get("statistics", {})):
        data[name] = pa.array([cells[i].statistics[k] for i in sort], pa.string())
    if any(one is not None for one in upper):
        data |= {n: pa.array([ends[i] for i in sort], number) for n, ends in zip(ENDS, (lower, upper), strict=True)}
    phrases = pa.array([str(i) for i in range(len(kinds))], pa.string())
    indices = pa.array(np.array(which, np.int32)[sort])
    return pa.table({**data, PUBLISHED_AS: pa.DictionaryArray.from_arrays(indices, phrases)})


def _figure(
    item: object, flag: str, place: JsonObject, kinds: Sequence[Kind], decimals: int
) -> tuple[float | None, float | None, float | None, int]:
    """Return a figure, or the ends of its interval, and the number of its kind."""
    symbols = place["symbols"]
    if isinstance(item, int | float) and not isinstance(item, bool):
        kind = symbols.index(flag) if flag else place["plain"]
        if kinds[kind].hidden or kinds[kind].spans or (decimals == 0 and item != int(item)):
            raise ValueError
        return item if decimals else int(item), None, None, kind
    symbol, _, rest = _text(item).partition(" ")
    kind = symbols.index(symbol)
    if (kinds[kind].hidden, kinds[kind].spans) != (not rest, bool(rest)):
        raise ValueError
    if not rest:
        return None, None, None, kind
    low, high = (float(end) if decimals else int(end) for end in rest.split(" to "))
    return None, low, high, kind


def _text(cell: object) -> str:
    if cell is not None and not isinstance(cell, str):
        raise TypeError
    return "" if cell is None else armed(cell)
