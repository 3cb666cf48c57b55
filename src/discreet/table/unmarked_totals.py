"""Totals that nobody marked: categories named like a margin, or that are sums of others.

They are the sum of all others in every line, or of those whose codes begin with their own.

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
from discreet.core.text import listed
from discreet.table.grid import locate

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
NO_SUMS = "say that there are no sums (total=None, --total '')"
FLAT = "list it with the others in a hierarchy of this dimension (hierarchies=, --hierarchy)"
"""What to do with a category that is no margin: if others are, saying that there is none would lose them."""
LINES = 3
"""In this many lines, a category is not the sum of all others by chance."""


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


def refuse_sums(
    codes: Mapping[str, IntArray],
    categories: Mapping[str, Sequence[str]],
    values: IntArray,
    shown: BoolArray,
    otherwise: str = NONE,
    *,
    by_chance: bool = False,
) -> None:
    """Refuse a category that is the sum of all others wherever all are shown, and never less than those shown.

    Args:
        codes: the category of every figure, by dimension.
        categories: their labels, of the dimensions without a total.
        values: the figures.
        shown: which of them are shown as they are; the others are hidden.
        otherwise: what to do if the category is none.
        by_chance: whether categories may be as large as all others without being their sum, as in files whose totals
            were marked when they were written.

    A single such line may be chance. Three are not, nor are two dimensions with a category of one name. Where a figure
    is hidden that would follow, chance does not count: as long as no line contradicts it, you have to say what it is.

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
        lines, hiding = _sums(codes[name], others, values, shown, len(labels))
        if hiding.any() and not by_chance:
            label = labels[int(np.argmax(hiding))]
            raise DataError(
                f"category {label!r} of dimension {name!r} may be the sum of all others: in no line is it less than "
                f"those shown, and then hidden figures follow from it; {_remedy(label, otherwise, name)}"
            )
        for code in np.flatnonzero(lines).tolist():
            label, again = labels[code], found.get(labels[code])
            if lines[code] >= LINES or again is not None:
                both = f" and of {again!r}" if again is not None else ""
                raise DataError(
                    f"category {label!r} of dimension {name!r}{both} is the sum of all others in "
                    f"{lines[code]:,} line{'s' if lines[code] > 1 else ''}; {_remedy(label, otherwise, name)}"
                )
            found[label] = name


def refuse_nested(
    codes: Mapping[str, IntArray],
    categories: Mapping[str, Sequence[str]],
    values: IntArray,
    shown: BoolArray,
    otherwise: str = NO_SUMS,
) -> None:
    """Refuse categories that are sums of those whose codes begin with their own, as far as they are shown.

    The arguments are those of :func:`refuse_sums`. All codes of one length that begin alike must have such sums: of
    areas that are numbered from 1 to 12, the first is none. Or one of them has three, which are not chance.

    >>> labels = {"geo": ["DE1", "DE11", "DE12", "DE2", "DE21", "DE22"]}
    >>> shown = np.array([True, False, False, True, True, True])
    >>> refuse_nested({"geo": np.arange(6)}, labels, np.array([60, 0, 0, 40, 15, 25]), shown)
    Traceback (most recent call last):
        ...
    discreet.core.errors.DataError: category 'DE2' of dimension 'geo' seems to be the sum of 'DE21' and 'DE22'; if it \
is, give the dimension a hierarchy (hierarchies=), otherwise say that there are no sums (total=None)
    """
    for name, labels in categories.items():
        above = _above(labels)
        under = np.bincount(above[above >= 0], minlength=len(labels))
        if not (under > 1).any():
            continue
        line = _lines(codes[name].size, [column for other, column in codes.items() if other != name])
        lines = np.where(under > 1, _seen_as_sums(codes[name], line, above, values, shown), -1)
        # Of codes of one length below the same one, all must be sums, or one of them in so many lines.
        alike = np.unique(np.stack([above, [len(label) for label in labels]]), axis=1, return_inverse=True)[1]
        none = np.bincount(alike, lines < 0) > 0
        found = (lines >= LINES) | ((lines > 0) & ~none[alike])
        if found.any():
            parent = int(np.argmax(found))
            parts = listed([repr(labels[one]) for one in np.flatnonzero(above == parent).tolist()])
            raise DataError(
                f"category {labels[parent]!r} of dimension {name!r} seems to be the sum of {parts}; if it is, give the "
                f"dimension a hierarchy (hierarchies=, --hierarchy), otherwise {otherwise}"
            )


def _above(labels: Sequence[str]) -> IntArray:
    """Return for each code the longest other one that it begins with; -1 if there is none.

    >>> _above(["DE", "DE1", "DE11", "FR"]).tolist()
    [-1, 0, 1, -1]
    """
    found = np.full(len(labels), -1, np.int64)
    stack: list[int] = []
    for code in sorted(range(len(labels)), key=lambda one: labels[one]):
        while stack and not (labels[stack[-1]] and labels[code].startswith(labels[stack[-1]])):
            stack.pop()
        found[code] = stack[-1] if stack else -1
        stack.append(code)
    return found


def _seen_as_sums(code: IntArray, line: IntArray, above: IntArray, values: IntArray, shown: BoolArray) -> IntArray:
    """Return in how many lines each code is seen to be the sum of those below it; -1 if it is not where it could be."""
    size, over = above.size, above[code]
    below, own = over >= 0, shown & np.isin(code, above)
    places, at = np.unique(line[below] * size + over[below], return_inverse=True)
    seen, figures = shown[below], values[below]

    def added(what: IntArray | BoolArray) -> IntArray:
        # One more, which is 0, for lines in which nothing below a code is listed.
        return np.rint(np.bincount(at, what, places.size + 1)).astype(np.int64)

    mine = locate(places, line[own] * size + code[own])
    sums, hidden, positive = (added(one)[mine] for one in (figures * seen, ~seen, seen & (figures > 0)))
    wrong = np.where(hidden > 0, values[own] < sums, values[own] != sums)
    lines = np.bincount(code[own], (hidden == 0) & (positive > 1), size)
    found: IntArray = np.where(np.bincount(code[own], wrong, size) > 0, -1, lines).astype(np.int64)
    return found


def _lines(size: int, others: Sequence[IntArray]) -> IntArray:
    """Return for every figure the line that it stands in: the categories of all other dimensions."""
    line = np.zeros(size, np.int64)
    for column in others:
        line = np.unique(line * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
    return line


def _sums(
    code: IntArray, others: Sequence[IntArray], values: IntArray, shown: BoolArray, size: int
) -> tuple[IntArray, BoolArray]:
    """Return in how many lines each category is the sum of two others or more, and whether it may tell a hidden figure.

    Neither holds for a category that is not the sum wherever it could be.
    """
    line = _lines(code.size, others)
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
    return np.where(wrong > 0, 0, lines).astype(np.int64), (wrong == 0) & (telling > 0)


def _remedy(label: str, otherwise: str, dimension: str = "") -> str:
    what, said = "one", f"(total={label!r}, --total {shlex.quote(label)})"
    if dimension:
        flag = f"--part {shlex.quote(f'{dimension}={label}')}"
        what = "a margin"
        said += f", or so of this dimension of a release alone (parts={{{dimension!r}: [{label!r}]}}, {flag})"
    return f"if it is {what}, say so {said}, otherwise {otherwise}"
