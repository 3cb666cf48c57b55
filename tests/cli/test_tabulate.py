"""``discreet tabulate`` and ``discreet rules``: what they write and print, and what they refuse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import refused, rows_of, run

from discreet import read_table, read_tabulation

FIRMS = """region,activity,id,group,turnover
N,A1,1,g,59
N,A1,2,,40
N,A1,3,,1
S,A1,4,,61
S,A1,5,,20
S,A1,6,,19
S,B1,7,g,300
S,B1,8,,20
S,B1,9,,10
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    (tmp_path / "firms.csv").write_text(FIRMS)
    return tmp_path


def tabulated(*more: str) -> Path:
    line = ["firms.csv", "--by", "region,activity", "--value", "turnover", "--contributor", "id", "-o", "t.parquet"]
    outcome = run("tabulate", *line, *more)
    assert (outcome.code, outcome.err) == (0, "")
    return Path("t.parquet")


def test_a_table_from_records() -> None:
    line = ["tabulate", "firms.csv", "--by", "region,activity", "--value", "turnover", "--contributor", "id"]
    line += ["-o", "t.parquet"]
    outcome = run(*line)
    assert (outcome.code, outcome.err) == (0, "")
    assert "9 cells and totals in 4 margins, 1 of them empty" in outcome.out
    assert "Written: t.parquet" in outcome.out
    cells = read_tabulation("t.parquet")
    assert cells.responses[0].sums[cells.find(region="S")] == 430
    assert read_table("t.parquet").total == 9
    told = json.loads(run(*line, "--json").out)
    assert (told["cells"], told["responses"], told["records"]) == (9, ["turnover"], 9)
    assert told["margins"] == [[], ["region"], ["activity"], ["region", "activity"]]


def test_rules_with_reasons() -> None:
    tabulated()
    line = ["rules", "t.parquet", "--rule", "threshold=3", "--rule", "dominance=1,85", "--rule", "p=10"]
    shown = run(*line)
    assert shown.code == 0
    assert "4 of 9 cells and totals of turnover are sensitive (44.4%)" in shown.out
    assert "(1, 85)-dominance" in shown.out
    told = json.loads(run(*line, "--json").out)
    assert told["cells"] == 9
    assert told["statuses"] == {"safe": 4, "sensitive": 4, "empty": 1}
    by_cell = {tuple(one["cell"].values()): one for one in told["sensitive"]}
    assert set(by_cell) == {("Total", "B1"), ("S", "B1"), ("N", "Total"), ("N", "A1")}
    one = by_cell["S", "B1"]
    assert one["rules"] == ["dominance", "p_percent"]
    assert one["upper"] == one["lower"] == pytest.approx(22.941, abs=1e-3)
    assert one["reason"].startswith("the largest contributor makes up 90.9% of 330, more than 85%; the second largest")
    short = run("rules", "t.parquet", "--p-percent", "10", "--dominance", "1,85", "--threshold", "3", "--json")
    assert json.loads(short.out) == told
    every = json.loads(run(*line, "--combine", "all", "--json").out)
    assert every["sensitive"] == []


def test_results_are_written(folder: Path) -> None:
    tabulated()
    for name in ("r.csv", "r.json", "r.txt", "r.tab"):
        assert run("rules", "t.parquet", "--rule", "p=10", "-o", name).code == 0
    assert [row["rules"] for row in rows_of(folder / "r.csv")] == ["p_percent"] * 4
    assert json.loads((folder / "r.json").read_text())["command"] == "rules"
    assert "sensitive" in (folder / "r.txt").read_text()
    again = run("rules", "r.tab", "--rule", "p=10", "--json")
    assert len(json.loads(again.out)["sensitive"]) == 4
    assert run("tabulate", "firms.csv", "--by", "region", "-o", "counts.tab").code == 0
    assert run("tabulate", "firms.csv", "--by", "region", "-o", "counts.csv").code == 0


def test_hierarchies_on_the_command_line(folder: Path) -> None:
    (folder / "r.hrc").write_text("All\n@N\n")
    tabulated("--hierarchy", "activity=prefix:1", "--hierarchy", "region=r.hrc", "--outside", "total")
    cells = read_tabulation("t.parquet")
    assert cells.axis("activity").codes == ("Total", "A", "A1", "B", "B1")
    assert cells.axis("region").codes == ("Total", "All", "N", "S")
    line = ["tabulate", "firms.csv", "--by", "d=region/activity", "--crossings", "1", "-o", "t.parquet"]
    assert "two parents" in refused(run(*line))


def test_records_of_argus(folder: Path) -> None:
    (folder / "r.csv").write_text("A1;1,5\nA2;2,5\n")
    (folder / "r.rda").write_text('<SEPARATOR> ";"\nAct\n <RECODEABLE>\nSales\n <NUMERIC>\n')
    line = ["tabulate", "r.csv", "--rda", "r.rda", "--by", "Act", "--value", "Sales", "-o", "t.parquet"]
    assert run(*line).code == 0
    assert read_tabulation("t.parquet").responses[0].sums.tolist() == [4.0, 1.5, 2.5]


def test_one_cell_in_words() -> None:
    tabulated()
    outcome = run("rules", "t.parquet", "--rule", "dominance=1,60", "--explain", "region=N,activity=A1")
    text = " ".join(outcome.out.split())
    assert "100 = 59 + 40 + 1 of 1 other, 3 contributors" in text
    assert "100 − 40 = 60 for the largest, which is 59: 1 too much, 1.7% above" in text
    told = json.loads(
        run("rules", "t.parquet", "--rule", "dominance=1,60", "--explain", "region=S,activity=A1", "--json").out
    )
    assert (told["explain"]["bound"], told["explain"]["largest"]) == (80.0, 61.0)


def test_frequency_tables_and_group_disclosure(folder: Path) -> None:
    (folder / "counts.csv").write_text("area,ill,count\nn,no,0\nn,yes,7\ns,no,1\ns,yes,5\n")
    told = json.loads(run("rules", "counts.csv", "--rule", "threshold=3", "--rule", "group=0", "--json").out)
    assert [tuple(one["cell"].values()) for one in told["sensitive"]] == [("Total", "no"), ("s", "no")]
    assert told["sensitive"][1]["upper"] == 2
    lines = told["group_disclosure"]["lines"]
    assert [line["reason"] for line in lines] == [
        "everybody of the 1 in ill=no has area=s",
        "everybody of the 7 in area=n has ill=yes",
    ]
    shown = run("rules", "counts.csv", "--rule", "group=1")
    assert "4 lines have all but at most 1 people in one cell" in shown.out
    zeros = json.loads(run("rules", "counts.csv", "--rule", "threshold=3,zeros=unsafe", "--json").out)
    assert ("n", "no") in [tuple(one["cell"].values()) for one in zeros["sensitive"]]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tabulate firms.csv --by regoin -o x.parquet", "no dimension column 'regoin'; did you mean 'region'"),
        (
            "tabulate firms.csv --by region --value region -o x.parquet",
            "line 2: 'region' is 'N', which is not a number",
        ),
        ("tabulate firms.csv --by region -o x.xlsx", "'.xlsx' is not written; end the name in .parquet, .csv or .tab"),
        ("tabulate firms.csv --by region -o firms.csv", "firms.csv is the table that is read"),
        ("tabulate firms.csv --by region -o none/x.parquet", "cannot be written"),
        ("tabulate none.csv --by region -o x.parquet", "none.csv does not exist"),
        ("tabulate empty.csv --by region -o x.parquet", "empty.csv is empty"),
        ("tabulate latin.csv --by region -o x.parquet", "latin.csv: line 3 has a byte (0xe9) that is not utf-8"),
        ("tabulate cut.parquet --by region -o x.parquet", "cut.parquet is not a whole Parquet file"),
        ("tabulate weights.csv --by region --weight w -o x.parquet", "weights.csv: line 3: weight 'w' is 0"),
        (
            "tabulate firms.csv --by region --hierarchy region=circle.csv -o x.parquet",
            "circle.csv: the hierarchy goes in a",
        ),
        ("tabulate firms.csv --by region --hierarchy region=two.csv -o x.parquet", "'N' has two parents, 'a' and 'b'"),
        (
            "tabulate firms.csv --by region --hierarchy region=twice.hrc -o x.parquet",
            "line 2: code 'N' is listed twice",
        ),
        ("tabulate firms.csv --by region --hierarchy region=few.hrc -o x.parquet", "are in no hierarchy: 'S'"),
        ("tabulate firms.csv --by region --hierarchy region -o x.parquet", "give it as region=nuts.hrc"),
        ("tabulate firms.csv --by region --crossings 7 -o x.parquet", "margins of up to 7 dimensions"),
        ("rules t.parquet", "no rule is given"),
        ("rules t.parquet --dominance 85", "dominance takes 2 numbers (n, k), as dominance=2,85"),
        ("rules t.parquet --rule dominance=3,85", "keeps 2; tabulate again with more of them (--largest 3)"),
        ("rules t.parquet --rule p=10@holding", "the table has no holdings"),
        ("rules t.parquet --rule p=10 --value profit", "no response 'profit'"),
        ("rules t.parquet --rule p=10 --explain region=X", "no category 'X'"),
        ("rules cut.parquet --rule threshold=3", "cut.parquet is not a whole Parquet file"),
        ("rules none.parquet --rule threshold=3", "none.parquet does not exist"),
    ],
)
def test_bad_requests(line: str, message: str, folder: Path) -> None:
    tabulated()
    (folder / "empty.csv").write_text("")
    (folder / "latin.csv").write_bytes(b"region\nN\n\xe9\n")
    (folder / "weights.csv").write_text("region,w\nN,1\nS,0\n")
    (folder / "cut.parquet").write_bytes((folder / "t.parquet").read_bytes()[:400])
    (folder / "circle.csv").write_text("child,parent\nN,S\nS,N\n")
    (folder / "two.csv").write_text("child,parent\nN,a\nN,b\n")
    (folder / "twice.hrc").write_text("N\nN\n")
    (folder / "few.hrc").write_text("N\n")
    before = sorted(folder.iterdir())
    assert message in refused(run(*line.split()))
    assert sorted(folder.iterdir()) == before


BUSY = """
import signal
from discreet.cli import app
from discreet.tabulation.engines.duckdb import DuckDbSession

def look(session):
    # A query that takes days.
    print("busy", flush=True)
    session._run("CREATE TABLE products AS SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b")

DuckDbSession._look = look
# Shells let what they run in the background ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
app.main()
"""


def test_an_interruption_leaves_no_file(folder: Path) -> None:
    temporary = folder / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, "tabulate", "firms.csv", "--by", "region", "-o", "out.parquet"],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"busy\n"
        assert list(temporary.glob("discreet-*"))
        process.send_signal(signal.SIGINT)
        _, complaint = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 130
    assert complaint.decode() == "discreet: interrupted; nothing was written\n"
    assert sorted(os.listdir(folder)) == ["firms.csv", "temporary"]
    assert list(temporary.iterdir()) == []


def test_help_shows_examples() -> None:
    for command in ("tabulate", "rules"):
        text = run(command, "--help").out
        assert f"discreet {command} " in text
        assert "Examples" in text
