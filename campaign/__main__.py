"""``python -m campaign``: try everything, and write what came of it into docs/reliability.md."""

from __future__ import annotations

import argparse
import multiprocessing
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from campaign.hostile_inputs import hostile_inputs
from campaign.kills import kills
from campaign.load import load
from campaign.outcomes import Tally
from campaign.pairs import pairs
from campaign.processes import tried
from campaign.scale import scale

PAGE = Path(__file__).parent.parent / "docs" / "reliability.md"
BEGIN, END = "<!-- campaign -->", "<!-- /campaign -->"


def main() -> None:
    """Read the options, try everything, and say what failed."""
    parser = argparse.ArgumentParser(prog="python -m campaign", description=__doc__)
    parser.add_argument("--inputs", type=int, default=60, help="changes of each format")
    parser.add_argument("--kills", type=int, default=97, help="kills of each command")
    parser.add_argument("--pairs", type=int, default=25, help="pairs of originals for each method")
    parser.add_argument("--clients", type=int, default=50, help="clients of the workbench at once")
    parser.add_argument("--requests", type=int, default=2000, help="requests of all clients")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the table into docs/reliability.md")
    asked = parser.parse_args()
    begun = time.monotonic()
    parts: dict[str, tuple[Callable[..., object], tuple[int, ...]]] = {
        "inputs": (hostile_inputs, (asked.inputs, asked.seed)),
        "kills": (kills, (asked.kills, asked.seed)),
        "pairs": (pairs, (asked.pairs, asked.seed)),
        "load": (load, (asked.clients, asked.requests, asked.seed)),
        "scale": (scale, ()),
    }
    tally, rows = Tally(), []
    # Each part has a process and a folder of its own; none waits for another.
    with ProcessPoolExecutor(len(parts), mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in [pool.submit(tried, name, work, given) for name, (work, given) in parts.items()]:
            found: Any = done.result()
            if isinstance(found, tuple):
                found, rows = found
            tally.add(found)
    for line in tally.failed:
        print(line)
    print(f"{sum(tally.tried.values()):,} trials in {time.monotonic() - begun:,.0f} s, {len(tally.failed)} failed")
    if asked.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        told = "\n".join(("", f"**What failed: {'' if tally.failed else 'nothing.'}**", "", *_listed(tally.failed)))
        PAGE.write_text(
            f"{before}{BEGIN}\n{table(tally)}{told}\n{taken(rows)}\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )
    raise SystemExit(1 if tally.failed else 0)


def _listed(failed: Sequence[str]) -> list[str]:
    return [*(f"- {line}" for line in failed), ""] if failed else []


def table(tally: Tally) -> str:
    """Return what was tried and what failed, as a table of Markdown."""
    rows = [
        f"| {part} | {count:,} | {sum(one.startswith(f'{part}: ') for one in tally.failed)} |"
        for part, count in tally.tried.items()
    ]
    total = f"| **all** | **{sum(tally.tried.values()):,}** | **{len(tally.failed)}** |"
    return "\n".join(["", "| what | tried | failed |", "|---|---:|---:|", *rows, total, ""])


def taken(rows: list[tuple[str, str]]) -> str:
    """Return what large inputs took, as a table of Markdown."""
    return "\n".join(["| large inputs | took |", "|---|---:|", *(f"| {name} | {told} |" for name, told in rows), ""])


if __name__ == "__main__":
    main()
