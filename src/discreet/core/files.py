"""Files that are written atomically, and readable only by those they are meant for."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from discreet.core.errors import RequestError

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600
"""The modes of what is confidential: for the owner alone."""
SETTLED = 5.0
"""Seconds until a new folder must have its lock: a round choice, far longer than that takes."""
TRIES = 10
"""How often a folder is removed that somebody still writes to: a round choice, far more than one file takes."""
PART = ".part"
"""How temporary files end."""


def write_whole(path: str | Path, write: Callable[[Path], object], *, private: bool = False) -> None:
    """Let `write` fill a temporary file beside the target, then move it into place in one step.

    A private file can be read by its owner alone, whatever the umask; any other has the mode that the umask leaves.
    """
    target = Path(path)
    with _part_of(target) as temporary:
        write(temporary)
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(PRIVATE_FILE if private else 0o666 & ~umask)
        _sync(temporary)
        temporary.replace(target)


def new_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Make a private file as :func:`write_whole` does, unless somebody else makes it first: then theirs stays."""
    target = Path(path)
    with _part_of(target) as temporary:
        write(temporary)
        _sync(temporary)
        try:
            os.link(temporary, target)
        except FileExistsError:
            return
        except OSError:
            # Some file systems have no links.
            temporary.replace(target)
        sync_folder(target.parent)


def write_text(path: str | Path, text: str, *, private: bool = False) -> None:
    """Write a text file in UTF-8, atomically."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"), private=private)


def file_sha256(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def sync_folder(folder: Path) -> None:
    """Wait until changes in a folder are on disk."""
    with suppress(OSError):
        _sync(folder, os.O_RDONLY)


SCRATCH: set[str] = set()
"""The scratch folders of this process."""


class ScratchFolder(tempfile.TemporaryDirectory[str]):
    """A folder for the owner alone that is removed when it is closed, or by the next one if its process was killed."""

    PREFIX, LOCK = "discreet-scratch-", "lock"

    def __init__(self) -> None:
        """Make the folder, and remove those that nobody uses any more."""
        self._remove_orphans()
        super().__init__(prefix=self.PREFIX)
        SCRATCH.add(self.name)
        self._handle: int | None = os.open(os.path.join(self.name, self.LOCK), os.O_RDWR | os.O_CREAT, PRIVATE_FILE)
        _lock(self._handle)

    def cleanup(self) -> None:
        """Remove the folder and all that is in it."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        super().cleanup()
        SCRATCH.discard(self.name)

    def _remove_orphans(self) -> None:
        for entry in os.scandir(tempfile.gettempdir()):
            # A folder that was just made is not locked yet.
            with suppress(OSError):
                mine = entry.name.startswith(self.PREFIX) and entry.is_dir(follow_symlinks=False)
                if mine and entry.stat().st_uid == os.getuid() and time.time() - entry.stat().st_mtime > SETTLED:
                    handle = os.open(os.path.join(entry.path, self.LOCK), os.O_RDWR)
                    try:
                        if _lock(handle):
                            shutil.rmtree(entry.path, ignore_errors=True)
                    finally:
                        os.close(handle)


def remove_scratch() -> None:
    """Remove the scratch folders of this process, which is about to end whatever else is still at work in them."""
    for folder in tuple(SCRATCH):
        for _ in range(TRIES):
            shutil.rmtree(folder, ignore_errors=True)
            if not os.path.exists(folder):
                break


@contextmanager
def _part_of(target: Path) -> Iterator[Path]:
    """Yield a temporary file beside a target, private until it is handed on; remove it if it is still there."""
    # Unlike the methods of Path, these do not fail on names that no file can have.
    if os.path.isdir(target):
        raise RequestError(f"{target} is a folder; name a file")
    if "\0" in target.name:
        raise RequestError(f"{target} cannot be written; no file has such a name")
    if not os.path.isdir(target.parent):
        raise RequestError(f"{target.parent} is not a folder; make it first, or write elsewhere")
    temporary, handle = None, None
    try:
        remove_orphans(target.parent, re.escape(target.name))
        while temporary is None:
            handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=PART)
            _lock(handle, wait=True)
            # Somebody who looks for orphans may have found it before it was locked.
            if os.fstat(handle).st_nlink:
                temporary = Path(name)
            else:
                os.close(handle)
        yield temporary
    except OSError as error:
        raise RequestError(f"{target} cannot be written ({error.strerror or error}); nothing was written") from None
    finally:
        if handle is not None:
            os.close(handle)
        if temporary is not None:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def remove_orphans(folder: Path, name: str = r".+\.json") -> None:
    """Remove what processes left that were killed while they wrote files of such names: nobody locks it any more."""
    left = re.compile(rf"\.{name}\.[a-z0-9_]{{8}}{re.escape(PART)}")
    for entry in os.scandir(folder):
        if left.fullmatch(entry.name):
            with suppress(OSError):
                handle = os.open(entry.path, os.O_RDWR)
                try:
                    if _lock(handle):
                        os.unlink(entry.path)
                finally:
                    os.close(handle)


def _lock(handle: int, *, wait: bool = False) -> bool:
    """Lock a file until it is closed, and say whether that was possible; a killed process holds no lock."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync(path: Path, flags: int = os.O_RDWR) -> None:
    """Wait until a file is on disk."""
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
