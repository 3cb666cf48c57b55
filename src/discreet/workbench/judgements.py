"""What the server judged, and who signed it: a signature rests on a verdict reached by a command here."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from discreet.core.errors import RequestError
from discreet.core.files import file_sha256

MAY = ("release", "protect", "safe")
"""Verdicts on which a release can be approved."""
READING = frozenset({"layout", "total", "dimensions", "delimiter", "encoding", "value", "hierarchy"})
"""Options of an audit that say how a release is read, and nothing about who looks or what is safe."""

BESIDE = READING | {"release", "title", "period"}
"""Options of a check against the ledger that leave its limits, and the releases beside it, as they are."""


@dataclass(frozen=True)
class Judgement:
    """The verdict of a command on one release, and which file that was; ``head`` is that of the ledger beside it."""

    verdict: str
    command: str
    sha256: str | None
    policy: str = ""
    limits: Mapping[str, object] | None = None
    head: str = ""


class Judgements:
    """The verdicts of one session: on releases alone, and beside the ledger."""

    def __init__(self) -> None:
        """Begin with none."""
        self.alone: dict[str, Judgement] = {}
        self.beside: dict[str, Judgement] = {}

    def note(self, values: Mapping[str, object], name: str, command: str, printed: str, folder: Path) -> None:
        """Take the verdict of a command that judges one release."""
        if name not in ("assess", "audit", "ledger check"):
            return
        told = json.loads(printed)
        verdict = str(told.get("verdict", ""))
        given = {key: value for key, value in values.items() if value is not False and value not in (None, "", [])}
        if name == "assess":
            release = str(given.get("release") or given.get("output") or "")
            policy = str((told.get("policy") or {}).get("name", ""))
            self.alone[release] = Judgement(verdict, command, _hash(folder, release), policy)
        elif name == "audit" and (release := _single(given.get("releases"))):
            self.alone[release] = Judgement(verdict, command, _hash(folder, release), "", given)
        elif name == "ledger check" and set(given) <= BESIDE:
            release = str(given.get("release", ""))
            head = str(told.get("head", ""))
            self.beside[release] = Judgement(verdict, command, _hash(folder, release), head=head)

    def of(
        self, release: str, sha256: str | None, *, head: str | None, limits: Callable[[], Mapping[str, object]]
    ) -> Judgement:
        """Return the verdict on a release as it is now, the worse one of that alone and that beside the ledger.

        ``head`` is that of the ledger as it is now, None without a ledger.
        """
        own = self.alone.get(release)
        if own is None or own.sha256 != sha256:
            raise RequestError("no verdict was reached on this file as it is now; reach one, then sign")
        if own.limits is not None and own.limits != _asked(own.limits, limits()):
            raise RequestError(f"{own.command!r} did not ask what the policy asks; reach a verdict under it, then sign")
        if head is None or own.verdict not in MAY:
            return own
        other = self.beside.get(release)
        if other is None or other.sha256 != sha256:
            raise RequestError("this file was not checked against the ledger as it is now; check it, then sign")
        if other.head != head:
            raise RequestError(
                "the ledger has changed since this file was checked against it; check it again, then sign"
            )
        commands = f"{own.command}; {other.command}"
        return Judgement(
            own.verdict if other.verdict == "safe" else other.verdict, commands, sha256, own.policy, head=head
        )


def signature(given: Mapping[str, object], judgement: Judgement | None, release: str, policy: str) -> dict[str, object]:
    """Return what is signed: the person's words, and the server's verdict; ``judgement`` is not needed to reject."""
    who, decision = str(given.get("who", "")).strip(), given.get("decision")
    if not who:
        raise RequestError("a signature needs a name")
    if decision not in ("approved", "rejected"):
        raise RequestError(f"the decision is {decision!r}; it is approved or rejected")
    if decision == "approved" and (judgement is None or judgement.verdict not in MAY):
        verdict = "none" if judgement is None else judgement.verdict
        raise RequestError(f"the verdict is {verdict!r}, on which nothing can be approved; reject it, or protect more")
    return {
        "who": who[:200],
        "decision": decision,
        "comment": str(given.get("comment", ""))[:4000],
        "release": release,
        "sha256": None if judgement is None else judgement.sha256,
        "verdict": "" if judgement is None else judgement.verdict,
        "policy": "" if judgement is None else judgement.policy or policy,
        "judged by": "" if judgement is None else judgement.command,
        "ledger": "" if judgement is None else judgement.head,
        "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
    }


def _asked(given: Mapping[str, object], limits: Mapping[str, object]) -> dict[str, object]:
    """Return the options by which an audit judges a release under a policy, with the given reading."""
    wanted = {"max_dr": limits.get("dr"), "min_width": limits.get("width")}
    if limits.get("dr") is not None:
        wanted["law"] = "method"
    kept = {key: value for key, value in given.items() if key in READING or key in ("releases", "output", "top")}
    return {**kept, **{key: value for key, value in wanted.items() if value is not None}}


def _single(releases: object) -> str:
    return str(releases[0]) if isinstance(releases, list) and len(releases) == 1 else ""


def _hash(folder: Path, name: str) -> str | None:
    path = folder / name
    return file_sha256(path) if name and path.is_file() else None
