"""Pass rates of schools, as they are published: year × group, numbers under 5 hidden, rates to whole per cent."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.table.table import Table

YEARS, GROUPS = ("2022", "2023", "2024"), ("boys", "girls", "free meals", "others")


def school(rng: np.random.Generator) -> Table:
    """Return a random school: year × group × outcome."""
    size = rng.integers(2, 30, (len(YEARS), len(GROUPS)))
    passed = rng.binomial(size, rng.uniform(0.5, 0.95))
    names = {"year": YEARS, "group": GROUPS, "outcome": ("passed", "failed")}
    return Table.from_array(np.stack([passed, size - passed], axis=2), names)


def as_published_today(table: Table, path: Path) -> None:
    """Write n, passed and the pass rate with margins: numbers under 5 are hidden, every rate is shown."""
    counts = table.to_array()
    full = np.concatenate([counts, counts.sum(axis=0, keepdims=True)])
    full = np.concatenate([full, full.sum(axis=1, keepdims=True)], axis=1)
    lines = ["year,group,n,passed,rate"]
    for i, year in enumerate((*YEARS, "Total")):
        for j, group in enumerate((*GROUPS, "Total")):
            passed, n = int(full[i, j, 0]), int(full[i, j].sum())
            shown = [str(number) if number == 0 or number >= 5 else "x" for number in (n, passed)]
            lines.append(f"{year},{group},{shown[0]},{shown[1]},{(200 * passed + n) // (2 * n)}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
