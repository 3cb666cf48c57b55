"""One file, one reading: every command and every reader takes a file for the same thing, or refuses it alike."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.cli.running import refused, run

import discreet as dc
from discreet.core.errors import DiscreetError
from discreet.table.inspection import inspect_file
from discreet.table.release_reader import release_from_frame

REFUSED = {
    "a percentage": "age,count,percent\n0-9,3,30\n10-19,7,70\n",
    "a mean": "age,count,mean\n0-9,3,30\n10-19,7,15\n",
    "a mean before the counts": "age,mean,count\n0-9,30,3\n10-19,15,7\n",
    "decimals": "age,count,x\n0-9,3,30.5\n10-19,7,2\n",
    "decimals with a comma": "age;count;x\n0-9;3;30,5\n10-19;7;2,1\n",
    "decimals with a comma in one row": 'age,count,x\n0-9,3,"30,5"\n10-19,7,12\n',
    "a mean with gaps": "age,count,mean\n0-9,3,n/a\n10-19,7,15\n20-29,4,-\n",
    "decimals with gaps, flags and units": "age,count,x\n0-9,3,-\n10-19,7,15.5*\n20-29,4,(€ 12.5 pp)\n",
    "an interval of confidence": "age,count,95% CI\n0-9,3,12.1-15.3\n10-19,7,1-2\n",
    "figures beside counts": "age,sex,count,value\na,m,3,1\na,f,4,1\nb,m,2,2\nb,f,7,1\n",
    "a number in each of two rows": "age,count,x\n0-9,3,30\n10-19,7,70\n",
    "a sign of percent": "age,count,x\n0-9,3,30%\n10-19,7,70%\n",
    "a percentage with a margin": "age,count,x\n0-9,3,30%\n10-19,7,70%\nTotal,10,100%\n",
    "a hidden count beside its percentage": "age,count,pct\n0-9,x,30\n10-19,7,70\nTotal,10,100\n",
    "an amount of whole numbers": "age,count,turnover\n0-9,3,300\n10-19,7,710\n20-29,8,995\n",
    "a number and a name of each area": "code,area,count\n11,n,3\n12,s,4\n13,w,5\n",
    "another column of figures": "age,value,mean\n0-9,3,30\n10-19,7,15\n",
    "a share in a cross-table": "area,m,f,share\nn,3,4,70\ns,1,2,30\n",
    "decimals in a cross-table": "area,m,f,x\nn,3,4,7.5\ns,1,2,3.25\n",
    "margins that are not named": "area,m,f,All\nn,3,4,7\ns,1,2,3\n",
    "margins in another language": "area,m,f,Insgesamt\nn,3,4,7\ns,1,2,3\nInsgesamt,4,6,10\n",
    "margins by a code": "sex,count\nM,x\nF,4\nT,7\n",
    "ends without a count": "area,lower,upper\nn,3,4\ns,1,2\n",
    "ends without a count, by ages": "age,lower,upper\n16,12,30\n17,15,40\n",
    "one end": "area,count,lower\nn,3,1\ns,4,2\n",
    "an index": ",area,count\n5,n,3\n9,s,4\n",
    "an index, read and written": "Unnamed: 0,area,count\n5,n,3\n9,s,4\n",
    "an index of a cross-table": ",area,m,f\n0,101,3,4\n1,102,1,2\n",
    "numbers only": "id,age,income\n1,30,300\n2,40,200\n3,50,300\n",
    "two columns of which none is named": "area,persons\nn,3\ns,4\n",
}
PROPOSED = {
    "two columns of which none is named": "the column of counts",
    "margins that are not named": "the label of margins",
    "margins in another language": "the label of margins",
    "margins by a code": "the label of margins",
    "an index of a cross-table": "records",
    "numbers only": "records",
}
"""What inspect proposes, so that it can be stated; nothing is judged by it."""
READ = {
    "a long table": "area,sex,count\nn,m,3\nn,f,4\ns,m,1\ns,f,2\n",
    "with a total": "area,sex,count\nn,m,3\nn,f,4\ns,m,1\ns,f,2\nTotal,Total,10\n",
    "figures called values": "area,sex,value\nn,m,3\nn,f,4\ns,m,1\ns,f,2\n",
    "a cross-table": "area\\sex,m,f\nn,3,4\ns,1,2\n",
    "a cross-table with a total": "area\\sex,m,f,Total\nn,3,4,7\ns,1,2,3\nTotal,4,6,10\n",
    "columns without figures": "area,sex,count,lower,upper\nn,m,3,,\nn,f,4,,\ns,m,1,,\ns,f,2,,\n",
}
CELLS = {("n", "m"): 3, ("n", "f"): 4, ("s", "m"): 1, ("s", "f"): 2}

Make = Callable[[Path, Path], list[object]]
COMMANDS: dict[str, Make] = {
    "risk": lambda file, _: ["risk", file],
    "rules": lambda file, _: ["rules", file, "--rule", "threshold=3"],
    "round": lambda file, _: ["protect", "random-rounding", file],
    "suppress": lambda file, _: ["protect", "suppress", file, "--rule", "threshold=3"],
    "round to sums": lambda file, _: ["protect", "controlled-rounding", file],
    "audit": lambda file, _: ["audit", file],
    "assess": lambda file, folder: ["assess", file, "--record", folder / "a.json"],
    "assess a release": lambda file, folder: [
        "assess", folder / "good.csv", "--released", file, "--record", folder / "a.json"
    ],
    "compare": lambda file, folder: [
        "compare", file, "--method", "controlled-rounding:base=3", "--record", folder / "c.json"
    ],
    "ledger add": lambda file, folder: [
        "ledger", "add", file, "--published-as", "exact", "--ledger", folder / "added.sqlite"
    ],
    "ledger check": lambda file, folder: ["ledger", "check", file, "--ledger", folder / "l.sqlite", "--period", "2024"],
    "inspect": lambda file, _: ["inspect", file],
    "inspect cells": lambda file, _: ["inspect", file, "--figures", "--json"],
    "estimate": lambda file, _: ["estimate", file, "--population-size", 10000, "--draws", 20],
    "uniques": lambda file, _: ["uniques", file, "--population-size", 10000],
}  # fmt: skip


def written(folder: Path, text: str) -> Path:
    file = folder / "t.csv"
    file.write_text(text)
    (folder / "good.csv").write_text(READ["a long table"])
    dc.Ledger(folder / "l.sqlite")
    return file


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_clear_is_refused_by_every_command(kind: str, command: str, tmp_path: Path) -> None:
    file = written(tmp_path, REFUSED[kind])
    if command.startswith("inspect") and kind in PROPOSED:
        pytest.skip(f"inspect proposes {PROPOSED[kind]}, which the other commands are then told")
    assert "t.csv: " in refused(run(*COMMANDS[command](file, tmp_path)))
    assert not (tmp_path / "a.json").exists()
    assert not (tmp_path / "c.json").exists()


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_clear_is_refused_by_the_front_door(kind: str, tmp_path: Path) -> None:
    file = written(tmp_path, REFUSED[kind])
    frame = pd.read_csv(file, sep=None, engine="python")
    readers: list[Callable[[], Any]] = [
        lambda: dc.read_table(file),
        lambda: dc.read_release(file),
        lambda: dc.assess(file),
        lambda: dc.compare(file),
        lambda: dc.Table.from_frame(frame),
        lambda: release_from_frame(frame),
    ]
    for reader in readers:
        with pytest.raises(DiscreetError):
            reader()


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", READ)
def test_what_is_clear_is_read_by_every_command(kind: str, command: str, tmp_path: Path) -> None:
    file = written(tmp_path, READ[kind])
    outcome = run(*COMMANDS[command](file, tmp_path))
    assert outcome.code in (0, 1), outcome
    assert outcome.err == ""


@pytest.mark.parametrize("kind", READ)
def test_what_is_clear_is_read_alike(kind: str, tmp_path: Path) -> None:
    file = written(tmp_path, READ[kind])
    assert dc.read_table(file).to_dict() == CELLS
    assert dc.Table.from_frame(pd.read_csv(io.StringIO(READ[kind]))).to_dict() == CELLS
    for release in (dc.read_release(file), release_from_frame(pd.read_csv(io.StringIO(READ[kind])))):
        (part,) = release.parts()
        names = [[part.labels[name][code] for name, code in zip(part.names, row, strict=True)] for row in part.codes]
        found = {tuple(name): value for name, value in zip(names, part.values.tolist(), strict=True)}
        assert part.names == ("area", "sex")
        assert {name: value for name, value in found.items() if "Total" not in name} == CELLS
    content = inspect_file(file, cells=True)
    assert content.cells is not None
    assert [one["name"] for one in content.cells["dimensions"]] == ["area", "sex"]


STATED = {
    "a percentage": ["--dimensions", "age"],
    "a mean": ["--dimensions", "age,mean"],
    "an index": ["--dimensions", "area"],
    "an amount of whole numbers": ["--dimensions", "age"],
    "a share in a cross-table": ["--layout", "wide"],
    "margins that are not named": ["--total", "All"],
    "margins in another language": ["--total", "Insgesamt"],
    "figures beside counts": ["--dimensions", "age,sex"],
    "ends without a count": ["--layout", "wide"],
    "an index of a cross-table": ["--layout", "wide", "--dimensions", "area,sex"],
}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "assess a release"])
@pytest.mark.parametrize("kind", STATED)
def test_what_is_stated_is_read_by_every_command(kind: str, command: str, tmp_path: Path) -> None:
    file = written(tmp_path, REFUSED[kind])
    outcome = run(*COMMANDS[command](file, tmp_path), *STATED[kind])
    assert outcome.code in (0, 1), outcome
    assert outcome.err == ""


def test_what_is_stated_is_what_is_read(tmp_path: Path) -> None:
    file = written(tmp_path, REFUSED["a percentage"])
    assert dc.read_table(file, dimensions=["age"]).to_dict() == {("0-9",): 3, ("10-19",): 7}
    assert dc.read_table(file, dimensions=["age", "percent"]).shape == (2, 2)
    assert dc.read_release(file, dimensions=["age"]).parts()[0].names == ("age",)


def test_a_hidden_count_beside_its_percentage_is_not_called_safe(tmp_path: Path) -> None:
    """Three of ten are 30%: taken for a dimension, the percentage made the hidden count anything from 0 up."""
    file = written(tmp_path, REFUSED["a hidden count beside its percentage"])
    told = refused(run("audit", file))
    assert "column 'pct' looks like a statistic (its name says so), not like a dimension" in told
    assert "--dimensions age)" in told
    assert "--dimensions age,pct)" in told
    left_out = run("audit", file, "--dimensions", "age", "--least", "0")
    assert (left_out.code, "not judged: pct" in " ".join(left_out.out.split())) == (1, True)


def test_a_statistic_beside_true_counts_is_left_out_as_the_refusal_says(tmp_path: Path) -> None:
    """An original has no statistics to define: what assess, risk and the like name is an option they have."""
    file, out = tmp_path / "t.csv", tmp_path / "out.csv"
    file.write_text("age,count,percent\nyoung,10,33.3\nold,20,66.7\n")
    for command in (["assess"], ["risk"], ["protect", "suppress", "--rule", "threshold=12", "-o", out]):
        said = run(*command, file).err
        assert "--dimensions age)" in said
        assert "--statistic" not in said
        assert run(*command, file, "--dimensions", "age").code == 0
    assert "--statistic 'percent=percentage, over=age'" in run("audit", file).err


def test_the_true_figures_beside_hidden_ones_are_not_left_out_in_silence(tmp_path: Path) -> None:
    file = written(tmp_path, "area,code,count,true\nn,1,x,2\ns,2,x,3\nw,3,10,10\nv,4,0,0\nTotal,5,15,15\n")
    found = dc.audit(dc.read_release(file, dimensions=["area"]))
    assert (found.verdict, found.sentence.endswith("was not judged: true.")) == ("incomplete", True)


def test_a_hidden_count_beside_a_total_by_a_code_is_not_called_safe(tmp_path: Path) -> None:
    """Seven less four are three: taken for one more category, the total of T left the hidden count anything."""
    file = written(tmp_path, REFUSED["margins by a code"])
    assert "category 'T' of dimension 'sex' is named like a margin" in refused(run("audit", file))
    told = run("audit", file, "--total", "T")
    assert (told.code, "7 − 4 = 3" in " ".join(told.out.split())) == (1, True)
    # Beside a total of another name, T is a category.
    file.write_text("section,count\nS,3\nT,4\nTotal,7\n")
    assert dc.read_table(file).to_dict() == {("S",): 3, ("T",): 4}
    assert len(dc.read_release(file).parts()[0].labels["section"]) == 3


@pytest.mark.parametrize(
    "note", ["Source: the office", "* by place of residence", "1) without students", "Quelle: Amt"]
)
def test_a_note_below_a_table_is_no_hidden_figure(note: str, tmp_path: Path) -> None:
    """Seven less four are three: a note that was taken for one more hidden figure left it anything up to that."""
    for text in (f"area,count\nn,x\ns,4\nTotal,7\n{note},\n", f"area,m,f\nn,x,3\ns,4,5\nTotal,7,8\n{note},,\n"):
        file = written(tmp_path, text)
        for command in ("audit", "ledger add", "ledger check"):
            assert "looks like a note, and has no figure; leave it out" in refused(
                run(*COMMANDS[command](file, tmp_path))
            )
        with pytest.raises(DiscreetError, match="looks like a note"):
            dc.read_release(file)
        file.write_text(text.replace(f"{note},", f"{note},x").replace("x,\n", "x,x\n"))
        assert dc.read_release(file).parts()[0].hidden.sum() > 1


@pytest.mark.parametrize("label", ["Bron: CBS", "CBS 2024", "Provinces"])
@pytest.mark.parametrize(
    "text",
    [
        "area,count\nn,\ns,4\nTotal,7\n{},\n",
        "area,m,f\nn,,5\ns,4,\nTotal,7,8\n{},,\n",
        "area,m,f\n{},,\nn,,5\ns,4,\nTotal,7,8\n",
    ],
)
def test_a_row_without_any_figure_is_refused_in_every_language(label: str, text: str, tmp_path: Path) -> None:
    """Seven less four are three: a source or heading that was taken for a category left it anything up to that."""
    file = written(tmp_path, text.format(label))
    for command in ("audit", "ledger add", "ledger check"):
        assert "has no figure at all; leave it out if it is a note or a heading" in refused(
            run(*COMMANDS[command](file, tmp_path))
        )
    # Whoever says that empty figures are hidden answers for it; a mark in their place says so in the file.
    assert dc.read_release(file, marks=[""]).parts()[0].hidden.sum() > 1
    file.write_text(text.format(label).replace(f"{label},\n", "").replace(f"{label},,\n", "").replace(",\n", ",x\n"))
    file.write_text(file.read_text(encoding="utf-8").replace(",,", ",x,"))
    told = run("audit", file)
    assert (told.code, "7 − 4 = 3" in " ".join(told.out.split())) == (1, True)


def test_codes_are_no_statistics(tmp_path: Path) -> None:
    file = written(tmp_path, "activity,size,count\n01.1,1,5\n01.2,1,6\n10.5,2,7\n01.1,2,3\n")
    assert dc.read_table(file).names == ("activity", "size")
    file.write_text('size,sex,count\n"2,3",m,5\n4,m,6\n5,m,1\n"2,3",f,4\n')
    assert dc.read_release(file).parts()[0].names == ("size", "sex")


def workbook(file: Path, **sheets: list[list[object]]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(file)
    return file


LONG: list[list[object]] = [["area", "sex", "count"], ["n", "m", 3], ["n", "f", 4], ["s", "m", 1], ["s", "f", 2]]


@pytest.mark.parametrize("command", COMMANDS)
def test_workbooks_of_several_sheets_are_refused_by_every_command(command: str, tmp_path: Path) -> None:
    written(tmp_path, "")
    file = workbook(tmp_path / "t.xlsx", first=LONG, second=LONG)
    assert "has 2 sheets with something in them ('first', 'second')" in refused(run(*COMMANDS[command](file, tmp_path)))
    one = workbook(tmp_path / "one.xlsx", first=LONG, second=[])
    assert run(*COMMANDS[command](one, tmp_path)).code in (0, 1)
    assert dc.read_table(one).to_dict() == CELLS
