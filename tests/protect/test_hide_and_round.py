from __future__ import annotations

import numpy as np
import pytest

import discreet as dc
from discreet.core.errors import RequestError
from discreet.protect import HideAndRound
from discreet.table.tabulation import Tabulation


@pytest.mark.parametrize(("limit", "base"), [(7, 5), (4, 5), (2, 3), (1, 2)])
def test_every_count_is_hidden_or_rounded_and_fits_what_a_reader_is_told(limit: int, base: int) -> None:
    rng = np.random.default_rng(limit)
    table = dc.Table.from_array(rng.poisson(6, (5, 4)), ["a", "b"])
    figures = HideAndRound(limit, base).apply(table).release.figures[0]
    lower, upper = figures.ranges()
    cells = Tabulation.from_table(table).with_empty_cells()
    assert np.array_equal(figures.codes[:, 0], cells.codes("a"))
    assert ((lower <= cells.records) & (cells.records <= upper)).all()
    for row, count in enumerate(cells.records.tolist()):
        if count == 0:
            assert figures.text(row) == "0"
        elif count <= limit:
            assert figures.text(row) == f"1 to {limit}"
        else:
            assert int(figures.values[row]) % base == 0
            assert abs(int(figures.values[row]) - count) <= base // 2
            assert int(figures.values[row]) > limit


def test_the_audit_of_a_release_is_true_to_its_original() -> None:
    table = dc.datasets.religion()
    release = dc.protect.hide_and_round(table)
    found = dc.audit(release, original=table)
    assert len(found.findings)
    assert dc.risk(table, release).value < dc.risk(table).value


@pytest.mark.parametrize(("limit", "base"), [(0, 5), (7, 1), (1.5, 5), (10, 5), (True, 5)])
def test_what_cannot_be_is_refused(limit: int, base: int) -> None:
    with pytest.raises(RequestError):
        HideAndRound(limit, base)
