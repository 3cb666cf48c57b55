"""The history of a ledger: a chain of events, each with the digest of itself and of all events before it.

Nothing in the chain can be changed, left out or put in without breaking every digest behind it. Anyone who can write
the file can also forge a whole new chain, or cut events off its end. Two things show that: the head of the chain, kept
elsewhere, and signatures by a key that the forger does not have.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from discreet.core.errors import DataError, RequestError
from discreet.core.json_types import JsonObject
from discreet.decide.ledger.entry import Amendment, Entry

START = ""
"""The head of an empty chain."""
TAGS = ("population", "period", "variable")
ADDED = ("id", "title", "published", "method", "dimensions", "figures", "hidden", *TAGS, "revises")
"""What an event says about an added release, apart from the digest and size of its figures."""
SHORTEST = 16
"""The fewest bytes of a key: 128 bits cannot be guessed."""


@dataclass(frozen=True)
class LedgerEvent:
    """A change of the ledger: ``said`` as JSON, the digest of the chain up to here, a signature."""

    said: str
    digest: str
    signature: str = ""


@dataclass(frozen=True)
class Head:
    """The end of a chain: how many events it has, and the digest of all of them."""

    events: int = 0
    digest: str = START


@dataclass(frozen=True)
class Stored:
    """What is known about the figures of a release: their digest, with the description, and their size in bytes."""

    digest: str
    size: int


def event(before: Head, said: Mapping[str, object], key: bytes | None) -> LedgerEvent:
    """Return the event that follows in a chain, signed if there is a key.

    >>> first = event(Head(), {"event": "withdraw", "release": "1"}, None)
    >>> first.digest == event(Head(1, first.digest), {"event": "withdraw", "release": "1"}, None).digest
    False
    """
    text = json.dumps(dict(said), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    mark = _linked(before.digest, text)
    return LedgerEvent(text, mark, "" if key is None else _signed(key, mark))


def addition(entry: Entry, stored: Stored) -> dict[str, object]:
    """Return the description of an added release."""
    return {"event": "add", **{name: getattr(entry, name) for name in ADDED}, **vars(stored)}


def read_key(source: str | Path | bytes | None) -> bytes | None:
    """Return the key of an office, from its file."""
    if source is None:
        return None
    try:
        key = source if isinstance(source, bytes) else Path(source).read_bytes().strip()
    except OSError as error:
        raise RequestError(
            f"the key {source!s} cannot be read ({error.strerror}); name its file (key=, --office-key)"
        ) from None
    if len(key) < SHORTEST:
        raise RequestError(f"the key has {len(key)} bytes; give {SHORTEST} or more that nobody can guess")
    return key


class History:
    """The events of a ledger, checked link by link, and what follows from them.

    ``bodies`` are the ids of the releases whose figures are there. An error says where the chain breaks. ``signed``
    says whether the last event is.
    """

    def __init__(
        self, path: Path, events: Sequence[LedgerEvent], head: Head, bodies: Collection[str], key: bytes | None = None
    ) -> None:
        self.path, self.head, self.signed = path, Head(), False
        self.entries: dict[str, Entry] = {}
        self.stored: dict[str, Stored] = {}
        self.digests: list[str] = []
        for one in events:
            if key is not None and one.signature and not hmac.compare_digest(_signed(key, one.digest), one.signature):
                raise self._broken(self.head.events + 1, "is not signed with this key")
            self.follow(one)
        if head != self.head:
            raise self._broken(len(events), f"should be number {head.events}, and the last: some are missing or added")
        if key is not None and events and not self.signed:
            raise self._broken(len(events), "is not signed")
        if lost := sorted(set(self.entries) ^ set(bodies)):
            raise DataError(
                f"{path}: release {lost[0]} is {'there' if lost[0] in bodies else 'listed'}, but "
                f"{'no event names it' if lost[0] in bodies else 'its figures are gone'}; restore the ledger from "
                "a copy"
            )

    def follow(self, one: LedgerEvent) -> None:
        """Add the next event; one that does not follow from those before it breaks the chain."""
        number = self.head.events + 1
        if _linked(self.head.digest, one.said) != one.digest:
            raise self._broken(number, "does not follow from those before it")
        try:
            self._apply(json.loads(one.said))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._broken(number, "cannot be read") from None
        self.head, self.signed = Head(number, one.digest), bool(one.signature)
        self.digests.append(one.digest)

    def _broken(self, number: int, what: str) -> DataError:
        return DataError(
            f"{self.path}: the chain of the ledger breaks at event {number:,}, which {what}; the file was changed: "
            "restore it from a copy"
        )

    def _apply(self, event: JsonObject) -> None:
        """Apply one event."""
        said = {**event}
        what = said.pop("event")
        if what == "add":
            given: JsonObject = {name: tuple(v) if isinstance(v := said[name], list) else v for name in ADDED}
            if given["id"] in self.entries or len(said) != len(ADDED) + 2:
                raise ValueError
            self.entries[given["id"]] = Entry(**given)
            self.stored[given["id"]] = Stored(said["digest"], int(said["size"]))
            return
        entry = self.entries[said.pop("release")]
        if what == "withdraw":
            changed = replace(entry, withdrawn=said["day"], reason=said["reason"], unseen=bool(said["unseen"]))
        elif what == "retag":
            # Each amendment says what it replaced.
            now = {tag: said[tag] for tag in TAGS} | {"least": said.get("least", entry.least)}
            told = {item.name: said[item.name] for item in fields(Amendment) if item.name not in now}
            was = Amendment(**told, **{tag: getattr(entry, tag) for tag in now})
            changed = replace(entry, **now, amended=(*entry.amended, was))
        else:
            raise ValueError
        self.entries[entry.id] = changed

    def refuse_other(self, head: str) -> None:
        """Refuse a ledger whose chain does not contain a head that was kept elsewhere."""
        wanted = head.strip().lower()
        if len(wanted) < SHORTEST or not any(one.startswith(wanted) for one in self.digests):
            raise DataError(
                f"{self.path}: no event of the chain has the head {head!r}; events were cut off or replaced, or it is "
                f"the head of another ledger. This one ends in {self.head.digest[:SHORTEST]}… after "
                f"{self.head.events:,} events"
            )


def said_of(entry: Entry) -> dict[str, str]:
    """Return a release's description when it was added, as covered by its digest."""
    first = entry.amended[0] if entry.amended else entry
    said = {"title": entry.title} | {tag: getattr(first, tag) for tag in TAGS}
    return said | ({"revises": "\n".join(entry.revises)} if entry.revises else {})


def _linked(before: str, said: str) -> str:
    return hashlib.sha256(f"{before}\n{said}".encode()).hexdigest()


def _signed(key: bytes, digest: str) -> str:
    return hmac.new(key, digest.encode(), hashlib.sha256).hexdigest()
