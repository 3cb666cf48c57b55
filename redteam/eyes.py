"""The red team's own eyes: published files, read without discreet.

Only what a reader sees is read: cells, symbols, and the sentences that explain them. Of a workbook these are the sheets
of tables, not its notes for programs.
"""

from __future__ import annotations

import csv
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from redteam.published import Figure, Kind, Published, plain, unlisted
from redteam.worlds import TOTAL, Cells, World

VALUE = ("count", "value", "OBS_VALUE")
"""What the column of figures is called."""
SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SENTENCES: tuple[tuple[str, dict[str, str]], ...] = (
    (r"exact", {"name": "exact"}),
    (r"interval", {"name": "interval"}),
    (r"suppressed", {"name": "suppressed"}),
    (r"suppressed, at least (?P<least>\d+)", {"name": "suppressed"}),
    *(
        (rf"rounded {how} to base (?P<base>\d+)(?:, 1 to (?P<hides>\d+) being hidden)?", {"name": name})
        for how, name in (("at random", "random"), ("conventionally", "conventional"), ("under control", "controlled"))
    ),
    (r"rounded to 0 or (?P<base>\d+) where below \d+", {"name": "small"}),
    (
        r"perturbed by at most (?P<bound>\d+)(?:, from (?P<least>\d+) or more)?(?:, from (?P<most>\d+) or less)?",
        {"name": "perturbed"},
    ),
    (r"added up from published figures", {"name": "added"}),
)
"""The sentences by which a workbook explains its figures, and what they mean."""


@dataclass(frozen=True)
class Line:
    """One printed figure: its labels, how it was made, what is printed, both ends of an interval, and statistics."""

    label: Mapping[str, str]
    kind: Kind
    value: int | None
    upper: int | None
    beside: Mapping[str, str]


def seen(path: Path, world: World, *, least: int | None = None, absent: bool = True) -> Published:
    """Return what the reader of a published file holds.

    Args:
        path: the file.
        world: the cells that it is about.
        least: what hidden figures are known to be at least, where the file does not say it.
        absent: whether cells without a row are empty.
    """
    return held(lines(path, world.names), world, least=least, absent=absent)


def held(
    rows: Iterable[Line],
    world: World,
    *,
    least: int | None = None,
    absent: bool = True,
    where: Mapping[str, str] | None = None,
) -> Published:
    """Return printed figures as a reader of them holds them; ``where`` says whom alone they are about."""
    some = dict(where or {})
    figures: list[Figure] = []
    labels: dict[str, list[str]] = {}
    for row in rows:
        kind = row.kind
        if least is not None and dict(kind)["name"] == "suppressed":
            kind = plain({**dict(kind), "least": least})
        figures.append(Figure(world.cells({**row.label, **some}), kind, row.value, row.upper))
        for name, label in row.label.items():
            labels.setdefault(name, []).append(label)
    listed: set[Cells] = {figure.cells for figure in figures}
    if absent:
        codes = {name: tuple(dict.fromkeys(found)) for name, found in labels.items()}
        figures += unlisted(codes, listed, world, where=some)
    return Published(tuple(figures))


def lines(path: Path, names: Sequence[str], beside: Sequence[str] = ()) -> list[Line]:
    """Return the figures of a file, by the dimensions that it can have, and what may stand beside them."""
    if path.suffix == ".xlsx":
        return [line for sheet in _sheets(path) for line in _crossed(sheet, beside)]
    if path.suffix == ".tab":
        return list(_tab(path, names))
    with path.open(encoding="utf-8", newline="") as file:
        return [_row(row, names) for row in csv.DictReader(file)]


def _row(row: Mapping[str, str], names: Sequence[str]) -> Line:
    """Return a line of any of the three kinds of CSV."""
    said = {key.casefold(): text for key, text in row.items()}
    label = {name: TOTAL if row[name] == "_T" else row[name] for name in names if name in row}
    kind = _worded(said["published_as"])
    value = next(row[name] for name in VALUE if name in row)
    low = said.get("lower") or said.get("lower_bound")
    high = said.get("upper") or said.get("upper_bound")
    known = {*names, *VALUE, "lower", "upper", "flag", "published_as"}
    beside = {key: text for key, text in row.items() if key not in known and not key.isupper()}
    if dict(kind)["name"] == "interval":
        return Line(label, kind, int(low or 0), int(high or 0), beside)
    return Line(label, kind, _number(value), None, beside)


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"-?\d+", text) else None


def _worded(text: str) -> Kind:
    """Return a kind that a file states as a name with properties.

    What statistics beside the figure are, follows it.

    >>> dict(_worded("random base=3 rows=12 statistic pct=percentage, over=sex"))
    {'base': 3, 'name': 'random'}
    """
    name, *said = text.partition(" statistic ")[0].partition(" sums ")[0].split()
    pairs = dict(one.split("=", 1) for one in said)
    pairs.pop("rows", None)
    return plain({"name": name, **{key: float(n) if "." in n else int(n) for key, n in pairs.items()}})


def _tab(path: Path, names: Sequence[str]) -> Iterator[Line]:
    """Go through a file of τ-ARGUS: labels, figure, status; nothing but the mark tells what is hidden."""
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.reader(file, delimiter=";"):
            value = _number(row[len(names)])
            kind = plain({"name": "suppressed" if value is None else "exact"})
            yield Line(dict(zip(names, row, strict=False)), kind, value, None, {})


def _sheets(path: Path) -> Iterator[list[list[str]]]:
    """Go through the sheets of a workbook that show a table, as rows of texts."""
    with zipfile.ZipFile(path) as book:
        for name in sorted(n for n in book.namelist() if n.startswith("xl/worksheets/")):
            rows = [_texts(row) for row in ElementTree.fromstring(book.read(name)).iter(f"{SHEET}row")]
            if rows and rows[0][0].startswith("Table "):
                yield rows


def _texts(row: ElementTree.Element) -> list[str]:
    """Return the texts of a row, each in the place of its column."""
    found: dict[int, str] = {}
    for cell in row.iter(f"{SHEET}c"):
        at = 0
        for letter in re.match(r"[A-Z]+", cell.get("r", ""))[0]:  # type: ignore[index]
            at = 26 * at + ord(letter) - 64
        found[at - 1] = "".join(cell.itertext())
    return [found.get(i, "") for i in range(max(found, default=-1) + 1)]


def _crossed(rows: Sequence[Sequence[str]], beside: Sequence[str]) -> Iterator[Line]:
    """Go through the cross-table of a sheet: dimensions down, the last one across, symbols behind or in place.

    Behind a figure and its symbol stand statistics and other measures.
    """
    by = rows[1][0].partition(" by ")[2].partition("; ")[0].split(", ")
    start = next(i for i, row in enumerate(rows) if row[0] == by[0])
    header = rows[start]
    down = by if len(by) == 1 else by[:-1]
    body = [row for row in rows[start + 1 :] if len(row) > 1]
    meanings: dict[str, Kind] = {}
    for text in (row[0] for row in rows[start + 1 :] if len(row) == 1 and row[0]):
        symbol, _, sentence = text.partition(": " if text.startswith("Figures without") else " = ")
        if sentence and (kind := _explained(sentence)) is not None:
            meanings["" if symbol.startswith("Figures without") else symbol] = kind
    for row in body:
        for at in range(len(down), len(header)):
            text = row[at] if at < len(row) else ""
            if header[at] in ("symbol", *beside) or not text:
                continue
            others = dict(_behind(header, row, at, beside))
            after = row[at + 1] if at + 1 < len(row) and header[at + 1 : at + 2] == ["symbol"] else ""
            label = dict(zip(down, row, strict=False)) | ({by[-1]: header[at]} if len(by) > 1 else {})
            if _number(text) is not None:
                yield Line(label, meanings[after], _number(text), None, others)
                continue
            ends = re.fullmatch(r"(\S+) (\d+) to (\d+)", text)
            kind = meanings[ends[1] if ends else text]
            yield Line(label, kind, int(ends[2]) if ends else None, int(ends[3]) if ends else None, others)


def _behind(header: Sequence[str], row: Sequence[str], at: int, beside: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Go through what stands behind a figure of a cross-table, up to the next figure."""
    for k in range(at + 1, len(header)):
        if header[k] not in ("symbol", *beside):
            return
        if header[k] in beside:
            yield header[k], row[k] if k < len(row) else ""


def _explained(sentence: str) -> Kind | None:
    """Return the kind that a sentence explains; None where it is about something else.

    >>> dict(_explained("rounded at random to base 3"))
    {'base': 3, 'name': 'random'}
    """
    for pattern, known in SENTENCES:
        if match := re.fullmatch(pattern, sentence):
            found = {key: text for key, text in match.groupdict().items() if text is not None}
            said = {key: int(text) if text.isdecimal() else text for key, text in found.items()}
            return plain({**known, **said})
    return None
