"""Files as people write them: an index, codes that sort as texts, codes beside their labels, many decimals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.cli.running import run

import discreet as dc
from discreet.table.columns import natural_order
from discreet.table.figures import families_of, units_of


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_an_index_without_a_name_is_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, ",area,sex,count\n0,n,m,3\n1,n,f,4\n2,s,m,5\n3,s,f,1\n")
    assert dc.read_table(path).names == ("area", "sex")
    # It may be what tells rows apart, or be no numbering.
    for rows in ("0,n,m,3\n1,n,m,4\n", "0,n,m,3\n2,n,f,4\n"):
        with pytest.raises(dc.DataError, match="column 1 has no name"):
            dc.read_table(written(tmp_path, f",area,sex,count\n{rows}"))


def test_codes_that_were_sorted_as_texts_are_counted(tmp_path: Path) -> None:
    table = dc.read_table(written(tmp_path, "area,count\n1,3\n10,4\n11,5\n2,6\nTotal,18\n"))
    assert table.to_dict() == {("1",): 3, ("2",): 6, ("10",): 4, ("11",): 5}
    assert table.dimensions[0].categories == ("1", "2", "10", "11")


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["2", "1", "10"], None),
        (["1", "2", "10"], None),
        (["small", "medium", "large"], None),
        (["a1", "a10", "a2", "b1"], ["a1", "a2", "a10", "b1"]),
        (["0-9", "10-19", "100+", "20-29"], ["0-9", "10-19", "20-29", "100+"]),
        (["01", "02", "10"], None),
    ],
)
def test_natural_order(labels: list[str], expected: list[str] | None) -> None:
    order = natural_order(labels)
    assert (None if order is None else [labels[i] for i in order]) == expected


@pytest.mark.parametrize("seed", range(200))
def test_natural_order_is_a_permutation(seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = sorted({f"{'ab'[rng.integers(2)]}{rng.integers(200)}" for _ in range(12)})
    order = natural_order(labels)
    if order is not None:
        assert sorted(order) == list(range(len(labels)))
        found = [labels[i] for i in order]
        assert found == sorted(labels, key=lambda text: (text[0], int(text[1:])))


@pytest.mark.parametrize(("code", "label"), [("code", "label"), ("area_code", "area_name"), ("NACE", "NACE label")])
def test_codes_and_what_is_called_their_label_are_one_dimension(tmp_path: Path, code: str, label: str) -> None:
    rows = "".join(f"0{i},name {i},{sex},{i + 3}\n" for i in range(3) for sex in "mf")
    path = written(tmp_path, f"{label},{code},sex,count\n{rows}")
    both = dc.read_table(path)
    assert both.names == (code, "sex")
    assert both.size == 6
    assert dc.read_release(path).parts()[0].names == (code, "sex")
    assert run("inspect", path).code == 0
    assert dc.read_table(path, dimensions=[code, label, "sex"]).size == 18
    # A label that two codes share is still one; labels of which a code has two classify further.
    shared = written(tmp_path, f"{code},{label},sex,count\n{rows.replace('name 1', 'name 2')}")
    assert dc.read_table(shared).names == (code, "sex")
    split = written(tmp_path, f"{code},{label},sex,count\n{rows}00,another,m,1\n")
    assert dc.read_table(split).names == (code, label, "sex")


def test_codes_beside_labels_of_another_name_are_noticed(tmp_path: Path) -> None:
    rows = "".join(f"{i},name {i},{sex},{i + 3}\n" for i in range(3) for sex in "mf")
    path = written(tmp_path, f"code,town,sex,count\n{rows}")
    with pytest.raises(dc.RequestError, match=r"'code' and 'town' say the same.*dimensions=\['code', 'sex'\]"):
        dc.read_table(path)
    assert dc.read_table(path, dimensions=["code", "sex"]).possible == 6
    assert dc.read_table(path, dimensions=["code", "town", "sex"]).size == 18


@pytest.mark.parametrize("seed", range(20))
def test_amounts_with_many_decimals_add_up(seed: int) -> None:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"a": rng.choice(list("xyz"), 60), "b": rng.choice(list("uvw"), 60), "c": rng.choice(["p", "q"], 60)}
    )
    cells = dc.tabulate(frame.assign(amount=rng.pareto(1.5, 60) * 1e4), ["a", "b", "c"], value="amount")
    units, decimals = units_of(cells)
    assert decimals == 6
    assert np.abs(units / 1e6 - cells.responses[0].sums).max() < 1e-4
    for _, _, rows, slot in families_of(cells):
        sums = np.bincount(slot, weights=units[rows], minlength=units.size)
        assert (sums[np.unique(slot)] == units[np.unique(slot)]).all()
    assert dc.suppress(cells, [dc.rules.PPercent(10)]).release is not None


def test_thousands_may_be_separated_where_that_leaves_no_doubt(tmp_path: Path) -> None:
    rows = ["n,1 234 567", "s,1\u00a0000", "e,12\u202f345", "w,9'876", "o,7"]
    (tmp_path / "t.csv").write_text("\n".join(["area,count", *rows]), encoding="utf-8")
    assert sorted(dc.read_table(tmp_path / "t.csv").to_array().tolist()) == [7, 1000, 9876, 12345, 1234567]
    for odd in ("12 34", "1 2345", "1 234'567 8", "1 234.5"):
        (tmp_path / "odd.csv").write_text(f"area,count\nn,{odd}\ns,3\n")
        with pytest.raises(dc.DataError, match="which is not a number"):
            dc.read_table(tmp_path / "odd.csv")
    (tmp_path / "comma.csv").write_text('area,count\nn,"1,234"\ns,3\n')
    with pytest.raises(dc.DataError, match="without the comma, which could separate thousands or decimals"):
        dc.read_table(tmp_path / "comma.csv")
