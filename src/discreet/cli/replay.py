"""``discreet replay``: an assessment or comparison made again from its record."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show

EXAMPLES = {
    "discreet replay religion.record.json": "does the assessment come out the same?",
    "discreet replay religion.comparison.record.json": "and the comparison?",
    "discreet replay table.record.json --original /safe/table.csv": "the original lies elsewhere now",
}


def replay(
    record: Annotated[Path, typer.Argument(help="The record that discreet assess or compare wrote.")],
    original: Annotated[
        Path | None, typer.Option("--original", help="The original, where it is not where the record says.")
    ] = None,
    json: options.Json = False,
    workers: options.Workers = None,
    output: options.Output = None,
) -> None:
    """Make an assessment or comparison again from its record, and compare the results byte by byte.

    Exit code 0 if they are the same, 1 if they are not; then what differs is listed.
    """
    from discreet.decide.replay import replay as work

    show.check_output(output, record, original, endings=(".json", ".txt"))
    with show.Bar() as bar:
        found = work(record, original, workers=workers, progress=bar)

    def face(console: Any) -> None:
        colour = "green" if found.same else "red"
        console.print(f"[bold {colour}]{found.sentence}[/bold {colour}]")
        for text in (*found.differences[:20], *found.notes):
            console.print(f"- {text}", markup=False)
        if len(found.differences) > 20:
            console.print(f"… and {len(found.differences) - 20:,} more; --json lists them")

    show.deliver("replay", found, json, output, face)
    if not found.same:
        raise typer.Exit(1)


replay.__doc__ = options.explained(replay, EXAMPLES)
