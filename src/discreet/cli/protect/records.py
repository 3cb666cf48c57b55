"""What the ``discreet protect`` commands on records share: records in, records of the same columns out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.core.errors import RequestError
from discreet.core.files import write_whole

ENDINGS = (".csv", ".parquet")
File = Annotated[Path, typer.Argument(metavar="FILE", help="Records, one row per person: .csv or .parquet.")]
Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Write the records: .csv or .parquet.", rich_help_panel=options.OUTPUT),
]


def on_records(
    work: Callable[[Any], tuple[Any, dict[str, Any]]],
    file: Path,
    output: Path | None,
    encoding: str,
    delimiter: str | None,
    json: bool,
) -> None:
    """Read records, let `work` return others and what it did, write them, and say it."""
    from discreet.table.arrow_files import read_arrow

    show.check_output(output, file, endings=ENDINGS)
    arrow = read_arrow(file, encoding=encoding, delimiter=delimiter)
    with options.about(file):
        made, data = work(arrow)
    if output is not None:
        write_records(made, output)
    summary = _Summary({**data, "output": None if output is None else str(output)})

    def face(console: Any) -> None:
        console.print(f"[bold]{data['method']}[/bold]")
        console.print(data["sentence"], markup=False)
        console.print(
            f"\nWritten: {output}" if output is not None else "\nNothing is written; name a file with --output.",
            style="dim",
            markup=False,
        )

    show.deliver("protect", summary, json, None, face)


def write_records(arrow: Any, path: Path) -> None:
    """Write columns as CSV or Parquet, whole or not at all."""
    import pyarrow.csv as pcsv
    import pyarrow.parquet as pq

    if path.suffix.lower() == ".parquet":
        write_whole(path, lambda temporary: pq.write_table(arrow, temporary))
    else:
        quoting = pcsv.WriteOptions(quoting_style="needed", quoting_header="needed")
        write_whole(path, lambda temporary: pcsv.write_csv(arrow, temporary, quoting))


def sizes(texts: list[str] | None) -> dict[str, int] | None:
    """Read ``CATEGORY=N``, once for every stratum."""
    if not texts:
        return None
    found: dict[str, int] = {}
    for text in texts:
        label, equals, number = text.rpartition("=")
        if not equals or not number.strip().isdigit():
            raise RequestError(f"--size is {text!r}; give it as CATEGORY=N, as north=50")
        found[label] = int(number)
    return found


class _Summary:
    """What programs are told."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def to_dict(self) -> dict[str, Any]:
        return self.data

    def __str__(self) -> str:
        return str(self.data["sentence"])
