"""Releases to files: CSV with suppression marks for people, Parquet that keeps everything that is published.

The key ``discreet`` of a Parquet file's metadata holds a JSON note ``{"kind": "release", "schema": 1, …}`` with the
kinds of figures, hierarchies, method and parameters. Neither file holds anything that is not in the release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from discreet.core.errors import RequestError
from discreet.core.numerics import BoolArray, IntArray
from discreet.table.arrow_files import Formulas, label_columns, refuse_format, write_csv, write_parquet
from discreet.table.figures import Figures, decimal_texts
from discreet.table.frequencies import Frequencies
from discreet.table.kinds import Kind
from discreet.table.roles import ENDS, PUBLISHED_AS

SCHEMA = 1
"""The version of the note that a Parquet file of a release carries."""
TRIAL_MARK = " trial"
"""What the column ``published_as`` of a CSV file says after the kinds of figures of a trial."""

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
) -> tuple[Path, ...]:
    """Write published tables, each to a file of its own; see :meth:`Release.write`.

    ``about`` says method, parameters and whether it is a trial, ``inner`` the inner counts if all are published.
    """
    file = Path(path)
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".txt", ".parquet"):
        raise refuse_format(file, ".csv", ".parquet")
    names = [file] if len(parts) == 1 else [file.with_stem(f"{file.stem}-{i}") for i in range(1, len(parts) + 1)]
    columns = [_columns(part, value, mark if suffix != ".parquet" else None, bool(about["trial"])) for part in parts]
    for name, part, data in zip(names, parts, columns, strict=True):
        if suffix == ".parquet":
            note = {**about, **_note(part, value, inner if len(parts) == 1 else None)}
            write_parquet(pa.table(data), name, {"kind": "release", "schema": SCHEMA, **note})
        else:
            write_csv(pa.table(data), name, formulas=formulas)
    return tuple(names)


def _note(part: Figures, value: str, inner: Frequencies | None) -> dict[str, object]:
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
    }


def _columns(part: Figures, value: str, mark: str | None, trial: bool) -> dict[str, pa.Array]:
    """Return a column per dimension, the figures, ends of intervals, and how the figures were made."""
    is_interval = part.where(lambda kind: kind.spans)
    ends = () if part.upper is None or not any(kind.spans for kind in part.kinds) else (part.values, part.upper)
    taken = (value, PUBLISHED_AS, *(ENDS if ends else ()))
    data = label_columns(part.labels, part.codes.T, taken=taken, coded=mark is None)
    covered = part.hidden | is_interval
    if mark is None:
        data[value] = _numbers(part.values, part.decimals, covered)
    else:
        shown = decimal_texts(part.values, part.decimals)
        data[value] = pa.array(np.where(covered, mark, shown).tolist(), pa.string())
    for name, numbers in zip(ENDS, ends, strict=False):
        data[name] = _numbers(numbers, part.decimals, ~is_interval)
    # What a mark leaves open is said, too: a reader who sees zeros would take hidden figures to be above 0.
    used = np.unique(part.kind).tolist()
    if mark is None:
        phrases = pa.array([f"{i}: {kind.phrase}" for i, kind in enumerate(part.kinds)], pa.string())
        data[PUBLISHED_AS] = pa.DictionaryArray.from_arrays(pa.array(part.kind.astype(np.int32)), phrases)
    else:
        stated = np.empty(len(part), object)
        for i in used:
            mine = part.kind == i
            stated[mine] = kind_texts(part.kinds[i], part.values[mine])
        # A file that is cut short would be read as a whole one: what is not listed is an empty cell.
        ending = f" {ROWS}={len(part)}{TRIAL_MARK if trial else ''}"
        data[PUBLISHED_AS] = pa.array([text + ending for text in stated], pa.string())
    return data


def _numbers(values: IntArray, decimals: int, nothing: BoolArray) -> pa.Array:
    numbers = values if decimals == 0 else values / 10**decimals
    return pa.array(numbers, mask=nothing)


def kind_texts(kind: Kind, values: IntArray) -> list[str]:
    """Return how a CSV file says of each figure how it was made.

    A law of noise takes more than a few numbers. The file says instead what follows from it for the count behind each
    figure: how far away it is at most, and its least and largest value where they are nearer than that.

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
        texts.append(" ".join([data.pop("name"), *(f"{key}={item}" for key, item in data.items())]))
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
