"""CSV and Parquet files as they come: separators, encodings, line ends, quotes, and the lines errors name."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet import DataError, RequestError, Table, read_table

TABLE = Table.from_array([[1, 2], [3, 4]], {"area": ["n", "s"], "sex": ["m", "f"]})
LONG = "area,sex,count\nn,m,1\nn,f,2\ns,m,3\ns,f,4\n"
WIDE = "area\\sex,m,f\nn,1,2\ns,3,4\n"


@pytest.mark.parametrize(
    "text",
    [
        LONG,
        LONG.rstrip("\n"),
        LONG.replace("\n", "\r\n"),
        LONG.replace("\n", "\r"),
        LONG.replace("\n", "\n\n"),
        "\n\r\n" + LONG,
        LONG.replace(",", ";"),
        LONG.replace(",", "\t"),
        "\ufeff" + LONG,
        LONG.replace("area", '"area"').replace("n,m", '"n","m"'),
        LONG.replace(",1\n", ", 1 \n").replace(",2\n", ",2.0\n").replace(",3\n", ',"3"\n'),
        WIDE,
        WIDE.replace(",", ";"),
        WIDE.replace("\\", " \\ "),
    ],
)
def test_texts_that_mean_the_same(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(text.encode())
    assert read_table(tmp_path / "t.csv") == TABLE
    assert read_table(str(tmp_path / "t.csv")) == TABLE


def test_separators_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(LONG.replace(",", "|"))
    assert read_table(tmp_path / "t.csv", delimiter="|") == TABLE
    (tmp_path / "t.tsv").write_text(LONG.replace(",", "\t"))
    assert read_table(tmp_path / "t.tsv") == TABLE
    for delimiter in ("||", '"', "\n", "§", "tab"):
        with pytest.raises(RequestError, match=r"delimiter is .*; it is one character"):
            read_table(tmp_path / "t.csv", delimiter=delimiter)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-8", "UTF8"])
def test_encodings(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes("größe,count\nübergroß,1\nklein,2\n".encode(encoding))
    table = read_table(tmp_path / "t.csv", encoding=encoding)
    assert table.to_dict() == {("übergroß",): 1, ("klein",): 2}


def test_wide_files_without_a_name_for_their_rows(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(",m,f\nn,1,2\ns,3,4\n")
    assert read_table(tmp_path / "t.csv").names == ("row", "column")
    assert read_table(tmp_path / "t.csv").to_array().tolist() == [[1, 2], [3, 4]]


def test_a_cross_table_is_not_guessed_from_doubtful_signs(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    # A long file whose column of counts has another name: rows repeat their first label.
    path.write_text("area,sex,n\n1,1,5\n1,2,6\n2,1,7\n2,2,8\n")
    with pytest.raises(
        RequestError, match=r"no column 'count' of counts; name the column that holds them \(count=\), or"
    ):
        read_table(path)
    assert read_table(path, count="n").shape == (2, 2)
    path.write_text("month,n\n1,5\n2,6\n")
    with pytest.raises(RequestError, match="no column 'count' of counts"):
        read_table(path)
    assert read_table(path, layout="wide").names == ("month", "column")


def test_a_header_with_a_backslash_is_a_cross_table_whatever_its_figures(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area\\sex,m,f\nn,x,2\ns,3,4\n")
    with pytest.raises(DataError, match=r"t\.csv: line 2, column 'm': count is 'x', which is not a number"):
        read_table(tmp_path / "t.csv")


def test_three_dimensions_in_a_cross_table(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,age,m,f\nn,1,1,2\nn,2,3,4\ns,1,5,6\ns,2,7,8\n")
    table = read_table(tmp_path / "t.csv", layout="wide", dimensions=["area", "age", "sex"])
    assert table == Table.from_array(
        [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], {"area": ["n", "s"], "age": ["1", "2"], "sex": ["m", "f"]}
    )


def test_errors_name_the_line_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('area,sex,count\n"two\nlines",m,1\n\n\ns,m,-3\n')
    with pytest.raises(DataError, match=r"t\.csv: line 6: count is -3, which is negative"):
        read_table(path)
    path.write_text('\n\narea,sex,count\n"two\nlines",m\n')
    with pytest.raises(DataError, match=r"t\.csv: line 4 has 2 fields, but the header has 3"):
        read_table(path)
    path.write_text("area,sex,count\nn,m,1\n\ns,m,2,9\n")
    with pytest.raises(DataError, match=r"t\.csv: line 4 has 4 fields, but the header has 3; give every row as many"):
        read_table(path)


def test_own_parquet_files_guard_their_note(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    TABLE.write(path)
    arrow = pq.read_table(path)

    def with_note(note: bytes, table: pa.Table = arrow) -> None:
        pq.write_table(table.replace_schema_metadata({b"discreet": note}), path)

    note = arrow.schema.metadata[b"discreet"]
    with_note(note.replace(b'"schema": 1', b'"schema": 99'))
    with pytest.raises(DataError, match=r"t\.parquet: written in version 99 of the format, but version 1 is read"):
        read_table(path)
    for broken in (b"{", b"[]", b'"x"', b'{"schema": 1}', b'{"schema": 1, "count": "count", "dimensions": [1]}'):
        with_note(broken)
        with pytest.raises(DataError, match=r"t\.parquet: the file's own note about its table is damaged"):
            read_table(path)
    with_note(note, arrow.drop_columns(["sex"]))
    with pytest.raises(DataError, match=r"column 'sex' is missing, though the file's own note lists it"):
        read_table(path)
    with_note(note)
    assert read_table(path) == TABLE
    with pytest.raises(RequestError, match=r"t\.parquet: there is no dimension column 'sx'; did you mean 'sex'\?"):
        read_table(path, dimensions=["sx"])


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    for name in ("missing/t.csv", "missing/t.parquet"):
        with pytest.raises(RequestError, match="missing is not a folder; make it first"):
            TABLE.write(tmp_path / name)
    with pytest.raises(RequestError, match=r"'\.xlsx' is not a format that is written"):
        TABLE.write(tmp_path / "t.xlsx")
    (tmp_path / "dir.csv").mkdir()
    with pytest.raises(RequestError, match="is a folder; name a file"):
        TABLE.write(tmp_path / "dir.csv")
    with pytest.raises(RequestError, match="layout is 'tall'"):
        TABLE.write(tmp_path / "t.csv", layout="tall")  # type: ignore[arg-type]
    assert [path.name for path in tmp_path.iterdir()] == ["dir.csv"]


def test_an_existing_file_survives_a_failed_write(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    TABLE.write(path)
    with pytest.raises(RequestError):
        Table.from_array([1, 2], ["count"]).write(path)
    assert read_table(path) == TABLE
    Table.from_array([1, 2], ["x"]).write(path)
    assert read_table(path).names == ("x",)
