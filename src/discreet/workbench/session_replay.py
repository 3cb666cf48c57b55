"""A saved session, run again: its commands in their order, each result compared with the one that was saved."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import RequestError
from discreet.workbench.workers import Perform
from discreet.workbench.workspace import KEPT, Workspace, digest, read_session


@dataclass(frozen=True)
class SessionReplay:
    """Which commands of a session gave the same result again."""

    steps: tuple[tuple[str, str], ...]

    @property
    def same(self) -> bool:
        """True where nothing differs."""
        return all(outcome in ("same", "skipped") for _, outcome in self.steps)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        steps = [{"command": command, "outcome": outcome} for command, outcome in self.steps]
        return {"same": self.same, "steps": steps}

    def __str__(self) -> str:
        lines = [f"{outcome:8} {command}" for command, outcome in self.steps]
        return "\n".join([*lines, "Everything came out the same." if self.same else "Not everything is the same."])


def replay(path: Path, perform: Perform) -> SessionReplay:
    """Run the commands of a saved session again, in a folder of its own.

    Commands that enter or withdraw releases of a ledger are skipped: they would act twice.
    """
    if not path.is_file():
        raise RequestError(f"{path} does not exist or is not a file; check the name")
    workspace = Workspace()
    here = Path.cwd()
    try:
        about, files = read_session(path.read_bytes(), workspace)
        made = _written(about["steps"])
        for name, content in files.items():
            if name not in made:
                workspace.add(name, content, endings=KEPT)
        os.chdir(workspace.folder)
        return SessionReplay(tuple((str(step["command"]), _again(step, perform)) for step in about["steps"]))
    finally:
        os.chdir(here)
        workspace.close()


def _again(step: dict[str, Any], perform: Perform) -> str:
    arguments = [str(part) for part in step["arguments"]]
    if arguments[:1] == ["ledger"]:
        return "skipped"
    code, out, _ = perform(arguments, lambda done, total, label: None)
    if code not in (0, 1):
        return "refused"
    return "same" if digest(out) == step["result"] else "differs"


def _written(steps: list[dict[str, Any]]) -> set[str]:
    """Return the files that the commands wrote: they are made anew."""
    found = set()
    for step in steps:
        for part in step["arguments"]:
            option, equals, value = str(part).partition("=")
            if equals and option in ("--output", "--status", "--tab", "--report", "--record"):
                found.add(value)
    return found
