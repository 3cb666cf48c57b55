"""The options that say how releases are read, declared once for all commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from discreet.cli import options
from discreet.cli.options import in_reading

if TYPE_CHECKING:
    from discreet.table.release import Release

in_published = options.panel("How the figures were published")


@dataclass(frozen=True)
class ReleaseOptions:
    """How what is published is read."""

    hierarchy: Annotated[
        list[str] | None,
        in_published("--hierarchy", help="DIMENSION=FILE; several files for one dimension may be given."),
    ] = None
    mark: Annotated[
        list[str] | None,
        in_published(
            "--mark", help="A suppression mark, instead of x, .., c and nothing; 'c=1..7' says what it means."
        ),
    ] = None
    absent: Annotated[str, in_published("--absent", help="Cells without a row are empty or unpublished.")] = "empty"
    value: Annotated[str | None, in_reading("--value", "--count", help="The column of figures of a long file.")] = None
    dimensions: options.Dimensions = None
    layout: options.Layout = "auto"
    total: options.Total = "Total"
    part: options.Part = None
    encoding: options.Encoding = "utf-8"
    delimiter: options.Delimiter = None

    def reading(self, least: float | None) -> dict[str, Any]:
        """Return what these options say, as :func:`discreet.read_release` takes it."""
        from discreet.table.hierarchy import TOTAL
        from discreet.table.roles import MARKS
        from discreet.tabulation.tabulate import trees_of

        trees = options.named_files(self.hierarchy)
        return {
            "value": self.value,
            "dimensions": options.names(self.dimensions),
            "layout": self.layout,
            "total": self.total,
            "marks": tuple(self.mark) if self.mark else MARKS,
            "least": least,
            "hierarchies": {name: trees_of(files, self.total or TOTAL) for name, files in trees.items()},
            "absent": self.absent,
            "parts": options.parts(self.part),
            "encoding": self.encoding,
            "delimiter": self.delimiter,
        }

    def releases(self, paths: Sequence[Path], least: float | None, **made: Any) -> list[Release]:
        """Read releases; ``made`` says how their figures were made. A total of a part that none has is refused."""
        from discreet.reading.published import open_release

        reading = self.reading(least)
        found = [open_release(path, {**made, **reading}) for path in paths]
        options.check_parts(reading["parts"], _totals(found))
        return found


def _totals(published: Iterable[Release]) -> Iterator[tuple[str, str, bool]]:
    """Yield the totals that tables list along each dimension, and whether they are of a part."""
    for figures in (figures for release in published for figures in release.parts()):
        for name, labels in figures.labels.items():
            for label in labels:
                if figures.is_total(name, label):
                    yield name, label, label == figures.part(name)
