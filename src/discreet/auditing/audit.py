"""The audit of a release: feasible intervals, risk and verdict for every figure that is not published exactly."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.auditing.laws import LAWS
from discreet.auditing.limits import Limits
from discreet.auditing.result import Audit, CellAudit, Verdict
from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.numerics import FloatArray, IntArray
from discreet.core.progress import Progress
from discreet.core.random import Seed
from discreet.feasible.bounds import Bounds, bounds
from discreet.feasible.proof import prove
from discreet.table.attacker import OUTSIDER, Attacker
from discreet.table.equations import Equations, equations_of, parts_of
from discreet.table.figures import Figures
from discreet.table.kinds import UNBOUNDED
from discreet.table.release import Release
from discreet.table.table import Table

PROOFS = 2000
"""How many figures get a written proof, the worst first, unless all are asked for."""


def audit(
    releases: Release | Figures | Table | Iterable[Release | Figures | Table],
    *,
    about: Sequence[str] | Mapping[str, Sequence[object]] = (),
    sums: Mapping[str, Sequence[Mapping[str, object]]] | None = None,
    attackers: Sequence[Attacker] = (),
    knows: Sequence[Any] = (),
    law: str = "interval",
    limits: Limits | None = None,
    original: Table | Figures | None = None,
    protection: float | None = None,
    least: float = 0,
    most: float | None = None,
    relaxed: bool = False,
    time_limit: float | None = None,
    proofs: int | None = PROOFS,
    precision: float = 0.02,
    seed: Seed = None,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Work out what can be worked out from what is published, and say whether it is too much.

    For every hidden, rounded, perturbed or merged figure: the smallest and the largest value that fit everything
    published, the uncertainty that is left H(X | Y = y) in bits, the disclosure risk DR = 1/H (domingo2002 (2)), and
    the published figures that prove the interval. The original is not needed for that.

    Args:
        releases: one release or several linked ones; dimensions of the same name are the same dimension.
        about: dimensions whose finest crossing is asked about, though no table may show it; with their categories
            where no table has them.
        sums: further sums of cells to ask about, by name.
        attackers: insiders, coalitions and holdings, each judged beside the outsider.
        knows: prior knowledge of everybody, as :class:`~discreet.table.attacker.Fact`.
        law: how likely values are: ``"interval"``, ``"tables"`` or ``"method"``.
        limits: what counts as safe; by default, that nothing can be worked out exactly.
        original: the true table, to check that the release is true to it and to set protection levels; no value of
            it enters an interval.
        protection: per cent of the original value that intervals must reach to either side.
        least: what every value is at least; counts and amounts are not negative.
        most: what every value is at most.
        relaxed: take intervals over real numbers as they are; much faster on large tables of three and more dimensions.
            Figures of which whole numbers may leave less are marked as not finished, and are never called safe.
        time_limit: seconds; what is not finished then is marked so, and never safe.
        proofs: how many of the worst figures get a proof; None for all.
        precision: for the law ``"tables"``, twice the standard error in bits at which drawing stops.
        seed: makes drawing reproducible.
        workers: threads.
        progress: told how far the work is.

    >>> both = {"row": [1, 2, 3, "Total"], "column": [1, 2, "Total"]}
    >>> geurts = Figures.from_array([[None, None, 7], [None, None, 3], [3, 3, 6], [9, 7, 16]], both)
    >>> found = audit(geurts).cell(row=1, column=1)
    >>> found.lower, found.upper, found.bits, found.dr
    (3.0, 6.0, 2.0, 0.5)
    """
    if law not in LAWS:
        raise RequestError(f"there is no law {law!r}; {nearest(law, list(LAWS))}")
    started = time.monotonic()
    parts = (*parts_of(releases), *_unpublished(about, releases))
    equations, asked = _ask(parts, about, sums or {}, least, most)
    everybody = _known(equations, Attacker("everybody", (), tuple(knows))) if knows else equations
    targets = _targets(everybody, asked)
    rules = _with_original(limits or Limits(), equations, original, protection)
    run = _Run(law, rules, precision, seed, workers, progress, time_limit, started, proofs, relaxed)
    cells: list[CellAudit] = []
    tables, note = None, ""
    if targets.size:
        alone = _alone(parts, equations, targets, run) if len(parts) > 1 else None
        found, tables, note = run.judge(everybody, targets, OUTSIDER, alone)
        cells += found
        for attacker in attackers:
            mine = _affected(everybody, attacker, targets)
            cells += run.judge(_known(everybody, attacker), mine, attacker, None)[0]
    cells.sort(key=lambda cell: (_RANK[cell.verdict], cell.bits, cell.upper - cell.lower, cell.attacker, cell.name))
    verdicts = {cell.verdict for cell in cells}
    # Where nothing was worked out, nothing was shown to be safe.
    verdict: Verdict = "unsafe" if "unsafe" in verdicts else "safe" if verdicts == {"safe"} else "incomplete"
    published = sum(int((~part.hidden).sum()) for part in parts)
    return Audit(verdict, tuple(cells), law, published, tables, note)


_RANK = {"unsafe": 0, "incomplete": 1, "safe": 2}


class _Run:
    """The settings of one audit, applied to one attacker after another."""

    def __init__(
        self,
        law: str,
        limits: Limits,
        precision: float,
        seed: Seed,
        workers: int | None,
        progress: Progress | None,
        time_limit: float | None,
        started: float,
        proofs: int | None,
        relaxed: bool,
    ) -> None:
        self.law, self.limits, self.precision, self.seed = law, limits, precision, seed
        self.workers, self.progress, self.time_limit, self.started = workers, progress, time_limit, started
        self.proofs, self.relaxed = proofs, relaxed

    def left(self) -> float | None:
        """Seconds that remain."""
        return None if self.time_limit is None else max(self.time_limit - (time.monotonic() - self.started), 0.0)

    def bound(self, equations: Equations, targets: IntArray) -> Bounds:
        """Bound the targets in the time that remains."""
        return bounds(
            equations,
            targets,
            relaxed=self.relaxed,
            time_limit=self.left(),
            workers=self.workers,
            progress=self.progress,
        )

    def judge(
        self, equations: Equations, targets: IntArray, attacker: Attacker, alone: dict[int, tuple[float, float]] | None
    ) -> tuple[list[CellAudit], int | None, str]:
        """Return what one attacker works out about every target."""
        found = self.bound(equations, targets)
        judged = LAWS[self.law](
            found,
            targets,
            precision=self.precision,
            seed=self.seed,
            workers=self.workers,
            progress=self.progress,
        )
        scale = 10**equations.decimals
        own = _own(equations, attacker)
        prior = _prior_bits(equations, found)
        cells = []
        for k, i in enumerate(targets.tolist()):
            lower, upper, values = _ends(found, i)
            bits = float(judged.bits[k])
            if i in own:
                lower, upper, values = _view(lower, upper, *own[i], scale)
                bits = float(np.log2(max(values, 1))) if self.law == "interval" or own[i][1] > 1 else bits
            label = equations.cell(i)
            dr = float("inf") if bits <= 0 else 1 / bits
            faults = self.limits.faults(label, lower / scale, upper / scale, values, dr)
            finished = bool(found.finished[i])
            verdict: Verdict = "unsafe" if faults else "safe" if finished else "incomplete"
            cells.append(
                CellAudit(
                    label,
                    equations.describe(i),
                    lower / scale,
                    upper / scale,
                    values,
                    bits,
                    float(judged.error[k]),
                    float(prior[k] if prior.size > 1 else prior[0]),
                    attacker.name,
                    verdict,
                    faults,
                    "",
                    finished,
                    None if alone is None else alone.get(i),
                )
            )
        return self._proved(cells, found, targets, own), judged.tables, judged.note

    def _proved(
        self, cells: list[CellAudit], found: Bounds, targets: IntArray, own: dict[int, tuple[int, int]]
    ) -> list[CellAudit]:
        """Add proofs to the worst figures."""
        from dataclasses import replace

        order = sorted(range(len(cells)), key=lambda k: (_RANK[cells[k].verdict], cells[k].bits))
        for k in order[: self.proofs]:
            if self.left() == 0.0:
                break
            i = int(targets[k])
            if not found.finished[i]:
                continue
            sides = [prove(found, i, upper=upper) for upper in (False, True)]
            texts = [side.text(found.equations) for side in sides if side is not None]
            if i in own:
                scale = found.equations.decimals
                texts.append(f"less the own contribution of {found.equations.text(own[i][0]) if scale >= 0 else ''}")
            cells[k] = replace(cells[k], proof="; ".join(texts))
        return cells


def _unpublished(about: Sequence[str] | Mapping[str, Sequence[object]], releases: Any) -> list[Figures]:
    """Return dimensions that nothing is published about as tables without a figure."""
    if not isinstance(about, Mapping):
        return []
    shown = {name for part in parts_of(releases) for name in part.names}
    none = np.zeros(0, np.int64)
    return [
        Figures({name: tuple(map(str, labels))}, none.reshape(0, 1), none, none, name=name, absent="unpublished")
        for name, labels in about.items()
        if name not in shown
    ]


def _ask(
    parts: tuple[Figures, ...],
    about: Iterable[str],
    sums: Mapping[str, Sequence[Mapping[str, object]]],
    least: float,
    most: float | None,
) -> tuple[Equations, list[int]]:
    """State the equations, with the crossing and the sums that are asked about."""
    crossing = list(about)
    open_ = any(part.hidden.any() or (part.ranges()[0] != part.ranges()[1]).any() for part in parts)
    if not crossing and not open_ and not sums:
        # Nothing is hidden in any table: what can be asked is what lies between them.
        crossing = list(dict.fromkeys(name for part in parts for name in part.names))
    equations = equations_of(parts, about=crossing, least=least, most=most)
    asked: list[int] = []
    if crossing:
        inside = np.ones(equations.positions.size, bool)
        for axis, stride in zip(equations.space.axes, equations.space.strides, strict=True):
            code = equations.positions // stride % len(axis.nodes)
            inside &= np.isin(code, axis.leaves) if axis.name in crossing else code == 0
        asked = np.flatnonzero(inside).tolist()
    for name, cells in sums.items():
        equations = equations.with_sum([equations.find(cell) for cell in cells], name)
        asked.append(equations.lower.size - 1)
    return equations, asked


def _targets(equations: Equations, asked: list[int]) -> IntArray:
    """Return the positions to judge: hidden or not exact ones, and those asked about."""
    shown = np.zeros(equations.lower.size, bool)
    shown[equations.source >= 0] = True
    chosen = equations.hidden | (shown & ~equations.exact)
    if asked:
        wanted = np.zeros(equations.lower.size, bool)
        wanted[asked] = True
        chosen = chosen | (wanted & ~(shown & equations.exact))
        chosen &= ~(wanted & (equations.lower == 0) & (equations.upper == 0) & ~equations.hidden)
    return np.flatnonzero(chosen)


def _known(equations: Equations, attacker: Attacker) -> Equations:
    """Return the equations of an attacker: contributions and facts narrow the ranges of cells."""
    ranges: dict[int, tuple[int, int]] = {}

    def narrow(i: int, low: int, high: int) -> None:
        before = ranges.get(i, (-UNBOUNDED, UNBOUNDED))
        ranges[i] = (max(before[0], low), min(before[1], high))

    for contribution in attacker.contributions:
        i, value = equations.find(contribution.cell), equations.units(contribution.value)
        if value > equations.upper[i]:
            raise DataError(
                f"{attacker.name} contributes {contribution.value:g} to cell {equations.describe(i)}, which is at most "
                f"{equations.text(int(equations.upper[i]))}; correct the contribution or the cell"
            )
        narrow(i, value, value if contribution.others == 0 else UNBOUNDED)
    for fact in attacker.knows:
        i = equations.find(fact.cell)
        scale = 10**equations.decimals
        low = -UNBOUNDED if fact.lower is None else int(np.ceil(fact.lower * scale - 1e-9))
        high = UNBOUNDED if fact.upper is None else int(np.floor(fact.upper * scale + 1e-9))
        narrow(i, low, high)
    return equations.with_ranges(ranges)


def _own(equations: Equations, attacker: Attacker) -> dict[int, tuple[int, int]]:
    """Return what an attacker contributed, and the number of others, by position."""
    return {equations.find(c.cell): (equations.units(c.value), c.others) for c in attacker.contributions}


def _view(lower: int, upper: int, own: int, others: int, scale: int) -> tuple[int, int, float]:
    """Return what is left for the largest other contributor once the own contribution is taken off."""
    if others == 0:
        return lower, upper, float(upper - lower + 1)
    low, high = max(lower - own, 0), upper - own
    low = -(-low // others)
    return low, high, float(high - low + 1)


def _affected(equations: Equations, attacker: Attacker, targets: IntArray) -> IntArray:
    """Return the targets that an attacker may know more about: those linked to cells of which more is known."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    places = [equations.find(c.cell) for c in attacker.contributions] + [equations.find(f.cell) for f in attacker.knows]
    open_ = np.flatnonzero(~equations.exact[equations.columns])
    row = np.repeat(np.arange(equations.starts.size - 1), np.diff(equations.starts))
    size = equations.lower.size + equations.starts.size - 1
    links = coo_array(
        (np.ones(open_.size, np.int8), (equations.columns[open_], equations.lower.size + row[open_])),
        shape=(size, size),
    )
    label = connected_components(links.tocsr(), directed=False)[1][: equations.lower.size]
    chosen = targets[np.isin(label[targets], label[places])]
    return np.union1d(chosen, np.array(places, np.int64)).astype(np.int64)


def _alone(
    parts: tuple[Figures, ...], equations: Equations, targets: IntArray, run: _Run
) -> dict[int, tuple[float, float]]:
    """Return the interval of every hidden figure in the table that hides it, without the other tables."""
    found: dict[int, tuple[float, float]] = {}
    for number, part in enumerate(parts):
        single = equations_of(part)
        result = run.bound(single, np.flatnonzero(single.hidden))
        scale = 10**single.decimals
        for i in targets.tolist():
            if i >= equations.positions.size or not equations.hidden[i]:
                continue
            cell = {name: label for name, label in equations.cell(i).items() if name in part.names}
            others = [label for name, label in equations.cell(i).items() if name not in part.names]
            if any(label != "Total" for label in others):
                continue
            try:
                at = single.find(cell)
            except RequestError:
                continue
            if single.hidden[at] and (i not in found or equations.source[i] == number):
                lower, upper, _ = _ends(result, at)
                found[i] = (lower / scale, upper / scale)
    return found


def _ends(found: Bounds, i: int) -> tuple[Any, Any, float]:
    lower, upper = int(found.lower[i]), int(found.upper[i])
    return (
        lower if lower > -UNBOUNDED else -float("inf"),
        upper if upper < UNBOUNDED else float("inf"),
        float(found.values[i]),
    )


def _prior_bits(equations: Equations, found: Bounds) -> FloatArray:
    """Return log2 of the number of values between the least value and the largest published: domingo2002 (1).

    Before anything on a cell is published, all values up to the largest total in print are alike to a reader.
    """
    shown = equations.lower[(equations.source >= 0) & equations.exact] if (equations.source >= 0).any() else None
    top = int(shown.max()) if shown is not None and shown.size else 0
    if not top:
        finite = equations.upper[equations.upper < UNBOUNDED]
        top = int(finite.max()) if finite.size else 0
    return np.array([float(np.log2(top + 1)) if top else np.inf])


def _with_original(
    limits: Limits, equations: Equations, original: Table | Figures | None, protection: float | None
) -> Limits:
    """Check a release against its original, and add the protection levels that follow from it."""
    if original is None:
        if protection is not None:
            raise RequestError(
                "protection is a share of original values; give the original too (original=, --original)"
            )
        return limits
    figures = original if isinstance(original, Figures) else Release(original, "original").parts()[0]
    truth = equations_of(figures)
    known = bounds(truth)
    levels = dict(limits.levels)
    scale = 10**equations.decimals
    for i in range(equations.positions.size):
        cell = equations.cell(i)
        try:
            at = truth.find({name: label for name, label in cell.items() if name in figures.names})
        except RequestError:
            continue
        if any(label != "Total" for name, label in cell.items() if name not in figures.names):
            continue
        if known.lower[at] != known.upper[at]:
            continue
        value = int(known.lower[at]) * scale // 10**truth.decimals
        if not equations.lower[i] <= value <= equations.upper[i]:
            raise DataError(
                f"cell {equations.describe(i)} is published in a way that its original value does not fit; the release "
                "was not made from this original, or its method is not the one stated"
            )
        if protection is not None and equations.hidden[i]:
            away = protection / 100 * value / scale
            levels.setdefault(tuple(sorted(cell.items())), (value / scale - away, value / scale + away))
    return Limits(limits.width, limits.dr, levels)
