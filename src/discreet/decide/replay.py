"""Replaying a record: the same assessment or comparison again, and whether it comes out the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from discreet.core.errors import DataError, RequestError
from discreet.core.progress import Progress
from discreet.decide.assess import Request, assess_subject
from discreet.decide.compare import Comparison, compare_points
from discreet.decide.measured_point import Plan
from discreet.decide.policy import Policy
from discreet.decide.protection_grid import GridPoint
from discreet.decide.record import canonical, read_record, record_text, results_of, versions
from discreet.decide.result import Assessment
from discreet.decide.subject import Subject
from discreet.reading.opened import Opened
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.table import Table
from discreet.table.tabulation import Tabulation

SHOWN = 20
"""How many differences are listed."""


@dataclass(frozen=True)
class Replay:
    """Whether an assessment or comparison was reproduced, byte for byte, and what differs where it was not.

    ``notes`` are differences that need not matter, such as another version of a package.
    """

    record: str
    same: bool
    identical: bool
    differences: tuple[str, ...]
    notes: tuple[str, ...]
    verdict: str
    recorded_verdict: str

    @property
    def sentence(self) -> str:
        """The outcome in words."""
        if self.same:
            how = (
                "the whole record is the same to the byte" if self.identical else "the results are the same to the byte"
            )
            return f"Reproduced: {how}; the verdict is {self.verdict!r}."
        many = len(self.differences)
        return f"Not reproduced: {many:,} {'thing differs' if many == 1 else 'things differ'}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            **vars(self),
            "differences": list(self.differences),
            "notes": list(self.notes),
            "sentence": self.sentence,
        }

    def __str__(self) -> str:
        """Return the outcome and what differs."""
        return "\n".join([self.sentence, *(f"- {text}" for text in (*self.differences[:SHOWN], *self.notes))])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        items = "".join(f"<li>{html.escape(text)}</li>" for text in (*self.differences[:SHOWN], *self.notes))
        return f"<p><b>{html.escape(self.sentence)}</b></p><ul>{items}</ul>"


def replay(
    record: str | Path,
    original: Any = None,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Replay:
    """Make the assessment or comparison of a record again, and say whether it comes out the same.

    Args:
        record: the file that an assessment or comparison wrote.
        original: the original, where it lies elsewhere than the record says or was not in a file.
        workers: threads; results do not depend on them.
        progress: told how far the work is.
    """
    path = Path(record)
    kept = read_record(path)
    differences: list[str] = []
    source = _source(kept, path, original, differences)
    if (found := Subject.opened(source).sha256()) != kept["input"]["original_sha256"]:
        differences.append(
            f"the original is another one: its cells have the hash {found[:16]}…, recorded is "
            f"{kept['input']['original_sha256'][:16]}…"
        )
    made = _again(kept, path, source, differences, workers, progress)
    results = results_of(made)
    same = canonical(results) == canonical(kept["results"])
    if not same:
        differences += [text for text, _ in zip(_different(kept["results"], results), range(1000), strict=False)]
    now = versions()
    notes = [
        f"{name} is {now.get(name, 'missing')} here, and was {kept['versions'].get(name, 'missing')}"
        for name in sorted({*now, *kept["versions"]})
        if now.get(name) != kept["versions"].get(name)
    ]
    identical = record_text(made) == path.read_text(encoding="utf-8")
    return Replay(
        str(path),
        same and not differences,
        identical,
        tuple(differences),
        tuple(notes),
        _verdict(results),
        _verdict(kept["results"]),
    )


def _again(
    kept: dict[str, Any],
    record: Path,
    source: Opened,
    differences: list[str],
    workers: int | None,
    progress: Progress | None,
) -> Assessment | Comparison:
    """Do what the record says was asked."""
    policy, request = Policy.model_validate(kept["policy"]), dict(kept["request"])
    if kept["kind"] == "comparison":
        points = [GridPoint(**one) for one in request.pop("points")]
        return compare_points(source, policy, points, Plan(**request), workers=workers, progress=progress)
    request["protection"] = _protection(kept, record, differences)
    asked = Request(policy, **request)
    return assess_subject(Subject.opened(source), asked, source=source, workers=workers, progress=progress)


def _verdict(results: dict[str, Any]) -> str:
    """Return the outcome in a word or two: the verdict, or which method to take."""
    if results["kind"] != "comparison":
        return str(results["verdict"])
    best = results["recommended"]
    return "take none of them" if best is None else f"take {results['points'][best]['title']}"


def _find(name: str, record: Path) -> Path | None:
    """Return where a file of a record lies: where the record says, or beside the record."""
    found = (Path(name), record.parent / name, record.parent / Path(name).name)
    return next((path for path in found if path.is_file()), None)


def _check_hash(role: str, path: Path, kept: dict[str, Any], differences: list[str]) -> None:
    stated = next((file["sha256"] for file in kept["input"]["files"] if file["role"] == role), None)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    if stated is not None and found != stated:
        differences.append(f"{path} was changed: its hash is {found[:16]}…, recorded is {stated[:16]}…")


def _source(kept: dict[str, Any], record: Path, original: Any, differences: list[str]) -> Opened:
    """Read the original again, as it was read for the record."""
    about = kept["input"]
    reading = dict(about["reading"])
    files = {file["role"]: file["path"] for file in about["files"]}
    if original is None and "original" in files:
        original = _find(files["original"], record)
        if original is None:
            raise RequestError(
                f"{files['original']}, the original of {record}, does not exist; say where it is (original=, "
                "--original)"
            )
    if isinstance(original, str | Path) and Path(original).is_file():
        _check_hash("original", Path(original), kept, differences)
    if original is None and "example" not in reading:
        raise RequestError(f"the original of {record} was not in a file; hand it over (original=, --original)")
    given = original if "example" not in reading else None
    if isinstance(given, Table | Tabulation):
        reading = {name: value for name, value in reading.items() if name == "response"}
    found = open_original(given, Reading.of(reading), name=about["name"])
    return replace(found, said=about["reading"])


def _protection(kept: dict[str, Any], record: Path, differences: list[str]) -> Any:
    """Return the protection of a record; a release that was judged is read again from its file."""
    given = kept["request"]["protection"]
    if not isinstance(given, dict) or "release_sha256" not in given:
        return given
    file = next((file for file in kept["input"]["files"] if file["role"] == "release"), None)
    if file is None:
        raise DataError(f"{record} judges a release that was not in a file; assess it again where it is at hand")
    path = _find(file["path"], record)
    if path is None:
        raise RequestError(f"{file['path']}, the release of {record}, does not exist; put it beside the record")
    _check_hash("release", path, kept, differences)
    from discreet.table.kinds import EXACT, Kind
    from discreet.table.release_reader import read_release

    kind = given.get("kind")
    return read_release(path, kind=EXACT if kind is None else Kind.from_dict(kind))


def _different(before: Any, after: Any, where: str = "results") -> Iterator[str]:
    """Go through what differs between two plain data."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if key not in before or key not in after:
                yield f"{where}.{key} is {'new' if key not in before else 'missing'}"
            else:
                yield from _different(before[key], after[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{where} has {len(after):,} entries, and had {len(before):,}"
        for i, (a, b) in enumerate(zip(before, after, strict=False)):
            yield from _different(a, b, f"{where}[{i}]")
    elif before != after:
        yield f"{where} is {str(after)[:60]}, and was {str(before)[:60]}"
