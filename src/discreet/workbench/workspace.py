"""The folder of a running workbench: opened files, results, and each session's decisions; removed when it closes."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import tempfile
import tomllib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, BinaryIO

from discreet.core.errors import DataError, LimitError, RequestError
from discreet.core.files import file_sha256
from discreet.core.json_types import Json, JsonObject
from discreet.workbench.judgements import Judgements, signature
from discreet.workbench.seal import seal_of, sealed, signing_key
from discreet.workbench.workers import Order

ENDINGS = (".csv", ".tsv", ".txt", ".parquet", ".xlsx", ".tab", ".rda", ".hrc", ".toml", ".json")
"""What can be opened."""
KEPT = (*ENDINGS, ".html")
"""What a saved session may hold: also reports, which are shown in a sandbox."""
PREFIX = "discreet-workbench-"
VERSION = 1
"""The version of saved sessions."""
LARGEST_STATE, LARGEST_SESSION = 4 * 2**20, 2 * 2**30
"""The most bytes of a page's state and of an unpacked session: round choices, far above what people make."""
LONGEST = 255
"""The most bytes of a name that file systems take."""
NAME = re.compile(r"[^/\\\0-\x1f<>:\"|?*]{1,120}")


@dataclass
class Session:
    """What one page holds on the server: its state, the commands that it ran, and who signed."""

    state: JsonObject = field(default_factory=dict)
    steps: list[JsonObject] = field(default_factory=list)
    signatures: list[JsonObject] = field(default_factory=list)
    judgements: Judgements = field(default_factory=Judgements)

    def to_dict(self) -> dict[str, Json]:
        """Return plain data, without the verdicts: those of another run are not this server's."""
        return {"state": self.state, "steps": self.steps, "signatures": self.signatures}


class Workspace:
    """A private folder and the sessions that work in it."""

    def __init__(self) -> None:
        """Make the folder, and clear those of workbenches that were killed."""
        _sweep()
        self.folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.sessions: dict[str, Session] = {}
        self.adopted: list[str] = []

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
        """Add a file with the given content."""
        with self.incoming(name, endings=endings) as stream:
            stream.write(content)
        return name

    @contextmanager
    def incoming(self, name: str, *, endings: tuple[str, ...] = ENDINGS) -> Iterator[BinaryIO]:
        """Give a stream for a file that is being sent; it takes its name once it is whole and not empty."""
        self.name(name, endings=endings)
        handle, part = tempfile.mkstemp(dir=self.folder, prefix=".incoming-")
        try:
            with os.fdopen(handle, "wb") as stream:
                yield stream
            _check_sent(Path(part), name)
            os.replace(part, self.folder / name)
        finally:
            Path(part).unlink(missing_ok=True)

    def adopt(self, path: Path) -> str:
        """Open a file named on the command line in place."""
        if not path.is_file():
            raise RequestError(f"{path} does not exist or is not a file; check the name")
        name = self.name(path.name)
        (self.folder / name).unlink(missing_ok=True)
        (self.folder / name).symlink_to(path.resolve())
        self.adopted.append(str(path.resolve()))
        return name

    def plans(self) -> list[str]:
        """List the plans that were named on the command line, and that no upload has replaced."""
        found = []
        for path in sorted(self.folder.glob("*.toml")):
            if path.is_symlink() and str(path.resolve()) in self.adopted:
                try:
                    told = tomllib.loads(path.read_text(encoding="utf-8"))
                except (OSError, ValueError):
                    continue
                found += [path.name] if "tables" in told else []
        return found

    def path(self, name: str) -> Path:
        """Return a file of the folder."""
        path = self.folder / name
        odd = len(os.fsencode(name)) > LONGEST or Path(name).name != name or name.startswith(".")
        if odd or not path.is_file():
            raise RequestError(f"there is no file {name[:80]!r} in this session; open it first")
        return path

    def files(self) -> list[JsonObject]:
        """List the files, the newest last."""
        found = [path for path in self.folder.iterdir() if path.is_file() and not path.name.startswith(".")]
        found.sort(key=lambda path: (path.lstat().st_mtime_ns, path.name))
        return [{"name": path.name, "bytes": path.stat().st_size} for path in found]

    def session(self, name: str) -> Session:
        """Return a session, a new one for a new name."""
        if not re.fullmatch(r"[A-Za-z0-9-]{1,40}", name):
            raise RequestError("a session is named by letters, digits and dashes")
        return self.sessions.setdefault(name, Session())

    def keep(self, name: str, state: object) -> None:
        """Keep the state of a page."""
        if not isinstance(state, dict) or len(json.dumps(state)) > LARGEST_STATE:
            raise RequestError("the state of the page is not an object, or larger than is kept")
        self.session(name).state = state

    def did(self, order: Order, printed: str) -> None:
        """Note a command that a session ran, its verdict if it judges, and the digest of what it printed."""
        session = self.session(order.session)
        entry = {"arguments": order.arguments, "command": order.command, "result": digest(printed)}
        if session.steps[-1:] != [entry]:
            session.steps.append(entry)
        session.judgements.note(order.values, order.name, order.command, printed, self.folder)

    def sign(
        self, name: str, given: Mapping[str, object], *, head: str | None, limits: Callable[[str], Mapping[str, object]]
    ) -> JsonObject:
        """Add a signature to what was judged here; the second one under the same release is another person's.

        ``head`` is that of the ledger as it is now, None without a ledger.
        """
        session = self.session(name)
        release, policy = str(given.get("release") or ""), str(given.get("policy", ""))
        digest_now = file_sha256(self.path(release)) if release else None
        judgement = None
        try:
            judgement = session.judgements.of(release, digest_now, head=head, limits=lambda: limits(policy))
        except RequestError:
            if given.get("decision") == "approved":
                raise
        entry = {**signature(given, judgement, release, policy), "sha256": digest_now}
        standing = [one for one in session.signatures if one["release"] == release and self.stands(one)]
        if any(one["who"].casefold() == str(entry["who"]).casefold() for one in standing):
            raise RequestError(f"{entry['who']} has signed already; the second signature is another person's")
        if len(standing) > 1:
            raise RequestError("two people have signed already")
        session.signatures.append(entry)
        return entry

    def stands(self, signature: JsonObject) -> bool:
        """Say whether what was signed is still in the folder, unchanged."""
        try:
            if signature.get("void"):
                return False
            return not signature["release"] or file_sha256(self.path(signature["release"])) == signature["sha256"]
        except (RequestError, KeyError, TypeError):
            return False

    def save(self, name: str) -> Path:
        """Return a file with a session and its files, which holds the originals and is as confidential."""
        handle, made = tempfile.mkstemp(dir=self.folder, prefix=".saved-")
        with os.fdopen(handle, "wb") as stream, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            paths = {item["name"]: self.folder / item["name"] for item in self.files()}
            hashes = {file: file_sha256(path) for file, path in paths.items()}
            for file, path in paths.items():
                archive.write(path, f"files/{file}")
            about = {"discreet": "session", "version": VERSION, "files": hashes, **self.session(name).to_dict()}
            about["seal"] = seal_of(about, signing_key())
            archive.writestr("session.json", json.dumps(about, indent=2))
        return Path(made)

    def reopen(self, name: str, path: Path) -> Session:
        """Load a saved session into the folder; if it was changed outside, its signatures are void."""
        about = unpack(path, self)
        void = {} if sealed(about, signing_key()) else {"void": True}
        self.sessions[name] = Session(about["state"], about["steps"], [{**one, **void} for one in about["signatures"]])
        return self.sessions[name]


def unpack(
    path: Path, workspace: Workspace, *, but: Callable[[list[dict[str, object]]], set[str]] | None = None
) -> JsonObject:
    """Check a saved session, put its files into the folder, and return its description.

    Files that ``but`` names, given the steps, are left out. All files are compared with their hashes first.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            if sum(item.file_size for item in archive.infolist()) > LARGEST_SESSION:
                raise LimitError("the saved session unpacks to more than 2 GiB; it is not opened")
            about = _described(json.loads(archive.read("session.json")))
            left = but(about["steps"]) if but is not None else set()
            with ExitStack() as stack:
                for file, expected in about["files"].items():
                    member = f"files/{workspace.name(file, endings=KEPT)}"
                    with archive.open(member) as source:
                        if _hashed(source) != expected:
                            raise DataError(f"{file} in the saved session is not what was saved; save it again")
                for file in sorted(set(about["files"]) - left):
                    target = stack.enter_context(workspace.incoming(file, endings=KEPT))
                    with archive.open(f"files/{file}") as source:
                        shutil.copyfileobj(source, target)
            return about
    except (zipfile.BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError, EOFError, zlib.error):
        raise DataError("this is not a saved session of the workbench, or it is damaged; save it again") from None


def _described(about: JsonObject) -> JsonObject:
    """Check the description of a saved session."""
    if about.get("discreet") != "session" or not isinstance(about.get("version"), int):
        raise ValueError
    if about["version"] > VERSION:
        raise DataError(
            f"the session was saved by a newer discreet (version {about['version']} of its format, {VERSION} is read "
            "here); update discreet"
        )
    for part, kind in (("files", dict), ("state", dict), ("steps", list), ("signatures", list)):
        if not isinstance(about[part], kind):
            raise ValueError
    for step in about["steps"]:
        if not all(isinstance(word, str) for word in (*step["arguments"], step["command"], step["result"])):
            raise ValueError
    for one in about["signatures"]:
        if not all(isinstance(one[key], str) for key in ("who", "decision", "release", "comment", "when")):
            raise ValueError
    return dict(about)


def _check_sent(path: Path, name: str) -> None:
    """Refuse a file that is empty, or settings that no command could read."""
    with path.open("rb") as stream:
        if not any(block.strip() for block in iter(lambda: stream.read(1 << 20), b"")):
            raise DataError(f"{name} is empty; a table needs at least one cell")
    if name.lower().endswith(".toml"):
        try:
            told = tomllib.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise DataError(f"{name} is not TOML in UTF-8 ({error}); correct the file") from None
        if not isinstance(told.get("limits", {}), dict):
            raise DataError(
                f"{name}: limits is {told['limits']!r}; it is a table, as in [limits] and below it dr = 0.4"
            )


def _hashed(stream: IO[bytes]) -> str:
    found = hashlib.sha256()
    for block in iter(lambda: stream.read(1 << 20), b""):
        found.update(block)
    return found.hexdigest()


def digest(printed: str) -> str:
    """Return the digest of what a command printed."""
    return hashlib.sha256(printed.encode()).hexdigest()


def defused(content: bytes) -> bytes:
    r"""Return a CSV file in which no cell of text is taken for a formula by a spreadsheet, whatever separates columns.

    >>> defused(b"area,count\n=1+1,-3\n")
    b"area,count\n'=1+1,-3\n"
    >>> defused(b"area;count\nn;@x\n")
    b"area;count\nn;'@x\n"
    """
    import csv

    # Every encoding of CSV files here keeps the letters of ASCII; other bytes pass as they are.
    text = content.decode("latin-1")
    first = text.partition("\n")[0]
    separator = max(",;\t|", key=first.count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    except csv.Error as error:
        raise DataError(f"the file is not CSV ({error}); it cannot be handed out") from None
    if not any(_formula(cell) for row in rows for cell in row):
        return content
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n", delimiter=separator)
    writer.writerows([f"'{cell}" if _formula(cell) else cell for cell in row] for row in rows)
    return stream.getvalue().encode("latin-1")


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
