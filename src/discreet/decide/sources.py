"""What a user hands over, a file, a frame or a table, laid out for assessment, with how it was read."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from discreet.core.errors import DataError, RequestError
from discreet.decide.subject import Subject
from discreet.table import Table
from discreet.table.tabulation import Tabulation

RECORDS = ("by", "value", "contributor", "holding", "weight", "shadow", "hierarchies", "missing", "outside", "negative")
"""What is said of records; the rest is said of tables."""
MOST_CATEGORIES = 100
"""A column with more different entries is not taken for a dimension unless it is named."""


@dataclass(frozen=True, eq=False)
class Source:
    """An original, the file that it came from, and how that was read.

    ``note`` says what was assumed where the user did not say it; ``backend`` which frames the user works with.
    """

    subject: Subject
    path: Path | None = None
    reading: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""
    backend: str | None = None
    others: Mapping[str, Path] = field(default_factory=dict)

    def with_files(self, others: Mapping[str, Path]) -> Source:
        """Return the source with further files that the assessment read."""
        return replace(self, others={**self.others, **others})

    def files(self) -> list[dict[str, str]]:
        """Return the files that were read, with their hashes."""
        paths = {"original": self.path, **self.others} if self.path is not None else dict(self.others)
        return [
            {"role": role, "path": str(path), "sha256": hashlib.sha256(Path(path).read_bytes()).hexdigest()}
            for role, path in paths.items()
            if path is not None
        ]


def open_source(original: Any, *, name: str | None = None, response: str | None = None, **reading: Any) -> Source:
    """Lay out what a user hands over."""
    given = {key: value for key, value in reading.items() if value is not None}
    if isinstance(original, Source):
        return original
    example = given.pop("example", None)
    if (original is None) == (example is None):
        raise RequestError("name one table: a file, a frame or a table, or a bundled one with --example religion")
    if example is not None:
        from discreet import datasets

        return Source(Subject.of(datasets.load(example), name=name or example), None, {"example": example})
    if isinstance(original, Table | Tabulation):
        given.pop("top", None)
        if given:
            raise RequestError(
                f"{next(iter(given))} says how a file or frame is read, but a table is given; leave it out"
            )
        return Source(Subject.of(original, name=name or "table", response=response))
    if isinstance(original, str | Path):
        return _file(Path(original), name, response, given)
    return _frame(original, name or "table", response, given)


def _file(path: Path, name: str | None, response: str | None, reading: dict[str, Any]) -> Source:
    title = name or path.stem
    said = {**reading, **({} if response is None else {"response": response})}
    others = _others(reading)
    from discreet.table.release_parquet import method_of
    from discreet.table.tabulation_reader import is_tabulation, read_tabulation

    suffix = path.suffix.lower()
    if suffix == ".parquet" and path.is_file() and is_tabulation(path):
        # A tabulation has its magnitudes already; one of them is chosen.
        chosen = response or reading.get("value")
        strange = next((key for key in reading if key not in ("value", "top")), None)
        if strange is not None:
            raise RequestError(f"{path} is a tabulation, which needs no {strange}; leave it out")
        return Source(Subject.of(read_tabulation(path), name=title, response=chosen), path, said)
    if path.is_file() and (method := method_of(path)) is not None:
        raise RequestError(
            f"{path} holds a release ({method}), not the original that is assessed; name the original, and this as its "
            f"release (--release {path.name}), or see what the release alone gives away (discreet audit {path.name})"
        )
    if any(key in reading for key in RECORDS):
        found = _tabulated(str(path), reading)
        return Source(Subject.of(found, name=title, response=response), path, said, others=others)
    if suffix == ".tab":
        from discreet.tabulation.argus_tab import read_tab

        rda = reading.pop("rda", None)
        found = read_tab(path, None if rda is None else Path(rda)).tabulation
        return Source(Subject.of(found, name=title, response=response), path, said)
    from discreet.table.arrow_files import read_arrow
    from discreet.table.table_reader import read_table

    try:
        table = read_table(path, **{key: value for key, value in reading.items() if key != "top"})
        return Source(Subject.of(table, name=title), path, said, others=others)
    except (DataError, RequestError) as error:
        if any(key in reading for key in ("count", "layout", "dimensions")):
            raise
        text = {key: reading[key] for key in ("encoding", "delimiter") if key in reading}
        guessed = _guess_records(read_arrow(path, **text), str(path), error)
        found = _tabulated(str(path), {**reading, **guessed})
        return Source(Subject.of(found, name=title), path, {**said, **guessed}, _note(guessed))


def _frame(frame: Any, name: str, response: str | None, reading: dict[str, Any]) -> Source:
    from discreet.table.frames import to_arrow

    backend = type(frame).__module__.partition(".")[0]
    backend = backend if backend in ("pandas", "polars", "pyarrow") else None  # type: ignore[assignment]
    if any(key in reading for key in RECORDS):
        found = _tabulated(frame, reading)
        return Source(Subject.of(found, name=name, response=response), None, reading, "", backend)
    try:
        table = Table.from_frame(frame, **{key: value for key, value in reading.items() if key != "top"})
        return Source(Subject.of(table, name=name), None, reading, "", backend)
    except (DataError, RequestError) as error:
        if any(key != "top" for key in reading):
            raise
        guessed = _guess_records(to_arrow(frame), "the frame", error)
        return Source(Subject.of(_tabulated(frame, guessed), name=name), None, guessed, _note(guessed), backend)


def _others(reading: Mapping[str, Any]) -> dict[str, Path]:
    """Return the files beside the original: hierarchies and structural zeros."""
    found: dict[str, Path] = {}
    for name, given in (reading.get("hierarchies") or {}).items():
        for i, one in enumerate(given if isinstance(given, list | tuple) else [given]):
            if isinstance(one, str | Path):
                found[f"hierarchy {name} {i + 1}"] = Path(one)
    if isinstance(reading.get("impossible"), str | Path):
        found["impossible"] = Path(reading["impossible"])
    return found


def _tabulated(records: Any, reading: dict[str, Any]) -> Tabulation:
    from discreet.tabulation.tabulate import tabulate

    if "by" not in reading:
        raise RequestError("records are counted by columns that classify them; name these (by=, --by)")
    strange = next((key for key in ("count", "layout", "dimensions", "impossible") if key in reading), None)
    if strange is not None:
        raise RequestError(
            f"{strange} says how a table is read, but by= names columns of records; leave one of them out"
        )
    rest = {key: value for key, value in reading.items() if key != "by"}
    # What is published of records with weights are estimates.
    return tabulate(records, reading["by"], estimates="weight" in rest, **rest)


def _guess_records(arrow: Any, shown: str, error: Exception) -> dict[str, Any]:
    """Take a file that is no table for records, if all its columns can classify; otherwise raise what was wrong."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from discreet.table.roles import FIGURES, UNNAMED, looks_like_statistic

    names = [str(name) for name in arrow.column_names]
    plain = [f.type.value_type if pa.types.is_dictionary(f.type) else f.type for f in arrow.schema]
    arrow = arrow.cast(pa.schema(list(zip(names, plain, strict=True))))
    counts = {name: pc.count_distinct(arrow[name]).as_py() for name in names}
    wide = [name for name, count in counts.items() if count > MOST_CATEGORIES]
    # A cross-table has a row for each category of its first column; records repeat themselves.
    if arrow.num_rows < 2 or counts[names[0]] == arrow.num_rows or not _repeats(arrow):
        if set(FIGURES) & set(names):
            raise error
        hint = "if every row is a record, name the columns to count by (by=, --by)"
        raise type(error)(f"{error}; {hint}") from None
    if wide:
        raise RequestError(
            f"{shown} looks like records, but column {wide[0]!r} has {counts[wide[0]]:,} different entries; name the "
            "columns to count by (by=, --by), and what to add up (value=, --value)"
        ) from None
    odd = next((name for name in names if UNNAMED.fullmatch(name) or looks_like_statistic(name, arrow[name])), None)
    if odd is not None:
        raise RequestError(
            f"{shown} looks like records, but column {odd!r} does not look like one that classifies; name the columns "
            "to count by (by=, --by), and what to add up (value=, --value)"
        ) from None
    return {"by": names}


def _repeats(arrow: Any) -> bool:
    """Say whether some row stands there twice, as records do and the cells of a table do not."""
    return bool(arrow.group_by(arrow.column_names).aggregate([]).num_rows < arrow.num_rows)


def _note(guessed: Mapping[str, Sequence[str]]) -> str:
    return (
        f"There is no column of counts, so every row was taken for one record, counted by {', '.join(guessed['by'])}."
    )
