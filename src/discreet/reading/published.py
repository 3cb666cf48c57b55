"""What is published, and the truth behind it, as an audit takes them: files, frames, or what was read before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import pyarrow as pa

from discreet.core.errors import DataError, DiscreetError, RequestError
from discreet.core.text import listed
from discreet.reading.original import counts_of, describes_itself, is_frame, is_read, open_original, stated_method
from discreet.reading.reading import PLACE, Reading
from discreet.table.arrow_files import errors_of
from discreet.table.figures import Figures, units_of
from discreet.table.hierarchy import Hierarchy, Prefixes
from discreet.table.inspection import SHOWN, InspectedColumn, Inspection, figures_dict
from discreet.table.kinds import Marked
from discreet.table.release import Release
from discreet.table.release_reader import ReleaseOptions, release_from_frame
from discreet.table.release_reader import read_release as read_release_rows
from discreet.table.tab_writer import HIDDEN_FIGURE
from discreet.table.table import Table
from discreet.table.workbook_extras import refuse_extras
from discreet.tabulation.argus_tab import HIDDEN, read_tab
from discreet.tabulation.rda import Metadata, read_rda, text_of

TAB = ("value", "parts", "encoding")
"""What is said about a .tab file of published figures; it says the rest itself."""


def read_release(
    path: str | Path,
    *,
    encoding: str = "utf-8",
    delimiter: str | None = None,
    sheet: str | None = None,
    header_row: int | None = None,
    **reading: Unpack[ReleaseOptions],
) -> Release:
    """Read what is published from a CSV, Parquet, Excel or ``.tab`` file.

    All that :meth:`Release.write` writes is read back. A column ``published_as`` says how each figure was made, and
    columns ``lower`` and ``upper`` hold figures that are published as intervals. A Parquet file that discreet wrote
    says everything itself, and so does a ``.tab`` file with its ``.rda`` file beside it.

    Args:
        path: a long file (a column per dimension and a column of figures), a wide cross-table, or a file of τ-ARGUS.
        encoding: the encoding of a CSV or ``.tab`` file.
        delimiter: what separates the columns of a CSV file.
        sheet: the sheet of a workbook; the only one with anything in it by default.
        header_row: the row of a CSV file or sheet with the names of the columns, counted from 1.
        **reading: how the columns are read; see :class:`~discreet.table.release_reader.ReleaseOptions`.
    """
    place = {"delimiter": delimiter, "sheet": sheet, "header_row": header_row}
    given = {**reading, **{name: one for name, one in place.items() if one is not None}, "encoding": encoding}
    if Path(path).suffix.lower() == ".tab" and (strange := next((one for one in given if one not in TAB), None)):
        raise RequestError(f"{path}: a .tab file says itself what {strange}= would say; leave it out")
    found: Release = open_release(path, given)
    return found


def open_release(published: Any, reading: Mapping[str, Any] | None = None) -> Any:
    """Return the release that a file, frame, protection or assessment holds; anything else is returned as it is.

    Args:
        published: a ``.csv``, ``.parquet``, ``.xlsx`` or ``.tab`` file, or a frame.
        reading: how it is read, as for :func:`discreet.read_release`; a ``.tab`` file says most of it itself.
    """
    given = dict(reading or {})
    if isinstance(published, str | Path):
        if Path(published).suffix.lower() == ".tab":
            own = {name: given[name] for name in TAB if name in given}
            if given.get("statistics"):
                raise RequestError(f"{published}: a .tab file holds no statistics; give the published file (.csv)")
            return read_tab_release(published, **own)
        return read_release_rows(published, **given)
    if not is_frame(published):
        held = getattr(published, "release", published)
        if held is None:
            raise RequestError("there is no release: nothing was found safe, or nothing was given")
        return held
    # A frame has no text of its own.
    return release_from_frame(
        published, **{n: one for n, one in given.items() if n not in ("encoding", "delimiter", *PLACE)}
    )


def open_released(released: object, reading: Reading) -> Any:
    """Return a released table that is in a file or frame, read as the original is; anything else as it is.

    What says how it was made, or hides figures, is a release; all else is a table of counts.
    """
    if not is_read(released):
        found = open_release(released)
        if isinstance(found, Table | Release):
            return found
        what = type(found).__name__
        raise RequestError(f"what was given as released is no table or release ({what}); give one, a file or a frame")
    if isinstance(released, str | Path):
        refuse_extras(Path(released))
    how = reading.released()
    if str(released).lower().endswith(".tab") or stated_method(released) is not None:
        return open_release(released, how)
    try:
        return counts_of(released, replace(reading, sheet=None, header_row=None))
    except DataError:
        # Figures that do not add up stay refused; marks and intervals are not counts.
        with suppress(DiscreetError):
            found = open_release(released, how)
            if any((part.hidden | part.where(lambda kind: kind.spans)).any() for part in found.parts()):
                return found
        raise


def open_truth(original: object, reading: Mapping[str, object] | None = None, *, judged: bool = False) -> Any:
    """Return the true table beside a release; anything but a file or frame is returned as it is.

    Args:
        original: a file or a frame.
        reading: how releases are read, and so the truth behind them.
        judged: whether rules judge it, which needs cells with all their margins; a file that describes itself always
            gives these.
    """
    given = dict(reading or {})
    if not is_read(original):
        return original
    own = isinstance(original, str | Path) and describes_itself(Path(original))
    if not judged and not own:
        return open_release(original, given).parts()[0]
    names = ("dimensions", "layout", "total", "parts", "encoding", "delimiter", *PLACE)
    how = {name: given[name] or None for name in names if name in given}
    if own:
        return open_original(original, Reading.of({**how, "dimensions": None})).tabulation()
    how["hierarchies"] = given.get("hierarchies") or None
    return open_original(original, Reading.of({**how, "count": given.get("value")})).tabulation()


def read_tab_release(
    path: str | Path,
    rda: str | Path | None = None,
    *,
    value: str | None = None,
    parts: Mapping[str, Sequence[str]] | None = None,
    encoding: str = "utf-8",
) -> Release:
    """Read what a ``.tab`` file publishes: its figures without those whose status is U or M.

    Args:
        path: the ``.tab`` file, which holds the suppressed values too; none of them is kept.
        rda: its metadata; by default the ``.rda`` file of the same name.
        value: the response that is published; by default the first, or the frequencies where there is none.
        parts: for a dimension, totals that are of some categories only, if the table has one of them.
        encoding: the encoding of both files.
    """
    metadata = read_rda(rda if rda is not None else Path(path).with_suffix(".rda"), encoding=encoding)
    if _holds_published(metadata):
        return _published_tab(Path(path), metadata, parts, encoding)
    found = read_tab(path, rda, encoding=encoding)
    if found.status is None:
        raise DataError(f"{path} has no column of statuses, so nothing says what is hidden; mark it <STATUS>")
    hidden = np.array([status.upper() in HIDDEN for status in found.status], bool)
    table = found.tabulation.as_part(found.tabulation.totals_among(parts or {}))
    units = units_of(table, value)[0]
    # Readers know that what is hidden is above 0, unless zeros are hidden too.
    mark = Marked(least=int((units[hidden] > 0).all()))
    return Release.of(Figures.of_tabulation(table, response=value, hidden=hidden, mark=mark, name=Path(path).name))


def inspect_tab_release(
    path: str | Path, rda: str | Path | None = None, *, cells: bool = False, encoding: str = "utf-8"
) -> Inspection | None:
    """Say what a ``.tab`` file of published figures alone holds; None for the tables that τ-ARGUS works with."""
    file = Path(path)
    metadata = read_rda(rda if rda is not None else file.with_suffix(".rda"), encoding=encoding)
    if not _holds_published(metadata):
        return None
    figures = _published_tab(file, metadata, None, encoding).parts()[0]
    columns = [InspectedColumn(name, False, len(one), tuple(one[:SHOWN])) for name, one in figures.labels.items()]
    columns.append(InspectedColumn(figures.figure, True, len(np.unique(figures.values)), (), int(figures.hidden.sum())))
    shown = figures_dict(figures) if cells else None
    return Inspection(file.name, "release", len(figures), tuple(columns), cells=shown)


def _holds_published(metadata: Metadata) -> bool:
    """Say whether a file holds published figures and their statuses, not what τ-ARGUS needs to protect them."""
    return not metadata.of("frequency") and bool(metadata.of("status"))


def _published_tab(file: Path, metadata: Metadata, parts: Mapping[str, Sequence[str]] | None, encoding: str) -> Release:
    """Read a ``.tab`` file that holds what is published and nothing else, as a release is written."""
    if metadata.separator is None or len(metadata.of("response")) != 1 or not metadata.of("dimension"):
        raise DataError(f"{metadata.file}: a published table needs a separator, dimensions and one value; name them")
    rows, lines = metadata.rows(text_of(file, encoding), file)
    if not rows:
        raise DataError(f"{file} is empty; a table needs at least one cell")
    columns = {one.name: list(texts) for one, texts in zip(metadata.variables, zip(*rows, strict=True), strict=True)}
    value, status = metadata.of("response")[0].name, metadata.of("status")[0].name
    columns[value] = [metadata.plain(text) for text in columns[value]]
    for line, text, letter in zip(lines, columns[value], columns[status], strict=True):
        if (letter.upper() in HIDDEN) != (text == HIDDEN_FIGURE):
            raise DataError(
                f"{file}: line {line}: the status is {letter}, but the figure {text}; give {HIDDEN_FIGURE} where the "
                f"status is {' or '.join(HIDDEN)}, and nowhere else"
            )
    if len(told := {letter.upper() for letter in columns[status]} & set(HIDDEN)) > 1:
        raise DataError(
            f"{file}: hidden figures have the statuses {listed(sorted(told))}, so readers may know which are small; "
            "give all of them one status if only that is published, or write the table as CSV with marks that say what "
            "they mean (marks=, --mark)"
        )
    names = [one.name for one in metadata.of("dimension")]
    totals = {one.name: one.total for one in metadata.of("dimension")}
    trees = {}
    for one in metadata.of("dimension"):
        tree = metadata.hierarchy(one, encoding)
        below = [code for code in dict.fromkeys(columns[one.name]) if code != one.total]
        if isinstance(tree, Prefixes):
            tree = tree.over(below, one.total)
        if tree is not None or len(set(totals.values())) > 1:
            trees[one.name] = tree or Hierarchy.flat(below, total=one.total)
    with errors_of(file):
        found = release_from_frame(
            pa.table({name: columns[name] for name in (*names, value)}),
            value=value,
            dimensions=names,
            layout="long",
            marks=(HIDDEN_FIGURE,),
            total=totals[names[0]],
            hierarchies=trees,
            parts=parts,
            name=file.name,
        )
    # What is hidden is above 0: empty cells have a status of their own.
    return found.marked(least=1)
