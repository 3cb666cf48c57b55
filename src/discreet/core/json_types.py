"""What JSON can write: the type of plain data that results, records and settings are turned into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""Any value of JSON; read one with ``isinstance``, as what comes from a file may be anything."""
