"""The base of frozen bundles of arrays: they cannot be written to, and equality compares them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Self

import numpy as np


class Frozen:
    """A data class of arrays, compared by what they hold."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray) and value.flags.writeable:
                value = value.copy()
                value.flags.writeable = False
                object.__setattr__(self, item.name, value)

    def mapped(self, change: Callable[[Any], Any]) -> Self:
        """Return the same with every array changed, those of bundles inside it too."""

        def changed(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(changed(item) for item in value)
            if isinstance(value, Frozen):
                return value.mapped(change)
            return change(value) if isinstance(value, np.ndarray) else value

        return type(self)(*(changed(getattr(self, item.name)) for item in fields(self)))  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))  # type: ignore[arg-type]
        return all(np.array_equal(a, b) if isinstance(a, np.ndarray) else a == b for a, b in pairs)

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Copied and pickled through the constructor, which freezes the arrays again.
        return type(self), tuple(getattr(self, item.name) for item in fields(self))  # type: ignore[arg-type]
