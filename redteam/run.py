"""Run many attacks, count what was refuted by method and reader, and write the table of it."""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path
from random import Random

from discreet.core.parallel import over, run
from redteam.attack import ATTACKS, attack
from redteam.case import Bench, Case
from redteam.methods import COUNTS

CHUNK = 25
"""How many attacks a process makes at a time."""
ROUND = 8
"""How many times that in one round, at the end of which processes wait for the slowest: half of one time on average."""
PAGE = Path(__file__).resolve().parent.parent / "docs" / "promise.md"
START, END = "<!-- redteam:begin -->", "<!-- redteam:end -->"


@dataclass
class Row:
    """The cases of one method and one reader."""

    cases: int = 0
    claims: int = 0
    refuted: int = 0
    wrong: int = 0
    unclaimed: int = 0
    skipped: int = 0

    def add(self, case: Case) -> None:
        """Count a case."""
        self.cases += not case.skipped
        self.claims += case.claims
        self.refuted += sum(failure.unsafe for failure in case.failures)
        self.wrong += sum(not failure.unsafe for failure in case.failures)
        self.unclaimed += case.unclaimed
        self.skipped += case.skipped


@dataclass(frozen=True)
class Work:
    """Some attacks, by their numbers; what each of them does depends on the seed and its number alone."""

    seed: int
    numbers: range
    names: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def cases(self) -> list[tuple[int, Case]]:
        """Make the attacks."""
        # Random words overflow where nothing is compiled.
        warnings.filterwarnings("ignore", "overflow encountered", RuntimeWarning)
        benches = ((n, Bench(Random(f"{self.seed} {n}"), self.methods)) for n in self.numbers)
        return [(n, case) for n, bench in benches for case in attack(bench, self.names)]


def cases(work: Work, wanted: int, workers: int = 1) -> Iterator[tuple[int, Case]]:
    """Go through cases with the numbers of their attacks until there are as many as wanted, skipped ones aside."""
    done = 0
    for made in _made(work, workers):
        for case in made:
            done += not case[1].skipped
            yield case
        if done >= wanted:
            return


def _made(work: Work, workers: int) -> Iterator[list[tuple[int, Case]]]:
    """Make one attack after the other, or a round of them at a time, in processes or where DISCREET_PARALLEL says."""
    if workers == 1:
        for n in count(work.numbers.start):
            yield replace(work, numbers=range(n, n + 1)).cases()
    chunks = (replace(work, numbers=range(n, n + CHUNK)) for n in count(work.numbers.start, CHUNK))
    while True:
        with over(os.environ.get("DISCREET_PARALLEL", "processes")):
            made = run(Work.cases, islice(chunks, ROUND * workers), workers=workers, apart=True)
        yield from made


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
    lines += [f"| {method} | {reader} | {_cells([row])} |" for (method, reader), row in rows.items()]
    return "\n".join([*lines, f"| **all** | | {_cells(rows.values())} |"])


def _cells(rows: Iterable[Row]) -> str:
    return " | ".join(f"{sum(column):,}" for column in zip(*(vars(row).values() for row in rows), strict=True))


def write_page(table: str, page: Path = PAGE) -> None:
    """Put the table between the marks of a page."""
    before, _, rest = page.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")


def _told(found: Iterable[tuple[int, Case]], wanted: int) -> Iterator[tuple[int, Case]]:
    """Say every ten seconds how far it is and how long it will take, and at once which attack refuted something."""
    begun = said = time.monotonic()
    done = failed = 0
    for number, case in found:
        done, failed = done + (not case.skipped), failed + len(case.failures)
        for failure in case.failures:
            print(f"attack {number}: {case.method} · {case.reader} · {failure.what}", file=sys.stderr)
        if done and time.monotonic() - said > 10:
            said = time.monotonic()
            left = (said - begun) * max(wanted / done - 1, 0)
            print(
                f"{done:,} of {wanted:,} cases, {failed:,} claims failed, {left / 60:.0f} minutes left", file=sys.stderr
            )
        yield number, case


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; 1 where a claim was refuted or is wrong."""
    names = [one.__name__ for one, _ in ATTACKS]
    parser = argparse.ArgumentParser(prog="python -m redteam", description=__doc__)
    parser.add_argument("--cases", type=int, default=1000, help="how many cases")
    parser.add_argument("--workers", type=int, default=1, help="how many processes")
    parser.add_argument("--seed", type=int, default=1, help="the cases depend on it alone")
    parser.add_argument("--first", type=int, default=0, help="the number of the first attack, to make one again")
    parser.add_argument("--attack", action="append", default=[], choices=names, help="only such attacks")
    titles = sorted({method.title for method in COUNTS if method.needs == "any"})
    parser.add_argument("--method", action="append", default=[], choices=titles, help="only such methods of counts")
    parser.add_argument("--show", type=int, default=10, help="how many failures are told")
    parser.add_argument("--write", action="store_true", help=f"write the table into {PAGE.name}")
    given = parser.parse_args(arguments)
    begun = time.monotonic()
    work = Work(given.seed, range(given.first, given.first), tuple(given.attack), tuple(given.method))
    kept = list(_told(cases(work, given.cases, given.workers), given.cases))
    table = markdown(tally(case for _, case in kept))
    failed = [(number, case, failure) for number, case in kept for failure in case.failures]
    print(table)
    for number, case, failure in failed[: given.show]:
        print(f"\nattack {number}: {case.method} · {case.reader} · {case.door} · {failure.what}: {failure.text}")
        print(f"  {case.original}")
    print(f"\n{len(failed):,} claims failed; {time.monotonic() - begun:.0f} seconds", file=sys.stderr)
    if given.write:
        write_page(table)
    return 1 if failed else 0
