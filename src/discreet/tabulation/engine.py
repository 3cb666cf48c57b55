"""What an engine offers; each one is a file in ``engines`` and an entry of :data:`ENGINES`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, NamedTuple, Protocol

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.progress import Progress
from discreet.core.registry import Registry
from discreet.tabulation.plan import Key, Plan
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import TableSpec

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

MOST = 10_000_000
"""The most entries of respondents kept with a tabulation: a round choice, up to 1 GB of memory."""


class Run(NamedTuple):
    """How an engine runs: the memory it may use, its threads, and the callback for progress."""

    memory: str
    workers: int | None
    progress: Progress | None


class EngineSession(AbstractContextManager["EngineSession"], Protocol):
    """An engine at work on some records; close it when the work is done."""

    name: str
    dropped: int

    def __init__(self, source: Source, spec: TableSpec, run: Run) -> None:
        """Check the records against the specification, and get ready."""

    def __exit__(self, *_: object) -> None:
        """Close the session."""
        self.close()

    def close(self) -> None:
        """Release whatever the work needed."""
        return None

    def labels(self) -> Sequence[Sequence[Key]]:
        """Return, for each dimension, the codes that occur; None where a code is empty."""

    def place(self, column: str, code: str | None) -> str:
        """Name the file and row of the first record with a code in a column, for messages."""

    def cells(self, plan: Plan) -> Mapping[str, npt.NDArray[np.generic]]:
        """Return the figures of all cells, in columns named as in a tabulation's file, sorted by ``cell``."""

    def respondents(self, plan: Plan) -> pa.Table | None:
        """Return who is in which cell of the full cross, as an Arrow table; None if there are more than MOST entries.

        It has the columns ``unit`` (the holding as "holding H", or the contributor), ``leaf0``, ``leaf1``, … (a node of
        each axis), ``records``, and ``sum0``, ``sum1``, … (one for each response). It is called after the cells have
        been computed, where the records name their contributors.
        """


ENGINES: Registry[type[EngineSession]] = Registry(
    "discreet.engines",
    "engine",
    {
        "duckdb": "discreet.tabulation.engines.duckdb:DuckDbSession",
        "spark": "discreet.tabulation.engines.spark:SparkTabulation",
        "reference": "discreet.tabulation.engines.reference:ReferenceSession",
    },
)
"""The engines by name: classes of sessions. Others add theirs through the entry points ``discreet.engines``."""


def check_columns(source: Source, spec: TableSpec, names: Sequence[str]) -> None:
    """Refuse a specification that names columns which do not exist."""
    for column, role in spec.roles():
        if column not in names:
            what = "value" if role == "response" else role
            raise RequestError(f"{source.shown}: there is no {what} column {column!r}; {nearest(column, list(names))}")


def check_types(
    source: Source,
    spec: TableSpec,
    types: Mapping[str, str],
    is_code: Callable[[str], bool],
    is_number: Callable[[str], bool],
) -> None:
    """Refuse missing columns, codes that are neither texts nor integers, and magnitudes that are not numbers."""
    check_columns(source, spec, list(types))
    for column in (column for dimension in spec.dimensions for column in dimension.columns):
        if not is_code(types[column]):
            raise DataError(
                f"{source.shown}: dimension column {column!r} is of type {types[column]}; codes are texts or integers"
            )
    for column in spec.numbers:
        if not is_number(types[column]):
            raise DataError(f"{source.shown}: column {column!r} is of type {types[column]}; give numbers")
