"""Releases in files: CSV with suppression marks for people, Parquet that keeps everything that is published.

The key ``discreet`` of a Parquet file's metadata holds a JSON note ``{"kind": "release", "schema": 1, …}`` with the
kinds of figures, hierarchies, method and parameters. Neither file holds anything that is not in the release.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from discreet.core.errors import DataError, RequestError
from discreet.core.files import write_whole
from discreet.core.numerics import IntArray
from discreet.table.counts import numpy_from_arrow
from discreet.table.dimension import Dimension
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import EXACT, INTERVAL, UNBOUNDED, Kind
from discreet.table.release import Release
from discreet.table.roles import ENDS, PUBLISHED_AS
from discreet.table.table import DENSE_LIMIT, Table

SCHEMA = 1
"""The version of the note that a Parquet file of a release carries."""
TRIAL_MARK = " trial"
"""What the column ``published_as`` of a CSV file says after the kinds of figures of a trial."""


def write_release(release: Release, path: str | Path, *, value: str = "count", mark: str = "x") -> tuple[Path, ...]:
    """Write a release; see :meth:`Release.write`."""
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".txt", ".parquet"):
        raise RequestError(f"{file}: '{file.suffix}' is not a format that is written; give .csv or .parquet")
    parts = release.parts()
    if not release.figures and release.inner is not None and suffix != ".parquet" and release.inner.size <= DENSE_LIMIT:
        # Empty cells are written out, so that categories in which nobody is are not lost.
        parts = (Figures.of_table(release.inner, release.kind, zeros=True, name=release.method),)
    names = [file] if len(parts) == 1 else [file.with_stem(f"{file.stem}-{i}") for i in range(1, len(parts) + 1)]
    columns = [_columns(part, value, mark if suffix != ".parquet" else None, release.trial) for part in parts]
    for name, part, data in zip(names, parts, columns, strict=True):
        if suffix == ".parquet":
            _write_parquet(name, release if len(parts) == 1 else None, part, data, value, release)
        else:
            _write_csv(name, data)
    return tuple(names)


def _columns(part: Figures, value: str, mark: str | None, trial: bool) -> dict[str, Any]:
    """Return a column per dimension, the figures, ends of intervals, and how the figures were made."""
    kinds = [kind.name for kind in part.kinds]
    ends = part.upper is not None and "interval" in kinds
    clash = next((name for name in part.names if name in (value, PUBLISHED_AS, *(ENDS if ends else ()))), None)
    if clash is not None:
        raise RequestError(f"dimension {clash!r} has the name of a column of figures; rename it")
    data: dict[str, Any] = {}
    for i, (name, labels) in enumerate(part.labels.items()):
        codes = pa.array(part.codes[:, i].astype(np.int32))
        data[name] = pa.DictionaryArray.from_arrays(codes, pa.array(labels, pa.string()))
    is_interval = np.array([name == "interval" for name in kinds])[part.kind]
    covered = part.hidden | is_interval
    if mark is None:
        data[value] = _numbers(part.values, part.decimals, covered)
    else:
        shown = decimal_texts(part.values, part.decimals)
        data[value] = pa.array(np.where(covered, mark, shown).tolist(), pa.string())
    if ends:
        assert part.upper is not None
        for name, numbers in zip(ENDS, (part.values, part.upper), strict=True):
            data[name] = _numbers(numbers, part.decimals, ~is_interval)
    # What a mark leaves open is said, too: a reader who sees zeros would take hidden figures to be above 0.
    plain = (EXACT, INTERVAL)
    used = np.unique(part.kind)
    if mark is None:
        phrases = pa.array([f"{i}: {kind.phrase}" for i, kind in enumerate(part.kinds)], pa.string())
        data[PUBLISHED_AS] = pa.DictionaryArray.from_arrays(pa.array(part.kind.astype(np.int32)), phrases)
    elif trial or any(part.kinds[i] not in plain for i in used):
        stated = [kind_text(kind, part.values[part.kind == i]) for i, kind in enumerate(part.kinds)]
        texts = pa.array([text + TRIAL_MARK if trial else text for text in stated], pa.string())
        data[PUBLISHED_AS] = pa.DictionaryArray.from_arrays(pa.array(part.kind.astype(np.int32)), texts)
    return data


def _numbers(values: IntArray, decimals: int, nothing: npt.NDArray[np.bool_]) -> pa.Array:
    numbers = values if decimals == 0 else values / 10**decimals
    return pa.array(numbers, mask=np.asarray(nothing, bool))


def decimal_texts(values: IntArray, decimals: int) -> npt.NDArray[Any]:
    """Return whole numbers of last decimals as people write them.

    >>> decimal_texts(np.array([-5, 1250]), 2).tolist()
    ['-0.05', '12.50']
    """
    if not decimals:
        return values.astype("U20")
    whole, part = np.divmod(np.abs(values), 10**decimals)
    sign = np.where(values < 0, "-", "")
    points = np.char.add(np.char.add(sign, whole.astype("U20")), ".")
    return np.char.add(points, np.char.zfill(part.astype("U20"), decimals))


def kind_text(kind: Kind, values: IntArray) -> str:
    """Return a kind as a CSV file names it; a law that no few numbers state is named by how far it moves values.

    >>> kind_text(Kind("random", base=3), np.array([3]))
    'random base=3'
    """
    data = kind.to_dict()
    name = data.pop("name")
    if all(isinstance(item, int | float | str) for item in data.values()):
        return " ".join([name, *(f"{key}={item}" for key, item in data.items())])
    lower, upper = kind.range(values)
    far = int(max((values - lower).max(initial=1), (upper - values).max(initial=1)))
    if far >= UNBOUNDED:
        raise RequestError(f"figures {kind.phrase} cannot be described in a CSV file; write .parquet")
    return f"perturbed bound={far}"


def kind_from_text(text: str) -> Kind:
    """Return the kind that a CSV file names.

    >>> kind_from_text("random base=3")
    Kind(name='random', base=3, bound=0, fraction=0.0)
    """
    name, *rest = text.split()
    given: dict[str, Any] = {}
    for item in rest:
        key, equals, number = item.partition("=")
        try:
            given[key] = float(number) if "." in number or "e" in number else int(number)
        except ValueError:
            given[key] = number
        if not equals:
            raise RequestError(f"{PUBLISHED_AS} is {text!r}; it is a kind of figure, as 'random base=3'")
    try:
        return Kind(name, **given)
    except TypeError:
        raise RequestError(f"{PUBLISHED_AS} is {text!r}, with a parameter that kinds do not have") from None


def _write_csv(file: Path, data: Mapping[str, Any]) -> None:
    import pyarrow.csv as pcsv

    plain = {
        name: column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for name, column in data.items()
    }
    quoting = pcsv.WriteOptions(quoting_style="needed", quoting_header="needed")
    write_whole(file, lambda temporary: pcsv.write_csv(pa.table(plain), temporary, quoting))


def _write_parquet(
    file: Path, whole: Release | None, part: Figures, data: dict[str, Any], value: str, release: Release
) -> None:
    import pyarrow.parquet as pq

    inner = None if whole is None else whole.inner
    note = {
        "kind": "release",
        "schema": SCHEMA,
        "method": release.method,
        "parameters": dict(release.parameters),
        "trial": release.trial,
        "name": part.name,
        "count": value,
        "dimensions": list(part.names),
        "decimals": part.decimals,
        "total": part.total,
        "absent": part.absent,
        "kinds": [kind.to_dict() for kind in part.kinds],
        "hierarchies": {name: [tree.to_dict() for tree in trees] for name, trees in part.hierarchies.items()},
        "inner": None
        if inner is None
        else {
            "categories": {d.name: list(d.categories) for d in inner.dimensions},
            "impossible": inner.impossible.tolist(),
        },
    }
    arrow = pa.table(data).replace_schema_metadata({b"discreet": json.dumps(note, default=_plain).encode()})
    write_whole(file, lambda temporary: pq.write_table(arrow, temporary))


def _plain(item: Any) -> Any:
    """Return arrays and numbers of NumPy as JSON knows them, and anything else as its text."""
    return item.tolist() if isinstance(item, np.ndarray | np.generic) else str(item)


def note_of(arrow: pa.Table) -> dict[str, Any] | None:
    """Return the note of a release's Parquet file, None where it is none."""
    try:
        note: dict[str, Any] = json.loads((arrow.schema.metadata or {}).get(b"discreet", b"{}"))
    except ValueError:
        return None
    return note if isinstance(note, dict) and note.get("kind") == "release" else None


def method_of(path: Path) -> str | None:
    """Return how the release was made that a file holds, None where nothing in the file says that it is one."""
    import pyarrow.parquet as pq

    try:
        if path.suffix.lower() != ".parquet":
            with path.open("rb") as stream:
                return "its figures say how they were made" if PUBLISHED_AS.encode() in stream.readline(2**16) else None
        # Not an empty table of the schema, for which Arrow imports pandas.
        note = note_of(pa.Table.from_batches([], schema=pq.read_schema(path)))
    except (pa.ArrowException, OSError):
        return None
    return None if note is None else str(note.get("method", ""))


def release_from_arrow(arrow: pa.Table, note: Mapping[str, Any]) -> Release:
    """Rebuild a release from the columns and the note of its Parquet file."""
    if note.get("schema") != SCHEMA:
        raise DataError(
            f"written in version {note.get('schema')!r} of the format, but version {SCHEMA} is read here; "
            "update discreet, or write the release as CSV"
        )
    try:
        labels, codes = {}, []
        for name in note["dimensions"]:
            column = arrow[name].unify_dictionaries().combine_chunks()
            column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
            labels[name] = tuple(column.dictionary.to_pylist())
            codes.append(np.asarray(column.indices, np.int64))
        kind = np.asarray(arrow[PUBLISHED_AS].combine_chunks().indices, np.int64)
        scale = 10 ** note["decimals"]
        figures = Figures(
            labels,
            np.stack(codes, axis=1),
            _units(arrow[ENDS[0]], scale) + _units(arrow[note["count"]], scale)
            if ENDS[0] in arrow.column_names and ENDS[0] not in labels
            else _units(arrow[note["count"]], scale),
            kind,
            tuple(Kind.from_dict(data) for data in note["kinds"]),
            name=note["name"],
            decimals=note["decimals"],
            total=note["total"],
            hierarchies={
                name: tuple(Hierarchy.from_dict(t) for t in trees) for name, trees in note["hierarchies"].items()
            },
            absent=note["absent"],
            upper=_units(arrow[ENDS[1]], scale) if ENDS[1] in arrow.column_names and ENDS[1] not in labels else None,
        )
        inner = None if note["inner"] is None else _inner(figures, note["inner"])
        return Release(inner, note["method"], note["parameters"], (figures,), trial=bool(note.get("trial")))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError):
        raise DataError("the file's own note about its figures is damaged; write it again") from None


def _units(column: pa.ChunkedArray, scale: int) -> IntArray:
    """Return figures in units of the last decimal, 0 where there is none."""
    numbers = numpy_from_arrow(column.fill_null(0)) if len(column) else np.zeros(0)
    return np.rint(numbers * scale).astype(np.int64) if scale > 1 else numbers.astype(np.int64)


def _inner(figures: Figures, note: Mapping[str, Any]) -> Table:
    """Return the inner counts among the figures as a table."""
    dimensions = tuple(Dimension(name, tuple(found)) for name, found in note["categories"].items())
    position = np.zeros(len(figures), np.int64)
    inside = np.ones(len(figures), bool)
    for dimension in dimensions:
        place = {label: i for i, label in enumerate(dimension.categories)}
        recode = np.array([place.get(label, -1) for label in figures.labels[dimension.name]], np.int64)
        code = recode[figures.codes[:, figures.names.index(dimension.name)]]
        inside &= code >= 0
        position = position * len(dimension.categories) + code
    inside &= figures.values != 0
    order = np.argsort(position[inside])
    impossible = np.array(note["impossible"], np.int64)
    return Table(dimensions, position[inside][order], figures.values[inside][order], impossible)
