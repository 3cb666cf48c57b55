"""Tabulating records and judging cells, against hand-written SQL and pandas.

`DISCREET_RECORDS=100000000` adds the run over 10⁸ records, which needs 1 GB of disk.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from _tools import best, growing, in_turn, machine
from discreet.rules import Dominance, PPercent, Threshold, sensitivity
from discreet.table import Dimension
from discreet.table.axis import Axis
from discreet.table.hierarchy import Hierarchy
from discreet.table.tabulation import Tabulation
from discreet.table.units import Largest, Level, Response
from discreet.tabulation import tabulate

DIMENSIONS = {"region": 40, "activity": 30, "size": 8, "legal": 6, "year": 10}
PAIRS = list(itertools.combinations(DIMENSIONS, 2))
RECORDS = int(os.environ.get("DISCREET_RECORDS", "0"))

ALONE = """
import itertools, json, resource, sys, time
from discreet.tabulation import tabulate
names = {names!r}
start = time.perf_counter()
result = tabulate({path!r}, names, value="turnover", margins=list(itertools.combinations(names, 2)))
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, len(result))
"""


PANDAS = """
import resource, time
import pandas as pd
took = 0.0
for pair in {pairs!r}:
    frame = pd.read_parquet({path!r}, columns=list(pair))
    start = time.perf_counter()
    frame.groupby(list(pair), observed=True).size()
    took += time.perf_counter() - start
    del frame
print(took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20)
"""


def make(path: Path, rows: int) -> None:
    """Write records of five dimensions, an identifier and a skewed magnitude, by DuckDB."""
    columns = [
        f"printf('{name[0].upper()}%02d', (hash(i * 7 + {number}) % {size})::INT) AS \"{name}\""
        for number, (name, size) in enumerate(DIMENSIONS.items())
    ]
    connection = duckdb.connect()
    connection.execute(
        f"COPY (SELECT {', '.join(columns)}, i AS id, floor(exp(10 * (hash(i * 7 + 6) % 1000000) / 1e6)) AS turnover "
        f"FROM range({rows}) t(i)) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 1000000)"
    )
    connection.close()


def by_hand(path: Path, contributors: bool = False) -> Callable[[], Any]:
    """The best hand-written query for the same figures: one pass through GROUPING SETS.

    With contributors, somebody who writes it by hand looks first whether any has several records; here none has.
    """
    quoted = {name: f'"{name}"' for name in DIMENSIONS}
    names = ", ".join(quoted.values())
    sets = ", ".join(f"({', '.join(quoted[name] for name in pair)})" for pair in PAIRS)
    query = f"SELECT {names}, count(*), sum(turnover), max(turnover, 2) FROM '{path}' GROUP BY GROUPING SETS ({sets})"

    def run() -> Any:
        with tempfile.TemporaryDirectory() as folder, duckdb.connect() as connection:
            connection.execute(f"SET temp_directory = '{folder}'; SET memory_limit = '2GB'")
            if contributors:
                repeated = connection.sql(f"SELECT id FROM '{path}' GROUP BY id HAVING count(*) > 1").fetchall()
                assert not repeated
            return connection.sql(query).to_arrow_table()

    return run


def ours(path: Path, **options: Any) -> Callable[[], Tabulation]:
    return lambda: tabulate(path, list(DIMENSIONS), value="turnover", margins=PAIRS, **options)


def check(path: Path) -> None:
    """The two must return the same figures, or their times say nothing."""
    result, rows = ours(path)(), by_hand(path)()
    assert len(result) == rows.num_rows
    assert int(result.records.sum()) == sum(rows.column(len(DIMENSIONS)).to_pylist())
    assert np.isclose(result.responses[0].sums.sum(), sum(rows.column(len(DIMENSIONS) + 1).to_pylist()), rtol=1e-12)
    largest = sorted(tuple(top) for top in rows.column(len(DIMENSIONS) + 2).to_pylist())
    assert largest == sorted(tuple(top) for top in result.contributors.largest[0].top.tolist())


def with_pandas(path: Path) -> tuple[float, float]:
    """Counts of the same margins by pandas groupby, in memory already: as it reads the file, and as categories."""
    import pandas as pd

    frame = pd.read_parquet(path, columns=list(DIMENSIONS))
    coded = frame.astype("category")

    def count(records: Any) -> list[Any]:
        return [records.groupby(list(pair), observed=True).size() for pair in PAIRS]

    return best(lambda: count(frame), 1), best(lambda: count(coded), 1)


def with_pandas_by_pairs(path: Path) -> tuple[float, float]:
    """Seconds of the same groupbys and the peak memory in GiB, with the two columns of one margin in memory at a time.

    All five at once would need several times as much; reading is not counted.
    """
    code = PANDAS.format(pairs=PAIRS, path=str(path))
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    return float(found[0]), float(found[1])


def cells(number: int = 1000) -> Tabulation:
    """A tabulation of number² cells."""
    rng = np.random.default_rng(1)
    codes = tuple(str(i) for i in range(number - 1))
    axes = tuple(Axis(name, (Hierarchy.flat(Dimension(name, codes).categories),)) for name in ("a", "b"))
    top = -np.sort(-rng.pareto(1.0, size=(number**2, 3)), axis=1)
    total = top.sum(axis=1) * rng.uniform(1, 3, number**2)
    units = rng.integers(1, 30, number**2)
    level = Level(units, None, (Largest(total, top),))
    margins = ((), ("a",), ("b",), ("a", "b"))
    return Tabulation(axes, margins, np.arange(number**2), units, None, (Response("x", None, total),), level)


def compared(path: Path, rows: int, times: int) -> Iterator[list[str]]:
    """Yield what all two-way margins take beside SQL by hand, and in a process of their own."""
    mine, hand = in_turn([ours(path), by_hand(path)], times)
    what = f"{rows:.0e} records, all 2-way margins, top 2"
    yield [what, f"**{mine:.2f} s**", f"SQL by hand {hand:.2f} s", f"{mine / hand:.2f}"]
    code = ALONE.format(names=list(DIMENSIONS), path=str(path))
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    alone = f"{rows:.0e} records, process of its own"
    yield [alone, f"{float(found[0]):.2f} s", f"peak memory {float(found[1]):.2f} GiB", "–"]


def by_spark(session: Any, path: Path) -> list[Any]:
    """Counts, sums and the two largest by hand in PySpark, a groupBy for each margin."""
    from pyspark.sql import functions as F

    frame = session.read.parquet(str(path))
    figures = F.count("*"), F.sum("turnover"), F.expr("max_by(turnover, turnover, 2)")
    return [frame.groupBy(*pair).agg(*figures).toArrow() for pair in PAIRS]


def with_spark(rows: int, times: int) -> Iterator[list[str]]:
    """All two-way margins by Spark on two cores of this machine, in turn with the same by hand, in CPU seconds.

    The first turn of both, in which Java compiles, is shown by itself.
    """
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("OFF")
    gateway: Any = session.sparkContext._gateway
    java = Path(f"/proc/{gateway.proc.pid}/stat")

    def spent() -> float:
        fields = java.read_text().rsplit(")", 1)[1].split()
        return time.process_time() + (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as folder:
        path = Path(folder) / "records.parquet"
        make(path, rows)
        works = {"hand": lambda: by_spark(session, path), "ours": ours(path, engine="spark")}
        for turn in range(times):
            took = {}
            for name, work in works.items():
                begun = spent()
                work()
                took[name] = spent() - begun
            shown = "first" if turn == 0 else "again"
            yield [
                f"{rows:.0e} records, all 2-way margins, {shown}, CPU",
                f"{took['ours']:.1f} s",
                f"groupBy by hand {took['hand']:.1f} s",
                f"{took['ours'] / took['hand']:.2f}",
            ]
    session.stop()


def tabulated() -> Iterator[list[str]]:
    """Yield what tabulating records takes beside the same by hand."""
    with tempfile.TemporaryDirectory(prefix="discreet-bench-") as folder:
        path = Path(folder) / "records.parquet"
        make(path, 10**7)
        check(path)
        yield from compared(path, 10**7, 3)
        mine = best(ours(path), 3)
        whose, hand = in_turn([ours(path, contributor="id"), by_hand(path, contributors=True)], 2)
        what = "1e+07 records, contributors by id"
        yield [what, f"{whose:.2f} s", f"SQL by hand {hand:.2f} s", f"{whose / hand:.2f}"]
        text, coded = with_pandas(path)
        for taken, other in ((text, "pandas groupby, counts only,"), (coded, "the same on categories")):
            yield ["1e+07 records", f"{mine:.2f} s", f"{other} {taken:.2f} s", f"{taken / mine:.1f} times faster"]
        if RECORDS:
            make(path, RECORDS)
            yield from compared(path, RECORDS, 2)
            mine = best(ours(path), 1)
            text, memory = with_pandas_by_pairs(path)
            shown = f"pandas groupby, counts only, {text:.1f} s, {memory:.1f} GiB for one margin at a time"
            yield [f"{RECORDS:.0e} records", f"{mine:.2f} s", shown, f"{text / mine:.1f} times faster"]


def judged() -> list[str]:
    """Time rules on a million cells."""
    many = cells()
    rules: list[Any] = [PPercent(10), Dominance(2, 85), Threshold(3)]
    sensitive = sensitivity(many, rules).sensitive.sum()
    took = best(lambda: sensitivity(many, rules), 3)
    return [f"3 rules on {len(many):.0e} cells, {sensitive:,} sensitive", f"**{took:.2f} s**", "", "–"]


def main() -> Iterator[str]:
    """Yield the section line by line."""
    yield "## From records to tables\n"
    yield machine("duckdb", "pandas", "numpy", "pyarrow") + "\n"
    yield from growing(["what", "discreet", "alternative", "ratio"], chain([judged()], tabulated()))


def spark() -> Iterator[str]:
    """Yield what Spark takes, beside the same by hand, line by line."""
    yield "## From records to tables by Spark\n"
    yield machine("pyspark", "pyarrow") + "\n"
    yield from growing(["what", "discreet", "alternative", "ratio"], with_spark(300_000, 2))


if __name__ == "__main__":
    for line in main():
        print(line, flush=True)
