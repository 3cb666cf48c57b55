"""What options state about cells: how figures were published, and what people know of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.errors import RequestError

if TYPE_CHECKING:
    from discreet.table.attacker import Attacker, Fact
    from discreet.table.kinds import Kind


def kind_of(stated: str | None) -> Kind:
    """Return how figures were published: as stated, or exactly."""
    from discreet.table.kinds import EXACT
    from discreet.table.release_writer import kind_from_text

    return EXACT if stated is None else kind_from_text(stated)


def crossing_of(text: str | None) -> list[str] | dict[str, list[str]]:
    """Read the dimensions of a crossing; one that no table has comes with its categories.

    >>> crossing_of("area,sex"), crossing_of("area,sex=f+m")
    (['area', 'sex'], {'area': [], 'sex': ['f', 'm']})
    """
    parts = [part.partition("=") for part in (text or "").split(",") if part.strip()]
    found = {name.strip(): [one.strip() for one in labels.split("+") if one.strip()] for name, _, labels in parts}
    return found if any(found.values()) else list(found)


def cell_of(text: str) -> dict[str, str]:
    """Read a cell: ``size=7,region=N``."""
    cell = {}
    for part in text.split(","):
        name, equals, label = part.partition("=")
        if not equals or not name.strip():
            raise RequestError(f"{text!r} names no cell; write dimension=category, separated by commas")
        cell[name.strip()] = label.strip()
    return cell


def insider_of(text: str, name: str) -> Attacker:
    """Read somebody who knows their own contribution: ``size=7:400``, or ``size=7:400:2`` with two others."""
    from discreet.table.attacker import Attacker

    where, _, rest = text.partition(":")
    amount, _, others = rest.partition(":")
    try:
        return Attacker.insider(cell_of(where), float(amount), others=int(others) if others else 1, name=name)
    except ValueError:
        raise RequestError(f"insider {text!r} is not CELL:VALUE or CELL:VALUE:OTHERS, as 'size=7:400'") from None


def fact_of(text: str) -> Fact:
    """Read what everybody knows of a cell: ``size=7:1..50``; either end may be left out."""
    from discreet.table.attacker import Fact

    where, _, ends = text.partition(":")
    low, dots, high = ends.partition("..")
    try:
        if not dots:
            raise ValueError
        return Fact(cell_of(where), float(low) if low else None, float(high) if high else None)
    except ValueError:
        raise RequestError(f"{text!r} is not CELL:LOW..HIGH, as 'size=7:1..50'") from None


def merged_of(texts: list[str] | None) -> dict[str, dict[str, list[str]]]:
    """Read merged categories: ``activity:5,6=5+6``."""
    from discreet.table.release_writer import groups_from_text

    return groups_from_text(";".join(texts)) if texts else {}
