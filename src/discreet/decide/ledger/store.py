"""The ledger's file, and the folder of confidential originals beside it.

The file is SQLite, not DuckDB: the ledger is small, several people write it, and it must survive a machine that stops
at any moment. Its transactions let one writer wait for another across processes, and with ``synchronous=EXTRA`` a
commit has reached the disk when it returns. The journal is a rollback journal, not a write-ahead log: everything
committed is in one file, so a copy of it is complete, and it can be read where nothing can be written.
"""

from __future__ import annotations

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.files import PRIVATE_FOLDER, new_whole, remove_orphans, sync_folder, write_whole
from discreet.decide.ledger.earlier_versions import AMENDMENTS, chained
from discreet.decide.ledger.history import Head, LedgerEvent

APPLICATION = 0x64697363
"""Marks the file as a ledger: the letters «disc»."""
SCHEMA = 4
"""The version of the tables below; ``earlier_versions`` upgrades older ones."""
WAIT = 30.0
"""Seconds that a writer waits for another: a round choice, far longer than a commit takes."""
MAGIC = b"SQLite format 3\0"
SMALLEST = 512
"""The smallest size of a SQLite file in bytes."""
TABLES = (
    "CREATE TABLE event (number INTEGER PRIMARY KEY, said TEXT NOT NULL, digest TEXT NOT NULL, "
    "signature TEXT NOT NULL) STRICT",
    "CREATE TABLE figures (id TEXT PRIMARY KEY, body BLOB NOT NULL) STRICT",
    "CREATE TABLE head (only INTEGER PRIMARY KEY CHECK (only = 1), events INTEGER NOT NULL, digest TEXT NOT NULL) "
    "STRICT",
    "INSERT INTO head VALUES (1, 0, '')",
)


class Store:
    """An open ledger file. One that cannot be written can still be read."""

    def __init__(self, path: Path, *, create: bool, wait: float = WAIT, whole: bool = False) -> None:
        """Open the file, or create it on request.

        ``whole`` says that a file of an earlier version has all its entries, although there is no log beside it.
        """
        self.path, self.wait = path, wait
        if path.is_dir():
            raise RequestError(f"{path} is a folder; name the ledger's file")
        if not path.parent.is_dir():
            raise RequestError(f"{path.parent} is not a folder; make it first, or name another ledger")
        if not path.exists():
            if not create:
                raise RequestError(
                    f"there is no ledger {path}; add a release to begin one, or name another (path=, --ledger)"
                )
            new_whole(path, _lay_out)
        self._refuse_cut()
        # Opening a file makes a log, so this is the moment to see whether one came with it.
        self._unlogged = self._logged() and not self._log.exists() and not whole
        self.writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
        with self._told("opened"):
            self._db = self._opened()
            try:
                self._begin()
            except BaseException:
                self._db.close()
                raise

    def _refuse_cut(self) -> None:
        """Refuse a file that SQLite would take for an empty one, or that lacks its end."""
        try:
            size = self.path.stat().st_size
            with self.path.open("rb") as stream:
                start = stream.read(100)
        except OSError as error:
            raise RequestError(f"{self.path} cannot be read ({error.strerror}); check its folder's rights") from None
        if size < SMALLEST or not start.startswith(MAGIC):
            raise DataError(
                f"{self.path} is not a ledger, or is damaged ({size:,} bytes); restore it from a copy, or name another"
            )
        page = int.from_bytes(start[16:18], "big")
        pages = int.from_bytes(start[28:32], "big") if start[24:28] == start[92:96] else 0
        journals = (self.path.with_name(f"{self.path.name}-{ending}") for ending in ("wal", "journal"))
        if size < (65536 if page == 1 else page) * pages and not any(file.exists() for file in journals):
            raise DataError(f"{self.path} is not a ledger, or is damaged (it was cut short); restore it from a copy")

    @property
    def _log(self) -> Path:
        return self.path.with_name(f"{self.path.name}-wal")

    def _logged(self) -> bool:
        """Say whether the file is one whose last entries may be in a log beside it, as in earlier versions."""
        with self.path.open("rb") as stream:
            return stream.read(20)[18:20] == b"\2\2"

    def _opened(self) -> sqlite3.Connection:
        if self.writable:
            return sqlite3.connect(self.path, timeout=self.wait, isolation_level=None)
        if self._logged() and self._log.exists() and self._log.stat().st_size:
            raise RequestError(
                f"{self.path} cannot be written, and part of it is in {self._log.name}; copy both to a folder of your "
                "own"
            )
        where = f"{self.path.absolute().as_uri()}?mode=ro{'&immutable=1' if self._logged() else ''}"
        found = sqlite3.connect(where, uri=True, timeout=self.wait, isolation_level=None)
        if int(found.execute("PRAGMA user_version").fetchone()[0]) >= SCHEMA:
            return found
        # A file of an earlier version is brought up to date in memory.
        copy = sqlite3.connect(":memory:", isolation_level=None)
        found.backup(copy)
        found.close()
        return copy

    def _begin(self) -> None:
        """Check whose file this is, and bring an older one up to date."""
        self._refuse_others()
        if self._unlogged:
            raise DataError(
                f"{self.path} is of an earlier version, which kept its last entries in {self._log.name}, and that file "
                "is not here. If the ledger was copied, copy both; if no program had it open and nothing is missing, "
                "say so once (discreet ledger verify --whole)"
            )
        self._db.execute("PRAGMA trusted_schema=OFF")
        if self._db.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
            self._without_log()
        self._db.execute("PRAGMA synchronous=EXTRA")
        if self._number("user_version") < SCHEMA:
            with self._transaction() as db:
                version = self._number("user_version")
                if version == 1:
                    db.execute("ALTER TABLE release ADD COLUMN revises TEXT NOT NULL DEFAULT ''")
                if version < 3:
                    db.execute(AMENDMENTS)
                if version < SCHEMA:
                    for statement in TABLES:
                        db.execute(statement)
                    chained(db, self.append)
                    db.execute(f"PRAGMA user_version={SCHEMA}")
        self._refuse_others()

    def _without_log(self) -> None:
        deadline = time.monotonic() + self.wait
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=DELETE")
                break
            except sqlite3.OperationalError as error:
                # Changing the journal does not wait on its own while another process has the file open.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)

    def _refuse_others(self) -> None:
        version, application = self._number("user_version"), self._number("application_id")
        if application != APPLICATION or not version:
            raise DataError(f"{self.path} is a database, but not a ledger of discreet; name another file")
        if version > SCHEMA:
            raise DataError(
                f"{self.path} was written by a newer discreet (version {version} of the ledger, and version {SCHEMA} "
                "is read here); update discreet. Nothing was changed"
            )

    def _number(self, pragma: str) -> int:
        return int(self._db.execute(f"PRAGMA {pragma}").fetchone()[0])

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """Hold the exclusive right to write; commit at the end, or change nothing."""
        if not self.writable:
            raise RequestError(f"{self.path} cannot be written; check the rights of the file and its folder")
        with self._told("written"), self._transaction() as db:
            yield db

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield self._db
            self._db.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            raise

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read a snapshot of the file, whatever others add meanwhile."""
        with self._told("read"):
            self._db.execute("BEGIN")
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    self._db.execute("COMMIT")

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._told("read"):
            return list(self._db.execute(query, values))

    def head(self) -> Head:
        """Return the end of the chain."""
        found = self.read("SELECT events, digest FROM head")
        if len(found) != 1:
            raise DataError(f"{self.path}: the head of the ledger's chain is missing; restore it from a copy")
        return Head(*found[0])

    def written_by_others(self) -> int:
        """Return a number that changes whenever another connection writes the file."""
        return self._number("data_version")

    def keep(self, release: str, body: bytes) -> None:
        """Store the figures of a release."""
        self._db.execute("INSERT INTO figures VALUES (?, ?)", (release, body))

    def append(self, number: int, event: LedgerEvent) -> None:
        """Append an event to the chain, as its ``number``-th."""
        self._db.execute("INSERT INTO event VALUES (?, ?, ?, ?)", (number, event.said, event.digest, event.signature))
        self._db.execute("UPDATE head SET events = ?, digest = ?", (number, event.digest))

    def events(self) -> list[LedgerEvent]:
        """Return the whole chain."""
        return [LedgerEvent(*row) for row in self.read("SELECT said, digest, signature FROM event ORDER BY number")]

    def faults(self) -> list[str]:
        """Return what SQLite finds wrong with the file."""
        found = [str(row[0]) for row in self.read("PRAGMA integrity_check(5)")]
        return [] if found == ["ok"] else found

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Turn SQLite's errors into errors that say what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            raise self._explained(error, doing) from None
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise DataError(f"{self.path} is not a ledger, or is damaged ({error}); restore it from a copy") from None

    def _explained(self, error: sqlite3.OperationalError, doing: str) -> Exception:
        kept = "nothing was added or changed, and every release that was in it still is"
        name = getattr(error, "sqlite_errorname", "")
        if name.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
            return LimitError(
                f"{self.path} cannot be {doing}: the disk is full ({error}); make room. {kept.capitalize()}"
            )
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return LimitError(
                f"{self.path} is being written by somebody else for longer than {self.wait:g} s; try again. "
                f"{kept.capitalize()}"
            )
        if name in ("", "SQLITE_ERROR") or "UTF-8" in str(error):
            return DataError(f"{self.path} is not a ledger, or is damaged ({error}); restore it from a copy")
        return RequestError(f"{self.path} cannot be {doing} ({error}); check its folder's rights. {kept.capitalize()}")

    def close(self) -> None:
        """Close the file."""
        self._db.close()


def _lay_out(path: Path) -> None:
    """Make an empty ledger."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute("BEGIN")
        for statement in TABLES:
            db.execute(statement)
        db.execute(f"PRAGMA application_id={APPLICATION}")
        db.execute(f"PRAGMA user_version={SCHEMA}")
        db.execute("COMMIT")
    finally:
        db.close()


class Originals:
    """Copies of original tables, by the release that was made from them.

    The ledger's own file does not mention them: it can be shared while the folder stays where it is.
    """

    PENDING = ".pending"

    def __init__(self, ledger: Path) -> None:
        """Name the folder; nothing is made before something is kept."""
        self.folder = ledger.with_name(f"{ledger.name}.originals")

    def prepare(self, release: str, original: Path) -> None:
        """Copy an original into the folder, atomically; it counts once :meth:`settle` names it."""
        if not original.is_file():
            raise RequestError(
                f"there is no original {original}; name the file, or leave it out (original=, --original)"
            )
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            self.folder.chmod(PRIVATE_FOLDER)
            data = original.read_bytes()
        except OSError as error:
            raise RequestError(f"{original} cannot be kept ({error.strerror or error}); nothing was added") from None
        target = self.folder / f"{release}{original.suffix.lower()}{self.PENDING}"
        write_whole(target, lambda part: part.write_bytes(data), private=True)
        sync_folder(self.folder)

    def settle(self, known: set[str]) -> None:
        """Name the copies of releases that are in the ledger, and remove those of releases that never got there."""
        if not self.folder.is_dir():
            return
        remove_orphans(self.folder, rf".+{re.escape(self.PENDING)}")
        for pending in self.folder.glob(f"*{self.PENDING}"):
            with suppress(OSError):
                kept = pending.with_suffix("")
                if kept.name.split(".")[0] in known:
                    pending.replace(kept)
                else:
                    pending.unlink()

    def path(self, release: str) -> Path:
        """Return the original of a release."""
        found = sorted(self.folder.glob(f"{release}.*")) if self.folder.is_dir() else []
        if not found:
            raise RequestError(
                f"the original of release {release} is not in {self.folder}; it was not kept, or is on another machine"
            )
        return found[0]

    def has(self, release: str) -> bool:
        """Say whether the original of a release was kept."""
        return self.folder.is_dir() and any(self.folder.glob(f"{release}.*"))
