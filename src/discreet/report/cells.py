"""Details of single cells: in the panel beside the heat map, and in the list of the worst."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from discreet.core.json_types import JsonObject
from discreet.core.proof_text import proof_lines
from discreet.core.text import at_most
from discreet.report.heat_map_pages import Details
from discreet.report.numbers import amount, between, capital, measure
from discreet.report.scale import KNOWN, is_shown, knowledge

LISTED = 25
"""How many of the worst cells are listed: about two screens; the panel beside the map has all."""


def panel_rows(details: Details, internal: bool, levels: bool) -> list[JsonObject]:
    """Return what the panel shows of each cell; the true value, and the levels to reach, only inside."""
    return [_panel(row, internal, levels) for row in details.rows]


def packed(rows: Sequence[Mapping[str, object]]) -> str:
    """Return rows as JSON that is safe inside an HTML document."""
    text = json.dumps(rows, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _panel(row: JsonObject, internal: bool, levels: bool) -> JsonObject:
    made = {
        **_common(row),
        "lower": row["lower"],
        "upper": row["upper"],
        "bits": row["bits"] if is_shown(row) else "not shown",
        "dr": _risk(row),
    }
    if row.get("values") is not None:
        made["values"] = amount(row["values"])
    if "published" in row:
        made["published"] = _published(row["published"])
        made["at"] = _number(row["published"])
    if internal and "original" in row:
        made |= {"original": row["original"], "reason": capital(row["reason"])}
        if levels and row.get("must_reach"):
            made["reach"] = between(*row["must_reach"])
    return made


def listed(details: Details, internal: bool, n: int = LISTED) -> list[JsonObject]:
    """Return the worst cells as rows of text."""
    found = [row for row in details.rows if "state" in row] if internal else details.rows
    return [
        {
            **_common(row),
            "original": amount(row.get("original")),
            "published": _published(row.get("published", "")),
            "reason": capital(row.get("reason", "")),
        }
        for row in found[:n]
    ]


def stated_once(rows: Sequence[JsonObject]) -> tuple[list[JsonObject], list[str]]:
    """Return rows with the number of their proof if others share it, and the shared proofs; 0 for a proof of their own.

    >>> rows = [{"proof": ["0 to 2: rounded"]}, {"proof": ["3 to 5: rounded"]}, {"proof": ["≥ 1: known"]}]
    >>> stated_once(rows)
    ([{'proof': [], 'shared': 1}, {'proof': [], 'shared': 1}, {'proof': ['≥ 1: known'], 'shared': 0}], ['Rounded'])
    """
    whys = [_why(row["proof"]) for row in rows]
    often = [why for why in dict.fromkeys(whys) if why and whys.count(why) > 1]
    number = {why: k for k, why in enumerate(often, 1)}
    made: list[JsonObject] = [
        {**row, "proof": [] if why in number else row["proof"], "shared": number.get(why, 0)}
        for row, why in zip(rows, whys, strict=True)
    ]
    return made, [capital(why) for why in often]


def _why(proof: Sequence[str]) -> str:
    """Return the reason of a proof; the interval itself stands beside it."""
    if len(proof) != 1:
        return "; ".join(proof)
    interval, _, why = proof[0].partition(": ")
    return why if " to " in interval and why else proof[0]


def _common(row: JsonObject) -> JsonObject:
    proof = proof_lines(row.get("proof"), name_of(row, "="))
    return {"name": name_of(row), "step": knowledge(row), "known": _known(row), "proof": proof}


def name_of(row: JsonObject, sign: str = " ") -> str:
    """Return a cell by its labels; proofs put the sign ``=`` before each.

    >>> name_of({"cell": {"area": "n", "sex": "Total"}})
    'area n'
    """
    parts = [f"{name}{sign}{label}" for name, label in row["cell"].items() if label != "Total"]
    return ", ".join(parts) or "total"


def _known(row: JsonObject) -> str:
    if row.get("state") in ("exact", "determined") or row.get("determined"):
        return f"exactly {amount(row['lower'])}"
    if row.get("state") == "unpublished":
        return "nothing"
    return between(row["lower"], row["upper"])


def _risk(row: JsonObject) -> str:
    if knowledge(row) == KNOWN:
        return "∞, it is known"
    if not is_shown(row):
        return "not shown"
    if row["dr"] is None:
        return "0"
    return at_most(row["dr"], 3) if row.get("basis") == "bound" else measure(row["dr"], 3)


def _published(text: str) -> str:
    number = _number(text)
    return text if number is None else amount(number)


def _number(text: str) -> float | int | None:
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return int(value) if value.is_integer() else value
