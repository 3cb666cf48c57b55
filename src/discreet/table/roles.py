"""What the columns of a file or frame are: figures, dimensions, or neither. If in doubt, nothing is guessed.

A statistic mistaken for a dimension splits every cell by its values: what is published then seems to say nothing about
anybody, and an audit calls it safe. So you have to say what a column is if it looks like a statistic.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from shlex import quote
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, RequestError, nearest, require
from discreet.core.numerics import IntArray
from discreet.table.grid import repeated

Layout: TypeAlias = Literal["auto", "long", "wide"]

FIGURES = ("count", "value", "freq", "figure")
"""Names of the column of figures of a long file, if none is given; in any case, as in Count."""
POSSIBLE = "possible"
"""The column of a long frame that is false at structural zeros; there only when the table has some."""
PUBLISHED_AS = "published_as"
"""The column of a release that says how each figure was made; it is never a dimension unless it is named as one."""
UNPROPOSED = "(count=, --count)"
"""How the column of figures is asked for where no column looks like it."""
NO_COUNTS = "there is no column"
"""How a refusal for want of counts begins."""
STATES, BESIDE = " statistic ", " beside "
"""What it says in the first row of a file before the definition of a statistic, and before a measure beside the
figures: its column, and what a mark in it means."""
ENDS = ("lower", "upper")
"""The columns of figures that are published as intervals."""
TABULATED = frozenset({"records", "contributor:units"})
"""Columns of a tabulation that was written as CSV, for other programs to read."""
MARKS = ("x", "..", "c", "")
"""What replaces a hidden figure, unless other marks are named."""
STATISTICS = frozenset({
    "percent", "percentage", "pct", "perc", "share", "rate", "ratio", "proportion", "prop", "quota", "mean",
    "median", "average", "avg", "sd", "std", "stdev", "stddev", "deviation", "se", "sem", "stderr", "error",
    "variance", "cv", "rse", "moe", "ci", "quantile", "percentile", "min", "minimum", "max", "maximum", "sum",
    "lower", "upper", "density", "prevalence", "incidence", "odds", "prozent", "anteil", "quote", "mittelwert",
    "durchschnitt", "pourcentage", "taux", "moyenne", "per", "cumulative", "weight", "weighted", "estimate",
})  # fmt: skip
"""Words that name a statistic, without an s at their end."""
ENDINGS = ("prozent", "anteil", "quote", "mittelwert", "durchschnitt")
"""Ends of German words that name one."""
UNNAMED = re.compile(r"\s*(Unnamed: ?\d+.*|__index_level_\d+__)?")
SIGNED = r"[<>≤≥~(\[€$£]*\s*[+\-−]?"
AFTER = r"\s*([%‰€$£]|\s[^\d\s.,]{1,4})?[)\]*†‡#]*"
NUMBER = rf"^{SIGNED}[0-9]+([.,' \x{{a0}}\x{{202f}}][0-9]+)*([eE][+-]?[0-9]+)?{AFTER}$"
"""A number, with the signs, units and flags that people write beside it."""
GAP = r"^(?i:[^\pL\d]*|n/?a|nan|none|null)$"
"""What replaces a missing number: no letter and no digit, or a word for it."""
DECIMAL, COMMA = r"[0-9]\.[0-9]*[1-9]|[0-9][eE][+-]?[0-9]|[%‰]", r",[0-9]"
CODE = r"^0[0-9]"
LABEL_NAME = re.compile(r"(.*?)[\s_.-]*(?:label|name|title|text|description|desc)", re.IGNORECASE)
CODE_NAME = re.compile(r"(.*?)[\s_.-]*(?:code|id|key|nr|no)?", re.IGNORECASE)
"""Names of columns of labels, and of the codes that these explain, with what they have in common."""
IDENTIFIES = re.compile(r"(?:^|[\s_.-])(?:code|id|key|nr|no)$", re.IGNORECASE)
"""Ends of names of columns that number categories."""


@dataclass(frozen=True)
class Roles:
    """How columns are read: ``figure`` holds the figures and ``dimensions`` classify; a cross-table has neither."""

    figure: str | None = None
    dimensions: tuple[str, ...] = ()


def figure_among(names: Sequence[str]) -> str | None:
    """Return the column that is called like figures, exactly so or in another case; None where there is none.

    >>> figure_among(["age", "Count"]), figure_among(["Value", "count"]), figure_among(["age", "COUNT", "Count"])
    ('Count', 'count', None)
    """
    for name in FIGURES:
        alike = [one for one in names if one.casefold() == name]
        if name in alike or len(alike) == 1:
            return name if name in alike else alike[0]
    return None


def refuse_tabulated(names: Sequence[str]) -> None:
    """Refuse a tabulation as CSV, for which too little says what its columns are."""
    if set(names) >= TABULATED:
        raise RequestError(
            "this is a tabulation as CSV, for other programs; write it as .parquet, which keeps all that is needed "
            "here (discreet tabulate RECORDS -o table.parquet)"
        )


def check_layout(layout: str) -> None:
    """Refuse a layout that does not exist."""
    if layout not in ("auto", "long", "wide"):
        raise RequestError(f"layout is {layout!r}; give 'auto', 'long' or 'wide'")


def roles(
    arrow: pa.Table,
    *,
    figure: str | None = None,
    dimensions: Sequence[str] | None = None,
    layout: Layout = "auto",
    total: str | None = "Total",
    marks: Sequence[str] = MARKS,
    decimal: str | None = None,
    released: bool = True,
) -> Roles:
    """Say what every column is, or refuse to guess.

    Without a name, the column of figures is one of :data:`FIGURES`. If dimensions are named, other columns are ignored.
    If the decimal sign is stated, points and commas do not make a statistic of a column. A table that is not
    ``released`` holds no statistics that are published: where one stands beside its counts, it is left out.

    >>> roles(pa.table({"age": ["0-9", "10-19"], "count": [3, 4]}))
    Roles(figure='count', dimensions=('age',))
    >>> roles(pa.table({"area": ["n", "s"], "men": [3, 4], "women": [5, 1]}))
    Roles(figure=None, dimensions=())
    """
    check_layout(layout)
    names = [str(name) for name in arrow.column_names]
    if (twice := repeated(names)) is not None:
        raise DataError(f"two columns are called {twice!r}; every column needs a name of its own")
    found = figure or figure_among(names)
    aside = _Aside(arrow, names, total, marks, released)
    if layout == "wide" or (layout == "auto" and figure is None and aside.crossed(found)):
        if dimensions is None:
            refuse_tabulated(names)
            aside.check_wide(stated=layout == "wide", signs=decimal is not None)
        return Roles()
    if found is None or found not in names:
        raise RequestError(
            f"{NO_COUNTS} {found or FIGURES[0]!r} of counts; name the column that holds them "
            f"{_proposed(arrow, names)}, or say that the table is a cross-table (layout='wide', --layout wide); "
            f"{nearest(found or FIGURES[0], names)}"
        )
    others = [name for name in names if name != found]
    if dimensions is None:
        known = {POSSIBLE, PUBLISHED_AS, *(ENDS if set(ENDS) <= set(names) else ())}
        dimensions = [name for name in others if name not in known]
        dimensions = [name for name in dimensions if not aside.is_index(name, dimensions)]
        dimensions = [name for name in dimensions if not aside.is_label(name, dimensions)]
        aside.check_long(dimensions)
    require(dimensions, others, "there is no dimension column")
    if not dimensions:
        raise DataError(f"there is no dimension beside the column of counts {found!r}; add one")
    return Roles(found, tuple(dimensions))


class _Aside:
    """The columns that may not be dimensions."""

    def __init__(
        self, arrow: pa.Table, names: list[str], total: str | None, marks: Sequence[str], released: bool
    ) -> None:
        self.arrow, self.names, self.released = arrow, names, released
        self.beside = [*{*marks, *MARKS, *([] if total is None else [total])}]

    def crossed(self, figure: str | None) -> bool:
        """Say whether this is a cross-table: labels in its first column, each once, and figures in two or more others.

        Numbers in the first column may also number records, or be figures.
        """
        named = "\\" in self.names[0]
        if figure is None and set(ENDS) <= set(self.names):
            raise RequestError(
                f"columns {ENDS[0]!r} and {ENDS[1]!r} are the ends of intervals, but there is no column of figures "
                "beside them; add one (count), with a mark such as x in each row that has an interval, or say that "
                "they are categories (layout='wide', --layout wide)"
            )
        if named and figure is None:
            return True
        if not named and (figure is not None or len(self.names) < 3):
            return False
        labels = self.arrow.column(0)
        if not named and numeric(labels, self.beside):
            return False
        # Where some entries are numbers, others may be marks that were not named; the reader refuses those.
        distinct = pc.count_distinct(labels, mode="all").as_py()
        return distinct == len(labels) and all(_some(_texts(column, ()), NUMBER) for column in self.arrow.columns[1:])

    def check_wide(self, *, stated: bool, signs: bool) -> None:
        r"""Refuse columns of a cross-table that are not categories; a first header ``a\b`` says that all are."""
        if "\\" in self.names[0]:
            return
        for i, name in enumerate(self.names):
            if UNNAMED.fullmatch(name) and (i or _numbers_rows(self.arrow.column(0))):
                self._refuse_unnamed(i, "row,column")
        if stated:
            return
        figures = self.names[1:]
        broken = [] if signs else [name for name in figures if _broken(self.arrow[name], self.beside)]
        odd = [name for name in figures if called_statistic(name)] or (broken if len(broken) < len(figures) else [])
        if odd:
            said = (
                "say which columns hold statistics (statistics=, --statistic 'pct=percentage, over=column, ending=%'), "
                "leave it out of the file (what is left out is not judged)"
                if self.released
                else "leave it out of the file"
            )
            raise RequestError(
                f"column {odd[0]!r} looks like a statistic ({self._why(odd[0])}), not like a category that has counts; "
                f"{said}, or say that every column but the first is a category (layout='wide', --layout wide)"
                + (
                    ""
                    if called_statistic(odd[0])
                    else "; where a point separates thousands, say so (decimal=',', --decimal ,)"
                )
            )

    def is_index(self, name: str, dimensions: Sequence[str]) -> bool:
        """Say whether a first column without a name only numbers the rows, which the other columns tell apart."""
        others = [other for other in dimensions if other != name]
        if name != self.names[0] or not UNNAMED.fullmatch(name) or not others:
            return False
        return _numbers_rows(self.arrow.column(0)) and self._tell_apart(others)

    def is_label(self, name: str, dimensions: Sequence[str]) -> bool:
        """Say whether a column is called the label of another one's codes, and every code has one label."""
        for code in dimensions:
            if code != name and _is_label_of(name, code):
                number = self._distinct([code])
                return number > 1 and self._distinct([code, name]) == number
        return False

    def check_long(self, dimensions: Sequence[str]) -> None:
        """Refuse columns that look like statistics, or like a numbering of the rows."""
        for name in dimensions:
            if UNNAMED.fullmatch(name):
                rest = [other for other in dimensions if not UNNAMED.fullmatch(other)]
                self._refuse_unnamed(self.names.index(name), ",".join(rest))
        if len(dimensions) < 2:
            return
        odd = [name for name in dimensions if looks_like_statistic(name, self.arrow[name], self.beside)]
        why = self._why(odd[0]) if odd else "it has a number of its own in nearly every row, which others tell apart"
        odd = odd or [name for name in dimensions if _needless(name, dimensions, self.arrow, self.beside)]
        if not odd:
            self._refuse_labels(dimensions)
            return
        rest = [name for name in dimensions if name not in odd] or list(dimensions[:1])
        # What a column of this name may be, as an example of a definition.
        kind = next((one for one in ("median", "mean") if one in odd[-1].lower()), f"percentage, over={rest[0]}")
        said = f"say what it is (statistics=, --statistic '{odd[-1]}={kind}'), or " if self.released else ""
        left = "and it is not judged, which leaves a release incomplete" if self.released else "and it is left out"
        raise RequestError(
            f"column {odd[-1]!r} looks like a statistic ({why}), not like a dimension; {said}name the columns that "
            f"classify: without it (dimensions={rest}, --dimensions {','.join(rest)}), {left}, or with it "
            f"(dimensions={list(dimensions)}, --dimensions {','.join(dimensions)}), and each of its values is a "
            "category"
        )

    def _refuse_labels(self, dimensions: Sequence[str]) -> None:
        """Refuse a column of labels beside that of their codes: crossed, they would make cells that cannot occur."""
        counts = {name: pc.count_distinct(_plain(self.arrow[name]), mode="all").as_py() for name in dimensions}
        for code, label in combinations(dimensions, 2):
            number = counts[code]
            # Of two rows nothing can be told; in a table of three or more, codes and labels go in pairs.
            if number != counts[label] or number < 3 or self._distinct([code, label]) != number:
                continue
            rest = [name for name in dimensions if name != label]
            raise RequestError(
                f"columns {code!r} and {label!r} say the same: each of the {number} entries of one goes with one of "
                f"the other, as codes and their labels do; name the columns that classify, without one of them "
                f"(dimensions={rest}, --dimensions {','.join(rest)})"
            )

    def _why(self, name: str) -> str:
        return "its name says so" if called_statistic(name) else "it has decimals or a % sign"

    def _tell_apart(self, names: Sequence[str]) -> bool:
        """Say whether some columns tell all rows apart."""
        return self._distinct(names) == len(self.arrow)

    def _distinct(self, names: Sequence[str]) -> int:
        """Return how many different rows some columns have."""
        return different_rows([self.arrow[name] for name in names])

    def _refuse_unnamed(self, i: int, rest: str) -> None:
        shown = f" ({self.names[i]!r})" if self.names[i].strip() else ""
        raise DataError(
            f"column {i + 1} has no name{shown}; name it, or leave it out (pandas: index=False), or say which columns "
            f"classify (dimensions=, --dimensions {rest})"
        )


def statistics_among(
    names: Sequence[str], dimensions: Sequence[str], arrow: pa.Table, beside: Sequence[str]
) -> list[str]:
    """Return the columns beside dimensions that look like statistics, or like figures of their own, not like codes.

    >>> table = pa.table({"area": ["n", "s", "w"], "code": ["01", "02", "03"], "true": [2, 3, 9], "pct": [5, 5, 90]})
    >>> statistics_among(["code", "true", "pct"], ["area"], table, MARKS)
    ['true', 'pct']
    """
    return [
        name
        for name in names
        if looks_like_statistic(name, arrow[name], beside)
        or (_needless(name, dimensions, arrow, beside) and not UNNAMED.fullmatch(name) and not IDENTIFIES.search(name))
    ]


def _needless(name: str, dimensions: Sequence[str], arrow: pa.Table, beside: Sequence[str]) -> bool:
    """Say whether a number differs from row to row, while the other columns tell the rows apart without it."""
    others = [other for other in dimensions if other != name]
    if arrow.num_rows < 2 or not others or not numeric(arrow[name], beside):
        return False
    rows = int(arrow.num_rows)
    distinct = int(pc.count_distinct(_plain(arrow[name]), mode="all").as_py())
    return 2 * distinct > rows and different_rows([arrow[other] for other in others]) == rows


def _is_label_of(label: str, code: str) -> bool:
    """Say whether two names are those of labels and of the codes that they explain.

    >>> pairs = (
    ...     ("area_name", "area_code"),
    ...     ("label", "code"),
    ...     ("NACE label", "NACE"),
    ...     ("area", "sex"),
    ...     ("name", "sex"),
    ... )
    >>> [_is_label_of(*pair) for pair in pairs]
    [True, True, True, False, False]
    """
    stem = LABEL_NAME.fullmatch(label)
    other = CODE_NAME.fullmatch(code)
    return bool(stem and other and stem[1].casefold() == other[1].casefold() and not LABEL_NAME.fullmatch(code))


def called_statistic(name: str) -> bool:
    """Say whether a name is that of a statistic, or of figures.

    >>> [called_statistic(name) for name in ("meanAge", "Share of total (%)", "rates", "Frauenanteil", "value")]
    [True, True, True, True, True]
    >>> [called_statistic(name) for name in ("mode_of_travel", "age")]
    [False, False]
    """
    if name.strip().casefold() in FIGURES or any(mark in name for mark in "%‰"):
        return True
    words = map(str.casefold, re.findall(r"[^\W\d_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)))
    return any(w in STATISTICS or w.removesuffix("s") in STATISTICS or w.endswith(ENDINGS) for w in words)


def _proposed(arrow: pa.Table, names: Sequence[str]) -> str:
    """Return how to name the column of counts: the only one behind the first that holds numbers, if there is one."""
    held = [name for name in names[1:] if numeric(arrow[name])]
    return f"(count={held[0]!r}, --count {quote(held[0])})" if len(held) == 1 else UNPROPOSED


def numeric(column: pa.ChunkedArray, beside: Sequence[str] = MARKS) -> bool:
    """Say whether a column holds numbers, apart from marks, margins and gaps; codes such as 01 are not."""
    texts = _texts(column, beside)
    texts = texts.filter(pc.invert(pc.match_substring_regex(texts, GAP)))
    numbers = len(texts) and pc.all(pc.match_substring_regex(texts, NUMBER)).as_py()
    return bool(numbers) and not _some(texts, CODE)


def _some(texts: pa.Array, pattern: str) -> bool:
    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def looks_like_statistic(name: str, column: pa.ChunkedArray, beside: Sequence[str] = MARKS) -> bool:
    """Say whether a column is named like a statistic and has a digit, or holds numbers with decimals.

    >>> entries = {"mean": ["n/a", "15"], "x": ["-", "15.5*"], "rate": ["low", "high"], "bmi": ["18.5-24.9", "25+"]}
    >>> [looks_like_statistic(name, pa.chunked_array([texts])) for name, texts in entries.items()]
    [True, True, False, False]
    """
    if called_statistic(name):
        return _some(_texts(column, beside), "[0-9]")
    return numeric(column, beside) and _broken(column, beside)


def _broken(column: pa.ChunkedArray, beside: Sequence[str]) -> bool:
    """Say whether numbers have decimals or a percent sign.

    A comma in some of them lists categories, as in 2,3; in most of them, or before a smaller number, it is decimal.
    """
    texts = _texts(column, beside)
    commas = texts.filter(pc.match_substring_regex(texts, COMMA)).to_pylist()
    down = any(a >= b for text in commas for a, b in pairwise(map(int, re.findall(r"[0-9]+", text))))
    return _some(texts, DECIMAL) or 2 * len(commas) > len(texts) or down


def _texts(column: pa.ChunkedArray, beside: Sequence[str]) -> pa.Array:
    """Return the distinct entries as texts, without marks and margins; none if they are not texts."""
    try:
        texts = pc.utf8_trim_whitespace(pc.unique(_plain(column)).drop_null().cast(pa.string()))
    except pa.ArrowException:
        return pa.array([], pa.string())
    # Not a set of values: to make one of a list, Arrow imports pandas.
    pattern = f"^(?:{'|'.join(map(re.escape, beside))})$"
    return texts.filter(pc.invert(pc.match_substring_regex(texts, pattern))) if beside else texts


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def different_rows(columns: Sequence[pa.ChunkedArray]) -> int:
    """Return how many different rows some columns have.

    >>> different_rows([pa.chunked_array([["a", "a", None, None]]), pa.chunked_array([[1, 1, 1, 2]])])
    3
    """
    # Not by Arrow's own grouping and conversion: they import pandas, which takes longer than reading a small table.
    rows: IntArray = np.zeros(len(columns[0]), np.int64)
    number = 0
    for column in columns:
        coded = pc.dictionary_encode(_plain(column).combine_chunks(), null_encoding="encode")
        rows = rows * len(coded.dictionary) + np.from_dlpack(coded.indices).astype(np.int64)
        both = pc.dictionary_encode(pa.Array.from_buffers(pa.int64(), rows.size, [None, pa.py_buffer(rows)]))
        rows, number = np.from_dlpack(both.indices).astype(np.int64), len(both.dictionary)
    return number


def _numbers_rows(column: pa.ChunkedArray) -> bool:
    """Say whether a column counts the rows, from 0 or from 1."""
    try:
        entries = _plain(column).cast(pa.string()).to_pylist()
    except pa.ArrowException:
        return False
    return any(entries == [str(i) for i in range(start, start + len(entries))] for start in (0, 1))
