"""Provenance: what is needed to repeat an assessment or comparison, and to see whether the result is the same."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import MappingProxyType

from discreet.core.errors import DataError, RequestError, with_arguments
from discreet.core.files import write_text
from discreet.core.json_types import Json, JsonObject
from discreet.core.text import Readable
from discreet.core.version import VERSION
from discreet.decide.json_data import plain
from discreet.decide.policy import Policy
from discreet.decide.subject import Subject
from discreet.reading.opened import Opened

RECORD = 1
"""The version of a record."""
SCHEMA = 1
"""The version of the plain data of assessments and comparisons."""
PACKAGES = ("numpy", "scipy", "highspy", "numba", "pyarrow", "duckdb", "pydantic", "pyscipopt")
"""What results can depend on: arithmetic, solvers and readers."""


def digest(data: object) -> str:
    """Return the hash of plain data."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def canonical(data: object) -> str:
    """Return plain data as one canonical text."""
    return json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


@cache
def versions() -> Mapping[str, str]:
    """Return the versions in use: discreet, Python, and the packages that results can depend on."""
    found = {"discreet": VERSION, "python": platform.python_version(), "machine": platform.machine()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return MappingProxyType(found)


def other_versions(then: Mapping[str, str]) -> tuple[str, ...]:
    """Say which packages have other versions here than in a record."""
    now = versions()
    return tuple(
        f"{name} is {now.get(name, 'missing')} here, and was {then.get(name, 'missing')}"
        for name in sorted({*now, *then})
        if now.get(name) != then.get(name)
    )


class Recorded(Readable):
    """What assessments and comparisons share: they are recorded, reported and shown in notebooks."""

    subject: Subject
    policy: Policy
    record: Mapping[str, object]

    def to_dict(self) -> dict[str, Json]:
        """Return everything as plain data."""
        raise NotImplementedError

    def results(self) -> JsonObject:
        """Return the findings as plain data, without their provenance."""
        results = self.to_dict()
        results.pop("record")
        return results

    def made_by(self, request: Mapping[str, object], source: Opened | None) -> JsonObject:
        """Return the record: where the original came from, and what was asked, as plain data."""
        results = self.results()
        return {
            "record": RECORD,
            "kind": results["kind"],
            "versions": dict(versions()),
            "input": {
                "name": self.subject.name,
                "original_sha256": self.subject.sha256(),
                "files": [] if source is None else source.files(),
                "reading": {} if source is None else plain(source.said),
            },
            "policy": self.policy.to_dict(),
            "policy_sha256": self.policy.sha256,
            "request": dict(request),
            "results_sha256": digest(results),
        }

    def record_text(self) -> str:
        """Return the record with its results, as it is written."""
        data = {**self.record, "results": self.results()}
        return json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n"

    def write_record(self, path: str | Path) -> None:
        """Write the record that ``discreet replay`` reads, atomically, and readable by its owner alone."""
        write_text(path, self.record_text(), private=True)

    def report(
        self, path: str | Path, *, edition: str = "internal", author: str = "", date: str = "", ledger: str = ""
    ) -> Path:
        """Write the report: ``.html``, ``.md``, ``.json`` or ``.pdf``.

        The edition ``"internal"`` holds original values, and shows ``author`` and ``date`` where it is signed,
        and the head of a ``ledger`` that is to be kept with it;
        ``"public"`` holds nothing that is not published, ``"public-intervals"`` also what follows from that.
        """
        from discreet.report import write_report

        return write_report(self.to_dict(), path, edition=edition, author=author, date=date, ledger=ledger)

    def _repr_html_(self) -> str:
        from discreet.report import notebook

        return with_arguments(notebook(self.to_dict()))


def _refuse_constant(text: str) -> None:
    """Refuse numbers that JSON does not have."""
    raise ValueError(f"{text} is not a number")


def read_record(path: str | Path) -> JsonObject:
    """Read a record, and refuse one that was changed or is of a newer version."""
    file = Path(path)
    try:
        data = json.loads(file.read_text(encoding="utf-8"), parse_constant=_refuse_constant)
    except FileNotFoundError:
        raise RequestError(f"{file} does not exist; name a record that assess, compare or protect wrote") from None
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file} cannot be read ({error})") from None
    except ValueError:
        raise DataError(
            f"{file} is not a record: it is not JSON; name a record that assess, compare or protect wrote"
        ) from None
    if not isinstance(data, dict) or "record" not in data or "results" not in data:
        raise DataError(f"{file} is not a record; name one that assess, compare or protect wrote")
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
