"""Suppression against pytauargus on the same tables, and on business tables with holdings and links of our own."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain, product
from statistics import median
from typing import Any

import numpy as np

import _peer
from _tools import growing, machine, seeded
from discreet.auditing.audit import audit
from discreet.core.errors import InfeasibleError
from discreet.evaluate.audited_suppression import faults, inspect
from discreet.protect import Suppression
from discreet.protect.suppression import Pattern
from discreet.protect.suppression.suppression import marked
from discreet.rules import PPercent, Threshold
from discreet.table import Table
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation
from instances import cells_of, generate

INSIDERS = ("none", "singletons", "respondents")
READERS = ("may be 0", "above 0")
"""What readers are taken to know of hidden counts: nothing, as the peer has it, or that zeros are always published."""
SEEDS = (0, 1, 2)
"""What is added to the seeds of instances."""
LARGEST = "t3d_180k"
LIMITS = {"MOD": 100, "OPT": 40, "OPT above 0": 3}
"""CPU seconds after which a peer is stopped: more than it needs wherever it ended in 400."""
SECONDS = 8.0
"""Seconds for one proof of ours: more than it needs wherever it ended in 120."""


class Unknowing(Suppression):
    """Suppression against readers who do not know that a hidden count is not 0: what the peer assumes."""

    @property
    def above_zero(self) -> bool:
        return False


def counting(reader: str, **options: Any) -> Suppression:
    """Return the method for counts of 1 to 3, which keep ±1 as far as a reader takes that to be possible."""
    return (Unknowing if reader == READERS[0] else Suppression)(Threshold(4), levels=(1, 1), **options)


def theirs(name: str, how: str) -> tuple[float, int, int] | None:
    """Return the CPU seconds, cells and cost of pytauargus."""
    found = _peer.apart(name, how, LIMITS.get(how))
    if found is None:
        return None
    seconds, hidden = found
    return seconds, int(hidden.sum()), int(generate(name).counts[hidden].sum())


class Watch:
    """Notes when the search for the cheapest pattern came to which cost, beyond that of the sensitive cells."""

    def __init__(self) -> None:
        self.begun = time.process_time()
        self.seen: list[tuple[float, int]] = []

    def __call__(self, done: int, total: int, label: str) -> None:
        """Take what a search reports about the pattern that it has."""
        if "proved" in label:
            self.seen.append((time.process_time() - self.begun, total))

    def until(self, done: dict[str, Any], cost: int) -> str:
        """Return after how many CPU seconds a pattern was there that costs no more, at its end at the latest."""
        pattern = done["pattern"]
        base = int(pattern.problem.on.price[pattern.problem.always].sum())
        ends = [*self.seen, (done["seconds"], pattern.cost - base)]
        return next((f"{seconds:.2f}" for seconds, beyond in ends if base + beyond <= cost), "–")


def ours(tables: Any, method: Suppression) -> dict[str, Any]:
    """Suppress and audit, each timed by itself."""
    watch = Watch()
    pattern = method.pattern(tables, progress=watch)
    made = time.process_time()
    found = inspect(pattern, marked(method, pattern).release, least=method.least)
    judged = time.process_time()
    assert not faults(pattern, found)
    return {"pattern": pattern, "seconds": made - watch.begun, "audit": judged - made, "watch": watch}


def frequency(names: tuple[str, ...], seeds: tuple[int, ...] = SEEDS, peer: str | None = "MOD") -> Iterator[list[str]]:
    """Yield what each instance takes, ours and the peer's in turn: the median of some seeds, and the range."""
    for name in names:
        found: list[list[dict[str, Any]]] = []
        others: list[tuple[float, int, int] | None] = []
        for seed in seeds:
            with seeded(seed):
                found.append([ours(cells_of(generate(name)), counting(reader)) for reader in READERS])
                others.append(theirs(name, peer) if peer else None)
        for which, reader in enumerate(READERS):
            done = [of_seed[which] for of_seed in found]
            patterns = [one["pattern"] for one in done]
            row = [name, reader, _spread([one["seconds"] for one in done], ".2f")]
            row += [f"{median(one['audit'] for one in done):.2f}"]
            for figure in (_hidden, _exact, _cost):
                # The largest instance has too many hidden counts to work all of them out here.
                known = figure is not _exact or name != LARGEST
                row.append(f"{median(map(figure, patterns)):,.0f}" if known else "–")
            row += _price([of_seed[0]["pattern"] for of_seed in found], patterns)
            yield _said([*row, *_beside(done, others)])


def _beside(done: list[dict[str, Any]], others: list[tuple[float, int, int] | None]) -> list[str]:
    """Return the peer's figures, how many times faster ours are with their audit, and how much more they cost."""
    both = [(one, other) for one, other in zip(done, others, strict=True) if other is not None]
    if not both:
        return ["–"] * 5
    faster = [other[0] / (one["seconds"] + one["audit"]) for one, other in both]
    dearer = [_cost(one["pattern"]) / other[2] - 1 for one, other in both]
    cells, cost = (f"{median(other[k] for _, other in both):,.0f}" for k in (1, 2))
    return [
        _spread([other[0] for _, other in both], ".2f"),
        cells,
        cost,
        _spread(faster, ".1f"),
        _spread(dearer, "+.1%"),
    ]


def _spread(values: list[float], form: str) -> str:
    """Return the median of some figures, and their range where there are several."""
    middle = f"{median(values):{form}}"
    return middle if len(values) == 1 else f"{middle} ({min(values):{form}} to {max(values):{form}})"


def exact(names: tuple[str, ...]) -> Iterator[list[str]]:
    """Yield what a proof takes at each seed, and how soon our pattern costs no more than the peer's."""
    for name, seed in product(names, SEEDS):
        with seeded(seed):
            cells = cells_of(generate(name))
            for reader, how in zip(READERS, ("OPT", "OPT above 0"), strict=True):
                other = theirs(name, how)
                done = ours(cells, counting(reader, method="optimal", time_limit=SECONDS))
                pattern = done["pattern"]
                row = [name, str(seed), reader, f"{done['seconds']:.2f}", f"{pattern.cost:,}", f"{pattern.bound:,}"]
                yield _said([*row, f"{pattern.gap:.2%}", *_proved_by(done, other)])


def _proved_by(done: dict[str, Any], other: tuple[float, int, int] | None) -> list[str]:
    """Return the seconds and the cost of the peer, whether that cost is the least, and when ours was no dearer."""
    if other is None:
        return ["–", "–", "–"]
    seconds, _, cost = other
    least = done["pattern"].cost
    refuted = f", not the least: {least:,} is safe" if least < cost else ""
    return [f"{seconds:.2f}", f"{cost:,}{refuted}", done["watch"].until(done, cost)]


def _hidden(pattern: Pattern) -> int:
    return pattern.counts["primary"] + pattern.counts["secondary"]


def _exact(pattern: Pattern) -> int:
    """Return how many hidden counts are exact to a reader who knows that none of them is 0."""
    release = marked(counting(READERS[1]), pattern).release
    return sum(cell.values <= 1 for cell in audit(release, proofs=0).cells)


def _cost(pattern: Pattern) -> int:
    return pattern.cost


def _price(before: list[Pattern], patterns: list[Pattern]) -> list[str]:
    """Return how many more cells patterns hide than others of the same tables, and how much more they cost."""
    if patterns[0] is before[0]:
        return ["–", "–"]
    pairs = list(zip(before, patterns, strict=True))
    return [f"{median(figure(b) / figure(a) - 1 for a, b in pairs):+.1%}" for figure in (_hidden, _cost)]


def business(firms: int, seed: int = 7) -> Any:
    """Draw firms: nested activities and regions, sizes, skewed turnover, and holdings of a few firms each."""
    import pandas as pd

    rng = np.random.default_rng(seed)

    def zipf(count: int, power: float) -> Any:
        weight = 1 / np.arange(1, count + 1) ** power
        return weight / weight.sum()

    activity = rng.choice(60, firms, p=zipf(60, 0.9))
    region = rng.choice(40, firms, p=zipf(40, 0.7))
    size = rng.choice(4, firms, p=[0.7, 0.2, 0.08, 0.02])
    scale = rng.lognormal(0, 0.5, 60)[activity]
    turnover = np.maximum(np.rint(scale * rng.lognormal(4 + 1.2 * size, 1.1)), 1)
    holding = np.where(rng.random(firms) < 0.15, rng.integers(0, firms // 20, firms), firms + np.arange(firms))
    return pd.DataFrame(
        {
            "activity": [f"A{i // 20}{i // 5 % 4}{i % 5}" for i in activity],
            "region": [f"R{i // 8}{i % 8}" for i in region],
            "size": [f"S{i}" for i in size],
            "legal": [f"L{i}" for i in rng.choice(3, firms, p=[0.6, 0.3, 0.1])],
            "turnover": turnover,
            "firm": np.arange(firms),
            "holding": holding,
        }
    )


def hierarchies(firms: Any) -> dict[str, Hierarchy]:
    """Return the trees of activities (two levels above the codes) and regions (one)."""
    return {
        "activity": Hierarchy.from_prefixes(sorted(firms.activity.unique()), [2, 3]),
        "region": Hierarchy.from_prefixes(sorted(firms.region.unique()), [2]),
    }


def magnitude(firms: int, insiders: str) -> list[str]:
    from discreet.tabulation.tabulate import tabulate

    frame = business(firms)
    cells = tabulate(
        frame,
        ["activity", "region", "size"],
        value="turnover",
        contributor="firm",
        holding="holding",
        hierarchies=hierarchies(frame),
    )
    method = Suppression(PPercent(10, level="holding"), insiders=insiders)  # type: ignore[arg-type]
    return _row(f"activity × region × size, {firms:,} firms", insiders, [cells], method)


def linked(firms: int, insiders: str, part: tuple[str, ...] = ()) -> list[str]:
    """Protect four tables of one set of firms, linked in a circle, as one problem.

    A part adds a fifth: all dimensions of the circle but one crossed, for some groups of regions only, with a total of
    its own.
    """
    from discreet.tabulation.tabulate import tabulate

    frame = business(firms)
    trees = hierarchies(frame)

    def cells(firms: Any, *by: str) -> Tabulation:
        return tabulate(
            firms,
            list(by),
            value="turnover",
            contributor="firm",
            holding="holding",
            hierarchies={name: trees[name] for name in by if name in trees},
        )

    pairs = (("activity", "size"), ("activity", "legal"), ("region", "size"), ("region", "legal"))
    tables = [cells(frame, *by) for by in pairs]
    what = "four linked tables"
    if part:
        inside = frame[frame.region.str[:2].isin(part)]
        trees["region"] = Hierarchy.from_prefixes(sorted(inside.region.unique()), [2])
        tables.append(cells(inside, "activity", "region", "size").as_part(region="East"))
        what = "five linked tables, one of some regions only"
    method = Suppression(PPercent(10, level="holding"), insiders=insiders)  # type: ignore[arg-type]
    return _row(f"{what}, {firms:,} firms", insiders, tables, method)


def _row(what: str, insiders: str, tables: list[Tabulation], method: Suppression) -> list[str]:
    begun = time.process_time()
    try:
        done = ours(tables, method)
    except InfeasibleError as error:
        seconds = f"{time.process_time() - begun:.1f}"
        return _said([what, insiders, "–", "–", "–", f"conflict: {error}", seconds, "–", _memory()])
    pattern = done["pattern"]
    counts = pattern.counts
    return _said(
        [
            what,
            insiders,
            f"{sum(counts.values()):,}",
            f"{counts['primary']:,}",
            f"{counts['secondary']:,}",
            f"{pattern.gap:.0%}",
            f"{done['seconds']:.1f}",
            f"{done['audit']:.1f}",
            _memory(),
        ]
    )


def _said(row: list[str]) -> list[str]:
    """Show a row to whoever waits."""
    print(*row, sep="  ", file=sys.stderr, flush=True)
    return row


def _memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}"


def flat(size: int) -> list[str]:
    """Suppress counts below 3 in a flat square table of counts with mean 3."""
    counts = np.random.default_rng(1).poisson(3, (size, size))
    labels = {name: [f"{name}{i}" for i in range(size)] for name in ("row", "column")}
    done = ours(Table.from_array(counts, labels), Suppression(Threshold(3)))
    pattern = done["pattern"]
    figures = [f"{_hidden(pattern):,}", f"{pattern.cost:,}", f"{pattern.gap:.1%}"]
    return _said([f"{size} × {size}", f"{done['seconds']:.2f}", f"{done['audit']:.2f}", *figures])


COLUMNS = ["instance", "hidden counts", "fast", "audit", "cells", "exact", "cost", "price in cells", "in cost"]
COLUMNS += ["MOD", "cells", "cost", "times faster", "cost"]


def warm(*methods: str) -> None:
    """Compile or load all kernels, which no time limit shall include: some are needed at some seeds only."""
    os.environ["DISCREET_KERNELS"] = "compiled"
    for how, reader, seed in product(methods, READERS, SEEDS):
        with seeded(seed):
            ours(cells_of(generate("t2d_100")), counting(reader, method=how))


def main() -> Iterator[str]:
    """Yield the comparison with modular suppression line by line."""
    warm("fast")
    yield "## Suppression\n"
    yield machine("numpy", "numba", "highspy", "pytauargus") + "\n"
    yield (
        "Counts of 1 to 3 are sensitive, margins included; each keeps at least ±1; the cost is the sum of the "
        "suppressed counts. Zeros are always published. If hidden counts *may be 0* to a reader, as `pytauargus` "
        "assumes, patterns are cheaper. By default they are safe against readers who know that hidden counts are "
        "*above 0*; the price is the extra cells and cost. *Exact* counts the hidden counts that such a reader "
        "works out; those left by default are not sensitive. `fast` is compared with `pytauargus` MOD (modular), "
        "in CPU seconds of the suppression alone and of the audit that every pattern passed; the ratio counts both. "
        f"Figures are medians of seeds {', '.join(map(str, SEEDS))}, with their range; at each seed both ran in turn.\n"
    )
    yield from growing(COLUMNS, frequency(("t2d_100", "t2d_1k", "t3d_2k", "t2d_10k", "t3d_30k")))


def largest() -> Iterator[str]:
    """Yield the largest instance, and flat tables, line by line."""
    warm("fast")
    yield "## Suppression: the largest tables\n"
    yield machine("numpy", "numba", "highspy", "pytauargus") + "\n"
    yield "Flat tables of counts with mean 3, of which those below 3 are sensitive; hidden counts are above 0.\n"
    yield from growing(["table", "fast", "audit", "cells", "cost", "gap"], (flat(size) for size in (100, 316)))
    yield "The largest instance, as those above, at one seed; MOD takes minutes there.\n"
    yield from growing(COLUMNS, frequency((LARGEST,), SEEDS[:1], None))


def largest_beside() -> Iterator[str]:
    """Yield the largest instance with the peer beside it, which takes minutes: no part of the whole."""
    warm("fast")
    yield machine("numpy", "numba", "highspy", "pytauargus") + "\n"
    yield from growing(COLUMNS, frequency((LARGEST,), SEEDS[:1], "MOD to its end"))


def proofs() -> Iterator[str]:
    """Yield the comparison with optimal suppression line by line."""
    warm("optimal")
    yield "## Suppression: proved to be cheapest\n"
    yield machine("numpy", "numba", "highspy", "pyscipopt", "pytauargus") + "\n"
    yield (
        f"`optimal` against `pytauargus` OPT: a bound that equals the cost proves it; {SECONDS:.0f} seconds at most "
        f"for ours, {LIMITS['OPT']} for OPT, {LIMITS['OPT above 0']} above 0. OPT by itself takes it that hidden "
        "counts may be 0; for the rows above 0 the file that its solver is handed says that counts which are not 0 "
        "are 1 or more, so both solve the same problem. A dash stands for a solver that was ended, or failed. "
        "*No dearer after* is when ours had a pattern that costs no more than what OPT ended with, in CPU seconds from "
        "its beginning. OPT calls its cost the least; where ours found a cheaper pattern that passed the audit, it is "
        "not.\n"
    )
    head = ["instance", "seed", "hidden counts", "optimal", "cost", "bound", "gap", "OPT", "cost", "no dearer after"]
    yield from growing(head, exact(("t2d_100", "t2d_1k", "t2d_10k", "t3d_2k")))


def firms() -> Iterator[str]:
    """Yield business tables line by line."""
    warm("fast")
    yield "## Suppression: business tables\n"
    yield machine("numpy", "numba", "highspy") + "\n"
    yield "P% rule with p = 10 for holdings, suppressed and audited in one problem; harder ones are among the cliffs.\n"
    works = [partial(linked, 3_000, insiders) for insiders in INSIDERS]
    works.append(partial(magnitude, 100_000, "none"))
    head = ["tables", "insiders", "cells", "primary", "secondary", "gap", "seconds", "audit", "GiB"]
    yield from growing(head, (work() for work in works))


if __name__ == "__main__":
    for text in chain(main(), proofs(), largest(), firms()):
        print(text, flush=True)
