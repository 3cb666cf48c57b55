"""Releases to files: CSV with suppression marks for people, Parquet that keeps everything that is published, and more.

The key ``discreet`` of a Parquet file's metadata holds a JSON note ``{"kind": "release", "schema": 1, …}`` with the
kinds of figures, hierarchies, method and parameters. Neither file holds anything that is not in the release.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.errors import RequestError
from discreet.core.files import write_text, write_whole
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.arrow_files import (
    Backend,
    Formulas,
    Frame,
    frame_from_arrow,
    label_columns,
    write_csv,
    write_parquet,
)
from discreet.table.figures import Figures, decimal_texts
from discreet.table.flagged_reader import VALUE
from discreet.table.flagged_writer import flagged, sdmx
from discreet.table.frequencies import Frequencies
from discreet.table.kinds import SUPPRESSED, Kind
from discreet.table.presentation import PLAIN, Presentation
from discreet.table.roles import BESIDE, ENDS, PUBLISHED_AS, STATES
from discreet.table.statistic import Statistic

SCHEMA = 1
"""The version of the note that a Parquet file of a release carries."""
TRIAL_MARK = " trial"
"""What the column ``published_as`` of a CSV file says after the kinds of figures of a trial."""
MERGES, SUMS = " merges ", " sums "
"""What it says after that, in the first row of a category: which were merged into it, or which add up to it."""
GROUPS = f"({MERGES}|{SUMS}|{STATES}|{BESIDE})"

ROWS = "rows"
"""What the column ``published_as`` of a CSV file calls the number of its rows."""


def write_figures(
    parts: Sequence[Figures],
    path: str | Path,
    about: Mapping[str, object],
    inner: Frequencies | None,
    *,
    value: str,
    mark: str,
    formulas: Formulas = "defuse",
    style: Presentation = PLAIN,
) -> tuple[Path, ...]:
    """Write published tables, each to a file of its own unless it is a workbook; see :meth:`Release.write`.

    ``about`` says method, parameters and whether it is a trial, ``inner`` the inner counts if all are published.
    """
    file = Path(path)
    form = style.format_of(file)
    parts, others = [one for one in parts if not one.measure], [one for one in parts if one.measure]
    _refuse_beside(parts, others, form, value)
    names = [file] if len(parts) == 1 else [file.with_stem(f"{file.stem}-{i}") for i in range(1, len(parts) + 1)]
    only = inner if len(parts) == 1 else None
    notes = [{"kind": "release", "schema": SCHEMA, **about, **_note(part, others, value, only)} for part in parts]
    if form == "xlsx":
        from discreet.table.workbook_writer import workbook

        book = workbook(parts, others, notes, style, defuse=formulas == "defuse")
        write_whole(file, lambda temporary: temporary.write_bytes(book))
        return (file,)
    if form == "tab":
        from discreet.table.tab_writer import tab_files

        # All are checked before one is written; the table's own file is the last of each.
        checked = [tab_files(part, name, about) for name, part in zip(names, parts, strict=True)]
        for target, text in (one for found in checked for one in found):
            write_text(target, text)
        return tuple(found[-1][0] for found in checked)
    shown = {"parquet": None, "csv": style.symbols.get("suppressed", mark)}.get(form, "")
    # SDMX-CSV calls the figures by a name of its own.
    columns = [_columns(part, others, value, shown, about, VALUE if form == "sdmx-csv" else value) for part in parts]
    for name, part, data, note in zip(names, parts, columns, notes, strict=True):
        if form == "parquet":
            write_parquet(pa.table(data), name, note)
        else:
            dressed = {"flags": flagged, "sdmx-csv": sdmx}.get(form)
            write_csv(pa.table(dressed(part, others, data, value, style) if dressed else data), name, formulas=formulas)
    return tuple(names)


def release_frame(parts: Sequence[Figures], about: Mapping[str, object], value: str, backend: Backend) -> Frame:
    """Return published tables as one frame; see :meth:`Release.to_frame`."""
    names = list(dict.fromkeys(name for part in parts for name in part.names))
    tables = []
    shown, others = [part for part in parts if not part.measure], [part for part in parts if part.measure]
    for part in shown:
        found = _columns(part, others, value, None, about)
        labels = {name: found.pop(name).cast(pa.string()) for name in part.names}
        missing = pa.array([part.total] * len(part), pa.string())
        found.pop(PUBLISHED_AS)
        tables.append(pa.table({**{name: labels.get(name, missing) for name in names}, **found}))
    return frame_from_arrow(pa.concat_tables(tables, promote_options="permissive"), backend)


def _refuse_beside(parts: Sequence[Figures], others: Sequence[Figures], form: str, value: str) -> None:
    """Refuse what would be lost: measures and statistics that the format cannot describe."""
    if others and (form == "tab" or len(parts) != 1):
        raise RequestError(
            f"{others[0].measure} stands beside the figures, which a file of one table has a place for: .csv, .xlsx or "
            ".parquet; write one of these"
        )
    for part in parts:
        if part.statistics and form == "tab":
            raise RequestError(
                f"a .tab file has no place for the statistic {part.statistics[0].name!r}; write .csv, .xlsx or "
                ".parquet, or leave it out"
            )
        own = {column.name for column in part.statistics} | {one.measure for one in others}
        taken = {value, PUBLISHED_AS, *ENDS, *part.names} & own
        if taken:
            raise RequestError(f"a statistic and a column are both called {taken.pop()!r}; rename one of them")


def _named(part: Figures, value: str) -> dict[str, Statistic]:
    """Return definitions that call the figures by the name of their column."""
    own = {part.figure: value}
    return {
        one.name: replace(
            one.statistic,
            of=own.get(one.statistic.of, one.statistic.of),
            per=own.get(one.statistic.per, one.statistic.per),
        )
        if one.statistic.measures
        else one.statistic
        for one in part.statistics
    }


def _note(part: Figures, others: Sequence[Figures], value: str, inner: Frequencies | None) -> dict[str, object]:
    """Return what a Parquet file says of its figures beside the columns."""
    return {
        "name": part.name,
        "count": value,
        "dimensions": list(part.names),
        "decimals": part.decimals,
        "total": part.total,
        "absent": part.absent,
        "kinds": [kind.to_dict() for kind in part.kinds],
        "hierarchies": {name: [tree.to_dict() for tree in trees] for name, trees in part.hierarchies.items()},
        "inner": None if inner is None else {"categories": inner.categories_by_name, "impossible": inner.impossible},
        **({"statistics": {n: one.to_dict() for n, one in _named(part, value).items()}} if part.statistics else {}),
        **({"measures": {one.measure: _mark(one).to_dict() for one in others}} if others else {}),
    }


def _mark(measure: Figures) -> Kind:
    """Return what a mark of a measure means; its other figures are exact."""
    hidden = [kind for kind in measure.kinds if kind.hidden]
    return hidden[0] if hidden else SUPPRESSED


def groups_from_text(text: str) -> dict[str, dict[str, list[str]]]:
    """Return the groups of categories that a text names, by dimension.

    >>> groups_from_text("age:60 and over=60 to 69+70 to 79;area:n=n1+n2")
    {'age': {'60 and over': ['60 to 69', '70 to 79']}, 'area': {'n': ['n1', 'n2']}}
    """
    found: dict[str, dict[str, list[str]]] = {}
    for one in text.split(";"):
        name, colon, rest = one.partition(":")
        group, equals, parts = rest.partition("=")
        if not colon or not equals or "" in (name, group, *parts.split("+")):
            raise RequestError(
                f"{one!r} does not say what to merge; give DIMENSION:GROUP=PART+PART, as 'activity:5 and 6=5+6'"
            )
        found.setdefault(name, {})[group] = parts.split("+")
    return found


def _group_texts(part: Figures, about: Mapping[str, object]) -> npt.NDArray[np.object_]:
    """Return what is said of categories that are groups, in the first row of each, and nothing in other rows."""
    texts = np.full(len(part), "", object)
    parameters = about["parameters"]
    recoding = parameters.get("recoding", {}) if isinstance(parameters, Mapping) else {}
    for (name, labels), codes in zip(part.labels.items(), part.codes.T, strict=True):
        first = dict(zip((labels[i] for i in np.unique(codes)), np.unique(codes, return_index=True)[1], strict=True))
        merged: dict[str, list[str]] = {}
        for category, group in recoding.get(name, {}).items():
            merged.setdefault(group, []).append(category)
        merged = {group: below for group, below in merged.items() if len(below) > 1}
        trees = part.hierarchies.get(name, ())
        # One tree can be told by its sums; several, or one of a part, take a Parquet file.
        sums = trees[0].sums() if len(trees) == 1 and not trees[0].part else {}
        sums = {group: below for group, below in sums.items() if group != trees[0].total and group not in merged}
        said = [(MERGES, group, below) for group, below in merged.items()]
        said += [(SUMS, group, below) for group, below in sums.items()]
        told = [(word, group, f"{name}:{group}={'+'.join(below)}", below) for word, group, below in said]
        # Only what names every group without doubt is said.
        if all(
            re.search(GROUPS, text) is None and groups_from_text(text) == {name: {group: list(below)}}
            for _, group, text, below in told
        ):
            for word, group, text, _ in told:
                texts[first.get(group, 0)] += word + text
    return texts


def _columns(
    part: Figures,
    others: Sequence[Figures],
    value: str,
    mark: str | None,
    about: Mapping[str, object],
    called: str = "",
) -> dict[str, pa.Array]:
    """Return a column per dimension, the figures, ends of intervals, and how the figures were made.

    ``called`` is the name by which definitions call the figures, that of their column by default.
    """
    is_interval = part.where(lambda kind: kind.spans)
    ends = () if part.upper is None or not any(kind.spans for kind in part.kinds) else (part.values, part.upper)
    taken = (value, PUBLISHED_AS, *(ENDS if ends else ()))
    data = label_columns(part.labels, part.codes.T, taken=taken, coded=mark is None)

    def shown(one: Figures, covered: BoolArray) -> pa.Array:
        if mark is None:
            return _numbers(one.values, one.decimals, covered)
        return pa.array(np.where(covered, mark, decimal_texts(one.values, one.decimals)).tolist(), pa.string())

    data[value] = shown(part, part.hidden | is_interval)
    data |= {one.measure: shown(one, one.hidden) for one in others}
    data |= _statistics(part, mark)
    for name, numbers in zip(ENDS, ends, strict=False):
        data[name] = _numbers(numbers, part.decimals, ~is_interval)
    # What a mark leaves open is said, too: a reader who sees zeros would take hidden figures to be above 0.
    if mark is None:
        phrases = pa.array([f"{i}: {kind.phrase}" for i, kind in enumerate(part.kinds)], pa.string())
        data[PUBLISHED_AS] = pa.DictionaryArray.from_arrays(pa.array(part.kind.astype(np.int32)), phrases)
        return data
    stated = np.empty(len(part), object)
    for i in np.unique(part.kind).tolist():
        mine = part.kind == i
        stated[mine] = kind_texts(part.kinds[i], part.values[mine])
    # A file that is cut short would be read as a whole one: what is not listed is an empty cell.
    groups = _group_texts(part, about)
    marks = [(one.measure, *kind_texts(_mark(one), np.zeros(1, np.int64))) for one in others]
    groups[:1] += _definition_texts(part, called or value) + "".join(f"{BESIDE}{name}: {text}" for name, text in marks)
    told = stated + f" {ROWS}={len(part)}" + groups + (TRIAL_MARK if about["trial"] else "")
    data[PUBLISHED_AS] = pa.array(told.tolist(), pa.string())
    return data


def _definition_texts(part: Figures, value: str) -> str:
    """Return what the first row says of statistics; those whose definition a text leaves in doubt are left out."""
    found = ""
    for name, statistic in _named(part, value).items():
        text = f"{name}={statistic.definition}"
        plain = statistic.definition and "=" not in name and name == name.strip()
        if plain and re.search(GROUPS, text) is None and not text.endswith(TRIAL_MARK):
            found += STATES + text
        elif statistic.measures:
            raise RequestError(f"the definition of {name!r} cannot be told in a CSV file; rename it, or write .parquet")
    return found


def _statistics(part: Figures, mark: str | None) -> dict[str, pa.Array]:
    """Return a column of texts for each statistic, with the mark, or nothing, where it is not published."""
    found, place = {}, {tuple(codes): row for row, codes in enumerate(part.codes.tolist())}
    for column in part.statistics:
        texts: list[str | None] = [mark] * len(part)
        for row, codes in enumerate(column.codes.tolist()):
            texts[place[tuple(codes)]] = column.text(row).rstrip("%")
        found[column.name] = pa.array(texts, pa.string())
    return found


def _numbers(values: IntArray, decimals: int, nothing: BoolArray) -> pa.Array:
    numbers = values if decimals == 0 else values / 10**decimals
    return pa.array(numbers, mask=nothing)


def kind_texts(kind: Kind, values: IntArray) -> list[str]:
    """Return what a CSV file says about how each figure was made.

    A law of noise takes more than a few numbers. The file states its consequence for the count behind each figure
    instead: how far away it is at most, and its least and largest value where they are nearer.

    >>> kind_texts(Kind("random", base=3), np.array([3]))
    ['random base=3']
    >>> law = ((0, 1.0),), ((-1, 0.25), (0, 0.5), (1, 0.25))
    >>> kind_texts(Kind("perturbed", bound=1, law=law), np.array([0, 1, 5]))
    ['perturbed bound=1 least=0', 'perturbed bound=1 least=1', 'perturbed bound=1']
    """
    texts = []
    for one in kind.plainly(values):
        data = one.to_dict()
        if not all(isinstance(item, int | float | str) for item in data.values()):
            raise RequestError(f"figures {one.phrase} cannot be described in a CSV file; write .parquet")
        texts.append(" ".join([str(data.pop("name")), *(f"{key}={item}" for key, item in data.items())]))
    return texts


def kind_from_text(text: str) -> Kind:
    """Return the kind that a CSV file names.

    >>> kind_from_text("random base=3")
    Random(base=3)
    """
    name, *rest = text.split() or [""]
    given: dict[str, float | str] = {}
    for item in rest:
        key, equals, number = item.partition("=")
        try:
            given[key] = float(number) if "." in number or "e" in number else int(number)
        except ValueError:
            given[key] = number
        if not equals:
            raise RequestError(f"{PUBLISHED_AS} is {text!r}; it is a kind of figure, as 'random base=3'")
    return Kind(name, **given)
