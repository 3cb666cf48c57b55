"""Every kind of records gives the same tabulation, and every fault of records is named."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.parquet as pq
import pytest
from tests.tabulation.test_agreement import agree, firms

import discreet as dc
from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.tabulation import DimensionSpec, ResponseSpec, TableSpec, tabulate

OPTIONS: dict[str, Any] = {
    "by": ["region", "lower"],
    "value": "turnover",
    "contributor": "id",
    "holding": "group",
    "weight": "w",
}


@pytest.fixture
def records() -> pa.Table:
    return firms(300, 7)


def test_files(records: pa.Table, tmp_path: Path) -> None:
    expected = tabulate(records, **OPTIONS)
    pq.write_table(records, tmp_path / "whole.parquet")
    pcsv.write_csv(records, tmp_path / "whole.csv")
    (tmp_path / "parts").mkdir()
    for i in range(3):
        pq.write_table(records.slice(100 * i, 100), tmp_path / "parts" / f"{i}.parquet")
    lines = (tmp_path / "whole.csv").read_text().splitlines(keepends=True)
    (tmp_path / "one.csv").write_text("".join(lines[:120]))
    (tmp_path / "two.csv").write_text("".join([lines[0], *lines[120:]]))
    semicolons = (tmp_path / "whole.csv").read_text().replace(",", ";").replace(".", ",")
    (tmp_path / "continental.csv").write_bytes(semicolons.encode("utf-16"))
    agree(tabulate(tmp_path / "whole.parquet", **OPTIONS), expected)
    agree(tabulate(str(tmp_path / "whole.csv"), **OPTIONS), expected)
    agree(tabulate(str(tmp_path / "parts" / "*.parquet"), **OPTIONS), expected)
    agree(tabulate(tmp_path / "parts", **OPTIONS), expected)
    agree(tabulate([tmp_path / "one.csv", tmp_path / "two.csv"], **OPTIONS), expected)
    agree(tabulate(tmp_path / "continental.csv", **OPTIONS, decimal=",", encoding="utf-16"), expected)


def test_frames(records: pa.Table) -> None:
    expected = tabulate(records, **OPTIONS)
    agree(tabulate(records.to_pandas(), **OPTIONS), expected)
    agree(tabulate(pl.from_arrow(records), **OPTIONS), expected)
    agree(tabulate(pl.from_arrow(records).lazy(), **OPTIONS), expected)  # type: ignore[union-attr]


def test_databases(records: pa.Table, tmp_path: Path) -> None:
    expected = tabulate(records, **OPTIONS)
    path = tmp_path / "firms.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.register("arrow", records)
        connection.execute("CREATE TABLE firms AS SELECT * FROM arrow")
    agree(tabulate(path, **OPTIONS, table="firms"), expected)
    agree(tabulate(path, **OPTIONS, query="SELECT * FROM firms WHERE true"), expected)
    with duckdb.connect() as connection:
        connection.register("arrow", records)
        agree(tabulate(connection.sql("SELECT * FROM arrow"), **OPTIONS), expected)
    with pytest.raises(RequestError, match=r"name a table \(table=\) or a query"):
        tabulate(path, **OPTIONS)
    with pytest.raises(DataError, match="cannot be read"):
        tabulate(path, **OPTIONS, table="none")


def test_codes_keep_their_zeros(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("code,x\n01,1\n1,2\n001,3\n")
    assert set(tabulate(tmp_path / "r.csv", ["code"], value="x").axes[0].leaves) == {"01", "001", "1"}


@pytest.mark.parametrize(
    "content",
    [
        b"a,x\r\nn,1\r\ns,2\r\n",
        b"\xef\xbb\xbfa,x\nn,1\ns,2\n",
        b"a,x\nn,1\n\ns,2\n\n\n",
        b"\n\na,x\nn,1\ns,2",
        b'"a","x"\n"n","1"\n"s","2"\n',
        b"a\tx\nn\t1\ns\t2\n",
        b"a,x\nn, 1\ns,2 \n",
        b"a,x\nn,1e0\ns,+2\n",
    ],
)
def test_ways_to_write_a_csv_file(content: bytes, tmp_path: Path) -> None:
    cells = tabulate(bad(tmp_path, content), ["a"], value="x")
    assert cells.axes[0].leaves == ("n", "s")
    assert cells.responses[0].sums.tolist() == [3.0, 1.0, 2.0]


def test_a_column_of_one(tmp_path: Path) -> None:
    assert tabulate(bad(tmp_path, "a\nn\ns\nn\n"), ["a"]).records.tolist() == [3, 2, 1]


def test_categories_stand_in_their_order() -> None:
    numbers = tabulate(pa.table({"a": [10, 2, 1]}), ["a"])
    assert numbers.axes[0].codes == ("Total", "1", "2", "10")
    assert tabulate(pa.table({"a": ["b", "é", "a"]}), ["a"]).axes[0].leaves == ("a", "b", "é")
    assert tabulate(pa.table({"a": [True, False]}), ["a"]).axes[0].leaves == ("false", "true")


def test_missing_codes() -> None:
    records = pa.table({"a": ["x", "9", None, ""], "t": [1.0, 2.0, 4.0, 8.0]})
    with pytest.raises(DataError, match=r"the records: row 3: dimension 'a' is empty; .*missing='category'"):
        tabulate(records, ["a"], value="t")
    kept = tabulate(records, ["a"], value="t", missing="category", missing_codes={"a": ["9"]})
    assert kept.axes[0].leaves == ("x", "Missing")
    assert kept.responses[0].sums.tolist() == [15.0, 1.0, 14.0]
    dropped = tabulate(records, ["a"], value="t", missing="drop", missing_codes={"a": "9"})
    assert (dropped.dropped, dropped.responses[0].sums.tolist()) == (3, [1.0, 1.0])
    with pytest.raises(DataError, match="row 2: dimension 'a' is '9', which means missing"):
        tabulate(records.slice(0, 2), ["a"], missing_codes={"a": ["9"]})


def test_codes_outside_the_hierarchy() -> None:
    records = pa.table({"a": ["n1", "zz", "yy"]})
    tree = Hierarchy.from_parents({"n1": "n", "n2": "n"})
    with pytest.raises(DataError, match="row 3: 2 codes of dimension 'a' are in no hierarchy: 'yy', 'zz'"):
        tabulate(records, ["a"], hierarchies={"a": tree})
    cells = tabulate(records, ["a"], hierarchies={"a": tree}, outside="total")
    assert cells.axes[0].codes == ("Total", "n", "n1", "n2", "yy", "zz")
    with pytest.raises(DataError, match="'n' of dimension 'a' is a group of its hierarchy"):
        tabulate(pa.table({"a": ["n"]}), ["a"], hierarchies={"a": tree})


def test_several_hierarchies_over_one_dimension() -> None:
    records = pa.table({"a": ["a1", "a2", "b1"], "x": [1.0, 2.0, 4.0]})
    coast = Hierarchy.from_parents({"a1": "coast", "b1": "coast"})
    cells = tabulate(records, ["a"], value="x", hierarchies={"a": [Prefixes((1,)), coast]})
    sums = {cells.label(i)["a"]: cells.responses[0].sums[i] for i in range(len(cells))}
    assert sums == {"Total": 7, "a": 3, "a1": 1, "a2": 2, "b": 4, "b1": 4, "coast": 5}


def bad(tmp_path: Path, content: str | bytes, name: str = "r.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(("numbers", "total"), [("7;624,37;-,5", 630.87), ("1,234;2,5", 3.734), ("0,125;3", 3.125)])
def test_a_decimal_comma_is_found_where_it_can_be_nothing_else(numbers: str, total: float, tmp_path: Path) -> None:
    rows = "\n".join(f"n;{number}" for number in numbers.split(";"))
    found = tabulate(bad(tmp_path, f"region;turnover\n{rows}\n"), ["region"], value="turnover")
    assert found.responses[0].sums[0] == pytest.approx(total)


GOOD = "region,id,w,turnover\nn,1,1,10\ns,2,1,20\n"


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (GOOD, {"by": ["regoin"]}, "no dimension column 'regoin'; did you mean 'region'"),
        (GOOD, {"value": "turnovr"}, "no value column 'turnovr'; did you mean 'turnover'"),
        (GOOD, {"weight": "weight"}, "no weight column 'weight'"),
        (GOOD, {"contributor": "ids"}, "no contributor column 'ids'; did you mean 'id'"),
        (GOOD, {"value": "region"}, r"r\.csv: line 2: 'region' is 'n', which is not a number"),
        (GOOD + "s,3,1,twelve\n", {}, r"r\.csv: line 4: 'turnover' is 'twelve', which is not a number"),
        (GOOD + 's,3,1,"1,234"\n', {}, r"'turnover' is '1,234', which is not a number; .* \(decimal=',' or '\.'"),
        (GOOD + 's,3,1,"1,5"\ns,4,1,2.5\n', {}, r"'turnover' is '1,5', which is not a number"),
        (GOOD + '"s\n",3,1,1\ns,4,1,x\n', {}, r"r\.csv: line 6: 'turnover' is 'x'"),
        (GOOD + "s,3,1,\n", {}, r"r\.csv: line 4: 'turnover' is empty"),
        (GOOD + "s,3,1,inf\n", {}, r"r\.csv: line 4: 'turnover' is not a finite number"),
        (GOOD + "s,3,1,nan\n", {}, r"r\.csv: line 4: 'turnover' is not a finite number"),
        (GOOD + "s,3,0,1\n", {"weight": "w"}, r"r\.csv: line 4: weight 'w' is 0; weights are above 0"),
        (GOOD + "s,3,-2,1\n", {"weight": "w"}, r"r\.csv: line 4: weight 'w' is -2"),
        (GOOD + "s,,1,1\n", {"contributor": "id"}, r"r\.csv: line 4: contributor 'id' is empty"),
        (GOOD + ",3,1,1\n", {}, r"r\.csv: line 4: dimension 'region' is empty"),
        (GOOD + "s,3,1,-5\n", {"negative": "error"}, r"r\.csv: line 4: 'turnover' is negative"),
        (GOOD + "Total,3,1,5\n", {}, r"r\.csv: line 4: category 'Total' of dimension 'region' is also the code of the"),
        (GOOD + "s,3\n", {}, r"r\.csv: line 4 cannot be read"),
        (GOOD + "s,3,1,1,9\n", {}, r"r\.csv: line 4 cannot be read"),
        (GOOD.encode() + b"s\xe9,3,1,5\n", {}, r"r\.csv: line 4 has a byte \(0xe9\) that is not utf-8"),
        (GOOD, {"encoding": "klingon"}, "encoding 'klingon' is not known"),
        (b"", {}, r"r\.csv is empty"),
        (b" \n\n", {}, r"r\.csv is empty"),
        ("region,id,w,turnover\n", {}, "there are no records to tabulate"),
        ("region,region,turnover\nn,n,1\n", {}, "two columns are called 'region'"),
        (GOOD, {"top": 1}, "top is 1; the rules need the 2 largest"),
        (GOOD, {"margins": 3}, "margins of up to 3 dimensions are wanted"),
        (GOOD, {"margins": [["size"]]}, "names 'size', which is not a dimension"),
        (GOOD, {"margins": "some"}, "margins is 'some'"),
        (GOOD, {"missing": "ignore"}, "missing is 'ignore'; give"),
        (GOOD, {"outside": "drop"}, "outside is 'drop'; give"),
        (GOOD, {"memory": "much"}, "memory is 'much'"),
        (GOOD, {"engine": "duckbd"}, "no engine 'duckbd'; did you mean 'duckdb'"),
        (GOOD, {"hierarchies": {"size": "x.hrc"}}, "hierarchies names 'size', which is not a dimension"),
        (GOOD, {"decimal": ";"}, "decimal is ';'"),
        (GOOD, {"shadow": "staff", "value": None}, "a shadow variable is judged in place of a magnitude"),
        (GOOD, {"by": ["region", "region"]}, "dimension 'region' is named twice"),
        (GOOD, {"by": []}, "no dimension is named"),
    ],
)
def test_faults(content: str | bytes, options: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = bad(tmp_path, content)
    with pytest.raises(DiscreetError, match=message):
        tabulate(path, **({"by": ["region"], "value": "turnover"} | options))
    assert list(tmp_path.iterdir()) == [path]


def test_faults_of_parquet(records: pa.Table, tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(records, path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match=r"r\.parquet is not a whole Parquet file"):
        tabulate(path, ["region"])
    path.write_bytes(b"region,x\nn,1\n")
    with pytest.raises(DataError, match=r"r\.parquet is not a whole Parquet file"):
        tabulate(path, ["region"])
    pq.write_table(pa.table({"region": ["n", "s", "s"], "x": [1.0, float("nan"), 3.0]}), path)
    with pytest.raises(DataError, match=r"r\.parquet: row 2: 'x' is not a finite number"):
        tabulate(path, ["region"], value="x")
    pq.write_table(pa.table({"region": ["n", None], "x": [1.0, 2.0]}), path)
    with pytest.raises(DataError, match=r"r\.parquet: row 2: dimension 'region' is empty"):
        tabulate(path, ["region"], value="x")
    pq.write_table(pa.table({"region": [1.5, 2.5], "x": [[1], [2]]}), path)
    with pytest.raises(DataError, match="dimension column 'region' is of type DOUBLE"):
        tabulate(path, ["region"])
    with pytest.raises(DataError, match=r"column 'x' is of type .*give numbers"):
        tabulate(pa.table({"a": ["x"], "x": [[1]]}), ["a"], value="x")


def test_other_things_are_no_records(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match="is not a frame"):
        tabulate(42, ["a"])
    with pytest.raises(RequestError, match="does not exist"):
        tabulate(tmp_path / "none.csv", ["a"])
    with pytest.raises(RequestError, match="no file fits"):
        tabulate(str(tmp_path / "*.parquet"), ["a"])
    with pytest.raises(RequestError, match=r"'\.xlsx' is not read"):
        tabulate(bad(tmp_path, "x", "r.xlsx"), ["a"])


def test_a_whole_specification_does_the_same() -> None:
    records = firms(50, 9)
    spec = TableSpec(
        (DimensionSpec("region"), DimensionSpec("lower")), (ResponseSpec("turnover"),), weight="w", alone=True
    )
    agree(tabulate(records, spec), tabulate(records, ["region", "lower"], value="turnover", contributor="", weight="w"))
    with pytest.raises(RequestError, match="value is given beside a whole TableSpec"):
        tabulate(records, spec, value="turnover")
    pandas = pd.DataFrame({"a": ["x"]})
    assert len(tabulate(pandas, "a")) == 2


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize(
    ("column", "entries", "refused"),
    [
        ("patient_id", "1122334455", True),
        ("patient_id", "1" * 10, True),
        ("ID", "1123456789", True),
        ("firm", "1122334455", True),
        ("firm", "0123456789", False),
        ("firm", " 12345678 ", False),
        ("firm_size", "1122334455", False),
        ("region_id", "1122334455", False),
    ],
)
def test_records_that_one_person_may_have_several_of_are_refused(
    engine: str, column: str, entries: str, refused: bool, tmp_path: Path
) -> None:
    """Ten visits of one patient are not ten patients."""
    path = tmp_path / "visits.csv"
    path.write_text(f"ward,{column}\n" + "".join(f"n,{one.strip()}\n" for one in entries), encoding="utf-8")
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    for records in (path, frame.replace({"": None})):
        if refused:
            with pytest.raises(DataError, match=f"column '{column}' has . different entries in 10 records"):
                tabulate(records, "ward", engine=engine)
        else:
            assert tabulate(records, "ward", engine=engine).records.tolist() == [10, 10]
        assert tabulate(records, "ward", contributor="", engine=engine).contributors.units.tolist() == [10, 10]
        if " " not in entries:
            named = tabulate(records, "ward", contributor=column, engine=engine).contributors
            assert named.units.tolist() == [len(set(entries))] * 2


def test_a_kind_of_firms_is_not_a_firm() -> None:
    records = pd.DataFrame({"ward": ["n"] * 50, "firm": ["public", "private"] * 25})
    assert tabulate(records, "ward").records.tolist() == [50, 50]


def test_progress_is_told(records: pa.Table) -> None:
    told: list[tuple[int, int, str]] = []
    tabulate(records, **OPTIONS, progress=lambda done, total, label: told.append((done, total, label)))
    assert told[-1][0] == told[-1][1]
    assert [done for done, _, _ in told] == sorted(done for done, _, _ in told)


@pytest.mark.parametrize("blank", [" ", "\u00a0"], ids=["space", "fixed"])
@pytest.mark.parametrize("column", ["id", "area", "holding"])
def test_entries_that_differ_in_blanks_alone_are_not_two(column: str, blank: str, tmp_path: Path) -> None:
    """A firm whose code is padded in some records would be several, and pass a threshold."""
    records = {"id": ["a", "a", "b"], "area": ["n", "n", "s"], "holding": ["h", "h", "k"]}
    how: Any = {"by": ["area"], "contributor": "id", "holding": "holding"}
    padded = pa.table({name: [f"{one}  " for one in entries] for name, entries in records.items()})
    assert len(dc.tabulate(padded, **how)) == 3
    records[column][1] += blank
    pq.write_table(pa.table(records), tmp_path / "records.parquet")
    for source, engine in (
        (pa.table(records), "duckdb"),
        (tmp_path / "records.parquet", "duckdb"),
        (pa.table(records), "reference"),
    ):
        with pytest.raises(
            DataError, match=re.escape(f"column '{column}' has {records[column][0]!r} and {records[column][1]!r}, ")
        ):
            dc.tabulate(source, **how, engine=engine)


@pytest.mark.parametrize("engine", ["duckdb", "reference"])
@pytest.mark.parametrize("groups", [["g1", "g2"], ["g1", None], ["", "g1"]])
def test_a_contributor_is_in_one_holding(groups: list[str | None], engine: str) -> None:
    """F is alone in A and in B: as two holdings, neither would work out C from the total, as F does."""
    records = pa.table(
        {
            "cell": ["A", "B", "C", *"DDD", "E"],
            "firm": ["F", "F", "G", "H", "I", "K", "F"],
            "group": [*groups, "k", "k", None, None, groups[0]],
            "value": [10, 20, 30, 40, 50, 60, None],
        }
    )
    how: Any = {"by": ["cell"], "value": "value", "contributor": "firm", "missing": "drop"}
    one, other = sorted(groups, key=lambda group: (not group, group))
    second = f"holding {other!r}" if other else "no holding"
    with pytest.raises(DataError, match=f"contributor 'F' of column 'firm' is in holding {one!r} and in {second}"):
        dc.tabulate(records, **how, holding="group", engine=engine)
    assert len(dc.tabulate(records, **how, engine=engine)) == 5
    # A record that is dropped says nothing.
    last = records.slice(1)
    assert dc.tabulate(last, **how, holding="group", engine=engine).holdings is not None


@pytest.mark.parametrize("begun", [True, False])
def test_an_interruption_while_a_thread_starts(begun: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the thread has begun is ended before the connection is closed, and what it has not begun never begins."""
    asked = []

    class Interrupted(threading.Thread):
        def start(self) -> None:
            if begun:
                super().start()
            asked.append(self)
            raise KeyboardInterrupt

    records = firms(300, 7)
    monkeypatch.setattr(threading, "Thread", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        tabulate(records, **OPTIONS)
    assert len(asked) == 1
    assert asked[0].ident is None or begun
