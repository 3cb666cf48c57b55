"""Where a plan states what: the file that it was read from, and the line of every key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Fault: TypeAlias = tuple[tuple[str, ...], str]
"""The path of a key, and what is wrong with it."""


@dataclass(frozen=True)
class PlanText:
    """The name of a file and the lines of its keys; a plan that was made in Python has neither.

    >>> PlanText("plan.toml", {("records",): 3}).told([(("records", "files"), "none.csv does not exist")])
    'plan.toml: line 3, records.files: none.csv does not exist'
    """

    name: str = ""
    lines: Mapping[tuple[str, ...], int] = field(default_factory=dict)

    def told(self, faults: Iterable[Fault]) -> str:
        """Return faults in words, each with its line and its key."""
        listed = "; ".join(f"{self._place(path)}: {text}" for path, text in faults)
        return f"{self.name}: {listed}" if self.name else listed

    def _place(self, path: tuple[str, ...]) -> str:
        """Return a key with its line, or with that of the nearest key above it."""
        line = next((self.lines[path[:n]] for n in range(len(path), 0, -1) if path[:n] in self.lines), 0)
        return f"line {line}, {'.'.join(path)}" if line else ".".join(path)
