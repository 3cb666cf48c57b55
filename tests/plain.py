"""Plain data of results, to look into."""

from __future__ import annotations

from typing import Any, Protocol

from discreet.core.json_types import Json


class Telling(Protocol):
    """A result that can be told as plain data."""

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""


def data_of(result: Telling) -> Any:
    """Return a result as plain data; a test knows what it finds there."""
    return result.to_dict()
