"""Every format in which a release is published is read back as the same release, and holds nothing else."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.table.strategies import labels, tables

import discreet as dc
from discreet import DataError, Figures, Hierarchy, Kind, Release, RequestError, Table
from discreet.reading.published import open_release
from discreet.table.doubtful_files import NOTE
from discreet.table.listed_zeros import with_zeros
from discreet.table.presentation import FORMATS, Presentation

often = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
TREE = Hierarchy.from_parents({"a1": "a", "a2": "a", "b": "Total"})
KINDS = (
    Kind(),
    Kind("suppressed", least=1),
    Kind("random", base=3),
    Kind("perturbed", bound=2),
    Kind("interval"),
    Kind("suppressed", least=0, most=9),
)


@st.composite
def releases(draw: st.DrawFn) -> Release:
    """Figures of many kinds, some cells without any, with decimals, a margin and odd labels."""
    names = draw(st.lists(st.sampled_from(("area", "age group", "sex", "größe")), min_size=1, max_size=3, unique=True))
    found = {name: (*draw(st.lists(labels, min_size=1, max_size=3, unique=True)), "Total") for name in names}
    shape = tuple(len(one) for one in found.values())
    size = int(np.prod(shape))
    keep = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    assume(keep.any())
    kind = np.array(draw(st.lists(st.integers(0, len(KINDS) - 1), min_size=size, max_size=size)))[keep]
    values = np.array(draw(st.lists(st.integers(0, 10**9), min_size=size, max_size=size)))[keep] * 3
    spans = kind == 4
    values[(kind == 1) | (kind == 5)] = 0
    codes = np.stack([axis.ravel() for axis in np.indices(shape)], axis=1)[keep]
    decimals = draw(st.integers(0, 2))
    kinds = tuple(one.scaled(10**decimals) for one in KINDS)
    values[kind == 2] *= 10**decimals
    shown = Figures(found, codes, values, kind, kinds, decimals=decimals, upper=np.where(spans, values + 5, 0))
    return Release(None, "several", {"base": 3}, (shown,), trial=draw(st.booleans()))


def rows_of(part: Figures) -> set[tuple[Any, ...]]:
    """Return every figure with its labels and what it says, whatever the order."""
    lower, upper = part.ranges()
    return {
        (*(part.labels[n][c] for n, c in zip(part.names, codes, strict=True)), text, kind, low, high)
        for codes, text, kind, low, high in zip(
            part.codes.tolist(),
            map(part.text, range(len(part))),
            [part.kinds[i].phrase for i in part.kind],
            lower.tolist(),
            upper.tolist(),
            strict=True,
        )
    }


def written(release: Release, form: str, folder: Path, **about: Any) -> Path:
    style = Presentation(format=form, **about)
    (file,) = release.write(folder / f"r{FORMATS[form]}", trial=True, style=style)
    return file


def is_text_for(form: str, texts: list[str]) -> bool:
    """Say whether a format can hold the texts as they are; blanks around the entries of CSV files are left out."""
    # A label that looks like a note is refused beside a figure that is left empty.
    if form != "xlsx" and any(text != text.strip() or NOTE.match(text) for text in texts):
        return False
    if form == "xlsx":
        return not any((ord(c) < 32 and c not in "\t\n") or c in "\ufffe\uffff" for text in texts for c in text)
    return True


@given(release=releases(), form=st.sampled_from(("csv", "flags", "sdmx-csv", "xlsx")))
@often
def test_a_release_comes_back_from_every_format(release: Release, form: str, tmp_path: Path) -> None:
    part = release.figures[0]
    assume(is_text_for(form, [label for found in part.labels.values() for label in found]))
    plain = form != "xlsx"
    try:
        if plain:
            # What plain CSV refuses for its labels, its relatives refuse too.
            dc.read_release(written(release, "csv", tmp_path))
    except (DataError, RequestError):
        assume(False)
    back = dc.read_release(written(release, form, tmp_path))
    assert back.trial == release.trial
    found, part = back.parts()[0], with_zeros(part)
    assert found.names == part.names
    assert rows_of(found) == rows_of(part)
    if not plain:
        assert (back.method, dict(back.parameters)) == (release.method, dict(release.parameters))
        assert found.labels == part.labels
        assert found.kinds == part.kinds
        assert (found.decimals, found.total, found.absent) == (part.decimals, part.total, part.absent)


@given(table=tables(max_dimensions=3), form=st.just("xlsx"))
@often
def test_inner_counts_come_back(table: Table, form: str, tmp_path: Path) -> None:
    assume(is_text_for(form, [text for d in table.dimensions for text in (d.name, *d.categories)]))
    assume(not {"count", "published_as", "lower", "upper"} & set(table.names))
    assume(table.size > len(table.impossible))
    file = written(Release(table), form, tmp_path)
    assert dc.read_release(file).inner == table
    assert dc.read_table(file) == table


def test_a_single_exact_figure_among_rounded_ones_stays_exact(tmp_path: Path) -> None:
    labels, kinds = {"sex": ("m", "f", "Total")}, (Kind(), Kind("random", base=3))
    part = Figures(labels, np.arange(3)[:, None], np.array([0, 3, 3]), np.array([0, 1, 1]), kinds)
    for form in ("csv", "flags", "sdmx-csv", "xlsx"):
        back = dc.read_release(written(Release(None, "several", {}, (part,)), form, tmp_path))
        assert rows_of(back.parts()[0]) == rows_of(part)


def suppressed() -> Release:
    labels = {"x": ("a1", "a2", "a", "b", "Total"), "sex": ("m", "f", "Total")}
    values = [[4, None, 9], [None, 5, 11], [10, 10, 20], [3, 0, 3], [13, 10, 23]]
    return Release.of(Figures.from_array(values, labels, hierarchies={"x": (TREE,)}))


@pytest.mark.parametrize("form", [*FORMATS])
def test_the_same_audit_from_every_format(form: str, tmp_path: Path) -> None:
    release = suppressed()
    back = open_release(written(release, form, tmp_path))
    before, after = dc.audit(release), dc.audit(back)
    assert [(c.name, c.lower, c.upper) for c in after.cells] == [(c.name, c.lower, c.upper) for c in before.cells]
    assert before.cells


def test_several_tables_are_sheets_of_one_workbook(tmp_path: Path) -> None:
    parts = (
        Figures.from_array([None, None, 9], {"x": ["1", "2", "Total"]}, name="one"),
        Figures.from_array([[3, 6]], {"y": ["1"], "z": ["1", "2"]}, name="two"),
    )
    (file,) = Release.of(parts).write(tmp_path / "r.xlsx")
    back = dc.read_release(file)
    assert [part.name for part in back.figures] == ["one", "two"]
    assert [c.upper for c in dc.audit(back).cells] == [c.upper for c in dc.audit(parts).cells]
    assert openpyxl.load_workbook(file).sheetnames == ["Cover", "Contents", "Table 1", "Table 2", "Technical notes"]
    with pytest.raises(DataError, match="holds 2 published tables"):
        dc.read_table(file)


def test_a_workbook_for_people(tmp_path: Path) -> None:
    style = Presentation.from_dict(
        {
            "title": "Members by area",
            "source": "Register",
            "period": "2026",
            "notes": ["Figures refer to 1 January."],
            "symbols": {"suppressed": "[c]"},
            "labels": {"x": {"a1": "Upper a", "b": "=B()"}},
            "columns": ["x"],
        }
    )
    (file,) = suppressed().write(tmp_path / "r.xlsx", style=style)
    book = openpyxl.load_workbook(file)
    assert {sheet.sheet_state for sheet in book.worksheets} == {"visible"}
    rows = [list(row) for row in book["Table 1"].iter_rows(values_only=True)]
    assert rows[0][0] == "Table 1: Members by area"
    assert rows[3] == ["sex", "Upper a", "a2", "a", "'=B()", "Total"]
    assert rows[4] == ["m", 4, "[c]", 10, 3, 13]
    below = [row[0] for row in rows[7:]]
    assert below[1:] == [
        "Figures without a symbol: exact",
        "[c] = suppressed, at least 1",
        "Figures refer to 1 January.",
        "Source: Register",
    ]
    assert [row[0].value for row in book["Cover"].iter_rows()][:3] == [
        "Members by area",
        "Period: 2026",
        "Source: Register",
    ]
    back = dc.read_release(file)
    assert rows_of(back.parts()[0]) == rows_of(suppressed().parts()[0])
    with zipfile.ZipFile(file) as archive:
        assert {item.date_time for item in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        assert "docProps/custom.xml" not in archive.namelist()
        assert b"<f>" not in archive.read("xl/worksheets/sheet3.xml")
    (again,) = suppressed().write(tmp_path / "s.xlsx", style=style)
    assert file.read_bytes() == again.read_bytes()


def test_sdmx_for_programs(tmp_path: Path) -> None:
    file = written(suppressed(), "sdmx-csv", tmp_path, period="2026", dataflow="OFFICE:MEMBERS(1.0)")
    head, first, second = file.read_text().splitlines()[:3]
    assert head.replace('"', "") == (
        "STRUCTURE,STRUCTURE_ID,ACTION,x,sex,OBS_VALUE,TIME_PERIOD,OBS_STATUS,CONF_STATUS,PUBLISHED_AS"
    )
    assert first.replace('"', "").startswith("dataflow,OFFICE:MEMBERS(1.0),I,a1,m,4,2026,A,F,exact rows=15")
    assert second.replace('"', "").startswith("dataflow,OFFICE:MEMBERS(1.0),I,a1,f,,2026,Q,C,suppressed least=1")
    assert ",a1,_T,9," in file.read_text().replace('"', "")
    leak = file.read_text().replace('"a1","f","",', '"a1","f","5",')
    assert leak != file.read_text()
    file.write_text(leak)
    with pytest.raises(DataError, match="shows 5 with CONF_STATUS 'C'"):
        dc.read_release(file)
    foreign = tmp_path / "foreign.csv"
    foreign.write_text("DATAFLOW,AREA,OBS_VALUE,OBS_STATUS,UNIT\nD,n,3,A,P\nD,s,,Q,P\nD,_T,8,A,P\n")
    part = dc.read_release(foreign).parts()[0]
    assert (part.names, part.values.tolist(), part.hidden.tolist()) == (("AREA",), [3, 0, 8], [False, True, False])
    assert part.is_total("AREA", part.labels["AREA"][2])


def test_a_flag_that_contradicts_its_figure(tmp_path: Path) -> None:
    file = written(suppressed(), "flags", tmp_path)
    assert file.read_text().splitlines()[2].replace('"', "") == "a1,f,,x,suppressed least=1 rows=15"
    text = file.read_text()
    file.write_text(text.replace('"a1","f","","x","suppressed least=1 rows=15"', '"a1","f","5","x","exact rows=15"'))
    assert file.read_text() != text
    with pytest.raises(DataError, match="row 2 shows the figure 5 beside the flag 'x'"):
        dc.read_release(file)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda book: book.remove(book["Table 1"]), "is not as discreet wrote it"),
        (lambda book: book["Table 1"].delete_rows(6), "is not as discreet wrote it"),
        (lambda book: book["Table 1"].__setitem__("B5", "?"), "is not as discreet wrote it"),
        (lambda book: book["Table 1"].__setitem__("B5", None), "is not as discreet wrote it"),
        (lambda book: book["Technical notes"].__setitem__("C4", "json {"), "is not as discreet wrote it"),
    ],
)
def test_a_workbook_that_was_changed(change: Any, message: str, tmp_path: Path) -> None:
    (file,) = suppressed().write(tmp_path / "r.xlsx")
    book = openpyxl.load_workbook(file)
    change(book)
    book.save(file)
    with pytest.raises(DataError, match=message):
        dc.read_release(file)


def test_what_a_format_cannot_say_is_refused(tmp_path: Path) -> None:
    rounded = dc.protect.random_rounding(Table.from_array([3, 4], ["x"]), base=3, seed=1).as_trial()
    with pytest.raises(RequestError, match=r"a \.tab file cannot say that figures are rounded"):
        rounded.write(tmp_path / "r.tab", trial=True)
    hidden = Release.of(Figures.from_array([3, None], {"x": "ab"}, mark=Kind("suppressed", least=0)))
    with pytest.raises(RequestError, match="cannot say that figures are suppressed, at least 0"):
        hidden.write(tmp_path / "r.tab")
    with pytest.raises(RequestError, match=r"ends in \.xlsx"):
        suppressed().write(tmp_path / "r.csv", style=Presentation(format="xlsx"))
    with pytest.raises(RequestError, match="two categories of 'sex' are shown as 'one'"):
        suppressed().write(tmp_path / "r.xlsx", style=Presentation(labels={"sex": {"m": "one", "f": "one"}}))
    with pytest.raises(RequestError, match="cannot be written into a cell"):
        Release(Table.from_array([3], {"x": ["a\rb"]})).write(tmp_path / "r.xlsx")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"titel": "x"}, "a presentation has no 'titel'"),
        ({"title": 3}, "title of a presentation is 3"),
        ({"format": "pdf"}, "there is no format 'pdf'"),
        ({"symbols": {"suppressed": "5"}}, "the symbol of suppressed figures is '5'"),
        ({"symbols": {"suppressed": "=x"}}, "the symbol of suppressed figures is '=x'"),
        ({"symbols": {"suppressed": ""}}, "would pass for empty cells"),
        ({"symbols": {"hiden": "x"}}, "there is no kind of figure 'hiden'"),
        ({"labels": {"x": {"a": 1}}}, "give a table of texts"),
    ],
)
def test_presentations_that_are_refused(data: dict[str, Any], message: str) -> None:
    with pytest.raises(RequestError, match=message):
        Presentation.from_dict(data)


def test_a_tab_file_of_a_release_holds_what_is_published(tmp_path: Path) -> None:
    file = written(suppressed(), "tab", tmp_path)
    assert file.read_text().splitlines()[:2] == ['"a1";"m";4;S', '"a1";"f";x;M']
    assert {one.name for one in tmp_path.iterdir()} == {"r.tab", "r.rda", "r_x.hrc"}
    file.write_text(file.read_text().replace(";x;M", ";5;M"))
    with pytest.raises(DataError, match="line 2: the status is M, but the figure 5"):
        open_release(file)


def test_nothing_hidden_is_in_any_file(tmp_path: Path) -> None:
    table = Table.from_array([[7919, 104729], [1299709, 15485863]], ["a", "b"])
    cells = dc.Tabulation.from_table(table)
    secret = (7919, 104729, 1299709, 15485863)
    mark = Kind("suppressed", least=1)
    release = Release.of(Figures.of_tabulation(cells, hidden=np.isin(cells.records, secret), mark=mark))
    for form in ("flags", "sdmx-csv", "tab", "xlsx"):
        folder = tmp_path / form
        folder.mkdir()
        written(release, form, folder)
        for file in folder.iterdir():
            found = [file.read_bytes()]
            if form == "xlsx":
                with zipfile.ZipFile(file) as archive:
                    found = [archive.read(name) for name in archive.namelist()]
            assert not [value for value in secret for text in found if str(value).encode() in text], (form, file)


def test_the_note_of_a_workbook_is_that_of_parquet(tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from discreet.table.arrow_files import read_arrow

    release = suppressed()
    (book,), (columns,) = release.write(tmp_path / "r.xlsx"), release.write(tmp_path / "r.parquet")
    notes = [
        json.loads(one[b"discreet"]) for one in (read_arrow(book).schema.metadata, pq.read_schema(columns).metadata)
    ]
    assert notes[0] == notes[1]
