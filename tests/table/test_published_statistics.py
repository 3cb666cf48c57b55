"""Statistics in every format of a release: written, read back as the same, or refused with the remedy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pytest
from tests.cli.running import run

from discreet import DataError, Figures, Kind, Release, RequestError, Table, audit, read_release, suppress
from discreet.rules.threshold import Threshold
from discreet.table.inspection import inspect_file
from discreet.table.presentation import FORMATS, Presentation
from discreet.table.published_statistics import with_published

WANTED = {
    "pct": "percentage, over=sex, decimals=1",
    "share of all (%)": "percentage, over=sex+area, decimals=0, rounding=down, step=5",
    "rate": "rate, per=2500.5, decimals=2, rounding=half-even",
    "gap": "difference, over=sex:m, decimals=0",
}
BOTH = {"sex": ["m", "f", "Total"], "area": ["n", "s", "a, b", "Total"]}
COUNTS = [[13, 20, 7, 40], [16, 30, 14, 60], [29, 50, 21, 100]]


def release(*kinds: Kind, hidden: bool = False, trial: bool = False) -> Release:
    values = [[None if hidden and i < 2 and k < 2 else n for k, n in enumerate(row)] for i, row in enumerate(COUNTS)]
    kind = kinds[0] if kinds else Kind()
    shown = Figures.from_array(values, BOTH, kind=kind, mark=Kind("suppressed", least=1))
    if len(kinds) > 1:
        which = shown.kind.copy()
        which[-1] = len(shown.kinds)
        shown = Figures(shown.labels, shown.codes, shown.values, which, (*shown.kinds, kinds[1]), upper=shown.upper)
    found = with_published(Release.of(shown), WANTED)
    return found.as_trial() if trial else found


def rows_of(part: Figures) -> dict[str, set[tuple[str, ...]]]:
    """Return every statistic with its labels, whatever the order."""
    return {
        column.name: {
            (*(part.labels[n][c] for n, c in zip(part.names, codes, strict=True)), column.text(row))
            for row, codes in enumerate(column.codes.tolist())
        }
        for column in part.statistics
    }


CASES = {
    "exact": release(),
    "hidden": release(hidden=True),
    "trial": release(hidden=True, trial=True),
    "rounded": release(Kind("perturbed", bound=2)),
    "flagged": release(Kind("perturbed", bound=2), Kind()),
}


@pytest.mark.parametrize("form", ["csv", "flags", "sdmx-csv", "xlsx", "parquet"])
@pytest.mark.parametrize("case", CASES)
def test_statistics_come_back_from_every_format(form: str, case: str, tmp_path: Path) -> None:
    made = CASES[case]
    (file,) = made.write(tmp_path / f"r{FORMATS[form]}", trial=True, style=Presentation(format=form))
    back = read_release(file)
    (part,), (found,) = made.parts(), back.parts()
    assert back.trial == made.trial
    assert [one.statistic for one in found.statistics] == [one.statistic for one in part.statistics]
    assert rows_of(found) == rows_of(part)
    assert min(map(len, rows_of(found).values())) > 0
    alone, beside = audit(made).findings, audit(back).findings
    assert np.array_equal(np.sort(alone.lower), np.sort(beside.lower))
    assert np.array_equal(np.sort(alone.upper), np.sort(beside.upper))


def test_a_tab_file_has_no_place_for_statistics(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"no place for the statistic 'pct'; write \.csv, \.xlsx or \.parquet"):
        CASES["exact"].write(tmp_path / "r.tab")
    assert not list(tmp_path.iterdir())


def test_a_workbook_shows_what_its_statistics_are(tmp_path: Path) -> None:
    (file,) = CASES["hidden"].write(tmp_path / "r.xlsx")
    page = openpyxl.load_workbook(file)["Table 1"]
    texts = [[cell.value for cell in row] for row in page.iter_rows()]
    assert texts[3][:6] == ["sex", "n", "pct", "share of all (%)", "rate", "gap"]
    assert texts[4][:6] == ["m", "x", "x", "x", "x", "x"]
    assert page["D6"].value == "x"
    assert page.cell(5, 17).number_format == "0"
    assert page.cell(5, 18).number_format == "0.0"
    said = [row[0] for row in texts]
    assert "pct: percentage of the figures over sex" in said
    assert "x in a column of statistics: not published" in said


def test_a_changed_statistic_in_a_workbook_is_refused(tmp_path: Path) -> None:
    (file,) = CASES["hidden"].write(tmp_path / "r.xlsx")
    for text in ("about 3", 3.14159, None):
        book = openpyxl.load_workbook(file)
        book["Table 1"].cell(5, 18).value = text
        book.save(tmp_path / "changed.xlsx")
        with pytest.raises(DataError, match="not as discreet wrote it"):
            read_release(tmp_path / "changed.xlsx")


def test_statistics_of_foreign_sdmx_are_not_left_out_in_silence(tmp_path: Path) -> None:
    text = "DATAFLOW,SEX,OBS_VALUE,PCT,BASE_PER\nA,m,,13.0,2020\nA,f,,8.7,2020\nA,o,18,78.3,2020\nA,_T,23,100.0,2020\n"
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    assert run("audit", tmp_path / "r.csv").code == 2
    told = run("audit", tmp_path / "r.csv", "--statistic", "PCT=percentage, over=SEX")
    assert told.code == 1, told.err
    assert "13.0% of 23" in told.out


def test_definitions_that_a_text_leaves_in_doubt_are_asked_for(tmp_path: Path) -> None:
    shown = Figures.from_array(COUNTS, BOTH)
    made = with_published(Release.of(shown), {"pct": {"kind": "ratio", "over": {"area": "a, b"}}})
    (file,) = made.write(tmp_path / "r.csv")
    assert run("audit", file).code == 2
    definition = {"pct": made.parts()[0].statistics[0].statistic}
    assert rows_of(read_release(file, statistics=definition).parts()[0]) == rows_of(made.parts()[0])


def test_what_a_file_says_gives_way_to_what_is_said_of_it(tmp_path: Path) -> None:
    (file,) = CASES["exact"].write(tmp_path / "r.csv")
    with pytest.raises(RequestError, match="no dimension is"):
        audit(read_release(file, statistics={**WANTED, "pct": "percentage, over=age"}))


@pytest.mark.parametrize("form", ["csv", "flags", "sdmx-csv", "xlsx", "parquet"])
def test_a_category_that_nobody_is_in_can_be_compared_with(form: str, tmp_path: Path) -> None:
    cells = {("o", "n"): 0, ("o", "s"): 0, ("m", "n"): 7, ("m", "s"): 9, ("f", "n"): 2, ("f", "s"): 8}
    table = Table.from_dict(cells, {"sex": ["o", "m", "f"], "area": ["n", "s"]})
    shown = with_published(suppress(table, Threshold(3)).release, {"gap": "difference, over=sex:o, decimals=0"})
    assert "o" not in {part.labels["sex"][code] for part in shown.parts() for code in part.codes[:, 0].tolist()}
    assert sum(len(part.statistics[0]) for part in shown.parts()) == 2
    (file,) = shown.write(tmp_path / f"r{FORMATS[form]}", style=Presentation(format=form))
    found = audit(read_release(file), proofs=0)
    assert (found.verdict, len(found.findings)) == ("safe", 4)
    assert (
        inspect_file(file).statistics[-1] == "gap: difference of the figures over sex=o, 2 shown; 9 is from 8.5 to 9.5"
    )
    with pytest.raises(RequestError, match="has no category 'x'"):
        audit(read_release(_plain(tmp_path), statistics={"gap": "difference, over=sex:x"}))


def _plain(folder: Path) -> Path:
    """Write a table of which nothing says what its columns are."""
    (folder / "plain.csv").write_text("sex,count,gap\nm,x,x\nf,x,x\nTotal,9,9\n", encoding="utf-8")
    return folder / "plain.csv"
