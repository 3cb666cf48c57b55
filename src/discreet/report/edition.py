"""Editions of a report: *internal*, with original values, and *public*, made of nothing but what is published.

The public edition is not a redacted internal one. It is built from the release: published figures,
the method and its public parameters, and what an outsider works out from them. The code that draws it never sees the
original.
"""

from __future__ import annotations

from collections.abc import Mapping

from discreet.core.errors import DataError, RequestError, nearest
from discreet.core.json_types import JsonObject
from discreet.table.space import WHOLE

EDITIONS = ("internal", "public", "public-intervals")
"""Internal; public; and public with the interval of every figure that an outsider can work out."""
SCHEMA = 1
"""The version of the plain data of assessments and comparisons that is read."""
KINDS = ("assessment", "sample", "comparison")
FROM_AUDIT = ("cell", "lower", "upper", "values", "bits", "dr", "basis", "determined", "proof", "finished")
"""What an audit says of a figure without the original."""


def edition_of(data: Mapping[str, object], edition: str) -> JsonObject:
    """Return the data that one edition is made of."""
    if edition not in EDITIONS:
        raise RequestError(f"there is no edition {edition!r}; {nearest(edition, EDITIONS)}")
    if data.get("kind") not in KINDS:
        raise DataError(f"a report is made of an assessment or a comparison, not of {data.get('kind')!r}")
    if data.get("schema") != SCHEMA:
        raise DataError(
            f"the data are of version {data.get('schema')!r}, but version {SCHEMA} is read here; update discreet"
        )
    return {**data, "edition": "internal"} if edition == "internal" else public(data, edition == "public-intervals")


def public(data: JsonObject, intervals: bool = False) -> JsonObject:
    """Return what may be said in public about an assessment, built from its release alone; intervals on request."""
    if data["kind"] == "comparison":
        raise RequestError(
            "a comparison has no public edition: it measures what was not published; report the assessment of the "
            "release that was chosen"
        )
    if data["verdict"] == "withhold":
        raise RequestError("there is no public edition: the verdict is not to release, so nothing is published")
    if data.get("release") is None:
        raise RequestError("there is no public edition of a sample's assessment: it names no release; write one first")
    release = data["release"]
    audit = data.get("audit") or {}
    # Only an outsider's view follows from the release; others know contributions. Sums that the release does not show
    # were asked about because they are sensitive: naming them would say that they are.
    shown = _figures(release)
    cells = [
        {name: cell.get(name) for name in FROM_AUDIT}
        for cell in audit.get("cells", ())
        if cell.get("attacker") == "outsider" and _without_totals(cell["cell"]) in shown
    ]
    # An audit of some of the hidden figures would say which of them are sensitive, and in which order.
    hidden = sum(part["hides"][kind] for part in release["figures"] for kind in part["kind"])
    if not intervals or sum(audit.get("counts", {}).values()) < hidden:
        cells = []
    cells.sort(key=lambda cell: (cell["bits"] is None, cell["bits"], str(cell["cell"])))
    return {
        "schema": data["schema"],
        "kind": data["kind"],
        "edition": "public",
        "name": f"{data['name']} (trial, not for publication)" if data.get("trial") else data["name"],
        "verdict": "release",
        "trial": bool(data.get("trial")),
        "method": release["method"],
        "release": _release(release),
        "audit": {"cells": cells},
        "record": {"versions": data.get("record", {}).get("versions")},
    }


def _figures(release: JsonObject) -> set[frozenset[tuple[str, str]]]:
    """Return the cells and totals that a release shows or hides, by what they are besides totals."""
    found = set()
    for part in release["figures"]:
        names = [one["name"] for one in part["dimensions"]]
        labels = [[WHOLE if x == part["total"] else x for x in one["labels"]] for one in part["dimensions"]]
        for codes in part["codes"]:
            cell = {name: of[code] for name, of, code in zip(names, labels, codes, strict=True)}
            found.add(_without_totals(cell))
    return found


def _without_totals(cell: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    return frozenset(item for item in cell.items() if item[1] != WHOLE)


def _release(release: JsonObject) -> JsonObject:
    """Return published figures; a value behind a hidden figure is dropped, were it ever there."""
    parts = []
    for part in release["figures"]:
        hides = part["hides"]
        values = [None if hides[kind] else value for value, kind in zip(part["values"], part["kind"], strict=True)]
        parts.append({**part, "values": values})
    return {"method": release["method"], "parameters": dict(release["parameters"]), "figures": parts}
