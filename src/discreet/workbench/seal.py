"""The seal of a saved session: without the key, nobody can change what was signed unnoticed."""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.core.json_types import Json

VARIABLE = "DISCREET_SIGNING_KEY"
"""The environment variable that names a key which several people share."""
SMALLEST = 16
"""The fewest bytes of a key: 128 bits."""


def key_file() -> Path:
    """Return where the key is: the file that the environment names, or this user's own."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE])
    state = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
    return Path(state).expanduser() / "discreet" / "signing.key"


def signing_key() -> bytes:
    """Return the key; this user's own is made when it is first needed, readable by nobody else."""
    path = key_file()
    try:
        if not os.environ.get(VARIABLE):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (
                suppress(FileExistsError),
                os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as new,
            ):
                new.write(secrets.token_bytes(32))
        key = path.read_bytes()
    except OSError as error:
        raise RequestError(
            f"the signing key {path} cannot be read ({error.strerror}); check it, or unset {VARIABLE}"
        ) from None
    if path.stat().st_mode & 0o007:
        raise RequestError(f"everybody can read the signing key {path}; run chmod o-rwx on it")
    if len(key) < SMALLEST:
        raise RequestError(f"the signing key {path} has {len(key)} bytes; it needs at least {SMALLEST}")
    return key


def seal_of(about: Mapping[str, object], key: bytes) -> str:
    """Return the seal of a description, whatever the order of its parts.

    >>> seal_of({"a": 1, "b": 2}, b"key") == seal_of({"b": 2, "a": 1, "seal": "x"}, b"key")
    True
    """
    rest = {name: value for name, value in about.items() if name != "seal"}
    return hmac.new(key, json.dumps(rest, sort_keys=True).encode(), hashlib.sha256).hexdigest()


def sealed(about: Mapping[str, Json], key: bytes) -> bool:
    """Say whether a description is as it was sealed."""
    given = about.get("seal")
    return isinstance(given, str) and hmac.compare_digest(given.encode(), seal_of(about, key).encode())
