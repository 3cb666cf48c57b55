"""Inputs by which a sensitive cell would pass for safe: each is refused, and nothing is written."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cli.running import refused, run

import discreet as dc
from discreet import read_release
from discreet.core.errors import DiscreetError
from discreet.decide.ledger import Ledger
from discreet.protect import Suppression
from discreet.rules import Threshold
from discreet.table.figures import Figures

RDA = """<SEPARATOR> ";"
region
  <RECODEABLE>
  <TOTCODE> "Total"
turnover
  <NUMERIC> <DECIMALS> 0
firms
  <FREQUENCY>
top1
  <MAXSCORE>
top2
  <MAXSCORE>
"""
CELLS = ["Total;170;8;60;50", "a;60;1;60;0", "b;50;1;50;0", "c;40;3;20;15", "d;20;3;10;6"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DISCREET_LEDGER", raising=False)
    return tmp_path


def tab(cells: list[str]) -> Path:
    Path("t.rda").write_text(RDA, encoding="utf-8")
    Path("t.tab").write_text("\n".join(cells) + "\n", encoding="utf-8")
    return Path("t.tab")


def suppress(file: Path) -> str:
    told = refused(run("protect", "suppress", file, "--rule", "p=10", "-o", "out.csv"))
    assert not Path("out.csv").exists()
    return told


def test_the_table_of_these_tests_has_sensitive_cells() -> None:
    assert run("protect", "suppress", tab(CELLS), "--rule", "p=10", "-o", "out.csv").code == 0
    assert ",60" not in Path("out.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("column", range(1, 5))
@pytest.mark.parametrize("text", ["nan", "NaN", "inf", "-inf", "1e400"])
def test_a_field_of_a_tab_file_that_is_no_number(text: str, column: int) -> None:
    fields = CELLS[1].split(";")
    fields[column] = text
    told = suppress(tab([CELLS[0], ";".join(fields), *CELLS[2:]]))
    assert "line 2" in told
    assert text in told


@pytest.mark.parametrize(
    "cell",
    ["a;60;1;0;60", "a;60;1;0;0", "a;60;2;30;20"],
    ids=["out of order", "left out", "fewer than the two"],
)
def test_largest_contributions_that_contradict_their_cell(cell: str) -> None:
    assert "region=a" in suppress(tab([CELLS[0], cell, *CELLS[2:]]))


def tabulated() -> Path:
    rows = ["region,firm,turnover", "a,f1,60", "b,f2,50", "c,f3,20", "c,f4,15", "c,f5,5", "d,f6,10", "d,f7,6", "d,f8,4"]
    Path("firms.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    made = run("tabulate", "firms.csv", "--by", "region", "--value", "turnover", "-o", "t.parquet")
    assert made.code == 0, made
    return Path("t.parquet")


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0])
def test_a_column_of_a_tabulation_that_holds_no_number(value: float) -> None:
    whole = pq.read_table(tabulated())
    numbers = [n for n in whole.column_names if pa.types.is_floating(whole[n].type)]
    assert "contributor:top1:turnover" in numbers
    for name in [*numbers, "records", "contributor:units"]:
        figures = whole[name].to_numpy().astype(np.float64)
        figures[1] = value
        place = whole.column_names.index(name)
        broken = whole.set_column(place, name, pa.array(figures)).replace_schema_metadata(whole.schema.metadata)
        pq.write_table(broken, "broken.parquet")
        if name == "sum:turnover" and value == -1.0:
            continue  # Losses are figures like others.
        suppress(Path("broken.parquet"))
        refused(run("rules", "broken.parquet", "--rule", "p=10"))


@pytest.mark.parametrize("text", ["nan", "inf", "", "NA"])
def test_a_contribution_that_is_no_number(text: str) -> None:
    Path("firms.csv").write_text(f"region,turnover\na,{text}\na,60\nb,3\n", encoding="utf-8")
    refused(run("tabulate", "firms.csv", "--by", "region", "--value", "turnover", "-o", "t.parquet"))
    frame = pa.table({"region": ["a", "a", "b"], "turnover": pa.array([float("nan"), 60.0, 3.0])})
    pq.write_table(frame, "firms.parquet")
    refused(run("tabulate", "firms.parquet", "--by", "region", "--value", "turnover", "-o", "t.parquet"))
    assert not Path("t.parquet").exists()


@pytest.mark.parametrize(
    "text", ["", "\n", "# nothing\n", 'title = "ours"\n', "[rules]\n", '[limits]\nlevels = "always"\n', "\x00"]
)
def test_a_policy_that_asks_for_nothing(text: str) -> None:
    Path("t.csv").write_text("area,count\nn,1\ns,30\n", encoding="utf-8")
    Path("p.toml").write_text(text, encoding="utf-8")
    told = refused(run("assess", "t.csv", "--policy", "p.toml", "-o", "out.csv"))
    assert "p.toml" in told
    assert not Path("out.csv").exists()


@pytest.mark.parametrize("given", ["true", "false"])
@pytest.mark.parametrize(
    "key", ["rules.threshold", "rules.p_percent", "limits.dr", "limits.width", "rules.dominance.k"]
)
def test_a_switch_is_no_number(key: str, given: str) -> None:
    """A threshold of true would be one of 1, and nobody would be below it."""
    part, *rest = key.split(".")
    value = f"{{ n = 1, {rest[1]} = {given} }}" if len(rest) > 1 else given
    value = f"[{value}]" if len(rest) > 1 else value
    Path("policy.toml").write_text(f'name = "p"\n[{part}]\n{rest[0]} = {value}\n', encoding="utf-8")
    Path("table.csv").write_text("area,count\nn,1\ns,900\n", encoding="utf-8")
    told = refused(run("assess", "table.csv", "--policy", "policy.toml"))
    assert f"is {given}, which is not a number or a text" in told


NAN = float("nan")
ODD_NUMBERS: dict[str, Callable[[dc.Release, Ledger], object]] = {
    "fewest nan": lambda release, book: book.check(release, title="n", fewest=NAN),  # type: ignore[arg-type]
    "fewest 0": lambda release, book: book.check(release, title="n", fewest=0),
    "fewest true": lambda release, book: book.check(release, title="n", fewest=True),
    "threshold nan": lambda release, book: book.check(release, title="n", threshold=NAN),
    "threshold true": lambda release, book: book.check(release, title="n", threshold=True),
    "width true": lambda release, book: book.check(release, title="n", width=True),
    "least": lambda release, _: dc.audit(release, least=NAN),
    "most": lambda release, _: dc.audit(release, most=NAN),
    "rule": lambda *_: Threshold(True),
    "least hidden": lambda *_: Suppression(Threshold(3), least=NAN),
}


@pytest.mark.parametrize("what", ODD_NUMBERS)
def test_numbers_that_nothing_is_below(what: str, tmp_path: Path) -> None:
    release = dc.Release.of(Figures.from_array([30, 50], {"area": ["n", "s"]}))
    with Ledger(tmp_path / "book.sqlite") as book, pytest.raises(dc.RequestError, match=r"give |it is "):
        ODD_NUMBERS[what](release, book)


def test_a_policy_that_asks_for_nothing_of_such_a_table() -> None:
    Path("t.csv").write_text("area,count\nn,1\ns,30\n", encoding="utf-8")
    Path("p.toml").write_text("[rules]\np_percent = 10\n", encoding="utf-8")
    assert "counts" in refused(run("assess", "t.csv", "--policy", "p.toml"))


def workbook(*rows: list[object]) -> Path:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save("t.xlsx")
    return Path("t.xlsx")


def test_a_formula_without_its_value() -> None:
    file = workbook(["area", "count"], ["n", 3], ["s", 9], ["Total", "=SUM(B2:B3)"])
    told = refused(run("audit", file))
    assert "B4" in told
    assert "formula" in told
    refused(run("ledger", "add", file))
    refused(run("risk", file))
    header = workbook(["area", "=CONCAT(A2,A3)"], ["n", 3])
    assert "B1" in refused(run("audit", header))


def test_a_text_that_only_looks_like_a_formula_is_a_text() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["area", "count"])
    book.active.append(["x", 3])
    book.active["A2"].value, book.active["A2"].data_type = "=1+1", "s"
    stream = io.BytesIO()
    book.save(stream)
    Path("t.xlsx").write_bytes(stream.getvalue())
    assert run("risk", "t.xlsx", "--json").code in (0, 2)


TABLE = "area,sex,count\n" + "".join(
    f"{a},{s},{7 * i + 3 * j + 1}\n" for i, a in enumerate("abcd") for j, s in enumerate("mf")
)
METHODS = {
    "random-rounding": ("--base", "3"),
    "conventional-rounding": ("--base", "5"),
    "small-count-rounding": ("--base", "3"),
    "controlled-rounding": ("--base", "3"),
    "cell-key": (),
    "suppress": ("--rule", "threshold=5"),
    "hide-and-round": (),
    "tabular-adjustment": ("--rule", "threshold=5"),
    "table-swapping": (),
    "redesign": ("--rule", "threshold=5"),
    "simulation": (),
    "random-sample": ("--sample-size", "50"),
}


@pytest.mark.parametrize("method", METHODS)
def test_a_release_that_was_cut_short(method: str) -> None:
    """In its first or last rows, or anywhere else: a reader would take what is missing for empty cells."""
    Path("t.csv").write_text(TABLE, encoding="utf-8")
    made = run("protect", method, "t.csv", *METHODS[method], "-o", "r.csv")
    assert made.code == 0, made
    whole = Path("r.csv").read_bytes()
    assert run("audit", "r.csv").code in (0, 1)
    size = len(whole)
    for keep in sorted({*range(30, 90, 2), *range(size - 45, size), *range(0, size, 13)}):
        Path("cut.csv").write_bytes(whole[:keep])
        with pytest.raises(DiscreetError):
            read_release("cut.csv")


ALLE = "area,sex,count\nn,m,x\nn,f,4\nn,{t},9\ns,m,9\ns,f,x\ns,{t},20\n{t},m,14\n{t},f,15\n{t},{t},29\n"
"""Both hidden figures are a subtraction away, if one knows which rows are totals."""


@pytest.mark.parametrize("word", ["alle", "Total - all", "Persons", "ganzes Land", "0"])
def test_totals_that_nobody_marked(word: str) -> None:
    Path("released.csv").write_text(ALLE.format(t=word), encoding="utf-8")
    told = refused(run("audit", "released.csv"))
    assert f"--total {shlex.quote(word)}" in told
    assert run("audit", "released.csv", "--total", word).code == 1
    assert "--total" in refused(run("ledger", "add", "released.csv", "--ledger", "book.sqlite"))
    whole = ALLE.format(t=word).replace("n,m,x", "n,m,5").replace("s,f,x", "s,f,11")
    Path("original.csv").write_text(whole, encoding="utf-8")
    assert "--total" in refused(run("assess", "original.csv"))
    assert run("risk", "original.csv", "--total", word).code == 0


def test_a_category_that_is_a_sum_by_chance_is_none() -> None:
    Path("chance.csv").write_text("area,sex,count\nn,a,5\nn,b,4\nn,c,9\ns,a,9\ns,b,11\ns,c,21\n", encoding="utf-8")
    assert run("risk", "chance.csv").code == 0
    Path("binary.csv").write_text("ill,sex,count\nyes,m,5\nyes,f,4\nno,m,50\nno,f,40\n", encoding="utf-8")
    assert run("risk", "binary.csv").code == 0
