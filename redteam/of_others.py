"""Attacks on what others published: a file made by hand, and the quarters of a year in a ledger.

The reader knows what the maker of the file knows: that «UK» is the total of the areas, that zeros are always shown, and
that births of four quarters add up to those of the year. The file says none of it.
"""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import discreet as dc
from redteam.case import Bench, Case, judged_case
from redteam.judge import Failure, refuted
from redteam.readers import HOLDER, OUTSIDER

THRESHOLD = 3
"""Counts below this that no release shows must not follow."""


def made_by_hand(bench: Bench) -> Iterator[Case]:
    """A table of counts above 0 in a file, some of them hidden, whose total of areas may have any name.

    Marks may read like statements, and counts may be written as programs write them beside gaps.
    """
    random = bench.random
    mark, end = random.choice(("x", "x", "<6", "1-5")), random.choice(("", "", ".0"))
    areas, total = ["N", "S", "W"][: random.randint(2, 3)], random.choice(("Total", "UK"))
    counts = [[random.randint(1, 5) for _ in "mf"] for _ in areas]
    hidden = {(a, s) for a in range(len(areas)) for s in range(2) if random.random() < 0.6}
    lines = ["area,sex,count"]
    for a, area in enumerate(areas):
        lines += [f"{area},{sex},{mark if (a, s) in hidden else f'{counts[a][s]}{end}'}" for s, sex in enumerate("mf")]
        lines += [f"{area},Total,{sum(counts[a])}{end}"] * random.choice((0, 1))
    lines += [f"{total},{sex},{sum(row[s] for row in counts)}{end}" for s, sex in enumerate("mf")]
    known = [None if f"{area},Total," not in "\n".join(lines) else sum(counts[a]) for a, area in enumerate(areas)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "table.csv"
        file.write_text("\n".join(lines) + "\n")
        try:
            marks = [random.choice((mark, f"{mark}=1..5")) if mark != "x" else mark]
            data = dc.audit(dc.read_release(file, marks=marks)).to_dict()
        except dc.DiscreetError:
            return

    def by_outsider() -> tuple[int, list[Failure]]:
        most = 5 if mark != "x" else 99
        return 1, list(_worked_out(counts, hidden, known, most)) if data["verdict"] == "safe" else []

    yield judged_case("made by hand", OUTSIDER, "audit", lines, by_outsider)


def _worked_out(
    counts: Sequence[Sequence[int]], hidden: set[tuple[int, int]], known: Sequence[int | None], most: int
) -> Iterator[Failure]:
    """Go through all tables with counts above 0 that fit the figures shown, the totals of areas among them.

    What is hidden is at most what its mark says.
    """
    sums = [sum(column) for column in zip(*counts, strict=True)]
    rows = [
        [
            row
            for row in itertools.product(*(range(1, top + 1) for top in sums))
            if all((a, s) not in hidden or row[s] <= most for s in range(2))
            and all((a, s) in hidden or row[s] == counts[a][s] for s in range(2))
            and known[a] in (None, sum(row))
        ]
        for a in range(len(counts))
    ]
    fit = [table for table in itertools.product(*rows) if [sum(column) for column in zip(*table, strict=True)] == sums]
    for a, s in sorted(hidden):
        if len({table[a][s] for table in fit}) == 1:
            yield refuted("verdict: safe", f"hidden count {a}, {s} is {counts[a][s]}")


def added_up(bench: Bench) -> Iterator[Case]:
    """Quarters of a year and the year itself, one after the other in a ledger; some hide figures, some never appear."""
    random = bench.random
    births = [[random.choice((1, 2, 4, 9)) for _ in "ns"] for _ in range(4)]
    form = random.choice(("2024-Q{}", "Q{} 2024", "2024Q{}"))
    hidden = {(q, a) for q in range(4) for a in range(2) if random.random() < 0.3}
    shown = [(q, form.format(q + 1)) for q in range(4) if random.random() < 0.8] + [(4, "2024")]
    random.shuffle(shown)
    figures = [*births, [sum(row[a] for row in births) for a in range(2)]]
    with tempfile.TemporaryDirectory() as folder, dc.Ledger(Path(folder) / "ledger.sqlite") as ledger:
        try:
            for k, (q, period) in enumerate(shown):
                row = [None if (q, a) in hidden else figures[q][a] for a in range(2)]
                release = dc.Release.of(dc.Figures.from_array(row, {"area": ["n", "s"]}))
                about: Any = {"title": period, "population": "births", "period": period}
                if k < len(shown) - 1:
                    ledger.add(release, **about)
                else:
                    data = ledger.check(release, threshold=THRESHOLD, **about).to_dict()
        except dc.DiscreetError:
            return

    def by_holder() -> tuple[int, list[Failure]]:
        if data["verdict"] != "safe":
            return 1, []
        before, after = (_quarters(births, hidden, [q for q, _ in shown[:n]]) for n in (len(shown) - 1, len(shown)))
        return 1, [
            refuted("verdict: safe", f"quarter {q + 1}, area {a} has {births[q][a]}")
            for q, a in itertools.product(range(4), range(2))
            if ((q, a) in hidden if q in dict(shown) else births[q][a] < THRESHOLD)
            and len(after[q, a]) == 1 < len(before[q, a])
        ]

    yield judged_case("quarters and their year", HOLDER, "ledger", (births, sorted(hidden), shown), by_holder)


def _quarters(
    births: Sequence[Sequence[int]], hidden: set[tuple[int, int]], shown: Sequence[int]
) -> dict[tuple[int, int], set[int]]:
    """Return which births of every quarter fit what is shown; hidden ones are above 0, and nobody has more than 36."""
    found: dict[tuple[int, int], set[int]] = {}
    for a in range(2):
        year = sum(row[a] for row in births)
        each = [
            range(0, 37) if q not in shown else range(1, 37) if (q, a) in hidden else (births[q][a],) for q in range(4)
        ]
        if 4 not in shown:
            found |= {(q, a): set(each[q]) for q in range(4)}
            continue
        fit = [(x, y, z, year - x - y - z) for x, y, z in itertools.product(*each[:3]) if year - x - y - z in each[3]]
        found |= {(q, a): {one[q] for one in fit} for q in range(4)}
    return found
