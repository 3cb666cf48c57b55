"""Files and frames of published tables to releases: any table with suppression marks, long or wide."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, DiscreetError, RequestError, nearest
from discreet.core.numerics import IntArray
from discreet.table.arrow_files import read_arrow_rows
from discreet.table.columns import Coded, coded_arrow, refuse_unmarked
from discreet.table.counts import Where
from discreet.table.figure_texts import figure_texts, parse_figures
from discreet.table.figures import Absent, Figures
from discreet.table.frames import to_arrow, unpivot
from discreet.table.hierarchy import TOTAL, Hierarchy, part_tree
from discreet.table.kinds import EXACT, INTERVAL, SUPPRESSED, Kind, Marked
from discreet.table.release import Release
from discreet.table.release_parquet import note_of, release_from_arrow
from discreet.table.release_writer import TRIAL_MARK, kind_from_text
from discreet.table.roles import ENDS, FIGURES, MARKS, PUBLISHED_AS, Layout, roles

MEANING = re.compile(r"(.*)=([0-9]*)\.\.([0-9]*)")
"""A mark with what it means: c=1..7."""
NOTE = re.compile(
    r"\W*(sources?|(foot)?notes?|remarks?|legend|quellen?|anmerkung(en)?|hinweise?)\b|[*†©]|\(?[0-9a-z]\) ", re.I
)
"""How notes below tables begin."""


def read_release(
    path: str | Path,
    *,
    value: str | None = None,
    dimensions: Sequence[str] | None = None,
    layout: Layout = "auto",
    total: str = TOTAL,
    marks: Sequence[str] = MARKS,
    least: float | None = None,
    kind: Kind = EXACT,
    margins: Kind | None = None,
    hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None = None,
    merged: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    absent: Absent = "empty",
    encoding: str = "utf-8",
    delimiter: str | None = None,
    name: str | None = None,
) -> Release:
    """Read what is published from a CSV or Parquet file.

    A column ``published_as`` says how each figure was made, and columns ``lower`` and ``upper`` hold figures that are
    published as intervals; :meth:`Release.write` writes them. A Parquet file that it wrote says everything itself.

    Args:
        path: a long file (a column per dimension and a column of figures) or a wide cross-table.
        value: the column of figures of a long file; ``count`` or ``value`` where not named.
        dimensions: the columns that classify, all others being left out; by default all but the figures, unless one
            looks like a statistic (a mean, a percentage), which is refused until the dimensions are named.
        layout: ``"long"``, ``"wide"`` or ``"auto"``.
        total: the label of margins.
        marks: what stands in place of hidden figures; anything else that is no number is an error. A mark can say what
            it means: ``"c=1..7"`` hides figures from 1 to 7, ``"x=1.."`` figures of 1 and more.
        least: what hidden figures are at least. Where neither this nor a mark nor the file says it, and the file shows
            zeros, hidden figures are taken to be above 0, as they are wherever zeros are always published; 0 says
            that zeros are hidden too.
        kind: how the figures were made, such as ``Kind("random", base=3)``.
        margins: how the margins were made, where that differs.
        hierarchies: for a dimension its tree, or several trees over it.
        merged: for a dimension, published categories that stand for several: ``{"size": {"5,6": ["5", "6"]}}``.
        parts: for a dimension, totals that are of some categories only, where a file has one of them: of those below
            it in a hierarchy, or without any of all others in the file.
        absent: inner cells without a row are ``"empty"`` or ``"unpublished"``.
        encoding: the encoding of a CSV file.
        delimiter: what separates the columns of a CSV file.
        name: what messages and proofs call this table; by default the file's name.
    """
    file = Path(path)
    arrow, where = read_arrow_rows(file, encoding=encoding, delimiter=delimiter)
    try:
        note = note_of(arrow)
        if note is not None:
            return release_from_arrow(arrow, note)
        if b'"tabulation"' in (arrow.schema.metadata or {}).get(b"discreet", b""):
            raise DataError(
                "this is a table as discreet tabulate makes it, with what is confidential, not what is published; "
                "protect it and name what that writes (discreet protect suppress FILE -o release.parquet), or, where "
                "all of it may be published, write that first (discreet assess FILE --as-is -o release.csv)"
            )
        figures = figures_from_arrow(
            arrow,
            where,
            value=value,
            dimensions=dimensions,
            layout=layout,
            total=total,
            marks=marks,
            least=least,
            kind=kind,
            margins=margins,
            hierarchies=hierarchies,
            merged=merged,
            parts=parts,
            absent=absent,
            name=name or file.name,
        )
    except DiscreetError as error:
        # Figures call themselves by the name of their file.
        told = str(error).removeprefix(f"{name or file.name}: ")
        raise type(error)(f"{file}: {told}") from None
    return _with_mark(Release.of(figures), arrow)


def _with_mark(release: Release, arrow: pa.Table) -> Release:
    """Return the release, marked as a trial where its figures say so."""
    if PUBLISHED_AS not in arrow.column_names:
        return release
    stated = pc.unique(arrow[PUBLISHED_AS].cast(pa.string())).to_pylist()
    return release.as_trial() if any((text or "").endswith(TRIAL_MARK) for text in stated) else release


def release_from_frame(frame: Any, **reading: Any) -> Release:
    """Return the release that a pandas, polars or Arrow frame holds; options as for :func:`read_release`."""
    reading.setdefault("name", "release")
    if type(frame).__module__.split(".")[0] == "pandas":
        from discreet.table.from_pandas import plain_frame

        value, names = reading.get("value") or FIGURES[0], reading.get("dimensions")
        frame, reading["layout"] = plain_frame(frame, value, reading.get("layout", "auto"), names)
    arrow = to_arrow(frame)
    return _with_mark(Release.of(figures_from_arrow(arrow, lambda row: f"row {row}", **reading)), arrow)


def figures_from_arrow(
    arrow: pa.Table,
    where: Where,
    *,
    value: str | None = None,
    dimensions: Sequence[str] | None = None,
    layout: Layout = "auto",
    total: str = TOTAL,
    marks: Sequence[str] = MARKS,
    least: float | None = None,
    kind: Kind = EXACT,
    margins: Kind | None = None,
    hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None = None,
    merged: Mapping[str, Mapping[str, Sequence[str]]] | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    absent: Absent = "empty",
    name: str = "release",
) -> Figures:
    """Build figures from columns; `where` names the place of a row in messages."""
    if layout not in ("auto", "long", "wide"):
        raise RequestError(f"layout is {layout!r}; it is 'auto', 'long' or 'wide'")
    if arrow.num_rows == 0:
        raise DataError("there are no rows; a release needs at least one figure")
    beside: dict[str, npt.NDArray[Any]] = {}
    read = roles(arrow, figure=value, dimensions=dimensions, layout=layout, total=total, marks=marks)
    if read.figure is None:
        labels, texts, where = unpivot(arrow, dimensions, where, figure_texts)
    else:
        labels = {dimension: coded_arrow(dimension, arrow[dimension], where) for dimension in read.dimensions}
        texts = figure_texts(arrow[read.figure], where)
        if not {PUBLISHED_AS, *ENDS} & set(read.dimensions):
            beside = {
                name: figure_texts(arrow[name], where) for name in (PUBLISHED_AS, *ENDS) if name in arrow.column_names
            }
    _refuse_notes(labels, texts, where)
    stated = beside.get(PUBLISHED_AS)
    negative = stated is not None or (margins or kind).signed
    ends = [beside[name] for name in ENDS] if set(ENDS) <= set(beside) else []
    meanings = _meanings(marks, least)
    (numbers, *limits), (hidden, *open_), decimals = parse_figures([texts, *ends], list(meanings), where, negative)
    trees = _trees(labels, hierarchies or {}, merged or {}, total)
    for dimension, codes in (parts or {}).items():
        if dimension in labels:
            listed = [label for label in labels[dimension].categories if label != total]
            trees[dimension] = _of_part(dimension, listed, trees.pop(dimension, ()), codes, absent)
    trees = {dimension: found for dimension, found in trees.items() if found}
    if total:
        for dimension, coded in labels.items():
            known = {total, *(code for tree in trees.get(dimension, ()) for code in tree.codes)}
            others = [label for label in coded.categories if label not in known]
            refuse_unmarked(dimension, others, known=len(others) < len(coded.categories))
    is_margin = np.zeros(numbers.size, bool)
    for dimension, coded in labels.items():
        sums = {total} | {t.codes[p] for t in trees.get(dimension, ()) for p in t.parents if p >= 0}
        is_margin |= np.array([label in sums for label in coded.categories])[coded.codes]
    scale = 10**decimals
    kinds = [k.scaled(scale) for k in (kind, SUPPRESSED, margins or kind)]
    which = np.where(hidden, 1, np.where(is_margin, 2, 0))
    for mark, meaning in meanings.items():
        if meaning != SUPPRESSED:
            which[hidden & (texts == mark)] = len(kinds)
            kinds.append(meaning.scaled(scale))
    if stated is not None:
        which = _stated(stated, which, hidden, kinds, where)
    given = ~open_[0] & ~open_[1] if limits else np.zeros(numbers.size, bool)
    interval = np.array([kind.spans for kind in kinds])[which]
    # An interval without its ends is a mark.
    which = np.where(interval & ~given, 1, which)
    if limits:
        odd = np.flatnonzero(given & ~hidden)
        if odd.size:
            row = int(odd[0])
            raise DataError(f"{where(row)}: the figure {texts[row]} has an interval beside it; give one of the two")
        numbers, which = np.where(given, limits[0], numbers), np.where(given & ~interval, len(kinds), which)
        kinds.append(INTERVAL)
    return Figures(
        {dimension: tuple(coded.categories) for dimension, coded in labels.items()},
        np.stack([coded.codes for coded in labels.values()], axis=1),
        numbers,
        which,
        tuple(kinds),
        name=name,
        decimals=decimals,
        total=total,
        hierarchies=trees,
        absent=absent,
        upper=limits[1] if limits else None,
    ).marked()


def _stated(
    stated: npt.NDArray[Any], which: IntArray, hidden: npt.NDArray[np.bool_], kinds: list[Kind], where: Where
) -> IntArray:
    """Return the kinds that a file states row by row; they are added to the list of kinds."""
    texts, inverse = np.unique(stated.astype(str), return_inverse=True)
    found = [kind_from_text(text.removesuffix(TRIAL_MARK)) if text else None for text in texts.tolist()]
    hides = np.array([kind is not None and (kind.hidden or kind.spans) for kind in found])[inverse]
    known = np.array([kind is not None for kind in found])[inverse]
    wrong = np.flatnonzero(known & (hides != hidden))
    if wrong.size:
        row = int(wrong[0])
        shown = "a suppression mark stands there" if hidden[row] else "a figure is shown"
        raise DataError(f"{where(row)}: the figure is said to be {stated[row]!r}, but {shown}; correct one of them")
    first = len(kinds)
    kinds += [kind or EXACT for kind in found]
    return np.where(known, first + inverse, which)


def _meanings(marks: Sequence[str], least: float | None) -> dict[str, Kind]:
    """Return the marks and what each of them says of a figure.

    >>> [kind.phrase for kind in _meanings(["x", "c=1..7"], 1).values()]
    ['suppressed, at least 1', 'suppressed, 1 to 7']
    """
    if least is not None and least != int(least):
        raise RequestError(f"hidden figures are at least {least}; give a whole number (least=, --least)")
    plain = SUPPRESSED if least is None else Marked(least=int(least))
    found: dict[str, Kind] = {}
    for text in marks:
        said = MEANING.fullmatch(text.strip())
        if said is None:
            found[text.strip()] = plain
        else:
            low, high = (int(end) if end else None for end in said.group(2, 3))
            found[said[1].strip()] = Marked(least=low, most=high)
    return found


def _refuse_notes(labels: Mapping[str, Coded], texts: npt.NDArray[Any], where: Where) -> None:
    """Refuse a note below a table: taken for a category with a hidden figure, it would leave all others open."""
    for coded in labels.values():
        noted = np.array([NOTE.match(label) is not None for label in coded.categories], bool)
        rows = np.flatnonzero(noted[coded.codes] & (texts == ""))
        if rows.size:
            row = int(rows[0])
            raise DataError(
                f"{where(row)}: {coded.categories[int(coded.codes[row])]!r} looks like a note, and has no figure; "
                "leave it out, or give hidden figures a mark such as x"
            )


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


def _of_part(
    name: str, listed: Sequence[str], trees: Sequence[Hierarchy], parts: Sequence[str], absent: Absent
) -> tuple[Hierarchy, ...]:
    """Return the trees of a dimension of which totals of parts are known, for a file that may have one of these."""
    found = [code for code in parts if code in listed]
    if not found:
        # A hierarchy that has such a total says what is in it, which is for the tables that show it.
        return tuple(tree for tree in trees if not set(parts) & set(tree.codes))
    if len(found) == 1 and not trees and absent == "empty":
        return (Hierarchy.flat([label for label in listed if label != found[0]]).as_part(found[0]),)
    return (part_tree(name, found, trees).as_part(),)
