"""The options that say how originals are read, declared once for all commands."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import options, show
from discreet.cli.options import in_reading

if TYPE_CHECKING:
    from discreet.reading.opened import Opened
    from discreet.reading.reading import Reading

RECORDS = "From records"
in_records = options.panel(RECORDS)


@dataclass(frozen=True)
class OriginalOptions:
    """How an original is read: a table, records, or a file that describes itself."""

    hierarchy: Annotated[
        list[str] | None, in_reading("--hierarchy", help="DIMENSION=FILE; its groups are published too.")
    ] = None
    by: Annotated[
        str | None, in_records("--by", help="FILE holds records; the columns that classify them, with commas.")
    ] = None
    value: Annotated[str | None, in_records("--value", help="The magnitude that is published; counts otherwise.")] = (
        None
    )
    contributor: Annotated[str | None, in_records("--contributor", help="The column of whose record it is.")] = None
    holding: Annotated[str | None, in_records("--holding", help="The column of holdings of contributors.")] = None
    weight: Annotated[str | None, in_records("--weight", help="Sampling weights; weighted sums are published.")] = None

    rda: Annotated[Path | None, in_reading("--rda", help="The τ-ARGUS metadata of a .tab file.")] = None
    dimensions: options.Dimensions = None
    count: Annotated[str, in_reading("--count", help="The column of counts of a long file.")] = "count"
    layout: options.Layout = "auto"
    total: options.Total = "Total"
    margins: Annotated[str, in_reading("--margins", help="check stated margins, or recompute them from the cells.")] = (
        "check"
    )
    encoding: options.Encoding = "utf-8"
    delimiter: options.Delimiter = None
    impossible: Annotated[
        Path | None, in_reading("--impossible", help="A file of combinations that cannot occur (structural zeros).")
    ] = None

    def reading(self, **more: Any) -> Reading:
        """Return what these options say; ``more`` replaces some of them."""
        from discreet.reading.reading import Reading

        given = {item.name: getattr(self, item.name) for item in fields(self) if item.name != "hierarchy"}
        given |= {
            "dimensions": options.names(self.dimensions),
            "by": options.names(self.by),
            "hierarchies": options.named_files(self.hierarchy) or None,
            "impossible": None if self.impossible is None else str(self.impossible),
        }
        return Reading.of(given | more)

    def opened(self, file: Path | None, **more: Any) -> Opened:
        """Read an original as these options say."""
        from discreet.reading.original import open_original

        released = more.pop("released", False)
        with show.Bar() as bar:
            return open_original(file, self.reading(**more), released=released, progress=bar)
