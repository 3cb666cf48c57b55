"""Suppression against pytauargus on the same tables, and on business tables with holdings and links of our own."""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np

import _peer
from _tools import growing, machine
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
FIVE = ((1_000, "none"), (1_000, "respondents"), (3_000, "none"), (100_000, "none"))
"""Firms and insiders of five linked tables, one of some regions only."""
LIMITS = {"MOD": 100, "OPT": 40, "OPT above 0": 6}
"""Seconds after which a peer is stopped: more than it needs wherever it ended in 400."""
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
    found = _peer.apart(name, how, LIMITS[how])
    if found is None:
        return None
    seconds, hidden = found
    return seconds, int(hidden.sum()), int(generate(name).counts[hidden].sum())


def ours(tables: Any, method: Suppression) -> dict[str, Any]:
    """Suppress and audit, each timed by itself."""
    start = time.process_time()
    pattern = method.pattern(tables)
    made = time.process_time()
    found = inspect(pattern, marked(method, pattern).release, least=method.least)
    judged = time.process_time()
    assert not faults(pattern, found)
    return {"pattern": pattern, "seconds": made - start, "audit": judged - made}


def frequency(names: tuple[str, ...], peer: bool = True) -> Iterator[list[str]]:
    for name in names:
        other = theirs(name, "MOD") if peer else None
        found = [ours(cells_of(generate(name)), counting(reader)) for reader in READERS]
        for reader, done in zip(READERS, found, strict=True):
            pattern = done["pattern"]
            row = [name, reader, f"{done['seconds']:.2f}", f"{done['audit']:.2f}", f"{_hidden(pattern):,}"]
            row += [f"{_exact(pattern):,}", f"{pattern.cost:,}", *_price(found[0]["pattern"], pattern)]
            if other is None:
                yield _said([*row, "–", "–", "–", "–", "–"])
                continue
            seconds, cells, cost = other
            faster = seconds / (done["seconds"] + done["audit"])
            ratios = [f"**{faster:,.1f}**", f"**{pattern.cost / cost - 1:+.1%}**"]
            yield _said([*row, f"{seconds:.2f}", f"{cells:,}", f"{cost:,}", *ratios])


def exact(names: tuple[str, ...]) -> Iterator[list[str]]:
    for name in names:
        others = [theirs(name, how) for how in ("OPT", "OPT above 0")]
        found = [
            ours(cells_of(generate(name)), counting(reader, method="optimal", time_limit=SECONDS)) for reader in READERS
        ]
        for reader, done, other in zip(READERS, found, others, strict=True):
            pattern = done["pattern"]
            row = [name, reader, f"{done['seconds']:.2f}", f"{pattern.cost:,}", f"{pattern.bound:,}"]
            row += [f"{pattern.gap:.2%}", *_price(found[0]["pattern"], pattern)]
            yield _said([*row, *(("–", "–") if other is None else (f"{other[0]:.2f}", f"{other[2]:,}"))])


def _hidden(pattern: Pattern) -> int:
    return pattern.counts["primary"] + pattern.counts["secondary"]


def _exact(pattern: Pattern) -> int:
    """Return how many hidden counts are exact to a reader who knows that none of them is 0."""
    release = marked(counting(READERS[1]), pattern).release
    return sum(cell.values <= 1 for cell in audit(release, proofs=0).cells)


def _price(before: Pattern, pattern: Pattern) -> list[str]:
    """Return how many more cells a pattern hides than another one, and how much more it costs."""
    if pattern is before:
        return ["–", "–"]
    return [f"{_hidden(pattern) / _hidden(before) - 1:+.1%}", f"{pattern.cost / before.cost - 1:+.1%}"]


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


WHAT, PRICE = ["instance", "hidden counts"], ["price in cells", "in cost"]
COLUMNS = [*WHAT, "fast", "audit", "cells", "exact", "cost", *PRICE, "MOD", "cells", "cost", "times faster", "cost"]


def warm(*methods: str) -> None:
    """Compile or load all kernels."""
    os.environ["DISCREET_KERNELS"] = "compiled"
    small = cells_of(generate("t2d_100"))
    for how, reader in product(methods, READERS):
        ours(small, counting(reader, method=how))


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
        "in CPU seconds of the suppression alone and of the audit that every pattern passed; the ratio counts both.\n"
    )
    yield from growing(COLUMNS, frequency(("t2d_100", "t2d_1k", "t3d_2k", "t2d_10k", "t3d_30k")))


def largest() -> Iterator[str]:
    """Yield the largest instance, and flat tables, line by line."""
    warm("fast")
    yield "## Suppression: the largest tables\n"
    yield machine("numpy", "numba", "highspy", "pytauargus") + "\n"
    yield "Flat tables of counts with mean 3, of which those below 3 are sensitive; hidden counts are above 0.\n"
    yield from growing(["table", "fast", "audit", "cells", "cost", "gap"], (flat(size) for size in (100, 316)))
    yield "The largest instance, as those above; MOD took 207 and 258 CPU seconds where it was tried.\n"
    yield from growing(COLUMNS, frequency(("t3d_180k",), peer=False))


def proofs() -> Iterator[str]:
    """Yield the comparison with optimal suppression line by line."""
    warm("optimal")
    yield "## Suppression: proved to be cheapest\n"
    yield machine("numpy", "numba", "highspy", "pyscipopt", "pytauargus") + "\n"
    yield (
        f"`optimal` against `pytauargus` OPT: a bound that equals the cost proves it; {SECONDS:.0f} seconds at most "
        f"for ours, {LIMITS['OPT']} for OPT, {LIMITS['OPT above 0']} above 0. OPT by itself takes it that hidden "
        "counts may be 0; for the rows above 0 the file that its solver is handed says that counts which are not 0 "
        "are 1 or more, so both solve the same problem. A dash stands for a solver that was ended, or failed.\n"
    )
    head = [*WHAT, "optimal", "cost", "bound", "gap", *PRICE, "OPT", "cost"]
    yield from growing(head, exact(("t2d_100", "t2d_1k", "t2d_10k", "t3d_2k")))


def firms() -> Iterator[str]:
    """Yield business tables line by line."""
    warm("fast")
    yield "## Suppression: business tables\n"
    yield machine("numpy", "numba", "highspy") + "\n"
    yield "P% rule with p = 10 for holdings, suppressed and audited in one problem.\n"
    works = [partial(linked, 3_000, insiders) for insiders in INSIDERS]
    works += [partial(linked, firms, insiders, ("R3", "R4")) for firms, insiders in FIVE]
    works += [partial(magnitude, 100_000, insiders) for insiders in INSIDERS]
    head = ["tables", "insiders", "cells", "primary", "secondary", "gap", "seconds", "audit", "GiB"]
    yield from growing(head, (work() for work in works))


if __name__ == "__main__":
    for text in chain(main(), proofs(), largest(), firms()):
        print(text, flush=True)
