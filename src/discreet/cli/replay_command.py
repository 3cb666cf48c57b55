"""``discreet replay``: an assessment, comparison or release made again from its record."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from discreet.cli import bundled, options, show
from discreet.cli.compose import argument, command, option
from discreet.core.errors import undamaged


@command
def replay(
    context: typer.Context,
    record: Annotated[
        Path | None, argument("The record that discreet assess, compare or protect wrote.", "RECORD")
    ] = None,
    example: options.Example = None,
    original: Annotated[Path | None, option("The original, if it is not where the record says.")] = None,
    json: options.Json = False,
    workers: options.Workers = None,
    output: Annotated[Path | None, options.in_output("Also write the result: .json or .txt.")] = None,
) -> None:
    """Make an assessment, comparison or release again from its record, and compare the results byte by byte.

    Exit code 0 if they are the same; 1 if not, with a list of what differs.

    Examples:
        discreet replay religion.record.json  # does the assessment come out the same?
        discreet replay religion.comparison.record.json  # and the comparison?
        discreet replay release.record.json  # a release that discreet protect made
        discreet replay table.record.json --original /safe/table.csv  # the original is elsewhere now
        discreet replay --example religion  # assess a bundled table twice
    """
    from discreet.cli.protection_record import KIND, replay_protection
    from discreet.decide.provenance import read_record
    from discreet.decide.replay import replay as work

    bundled.one_of(record, example, "a record")
    show.check_output(output, record, original, endings=(".json", ".txt"))
    with bundled.record_file(example) if example else nullcontext(record) as named, show.ProgressBar() as bar:
        assert named is not None
        record = named
        with undamaged(str(record), "make it again"):
            data = read_record(record)
            if data["kind"] == KIND:
                found = replay_protection(record, data, original, context.obj.perform, bar.draw)
            else:
                found = work(record, original, workers=workers, progress=bar)

    def face(console: show.Console) -> None:
        show.verdict(console, "same" if found.same else "different", found.sentence)
        for text in (*found.differences[:20], *found.notes):
            console.print(f"- {text}")
        if len(found.differences) > 20:
            console.print(f"… and {len(found.differences) - 20:,} more; --json lists them")

    show.deliver("replay", found, json, output, face)
    if not found.same:
        raise typer.Exit(1)
