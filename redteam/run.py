"""Run many attacks, count what was refuted by method and reader, and write the table of it."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

# The tables are so small that compiling takes longer than running.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")

if TYPE_CHECKING:
    from redteam.case import Case

CHUNK = 100
"""How many attacks share a stream of chance."""
PAGE = Path(__file__).resolve().parent.parent / "docs" / "promise.md"
START, END = "<!-- redteam: start -->", "<!-- redteam: end -->"


@dataclass
class Row:
    """The cases of one method and one reader."""

    cases: int = 0
    skipped: int = 0
    claims: int = 0
    refuted: int = 0
    wrong: int = 0
    unclaimed: int = 0

    def add(self, case: Case) -> None:
        """Count a case."""
        self.cases += not case.skipped
        self.skipped += case.skipped
        self.claims += case.claims
        self.refuted += sum(failure.unsafe for failure in case.failures)
        self.wrong += sum(not failure.unsafe for failure in case.failures)
        self.unclaimed += case.unclaimed


def chunk(work: tuple[int, int, int]) -> list[Case]:
    """Make some attacks from a seed and the number of the chunk."""
    import warnings
    from random import Random

    # Random words overflow where nothing is compiled.
    warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
    from redteam.attack import attack
    from redteam.case import Bench

    seed, number, attacks = work
    bench = Bench(Random(f"{seed}-{number}"))
    return [case for _ in range(attacks) for case in attack(bench)]


def cases(wanted: int, seed: int, workers: int) -> Iterator[Case]:
    """Go through as many cases as wanted, skipped ones not counted."""
    done = 0
    if workers < 2:
        number = 0
        while done < wanted:
            for case in chunk((seed, number, CHUNK)):
                done += not case.skipped
                yield case
            number += 1
        return
    with ProcessPoolExecutor(workers) as pool:
        number = 0
        while done < wanted:
            work = [(seed, number + k, CHUNK) for k in range(4 * workers)]
            number += len(work)
            for found in pool.map(chunk, work):
                for case in found:
                    done += not case.skipped
                    yield case


def tally(found: Iterable[Case]) -> dict[tuple[str, str], Row]:
    """Count cases by method and reader."""
    rows: dict[tuple[str, str], Row] = {}
    for case in found:
        rows.setdefault((case.method, case.reader), Row()).add(case)
    return dict(sorted(rows.items()))


def markdown(rows: dict[tuple[str, str], Row]) -> str:
    """Return the table of the results."""
    head = "| published by | reader | cases | claims | refuted | wrong | known, not claimed | not enumerated |"
    lines = [head, "|---|---|--:|--:|--:|--:|--:|--:|"]
    whole = Row()
    for (method, reader), row in rows.items():
        lines.append(f"| {method} | {reader} | {_cells(row)} |")
        for name in vars(whole):
            setattr(whole, name, getattr(whole, name) + getattr(row, name))
    return "\n".join([*lines, f"| **all** | | {_cells(whole)} |"])


def _cells(row: Row) -> str:
    return " | ".join(f"{n:,}" for n in (row.cases, row.claims, row.refuted, row.wrong, row.unclaimed, row.skipped))


def write_page(table: str, page: Path = PAGE) -> None:
    """Put the table between the marks of a page."""
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(START)
    after = rest.split(END)[1]
    page.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 where a claim was refuted or is wrong."""
    parser = argparse.ArgumentParser(prog="python -m redteam", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many cases")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    parser.add_argument("--seed", type=int, default=1, help="the cases depend on it alone")
    parser.add_argument("--show", type=int, default=10, help="how many failures are told")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    given = parser.parse_args(arguments)
    begun = time.monotonic()
    kept = list(cases(given.cases, given.seed, given.workers))
    rows = tally(kept)
    table = markdown(rows)
    print(table)
    failed = [(case, failure) for case in kept for failure in case.failures]
    for case, failure in failed[: given.show]:
        print(f"\n{case.method} · {case.reader} · {case.door} · {failure.what}: {failure.text}\n  {case.original}")
    print(f"\n{len(failed):,} claims failed; {time.monotonic() - begun:.0f} seconds", file=sys.stderr)
    if given.write:
        write_page(table)
    return 1 if failed else 0
