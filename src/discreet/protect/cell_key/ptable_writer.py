"""Perturbation tables to files that the R package ptable, cellKey and τ-ARGUS read."""

from __future__ import annotations

from pathlib import Path

from discreet.core.files import write_text
from discreet.table.kinds import Noise


def write_law(law: Noise, path: str | Path) -> None:
    """Write the law of a perturbation table as the R package ptable does; all digits are kept."""
    lines = ["i;j;p;v;p_int_ub"]
    for count, row in enumerate(law):
        below = 0.0
        for place, (noise, chance) in enumerate(row):
            below = 1.0 if place == len(row) - 1 else below + chance
            lines.append(f"{count};{count + noise};{_number(chance)};{noise};{_number(below)}")
    write_text(path, "\n".join(lines) + "\n")


def _number(value: float) -> str:
    return repr(value) if value != int(value) else str(int(value))
