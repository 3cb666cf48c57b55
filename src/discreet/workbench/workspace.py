"""The folder of a running workbench: opened files, results, and what each session decided; gone when it closes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.files import write_whole

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".tab", ".rda", ".hrc", ".toml", ".json")
"""What can be opened."""
KEPT = (*ENDINGS, ".html")
"""What a saved session may hold: also reports, which are shown in a sandbox."""
PREFIX = "discreet-workbench-"
VERSION = 1
"""The version of saved sessions."""
LARGEST_STATE, LARGEST_SESSION = 4 * 2**20, 2 * 2**30
"""The most bytes of a page's state and of an unpacked session: round choices, far above what people make."""
NAME = re.compile(r"[^/\\\0-\x1f<>:\"|?*]{1,120}")


@dataclass
class Session:
    """What one page holds on the server: its state, the commands that it ran, and who signed."""

    state: dict[str, Any] = field(default_factory=dict)
    steps: list[dict[str, Any]] = field(default_factory=list)
    signatures: list[dict[str, Any]] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return dict(vars(self))


class Workspace:
    """A private folder and the sessions that work in it."""

    def __init__(self) -> None:
        """Make the folder, and clear those of workbenches that were killed."""
        _sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.sessions: dict[str, Session] = {}

    def close(self) -> None:
        """Remove the folder with everything in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def name(self, text: str, *, endings: tuple[str, ...] = ENDINGS) -> str:
        """Check the name of a file."""
        if not NAME.fullmatch(text) or text.startswith((".", "-", " ", "~")) or ".." in text:
            raise RequestError(f"{text[:80]!r} is not a name for a file; use letters, digits, spaces, dots and dashes")
        if Path(text).suffix.lower() not in endings:
            raise RequestError(f"{text!r} is not a file that is opened here; give one of {', '.join(endings)}")
        return text

    def add(self, name: str, content: bytes, *, endings: tuple[str, ...] = ENDINGS) -> str:
        """Take a file that was sent."""
        if not content.strip():
            raise DataError(f"{name} is empty; a table needs at least one cell")
        write_whole(self.folder / self.name(name, endings=endings), lambda path: path.write_bytes(content))
        return name

    def adopt(self, path: Path) -> str:
        """Open a file of this machine that was named on the command line, where it is."""
        if not path.is_file():
            raise RequestError(f"{path} does not exist or is not a file; check the name")
        name = self.name(path.name)
        (self.folder / name).unlink(missing_ok=True)
        (self.folder / name).symlink_to(path.resolve())
        return name

    def path(self, name: str) -> Path:
        """Return a file of the folder."""
        path = self.folder / name
        if Path(name).name != name or name.startswith(".") or not path.is_file():
            raise RequestError(f"there is no file {name[:80]!r} in this session; open it first")
        return path

    def files(self) -> list[dict[str, Any]]:
        """List the files, the newest last."""
        found = [path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        found.sort(key=lambda path: (path.lstat().st_mtime_ns, path.name))
        return [{"name": path.name, "bytes": path.stat().st_size} for path in found]

    def session(self, name: str) -> Session:
        """Return a session, a new one for a new name."""
        if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", name):
            raise RequestError("a session is named by letters, digits and dashes")
        return self.sessions.setdefault(name, Session())

    def keep(self, name: str, state: Any) -> None:
        """Keep the state of a page."""
        if not isinstance(state, dict) or len(json.dumps(state)) > LARGEST_STATE:
            raise RequestError("the state of the page is not an object, or larger than is kept")
        self.session(name).state = state

    def did(self, name: str, arguments: list[str], command: str, printed: str) -> None:
        """Note a command that a session ran, with what tells apart what it printed."""
        steps = self.session(name).steps
        entry = {"arguments": arguments, "command": command, "result": digest(printed)}
        if steps[-1:] != [entry]:
            steps.append(entry)

    def sign(self, name: str, signature: Mapping[str, Any]) -> dict[str, Any]:
        """Add a signature to what was decided; the second one under the same release is another person's."""
        session = self.session(name)
        who, decision = str(signature.get("who", "")).strip(), signature.get("decision")
        if not who:
            raise RequestError("a signature needs a name")
        if decision not in ("approved", "rejected"):
            raise RequestError(f"the decision is {decision!r}; it is approved or rejected")
        verdict, release = str(signature.get("verdict", "")), str(signature.get("release") or "")
        if decision == "approved" and verdict in ("withhold", "unsafe", "incomplete"):
            raise RequestError(
                f"the verdict is {verdict!r}, on which nothing can be approved; reject it, or protect more"
            )
        standing = [one for one in session.signatures if one["release"] == release and self.stands(one)]
        if any(one["who"].casefold() == who.casefold() for one in standing):
            raise RequestError(f"{who} has signed already; the second signature is another person's")
        if len(standing) > 1:
            raise RequestError("two people have signed already")
        entry = {
            "who": who,
            "decision": decision,
            "comment": str(signature.get("comment", ""))[:4000],
            "release": release,
            "sha256": sha256(self.path(release)) if release else None,
            "verdict": verdict,
            "policy": str(signature.get("policy", "")),
            "when": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        }
        session.signatures.append(entry)
        return entry

    def stands(self, signature: Mapping[str, Any]) -> bool:
        """Say whether what was signed is still what the folder holds."""
        try:
            return not signature["release"] or sha256(self.path(signature["release"])) == signature["sha256"]
        except RequestError:
            return False

    def save(self, name: str) -> bytes:
        """Return a session with its files as one archive, which holds the originals and is as confidential."""
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            paths = {item["name"]: self.folder / item["name"] for item in self.files()}
            hashes = {file: sha256(path) for file, path in paths.items()}
            for file, path in paths.items():
                archive.write(path, f"files/{file}")
            about = {"discreet": "session", "version": VERSION, "files": hashes, **self.session(name).to_dict()}
            archive.writestr("session.json", json.dumps(about, indent=2))
        return stream.getvalue()

    def reopen(self, name: str, content: bytes) -> Session:
        """Take a saved session into the folder."""
        about, files = read_session(content, self)
        for file, data in files.items():
            self.add(file, data, endings=KEPT)
        self.sessions[name] = Session(about["state"], about["steps"], about["signatures"])
        return self.sessions[name]


def read_session(content: bytes, workspace: Workspace) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Check a saved session and return its description and files."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(item.file_size for item in archive.infolist()) > LARGEST_SESSION:
                raise LimitError("the saved session unpacks to more than 2 GiB; it is not opened")
            about: dict[str, Any] = json.loads(archive.read("session.json"))
            if about.get("discreet") != "session" or not isinstance(about.get("version"), int):
                raise ValueError
            if about["version"] > VERSION:
                raise DataError(
                    f"the session was saved by a newer discreet (version {about['version']} of its format, {VERSION} "
                    "is read here); update discreet"
                )
            files = {}
            for file, expected in about["files"].items():
                data = archive.read(f"files/{workspace.name(file, endings=KEPT)}")
                if hashlib.sha256(data).hexdigest() != expected:
                    raise DataError(f"{file} in the saved session is not what was saved; save it again")
                files[file] = data
            for part, kind in (("state", dict), ("steps", list), ("signatures", list)):
                if not isinstance(about[part], kind):
                    raise ValueError
            return about, files
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError):
        raise DataError("this is not a saved session of the workbench, or it is damaged; save it again") from None


def digest(printed: str) -> str:
    """Return what tells apart what a command printed."""
    return hashlib.sha256(printed.encode()).hexdigest()


def sha256(path: Path) -> str:
    """Return the hash of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def defused(content: bytes) -> bytes:
    r"""Return a CSV file in which no cell of text is taken for a formula by a spreadsheet.

    >>> defused(b"area,count\n=1+1,-3\n")
    b"area,count\n'=1+1,-3\n"
    """
    import csv

    rows = list(csv.reader(io.StringIO(content.decode("utf-8"))))
    if not any(_formula(cell) for row in rows for cell in row):
        return content
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([f"'{cell}" if _formula(cell) else cell for cell in row] for row in rows)
    return stream.getvalue().encode("utf-8")


def _formula(text: str) -> bool:
    if not text or text[0] not in "=+-@\t\r":
        return False
    try:
        float(text)
    except ValueError:
        return True
    return False


def _sweep() -> None:
    """Remove the folders of workbenches whose process is gone."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*-*"):
        owner = path.name.removeprefix(PREFIX).split("-")[0]
        if owner.isdigit() and not _alive(int(owner)) and path.stat().st_uid == os.getuid():
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True
