"""Numbers and amounts are not one variable: what links them as if they were is refused."""

from __future__ import annotations

import pandas as pd
import pytest

import discreet as dc
from discreet.core.errors import RequestError
from discreet.table.table import Table
from discreet.tabulation.tabulate import tabulate


def test_files_of_different_columns_are_not_audited_together() -> None:
    firms = pd.DataFrame({"area": ["n", "s"], "count": ["3", "x"]})
    turnover = pd.DataFrame({"area": ["n", "s"], "size": ["a", "b"], "value": [3, 4]})
    with pytest.raises(RequestError, match=r"holds 'count' and .* 'value'.*Ledger\.check\(variable="):
        dc.audit([firms, turnover])
    assert dc.audit([firms, turnover.rename(columns={"value": "count"})]).verdict == "unsafe"


def test_numbers_and_amounts_are_not_suppressed_as_linked_tables() -> None:
    rows = pd.DataFrame({"id": range(12), "area": list("nsw") * 4, "turnover": range(5, 17)})
    amounts = tabulate(rows, ["area"], value="turnover", contributor="id")
    numbers = Table.from_array([4, 4, 4], {"area": ["n", "s", "w"]})
    with pytest.raises(RequestError, match=r"one of the linked tables is of amounts and another of numbers"):
        dc.suppress([amounts, numbers], rules=["threshold=3"])
