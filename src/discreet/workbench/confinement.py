"""What a process of the workbench may open: its folder, and the few files that were named when it was started.

A hook of the interpreter sees every file that Python opens, lists, renames or removes, whoever asks for it: an option,
a policy that extends another, a grid, a session that is run again. The path is resolved first, including links, so no
spelling of it leads out. Libraries that open files on their own get only names that were opened here before.
"""

from __future__ import annotations

import errno
import mimetypes
import os
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import unquote, urlsplit

from discreet.core.errors import RequestError
from discreet.core.files import PART

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
CODE = (".py", ".pyc", ".so", ".nbi", ".nbc", ".dist-info", ".egg-info", "METADATA", "entry_points.txt")
"""What is read from other packages on the import path."""
DEVICES = ("/dev/null", "/dev/urandom", "/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/self/status")
SETTINGS = ("/etc/os-release", "/etc/lsb-release", "/etc/timezone", "/etc/localtime")
MACHINE = frozenset(os.path.realpath(path) for path in (*DEVICES, *SETTINGS, *mimetypes.knownfiles))
"""What libraries ask of this machine."""
SHARED = ("/sys", "/usr/share/fonts", "/usr/share/zoneinfo", "/etc/fonts")
TEMPORARY = ".temporary"
"""The folder inside the folder for what commands write for themselves."""


class OutsideError(RequestError, PermissionError):
    """A file outside the folder was asked for; libraries take it for a file that may not be opened."""

    def __init__(self, path: str) -> None:
        """Name the path as it was asked for."""
        super().__init__(errno.EACCES, f"{path} is outside the folder of this session; open the file first")

    def __str__(self) -> str:
        return str(self.strerror)


@dataclass(frozen=True)
class Confines:
    """What one command may open beside the folder: files to read, and a ledger with all that belongs to it."""

    readable: tuple[str, ...] = ()
    ledger: str | None = None

    def reads(self, path: str) -> bool:
        """Say whether a resolved path may be read."""
        return path in self.readable or self.keeps(path)

    def keeps(self, path: str) -> bool:
        """Say whether a resolved path belongs to the ledger: its file, its journal, its folder of originals.

        >>> reach = Confines(ledger="/office/ledger.sqlite")
        >>> reach.keeps("/office/ledger.sqlite-wal"), reach.keeps("/office/ledger.sqlite.originals/1.csv")
        (True, True)
        >>> reach.keeps("/office/other.sqlite"), reach.keeps("/office/ledger.sqlite.bak")
        (False, False)
        """
        if self.ledger is None:
            return False
        own = [self.ledger, *(f"{self.ledger}{end}" for end in ("-wal", "-shm", "-journal", ".originals"))]
        folder, name = os.path.split(self.ledger)
        # A new ledger is made in a temporary file beside it, and the folder's entry is brought to the disk.
        made = path.startswith(os.path.join(folder, f".{name}.")) and path.endswith(PART)
        return path in own or made or path.startswith(f"{self.ledger}.originals{os.sep}")


class Confinement:
    """The rule: a resolved path is inside the folder, within reach, or code of this installation."""

    def __init__(self, folder: Path) -> None:
        """Store the folder, and where the code of this installation is."""
        self.folder = os.path.realpath(folder)
        self.reach = Confines()
        package = Path(__file__).parents[1]
        known = sysconfig.get_paths()
        roots = [known[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")]
        self._roots = tuple(dict.fromkeys(os.path.realpath(root) for root in (*roots, str(package))))
        self._imports = tuple(os.path.realpath(entry) for entry in sys.path if entry)
        self._compiled = tuple(
            os.path.realpath(path)
            for path in (
                *([os.environ["NUMBA_CACHE_DIR"]] if os.environ.get("NUMBA_CACHE_DIR") else []),
                *(os.path.expanduser(f"~/.cache/{name}") for name in ("discreet", "numba")),
            )
        )

    def check(self, path: object, *, write: bool = False, listed: bool = False, entry: bool = False) -> None:
        """Refuse a path that is outside; what acts on the entry of a folder does not follow a link there."""
        if isinstance(path, int):  # a file that is open already
            return
        asked = os.fsdecode(cast("Written", path))
        whole = os.path.join(self.folder, asked)
        parent, name = os.path.split(whole.rstrip(os.sep))
        plain = entry and name not in (".", "..")
        found = os.path.join(os.path.realpath(parent), name) if plain else os.path.realpath(whole)
        if _within(found, (self.folder,)) or (self.reach.keeps(found) if write else self.reach.reads(found)):
            return
        if listed and self.reach.ledger is not None and found == os.path.dirname(self.reach.ledger):
            return
        # Compiled code is kept beside the code or in a folder for it, and written there by the compiler alone.
        if _within(found, self._compiled) or (_within(found, self._roots) and "__pycache__" in found.split(os.sep)):
            return
        if not write and (found in MACHINE or _within(found, (*self._roots, *SHARED))):
            return
        if not write and _within(found, self._imports) and (listed or found.endswith(CODE)):
            return
        raise OutsideError(asked)

    def hook(self, event: str, arguments: tuple[object, ...]) -> None:
        """Check what the interpreter is about to do."""
        asks = EVENTS.get(event)
        if asks is not None:
            for path, how in asks(arguments):
                self.check(path, **how)


def confine(folder: Path) -> Confinement:
    """Confine this process for good; temporary files are made inside the folder."""
    rule = Confinement(folder)
    os.makedirs(folder / TEMPORARY, mode=0o700, exist_ok=True)
    tempfile.tempdir = str(folder / TEMPORARY)
    sys.addaudithook(rule.hook)
    return rule


Written = str | bytes | os.PathLike[str]
Asked = Iterator[tuple[object, dict[str, bool]]]


def _opened(arguments: tuple[object, ...]) -> Asked:
    path, mode, flags = arguments
    written = isinstance(mode, str) and any(letter in mode for letter in "wax+")
    yield path, {"write": written or bool(isinstance(flags, int) and flags & WRITING)}


def _changed(count: int, *, entry: bool) -> Callable[[tuple[object, ...]], Asked]:
    def asked(arguments: tuple[object, ...]) -> Asked:
        yield from ((path, {"write": True, "entry": entry}) for path in arguments[:count])

    return asked


def _listed(arguments: tuple[object, ...]) -> Asked:
    yield "." if arguments[0] is None else arguments[0], {"listed": True}


def _connected(arguments: tuple[object, ...]) -> Asked:
    asked = os.fsdecode(cast("Written", arguments[0]))
    if asked != ":memory:":
        yield unquote(urlsplit(asked).path) if asked.startswith("file:") else asked, {"write": True}


def _linked(arguments: tuple[object, ...]) -> Asked:
    yield arguments[0], {"write": True}
    yield arguments[1], {"write": True, "entry": True}


EVENTS: dict[str, Callable[[tuple[object, ...]], Asked]] = {
    "open": _opened,
    "sqlite3.connect": _connected,
    "os.listdir": _listed,
    "os.scandir": _listed,
    "os.link": _linked,
    "os.symlink": _linked,
    "os.rename": _changed(2, entry=True),
    **{f"os.{name}": _changed(1, entry=True) for name in ("remove", "rmdir")},
    **{f"os.{name}": _changed(1, entry=False) for name in ("chmod", "chown", "mkdir", "truncate", "utime")},
}
"""What the interpreter tells about files, and the paths that each event names."""


def _within(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(folder + os.sep) for folder in folders)
