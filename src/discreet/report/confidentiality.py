"""The final check of a public edition: it must not contain any unpublished original figure.

Every readable number in the document is compared with the original values of cells that are not published exactly.
Numbers in the release itself, its labels or an outsider's intervals are allowed; any other that equals such a value
stops the writing. The check does not rely on how the public edition was built: it looks at the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser

from discreet.core.errors import DataError
from discreet.core.json_types import JsonObject
from discreet.report.edition import FROM_AUDIT

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
READABLE = (
    *("title", "alt", "content", "label", "aria-label"),
    *("data-title", "data-note", "data-utility", "data-risk", "data-th"),
)
"""Attributes whose text people can read; all others hold places and numbers of rows."""


def check_public(document: str, data: Mapping[str, object], fixed: Iterable[str]) -> None:
    """Refuse a public document (HTML, Markdown or JSON) that holds an unpublished value of an assessment's original.

    ``fixed`` is text that depends on no value: headings, explanations, numbers of rows and parts.
    """
    secret = unpublished(data)
    allowed = numbers([*_published(data), *fixed])
    text = readable(document) if document.lstrip().startswith("<") else [document]
    leaked = numbers(text) & (secret - allowed)
    if leaked:
        raise DataError(
            f"the public edition would contain {len(leaked)} figures of the original that are not published; nothing "
            "was written. Please report this as a fault of discreet"
        )


def _published(data: JsonObject) -> Iterator[str]:
    """Return the texts that are public whatever the edition says: the release, and what follows from it."""
    yield from _texts(data["release"])
    for cell in (data.get("audit") or {}).get("cells", ()):
        if cell.get("attacker") == "outsider":
            for name in FROM_AUDIT:
                yield from _texts(cell.get(name))
                if isinstance(cell.get(name), float):
                    # Measures are shown with fewer decimals than they are kept with.
                    yield from (f"{cell[name]:.{digits}f}" for digits in (2, 3, 4))
    yield str(data["name"])
    yield from _texts((data.get("record") or {}).get("versions"))


def unpublished(data: JsonObject) -> set[str]:
    """Return the original values of all cells that are not published as they are, as normalised texts."""
    published = {cell: value for part in data["release"]["figures"] for cell, value in _valued(part)}
    changed = [value for cell, value in _valued(data["table"]) if value is not None and published.get(cell) != value]
    rows = [(row["original"], row["published"]) for row in data.get("cells", ()) if row["original"] is not None]
    listed = [original for original, shown in rows if shown != _normal(original)]
    return {_normal(value) for value in (*changed, *listed)}


def _valued(part: JsonObject) -> Iterator[tuple[frozenset[tuple[str, str]], float | None]]:
    """Yield figures, each by its labels along the dimensions that it does not sum over."""
    axes = [(dimension["name"], dimension["labels"]) for dimension in part["dimensions"]]
    for codes, value in zip(part["codes"], part["values"], strict=True):
        cell = ((name, labels[code]) for (name, labels), code in zip(axes, codes, strict=True))
        yield frozenset((name, label) for name, label in cell if label != part["total"]), value


def numbers(texts: Iterable[str]) -> set[str]:
    """Return all numbers in texts, without separators and needless zeros.

    >>> sorted(numbers(["1,234 of 05 and 2.50"]))
    ['1234', '2.5', '5']
    """
    return {_normal(found.replace(",", "")) for text in texts for found in NUMBER.findall(text)}


def _normal(value: float | str) -> str:
    text = f"{float(value):.6f}"
    return text.rstrip("0").rstrip(".").removeprefix("-") or "0"


def _texts(item: object) -> Iterator[str]:
    """Return every text and number in plain data, keys among them."""
    if isinstance(item, Mapping):
        for key, value in item.items():
            yield str(key)
            yield from _texts(value)
    elif isinstance(item, list | tuple):
        for value in item:
            yield from _texts(value)
    elif item is not None and not isinstance(item, bool):
        yield str(item)


def readable(document: str) -> list[str]:
    """Return everything in an HTML document that can be read: text, data for scripts, titles and labels."""
    reader = _Reader()
    reader.feed(document)
    reader.close()
    return reader.found


class _Reader(HTMLParser):
    """Collects text, leaving out style sheets and scripts, which are the same in every report."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self._silent = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self._silent = tag == "style" or (tag == "script" and given.get("type") != "application/json")
        for name, value in attrs:
            if value and name in READABLE:
                self.found.append(value)

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.found.append(data)
