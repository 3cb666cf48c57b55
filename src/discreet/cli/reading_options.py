"""The options that say how originals and releases are read, declared once for all commands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import show
from discreet.cli.compose import argument, panel
from discreet.cli.options import Example, about, in_output, in_published, named_files, names, pairs
from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.reading.opened import Opened
    from discreet.reading.reading import Reading
    from discreet.table.release import Release
    from discreet.table.statistic import Statistic

TEXT = ("encoding", "delimiter", "sheet", "header_row")
RECORDS = "From records"
in_reading, in_records = panel("Reading the table"), panel(RECORDS)

Dimensions = Annotated[str | None, in_reading("Columns that classify, comma-separated; all but the counts by default.")]
Rda = Annotated[Path | None, in_reading("The τ-ARGUS metadata of a .tab file.")]
Part = Annotated[list[str] | None, in_reading("DIMENSION=CODE: this total covers only the codes below it.")]
Mark = Annotated[
    list[str] | None,
    in_published("A suppression mark, in place of x, .., c and nothing; 'c=1..7' says what it means."),
]
StatisticTexts = Annotated[
    list[str] | None,
    in_published("COLUMN=DEFINITION of a statistic beside the figures: 'pct=percentage, over=sex', 'avg=mean'."),
]
StatisticFile = Annotated[Path | None, in_published("A TOML file of such definitions, below the line \\[statistics].")]
Numbers = Annotated[str | None, in_reading("How 1234.5 is written: '1 234,5'.")]
Notes = Annotated[str | None, in_reading("Signs behind a number that mark a note: '*†'.")]
Encoding = Annotated[str, in_reading("Encoding of CSV files.")]
Delimiter = Annotated[str | None, in_reading("Separator of CSV files; detected by default.")]
Sheet = Annotated[str | None, in_reading("The sheet of a workbook; the only one that is not empty by default.")]
HeaderRow = Annotated[
    int | None, in_reading("The row with the names of the columns, below titles; 1 by default.", min=1)
]


@dataclass(frozen=True)
class TableFileOptions:
    """How any table is laid out in a file."""

    dimensions: Dimensions = None
    layout: Annotated[str, in_reading("long, wide or auto.")] = "auto"
    total: Annotated[str, in_reading("The label that marks margins; empty for none.")] = "Total"
    encoding: Encoding = "utf-8"
    delimiter: Delimiter = None
    sheet: Sheet = None
    header_row: HeaderRow = None


@dataclass(frozen=True)
class OriginalOptions(TableFileOptions):
    """How an original is read: a table, records, or a file that describes itself."""

    hierarchy: Annotated[list[str] | None, in_reading("DIMENSION=FILE; its groups are published too.")] = None
    by: Annotated[str | None, in_records("The columns that classify records in FILE, comma-separated.")] = None
    value: Annotated[
        str | None, in_records("The column of amounts to add up and publish; without it, records are counted.")
    ] = None
    contributor: Annotated[str | None, in_records("The column that says whose record it is.")] = None
    holding: Annotated[str | None, in_records("The column that says which holding a contributor belongs to.")] = None
    weight: Annotated[str | None, in_records("The column of sampling weights; weighted sums are published.")] = None
    missing: Annotated[str | None, in_records("Records without a category: error, category or drop.")] = None
    outside: Annotated[str | None, in_records("Codes in no hierarchy: error or total.")] = None
    negative: Annotated[str | None, in_records("Negative contributions in the rules: absolute or error.")] = None
    decimal: Annotated[str | None, in_reading("The decimal sign; the other of . and , may separate thousands.")] = None
    rda: Rda = None
    count: Annotated[str, in_reading("The column of counts of a long file.")] = "count"
    margins: Annotated[str, in_reading("check stated margins, or recompute them from the cells.")] = "check"
    impossible: Annotated[Path | None, in_reading("A file of structural zeros: combinations that cannot occur.")] = None

    def reading(self, **more: object) -> Reading:
        """Return what these options say; ``more`` replaces some of them."""
        from discreet.reading.reading import Reading

        given = {
            **{name: one for name, one in vars(self).items() if name not in ("hierarchy", "file")},
            "dimensions": names(self.dimensions),
            "by": names(self.by),
            "hierarchies": named_files(self.hierarchy) or None,
            "impossible": None if self.impossible is None else str(self.impossible),
        }
        return Reading.of(given | more)

    def opened(self, file: Path | None, *, released: bool = False, **more: object) -> Opened:
        """Read an original as these options say."""
        return opened(file, self.reading(**more), released=released)


def opened(file: Path | None, reading: Reading, *, name: str | None = None, released: bool = False) -> Opened:
    """Read an original while a bar shows how far."""
    from discreet.reading.original import open_original

    with show.ProgressBar() as bar:
        return open_original(file, reading, name=name, released=released, progress=bar)


@dataclass(frozen=True)
class NamedOriginal(OriginalOptions):
    """The original that a command is about, a file or a bundled table, and how it is read."""

    file: Annotated[
        Path | None, argument("A table, records, a .tab file, or a file written by discreet tabulate.", "FILE")
    ] = None
    example: Example = None

    @property
    def name(self) -> str:
        """What the original is called."""
        return self.file.stem if self.file is not None else self.example or "table"

    @property
    def source(self) -> Path | str | None:
        """What complaints about the data name."""
        return self.file or self.example

    def judged(self, top: int) -> Opened:
        """Read it as assessments do, with so many of the largest contributions."""
        with about(self.source):
            return opened(self.file, self.reading(top=top), name=self.name)


@dataclass(frozen=True)
class ReleaseFileOptions(TableFileOptions):
    """How what is published is read."""

    hierarchy: Annotated[list[str] | None, in_published("DIMENSION=FILE; repeat it for several files.")] = None
    mark: Mark = None
    absent: Annotated[str, in_published("Cells without a row are empty or unpublished.")] = "empty"
    value: Annotated[str | None, in_reading("The column of figures of a long file.", "--value", "--count")] = None
    part: Part = None
    statistic: StatisticTexts = None
    statistics: StatisticFile = None
    numbers: Numbers = None
    notes: Notes = None

    def reading(self, least: float | None) -> dict[str, Any]:
        """Return what these options say, as :func:`discreet.read_release` takes it."""
        from discreet.table.hierarchy import TOTAL
        from discreet.tabulation.tabulate import trees_of

        trees = named_files(self.hierarchy)
        return {
            **{name: getattr(self, name) for name in ("value", "layout", "total", "absent", *TEXT)},
            "dimensions": names(self.dimensions),
            **({"marks": tuple(self.mark)} if self.mark else {}),
            "least": least,
            "hierarchies": {name: trees_of(files, self.total or TOTAL) for name, files in trees.items()},
            "parts": parts(self.part),
            "statistics": defined_statistics(self.statistic, self.statistics),
            "numbers": self.numbers,
            "notes": self.notes,
        }

    def releases(self, paths: Sequence[Path], least: float | None, **made: object) -> list[Release]:
        """Read releases; ``made`` says how their figures were made. A total of a part that none has is refused."""
        from discreet.reading.published import open_release

        reading = self.reading(least)
        defined = reading.pop("statistics")
        of_each = [defined] if len(paths) == 1 else own_statistics(paths, defined, self.encoding, self.delimiter)
        found = [
            open_release(path, {**made, **reading, "statistics": own}) for path, own in zip(paths, of_each, strict=True)
        ]
        totals = [
            (name, label, label == figures.part(name))
            for release in found
            for figures in release.parts()
            for name, labels in figures.labels.items()
            for label in labels
            if figures.is_total(name, label)
        ]
        check_parts(reading["parts"], totals)
        return found


@dataclass(frozen=True)
class Beside:
    """Statistics that are published beside the figures."""

    statistic: Annotated[
        list[str] | None,
        in_output("COLUMN=DEFINITION of a statistic to publish beside the figures: 'pct=percentage, over=sex'."),
    ] = None
    statistics: Annotated[Path | None, in_output("A TOML file of such definitions.")] = None

    def defined(self) -> dict[str, Statistic]:
        """Return what is defined."""
        return defined_statistics(self.statistic, self.statistics)


def defined_statistics(texts: Sequence[str] | None, file: Path | None) -> dict[str, Statistic]:
    """Return the statistics that options and a file define; none is defined twice."""
    from discreet.table.statistic_reader import definitions_of

    given, found = definitions_of(texts or []), {} if file is None else definitions_of(file)
    for name in given:
        if name in found:
            raise RequestError(f"the statistic {name!r} is defined by --statistic and in {file}; keep one of them")
    return given | found


def own_statistics(
    paths: Sequence[Path], defined: Mapping[str, Statistic], encoding: str, delimiter: str | None
) -> list[dict[str, Statistic]]:
    """Return for each of several files the statistics that it has; refuse one that none has."""
    from discreet.table.arrow_files import read_arrow

    if not defined:
        return [{}] * len(paths)
    columns = [read_arrow(path, encoding=encoding, delimiter=delimiter).column_names for path in paths]
    missing = next((name for name in defined if not any(name in names for names in columns)), None)
    if missing is not None:
        raise RequestError(f"the statistic {missing!r} is defined, but no file has such a column; correct the name")
    return [{name: one for name, one in defined.items() if name in names} for names in columns]


def parts(texts: Sequence[str] | None) -> dict[str, list[str]]:
    """Read the totals of tables that cover a part of a dimension: ``region=East``."""
    return pairs(texts, "--part", "give DIMENSION=CODE, as region=East")


def check_parts(wanted: Mapping[str, Iterable[str]], totals: Sequence[tuple[str, str, bool]]) -> None:
    """Refuse a total of a part that no table has; totals come by dimension, with whether they are of a part."""
    for name, code in ((name, code) for name, codes in wanted.items() for code in codes):
        if (name, code, False) in totals:
            raise RequestError(
                f"--part is '{name}={code}', but {code!r} is the code of everybody; give the total of some categories "
                "a code of its own in the file, and name that one"
            )
        if (name, code, True) not in totals:
            shown = dict.fromkeys(repr(total) for other, total, _ in totals if other == name)
            there = f"totals along {name!r} are {', '.join(shown)}" if shown else f"no table has {name!r}"
            raise RequestError(f"--part is '{name}={code}', but {there}; name one of these")
