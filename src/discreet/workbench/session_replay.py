"""A saved session, run again: its commands in their order, each result compared with the one that was saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.core.json_types import Json, JsonObject
from discreet.workbench.commands import commands_of, repeated
from discreet.workbench.workers import Order, Perform, Workers
from discreet.workbench.workspace import Workspace, digest, unpack


@dataclass(frozen=True)
class SessionReplay:
    """Which commands of a session gave the same result again."""

    steps: tuple[tuple[str, str], ...]

    @property
    def same(self) -> bool:
        """True where nothing differs."""
        return all(outcome in ("same", "skipped") for _, outcome in self.steps)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data."""
        steps = [{"command": command, "outcome": outcome} for command, outcome in self.steps]
        return {"same": self.same, "steps": steps}

    def __str__(self) -> str:
        lines = [f"{outcome:8} {command}" for command, outcome in self.steps]
        return "\n".join([*lines, "Everything came out the same." if self.same else "Not everything is the same."])


def replay(path: Path, tree: object, perform: Perform) -> SessionReplay:
    """Run the commands of a saved session again, in a folder of its own.

    They run as those of the page do, confined to the folder, and only if the page offers them. Commands of the ledger
    are skipped: they would act twice.
    """
    if not path.is_file():
        raise RequestError(f"{path} does not exist or is not a file; check the name")
    workspace = Workspace()
    workers = Workers(perform, workspace.folder, after=lambda job: None)
    try:
        about = unpack(path, workspace, but=_written)
        commands = commands_of(tree)
        for step in about["steps"]:
            if not _of_ledger(step):
                repeated(commands, step["arguments"])
        return SessionReplay(tuple((step["command"], _again(step, workers)) for step in about["steps"]))
    finally:
        workers.close()
        workspace.close()


def _of_ledger(step: JsonObject) -> bool:
    words = step["arguments"]
    return words[:1] == ["ledger"] or any(word.startswith("--ledger") for word in words)


def _again(step: JsonObject, workers: Workers) -> str:
    if _of_ledger(step):
        return "skipped"
    job = workers.submit(Order(step["arguments"], step["command"]))
    job.finished.wait()
    if job.state != "done":
        return "refused"
    return "same" if digest(job.printed) == step["result"] else "differs"


def _written(steps: Sequence[JsonObject]) -> set[str]:
    """Return the files that the commands wrote, which are made again."""
    found = set()
    for step in steps:
        for part in step["arguments"]:
            option, equals, value = str(part).partition("=")
            if equals and option in ("--output", "--status", "--tab", "--report", "--record"):
                found.add(value)
    return found
