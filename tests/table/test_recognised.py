"""Respondents that tables do not name are recognised in several margins where the figures say so, and only there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from discreet.table.stakes import idle, recognised
from discreet.tabulation.tabulate import tabulate


@pytest.mark.parametrize("top", [1, 2])
def test_cells_of_different_margins_have_one_respondent_exactly_where_that_is_known(top: int) -> None:
    """The slow twin knows the firms: nobody is taken for another, and whoever is alone in a group is one."""
    joined = apart = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        n = int(draw.integers(6, 16))
        firms = {"a": draw.integers(4, size=n), "b": draw.integers(3, size=n), "c": draw.integers(3, size=n)}
        amounts = draw.choice([1, 5, 5, 20, 300], size=n)
        rows = pa.table({name: pa.array([f"{name}{x}" for x in column]) for name, column in firms.items()})
        rows = rows.append_column("x", pa.array(amounts)).append_column("id", pa.array(range(n)))
        made = tabulate(
            rows, ["a", "b", "c"], value="x", contributor="id", margins=[("a", "b"), ("a", "c"), ("a",), ()]
        )
        (largest,) = made.contributors.largest
        kept = replace(made.contributors, largest=(replace(largest, top=largest.top[:, :top]),))
        found = recognised(replace(made, respondents=None, contributors=kept), None)
        # Who can be the largest contributor of each cell.
        who = []
        for cell in found.cell.tolist():
            label = made.label(int(np.flatnonzero(made.cells == cell)[0]))
            inside = np.ones(n, bool)
            for name, column in firms.items():
                if label[name] != "Total":
                    inside &= np.array([f"{name}{x}" for x in column]) == label[name]
            who.append(set(np.flatnonzero(inside & (amounts == amounts[inside].max())).tolist()))
        for k, mine in enumerate(who):
            for other, theirs in zip(found.unit[:k].tolist(), who[:k], strict=True):
                if other == found.unit[k]:
                    assert len(mine & theirs) == 1, "two different firms were taken for one"
                    joined += 1
                elif mine == theirs and len(mine) == 1:
                    (firm,) = mine
                    group = firms["a"] == firms["a"][firm]
                    assert group.sum() > 1, "the only firm of a group is in two cells, and was not recognised"
                    apart += 1
    assert joined > 30
    assert apart > 0


def test_whoever_is_in_a_cell_printed_as_zero_is_counted_in_every_sum_above_it() -> None:
    """The slow twin knows the firms; one that may be in several cells is not counted."""
    counted = 0
    for seed in range(20):
        draw = np.random.default_rng(seed)
        n = int(draw.integers(4, 14))
        firms = {"a": draw.integers(3, size=n), "b": draw.integers(3, size=n), "c": draw.integers(2, size=n)}
        columns = {name: [f"{name}{x}" for x in column] for name, column in firms.items()}
        amounts = draw.choice([0, 0, 0, 7], size=n)
        rows = pa.table({**columns, "x": amounts, "id": range(n)})
        made = tabulate(
            rows, ["a", "b", "c"], value="x", contributor="id", margins=[("a", "b"), ("a", "c"), ("a",), ()]
        )
        nothing = made.responses[0].sums == 0
        labels = [made.label(i) for i in range(len(made))]
        inside = [
            {k for k in range(n) if all(label[name] in ("Total", columns[name][k]) for name in columns)}
            for label in labels
        ]
        finest = {
            margin: [i for i, label in enumerate(labels) if [label[name] != "Total" for name in columns] == wanted]
            for margin, wanted in {"ab": [True, True, False], "ac": [True, False, True]}.items()
        }
        found = idle(made, nothing)
        for i, label in enumerate(labels):
            sets = [
                [inside[j] for j in cells if nothing[j] and all(label[d] in ("Total", x) for d, x in labels[j].items())]
                for cells in finest.values()
            ]
            expected = max(len(set().union(*one)) for one in sets)
            assert found[i] == expected, label
            counted += expected
        twice = tabulate(
            pa.concat_tables([rows, rows.slice(0, 1).set_column(0, "a", [["a9"]])]),
            ["a", "b", "c"],
            value="x",
            contributor="id",
        )
        assert not idle(twice, twice.responses[0].sums == 0).any()
    assert counted > 30
