"""Pairs of originals whose releases are equal: whatever is written for publication must be equal byte by byte."""

from __future__ import annotations

import random
from pathlib import Path

from campaign.outcomes import Tally, command
from discreet.table.presentation import FORMATS

METHODS: dict[str, tuple[str, ...]] = {
    "conventional-rounding": (),
    "hide-and-round": (),
    "random-rounding": ("--seed", str(2**127 + 1)),
}
"""Methods, and the seed of one that draws."""
FORMS = ("parquet", "xlsx", "flags", "sdmx-csv", "tab")
REFUSED = ("tab",)
"""What cannot say how the figures of these methods were made."""
TRIES = 200


def pairs(folder: Path, each: int, seed: int) -> Tally:
    """Compare so many pairs of each method."""
    tally, draw = Tally(), random.Random(seed)
    for method in METHODS:
        found = 0
        for _ in range(TRIES * each):
            if found == each:
                break
            counts = [draw.choice((0, 1, 2, 3, 6, 8, 12, 19, 33, 47)) for _ in range(6)]
            twin = [n if n == 0 else max(n + draw.choice((-2, -1, 0, 0, 1, 2)), 1) for n in counts]
            if twin == counts or sum(counts) == 0:
                continue
            shown = [_written(folder, method, "csv", values) for values in (counts, twin)]
            if shown[0] is None or shown[0] != shown[1]:
                continue
            found += 1
            apart = [form for form in FORMS if not _alike(folder, method, form, counts, twin)]
            told = f"{counts} and {twin} can be told apart in {', '.join(apart)}" if apart else ""
            tally.note(f"pairs by {method}", told)
    return tally


def _alike(folder: Path, method: str, form: str, counts: list[int], twin: list[int]) -> bool:
    """Say whether the files of two tables are the same byte by byte, or both refused where they must be."""
    one, other = (_written(folder, method, form, values) for values in (counts, twin))
    return one == other and (one is not None or form in REFUSED)


def _written(folder: Path, method: str, form: str, counts: list[int]) -> bytes | None:
    """Return the release of a table as it is written, None if it is refused."""
    rows = [f"{'abc'[i // 2]},{'mf'[i % 2]},{n}" for i, n in enumerate(counts)]
    (folder / "pair.csv").write_text("\n".join(["area,sex,count", *rows]) + "\n", encoding="utf-8")
    target = folder / f"pair-release{FORMATS[form]}"
    target.unlink(missing_ok=True)
    code, _, _ = command(["protect", method, "pair.csv", "-o", target.name, "--format", form, *METHODS[method]])
    return target.read_bytes() if code == 0 and target.exists() else None
