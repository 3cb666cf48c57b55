"""Statistics that follow from figures beside them: left out, and audits are the same as if they were not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import discreet.auditing.audit as auditing
from discreet.core.errors import InfeasibleError
from discreet.core.numerics import IntArray
from discreet.feasible.implied_statistics import without_implied
from discreet.table.figures import Figures
from discreet.table.kinds import Kind
from discreet.table.statistic import Statistic, StatisticColumn

LABELS = {"year": ["1", "2", "3", "Total"], "sex": ["m", "f", "Total"]}
DEFINED = (
    "percentage, over=sex", "percentage, over=sex+year, rounding=down", "rate, per=2000", "growth, along=year",
    "difference, over=year", "index, over=year:1", "cumulative, along=year", "ratio, over=sex:m, rounding=half-even",
)  # fmt: skip


def published(rng: np.random.Generator) -> Figures:
    """Return a random table with margins, some figures hidden, and statistics of all that are defined."""
    inner = rng.integers(1, 40, (3, 2))
    full = np.zeros((4, 3), np.int64)
    full[:3, :2], full[3, :2], full[:3, 2], full[3, 2] = inner, inner.sum(0), inner.sum(1), inner.sum()
    cells = full.astype(object)
    cells[rng.random(full.shape) < 0.25] = None
    columns = []
    for k, text in enumerate(rng.choice(DEFINED, 2, replace=False).tolist()):
        spec = replace(Statistic.of_text(text), decimals=1)
        rows, values = [], []
        for i, j in np.ndindex(4, 3):
            value = true_value(spec, full, i, j)
            if value is not None and rng.random() < 0.8:
                rows.append([i, j])
                values.append(value)
        columns.append(StatisticColumn(f"s{k}", spec, np.reshape(rows, (-1, 2)), np.array(values, np.int64), 1))
    return Figures.from_array(cells, LABELS, mark=Kind("suppressed", least=1), statistics=tuple(columns))


def true_value(spec: Statistic, full: IntArray, i: int, j: int) -> int | None:
    """Return a statistic by hand."""
    above, below = int(full[i, j]), None
    if spec.kind == "growth":
        if i in (0, 3):
            return None
        below = int(full[i - 1, j])
    elif spec.kind == "cumulative":
        if i == 3:
            return None
        above, below = int(full[: i + 1, j].sum()), int(full[3, j])
    elif spec.over:
        row = (0 if spec.over["year"] else 3) if "year" in spec.over else i
        column = (0 if spec.over["sex"] else 2) if "sex" in spec.over else j
        below = int(full[row, column])
    return spec.value(above, below, 0)


@pytest.mark.parametrize("seed", range(25))
def test_an_audit_is_the_same_with_what_follows_anyway(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = published(np.random.default_rng(seed))
    quick = auditing.audit(shown).findings
    kept = sum(len(column) for column in without_implied([shown])[0].statistics)
    assert kept < sum(len(column) for column in shown.statistics)
    monkeypatch.setattr(auditing, "without_implied", lambda parts: tuple(parts))
    slow = auditing.audit(shown).findings
    order = [np.argsort(found.at) for found in (quick, slow)]
    for name in ("lower", "upper", "values", "finished"):
        assert np.array_equal(getattr(quick, name)[order[0]], getattr(slow, name)[order[1]])


def test_what_does_not_agree_is_refused() -> None:
    column = StatisticColumn("pct", Statistic("percentage", over={"sex": ""}), np.array([[0]]), np.array([41]))
    shown = Figures.from_array([2, None, 5], {"sex": ["m", "f", "Total"]}, statistics=(column,))
    with pytest.raises(InfeasibleError, match="pct 41%"):
        auditing.audit(shown)


def test_percentages_of_true_values_beside_rounded_figures_stay() -> None:
    column = StatisticColumn("pct", Statistic("percentage", over={"sex": ""}), np.array([[0]]), np.array([33]))
    shown = Figures.from_array([3, 6, 9], {"sex": ["m", "f", "Total"]}, kind=Kind("random", base=3))
    for made_of, left in (("values", 1), ("figures", 0)):
        one = replace(column, statistic=replace(column.statistic, made_of=made_of))
        assert sum(map(len, without_implied([replace(shown, statistics=(one,))])[0].statistics)) == left


def test_a_share_says_of_every_cell_that_it_is_one() -> None:
    both = {"group": ["a", "b"]}
    spec = Statistic("percentage", of="passed", per="n")
    rate = StatisticColumn("rate", spec, np.array([[0]]), np.array([50]))
    n = Figures.from_array([10, None], both, figure="n", statistics=(rate,))
    passed = Figures.from_array([5, None], both, measure="passed", figure="passed")
    assert [len(column) for column in without_implied([n, passed])[0].statistics] == [0]
