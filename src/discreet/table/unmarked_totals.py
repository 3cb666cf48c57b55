"""Totals that nobody marked: categories named like a margin, or that are the sum of all others in every line.

Taken for a category, a total counts people twice, and no equation links it to its cells: a hidden figure that is one
subtraction away would be called safe.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from discreet.core.errors import DataError
from discreet.core.numerics import BoolArray, IntArray
from discreet.core.text import many

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
NONE = "that there is none (total=None, --total '')"
FLAT = "list it with the others in a hierarchy of this dimension (hierarchies=, --hierarchy)"
"""What to do with a category that is no margin: if others are, saying that there is none would lose them."""
LINES = 3
"""In this many lines, a category is not the sum of others by chance."""


def named_like_a_total(label: str) -> bool:
    """Say whether a label is one that margins have.

    >>> [named_like_a_total(label) for label in ("Gesamt", "Total - age", "totally blind", "north")]
    [True, True, False, False]
    """
    text = label.casefold().strip()
    return text in TOTALS or BEGINNING.match(text) is not None


def refuse_unmarked(dimension: str, categories: Sequence[str], *, known: bool, otherwise: str = NONE) -> None:
    """Refuse a category named like a margin: it would count people twice. ``known`` is true if there is a total too.

    ``otherwise`` says what to do if it is none.
    """
    found = (one for one in categories if named_like_a_total(one) or (not known and one.casefold().strip() == CODED))
    label = next(found, None)
    if label is not None and len(categories) > 1:
        remedy = _remedy(label, otherwise)
        raise DataError(f"category {label!r} of dimension {dimension!r} is named like a margin; {remedy}")


class ListedFigures(NamedTuple):
    """Figures in the order of a file.

    ``codes`` gives the category of each by dimension, ``categories`` the labels of the dimensions without a total, and
    ``shown`` which figures are shown as they are; the others are hidden.
    """

    codes: Mapping[str, IntArray]
    categories: Mapping[str, Sequence[str]]
    values: IntArray
    shown: BoolArray

    def lines(self, name: str) -> IntArray:
        """Return for every figure the line along a dimension that it stands in: the categories of all others."""
        line = np.zeros(self.values.size, np.int64)
        for column in (column for other, column in self.codes.items() if other != name):
            line = np.unique(line * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
        return line


def refuse_sums(figures: ListedFigures, otherwise: str = NONE, *, by_chance: bool = False) -> None:
    """Refuse a category that is the sum of all others wherever all are shown, and never less than those shown.

    Args:
        figures: the figures.
        otherwise: what to do if the category is none.
        by_chance: whether categories may be as large as all others without being their sum, as in files whose totals
            were marked when they were written.

    A single such line may be chance, and then you have to say so: a total that is taken for a category leaves every
    verdict about the table without meaning. Where totals were marked, and for a category that some lines lack, three
    lines are not chance, nor are two dimensions with a category of one name. Where a figure is hidden that would
    follow, it is enough that no line contradicts it.

    >>> every = {"area": np.repeat([0, 1, 2], 3), "sex": np.tile([0, 1, 2], 3)}
    >>> labels = {"area": ["n", "s", "ganz"], "sex": ["m", "f", "ganz"]}
    >>> counts = np.array([5, 4, 9, 9, 11, 20, 14, 15, 29])
    >>> refuse_sums(ListedFigures(every, labels, counts, np.ones(9, bool)))
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: category 'ganz' of dimension 'area' is the sum of all others in 3 lines; if it is \
a margin, say so (total='ganz'), or so of this dimension alone (parts={'area': ['ganz']}), otherwise that \
there is none (total=None)
    """
    found: dict[str, str] = {}
    for name, labels in figures.categories.items():
        if len(labels) < 3:
            continue
        lines, hiding, everywhere = _sums(figures, name)
        if hiding.any() and not by_chance:
            label = labels[int(np.argmax(hiding))]
            raise DataError(
                f"category {label!r} of dimension {name!r} may be the sum of all others: in no line is it less than "
                f"those shown, and then hidden figures follow from it; {_remedy(label, otherwise, name)}"
            )
        for code in np.flatnonzero(lines).tolist():
            label, again = labels[code], found.get(labels[code])
            if lines[code] >= (1 if everywhere[code] and not by_chance else LINES) or again is not None:
                both = f" and of {again!r}" if again is not None else ""
                raise DataError(
                    f"category {label!r} of dimension {name!r}{both} is the sum of all others in "
                    f"{many(int(lines[code]), 'line')}; {_remedy(label, otherwise, name)}"
                )
            found[label] = name


def _sums(figures: ListedFigures, name: str) -> tuple[IntArray, BoolArray, BoolArray]:
    """Return in how many lines each category is the sum of two others or more, and whether it may tell a hidden figure.

    Neither holds for a category that is not the sum wherever it could be. The last says which are listed in every line
    that is not empty.
    """
    line, code, size = figures.lines(name), figures.codes[name], len(figures.categories[name])
    values, shown = figures.values, figures.shown
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
    telling = np.bincount(code, weights=shown & (hidden > 0), minlength=size)
    filled = np.bincount(code, weights=(whole > 0)[line], minlength=size) == np.count_nonzero(whole > 0)
    return np.where(wrong > 0, 0, lines).astype(np.int64), (wrong == 0) & (telling > 0), filled


def _remedy(label: str, otherwise: str, dimension: str = "") -> str:
    what, said = "one", f"(total={label!r}, --total {shlex.quote(label)})"
    if dimension:
        flag = f"--part {shlex.quote(f'{dimension}={label}')}"
        what = "a margin"
        said += f", or so of this dimension alone (parts={{{dimension!r}: [{label!r}]}}, {flag})"
    return f"if it is {what}, say so {said}, otherwise {otherwise}"
