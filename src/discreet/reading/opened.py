"""An original that was read, in the forms that rules, measures and methods take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.core.files import file_sha256
from discreet.table import Table
from discreet.table.arrow_files import Backend
from discreet.table.tabulation import Tabulation
from discreet.table.units import Level


@dataclass(frozen=True, eq=False)
class Opened:
    """An original, the file that it came from, and how that was read.

    ``counts`` are the inner counts if the original is a table with groups. ``said`` is how it was read, beyond the
    defaults; ``note`` is what was assumed for lack of an option; ``backend`` which frames the user works with;
    ``others`` are further files, by role.
    """

    original: Table | Tabulation
    name: str = "table"
    path: Path | None = None
    said: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    backend: Backend | None = None
    others: Mapping[str, Path] = field(default_factory=dict)
    counts: Table | None = None
    response: str | None = None

    def table(self) -> Table:
        """Return the counts of the finest cells."""
        magnitude = self.response or self.said.get("value")
        if magnitude is not None and isinstance(self.original, Tabulation):
            raise RequestError(f"counts are measured here, and {magnitude!r} is a magnitude; leave value out")
        if isinstance(self.original, Table):
            return self.original
        self.original.check_publishable()
        return self.counts if self.counts is not None else self.original.table()

    def tabulation(self) -> Tabulation:
        """Return the cells with all their margins."""
        if isinstance(self.original, Tabulation):
            return self.original
        return Tabulation.from_table(self.original, total=str(self.said.get("total") or "Total"))

    def published(self) -> Table | Tabulation:
        """Return the original with only the magnitude that is published, if one is named."""
        found = self.original
        if self.response is None or isinstance(found, Table) or not found.responses:
            return found
        at = found.response(self.response)

        def alone(level: Level) -> Level:
            return replace(level, largest=(level.largest[at],))

        holdings = None if found.holdings is None else alone(found.holdings)
        return replace(
            found, responses=(found.responses[at],), contributors=alone(found.contributors), holdings=holdings
        )

    def with_files(self, others: Mapping[str, Path]) -> Opened:
        """Return the same with further files that were read."""
        return replace(self, others={**self.others, **others})

    def files(self) -> list[dict[str, str]]:
        """Return the files that were read, with their hashes."""
        paths = {**({} if self.path is None else {"original": self.path}), **self.others}
        return [{"role": role, "path": str(path), "sha256": file_sha256(path)} for role, path in paths.items()]
