"""The published tables of releases, each with the release that it belongs to."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.decide.ledger.entry import Entry
from discreet.table.figures import Figures
from discreet.table.release import Release


@dataclass(frozen=True)
class Sheet:
    """One published table, the release that it belongs to, and the draw that its figures were made by."""

    figures: Figures
    entry: Entry
    draw: str = ""


def sheets_of(release: Release, entry: Entry) -> list[Sheet]:
    """Return the tables of a release; those that were perturbed by the keys of their records share a draw."""
    draw = release.method if release.parameters.get("keys") == "records" else f"{entry.id} {entry.title}"
    return [Sheet(part, entry, draw) for part in release.parts()]
