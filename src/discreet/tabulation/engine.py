"""What an engine offers; each one is a file in ``engines`` and an entry of :data:`ENGINES`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol

from discreet.core.progress import Progress
from discreet.core.registry import Registry
from discreet.tabulation.plan import Key, Plan
from discreet.tabulation.sources import Source
from discreet.tabulation.spec import TableSpec

MOST = 10_000_000
"""The most entries of respondents that are kept with a tabulation."""


class Session(Protocol):
    """An engine at work on some records; it is closed when the work is over."""

    dropped: int

    def __enter__(self) -> Session:
        """Begin."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of whatever the work needed."""

    def labels(self) -> Sequence[Sequence[Key]]:
        """Return, for each dimension, the codes that occur; None where a code is empty."""

    def place(self, column: str, code: str | None) -> str:
        """Name the file and row of the first record with a code in a column, for messages."""

    def cells(self, plan: Plan) -> Mapping[str, Any]:
        """Return the figures of all cells, in columns named as in a tabulation's file, sorted by ``cell``."""

    def respondents(self, plan: Plan) -> Any:
        """Return who is in which cell of the full cross, as an Arrow table; None if there are more than MOST entries.

        It has the columns ``unit`` (the holding as "holding H", or the contributor), ``leaf0``, ``leaf1``, … (a node of
        each axis), ``records``, and ``sum0``, ``sum1``, … (one for each response). It is asked for once the cells are
        there, where the records name their contributors.
        """


class Engine(Protocol):
    """Makes sessions."""

    name: str

    def open(
        self, source: Source, spec: TableSpec, *, memory: str, workers: int | None, progress: Progress | None
    ) -> Session:
        """Check the records against the specification, and get ready."""


_HERE = "discreet.tabulation.engines"
ENGINES: Registry[Engine] = Registry(
    "discreet.engines", "engine", {name: f"{_HERE}.{name}:ENGINE" for name in ("duckdb", "spark", "reference")}
)
"""The engines by name; other packages add theirs through the entry points ``discreet.engines``."""
