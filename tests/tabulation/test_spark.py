"""Spark gives the same as the other engines; it needs Java, which `make setup` sees to."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from tests.tabulation.strategies import Case, cases
from tests.tabulation.test_agreement import LONG, WHOLE, agree, firms, outcome

from discreet.core.errors import DataError, RequestError
from discreet.core.parallel import over, run
from discreet.tabulation import tabulate

# Spark warns of pandas versions and of its own clean-up, neither of which is used or in our hands.
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("tests")
        for key, value in {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            # For a handful of records, compiling the plans takes longer than running them.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.sql.adaptive.enabled": "false",
            "spark.driver.memory": "1g",
            # The first compiler alone and one collector: both cost less than they save in a minute.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.ui.showConsoleProgress": "false",
        }.items():
            builder = builder.config(key, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@given(case=cases(most=15))
@settings(max_examples=6, deadline=None, suppress_health_check=LONG)
def test_spark_agrees_with_the_twin(spark: Any, case: Case) -> None:
    agree(outcome(case, "spark"), outcome(case, "reference"))


@pytest.mark.long
@given(case=cases(most=40))
@settings(max_examples=100, deadline=None, suppress_health_check=LONG)
def test_spark_agrees_with_the_twin_on_many(spark: Any, case: Case) -> None:
    agree(outcome(case, "spark"), outcome(case, "reference"))


def test_spark_agrees_with_duckdb_on_firms(spark: Any, tmp_path: Path) -> None:
    records = firms(3000, 5)
    pq.write_table(records, tmp_path / "firms.parquet")
    frame = spark.read.parquet(str(tmp_path / "firms.parquet"))
    agree(tabulate(frame, **WHOLE), tabulate(tmp_path / "firms.parquet", **WHOLE))


def test_few_tasks_make_few_cells(spark: Any, tmp_path: Path) -> None:
    """However many parts Spark exchanges records in, base cells are kept in as many as the records came in."""
    names = ["a", "b", "c"]
    pq.write_table(pa.table({name: [str(i % 3) for i in range(40)] for name in names}), tmp_path / "records.parquet")
    changed = {"spark.sql.shuffle.partitions": "200", "spark.sql.adaptive.enabled": "true"}
    before = {key: spark.conf.get(key) for key in changed}
    context, path = spark.sparkContext, tmp_path / "records.parquet"
    try:
        for key, value in changed.items():
            spark.conf.set(key, value)
        context.setJobGroup("few", "few")
        margins = [("a", "b"), ("b", "c"), ("a", "c")]
        assert len(tabulate(path, names, margins=margins, engine="spark")) == 9
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)
        for key, value in before.items():
            spark.conf.set(key, value)
    tracker = context.statusTracker()
    stages = {stage for job in tracker.getJobIdsForGroup("few") for stage in tracker.getJobInfo(job).stageIds}
    assert 0 < sum(tracker.getStageInfo(stage).numCompletedTasks for stage in stages) < 100


def test_spark_refuses_what_duckdb_refuses(spark: Any, tmp_path: Path) -> None:
    text = pa.table({"a": ["x", "y"], "t": ["1", "two"], "w": [1.0, 0.0]})
    with pytest.raises(DataError, match="'t' is 'two' in 1 of 2 records"):
        tabulate(text, ["a"], value="t", engine="spark")
    with pytest.raises(DataError, match="weight 'w' is not above 0 in 1 of 2"):
        tabulate(text, ["a"], weight="w", engine="spark")
    with pytest.raises(RequestError, match="no dimension column 'b'"):
        tabulate(text, ["b"], engine="spark")
    for padded in (["x ", "x"], ["x\u00a0", "x"]):
        firms = pa.table({"a": padded, "id": ["1", "2"], "f": padded})
        with pytest.raises(DataError, match=r"column 'a' has 'x' and 'x.*differ in blanks alone"):
            tabulate(firms, ["a"], contributor="id", engine="spark")
        with pytest.raises(DataError, match=r"column 'f' has 'x' and 'x.*differ in blanks alone"):
            tabulate(firms, ["id"], contributor="f", engine="spark")
    held = {"a": ["x", "y", "y"], "id": ["1", "1", "2"], "g": ["h", None, None]}
    with pytest.raises(DataError, match="contributor '1' of column 'id' is in holding 'h' and in no holding"):
        tabulate(pa.table(held), ["a"], contributor="id", holding="g", engine="spark")
    (tmp_path / "r.csv").write_text("a,t\nx,1\n,2\n")
    with pytest.raises(DataError, match="column 'a': dimension 'a' is empty"):
        tabulate(tmp_path / "r.csv", ["a"], value="t", engine="spark")
    agree(
        tabulate(tmp_path / "r.csv", ["a"], value="t", engine="spark", missing="drop"),
        tabulate(tmp_path / "r.csv", ["a"], value="t", missing="drop"),
    )


def test_work_goes_to_spark_and_comes_back_as_it_would_from_threads(
    spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "a Python without discreet")

    def work(item: dict[str, int]) -> tuple[int, int]:
        if item["x"] == 9:
            raise DataError("9 is wrong; correct it")
        return item["x"] ** 2, os.getpid()

    with over("spark"):
        found = run(work, [{"x": x} for x in range(3)], apart=True)
        with pytest.raises(DataError, match="9 is wrong"):
            run(work, [{"x": 8}, {"x": 9}], apart=True)
    assert [one for one, _ in found] == [0, 1, 4]
    assert os.getpid() not in {place for _, place in found}


def test_spark_reads_separated_thousands_as_the_other_engines_do(spark: Any, tmp_path: Path) -> None:
    """1.234 is a thousand and more where the comma is decimal, and 1,234 where the point is."""
    path = tmp_path / "firms.csv"
    options: Any = {"by": ["region"], "value": "turnover", "contributor": "id"}
    for sign, texts in ((",", ("1.234", "-1.234.567,5", "3,5", "12")), (".", ("1,234", "-1,234,567.5", "3.5", "12"))):
        rows = [f"r{i % 2};{i};{text}" for i, text in enumerate(texts)]
        path.write_text("\n".join(["region;id;turnover", *rows, ""]), encoding="utf-8")
        made = {engine: tabulate(path, **options, decimal=sign, engine=engine) for engine in ("duckdb", "spark")}
        agree(made["spark"], made["duckdb"])
        assert made["spark"].responses[0].sums.max() == 1237.5
    path.write_text("region;id;turnover\nn;1;12,34.5\nn;2;7\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"'12,34\.5' in 1 of 2 records; give numbers, or say which sign is decimal"):
        tabulate(path, **options, decimal=".", engine="spark")
