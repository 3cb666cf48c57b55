"""The local store of originals: confidential files beside the ledger, in a folder that only its owner can enter."""

from __future__ import annotations

import os
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.core.files import write_whole

PRIVATE_FOLDER, PRIVATE_FILE = 0o700, 0o600


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
        target = self.folder / f"{release}{original.suffix.lower()}"
        write_whole(target, lambda part: _write(part, data))
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


def _write(part: Path, data: bytes) -> None:
    with part.open("wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
