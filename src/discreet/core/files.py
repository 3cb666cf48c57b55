"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from discreet.core.errors import RequestError


def write_whole(path: str | Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside the target, then move it into place in one step."""
    target = Path(path)
    # Unlike the methods of Path, these do not fail on names that no file can have.
    if os.path.isdir(target):
        raise RequestError(f"{target} is a folder; name a file")
    if not os.path.isdir(target.parent):
        raise RequestError(f"{target.parent} is not a folder; make it first, or write elsewhere")
    temporary = None
    try:
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
        temporary = Path(name)
        os.close(handle)
        write(temporary)
        umask = os.umask(0)
        os.umask(umask)
        temporary.chmod(0o666 & ~umask)
        temporary.replace(target)
    except OSError as error:
        raise RequestError(f"{target} cannot be written ({error.strerror or error}); nothing was written") from None
    finally:
        if temporary is not None and temporary.exists():
            temporary.unlink()


def write_text(path: str | Path, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))
