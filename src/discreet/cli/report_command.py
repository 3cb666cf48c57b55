"""``discreet report``: the plain data of an assessment or a comparison into pages, prints and pictures."""

from __future__ import annotations

import json as json_module
from pathlib import Path
from typing import Annotated

from discreet.cli import bundled, options, show
from discreet.cli.compose import argument, command
from discreet.cli.options import in_output
from discreet.core.errors import DataError, RequestError, undamaged
from discreet.core.json_types import Json


@command
def report(
    data: Annotated[
        Path | None, argument("A .json file of an assessment or a comparison (--report, --json).", "DATA")
    ] = None,
    example: options.Example = None,
    output: Annotated[Path | None, in_output("The report: .html, .md, .json or .pdf.")] = None,
    edition: Annotated[str, in_output("internal, public (nothing unpublished) or public-intervals.")] = "internal",
    author: options.Author = "",
    date: options.ReportDate = "",
    head_of: options.HeadOf = None,
    pictures: Annotated[Path | None, in_output("A folder for every plot as a picture.", metavar="FOLDER")] = None,
    format: Annotated[str, in_output("Format of the pictures: svg or png.", "--picture-format")] = "svg",
    json: options.Json = False,
) -> None:
    """Write the report on an assessment or a comparison that was kept as data, without doing the work again.

    Examples:
        discreet assess table.csv --report table.json  # first an assessment, kept as data
        discreet report table.json -o table.pdf  # print it; needs Chromium
        discreet report table.json -o public.html --edition public  # with nothing in it that is not published
        discreet report table.json -o table.html --author "A. Novak" --date 2026-11-17  # ready to sign
        discreet report table.json --pictures figures --picture-format png  # every plot as a picture
        discreet report --example religion -o religion.html  # on a bundled table, assessed now
    """
    bundled.one_of(data, example, "the data of an assessment")
    show.check_output(output, data, endings=options.REPORTS)
    if output is None and pictures is None:
        raise RequestError("name what to write: a report with --output, or pictures with --pictures")
    from discreet.report import write_pictures, write_report

    kept = bundled.assessment(example).to_dict() if example else _read(Path(str(data)))
    head = options.head_of(head_of)
    written: list[Path] = []
    with options.about(data or example), undamaged(str(data or example), "write it again with --report"):
        if output is not None:
            written.append(write_report(kept, output, edition=edition, author=author, date=date, ledger=head))
        if pictures is not None:
            written += write_pictures(kept, pictures, format=format, edition=edition)

    def face(console: show.Console) -> None:
        for path in written:
            console.print(f"Written: {path}")

    show.deliver("report", {"edition": edition, "written": list(map(str, written))}, json, None, face)


def _read(path: Path) -> dict[str, Json]:
    try:
        found = json_module.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise RequestError(f"{path} cannot be read ({error.strerror}); name a .json file of an assessment") from None
    except ValueError:
        raise DataError(f"{path} is not JSON; name a file that --report or --json wrote") from None
    if not isinstance(found, dict) or "kind" not in found:
        raise DataError(f"{path} is not the data of an assessment or a comparison; name a file that --report wrote")
    if found.pop("edition", "internal") == "public":
        raise DataError(f"{path} is a public edition, without the original; name the internal data")
    found.pop("command", None)
    return found
