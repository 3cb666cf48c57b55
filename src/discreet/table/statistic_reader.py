"""Statistics in files: columns of their own, in brackets behind figures, or side by side in cross-tables.

Nothing is guessed: the caller says what a column of statistics is, how numbers are written and which signs are notes.
Entries that this does not explain are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.errors import DataError, RequestError, require
from discreet.core.numerics import IntArray
from discreet.core.text import many
from discreet.table.counts import Where
from discreet.table.statistic import (
    MOST_DECIMALS,
    OTHER,
    PRINTED,
    Definitions,
    Statistic,
    StatisticColumn,
    statistics_of,
)

Texts: TypeAlias = npt.NDArray[np.object_]
EXAMPLE = re.compile(r"1(?P<thousands>[ .,'\u00a0\u202f’]?)234(?P<decimal>[.,])?5?")
BRACKETS = re.compile(r"(?P<figure>.*?)\s*[(\[]\s*(?P<statistic>[^()\[\]]*?)\s*[)\]]")
"""A figure with a statistic in brackets behind it: 19 (6.1%)."""
PLAIN = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
SIGNS = "%‰"


class Written(NamedTuple):
    """How numbers are written: what separates thousands, what decimals, and which signs behind them are notes.

    >>> Written.of("1 234,5", "*†").plain(np.array(["1 234", "3,5*", "x"], object)).tolist()
    ['1234', '3.5', 'x']
    """

    thousands: str = ""
    decimal: str = "."
    notes: str = ""

    @classmethod
    def of(cls, example: str | None, notes: str | None) -> Written:
        """Return how numbers are written that look like an example: 1 234,5."""
        found = EXAMPLE.fullmatch((example or "1234.5").strip())
        if found is None or (found["thousands"] and found["thousands"] == found["decimal"]):
            raise RequestError(f"numbers are written like {example!r}; write 1234.5 as they are: '1 234,5' (numbers=)")
        if re.search(r"[0-9.,+-]", notes or ""):
            raise RequestError(f"the notes {notes!r} are signs that numbers have; name others (notes=)")
        return cls(found["thousands"], found["decimal"] or ".", notes or "")

    @property
    def _number(self) -> re.Pattern[str]:
        one, other = re.escape(self.thousands), re.escape(self.decimal)
        whole = rf"[0-9]{{1,3}}({one}[0-9]{{3}})+|[0-9]+" if self.thousands else "[0-9]+"
        return re.compile(rf"[+-]?({whole})({other}[0-9]+)?")

    def plain(self, texts: Texts, signs: str = "") -> Texts:
        """Return numbers with digits and a point only, all else unchanged. Some ``signs`` may follow a number."""
        if (self.thousands, self.decimal, self.notes) == ("", ".", "") and not signs:
            return texts
        number, odd = self._number, self.notes + signs + " "
        found = np.empty_like(texts)
        for i, text in enumerate(texts.tolist()):
            bare = text.rstrip(odd) if self.notes or signs else text
            fits = number.fullmatch(bare)
            found[i] = bare.replace(self.thousands or "\0", "").replace(self.decimal, ".") if fits else text
        return found


class StatisticTexts(NamedTuple):
    """A table without its statistics, and what they say: by column, a text for every figure."""

    plain: pa.Table
    columns: Mapping[str, pa.ChunkedArray]
    beside: Mapping[str, Mapping[str, str]]


def definitions_of(given: Definitions | str | Path) -> dict[str, Statistic]:
    """Return definitions of statistics, from a TOML file with a table ``[statistics]`` or as they are given.

    The file holds ``pct = "percentage, over=sex"``, or a table ``[statistics.pct]`` with the same keys.
    """
    if not isinstance(given, str | Path):
        return statistics_of(given)
    import tomllib

    file = Path(given)
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise RequestError(f"{file} cannot be read as definitions of statistics ({error}); write TOML") from None
    require(data, ["statistics"], f"{file}: definitions of statistics have no")
    return statistics_of(data.get("statistics", {}))


def taken_out(
    arrow: pa.Table, definitions: Mapping[str, Statistic], figure: str | None, keys: Sequence[str]
) -> StatisticTexts:
    """Take columns of statistics, and of measures that they are computed from, out of a table.

    Args:
        arrow: the table.
        definitions: what is defined, by column.
        figure: the column of figures of a long table, None for a cross-table.
        keys: the columns of a cross-table that label its rows.
    """
    names = [str(name) for name in arrow.column_names]
    own = [name for name, one in definitions.items() if not one.inside and not one.ending]
    require(own, names, "a statistic is defined, but there is no column")
    for name, one in definitions.items():
        if one.inside and figure and one.inside != figure and one.inside not in own:
            raise RequestError(f"{name} is said to be in brackets in {one.inside!r}, but figures are in {figure!r}")
        if one.ending and figure is not None:
            raise RequestError(f"{name} is said to be in columns that end with {one.ending!r}, as in cross-tables only")
    measures = [name for one in definitions.values() for name in one.measures if name in names and name != figure]
    if figure is None and (own or measures):
        raise RequestError(
            f"column {(own or measures)[0]!r} stands beside a cross-table; say in which columns statistics are by the "
            "end of their names (ending=%), or that they are in brackets (inside=cells)"
        )
    beside: dict[str, dict[str, str]] = {}
    for name, one in definitions.items():
        if one.ending:
            found = [column for column in names if column.endswith(one.ending) and column not in keys]
            if not found:
                raise RequestError(f"{name}: no column ends with {one.ending!r}; name the end that they have (ending=)")
            beside[name] = {column: column.removesuffix(one.ending).rstrip(" _-–") for column in found}
    aside = dict.fromkeys([*own, *measures, *(column for several in beside.values() for column in several)])
    plain = arrow.select([name for name in names if name not in aside])
    if beside:
        plain = _named_alike(plain, beside, keys)
    return StatisticTexts(plain, {name: arrow[name] for name in aside}, beside)


def _named_alike(plain: pa.Table, beside: Mapping[str, Mapping[str, str]], keys: Sequence[str]) -> pa.Table:
    """Name columns of figures by the category of the statistics beside them: ``men n`` beside ``men %`` is ``men``."""
    names = [str(name) for name in plain.column_names]
    called = {name: name for name in names}
    for several in beside.values():
        for column, category in several.items():
            own = [n for n in names if n not in keys and (n == category or re.sub(r"[ _–-]+\S+$", "", n) == category)]
            if len(own) != 1:
                raise RequestError(
                    f"column {column!r} is beside {len(own)} columns of {category!r} ({', '.join(own)}); there must be "
                    "one: rename the columns"
                )
            called[own[0]] = category
    return plain.rename_columns([called[name] for name in names])


def split_brackets(texts: Texts, marks: Sequence[str]) -> tuple[Texts, Texts]:
    """Return figures, and what is in brackets behind them; nothing where a mark is all there is.

    >>> [column.tolist() for column in split_brackets(np.array(["19 (6.1%)", "x", "[c]"], object), ["x", "[c]"])]
    [['19', 'x', '[c]'], ['6.1%', '', '']]
    """
    figures, behind = texts.copy(), np.full(texts.shape, "", object)
    for i, text in enumerate(texts.tolist()):
        found = None if text in marks else BRACKETS.fullmatch(text)
        if found is not None and found["figure"]:
            figures[i], behind[i] = found["figure"], found["statistic"]
    return figures, behind


def read_column(
    name: str,
    statistic: Statistic,
    texts: Texts,
    codes: IntArray,
    marks: Sequence[str],
    where: Callable[[int], str] | Where,
    *,
    floating: bool = False,
) -> StatisticColumn:
    """Return the statistics that are shown in a column of texts; marks hide the others.

    ``floating`` says that a file stores them as binary numbers, which do not say to how many decimals they are printed.
    """
    shown = [i for i, text in enumerate(texts.tolist()) if text not in marks and text != ""]
    if statistic.kind == OTHER:
        # Nothing is said of it, so its entries need not be numbers.
        return StatisticColumn(name, statistic, codes[shown], np.zeros(len(shown), np.int64))
    for i in shown:
        if not PLAIN.fullmatch(texts[i]):
            raise DataError(
                f"{where(i)}: {name} is {texts[i]!r}, neither a number nor a mark; name the mark (marks=, --mark), the "
                "signs that are notes (notes=, --notes), or how numbers are written (numbers=, --numbers)"
            )
    printed = np.array([len(texts[i].partition(".")[2]) for i in shown], np.int64)
    decimals = _decimals(name, statistic, printed, floating)
    most = int(printed.max(initial=0)) if decimals is None else decimals
    units = [int(texts[i].replace(".", "")) * 10 ** (most - int(p)) for i, p in zip(shown, printed, strict=True)]
    if max(map(abs, units), default=0) >= 2**52:
        raise DataError(f"{name} has a value of {max(map(abs, units)):.3g} units of its last decimal; round it")
    values = np.array(units, np.int64)
    return StatisticColumn(name, statistic, codes[shown], values, most, printed if decimals is None else None)


def _decimals(name: str, statistic: Statistic, printed: IntArray, floating: bool) -> int | None:
    """Return to how many decimals all entries were printed, None for each as it is."""
    most, least = int(printed.max(initial=0)), int(printed.min(initial=MOST_DECIMALS))
    said = statistic.decimals
    if said == PRINTED and not floating:
        return None
    if said is None and printed.size and (floating or most != least):
        shown = (
            "is stored without its decimals" if floating else f"shows {many(least, 'decimal')} here and {most} there"
        )
        raise RequestError(
            f"{name} {shown}: say to how many it was rounded (decimals={most}), or, where each is rounded as it is "
            "printed, decimals=printed"
        )
    if said is not None and said != PRINTED and most > said:
        raise DataError(f"{name} has {most} decimals, but is said to be rounded to {said}; correct one of them")
    if most > MOST_DECIMALS:
        raise DataError(f"{name} has {most} decimals; round it to at most {MOST_DECIMALS}")
    return most if said is None or said == PRINTED else said
