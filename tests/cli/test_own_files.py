"""What one command writes every other reads, as CSV and as Parquet."""

from __future__ import annotations

import json
from pathlib import Path

import openpyxl
import pandas as pd
import pytest
from tests.cli.running import refused, rows_of, run

import discreet as dc

TREE = "n\n@1\n@2\n@3\n@4\n@5\ns\n@6\n@7\n@8\n@9\n@10\n"
METHODS = {
    "suppress": ["suppress", "--rule", "threshold=3"],
    "intervals": ["suppress", "--rule", "threshold=3", "--as", "intervals"],
    "synthetic": ["suppress", "--rule", "threshold=3", "--as", "synthetic"],
    "conventional": ["conventional-rounding", "--base", "5"],
    "random": ["random-rounding", "--with-margins"],
    "additive": ["random-rounding", "--additive"],
    "semi-controlled": ["semi-controlled-rounding", "--totals", "output_area"],
    "controlled": ["controlled-rounding"],
    "small counts": ["small-count-rounding"],
    "hide and round": ["hide-and-round"],
    "cell key": ["cell-key", "--with-margins"],
    "redesign": ["redesign", "--merge", "religion:7,8=7+8"],
    "sample": ["random-sample", "--fraction", "0.1"],
    "strata": ["stratified-sample", "--strata", "output_area", "--fraction", "0.1"],
    "bernoulli": ["bernoulli-sample", "--rate", "0.1"],
    "swapping": ["record-swapping", "--area", "output_area"],
    "table swapping": ["table-swapping"],
    "simulation": ["simulation"],
}


@pytest.fixture
def religion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    dc.datasets.religion().write("religion.csv")
    Path("area.hrc").write_text(TREE, encoding="utf-8")
    return Path("religion.csv")


UNSEEDED = ("suppress", "conventional-rounding", "hide-and-round", "redesign", "small-count-rounding")


def protected(*method: str, end: str) -> str:
    """Return the release that a method makes with a fixed seed."""
    name = f"release{end}"
    seed = [] if method[0] in UNSEEDED else ["--seed", str(2**100)]
    outcome = run("protect", *method, *seed, "-o", name)
    assert outcome.code == 0, outcome.err
    return name


@pytest.mark.parametrize("method", METHODS)
def test_every_release_is_read_by_every_command(method: str, religion: Path) -> None:
    name, *options = METHODS[method]
    found = []
    for end in (".csv", ".parquet"):
        release = protected(name, str(religion), *options, end=end)
        measured = run("risk", religion, "--released", release, "--json")
        assert measured.code == 0, measured.err
        found.append(json.loads(measured.out))
    others = [["audit", "release.csv", "--relaxed"], ["inspect", "release.csv"], ["ledger", "add", "release.csv"]]
    if name in ("suppress", "redesign"):
        others.append(["assess", "religion.csv", "--released", "release.csv"])
    for command in others:
        outcome = run(*command)
        assert outcome.code in (0, 1), (command, outcome.err)
    # The risk of a release does not depend on the format of its file.
    assert found[0]["value"] == pytest.approx(found[1]["value"], abs=1e-12)
    assert found[0]["loss"]["utility"] == pytest.approx(found[1]["loss"]["utility"], abs=1e-12)


@pytest.mark.parametrize("method", ["cell key", "suppress", "hide and round", "controlled"])
def test_a_csv_file_keeps_its_hierarchy(method: str, religion: Path) -> None:
    name, *options = METHODS[method]
    release = protected(name, str(religion), *options[: None if name == "suppress" else 0],
                        "--hierarchy", "output_area=area.hrc", end=".csv")  # fmt: skip
    said = [row["published_as"] for row in rows_of(Path(release)) if " sums " in row["published_as"]]
    assert [text.partition(" sums ")[2].removesuffix(" trial") for text in said] == [
        "output_area:n=1+2+3+4+5",
        "output_area:s=6+7+8+9+10",
    ]
    alone, told = (
        json.loads(run("audit", release, *more, "--json").out) for more in ([], ["--hierarchy", "output_area=area.hrc"])
    )
    assert alone == told
    assert run("risk", religion, "--released", release).code == 0


def test_what_was_merged_is_said_in_the_file(religion: Path) -> None:
    protected("redesign", str(religion), "--merge", "religion:7,8=7+8", end=".csv")
    read = dc.read_release("release.csv")
    assert read.parameters["recoding"] == {"religion": {"7": "7,8", "8": "7,8"}}
    assert [row["published_as"] for row in rows_of(Path("release.csv")) if row["religion"] == "7,8"][:2] == [
        "exact rows=80 merges religion:7,8=7+8",
        "exact rows=80",
    ]


def test_a_table_with_marks_of_another_program_is_measured(religion: Path) -> None:
    text = religion.read_text(encoding="utf-8").replace(',"3",0', ',"3",x')
    Path("marked.csv").write_text(text, encoding="utf-8")
    assert "R2 =" in run("risk", religion, "--released", "marked.csv").out
    Path("wrong.csv").write_text(text.replace(",x", ",?"), encoding="utf-8")
    assert "is '?', which is not a number" in run("risk", religion, "--released", "wrong.csv").err


def test_inspect_recognises_a_release_and_names_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table = dc.Table.from_array([[8, 1, 4], [3, 12, 4]], {"area": ["north", "south"], "group": ["a", "b", "c"]})
    table.write("table.csv")
    dc.protect.random_rounding(table, base=3).write("release.csv")
    Path("people.csv").write_text("person,area,sex\n1,n,f\n2,n,m\n3,s,f\n4,s,f\n5,n,f\n6,s,m\n", encoding="utf-8")
    for name, holds, step in (
        ("table.csv", "a table", "discreet assess table.csv"),
        ("release.csv", "a release (random base=3)", "discreet audit release.csv"),
        ("people.csv", "records", "discreet assess people.csv --by area,sex --contributor person,"),
    ):
        told = run("inspect", name).out
        assert told.startswith(f"{name} holds {holds}")
        assert f"Next: {step}" in told


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("area;group;n\nA;x;50\nA;y;10\nB;x;30\nB;y;90\nAll;x;80\nAll;y;100\n", "--count n --total All"),
        ("area,men,women\nA,50,10\nB,30,90\nAll,80,100\n", "--layout wide --total All"),
        ("area,group,OBS_VALUE\nA,x,5\nA,y,..\nB,x,3\nB,y,9\n", "--count OBS_VALUE"),
        ("id,area,age,income\n1,A,34,90\n2,A,55,80\n3,B,41,70\n4,B,22,60\n5,B,22,50\n", "--by area --contributor id"),
    ],
)
def test_the_next_command_that_inspect_names_runs_as_it_is(
    text: str, step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(text, encoding="utf-8")
    told = " ".join(run("inspect", "own.csv").out.partition("Next: discreet ")[2].split())
    command = told.partition(", with")[0].split()
    assert " ".join(command[2:]) == step
    assert run(*command).code in (0, 1)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("Gemeinde;Alter;Anzahl\nA;0-17;12\nA;18+;41\nB;0-17;9\nB;18+;55\nInsgesamt;0-17;21\nInsgesamt;18+;96\n",
         "--count Anzahl --total Insgesamt"),
        ("area_code,area_label,sex_code,sex_label,n\n1,A,1,m,40\n1,A,2,f,30\n2,B,1,m,50\n2,B,2,f,61\n", "--count n"),
    ],
)  # fmt: skip
def test_what_a_refusal_proposes_is_what_inspect_proposes(
    text: str, options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(text, encoding="utf-8")
    assert f"Next: discreet assess own.csv {options}" in " ".join(run("inspect", "own.csv").out.split())
    assert f"probably read so ({options})" in run("assess", "own.csv").err
    assert run("assess", "own.csv", *options.split()).code == 0


AMOUNTS = """activity,size,firms,turnover,first
A,small,12,140.25,31.5
A,large,4,900.5,400.25
B,small,7,55.75,20.5
B,large,5,61.125,30.5
C,large,6,60.5,20.5
A,Total,16,1040.75,400.25
B,Total,12,116.875,30.5
C,Total,6,60.5,20.5
Total,small,19,196.0,31.5
Total,large,15,1022.125,400.25
Total,Total,34,1218.125,400.25
"""


def test_a_finished_table_of_amounts_is_not_taken_for_records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.csv").write_text(AMOUNTS, encoding="utf-8")
    told = " ".join(run("inspect", "own.csv").out.split())
    assert "or a finished table of amounts with its totals" in told
    assert "Next: discreet plan new own.csv drafts" in told
    assert json.loads(run("inspect", "own.csv", "--json").out)["finished"] is True
    assert "discreet plan new own.csv drafts how it is protected" in run("assess", "own.csv").err
    assert run("plan", "new", "own.csv", "-o", "plan.toml").code == 0
    plan = Path("plan.toml").read_text(encoding="utf-8")
    for line in ('count = "firms"', 'value = "turnover"', 'largest = ["first"]'):
        assert f"\n{line} #" in plan
    plan = plan.replace('"default"', '"own.toml"')
    Path("plan.toml").write_text(plan, encoding="utf-8")
    rules = '[rules]\nthreshold = 5\np_percent = "none"\ndominance = [{n = 1, k = 85}]\n'
    Path("own.toml").write_text(f'extends = "business"\ninsiders = "none"\n{rules}', encoding="utf-8")
    outcome = run("plan", "run", "plan.toml", "-o", "out")
    assert outcome.code == 0, outcome.err
    # Files list the combination that nobody is in, and so counts everything that counts figures.
    told = next(line for line in outcome.out.splitlines() if line.startswith("own "))
    assert told.split()[-3] == str(len(rows_of(Path("out/own.csv")))) == "12"
    hidden = [row for row in rows_of(Path("out/own.csv")) if "suppressed" in row["published_as"]]
    assert ("A", "large") in {(row["activity"], row["size"]) for row in hidden}


def test_amounts_with_thousands_are_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = ("Nord;Bau;12.345,50;14", "Nord;Handel;8.120,25;9", "Nord;Bau;980,40;3", "Nord;Handel;1 011,00;2")
    Path("own.csv").write_text("Region;Branche;Umsatz;Betriebe\n" + "\n".join(rows), encoding="utf-8")
    told = " ".join(run("inspect", "own.csv").out.split())
    assert "Umsatz numbers 4" in told
    assert "--by Region,Branche, with the columns that your table crosses, and perhaps" in told
    assert "(--value Umsatz)" in told


def test_of_several_sheets_the_fullest_is_proposed(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["Notes"])
    table = book.create_sheet("Table 1")
    for row in (["area", "count"], ["A", 30], ["B", 14]):
        table.append(row)
    book.save(tmp_path / "own.xlsx")
    assert (
        "('Table 1', 'Sheet'); say which one is meant (--sheet 'Table 1')" in run("assess", tmp_path / "own.xlsx").err
    )


def test_refusals_of_records_name_options_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for entry, remedy in (("1,2,3", "(--decimal , or .)"), ("", "(--missing drop)"), ("-4", "(--negative absolute)")):
        rows = "".join(f'{area};"{entry if area == "c" else 7}"\n' for area in "abcab")
        Path("own.csv").write_text(f"area;turnover\n{rows}", encoding="utf-8")
        told = run(
            "tabulate", "own.csv", "--by", "area", "--value", "turnover", "--negative", "error", "-o", "t.csv"
        ).err
        assert remedy in told
        assert "='" not in told


def written(folder: Path, text: str) -> Path:
    (folder / "t.csv").write_text(text, encoding="utf-8")
    return folder / "t.csv"


@pytest.fixture
def firms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    rows = [f"{i};{'nsw'[i % 3] if i % 7 else ''};{'ab'[i % 2]};{i + 1},25" for i in range(60)]
    (tmp_path / "firms.csv").write_text("\n".join(["id;area;group;turnover", *rows, ""]), encoding="utf-8")
    return Path("firms.csv")


def test_records_without_a_category_are_counted_as_the_refusal_says(firms: Path) -> None:
    told = refused(run("assess", firms, "--by", "area,group", "--contributor", "id"))
    assert "make a category of it (--missing category), or leave it out (--missing drop)" in told
    for way, left_out in (("category", 0), ("drop", 9)):
        for command in (("assess",), ("risk",), ("compare", "--draws", "2", "--audits", "1")):
            done = run(*command, firms, "--by", "area,group", "--contributor", "id", "--missing", way)
            assert (done.code, done.err) == (0, "")
            assert (f"{left_out} records without a category were left out." in done.out) == bool(left_out)
    assert "missing is about records" in refused(
        run("risk", "--missing", "drop", written(firms.parent, "a,count\nn,3\n"))
    )
    # What inspect names next runs as it is, with the missing ones.
    step = run("inspect", firms).out.partition("Next: discreet ")[2].replace("\n", " ").partition(",  with the")[0]
    assert "--missing category" in step
    assert run(*step.partition(", with the columns")[0].split()).code == 0


def test_a_tabulation_as_csv_says_how_it_is_kept(firms: Path) -> None:
    """Its columns were read as dimensions, or as a cross-table of records and contributors."""
    for by in ("group", "area,group"):
        how = ("--by", by, "--contributor", "id", "--value", "turnover", "--missing", "category")
        for value in ((), ("--value", "turnover")):
            assert run("tabulate", firms, *how[:4], *how[6:], *value, "-o", "t.csv").code == 0
            for command in (("assess",), ("inspect",), ("risk",), ("rules", "--rule", "threshold=3")):
                told = refused(run(*command, "t.csv"))
                assert told.endswith("(discreet tabulate RECORDS -o table.parquet)"), told


@pytest.mark.parametrize("command", ["assess", "risk", "compare"])
def test_what_is_wrong_with_a_count_of_a_cross_table_is_said(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A gap or a total of another name was taken for a sign of amounts, and a plan was advised."""
    monkeypatch.chdir(tmp_path)
    file = written(tmp_path, ";good;bad;Totaal\nNoord;8;2;10\nZuid;5;;5\nTotaal;13;2;15\n")
    assert "line 3, column 'bad': count is empty; write 0 if nobody is in the cell" in refused(run(command, file))
    file.write_text(",good,bad,All\nn,8,2,10\ns,5,1,6\nAll,13,3,16\n", encoding="utf-8")
    assert "is named like a margin; if it is one, say so (--total All)" in refused(run(command, file))
    told = run(command, file, "--total", "All")
    assert (told.code in (0, 1), told.err) == (True, "")


def test_a_cross_table_of_pandas_is_assessed_with_its_totals() -> None:
    people = pd.DataFrame({"area": list("nnnsswww"), "sex": list("mfmmfmff")})
    table = pd.crosstab(people["area"], people["sex"], margins=True)
    with pytest.raises(dc.DataError, match=r"is named like a margin; if it is one, say so \(total='All'\)"):
        dc.assess(table)
    assert dc.assess(table, total="All").verdict in ("release", "protect", "withhold")


def test_amounts_are_not_proposed_as_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("area,group,turnover\nn,a,8.5\nn,b,2.25\ns,a,4.75\ns,b,9.5\n", encoding="utf-8")
    told = " ".join(run("inspect", "t.csv").out.split())
    assert "Next: discreet assess t.csv --by area,group --value turnover" in told


def test_a_statistic_beside_counts_of_another_name_is_left_out_in_one_step(tmp_path: Path) -> None:
    """First the counts were named, and what was typed then was refused for the statistic."""
    file = written(tmp_path, "area;group;perc;n\nA;x;33,3;10\nA;y;66,7;20\nB;x;10,0;10\nB;y;90,0;90\n")
    told = refused(run("risk", file))
    assert "it is probably read so (--count n --dimensions area,group)" in told
    assert run("risk", file, "--count", "n", "--dimensions", "area,group").code == 0
    with pytest.raises(dc.RequestError, match=r"\(count='n', dimensions=\['area', 'group'\]\)"):
        dc.risk(file)
