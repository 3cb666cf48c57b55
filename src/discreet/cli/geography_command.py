"""``discreet geography``: who is in differences of unions of zones of two divisions of one territory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli import options, show
from discreet.cli.compose import command, option
from discreet.cli.deadline import in_time, left_of
from discreet.cli.options import in_output
from discreet.cli.reading_options import NamedOriginal
from discreet.core.errors import RequestError, require
from discreet.core.files import write_text
from discreet.core.json_types import Json

if TYPE_CHECKING:
    from discreet.decide.geography import GeographicDifferences
    from discreet.decide.geography.mending import CoarserZones
    from discreet.decide.geography.quadtree import Quadtree
    from discreet.decide.geography.shapes import Shapes


@dataclass(frozen=True)
class Mapped:
    """Where zones are, what is made coarser, and what is written."""

    shapes: Annotated[list[str] | None, option("DIVISION=FILE of GeoJSON polygons; repeat it for both.")] = None
    coarsen: Annotated[str | None, option("Propose coarser zones for this division; a grid in blocks.")] = None
    map: Annotated[Path | None, in_output("Write a map of the differences: .svg.")] = None
    groups: Annotated[Path | None, in_output("Write which zones are merged: .csv.")] = None

    def check(self, *inputs: Path | None) -> None:
        """Refuse what cannot be written, before any work is done."""
        show.check_output(self.map, *inputs, endings=(".svg", ".SVG"))
        show.check_output(self.groups, *inputs, self.map, endings=(".csv", ".CSV"))
        if self.groups is not None and self.coarsen is None:
            raise RequestError("--groups writes what is merged; name a division to make coarser (--coarsen)")

    def read(self, found: GeographicDifferences) -> dict[str, Shapes]:
        """Return the shapes that are given, by division."""
        from discreet.decide.geography.shapes import read_shapes

        given = options.pairs(self.shapes, "--shapes", "give DIVISION=FILE, as grid=cells.geojson")
        require(given, found.territory.names, "shapes are given, but there is no division")
        zones = dict(zip(found.territory.names, found.territory.zones, strict=True))
        return {name: read_shapes(files[-1], zones[name]) for name, files in given.items()}

    def mended(
        self, found: GeographicDifferences, shapes: Mapping[str, Shapes], seconds: float | None
    ) -> CoarserZones | None:
        """Return coarser zones, if they are asked for, within so many seconds."""
        from discreet.decide.geography.mending import coarser

        if self.coarsen is None:
            return None
        require([self.coarsen], found.territory.names, "there is no division")
        return coarser(found, self.coarsen, self._tree(found, shapes), time_limit=seconds)

    def _tree(self, found: GeographicDifferences, shapes: Mapping[str, Shapes]) -> Quadtree | None:
        from discreet.decide.geography.quadtree import Quadtree
        from discreet.decide.geography.shapes import grid_of_squares

        zones = found.territory.zones[found.territory.names.index(str(self.coarsen))]
        named = Quadtree.of(zones)
        if named is not None:
            return named
        squares = grid_of_squares(shapes[str(self.coarsen)]) if str(self.coarsen) in shapes else None
        return squares if squares is not None and set(squares.cells) >= set(zones) else None


@command
def geography(
    *,
    read: NamedOriginal,
    threshold: Annotated[int, option("Find differences of fewer people than this.", min=2)] = 10,
    divisions: Annotated[str | None, option("The two dimensions that are zones, comma-separated.")] = None,
    time_limit: options.TimeLimit = None,
    mapped: Mapped,
    json: options.Json = False,
    output: Annotated[Path | None, in_output("Also write the differences: .json, .csv or .txt.")] = None,
    top: Annotated[int, in_output("How many differences to show.", min=0)] = 20,
) -> None:
    """Find who can be singled out when a territory is published in two divisions, say municipalities and grid cells.

    FILE has counts by pairs of zones that overlap. Wherever a union of zones of one division lies inside a union of the
    other, readers know the difference, though nobody published it. The command finds every difference below the
    threshold, between unions of any size, with its arithmetic. The exit code is 1 if there are any, or if there was no
    time to show that there are none.

    Examples:
        discreet geography --example territory  # areas and grid cells of a bundled territory
        discreet geography people.csv --divisions municipality,cell --threshold 5 --map map.svg  # a table by both
        discreet geography --example territory --coarsen grid --groups merged.csv  # blocks where few live
    """
    from discreet.decide.geography import geography as work

    mapped.check(read.file, output)
    show.check_output(output, read.file)
    source = read.opened(read.file, example=read.example)
    with options.about(read.source):
        wanted = {"divisions": options.names(divisions), "time_limit": left_of(time_limit)}
        found = work(source.table(), threshold, **wanted)
        shapes = mapped.read(found)
        mended = mapped.mended(found, shapes, left_of(time_limit))
        in_time()
        if mapped.map is not None:
            from discreet.decide.geography.drawing import svg_map

            write_text(mapped.map, svg_map(found, shapes), private=True)
    if mapped.groups is not None and mended is not None:
        write_text(mapped.groups, mended.to_csv(), private=True)
    result = _FoundDifferences(found, mended)
    files = [path for path in (mapped.map, mapped.groups) if path is not None]

    def face(console: show.Console) -> None:
        show.head(console, "", source.note)
        result.face(console, top)
        if files:
            show.written(console, *files)

    show.deliver("geography", result, json, output, face)
    if not found.safe:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _FoundDifferences:
    """Differences, and coarser zones if they were asked for."""

    found: GeographicDifferences
    mended: CoarserZones | None

    def face(self, console: show.Console, top: int) -> None:
        console.print(self.found.sentence, style="bold")
        if self.found.found and top:
            show.table(console, ["people", "arithmetic"], self.found.rows(top), left=(1,))
            if len(self.found.found) > top:
                console.print(f"… and {len(self.found.found) - top:,} more; --top shows them, --json lists all")
        if self.mended is not None:
            console.print(f"\n{self.mended.sentence}")

    def to_dict(self) -> dict[str, Json]:
        return {**self.found.to_dict(), **({} if self.mended is None else {"coarser": self.mended.to_dict()})}

    def to_csv(self) -> str:
        return self.found.to_csv()

    def __str__(self) -> str:
        return "\n".join([str(self.found), *([] if self.mended is None else [self.mended.sentence])])
