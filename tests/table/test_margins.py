"""Totals among the rows and columns of a file: recognised, checked, or left out of account."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pytest

from discreet import DataError, Table, read_table

CELLS = {
    ("2,3", "4"): 80, ("2,3", "5"): 253, ("2,3", "6"): 54,
    ("4", "4"): 641, ("4", "5"): 3694, ("4", "6"): 2062,
    ("5", "4"): 592, ("5", "5"): 0, ("5", "6"): 329,
    ("6", "4"): 57, ("6", "5"): 0, ("6", "6"): 946,
    ("7", "4"): 78, ("7", "5"): 0, ("7", "6"): 890,
}  # fmt: skip
"""Size classes 4 to 6 of domingo2002 Table 1; the hidden figures are 0 here."""


def long_file(path: Path, size_class_4: int) -> Path:
    """Write the table with its totals; the paper prints the one of size class 4 as 1148."""
    sums = {"4": size_class_4, "5": 3947, "6": 4281}
    lines = [f'"{activity}",{size},{count}' for (activity, size), count in CELLS.items()]
    lines += [f"Total,{size},{count}" for size, count in sums.items()]
    path.write_text("\n".join(["activity,size,count", *lines, "Total,Total,9676"]) + "\n")
    return path


def test_margins_that_add_up(tmp_path: Path) -> None:
    table = read_table(long_file(tmp_path / "t.csv", 1448))
    assert table.shape == (5, 3)
    assert table.margin("size").to_dict() == {("4",): 1448, ("5",): 3947, ("6",): 4281}
    assert table.total == 9676


def test_the_misprinted_total_of_domingo2002(tmp_path: Path) -> None:
    path = long_file(tmp_path / "t.csv", 1148)
    with pytest.raises(
        DataError,
        match=r"t\.csv: line 17: margin 'size=4' is 1148, but its cells sum to 1448; .*margins=\"recompute\"",
    ):
        read_table(path)
    assert read_table(path, margins="recompute") == read_table(long_file(tmp_path / "u.csv", 1448))


def test_a_wrong_grand_total(tmp_path: Path) -> None:
    path = long_file(tmp_path / "t.csv", 1448)
    path.write_text(path.read_text().replace("9676", "9376"))
    with pytest.raises(DataError, match=r"line 20: margin 'total' is 9376, but its cells sum to 9676"):
        read_table(path)


def test_wide_files_have_totals_in_rows_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("area\\sex,m,f,Total\nn,1,2,3\ns,3,4,7\nTotal,4,6,10\n")
    assert read_table(path) == Table.from_array([[1, 2], [3, 4]], {"area": ["n", "s"], "sex": ["m", "f"]})
    with pytest.raises(DataError, match="category 'Total' of dimension 'area' is named like a margin"):
        read_table(path, total="Sum")
    path.write_text("area\\sex,m,f,Total\nn,1,2,3\ns,3,4,8\nTotal,4,6,10\n")
    with pytest.raises(DataError, match=r"line 3, column 'Total': margin 'area=s' is 8, but its cells sum to 7"):
        read_table(path)
    assert read_table(path, margins="recompute").total == 10


def test_margins_of_any_subset_of_three_dimensions(tmp_path: Path) -> None:
    rows = [(a, b, c, 1 + i) for i, (a, b, c) in enumerate((a, b, c) for a in "xy" for b in "pq" for c in "uv")]
    full = Table.from_dict({row[:3]: row[3] for row in rows}, ["a", "b", "c"])
    margins: list[tuple[str, str, str, int]] = []
    for names in (("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c")):
        for key, count in full.margin(*names).to_dict().items():
            label = dict(zip(names, key, strict=True))
            margins.append((label.get("a", "*"), label.get("b", "*"), label.get("c", "*"), count))
    margins.append(("*", "*", "*", full.total))
    for i in range(len(margins)):
        frame = pd.DataFrame([*rows, *margins], columns=["a", "b", "c", "count"])
        assert Table.from_frame(frame, total="*") == full
        frame.loc[len(rows) + i, "count"] += 1
        stated = margins[i][3] + 1
        with pytest.raises(
            DataError, match=rf"row {len(rows) + i}: margin .* is {stated}, but its cells sum to {stated - 1};"
        ):
            Table.from_frame(frame, total="*")
        assert Table.from_frame(frame, total="*", margins="recompute") == full


def test_margins_of_categories_without_cells() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "z"], "b": ["p", "p", "Total"], "count": [1, 2, 4]})
    with pytest.raises(DataError, match="margin 'a=z' is 4, but its cells sum to 0"):
        Table.from_frame(frame)
    listed = Table.from_frame(frame.with_columns(count=pl.Series([1, 2, 0])))
    assert listed.to_array().tolist() == [[1], [2], [0]]


def test_another_code_or_none() -> None:
    frame = pl.DataFrame({"a": ["x", "y", "T"], "count": [1, 2, 3]})
    assert Table.from_frame(frame, total="T").total == 3
    assert Table.from_frame(frame, total=None).total == 6
    with pytest.raises(DataError, match="category 'T' of dimension 'a' is named like a margin"):
        Table.from_frame(frame)


def test_nothing_but_margins() -> None:
    with pytest.raises(DataError, match=r"dimension 'a' has margins \('Total'\) only"):
        Table.from_frame(pl.DataFrame({"a": ["Total"], "count": [3]}))
    with pytest.raises(DataError, match=r"every row is a margin \('Total'\)"):
        Table.from_frame(pl.DataFrame({"a": ["x", "Total"], "b": ["Total", "y"], "count": [3, 3]}))


@pytest.mark.parametrize("label", ["total", "TOTAL", "All", "sum", "Totals", "Margin", "Both sexes", "_T", "Insgesamt"])
def test_categories_that_are_margins_in_all_but_name(label: str) -> None:
    frame = pl.DataFrame({"a": ["x", "x", "y", "y", label, label], "b": ["p", "q"] * 3, "count": [1, 2, 3, 0, 4, 2]})
    with pytest.raises(
        DataError, match=rf"category '{label}' of dimension 'a' is named like a margin.*total='{label}'"
    ):
        Table.from_frame(frame)
    assert Table.from_frame(frame, total=label).total == 6
    assert Table.from_frame(frame, total=None).total == 12
    # Figures that do not add up make no difference: a lone grand total would count everybody twice.
    with pytest.raises(DataError, match="is named like a margin"):
        Table.from_frame(frame.with_columns(count=pl.Series([1, 2, 3, 0, 3, 3])))
