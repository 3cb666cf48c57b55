"""Provenance: what is needed to make an assessment or comparison again, and to see whether it comes out the same."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from discreet.core.errors import DataError, RequestError
from discreet.core.files import write_text
from discreet.decide.plain import plain, release_data

if TYPE_CHECKING:
    from discreet.decide.assess import Request
    from discreet.decide.compare import Comparison
    from discreet.decide.result import Assessment

Made = TypeVar("Made", "Assessment", "Comparison")

RECORD = 1
"""The version of a record."""
PACKAGES = ("numpy", "scipy", "highspy", "numba", "pyarrow", "duckdb", "pydantic", "pyscipopt")
"""What results can depend on: arithmetic, solvers and readers."""


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


def make_record(made: Made, request: Mapping[str, Any], source: Any) -> Made:
    """Return an assessment or comparison with its record.

    Args:
        made: what was found.
        request: what was asked, as plain data.
        source: where the original came from.
    """
    results = results_of(made)
    record = {
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
    return replace(made, record=record, source=source)


def results_of(made: Assessment | Comparison) -> dict[str, Any]:
    """Return what was found as plain data, without how it was made."""
    results = made.to_dict()
    results.pop("record")
    return results


def assessment_request(request: Request, made: Assessment) -> dict[str, Any]:
    """Return what was asked of an assessment as plain data."""
    return {
        "protection": _protection_data(request.protection, made),
        "seed": request.seed,
        "trial": request.trial,
        "draws": request.draws,
        "population": request.population,
        "time_limit": request.time_limit,
    }


def _protection_data(protection: Any, made: Assessment) -> Any:
    """Return how the protection was asked for, as plain data."""
    from discreet.table.release import Release

    if isinstance(protection, Release):
        data = release_data(made.subject, protection)
        kind = protection.parts()[0].kinds[0].to_dict()
        return {"release_sha256": digest(data), "kind": kind}
    if isinstance(protection, str):
        return protection
    if isinstance(protection, Mapping):
        return plain(dict(protection))
    return {"name": protection.name, **plain(dict(protection.parameters))}


def record_text(made: Assessment | Comparison) -> str:
    """Return the record of an assessment or comparison with its results, as it is written."""
    data = {**made.record, "results": results_of(made)}
    return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write_record(made: Assessment | Comparison, path: str | Path) -> None:
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
