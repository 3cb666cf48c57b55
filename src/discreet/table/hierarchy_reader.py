"""Hierarchies from files: indented ``.hrc``, tables of children and parents, tables of nested columns."""

from __future__ import annotations

from pathlib import Path

from discreet.core.errors import DataError, RequestError
from discreet.table.arrow_files import TextOptions, decode, errors_of, read_arrow
from discreet.table.hierarchy import TOTAL, Hierarchy


def read_hierarchy(
    path: str | Path, *, lead: str = "@", total: str = TOTAL, encoding: str = "utf-8", delimiter: str | None = None
) -> Hierarchy:
    r"""Read a hierarchy from a file, by its ending and header.

    ``.hrc`` is the indented list of τ-ARGUS. A CSV or Parquet file with a column ``parent`` and a column ``child``
    or ``code`` lists children and parents (a column ``label`` says what they mean). Any other file has nested columns,
    the coarsest first.

    Args:
        path: the file.
        lead: the leading string of a ``.hrc`` file that says how deep a code lies.
        total: the code of the root, which the file does not list.
        encoding: the encoding of a text file.
        delimiter: what separates the columns of a CSV file; found from the header when not given.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "areas.hrc")
    ...     _ = file.write_text("north\n@n1\n@n2\nsouth\n")
    ...     len(read_hierarchy(file).leaves)
    3
    """
    file = Path(path)
    with errors_of(file):
        if file.suffix.lower() == ".hrc":
            try:
                content = file.read_bytes()
            except OSError as error:
                raise RequestError(f"{file} cannot be read ({error.strerror}); check the name and the folder") from None
            return Hierarchy.from_hrc(decode(content, file, encoding), lead=lead, total=total)
        return _from_table(file, total, {"encoding": encoding, "delimiter": delimiter})


def _from_table(file: Path, total: str, text: TextOptions) -> Hierarchy:
    arrow = read_arrow(file, **text)
    if not arrow.num_rows:
        raise DataError("there are no rows; a hierarchy needs at least one code")
    columns = {name.strip().lower(): arrow[name].to_pylist() for name in arrow.column_names}
    if "parent" not in columns:
        return Hierarchy.from_columns(zip(*columns.values(), strict=True), total=total)
    child = next((name for name in ("child", "code") if name in columns), None)
    if child is None:
        raise DataError(f"there is a column 'parent' but none called 'child' or 'code'; there are {list(columns)}")
    label = next((name for name in ("label", "name") if name in columns), None)
    labels = {} if label is None else dict(zip(map(str, columns[child]), map(str, columns[label]), strict=True))
    # A row of the total itself, with no parent, says only what it is called.
    rows = [
        (code, above)
        for code, above in zip(columns[child], columns["parent"], strict=True)
        if not (str(code) == total and above in (None, ""))
    ]
    return Hierarchy.from_parents(rows, total=total, labels=labels)
