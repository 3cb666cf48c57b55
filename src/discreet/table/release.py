"""A release: what is published about a table, and by which method it was made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from discreet.table.table import Table


@dataclass(frozen=True)
class Release:
    """Published figures and the name and parameters of the method that made them.

    It holds no original value and no seed: somebody who knows the method and the seed could undo a random
    method.
    """

    table: Table
    method: str
    parameters: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Freeze the parameters."""
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle with the parameters thawed; the constructor freezes them again."""
        return Release, (self.table, self.method, dict(self.parameters))

    def __str__(self) -> str:
        """Say how the figures were made, then show them."""
        made = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"Release by {self.method}{f' ({made})' if made else ''}\n{self.table}"

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        made = ", ".join(f"{name} {value}" for name, value in self.parameters.items())
        return f"<p>Release by {html.escape(self.method)} {html.escape(made)}</p>{self.table._repr_html_()}"


def published(figures: Table | Release) -> Table:
    """Return the published table of a release, or the table itself."""
    return figures.table if isinstance(figures, Release) else figures
