"""The audit against pytauargus and linear programs by SciPy, on the same suppression patterns."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np

import _peer
from _tools import best, growing, machine
from discreet.feasible.bounds import Bounds, bounds
from discreet.feasible.draw.counting import count_tables
from discreet.feasible.draw.random_tables import draw_tables
from discreet.feasible.reach import REACHED, reach_levels
from discreet.feasible.reduction import reduce
from discreet.table.equations import Equations, equations_of
from discreet.table.figures import Figures
from instances import BoolArray, Instance, generate, pattern

FEW = 12
"""Cells bounded by two linear programs each; all of them would take minutes."""
PATIENCE = 5.0
"""Seconds after which a large instance is stopped; what is unfinished then is counted."""


def ours(instance: Instance, hidden: BoolArray, relaxed: bool = False, limit: float | None = None) -> Bounds:
    equations = equations_of(instance.figures(hidden))
    return bounds(equations, np.flatnonzero(equations.hidden), relaxed=relaxed, time_limit=limit)


def linear_programs(equations: Equations, cells: list[int]) -> float:
    """Return the seconds a cell of two calls of linprog over all hidden figures."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    exact = equations.exact
    unknown = np.flatnonzero(~exact)
    place = np.full(exact.size, -1)
    place[unknown] = np.arange(unknown.size)
    row = np.repeat(np.arange(equations.starts.size - 1), np.diff(equations.starts))
    open_ = ~exact[equations.columns]
    entries = (equations.signs[open_].astype(float), (row[open_], place[equations.columns[open_]]))
    A = csr_array(entries, shape=(row[-1] + 1, unknown.size))
    known = np.where(open_, 0, equations.lower[equations.columns]) * equations.signs
    b = -np.bincount(row, weights=known, minlength=row[-1] + 1)
    start = time.perf_counter()
    for i in cells:
        for sign in (1.0, -1.0):
            costs = np.zeros(unknown.size)
            costs[place[i]] = sign
            linprog(costs, A_eq=A, b_eq=b, bounds=(0, None), method="highs")
    return (time.perf_counter() - start) / len(cells)


def against_peers(names: tuple[str, ...]) -> Iterator[list[str]]:
    for name in names:
        instance = generate(name)
        with _peer.aside():
            answer = _peer.ask(instance, _peer.SETTINGS["MOD"])
            start = time.perf_counter()
            audited = answer.engine.audit(0)
            theirs = time.perf_counter() - start
        hidden = answer.hidden
        found = ours(instance, hidden)
        mine = best(lambda instance=instance, hidden=hidden: ours(instance, hidden))  # type: ignore[misc]
        at = [int(answer.places[row["cell"]]) for row in audited]
        worst = max(
            max(abs(found.relaxed_lower[i] - r["min"]), abs(found.relaxed_upper[i] - r["max"]))
            for i, r in zip(at, audited, strict=True)
        )
        slow = linear_programs(found.equations, np.flatnonzero(found.equations.hidden)[:FEW].tolist())
        count = int(hidden.sum())
        yield [
            name,
            f"{count:,}",
            f"{1e3 * mine:.1f} ms",
            f"{theirs:.2f} s",
            f"**{theirs / mine:,.0f}**",
            f"{slow * count:.0f} s",
            f"**{slow * count / mine:,.0f}**",
            f"{worst:.1e}",
        ]


def large(names: tuple[str, ...]) -> Iterator[list[str]]:
    for name in names:
        instance = generate(name)
        hidden = pattern(instance)
        for relaxed in (True, False):
            start = time.perf_counter()
            found = ours(instance, hidden, relaxed, PATIENCE)
            seconds = time.perf_counter() - start
            left = int((~found.finished[found.equations.hidden]).sum())
            group = max(g.variables.size for g in found.reduction.groups)
            kind = "real" if relaxed else "integer"
            yield [name, kind, f"{int(hidden.sum()):,}", f"{left:,}", f"{group:,}", f"{seconds:.1f}", _memory()]
        yield [name, "levels ±1", *verdict(instance, hidden), _memory()]


def verdict(instance: Instance, hidden: BoolArray) -> list[str]:
    """Ask only whether every hidden figure can be one less and one more than it is."""
    start = time.perf_counter()
    equations = equations_of(instance.figures(hidden))
    at = np.flatnonzero(equations.hidden)
    values = instance.counts.ravel()[at]
    answer = reach_levels(equations, at, values - 1, values + 1, time_limit=PATIENCE)
    seconds = time.perf_counter() - start
    left = int(((answer.lower == 0) | (answer.upper == 0)).sum())
    safe = int(((answer.lower == REACHED) & (answer.upper == REACHED)).sum())
    return [f"{at.size:,}", f"{left:,}", f"{safe:,} reach both", f"{seconds:.1f}"]


def two_way(n: int) -> Figures:
    """A square table with skewed counts; 1 to 3 are hidden."""
    rng = np.random.default_rng(n)
    weights = np.multiply.outer(np.arange(1, n + 1) ** -0.5, np.arange(1, n + 1) ** -0.5)
    counts = rng.poisson(weights / weights.mean() * 6)
    counts = np.concatenate([counts, counts.sum(axis=0, keepdims=True)])
    counts = np.concatenate([counts, counts.sum(axis=1, keepdims=True)], axis=1)
    hidden = np.isin(counts, (1, 2, 3))
    hidden[-1], hidden[:, -1] = False, False
    labels = (*map(str, range(n)), "Total")
    codes = np.stack([axis.ravel() for axis in np.indices(counts.shape)], axis=1)
    return Figures({"r": labels, "c": labels}, codes, np.where(hidden, 0, counts).ravel(), hidden.ravel().astype(int))


def squares(sizes: tuple[int, ...]) -> Iterator[list[str]]:
    bounds(equations_of(two_way(30)))  # compiles the kernels
    for n in sizes:
        shown = two_way(n)
        start = time.perf_counter()
        equations = equations_of(shown)
        bounds(equations, np.flatnonzero(equations.hidden))
        seconds, count = time.perf_counter() - start, int(shown.hidden.sum())
        yield [f"{n:,} × {n:,}", f"{count:,}", f"{seconds:.2f}", f"{1e6 * seconds / count:.1f}", _memory()]


def dense_three_way() -> Iterator[list[str]]:
    """20 × 20 × 15 with hidden inner cells in one group."""
    rng = np.random.default_rng(0)
    weights = rng.lognormal(0, 1, (20, 20, 15))
    counts = rng.multinomial(57_000, (weights / weights.sum()).ravel()).reshape(weights.shape)
    hidden = np.zeros(np.add(counts.shape, 1), np.bool_)
    hidden[:-1, :-1, :-1] = np.isin(counts, (1, 2))
    for axis in range(3):
        counts = np.concatenate([counts, counts.sum(axis=axis, keepdims=True)], axis=axis)
    labels = {name: (*map(str, range(n)), "Total") for name, n in zip("abc", (20, 20, 15), strict=True)}
    codes = np.stack([axis.ravel() for axis in np.indices(counts.shape)], axis=1)
    shown = Figures(labels, codes, np.where(hidden, 0, counts).ravel(), hidden.ravel().astype(int))
    equations = equations_of(shown)
    start = time.perf_counter()
    bounds(equations, np.flatnonzero(equations.hidden), relaxed=True)
    seconds, count = time.perf_counter() - start, int(hidden.sum())
    yield ["20 × 20 × 15", f"{count:,}", f"{seconds:.1f}", f"**{1e3 * seconds / count:.1f}**"]


def counting() -> Iterator[list[str]]:
    """Yield what counting and drawing take."""

    def hidden_inside(rows: list[int], columns: list[int]) -> Figures:
        labels = {"r": [*range(len(rows)), "Total"], "c": [*range(len(columns)), "Total"]}
        cells: list[list[int | None]] = [[*([None] * len(columns)), total] for total in rows]
        return Figures.from_array([*cells, [*columns, sum(rows)]], labels)

    (small,) = reduce(equations_of(hidden_inside([51, 104, 50], [46, 99, 60])), join=False).groups
    start = time.perf_counter()
    tables = count_tables(small).tables
    first = time.perf_counter() - start
    yield ["3 × 3 counted", f"{tables:,} tables", f"{first:.2f}"]
    truth = np.random.default_rng(0).integers(0, 20, (10, 10))
    (group,) = reduce(
        equations_of(hidden_inside(truth.sum(axis=1).tolist(), truth.sum(axis=0).tolist())), join=False
    ).groups
    draw_tables(small, seed=1, precision=1.0)
    start = time.perf_counter()
    drawn = draw_tables(group, seed=1, precision=0.05)
    second = time.perf_counter() - start
    yield ["10 × 10 drawn", f"entropies within ±{2 * drawn.error.max():.3f} bits", f"{second:.1f}"]


def _memory() -> str:
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f}"


def main() -> Iterator[str]:
    """Yield the comparison with peers line by line."""
    ours(generate("t3d_2k"), pattern(generate("t3d_2k")))  # compiles the kernels
    yield "## Audit: bounds of hidden figures\n"
    yield machine("numpy", "numba", "highspy", "scipy", "pytauargus") + "\n"
    yield (
        "All hidden figures, on the pattern that `pytauargus` chose: equations stated, reduced and bounded (integers "
        f"included) against its `engine.audit`, and against two `linprog` calls a cell (measured on {FEW} cells). The "
        "last column is the largest difference of a bound over real numbers from `pytauargus`.\n"
    )
    head = ["instance", "hidden", "discreet", "pytauargus", "ratio", "linprog", "ratio", "difference"]
    yield from growing(head, against_peers(("t2d_100", "t2d_1k", "t3d_2k", "t2d_10k")))


def larger() -> Iterator[str]:
    """Yield what has no peer line by line."""
    yield "## Audit: larger tables\n"
    yield machine("numpy", "numba", "highspy") + "\n"
    yield "Two-way tables: counts of 1 to 3 hidden, all of them in one group.\n"
    yield from growing(["table", "hidden", "seconds", "µs a cell", "GiB"], squares((50, 100, 200, 400, 1000)))
    yield "All tables that fit are equally likely: counting and drawing.\n"
    yield from growing(["what", "result", "seconds"], counting())
    yield (
        "Larger instances, on a greedy pattern of our own (every sum hides either no figure or at least two), stopped "
        f"after {PATIENCE:.0f} s; intervals that are unfinished then, or that integers could narrow, are never called "
        "safe. The rows on levels ask only whether tables exist in which each figure is one less and one more.\n"
    )
    head = ["instance", "bounds over", "hidden", "unfinished", "largest group", "seconds", "GiB"]
    yield from growing(head, large(("t3d_30k", "t3d_180k")))
    yield "A dense three-way table with all hidden cells in one group, bounds over real numbers.\n"
    yield from growing(["table", "hidden", "seconds", "ms a cell"], dense_three_way())


if __name__ == "__main__":
    for text in main():
        print(text, flush=True)
