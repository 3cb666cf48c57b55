"""The user's input (a file, a frame or a table) as the original that rules, measures and methods take."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from discreet.core.errors import DataError, RequestError
from discreet.core.progress import Progress
from discreet.reading.opened import Opened
from discreet.reading.reading import COLUMNS, PLACE, TABLES, TEXT, Reading
from discreet.table import Table
from discreet.table.arrow_files import errors_of, read_arrow
from discreet.table.hierarchy import Hierarchy, Prefixes, part_tree
from discreet.table.release import Release
from discreet.table.roles import FIGURES, PUBLISHED_AS
from discreet.table.tabulation import Tabulation

Made = TypeVar("Made")
FRAMES = ("pandas", "polars", "pyarrow")
"""Libraries whose frames are known."""


def open_original(
    original: object,
    reading: Reading | None = None,
    *,
    name: str | None = None,
    released: bool = False,
    progress: Progress | None = None,
) -> Opened:
    """Return the user's input as an original.

    Args:
        original: a file, a pandas, polars or Arrow frame, a table or a tabulation; None for a bundled example.
        reading: how it is read.
        name: its name; by default that of its file.
        released: whether a release will do, as for a table that is a sample.
        progress: called as records are tabulated.

    >>> import pyarrow as pa
    >>> open_original(pa.table({"area": ["n", "s"], "count": [3, 4]})).table().total
    7
    """
    how = reading or Reading()
    if isinstance(original, Opened):
        return original
    if original is not None and how.example is not None:
        raise RequestError(
            f"a table is given, and the bundled one {how.example!r} too (example=, --example); leave out one"
        )
    if original is None and how.example is None:
        raise RequestError("name one table: a CSV or Parquet file, or a bundled one (example=, --example religion)")
    if isinstance(original, Table | Tabulation):
        _refuse(how, "a table is given", allowed=("top", "response"))
        return Opened(original, name or "table", response=how.response)
    if original is None:
        return _example(how, name)
    path = Path(original) if isinstance(original, str | Path) else None
    about: dict[str, Any] = {"said": how.said(), "others": how.companions(), "path": path}
    about |= {"name": name or ("table" if path is None else path.stem), "backend": _library(original)}
    if path is not None and (how.rda is not None or describes_itself(path)):
        return replace(_described(path, how), **about)
    if not released:
        _refuse_release(path or original)
    return _opened(path or original, how, about, progress)


def open_linked(original: object, reading: Reading) -> Table | Tabulation:
    """Return a table that is linked with another, as that one was read."""
    if isinstance(original, Table | Tabulation):
        return original
    how = reading.linked()
    if isinstance(original, str | Path):
        if describes_itself(Path(original)):
            return open_original(original, replace(how, hierarchies=None)).published()
        _refuse_release(Path(original))
    tops = _part_totals(original, how)
    return _grouped(counts_of(original, how, tops), how, tops, some=True).original


def open_originals(originals: object, reading: Reading) -> list[Table | Tabulation]:
    """Return one original, or several that are linked and all read as the first."""
    first, *others = originals if isinstance(originals, list | tuple) else [originals]
    return [open_original(first, reading).published(), *(open_linked(one, reading) for one in others)]


def is_read(given: object) -> bool:
    """Say whether something has to be read: a file, or a frame of a known library."""
    return isinstance(given, str | Path) or is_frame(given)


def is_frame(given: object) -> bool:
    """Say whether something is a frame of a known library."""
    return _library(given) is not None


def _library(given: object) -> str | None:
    library = type(given).__module__.partition(".")[0]
    return library if library in FRAMES else None


def describes_itself(path: Path) -> bool:
    """Say whether a file holds cells with all that belongs to them: a tabulation, or a table of τ-ARGUS."""
    from discreet.table.table_reader import note_in

    suffix = path.suffix.lower()
    return suffix == ".tab" or (
        suffix == ".parquet" and os.path.isfile(path) and note_in(path, "tabulation") is not None
    )


def _refuse(how: Reading, why: str, *, allowed: Sequence[str] = ()) -> None:
    """Refuse options about a file or frame if there is none."""
    if strange := how.beyond(allowed):
        raise RequestError(f"{strange} says how a file or frame is read, but {why}; leave it out")


def _example(how: Reading, name: str | None) -> Opened:
    from discreet import datasets

    assert how.example is not None
    table = datasets.load(how.example)
    _refuse(how, "a bundled table is named", allowed=("example", "top", "impossible", "hierarchies"))
    said = {key: value for key, value in how.said().items() if key != "top"}
    if how.impossible is not None:
        table = table.with_structural_zeros(how.impossible, **how.text)
    return replace(_grouped(table, how, {}), name=name or how.example, said=said, others=how.companions())


def stated_method(given: object) -> str | None:
    """Return how the release in a file or frame was made, None if nothing in it says that it is one."""
    if isinstance(given, str | Path):
        from discreet.table.table_reader import method_of

        return method_of(Path(given)) if os.path.isfile(given) else None
    from discreet.tabulation.sources import columns_of

    return "its figures say how they were made" if PUBLISHED_AS in columns_of(given) else None


def _refuse_release(given: object) -> None:
    """Refuse a release in place of the original."""
    made = given if isinstance(given, Release) else getattr(given, "release", None)
    if isinstance(made, Release):
        raise RequestError(
            f"this is a release (by {made.method}), not the original; hand over the original, or see what the release "
            "alone gives away (dc.audit)"
        )
    if (method := stated_method(given)) is None:
        return
    if not isinstance(given, Path):
        raise RequestError(
            f"the frame holds a release ({method}), not the original; hand over the original, or see what the release "
            "alone gives away (dc.audit)"
        )
    raise RequestError(
        f"{given} holds a release ({method}), not the original; name the original, and this as its release "
        f"(released=, --released {given.name}), or see what the release alone gives away "
        f"(dc.audit, discreet audit {given.name})"
    )


def _described(path: Path, how: Reading) -> Opened:
    """Return the cells of a file that itself says how they are laid out."""
    tab = path.suffix.lower() == ".tab" or how.rda is not None
    if how.hierarchies:
        raise RequestError(
            "a tabulation has its own hierarchies; leave others out (hierarchies=, --hierarchy), or tabulate again"
        )
    strange = how.beyond((*TEXT, "value", "response", "top", "parts", "dimensions", *(("rda",) if tab else ())))
    if tab:
        from discreet.tabulation.argus_tab import read_tab

        found = read_tab(path, how.rda, encoding=how.encoding, recompute=how.margins == "recompute").tabulation
    else:
        from discreet.table.table_reader import read_tabulation

        found = read_tabulation(path)
    if how.dimensions is not None and found.responses:
        strange = "dimensions"
    if strange is not None:
        raise RequestError(f"{path} is a tabulation, which needs no {strange}; leave it out")
    chosen = how.response or how.value
    if chosen is not None and not found.responses:
        raise RequestError(f"there is no magnitude {chosen!r}; the table holds counts only, leave the magnitude out")
    if how.dimensions is not None:
        return Opened(found.table(*how.dimensions))
    return Opened(found.as_part(found.totals_among(how.parts or {})), response=chosen)


def _opened(source: Any, how: Reading, about: Mapping[str, Any], progress: Progress | None) -> Opened:
    """Return records that are counted, a table, or what can only be records."""
    said = how.said()
    if how.by is not None:
        return replace(_tabulated(source, how, progress), **about)
    stray = next((key for key in COLUMNS if key in said), None)
    if stray is not None:
        raise RequestError(f"{stray} is about records; name the columns that classify them (by=, --by)")
    if how.value is not None:
        raise RequestError(
            f"value {how.value!r} names a magnitude of records or of a tabulation; a table holds counts: name the "
            "columns that classify records (by=, --by), or leave value out"
        )
    tops = _part_totals(source, how)
    try:
        table = counts_of(source, how, tops)
    except (DataError, RequestError) as error:
        if any(key in said for key in (*TABLES, "parts")):
            raise
        # What is not a table may be records, if its rows can be nothing else.
        from discreet.reading.record_guess import columns_of_records, note_of
        from discreet.table.frames import to_arrow

        arrow = read_arrow(source, **how.place) if isinstance(source, Path) else to_arrow(source)
        by = columns_of_records(arrow, source if isinstance(source, Path) else None, error)
        made = _tabulated(source, replace(how, by=by), progress)
        return replace(made, **{**about, "said": {**said, "by": by}, "note": f"{note_of(by)} {made.note}".strip()})
    return replace(_grouped(table, how, tops), **about)


def _tabulated(records: object, how: Reading, progress: Progress | None) -> Opened:
    """Count and add up records."""
    from discreet.tabulation.tabulate import tabulate

    if isinstance(records, Path) and (how.sheet is not None or how.header_row is not None):
        # What says where the records are is used up with the columns that are there.
        columns, file = read_arrow(records, **how.place), records
        with errors_of(file):
            here: dict[str, Any] = {**dict.fromkeys((*PLACE, "delimiter")), "encoding": "utf-8"}
            return _tabulated(columns, replace(how, **here), progress)
    strange = next((key for key in TABLES if key in how.said()), None)
    if strange is not None:
        raise RequestError(
            f"{strange} says how a table is read, but by= names columns of records; leave one of them out"
        )
    _refuse_counts(records, how)
    given = {name: getattr(how, name) for name in (*COLUMNS, "value", "hierarchies", "top", "decimal")}
    given = {name: value for name, value in given.items() if value is not None}
    made = tabulate(
        str(records) if isinstance(records, Path) else records,
        how.by,
        # What is published of records with weights are estimates.
        estimates=how.weight is not None,
        total=how.total_code,
        progress=progress,
        **how.text,
        **given,
    )
    lost = f"{made.dropped:,} records without a category were left out." if made.dropped else ""
    return Opened(made, response=how.response, note=lost)


def _refuse_counts(records: object, how: Reading) -> None:
    """Refuse to count the rows of a table, which are cells, as if each were one record."""
    from discreet.tabulation.sources import columns_of

    used = [how.by, *(getattr(how, name) for name in (*COLUMNS, "value"))]
    counts = next((name for name in columns_of(records, **how.text) if name.casefold() == FIGURES[0]), None)
    if counts is not None and not any(_names(one, counts) for one in used):
        where = f"{records}: " if isinstance(records, Path) else ""
        raise RequestError(
            f"{where}column {counts!r} looks like the counts of a table, but rows are counted as records (by=, "
            f"--by); leave that out and name the dimensions (dimensions=, --dimensions), or add the column up "
            f"(value={counts!r}, --value {counts})"
        )


def _names(given: object, column: str) -> bool:
    """Say whether a column is named, alone, in a list or by dimension."""
    if isinstance(given, Mapping):
        return any(_names(one, column) for one in given.values())
    if isinstance(given, list | tuple):
        return any(_names(one, column) for one in given)
    return bool(given == column) or column in getattr(given, "columns", ())


def counts_of(source: object, how: Reading, tops: Mapping[str, str] | None = None) -> Table:
    """Return the counts of a table in a file or frame."""
    same: dict[str, Any] = {"count": how.count, "dimensions": how.dimensions, "layout": how.layout}
    same |= {"margins": how.margins, "total": how.total or None, "decimal": how.decimal, "listed": _listed(how)}
    if isinstance(source, str | Path):
        from discreet.table.table_reader import read_table

        return read_table(source, **same, totals=tops, impossible=how.impossible, **how.place)
    table = Table.from_frame(source, **same)
    return table if how.impossible is None else table.with_structural_zeros(how.impossible, **how.text)


def _listed(how: Reading) -> list[str]:
    """Return the dimensions whose categories a hierarchy lists; one that is made from the codes lists none."""
    from discreet.tabulation.tabulate import trees_of

    found = {name: trees_of(given, how.total_code) for name, given in (how.hierarchies or {}).items()}
    return [name for name, trees in found.items() if not any(isinstance(tree, Prefixes) for tree in trees)]


def _grouped(table: Table, how: Reading, tops: Mapping[str, str], *, some: bool = False) -> Opened:
    """Return a table with the groups of its hierarchies as cells."""
    trees = {name: _trees(table, name, given, how.total_code) for name, given in (how.hierarchies or {}).items()}
    for name, codes in (how.parts or {}).items():
        found = trees.pop(name, [])
        if name in tops:
            trees[name] = [part_tree(name, [tops[name]], found)] if found else []
        else:
            trees[name] = [tree for tree in found if not set(codes) & set(tree.codes)]
    trees = {name: found for name, found in trees.items() if found and (name in table.names or not some)}
    if not trees and not tops:
        return Opened(table)
    laid = Tabulation.from_table(table, hierarchies=trees, total=how.total_code).as_part(tops)
    return Opened(laid, counts=table)


def _part_totals(source: object, how: Reading) -> dict[str, str]:
    """Return which totals of some categories only a long file has, by dimension."""
    if not how.parts:
        return {}
    if not isinstance(source, str | Path):
        raise RequestError("totals of parts are looked for in files; give a table of its own (Tabulation.as_part)")
    columns = read_arrow(source, **how.place)
    found = {}
    for name, codes in how.parts.items():
        labels = set(map(str, columns[name].to_pylist())) if name in columns.column_names else set()
        here = [code for code in codes if code in labels]
        if here and (len(here) > 1 or how.total in labels):
            both = " and ".join(repr(code) for code in [*here, how.total][:2])
            raise RequestError(f"{source}: dimension {name!r} has two totals, {both}; leave one out")
        if here:
            found[name] = here[0]
    return found


def _trees(table: Table, name: str, given: object, total: str) -> list[Hierarchy]:
    """Return the trees of a dimension, from files where they are named by them."""
    from discreet.tabulation.tabulate import trees_of

    found = trees_of(given, total)
    known = list(table.dimensions[table.axis(name)].categories) if name in table.names else []
    return [one.over(known, total) if isinstance(one, Prefixes) else one for one in found]


def reads_original(function: Callable[..., Made]) -> Callable[..., Made]:
    """Let a function take files and frames in place of its first argument, and how they are read by name.

    What has a name of the function's own parameters is for the function; anything but a file or frame is handed on.
    """
    own = tuple(inspect.signature(function).parameters)

    @wraps(function)
    def read(original: object, *given: object, **options: object) -> Made:
        reading, rest = Reading.among(options, own)
        if isinstance(original, list | tuple) and any(map(is_read, original)):
            return function(open_originals(original, reading), *given, **rest)
        if isinstance(original, Release):
            _refuse_release(original)
        if is_read(original) or reading.said():
            original = open_original(original, reading).published()
        return function(original, *given, **rest)

    return read
