"""The record of ``discreet protect``: the command with its seed and hashes of its files, and how it is run again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.old_names import present
from discreet.core.errors import DataError, RequestError
from discreet.core.files import file_sha256, write_text
from discreet.core.json_types import JsonObject
from discreet.core.progress import Progress

if TYPE_CHECKING:
    from discreet.decide.replay import Replay

KIND = "protection"
WRITTEN = ("-o", "--output", "--record", "--status", "--tab")
"""Options that name files to write, which a replay leaves alone."""
Perform = Callable[[list[str], Progress], tuple[int, str, str]]


@dataclass(frozen=True)
class Invocation:
    """The command line that is running, and what runs another."""

    perform: Perform
    arguments: Sequence[str]


def write_protection_record(
    path: Path, arguments: Sequence[str], seed: int | None, results: Mapping[str, object], written: Sequence[Path]
) -> None:
    """Write the record of a release: how it was made, with the seed, and what was made."""
    from discreet.decide.provenance import RECORD, digest, versions

    plain = [part for part in _without(arguments, WRITTEN) if part != "--json"]
    kept = [*plain, *([] if seed is None or _has_seed(arguments) else ["--seed", str(seed)])]
    found = {
        **results,
        "agency_files": None,
        "released": [{"name": one.name, "sha256": file_sha256(one)} for one in written],
    }
    data = {
        "record": RECORD,
        "kind": KIND,
        "versions": dict(versions()),
        "input": {"files": [{"path": str(one), "sha256": file_sha256(one)} for one in _files(kept)]},
        "request": {"arguments": kept},
        "results_sha256": digest(found),
        "results": found,
    }
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n", private=True)


def replay_protection(
    record: Path, data: JsonObject, original: Path | None, perform: Perform, progress: Progress
) -> Replay:
    """Run the command of a record again in a folder of its own, and compare what it writes and says."""
    from discreet.decide.provenance import canonical, other_versions, read_record
    from discreet.decide.replay import Replay, different

    differences: list[str] = []
    arguments = present([str(part) for part in data["request"]["arguments"]])
    if arguments[:1] != ["protect"] or any(_writes(part) for part in arguments):
        raise DataError(
            f"{record} asks for {' '.join(arguments)[:120]!r}, which writes files or is not a protection; it was "
            "changed after it was written: take the record from where it is kept"
        )
    for number, file in enumerate(data["input"]["files"]):
        stated = Path(file["path"])
        choices = (stated, record.parent / stated, record.parent / stated.name)
        found = original if number == 0 and original is not None else next(filter(Path.is_file, choices), None)
        if found is None:
            raise RequestError(f"{stated}, which {record} was made from, does not exist; put it beside the record")
        if file_sha256(found) != file["sha256"]:
            differences.append(
                f"{found} was changed: its hash is {file_sha256(found)[:16]}…, recorded is {file['sha256'][:16]}…"
            )
        arguments = [_replaced(part, str(stated), str(found)) for part in arguments]
    name = Path(data["results"].get("output") or _first(data["results"]["released"])).name
    with tempfile.TemporaryDirectory() as folder:
        output, again = Path(folder, name), Path(folder, "again.record.json")
        asked = [*arguments, "-o", str(output), "--record", str(again)]
        code, _, complaint = perform(asked, progress)
        if code != 0:
            raise RequestError(f"{record} cannot be made again: {complaint.removeprefix('discreet: ').strip()}")
        made = read_record(again)
    results, recorded = ({**one["results"], "output": None} for one in (made, data))
    same = canonical(results) == canonical(recorded)
    if not same:
        differences += islice(different(recorded, results), 1000)
    notes = other_versions(data["versions"])
    identical = made["request"] == data["request"] and not notes
    verdict = f"released by {results['method']}"
    return Replay(str(record), same and not differences, identical, tuple(differences), notes, verdict, verdict)


def _first(released: Sequence[Mapping[str, str]]) -> str:
    """Return the name that was asked for, of linked tables in numbered files."""
    first = Path(released[0]["name"])
    return str(first.with_stem(first.stem.removesuffix("-1")))


def _has_seed(arguments: Sequence[str]) -> bool:
    return any(part == "--seed" or part.startswith("--seed=") for part in arguments)


def _without(arguments: Sequence[str], names: Sequence[str]) -> Iterator[str]:
    """Return the arguments without some options and their values."""
    skip = False
    for part in arguments:
        if skip or part.partition("=")[0] in names:
            skip = not skip and part in names
        elif not (part.startswith("-o") and "-o" in names and not part.startswith("--")):
            yield part


def _writes(part: str) -> bool:
    """Say whether an argument names a file to write: no record has one."""
    short = part.startswith("-") and not part.startswith("--") and "o" in part[:3]
    return short or part.partition("=")[0] in WRITTEN


def _files(arguments: Sequence[str]) -> list[Path]:
    """Return the files that arguments name, alone or after a sign of equality."""
    named = [text for part in arguments for text in (part, *part.split("=", 1)[1:])]
    found = [Path(text) for text in named for text in (text, *text.split("=", 1)[1:])]
    return [path for path in dict.fromkeys(found) if path.is_file()]


def _replaced(part: str, old: str, new: str) -> str:
    head, equals, tail = part.rpartition("=")
    if part == old:
        return new
    return f"{head}{equals}{new}" if equals and tail == old else part
