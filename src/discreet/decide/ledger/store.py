"""What a ledger keeps: its file, releases as they are stored in it, and the folder of confidential originals beside it.

The file is SQLite with a write-ahead log, not DuckDB: the ledger is small, several people write it, and it must survive
a machine that stops at any moment. Its transactions let one writer wait for another across processes, readers never
wait, and with ``synchronous=FULL`` a commit has reached the disk when it returns. A DuckDB file belongs to one process.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.files import write_whole
from discreet.table.figures import Figures
from discreet.table.hierarchy import Hierarchy
from discreet.table.kinds import Kind
from discreet.table.release import Release

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
APPLICATION = 0x64697363
"""Marks the file as a ledger: the letters «disc»."""
SCHEMA = 3
"""The version of the tables below; older files get the column ``revises`` (2) and the table ``amendment`` (3)."""
WAIT = 30.0
"""Seconds that a writer waits for another."""
TABLES = """
CREATE TABLE release (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    digest     TEXT NOT NULL UNIQUE,
    title      TEXT NOT NULL,
    published  TEXT NOT NULL,
    method     TEXT NOT NULL,
    dimensions TEXT NOT NULL,
    figures    INTEGER NOT NULL,
    hidden     INTEGER NOT NULL,
    population TEXT NOT NULL,
    period     TEXT NOT NULL,
    variable   TEXT NOT NULL,
    withdrawn  TEXT NOT NULL DEFAULT '',
    reason     TEXT NOT NULL DEFAULT '',
    unseen     INTEGER NOT NULL DEFAULT 0,
    body       BLOB NOT NULL,
    revises    TEXT NOT NULL DEFAULT ''
) STRICT
"""
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


class Store:
    """An open ledger file."""

    def __init__(self, path: Path, *, create: bool, wait: float = WAIT) -> None:
        """Open the file, or begin a new one where that is asked for."""
        self.path, self.wait = path, wait
        if path.is_dir():
            raise RequestError(f"{path} is a folder; name the ledger's file")
        if not create and not path.exists():
            raise RequestError(f"there is no ledger {path}; add a release to begin one, or name another (--ledger)")
        if not path.parent.is_dir():
            raise RequestError(f"{path.parent} is not a folder; make it first, or name another ledger")
        with self._told("opened"):
            self._db = sqlite3.connect(path, timeout=wait, isolation_level=None)
            try:
                self._begin()
            except BaseException:
                self._db.close()
                raise

    def _begin(self) -> None:
        """Check whose file this is, and lay out a new one."""
        self._refuse_others()
        deadline = time.monotonic() + self.wait
        while True:
            try:
                self._db.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                # Changing the journal does not wait on its own while another process begins the same file.
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.02)
        self._db.execute("PRAGMA synchronous=FULL")
        if self._number("user_version") < SCHEMA:
            with self.writing():
                version = self._number("user_version")
                if version == 0:
                    self._db.execute(TABLES)
                    self._db.execute(f"PRAGMA application_id={APPLICATION}")
                elif version == 1:
                    self._db.execute("ALTER TABLE release ADD COLUMN revises TEXT NOT NULL DEFAULT ''")
                if version < SCHEMA:
                    self._db.execute(AMENDMENTS)
                    self._db.execute(f"PRAGMA user_version={SCHEMA}")
        self._refuse_others()

    def _refuse_others(self) -> None:
        version, application = self._number("user_version"), self._number("application_id")
        empty = version == 0 and self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0
        if not empty and application != APPLICATION:
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
        """Hold the only right to write; commit at the end, or leave everything as it was."""
        with self._told("written"):
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield self._db
                self._db.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._db.execute("ROLLBACK")
                raise

    def insert(self, db: sqlite3.Connection, table: str, row: Mapping[str, object]) -> None:
        """Add a row by the names of its columns."""
        marks = ", ".join("?" * len(row))
        db.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", tuple(row.values()))

    def read(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self._told("read"):
            return list(self._db.execute(query, values))

    @contextmanager
    def _told(self, doing: str) -> Iterator[None]:
        """Turn what SQLite says into errors that say what to do."""
        try:
            yield
        except sqlite3.IntegrityError:
            raise
        except sqlite3.OperationalError as error:
            raise self._explained(error, doing) from None
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path} is no ledger, or is damaged ({error}); restore it from a copy") from None

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
        return RequestError(f"{self.path} cannot be {doing} ({error}); check its folder's rights. {kept.capitalize()}")

    def close(self) -> None:
        """Close the file."""
        self._db.close()


class Originals:
    """Copies of original tables, by the release that was made from them.

    The ledger's own file says nothing of them: it can be handed on, and the folder stays where it is.
    """

    def __init__(self, ledger: Path) -> None:
        """Name the folder; nothing is made before something is kept."""
        self.folder = ledger.with_name(f"{ledger.name}.originals")

    def keep(self, release: str, original: Path) -> Path:
        """Copy an original into the folder, whole or not at all."""
        if not original.is_file():
            raise RequestError(f"there is no original {original}; name the file, or leave --original out")
        try:
            self.folder.mkdir(mode=PRIVATE_FOLDER, exist_ok=True)
            self.folder.chmod(PRIVATE_FOLDER)
            data = original.read_bytes()
        except OSError as error:
            raise RequestError(f"{original} cannot be kept ({error.strerror or error}); nothing was added") from None

        def write(part: Path) -> None:
            with part.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())

        target = self.folder / f"{release}{original.suffix.lower()}"
        write_whole(target, write)
        target.chmod(PRIVATE_FILE)
        return target

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


def packed(release: Release) -> bytes:
    """Return everything that a release publishes, as compressed JSON; the same release gives the same bytes."""
    document = {
        "method": release.method,
        "parameters": dict(release.parameters),
        "parts": [_part(part) for part in release.parts()],
    }
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=_plain)
    return zlib.compress(text.encode(), 6)


def unpacked(body: bytes) -> Release:
    """Return the release that was packed.

    >>> shown = Figures.from_array([3, None, 9], {"size": ["small", "large", "Total"]}, name="firms")
    >>> unpacked(packed(Release.of(shown))).parts()[0]
    firms: size (3), 3 figures, 1 hidden (exact, suppressed)
    """
    try:
        document = json.loads(zlib.decompress(body))
        parts = tuple(_figures(part) for part in document["parts"])
        return Release(None, document["method"], document["parameters"], parts)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        raise DataError(f"a release in the ledger is damaged ({error}); restore the ledger from a copy") from None


def digest(body: bytes, about: Mapping[str, str]) -> str:
    """Return the SHA-256 of a packed release and of what is said about it."""
    said = json.dumps(dict(about), sort_keys=True, ensure_ascii=False)
    # The compressed bytes may differ between builds of zlib; what they hold does not.
    return hashlib.sha256(said.encode() + b"\0" + zlib.decompress(body)).hexdigest()


def _part(part: Figures) -> dict[str, Any]:
    return {
        "name": part.name,
        "labels": {name: list(found) for name, found in part.labels.items()},
        # The order of the dimensions is that of the columns of codes.
        "dimensions": list(part.names),
        "codes": part.codes.T.tolist(),
        "values": part.values.tolist(),
        "kind": part.kind.tolist(),
        "kinds": [kind.to_dict() for kind in part.kinds],
        "decimals": part.decimals,
        "total": part.total,
        "absent": part.absent,
        "upper": None if part.upper is None else part.upper.tolist(),
        "hierarchies": {name: [tree.to_dict() for tree in trees] for name, trees in part.hierarchies.items()},
    }


def _figures(data: Mapping[str, Any]) -> Figures:
    names = data["dimensions"]
    size = len(data["values"])
    return Figures(
        {name: tuple(data["labels"][name]) for name in names},
        np.array(data["codes"], np.int64).reshape(len(names), size).T,
        np.array(data["values"], np.int64),
        np.array(data["kind"], np.int64),
        tuple(Kind.from_dict(kind) for kind in data["kinds"]),
        name=data["name"],
        decimals=data["decimals"],
        total=data["total"],
        hierarchies={name: tuple(Hierarchy.from_dict(t) for t in trees) for name, trees in data["hierarchies"].items()},
        absent=data["absent"],
        upper=None if data["upper"] is None else np.array(data["upper"], np.int64),
    )


def _plain(item: Any) -> Any:
    """Return arrays and numbers of NumPy as JSON knows them, and anything else as its text."""
    return item.tolist() if isinstance(item, np.ndarray | np.generic) else str(item)
