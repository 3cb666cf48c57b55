"""Replaying a record: the assessment or comparison is repeated, and the results are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from discreet.core.errors import DataError, RequestError, undamaged
from discreet.core.files import file_sha256
from discreet.core.json_types import Json, JsonObject
from discreet.core.progress import Progress
from discreet.core.text import Readable
from discreet.decide.assess import assess_subject
from discreet.decide.assessment import Assessment, Protect, Request
from discreet.decide.compare import Comparison, compare_points
from discreet.decide.compared_methods import ComparisonPlan, GridPoint
from discreet.decide.policy import Policy
from discreet.decide.provenance import canonical, other_versions, read_record
from discreet.decide.subject import Subject
from discreet.reading.opened import Opened
from discreet.reading.original import open_original
from discreet.reading.reading import Reading
from discreet.table import Table
from discreet.table.kinds import EXACT, Kind
from discreet.table.release_reader import read_release
from discreet.table.tabulation import Tabulation

SHOWN = 20
"""How many differences are listed."""


@dataclass(frozen=True, repr=False)
class Replay(Readable):
    """Whether an assessment or comparison was reproduced, byte for byte, and what differs where it was not.

    ``notes`` are differences that may not matter, such as another version of a package.
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
            how = "whole record is" if self.identical else "results are"
            return f"Reproduced: the {how} the same to the byte; the verdict is {self.verdict!r}."
        many = len(self.differences)
        return f"Not reproduced: {many:,} {'thing differs' if many == 1 else 'things differ'}."

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        lists = {"differences": list(self.differences), "notes": list(self.notes)}
        return {**vars(self), **lists, "sentence": self.sentence}

    def __str__(self) -> str:
        """Return the outcome and what differs."""
        return "\n".join([self.sentence, *(f"- {text}" for text in (*self.differences[:SHOWN], *self.notes))])

    def _repr_html_(self) -> str:
        import html

        items = "".join(f"<li>{html.escape(text)}</li>" for text in (*self.differences[:SHOWN], *self.notes))
        return f"<p><b>{html.escape(self.sentence)}</b></p><ul>{items}</ul>"


def replay(
    record: str | Path, original: object = None, *, workers: int | None = None, progress: Progress | None = None
) -> Replay:
    """Repeat the assessment or comparison of a record, and say whether the result is the same.

    Args:
        record: the file that an assessment or comparison wrote.
        original: the original, if it has moved since or was not in a file.
        workers: threads; results do not depend on them.
        progress: called as the work advances.

    >>> from tempfile import TemporaryDirectory
    >>> from discreet.decide.assess import assess
    >>> from discreet.datasets import sex
    >>> with TemporaryDirectory() as folder:
    ...     assess(sex()).write_record(f"{folder}/record.json")
    ...     replay(f"{folder}/record.json", sex()).same
    True
    """
    with undamaged(str(record), "assess or compare again"):
        return _replayed(_KeptFiles(Path(record)), original, workers, progress)


def _replayed(kept: _KeptFiles, original: object, workers: int | None, progress: Progress | None) -> Replay:
    if kept.data["kind"] == "protection":
        raise RequestError(f"{kept.path} is the record of a protection; make it again with discreet replay {kept.path}")
    differences = kept.differences
    source = kept.source(original)
    if (found := Subject.opened(source).sha256()) != (stated := kept.input["original_sha256"]):
        differences.append(
            f"the original is another one: its cells have the hash {found[:16]}…, recorded is {stated[:16]}…"
        )
    made = kept.again(source, workers, progress)
    results, recorded = made.results(), kept.data["results"]
    same = canonical(results) == canonical(recorded)
    if not same:
        differences += islice(different(recorded, results), 1000)
    notes = other_versions(kept.data["versions"])
    identical = made.record_text() == kept.path.read_text(encoding="utf-8")
    verdicts = (_verdict(results), _verdict(recorded))
    return Replay(str(kept.path), same and not differences, identical, tuple(differences), notes, *verdicts)


class _KeptFiles:
    """A record, and what differs from it."""

    def __init__(self, path: Path) -> None:
        self.path, self.data = path, read_record(path)
        self.input = self.data["input"]
        self.files = {file.get("role", ""): file for file in self.input["files"]}
        self.differences: list[str] = []

    def source(self, original: object) -> Opened:
        """Read the original again, as it was read for the record."""
        reading = dict(self.input["reading"])
        if original is None and "original" in self.files:
            original = self._found("original")
            if original is None:
                raise RequestError(
                    f"{self.files['original']['path']}, the original of {self.path}, does not exist; say where it is "
                    "(original=, --original)"
                )
        if isinstance(original, str | Path) and Path(original).is_file():
            self._check_hash("original", Path(original))
        if original is None and "example" not in reading:
            raise RequestError(f"the original of {self.path} was not in a file; hand it over (original=, --original)")
        given = original if "example" not in reading else None
        if isinstance(given, Table | Tabulation):
            reading = {name: value for name, value in reading.items() if name == "response"}
        found = open_original(given, Reading.of(reading), name=self.input["name"])
        return replace(found, said=self.input["reading"])

    def again(self, source: Opened, workers: int | None, progress: Progress | None) -> Assessment | Comparison:
        """Repeat what the record says was requested."""
        policy, request = Policy.model_validate(self.data["policy"]), dict(self.data["request"])
        if self.data["kind"] == "comparison":
            points = [GridPoint(**one) for one in request.pop("points")]
            return compare_points(source, policy, points, ComparisonPlan(**request), workers=workers, progress=progress)
        asked = Request(policy, **{**request, "protection": self._protection(request)})
        return assess_subject(Subject.opened(source), asked, source=source, workers=workers, progress=progress)

    def _protection(self, request: JsonObject) -> Protect:
        """Return the protection that was asked for; a release that was judged is read again from its file."""
        given = request["protection"]
        if not isinstance(given, dict) or "release_sha256" not in given:
            return given
        if "release" not in self.files:
            raise DataError(f"{self.path} judges a release that was not in a file; assess it again where it is at hand")
        path = self._found("release")
        if path is None:
            stated = self.files["release"]["path"]
            raise RequestError(f"{stated}, the release of {self.path}, does not exist; put it beside the record")
        self._check_hash("release", path)
        kind = given.get("kind")
        beside = {"statistics": request["statistics"]} if request.get("statistics") else {}
        return read_release(path, kind=EXACT if kind is None else Kind.from_dict(kind), **beside)

    def _found(self, role: str) -> Path | None:
        """Return the path of a file: the recorded one, or beside the record."""
        name, beside = Path(self.files[role]["path"]), self.path.parent
        return next((path for path in (name, beside / name, beside / name.name) if path.is_file()), None)

    def _check_hash(self, role: str, path: Path) -> None:
        stated = self.files[role]["sha256"] if role in self.files else None
        found = file_sha256(path)
        if stated is not None and found != stated:
            self.differences.append(f"{path} was changed: its hash is {found[:16]}…, recorded is {stated[:16]}…")


def _verdict(results: JsonObject) -> str:
    """Return the outcome in a word or two: the verdict, or which method to take."""
    if results["kind"] != "comparison":
        return str(results["verdict"])
    best = results["recommended"]
    return "take none of them" if best is None else f"take {results['points'][best]['title']}"


def different(before: object, after: object, where: str = "results") -> Iterator[str]:
    """Yield what differs between two plain data."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            if key not in before or key not in after:
                yield f"{where}.{key} is {'new' if key not in before else 'missing'}"
            else:
                yield from different(before[key], after[key], f"{where}.{key}")
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{where} has {len(after):,} entries, and had {len(before):,}"
        for i, (a, b) in enumerate(zip(before, after, strict=False)):
            yield from different(a, b, f"{where}[{i}]")
    elif before != after:
        yield f"{where} is {str(after)[:60]}, and was {str(before)[:60]}"
