"""Reports are written in the format of the file's ending, atomically."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.core.files import write_text
from discreet.core.json_types import Json
from discreet.report.confidentiality import check_public
from discreet.report.edition import edition_of
from discreet.report.html import fixed_text, html_report
from discreet.report.markdown import markdown_report

ENDINGS = (".html", ".md", ".json", ".pdf")
"""The formats of reports."""


def write_report(
    data: Mapping[str, Json],
    path: str | Path,
    *,
    edition: str = "internal",
    author: str = "",
    date: str = "",
    ledger: str = "",
) -> Path:
    """Write the report on an assessment or a comparison, and return the file.

    Args:
        data: what their ``to_dict()`` returns.
        path: a file that ends in ``.html``, ``.md``, ``.json`` or ``.pdf`` (which needs Chromium).
        edition: ``"internal"`` shows original values and is marked as confidential on every page, for its
            owner alone; ``"public"`` is made of the release alone, and is checked to hold no original figure that is
            not published;
            ``"public-intervals"`` adds the interval of every figure that an outsider can work out.
        author: who is responsible for the assessment, shown where an internal report is signed; a line to write on if
            not given.
        date: the day beside it.
        ledger: the head of a ledger, which an internal report keeps for :meth:`~discreet.Ledger.verify`.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if author or date:
        if edition != "internal":
            raise RequestError("only the internal edition is signed; leave out author and date, or write that edition")
        data = {**data, "signed": {"author": author, "date": date}}
    if ledger:
        data = {**data, "ledger": ledger}
    if kind not in ENDINGS:
        raise RequestError(
            f"{file}: '{file.suffix}' is not a format of reports; end the name in .html, .md, .json or .pdf"
        )
    if kind == ".pdf":
        from discreet.report.pdf import find_chromium, write_pdf

        browser = find_chromium()
        write_pdf(report_text(data, ".html", edition), file, browser, private=edition == "internal")
    else:
        write_text(file, report_text(data, kind, edition), private=edition == "internal")
    return file


def report_text(data: Mapping[str, Json], kind: str, edition: str = "internal") -> str:
    """Return the text of a report; a public one is checked before it leaves this function."""
    shown = edition_of(data, edition)
    if kind == ".html":
        text = html_report(shown)
    elif kind == ".md":
        text = markdown_report(shown)
    else:
        text = json.dumps(shown, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if edition != "internal":
        check_public(text, data, fixed_text(shown))
    return text
