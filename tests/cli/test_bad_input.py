"""Every bad input: one line on the error stream, exit code 2, nothing on standard output, nothing written."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import refused, run, start

from discreet import Table

GOOD = "area,sex,count\nn,m,3\nn,f,0\ns,m,1\ns,f,5\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a good table F.csv, in which the command runs."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "F.csv").write_text(GOOD)
    return tmp_path


def reason(*arguments: object) -> str:
    """Return why a request was refused; it must have left no file behind."""
    before = sorted(Path.cwd().rglob("*"))
    message = refused(run(*arguments, "--json", "--output", "result.json"))
    assert sorted(Path.cwd().rglob("*")) == before
    return message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (GOOD.replace("1", "-1"), "t.csv: line 4: count is -1, which is negative; counts are 0 or more"),
        (
            GOOD.replace("1", "1.5"),
            "t.csv: line 4: count is 1.5, which is fractional; counts are integers",
        ),
        (GOOD.replace("1", "NaN"), "t.csv: line 4: count is 'NaN' (not a number); write 0 if nobody is in the cell"),
        (GOOD.replace("1", "inf"), "t.csv: line 4: count is 'inf', which is infinite; counts are integers"),
        (GOOD.replace("1", "one"), "t.csv: line 4: count is 'one', which is not a number; give integers"),
        (GOOD.replace("1", ""), "t.csv: line 4: count is empty; write 0 if nobody is in the cell"),
        ("", "t.csv is empty; a table needs at least one cell"),
        ("area,sex,count\n", "t.csv: there are no rows; a table needs at least one cell"),
        (
            "area,sex,count\nn,m,7\n",
            "t.csv: the table has 1 cell that can occur; the risk compares cells, so it needs two",
        ),
        (
            "area,sex,count\nn,m,0\nn,f,0\n",
            "t.csv: the table counts nobody (every cell is 0); there is no risk to measure",
        ),
        (
            GOOD + "n,m,4\n",
            "t.csv: line 6 (area=n, sex=m): the cell was given before, at line 2, with count 3, now 4; keep",
        ),
        (
            GOOD + "n,m,3\n",
            "t.csv: line 6 (area=n, sex=m): the cell was given before, at line 2, with count 3, now 3; keep",
        ),
        (
            GOOD.replace(",", ";").replace(";1\n", ";120,5\n"),
            "t.csv: line 4: count is '120,5', which is fractional if the comma marks decimals; counts are integers",
        ),
        (GOOD + ",m,4\n", "t.csv: line 6: dimension 'area' has an empty category; label every row"),
        ("count\n3\n4\n", "t.csv: there is no dimension beside the column of counts 'count'; add one"),
        (GOOD + "s\n", "t.csv: line 6 has 1 field, but the header has 3; give every row as many"),
        (GOOD + "s,x,1,2\n", "t.csv: line 6 has 4 fields, but the header has 3; give every row as many"),
        (GOOD.replace("sex", "area"), "t.csv: two columns are called 'area'; every column needs a name of its own"),
        (GOOD.replace("sex", ""), "t.csv: column 2 has no name in line 1; name every column"),
        (
            GOOD + "Total,m,7\n",
            "t.csv: line 6: margin 'sex=m' is 7, but its cells sum to 4; correct the figures, or use the cells",
        ),
        (GOOD + "all,m,4\nall,f,5\n", "t.csv: category 'all' of dimension 'area' is named like a margin; if it is one"),
        ('area,count\n"two\nlines",-1\n', "t.csv: line 2: count is -1"),
        ('area,count\n"two\nlines",1\n"two\nlines",2\n', "t.csv: line 4 (area=two\\nlines): the cell was given before"),
    ],
)
def test_tables_that_are_wrong(content: str, message: str, folder: Path) -> None:
    (folder / "t.csv").write_text(content)
    assert reason("risk", "t.csv").startswith(message)
    assert "t.csv" in reason("estimate", "t.csv", "--population-size", 100)
    if "nobody" not in message and "1 cell" not in message:
        assert reason("risk", "F.csv", "--released", "t.csv").startswith(message)
    else:
        assert reason("risk", "t.csv", "--method", "random-rounding").startswith(message)


def test_counts_of_another_name_are_asked_for(folder: Path) -> None:
    (folder / "t.csv").write_text(GOOD.replace("count", "people"))
    told = "t.csv: no column is called 'count'; as a table it is probably read so (--count people); if every row is a"
    for command in (["risk", "t.csv"], ["estimate", "t.csv", "--population-size", 100]):
        assert reason(*command).startswith(told)
    told = "t.csv: there is no column 'count' of counts; name the column that holds them (--count people), or say"
    assert reason("risk", "F.csv", "--released", "t.csv").startswith(told)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "t.csv",
            "ort,count\nZürich,1\nBern,2\n".encode("latin-1"),
            "t.csv: line 2 has a byte (0xfc) that is not utf-8;",
        ),
        (
            "t.csv",
            b"\x89PNG\r\n\x1a\n\0\xff",
            "t.csv: line 1 has a byte (0x89) that is not utf-8; save the file as UTF-8",
        ),
        (
            "t.csv",
            b"a,count\nx,1\0\n",
            "t.csv: line 2 has a byte 0x00, which no text contains; give a CSV file, or name",
        ),
        ("t.csv", bytes(range(1, 128)), "t.csv"),
        ("t.csv", b'a,count\n"x,1\ny,2\n', "t.csv"),
        ("t.parquet", b"garbage", "t.parquet is not a whole Parquet file ("),
        ("t.parquet", b"", "t.parquet is empty; a table needs at least one cell"),
        ("t.ods", b"PK", "t.ods: '.ods' is not a format that is read; give a .csv, .parquet or .xlsx file"),
        ("t", b"x", "t: '' is not a format that is read; give a .csv, .parquet or .xlsx file"),
    ],
)
def test_files_that_are_not_tables(name: str, content: bytes, message: str, folder: Path) -> None:
    (folder / name).write_bytes(content)
    assert reason("risk", name).startswith(message)
    assert reason("estimate", name, "-N", 50).startswith(message)
    assert reason("risk", "F.csv", "--released", name).startswith(message)


def test_a_truncated_parquet_file(folder: Path) -> None:
    Table.from_array([[3, 0], [1, 5]], ["area", "sex"]).write(folder / "t.parquet")
    content = (folder / "t.parquet").read_bytes()
    (folder / "t.parquet").write_bytes(content[: len(content) // 2])
    assert reason("risk", "t.parquet").startswith("t.parquet is not a whole Parquet file (")


def test_files_that_are_not_there(folder: Path) -> None:
    assert reason("risk", "nothing.csv") == "nothing.csv does not exist; check the name and the folder"
    assert reason("risk", folder) == f"{folder} is a folder; name a CSV or Parquet file"
    assert reason("risk", "F.csv", "--released", "G.csv").startswith("G.csv does not exist")
    assert reason("risk", "F.csv", "--impossible", "zeros.csv").startswith("zeros.csv does not exist")
    assert reason("risk", f"{'x' * 300}.csv").endswith("does not exist; check the name and the folder")
    assert reason("risk") == "name one table: a CSV or Parquet file, or a bundled one (--example religion)"
    assert reason("risk", "F.csv", "--example", "sex").startswith("a table is given, and the bundled one 'sex' too")
    assert reason("risk", "--example", "religoin").startswith(
        "there is no bundled table 'religoin'; did you mean 'religion'?"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            GOOD.replace("n,", "x,"),
            "F.csv and G.csv: category 'x' of dimension 'area' is in the released table but not in",
        ),
        (
            "area,sex,count\nn,m,3\nn,f,0\n",
            "F.csv and G.csv: category 's' of dimension 'area' is in the original but not in",
        ),
        (
            GOOD.replace("sex", "age"),
            "F.csv and G.csv: dimensions differ: ['area', 'sex'] in the original, ['area', 'age']",
        ),
        ("area,count\nn,3\ns,5\n", "F.csv and G.csv: dimensions differ: ['area', 'sex'] in the original, ['area'] in"),
    ],
)
def test_releases_that_do_not_fit(content: str, message: str, folder: Path) -> None:
    (folder / "G.csv").write_text(content)
    assert reason("risk", "F.csv", "--released", "G.csv").startswith(message)


def test_samples_larger_than_their_population(folder: Path) -> None:
    (folder / "G.csv").write_text(GOOD.replace("s,m,1", "s,m,2"))
    assert reason("risk", "F.csv", "--released", "G.csv", "--sampled") == (
        "F.csv and G.csv: cell area=s, sex=m has 2 people in the sample, but 1 in the population; a sample cannot "
        "exceed its population"
    )
    assert reason("risk", "F.csv", "--sampled").startswith("--sampled says what the released table is")


def test_people_in_impossible_cells(folder: Path) -> None:
    (folder / "zeros.csv").write_text("area,sex\nn,m\n")
    assert "cell area=n, sex=m is declared impossible, but its count is 3" in reason(
        "risk", "F.csv", "--impossible", "zeros.csv"
    )
    (folder / "zeros.csv").write_text("area,sex\nn,q\n")
    assert reason("risk", "F.csv", "--impossible", "zeros.csv").startswith(
        "zeros.csv: combination 1: dimension 'sex' has no category 'q'"
    )
    (folder / "zeros.csv").write_text("area,sex\nn,f\n")
    (folder / "G.csv").write_text(GOOD.replace("n,f,0", "n,f,3"))
    assert reason("risk", "F.csv", "--impossible", "zeros.csv", "--released", "G.csv").startswith(
        "F.csv and G.csv: cell area=n, sex=f is impossible in the original, but the released table puts people there"
    )


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ("0.2,0.8,0.1", "the weights 0.2, 0.8 and 0.1 sum to 1.1, not to 1; scale them"),
        ("-0.1,1.0,0.1", "the weights are -0.1, 1 and 0.1; every one must be 0 or more"),
        ("nan,0.5,0.5", "the weights are nan, 0.5 and 0.5; every one must be 0 or more"),
        ("a,b,c", "--weights is 'a,b,c'; give three numbers with commas, as 0.1,0.8,0.1"),
        ("0.5,0.5", "--weights is '0.5,0.5': 2 of them; give three, as 0.1,0.8,0.1"),
        ("", "--weights is ''; give three numbers with commas, as 0.1,0.8,0.1"),
    ],
)
def test_weights(weights: str, message: str, folder: Path) -> None:
    for more in ((), ("--released", "F.csv"), ("--method", "random-rounding")):
        assert reason("risk", "F.csv", "--weights", weights, *more) == message
    assert reason("estimate", "F.csv", "-N", 50, "--weights", weights) == message


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--form", "2016"], "--form is '2016'; R2 has the forms '2015' (default) and '2014'"),
        (["--slices", "aera"], "the table has no dimension 'aera'; did you mean 'area'?"),
        (["--dimensions", "aera"], "F.csv: there is no dimension column 'aera'; did you mean 'area'?"),
        (["--count", "people"], "F.csv: there is no column 'people' of counts"),
        (["--layout", "tall"], "F.csv: --layout is 'tall'; give 'auto', 'long' or 'wide'"),
        (["--margins", "ignore"], "F.csv: --margins is 'ignore'; give 'check' or 'recompute'"),
        (["--encoding", "utf-99"], "encoding 'utf-99' is not known; for example utf-8, latin-1, cp1252"),
        (["--delimiter", "||"], "--delimiter is '||'; it is one character"),
        (["--method", "rounding"], "there is no protection 'rounding'; did you mean 'random-rounding'?"),
        (["--method", "random-rounding", "--released", "F.csv"], "give either --released (one release) or --method"),
        (["--method", "random-rounding", "--base", "1"], "--base is 1; round to an integer of 2 or more"),
        (["--method", "random-rounding", "--draws", "1"], "--draws is 1; a Monte Carlo error needs 2 or more"),
        (["--method", "random-rounding", "--draws", "0"], "--draws is 0; a Monte Carlo error needs 2 or more"),
        (["--method", "random-rounding", "--precision", "0"], "--precision is 0.0; give a Monte Carlo error above 0"),
        (["--method", "random-rounding", "--precision", "nan"], "--precision is nan; give a Monte Carlo error above 0"),
        (["--method", "random-rounding", "--exact", "--precision", "0.1"], "an exact value has no Monte Carlo error"),
        (["--method", "random-rounding", "--aggregate", "sum"], "--aggregate is 'sum'; give 'measure' or 'transition'"),
        (
            ["--method", "random-rounding", "--sample-size", "3"],
            "random-rounding has no parameter 'n'; there are: 'base', 'margins', 'additive'",
        ),
        (
            ["--method", "random-sample"],
            "give either the size of the sample (--sample-size) or its share of all people",
        ),
        (["--method", "random-sample", "--sample-size", "0"], "the sample size n is 0; give an integer of 1 or more"),
        (
            ["--method", "random-sample", "--sample-size", "10"],
            "a sample of n = 10 cannot be drawn from N = 9 people; lower n",
        ),
        (["--sample-size", "3"], "--sample-size belongs to a random method; name it with --method"),
        (["--exact"], "--exact belongs to a random method; name it with --method"),
        (["--draws", "50"], "--draws belongs to a random method; name it with --method"),
        (["--aggregate", "transition"], "--aggregate belongs to a random method; name it with --method"),
    ],
)
def test_options_that_do_not_fit(options: list[str], message: str, folder: Path) -> None:
    assert reason("risk", "F.csv", *options).startswith(message)


def test_releases_too_many_to_enumerate(folder: Path) -> None:
    assert "different releases of this table, more than the" in reason(
        "risk", "--example", "religion", "--method", "random-rounding", "--exact"
    )


def test_outputs_that_cannot_be_written(folder: Path) -> None:
    def refusal(target: str) -> str:
        return refused(run("risk", "F.csv", "--output", target))

    assert refusal("missing/r.json").startswith("missing/r.json cannot be written; name a file in a folder that exists")
    assert refusal("r.xlsx") == "r.xlsx: '.xlsx' is not written; end the name in .json, .csv or .txt"
    assert refusal("r") == "r: '' is not written; end the name in .json, .csv or .txt"
    (folder / "dir.json").mkdir()
    assert refusal("dir.json").startswith("dir.json cannot be written")
    assert refusal(f"{'x' * 300}.json").endswith("cannot be written (File name too long); nothing was written")
    assert sorted(path.name for path in folder.iterdir()) == ["F.csv", "dir.json"]


def test_a_table_is_not_overwritten_by_its_own_result(folder: Path) -> None:
    (folder / "link.csv").symlink_to(folder / "F.csv")
    (folder / "G.csv").write_text(GOOD)
    for target in ("F.csv", "link.csv", str(folder / "F.csv")):
        message = refused(run("risk", "F.csv", "--output", target))
        assert message == f"{target} is the table that is read; name another file for the result"
    assert "is the table that is read" in refused(run("risk", "F.csv", "--released", "G.csv", "--output", "G.csv"))
    assert "is the table that is read" in refused(run("estimate", "F.csv", "-N", 50, "--output", "F.csv"))
    assert (folder / "F.csv").read_text() == (folder / "G.csv").read_text() == GOOD


def test_an_old_result_survives_a_refusal(folder: Path) -> None:
    (folder / "r.json").write_text("old")
    refused(run("risk", "F.csv", "--weights", "1,1,1", "--output", "r.json"))
    assert (folder / "r.json").read_text() == "old"


def test_the_remedy_of_a_wrong_margin_works(folder: Path) -> None:
    (folder / "t.csv").write_text(GOOD + "Total,m,7\n")
    assert "--margins recompute" in reason("risk", "t.csv")
    assert run("risk", "t.csv", "--margins", "recompute", "--json").out == run("risk", "F.csv", "--json").out


@pytest.mark.parametrize("arguments", [("risk", "t.csv"), ("estimate", "t.csv", "-N", "50")])
def test_in_a_process_of_its_own(arguments: tuple[str, ...], folder: Path) -> None:
    (folder / "t.csv").write_text(GOOD.replace("1", "-1"))
    outcome = start(*arguments, "--output", "r.json")
    assert refused(outcome) == "t.csv: line 4: count is -1, which is negative; counts are 0 or more"
    assert not (folder / "r.json").exists()


def test_a_file_without_columns_and_a_bound_without_end_are_refused_in_one_line(tmp_path: Path) -> None:
    pq.write_table(pa.table({}), tmp_path / "empty.parquet")
    for command in ("risk", "assess"):
        assert "there are no rows" in refused(run(command, tmp_path / "empty.parquet"))
    (tmp_path / "hidden.csv").write_text("a,count\nx,3\ny,x\nTotal,9\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "least is -inf; give a number (--least)" in refused(
            run("audit", tmp_path / "hidden.csv", "--least=-inf")
        )
