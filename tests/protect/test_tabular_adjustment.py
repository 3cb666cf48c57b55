"""Controlled tabular adjustment against brute force over directions."""

from __future__ import annotations

import sys
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import discreet as dc
from discreet import DataError, InfeasibleError, RequestError
from discreet.core.numerics import IntArray
from discreet.protect import TabularAdjustment, adjustment_program, tabular_adjustment
from discreet.protect.additive import sums_of
from discreet.protect.adjustment_program import _squares
from discreet.protect.tabular_adjustment import levels_of
from discreet.rules import PPercent, sensitivity
from discreet.table.figures import units_of
from discreet.table.tabulation import Tabulation


def firms(rng: np.random.Generator, n: int, shape: tuple[int, ...], decimals: int = 0) -> Tabulation:
    frame = pd.DataFrame(
        {f"d{i}": [f"{'abc'[i]}{c}" for c in rng.integers(0, k, n)] for i, k in enumerate(shape)}
        | {"v": np.round(rng.lognormal(3, 1.2, n), decimals)}
    )
    return dc.tabulate(frame, [f"d{i}" for i in range(len(shape))], value="v", engine="reference")


def slow_least(cells: Tabulation, rule: PPercent) -> float:
    """Try every combination of directions, each by a linear program of SciPy."""
    values, decimals = units_of(cells)
    levels = levels_of(sensitivity(cells, [rule]), values, decimals)
    sums = sums_of(cells)
    A = np.zeros((sums.starts.size - 1, values.size))
    A[sums.of, sums.columns] = sums.values
    best = np.inf
    for ups in product((False, True), repeat=levels.cells.size):
        low, high = -values.astype(float), np.full(values.size, np.inf)
        for up, cell, below, above in zip(ups, levels.cells, levels.below, levels.above, strict=True):
            if up:
                low[cell] = above
            else:
                high[cell] = -below
        if (low > high).any():
            continue
        bounds = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
        falls = [(max(-b, 0), max(-a, 0)) for a, b in zip(low, high, strict=True)]
        result = linprog(
            np.ones(2 * values.size), A_eq=np.hstack([A, -A]), b_eq=np.zeros(len(A)), bounds=bounds + falls
        )
        if result.status == 0:
            best = min(best, result.fun)
    return float(best)


def check_safe(cells: Tabulation, rule: PPercent, adjusted: IntArray) -> int:
    values, decimals = units_of(cells)
    levels = levels_of(sensitivity(cells, [rule]), values, decimals)
    moved = (adjusted - values)[levels.cells]
    assert ((moved >= levels.above) | (moved <= -levels.below)).all()
    assert not sums_of(cells).sums(adjusted).any()
    assert (adjusted >= 0).all()
    return int(levels.cells.size)


def test_the_least_changes_of_brute_force() -> None:
    rng, rule = np.random.default_rng(1), PPercent(15)
    tried = 0
    while tried < 12:
        cells = firms(rng, 25, (3, 3))
        if not 1 <= sensitivity(cells, [rule]).cells.size <= 6:
            continue
        made = TabularAdjustment((rule,)).apply(cells)
        check_safe(cells, rule, made.release.parts()[0].values)
        assert made.changes.distance == pytest.approx(slow_least(cells, rule), abs=1e-6)
        tried += 1


@pytest.mark.parametrize("norm", ["absolute", "squared"])
@pytest.mark.parametrize("weights", ["equal", "inverse"])
def test_adjusted_tables_are_safe_and_additive(norm: str, weights: str) -> None:
    rng, rule = np.random.default_rng(2), PPercent(15)
    moved = 0
    for shape in ((5, 4), (4, 3, 2)):
        for decimals in (0, 1):
            cells = firms(rng, 90, shape, decimals)
            made = TabularAdjustment((rule,), norm=norm, weights=weights, time_limit=5).apply(cells)  # type: ignore[arg-type]
            part = made.release.parts()[0]
            moved += check_safe(cells, rule, part.values)
            assert made.release.inner is None
            if made.changes.largest:
                assert part.kinds[0].to_dict()["bound"] == made.changes.largest
            lower, upper = part.ranges()
            values, _ = units_of(cells)
            assert ((lower <= values) & (values <= upper)).all()
            assert dc.audit(made.release).verdict in ("safe", "unsafe", "incomplete")
    assert moved > 5


def test_squares_satisfy_the_conditions_of_an_optimum() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        cells = firms(rng, 40, (4, 4))
        sums, n = sums_of(cells), len(cells)
        low, high = np.full(n, -10.0), np.full(n, 10.0)
        at = rng.choice(n, 3, replace=False)
        low[at[0]], high[at[1]] = 4.0, -5.0
        weights = rng.uniform(0.5, 2, n)
        A = np.zeros((sums.starts.size - 1, n))
        A[sums.of, sums.columns] = sums.values
        if linprog(np.zeros(n), A_eq=A, b_eq=np.zeros(len(A)), bounds=list(zip(low, high, strict=True))).status:
            continue
        d = _squares(sums, weights, low, high)
        assert np.abs(A @ d).max() < 1e-6
        assert ((d >= low - 1e-9) & (d <= high + 1e-9)).all()
        # No feasible direction lowers the sum of squares: its slope along every one is 0 or more.
        step = linprog(weights * d, A_eq=A, b_eq=np.zeros(len(A)), bounds=list(zip(low - d, high - d, strict=True)))
        assert step.fun > -1e-5


def test_many_sums_are_solved_sparse_with_the_same_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    cells = firms(np.random.default_rng(5), 60, (5, 5))
    sums, n = sums_of(cells), len(cells)
    low, high = np.full(n, -10.0), np.full(n, 10.0)
    low[n // 2] = 4.0
    dense = _squares(sums, np.ones(n), low, high)
    monkeypatch.setattr(adjustment_program, "DENSE", 3)
    np.testing.assert_allclose(_squares(sums, np.ones(n), low, high), dense, atol=1e-7)
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(RequestError, match=r"more than 3, need .* pip install 'discreet\[sparse\]', or take absolute"):
        _squares(sums, np.ones(n), low, high)


def test_nothing_sensitive_and_bad_requests() -> None:
    cells = dc.tabulate(pd.DataFrame({"r": list("aaabbb"), "v": [5, 6, 7, 5, 6, 7]}), ["r"], value="v")
    made = TabularAdjustment((PPercent(1),)).apply(cells)
    assert made.changes.changed == 0
    with pytest.raises(RequestError, match="no rule is given"):
        TabularAdjustment(())
    with pytest.raises(RequestError, match="norm is 'l1'"):
        TabularAdjustment((PPercent(10),), norm="l1")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="weights is 'cost'"):
        TabularAdjustment((PPercent(10),), weights="cost")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="radius is 0"):
        TabularAdjustment((PPercent(10),), radius=0)
    with pytest.raises(RequestError, match="time limit is -1"):
        TabularAdjustment((PPercent(10),), time_limit=-1)


def test_a_radius_that_is_too_small() -> None:
    frame = pd.DataFrame({"r": list("aabbb"), "v": [90, 10, 50, 60, 55]})
    cells = dc.tabulate(frame, ["r"], value="v")
    with pytest.raises(InfeasibleError, match="radius"):
        tabular_adjustment(cells, [PPercent(20)], radius=0.1)


def test_sums_that_do_not_hold_are_named() -> None:
    from dataclasses import replace

    frame = pd.DataFrame({"r": list("aabbb"), "v": [90.0, 10, 50, 60, 55]})
    cells = dc.tabulate(frame, ["r"], value="v")
    response = replace(cells.responses[0], sums=cells.responses[0].sums + np.array([3.0, 0, 0]))
    with pytest.raises(DataError, match="is 268, but its cells sum to 265"):
        tabular_adjustment(replace(cells, responses=(response,)), [PPercent(20)])
