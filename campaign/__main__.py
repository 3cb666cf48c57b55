"""``python -m campaign``: try everything, and write what came of it into docs/reliability.md."""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from pathlib import Path

from campaign.hostile_inputs import hostile_inputs
from campaign.kills import kills
from campaign.load import load
from campaign.outcomes import Tally
from campaign.pairs import pairs
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
    tally, home = Tally(), Path.cwd()
    with tempfile.TemporaryDirectory(prefix="campaign-") as name:
        os.chdir(name)
        try:
            for part in (
                hostile_inputs(Path(name), asked.inputs, asked.seed),
                kills(Path(name), asked.kills, asked.seed),
                pairs(Path(name), asked.pairs, asked.seed),
                load(Path(name), asked.clients, asked.requests, asked.seed),
            ):
                tally.add(part)
            part, rows = scale(Path(name))
            tally.add(part)
        finally:
            os.chdir(home)
    for line in tally.failed:
        print(line)
    print(f"{sum(tally.tried.values()):,} trials in {time.monotonic() - begun:,.0f} s, {len(tally.failed)} failed")
    if asked.write:
        before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
        PAGE.write_text(
            f"{before}{BEGIN}\n{table(tally)}\n{taken(rows)}\n{END}{rest.partition(END)[2]}", encoding="utf-8"
        )
    raise SystemExit(1 if tally.failed else 0)


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
