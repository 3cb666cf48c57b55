"""Files and frames of published tables to releases: any table with suppression marks, long or wide."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, TypeAlias, TypedDict, Unpack, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.core.errors import DataError, RequestError, require
from discreet.core.numerics import BoolArray, IntArray, first_true
from discreet.table.arrow_files import TextOptions, errors_of, published_tables, read_arrow_rows
from discreet.table.columns import Coded, coded_arrow
from discreet.table.counts import Where
from discreet.table.doubtful_files import (
    refuse_bare,
    refuse_cut,
    refuse_flags,
    refuse_gaps,
    refuse_notes,
    refuse_open_end,
    refuse_several,
    refuse_telling,
)
from discreet.table.figure_texts import MEANING, figure_texts, meanings_of, parsed
from discreet.table.figures import Absent, Figures
from discreet.table.flagged_reader import UNIT
from discreet.table.frames import plain_columns, unpivot
from discreet.table.hierarchy import TOTAL, Hierarchy, part_tree
from discreet.table.kinds import EXACT, INTERVAL, SUPPRESSED, Kind
from discreet.table.release import Release
from discreet.table.release_writer import (
    GROUPS,
    MERGES,
    ROWS,
    SUMS,
    TRIAL_MARK,
    groups_from_text,
    kind_from_text,
)
from discreet.table.roles import (
    BESIDE,
    ENDS,
    FIGURES,
    MARKS,
    PUBLISHED_AS,
    STATES,
    Layout,
    figure_among,
    roles,
    statistics_among,
)
from discreet.table.statistic import OTHER, Statistic, statistics_of
from discreet.table.statistic_reader import (
    SIGNS,
    Texts,
    Written,
    definitions_of,
    read_column,
    split_brackets,
    taken_out,
)
from discreet.table.table_reader import is_tabulated, note_of, release_from_arrow
from discreet.table.unmarked_subtotals import NO_SUMS, refuse_subtotals
from discreet.table.unmarked_totals import FLAT, NONE, ListedFigures, refuse_sums, refuse_unmarked
from discreet.table.workbook_extras import refuse_extras

STATED = re.compile(rf"(.*?)(?: {ROWS}=([0-9]+))?(?:{TRIAL_MARK})?")
"""How a figure was made, and how many rows there are."""
Labels: TypeAlias = Mapping[str, Coded]
Groups: TypeAlias = Mapping[str, Mapping[str, Sequence[str]]]
Trees: TypeAlias = Mapping[str, tuple[Hierarchy, ...]]


class ReleaseOptions(TypedDict, total=False):
    """How columns are read as a release.

    Attributes:
        value: the column of figures of a long file; by default ``count``, ``value``, ``freq`` or ``figure``.
        dimensions: the columns that classify (others are left out); by default all but the figures, unless one looks
            like a statistic (a mean, a percentage), which is refused until the dimensions are named.
        layout: ``"long"``, ``"wide"`` or, by default, ``"auto"``.
        total: the label of margins, by default ``"Total"``.
        marks: what replaces hidden figures, by default ``x``, ``..``, ``c`` and nothing; anything else that is no
            number is an error. A mark can say what it means: ``"c=1..7"`` hides figures from 1 to 7, ``"x=1.."``
            figures of 1 and more.
        least: a lower bound on hidden figures. If neither this nor a mark nor the file states one, and the file shows
            zeros, hidden figures are taken to be above 0, since zeros are then always published; 0 says that zeros are
            hidden too.
        kind: how the figures were made, such as ``Kind("random", base=3)``; by default they are exact.
        margins: how the margins were made, if that differs.
        hierarchies: by dimension, its tree, or several trees over it.
        merged: by dimension, published categories that combine several: ``{"size": {"5,6": ["5", "6"]}}``.
        parts: by dimension, totals that cover some categories only, if a file has one of them: those below it in a
            hierarchy, or, without one, all others in the file.
        absent: whether inner cells without a row are ``"empty"``, the default, or ``"unpublished"``.
        name: what messages and proofs call this table; by default the file's name.
        statistics: what the columns beside the figures are: definitions as :class:`Statistic` takes them
            (``{"pct": "percentage, over=sex"}``), or a TOML file of them. Other columns that they are computed from
            are published measures.
        measure: what definitions beside other tables call the figures of this one, as the population that rates are
            per; nothing for the figures that are audited.
        numbers: how 1234.5 is written, as ``"1 234,5"``.
        notes: signs behind a number that mark a note, as ``"*†"``.
    """

    value: str | None
    dimensions: Sequence[str] | None
    layout: Layout
    total: str
    marks: Sequence[str]
    least: float | None
    kind: Kind
    margins: Kind | None
    hierarchies: Mapping[str, Hierarchy | Sequence[Hierarchy]] | None
    merged: Mapping[str, Mapping[str, Sequence[str]]] | None
    parts: Mapping[str, Sequence[str]] | None
    absent: Absent
    name: str | None
    statistics: Mapping[str, object] | Sequence[str] | str | Path | None
    measure: str
    numbers: str | None
    notes: str | None


class FileOptions(ReleaseOptions, TextOptions, total=False):
    """How a file of figures is read: its text, and what its columns say."""


def read_release(path: str | Path, **options: Unpack[FileOptions]) -> Release:
    """Read what is published from a CSV, Parquet or Excel file; all that :meth:`Release.write` writes is read back.

    A Parquet file that it wrote says everything itself. The arguments are those of :func:`discreet.read_release`, which
    reads ``.tab`` files too.
    """
    text = cast(TextOptions, {name: one for name, one in options.items() if name in TextOptions.__annotations__})
    reading = cast(ReleaseOptions, {name: one for name, one in options.items() if name not in text})
    _check_options(reading)
    file = Path(path)
    refuse_extras(file)
    if text.get("sheet") is None and text.get("header_row") is None and (tables := published_tables(file)):
        with errors_of(file):
            _refuse_statistics(reading)
            found = [release_from_arrow(one, json.loads(one.schema.metadata[b"discreet"])) for one in tables]
            every = tuple(part for one in found for part in one.figures)
            return found[0] if len(found) == 1 else replace(found[0], inner=None, figures=every)
    arrow, where = read_arrow_rows(file, **text)
    # Figures call themselves by this name.
    reading["name"] = name = reading.get("name") or file.name
    with errors_of(file, name):
        note = note_of(arrow.schema.metadata, "release")
        if note is not None:
            _refuse_statistics(reading)
            return release_from_arrow(arrow, note)
        if PUBLISHED_AS in arrow.column_names and file.suffix.lower() not in (".parquet", ".xlsx"):
            refuse_open_end(file)
        if is_tabulated(arrow.schema.metadata):
            raise DataError(
                "this is a table as discreet tabulate makes it, with what is confidential, not what is published; "
                "protect it and name what that writes (discreet protect suppress FILE -o release.parquet), or, where "
                "all of it may be published, write that first (discreet assess FILE --as-is -o release.csv)"
            )
        return _release(arrow, where, reading)


def _refuse_statistics(reading: ReleaseOptions) -> None:
    """Refuse definitions for a file that describes itself."""
    if reading.get("statistics"):
        raise RequestError(
            "this file says itself what it holds, and which statistics are in it; leave the definitions out "
            "(statistics=, --statistic), or name the published file (.csv)"
        )


def release_from_frame(frame: object, **reading: Unpack[ReleaseOptions]) -> Release:
    """Return the release that a pandas, polars or Arrow frame holds; options as for :func:`read_release`."""
    _check_options(reading)
    value, layout = reading.get("value") or FIGURES[0], reading.get("layout", "auto")
    arrow, reading["layout"] = plain_columns(frame, value, layout, reading.get("dimensions"))
    return _release(arrow, lambda row: f"row {row}", reading)


def _check_options(reading: ReleaseOptions) -> None:
    strange = next((name for name in reading if name not in ReleaseOptions.__annotations__), None)
    if strange is not None:
        raise TypeError(f"a release is read with no option {strange!r}")


def _release(arrow: pa.Table, where: Where, how: ReleaseOptions) -> Release:
    """Build a release from columns: a trial if its figures say so, with the groups of categories that they state."""
    if PUBLISHED_AS not in arrow.column_names or PUBLISHED_AS in (how.get("dimensions") or ()):
        return Release.of(_figures(arrow, where, how))
    stated = pc.fill_null(arrow[PUBLISHED_AS].cast(pa.string()), "")
    trial = any(text.endswith(TRIAL_MARK) for text in pc.unique(stated).to_pylist())
    plain, merged, sums, defined, beside = _without_groups(stated)
    if defined and not how.get("statistics"):
        how = {**how, "statistics": statistics_of(defined)}
    arrow = arrow.set_column(arrow.column_names.index(PUBLISHED_AS), PUBLISHED_AS, plain)
    known = {**(how.get("hierarchies") or {}), **(how.get("merged") or {})}
    groups = {name: {**sums.get(name, {}), **merged.get(name, {})} for name in {**sums, **merged} if name not in known}
    parts = [
        replace(one, kinds=tuple(beside.get(one.measure, kind) if kind.hidden else kind for kind in one.kinds))
        for one in _figures(arrow, where, how, groups)
    ]
    # A file says itself what its statistics are compared with: a category without a row is one that nobody is in.
    release = Release.of([_with_categories(one, statistics_of(defined)) for one in parts])
    if merged:
        recoding = {n: {part: group for group, parts in found.items() for part in parts} for n, found in merged.items()}
        release = replace(release, parameters={"recoding": recoding})
    return release.as_trial() if trial else release


def _with_categories(part: Figures, defined: Mapping[str, Statistic]) -> Figures:
    """Return figures that know the categories that statistics are over, though no row of the file has them."""
    if part.absent != "empty":
        return part
    labels = {name: list(found) for name, found in part.labels.items()}
    for name, label in (one for statistic in defined.values() for one in statistic.over.items()):
        known = name in labels and not part.hierarchies.get(name)
        if known and label and not part.is_total(name, label) and label not in labels[name]:
            labels[name].append(label)
    return replace(part, labels={name: tuple(found) for name, found in labels.items()})


def _without_groups(stated: pa.ChunkedArray) -> tuple[pa.Array, Groups, Groups, list[str], dict[str, Kind]]:
    """Return how figures were made without what else is said: merged groups, sums, statistics, marks of measures."""
    coded = stated.combine_chunks().dictionary_encode()
    found: dict[str, dict[str, dict[str, list[str]]]] = {MERGES: {}, SUMS: {}}
    kinds, defined = [], []
    beside: dict[str, Kind] = {}
    for text in coded.dictionary.to_pylist():
        kind, *said = re.split(GROUPS, text.removesuffix(TRIAL_MARK))
        kinds.append(kind)
        for word, groups in zip(said[::2], said[1::2], strict=True):
            if word == STATES:
                defined.append(groups)
                continue
            if word == BESIDE:
                name, _, mark = groups.rpartition(": ")
                beside[name] = kind_from_text(mark)
                continue
            for name, below in groups_from_text(groups).items():
                found[word].setdefault(name, {}).update(below)
    return pa.array(kinds, pa.string()).take(coded.indices), found[MERGES], found[SUMS], defined, beside


def _figures(
    arrow: pa.Table, where: Where, how: ReleaseOptions, groups: Groups = MappingProxyType({})
) -> tuple[Figures, ...]:
    """Build figures from columns, with groups that they state, and those of other measures.

    `where` names the place of a row in messages.
    """
    if arrow.num_rows == 0:
        raise DataError("there are no rows; a release needs at least one figure")
    definitions, written = definitions_of(how.get("statistics")), Written.of(how.get("numbers"), how.get("notes"))
    definitions |= _left_out(arrow, how, definitions)
    marks = [mark.strip() for mark in meanings_of(how.get("marks", MARKS), None)]
    columns = _columns(arrow, where, how, definitions)
    texts, behind = columns.texts, np.zeros(0, object)
    if any(one.inside and one.inside not in definitions for one in definitions.values()):
        texts, behind = split_brackets(texts, marks)
    columns = columns._replace(texts=written.plain(texts))
    main = replace(_built(columns, how, groups), figure=columns.figure, measure=how.get("measure", ""))
    stated = []
    for name, statistic in definitions.items():
        entries = behind if statistic.inside else columns.aside[name]
        # Another statistic may stand in brackets behind this one, and be this one itself.
        if any(one.inside == name for one in definitions.values()):
            entries = split_brackets(entries, marks)[0]
        if statistic.inside in definitions:
            entries = split_brackets(columns.aside[statistic.inside], marks)[1]
        floating = not statistic.inside and columns.floating.get(name, False)
        shown = written.plain(entries, SIGNS)
        stated.append(read_column(name, statistic, shown, main.codes, marks, columns.where, floating=floating))
    others = [
        replace(
            _built(columns._replace(texts=written.plain(entries), beside={}), {**how, "name": name}, groups),
            measure=name,
            figure=name,
        )
        for name, entries in columns.aside.items()
        if name not in definitions
    ]
    unit = (arrow.schema.metadata or {}).get(UNIT, b"").decode()
    return replace(main, statistics=tuple(stated), unit=unit), *others


def _built(columns: _Columns, how: ReleaseOptions, groups: Groups) -> Figures:
    """Build the figures of one measure."""
    labels, texts, beside, where = columns[:4]
    refuse_notes(labels, texts, where)
    kind = how.get("kind", EXACT)
    margins = how.get("margins") or kind
    stated = beside.get(PUBLISHED_AS)
    ends = [beside[name] for name in ENDS if set(ENDS) <= set(beside)]
    meanings = meanings_of(how.get("marks", MARKS), how.get("least"))
    (numbers, *limits), (hidden, *open_), decimals = parsed(
        [texts, *ends],
        list(meanings),
        where,
        negative=stated is not None or margins.signed,
        padded=stated is not None,
    )
    if stated is None and not ends:
        if "marks" not in how:
            refuse_gaps(texts, hidden, where)
            refuse_bare(labels, texts, where)
        said = [found[1].strip() for mark in how.get("marks", ()) if (found := MEANING.fullmatch(mark.strip()))]
        refuse_several(texts, hidden, said)
        refuse_telling(texts, hidden, said)
    total = how.get("total", TOTAL)
    trees = _trees(labels, total, how, groups)
    if total:
        _refuse_totals(labels, trees, total)
        if kind.exact:
            _refuse_sums(labels, trees, total, numbers, hidden, by_chance=stated is not None)
    kinds = [one.scaled(10**decimals) for one in (kind, SUPPRESSED, margins)]
    which = np.where(hidden, 1, np.where(_sums(labels, trees, total), 2, 0))
    for mark, meaning in meanings.items():
        if meaning != SUPPRESSED:
            which[hidden & (texts == mark)] = len(kinds)
            kinds.append(meaning.scaled(10**decimals))
    if stated is not None:
        which = _stated(stated, which, hidden, kinds, where)
    interval = np.array([one.spans for one in kinds])[which]
    given = ~open_[0] & ~open_[1] if limits else np.zeros(numbers.size, bool)
    # An interval without its ends is a mark.
    which = np.where(interval & ~given, 1, which)
    if limits:
        if (row := first_true(given & ~hidden)) is not None:
            raise DataError(f"{where(row)}: the figure {texts[row]} has an interval beside it; give one of the two")
        numbers, which = np.where(given, limits[0], numbers), np.where(given & ~interval, len(kinds), which)
        kinds.append(INTERVAL)
    return Figures(
        {dimension: tuple(coded.categories) for dimension, coded in labels.items()},
        np.stack([coded.codes for coded in labels.values()], axis=1),
        numbers,
        which,
        tuple(kinds),
        name=how.get("name") or "release",
        decimals=decimals,
        total=total,
        hierarchies=trees,
        absent=how.get("absent", "empty"),
        upper=limits[1] if limits else None,
    ).marked()


def _left_out(arrow: pa.Table, how: ReleaseOptions, definitions: Mapping[str, Statistic]) -> dict[str, Statistic]:
    """Return the columns that nobody named and that look like statistics: readers see them, so they are never safe."""
    names = [str(name) for name in arrow.column_names]
    figure, dimensions = how.get("value") or figure_among(names), how.get("dimensions")
    if not dimensions or figure not in names or how.get("layout") == "wide" or PUBLISHED_AS in names:
        return {}
    known = {figure, *dimensions, *ENDS, *definitions, *(name for one in definitions.values() for name in one.measures)}
    marks = [mark.strip() for mark in meanings_of(how.get("marks", MARKS), None)]
    others = [name for name in names if name not in known]
    return dict.fromkeys(
        statistics_among(others, dimensions, arrow, [*marks, how.get("total", TOTAL)]), Statistic(OTHER)
    )


class _Columns(NamedTuple):
    """The labels, the figures, what is said of them in columns beside them, the places of rows, and the rest.

    ``aside`` are texts of statistics and of other measures, ``floating`` says which a file stores as binary numbers.
    """

    labels: Labels
    texts: Texts
    beside: Mapping[str, Texts]
    where: Where
    figure: str
    aside: Mapping[str, Texts]
    floating: Mapping[str, bool]


def _columns(arrow: pa.Table, where: Where, how: ReleaseOptions, definitions: Mapping[str, Statistic]) -> _Columns:
    """Assign the columns to their roles."""
    dimensions, total = how.get("dimensions"), how.get("total", TOTAL)
    wide = how.get("layout") == "wide" or any(one.ending for one in definitions.values())
    names = [str(name) for name in arrow.column_names]
    figure = how.get("value") or figure_among(names)
    taken = taken_out(arrow, definitions, None if wide else figure or "", dimensions or names[:1])
    read = roles(
        taken.plain,
        figure=how.get("value"),
        dimensions=dimensions,
        layout="wide" if wide else how.get("layout", "auto"),
        total=total,
        marks=how.get("marks", MARKS),
    )
    floating = {name: pa.types.is_floating(column.type) for name, column in taken.columns.items()}
    if read.figure is None:
        # A cross-table has no columns of its own for statistics or measures.
        taken = taken_out(arrow, definitions, None, dimensions or names[:1])
        labels, texts, at = unpivot(taken.plain, dimensions, where, figure_texts)
        # The statistics beside a cross-table in the order of its figures; nothing where there is none.
        crossed = [str(one) for one in taken.plain.column_names if str(one) not in (dimensions or names[:1])]
        none, aside = np.full(taken.plain.num_rows, "", object), {}
        for name, several in taken.beside.items():
            found = {category: figure_texts(taken.columns[column], where) for column, category in several.items()}
            aside[name] = np.concatenate([found.get(one, none) for one in crossed])
        floats = {name: any(floating[column] for column in several) for name, several in taken.beside.items()}
        return _Columns(labels, texts, {}, at, "cells", aside, floats)
    labels = {name: coded_arrow(name, taken.plain[name], where) for name in read.dimensions}
    texts = figure_texts(taken.plain[read.figure], where)
    about = () if {PUBLISHED_AS, *ENDS} & set(read.dimensions) else (PUBLISHED_AS, *ENDS)
    beside = {n: figure_texts(arrow[n], where) for n in about if n in taken.plain.column_names}
    hidden = np.isin(texts, [mark.strip() for mark in meanings_of(how.get("marks", MARKS), None)])
    for name in names if hidden.any() and PUBLISHED_AS not in beside else ():
        if name in taken.plain.column_names and name not in {*labels, read.figure, *beside}:
            refuse_flags(name, figure_texts(arrow[name], where), hidden, labels)
    aside = {name: figure_texts(column, where) for name, column in taken.columns.items()}
    return _Columns(labels, texts, beside, where, read.figure, aside, floating)


def _refuse_totals(labels: Labels, trees: Trees, total: str) -> None:
    """Refuse categories that are named like a margin but are none."""
    for name, coded in labels.items():
        known = {total, *(code for tree in trees.get(name, ()) for code in tree.codes)}
        others = [label for label in coded.categories if label not in known]
        refuse_unmarked(name, others, known=len(others) < len(coded.categories), otherwise=_otherwise(labels, total))


def _refuse_sums(
    labels: Labels, trees: Trees, total: str, numbers: IntArray, hidden: BoolArray, *, by_chance: bool
) -> None:
    """Refuse categories that are the sum of all others, in dimensions that have neither a total nor a hierarchy."""
    bare = {name: one.categories for name, one in labels.items() if total not in one.categories and not trees.get(name)}
    every = ListedFigures({name: one.codes for name, one in labels.items()}, bare, numbers, ~hidden)
    refuse_sums(every, _otherwise(labels, total), by_chance=by_chance)
    refuse_subtotals(every, _otherwise(labels, total, NO_SUMS))


def _otherwise(labels: Labels, total: str, none: str = NONE) -> str:
    """Return what to do if a category is no margin, without losing those that are."""
    return FLAT if any(total in one.categories for one in labels.values()) else none


def _sums(labels: Labels, trees: Trees, total: str) -> BoolArray:
    """Say which rows are margins along any dimension."""
    found = np.zeros(next(iter(labels.values())).codes.size, bool)
    for name, coded in labels.items():
        sums = {total}.union(*(tree.sums() for tree in trees.get(name, ())))
        found |= np.array([label in sums for label in coded.categories])[coded.codes]
    return found


def _stated(stated: Texts, which: IntArray, hidden: BoolArray, kinds: list[Kind], where: Where) -> IntArray:
    """Return the kinds that a file states row by row, which are added to the list of kinds."""
    texts, inverse = np.unique(stated.astype(str), return_inverse=True)
    read = [said.groups() for said in map(STATED.fullmatch, texts.tolist()) if said is not None]
    refuse_cut([rows for _, rows in read], stated.size)
    found = [kind_from_text(text) if text else None for text, _ in read]
    hides = np.array([kind is not None and (kind.hidden or kind.spans) for kind in found])[inverse]
    known = np.array([kind is not None for kind in found])[inverse]
    if (row := first_true(known & (hides != hidden))) is not None:
        shown = "a suppression mark is there" if hidden[row] else "a figure is shown"
        raise DataError(f"{where(row)}: the figure is said to be {stated[row]!r}, but {shown}; correct one of them")
    first = len(kinds)
    kinds += [kind or EXACT for kind in found]
    return np.where(known, first + inverse, which)


def _trees(labels: Labels, total: str, how: ReleaseOptions, stated: Groups) -> dict[str, tuple[Hierarchy, ...]]:
    """Return the trees of each dimension; merged categories, and groups that the file states, make one of their own."""
    trees = {
        name: (found,) if isinstance(found, Hierarchy) else tuple(found)
        for name, found in (how.get("hierarchies") or {}).items()
        if name in labels
    }
    for name, groups in (how.get("merged") or {}).items():
        require([name], labels, "categories are merged, but there is no dimension")
        if name in trees:
            raise RequestError(f"dimension {name!r} has a hierarchy; put merged categories into it")
        found = [label for label in labels[name].categories if label != total]
        require(groups, found, f"dimension {name!r} has no category")
        trees[name] = (_tree(found, groups, total),)
    for name, groups in stated.items():
        if name in labels:
            trees[name] = (_tree([label for label in labels[name].categories if label != total], groups, total),)
    for name, codes in (how.get("parts") or {}).items():
        if name in labels:
            listed = [label for label in labels[name].categories if label != total]
            trees[name] = _of_part(name, listed, trees.pop(name, ()), codes, how.get("absent", "empty"))
    return {name: found for name, found in trees.items() if found}


def _tree(listed: Sequence[str], groups: Mapping[str, Sequence[str]], total: str) -> Hierarchy:
    """Return the tree of categories of which some are groups, and others in groups."""
    pairs: list[tuple[object, object]] = [(part, whole) for whole, parts in groups.items() for part in parts]
    inside = {part for part, _ in pairs}
    return Hierarchy.from_parents([(label, None) for label in listed if label not in inside] + pairs, total=total)


def _of_part(
    name: str, listed: Sequence[str], trees: Sequence[Hierarchy], parts: Sequence[str], absent: Absent
) -> tuple[Hierarchy, ...]:
    """Return the trees of a dimension whose totals of parts are known, for a file that may have one of them."""
    found = [code for code in parts if code in listed]
    if not found:
        # A hierarchy that has such a total says what is in it, which is for the tables that show it.
        return tuple(tree for tree in trees if not set(parts) & set(tree.codes))
    if len(found) == 1 and not trees and absent == "empty":
        return (Hierarchy.flat([label for label in listed if label != found[0]]).as_part(found[0]),)
    return (part_tree(name, found, trees).as_part(),)
