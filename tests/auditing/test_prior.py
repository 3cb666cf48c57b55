"""DR before: 1/H(X) with all values alike up to the largest that any figure in print allows, domingo2002 (1)."""

from __future__ import annotations

import math

import numpy as np
import pytest

import discreet as dc
from discreet.table.figures import Figures
from discreet.table.kinds import EXACT, SUPPRESSED, Kind
from discreet.table.tabulation import Tabulation

X = {"x": ["1", "2", "3"]}


def prior(shown: Figures, **options: float) -> set[float]:
    return {round(2**cell.prior_bits, 6) for cell in dc.audit(shown, **options).cells}  # type: ignore[arg-type]


def test_exact_figures_bound_by_themselves() -> None:
    total = {"x": ["1", "2", "Total"]}
    assert prior(Figures.from_array([None, None, 30], total)) == {31}
    assert prior(Figures.from_array([None, None, 30], total), least=10) == {21}
    assert prior(Figures.from_array([None, None, 30], total), most=99) == {100}


@pytest.mark.parametrize(
    ("kind", "top"),
    [
        (Kind("conventional", base=5), 1002),
        (Kind("random", base=5), 1004),
        (Kind("controlled", base=5), 1004),
        (Kind("perturbed", bound=7), 1007),
    ],
)
def test_rounded_and_perturbed_figures_bound_by_the_end_of_their_range(kind: Kind, top: int) -> None:
    assert prior(Figures.from_array([5, 0, 1000], X, kind=kind)) == {top + 1}


def test_a_small_exact_figure_beside_large_rounded_ones_does_not_bound_them() -> None:
    kinds = (EXACT, SUPPRESSED, Kind("random", base=100))
    shown = Figures({"x": ("1", "2", "3")}, np.arange(3)[:, None], np.array([3, 0, 1000]), np.array([0, 2, 2]), kinds)
    cells = dc.audit(shown).cells
    assert {round(2**cell.prior_bits) for cell in cells} == {1100}
    assert all(cell.prior_dr <= cell.dr for cell in cells)


def test_a_release_that_bounds_nothing_has_no_risk_before() -> None:
    cells = dc.audit(Figures.from_array([None, None, None], X)).cells
    assert all(cell.prior_bits == math.inf and cell.prior_dr == 0 for cell in cells)


def test_sums_may_exceed_every_figure_in_print() -> None:
    shown = Figures.from_array([10, 10, 10], X, kind=Kind("random", base=10))
    found = dc.audit(shown, sums={"all": [{"x": "1"}, {"x": "2"}, {"x": "3"}]})
    whole = next(cell for cell in found.cells if cell.values > 19)
    assert whole.prior_dr <= whole.dr


@pytest.mark.parametrize("law", ["interval", "tables", "method"])
def test_dr_before_is_never_above_dr(law: str) -> None:
    rng = np.random.default_rng(5)
    for seed in range(6):
        table = dc.Table.from_array(rng.poisson(4, (3, 4)), ["a", "b"])
        whole = Tabulation.from_table(table)
        releases = [
            dc.protect.random_rounding(whole, 3, seed=seed),
            dc.protect.conventional_rounding(whole, 5),
            dc.protect.controlled_rounding(whole, 3, seed=seed),
            dc.protect.small_count_rounding(whole, 3),
        ]
        for release in releases:
            cells = dc.audit(release, law=law, seed=1).cells
            assert cells
            assert all(np.isnan(cell.bits) or cell.prior_bits >= cell.bits - 1e-9 for cell in cells)
            assert len({cell.prior_bits for cell in cells}) == 1
