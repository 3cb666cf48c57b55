"""What JSON can write: the type of plain data that results, records and settings are turned into."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Json: TypeAlias = bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"] | None
"""Any value of JSON; read one with ``isinstance``, as what comes from a file may be anything."""

JsonObject: TypeAlias = Mapping[str, Any]
"""An object of JSON that discreet itself wrote: its fields are taken as the schema of that version has them."""
