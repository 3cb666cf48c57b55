"""``discreet report``: the plain data of an assessment or a comparison into pages, prints and pictures."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated, Any

import typer

from discreet.cli import options, show
from discreet.core.errors import DataError, RequestError

EXAMPLES = {
    "discreet assess table.csv --report table.json": "first an assessment, kept as data",
    "discreet report table.json -o table.pdf": "print it; needs Chromium",
    "discreet report table.json -o public.html --edition public": "with nothing in it that is not published",
    "discreet report table.json --pictures figures --format png": "every plot as a picture",
}
ENDINGS = (".html", ".md", ".json", ".pdf")


def report(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A .json file of an assessment or a comparison (--report, --json).")
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The report: .html, .md, .json or .pdf.", rich_help_panel=options.OUTPUT),
    ] = None,
    edition: Annotated[
        str, typer.Option("--edition", help="internal, or public: nothing unpublished.", rich_help_panel=options.OUTPUT)
    ] = "internal",
    pictures: Annotated[
        Path | None,
        typer.Option("--pictures", help="A folder for every plot as a picture.", rich_help_panel=options.OUTPUT),
    ] = None,
    format: Annotated[
        str, typer.Option("--format", help="The pictures: svg or png.", rich_help_panel=options.OUTPUT)
    ] = "svg",
    json: options.Json = False,
) -> None:
    """Write the report on an assessment or a comparison that was kept as data, without doing the work again."""
    show.check_output(output, data, endings=ENDINGS)
    if output is None and pictures is None:
        raise RequestError("name what to write: a report with --output, or pictures with --pictures")
    from discreet.report import write_pictures, write_report

    kept = _read(data)
    written: list[Path] = []
    with options.about(data):
        if output is not None:
            written.append(write_report(kept, output, edition=edition))
        if pictures is not None:
            written += write_pictures(kept, pictures, format=format, edition=edition)

    def face(console: Any) -> None:
        for path in written:
            console.print(f"Written: {path}", markup=False)

    show.deliver("report", _Written(edition, written), json, None, face)


class _Written:
    """What programs are told."""

    def __init__(self, edition: str, files: list[Path]) -> None:
        self.edition, self.files = edition, files

    def to_dict(self) -> dict[str, Any]:
        return {"edition": self.edition, "written": [str(path) for path in self.files]}


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json_module.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror}); name a .json file of an assessment") from None
    except ValueError as error:
        raise DataError(f"{path} is no JSON ({error}); name a file that --report or --json wrote") from None
    if not isinstance(found, dict) or "kind" not in found:
        raise DataError(f"{path} is not the data of an assessment or a comparison; name a file that --report wrote")
    if found.pop("edition", "internal") == "public":
        raise DataError(f"{path} is a public edition, which has left the original behind; name the internal data")
    found.pop("command", None)
    return found


report.__doc__ = options.explained(report, EXAMPLES)
