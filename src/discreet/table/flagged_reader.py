"""CSV files with a flag column, and SDMX-CSV, as the columns of a release: the inverse of the writer."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray
from discreet.core.text import listed
from discreet.table.columns import coded_arrow
from discreet.table.doubtful_files import refuse_flags
from discreet.table.hierarchy import TOTAL
from discreet.table.roles import BESIDE, FIGURES, MARKS, PUBLISHED_AS, STATES, statistics_among
from discreet.table.statistic_reader import Texts

FLAG = "flag"
"""The column of flags, right before the one that says how figures were made; before it those of other measures."""
VALUE, PERIOD, STATUS, CONFIDENTIAL = "OBS_VALUE", "TIME_PERIOD", "OBS_STATUS", "CONF_STATUS"
BEGINS = (("STRUCTURE", "STRUCTURE_ID", "ACTION"), ("DATAFLOW",))
"""How SDMX-CSV begins, version 2 and version 1."""
BOUNDS = {"lower": "LOWER_BOUND", "upper": "UPPER_BOUND", PUBLISHED_AS: "PUBLISHED_AS"}
"""What SDMX-CSV calls the columns beside the figures."""
BOTH = re.compile(r"([A-Za-z][A-Za-z0-9_-]*): .*", re.S)
"""A column that shows its identifier and its name."""
PERIODS = ("BASE_PER", "TIME_PER_COLLECT")
"""Attributes of SDMX that are named like statistics, but are not."""
NUMBER = re.compile(r"\s*[+\-−]?[0-9][0-9.,'\s]*([eE][+-]?[0-9]+)?\W*")
"""A figure that is shown, with signs of notes behind it; 1-4 and <5 are marks."""
TIMES = "UNIT_MULT"
UNITS = (TIMES, "UNIT_MEASURE", "UNIT", "CURRENCY")
"""Attributes of SDMX that say in which units a figure is; the first is the power of ten that it is multiplied by."""
UNIT = b"unit"
"""Where the columns of a file say the unit of its figures."""
PLAIN = re.compile(r"\s*([+\-−]?[0-9]+(?:\.[0-9]+)?)\s*")
"""A figure as SDMX-CSV writes it."""
HIDES = frozenset(("", "Q", "M", "C", "N"))
"""Statuses that say only that a figure is not shown: suppressed, missing, confidential, not for publication."""
ALL = "_T"
"""The code of totals in SDMX."""


def plain_columns_of(arrow: pa.Table, file: Path) -> pa.Table:
    """Return the columns of a CSV file as those of a release, if it is SDMX-CSV or has a flag column."""
    names = arrow.column_names
    if any(names[: len(begin)] == list(begin) for begin in BEGINS) and any(
        name.partition(": ")[0] == VALUE for name in names
    ):
        return _from_sdmx(arrow, file)
    if PUBLISHED_AS in names[1:] and names[names.index(PUBLISHED_AS) - 1] == FLAG:
        figure = next((name for name in FIGURES if name in names[: names.index(FLAG)]), None)
        stated = _stated(arrow[PUBLISHED_AS])
        columns = {f"{name}_{FLAG}": name for name in names if f"{BESIDE}{name}: " in stated} | {FLAG: figure}
        for flags, shown in columns.items():
            if flags not in names:
                raise DataError(f"{file}: there is no column {flags!r} with the flags of {shown}; write it again")
            if shown is not None:
                _refuse_shown(arrow, shown, flags, file)
        return arrow.drop_columns(list(columns))
    return arrow


def _stated(column: pa.ChunkedArray) -> str:
    """Return all that a file says of its figures."""
    return " ".join(dict.fromkeys(_texts(column).tolist()))


def _refuse_shown(arrow: pa.Table, figure: str, flag: str, file: Path) -> None:
    """Refuse a figure that is shown beside a flag of figures that are not."""
    values, flags = (_texts(arrow[name]) for name in (figure, flag))
    hides = set(flags[(values == "") & (flags != "")].tolist())
    shown = [row for row, (value, flag) in enumerate(zip(values, flags, strict=True)) if value and flag in hides]
    if shown:
        raise DataError(
            f"{file}: row {shown[0] + 1} shows the figure {values[shown[0]]} beside the flag {flags[shown[0]]!r}, "
            "which marks hidden figures elsewhere; leave the figure empty, or correct the flag"
        )


def _from_sdmx(arrow: pa.Table, file: Path) -> pa.Table:
    names = arrow.column_names
    begin = next(begin for begin in BEGINS if names[: len(begin)] == list(begin))
    at = next(i for i, name in enumerate(names) if name.partition(": ")[0] == VALUE)
    dimensions = names[len(begin) : at]
    if not dimensions:
        raise DataError(f"{file}: no dimension stands before {VALUE}; put the dimensions there")
    both = any(BOTH.fullmatch(name) for name in dimensions)
    found: dict[str, pa.Array] = {}
    for name in dimensions:
        column = _texts(arrow[name])
        labels = [_label(text, both, file) for text in column.tolist()]
        called = name.partition(": ")[2] if both else name
        if called in found:
            raise DataError(f"{file}: two dimensions are called {called!r}; rename one of them")
        found[called] = pa.array(labels, pa.string())
    value = next((name for name in FIGURES if name not in found), FIGURES[0])
    texts = _texts(arrow[names[at]])
    after = {name.partition(": ")[0]: arrow[name] for name in names[at + 1 :]}
    _refuse_confidential(texts, after, file)
    _refuse_units(texts, after, file)
    times = _times(texts, after, file)
    texts = _multiplied(texts, times, file)
    hidden = np.array([not NUMBER.fullmatch(text) for text in texts.tolist()], bool)
    if BOUNDS[PUBLISHED_AS] not in after:
        statuses = [_texts(after[name]) for name in (STATUS, CONFIDENTIAL) if name in after]
        texts = _with_reasons(texts, hidden, statuses)
    classified = dict(found)
    found[value] = pa.array(texts.tolist(), pa.string())
    told = {name: after[column] for name, column in BOUNDS.items() if column in after}
    for end in (name for name in ("lower", "upper") if name in told):
        told[end] = pa.array(_multiplied(_texts(told[end]), times, file).tolist(), pa.string())
    stated = ""
    if PUBLISHED_AS in told:
        stated = _stated(told[PUBLISHED_AS])
        # Definitions call the figures as the file does.
        own = [re.sub(rf"\b(of|per)={VALUE}\b", rf"\1={value}", text) for text in _texts(told[PUBLISHED_AS])]
        told[PUBLISHED_AS] = pa.array(own, pa.string())
    rest: dict[str, pa.ChunkedArray] = {}
    known = {PERIOD, STATUS, CONFIDENTIAL, *BOUNDS.values(), *PERIODS}
    for name in names[at + 1 :]:
        called = (name.partition(": ")[2] if both else "") or name
        if any(said in stated for said in (f"{STATES}{called}=", f"{BESIDE}{called}: ")):
            _enter(called, arrow[name], told, found, file)
        elif name.partition(": ")[0] not in known:
            _enter(called, arrow[name], rest, found, file)
    # What looks like a statistic, or like figures of its own, is never left out in silence.
    for called in statistics_among(list(rest), list(classified), pa.table({**classified, **rest}), MARKS):
        _enter(called, rest.pop(called), told, found, file)
    if times and told.keys() - {"lower", "upper"}:
        raise DataError(
            f"{file}: {TIMES} is {times}, but what stands beside the figures is not multiplied by it; write all "
            f"figures in units, with {TIMES} 0"
        )
    if PUBLISHED_AS not in told:
        _refuse_beside(rest, hidden, classified)
    return pa.table({**found, **told}).replace_schema_metadata(_unit(after))


def _refuse_confidential(texts: Texts, after: Mapping[str, pa.ChunkedArray], file: Path) -> None:
    """Refuse a figure that is shown although its status says that it is confidential."""
    status = _texts(after[CONFIDENTIAL]) if CONFIDENTIAL in after else texts[:0]
    for row, (text, code) in enumerate(zip(texts, status, strict=False)):
        if NUMBER.fullmatch(text) and code.partition(": ")[0] not in ("", "F"):
            raise DataError(
                f"{file}: row {row + 1} shows {text} with {CONFIDENTIAL} {code!r}: what is confidential is not for "
                "publication; leave the value empty, or correct the status"
            )


def _enter(called: str, column: pa.ChunkedArray, into: dict[str, pa.Array], beside: Container[str], file: Path) -> None:
    """Enter a column under the name that it is called by."""
    if called in into or called in beside:
        raise DataError(f"{file}: two columns are called {called!r}; rename one of them")
    into[called] = column


def _refuse_beside(rest: Mapping[str, pa.ChunkedArray], hidden: BoolArray, classified: Mapping[str, pa.Array]) -> None:
    """Refuse attributes that are left out and say something about hidden figures."""
    coded = {
        name: coded_arrow(name, pa.chunked_array([column]), lambda row: f"row {row + 1}")
        for name, column in classified.items()
    }
    for called, column in rest.items():
        refuse_flags(called, _texts(column), hidden, coded)


def _refuse_units(texts: Texts, after: Mapping[str, pa.ChunkedArray], file: Path) -> None:
    """Refuse figures in units that differ, as thousands beside units: their sums are not those that are printed."""
    for name in UNITS:
        used = sorted(set(_texts(after[name])[texts != ""].tolist())) if name in after else []
        if len(used) > 1:
            raise DataError(
                f"{file}: {name} is {listed([repr(one) for one in used])}, so figures are not in one unit; write all "
                "of them in the same one, or each unit to a file of its own"
            )


def _unit(after: Mapping[str, pa.ChunkedArray]) -> dict[bytes, str] | None:
    """Return the unit of the figures, as the columns of a file say it; None if nothing does."""
    texts = {name: next(filter(None, _texts(after[name])), "") for name in UNITS[1:] if name in after}
    unit = ", ".join(f"{name} {text.partition(': ')[0]}" for name, text in texts.items() if text)
    return {UNIT: unit} if unit else None


def _times(texts: Texts, after: Mapping[str, pa.ChunkedArray], file: Path) -> int:
    """Return the power of ten that all figures are multiplied by."""
    used = set(_texts(after[TIMES])[texts != ""].tolist()) if TIMES in after else set()
    code = next(iter(used), "").partition(": ")[0].strip() or "0"
    if not re.fullmatch(r"-?[0-9]{1,2}", code):
        raise DataError(f"{file}: {TIMES} is {code!r}, not a power of ten such as 3 for thousands; correct it")
    return int(code)


def _multiplied(texts: Texts, times: int, file: Path) -> Texts:
    """Return figures in units: other files can be in thousands or millions, and rules count single units."""
    if not times:
        return texts
    found = texts.copy()
    for row, text in enumerate(texts.tolist()):
        if plain := PLAIN.fullmatch(text):
            found[row] = f"{Decimal(plain[1].replace('−', '-')).scaleb(times):f}"
        elif NUMBER.fullmatch(text):
            raise DataError(
                f"{file}: row {row + 1} shows {text}, which cannot be multiplied by {TIMES} {times}; write it with a "
                "point before the decimals and nothing else"
            )
    return found


def _with_reasons(texts: Texts, hidden: BoolArray, statuses: list[Texts]) -> Texts:
    """Return figures with the codes that say why they are hidden in their place, where these say more than that.

    Codes that differ tell hidden figures apart: A is for few units, D for cells hidden for the sake of others.
    """
    codes = [np.array([one.partition(": ")[0] for one in status[hidden].tolist()], object) for status in statuses]
    telling = [one for one in codes if len(set(one.tolist())) > 1 or not set(one.tolist()) <= HIDES]
    marked = texts.copy()
    if telling:
        marked[hidden] = [" ".join(filter(None, row)) for row in zip(texts[hidden], *telling, strict=True)]
    if set(marked[hidden].tolist()) == {""}:
        # An observation without a figure is one that is not published, and no note below a table.
        marked[hidden] = MARKS[0]
    return marked


def _label(text: str, both: bool, file: Path) -> str:
    """Return the label that a code of SDMX-CSV stands for."""
    if not both:
        return TOTAL if text == ALL else text
    _, colon, label = text.partition(": ")
    if not colon:
        raise DataError(f"{file}: the code {text!r} has no label, as others have; write it as 'CODE: label'")
    return label


def _texts(column: pa.ChunkedArray) -> Texts:
    return np.array(pc.fill_null(column, "").to_pylist(), object)
