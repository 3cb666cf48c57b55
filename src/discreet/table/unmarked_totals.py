"""Totals that nobody marked: categories that are named like a margin, or are the sum of all others in every line.

Taken for a category, a total counts people twice, and no equation links it to its cells: a hidden figure that is one
subtraction away would be called safe.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, IntArray

TOTALS = frozenset({
    "all", "margin", "sum", "total", "totals", "grand total", "overall", "everybody", "everyone", "all ages",
    "all persons", "all people", "all sexes", "all categories", "all usual residents", "both", "both sexes", "persons",
    "_t", "insgesamt", "gesamt", "summe", "zusammen", "alle", "ensemble", "tous", "toutes", "total général", "totale",
    "tutti", "totaal", "i alt", "totalt", "samtliga", "summa", "yhteensä", "kaikki", "suma", "razem", "ogółem",
    "celkem", "spolu", "összesen", "skupaj", "ukupno", "kokku", "kopā", "iš viso", "todos", "todas",
    "ambos sexos", "toplam", "итого", "всего", "общо", "σύνολο", "jumlah", "合计", "总计", "計", "総数",
})  # fmt: skip
"""Labels that people and programs give to margins, whatever the case of their letters."""
BEGINNING = re.compile(r"(sub-?|grand )?totals?\b(?! loss)|all categories\b")
"""How such labels begin, as in «Total: all households» and «All categories: sex»."""
CODED = "t"
"""The total in codes of statistical offices; beside a total of another name it is a category."""
LINES = 3
"""In this many lines, a category is not the sum of all others by chance."""


def named_like_a_total(label: str) -> bool:
    """Say whether a label is one that margins have.

    >>> [named_like_a_total(label) for label in ("Gesamt", "Total - age", "totally blind", "north")]
    [True, True, False, False]
    """
    text = label.casefold().strip()
    return text in TOTALS or BEGINNING.match(text) is not None


def refuse_unmarked(dimension: str, categories: Sequence[str], *, known: bool) -> None:
    """Refuse a category named like a margin: it would count people twice. ``known`` is true if there is a total too."""
    found = (one for one in categories if named_like_a_total(one) or (not known and one.casefold().strip() == CODED))
    label = next(found, None)
    if label is not None and len(categories) > 1:
        raise DataError(f"category {label!r} of dimension {dimension!r} is named like a margin; {_remedy(label)}")


def refuse_sums(
    codes: Mapping[str, IntArray], categories: Mapping[str, Sequence[str]], values: IntArray, shown: BoolArray
) -> None:
    """Refuse a category that is the sum of all others wherever all are shown, and never less than those shown.

    Args:
        codes: the category of every figure, by dimension.
        categories: their labels, of the dimensions without a total.
        values: the figures.
        shown: which of them are shown as they are; the others are hidden.

    A single such line may be chance. Three are not, nor are two dimensions with a category of one name.

    >>> every = {"area": np.repeat([0, 1, 2], 3), "sex": np.tile([0, 1, 2], 3)}
    >>> labels = {"area": ["n", "s", "ganz"], "sex": ["m", "f", "ganz"]}
    >>> refuse_sums(every, labels, np.array([5, 4, 9, 9, 11, 20, 14, 15, 29]), np.ones(9, bool))
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: category 'ganz' of dimension 'area' is the sum of all others in 3 lines; if it is \
a margin, say so (total='ganz'), or so of this dimension of a release alone (parts={'area': ['ganz']}), otherwise that \
there is none (total=None)
    """
    found: dict[str, str] = {}
    for name, labels in categories.items():
        if len(labels) < 3:
            continue
        others = [column for other, column in codes.items() if other != name]
        lines = _sums(codes[name], others, values, shown, len(labels))
        for code in np.flatnonzero(lines).tolist():
            label, again = labels[code], found.get(labels[code])
            if lines[code] >= LINES or again is not None:
                both = f" and of {again!r}" if again is not None else ""
                flag = f"--part {shlex.quote(f'{name}={label}')}"
                more = f", or so of this dimension of a release alone (parts={{{name!r}: [{label!r}]}}, {flag})"
                raise DataError(
                    f"category {label!r} of dimension {name!r}{both} is the sum of all others in "
                    f"{lines[code]:,} line{'s' if lines[code] > 1 else ''}; {_remedy(label, 'a margin', more)}"
                )
            found[label] = name


def _sums(code: IntArray, others: Sequence[IntArray], values: IntArray, shown: BoolArray, size: int) -> IntArray:
    """Return in how many lines each category is the sum of two others or more; 0 if it is not wherever it could be."""
    line = np.zeros(code.size, np.int64)
    for column in others:
        line = np.unique(line * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    number = int(line.max(initial=-1)) + 1
    whole = np.zeros(number, np.int64)
    np.add.at(whole, line, np.where(shown, values, 0))
    hidden, positive = (
        np.bincount(line, weights=one, minlength=number)[line] for one in (~shown, shown & (values > 0))
    )
    rest = whole[line] - values
    same = (values == rest) & (hidden == 0)
    fits = np.where(hidden > 0, values >= rest, same) | ~shown
    wrong = np.bincount(code, weights=~fits, minlength=size)
    lines = np.bincount(code, weights=same & shown & (positive > 2), minlength=size)
    found: IntArray = np.where(wrong > 0, 0, lines).astype(np.int64)
    return found


def _remedy(label: str, what: str = "one", more: str = "") -> str:
    said = f"(total={label!r}, --total {shlex.quote(label)}){more}"
    return f"if it is {what}, say so {said}, otherwise that there is none (total=None, --total '')"
