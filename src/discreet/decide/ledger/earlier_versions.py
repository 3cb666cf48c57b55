"""Ledgers of earlier versions: rows that could be changed, made into a chain of events."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable

from discreet.core.errors import DataError
from discreet.decide.ledger.entry import Entry
from discreet.decide.ledger.history import TAGS, Head, LedgerEvent, Stored, addition, event

AMENDMENTS = """
CREATE TABLE amendment (
    number     INTEGER PRIMARY KEY,
    release    TEXT NOT NULL REFERENCES release (id),
    day        TEXT NOT NULL,
    who        TEXT NOT NULL,
    reason     TEXT NOT NULL,
    population TEXT NOT NULL,
    period     TEXT NOT NULL,
    variable   TEXT NOT NULL
) STRICT
"""
"""The table of corrections, since version 3."""
COLUMNS = ("id", "title", "published", "method", "dimensions", "figures", "hidden", *TAGS)
FATE = ("withdrawn", "reason", "unseen", "revises")


def chained(db: sqlite3.Connection, append: Callable[[int, LedgerEvent], None]) -> None:
    """Make a chain of the rows of version 3, as they are now, and drop them."""
    head = Head()

    def told(said: dict[str, object]) -> None:
        nonlocal head
        made = event(head, said, None)
        append(head.events + 1, made)
        head = Head(head.events + 1, made.digest)

    withdrawn = []
    for *row, digest, body in db.execute(
        f"SELECT {', '.join(COLUMNS + FATE)}, digest, body FROM release ORDER BY number"
    ).fetchall():
        known = dict(zip(COLUMNS + FATE, row, strict=True))
        day, reason, unseen, revises = (known.pop(name) for name in FATE)
        known["dimensions"] = tuple(known["dimensions"].split("\n"))
        entry = Entry(**known, revises=tuple(revises.split("\n")) if revises else ())
        try:
            size = len(zlib.decompress(body))
        except zlib.error as error:
            raise DataError(f"release {entry} is damaged ({error}); restore the ledger from a copy") from None
        told(addition(entry, Stored(digest, size)))
        db.execute("INSERT INTO figures VALUES (?, ?)", (entry.id, body))
        if day:
            withdrawn.append({"release": entry.id, "day": day, "reason": reason, "unseen": bool(unseen)})
    # What releases said when they were added is what corrections begin from.
    names = ("release", "day", "who", "reason", *TAGS)
    for row in db.execute(f"SELECT {', '.join(names)} FROM amendment ORDER BY number").fetchall():
        told({"event": "retag", **dict(zip(names, row, strict=True))})
    for one in withdrawn:
        told({"event": "withdraw", **one})
    db.execute("DROP TABLE amendment")
    db.execute("DROP TABLE release")
