"""Provenance: what is needed to make an assessment or comparison again, and to see whether it comes out the same."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

from discreet.core.errors import DataError, RequestError
from discreet.core.files import write_text
from discreet.decide.json_data import plain
from discreet.decide.policy import Policy
from discreet.decide.subject import Subject

RECORD = 1
"""The version of a record."""
PACKAGES = ("numpy", "scipy", "highspy", "numba", "pyarrow", "duckdb", "pydantic", "pyscipopt")
"""What results can depend on: arithmetic, solvers and readers."""


class Recorded(Protocol):
    """What records are of: assessments and comparisons."""

    @property
    def subject(self) -> Subject:
        """The original."""

    @property
    def policy(self) -> Policy:
        """What was required."""

    @property
    def record(self) -> Mapping[str, Any]:
        """How it was made."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""


def digest(data: Any) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def canonical(data: Any) -> str:
    """Return plain data as one text, the same for the same data."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def versions() -> dict[str, str]:
    """Return what ran: discreet, Python, and the packages that results can depend on."""
    return dict(_versions())


@cache
def _versions() -> dict[str, str]:
    from discreet import __version__

    found = {"discreet": __version__, "python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def make_record(made: Recorded, request: Mapping[str, Any], source: Any) -> dict[str, Any]:
    """Return the record of an assessment or comparison.

    Args:
        made: what was found.
        request: what was asked, as plain data.
        source: where the original came from.
    """
    results = results_of(made)
    return {
        "record": RECORD,
        "kind": results["kind"],
        "versions": versions(),
        "input": {
            "name": made.subject.name,
            "original_sha256": made.subject.sha256(),
            "files": [] if source is None else source.files(),
            "reading": {} if source is None else plain(source.said),
        },
        "policy": made.policy.to_dict(),
        "policy_sha256": made.policy.sha256,
        "request": dict(request),
        "results_sha256": digest(results),
    }


def results_of(made: Recorded) -> dict[str, Any]:
    """Return what was found as plain data, without how it was made."""
    results = made.to_dict()
    results.pop("record")
    return results


def record_text(made: Recorded) -> str:
    """Return the record of an assessment or comparison with its results, as it is written."""
    data = {**made.record, "results": results_of(made)}
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_record(made: Recorded, path: str | Path) -> None:
    """Write a record, whole or not at all."""
    write_text(path, record_text(made))


def read_record(path: str | Path) -> dict[str, Any]:
    """Read a record, and refuse one that was changed or is of a newer version."""
    file = Path(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise RequestError(f"{file} does not exist; name a record that assess or compare wrote") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} cannot be read ({error})") from None
    except ValueError as error:
        raise DataError(
            f"{file} is no record: it is not JSON ({error}); name a record that assess or compare wrote"
        ) from None
    if not isinstance(data, dict) or "record" not in data or "results" not in data:
        raise DataError(f"{file} is no record; name a file that assess or compare wrote")
    if data["record"] != RECORD:
        raise DataError(
            f"{file} is of version {data['record']!r} of records, but version {RECORD} is read here; update discreet"
        )
    found = digest(data["results"])
    if found != data["results_sha256"]:
        raise DataError(
            f"{file} was changed after it was written: its results have the hash {found[:16]}…, and it says "
            f"{str(data['results_sha256'])[:16]}…; take the record from where it is kept"
        )
    return data
